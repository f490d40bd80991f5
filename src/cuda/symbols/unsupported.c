/* The functions of the CUDA 13 driver API that Heddle does not support. They exist so that programs that link to them
 * start. A call prints one line and fails. Their arguments are never read, so one signature serves all. */
#include "cuda/symbols/symbols.h"

#define CUDA_UNSUPPORTED(symbol)                                                                                       \
    int symbol(void);                                                                                                  \
    int symbol(void) { return cuda_unsupported(#symbol); }
#include "cuda/symbols/unsupported.def"
#undef CUDA_UNSUPPORTED
