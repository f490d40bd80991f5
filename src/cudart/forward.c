/* The functions listed in forward.def. */
#include "cudart/internal.h"

#define CUDART_FORWARD(name, parameters, call)                                                                         \
    cudaError_t name parameters {                                                                                      \
        CUresult result = cudart_start();                                                                              \
        return cudart_end(result == CUDA_SUCCESS ? (call) : result);                                                   \
    }

#define CUDART_FORWARD_DRIVER(name, parameters, call)                                                                  \
    cudaError_t name parameters {                                                                                      \
        CUresult result = cudart_start_driver();                                                                       \
        return cudart_end(result == CUDA_SUCCESS ? (call) : result);                                                   \
    }

#define CUDART_FORWARD_STREAM(name, parameters, call)                                                                  \
    CUDART_FORWARD(name, parameters, call)                                                                             \
    cudaError_t name##_ptsz parameters;                                                                                \
    cudaError_t name##_ptsz parameters {                                                                               \
        CUresult result = cudart_start();                                                                              \
        stream = cudart_own_stream(stream);                                                                            \
        return cudart_end(result == CUDA_SUCCESS ? (call) : result);                                                   \
    }

#include "cudart/forward.def"

CUDART_ALIAS(cudaMemset_ptds, cudaMemset);
CUDART_ALIAS(cudaMemset2D_ptds, cudaMemset2D);

CUDART_ALIAS(cudaGraphInstantiateWithParams_ptsz, cudaGraphInstantiateWithParams);

/* Names from before CUDA 4.0 that programs still use, up to CUDA 12. */
CUDART_ALIAS(cudaThreadSynchronize, cudaDeviceSynchronize);
CUDART_ALIAS(cudaThreadSetLimit, cudaDeviceSetLimit);
CUDART_ALIAS(cudaThreadGetLimit, cudaDeviceGetLimit);
CUDART_ALIAS(cudaThreadGetCacheConfig, cudaDeviceGetCacheConfig);
CUDART_ALIAS(cudaThreadSetCacheConfig, cudaDeviceSetCacheConfig);
