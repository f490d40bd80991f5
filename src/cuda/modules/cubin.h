/* Machine code inside a fat binary. Heddle executes the PTX beside it, but takes the number of registers of each kernel
 * from it, so that a program that asks how many of its blocks fit gets the card's answer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Calls `found` for every kernel of a cubin. Bytes that are not a cubin contain none. */
void cuda_cubin_registers(const void *cubin, size_t length,
                          void (*found)(void *user, const char *kernel, uint32_t registers), void *user);
