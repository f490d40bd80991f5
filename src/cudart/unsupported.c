/* The functions listed in unsupported.def. They return cudaErrorNotSupported, and the first call of each prints its
 * name. */
#include "cudart/internal.h"

#include <stdatomic.h>
#include <stdio.h>

/* Exists only in Heddle's libcuda.so.1: reports an error of the run. */
void cuHeddleReportError(int result, const char *message);

cudaError_t cudart_refuse(const char *name) {
    char message[256];
    snprintf(message, sizeof(message), "the program called %s, which is not supported", name);
    cudart_print("%s", message);
    cuHeddleReportError(CUDA_ERROR_NOT_SUPPORTED, message);
    return cudart_note(cudaErrorNotSupported);
}

static cudaError_t refuse(const char *name, atomic_bool *is_told) {
    return atomic_exchange(is_told, true) ? cudart_note(cudaErrorNotSupported) : cudart_refuse(name);
}

/* Their parameters do not matter. */
#define CUDART_UNSUPPORTED(name)                                                                                       \
    cudaError_t name(void);                                                                                            \
    cudaError_t name(void) {                                                                                           \
        static atomic_bool is_told;                                                                                    \
        return refuse(#name, &is_told);                                                                                \
    }
#include "cudart/unsupported.def"
