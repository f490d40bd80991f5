/* Instruction-issue pattern-based adaptive scheduling: each kernel starts greedily, and continues greedily or round
 * robin, depending on which warps issued most.
 *
 * Source: Lee, Kim, Kim, Seo, Cho and Ryu, iPAWS: Instruction-issue Pattern-based Adaptive Warp Scheduling for GPGPUs,
 * HPCA 2016.
 * - Kernels that suit a greedy scheduler issue mostly from some warps. Kernels that suit round robin issue from all
 *   warps about equally.
 * - A kernel starts with a learning phase. Its pattern decides between the two for the rest of the kernel.
 *
 * We could read only the abstract, which states these two rules. The measure and all numbers are ours
 * (docs/schedulers.md):
 * - In the learning phase the order is that of gto. It ends when the first warp of the SM ends, or after `window`
 * (65536) instructions of the SM.
 * - The pattern is greedy if the older half of the warps that are on the SM then has issued at least `share` (75)
 * percent of their instructions. An equal share would be 50 percent.
 * - Greedy is gto, and round robin is lrr. Each SM decides for itself, again at each launch. */
#include <stdio.h>

#include "sched/internal.h"

enum { LEAST_ISSUED = 16 }; /* instructions for each warp, before the end of a warp ends the learning phase */

struct options {
    uint32_t share, window;
};

static const struct config_plugin_option option_table[] = {
    {"share", CONFIG_PLUGIN_UINT, offsetof(struct options, share), 75, 0, 101, NULL,
     "percent of the instructions that the older half must issue for gto; 0: always gto, 101: never"},
    {"window", CONFIG_PLUGIN_UINT, offsetof(struct options, window), 65536, 1, UINT32_MAX, NULL,
     "instructions of the SM after which the learning phase ends, if no warp ends earlier"},
    {0},
};

struct ipaws {
    struct options options;
    bool has_decided, is_round_robin;
    struct sched_greedy greedy;
    uint32_t turn[CONFIG_MAX_SCHEDULERS]; /* the slot after the last issued */
    uint32_t n_issued[SCHED_MAX_SLOTS];   /* in the learning phase */
    uint32_t n_all;                       /* their sum, with warps that have left */
};

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)n_slots;
    ((struct ipaws *)state)->options = *(const struct options *)options;
}

/* Ends the learning phase. */
static void decide(struct ipaws *ipaws) {
    struct sched_set warps = ipaws->greedy.by_age.known;
    uint32_t n = sched_count(&warps);
    uint64_t all = 0, older = 0;
    for (int slot; (slot = sched_first(&warps)) != SCHED_NONE; sched_remove(&warps, (uint32_t)slot)) {
        all += ipaws->n_issued[slot];
        if (sched_count(&ipaws->greedy.by_age.before[slot]) < n / 2)
            older += ipaws->n_issued[slot];
    }
    ipaws->has_decided = true;
    ipaws->is_round_robin = 100 * older < ipaws->options.share * all;
}

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct ipaws *ipaws = state;
    sched_greedy_arrive(&ipaws->greedy, view, slot);
    ipaws->n_issued[slot] = 0;
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    struct ipaws *ipaws = state;
    if (!ipaws->has_decided && ipaws->n_all >= LEAST_ISSUED * sched_count(&ipaws->greedy.by_age.known))
        decide(ipaws);
    sched_greedy_leave(&ipaws->greedy, view, slot);
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    const struct ipaws *ipaws = state;
    if (!ipaws->is_round_robin)
        return sched_greedy_pick(&ipaws->greedy, view, candidates);
    return sched_next(candidates, ipaws->turn[(uint32_t)sched_first(candidates) % view->n_schedulers]);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    struct ipaws *ipaws = state;
    sched_greedy_issued(&ipaws->greedy, view, slot);
    ipaws->turn[slot % view->n_schedulers] = slot + 1;
    if (ipaws->has_decided)
        return;
    ipaws->n_issued[slot]++;
    if (++ipaws->n_all == ipaws->options.window)
        decide(ipaws);
}

static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    enum { COUNTER_BITS = 16 };
    (void)options;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size;
    snprintf(formula, size, "ours: a counter of %d bits for each of %u warps and one for the SM, and 2 bits of state",
             COUNTER_BITS, warps);
    return (uint64_t)COUNTER_BITS * (warps + 1) + 2;
}

const struct sched_ops sched_ipaws = {
    .name = "ipaws",
    .help = "gto or lrr for a kernel, depending on which warps issued most at its start",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct ipaws),
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
    .cost_bits = cost_bits,
    .has_one_state = true,
};
