/* Warps whose lanes meet at convergence barriers: see warps.h. */
#include "divergence/convergence/warps.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/parts/count.h"
#include "divergence/parts/resolve.h"
#include "divergence/parts/sync.h"

struct block {
    struct divergence_converging_warp *warp;
    struct divergence_sync *sync;
    uint32_t n_rows;
};

void *divergence_converging_new_block(void *user, const struct exec_cta *cta) {
    (void)user;
    struct block *block = base_allocate(1, sizeof *block);
    block->n_rows = cta->n_rows;
    block->warp = base_allocate_aligned(cta->n_rows * sizeof *block->warp);
    block->sync = divergence_sync_new(cta->n_rows);
    for (uint32_t i = 0; i < cta->n_rows; i++)
        block->warp[i].group.slot = DIVERGENCE_NO_SLOT;
    return block;
}

void divergence_converging_free_block(void *user, void *state) {
    (void)user;
    struct block *block = state;
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
    const struct divergence_path *top = divergence_paths_top(&warp->paths);
    group->status = DIVERGENCE_RUNS;
    group->pc = top->pc;
    group->notify_pc = divergence_paths_next_stop(&warp->paths);
    bool pauses = model->next_pause && warp->paths.n_paths > 1;
    if (pauses && (group->notify_pc <= group->pc || model->next_pause[group->pc] < group->notify_pc))
        group->notify_pc = model->next_pause[group->pc]; /* a stop behind it is reached by a branch */
    group->mask = top->mask;
}

void divergence_converging_admit(void *user, struct divergence_block *place, uint64_t cycle) {
    struct divergence_converging *model = user;
    struct block *block = place->state;
    const struct exec_program *program = model->setup.cx->grid->program;
    divergence_sync_start(block->sync);
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct divergence_converging_warp *warp = &block->warp[i];
        divergence_paths_start(&warp->paths, program->regions, &place->cta->row[i], program->function[0].first_pc);
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

/* Released lanes continue after the instruction that they waited at. `self` is the warp whose hook runs. */
static void set_free(struct divergence_converging *model, struct block *block,
                     const struct divergence_converging_warp *self, uint64_t cycle) {
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct divergence_converging_warp *warp = &block->warp[i];
        uint32_t pc, mask = divergence_sync_take(block->sync, i, &pc);
        if (!mask)
            continue;
        for (; mask; mask = divergence_sync_take(block->sync, i, &pc))
            divergence_paths_release(&warp->paths, mask, pc);
        if (warp == self)
            continue;
        if (warp->group.status == DIVERGENCE_RUNS) { /* the running path goes on, and the released ones run later */
            divergence_paths_continue(&warp->paths, warp->group.mask);
            continue;
        }
        divergence_converging_show(model, warp);
        model->setup.host->wake(model->setup.sm, &warp->group, cycle);
    }
}

/* A warp-wide instruction that names no lanes acts on those that are here; so does any if all live lanes are here. */
static bool acts_at_once(const struct exec_program *program, uint32_t pc, const struct exec_row *row, uint32_t mask) {
    return exec_acts_on_row(program->code[pc].kind) &&
           (mask == row->live || !(program->source[pc] && ptx_has(program->source[pc], PTX_MOD_SYNC)));
}

static void meet(struct divergence_converging *model, struct divergence_converging_warp *warp, uint32_t pc,
                 uint32_t mask, const struct divergence_outcome *outcome, uint64_t cycle) {
    struct exec_context *cx = model->setup.cx;
    struct exec_row *row = warp->group.row;
    struct block *block = warp->group.home->state;
    if (outcome->effect == DIVERGENCE_MEETS_ROW && acts_at_once(cx->grid->program, pc, row, mask)) {
        exec_row_insn(cx, row, &cx->grid->program->code[pc], mask);
        divergence_paths_go(&warp->paths, pc, pc + 1);
        return;
    }
    model->setup.counters->barriers += outcome->effect == DIVERGENCE_MEETS_BLOCK;
    divergence_paths_wait(&warp->paths, pc, mask);
    if (divergence_sync_arrive(block->sync, cx, row, pc, mask))
        set_free(model, block, warp, cycle);
}

