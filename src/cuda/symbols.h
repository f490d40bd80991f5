/* Names of the driver API and the functions behind them, without the types of cuda.h: there the old names of functions
 * mean the newest symbols, here every symbol is itself. */
#pragma once

#include <stddef.h>

#pragma GCC visibility push(hidden)

struct cuda_symbol {
    const char *name; /* as a program asks for it */
    int version;      /* of CUDA that brought this symbol for the name: 1000 * major + 10 * minor */
    void (*function)(void);
};

/* Sorted by name, then version. */
extern const struct cuda_symbol cuda_symbols[];
extern const size_t cuda_n_symbols;

/* What every function does that is not supported: says so once on standard error, notes it, and gives
 * CUDA_ERROR_NOT_SUPPORTED. */
int cuda_unsupported(const char *name);

#pragma GCC visibility pop
