/* Launches: kernels by their functions in the program, and host functions.
 *
 * `kernel<<<grid, block, shared, stream>>>(...)` compiles to a push of the configuration, the evaluation of the
 * arguments, which may itself launch, and a call of the kernel's function in the program, which pops the configuration
 * and launches. */
#include "cudart/internal.h"

enum { MOST_CONFIGURATIONS = 64 }; /* pushed and not yet popped by one thread: launches inside arguments of launches */

struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

static __thread struct configuration pushed[MOST_CONFIGURATIONS];
static __thread unsigned n_pushed;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
    if (n_pushed == MOST_CONFIGURATIONS)
        return (unsigned)cudart_note(cudaErrorMissingConfiguration);
    pushed[n_pushed++] = (struct configuration){grid, block, shared_bytes, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream) {
    if (!n_pushed)
        return cudart_note(cudaErrorMissingConfiguration);
    const struct configuration *top = &pushed[--n_pushed];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static int attribute(CUdevice_attribute attribute) {
    int value = 0;
    cuDeviceGetAttribute(&value, attribute, 0);
    return value;
}

static bool is_within(const dim3 *size, CUdevice_attribute most_x, CUdevice_attribute most_y,
                      CUdevice_attribute most_z) {
    return size->x && size->y && size->z && size->x <= (unsigned)attribute(most_x) &&
           size->y <= (unsigned)attribute(most_y) && size->z <= (unsigned)attribute(most_z);
}

/* For an impossible grid or block the driver returns an invalid value, the runtime an invalid configuration. */
static bool is_configuration(const dim3 *grid, const dim3 *block) {
    return is_within(grid, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                     CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) &&
           is_within(block, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                     CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) &&
           (uint64_t)block->x * block->y * block->z <= (uint64_t)attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

static cudaError_t launch(const void *function, const cudaLaunchConfig_t *config, void **arguments) {
    CUfunction kernel;
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    cudaError_t error = cudart_find_kernel(function, &kernel);
    if (error != cudaSuccess)
        return error;
    if (config->dynamicSmemBytes > UINT32_MAX)
        return cudaErrorInvalidValue;
    const CUlaunchConfig driver_config = {
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
        .hStream = config->stream,
        .attrs = config->attrs,
        .numAttrs = config->numAttrs,
    };
    result = cuLaunchKernelEx(&driver_config, kernel, arguments, NULL);
    if (result == CUDA_ERROR_INVALID_VALUE && !is_configuration(&config->gridDim, &config->blockDim))
        return cudaErrorInvalidConfiguration;
    return (cudaError_t)result;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                             cudaStream_t stream) {
    const cudaLaunchConfig_t config = {grid, block, shared_bytes, stream, NULL, 0};
    return cudart_note(launch(function, &config, arguments));
}
CUDART_PTSZ(cudaLaunchKernel,
            (const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream),
            (function, grid, block, arguments, shared_bytes, stream))

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
    cudaLaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    const cudaLaunchConfig_t config = {grid, block, shared_bytes, stream, &cooperative, 1};
    return cudart_note(launch(function, &config, arguments));
}
CUDART_PTSZ(cudaLaunchCooperativeKernel,
            (const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream),
            (function, grid, block, arguments, shared_bytes, stream))

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
    return cudart_note(config ? launch(function, config, arguments) : cudaErrorInvalidValue);
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function, void **arguments);

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
    if (!config)
        return cudart_note(cudaErrorInvalidValue);
    cudaLaunchConfig_t own = *config;
    own.stream = cudart_own_stream(config->stream);
    return cudart_note(launch(function, &own, arguments));
}

/* ---- Calls that nvcc 13 generates
 * --------------------------------------------------------------------------------- */

/* The program keeps this handle for ever, so it is the function itself, which outlives cudaDeviceReset. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
    *kernel = (cudaKernel_t)(uintptr_t)function;
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                               cudaStream_t stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
CUDART_PTSZ(__cudaLaunchKernel,
            (cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream),
            (kernel, grid, block, arguments, shared_bytes, stream))
