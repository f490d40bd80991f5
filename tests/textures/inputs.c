/* Texels and coordinates of a case, from hashes of its name. */
#include "case.h"

#include <math.h>
#include <string.h>

static uint64_t mix(uint64_t x) {
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185ull;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44dull;
    return x ^ x >> 33;
}

/* A stream of random numbers for a sample or a texel of a case. */
struct stream {
    uint64_t state;
};

static struct stream stream_of(const struct texture_case *c, uint64_t what, uint64_t i) {
    uint64_t hash = 0xcbf29ce484222325ull;
    for (const char *p = c->name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3ull;
    return (struct stream){mix(hash ^ mix(what) ^ mix(i + 0x9e3779b97f4a7c15ull))};
}

static uint32_t next(struct stream *s) {
    s->state += 0x9e3779b97f4a7c15ull;
    return (uint32_t)(mix(s->state) >> 32);
}

static unsigned below(struct stream *s, unsigned n) { return (unsigned)((uint64_t)next(s) * n >> 32); }
static float uniform(struct stream *s, float low, float high) {
    return low + (high - low) * ((float)(next(s) >> 8) * 0x1p-24f);
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- Texels ----------------------------------------------------------------------------------------------------- */

static uint32_t float_texel(const struct texture_case *c, struct stream *s) {
    static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff, 0, 0x80000000, 1, 0x80400000};
    switch (c->texels) {
    case WIDE_RANGE:
        return next(s) % 8 ? (next(s) & 0x807fffff) | (60 + below(s, 140)) << 23 : next(s) & 0x807fffff;
    case SPECIAL:
        return next(s) % 2 ? special[below(s, 8)] : bits_of(uniform(s, -4, 4));
    default:
        return bits_of(uniform(s, -1, 1));
    }
}

static uint16_t half_texel(const struct texture_case *c, struct stream *s) {
    static const uint16_t special[] = {0x7c00, 0xfc00, 0x7e00, 0x7bff, 0, 0x8000, 1, 0x8200};
    uint32_t word = next(s);
    switch (c->texels) {
    case WIDE_RANGE:
        return (uint16_t)((word & 0x83ff) | (word >> 16) % 31 << 10);
    case SPECIAL:
        return word % 2 ? special[word >> 16 & 7] : (uint16_t)(word & 0xbfff);
    default:
        return (uint16_t)((word & 0x83ff) | (4 + (word >> 16) % 11) << 10);
    }
}

void case_texels(const struct texture_case *c, unsigned level, unsigned char *texels) {
    struct extent e = case_extent(c, level);
    size_t n = (size_t)e.size[0] * e.size[1] * e.size[2] * e.layers * c->channels;
    size_t bytes = case_texel_bytes(c) / c->channels;
    for (size_t i = 0; i < n; i++) {
        struct stream s = stream_of(c, 1 + level, i);
        uint32_t word = c->format == CU_AD_FORMAT_FLOAT  ? float_texel(c, &s)
                        : c->format == CU_AD_FORMAT_HALF ? half_texel(c, &s)
                                                         : next(&s);
        memcpy(texels + i * bytes, &word, bytes);
    }
}

/* ---- Coordinates ------------------------------------------------------------------------------------------------ */

static float nudged(struct stream *s, float x) {
    int steps = (int)below(s, 5) - 2;
    for (; steps > 0; steps--)
        x = nextafterf(x, INFINITY);
    for (; steps < 0; steps++)
        x = nextafterf(x, -INFINITY);
    return x;
}

/* A place along an axis of `size` texels, in texels. */
static float place(struct stream *s, float size) {
    static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-40f, 0.5f, 1.0f};
    switch (below(s, 16)) {
    case 0:
    case 1:
    case 2:
        return nudged(s, (float)below(s, (unsigned)size * 512 + 1024) / 512.0f - 1.0f);
    case 3:
        return nudged(s, (float)below(s, (unsigned)size + 2) - 0.5f);
    case 4:
        return nudged(s, (float)below(s, (unsigned)size + 3) - 1.0f);
    case 5:
        return uniform(s, -1, 1) * ldexpf(size, (int)below(s, 24));
    case 6:
        return below(s, 4) ? uniform(s, -1, size + 1) : special[below(s, 8)];
    default:
        return uniform(s, -0.25f * size, 1.25f * size);
    }
}

