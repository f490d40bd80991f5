/* The phases of a split, and how one leads to the next. See splits.h.
 *
 * The table shows the action of a split at an event, and its phase afterwards. "Drains" stands for the six phases PARTS
 * to ASKS. A split enters one of them for an action that needs all its results, and acts at once if nothing of it is in
 * flight.
 *
 *   phase      event                                       action                                       next phase
 *   ---------  ------------------------------------------  -------------------------------------------  --------------
 *   RUNS       at the post-dominator, alone on the stack   pops the path                                runs the rest
 *              at the post-dominator, with siblings        drains                                       JOINS
 *              at a stop (stops_at_branches), siblings     drains; a back-edge may be passed            STOPS, RUNS
 *              at a memory instruction, a ready sibling    merges, or drains to do so (by_pc)           RUNS, MERGES
 *              where a ready sibling stands                merges if nothing is in flight (by_pc)       RUNS
 *              has asked for data, a sibling has them      the sibling merges into it (by_pc)           RUNS
 *              a branch divides it, and it may part        drains                                       PARTS
 *              a call, or any other divergence             pushes paths; with siblings, on a new stack  runs the rest
 *              barrier or warp-wide instruction            drains if the warp is subdivided             ARRIVES
 *              its last thread exits or returns            is dropped if siblings still run             runs the rest
 *              (slip) some of its threads miss             the others run ahead in a new split          BEHIND
 *              (slip) an access ends where others wait     drains                                       ASKS
 *   PARTS      has drained                                 becomes two splits; table full: as above     RUNS
 *   ARRIVES    has drained                                 leaves its slot, unless all have come        AT_SYNC, RUNS
 *              has drained, a barrier, alone               its entry waits, a sibling path runs         RUNS, AT_ENTRY
 *   JOINS      has drained                                 leaves its slot                              AT_JOIN
 *   STOPS      has drained                                 leaves its slot                              AT_STOP
 *   MERGES     has drained                                 merges with what is ready at its pc          RUNS
 *   ASKS       has drained                                 splits->drained() decides                    RUNS, HELD
 *   AT_JOIN    the last split of the path joins            the stack pops; one split stays              runs the rest
 *   AT_STOP    no sibling can continue                     merges with those at its pc, goes past it    RUNS
 *   AT_SYNC    the barrier or instruction completes        merges with those freed at its pc            FREED, RUNS
 *              no sibling can continue, other paths wait   becomes a waiting entry of the stack         runs the rest
 *   AT_ENTRY   a barrier that an entry waits at completes  the entry runs                               runs the rest
 *   BEHIND     its data are there                          drains                                       ASKS
 *   HELD       a sibling reaches its pc                    is merged into it                            -
 *              no sibling can continue                     merges with those held at its pc             RUNS
 *
 * "Runs the rest": one split continues with the top of the stack (RUNS) or, if every path on it waits at barriers,
 * waits for them (AT_ENTRY). If nothing is left on the stack of a child subdivision, its split returns to the parent
 * and joins there.
 *
 * Meng 2010, 4.4: while a warp is subdivided its stack is not touched, so every divergent branch subdivides further.
 * Only an undivided warp can push instead. Where the paper is silent:
 * - If the table is full and a split with siblings diverges, it serialises the two paths on a stack of its own. It does
 *   the same at calls and indexed branches, which never subdivide.
 * - If one side of a branch goes straight to the post-dominator on top of the stack, the branch does not subdivide an
 *   undivided warp: that side would only wait there.
 * - At a barrier each split arrives separately. Those that waited at the same instruction are one split afterwards.
 *   Warp-wide instructions execute when the lanes that they name have come (sync.h), with the same effect.
 * - A return removes threads from the running call, as with the stack alone: they wait in the caller's entry. */
#include "divergence/splits/splits.h"

#include "divergence/parts/threads.h"
#include "divergence/splits/internal.h"

/* The pc of an entry whose threads have different ones: never a reconvergence point. */
enum { APART = EXEC_NO_PC - 1 };

void divergence_split_show(struct divergence_split *split) {
    if (split->group.row)
        split->group.mask = split->mask[0];
    else
        split->group.n_threads = divergence_masks_count(split->mask, divergence_split_rows(split));
}

static bool is_in_flight(const struct divergence_splits_hook *hook, const struct divergence_split *split) {
    return hook->splits->setup.host->is_in_flight(hook->splits->setup.sm, &split->group, hook->cycle);
}

void divergence_subdivision_mark_apart(struct divergence_subdivision *subdivision) {
    divergence_stack_top(&subdivision->stack)->pc = APART;
}

