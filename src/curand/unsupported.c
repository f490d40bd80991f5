/* The functions of cuRAND that are missing. The first call of each prints its name, and every call returns
 * CURAND_STATUS_INTERNAL_ERROR, since the interface has no status for a missing function. Their arguments are never
 * read. */
#include <stdatomic.h>

#include "library/library.h"

enum { INTERNAL_ERROR = 999 };

#define CURAND_UNSUPPORTED(name)                                                                                       \
    __attribute__((visibility("default"))) int name(void);                                                             \
    int name(void) {                                                                                                   \
        static atomic_bool is_told;                                                                                    \
        library_refuse(#name, &is_told);                                                                               \
        return INTERNAL_ERROR;                                                                                         \
    }
#include "curand/unsupported.def"
