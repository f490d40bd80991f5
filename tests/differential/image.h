/* The initial memory of a program, and the digest of its final memory. */
#pragma once

#include <stdint.h>

/* Fills LAYOUT_BYTES with the initial memory of a program. */
void image_fill(unsigned char *image, uint64_t seed, uint64_t number);
/* Returns the digest of the memory that a program may have written. */
uint64_t image_digest(const unsigned char *image);
