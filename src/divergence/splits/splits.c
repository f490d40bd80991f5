/* Splits of warps. See splits.h.
 *
 * Meng 2010, 4.4: while a warp is subdivided its stack is not touched, so every divergent branch subdivides further;
 * only an undivided warp has the choice to push. Where the paper is silent:
 * - The table is full and a split with siblings diverges: it serialises the two paths on a stack of its own. The same
 *   for calls and indexed branches, which never subdivide.
 * - A branch one side of which goes straight to the post-dominator on top of the stack does not subdivide an undivided
 *   warp: that side would only wait there.
 * - At a barrier each split arrives for itself; those that waited at the same instruction are one split afterwards.
 *   Warp-wide instructions are executed when the lanes that they name have come (sync.h), with the same effect.
 * - A return takes threads out of the running call, as with the stack alone: they wait in the caller's entry. */
#include "divergence/splits/splits.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "divergence/parts/count.h"
#include "divergence/parts/threads.h"
#include "divergence/splits/internal.h"

/* The pc of an entry whose threads have different ones: never a reconvergence point. */
enum { APART = EXEC_NO_PC - 1 };

static uint32_t rows_of(const struct divergence_split *split) { return split->subdivision->warp->n_rows; }

static void copy(uint32_t *to, const uint32_t *from, uint32_t n_rows) { memcpy(to, from, n_rows * sizeof *to); }

static void add(uint32_t *to, const uint32_t *mask, uint32_t n_rows) {
    for (uint32_t i = 0; i < n_rows; i++)
        to[i] |= mask[i];
}

/* What the SM sees of its threads. */
void divergence_split_show(struct divergence_split *split) {
    if (split->group.row)
        split->group.mask = split->mask[0];
    else
        split->group.n_threads = divergence_masks_count(split->mask, rows_of(split));
}

static bool is_under_way(const struct divergence_splits *splits, const struct divergence_split *split) {
    return splits->setup.host->is_under_way(splits->setup.sm, &split->group, splits->cycle);
}

static void finish_top(struct divergence_splits *splits, struct divergence_subdivision *subdivision,
                       struct divergence_split *spare);
static void act(struct divergence_splits *splits, struct divergence_split *split);

/* --- where a split goes on --- */

static void consider(uint32_t *notify_pc, uint32_t pc, uint32_t at) {
    if (at > pc && at < *notify_pc)
        *notify_pc = at;
}

void divergence_split_set_notify_pc(const struct divergence_splits *splits, struct divergence_split *split) {
    const struct divergence_subdivision *subdivision = split->subdivision;
    uint32_t pc = split->group.pc, notify_pc = EXEC_NO_PC;
    consider(&notify_pc, pc, divergence_stack_top(&subdivision->stack)->reconvergence);
    if (!divergence_splits_is_sole(subdivision)) {
        if (splits->rules.stops_at_branches)
            consider(&notify_pc, pc, splits->next_stop[pc + 1]);
        if (splits->rules.by_pc)
            consider(&notify_pc, pc, splits->next_memory[pc + 1]);
    }
    split->group.notify_pc = notify_pc;
}

/* The split has something to do for which nothing of it may be under way. */
void divergence_split_begin(struct divergence_splits *splits, struct divergence_split *split,
                            enum divergence_split_phase phase) {
    split->phase = phase;
    if (!is_under_way(splits, split)) {
        act(splits, split);
        return;
    }
    split->group.status = DIVERGENCE_DRAINS;
    if (split != splits->self)
        splits->setup.host->wake(splits->setup.sm, &split->group, splits->cycle);
}

/* A split of the same subdivision that has the same pc and could go on. */
static struct divergence_split *find_equal(const struct divergence_splits *splits,
                                           const struct divergence_split *split) {
    for (struct divergence_split *other = split->subdivision->split; other; other = other->next)
        if (other != split && other != splits->self && other->group.pc == split->group.pc &&
            other->phase == DIVERGENCE_SPLIT_RUNS && !other->is_issuing && !is_under_way(splits, other))
            return other;
    return NULL;
}

void divergence_split_merge(struct divergence_splits *splits, struct divergence_split *split,
                            struct divergence_split *other) {
    assert(other != splits->self && other->subdivision == split->subdivision);
    add(split->mask, other->mask, rows_of(split));
    divergence_split_drop(splits, other);
    divergence_split_show(split);
    splits->setup.counters->merges++;
}

