/* One case of the texture suite: a texture or surface of some shape and format, how it is read, and the instruction.
 *
 * A case runs one thread for each of its samples. Texels and coordinates follow from the case's name alone, so that
 * only results need recording; a longer run begins with the samples of a shorter one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

enum geometry { LINEAR, PITCH, D1, D2, D3, A1D, A2D, CUBE, ACUBE, N_GEOMETRIES };

enum operation {
    FETCH,  /* tex with integer coordinates */
    SAMPLE, /* tex with f32 coordinates */
    LEVEL,  /* tex.level */
    GRAD,   /* tex.grad */
    GATHER, /* tld4 */
    LOAD,   /* suld.b */
    STORE,  /* sust.b; the result is the whole array */
};

/* What the texels of floating-point formats are. */
enum texels { PLAIN, WIDE_RANGE, SPECIAL };

enum { CASE_NAME = 96, CASE_LEVELS = 4, CASE_IN_WORDS = 16, CASE_OUT_WORDS = 4 };

struct texture_case {
    char name[CASE_NAME];
    enum operation operation;
    enum geometry geometry;
    CUarray_format format;
    unsigned channels;
    CUaddress_mode wrap;
    CUfilter_mode filter, mip_filter;
    bool reads_fractions; /* integers as fractions of their largest value */
    bool normalized;      /* coordinates from 0 to 1 */
    bool is_mipmapped;
    bool is_seamless; /* cube maps: filtering crosses edges */
    bool is_srgb;
    enum texels texels;
    char component;        /* GATHER: r, g, b, a */
    unsigned bits, vector; /* LOAD, STORE: of an element, and how many */
    const char *bounds;    /* LOAD, STORE: clamp or zero */
    float bias, min_level, max_level;
    unsigned width; /* 0: as the geometry has it */
};

/* How far Heddle may be from the GPU where the GPU's rule is not established: the share of samples that differ, and the
 * largest difference of values, 0: any. Everything else is equal bit for bit. */
struct case_bound {
    double share, difference;
    const char *why; /* NULL: equal */
    bool is_refused; /* by Heddle */
};

struct case_list {
    struct texture_case *item;
    size_t n;
};

/* All cases; free(list.item). */
struct case_list case_list_all(void);

struct case_bound case_bound(const struct texture_case *c);

/* Texels across a level; axes that the geometry lacks have one. Layers are 1 unless the geometry has them. */
struct extent {
    unsigned size[3], layers;
};
struct extent case_extent(const struct texture_case *c, unsigned level);
unsigned case_dimensions(const struct texture_case *c); /* coordinates without the layer */
bool case_has_layers(const struct texture_case *c);
bool case_is_cube(const struct texture_case *c);
bool case_reads_float(const struct texture_case *c);
unsigned case_levels(const struct texture_case *c);
unsigned case_texel_bytes(const struct texture_case *c);

/* inputs.c: the texels of a level, slices after lines, packed; and the inputs of sample i: the layer, three
 * coordinates, the level, three derivatives by x and three by y, a free word, four values to store. */
void case_texels(const struct texture_case *c, unsigned level, unsigned char *texels);
void case_inputs(const struct texture_case *c, unsigned i, uint32_t in[CASE_IN_WORDS]);

/* kernel.c: the PTX of the case, kernel `run`, with parameters handle, in, out, n; malloc'ed. */
char *case_ptx(const struct texture_case *c);
