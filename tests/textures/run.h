/* Runs a case through the CUDA driver API. */
#pragma once

#include "case.h"

/* Returns the results' number of bytes and the results, malloc'ed; 0 when the driver refuses, and *problem says what. A
 * fault of the kernel ends the program. */
size_t run_case(const struct texture_case *c, unsigned n_samples, unsigned char **results, const char **problem);
