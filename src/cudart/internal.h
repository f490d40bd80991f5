/* Inside libcudart: how every function of the runtime API begins and ends, and the program's kernels and variables.
 *
 * The runtime is a layer over the driver API: it keeps the last error of each thread, makes the primary context current
 * when a thread first needs one, and finds the kernel of a function of the program. A function reads
 *     CUresult result = cudart_start();
 *     if (result == CUDA_SUCCESS)
 *         result = cu...();
 *     return cudart_end(result);
 * Functions that do only that are rows of forward.def. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_runtime_api.h"

/* The libraries export cuda* and __cuda*; names that begin with cudart_ stay inside. */
#pragma GCC visibility push(hidden)

/* The library's version: 11, 12 or 13. Some functions kept their names and changed their signatures. Only version.c is
 * compiled for each version. */
extern const int cudart_major;

/* ---- Calls (state.c) --------------------------------------------------------------------------------------------- */

/* Initializes the driver, and makes the primary context current unless the thread has a context. */
CUresult cudart_start(void);
/* Initializes the driver, for functions that need no context. */
CUresult cudart_start_driver(void);
/* Keeps an error as the thread's last one and returns it. */
cudaError_t cudart_note(cudaError_t error);
/* The same for a result of the driver; most have the same number in both APIs. */
cudaError_t cudart_end(CUresult result);
/* The default stream of functions with _ptsz, where it is the calling thread's own. */
static inline cudaStream_t cudart_own_stream(cudaStream_t stream) { return stream ? stream : CU_STREAM_PER_THREAD; }
/* Ends the primary context: cudaDeviceReset. */
CUresult cudart_reset(void);

/* `heddle: ...` on standard error. */
__attribute__((format(printf, 1, 2))) void cudart_print(const char *format, ...);

/* unsupported.c: reports that the program asked for a missing feature, makes it an error of the run, and returns
 * cudaErrorNotSupported. */
cudaError_t cudart_refuse(const char *what);

/* The driver's form of a launch configuration. */
static inline CUlaunchConfig cudart_driver_config(const cudaLaunchConfig_t *config) {
    return (CUlaunchConfig){
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
}

/* ---- Registered kernels and variables (registry.c)
 * ---------------------------------------------------------------- */

/* Finds the kernel of a function of the program, loaded at first use. Also accepts the handle of a kernel. Otherwise
 * returns cudaErrorInvalidDeviceFunction. */
cudaError_t cudart_find_kernel(const void *function, CUfunction *kernel);
/* The same for a variable. Otherwise returns cudaErrorInvalidSymbol. */
cudaError_t cudart_find_variable(const void *symbol, CUdeviceptr *address, size_t *bytes);
/* A texture reference of the program. */
struct cudart_texture {
    CUtexref reference;
    bool reads_fractions; /* kernels read its integers as numbers from -1 or 0 to 1 */
    size_t offset;        /* distance from the texture's start to the bound address, in bytes */
};

/* Finds it by the program's variable. Otherwise returns cudaErrorInvalidTexture. */
cudaError_t cudart_find_texture(const void *host, struct cudart_texture **texture);
/* The same for a surface reference. Otherwise returns cudaErrorInvalidSurface. */
cudaError_t cudart_find_surface(const void *host, CUsurfref *surface);
/* Forgets everything that was loaded, so that it is loaded again into the next context. */
void cudart_unload_all(void);

/* ---- Between the files ------------------------------------------------------------------------------------------- */

/* array.c: returns false if there is no such format. */
bool cudart_format_of(const struct cudaChannelFormatDesc *description, CUarray_format *format, unsigned *channels);
struct cudaChannelFormatDesc cudart_description_of(CUarray_format format, unsigned channels);
/* copy.c: fills in the driver's description of a copy; cudaErrorInvalidMemcpyDirection and others. */
cudaError_t cudart_describe_copy(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *copy);

/* graph.c: the current context, for the driver's functions that ask for one. */
CUcontext cudart_context(void);

static inline CUarray cudart_array(cudaArray_const_t array) { return (CUarray)(uintptr_t)array; }

/* ---- Symbols ----------------------------------------------------------------------------------------------------- */

/* Another symbol for a function of this file. */
#define CUDART_ALIAS(symbol, target)                                                                                   \
    extern __typeof__(target) symbol __attribute__((alias(#target), visibility("default")))

/* Defines name_ptsz, where `stream` 0 is the calling thread's own stream. */
#define CUDART_PTSZ(name, parameters, arguments)                                                                       \
    __attribute__((visibility("default"))) cudaError_t name##_ptsz parameters;                                         \
    cudaError_t name##_ptsz parameters {                                                                               \
        stream = cudart_own_stream(stream);                                                                            \
        return name arguments;                                                                                         \
    }

#pragma GCC visibility pop