/* True when the split has to drain before it can be merged. */
bool divergence_split_merge_equals(struct divergence_splits *splits, struct divergence_split *split) {
    for (struct divergence_split *other; (other = find_equal(splits, split));) {
        if (is_under_way(splits, split)) {
            divergence_split_begin(splits, split, DIVERGENCE_SPLIT_MERGES);
            return true;
        }
        divergence_split_merge(splits, split, other);
    }
    return false;
}

/* The split goes on at its pc, unless it has to do or wait for something there. */
void divergence_split_run_from(struct divergence_splits *splits, struct divergence_split *split) {
    struct divergence_subdivision *subdivision = split->subdivision;
    struct divergence_entry *top = divergence_stack_top(&subdivision->stack);
    uint32_t pc = split->group.pc;
    split->phase = DIVERGENCE_SPLIT_RUNS;
    split->group.status = DIVERGENCE_RUNS;
    divergence_split_show(split);
    if (divergence_splits_is_sole(subdivision)) {
        top->pc = pc;
        if (pc == top->reconvergence) {
            finish_top(splits, subdivision, split);
            return;
        }
    } else if (pc == top->reconvergence) {
        divergence_split_begin(splits, split, DIVERGENCE_SPLIT_JOINS);
        return;
    } else if (splits->rules.stops_at_branches && splits->next_stop[pc] == pc && !split->passes_stop) {
        divergence_split_begin(splits, split, DIVERGENCE_SPLIT_STOPS);
        return;
    } else if (splits->rules.by_pc && splits->next_memory[pc] == pc && divergence_split_merge_equals(splits, split)) {
        return;
    }
    divergence_split_set_notify_pc(splits, split);
    divergence_split_seat(splits, split);
}

/* --- the end of paths --- */

static void wait_at_join(struct divergence_splits *splits, struct divergence_split *split) {
    struct divergence_subdivision *subdivision = split->subdivision;
    uint32_t n_rows = rows_of(split);
    split->phase = DIVERGENCE_SPLIT_AT_JOIN;
    divergence_split_unseat(splits, split);
    add(subdivision->joined, split->mask, n_rows);
    if (divergence_masks_are_equal(subdivision->joined, divergence_stack_top(&subdivision->stack)->mask, n_rows))
        finish_top(splits, subdivision, NULL);
    else
        divergence_splits_look_after(splits, subdivision);
}

/* The stack's top runs, with this split as the subdivision's only one. */
static void run_top(struct divergence_splits *splits, struct divergence_subdivision *subdivision,
                    struct divergence_split *split) {
    struct divergence_warp *warp = subdivision->warp;
    bool waits = divergence_stack_top(&subdivision->stack)->is_waiting && !divergence_stack_yield(&subdivision->stack);
    const struct divergence_entry *top = divergence_stack_top(&subdivision->stack);
    copy(split->mask, top->mask, warp->n_rows);
    split->group.pc = top->pc;
    divergence_split_show(split);
    if (waits) {
        split->phase = DIVERGENCE_SPLIT_AT_ENTRY;
        if (warp->n_splits > 1)
            divergence_split_unseat(splits, split);
        else if (split->group.slot != DIVERGENCE_NO_SLOT)
            split->group.status = DIVERGENCE_WAITS; /* an undivided warp keeps its slot */
        if (subdivision->parent)
            divergence_splits_look_after(splits, subdivision->parent);
        return;
    }
    if (subdivision->parent && subdivision->stack.depth == 1) { /* its paths have met */
        divergence_split_move(split, subdivision->parent);
        divergence_subdivision_drop(splits, subdivision);
    }
    divergence_split_run_from(splits, split);
}

static void end_warp(struct divergence_splits *splits, struct divergence_warp *warp) {
    if (warp->warp_id != DIVERGENCE_NO_WARP)
        splits->warp_ids_used[warp->warp_id / 64] &= ~(1ull << warp->warp_id % 64);
    warp->is_live = false;
}

