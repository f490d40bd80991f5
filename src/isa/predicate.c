/* Short branches over accesses become predicates. Predication merges the instructions into the surrounding block, so
 * the loads of several such branches overlap. An example is the borders of a tile, each under its own condition. A warp
 * issues the accesses even if none of its threads needs them. The branch disappears, and the instructions after it get
 * its negated guard. Every thread executes the same instructions as before. */
#include <stdlib.h>

#include "base/memory.h"
#include "isa/internal.h"

static void look_for_write(void *user, uint32_t r, bool is_write) {
    uint32_t *wanted = user;
    if (is_write && r == *wanted)
        *wanted = ISA_NONE;
}

static bool writes(const struct ptx_instruction *insn, uint32_t r) {
    uint32_t wanted = r;
    ptx_for_each_register(insn, look_for_write, &wanted);
    return wanted == ISA_NONE;
}

/* Returns how many instructions after the branch get its guard; 0: it stays a branch. */
static uint32_t guarded_length(const struct isa_code *code, uint32_t branch) {
    const struct ptx_instruction *insn = isa_source(code, branch);
    const struct ptx_analysis *analysis = code->analysis;
    uint32_t a = analysis->block_of[branch] + 1, n_accesses = 0;
    if (insn->opcode != PTX_OP_BRA || !code->insn[branch].is_predicated || a + 1 >= analysis->n_blocks ||
        analysis->block[a].first != branch + 1 || analysis->block[a].n_predecessors != 1 ||
        insn->operand[0].target != analysis->block[a].first + analysis->block[a].count)
        return 0;
    for (uint32_t i = branch + 1; i < insn->operand[0].target; i++) {
        const struct ptx_instruction *one = isa_source(code, i);
        if (one->guard != PTX_NO_INDEX || one->opcode == PTX_OP_BRA || writes(one, insn->guard))
            return 0;
        n_accesses += isa_is_access(one);
    }
    return n_accesses ? analysis->block[a].count : 0;
}

void isa_take_out(struct ptx_function *function, const bool *is_gone) {
    uint32_t n = function->n_instructions, n_kept = 0;
    uint32_t *place = base_allocate(n + 1, sizeof(uint32_t)); /* of each instruction in the new text */
    for (uint32_t i = 0; i < n; i++)
        place[i + 1] = place[i] + !is_gone[i];
    for (uint32_t i = 0; i < n; i++) {
        struct ptx_instruction *insn = &function->instruction[i];
        if (isa_has_target(insn))
            insn->operand[0].target = place[insn->operand[0].target];
        for (uint32_t t = 0; t < insn->n_targets; t++)
            insn->target[t] = place[insn->target[t]];
        if (!is_gone[i])
            function->instruction[n_kept++] = *insn;
    }
    function->n_instructions = n_kept;
    free(place);
}

/* Jumps to the next instruction: LLVM writes them after a branch. */
static void take_out_jumps(struct ptx_function *function) {
    bool *is_gone = base_allocate(function->n_instructions + 1, sizeof(bool));
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        const struct ptx_instruction *insn = &function->instruction[i];
        is_gone[i] = isa_has_target(insn) && insn->guard == PTX_NO_INDEX && insn->operand[0].target == i + 1 &&
                     !insn->has_nounroll;
    }
    isa_take_out(function, is_gone);
    free(is_gone);
}

/* A branch over a jump becomes a branch to where the jump goes, under the opposite condition: nvcc writes both where an
 * else-branch comes last in the text. */
void isa_turn_branches(struct ptx_function *function) {
    take_out_jumps(function);
    bool *is_gone = base_allocate(function->n_instructions + 1, sizeof(bool));
    bool *is_target = base_allocate(function->n_instructions + 1, sizeof(bool));
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        const struct ptx_instruction *insn = &function->instruction[i];
        if (isa_has_target(insn))
            is_target[insn->operand[0].target] = true;
        for (uint32_t t = 0; t < insn->n_targets; t++)
            is_target[insn->target[t]] = true;
    }
    for (uint32_t i = 0; i + 2 < function->n_instructions; i++) {
        struct ptx_instruction *branch = &function->instruction[i], *jump = branch + 1;
        if (!isa_has_target(branch) || branch->guard == PTX_NO_INDEX || branch->operand[0].target != i + 2 ||
            !isa_has_target(jump) || jump->guard != PTX_NO_INDEX || jump->has_nounroll || is_target[i + 1])
            continue;
        branch->guard_negated = !branch->guard_negated;
        branch->operand[0].target = jump->operand[0].target;
        is_gone[i + 1] = true;
    }
    isa_take_out(function, is_gone);
    free(is_gone);
    free(is_target);
}

void isa_predicate(const struct isa_target *target, struct ptx_function *function) {
    take_out_jumps(function);
    struct ptx_analysis *analysis = ptx_analyze_flow(function);
    struct isa_code code = isa_estimate(target, analysis);
    bool *is_gone = base_allocate(code.n + 1, sizeof(bool));
    for (uint32_t i = 0; i < code.n; i++) {
        uint32_t length = guarded_length(&code, i);
        is_gone[i] = length > 0;
        for (uint32_t k = i + 1; k <= i + length; k++) {
            function->instruction[k].guard = function->instruction[i].guard;
            function->instruction[k].guard_negated = !function->instruction[i].guard_negated;
        }
    }
    isa_code_free(&code);
    ptx_analysis_free(analysis);
    isa_take_out(function, is_gone);
    free(is_gone);
}
