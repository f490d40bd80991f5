/* Loops. A loop whose counter moves by a constant up to a bound that does not change is unrolled: four times if the
 * number of iterations is known only at run time, more often or completely if it is a constant. copies.c writes such a
 * loop's body that often; of a loop that it leaves as it is, the counters, the comparison and the branch are paid for
 * once in so many iterations. */
#include "isa/internal.h"

#include <stdlib.h>

#include "base/memory.h"

/* What ptxas 13.0 does, found with loops of one kind of instruction. */
enum {
    TIMES = 4, /* iterations unknown */
    /* the longest loop with unknown iterations that is unrolled: without loads, with loads from shared memory, and with
     * loads that take longer */
    MOST_BODY = 21,
    MOST_SHARED_BODY = 25,
    MOST_GLOBAL_BODY = 44,
    MOST_COMPLETE = 1024, /* the longest code of a loop that disappears */
    MOST_COMPLETE_BODY = 32,
    MOST_LARGE = 400,   /* the same for a longer body */
    MOST_PARTIAL = 320, /* the code of a loop that is unrolled in part */
    ENTRY_COST = 6,     /* the choice between the unrolled loop and its remainder */
};

bool isa_is_in_loop(const struct isa_pass *pass, uint32_t i, uint32_t header) {
    const struct ptx_analysis *analysis = pass->analysis;
    return analysis->block[analysis->block_of[i]].loop_header == header;
}

bool isa_is_innermost(const struct ptx_analysis *analysis, uint32_t l) {
    for (uint32_t k = 0; k < analysis->n_loops; k++)
        if (analysis->loop[k].parent == l)
            return false;
    return true;
}

/* A register that the loop changes only by adding a constant: returns that addition, or ISA_NONE. */
uint32_t isa_find_step(const struct isa_pass *pass, uint32_t r, uint32_t header, int64_t *step) {
    uint32_t found = ISA_NONE;
    for (uint32_t i = 0; i < pass->n; i++) {
        const struct ptx_instruction *insn = isa_insn(pass, i);
        if (isa_result(insn) != r || !isa_is_in_loop(pass, i, header))
            continue;
        bool is_step = (insn->opcode == PTX_OP_ADD || insn->opcode == PTX_OP_SUB) && !isa_is_float(insn) &&
                       insn->operand[1].kind == PTX_OPERAND_REGISTER && insn->operand[1].register_id == r &&
                       insn->operand[2].kind == PTX_OPERAND_INTEGER && insn->guard == PTX_NO_INDEX;
        if (!is_step || found != ISA_NONE)
            return ISA_NONE;
        found = i;
        *step = (int64_t)insn->operand[2].value;
        if (insn->opcode == PTX_OP_SUB)
            *step = -*step;
        if (ptx_type_bits(isa_type(insn)) == 32)
            *step = (int32_t)*step;
    }
    return found;
}

static bool is_defined_in_loop(const struct isa_pass *pass, const struct ptx_operand *operand, uint32_t header) {
    if (operand->kind != PTX_OPERAND_REGISTER)
        return false;
    for (uint32_t i = 0; i < pass->n; i++)
        if (isa_is_in_loop(pass, i, header) && isa_result(isa_insn(pass, i)) == operand->register_id)
            return true;
    return false;
}

/* The constant that the counter has before the loop. */
static bool find_start(const struct isa_pass *pass, uint32_t r, uint32_t header, int64_t *start) {
    unsigned n = 0;
    for (uint32_t i = 0; i < pass->n; i++) {
        const struct ptx_instruction *insn = isa_insn(pass, i);
        if (isa_result(insn) != r || isa_is_in_loop(pass, i, header))
            continue;
        if (insn->opcode != PTX_OP_MOV || insn->operand[1].kind != PTX_OPERAND_INTEGER)
            return false;
        *start = (int64_t)insn->operand[1].value;
        n++;
    }
    return n == 1;
}

