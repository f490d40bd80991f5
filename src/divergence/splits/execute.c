/* Control instructions of splits: branches and calls, exits and returns. See splits.h. The head of splits.c says which
 * branches subdivide. */
#include "divergence/parts/count.h"
#include "divergence/parts/resolve.h"
#include "divergence/parts/threads.h"
#include "divergence/splits/internal.h"

/* --- branches and calls --- */

/* Returns a subdivision in which the split is alone, so that it may use the stack. */
static struct divergence_subdivision *own_subdivision(struct divergence_splits *splits,
                                                      struct divergence_split *split) {
    struct divergence_subdivision *outer = split->subdivision;
    if (divergence_splits_is_sole(outer))
        return outer;
    struct divergence_subdivision *subdivision = divergence_subdivision_new(splits, outer->warp, outer);
    divergence_stack_start(&subdivision->stack, outer->warp->row, outer->warp->n_rows, split->group.pc);
    struct divergence_entry *base = divergence_stack_top(&subdivision->stack);
    base->reconvergence = divergence_stack_top(&outer->stack)->reconvergence;
    divergence_split_copy(base->mask, split->mask, outer->warp->n_rows);
    divergence_split_move(split, subdivision);
    return subdivision;
}

static void count_branch(const struct divergence_splits *splits, const struct divergence_split *split,
                         bool is_divergent) {
    divergence_count_branch(&splits->setup, split->group.pc, is_divergent);
    if (is_divergent)
        divergence_count_wide_split(&splits->setup, split->subdivision->warp->row, split->mask,
                                    divergence_split_rows(split));
}

/* The split's stack follows the control instruction at pc. */
static void use_stack(struct divergence_splits_hook *hook, struct divergence_split *split,
                      const struct divergence_outcome *outcome, const uint32_t *taken, uint32_t (*next)[EXEC_LANES]) {
    struct divergence_subdivision *subdivision = own_subdivision(hook->splits, split);
    uint32_t gone[EXEC_MAX_ROWS], n_rows = divergence_split_rows(split), pc = split->group.pc;
    divergence_split_copy(gone, divergence_stack_at(&subdivision->stack, 0)->mask, n_rows);
    divergence_stack_follow(&subdivision->stack, &hook->splits->program->code[pc], pc, outcome, taken, next);
    divergence_masks_remove(gone, divergence_stack_at(&subdivision->stack, 0)->mask, n_rows);
    /* One side of a branch may go straight to where the splits meet: it waits in the entry below. */
    if (subdivision->parent)
        divergence_masks_remove(divergence_stack_top(&subdivision->parent->stack)->mask, gone, n_rows);
    divergence_split_then(hook, DIVERGENCE_STEP_RUN_STACK, split);
}

void divergence_split_part(struct divergence_splits_hook *hook, struct divergence_split *split) {
    struct divergence_splits *splits = hook->splits;
    struct divergence_subdivision *subdivision = split->subdivision;
    uint32_t n_rows = divergence_split_rows(split), pc = split->group.pc;
    struct divergence_outcome outcome =
        divergence_resolve_branch(&splits->program->code[pc], pc, n_rows, split->mask, split->part);
    if (!divergence_splits_have_room(splits, subdivision->warp, 1)) {
        splits->setup.counters->splits_refused++;
        use_stack(hook, split, &outcome, split->part, NULL);
        return;
    }
    struct divergence_split *other = divergence_split_new(hook, subdivision, split);
    uint32_t target = outcome.target;
    bool continues_taken = splits->rules.taken_first || target < pc;
    struct divergence_split *taken = continues_taken ? split : other, *through = continues_taken ? other : split;
    divergence_split_copy(other->mask, split->mask, n_rows);
    divergence_masks_remove(through->mask, split->part, n_rows);
    divergence_split_copy(taken->mask, split->part, n_rows);
    taken->group.pc = target;
    through->group.pc = pc + 1;
    divergence_subdivision_mark_apart(subdivision);
    splits->setup.counters->warp_splits++;
    divergence_split_run(hook, split);
    divergence_split_run(hook, other);
}

static bool may_part(const struct divergence_splits *splits, const struct divergence_split *split) {
    const struct exec_insn *insn = &splits->program->code[split->group.pc];
    const struct divergence_subdivision *subdivision = split->subdivision;
    if (!splits->rules.at_branches)
        return false;
    if (!divergence_splits_is_sole(subdivision))
        return true;
    uint32_t end = divergence_stack_top(&subdivision->stack)->reconvergence;
    return splits->is_short[split->group.pc] && insn->target != end && split->group.pc + 1 != end;
}

static bool spins(struct divergence_split *split, uint32_t pc) {
    struct divergence_subdivision *subdivision = split->subdivision;
    return divergence_splits_is_sole(subdivision) &&
           divergence_stack_spins(&subdivision->watch, &subdivision->stack, pc);
}

