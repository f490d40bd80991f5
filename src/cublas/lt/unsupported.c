/* The functions of cublasLt that are missing, as in cublas/unsupported.c. */
#include <stdatomic.h>

#include "library/library.h"

enum { NOT_SUPPORTED = 15 };

#define CUBLAS_UNSUPPORTED(name)                                                                                       \
    __attribute__((visibility("default"))) int name(void);                                                             \
    int name(void) {                                                                                                   \
        static atomic_bool is_told;                                                                                    \
        library_refuse(#name, &is_told);                                                                               \
        return NOT_SUPPORTED;                                                                                          \
    }
#include "cublas/lt/unsupported.def"
