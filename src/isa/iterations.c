/* Finds the loops that can be unrolled, and counts their iterations: their text is contiguous and contains no call, and
 * a counter that moves on by a constant is compared at its end. */
#include "isa/unroll.h"

/* Returns whether the loop is contiguous text, with its last instruction as the only way back to its start. */
static bool is_contiguous(const struct isa_code *code, struct unrolled_loop *loop) {
    loop->n_exits = 0;
    if (loop->found.conjunction != ISA_NONE) /* the branch's own */
        loop->exit[loop->n_exits++] = isa_block_of(code, loop->last) + 1;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (isa_is_in_loop(code, i, loop->found.header) != isa_is_inside(loop, i))
            return false;
        if (!isa_is_inside(loop, i)) {
            if (isa_has_target(insn) && isa_is_inside(loop, insn->operand[0].target) &&
                insn->operand[0].target != loop->first)
                return false;
            for (uint32_t t = 0; t < insn->n_targets; t++)
                if (isa_is_inside(loop, insn->target[t]))
                    return false;
            continue;
        }
        if (insn->n_targets || insn->opcode == PTX_OP_CALL || (insn->opcode == PTX_OP_BRA && !isa_has_target(insn)))
            return false;
        if (!isa_has_target(insn) || i == loop->last)
            continue;
        uint32_t target = insn->operand[0].target;
        if (target == loop->first)
            return false;
        if (!isa_is_inside(loop, target))
            loop->exit[loop->n_exits++] = target < code->n ? isa_block_of(code, target) : code->analysis->n_blocks - 1;
    }
    return true;
}

static bool find_relation(const struct isa_code *code, struct unrolled_loop *loop) {
    const struct ptx_instruction *insn = isa_source(code, loop->found.comparison);
    enum ptx_type type = isa_type(insn);
    bool is_up = loop->found.by > 0;
    loop->bits = ptx_type_bits(type);
    loop->is_signed = ptx_type_kind(type) == PTX_KIND_S;
    if (insn->n_operands != 3 || (loop->bits != 32 && loop->bits != 64) || ptx_type_kind(type) == PTX_KIND_F ||
        insn->operand[0].pair_id != PTX_NO_INDEX ||
        ptx_type_bits(isa_type(isa_source(code, loop->found.step))) != loop->bits)
        return false;
    if (ptx_has(insn, PTX_MOD_NE)) {
        /* A counter that goes up to 0, or down to a negative number, has a sign: without it, it would be beyond the
         * limit again after the last iteration. */
        const struct ptx_operand *bound = &insn->operand[2];
        uint64_t sign = loop->bits == 64 ? bound->value >> 63 : bound->value >> 31 & 1;
        loop->relation = DIFFERENT;
        loop->is_signed = bound->kind == PTX_OPERAND_INTEGER && (is_up ? !bound->value : sign);
    } else if (ptx_type_kind(type) == PTX_KIND_B) {
        return false;
    } else if (ptx_has(insn, is_up ? PTX_MOD_LT : PTX_MOD_GT)) {
        loop->relation = STRICT;
    } else if (ptx_has(insn, is_up ? PTX_MOD_LE : PTX_MOD_GE)) {
        loop->relation = OR_EQUAL;
    } else {
        return false;
    }
    return true;
}

/* Returns whether the comparison holds for the counter. */
static bool holds(const struct unrolled_loop *loop, uint64_t counter, uint64_t bound) {
    uint64_t flip = loop->is_signed ? 1ull << (loop->bits - 1) : 0;
    uint64_t a = isa_cut(loop, counter) ^ flip, b = isa_cut(loop, bound) ^ flip;
    if (loop->relation == DIFFERENT)
        return a != b;
    if (loop->relation == OR_EQUAL && a == b)
        return true;
    return loop->found.by > 0 ? a < b : a > b;
}

/* The value of the counter at the loop's start: set by the one instruction outside that every entry passes. */
static bool find_start(const struct isa_code *code, const struct unrolled_loop *loop, uint64_t *start) {
    const struct ptx_analysis *analysis = code->analysis;
    uint32_t found = ISA_NONE, l = 0;
    for (uint32_t i = 0; i < code->n; i++)
        if (isa_result(isa_source(code, i)) == loop->counter && !isa_is_inside(loop, i)) {
            if (found != ISA_NONE)
                return false;
            found = i;
        }
    const struct ptx_operand *value = found != ISA_NONE ? isa_moved_integer(code, isa_source(code, found)) : NULL;
    if (!value || isa_source(code, found)->guard != PTX_NO_INDEX)
        return false;
    while (analysis->loop[l].header != loop->found.header)
        l++;
    uint32_t parent = analysis->loop[l].parent, block = loop->found.header;
    uint32_t around = parent == PTX_NO_INDEX ? PTX_NO_BLOCK : analysis->loop[parent].header;
    while (block != PTX_NO_BLOCK && block != isa_block_of(code, found))
        block = analysis->block[block].dominator;
    *start = value->value;
    return block != PTX_NO_BLOCK && analysis->block[block].loop_header == around;
}

/* Counts the iterations of a loop whose bound and start are constants; 0: they are not, or there are too many. */
static uint32_t count_iterations(const struct isa_code *code, const struct unrolled_loop *loop) {
    enum { MOST = 65536 };
    const struct ptx_operand *bound = &isa_source(code, loop->found.comparison)->operand[2];
    uint64_t counter;
    if (bound->kind != PTX_OPERAND_INTEGER || !find_start(code, loop, &counter))
        return 0;
    for (uint32_t n = 1; n <= MOST; n++) {
        counter += (uint64_t)loop->found.by;
        if (!holds(loop, counter, bound->value))
            return n;
    }
    return 0;
}

void isa_choose_times(const struct isa_code *code, struct unrolled_loop *loop) {
    uint32_t n = count_iterations(code, loop);
    loop->times = loop->found.times;
    loop->is_whole = n && (!loop->times || n <= loop->times);
    if (loop->is_whole)
        loop->times = n;
    else if (!loop->times)
        loop->times = code->target->compiler->unroll.times;
}

bool isa_can_unroll(const struct isa_code *code, struct unrolled_loop *loop) {
    const struct isa_loop *found = &loop->found;
    const struct ptx_instruction *branch = isa_source(code, found->branch);
    loop->first = code->analysis->block[found->header].first;
    loop->last = found->branch;
    if (loop->last <= loop->first || branch->guard_negated || !is_contiguous(code, loop) || !find_relation(code, loop))
        return false;
    loop->counter = isa_source(code, found->comparison)->operand[1].register_id;
    /* At an exit from the middle the counter may be any iteration's. */
    for (uint32_t e = 0; e < loop->n_exits; e++)
        if (ptx_is_live_in(code->analysis, loop->exit[e], loop->counter))
            return false;
    return found->comparison > found->step && found->comparison < found->branch && isa_is_inside(loop, found->step) &&
           isa_is_in_every_iteration(code, loop, found->step) &&
           isa_block_of(code, found->comparison) == isa_block_of(code, found->branch) &&
           isa_source(code, found->comparison)->guard == PTX_NO_INDEX && code->n_definitions[branch->guard] == 1 &&
           isa_n_uses(code, branch->guard) == 1 &&
           (found->conjunction == ISA_NONE || isa_is_inside(loop, found->conjunction));
}