/* Threads that spin on a value that others of their stack will write let those continue, as in the model stack. */
static void let_others_run(struct divergence_splits_hook *hook, struct divergence_split *split) {
    struct divergence_subdivision *subdivision = split->subdivision;
    divergence_stack_top(&subdivision->stack)->pc = split->group.pc;
    if (subdivision->parent) /* its paths each end at the parent's post-dominator: they meet there first */
        divergence_stack_add_bottom(&subdivision->stack);
    divergence_stack_break_join(&subdivision->stack);
    divergence_split_then(hook, DIVERGENCE_STEP_RUN_STACK, split);
}

static void branch(struct divergence_splits_hook *hook, struct divergence_split *split,
                   const struct divergence_outcome *outcome, const uint32_t *taken, uint32_t (*next)[EXEC_LANES]) {
    const struct divergence_splits *splits = hook->splits;
    uint32_t pc = split->group.pc;
    bool uses_stack = divergence_pushes_paths(&splits->program->code[pc], taken, divergence_split_rows(split));
    count_branch(splits, split, outcome->is_divergent);
    if (!outcome->is_divergent && !uses_stack) {
        split->group.pc = outcome->target;
        if (spins(split, pc))
            let_others_run(hook, split);
        else
            divergence_split_run(hook, split);
    } else if (!uses_stack && may_part(splits, split)) {
        divergence_split_copy(split->part, taken, divergence_split_rows(split));
        divergence_split_begin(hook, split, DIVERGENCE_SPLIT_PARTS);
    } else {
        use_stack(hook, split, outcome, taken, next);
    }
}

/* --- exits and returns --- */

/* Removes threads from the stacks, from here outwards; for a return, only from the running call. */
static void take_out(struct divergence_subdivision *subdivision, const uint32_t *mask, bool stops_at_call) {
    while (subdivision && !divergence_stack_take_out(&subdivision->stack, mask, stops_at_call))
        subdivision = subdivision->parent;
}

/* The threads in the mask leave the split. */
static void lose(struct divergence_splits_hook *hook, struct divergence_split *split, const uint32_t *mask,
                 bool stops_at_call) {
    uint32_t n_rows = divergence_split_rows(split);
    take_out(split->subdivision, mask, stops_at_call);
    divergence_masks_remove(split->mask, mask, n_rows);
    split->group.pc++;
    if (divergence_masks_are_empty(split->mask, n_rows))
        divergence_subdivision_end_path(hook, split->subdivision, split);
    else
        divergence_split_run(hook, split);
}

void divergence_splits_after_exit(struct divergence_splits_hook *hook, struct divergence_warp *warp) {
    const struct divergence_setup *setup = &hook->splits->setup;
    struct divergence_block *place = warp->block;
    if (divergence_sync_after_exit(((struct divergence_splits_block *)place->state)->sync, setup->cx, place->cta))
        divergence_splits_free_released(hook, place);
    if (!place->cta->n_live_rows)
        setup->host->block_ended(setup->sm, place);
}

/* --- the hook --- */

static void execute(struct divergence_splits_hook *hook, struct divergence_split *split, const uint32_t *taken) {
    struct divergence_warp *warp = split->subdivision->warp;
    struct exec_context *cx = hook->splits->setup.cx;
    uint32_t next[EXEC_MAX_ROWS][EXEC_LANES];
    struct divergence_outcome outcome =
        divergence_resolve(cx, split->group.pc, warp->row, warp->n_rows, split->mask, taken, next);
    if (cx->fault.kind)
        return;
    switch (outcome.effect) {
    case DIVERGENCE_BRANCHES:
        branch(hook, split, &outcome, taken, next);
        break;
    case DIVERGENCE_CALLS:
        use_stack(hook, split, &outcome, taken, next);
        break;
    case DIVERGENCE_RETURNS:
        lose(hook, split, taken, true);
        break;
    case DIVERGENCE_ENDS:
        divergence_warp_then(hook, DIVERGENCE_STEP_AFTER_EXIT, warp);
        lose(hook, split, taken, false); /* its consequences come first */
        break;
    case DIVERGENCE_MEETS_BLOCK:
    case DIVERGENCE_MEETS_ROW:
        divergence_split_synchronise(hook, split, taken);
        break;
    case DIVERGENCE_PASSES:
        split->group.pc++;
        divergence_split_run(hook, split);
        break;
    }
}

void divergence_splits_control(void *model, struct divergence_group *group, uint32_t pc, uint32_t mask,
                               uint64_t cycle) {
    struct divergence_splits_hook hook;
    struct divergence_split *split = (struct divergence_split *)group;
    const struct divergence_warp *warp = split->subdivision->warp;
    uint32_t taken[EXEC_MAX_ROWS];
    divergence_splits_enter(&hook, model, split, cycle);
    taken[0] = mask;
    for (uint32_t i = 0; i < warp->n_rows && !group->row; i++)
        taken[i] = divergence_guard(&warp->row[i], &hook.splits->program->code[pc], split->mask[i]);
    execute(&hook, split, taken);
    divergence_splits_leave(&hook);
}
