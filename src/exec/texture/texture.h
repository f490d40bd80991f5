/* Texture accesses: from coordinates to texels, and from texels to a value. Used inside exec/texture.
 *
 * Details that the PTX ISA manual and the CUDA C++ Programming Guide ("Texture Fetching") leave open follow an H200, as
 * recorded in tests/textures. */
#pragma once

#include "exec/internal.h"

/* The geometry of an instruction, in its imm. Coordinates: a layer if there is one, then one to three. */
enum exec_geometry {
    EXEC_GEOMETRY_1D,
    EXEC_GEOMETRY_2D,
    EXEC_GEOMETRY_3D,
    EXEC_GEOMETRY_A1D,
    EXEC_GEOMETRY_A2D,
    EXEC_GEOMETRY_CUBE,
    EXEC_GEOMETRY_ACUBE,
    EXEC_N_GEOMETRIES
};

struct exec_geometry_info {
    uint8_t dimensions; /* coordinates without the layer */
    uint8_t has_layer, is_cube;
};
extern const struct exec_geometry_info exec_geometry_info[EXEC_N_GEOMETRIES];

/* imm of tex, tld4, suld and sust: the geometry, above it the component that tld4 gathers, then flags. */
enum {
    EXEC_TEXTURE_GEOMETRY = 15,
    EXEC_TEXTURE_COMPONENT_SHIFT = 4,
    EXEC_TEXTURE_HAS_OFFSET = 64,
    EXEC_TEXTURE_HALVES = 128
};

/* texture.c: of an instruction. Returns false for a geometry that is not supported. */
bool exec_texture_geometry(const struct ptx_instruction *insn, enum exec_geometry *geometry);

/* texel.c: texels in memory. A value is 32-bit register contents: floating-point texels and fractions as f32, other
 * integers extended. Channels that the format lacks read as 0. */
struct exec_value {
    uint32_t channel[4];
};
/* A texel of a level; z is the slice, layer or face. */
struct exec_texel_place {
    uint32_t x, y, z;
};
bool exec_reads_float(const struct exec_texture *t);
struct exec_value exec_texel_border(const struct exec_texture *t);
/* Sets the lane's address to the texel's if it has none yet. Returns false after a fault. */
bool exec_texel_read(struct exec_context *cx, const struct exec_texture *t, unsigned level,
                     struct exec_texel_place place, unsigned lane, struct exec_value *value);
uint32_t exec_level_size(uint32_t size, unsigned level);

/* place.c: the position along an axis. */
struct exec_axis {
    uint32_t size;
    enum exec_wrap wrap;
    bool is_normalized;
};
/* The texel before a coordinate and the weight, of 256, of the one after it. */
struct exec_blend {
    int64_t first;
    uint32_t weight;
};
int64_t exec_nearest_texel(struct exec_axis axis, float coordinate);
struct exec_blend exec_blend_texels(struct exec_axis axis, float coordinate);
/* If edges are repeated, a coordinate beyond the centre of the last texel reads only that texel. */
struct exec_blend exec_clamp_blend(struct exec_axis axis, struct exec_blend blend);
/* Applies the addressing mode to a texel's number. Returns false for the border. */
bool exec_wrap_texel(struct exec_axis axis, int64_t i, uint32_t *texel);

/* cube.c: the face that a direction points to, and the coordinates on it from 0 to 1. */
uint32_t exec_cube_face(const float direction[3], float on_face[2]);
/* The texel of a cube next to an edge: x or y, but not both, is one outside the face of `size` texels. Returns its face
 * and sets both to the numbers there. */
uint32_t exec_cube_neighbour(uint32_t face, uint32_t size, int64_t *x, int64_t *y);

/* filter.c: reads one level at coordinates from the centre on. z is the layer or face if the geometry has no third
 * coordinate. */
struct exec_sample {
    unsigned dimensions; /* 1 to 3 */
    float coordinate[3];
    uint32_t slice;     /* layer or face; 0 with three dimensions */
    int32_t offset[3];  /* in texels */
    bool crosses_edges; /* of a cube: texels beyond an edge are those of the next face */
};
/* Reads the texel with these numbers along the axes, which may be outside. */
bool exec_sample_texel(struct exec_context *cx, const struct exec_texture *t, unsigned level, unsigned dimensions,
                       const int64_t number[3], uint32_t slice, unsigned lane, struct exec_value *value);
bool exec_sample_nearest(struct exec_context *cx, const struct exec_texture *t, unsigned level,
                         const struct exec_sample *sample, unsigned lane, struct exec_value *value);
/* Texels and their weights. */
struct exec_corners {
    unsigned n;
    struct exec_value value[16];
    uint32_t weight[16];
    uint8_t plane[16]; /* slice and level: planes are added up one after the other */
};
/* Adds the texels of a level around a coordinate, or the nearest one, with weights of `whole` in all. */
bool exec_add_corners(struct exec_context *cx, const struct exec_texture *t, unsigned level,
                      const struct exec_sample *sample, uint32_t whole, unsigned lane, struct exec_corners *corners);
/* blend.c: the sum of texels with weights of 256 in all. */
struct exec_value exec_blend_corners(const struct exec_texture *t, const struct exec_corners *corners);
/* The component of the four texels around a coordinate, in the order of tld4: lower left, lower right, upper right,
 * upper left. */
bool exec_sample_four(struct exec_context *cx, const struct exec_texture *t, const struct exec_sample *sample,
                      unsigned component, unsigned lane, struct exec_value *value);
/* Reads with the texture's filters at a level of detail. */
bool exec_sample_at_level(struct exec_context *cx, const struct exec_texture *t, const struct exec_sample *sample,
                          float level, unsigned lane, struct exec_value *value);

/* slopes.c: the level of detail of derivatives by x and by y, of coordinates and of directions. */
float exec_level_of_slopes(const struct exec_texture *t, unsigned dimensions, const float by_x[3], const float by_y[3]);
float exec_level_of_directions(const struct exec_texture *t, const float direction[3], const float by_x[3],
                               const float by_y[3]);
