/* Control instructions under the oracle scheduler: whether the threads of a warp part for good or stay on the warp's
 * own stack. See odgs.c. */
#include <string.h>

#include "divergence/odgs/internal.h"
#include "divergence/parts/count.h"
#include "divergence/parts/resolve.h"
#include "divergence/parts/threads.h"

static struct divergence_sync *sync_of(const struct divergence_block *block) {
    return ((const struct divergence_odgs_block *)block->state)->sync;
}

/* --- outcome for each lane --- */

/* Threads no longer wait: full rows become warps again, the others go to the pool. */
static void take_released(struct divergence_odgs_sm *model, struct divergence_block *block, uint64_t cycle) {
    struct divergence_sync *sync = sync_of(block);
    for (uint32_t i = 0; i < sync->n_rows; i++) {
        uint32_t pc, mask;
        while ((mask = divergence_sync_take(sync, i, &pc)))
            divergence_odgs_add_row(model->chip, &block->cta->row[i], mask, pc, (uint16_t)model->setup.sm_index,
                                    &model->chip->full);
    }
    model->setup.host->chip->call_at(model->setup.sm, cycle + 1); /* they may find free slots elsewhere */
}

static void threads_ended(struct divergence_odgs_sm *model, struct divergence_block *block, uint64_t cycle) {
    if (divergence_sync_after_exit(sync_of(block), model->setup.cx, block->cta))
        take_released(model, block, cycle);
    if (!block->cta->n_live_rows) {
        uint32_t home = block->cta->block.smid[0];
        const struct divergence_setup *setup = &model->chip->model[home]->setup;
        setup->host->block_ended(setup->sm, block);
    }
}

/* Lanes that wait for others of their row or block leave the warp. A whole row that need not wait stays. Returns the
 * lanes that leave. */
static uint32_t synchronize(struct divergence_odgs_sm *model, const struct divergence_odgs_warp *warp, uint32_t pc,
                            uint32_t waiting, uint64_t cycle) {
    bool is_barrier = model->chip->program->code[pc].kind == EXEC_KIND_BARRIER;
    for (uint32_t left = waiting, lanes, mask; left && !model->setup.cx->fault.kind; left &= ~lanes) {
        lanes = divergence_same_row(&warp->threads, left, &mask);
        struct exec_row *row = warp->threads.row[__builtin_ctz(lanes)];
        struct divergence_block *block = divergence_block_of(row);
        struct divergence_sync *sync = sync_of(block);
        bool is_free = divergence_sync_arrive(sync, model->setup.cx, row, pc, mask);
        if (is_free && !is_barrier && (sync->released[row->index] & mask) == mask) {
            sync->released[row->index] &= ~mask; /* continues where it is */
            waiting &= ~lanes;
        }
        if (is_free)
            take_released(model, block, cycle);
    }
    return waiting;
}

/* --- where they continue --- */

static void count_branch(struct divergence_odgs_sm *model, const struct divergence_odgs_warp *warp, uint32_t pc,
                         bool is_divergent) {
    divergence_count_branch(&model->setup, pc, is_divergent);
    for (uint32_t left = is_divergent ? warp->group.mask : 0; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        divergence_count_split(&model->setup, warp->threads.row[lane], 1u << warp->threads.lane[lane]);
    }
}

/* Notes where lanes below the top of the warp's stack will continue. */
static void spread_stack(struct divergence_odgs_warp *warp, uint32_t top_lanes) {
    uint32_t above = top_lanes;
    for (uint32_t i = warp->stack.depth - 1; i-- > 0;) {
        const struct divergence_entry *entry = divergence_stack_at(&warp->stack, i);
        for (uint32_t left = entry->mask[0] & ~above & warp->lanes; left; left &= left - 1)
            warp->next_pc[__builtin_ctz(left)] = entry->pc;
        above |= entry->mask[0];
    }
}

/* Pushes a path for each distinct target, in the order of the post-dominator stack. */
static void diverge_locally(struct divergence_odgs_warp *warp, const struct exec_insn *insn,
                            const uint32_t next[EXEC_LANES], uint32_t lanes) {
    struct divergence_stack *stack = &warp->stack;
    uint32_t reconvergence = insn->reconvergence, first = next[__builtin_ctz(lanes)], same = 0;
    for (uint32_t left = lanes; left; left &= left - 1)
        same |= (uint32_t)(next[__builtin_ctz(left)] == first) << __builtin_ctz(left);
    uint32_t rest = lanes & ~same, second = next[__builtin_ctz(rest)];
    if (divergence_pcs_agree(next, rest)) {
        divergence_stack_diverge(stack, reconvergence, first, &same, second);
    } else {
        uint32_t level = divergence_stack_make_join(stack, reconvergence);
        for (uint32_t left = lanes; left;) {
            uint32_t target = next[__builtin_ctz(left)], part = 0;
            for (uint32_t others = left; others; others &= others - 1)
                part |= (uint32_t)(next[__builtin_ctz(others)] == target) << __builtin_ctz(others);
            if (target != reconvergence)
                divergence_stack_push_path(stack, level, target, reconvergence, &part);
            left &= ~part;
        }
    }
    divergence_stack_pop_finished(stack);
}

