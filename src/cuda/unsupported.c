/* The functions of the CUDA 13 driver API that Heddle does not have. They exist so that programs which link to them
 * start; a call says so and fails. Their arguments are never looked at, so one signature serves all. */
#include "cuda/symbols.h"

#define CUDA_UNSUPPORTED(symbol)                                                                                       \
    int symbol(void);                                                                                                  \
    int symbol(void) { return cuda_unsupported(#symbol); }
#include "cuda/unsupported.def"
#undef CUDA_UNSUPPORTED
