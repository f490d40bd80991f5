/* suld.b and sust.b: raw bytes of a surface; sust.p: texels in its format; sured.b: reductions, the same on an H200.
 * Left out: sured.p.
 *
 * From the PTX ISA manual: x counts bytes (texels with .p), y lines, z slices. Layers and faces of cubes are slices
 * too. Outside the surface .trap faults, .clamp moves the access to the nearest texel inside, .zero reads 0 and drops
 * stores. x must be a multiple of the access size. sust.p takes four words and writes one for each channel of the
 * surface, as an H200 does: integers saturate, and f32 becomes f16 cut off towards zero, at most the largest number. */
#include "exec/texture/texture.h"

#include "exec/float_bits.h"

#include "exec/program/link.h"

enum bounds { BOUNDS_TRAP, BOUNDS_CLAMP, BOUNDS_ZERO };

static int64_t clamp_to(int64_t value, int64_t last) { return value < 0 ? 0 : value > last ? last : value; }

struct place {
    int64_t x, y, slice;
};

static struct place place_of(const struct exec_operands *o, unsigned lane) {
    struct exec_geometry_info info = exec_geometry_info[o->imm & EXEC_TEXTURE_GEOMETRY];
    const int32_t *const *coordinate = (const int32_t *const *)&o->src[1 + info.has_layer];
    struct place at = {.x = coordinate[0][lane]};
    if (info.dimensions > 1)
        at.y = coordinate[1][lane];
    if (info.dimensions > 2)
        at.slice = coordinate[2][lane];
    if (info.has_layer)
        at.slice = ((const int32_t *)o->src[1])[lane];
    return at;
}

/* Returns the host memory of a lane's access, or NULL without a fault if .zero drops it. */
static unsigned char *surface_at(struct exec_context *cx, const struct exec_texture *t, struct place at, unsigned lane,
                                 unsigned bytes, enum bounds bounds) {
    int64_t last_x = (int64_t)t->width * exec_texel_bytes(t) - bytes, last_y = t->height ? (int64_t)t->height - 1 : 0;
    int64_t n_slices = t->depth ? t->depth : t->layers ? t->layers : 1;
    if (at.x & (bytes - 1)) {
        exec_fault_set(cx, EXEC_FAULT_MISALIGNED, lane, t->address, bytes,
                       "surface coordinate x = %lld is not a multiple of %u bytes", (long long)at.x, bytes);
        return NULL;
    }
    bool is_outside = at.x < 0 || at.x > last_x || at.y < 0 || at.y > last_y || at.slice < 0 || at.slice > n_slices - 1;
    if (is_outside && (bounds == BOUNDS_TRAP || last_x < 0)) {
        exec_fault_set(cx, EXEC_FAULT_ILLEGAL_ADDRESS, lane, t->address, bytes,
                       "out of bounds: byte %lld of line %lld of a surface of %lld bytes by %lld lines%s",
                       (long long)at.x, (long long)at.y, (long long)last_x + bytes, (long long)last_y + 1,
                       n_slices > 1 ? ", or its slice" : "");
        return NULL;
    }
    cx->texel_bytes = bytes;
    cx->address[lane] = t->address + (uint64_t)clamp_to(at.slice, n_slices - 1) * t->slice +
                        (uint64_t)clamp_to(at.y, last_y) * t->pitch + (uint64_t)clamp_to(at.x, last_x);
    return is_outside && bounds == BOUNDS_ZERO ? NULL : exec_global(cx, cx->address[lane], bytes, lane);
}

EXEC_INLINE void surface_load(struct exec_context *cx, const struct exec_operands *o, unsigned bytes,
                              enum bounds bounds) {
    unsigned n = cx->insn->n_dst;
    EXEC_FOR_ACTIVE(l, o->mask) {
        const struct exec_texture *t = exec_texture_of(cx, ((const uint64_t *)o->src[0])[l], l);
        const unsigned char *p = t ? surface_at(cx, t, place_of(o, l), l, bytes * n, bounds) : NULL;
        if (cx->fault.kind != EXEC_FAULT_NONE)
            return;
        for (unsigned e = 0; e < n; e++) {
            unsigned slot = exec_slot_bytes(cx->insn->operand[e]);
            uint64_t value = 0;
            if (p)
                memcpy(&value, p + (size_t)e * bytes, bytes);
            memcpy((unsigned char *)o->dst[e] + (size_t)l * slot, &value, slot);
        }
    }
}

