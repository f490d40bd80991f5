/* The functions of cuSPARSE that are missing. The first call of each prints its name, and every call returns
 * CUSPARSE_STATUS_NOT_SUPPORTED. Their arguments are never read. */
#include <stdatomic.h>

#include "library/library.h"

enum { NOT_SUPPORTED = 10 };

#define CUSPARSE_UNSUPPORTED(name)                                                                                     \
    __attribute__((visibility("default"))) int name(void);                                                             \
    int name(void) {                                                                                                   \
        static atomic_bool is_told;                                                                                    \
        library_refuse(#name, &is_told);                                                                               \
        return NOT_SUPPORTED;                                                                                          \
    }
#include "cusparse/unsupported.def"
