/* Random tensor maps and copies. See case.h. */
#include "case.h"

#include <stdio.h>
#include <string.h>

const char *const reduction_names[N_REDUCTIONS] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static unsigned below(uint64_t *state, unsigned n) { return (unsigned)(random_next(state) % n); }
static int between(uint64_t *state, int low, int high) { return low + (int)below(state, (unsigned)(high - low + 1)); }
static bool happens(uint64_t *state, unsigned percent) { return below(state, 100) < percent; }

unsigned type_bytes(CUtensorMapDataType type) {
    static const unsigned char bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return (unsigned)type < sizeof bytes ? bytes[type] : 1;
}

static bool is_float(CUtensorMapDataType type) { return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16; }

/* Types that a reduction has. */
static CUtensorMapDataType reduced_type(uint64_t *state, enum reduction reduction) {
    static const unsigned char sums[] = {2, 3, 4, 6, 7, 8, 9, 10}, least[] = {2, 3, 4, 5, 6, 9}, bits[] = {2, 3};
    switch (reduction) {
    case RED_ADD:
        return (CUtensorMapDataType)sums[below(state, sizeof sums)];
    case RED_MIN:
    case RED_MAX:
        return (CUtensorMapDataType)least[below(state, sizeof least)];
    case RED_INC:
    case RED_DEC:
        return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    default:
        return (CUtensorMapDataType)bits[below(state, sizeof bits)];
    }
}

static uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/* Chooses dimensions and strides, so that the tensor has at most TENSOR_BYTES. */
static void make_tensor(uint64_t *state, struct map *map) {
    unsigned bytes = type_bytes(map->type), unit = map->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
    for (;;) {
        map->dim[0] = 1 + below(state, happens(state, 50) ? 24 : 160);
        for (unsigned i = 1; i < map->rank; i++)
            map->dim[i] = 1 + below(state, happens(state, 30) ? 20 : 7);
        uint64_t row = map->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? map->dim[0] * bytes : map->dim[0] * unit;
        uint64_t size = round_up(row, unit) + (happens(state, 40) ? unit * below(state, 4) : 0);
        for (unsigned i = 0; i + 1 < map->rank; i++) {
            map->stride[i] = size;
            size = size * map->dim[i + 1] + (happens(state, 30) ? unit * below(state, 3) : 0);
        }
        if (size <= TENSOR_BYTES)
            return;
    }
}

static unsigned span_of(const struct map *map) {
    return map->swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 4096u : 16u << map->swizzle;
}

