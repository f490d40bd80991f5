/* Splits and memory: instructions of large warps in sub-warps, and threads that run ahead of those that wait for data.
 * See splits.h.
 *
 * A large warp's accesses go row by row. To the SM each row is a separate access, and the SM can copy a scoreboard for
 * only one of them. So the split that runs ahead of a large warp starts with an empty scoreboard. That is right only if
 * nothing but these accesses was in flight, which is always so on barrel and switch-on-access machines. */
#include "divergence/splits/internal.h"

void divergence_splits_bundle(void *model, struct divergence_group *group, struct divergence_bundle *bundle,
                              uint64_t cycle) {
    struct divergence_splits *splits = model;
    struct divergence_split *split = (struct divergence_split *)group;
    const struct divergence_warp *warp = split->subdivision->warp;
    uint32_t packed[EXEC_MAX_ROWS];
    if (!split->is_issuing) {
        const struct divergence_subwarp_rules rules = {.memopt = true, .jumpopt = true, .n_lanes = splits->row_threads};
        divergence_subwarps_begin(&split->subwarps, &rules, &splits->program->code[group->pc], warp->row, warp->n_rows,
                                  split->mask);
        if (split->subwarps.shape == DIVERGENCE_SUBWARP_ROWS) {
            split->was_idle = !splits->setup.host->is_in_flight(splits->setup.sm, group, cycle);
            split->memory_pc = group->pc;
            split->is_answered = false;
            for (uint32_t i = 0; i < warp->n_rows; i++) {
                split->missing[i] = 0;
                split->last_row = split->subwarps.takes[i] ? i : split->last_row;
            }
        }
    }
    divergence_subwarps_next(&split->subwarps, splits->setup.cx, NULL, bundle, packed);
    bundle->pc = group->pc;
    bundle->tag = bundle->row ? (uint32_t)(bundle->row - warp->row) : 0;
    split->is_issuing = !bundle->is_last;
}

bool divergence_splits_note_memory(struct divergence_split *split, const struct divergence_access *access,
                                   uint32_t *missing) {
    const struct divergence_warp *warp = split->subdivision->warp;
    if (split->group.row) {
        missing[0] = access->missing;
        return true;
    }
    if (!access->row || access->pc != split->memory_pc)
        return false;
    uint32_t row = (uint32_t)(access->row - warp->row);
    split->missing[row] = access->missing;
    for (uint32_t i = 0; i < warp->n_rows; i++)
        missing[i] = split->missing[i];
    split->is_answered |= row == split->last_row;
    return split->is_answered;
}

/* The threads in `missing` stay in `from`, the others go to `to`. */
static void share(struct divergence_split *from, struct divergence_split *to, const uint32_t *missing) {
    for (uint32_t i = 0; i < from->subdivision->warp->n_rows; i++) {
        to->mask[i] = from->mask[i] & ~missing[i];
        from->mask[i] &= missing[i];
    }
    to->group.pc = from->group.pc;
    divergence_split_show(from);
    divergence_split_show(to);
}

static bool seat_ahead(struct divergence_splits_hook *hook, struct divergence_split *from,
                       struct divergence_split *to) {
    const struct divergence_setup *setup = &hook->splits->setup;
    if (from->group.row)
        return setup->host->splits->split(setup->sm, &from->group, &to->group, hook->cycle);
    return from->was_idle && setup->host->place(setup->sm, &to->group, hook->cycle);
}

/* No slot is free: the split waits for one, as those that branches make do (Meng 2010, 5.6). */
static bool queue_ahead(struct divergence_splits_hook *hook, struct divergence_split *from,
                        struct divergence_split *to) {
    const struct divergence_setup *setup = &hook->splits->setup;
    if (!hook->splits->rules.queues_ahead || setup->host->free_slots(setup->sm) || !from->group.row)
        return false;
    to->group.ready_cycle = setup->host->splits->answered_from(setup->sm, &from->group);
    if (!to->group.ready_cycle)
        return false;
    divergence_split_seat(hook, to);
    setup->host->wake(setup->sm, &from->group, hook->cycle);
    return true;
}

/* Returns whether some, but not all, of the split's threads are in the mask. */
static bool divides(const uint32_t *mask, const struct divergence_split *split) {
    uint32_t in = 0, out = 0;
    for (uint32_t i = 0; i < split->subdivision->warp->n_rows; i++) {
        in |= split->mask[i] & mask[i];
        out |= split->mask[i] & ~mask[i];
    }
    return in && out;
}

struct divergence_split *divergence_splits_run_ahead(struct divergence_splits_hook *hook, struct divergence_split *from,
                                                     const uint32_t *missing) {
    const struct divergence_splits *splits = hook->splits;
    struct divergence_subdivision *subdivision = from->subdivision;
    uint32_t pc = from->group.pc;
    bool can_run = from->phase == DIVERGENCE_SPLIT_RUNS && from->group.status == DIVERGENCE_RUNS && !from->is_issuing;
    bool would_stop = splits->rules.stops_at_branches && splits->next_stop[pc] == pc;
    if (!can_run || would_stop || !divides(missing, from))
        return NULL;
    if (!divergence_splits_have_room(splits, subdivision->warp, 1)) {
        splits->setup.counters->splits_refused++;
        return NULL;
    }
    struct divergence_split *to = divergence_split_new(hook, subdivision, from);
    share(from, to, missing);
    divergence_split_set_notify_pc(splits, from);
    divergence_split_set_notify_pc(splits, to);
    if (!seat_ahead(hook, from, to) && !queue_ahead(hook, from, to)) {
        for (uint32_t i = 0; i < subdivision->warp->n_rows; i++)
            from->mask[i] |= to->mask[i];
        divergence_split_drop(hook, to);
        divergence_split_show(from);
        splits->setup.counters->splits_refused++;
        return NULL;
    }
    divergence_subdivision_mark_apart(subdivision);
    splits->setup.counters->warp_splits++;
    return to;
}

void divergence_splits_reunite(struct divergence_splits_hook *hook, struct divergence_split *split) {
    if (split->phase != DIVERGENCE_SPLIT_RUNS || split->group.status != DIVERGENCE_RUNS || split->is_issuing)
        return;
    if (!divergence_split_merge_equals(hook, split))
        divergence_split_set_notify_pc(hook->splits, split);
}

void divergence_splits_take_in_finished(struct divergence_splits_hook *hook, struct divergence_split *split,
                                        uint32_t pc) {
    const struct divergence_setup *setup = &hook->splits->setup;
    bool is_behind_access = split->group.pc == pc + 1 && split->phase == DIVERGENCE_SPLIT_RUNS &&
                            split->group.status == DIVERGENCE_RUNS && !split->is_issuing;
    struct divergence_split *other = is_behind_access ? divergence_split_find_equal(hook, split) : NULL;
    if (!other)
        return;
    for (; other; other = divergence_split_find_equal(hook, split))
        divergence_split_merge(hook, split, other);
    divergence_split_set_notify_pc(hook->splits, split);
    setup->host->wake(setup->sm, &split->group, hook->cycle);
}

void divergence_splits_hold(struct divergence_splits_hook *hook, struct divergence_split *split) {
    split->phase = DIVERGENCE_SPLIT_HELD;
    divergence_split_unseat(hook, split);
    divergence_subdivision_look_after(hook, split->subdivision);
}

void divergence_splits_take_in(struct divergence_splits_hook *hook, struct divergence_split *split,
                               struct divergence_split *held) {
    divergence_split_merge(hook, split, held);
    divergence_split_set_notify_pc(hook->splits, split);
}