/* What is on the stack now goes on in `split`, the subdivision's only one (it may have no threads). */
void divergence_subdivision_go_on(struct divergence_splits *splits, struct divergence_subdivision *subdivision,
                                  struct divergence_split *split) {
    if (subdivision->stack.depth) {
        run_top(splits, subdivision, split);
        return;
    }
    struct divergence_subdivision *parent = subdivision->parent;
    struct divergence_warp *warp = subdivision->warp;
    if (!parent) {
        divergence_split_drop(splits, split);
        divergence_subdivision_drop(splits, subdivision);
        end_warp(splits, warp);
        return;
    }
    copy(split->mask, divergence_stack_at(&subdivision->stack, 0)->mask,
         warp->n_rows); /* popped: who came to the end of it */
    divergence_split_move(split, parent);
    divergence_subdivision_drop(splits, subdivision);
    if (!divergence_masks_are_empty(split->mask, warp->n_rows))
        wait_at_join(splits, split);
    else
        finish_top(splits, parent, split);
}

/* Whether all threads of the stack's top wait at its end, or none is left. */
static bool is_finished(const struct divergence_subdivision *subdivision) {
    return divergence_masks_are_equal(subdivision->joined, divergence_stack_top(&subdivision->stack)->mask,
                                      subdivision->warp->n_rows);
}

/* A split has come to the end of its path or has lost its threads (`spare`: then it is dropped, or carries on what
 * comes next). When it was the last, what is below on the stack goes on. */
static void finish_top(struct divergence_splits *splits, struct divergence_subdivision *subdivision,
                       struct divergence_split *spare) {
    struct divergence_entry *top = divergence_stack_top(&subdivision->stack);
    bool is_alone = divergence_splits_is_sole(subdivision);
    if (!is_alone && !is_finished(subdivision)) {
        divergence_split_drop(splits, spare);
        divergence_splits_look_after(splits, subdivision);
        return;
    }
    struct divergence_split *keeper = spare;
    for (struct divergence_split *split = subdivision->split; split && !spare; split = split->next)
        if (!keeper || split == splits->self)
            keeper = split;
    for (struct divergence_split *split = subdivision->split, *next; split; split = next) {
        next = split->next;
        if (split != keeper)
            divergence_split_drop(splits, split);
    }
    if (!divergence_masks_are_empty(top->mask, subdivision->warp->n_rows))
        splits->setup.counters->reconvergences++;
    top->pc = top->reconvergence;
    memset(subdivision->joined, 0, subdivision->warp->n_rows * sizeof *subdivision->joined);
    divergence_stack_pop_finished(&subdivision->stack);
    divergence_subdivision_go_on(splits, subdivision, keeper);
}

/* --- who waits until the others cannot go on --- */

static bool can_go_on(const struct divergence_split *split) {
    return split->phase <= DIVERGENCE_SPLIT_ASKS || split->phase == DIVERGENCE_SPLIT_FREED;
}

static bool is_behind_at(const struct divergence_subdivision *subdivision, uint32_t pc) {
    for (const struct divergence_split *split = subdivision->split; split; split = split->next)
        if (split->phase == DIVERGENCE_SPLIT_BEHIND && (pc == EXEC_NO_PC || split->group.pc == pc))
            return true;
    return false;
}

static struct divergence_split *find_phase(const struct divergence_subdivision *subdivision,
                                           enum divergence_split_phase phase) {
    struct divergence_split *split = subdivision->split;
    while (split &&
           (split->phase != phase || (phase == DIVERGENCE_SPLIT_HELD && is_behind_at(subdivision, split->group.pc))))
        split = split->next;
    return split;
}

void divergence_splits_look_after(struct divergence_splits *splits, struct divergence_subdivision *subdivision) {
    for (const struct divergence_split *split = subdivision->split; split; split = split->next)
        if (can_go_on(split))
            return;
    if (subdivision->n_children && !divergence_subdivision_waits(subdivision))
        return;
    struct divergence_split *first = find_phase(subdivision, DIVERGENCE_SPLIT_HELD);
    if (!first && is_behind_at(subdivision, EXEC_NO_PC))
        return;
    if (!first && !(first = find_phase(subdivision, DIVERGENCE_SPLIT_AT_STOP))) {
        if (!divergence_subdivision_give_way(splits, subdivision) && subdivision->parent)
            divergence_splits_look_after(splits, subdivision->parent);
        return;
    }
    for (struct divergence_split *split = subdivision->split, *next; split; split = next) {
        next = split->next;
        if (split == first || split->phase != first->phase || split->group.pc != first->group.pc)
            continue;
        if (split == splits->self) { /* the split whose hook runs is the one that stays */
            divergence_split_merge(splits, split, first);
            first = split;
            next = split->next;
        } else {
            divergence_split_merge(splits, first, split);
        }
    }
    first->passes_stop = true;
    divergence_split_run_from(splits, first);
    first->passes_stop = false;
}

