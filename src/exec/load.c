/* ld and ldu: from memory into registers, widening where the register is larger than the element.
 *
 * One function per element size, register size, extension and vector length; the space is looked at when it runs
 * (address.c). Cache operators, memory order, scope and eviction hints change no value here: rows run one after the
 * other. */
#include "exec/internal.h"

/* One element, extended to 64 bits. The sizes are constants wherever this is called. */
EXEC_INLINE uint64_t read_element(const unsigned char *p, unsigned bytes, bool is_signed) {
    uint64_t value = 0;
    memcpy(&value, p, bytes);
    unsigned unused = 64 - 8 * bytes;
    return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

EXEC_INLINE void write_slot(void *dst, size_t lane, unsigned slot_bytes, uint64_t value) {
    memcpy((unsigned char *)dst + lane * slot_bytes, &value, slot_bytes);
}

/* What distinguishes the functions below; slot_bytes 0 stands for registers of different sizes in one vector. */
struct shape {
    unsigned bytes, slot_bytes, n;
    bool is_signed;
};

EXEC_INLINE unsigned slot_of(const struct exec_context *cx, struct shape s, unsigned element) {
    return s.slot_bytes ? s.slot_bytes : exec_slot_bytes(cx->insn->operand[element]);
}

/* All lanes, from memory at `first` with `stride` bytes from lane to lane (0: one value for all). */
EXEC_INLINE void load_stride(const struct exec_context *cx, const struct exec_operands *o, struct shape s,
                             const unsigned char *first, size_t stride) {
    for (unsigned e = 0; e < s.n; e++) {
        unsigned slot = slot_of(cx, s, e);
        if (!o->dst[e])
            continue;
        if (stride == s.bytes && slot == s.bytes) {
            memcpy(o->dst[e], first, (size_t)EXEC_LANES * s.bytes);
            continue;
        }
        for (size_t i = 0; i < EXEC_LANES; i++)
            write_slot(o->dst[e], i, slot, read_element(first + e * s.bytes + i * stride, s.bytes, s.is_signed));
    }
}

EXEC_INLINE void load_lane(const struct exec_context *cx, const struct exec_operands *o, struct shape s, unsigned lane,
                           const unsigned char *p) {
    for (unsigned e = 0; e < s.n; e++)
        if (o->dst[e])
            write_slot(o->dst[e], lane, slot_of(cx, s, e), read_element(p + e * s.bytes, s.bytes, s.is_signed));
}

EXEC_INLINE void load(struct exec_context *cx, const struct exec_operands *o, struct shape s) {
    struct exec_view view;
    unsigned bytes = s.bytes * s.n;
    switch (exec_view_memory(cx, o, bytes, false, &view)) {
    case EXEC_PATTERN_FAULT:
        return;
    case EXEC_PATTERN_UNIT:
        load_stride(cx, o, s, view.first, bytes);
        return;
    case EXEC_PATTERN_UNIFORM:
        if (o->mask == EXEC_FULL_MASK)
            load_stride(cx, o, s, view.first, 0);
        else
            EXEC_FOR_ACTIVE(l, o->mask) load_lane(cx, o, s, l, view.first);
        return;
    case EXEC_PATTERN_LANES:
        if (o->mask == EXEC_FULL_MASK)
            for (unsigned l = 0; l < EXEC_LANES; l++)
                load_lane(cx, o, s, l, view.host[l]);
        else
            EXEC_FOR_ACTIVE(l, o->mask) load_lane(cx, o, s, l, view.host[l]);
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

/* The registers' common size in bytes; 0 when the vector mixes sizes. Sinks have none. */
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
    if (bits < 8 || bits > 64 || n > EXEC_MAX_DST || n > form->n_dst)
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
