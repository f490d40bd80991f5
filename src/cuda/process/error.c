/* Results: their names, their descriptions, and the mapping from the simulated device's errors. */
#include "cuda/internal.h"

static const struct {
    CUresult result;
    const char *name, *text;
} results[] = {
#define CUDA_RESULT(id, text) {id, #id, text},
#include "cuda/process/results.def"
#undef CUDA_RESULT
};

enum { N_RESULTS = sizeof(results) / sizeof(results[0]) };

/* Returns the index in the list, or N_RESULTS if there is no such code. */
static unsigned find(CUresult result) {
    unsigned i = 0;
    while (i < N_RESULTS && results[i].result != result)
        i++;
    return i;
}

const char *cuda_error_name(CUresult result) {
    unsigned i = find(result);
    return i < N_RESULTS ? results[i].name : NULL;
}

CUresult cuGetErrorName(CUresult error, const char **name) {
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = cuda_error_name(error);
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned i = find(error);
    *text = i < N_RESULTS ? results[i].text : NULL;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuda_result_of(enum gpu_status status) {
    switch (status) {
    case GPU_OK:
        return CUDA_SUCCESS;
    case GPU_OUT_OF_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case GPU_INVALID_VALUE:
    case GPU_INVALID_SHAPE:
        return CUDA_ERROR_INVALID_VALUE;
    case GPU_INVALID_PTX:
        return CUDA_ERROR_INVALID_PTX;
    case GPU_NOT_FOUND:
        return CUDA_ERROR_NOT_FOUND;
    case GPU_LAUNCH_OUT_OF_RESOURCES:
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    case GPU_INVALID_CLUSTER:
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    case GPU_COOPERATIVE_TOO_LARGE:
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    case GPU_NOT_SUPPORTED:
        return CUDA_ERROR_NOT_SUPPORTED;
    case GPU_ILLEGAL_ADDRESS:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case GPU_MISALIGNED_ADDRESS:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case GPU_ASSERT:
        return CUDA_ERROR_ASSERT;
    case GPU_TRAP:
        return CUDA_ERROR_LAUNCH_FAILED;
    case GPU_LAUNCH_TIMEOUT:
    case GPU_TIME_LIMIT:
    case GPU_INSTRUCTION_LIMIT:
    case GPU_CYCLE_LIMIT:
    case GPU_INTERRUPTED:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case GPU_STACK_OVERFLOW:
        return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case GPU_INVALID_PC:
        return CUDA_ERROR_INVALID_PC;
    case GPU_OTHER_RUN:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_ERROR_UNKNOWN;
}
