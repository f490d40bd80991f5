/* Compiled once for each version of the libraries. */
#include "cublas/core/core.h"

const int cublas_major = CUBLAS_MAJOR;
