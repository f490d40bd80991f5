/* Warps whose lanes meet at convergence barriers: see warps.h. */
#include "divergence/convergence/warps.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/parts/count.h"

void *divergence_converging_new_block(void *user, const struct exec_cta *cta) {
    (void)user;
    struct divergence_converging_block *block = base_allocate(1, sizeof *block);
    block->n_rows = cta->n_rows;
    block->warp = base_allocate_aligned(cta->n_rows * sizeof *block->warp);
    block->sync = divergence_sync_new(cta->n_rows);
    for (uint32_t i = 0; i < cta->n_rows; i++)
        block->warp[i].group.slot = DIVERGENCE_NO_SLOT;
    return block;
}

void divergence_converging_free_block(void *user, void *state) {
    (void)user;
    struct divergence_converging_block *block = state;
    for (uint32_t i = 0; i < block->n_rows; i++)
        divergence_paths_free(&block->warp[i].paths);
    divergence_sync_free(block->sync);
    free(block->warp);
    free(block);
}

void divergence_converging_show(struct divergence_converging *model, struct divergence_converging_warp *warp) {
    struct divergence_group *group = &warp->group;
    bool can_run = divergence_paths_select(&warp->paths);
    model->setup.counters->reconvergences += warp->paths.n_reconverged;
    warp->paths.n_reconverged = 0;
    if (!can_run) {
        group->status = group->row->live ? DIVERGENCE_WAITS : DIVERGENCE_ENDED;
        return;
    }
    struct divergence_path *top = divergence_paths_top(&warp->paths);
    group->status = DIVERGENCE_RUNS;
    group->n_arrived = top->n_arrived;
    top->n_arrived = 0;
    group->pc = top->pc;
    group->notify_pc = divergence_paths_next_stop(&warp->paths, top);
    bool pauses = model->next_pause && warp->paths.n_paths > 1;
    if (pauses && (group->notify_pc <= group->pc || model->next_pause[group->pc] < group->notify_pc))
        group->notify_pc = model->next_pause[group->pc]; /* a stop behind it is reached by a branch */
    group->mask = top->mask;
}

void divergence_converging_admit(void *user, struct divergence_block *place, uint64_t cycle) {
    struct divergence_converging *model = user;
    struct divergence_converging_block *block = place->state;
    const struct exec_program *program = model->setup.cx->grid->program;
    const struct exec_regions *regions = model->regions ? model->regions : program->regions;
    divergence_sync_start(block->sync);
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct divergence_converging_warp *warp = &block->warp[i];
        divergence_paths_start(&warp->paths, regions, &place->cta->row[i], program->function[0].first_pc);
        warp->watch = (struct divergence_watch){.n_diverged = 0};
        warp->group.row = &place->cta->row[i];
        warp->group.home = place;
        warp->group.passed = 0;
        warp->group.ready_cycle = 0;
        divergence_converging_show(model, warp);
        warp->group.warp_id = DIVERGENCE_NO_WARP;
        model->setup.host->place(model->setup.sm, &warp->group, cycle);
    }
}

/* --- lanes that wait for each other --- */

void divergence_converging_added(struct divergence_converging *model, struct divergence_converging_warp *warp,
                                 uint64_t cycle) {
    if (warp->group.status == DIVERGENCE_RUNS) { /* the running path continues, and the others run later */
        divergence_paths_continue(&warp->paths, warp->group.mask);
        return;
    }
    divergence_converging_show(model, warp);
    model->setup.host->wake(model->setup.sm, &warp->group, cycle);
}

/* Released lanes continue after the instruction that they waited at. `self` is the warp whose hook runs. */
static void set_free(struct divergence_converging *model, struct divergence_converging_block *block,
                     const struct divergence_converging_warp *self, uint64_t cycle) {
    for (uint32_t i = 0; i < block->n_rows; i++)
        if (divergence_paths_take_released(&block->warp[i].paths, block->sync, i) && &block->warp[i] != self)
            divergence_converging_added(model, &block->warp[i], cycle);
}

/* --- control instructions --- */

static bool goes_back_to_await(const struct exec_regions *regions, uint32_t pc, uint32_t target) {
    uint32_t loop = target == EXEC_NO_PC || target > pc ? EXEC_NO_LOOP : regions->loop_of[target];
    return loop != EXEC_NO_LOOP && regions->loop[loop].header == target && regions->loop[loop].awaits;
}

