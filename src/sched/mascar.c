/* Memory-aware scheduling: while memory is saturated, one warp at a time accesses it, so that this warp's data arrives
 * soon and it can compute while others wait. Loads that memory refuses wait aside, so that others can hit in the L1.
 *
 * Source: Sethia, Jamshidi and Mahlke, Mascar: Speeding up GPU Warps by Reducing Memory Pitstops, HPCA 2015.
 * - Memory is saturated when the L1's resources for misses are used up.
 * - While it is not saturated, all warps have equal priority.
 * - While it is saturated, only the owner warp may issue memory instructions, and it goes first. The other warps may
 *   compute. The owner gives up the ownership when it needs data that it waits for.
 * - Cache access re-execution: a load that memory refuses because of saturation goes to a queue of `queue` (32) loads
 * and is executed again later. Loads after it look into the L1 meanwhile.
 *
 * Nobody has seen the full text yet: the abstract states saturation, priority for one warp's requests, and limited
 * re-execution (docs/schedulers.md). The rest follows our knowledge of the paper.
 *
 * Left open, or ours:
 * - Memory is saturated if at least `full` (90) percent of the L1's MSHRs are in use, or while it refuses an access.
 * - Equal priority is round robin, or with order=gto greedy then oldest. The same order decides among the warps other
 *   than the owner.
 * - The next owner is the oldest warp that is ready to access memory. An owner that waits for others gives up the
 *   ownership, too.
 * - Only loads wait aside. They are tried again in their order when the load/store queue is empty, or when no more may
 *   wait aside (sm/ldst.c).
 * - With several schedulers, an SM has one owner. */
#include <stdio.h>

#include "sched/internal.h"

enum { ORDER_LRR, ORDER_GTO };

struct options {
    uint32_t full, queue, order;
};

static const struct config_plugin_option option_table[] = {
    {"full", CONFIG_PLUGIN_UINT, offsetof(struct options, full), 90, 1, 101, NULL,
     "percent of the MSHRs in use at which memory is saturated; 101: only while it refuses an access"},
    {"queue", CONFIG_PLUGIN_UINT, offsetof(struct options, queue), 32, 0, SCHED_MOST_ASIDE, NULL,
     "refused loads that may wait for their re-execution; 0: none"},
    {"order", CONFIG_PLUGIN_CHOICE, offsetof(struct options, order), ORDER_LRR, 0, 0, "lrr|gto",
     "order of warps of equal priority"},
    {0},
};

struct mascar {
    struct options options;
    int owner; /* slot, or SCHED_NONE */
    struct sched_greedy greedy;
    uint32_t turn[CONFIG_MAX_SCHEDULERS]; /* the slot after the last issued */
};

static void start(void *state, const void *options, uint32_t n_slots) {
    struct mascar *mascar = state;
    (void)n_slots;
    mascar->options = *(const struct options *)options;
    mascar->owner = SCHED_NONE;
}

static bool is_saturated(const struct mascar *mascar, const struct sched_view *view) {
    const struct sched_pressure *pressure = view->pressure;
    return pressure->is_refused ||
           (uint64_t)pressure->mshrs_used * 100 >= (uint64_t)mascar->options.full * pressure->n_mshrs;
}

/* Returns the slots that are ready to access memory. */
static struct sched_set ready_to_access(const struct sched_view *view) {
    return sched_and(view->ready, view->next_long);
}

static void choose_owner(struct mascar *mascar, const struct sched_view *view) {
    struct sched_set ready = ready_to_access(view);
    int owner = mascar->owner;
    bool has_given_up = owner == SCHED_NONE || sched_has(view->waits_long, (uint32_t)owner) ||
                        sched_has(view->pending, (uint32_t)owner);
    if (has_given_up)
        mascar->owner = sched_order_first(&mascar->greedy.by_age, &ready);
}

static void hold(void *state, const struct sched_view *view, struct sched_set *held) {
    struct mascar *mascar = state;
    if (!is_saturated(mascar, view)) {
        mascar->owner = SCHED_NONE;
        return;
    }
    choose_owner(mascar, view);
    *held = ready_to_access(view);
    if (mascar->owner != SCHED_NONE)
        sched_remove(held, (uint32_t)mascar->owner);
}

static uint32_t most_aside(void *state, const struct sched_view *view) {
    (void)view; /* a refusal means that memory is saturated */
    return ((const struct mascar *)state)->options.queue;
}

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    sched_greedy_arrive(&((struct mascar *)state)->greedy, view, slot);
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    struct mascar *mascar = state;
    sched_greedy_leave(&mascar->greedy, view, slot);
    if (mascar->owner == (int)slot)
        mascar->owner = SCHED_NONE;
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    const struct mascar *mascar = state;
    if (mascar->owner != SCHED_NONE && sched_has(candidates, (uint32_t)mascar->owner))
        return mascar->owner;
    if (mascar->options.order == ORDER_GTO)
        return sched_greedy_pick(&mascar->greedy, view, candidates);
    return sched_next(candidates, mascar->turn[(uint32_t)sched_first(candidates) % view->n_schedulers]);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    struct mascar *mascar = state;
    sched_greedy_issued(&mascar->greedy, view, slot);
    mascar->turn[slot % view->n_schedulers] = slot + 1;
}

static uint64_t cost_bits(const void *given, const struct config_machine *machine, char *formula, size_t size) {
    const struct options *options = given;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size, warp_bits = 0;
    while (1u << warp_bits < warps)
        warp_bits++;
    snprintf(formula, size,
             "ours: 2 bits for each of %u warps, the owner's number of %u bits and a flag of saturation; %u entries of "
             "the re-execution queue with a line's address of 40 bits, offsets of 8 bits for 32 lanes and the warp",
             warps, warp_bits, options->queue);
    return 2ull * warps + warp_bits + 1 + (uint64_t)options->queue * (40 + 8 * 32 + warp_bits);
}

const struct sched_ops sched_mascar = {
    .name = "mascar",
    .help = "memory-aware: while memory is saturated, one warp at a time accesses it",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct mascar),
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
    .cost_bits = cost_bits,
    .wants = SCHED_WANTS_PRESSURE,
    .has_one_state = true,
    .hold = hold,
    .most_aside = most_aside,
};
