/* Launches: kernels by their functions in the program, and host functions.
 *
 * `kernel<<<grid, block, shared, stream>>>(...)` compiles to three steps. The first pushes the configuration. The
 * second evaluates the arguments, and may itself launch kernels. The third calls the kernel's function in the program,
 * which pops the configuration and launches. */
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

/* libcuda's own: sets *is_impossible if no kernel can have the grid or block. Then the driver returns an invalid value,
 * the runtime an invalid configuration. */
CUresult cuHeddleLaunch(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra,
                        bool *is_impossible);

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
    const CUlaunchConfig driver_config = cudart_driver_config(config);
    bool is_impossible = false;
    result = cuHeddleLaunch(&driver_config, kernel, arguments, NULL, &is_impossible);
    return is_impossible ? cudaErrorInvalidConfiguration : (cudaError_t)result;
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
