/* The functions of cuFFT that are missing. The first call of each prints its name, and every call returns
 * CUFFT_NOT_SUPPORTED. Their arguments are never read. */
#include <stdatomic.h>

#include "library/library.h"

enum { NOT_SUPPORTED = 16 };

#define CUFFT_UNSUPPORTED(name)                                                                                        \
    __attribute__((visibility("default"))) int name(void);                                                             \
    int name(void) {                                                                                                   \
        static atomic_bool is_told;                                                                                    \
        library_refuse(#name, &is_told);                                                                               \
        return NOT_SUPPORTED;                                                                                          \
    }
#include "cufft/unsupported.def"
