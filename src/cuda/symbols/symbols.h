/* Names of the driver API and their functions, without the types of cuda.h, which maps the old names of functions to
 * the newest symbols. */
#pragma once

#include <stddef.h>

#pragma GCC visibility push(hidden)

struct cuda_symbol {
    const char *name; /* as a program looks it up */
    int version;      /* of CUDA that introduced this symbol for the name: 1000 * major + 10 * minor */
    void (*function)(void);
};

/* Sorted by name, then version. */
extern const struct cuda_symbol cuda_symbols[];
extern const size_t cuda_n_symbols;

/* The body of every unsupported function: prints one line the first time, records it, and returns
 * CUDA_ERROR_NOT_SUPPORTED. */
int cuda_unsupported(const char *name);

#pragma GCC visibility pop