/* --- merging --- */

struct divergence_split *divergence_split_find_equal(const struct divergence_splits_hook *hook,
                                                     const struct divergence_split *split) {
    for (struct divergence_split *other = split->subdivision->split; other; other = other->next)
        if (other != split && other != hook->self && other->group.pc == split->group.pc &&
            other->phase == DIVERGENCE_SPLIT_RUNS && !other->is_issuing && !is_in_flight(hook, other))
            return other;
    return NULL;
}

void divergence_split_merge(struct divergence_splits_hook *hook, struct divergence_split *split,
                            struct divergence_split *other) {
    assert(other != hook->self && other->subdivision == split->subdivision);
    for (uint32_t i = 0; i < divergence_split_rows(split); i++)
        split->mask[i] |= other->mask[i];
    divergence_split_drop(hook, other);
    divergence_split_show(split);
    hook->splits->setup.counters->merges++;
}

static void drain(struct divergence_splits_hook *hook, struct divergence_split *split,
                  enum divergence_split_phase phase) {
    split->phase = phase;
    split->group.status = DIVERGENCE_DRAINS;
    if (split != hook->self)
        hook->splits->setup.host->wake(hook->splits->setup.sm, &split->group, hook->cycle);
}

bool divergence_split_merge_equals(struct divergence_splits_hook *hook, struct divergence_split *split) {
    for (struct divergence_split *other; (other = divergence_split_find_equal(hook, split));) {
        if (is_in_flight(hook, split)) {
            drain(hook, split, DIVERGENCE_SPLIT_MERGES);
            return true;
        }
        divergence_split_merge(hook, split, other);
    }
    return false;
}

struct divergence_split *divergence_split_merge_waiting(struct divergence_splits_hook *hook,
                                                        struct divergence_split *split) {
    for (struct divergence_split *other = split->subdivision->split, *next; other; other = next) {
        next = other->next;
        if (other == split || other->phase != split->phase || other->group.pc != split->group.pc)
            continue;
        if (other == hook->self) {
            divergence_split_merge(hook, other, split);
            split = other;
            next = other->next;
        } else {
            divergence_split_merge(hook, split, other);
        }
    }
    return split;
}

struct divergence_split *divergence_subdivision_keep_one(struct divergence_splits_hook *hook,
                                                         struct divergence_subdivision *subdivision,
                                                         struct divergence_split *wanted) {
    struct divergence_split *keeper = wanted ? wanted : subdivision->split;
    for (struct divergence_split *split = subdivision->split; split && !wanted; split = split->next)
        keeper = split == hook->self ? split : keeper;
    for (struct divergence_split *split = subdivision->split, *next; split; split = next) {
        next = split->next;
        if (split != keeper)
            divergence_split_drop(hook, split);
    }
    return keeper;
}

/* --- actions of a split that has drained --- */

static bool have_all_joined(const struct divergence_subdivision *subdivision) {
    return divergence_masks_are_equal(subdivision->joined, divergence_stack_top(&subdivision->stack)->mask,
                                      subdivision->warp->n_rows);
}

static void wait_at_join(struct divergence_splits_hook *hook, struct divergence_split *split) {
    struct divergence_subdivision *subdivision = split->subdivision;
    split->phase = DIVERGENCE_SPLIT_AT_JOIN;
    divergence_split_unseat(hook, split);
    for (uint32_t i = 0; i < subdivision->warp->n_rows; i++)
        subdivision->joined[i] |= split->mask[i];
    if (have_all_joined(subdivision))
        divergence_subdivision_end_path(hook, subdivision, NULL);
    else
        divergence_subdivision_look_after(hook, subdivision);
}

static void wait_at_stop(struct divergence_splits_hook *hook, struct divergence_split *split) {
    split->phase = DIVERGENCE_SPLIT_AT_STOP;
    divergence_split_unseat(hook, split);
    divergence_subdivision_look_after(hook, split->subdivision);
}

static void act(struct divergence_splits_hook *hook, struct divergence_split *split,
                enum divergence_split_phase phase) {
    split->phase = DIVERGENCE_SPLIT_RUNS;
    split->group.status = DIVERGENCE_RUNS;
    switch (phase) {
    case DIVERGENCE_SPLIT_PARTS:
        divergence_split_part(hook, split);
        break;
    case DIVERGENCE_SPLIT_ARRIVES:
        divergence_split_arrive(hook, split);
        break;
    case DIVERGENCE_SPLIT_JOINS:
        wait_at_join(hook, split);
        break;
    case DIVERGENCE_SPLIT_STOPS:
        wait_at_stop(hook, split);
        break;
    case DIVERGENCE_SPLIT_MERGES:
        divergence_split_merge_equals(hook, split);
        divergence_split_run(hook, split);
        break;
    case DIVERGENCE_SPLIT_ASKS:
        hook->splits->drained(hook, split);
        break;
    default:
        assert(false); /* a split drains for one of these */
    }
}

