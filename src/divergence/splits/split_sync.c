/* Splits at barriers and warp-wide instructions. See splits.h.
 *
 * Every split arrives separately (sync.h counts threads). Splits of one subdivision that waited at the same instruction
 * become one split afterwards. A split that is alone on its stack lets a sibling path run while it waits at a barrier,
 * as the model stack does. When all splits of a path wait, they become paths of the stack again, with those of their
 * children, and let the other paths run. Otherwise the other paths would never reach the barrier. */
#include "divergence/parts/threads.h"
#include "divergence/splits/internal.h"

static void free_entries(struct divergence_subdivision *subdivision, const uint32_t *freed) {
    for (uint32_t d = 0; d < subdivision->stack.depth; d++) {
        struct divergence_entry *entry = divergence_stack_at(&subdivision->stack, d);
        if (!entry->is_waiting)
            continue;
        uint32_t *waits = divergence_wait_mask(&subdivision->stack, entry);
        divergence_masks_remove(waits, freed, subdivision->warp->n_rows);
        entry->is_waiting = !divergence_masks_are_empty(waits, subdivision->warp->n_rows);
    }
}

/* Marks the splits that no longer wait, and the entries of stacks. */
static void mark_freed(struct divergence_warp *warp, const uint32_t *freed) {
    for (struct divergence_subdivision *subdivision = warp->subdivision; subdivision; subdivision = subdivision->next) {
        free_entries(subdivision, freed);
        for (struct divergence_split *split = subdivision->split; split; split = split->next) {
            if (split->phase != DIVERGENCE_SPLIT_AT_SYNC)
                continue;
            divergence_masks_remove(split->part, freed, warp->n_rows);
            if (divergence_masks_are_empty(split->part, warp->n_rows))
                split->phase = DIVERGENCE_SPLIT_FREED;
        }
    }
}

/* Returns a split of the warp that has been freed, or one that waits for its stack, where an entry has been freed. */
static struct divergence_split *find_freed(const struct divergence_warp *warp) {
    for (struct divergence_subdivision *subdivision = warp->subdivision; subdivision; subdivision = subdivision->next)
        for (struct divergence_split *split = subdivision->split; split; split = split->next)
            if (split->phase == DIVERGENCE_SPLIT_FREED ||
                (split->phase == DIVERGENCE_SPLIT_AT_ENTRY && divergence_stack_yield(&subdivision->stack)))
                return split;
    return NULL;
}

void divergence_splits_run_freed(struct divergence_splits_hook *hook, struct divergence_warp *warp) {
    const struct divergence_splits_block *block = warp->block->state;
    struct divergence_split *split = NULL;
    for (; warp < block->warp + block->n_warps; warp++)
        if (warp->is_live && (split = find_freed(warp)))
            break;
    if (!split)
        return;
    divergence_warp_then(hook, DIVERGENCE_STEP_FREE, warp); /* for the next one */
    if (split->phase == DIVERGENCE_SPLIT_FREED) {
        divergence_split_run(hook, divergence_split_merge_waiting(hook, split));
    } else {
        /* The barrier may have been the last instruction of a path. */
        divergence_stack_pop_finished(&split->subdivision->stack);
        divergence_split_then(hook, DIVERGENCE_STEP_RUN_STACK, split);
    }
}

void divergence_splits_free_released(struct divergence_splits_hook *hook, const struct divergence_block *place) {
    struct divergence_splits_block *block = place->state;
    uint32_t freed[EXEC_MAX_ROWS], mask, next_pc;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        freed[i] = 0;
        while ((mask = divergence_sync_take(block->sync, i, &next_pc)))
            freed[i] |= mask;
    }
    for (uint32_t i = 0; i < block->n_warps; i++)
        if (block->warp[i].is_live)
            mark_freed(&block->warp[i], &freed[i * hook->splits->rows_per_warp]);
    divergence_warp_then(hook, DIVERGENCE_STEP_FREE, block->warp);
}

static bool waits_at(const struct divergence_entry *entry, uint32_t pc) { return entry->is_waiting && entry->pc == pc; }

/* Threads that wait at a barrier become a path on the stack, from entry number `first` on, or join one that waits at
 * the same instruction. */
