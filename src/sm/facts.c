/* Static facts of a kernel for schedulers that ask for them: the loop around each instruction, the loads in each loop,
 * and the distance to the next long operation. A call counts as one instruction: its function is not followed. */
#include <stdlib.h>

#include "base/memory.h"
#include "ptx/analysis.h"
#include "sm/timing.h"

/* Returns the index among all loops of the loop with this header, or SCHED_NO_LOOP. */
static uint32_t loop_of(const struct ptx_analysis *analysis, uint32_t header, uint32_t first_loop) {
    for (uint32_t l = 0; l < analysis->n_loops; l++)
        if (analysis->loop[l].header == header)
            return first_loop + l;
    return SCHED_NO_LOOP;
}

static void add_loops(const struct exec_function *function, struct sm_facts *facts) {
    const struct ptx_analysis *analysis = function->analysis;
    for (uint32_t l = 0; l < analysis->n_loops; l++) {
        const struct ptx_loop *loop = &analysis->loop[l];
        facts->loop[facts->n_loops + l] = (struct sched_loop){
            .head_pc = function->first_pc + analysis->block[loop->header].first,
            .parent = loop->parent == PTX_NO_INDEX ? SCHED_NO_LOOP : facts->n_loops + loop->parent,
            .depth = loop->depth,
        };
    }
}

/* Finds the sides of a conditional branch by the layout of the code: the side that is not taken lies between the branch
 * and its target or meeting point, the other between the target and the meeting point. */
static void find_paths(const struct exec_function *function, const struct exec_insn *code, uint32_t pc,
                       struct sched_insn *insn) {
    bool is_conditional = code->kind == EXEC_KIND_BRANCH && code->guard.offset;
    if (!is_conditional)
        return;
    uint32_t end = function->first_pc + function->n_insns;
    uint32_t meeting = code->reconvergence == EXEC_NO_PC ? end : code->reconvergence;
    uint32_t other_end = meeting < code->target ? meeting : code->target;
    insn->target = code->target;
    insn->taken_path = code->target <= pc ? pc + 1 - code->target : meeting > code->target ? meeting - code->target : 0;
    insn->other_path = code->target > pc && other_end > pc ? other_end - (pc + 1) : 0;
}

/* Describes the function's instructions, and counts the loads of its loops. */
static void describe(const struct sm_program *program, const struct exec_function *function, struct sm_facts *facts) {
    const struct ptx_analysis *analysis = function->analysis;
    for (uint32_t i = 0; i < function->n_insns; i++) {
        const struct sm_timing *timing = &program->timing[function->first_pc + i];
        struct sched_insn *insn = &facts->insn[function->first_pc + i];
        bool is_ptx = i < function->ptx->n_instructions;
        const struct ptx_block *block = is_ptx ? &analysis->block[analysis->block_of[i]] : NULL;
        *insn = (struct sched_insn){
            .loop = block ? loop_of(analysis, block->loop_header, facts->n_loops) : SCHED_NO_LOOP,
            .to_long = timing->is_long ? 0 : SCHED_NEVER_LONG,
            .is_long = timing->is_long,
            .is_load = timing->is_load,
            .is_store = timing->is_store,
            .is_branch = timing->is_branch,
        };
        find_paths(function, &program->exec->code[function->first_pc + i], function->first_pc + i, insn);
        for (uint32_t l = insn->loop; l != SCHED_NO_LOOP; l = facts->loop[l].parent)
            facts->loop[l].n_loads += timing->is_long && timing->is_load;
    }
}

/* Returns the least distance from the start of any successor of the block. */
static uint32_t distance_after(const struct exec_function *function, const struct ptx_block *block,
                               const struct sm_facts *facts) {
    const struct ptx_analysis *analysis = function->analysis;
    uint32_t least = SCHED_NEVER_LONG;
    for (uint32_t k = 0; k < block->n_successors; k++) {
        const struct ptx_block *next = &analysis->block[block->successor[k]];
        uint32_t distance = next->count ? facts->insn[function->first_pc + next->first].to_long
                            : next->n_successors
                                ? distance_after(function, next, facts) /* an empty block has one successor */
                                : SCHED_NEVER_LONG;
        least = distance < least ? distance : least;
    }
    return least;
}

/* Distances go backwards along the edges, until none becomes shorter. */
static void find_distances(const struct exec_function *function, struct sm_facts *facts) {
    const struct ptx_analysis *analysis = function->analysis;
    bool has_changed = true;
    while (has_changed) {
        has_changed = false;
        for (uint32_t b = analysis->n_blocks; b-- > 0;) {
            const struct ptx_block *block = &analysis->block[b];
            uint32_t distance = distance_after(function, block, facts);
            for (uint32_t i = block->count; i-- > 0;) {
                struct sched_insn *insn = &facts->insn[function->first_pc + block->first + i];
                distance = distance == SCHED_NEVER_LONG ? distance : distance + 1;
                if (distance < insn->to_long) {
                    insn->to_long = distance;
                    has_changed = true;
                }
                distance = insn->to_long;
            }
        }
    }
}

void sm_program_find_facts(struct sm_program *program) {
    const struct exec_program *exec = program->exec;
    uint32_t n_loops = 0;
    if (program->facts)
        return;
    struct sm_facts *facts = program->facts = base_allocate(1, sizeof *facts);
    for (uint32_t f = 0; f < exec->n_functions; f++)
        n_loops += exec->function[f].analysis->n_loops;
    facts->insn = base_allocate(exec->n_insns, sizeof *facts->insn);
    facts->loop = base_allocate(n_loops + 1, sizeof *facts->loop);
    for (uint32_t f = 0; f < exec->n_functions; f++) {
        add_loops(&exec->function[f], facts);
        describe(program, &exec->function[f], facts);
        find_distances(&exec->function[f], facts);
        facts->n_loops += exec->function[f].analysis->n_loops;
    }
}

void sm_facts_free(struct sm_facts *facts) {
    if (!facts)
        return;
    free(facts->insn);
    free(facts->loop);
    free(facts);
}
