/* The major version of the runtime that this library implements; compiled once for each. */
#include "cudart/internal.h"

const int cudart_major = CUDART_MAJOR;
