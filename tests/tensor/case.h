/* Random tensor maps and copies through them. A case is a number: everything about it follows from the number. */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    TENSOR_BYTES = 1 << 16,  /* of the tensor in global memory, at most */
    TENSOR_MARGIN = 1 << 14, /* of memory around it */
    SHARED_BYTES = 20480,    /* of the buffer in shared memory */
    MOST_BOX = 8192,         /* bytes of a box */
};

enum kind { LOAD, STORE, REDUCE, REPLACE, LOAD_COLUMN, STORE_COLUMN, REDUCE_COLUMN };

enum reduction { RED_ADD, RED_MIN, RED_MAX, RED_INC, RED_DEC, RED_AND, RED_OR, RED_XOR, N_REDUCTIONS };
extern const char *const reduction_names[N_REDUCTIONS];

struct map {
    CUtensorMapDataType type;
    unsigned rank;
    cuuint64_t dim[5], stride[4];
    cuuint32_t box[5], step[5]; /* step: element strides */
    int lower[3], upper[3];     /* im2col */
    cuuint32_t channels, pixels;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill fill;
    bool is_column; /* im2col */
};

struct tensor_case {
    enum kind kind;
    enum reduction reduction;
    struct map map, from; /* from: REPLACE starts with this map */
    int at[5];            /* coordinates */
    unsigned offset[3];   /* im2col */
    unsigned shared;      /* offset of the box in the buffer */
    unsigned bytes;       /* of the box */
    uint64_t seed;
};

uint64_t random_next(uint64_t *state);
unsigned type_bytes(CUtensorMapDataType type);
void case_make(unsigned number, struct tensor_case *c);
/* Random arguments of the encoding calls, some of which are invalid. */
void case_make_arguments(unsigned number, struct map *map, unsigned *address_offset);
CUresult map_encode(const struct map *map, CUdeviceptr address, CUtensorMap *encoded);
void case_print(const struct tensor_case *c);

/* Fills memory with the case's data: words for global and for shared memory. */
void case_fill(const struct tensor_case *c, bool is_shared, uint32_t *words, unsigned n);

/* kernel.c: the module with all kernels. */
char *kernel_text(void);