static void wait_on_stack(struct divergence_stack *stack, uint32_t level, uint32_t first, uint32_t pc,
                          uint32_t reconvergence, const uint32_t *mask, const uint32_t *waits) {
    uint32_t at = first;
    while (at < stack->depth && !waits_at(divergence_stack_at(stack, at), pc))
        at++;
    if (at == stack->depth) {
        static const uint32_t none[EXEC_MAX_ROWS];
        divergence_stack_push_path(stack, level, pc, reconvergence, none);
        divergence_stack_top(stack)->is_waiting = true;
        divergence_stack_top(stack)->wait_pc = pc - 1;
    }
    struct divergence_entry *entry = divergence_stack_at(stack, at);
    uint32_t *entry_waits = divergence_wait_mask(stack, entry);
    for (uint32_t i = 0; i < stack->n_rows; i++) {
        entry->mask[i] |= mask[i];
        entry_waits[i] |= waits[i];
    }
}

/* Everything on the child's stack waits: its paths become paths of the outer stack. They no longer meet where they
 * would have met before, as in divergence_stack_break_join(). */
static void absorb(struct divergence_stack *stack, uint32_t level, uint32_t first, uint32_t reconvergence,
                   const struct divergence_stack *child) {
    uint32_t above[EXEC_MAX_ROWS] = {0};
    for (uint32_t d = child->depth; d-- > 0;) {
        const struct divergence_entry *entry = divergence_stack_at(child, d);
        uint32_t own[EXEC_MAX_ROWS];
        divergence_split_copy(own, entry->mask, child->n_rows);
        divergence_masks_remove(own, above, child->n_rows);
        for (uint32_t i = 0; i < child->n_rows; i++)
            above[i] |= own[i];
        if (divergence_masks_are_empty(own, child->n_rows) || entry->pc == reconvergence)
            continue;
        if (entry->is_waiting)
            wait_on_stack(stack, level, first, entry->pc, reconvergence, own, divergence_wait_mask(child, entry));
        else
            divergence_stack_push_path(stack, level, entry->pc, reconvergence, own);
    }
}

static struct divergence_subdivision *child_of(const struct divergence_subdivision *subdivision) {
    struct divergence_subdivision *child = subdivision->warp->subdivision;
    while (child && child->parent != subdivision)
        child = child->next;
    return child;
}

bool divergence_subdivision_waits(const struct divergence_subdivision *subdivision) {
    for (const struct divergence_subdivision *child = subdivision->warp->subdivision; child; child = child->next) {
        if (child->parent != subdivision)
            continue;
        if (!divergence_splits_is_sole(child) || child->split->phase != DIVERGENCE_SPLIT_AT_ENTRY)
            return false;
        for (uint32_t d = 0; d < child->stack.depth; d++)
            if (divergence_stack_at(&child->stack, d)->is_call)
                return false; /* a caller waits for its callee */
    }
    return true;
}

/* Returns whether every split and child of the subdivision waits. They do not all wait at the end of the path, which
 * would have ended it. */
static bool is_stuck(const struct divergence_subdivision *subdivision) {
    for (const struct divergence_split *split = subdivision->split; split; split = split->next)
        if (split->phase != DIVERGENCE_SPLIT_AT_SYNC && split->phase != DIVERGENCE_SPLIT_AT_JOIN)
            return false;
    return divergence_subdivision_waits(subdivision);
}

/* Keeps one split of the subdivision and its children, which represents the stack. */
static struct divergence_split *undivide(struct divergence_splits_hook *hook,
                                         struct divergence_subdivision *subdivision) {
    for (struct divergence_subdivision *child; (child = child_of(subdivision));) {
        divergence_split_move(child->split, subdivision);
        divergence_subdivision_drop(hook->splits, child);
    }
    return divergence_subdivision_keep_one(hook, subdivision, NULL);
}

bool divergence_subdivision_give_way(struct divergence_splits_hook *hook, struct divergence_subdivision *subdivision) {
    struct divergence_stack *stack = &subdivision->stack;
    const struct divergence_entry *top = divergence_stack_top(stack);
    uint32_t reconvergence = top->reconvergence, level = top->level;
    if (stack->depth < 2 || !top->is_path || top->is_call || !is_stuck(subdivision))
        return false;                /* there are no other paths, or no need of them */
    uint32_t first = --stack->depth; /* threads that wait at the end of the path are in the join below */
    for (const struct divergence_split *split = subdivision->split; split; split = split->next)
        if (split->phase == DIVERGENCE_SPLIT_AT_SYNC)
            wait_on_stack(stack, level, first, split->group.pc, reconvergence, split->mask, split->part);
    for (const struct divergence_subdivision *child = subdivision->warp->subdivision; child; child = child->next)
        if (child->parent == subdivision)
            absorb(stack, level, first, reconvergence, &child->stack);
    memset(subdivision->joined, 0, subdivision->warp->n_rows * sizeof *subdivision->joined);
    divergence_split_then(hook, DIVERGENCE_STEP_RUN_STACK, undivide(hook, subdivision));
    return true;
}