void divergence_split_begin(struct divergence_splits_hook *hook, struct divergence_split *split,
                            enum divergence_split_phase phase) {
    if (is_in_flight(hook, split))
        drain(hook, split, phase);
    else
        act(hook, split, phase);
}

void divergence_splits_ask(struct divergence_splits_hook *hook, struct divergence_split *split) {
    divergence_split_begin(hook, split, DIVERGENCE_SPLIT_ASKS);
}

/* --- the steps RUN and PASS_STOP: where a split continues --- */

static void consider(uint32_t *notify_pc, uint32_t pc, uint32_t at) {
    if (at > pc && at < *notify_pc)
        *notify_pc = at;
}

/* The places of siblings: a split that arrives there merges with those that are ready. */
static void consider_siblings(uint32_t *notify_pc, const struct divergence_split *split) {
    for (const struct divergence_split *other = split->subdivision->split; other; other = other->next)
        if (other != split && other->phase == DIVERGENCE_SPLIT_RUNS)
            consider(notify_pc, split->group.pc, other->group.pc);
}

/* The split stays at its pc until it is picked. Siblings that arrive there in the meantime stop for it. */
static void show_to_siblings(const struct divergence_split *split) {
    for (struct divergence_split *other = split->subdivision->split; other; other = other->next)
        if (other != split && other->phase == DIVERGENCE_SPLIT_RUNS)
            consider(&other->group.notify_pc, other->group.pc, split->group.pc);
}

void divergence_split_set_notify_pc(const struct divergence_splits *splits, struct divergence_split *split) {
    const struct divergence_subdivision *subdivision = split->subdivision;
    uint32_t pc = split->group.pc, notify_pc = EXEC_NO_PC;
    consider(&notify_pc, pc, divergence_stack_top(&subdivision->stack)->reconvergence);
    if (!divergence_splits_is_sole(subdivision)) {
        if (splits->rules.stops_at_branches)
            consider(&notify_pc, pc, splits->next_stop[pc + 1]);
        if (splits->rules.by_pc) {
            consider(&notify_pc, pc, splits->next_memory[pc + 1]);
            consider_siblings(&notify_pc, split);
        }
    }
    split->group.notify_pc = notify_pc;
}

/* Returns whether the split is at a back-edge that it need not stop at: all its threads stay in the loop, and the
 * others will do the same in this iteration. */
static bool passes_back_edge(const struct divergence_splits *splits, const struct divergence_split *split) {
    uint32_t pc = split->group.pc;
    const struct exec_row *row = split->group.row;
    const struct exec_insn *insn = &splits->program->code[pc];
    bool is_uniform_back_edge = insn->kind == EXEC_KIND_BRANCH && insn->flags & EXEC_FLAG_UNIFORM && insn->target <= pc;
    return splits->rules.passes_back_edges && row && is_uniform_back_edge &&
           divergence_guard(row, insn, split->group.mask) == split->group.mask;
}

/* Merges the split with siblings that are ready at its pc. Returns true if it drains first, which happens only at an
 * access to memory. Elsewhere nothing may be in flight: splits meet "without stalling any of them" (4.5). */
static bool merges_here(struct divergence_splits_hook *hook, struct divergence_split *split) {
    bool is_at_access = hook->splits->next_memory[split->group.pc] == split->group.pc;
    return (is_at_access || !is_in_flight(hook, split)) && divergence_split_merge_equals(hook, split);
}

static void run(struct divergence_splits_hook *hook, struct divergence_split *split, bool passes_stop) {
    const struct divergence_splits *splits = hook->splits;
    struct divergence_subdivision *subdivision = split->subdivision;
    struct divergence_entry *top = divergence_stack_top(&subdivision->stack);
    uint32_t pc = split->group.pc;
    split->phase = DIVERGENCE_SPLIT_RUNS;
    split->group.status = DIVERGENCE_RUNS;
    divergence_split_show(split);
    if (divergence_splits_is_sole(subdivision)) {
        top->pc = pc;
        if (pc == top->reconvergence) {
            divergence_subdivision_end_path(hook, subdivision, split);
            return;
        }
    } else if (pc == top->reconvergence) {
        divergence_split_begin(hook, split, DIVERGENCE_SPLIT_JOINS);
        return;
    } else if (splits->rules.stops_at_branches && splits->next_stop[pc] == pc && !passes_stop &&
               !passes_back_edge(splits, split)) {
        divergence_split_begin(hook, split, DIVERGENCE_SPLIT_STOPS);
        return;
    } else if (splits->rules.by_pc && merges_here(hook, split)) {
        return;
    }
    divergence_split_set_notify_pc(splits, split);
    if (splits->rules.by_pc && split != hook->self)
        show_to_siblings(split);
    divergence_split_seat(hook, split);
}

