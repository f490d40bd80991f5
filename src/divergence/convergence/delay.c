/* Delayed reconvergence points. See delay.h. */
#include "divergence/convergence/delay.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ptx/analysis.h"

struct delay {
    const struct ptx_analysis *analysis;
    uint32_t *moved;   /* per block: the block where paths that met there meet now */
    uint32_t *pending; /* of the search */
    bool *is_seen;
};

static bool writes(const struct ptx_instruction *insn) {
    switch (insn->opcode) {
    case PTX_OP_ST:
        return insn->space != PTX_SPACE_LOCAL && insn->space != PTX_SPACE_PARAM;
    case PTX_OP_ATOM:
    case PTX_OP_RED:
    case PTX_OP_MBARRIER:
    case PTX_OP_CALL:
        return true;
    default:
        return false;
    }
}

static bool block_writes(const struct ptx_analysis *analysis, uint32_t block) {
    const struct ptx_block *at = &analysis->block[block];
    for (uint32_t i = 0; i < at->count; i++)
        if (writes(&analysis->function->instruction[at->first + i]))
            return true;
    return false;
}

/* Returns whether a thread that starts at a block reaches a write before it reaches the header. */
static bool reaches_write(struct delay *delay, uint32_t start, uint32_t header) {
    const struct ptx_analysis *analysis = delay->analysis;
    uint32_t n = 0;
    memset(delay->is_seen, 0, analysis->n_blocks * sizeof *delay->is_seen);
    delay->is_seen[start] = delay->is_seen[header] = true;
    delay->pending[n++] = start;
    while (n) {
        uint32_t block = delay->pending[--n];
        if (block_writes(analysis, block))
            return true;
        for (uint32_t s = 0; s < analysis->block[block].n_successors; s++) {
            uint32_t to = analysis->block[block].successor[s];
            if (!delay->is_seen[to])
                delay->pending[n++] = to;
            delay->is_seen[to] = true;
        }
    }
    return false;
}

static bool is_inside(const struct ptx_analysis *analysis, uint32_t block, uint32_t loop) {
    uint32_t at = analysis->loop_of[block];
    while (at != PTX_NO_INDEX && at != loop)
        at = analysis->loop[at].parent;
    return at == loop;
}

/* Moves the place where threads meet that leave the loop. */
static void delay_loop(struct delay *delay, uint32_t loop) {
    const struct ptx_analysis *analysis = delay->analysis;
    uint32_t header = analysis->loop[loop].header, exit = analysis->n_blocks - 1, at = header;
    while (at < exit && is_inside(analysis, at, loop))
        at = analysis->block[at].post_dominator;
    uint32_t safe = at;
    while (safe < exit && reaches_write(delay, safe, header))
        safe = analysis->block[safe].post_dominator;
    for (; at < exit && at != safe; at = analysis->block[at].post_dominator)
        delay->moved[at] = safe < exit ? safe : exit;
}

static void delay_function(struct exec_regions *regions, const struct exec_function *function) {
    const struct ptx_analysis *analysis = function->analysis;
    uint32_t n = analysis->n_blocks, exit = n - 1;
    struct delay delay = {.analysis = analysis,
                          .moved = base_allocate(n, sizeof *delay.moved),
                          .pending = base_allocate(n, sizeof *delay.pending),
                          .is_seen = base_allocate(n, sizeof *delay.is_seen)};
    for (uint32_t b = 0; b < n; b++)
        delay.moved[b] = b;
    for (uint32_t l = 0; l < analysis->n_loops; l++)
        if (analysis->loop[l].awaits)
            delay_loop(&delay, l);
    for (uint32_t i = 0; i < function->ptx->n_instructions; i++) {
        uint32_t pc = function->first_pc + i, meeting = regions->meeting[pc];
        if (meeting == EXEC_NO_PC)
            continue;
        uint32_t at = analysis->block_of[meeting - function->first_pc];
        while (delay.moved[at] != at)
            at = delay.moved[at];
        if (at != analysis->block_of[meeting - function->first_pc])
            regions->meeting[pc] = at == exit ? EXEC_NO_PC : function->first_pc + analysis->block[at].first;
    }
    free(delay.moved);
    free(delay.pending);
    free(delay.is_seen);
}

void divergence_delay(struct exec_regions *regions, const struct exec_program *program) {
    for (uint32_t f = 0; f < program->n_functions; f++)
        if (program->function[f].analysis->n_loops)
            delay_function(regions, &program->function[f]);
}
