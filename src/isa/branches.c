/* Branches. If a branch skips only a few instructions, those instructions are predicated instead. If threads may
 * diverge at a branch, an instruction before it names the place where they meet again, and an instruction at that place
 * waits for them. */
#include "isa/internal.h"

#include <stdlib.h>

#include "base/memory.h"

static const struct ptx_block *block_of(const struct isa_code *code, uint32_t i) {
    return &code->analysis->block[code->analysis->block_of[i]];
}

/* Returns the cost of a path that can be predicated: a block with one way in and one way out; otherwise UINT32_MAX.
 * Bodies of unrolled loops stay behind a branch, however short they are. */
static uint32_t path_cost(const struct isa_code *code, uint32_t b) {
    const struct ptx_block *block = &code->analysis->block[b];
    uint32_t sum = 0;
    if (block->n_predecessors != 1 || block->n_successors != 1 || !block->count ||
        isa_source(code, block->first)->has_nounroll)
        return UINT32_MAX;
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        bool is_jump = insn->opcode == PTX_OP_BRA && insn->guard == PTX_NO_INDEX;
        if (is_jump)
            continue;
        if (ptx_opcode_family(insn->opcode) == PTX_FAMILY_CONTROL || insn->guard != PTX_NO_INDEX ||
            insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED || code->insn[i].parts >= 9 * ISA_PARTS)
            return UINT32_MAX;
        sum += code->insn[i].parts;
    }
    return sum;
}

/* Returns whether the path loads from global memory. Such loads wait together with others if there is no branch. */
static bool loads(const struct isa_code *code, uint32_t b) {
    const struct ptx_block *block = &code->analysis->block[b];
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (insn->opcode == PTX_OP_LD && (insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_GENERIC))
            return true;
    }
    return false;
}

/* Returns the most parts of a path that the branch may skip by predicates. */
static uint32_t most_parts(const struct isa_code *code, uint32_t branch, uint32_t b) {
    const struct isa_compiler *compiler = code->target->compiler;
    bool is_uniform = code->analysis->is_uniform_branch[branch];
    return ISA_PARTS * (loads(code, b) ? compiler->predicate.loading
                        : is_uniform   ? compiler->predicate.uniform
                                       : compiler->predicate.divergent);
}

/* Predicated instructions issue whether or not a thread needs them: the branch pays for them. Accesses to memory keep
 * their cost, since they go through their unit only if they execute. */
static void move_cost(struct isa_code *code, uint32_t b, uint32_t branch) {
    const struct ptx_block *block = &code->analysis->block[b];
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        if (isa_is_access(isa_source(code, i)))
            continue;
        if (isa_source(code, i)->opcode != PTX_OP_BRA)
            code->insn[branch].parts = (uint16_t)(code->insn[branch].parts + code->insn[i].parts);
        code->insn[i].parts = 0;
    }
}

void isa_convert_branches(struct isa_code *code) {
    const struct ptx_analysis *analysis = code->analysis;
    const struct isa_compiler *compiler = code->target->compiler;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_block *block = block_of(code, i);
        if (isa_source(code, i)->opcode != PTX_OP_BRA || isa_source(code, i)->guard == PTX_NO_INDEX ||
            block->n_successors != 2)
            continue;
        uint32_t a = block->successor[0], b = block->successor[1], end = analysis->n_blocks - 1;
        uint32_t cost_a = path_cost(code, a), cost_b = path_cost(code, b);
        bool skips_a = cost_a <= most_parts(code, i, a) && analysis->block[a].successor[0] == b && b != end;
        bool skips_b = cost_b <= most_parts(code, i, b) && analysis->block[b].successor[0] == a && a != end;
        bool is_choice = cost_a <= compiler->predicate.both * ISA_PARTS &&
                         cost_b <= compiler->predicate.both * ISA_PARTS &&
                         analysis->block[a].successor[0] == analysis->block[b].successor[0] &&
                         analysis->block[a].successor[0] != end;
        if (!skips_a && !skips_b && !is_choice)
            continue;
        code->insn[i].is_predicated = true;
        code->insn[i].parts = 0;
        if (skips_a || is_choice)
            move_cost(code, a, i);
        if (skips_b || is_choice)
            move_cost(code, b, i);
    }
}

/* Returns whether threads that come here end without doing anything else. */
static bool is_end(const struct isa_code *code, uint32_t at) {
    return at >= code->n || isa_source(code, at)->opcode == PTX_OP_RET || isa_source(code, at)->opcode == PTX_OP_EXIT;
}

/* Guards and loop exits that lead to the same place form one region; a branch with two paths has its own. */
void isa_mark_regions(struct isa_code *code) {
    const struct ptx_analysis *analysis = code->analysis;
    bool *is_shared = base_allocate(analysis->n_blocks, sizeof(bool));
    for (uint32_t i = 0; i < code->n; i++) {
        uint32_t meeting = analysis->reconvergence[i];
        if (isa_source(code, i)->opcode != PTX_OP_BRA || meeting == PTX_NO_INDEX || is_end(code, meeting) ||
            code->insn[i].is_predicated || analysis->is_uniform_branch[i])
            continue;
        const struct ptx_block *block = block_of(code, i);
        uint32_t target = analysis->block_of[meeting];
        bool leads_there = false;
        for (uint32_t s = 0; s < block->n_successors; s++)
            leads_there |= block->successor[s] == target;
        if (leads_there && is_shared[target])
            continue;
        is_shared[target] |= leads_there;
        code->insn[meeting].parts = (uint16_t)(code->insn[meeting].parts + 2 * ISA_PARTS);
    }
    free(is_shared);
}