/* --- the steps END_PATH and RUN_STACK: lower entries of the stack continue --- */

/* Nothing, while threads of other splits are still on the path. */
static void end_path(struct divergence_splits_hook *hook, struct divergence_subdivision *subdivision,
                     struct divergence_split *spare) {
    struct divergence_entry *top = divergence_stack_top(&subdivision->stack);
    if (!divergence_splits_is_sole(subdivision) && !have_all_joined(subdivision)) {
        divergence_split_drop(hook, spare);
        divergence_subdivision_look_after(hook, subdivision);
        return;
    }
    struct divergence_split *keeper = divergence_subdivision_keep_one(hook, subdivision, spare);
    if (!divergence_masks_are_empty(top->mask, subdivision->warp->n_rows))
        hook->splits->setup.counters->reconvergences++;
    top->pc = top->reconvergence;
    memset(subdivision->joined, 0, subdivision->warp->n_rows * sizeof *subdivision->joined);
    divergence_stack_pop_finished(&subdivision->stack);
    divergence_split_then(hook, DIVERGENCE_STEP_RUN_STACK, keeper);
}

/* Every path on the stack waits at barriers. */
static void wait_at_entry(struct divergence_splits_hook *hook, struct divergence_split *split) {
    struct divergence_subdivision *subdivision = split->subdivision;
    split->phase = DIVERGENCE_SPLIT_AT_ENTRY;
    if (subdivision->warp->n_splits > 1)
        divergence_split_unseat(hook, split);
    else if (split->group.slot != DIVERGENCE_NO_SLOT)
        split->group.status = DIVERGENCE_WAITS; /* an undivided warp keeps its slot */
    if (subdivision->parent)
        divergence_subdivision_look_after(hook, subdivision->parent);
}

static void run_top(struct divergence_splits_hook *hook, struct divergence_split *split) {
    struct divergence_subdivision *subdivision = split->subdivision;
    bool waits = divergence_stack_top(&subdivision->stack)->is_waiting && !divergence_stack_yield(&subdivision->stack);
    const struct divergence_entry *top = divergence_stack_top(&subdivision->stack);
    divergence_split_copy(split->mask, top->mask, subdivision->warp->n_rows);
    split->group.pc = top->pc;
    divergence_split_show(split);
    if (waits) {
        wait_at_entry(hook, split);
        return;
    }
    if (subdivision->parent && subdivision->stack.depth == 1) { /* its paths have met */
        divergence_split_move(split, subdivision->parent);
        divergence_subdivision_drop(hook->splits, subdivision);
    }
    divergence_split_run(hook, split);
}

static void end_warp(struct divergence_splits_hook *hook, struct divergence_split *split) {
    struct divergence_subdivision *subdivision = split->subdivision;
    struct divergence_warp *warp = subdivision->warp;
    divergence_split_drop(hook, split);
    divergence_subdivision_drop(hook->splits, subdivision);
    divergence_free_warp_id(&hook->splits->warp_ids, warp->warp_id);
    warp->is_live = false;
}

/* The stack of a child subdivision is empty: its split is the parent's again. */
static void return_to_parent(struct divergence_splits_hook *hook, struct divergence_split *split) {
    struct divergence_subdivision *child = split->subdivision;
    uint32_t n_rows = child->warp->n_rows;
    /* The entry that was popped last still has the threads that reached its end. */
    divergence_split_copy(split->mask, divergence_stack_at(&child->stack, 0)->mask, n_rows);
    divergence_split_move(split, child->parent);
    divergence_subdivision_drop(hook->splits, child);
    if (divergence_masks_are_empty(split->mask, n_rows))
        divergence_subdivision_end_path(hook, split->subdivision, split);
    else
        wait_at_join(hook, split);
}

static void run_stack(struct divergence_splits_hook *hook, struct divergence_split *split) {
    if (split->subdivision->stack.depth)
        run_top(hook, split);
    else if (split->subdivision->parent)
        return_to_parent(hook, split);
    else
        end_warp(hook, split);
}

/* --- the step LOOK_AFTER: splits that wait until the others cannot continue --- */

