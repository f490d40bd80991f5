/* The functions of cuRAND that are missing: a call names itself once and returns CURAND_STATUS_INTERNAL_ERROR, since
 * the interface has no status for it. Their arguments are never read. */
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