static void wait_at_stop(struct divergence_splits *splits, struct divergence_split *split) {
    split->phase = DIVERGENCE_SPLIT_AT_STOP;
    divergence_split_unseat(splits, split);
    divergence_splits_look_after(splits, split->subdivision);
}

/* --- branches and calls --- */

void divergence_subdivision_part(struct divergence_subdivision *subdivision) {
    divergence_stack_top(&subdivision->stack)->pc = APART;
}

/* A subdivision in which the split is alone, so that it may use the stack. */
static struct divergence_subdivision *own_subdivision(struct divergence_splits *splits,
                                                      struct divergence_split *split) {
    struct divergence_subdivision *outer = split->subdivision;
    if (divergence_splits_is_sole(outer))
        return outer;
    struct divergence_subdivision *subdivision = divergence_subdivision_new(splits, outer->warp, outer);
    divergence_stack_start(&subdivision->stack, outer->warp->row, outer->warp->n_rows, split->group.pc);
    struct divergence_entry *base = divergence_stack_top(&subdivision->stack);
    base->reconvergence = divergence_stack_top(&outer->stack)->reconvergence;
    copy(base->mask, split->mask, outer->warp->n_rows);
    divergence_split_move(split, subdivision);
    return subdivision;
}

static void count_branch(const struct divergence_splits *splits, const struct divergence_split *split,
                         bool is_divergent) {
    divergence_count_branch(&splits->setup, split->group.pc, is_divergent);
    if (is_divergent)
        divergence_count_wide_split(&splits->setup, split->subdivision->warp->row, split->mask, rows_of(split));
}

/* Executes the control instruction at pc on the stack. */
static void use_stack(struct divergence_splits *splits, struct divergence_split *split, const uint32_t *taken) {
    struct divergence_subdivision *subdivision = own_subdivision(splits, split);
    uint32_t gone[EXEC_MAX_ROWS], n_rows = rows_of(split);
    copy(gone, divergence_stack_at(&subdivision->stack, 0)->mask, n_rows);
    struct divergence_outcome outcome =
        divergence_control(&subdivision->stack, splits->setup.cx, split->group.pc, taken);
    if (splits->program->code[split->group.pc].kind == EXEC_KIND_BRANCH_INDEXED)
        count_branch(splits, split, outcome.is_divergent);
    divergence_masks_remove(gone, divergence_stack_at(&subdivision->stack, 0)->mask, n_rows);
    if (subdivision
            ->parent) /* one side of a branch went straight to where the splits meet: it waits in the entry below */
        divergence_masks_remove(divergence_stack_top(&subdivision->parent->stack)->mask, gone, n_rows);
    if (!splits->setup.cx->fault.kind)
        divergence_subdivision_go_on(splits, subdivision, split);
}

