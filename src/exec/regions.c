/* The loops and meeting points of a program: those of its functions (ptx/regions.c), numbered through. */
#include "base/arena.h"
#include "exec/link.h"

static uint32_t pc_of(const struct exec_function *function, uint32_t instruction) {
    bool is_at_end = instruction == PTX_NO_INDEX || instruction >= function->ptx->n_instructions;
    return is_at_end ? EXEC_NO_PC : function->first_pc + instruction;
}

/* Blocks know the header of their innermost loop. */
static void number_loop(const struct exec_function *function, uint32_t l, uint32_t number, uint32_t *loop_of) {
    const struct ptx_analysis *analysis = function->analysis;
    for (uint32_t b = 0; analysis->loop[l].is_region && b < analysis->n_blocks; b++)
        for (uint32_t i = 0; analysis->block[b].loop_header == analysis->loop[l].header && i < analysis->block[b].count;
             i++)
            loop_of[function->first_pc + analysis->block[b].first + i] = number;
}

void exec_place_regions(struct exec_linker *linker) {
    struct exec_program *program = linker->program;
    uint32_t n_loops = 1;
    for (uint32_t f = 0; f < program->n_functions; f++)
        n_loops += program->function[f].analysis->n_loops;
    struct exec_regions *regions = BASE_ARENA_NEW(linker->arena, struct exec_regions);
    regions->loop = BASE_ARENA_ARRAY(linker->arena, struct exec_loop, n_loops);
    regions->loop_of = BASE_ARENA_ARRAY(linker->arena, uint32_t, program->n_insns);
    regions->meeting = BASE_ARENA_ARRAY(linker->arena, uint32_t, program->n_insns);
    n_loops = 1;
    for (uint32_t f = 0; f < program->n_functions; f++) {
        const struct exec_function *function = &program->function[f];
        const struct ptx_analysis *analysis = function->analysis;
        for (uint32_t l = 0; l < analysis->n_loops; l++) {
            const struct ptx_loop *loop = &analysis->loop[l];
            if (!loop->is_region)
                continue;
            regions->loop[n_loops + l] =
                (struct exec_loop){.parent = loop->parent == PTX_NO_INDEX ? 0 : n_loops + loop->parent,
                                   .exit_pc = pc_of(function, analysis->block[loop->exit].first)};
        }
        for (uint32_t l = 0; l < analysis->n_loops; l++) /* inner loops come after outer ones */
            number_loop(function, l, n_loops + l, regions->loop_of);
        for (uint32_t i = 0; i < function->ptx->n_instructions; i++)
            regions->meeting[function->first_pc + i] = pc_of(function, analysis->meeting[i]);
        n_loops += analysis->n_loops;
    }
    program->regions = regions;
}
