/* ld and ldu: from memory into registers, extended if the register is larger than the element.
 *
 * There is one function per element size, register size, extension and vector length. It finds the space at run time
 * (address.c). Cache operators, memory order, scope and eviction hints change no value here, because rows run one after
 * the other. */
#include "exec/internal.h"
#include "exec/program/link.h"

/* Reads one element, extended to 64 bits. The size is a constant in every call. */
EXEC_INLINE uint64_t read_element(const unsigned char *p, unsigned bytes, bool is_signed) {
    uint64_t value = 0;
    memcpy(&value, p, bytes);
    unsigned unused = 64 - 8 * bytes;
    return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

EXEC_INLINE void write_slot(void *dst, size_t lane, unsigned slot_bytes, uint64_t value) {
    if (slot_bytes == 2)
        ((uint16_t *)dst)[lane] = (uint16_t)value;
    else if (slot_bytes == 4)
        ((uint32_t *)dst)[lane] = (uint32_t)value;
    else
        ((uint64_t *)dst)[lane] = value;
}

/* The parameters of a load function; slot_bytes 0 stands for registers of different sizes in one vector. */
struct shape {
    unsigned bytes, slot_bytes, n;
    bool is_signed;
};

EXEC_INLINE unsigned slot_of(const struct exec_context *cx, struct shape s, unsigned element) {
    return s.slot_bytes ? s.slot_bytes : exec_slot_bytes(cx->insn->operand[element]);
}

/* Separates 32 neighbouring vectors into their elements. n is a constant, so the compiler emits shuffles. */
#define SEPARATE(type)                                                                                                 \
    EXEC_INLINE void separate_##type(void *const *dst, const unsigned char *from, unsigned n) {                        \
        const type *p = (const type *)from;                                                                            \
        type *restrict x = dst[0], *restrict y = dst[1], *restrict z = dst[2], *restrict w = dst[3];                   \
        if (n == 2) {                                                                                                  \
            for (int i = 0; i < EXEC_LANES; i++) {                                                                     \
                x[i] = p[2 * i];                                                                                       \
                y[i] = p[2 * i + 1];                                                                                   \
            }                                                                                                          \
        } else {                                                                                                       \
            for (int i = 0; i < EXEC_LANES; i++) {                                                                     \
                x[i] = p[4 * i];                                                                                       \
                y[i] = p[4 * i + 1];                                                                                   \
                z[i] = p[4 * i + 2];                                                                                   \
                w[i] = p[4 * i + 3];                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }
SEPARATE(uint32_t)
SEPARATE(uint64_t)

/* All lanes load consecutive elements. */
EXEC_INLINE void load_unit(const struct exec_context *cx, const struct exec_operands *o, struct shape s,
                           const unsigned char *first) {
    if (s.n == 1 && s.slot_bytes == s.bytes) {
        memcpy(o->dst[0], first, (size_t)EXEC_LANES * s.bytes);
        return;
    }
    if (s.n > 1 && s.slot_bytes == s.bytes && s.bytes >= 4) {
        if (s.bytes == 4)
            separate_uint32_t(o->dst, first, s.n);
        else
            separate_uint64_t(o->dst, first, s.n);
        return;
    }
    for (unsigned e = 0; e < s.n; e++)
        for (size_t i = 0; i < EXEC_LANES; i++)
            write_slot(o->dst[e], i, slot_of(cx, s, e),
                       read_element(first + (i * s.n + e) * s.bytes, s.bytes, s.is_signed));
}

/* All lanes load the same element. */
EXEC_INLINE void load_uniform(const struct exec_context *cx, const struct exec_operands *o, struct shape s,
                              const unsigned char *first) {
    for (unsigned e = 0; e < s.n; e++) {
        uint64_t value = read_element(first + e * s.bytes, s.bytes, s.is_signed);
        for (size_t i = 0; i < EXEC_LANES; i++)
            write_slot(o->dst[e], i, slot_of(cx, s, e), value);
    }
}

EXEC_INLINE void load_lane(const struct exec_context *cx, const struct exec_operands *o, struct shape s, unsigned lane,
                           const unsigned char *p) {
    for (unsigned e = 0; e < s.n; e++)
        write_slot(o->dst[e], lane, slot_of(cx, s, e), read_element(p + e * s.bytes, s.bytes, s.is_signed));
}

/* All lanes load from their own offset. The pointers are copies, so stores through them cannot change them. */
EXEC_INLINE void load_offsets(const struct exec_context *cx, const struct exec_operands *o, struct shape s,
                              uintptr_t base, const uint64_t *offset) {
    enum { STEP = 8 };
    for (unsigned e = 0; e < s.n; e++) {
        void *dst = o->dst[e];
        unsigned slot = slot_of(cx, s, e);
        for (size_t l = 0; l < EXEC_LANES; l += STEP)
            for (size_t k = l; k < l + STEP; k++) { /* which the compiler unrolls */
                const unsigned char *p = (const unsigned char *)(base + (uintptr_t)offset[k]);
                write_slot(dst, k, slot, read_element(p + e * s.bytes, s.bytes, s.is_signed));
            }
    }
}

EXEC_INLINE void load(struct exec_context *cx, const struct exec_operands *o, struct shape s) {
    struct exec_view view;
    struct exec_places places;
    switch (exec_view_memory(cx, o, s.bytes * s.n, false, &view)) {
    case EXEC_PATTERN_FAULT:
        return;
    case EXEC_PATTERN_CONSECUTIVE:
        load_unit(cx, o, s, view.first);
        return;
    case EXEC_PATTERN_UNIFORM:
        if (o->mask == EXEC_FULL_MASK)
            load_uniform(cx, o, s, view.first);
        else
            EXEC_FOR_ACTIVE(l, o->mask) load_lane(cx, o, s, l, view.first);
        return;
    case EXEC_PATTERN_LANES:
        places = view.places;
        if (o->mask != EXEC_FULL_MASK)
            EXEC_FOR_ACTIVE(l, o->mask) load_lane(cx, o, s, l, exec_place(places, l));
        else if (places.stride == 0)
            load_offsets(cx, o, s, places.base, places.offset);
        else
            for (unsigned l = 0; l < EXEC_LANES; l++)
                load_lane(cx, o, s, l, exec_place(places, l));
    }
}

/* LOADS(bytes, slot bytes, extension): the functions for 1, 2 and 4 elements. */
#define LOAD(bytes, slot, extension, n)                                                                                \
    static void load_##extension##bytes##_##slot##_##n(struct exec_context *cx, const struct exec_operands *o) {       \
        load(cx, o, (struct shape){bytes, slot, n, EXTENDS_##extension});                                              \
    }
#define EXTENDS_u false
#define EXTENDS_s true
#define LOADS(bytes, slot, extension)                                                                                  \
    LOAD(bytes, slot, extension, 1) LOAD(bytes, slot, extension, 2) LOAD(bytes, slot, extension, 4)
#define EACH_SLOT(bytes, extension)                                                                                    \
    LOADS(bytes, 0, extension)                                                                                         \
    LOADS(bytes, 2, extension) LOADS(bytes, 4, extension) LOADS(bytes, 8, extension)
EACH_SLOT(1, u)
EACH_SLOT(1, s)
EACH_SLOT(2, u)
EACH_SLOT(2, s)
LOADS(4, 0, u)
LOADS(4, 4, u)
LOADS(4, 8, u)
LOADS(4, 0, s)
LOADS(4, 8, s)
LOADS(8, 8, u)

#define ROW(bytes, slot, extension)                                                                                    \
    {                                                                                                                  \
        bytes, slot, EXTENDS_##extension, {                                                                            \
            load_##extension##bytes##_##slot##_1, load_##extension##bytes##_##slot##_2,                                \
                load_##extension##bytes##_##slot##_4                                                                   \
        }                                                                                                              \
    }
#define ROWS(bytes, extension)                                                                                         \
    ROW(bytes, 0, extension), ROW(bytes, 2, extension), ROW(bytes, 4, extension), ROW(bytes, 8, extension)

static const struct {
    uint8_t bytes, slot_bytes;
    bool is_signed;
    exec_act_fn *act[3]; /* 1, 2, 4 elements */
} loads[] = {
    ROWS(1, u),   ROWS(1, s),   ROWS(2, u),   ROWS(2, s),   ROW(4, 0, u),
    ROW(4, 4, u), ROW(4, 8, u), ROW(4, 0, s), ROW(4, 8, s), ROW(8, 8, u),
};

/* Returns the registers' common size in bytes; 0 when the vector mixes sizes. Sinks have no size. */
static unsigned common_slot(const struct exec_form *form, unsigned n) {
    unsigned slot = 0;
    for (unsigned e = 0; e < n; e++) {
        unsigned bytes = form->dst_bits[e] / 8u;
        if (bytes && slot && bytes != slot)
            return 0;
        slot = bytes ? bytes : slot;
    }
    return slot;
}

exec_act_fn *exec_select_load(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    unsigned bits = ptx_type_bits(insn->type[0]);
    unsigned n = insn->vector ? insn->vector : 1;
    if (exec_is_wide(insn))
        return exec_select_wide(form);
    if (bits < 8 || bits > 64 || n > 4 || n > form->n_dst)
        return NULL;
    unsigned bytes = bits / 8, slot = common_slot(form, n);
    for (unsigned e = 0; e < n; e++)
        if (form->dst_bits[e] && form->dst_bits[e] < bits)
            return NULL;
    bool extends = ptx_type_kind(insn->type[0]) == PTX_KIND_S && slot != bytes;
    for (size_t k = 0; k < sizeof(loads) / sizeof(loads[0]); k++)
        if (loads[k].bytes == bytes && loads[k].slot_bytes == slot && (loads[k].is_signed == extends || slot == bytes))
            return loads[k].act[n >> 1];
    return NULL;
}
