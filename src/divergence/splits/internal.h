/* Declarations for the files of splits.h only. */
#pragma once

#include <assert.h>
#include <string.h>

#include "divergence/splits/splits.h"

struct divergence_splits_block {
    struct divergence_warp *warp;
    uint32_t n_warps, n_rows;
    struct divergence_sync *sync;
};

static inline uint32_t divergence_split_rows(const struct divergence_split *split) {
    return split->subdivision->warp->n_rows;
}

static inline void divergence_split_copy(uint32_t *to, const uint32_t *mask, uint32_t n_rows) {
    memcpy(to, mask, n_rows * sizeof *to);
}

/* --- steps --- */

/* Notes a consequence of the running step. The step noted last is taken first, with all its consequences, before any
 * step that was noted earlier. */
static inline void divergence_splits_note(struct divergence_splits_hook *hook, struct divergence_splits_step step) {
    assert(hook->n_steps < DIVERGENCE_SPLITS_MAX_STEPS);
    hook->step[hook->n_steps++] = step;
}

static inline void divergence_split_then(struct divergence_splits_hook *hook, enum divergence_splits_step_kind kind,
                                         struct divergence_split *split) {
    divergence_splits_note(hook, (struct divergence_splits_step){.kind = kind, .split = split});
}

static inline void divergence_split_run(struct divergence_splits_hook *hook, struct divergence_split *split) {
    divergence_split_then(hook, DIVERGENCE_STEP_RUN, split);
}

static inline void divergence_subdivision_look_after(struct divergence_splits_hook *hook,
                                                     struct divergence_subdivision *subdivision) {
    divergence_splits_note(
        hook, (struct divergence_splits_step){.kind = DIVERGENCE_STEP_LOOK_AFTER, .subdivision = subdivision});
}

/* `spare`: a split without threads, which is dropped or continues with the next path; NULL: all splits have threads. */
static inline void divergence_subdivision_end_path(struct divergence_splits_hook *hook,
                                                   struct divergence_subdivision *subdivision,
                                                   struct divergence_split *spare) {
    divergence_splits_note(hook, (struct divergence_splits_step){
                                     .kind = DIVERGENCE_STEP_END_PATH, .split = spare, .subdivision = subdivision});
}

static inline void divergence_warp_then(struct divergence_splits_hook *hook, enum divergence_splits_step_kind kind,
                                        struct divergence_warp *warp) {
    divergence_splits_note(hook, (struct divergence_splits_step){.kind = kind, .warp = warp});
}

/* Takes steps until none is left. Models have divergence_splits_leave(), which seats the queue too. */
void divergence_splits_settle(struct divergence_splits_hook *hook);

/* --- seats.c: where splits live --- */

/* Returns a new split of the subdivision, without threads. It counts for the warp and in the table like `like`, another
 * split of the warp (NULL: it is the warp's first). */
struct divergence_split *divergence_split_new(struct divergence_splits_hook *hook,
                                              struct divergence_subdivision *subdivision,
                                              struct divergence_split *like);
/* Removes the split from its subdivision, table, queue and slot. It may then be used again. */
void divergence_split_drop(struct divergence_splits_hook *hook, struct divergence_split *split);
void divergence_split_move(struct divergence_split *split, struct divergence_subdivision *subdivision);
/* Returns whether the table has room for n more splits of this warp. */
bool divergence_splits_have_room(const struct divergence_splits *splits, const struct divergence_warp *warp,
                                 uint32_t n);

struct divergence_subdivision *divergence_subdivision_new(struct divergence_splits *splits,
                                                          struct divergence_warp *warp,
                                                          struct divergence_subdivision *parent);
void divergence_subdivision_drop(struct divergence_splits *splits, struct divergence_subdivision *subdivision);

/* The split runs: it stays in its slot, takes a free one, or queues. */
void divergence_split_seat(struct divergence_splits_hook *hook, struct divergence_split *split);
/* The split waits for others, and nothing of it is in flight: it leaves its slot. */
void divergence_split_unseat(struct divergence_splits_hook *hook, struct divergence_split *split);
/* Gives free slots to queued splits. */
void divergence_splits_seat_queue(struct divergence_splits_hook *hook);

/* --- splits.c: phases --- */

void divergence_split_set_notify_pc(const struct divergence_splits *splits, struct divergence_split *split);
/* Shows the SM the split's threads, in its group. */
void divergence_split_show(struct divergence_split *split);
/* `other` becomes part of `split`. */
void divergence_split_merge(struct divergence_splits_hook *hook, struct divergence_split *split,
                            struct divergence_split *other);
/* Returns another split of the same subdivision that has the same pc and is ready; NULL: none. */
struct divergence_split *divergence_split_find_equal(const struct divergence_splits_hook *hook,
                                                     const struct divergence_split *split);
/* Merges the split with all such splits. Returns true if it has to drain first. */
bool divergence_split_merge_equals(struct divergence_splits_hook *hook, struct divergence_split *split);
/* Merges it with all splits that wait in the same phase at its pc. Returns the split that stays: the hook's own if it
 * is one of them. */
struct divergence_split *divergence_split_merge_waiting(struct divergence_splits_hook *hook,
                                                        struct divergence_split *split);
/* Drops all splits of the subdivision but one, and returns that one: `wanted` if it is not NULL, otherwise the hook's
 * own if it is one of them. */
struct divergence_split *divergence_subdivision_keep_one(struct divergence_splits_hook *hook,
                                                         struct divergence_subdivision *subdivision,
                                                         struct divergence_split *wanted);
/* The threads of the stack's top have different pcs from now on. */
void divergence_subdivision_mark_apart(struct divergence_subdivision *subdivision);
/* The split enters a phase in which it drains. It acts now if nothing of it is in flight, otherwise at resume(). */
void divergence_split_begin(struct divergence_splits_hook *hook, struct divergence_split *split,
                            enum divergence_split_phase phase);

/* --- execute.c: control instructions --- */

/* The split parts at the branch at pc, or uses a stack if the table is full. */
void divergence_split_part(struct divergence_splits_hook *hook, struct divergence_split *split);
/* The step AFTER_EXIT. */
void divergence_splits_after_exit(struct divergence_splits_hook *hook, struct divergence_warp *warp);

/* --- split_sync.c: barriers and warp-wide instructions --- */

/* The threads in `taken` have reached the barrier or warp-wide instruction at pc. */
void divergence_split_synchronise(struct divergence_splits_hook *hook, struct divergence_split *split,
                                  const uint32_t *taken);
/* The threads in split->part arrive there. If its warp is subdivided, nothing of the split is in flight. */
void divergence_split_arrive(struct divergence_splits_hook *hook, struct divergence_split *split);
/* Returns whether all children of the subdivision only wait at barriers. */
bool divergence_subdivision_waits(const struct divergence_subdivision *subdivision);
/* If all splits and children of the subdivision wait, some at barriers or warp-wide instructions, other paths on its
 * stack may run. Returns false if nothing has changed. */
bool divergence_subdivision_give_way(struct divergence_splits_hook *hook, struct divergence_subdivision *subdivision);
/* Frees all threads that barriers and warp-wide instructions of the block have released. They run in the step FREE. */
void divergence_splits_free_released(struct divergence_splits_hook *hook, const struct divergence_block *place);
/* The steps FREE and WAIT_AT_SYNC. */
void divergence_splits_run_freed(struct divergence_splits_hook *hook, struct divergence_warp *warp);
void divergence_split_wait_at_sync(struct divergence_splits_hook *hook, struct divergence_split *split);