/* Returns whether the longer path from a branch to its post-dominator is short, by the layout of the code. */
static bool is_short(const struct divergence_odgs_chip *chip, uint32_t pc) {
    const struct exec_insn *insn = &chip->program->code[pc];
    uint32_t reconvergence = insn->reconvergence;
    bool is_loop = insn->kind == EXEC_KIND_BRANCH && insn->target <= pc;
    return !is_loop && reconvergence != EXEC_NO_PC && reconvergence > pc &&
           reconvergence - pc - 1 <= chip->options.short_length;
}

/* Returns whether the threads may part for good at this instruction. Otherwise the warp's own stack keeps them
 * together. */
static bool may_leave(const struct divergence_odgs_chip *chip, const struct exec_insn *insn, uint32_t pc,
                      const uint32_t next[EXEC_LANES], uint32_t lanes) {
    if (insn->kind == EXEC_KIND_RETURN)
        return true; /* callers differ: there is no post-dominator */
    for (uint32_t left = chip->is_free ? 0 : lanes; left; left &= left - 1)
        if (!chip->may_regroup[next[__builtin_ctz(left)]])
            return false;
    return !(chip->options.short_length && is_short(chip, pc));
}

void divergence_odgs_end_path(struct divergence_odgs_warp *warp) {
    divergence_stack_top(&warp->stack)->pc = warp->group.pc; /* kept up to date only where it matters */
    divergence_stack_pop_finished(&warp->stack);
    divergence_odgs_show_top(warp);
}

/* Threads in these lanes have ended or wait, and leave the warp. The rest of its stack runs. */
static void lose(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint32_t pc, uint32_t lanes) {
    warp->lanes &= ~lanes;
    divergence_stack_top(&warp->stack)->pc = pc;
    divergence_stack_remove(&warp->stack, &lanes, false);
    if (warp->group.mask & ~lanes)
        return;
    divergence_odgs_show_top(warp);
    if (warp->group.status == DIVERGENCE_ENDED)
        divergence_odgs_queue_push(&model->ended, warp);
}

/* The lanes continue, each at its next pc: together, on the warp's own stack, or as threads of the pool. */
static void go_on(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint32_t pc,
                  const uint32_t next[EXEC_LANES], uint32_t lanes) {
    const struct exec_insn *insn = &model->chip->program->code[pc];
    bool is_divergent = !divergence_pcs_agree(next, lanes);
    divergence_stack_top(&warp->stack)->pc = next[__builtin_ctz(lanes)];
    if (is_divergent && may_leave(model->chip, insn, pc, next, lanes)) {
        memcpy(warp->next_pc, next, sizeof warp->next_pc);
        spread_stack(warp, lanes);
        model->setup.counters->warp_splits++;
        warp->group.status = DIVERGENCE_DRAINS;
        return;
    }
    if (is_divergent)
        diverge_locally(warp, insn, next, lanes);
    else
        divergence_stack_pop_finished(&warp->stack);
    divergence_odgs_show_top(warp);
}

void divergence_odgs_execute(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint32_t pc,
                             uint32_t mask, uint64_t cycle) {
    struct divergence_group *group = &warp->group;
    const struct exec_insn *insn = &model->chip->program->code[pc];
    struct divergence_outcome outcome;
    if (insn->kind == EXEC_KIND_BRANCH) {
        outcome = divergence_resolve_branch(insn, pc, 1, &group->mask, &mask);
        if (!outcome.is_divergent) { /* most branches */
            divergence_count_branch(&model->setup, pc, false);
            group->pc = outcome.target;
            if (group->pc == group->notify_pc)
                divergence_odgs_end_path(warp);
            return;
        }
    }
    uint32_t next[EXEC_LANES], gone = 0;
    outcome = divergence_resolve_threads(model->setup.cx, pc, &warp->threads, group->mask, mask, next);
    model->setup.counters->barriers += insn->kind == EXEC_KIND_BARRIER;
    if (outcome.effect == DIVERGENCE_BRANCHES)
        count_branch(model, warp, pc, outcome.is_divergent);
    if (divergence_has_to_wait(&outcome))
        gone = synchronize(model, warp, pc, mask, cycle);
    for (uint32_t left = divergence_has_ended(&outcome) ? mask : 0, same; left; left &= ~same) {
        same = divergence_same_block(&warp->threads, left);
        threads_ended(model, divergence_block_of(warp->threads.row[__builtin_ctz(left)]), cycle);
        gone |= same;
    }
    if (model->setup.cx->fault.kind)
        return;
    uint32_t lanes = group->mask & ~gone;
    if (gone)
        lose(model, warp, pc, gone);
    if (lanes)
        go_on(model, warp, pc, next, lanes);
}