static uint32_t coordinate(const struct texture_case *c, struct stream *s, unsigned axis) {
    unsigned size = case_extent(c, 0).size[axis];
    if (c->operation == FETCH)
        return below(s, 8) ? below(s, size + 6) - 3u : next(s);
    if (case_is_cube(c))
        return bits_of(below(s, 8) ? uniform(s, -1, 1) : uniform(s, -1, 1) * ldexpf(1, (int)below(s, 40) - 20));
    float x = place(s, (float)size);
    return bits_of(c->normalized ? x / (float)size : x);
}

/* x of a surface counts bytes and is a multiple of the access. Stores go to different places: every access of the
 * array once, in order, and later ones outside. */
static void surface_inputs(const struct texture_case *c, unsigned i, struct stream *s, uint32_t in[CASE_IN_WORDS]) {
    struct extent e = case_extent(c, 0);
    unsigned bytes = c->bits / 8 * c->vector, across = e.size[0] * case_texel_bytes(c) / bytes;
    unsigned place[4];
    if (c->operation == STORE) {
        place[0] = i % across;
        place[1] = i / across % e.size[1];
        place[2] = i / across / e.size[1] % e.size[2];
        place[3] = i / across / e.size[1] / e.size[2];
        if (place[3] >= e.layers)
            place[0] = across + i;
    } else {
        place[0] = below(s, across + 8) - 4u;
        place[1] = below(s, e.size[1] + 4) - 2u;
        place[2] = below(s, e.size[2] + 4) - 2u;
        place[3] = below(s, e.layers);
    }
    in[0] = place[3] < e.layers ? place[3] : 0;
    in[1] = place[0] * bytes;
    in[2] = place[1];
    in[3] = place[2];
}

void case_inputs(const struct texture_case *c, unsigned i, uint32_t in[CASE_IN_WORDS]) {
    struct stream s = stream_of(c, 100, i);
    memset(in, 0, CASE_IN_WORDS * sizeof *in);
    if (c->operation == LOAD || c->operation == STORE) {
        surface_inputs(c, i, &s, in);
    } else {
        unsigned layers = case_is_cube(c) ? case_extent(c, 0).layers / 6 : case_extent(c, 0).layers;
        in[0] = below(&s, 8) ? below(&s, layers) : below(&s, 9) - 2u;
        for (unsigned axis = 0; axis < case_dimensions(c); axis++)
            in[1 + axis] = coordinate(c, &s, axis);
    }
    float level = uniform(&s, -1, CASE_LEVELS);
    if (below(&s, 4) == 0)
        level = nudged(&s, (float)below(&s, 512 * CASE_LEVELS) / 512.0f);
    in[4] = bits_of(level);
    for (unsigned k = 0; k < 6; k++) {
        float size = case_is_cube(c) ? 4.0f : (float)case_extent(c, 0).size[k % 3];
        float slope = uniform(&s, -1, 1) * ldexpf(1, (int)below(&s, 7) - 2) / size;
        in[5 + k] = bits_of(below(&s, 4) ? slope : 0.0f);
    }
    if (c->operation == GRAD && i % 4 == 0) { /* along one axis by a power of two, where the level is known */
        for (unsigned k = 1; k < 6; k++)
            in[5 + k] = 0;
        in[5] = bits_of(ldexpf(1.0f + (float)(i / 4 % 8) / 8.0f, (int)(i / 32 % 5) - 1) / 13.0f);
    }
    for (unsigned k = 0; k < 4; k++)
        in[12 + k] = next(&s);
}
