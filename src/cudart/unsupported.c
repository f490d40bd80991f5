/* The functions that unsupported.def lists: they return cudaErrorNotSupported, and the first call of each is named. */
#include "cudart/internal.h"

#include <stdatomic.h>

static cudaError_t refuse(const char *name, atomic_bool *is_told) {
    if (!atomic_exchange(is_told, true))
        cudart_print("the program called %s, which is not supported", name);
    return cudart_note(cudaErrorNotSupported);
}

/* Their parameters do not matter. */
#define CUDART_UNSUPPORTED(name)                                                                                       \
    cudaError_t name(void);                                                                                            \
    cudaError_t name(void) {                                                                                           \
        static atomic_bool is_told;                                                                                    \
        return refuse(#name, &is_told);                                                                                \
    }
#include "cudart/unsupported.def"
