/* Heddle's own instructions, which no GPU has: those that Narasiman 2014 proposes. docs/isa.md has their syntax and
 * says how to add one.
 *
 *     cond_acc        7.1: the lanes with a true predicate write to consecutive places; how many did
 *     tree_traverse   7.2.1: a base plus the number of true predicates, times the size of a node
 *     progress        9.2.2: how far the warp has come, for its scheduler
 *
 * They act on the active lanes of one row. The dissertation has one base register for the warp; cond_acc takes that of
 * the lowest active lane. It leaves the order of the written elements open; here it is the order of the lanes. */
#include "exec/internal.h"

/* The active lanes whose predicate is true. */
static uint32_t true_lanes(const struct exec_context *cx, const struct exec_operands *o) {
    uint32_t predicate = *(const uint32_t *)o->src[1];
    return (cx->insn->flags & EXEC_FLAG_NEGATES ? ~predicate : predicate) & o->mask;
}

/* cond_acc d, [base], p, value */

static uint64_t base_address(const struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_insn *insn = cx->insn;
    unsigned lane = (unsigned)__builtin_ctz(o->mask);
    bool is_narrow = insn->operand[insn->n_dst].width == PTX_WIDTH_32;
    if (is_narrow) /* addresses of 32 bits wrap, as those of ld and st do */
        return ((const uint32_t *)o->src[0])[lane] + o->imm;
    return ((const uint64_t *)o->src[0])[lane] + (uint64_t)(int64_t)(int32_t)o->imm;
}

/* Lanes that write nothing get the base: what they are asked for is touched by others, or by nobody. */
static void place_lanes(struct exec_context *cx, uint32_t active, uint64_t base, unsigned bytes) {
    EXEC_FOR_ACTIVE(l, active) {
        uint32_t n_before = (uint32_t)__builtin_popcount(cx->touched & ((1u << l) - 1));
        cx->address[l] = base + (cx->touched >> l & 1 ? (uint64_t)n_before * bytes : 0);
    }
}

static void conditional_accumulate(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_insn *insn = cx->insn;
    unsigned bytes = insn->access.bytes, slot_bytes = exec_slot_bytes(insn->operand[insn->n_dst + 2]);
    const unsigned char *value = o->src[2];
    unsigned char *host[EXEC_LANES];
    cx->touched = true_lanes(cx, o);
    place_lanes(cx, o->mask, base_address(cx, o), bytes);
    EXEC_FOR_ACTIVE(l, cx->touched) {
        host[l] = exec_host_at(cx, l, (enum ptx_space)insn->access.space, cx->address[l], bytes, true);
        if (!host[l])
            return;
    }
    EXEC_FOR_ACTIVE(l, cx->touched) memcpy(host[l], value + (size_t)l * slot_bytes, bytes);
    uint32_t *d = o->dst[0], count = (uint32_t)__builtin_popcount(cx->touched);
    EXEC_FOR_ACTIVE(l, o->mask) d[l] = count;
}

/* tree_traverse d, base, p, node bytes */

static bool shift_of_node(struct exec_context *cx, uint32_t bytes, unsigned lane, unsigned *shift) {
    if (bytes == 0 || (bytes & (bytes - 1)) != 0) {
        exec_fault_set(cx, EXEC_FAULT_BAD_NODE, lane, 0, 0, "%u is no power of two", bytes);
        return false;
    }
    *shift = (unsigned)__builtin_ctz(bytes);
    return true;
}

static void traverse_32(struct exec_context *cx, const struct exec_operands *o) {
    uint32_t *d = o->dst[0], count = (uint32_t)__builtin_popcount(true_lanes(cx, o));
    const uint32_t *base = o->src[0], *bytes = o->src[2];
    EXEC_FOR_ACTIVE(l, o->mask) {
        unsigned shift;
        if (!shift_of_node(cx, bytes[l], l, &shift))
            return;
        d[l] = base[l] + (count << shift);
    }
}

static void traverse_64(struct exec_context *cx, const struct exec_operands *o) {
    uint64_t *d = o->dst[0], count = (uint64_t)__builtin_popcount(true_lanes(cx, o));
    const uint64_t *base = o->src[0];
    const uint32_t *bytes = o->src[2];
    EXEC_FOR_ACTIVE(l, o->mask) {
        unsigned shift;
        if (!shift_of_node(cx, bytes[l], l, &shift))
            return;
        d[l] = base[l] + (count << shift);
    }
}

/* progress value: the warp has one register; the lowest active lane writes it. */
static void set_progress(struct exec_context *cx, const struct exec_operands *o) {
    cx->row->progress = ((const uint32_t *)o->src[0])[__builtin_ctz(o->mask)];
}

exec_act_fn *exec_select_extension(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    unsigned bits = ptx_type_bits(insn->type[0]);
    switch (insn->opcode) {
    case PTX_OP_COND_ACC:
        return form->src_bits[2] >= bits ? conditional_accumulate : NULL;
    case PTX_OP_TREE_TRAVERSE:
        return bits == 64 ? traverse_64 : traverse_32;
    case PTX_OP_PROGRESS:
        return set_progress;
    default:
        return NULL;
    }
}
