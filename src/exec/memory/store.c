/* st: from registers to memory; only the low bytes if the register is larger than the element.
 *
 * Lanes that write the same address do so in ascending order; the manual does not say which value remains. Cache
 * operators, memory order, scope and eviction hints change no value here. */
#include "exec/memory/mbarrier.h"
#include "exec/program/link.h"

/* The parameters of a store function; slot_bytes 0 stands for registers of different sizes in one vector. */
struct shape {
    unsigned bytes, slot_bytes, n;
};

EXEC_INLINE void store_lane(const struct exec_context *cx, const struct exec_operands *o, struct shape s, size_t lane,
                            unsigned char *p) {
    for (unsigned e = 0; e < s.n; e++) {
        unsigned slot = s.slot_bytes ? s.slot_bytes : exec_slot_bytes(cx->insn->operand[1 + e]);
        memcpy(p + e * s.bytes, (const unsigned char *)o->src[1 + e] + lane * slot, s.bytes);
    }
}

/* Interleaves the elements of 32 vectors. n is a constant, so the compiler emits shuffles. */
#define JOIN(type)                                                                                                     \
    EXEC_INLINE void join_##type(unsigned char *to, const void *const *src, unsigned n) {                              \
        type *restrict p = (type *)to;                                                                                 \
        const type *x = src[0], *y = src[1], *z = src[n == 4 ? 2 : 0], *w = src[n == 4 ? 3 : 0];                       \
        if (n == 2) {                                                                                                  \
            for (int i = 0; i < EXEC_LANES; i++) {                                                                     \
                p[2 * i] = x[i];                                                                                       \
                p[2 * i + 1] = y[i];                                                                                   \
            }                                                                                                          \
        } else {                                                                                                       \
            for (int i = 0; i < EXEC_LANES; i++) {                                                                     \
                p[4 * i] = x[i];                                                                                       \
                p[4 * i + 1] = y[i];                                                                                   \
                p[4 * i + 2] = z[i];                                                                                   \
                p[4 * i + 3] = w[i];                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }
JOIN(uint32_t)
JOIN(uint64_t)

EXEC_INLINE void store_unit(const struct exec_context *cx, const struct exec_operands *o, struct shape s,
                            unsigned char *first) {
    if (s.slot_bytes == s.bytes && s.n == 1)
        memcpy(first, o->src[1], (size_t)EXEC_LANES * s.bytes);
    else if (s.slot_bytes == s.bytes && s.bytes == 4)
        join_uint32_t(first, o->src + 1, s.n);
    else if (s.slot_bytes == s.bytes && s.bytes == 8)
        join_uint64_t(first, o->src + 1, s.n);
    else
        for (size_t l = 0; l < EXEC_LANES; l++)
            store_lane(cx, o, s, l, first + l * s.bytes * s.n);
}

EXEC_INLINE void store(struct exec_context *cx, const struct exec_operands *o, struct shape s) {
    struct exec_view view;
    struct exec_places places; /* a copy: stores through it cannot change it */
    switch (exec_view_memory(cx, o, s.bytes * s.n, true, &view)) {
    case EXEC_PATTERN_FAULT:
        return;
    case EXEC_PATTERN_CONSECUTIVE:
        store_unit(cx, o, s, view.first);
        return;
    case EXEC_PATTERN_UNIFORM: /* the last lane's value stays */
        store_lane(cx, o, s, 31u - (unsigned)__builtin_clz(o->mask), view.first);
        return;
    case EXEC_PATTERN_LANES:
        places = view.places;
        if (o->mask == EXEC_FULL_MASK)
            for (size_t l = 0; l < EXEC_LANES; l++)
                store_lane(cx, o, s, l, exec_place(places, l));
        else
            EXEC_FOR_ACTIVE(l, o->mask) store_lane(cx, o, s, l, exec_place(places, l));
    }
}

#define STORE(bytes, slot, n)                                                                                          \
    static void store_##bytes##_##slot##_##n(struct exec_context *cx, const struct exec_operands *o) {                 \
        store(cx, o, (struct shape){bytes, slot, n});                                                                  \
    }
#define STORES(bytes, slot) STORE(bytes, slot, 1) STORE(bytes, slot, 2) STORE(bytes, slot, 4)
STORES(1, 0)
STORES(1, 2)
STORES(1, 4)
STORES(1, 8)
STORES(2, 0)
STORES(2, 2)
STORES(2, 4)
STORES(2, 8)
STORES(4, 0)
STORES(4, 4)
STORES(4, 8)
STORES(8, 8)

#define ROW(bytes, slot)                                                                                               \
    {                                                                                                                  \
        bytes, slot, { store_##bytes##_##slot##_1, store_##bytes##_##slot##_2, store_##bytes##_##slot##_4 }            \
    }

static const struct {
    uint8_t bytes, slot_bytes;
    exec_act_fn *act[3]; /* 1, 2, 4 elements */
} stores[] = {ROW(1, 0), ROW(1, 2), ROW(1, 4), ROW(1, 8), ROW(2, 0), ROW(2, 2),
              ROW(2, 4), ROW(2, 8), ROW(4, 0), ROW(4, 4), ROW(4, 8), ROW(8, 8)};

/* Returns whether the operand is a parameter of the kernel, not a block of call arguments. */
static bool is_kernel_parameter(const struct ptx_operand *operand) {
    const struct ptx_variable *variable = operand->variable;
    const struct ptx_function *owner = variable ? variable->owner : NULL;
    if (!owner || !owner->is_entry || variable->space != PTX_SPACE_PARAM)
        return false;
    return variable->index < owner->n_parameters && &owner->parameter[variable->index] == variable;
}

exec_act_fn *exec_select_store(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    unsigned bits = ptx_type_bits(insn->type[0]);
    unsigned n = insn->vector ? insn->vector : 1;
    if (ptx_has(insn, PTX_MOD_ASYNC))
        return exec_select_store_async(form);
    if (exec_is_wide(insn) && !is_kernel_parameter(&insn->operand[0]))
        return exec_select_wide(form);
    if (bits < 8 || bits > 64 || n > 4 || form->n_src < 1 + n)
        return NULL;
    if (insn->space == PTX_SPACE_CONST || is_kernel_parameter(&insn->operand[0]))
        return NULL;
    unsigned slot = form->src_bits[1] / 8u;
    for (unsigned e = 1; e <= n; e++) {
        if (form->src_bits[e] < bits)
            return NULL;
        if (form->src_bits[e] / 8u != slot)
            slot = 0;
    }
    for (size_t k = 0; k < sizeof(stores) / sizeof(stores[0]); k++)
        if (stores[k].bytes * 8u == bits && stores[k].slot_bytes == slot)
            return stores[k].act[n >> 1];
    return NULL;
}
