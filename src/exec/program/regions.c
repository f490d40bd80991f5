/* The regions of a program. See regions.h. */
#include "exec/program/regions.h"

#include "base/arena.h"

static uint32_t to_pc(const struct exec_function *function, uint32_t index) {
    return index >= function->ptx->n_instructions ? EXEC_NO_PC : function->first_pc + index;
}

static void set_function(struct exec_regions *regions, const struct exec_function *function, uint32_t first_loop) {
    const struct ptx_analysis *analysis = function->analysis;
    for (uint32_t l = 0; l < analysis->n_loops; l++) {
        const struct ptx_loop *loop = &analysis->loop[l];
        regions->loop[first_loop + l] = (struct exec_loop){
            .parent = loop->parent == PTX_NO_INDEX ? EXEC_NO_LOOP : first_loop + loop->parent,
            .header = to_pc(function, analysis->block[loop->header].first),
            .meeting = to_pc(function, loop->meeting),
            .awaits = loop->awaits,
        };
    }
    for (uint32_t i = 0; i < function->ptx->n_instructions; i++) {
        uint32_t loop = analysis->loop_of[analysis->block_of[i]], pc = function->first_pc + i;
        regions->loop_of[pc] = loop == PTX_NO_INDEX ? EXEC_NO_LOOP : first_loop + loop;
        regions->meeting[pc] = to_pc(function, analysis->meeting[i]);
    }
}

static bool needs_row(const struct exec_program *program, uint32_t pc) {
    const struct ptx_instruction *source = program->source[pc];
    return program->code[pc].kind == EXEC_KIND_WARP_MEMORY && source &&
           (source->matrix || ptx_has(source, PTX_MOD_SYNC));
}

static uint32_t *find_gatherings(const struct exec_program *program) {
    uint32_t *next = NULL, found = EXEC_NO_PC;
    for (uint32_t pc = program->n_insns; pc-- > 0;) {
        if (needs_row(program, pc)) {
            if (!next) {
                next = BASE_ARENA_ARRAY(program->arena, uint32_t, program->n_insns);
                for (uint32_t after = pc; after < program->n_insns; after++)
                    next[after] = EXEC_NO_PC;
            }
            found = pc;
        }
        if (next)
            next[pc] = found;
    }
    return next;
}

struct exec_regions *exec_regions_new(const struct exec_program *program) {
    struct exec_regions *regions = BASE_ARENA_NEW(program->arena, struct exec_regions);
    uint32_t n_loops = 0;
    for (uint32_t f = 0; f < program->n_functions; f++)
        n_loops += program->function[f].analysis->n_loops;
    regions->loop = BASE_ARENA_ARRAY(program->arena, struct exec_loop, n_loops);
    regions->loop_of = BASE_ARENA_ARRAY(program->arena, uint32_t, program->n_insns);
    regions->meeting = BASE_ARENA_ARRAY(program->arena, uint32_t, program->n_insns);
    for (uint32_t pc = 0; pc < program->n_insns; pc++) {
        regions->loop_of[pc] = EXEC_NO_LOOP;
        regions->meeting[pc] = EXEC_NO_PC;
    }
    n_loops = 0;
    for (uint32_t f = 0; f < program->n_functions; f++) {
        set_function(regions, &program->function[f], n_loops);
        n_loops += program->function[f].analysis->n_loops;
    }
    regions->next_gathering = find_gatherings(program);
    return regions;
}
