/* Heddle's own instructions, which no GPU has; Narasiman 2014 proposes them. docs/extensions.md describes their syntax
 * and explains how to add one.
 *
 *     cond_acc        7.1: the lanes with a true predicate write to consecutive places; returns their number
 *     tree_traverse   7.2.1: a base plus the number of true predicates, times the size of a node
 *     progress        9.2.2: tells the scheduler how far the warp has come
 *
 * They act on the active lanes of one row, with .sync on those in a member mask. Lanes with different member masks form
 * separate groups, as in warp.c. The dissertation has one base register for the warp; cond_acc uses that of the lowest
 * active lane. The dissertation does not define the order in which elements are written; here it is the order of the
 * lanes. */
#include "exec/internal.h"

/* Returns the active lanes whose predicate is true. */
static uint32_t true_lanes(const struct exec_context *cx, const struct exec_operands *o) {
    uint32_t predicate = *(const uint32_t *)o->src[1];
    return (cx->insn->flags & EXEC_FLAG_NEGATES ? ~predicate : predicate) & o->mask;
}

/* Returns the member masks of the .sync forms, otherwise NULL. */
static const uint32_t *members_of(const struct exec_context *cx, const struct exec_operands *o) {
    return cx->insn->n_src > 3 ? o->src[3] : NULL;
}

/* cond_acc d, [base], p, value [, members] */

static uint64_t base_address(const struct exec_context *cx, const struct exec_operands *o, unsigned lane) {
    const struct exec_insn *insn = cx->insn;
    bool is_narrow = insn->operand[insn->n_dst].width == PTX_WIDTH_32;
    if (is_narrow) /* 32-bit addresses wrap, as in ld and st */
        return ((const uint32_t *)o->src[0])[lane] + o->imm;
    return ((const uint64_t *)o->src[0])[lane] + (uint64_t)(int64_t)(int32_t)o->imm;
}

/* Sets the addresses of a group's lanes and returns how many write. Lanes that do not write get the base address, which
 * adds no line to the access. */
static uint32_t place_group(struct exec_context *cx, uint32_t group, uint32_t writers, uint64_t base) {
    uint32_t count = 0;
    EXEC_FOR_ACTIVE(l, group) {
        bool writes = writers >> l & 1;
        cx->address[l] = base + (writes ? (uint64_t)count * cx->insn->access.bytes : 0);
        count += writes;
    }
    cx->touched |= writers;
    return count;
}

static void conditional_accumulate(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_insn *insn = cx->insn;
    unsigned bytes = insn->access.bytes, slot_bytes = exec_slot_bytes(insn->operand[insn->n_dst + 2]);
    const unsigned char *value = o->src[2];
    unsigned char *host[EXEC_LANES];
    uint32_t count[EXEC_LANES], left = o->mask, participants;
    cx->touched = 0;
    while (left) {
        uint32_t group = exec_next_group(&left, members_of(cx, o), &participants);
        uint64_t base = base_address(cx, o, (unsigned)__builtin_ctz(group));
        uint32_t n = place_group(cx, group, true_lanes(cx, o) & participants, base);
        EXEC_FOR_ACTIVE(l, group) count[l] = n;
    }
    EXEC_FOR_ACTIVE(l, cx->touched) {
        host[l] = exec_host_at(cx, l, (enum ptx_space)insn->access.space, cx->address[l], bytes, true);
        if (!host[l])
            return;
    }
    EXEC_FOR_ACTIVE(l, cx->touched) memcpy(host[l], value + (size_t)l * slot_bytes, bytes);
    EXEC_FOR_ACTIVE(l, o->mask)((uint32_t *)o->dst[0])[l] = count[l];
}

/* tree_traverse d, base, p, node bytes [, members] */

/* Computes the number that each active lane adds to its base. Returns false after a fault. */
static bool find_steps(struct exec_context *cx, const struct exec_operands *o, uint64_t step[EXEC_LANES]) {
    const uint32_t *bytes = o->src[2];
    uint32_t left = o->mask, participants;
    while (left) {
        uint32_t group = exec_next_group(&left, members_of(cx, o), &participants);
        uint64_t count = (uint64_t)__builtin_popcount(true_lanes(cx, o) & participants);
        EXEC_FOR_ACTIVE(l, group) step[l] = count * bytes[l];
    }
    EXEC_FOR_ACTIVE(l, o->mask) {
        if (bytes[l] != 0 && (bytes[l] & (bytes[l] - 1)) == 0)
            continue;
        exec_fault_set(cx, EXEC_FAULT_BAD_NODE, l, 0, 0, "%u is not a power of two", bytes[l]);
        return false;
    }
    return true;
}

static void traverse_32(struct exec_context *cx, const struct exec_operands *o) {
    uint64_t step[EXEC_LANES];
    if (find_steps(cx, o, step))
        EXEC_FOR_ACTIVE(l, o->mask)
    ((uint32_t *)o->dst[0])[l] = ((const uint32_t *)o->src[0])[l] + (uint32_t)step[l];
}

static void traverse_64(struct exec_context *cx, const struct exec_operands *o) {
    uint64_t step[EXEC_LANES];
    if (find_steps(cx, o, step))
        EXEC_FOR_ACTIVE(l, o->mask)((uint64_t *)o->dst[0])[l] = ((const uint64_t *)o->src[0])[l] + step[l];
}

/* progress value: a row has one register. Its lowest active lane writes it. */
static void set_progress(struct exec_context *cx, const struct exec_operands *o) {
    for (uint32_t left = o->mask; left;) {
        unsigned lane = 31u - (unsigned)__builtin_clz(left);
        exec_row_at(cx, lane)->progress = ((const uint32_t *)o->src[0])[lane];
        left &= ~(1u << lane);
    }
}

enum exec_kind exec_extension_kind(enum ptx_opcode opcode) {
    switch (opcode) {
    case PTX_OP_COND_ACC:
        return EXEC_KIND_WARP_MEMORY;
    case PTX_OP_TREE_TRAVERSE:
        return EXEC_KIND_WARP;
    default: /* progress: a bundle may have threads of several rows */
        return EXEC_KIND_CONTEXT;
    }
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
