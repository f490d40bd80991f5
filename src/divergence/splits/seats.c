/* The warp-split table, subdivisions, slots, and the queue of splits that have no slot. See splits.h. */
#include "base/memory.h"
#include "divergence/splits/internal.h"

/* --- the table --- */

/* Brings split_entry_cycles up to now; before each change of n_used. */
static void count_entries(struct divergence_splits *splits, uint64_t cycle) {
    splits->setup.counters->split_entry_cycles += splits->n_used * (cycle - splits->used_since);
    splits->used_since = cycle;
}

static void take_entry(struct divergence_splits_hook *hook, struct divergence_split *split) {
    struct divergence_splits *splits = hook->splits;
    if (split->entry >= 0)
        return;
    uint32_t at = 0;
    while (splits->table[at])
        at++;
    assert(at < splits->rules.n_entries);
    count_entries(splits, hook->cycle);
    splits->table[at] = split;
    split->entry = (int)at;
    splits->n_used++;
}

static void leave_entry(struct divergence_splits_hook *hook, struct divergence_split *split) {
    struct divergence_splits *splits = hook->splits;
    if (split->entry < 0)
        return;
    count_entries(splits, hook->cycle);
    splits->table[split->entry] = NULL;
    split->entry = -1;
    splits->n_used--;
}

bool divergence_splits_have_room(const struct divergence_splits *splits, const struct divergence_warp *warp,
                                 uint32_t n) {
    return splits->n_used + n + (warp->n_splits == 1) <= splits->rules.n_entries;
}

/* --- subdivisions --- */

struct divergence_subdivision *divergence_subdivision_new(struct divergence_splits *splits,
                                                          struct divergence_warp *warp,
                                                          struct divergence_subdivision *parent) {
    struct divergence_subdivision *subdivision = splits->free_subdivision;
    if (subdivision) {
        splits->free_subdivision = subdivision->next;
    } else {
        subdivision = base_allocate(1, sizeof *subdivision);
    }
    subdivision->warp = warp;
    subdivision->parent = parent;
    subdivision->next = warp->subdivision;
    warp->subdivision = subdivision;
    subdivision->split = NULL;
    subdivision->watch = (struct divergence_watch){.n_diverged = 0};
    subdivision->n_splits = subdivision->n_children = 0;
    memset(subdivision->joined, 0, warp->n_rows * sizeof *subdivision->joined);
    if (parent)
        parent->n_children++;
    return subdivision;
}

void divergence_subdivision_drop(struct divergence_splits *splits, struct divergence_subdivision *subdivision) {
    assert(!subdivision->n_splits && !subdivision->n_children);
    struct divergence_subdivision **at = &subdivision->warp->subdivision;
    while (*at != subdivision)
        at = &(*at)->next;
    *at = subdivision->next;
    if (subdivision->parent)
        subdivision->parent->n_children--;
    subdivision->next = splits->free_subdivision;
    splits->free_subdivision = subdivision;
}

static void attach(struct divergence_subdivision *subdivision, struct divergence_split *split) {
    struct divergence_split **at = &subdivision->split;
    while (*at)
        at = &(*at)->next;
    *at = split;
    split->next = NULL;
    split->subdivision = subdivision;
    subdivision->n_splits++;
}

static void detach(struct divergence_split *split) {
    struct divergence_split **at = &split->subdivision->split;
    while (*at != split)
        at = &(*at)->next;
    *at = split->next;
    split->subdivision->n_splits--;
    split->subdivision = NULL;
}

void divergence_split_move(struct divergence_split *split, struct divergence_subdivision *subdivision) {
    detach(split);
    attach(subdivision, split);
}

/* --- splits --- */

/* A split that is not in use and has left its slot, which happens only after the hook in which it ended. */
static struct divergence_split *find_free(struct divergence_splits *splits) {
    for (struct divergence_split **at = &splits->free_split; *at; at = &(*at)->next)
        if ((*at)->group.slot == DIVERGENCE_NO_SLOT) {
            struct divergence_split *found = *at;
            *at = found->next;
            return found;
        }
    struct divergence_split *made = base_allocate(1, sizeof *made);
    if (splits->n_pool == splits->pool_capacity) {
        splits->pool_capacity = splits->pool_capacity ? 2 * splits->pool_capacity : 64;
        splits->pool = base_grow(splits->pool, splits->pool_capacity, sizeof(struct divergence_split *));
    }
    splits->pool[splits->n_pool++] = made;
    made->group.slot = DIVERGENCE_NO_SLOT;
    made->entry = -1;
    return made;
}

