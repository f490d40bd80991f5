/* Which major version of the runtime this library stands for; compiled once for each of them. */
#include "cudart/internal.h"

const int cudart_major = CUDART_MAJOR;