/* Whether the loop ends by comparing its counter with a bound. */
static bool find_counter(const struct isa_pass *pass, uint32_t header, struct isa_loop *loop) {
    const struct ptx_analysis *analysis = pass->analysis;
    for (uint32_t i = 0; i < pass->n; i++) {
        const struct ptx_instruction *insn = isa_insn(pass, i);
        if (!isa_is_in_loop(pass, i, header) || insn->opcode != PTX_OP_BRA || insn->guard == PTX_NO_INDEX ||
            insn->operand[0].target != analysis->block[header].first)
            continue;
        struct ptx_operand guard = {.kind = PTX_OPERAND_REGISTER, .register_id = insn->guard};
        uint32_t comparison = isa_definition(pass, &guard);
        if (comparison == ISA_NONE || isa_insn(pass, comparison)->opcode != PTX_OP_SETP ||
            isa_insn(pass, comparison)->operand[1].kind != PTX_OPERAND_REGISTER)
            return false;
        const struct ptx_operand *counter = &isa_insn(pass, comparison)->operand[1];
        const struct ptx_operand *bound = &isa_insn(pass, comparison)->operand[2];
        int64_t step = 0, start = 0;
        uint32_t at = isa_find_step(pass, counter->register_id, header, &step);
        if (at == ISA_NONE || !step || is_defined_in_loop(pass, bound, header))
            return false;
        *loop = (struct isa_loop){.header = header, .branch = i, .comparison = comparison, .step = at, .by = step};
        if (bound->kind == PTX_OPERAND_INTEGER && find_start(pass, counter->register_id, header, &start)) {
            int64_t distance = (int64_t)bound->value - start;
            if (distance / step > 0)
                loop->iterations = (uint64_t)((distance + step - (step > 0 ? 1 : -1)) / step);
        }
        return true;
    }
    return false;
}

static uint32_t body_cost(const struct isa_pass *pass, uint32_t header) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < pass->n; i++)
        if (isa_is_in_loop(pass, i, header)) {
            if (isa_insn(pass, i)->opcode == PTX_OP_CALL || isa_insn(pass, i)->opcode == PTX_OP_BRX)
                return UINT32_MAX;
            sum += pass->cost[i];
        }
    return sum / ISA_PARTS;
}

/* The longest body of a loop with unknown iterations that is unrolled. */
static uint32_t most_body(const struct isa_pass *pass, uint32_t header) {
    uint32_t most = MOST_BODY;
    for (uint32_t i = 0; i < pass->n; i++) {
        const struct ptx_instruction *insn = isa_insn(pass, i);
        if (insn->opcode != PTX_OP_LD || !isa_is_in_loop(pass, i, header))
            continue;
        if (insn->space == PTX_SPACE_SHARED && most < MOST_SHARED_BODY)
            most = MOST_SHARED_BODY;
        if (insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_GENERIC)
            most = MOST_GLOBAL_BODY;
    }
    return most;
}

/* How many iterations become one; 0: all. */
static uint32_t unrolled_times(uint32_t body, uint32_t most_unknown, uint64_t iterations) {
    if (!iterations)
        return body <= most_unknown ? TIMES : 1;
    uint64_t most = body <= MOST_COMPLETE_BODY ? MOST_COMPLETE : MOST_LARGE;
    if (body * iterations <= most)
        return 0;
    return body <= MOST_PARTIAL / 2 ? MOST_PARTIAL / body : 1;
}

/* The pragma stands before one of the header's instructions. */
static bool is_kept(const struct isa_pass *pass, uint32_t header) {
    const struct ptx_block *block = &pass->analysis->block[header];
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        if (isa_insn(pass, i)->has_nounroll)
            return true;
    return false;
}

bool isa_find_loop(const struct isa_pass *pass, uint32_t l, struct isa_loop *loop) {
    uint32_t header = pass->analysis->loop[l].header;
    if (!isa_is_innermost(pass->analysis, l) || is_kept(pass, header) || !find_counter(pass, header, loop))
        return false;
    uint32_t body = body_cost(pass, header);
    if (body == UINT32_MAX || !body)
        return false;
    loop->times = unrolled_times(body, most_body(pass, header), loop->iterations);
    return loop->times != 1;
}

static void divide(struct isa_pass *pass, uint32_t i, uint32_t times) {
    pass->cost[i] = (uint16_t)(times ? pass->cost[i] / times : 0);
}

static void unroll_loop(struct isa_pass *pass, const struct isa_loop *loop) {
    uint32_t times = loop->times;
    divide(pass, loop->branch, times);
    divide(pass, loop->comparison, times);
    /* All counters: pointers move on by the offsets of the accesses. */
    for (uint32_t i = 0; i < pass->n; i++) {
        uint32_t r = isa_result(isa_insn(pass, i));
        int64_t step;
        if (r != ISA_NONE && isa_is_in_loop(pass, i, loop->header) && pass->n_definitions[r] > 1 &&
            isa_find_step(pass, r, loop->header, &step) == i)
            divide(pass, i, times);
    }
    uint32_t first = pass->analysis->block[loop->header].first;
    if (!loop->iterations && first && !isa_is_in_loop(pass, first - 1, loop->header))
        pass->cost[first - 1] = (uint16_t)(pass->cost[first - 1] + ENTRY_COST * ISA_PARTS);
}

void isa_unroll(struct isa_pass *pass) {
    const struct ptx_analysis *analysis = pass->analysis;
    for (uint32_t l = 0; l < analysis->n_loops; l++) {
        struct isa_loop loop;
        if (isa_find_loop(pass, l, &loop))
            unroll_loop(pass, &loop);
    }
}
