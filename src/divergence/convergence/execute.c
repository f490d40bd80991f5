/* Control instructions of a warp's paths. See execute.h. */
#include "divergence/convergence/execute.h"

#include "divergence/parts/count.h"
#include "divergence/parts/threads.h"

/* A warp-wide instruction that names no lanes acts on those that are here; so does any if all live lanes are here. */
static bool acts_at_once(const struct exec_program *program, uint32_t pc, const struct exec_row *row, uint32_t mask) {
    return exec_acts_on_row(program->code[pc].kind) &&
           (mask == row->live || !(program->source[pc] && ptx_has(program->source[pc], PTX_MOD_SYNC)));
}

/* Returns whether lanes were released. */
static bool meet(struct divergence_paths *paths, const struct divergence_setup *setup, struct divergence_sync *sync,
                 uint32_t pc, uint32_t mask, enum divergence_effect effect) {
    struct exec_context *cx = setup->cx;
    if (effect == DIVERGENCE_MEETS_ROW && acts_at_once(cx->grid->program, pc, paths->row, mask)) {
        exec_row_insn(cx, paths->row, &cx->grid->program->code[pc], mask);
        divergence_paths_go(paths, pc, pc + 1);
        return false;
    }
    setup->counters->barriers += effect == DIVERGENCE_MEETS_BLOCK;
    divergence_paths_wait(paths, pc, mask);
    return divergence_sync_arrive(sync, cx, paths->row, pc, mask);
}

struct divergence_paths_effect divergence_paths_execute(struct divergence_paths *paths,
                                                        const struct divergence_setup *setup,
                                                        struct divergence_sync *sync, uint32_t pc, uint32_t taken) {
    struct exec_context *cx = setup->cx;
    struct exec_row *row = paths->row;
    uint32_t active = divergence_paths_top(paths)->mask, next[EXEC_LANES];
    struct divergence_paths_effect effect = {.outcome = divergence_resolve_lanes(cx, pc, row, active, taken, next)};
    if (cx->fault.kind)
        return effect;
    switch (effect.outcome.effect) {
    case DIVERGENCE_BRANCHES:
        divergence_count_branch(setup, pc, effect.outcome.is_divergent);
        if (effect.outcome.is_divergent) {
            divergence_count_split(setup, row, active);
            divergence_paths_diverge(paths, pc, next);
        } else {
            divergence_paths_go(paths, pc, effect.outcome.target);
        }
        break;
    case DIVERGENCE_CALLS:
        divergence_paths_call(paths, pc, taken, next);
        break;
    case DIVERGENCE_RETURNS:
        divergence_paths_return(paths, pc, taken, next);
        break;
    case DIVERGENCE_ENDS:
        divergence_paths_end(paths, pc, taken);
        effect.has_released = divergence_sync_after_exit(sync, cx, divergence_cta(row));
        break;
    case DIVERGENCE_MEETS_BLOCK:
    case DIVERGENCE_MEETS_ROW:
        effect.has_released = meet(paths, setup, sync, pc, taken, effect.outcome.effect);
        break;
    case DIVERGENCE_PASSES:
        divergence_paths_go(paths, pc, pc + 1);
        break;
    }
    return effect;
}

bool divergence_paths_take_released(struct divergence_paths *paths, struct divergence_sync *sync, uint32_t row) {
    uint32_t pc, mask = divergence_sync_take(sync, row, &pc);
    if (!mask)
        return false;
    for (; mask; mask = divergence_sync_take(sync, row, &pc))
        divergence_paths_release(paths, mask, pc);
    return true;
}

void divergence_paths_visit(const struct divergence_paths *paths, const struct divergence_group *group,
                            void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                           uint32_t lane),
                            void *visitor) {
    for (uint32_t p = 0; p < paths->n_paths; p++)
        for (uint32_t left = paths->path[p].mask; left; left &= left - 1)
            thread(visitor, paths->path[p].group ? paths->path[p].group : group, paths->row,
                   (uint32_t)__builtin_ctz(left));
    for (uint32_t j = 0; j < paths->capacity; j++)
        for (uint32_t left = paths->join[j].is_used ? paths->join[j].arrived : 0; left; left &= left - 1)
            thread(visitor, group, paths->row, (uint32_t)__builtin_ctz(left));
}