/* The running path has executed the control instruction at pc. If it awaits other threads, or spins, it yields. */
static void yield(struct divergence_converging_warp *warp, uint32_t pc, uint32_t taken,
                  const struct divergence_outcome *outcome) {
    if (!divergence_paths_select(&warp->paths))
        return;
    bool awaits =
        outcome->effect == DIVERGENCE_BRANCHES && taken && goes_back_to_await(warp->paths.regions, pc, outcome->target);
    bool is_diverged = !divergence_paths_are_one(&warp->paths);
    bool spins = divergence_spins(&warp->watch, is_diverged, false, pc);
    if (is_diverged && (awaits || spins))
        divergence_paths_yield(&warp->paths);
}

/* Returns how many paths at the end are new, if one of n_before has been replaced. */
static uint32_t count_new(const struct divergence_paths *paths, uint32_t n_before) {
    return paths->n_paths >= n_before ? paths->n_paths - n_before + 1 : 0;
}

/* Any control instruction but a branch with one target that does not diverge a warp of one path. */
static __attribute__((noinline)) void control_other(struct divergence_converging *model,
                                                    struct divergence_converging_warp *warp, uint32_t pc, uint32_t mask,
                                                    uint64_t cycle) {
    struct divergence_group *group = &warp->group;
    struct divergence_converging_block *block = group->home->state;
    uint32_t n_before = warp->paths.n_paths;
    warp->paths.cycle = cycle;
    struct divergence_paths_effect effect =
        divergence_paths_execute(&warp->paths, &model->setup, block->sync, pc, mask);
    if (model->setup.cx->fault.kind)
        return;
    uint32_t n_new = effect.has_released ? 0 : count_new(&warp->paths, n_before);
    if (effect.has_released)
        set_free(model, block, warp, cycle);
    if (model->next_turn)
        model->next_turn(model, warp, pc, &effect.outcome, n_new);
    else
        yield(warp, pc, mask, &effect.outcome);
    divergence_converging_show(model, warp);
    if (divergence_has_ended(&effect.outcome) && !group->home->cta->n_live_rows)
        model->setup.host->block_ended(model->setup.sm, group->home);
}

void divergence_converging_control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask,
                                   uint64_t cycle) {
    struct divergence_converging *model = user;
    struct divergence_converging_warp *warp = (struct divergence_converging_warp *)group;
    const struct exec_insn *insn = &model->setup.cx->grid->program->code[pc];
    if (insn->kind == EXEC_KIND_BRANCH && divergence_paths_are_one(&warp->paths)) {
        uint32_t active = group->mask;
        struct divergence_outcome outcome = divergence_resolve_branch(insn, pc, 1, &active, &mask);
        if (!outcome.is_divergent) {
            divergence_count_branch(&model->setup, pc, false);
            group->pc = outcome.target;
            return;
        }
    }
    control_other(model, warp, pc, mask, cycle);
}

void divergence_converging_release(void *user, struct divergence_block *place, uint64_t cycle) {
    struct divergence_converging *model = user;
    struct divergence_converging_block *block = place->state;
    if (divergence_sync_after_exit(block->sync, model->setup.cx, place->cta))
        set_free(model, block, NULL, cycle);
}

void divergence_converging_reached(void *user, struct divergence_group *group, uint64_t cycle) {
    struct divergence_converging *model = user;
    struct divergence_converging_warp *warp = (struct divergence_converging_warp *)group;
    uint32_t n_before = warp->paths.n_paths;
    warp->paths.cycle = cycle;
    divergence_paths_reach(&warp->paths, group->pc);
    if (model->next_turn)
        model->next_turn(model, warp, group->pc, NULL, count_new(&warp->paths, n_before));
    divergence_converging_show(model, warp);
}

void divergence_converging_visit(const void *user, const struct divergence_block *place,
                                 void (*thread)(void *user, const struct divergence_group *group,
                                                const struct exec_row *row, uint32_t lane),
                                 void *visitor) {
    (void)user;
    const struct divergence_converging_block *block = place->state;
    for (uint32_t i = 0; i < block->n_rows; i++)
        divergence_paths_visit(&block->warp[i].paths, &block->warp[i].group, thread, visitor);
}

uint64_t divergence_converging_cost_bits(const void *options, const struct config_machine *machine, char *formula,
                                         size_t size) {
    (void)options;
    enum { REGISTERS = 16 };
    uint32_t warps = machine->sm.threads / machine->sm.warp_size, lanes = machine->sm.warp_size;
    snprintf(formula, size, "warps x (lanes x 32-bit pc + 16 barriers x lanes): %u x %u", warps,
             (32 + REGISTERS) * lanes);
    return (uint64_t)warps * (32 + REGISTERS) * lanes;
}
