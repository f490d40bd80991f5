/* The table of cuGetProcAddress: each name of the API, and its symbol in each CUDA version. */
#include "cuda/symbols/symbols.h"

/* Only addresses are taken, so all functions can have the same declaration. */
#define CUDA_SYMBOL(name, version, symbol) extern void symbol(void);
#include "cuda/symbols/symbols.def"
#undef CUDA_SYMBOL

const struct cuda_symbol cuda_symbols[] = {
#define CUDA_SYMBOL(name, version, symbol) {#name, version, symbol},
#include "cuda/symbols/symbols.def"
#undef CUDA_SYMBOL
};

const size_t cuda_n_symbols = sizeof(cuda_symbols) / sizeof(cuda_symbols[0]);