struct divergence_split *divergence_split_new(struct divergence_splits_hook *hook,
                                              struct divergence_subdivision *subdivision,
                                              struct divergence_split *like) {
    struct divergence_split *split = find_free(hook->splits);
    struct divergence_warp *warp = subdivision->warp;
    split->phase = DIVERGENCE_SPLIT_RUNS;
    split->is_issuing = false;
    split->memory_pc = EXEC_NO_PC;
    split->n_passed = 0;
    memset(split->missing, 0, warp->n_rows * sizeof *split->missing);
    split->group = (struct divergence_group){
        .notify_pc = EXEC_NO_PC,
        .row = warp->n_rows == 1 ? warp->row : NULL,
        .status = DIVERGENCE_RUNS,
        .warp_id = warp->warp_id,
        .passed = like ? like->group.passed : 0,
        .home = warp->block,
        .slot = DIVERGENCE_NO_SLOT,
    };
    attach(subdivision, split);
    warp->n_splits++;
    if (like) {
        take_entry(hook, like);
        take_entry(hook, split);
    }
    return split;
}

static void leave_queue(struct divergence_splits *splits, struct divergence_split *split) {
    if (!split->is_queued)
        return;
    struct divergence_split **at = &splits->queue, *before = NULL;
    for (; *at != split; at = &(*at)->next_queued)
        before = *at;
    *at = split->next_queued;
    if (splits->queue_tail == split)
        splits->queue_tail = before;
    split->is_queued = false;
}

/* A warp that is one split again needs no entry. */
static void leave_last_entry(struct divergence_splits_hook *hook, struct divergence_warp *warp) {
    for (struct divergence_subdivision *subdivision = warp->subdivision; subdivision; subdivision = subdivision->next)
        if (subdivision->split)
            leave_entry(hook, subdivision->split);
}

void divergence_split_drop(struct divergence_splits_hook *hook, struct divergence_split *split) {
    struct divergence_splits *splits = hook->splits;
    struct divergence_warp *warp = split->subdivision->warp;
    divergence_split_unseat(hook, split);
    leave_entry(hook, split);
    detach(split);
    split->next = splits->free_split;
    splits->free_split = split;
    warp->n_splits--;
    if (warp->n_splits == 1)
        leave_last_entry(hook, warp);
}

/* --- slots --- */

static bool place(const struct divergence_splits_hook *hook, struct divergence_split *split) {
    return hook->splits->setup.host->place(hook->splits->setup.sm, &split->group, hook->cycle);
}

static void enqueue(struct divergence_splits *splits, struct divergence_split *split) {
    split->is_queued = true;
    split->next_queued = NULL;
    if (splits->queue)
        splits->queue_tail->next_queued = split;
    else
        splits->queue = split;
    splits->queue_tail = split;
}

void divergence_split_seat(struct divergence_splits_hook *hook, struct divergence_split *split) {
    const struct divergence_setup *setup = &hook->splits->setup;
    split->group.status = DIVERGENCE_RUNS;
    if (split == hook->self || split->is_queued)
        return;
    if (split->group.slot != DIVERGENCE_NO_SLOT)
        setup->host->wake(setup->sm, &split->group, hook->cycle);
    else if (hook->splits->queue || !place(hook, split))
        enqueue(hook->splits, split);
}

void divergence_split_unseat(struct divergence_splits_hook *hook, struct divergence_split *split) {
    const struct divergence_setup *setup = &hook->splits->setup;
    split->group.status = DIVERGENCE_ENDED;
    leave_queue(hook->splits, split);
    if (split != hook->self)
        setup->host->evict(setup->sm, &split->group, hook->cycle);
}

void divergence_splits_seat_queue(struct divergence_splits_hook *hook) {
    struct divergence_splits *splits = hook->splits;
    while (splits->queue && place(hook, splits->queue))
        leave_queue(splits, splits->queue);
}
