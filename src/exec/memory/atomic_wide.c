/* atom and red of more than one register: .b128, which is two halves, and vectors of f32 and half precision in global
 * memory. Each element of a vector is a separate operation. Lanes execute in ascending order. From the PTX ISA
 * manual. */
#include "exec/internal.h"
#include "exec/memory/combine.h"

struct halves {
    uint64_t low, high;
};

static struct halves halves_of(const struct exec_operands *o, unsigned k, unsigned lane) {
    return (struct halves){((const uint64_t *)o->src[k])[lane], ((const uint64_t *)o->src[k + 1])[lane]};
}

static bool are_equal(struct halves a, struct halves b) { return a.low == b.low && a.high == b.high; }

/* Sources: the address, the value to compare with (if is_swap), the new value. */
EXEC_INLINE void exchange(struct exec_context *cx, const struct exec_operands *o, bool is_swap) {
    struct exec_view view;
    if (!exec_view_lanes(cx, o, sizeof(struct halves), true, &view))
        return;
    EXEC_FOR_ACTIVE(l, o->mask) {
        unsigned char *place = exec_place(view.places, l);
        struct halves old, first = halves_of(o, 1, l), next = is_swap ? halves_of(o, 3, l) : first;
        memcpy(&old, place, sizeof old);
        if (is_swap && !are_equal(old, first))
            next = old;
        memcpy(place, &next, sizeof next);
        cx->has_changed |= !are_equal(next, old);
        ((uint64_t *)o->dst[0])[l] = old.low;
        ((uint64_t *)o->dst[1])[l] = old.high;
    }
}

static void exchange_128(struct exec_context *cx, const struct exec_operands *o) { exchange(cx, o, false); }
static void swap_128(struct exec_context *cx, const struct exec_operands *o) { exchange(cx, o, true); }

/* The extra operands are the registers of the result, if any, then those of the value. A register has one element or a
 * pair. */
static void reduce_vector(struct exec_context *cx, const struct exec_operands *o) {
    const unsigned bytes = cx->insn->access.bytes, n = cx->insn->access.n;
    const unsigned element_bytes = exec_combined_bytes(cx->insn->combination);
    exec_combine_fn *combine = exec_combine(cx->insn->combination);
    bool has_result = cx->insn->opcode == PTX_OP_ATOM;
    struct exec_view view;
    if (!exec_view_lanes(cx, o, bytes * n, true, &view))
        return;
    EXEC_FOR_ACTIVE(l, o->mask)
    for (unsigned at = 0; at < bytes * n; at += element_bytes) {
        unsigned char *place = exec_place(view.places, l) + at;
        const unsigned reg = at / bytes, within = at % bytes;
        uint64_t old = 0, operand = 0;
        memcpy(&old, place, element_bytes);
        memcpy(&operand, (const char *)exec_extra_at(cx, has_result ? n + reg : reg, l) + within, element_bytes);
        uint64_t next = combine(old, operand);
        memcpy(place, &next, element_bytes);
        cx->has_changed |= next != old;
        if (has_result)
            memcpy((char *)exec_extra_at(cx, reg, l) + within, &old, element_bytes);
    }
}

exec_act_fn *exec_select_atomic_wide(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    if (insn->type[0] == PTX_B64) {
        bool is_swap = ptx_has(insn, PTX_MOD_CAS);
        return form->n_dst == 2 && form->n_src >= (is_swap ? 5u : 3u) ? (is_swap ? swap_128 : exchange_128) : NULL;
    }
    bool is_known = exec_combination_of(insn) != EXEC_NO_COMBINATION;
    unsigned n = insn->opcode == PTX_OP_ATOM ? 2u * insn->vector : insn->vector;
    return is_known && form->n_extra == n && form->extra_bits == ptx_type_bits(insn->type[0]) ? reduce_vector : NULL;
}