static bool arrive_rows(struct divergence_splits *splits, const struct divergence_warp *warp, uint32_t pc,
                        const uint32_t *taken) {
    struct divergence_splits_block *block = warp->block->state;
    bool has_released = false;
    for (uint32_t i = 0; i < warp->n_rows && !splits->setup.cx->fault.kind; i++)
        if (taken[i])
            has_released |= divergence_sync_arrive(block->sync, splits->setup.cx, &warp->row[i], pc, taken[i]);
    return has_released;
}

/* At a barrier, alone on its stack: the entry waits, and a sibling path may run meanwhile. */
static void arrive_alone(struct divergence_splits_hook *hook, struct divergence_split *split, const uint32_t *taken) {
    struct divergence_subdivision *subdivision = split->subdivision;
    struct divergence_entry *top = divergence_stack_top(&subdivision->stack);
    uint32_t pc = split->group.pc;
    top->pc = pc + 1;
    top->is_waiting = true;
    top->wait_pc = pc;
    divergence_split_copy(divergence_wait_mask(&subdivision->stack, top), taken, subdivision->warp->n_rows);
    bool has_released = arrive_rows(hook->splits, subdivision->warp, pc, taken);
    if (hook->splits->setup.cx->fault.kind)
        return;
    divergence_split_then(hook, DIVERGENCE_STEP_RUN_STACK, split); /* after all others that it has released */
    if (has_released)
        divergence_splits_free_released(hook, subdivision->warp->block);
    divergence_stack_pop_finished(&subdivision->stack);
}

void divergence_split_arrive(struct divergence_splits_hook *hook, struct divergence_split *split) {
    const struct divergence_warp *warp = split->subdivision->warp;
    uint32_t pc = split->group.pc, taken[EXEC_MAX_ROWS];
    divergence_split_copy(taken, split->part, warp->n_rows);
    if (hook->splits->program->code[pc].kind == EXEC_KIND_BARRIER && divergence_splits_is_sole(split->subdivision)) {
        arrive_alone(hook, split, taken);
        return;
    }
    split->group.pc = pc + 1;
    split->phase = DIVERGENCE_SPLIT_AT_SYNC;
    bool has_released = arrive_rows(hook->splits, warp, pc, taken);
    if (hook->splits->setup.cx->fault.kind)
        return;
    divergence_split_then(hook, DIVERGENCE_STEP_WAIT_AT_SYNC, split); /* after all others that it has released */
    if (has_released)
        divergence_splits_free_released(hook, warp->block);
}

void divergence_split_wait_at_sync(struct divergence_splits_hook *hook, struct divergence_split *split) {
    if (split->phase != DIVERGENCE_SPLIT_AT_SYNC)
        return;
    divergence_split_unseat(hook, split);
    divergence_subdivision_look_after(hook, split->subdivision);
}

/* Returns whether threads on other paths of the warp's stack wait at the warp-wide instruction that the split is at. */
static bool is_awaited(const struct divergence_split *split) {
    const struct divergence_warp *warp = split->subdivision->warp;
    const struct divergence_sync *sync = ((struct divergence_splits_block *)warp->block->state)->sync;
    for (uint32_t i = 0; i < warp->n_rows; i++)
        for (uint32_t index = warp->row[i].index, left = sync->waiting[index]; left; left &= left - 1)
            if (sync->pc[index][__builtin_ctz(left)] == split->group.pc)
                return true;
    return false;
}

void divergence_split_synchronise(struct divergence_splits_hook *hook, struct divergence_split *split,
                                  const uint32_t *taken) {
    const struct divergence_splits *splits = hook->splits;
    const struct exec_insn *insn = &splits->program->code[split->group.pc];
    const struct divergence_warp *warp = split->subdivision->warp;
    splits->setup.counters->barriers += insn->kind == EXEC_KIND_BARRIER;
    divergence_split_copy(split->part, taken, warp->n_rows);
    if (warp->n_splits > 1 || (insn->kind != EXEC_KIND_BARRIER && is_awaited(split))) {
        divergence_split_begin(hook, split, DIVERGENCE_SPLIT_ARRIVES);
    } else if (insn->kind == EXEC_KIND_BARRIER) {
        divergence_split_arrive(hook, split);
    } else { /* the warp's running threads are all here */
        for (uint32_t i = 0; i < warp->n_rows && exec_acts_on_row(insn->kind); i++)
            if (taken[i])
                exec_row_insn(splits->setup.cx, &warp->row[i], insn, taken[i]);
        for (uint32_t i = 0; i < warp->n_rows; i++)
            divergence_pass_row_sync(&warp->row[i], insn, taken[i]);
        split->group.pc++;
        divergence_split_run(hook, split);
    }
}