/* The threads in split->part take the branch at pc, the others do not. */
static void part(struct divergence_splits *splits, struct divergence_split *split) {
    const struct exec_insn *insn = &splits->program->code[split->group.pc];
    struct divergence_subdivision *subdivision = split->subdivision;
    uint32_t n_rows = rows_of(split);
    if (!divergence_splits_have_room(splits, subdivision->warp, 1)) {
        splits->setup.counters->splits_refused++;
        use_stack(splits, split, split->part);
        return;
    }
    struct divergence_split *other = divergence_split_new(splits, subdivision, split);
    copy(other->mask, split->mask, n_rows);
    divergence_masks_remove(other->mask, split->part, n_rows);
    copy(split->mask, split->part, n_rows);
    other->group.pc = split->group.pc + 1;
    split->group.pc = insn->target;
    divergence_subdivision_part(subdivision);
    splits->setup.counters->warp_splits++;
    divergence_split_run_from(splits, other);
    divergence_split_run_from(splits, split);
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

/* Threads that spin on what others of their stack will write let those go on, as in the model stack. */
static void give_way(struct divergence_splits *splits, struct divergence_split *split) {
    struct divergence_subdivision *subdivision = split->subdivision;
    divergence_stack_top(&subdivision->stack)->pc = split->group.pc;
    if (subdivision->parent)
        divergence_stack_add_bottom(&subdivision->stack);
    divergence_stack_break_join(&subdivision->stack);
    divergence_subdivision_go_on(splits, subdivision, split);
}

static void branch(struct divergence_splits *splits, struct divergence_split *split, const uint32_t *taken) {
    const struct exec_insn *insn = &splits->program->code[split->group.pc];
    uint32_t n_rows = rows_of(split);
    bool is_taken = divergence_masks_are_equal(taken, split->mask, n_rows);
    bool is_divergent = !is_taken && !divergence_masks_are_empty(taken, n_rows) && insn->target != split->group.pc + 1;
    count_branch(splits, split, is_divergent);
    if (!is_divergent) {
        uint32_t pc = split->group.pc;
        split->group.pc = is_taken ? insn->target : pc + 1;
        if (spins(split, pc))
            give_way(splits, split);
        else
            divergence_split_run_from(splits, split);
        return;
    }
    if (!may_part(splits, split)) {
        use_stack(splits, split, taken);
        return;
    }
    copy(split->part, taken, n_rows);
    divergence_split_begin(splits, split, DIVERGENCE_SPLIT_PARTS);
}

/* --- exits and returns --- */

/* Takes threads out of the stacks from here outwards; a return: out of the running call. */
static void take_out(struct divergence_subdivision *subdivision, const uint32_t *mask, bool stops_at_call) {
    for (; subdivision; subdivision = subdivision->parent) {
        uint32_t n_rows = subdivision->warp->n_rows;
        for (uint32_t i = subdivision->stack.depth; i-- > 0;) {
            divergence_masks_remove(divergence_stack_at(&subdivision->stack, i)->mask, mask, n_rows);
            if (stops_at_call && divergence_stack_at(&subdivision->stack, i)->is_call)
                return;
        }
    }
}

static void lose(struct divergence_splits *splits, struct divergence_split *split, const uint32_t *mask,
                 bool stops_at_call) {
    uint32_t n_rows = rows_of(split);
    take_out(split->subdivision, mask, stops_at_call);
    divergence_masks_remove(split->mask, mask, n_rows);
    split->group.pc++;
    if (divergence_masks_are_empty(split->mask, n_rows))
        finish_top(splits, split->subdivision, split);
    else
        divergence_split_run_from(splits, split);
}

static void end_threads(struct divergence_splits *splits, struct divergence_split *split, const uint32_t *taken) {
    const struct divergence_warp *warp = split->subdivision->warp;
    struct divergence_block *place = warp->block;
    struct exec_cta *cta = place->cta;
    for (uint32_t i = 0; i < warp->n_rows; i++) {
        bool was_live = warp->row[i].live;
        warp->row[i].live &= ~taken[i];
        cta->n_live_rows -= was_live && !warp->row[i].live;
    }
    lose(splits, split, taken, false);
    if (divergence_sync_after_exit(((struct divergence_splits_block *)place->state)->sync, splits->setup.cx, cta))
        divergence_splits_set_free(splits, place);
    if (!cta->n_live_rows)
        splits->setup.host->block_ended(splits->setup.sm, place);
}

static void return_from_call(struct divergence_splits *splits, struct divergence_split *split, const uint32_t *taken) {
    const struct divergence_warp *warp = split->subdivision->warp;
    for (uint32_t i = 0; i < warp->n_rows; i++)
        if (taken[i])
            exec_leave_function(splits->setup.cx, &warp->row[i], taken[i]);
    lose(splits, split, taken, true);
}

/* --- hooks --- */

static void act(struct divergence_splits *splits, struct divergence_split *split) {
    enum divergence_split_phase phase = split->phase;
    split->phase = DIVERGENCE_SPLIT_RUNS;
    split->group.status = DIVERGENCE_RUNS;
    switch (phase) {
    case DIVERGENCE_SPLIT_PARTS:
        part(splits, split);
        break;
    case DIVERGENCE_SPLIT_ARRIVES:
        divergence_split_arrive(splits, split);
        break;
    case DIVERGENCE_SPLIT_JOINS:
        wait_at_join(splits, split);
        break;
    case DIVERGENCE_SPLIT_STOPS:
        wait_at_stop(splits, split);
        break;
    case DIVERGENCE_SPLIT_MERGES:
        divergence_split_merge_equals(splits, split);
        divergence_split_run_from(splits, split);
        break;
    case DIVERGENCE_SPLIT_ASKS:
        splits->drained(splits, split);
        break;
    default:
        assert(false); /* a split that drains has something to do then */
    }
}

void divergence_splits_ask(struct divergence_splits *splits, struct divergence_split *split) {
    divergence_split_begin(splits, split, DIVERGENCE_SPLIT_ASKS);
}

void divergence_splits_enter(struct divergence_splits *splits, struct divergence_split *self, uint64_t cycle) {
    splits->self = self;
    splits->cycle = cycle;
}

void divergence_splits_leave(struct divergence_splits *splits) {
    splits->self = NULL;
    divergence_splits_seat_queue(splits);
}

/* Instructions that change no pc. */
static void do_rows(struct divergence_splits *splits, struct divergence_split *split, const uint32_t *taken) {
    const struct exec_insn *insn = &splits->program->code[split->group.pc];
    const struct divergence_warp *warp = split->subdivision->warp;
    for (uint32_t i = 0; i < warp->n_rows; i++) {
        if (!taken[i])
            continue;
        splits->setup.cx->row = &warp->row[i]; /* whose lanes a fault is told of */
        if (insn->kind == EXEC_KIND_CALL_BUILTIN)
            exec_row_insn(splits->setup.cx, &warp->row[i], insn, taken[i]);
        else if (insn->kind == EXEC_KIND_TRAP)
            exec_fault_set(splits->setup.cx, EXEC_FAULT_TRAP, (unsigned)__builtin_ctz(taken[i]), 0, 0, "%s", "");
    }
    split->group.pc++;
    divergence_split_run_from(splits, split);
}

static void execute(struct divergence_splits *splits, struct divergence_split *split, const uint32_t *taken) {
    const struct exec_insn *insn = &splits->program->code[split->group.pc];
    if (insn->kind == EXEC_KIND_BRANCH) {
        branch(splits, split, taken);
    } else if (divergence_masks_are_empty(taken, rows_of(split))) {
        if (insn->kind == EXEC_KIND_BRANCH_INDEXED)
            count_branch(splits, split, false);
        split->group.pc++;
        divergence_split_run_from(splits, split);
    } else if (insn->kind == EXEC_KIND_BARRIER || divergence_is_row_sync(insn)) {
        divergence_split_synchronise(splits, split, taken);
    } else if (insn->kind == EXEC_KIND_EXIT) {
        end_threads(splits, split, taken);
    } else if (insn->kind == EXEC_KIND_RETURN) {
        return_from_call(splits, split, taken);
    } else if (insn->kind == EXEC_KIND_BRANCH_INDEXED || insn->kind == EXEC_KIND_CALL ||
               insn->kind == EXEC_KIND_CALL_INDIRECT) {
        use_stack(splits, split, taken);
    } else {
        do_rows(splits, split, taken);
    }
}

void divergence_splits_control(void *model, struct divergence_group *group, uint32_t pc, uint32_t mask,
                               uint64_t cycle) {
    struct divergence_splits *splits = model;
    struct divergence_split *split = (struct divergence_split *)group;
    const struct divergence_warp *warp = split->subdivision->warp;
    uint32_t taken[EXEC_MAX_ROWS];
    divergence_splits_enter(splits, split, cycle);
    taken[0] = mask;
    for (uint32_t i = 0; i < warp->n_rows && !group->row; i++)
        taken[i] = divergence_guard(&warp->row[i], &splits->program->code[pc], split->mask[i]);
    execute(splits, split, taken);
    divergence_splits_leave(splits);
}

void divergence_splits_reached(void *model, struct divergence_group *group, uint64_t cycle) {
    struct divergence_splits *splits = model;
    divergence_splits_enter(splits, (struct divergence_split *)group, cycle);
    divergence_split_run_from(splits, splits->self);
    divergence_splits_leave(splits);
}

void divergence_splits_resume(void *model, struct divergence_group *group, uint64_t cycle) {
    struct divergence_splits *splits = model;
    divergence_splits_enter(splits, (struct divergence_split *)group, cycle);
    act(splits, splits->self);
    divergence_splits_leave(splits);
}

void divergence_splits_refill(void *model, uint64_t cycle) {
    struct divergence_splits *splits = model;
    divergence_splits_enter(splits, NULL, cycle);
    divergence_splits_leave(splits);
}
