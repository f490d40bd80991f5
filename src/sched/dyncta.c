/* Dynamic block scheduling: the number of blocks that run on an SM follows the contention for memory.
 *
 * Source: Kayiran, Jog, Kandemir and Das, Neither More Nor Less: Optimizing Thread-Level Parallelism for GPGPUs, PACT
 * 2013 (DYNCTA).
 * - Each SM starts with half of the blocks that fit (rounded down, at least one).
 * - After each `window` (2048) cycles it looks at two counts of these cycles: those in which all warps waited for
 *   memory, and those in which no warp waited for memory, but none had an instruction to execute either (idle cycles).
 * - At least `idle` (16) idle cycles: one block more may run.
 * - Otherwise fewer than `low` (128) cycles of waiting for memory: one block more.
 * - Otherwise at least `high` (384) cycles of waiting for memory: one block less.
 * - If more blocks are on the SM than may run, those that started last are paused. A block that ends is not replaced
 *   then.
 *
 * Nobody has compared these rules with the full text yet (docs/schedulers.md).
 *
 * Left open by the paper, or different here:
 * - A warp waits for memory if it waits for data, or if its next instruction accesses memory and the load/store unit
 *   does not take it: where memory is contended, most warps wait in this way.
 * - An SM is idle if all its warps wait at barriers or joins, or if it has none. A cycle in which a warp waits for a
 *   short result, for its next instruction or for another unit is neither idle nor a wait for memory.
 * - Warps of paused blocks issue only if no warp of the other blocks can, so that paused blocks end even if other
 * blocks wait for them.
 * - Otherwise the order is that of gto.
 * - The counts are those of the SM, whatever the number of its schedulers. */
#include <stdio.h>

#include "sched/internal.h"

struct options {
    uint32_t window, idle, low, high;
};

static const struct config_plugin_option option_table[] = {
    {"window", CONFIG_PLUGIN_UINT, offsetof(struct options, window), 2048, 1, UINT32_MAX, NULL,
     "cycles between two decisions"},
    {"idle", CONFIG_PLUGIN_UINT, offsetof(struct options, idle), 16, 0, UINT32_MAX, NULL,
     "idle cycles of a window that ask for another block"},
    {"low", CONFIG_PLUGIN_UINT, offsetof(struct options, low), 128, 0, UINT32_MAX, NULL,
     "cycles of a window that wait for memory, below which another block may run"},
    {"high", CONFIG_PLUGIN_UINT, offsetof(struct options, high), 384, 0, UINT32_MAX, NULL,
     "cycles of a window that wait for memory, from which on a block less may run"},
    {0},
};

/* What an SM does in a cycle in which it issues nothing. */
enum activity { BUSY, WAITS_FOR_MEMORY, IDLE };

struct dyncta {
    struct options options;
    struct sched_greedy greedy;
    uint32_t n_allowed; /* blocks that may run; 0: not decided yet */
    uint64_t window_began;
    uint64_t last_cycle;                      /* up to which cycles are counted */
    enum activity activity;                   /* after that cycle */
    bool has_issued;                          /* since then */
    uint64_t n_idle, n_memory;                /* cycles of this window */
    struct sched_set paused;                  /* warps of paused blocks */
    struct sched_set member[SCHED_MAX_SLOTS]; /* warps by block */
    uint64_t block_age[SCHED_MAX_SLOTS];      /* of the block's first warp */
};

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)n_slots;
    ((struct dyncta *)state)->options = *(const struct options *)options;
}

/* ---- Pausing ----------------------------------------------------------------------------------------------------- */