/* --- control instructions --- */

static bool goes_back_to_await(const struct exec_regions *regions, uint32_t pc, uint32_t target) {
    uint32_t loop = target == EXEC_NO_PC || target > pc ? EXEC_NO_LOOP : regions->loop_of[target];
    return loop != EXEC_NO_LOOP && regions->loop[loop].header == target && regions->loop[loop].awaits;
}

/* The running path has executed the control instruction at pc. If it `awaits` other threads, or spins, it yields. */
static void yield(struct divergence_converging_warp *warp, uint32_t pc, bool awaits) {
    bool is_diverged = !divergence_paths_are_one(&warp->paths);
    bool spins = divergence_spins(&warp->watch, is_diverged, false, pc);
    if (is_diverged && (awaits || spins))
        divergence_paths_yield(&warp->paths);
}

/* Any control instruction but a branch with one target that does not diverge a warp of one path. */
static __attribute__((noinline)) void control_other(struct divergence_converging *model,
                                                    struct divergence_converging_warp *warp, uint32_t pc, uint32_t mask,
                                                    uint64_t cycle) {
    struct divergence_group *group = &warp->group;
    struct exec_context *cx = model->setup.cx;
    const struct exec_regions *regions = warp->paths.regions;
    uint32_t next[EXEC_LANES];
    struct divergence_outcome outcome = divergence_resolve_lanes(cx, pc, group->row, group->mask, mask, next);
    bool awaits = false;
    if (cx->fault.kind)
        return;
    switch (outcome.effect) {
    case DIVERGENCE_BRANCHES:
        divergence_count_branch(&model->setup, pc, outcome.is_divergent);
        if (outcome.is_divergent) {
            divergence_count_split(&model->setup, group->row, group->mask);
            divergence_paths_diverge(&warp->paths, pc, next);
        } else {
            divergence_paths_go(&warp->paths, pc, outcome.target);
        }
        awaits = mask && goes_back_to_await(regions, pc, outcome.target);
        break;
    case DIVERGENCE_CALLS:
        divergence_paths_call(&warp->paths, pc, mask, next);
        break;
    case DIVERGENCE_RETURNS:
        divergence_paths_return(&warp->paths, pc, mask, next);
        break;
    case DIVERGENCE_ENDS:
        divergence_paths_end(&warp->paths, pc, mask);
        if (divergence_sync_after_exit(((struct block *)group->home->state)->sync, cx, group->home->cta))
            set_free(model, group->home->state, warp, cycle);
        break;
    case DIVERGENCE_MEETS_BLOCK:
    case DIVERGENCE_MEETS_ROW:
        meet(model, warp, pc, mask, &outcome, cycle);
        break;
    case DIVERGENCE_PASSES:
        divergence_paths_go(&warp->paths, pc, pc + 1);
        break;
    }
    if (divergence_paths_select(&warp->paths))
        yield(warp, pc, awaits);
    divergence_converging_show(model, warp);
    if (divergence_has_ended(&outcome) && !group->home->cta->n_live_rows)
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

void divergence_converging_reached(void *user, struct divergence_group *group, uint64_t cycle) {
    (void)cycle;
    struct divergence_converging_warp *warp = (struct divergence_converging_warp *)group;
    divergence_paths_reach(&warp->paths, group->pc);
    divergence_converging_show(user, warp);
}

void divergence_converging_visit(const void *user, const struct divergence_block *place,
                                 void (*thread)(void *user, const struct divergence_group *group,
                                                const struct exec_row *row, uint32_t lane),
                                 void *visitor) {
    (void)user;
    const struct block *block = place->state;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        const struct divergence_paths *paths = &block->warp[i].paths;
        uint32_t lanes = 0;
        for (uint32_t p = 0; p < paths->n_paths; p++)
            lanes |= paths->path[p].mask;
        for (uint32_t j = 0; j < paths->capacity; j++)
            lanes |= paths->join[j].is_used ? paths->join[j].arrived : 0;
        for (uint32_t left = lanes; left; left &= left - 1)
            thread(visitor, &block->warp[i].group, &place->cta->row[i], (uint32_t)__builtin_ctz(left));
    }
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
