/* What a program finds in memory, and what it leaves there as one number. */
#pragma once

#include <stdint.h>

/* Fills LAYOUT_BYTES with the initial memory of a program. */
void image_fill(unsigned char *image, uint64_t seed, uint64_t number);
/* The digest of the memory that a program may have written. */
uint64_t image_digest(const unsigned char *image);