EXEC_INLINE void surface_store(struct exec_context *cx, const struct exec_operands *o, unsigned bytes,
                               enum bounds bounds) {
    struct exec_geometry_info info = exec_geometry_info[o->imm & EXEC_TEXTURE_GEOMETRY];
    unsigned first = 1u + info.has_layer + info.dimensions, n = cx->insn->n_src - first;
    EXEC_FOR_ACTIVE(l, o->mask) {
        const struct exec_texture *t = exec_texture_of(cx, ((const uint64_t *)o->src[0])[l], l);
        unsigned char *p = t ? surface_at(cx, t, place_of(o, l), l, bytes * n, bounds) : NULL;
        if (cx->fault.kind != EXEC_FAULT_NONE)
            return;
        for (unsigned e = 0; p && e < n; e++) {
            unsigned slot = exec_slot_bytes(cx->insn->operand[first + e]);
            memcpy(p + (size_t)e * bytes, (const unsigned char *)o->src[first + e] + (size_t)l * slot, bytes);
        }
    }
}

/* ---- Texels ----------------------------------------------------------------------------------------------------- */

/* Cut off towards zero; numbers that are too large become the largest. */
static uint16_t half_towards_zero(uint32_t bits) {
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude >= 0x7f800000)
        return (uint16_t)(magnitude > 0x7f800000 ? 0x7fff : sign | 0x7c00);
    if (magnitude >= 0x47800000) /* 65536 and more */
        return (uint16_t)(sign | 0x7bff);
    if (magnitude < 0x38800000)
        return (uint16_t)(sign | (uint32_t)(exec_bits_float(magnitude) * 0x1p24f));
    return (uint16_t)(sign | ((magnitude >> 13) - (112u << 10)));
}

/* Returns a channel's bits in the surface's format. */
static uint32_t encode(enum exec_texel texel, uint32_t word) {
    int32_t number = (int32_t)word;
    switch (texel) {
    case EXEC_TEXEL_U8:
        return word > UINT8_MAX ? UINT8_MAX : word;
    case EXEC_TEXEL_U16:
        return word > UINT16_MAX ? UINT16_MAX : word;
    case EXEC_TEXEL_S8:
        return (uint32_t)(number < INT8_MIN ? INT8_MIN : number > INT8_MAX ? INT8_MAX : number);
    case EXEC_TEXEL_S16:
        return (uint32_t)(number < INT16_MIN ? INT16_MIN : number > INT16_MAX ? INT16_MAX : number);
    case EXEC_TEXEL_F16:
        return half_towards_zero(word);
    default:
        return word;
    }
}

EXEC_INLINE void store_texels(struct exec_context *cx, const struct exec_operands *o, enum bounds bounds) {
    struct exec_geometry_info info = exec_geometry_info[o->imm & EXEC_TEXTURE_GEOMETRY];
    unsigned first = 1u + info.has_layer + info.dimensions;
    EXEC_FOR_ACTIVE(l, o->mask) {
        const struct exec_texture *t = exec_texture_of(cx, ((const uint64_t *)o->src[0])[l], l);
        if (!t)
            return;
        struct place at = place_of(o, l);
        unsigned bytes = exec_texel_bytes(t);
        at.x *= bytes;
        unsigned char *p = surface_at(cx, t, at, l, bytes, bounds);
        if (cx->fault.kind != EXEC_FAULT_NONE)
            return;
        for (unsigned e = 0; p && e < t->channels; e++) {
            uint32_t channel = encode(t->texel, ((const uint32_t *)o->src[first + e])[l]);
            memcpy(p + (size_t)e * (bytes / t->channels), &channel, bytes / t->channels);
        }
    }
}

