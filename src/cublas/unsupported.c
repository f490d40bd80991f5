/* The functions of cuBLAS that are missing. The first call of each prints its name, and every call returns
 * CUBLAS_STATUS_NOT_SUPPORTED. Their arguments are never read, so one signature serves all. */
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
#include "cublas/unsupported.def"