/* Chooses the innermost extent of a box: whole units of 16 bytes that fit into the swizzle's span. */
static unsigned make_inner(uint64_t *state, const struct map *map) {
    unsigned bytes = type_bytes(map->type), unit = 16 / bytes, most = span_of(map) / 16;
    if (map->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
        return unit * (1 + below(state, unit > 4 ? 1 : 3));
    most = most < 256 / unit ? most : 256 / unit;
    return unit * (1 + below(state, happens(state, 60) && most > 4 ? 4 : most));
}

static unsigned make_box(uint64_t *state, struct map *map) {
    unsigned slice =
        map->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? type_bytes(map->type) : 16u * (unsigned)map->interleave;
    for (;;) {
        bool has_steps = happens(state, 30);
        unsigned size = slice;
        map->box[0] = make_inner(state, map);
        for (unsigned i = 0; i < map->rank; i++) {
            map->step[i] = has_steps ? 1 + below(state, happens(state, 20) ? 8 : 3) : 1;
            if (i)
                map->box[i] = 1 + below(state, happens(state, 15) ? 40 : 6);
            bool is_ignored = i == 0 && map->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
            size *= is_ignored ? map->box[i] : (map->box[i] + map->step[i] - 1) / map->step[i];
        }
        if (size <= MOST_BOX)
            return size;
    }
}

/* Corners of the bounding box, channels and pixels. */
static unsigned make_column(uint64_t *state, struct map *map) {
    unsigned n = map->rank - 2, slice = map->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE
                                            ? type_bytes(map->type)
                                            : 16u * (unsigned)map->interleave;
    for (unsigned i = 0; i < n; i++)
        do {
            map->lower[i] = between(state, -3, 2);
            map->upper[i] = between(state, -4, 2);
        } while ((int)map->dim[i + !map->interleave] + map->upper[i] - map->lower[i] < 1);
    for (unsigned i = 0; i < map->rank; i++)
        map->step[i] = happens(state, 25) ? 1 + below(state, 3) : 1;
    do {
        map->channels = make_inner(state, map);
        map->pixels = 1 + below(state, happens(state, 20) ? 128 : 24);
    } while (map->channels * map->pixels * slice > MOST_BOX);
    return map->channels * map->pixels * slice;
}

static void make_layout(uint64_t *state, struct map *map) {
    unsigned choice = below(state, 100);
    map->interleave = map->rank < 3 || choice < 75 ? CU_TENSOR_MAP_INTERLEAVE_NONE
                      : choice < 90                ? CU_TENSOR_MAP_INTERLEAVE_16B
                                                   : CU_TENSOR_MAP_INTERLEAVE_32B;
    map->swizzle = (CUtensorMapSwizzle)below(state, 4);
    if (map->interleave == CU_TENSOR_MAP_INTERLEAVE_32B)
        map->swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    map->fill = is_float(map->type) && happens(state, 40) ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                                          : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
}

static unsigned make_map(uint64_t *state, struct map *map) {
    make_layout(state, map);
    make_tensor(state, map);
    return map->is_column ? make_column(state, map) : make_box(state, map);
}

void case_make(unsigned number, struct tensor_case *c) {
    static const struct {
        enum kind kind;
        unsigned percent;
    } kinds[] = {{LOAD, 44}, {STORE, 14}, {REDUCE, 14}, {REPLACE, 6}, {LOAD_COLUMN, 22}};
    uint64_t seed = 77 + number, *state = &seed;
    memset(c, 0, sizeof *c);
    unsigned choice = below(state, 100), k = 0;
    for (; choice >= kinds[k].percent; k++)
        choice -= kinds[k].percent;
    c->kind = kinds[k].kind;
    struct map *map = &c->map;
    bool reduces = c->kind == REDUCE || c->kind == REDUCE_COLUMN;
    map->is_column = c->kind >= LOAD_COLUMN;
    static const unsigned char reductions[] = {RED_ADD, RED_ADD, RED_MIN, RED_MAX, RED_AND, RED_OR, RED_XOR};
    c->reduction = (enum reduction)reductions[below(state, sizeof reductions)];
    map->type = reduces ? reduced_type(state, c->reduction) : (CUtensorMapDataType)below(state, 13);
    map->rank = map->is_column ? 3 + below(state, 3) : 1 + below(state, 5);
    do
        c->bytes = make_map(state, map);
    while (c->kind == REPLACE && map->swizzle == CU_TENSOR_MAP_SWIZZLE_64B); /* illegal on the H200 after replacement */
    if (c->kind == REPLACE) {
        c->from.type = (CUtensorMapDataType)below(state, 13);
        c->from.rank = 1 + below(state, 5);
        make_map(state, &c->from);
    }
    for (unsigned i = 0; i < map->rank; i++) {
        int box = map->is_column ? 4 : (int)map->box[i], dim = (int)map->dim[i];
        c->at[i] = happens(state, 50) ? between(state, 0, dim - 1) : between(state, -box, dim + 1);
    }
    if (map->is_column) { /* the first pixel is inside the bounding box */
        unsigned first = !map->interleave;
        for (unsigned i = 0; i + 2 < map->rank; i++) {
            c->at[i + first] = between(state, map->lower[i], (int)map->dim[i + first] - 1 + map->upper[i]);
            c->offset[i] = below(state, 4);
        }
        c->at[first ? 0 : map->rank - 2] = happens(state, 60) ? 0 : c->at[0];
        c->at[map->rank - 1] = between(state, 0, (int)map->dim[map->rank - 1] - 1);
    }
    for (unsigned i = 0; i < map->rank && (c->kind == STORE || c->kind == REDUCE); i++)
        c->at[i] = c->at[i] < 0 ? 0 : c->at[i]; /* the H200 stores no box that begins before the tensor */
    if (!map->interleave)                       /* a box begins at a multiple of 16 bytes */
        c->at[0] = c->at[0] / (int)(16 / type_bytes(map->type)) * (int)(16 / type_bytes(map->type));
    if (c->kind >= STORE_COLUMN)
        memset(c->offset, 0, sizeof c->offset);
    c->shared = happens(state, 50) ? 0 : 128 * below(state, 16);
    c->seed = random_next(state);
}

void case_make_arguments(unsigned number, struct map *map, unsigned *address_offset) {
    uint64_t seed = 991 + 13ull * number, *state = &seed;
    memset(map, 0, sizeof *map);
    map->is_column = happens(state, 40);
    map->type = (CUtensorMapDataType)below(state, happens(state, 10) ? 16 : 13);
    map->rank = map->is_column ? 3 + below(state, 3) : 1 + below(state, 5);
    *address_offset = 0;
    make_map(state, map);
    if (happens(state, 25)) /* everything is valid */
        return;
    switch (below(state, 16)) {
    case 0:
        *address_offset = 16u >> below(state, 3);
        break;
    case 1:
        map->rank = happens(state, 50) ? 0 : 2 + 4 * below(state, 2);
        break;
    case 2:
        map->dim[below(state, map->rank)] = happens(state, 50) ? 0 : (1ull << 32) + below(state, 2);
        break;
    case 3:
        map->stride[below(state, 4)] += 1u << below(state, 6);
        break;
    case 4:
        map->stride[below(state, 4)] = happens(state, 50) ? 0 : (1ull << 40) - 16 * below(state, 2);
        break;
    case 5:
        map->box[below(state, 5)] = happens(state, 50) ? 0 : 255 + below(state, 3);
        break;
    case 6:
        map->box[0] += 1 + below(state, 8);
        break;
    case 7:
        map->step[below(state, 5)] = happens(state, 50) ? 0 : 7 + below(state, 3);
        break;
    case 8:
        map->swizzle = (CUtensorMapSwizzle)below(state, 8);
        break;
    case 9:
        map->interleave = (CUtensorMapInterleave)below(state, 4);
        break;
    case 10:
        map->fill = (CUtensorMapFloatOOBfill)below(state, 3);
        break;
    case 11:
        map->lower[below(state, 3)] = between(state, -20, 20) * (happens(state, 50) ? 1 : 3000);
        break;
    case 12:
        map->upper[below(state, 3)] = between(state, -20, 20) * (happens(state, 50) ? 1 : 3000);
        break;
    case 13:
        map->channels = happens(state, 30) ? 0 : 254 + below(state, 5);
        break;
    case 14:
        map->pixels = happens(state, 30) ? 0 : 1022 + below(state, 5);
        break;
    case 15:
        map->stride[0] = 16 * (1 + below(state, 4));
        break;
    }
}

CUresult map_encode(const struct map *map, CUdeviceptr address, CUtensorMap *encoded) {
    void *place = (void *)(uintptr_t)address;
    if (map->is_column)
        return cuTensorMapEncodeIm2col(encoded, map->type, map->rank, place, map->dim, map->stride, map->lower,
                                       map->upper, map->channels, map->pixels, map->step, map->interleave, map->swizzle,
                                       CU_TENSOR_MAP_L2_PROMOTION_NONE, map->fill);
    return cuTensorMapEncodeTiled(encoded, map->type, map->rank, place, map->dim, map->stride, map->box, map->step,
                                  map->interleave, map->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, map->fill);
}

void case_print(const struct tensor_case *c) {
    static const char *const kinds[] = {"load",        "store",        "reduce",       "replace",
                                        "load column", "store column", "reduce column"};
    const struct map *m = &c->map;
    printf("%s %s type %d rank %u interleave %d swizzle %d fill %d bytes %u shared %u\n", kinds[c->kind],
           reduction_names[c->reduction], (int)m->type, m->rank, (int)m->interleave, (int)m->swizzle, (int)m->fill,
           c->bytes, c->shared);
    for (unsigned i = 0; i < m->rank; i++)
        printf("  dim %llu stride %llu box %u step %u at %d\n", (unsigned long long)m->dim[i],
               (unsigned long long)(i ? m->stride[i - 1] : 0), m->box[i], m->step[i], c->at[i]);
    if (m->is_column)
        printf("  channels %u pixels %u lower %d %d %d upper %d %d %d offset %u %u %u\n", m->channels, m->pixels,
               m->lower[0], m->lower[1], m->lower[2], m->upper[0], m->upper[1], m->upper[2], c->offset[0], c->offset[1],
               c->offset[2]);
}

/* Words that no reduction turns into something whose bits the order of additions decides: one copy adds each element
 * once. Floats are of all kinds, and many are subnormal. Elsewhere each 16 bits count up, which shows where they came
 * from. */
void case_fill(const struct tensor_case *c, bool is_shared, uint32_t *words, unsigned n) {
    uint64_t state = c->seed + is_shared;
    bool reduces = c->kind == REDUCE || c->kind == REDUCE_COLUMN;
    bool is_converted = c->map.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
    for (unsigned i = 0; i < n; i++) {
        uint64_t value = random_next(&state);
        if (!reduces && !is_converted)
            words[i] = (2 * i + (is_shared ? 0x8000u : 0)) & 0xffff;
        else
            words[i] = value >> 62 ? (uint32_t)value : (uint32_t)value & 0x807fffffu;
        if (!reduces && !is_converted)
            words[i] |= ((2 * i + 1 + (is_shared ? 0x8000u : 0)) & 0xffff) << 16;
    }
}