/* Pauses the youngest blocks beyond the number that may run. */
static void pause_blocks(struct dyncta *dyncta) {
    dyncta->paused = (struct sched_set){{0}};
    for (uint32_t block = 0; dyncta->n_allowed && block < SCHED_MAX_SLOTS; block++) {
        uint32_t n_older = 0;
        if (sched_is_empty(&dyncta->member[block]))
            continue;
        for (uint32_t other = 0; other < SCHED_MAX_SLOTS; other++)
            n_older += !sched_is_empty(&dyncta->member[other]) && dyncta->block_age[other] < dyncta->block_age[block];
        if (n_older < dyncta->n_allowed)
            continue;
        for (int word = 0; word < SCHED_WORDS; word++)
            dyncta->paused.word[word] |= dyncta->member[block].word[word];
    }
}

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct dyncta *dyncta = state;
    uint32_t block = view->slot[slot].block;
    sched_greedy_arrive(&dyncta->greedy, view, slot);
    if (sched_is_empty(&dyncta->member[block]))
        dyncta->block_age[block] = view->slot[slot].age;
    sched_add(&dyncta->member[block], slot);
    pause_blocks(dyncta);
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    struct dyncta *dyncta = state;
    sched_greedy_leave(&dyncta->greedy, view, slot);
    sched_remove(&dyncta->member[view->slot[slot].block], slot);
    pause_blocks(dyncta);
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    const struct dyncta *dyncta = state;
    struct sched_set running = sched_and_not(candidates, &dyncta->paused);
    return sched_greedy_pick(&dyncta->greedy, view, sched_is_empty(&running) ? candidates : &running);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    struct dyncta *dyncta = state;
    sched_greedy_issued(&dyncta->greedy, view, slot);
    dyncta->has_issued = true;
}

/* ---- The number of blocks ---------------------------------------------------------------------------------------- */

static enum activity activity_now(const struct sched_view *view) {
    struct sched_set refused = sched_and(view->ready, view->next_long); /* none of them has issued in this cycle */
    struct sched_set awake = sched_and_not(view->occupied, view->waits_long);
    awake = sched_and_not(&awake, view->pending);
    awake = sched_and_not(&awake, &refused);
    if (!sched_is_empty(&awake))
        return BUSY;
    bool waits = sched_intersect(view->occupied, view->waits_long) || !sched_is_empty(&refused);
    return waits ? WAITS_FOR_MEMORY : IDLE;
}

static void count(struct dyncta *dyncta, enum activity activity, uint64_t cycles) {
    dyncta->n_idle += activity == IDLE ? cycles : 0;
    dyncta->n_memory += activity == WAITS_FOR_MEMORY ? cycles : 0;
}

/* Counts the cycles up to this one. An SM that was not asked since last_cycle slept, and its warps waited as before. */
static void count_cycles(struct dyncta *dyncta, const struct sched_view *view) {
    enum activity now = activity_now(view);
    if (view->cycle > dyncta->last_cycle) {
        count(dyncta, dyncta->activity, view->cycle - dyncta->last_cycle - 1);
        if (!dyncta->has_issued)
            count(dyncta, now, 1);
    }
    dyncta->last_cycle = view->cycle;
    dyncta->activity = now;
    dyncta->has_issued = false;
}

static void decide(struct dyncta *dyncta, const struct sched_view *view) {
    const struct options *options = &dyncta->options;
    if (dyncta->n_idle >= options->idle || dyncta->n_memory < options->low)
        dyncta->n_allowed += dyncta->n_allowed < view->most_blocks;
    else if (dyncta->n_memory >= options->high)
        dyncta->n_allowed -= dyncta->n_allowed > 1;
    dyncta->n_idle = dyncta->n_memory = 0;
    dyncta->window_began = view->cycle;
    pause_blocks(dyncta);
}

static uint32_t blocks(void *state, const struct sched_view *view) {
    struct dyncta *dyncta = state;
    if (!dyncta->n_allowed) { /* before the first block */
        dyncta->n_allowed = view->most_blocks / 2 ? view->most_blocks / 2 : 1;
        dyncta->window_began = dyncta->last_cycle = view->cycle;
        dyncta->activity = BUSY; /* no block has arrived yet */
        return dyncta->n_allowed;
    }
    count_cycles(dyncta, view);
    if (view->cycle - dyncta->window_began >= dyncta->options.window)
        decide(dyncta, view);
    return dyncta->n_allowed;
}

static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint32_t places = machine->sm.blocks;
    snprintf(
        formula, size,
        "ours: two counters and a clock of 12 bits, the number of blocks in 5 bits, and a flag for each of %u blocks",
        places);
    return 3 * 12 + 5 + places;
}

const struct sched_ops sched_dyncta = {
    .name = "dyncta",
    .help = "as many blocks on an SM as memory can serve, decided in each window; otherwise gto",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct dyncta),
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
    .cost_bits = cost_bits,
    .has_one_state = true,
    .blocks = blocks,
};
