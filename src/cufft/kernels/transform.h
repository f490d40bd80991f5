/* Jobs of the kernels of transform.cu, which the library fills in. */
#pragma once

#ifdef __CUDA_ARCH__
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

/* The elements of a program's array: full complex numbers, real numbers, or the first half of the spectrum of real
 * numbers, whose last dimension has n / 2 + 1 elements. */
enum transform_elements { TRANSFORM_COMPLEX, TRANSFORM_REAL, TRANSFORM_HALF };

/* Where element (i, j, k) of transform b of the program is: base[b * distance + ((i * rows + j) * columns + k) *
 * stride]. Dimensions that the transform lacks have length 1. */
struct transform_layout {
    void *base;
    enum transform_elements elements;
    uint64_t stride, distance, rows, columns;
};

/* Copies between the program's array and a packed one of complex numbers. */
struct transform_copy {
    struct transform_layout layout;
    void *packed;
    uint32_t n[3];
    uint32_t n_elements; /* of the packed array */
};

/* One pass over one dimension: transforms of `radix` elements, after passes over transforms of `done` elements. */
struct transform_pass {
    const void *from;
    void *to;
    const void *roots; /* exp(-2 pi i k / n) for k < n */
    uint32_t n, radix, done;
    uint32_t inner; /* distance between two elements of the dimension */
    uint32_t n_elements;
    int is_inverse;
};
