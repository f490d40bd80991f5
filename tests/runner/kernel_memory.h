/* A kernel test's arguments on the device. */
#pragma once

#include <cuda.h>

#include "kernel_test.h"

struct kernel_memory {
    uint64_t word;        /* the argument: a pointer, a handle or a scalar */
    unsigned char *bytes; /* the values in memory order; the argument when it is a struct */
    CUdeviceptr buffer;
    CUarray array;
};

/* Creates the argument and fills it. Errors end the program with one line. */
void kernel_memory_make(struct kernel_memory *memory, const struct kernel_argument *argument);
/* Returns the pointer for cuLaunchKernel. */
void *kernel_memory_parameter(struct kernel_memory *memory, const struct kernel_argument *argument);
/* Copies a buffer or a surface back into bytes. */
void kernel_memory_read(struct kernel_memory *memory, const struct kernel_argument *argument);
/* Returns the bits of element i of bytes. */
uint64_t kernel_memory_value(const struct kernel_memory *memory, const struct kernel_argument *argument, size_t i);
