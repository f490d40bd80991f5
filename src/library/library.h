/* What our versions of NVIDIA's closed libraries share: kernels from PTX in the library, launches, and the refusal of
 * functions that are missing. They use the driver API alone, as any program does. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "cuda.h"

#pragma GCC visibility push(hidden)

/* One file of kernels. It is loaded when its first kernel is launched. */
struct library_module {
    const char *ptx;
    CUlibrary loaded;
};

/* Makes the primary context current unless the thread has a context. */
CUresult library_start(void);

/* Launches `kernel` of the module, which takes one struct. */
CUresult library_launch(struct library_module *module, const char *kernel, const unsigned grid[3], unsigned threads,
                        CUstream stream, const void *parameters);

/* Returns true if the machine has units for matrix products. */
bool library_has_matrix_units(void);

/* Prints that the program called a function that is missing, once for each `is_told`, and makes it an error of the
 * run. */
void library_refuse(const char *name, atomic_bool *is_told);
/* The same for something a supported function was asked for. */
__attribute__((format(printf, 2, 3))) void library_refuse_case(const char *name, const char *format, ...);

#pragma GCC visibility pop