static void store_texels_trap(struct exec_context *cx, const struct exec_operands *o) {
    store_texels(cx, o, BOUNDS_TRAP);
}
static void store_texels_clamp(struct exec_context *cx, const struct exec_operands *o) {
    store_texels(cx, o, BOUNDS_CLAMP);
}
static void store_texels_zero(struct exec_context *cx, const struct exec_operands *o) {
    store_texels(cx, o, BOUNDS_ZERO);
}

#define SURFACE(what, bytes, name, bounds)                                                                             \
    static void what##_##bytes##_##name(struct exec_context *cx, const struct exec_operands *o) {                      \
        surface_##what(cx, o, bytes, bounds);                                                                          \
    }
#define SURFACES(what, bytes)                                                                                          \
    SURFACE(what, bytes, trap, BOUNDS_TRAP)                                                                            \
    SURFACE(what, bytes, clamp, BOUNDS_CLAMP) SURFACE(what, bytes, zero, BOUNDS_ZERO)
SURFACES(load, 1)
SURFACES(load, 2)
SURFACES(load, 4)
SURFACES(load, 8)
SURFACES(store, 1)
SURFACES(store, 2)
SURFACES(store, 4)
SURFACES(store, 8)

#define ROW(what, bytes)                                                                                               \
    { what##_##bytes##_trap, what##_##bytes##_clamp, what##_##bytes##_zero }

/* [log2 of the element's bytes][bounds] */
static exec_act_fn *const loads[4][3] = {ROW(load, 1), ROW(load, 2), ROW(load, 4), ROW(load, 8)};
static exec_act_fn *const stores[4][3] = {ROW(store, 1), ROW(store, 2), ROW(store, 4), ROW(store, 8)};

/* ---- Reductions ------------------------------------------------------------------------------------------------- */

/* In `result`, old is the value in the surface and b the operand. Lanes act in ascending order, as in red. */
#define REDUCE(name, type, result)                                                                                     \
    EXEC_INLINE void name(struct exec_context *cx, const struct exec_operands *o, enum bounds bounds) {                \
        struct exec_geometry_info info = exec_geometry_info[o->imm & EXEC_TEXTURE_GEOMETRY];                           \
        const type *value = o->src[1u + info.dimensions];                                                              \
        EXEC_FOR_ACTIVE(l, o->mask) {                                                                                  \
            const struct exec_texture *t = exec_texture_of(cx, ((const uint64_t *)o->src[0])[l], l);                   \
            unsigned char *p = t ? surface_at(cx, t, place_of(o, l), l, sizeof(type), bounds) : NULL;                  \
            if (cx->fault.kind != EXEC_FAULT_NONE)                                                                     \
                return;                                                                                                \
            type old, b = value[l];                                                                                    \
            if (!p)                                                                                                    \
                continue;                                                                                              \
            memcpy(&old, p, sizeof(old));                                                                              \
            type next = (type)(result);                                                                                \
            memcpy(p, &next, sizeof(next));                                                                            \
            cx->has_changed |= next != old;                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_trap(struct exec_context *cx, const struct exec_operands *o) { name(cx, o, BOUNDS_TRAP); }      \
    static void name##_clamp(struct exec_context *cx, const struct exec_operands *o) { name(cx, o, BOUNDS_CLAMP); }    \
    static void name##_zero(struct exec_context *cx, const struct exec_operands *o) { name(cx, o, BOUNDS_ZERO); }      \
    static exec_act_fn *const name##_row[] = {name##_trap, name##_clamp, name##_zero};
REDUCE(add_32, uint32_t, old + b)
REDUCE(add_64, uint64_t, old + b)
REDUCE(min_u32, uint32_t, old < b ? old : b)
REDUCE(max_u32, uint32_t, old > b ? old : b)
REDUCE(min_s32, int32_t, old < b ? old : b)
REDUCE(max_s32, int32_t, old > b ? old : b)
REDUCE(min_u64, uint64_t, old < b ? old : b)
REDUCE(max_u64, uint64_t, old > b ? old : b)
REDUCE(min_s64, int64_t, old < b ? old : b)
REDUCE(max_s64, int64_t, old > b ? old : b)
REDUCE(and_32, uint32_t, old &b)
REDUCE(or_32, uint32_t, old | b)

/* The manual allows no sum of s64, and bits only of b32. */
static exec_act_fn *const *reduction_of(const struct ptx_instruction *insn) {
    bool is_sum = ptx_has(insn, PTX_MOD_ADD), is_least = ptx_has(insn, PTX_MOD_MIN),
         is_most = ptx_has(insn, PTX_MOD_MAX);
    switch (insn->type[0]) {
    case PTX_U32:
        return is_sum ? add_32_row : is_least ? min_u32_row : is_most ? max_u32_row : NULL;
    case PTX_S32:
        return is_sum ? add_32_row : is_least ? min_s32_row : is_most ? max_s32_row : NULL;
    case PTX_U64:
        return is_sum ? add_64_row : is_least ? min_u64_row : is_most ? max_u64_row : NULL;
    case PTX_S64:
        return is_least ? min_s64_row : is_most ? max_s64_row : NULL;
    case PTX_B32:
        return ptx_has(insn, PTX_MOD_AND) ? and_32_row : ptx_has(insn, PTX_MOD_OR) ? or_32_row : NULL;
    default:
        return NULL;
    }
}

/* ---- Selection -------------------------------------------------------------------------------------------------- */

static enum bounds bounds_of(const struct ptx_instruction *insn) {
    return ptx_has(insn, PTX_MOD_CLAMP) ? BOUNDS_CLAMP : ptx_has(insn, PTX_MOD_ZERO) ? BOUNDS_ZERO : BOUNDS_TRAP;
}

exec_act_fn *exec_select_surface_reduction(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    enum exec_geometry geometry;
    bool is_known = exec_texture_geometry(insn, &geometry) && !exec_geometry_info[geometry].is_cube &&
                    !exec_geometry_info[geometry].has_layer && ptx_has(insn, PTX_MOD_B);
    exec_act_fn *const *row = reduction_of(insn);
    unsigned n_coordinates = exec_texture_coordinates(insn);
    if (!is_known || !row || form->src_bits[0] != 64 || form->n_src != 2 + n_coordinates ||
        form->src_bits[1 + n_coordinates] != ptx_type_bits(insn->type[0]))
        return NULL;
    return row[bounds_of(insn)];
}

static bool are_slots_right(const struct exec_form *form, unsigned bits, unsigned n, unsigned first) {
    bool is_load = form->insn->opcode == PTX_OP_SULD;
    unsigned found = is_load ? form->n_dst : form->n_src - first;
    for (unsigned e = 0; e < n && found == n; e++)
        if ((is_load ? form->dst_bits[e] : form->src_bits[first + e]) < bits)
            return false;
    return found == n;
}

exec_act_fn *exec_select_surface(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    enum exec_geometry geometry;
    bool is_known = exec_texture_geometry(insn, &geometry) && !exec_geometry_info[geometry].is_cube;
    unsigned n_coordinates = exec_texture_coordinates(insn);
    unsigned bits = ptx_type_bits(insn->type[0]), n = insn->vector ? insn->vector : 1;
    bool is_load = insn->opcode == PTX_OP_SULD;
    bool is_formatted = ptx_has(insn, PTX_MOD_P) && insn->opcode == PTX_OP_SUST;
    if ((!ptx_has(insn, PTX_MOD_B) && !is_formatted) || !is_known || bits < 8 || bits > 64 || form->src_bits[0] != 64)
        return NULL;
    if (form->n_src < 1 + n_coordinates || !are_slots_right(form, bits, n, 1 + n_coordinates))
        return NULL;
    enum bounds bounds = bounds_of(insn);
    static exec_act_fn *const texels[] = {store_texels_trap, store_texels_clamp, store_texels_zero};
    if (is_formatted)
        return bits == 32 && n == 4 ? texels[bounds] : NULL;
    return (is_load ? loads : stores)[__builtin_ctz(bits / 8)][bounds];
}