static bool can_continue(const struct divergence_split *split) {
    return split->phase <= DIVERGENCE_SPLIT_ASKS || split->phase == DIVERGENCE_SPLIT_FREED;
}

/* Returns whether a split waits for its data at this pc (EXEC_NO_PC: anywhere). */
static bool is_behind_at(const struct divergence_subdivision *subdivision, uint32_t pc) {
    for (const struct divergence_split *split = subdivision->split; split; split = split->next)
        if (split->phase == DIVERGENCE_SPLIT_BEHIND && (pc == EXEC_NO_PC || split->group.pc == pc))
            return true;
    return false;
}

/* A split that is held, and not for one that is behind at the same pc. */
static struct divergence_split *find_held(const struct divergence_subdivision *subdivision) {
    struct divergence_split *split = subdivision->split;
    while (split && (split->phase != DIVERGENCE_SPLIT_HELD || is_behind_at(subdivision, split->group.pc)))
        split = split->next;
    return split;
}

static struct divergence_split *find_stopped(const struct divergence_subdivision *subdivision) {
    struct divergence_split *split = subdivision->split;
    while (split && split->phase != DIVERGENCE_SPLIT_AT_STOP)
        split = split->next;
    return split;
}

static void look_after(struct divergence_splits_hook *hook, struct divergence_subdivision *subdivision) {
    for (const struct divergence_split *split = subdivision->split; split; split = split->next)
        if (can_continue(split))
            return;
    if (subdivision->n_children && !divergence_subdivision_waits(subdivision))
        return;
    struct divergence_split *next = find_held(subdivision);
    if (!next && is_behind_at(subdivision, EXEC_NO_PC))
        return;
    if (next || (next = find_stopped(subdivision)))
        divergence_split_then(hook, DIVERGENCE_STEP_PASS_STOP, divergence_split_merge_waiting(hook, next));
    else if (!divergence_subdivision_give_way(hook, subdivision) && subdivision->parent)
        divergence_subdivision_look_after(hook, subdivision->parent);
}

/* --- steps and hooks --- */

static void take_step(struct divergence_splits_hook *hook, const struct divergence_splits_step *step) {
    switch (step->kind) {
    case DIVERGENCE_STEP_RUN:
        run(hook, step->split, false);
        break;
    case DIVERGENCE_STEP_PASS_STOP:
        run(hook, step->split, true);
        break;
    case DIVERGENCE_STEP_END_PATH:
        end_path(hook, step->subdivision, step->split);
        break;
    case DIVERGENCE_STEP_RUN_STACK:
        run_stack(hook, step->split);
        break;
    case DIVERGENCE_STEP_LOOK_AFTER:
        look_after(hook, step->subdivision);
        break;
    case DIVERGENCE_STEP_WAIT_AT_SYNC:
        divergence_split_wait_at_sync(hook, step->split);
        break;
    case DIVERGENCE_STEP_FREE:
        divergence_splits_run_freed(hook, step->warp);
        break;
    case DIVERGENCE_STEP_AFTER_EXIT:
        divergence_splits_after_exit(hook, step->warp);
        break;
    }
}

void divergence_splits_settle(struct divergence_splits_hook *hook) {
    while (hook->n_steps) {
        struct divergence_splits_step step = hook->step[--hook->n_steps];
        take_step(hook, &step);
    }
}

void divergence_splits_enter(struct divergence_splits_hook *hook, struct divergence_splits *splits,
                             struct divergence_split *self, uint64_t cycle) {
    hook->splits = splits;
    hook->self = self;
    hook->cycle = cycle;
    hook->n_steps = 0;
}

void divergence_splits_leave(struct divergence_splits_hook *hook) {
    divergence_splits_settle(hook);
    hook->self = NULL;
    divergence_splits_seat_queue(hook);
}

void divergence_splits_reached(void *model, struct divergence_group *group, uint64_t cycle) {
    struct divergence_splits_hook hook;
    divergence_splits_enter(&hook, model, (struct divergence_split *)group, cycle);
    divergence_split_run(&hook, hook.self);
    divergence_splits_leave(&hook);
}

void divergence_splits_resume(void *model, struct divergence_group *group, uint64_t cycle) {
    struct divergence_splits_hook hook;
    divergence_splits_enter(&hook, model, (struct divergence_split *)group, cycle);
    act(&hook, hook.self, hook.self->phase);
    divergence_splits_leave(&hook);
}

void divergence_splits_refill(void *model, uint64_t cycle) {
    struct divergence_splits_hook hook;
    divergence_splits_enter(&hook, model, NULL, cycle);
    divergence_splits_leave(&hook);
}
