/* Branches. A branch over few instructions becomes predicates of these instructions. Where threads may go different
 * ways, an instruction before the branch names the place where they meet again, and one at that place waits for them.
 */
#include "isa/internal.h"

#include <stdlib.h>

#include "base/memory.h"

/* The longest path that ptxas 13.0 predicates: of a branch that may diverge, of one that does not, and of two paths. */
enum { MOST_DIVERGENT = 8, MOST_UNIFORM = 6, MOST_OF_TWO = 7 };

static const struct ptx_block *block_of(const struct isa_pass *pass, uint32_t i) {
    return &pass->analysis->block[pass->analysis->block_of[i]];
}

/* Returns the cost of a path that can be predicated: a block with one way in and one way out; otherwise UINT32_MAX. */
static uint32_t path_cost(const struct isa_pass *pass, uint32_t b) {
    const struct ptx_block *block = &pass->analysis->block[b];
    uint32_t sum = 0;
    if (block->n_predecessors != 1 || block->n_successors != 1 || !block->count)
        return UINT32_MAX;
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct ptx_instruction *insn = isa_insn(pass, i);
        bool is_jump = insn->opcode == PTX_OP_BRA && insn->guard == PTX_NO_INDEX;
        if (is_jump)
            continue;
        if (ptx_opcode_family(insn->opcode) == PTX_FAMILY_CONTROL || insn->guard != PTX_NO_INDEX ||
            insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED || pass->cost[i] >= 9 * ISA_PARTS)
            return UINT32_MAX;
        sum += pass->cost[i];
    }
    return sum;
}

/* Predicated instructions issue whether or not a thread needs them: the branch pays for them. Accesses to memory keep
 * their cost, since they go through their unit only if they execute. */
static void move_cost(struct isa_pass *pass, uint32_t b, uint32_t branch) {
    const struct ptx_block *block = &pass->analysis->block[b];
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        if (isa_is_access(isa_insn(pass, i)))
            continue;
        if (isa_insn(pass, i)->opcode != PTX_OP_BRA)
            pass->cost[branch] = (uint16_t)(pass->cost[branch] + pass->cost[i]);
        pass->cost[i] = 0;
    }
}

void isa_convert_branches(struct isa_pass *pass) {
    const struct ptx_analysis *analysis = pass->analysis;
    for (uint32_t i = 0; i < pass->n; i++) {
        const struct ptx_block *block = block_of(pass, i);
        if (isa_insn(pass, i)->opcode != PTX_OP_BRA || isa_insn(pass, i)->guard == PTX_NO_INDEX ||
            block->n_successors != 2)
            continue;
        uint32_t a = block->successor[0], b = block->successor[1], end = analysis->n_blocks - 1;
        uint32_t cost_a = path_cost(pass, a), cost_b = path_cost(pass, b);
        uint32_t most = (uint32_t)(analysis->is_uniform_branch[i] ? MOST_UNIFORM : MOST_DIVERGENT) * ISA_PARTS;
        bool skips_a = cost_a <= most && analysis->block[a].successor[0] == b && b != end;
        bool skips_b = cost_b <= most && analysis->block[b].successor[0] == a && a != end;
        bool is_choice = cost_a <= MOST_OF_TWO * ISA_PARTS && cost_b <= MOST_OF_TWO * ISA_PARTS &&
                         analysis->block[a].successor[0] == analysis->block[b].successor[0] &&
                         analysis->block[a].successor[0] != end;
        if (!skips_a && !skips_b && !is_choice)
            continue;
        pass->is_converted[i] = true;
        pass->cost[i] = 0;
        if (skips_a || is_choice)
            move_cost(pass, a, i);
        if (skips_b || is_choice)
            move_cost(pass, b, i);
    }
}

/* Whether threads that come here end without doing anything else. */
static bool is_end(const struct isa_pass *pass, uint32_t at) {
    return at >= pass->n || isa_insn(pass, at)->opcode == PTX_OP_RET || isa_insn(pass, at)->opcode == PTX_OP_EXIT;
}

/* Guards and loop exits that lead to the same place share a region; a branch with two paths has its own. */
void isa_mark_regions(struct isa_pass *pass) {
    const struct ptx_analysis *analysis = pass->analysis;
    bool *is_shared = base_allocate(analysis->n_blocks, sizeof(bool));
    for (uint32_t i = 0; i < pass->n; i++) {
        uint32_t meeting = analysis->reconvergence[i];
        if (isa_insn(pass, i)->opcode != PTX_OP_BRA || meeting == PTX_NO_INDEX || is_end(pass, meeting) ||
            pass->is_converted[i] || analysis->is_uniform_branch[i])
            continue;
        const struct ptx_block *block = block_of(pass, i);
        uint32_t target = analysis->block_of[meeting];
        bool leads_there = false;
        for (uint32_t s = 0; s < block->n_successors; s++)
            leads_there |= block->successor[s] == target;
        if (leads_there && is_shared[target])
            continue;
        is_shared[target] |= leads_there;
        pass->cost[meeting] = (uint16_t)(pass->cost[meeting] + 2 * ISA_PARTS);
    }
    free(is_shared);
}
