/* Block-aware scheduling: warps are scheduled in groups of whole blocks, the same group goes first as often as it can,
 * and SMs prefer different groups, so that their accesses go to different DRAM banks.
 *
 * Source: Jog, Kayiran, Nachiappan, Mishra, Kandemir, Mutlu, Iyer and Das, OWL: Cooperative Thread Array Aware
 * Scheduling Techniques for Improving GPGPU Performance, ASPLOS 2013. Each step adds a rule to the one before, and
 * `rules` names the last:
 * - `groups`: two levels of scheduling, whose groups consist of whole blocks. A group issues round robin until none of
 *   its warps can. Then it is the next group's turn.
 * - `locality`: when warps of the first group can issue again, they go first. So the L1 serves fewer blocks at a time.
 * - `banks` (the default): neighbouring blocks often access the same DRAM rows, so SMs that prefer neighbouring blocks
 * at the same time wait for the same banks. Each SM prefers another one of its groups.
 *
 * Nobody has compared these rules with the full text yet (docs/schedulers.md).
 *
 * Left open by the paper, or different here:
 * - A group has as many blocks as are needed for `warps` (8) warps. Blocks belong to a group by their places on the SM,
 *   so a new block joins the group of the block whose place it takes.
 * - The first group is the one that contains the oldest warp of the scheduler. When its blocks end, another one is.
 *   With `banks` the order starts at the group whose rank is the SM's number modulo the number of groups.
 * - Each group continues where its round robin stopped.
 * - The paper's fourth part, prefetching from open DRAM rows into the L2, concerns the memory and is left out. */
#include <stdio.h>

#include "sched/internal.h"

enum { RULES_GROUPS, RULES_LOCALITY, RULES_BANKS };

struct options {
    uint32_t rules, warps;
};

static const struct config_plugin_option option_table[] = {
    {"rules", CONFIG_PLUGIN_CHOICE, offsetof(struct options, rules), RULES_BANKS, 0, 0, "groups|locality|banks",
     "the last rule that is used: groups of blocks, the first group first, or another first group on each SM"},
    {"warps", CONFIG_PLUGIN_UINT, offsetof(struct options, warps), 8, 1, SCHED_MAX_SLOTS, NULL,
     "least number of warps in a group, if blocks are smaller"},
    {0},
};

struct owl {
    struct options options;
    struct sched_order by_age;
    struct sched_groups groups;
    uint32_t last; /* the group that issued last */
};

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)n_slots;
    ((struct owl *)state)->options = *(const struct options *)options;
}

static uint32_t group_of(const struct owl *owl, const struct sched_view *view, uint32_t slot) {
    const struct sched_kernel *kernel = view->kernel;
    uint32_t warp_size = kernel->warp_size ? kernel->warp_size : 1;
    uint32_t warps = (kernel->threads_per_block + warp_size - 1) / warp_size;
    uint32_t blocks = warps ? (owl->options.warps + warps - 1) / warps : 1;
    return view->slot[slot].block / blocks;
}

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct owl *owl = state;
    sched_order_add(&owl->by_age, slot, view->slot[slot].age);
    sched_groups_add(&owl->groups, slot, group_of(owl, view, slot));
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct owl *owl = state;
    sched_order_remove(&owl->by_age, slot);
    sched_groups_remove(&owl->groups, slot);
}

/* Returns the rank of the slot's group: the number of groups whose oldest warp is older than the group's. *n is the
 * number of groups with warps. */
static uint32_t rank_of(const struct owl *owl, uint32_t group, uint32_t *n) {
    int own = sched_order_first(&owl->by_age, &owl->groups.member[group]);
    uint32_t rank = 0;
    *n = 0;
    for (uint32_t other = 0; other < owl->groups.n; other++) {
        int oldest = sched_order_first(&owl->by_age, &owl->groups.member[other]);
        if (oldest == SCHED_NONE)
            continue;
        ++*n;
        rank += sched_has(&owl->by_age.before[own], (uint32_t)oldest);
    }
    return rank;
}

/* Returns the first group with a candidate, in the order of ranks that starts at `first`, modulo the number of
 * groups. */
static uint32_t first_group(const struct owl *owl, const struct sched_set *candidates, uint32_t first) {
    uint32_t best = 0, least = UINT32_MAX;
    for (uint32_t group = 0; group < owl->groups.n; group++) {
        uint32_t n;
        if (!sched_intersect(&owl->groups.member[group], candidates))
            continue;
        uint32_t rank = rank_of(owl, group, &n), place = (rank + n - first % n) % n;
        if (place < least) {
            least = place;
            best = group;
        }
    }
    return best;
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    const struct owl *owl = state;
    uint32_t group;
    if (owl->options.rules == RULES_GROUPS)
        group = (uint32_t)sched_groups_next(&owl->groups, candidates, owl->last);
    else
        group = first_group(owl, candidates, owl->options.rules == RULES_BANKS ? view->kernel->sm : 0);
    return sched_groups_turn(&owl->groups, candidates, group);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct owl *owl = state;
    sched_groups_issued(&owl->groups, slot);
    owl->last = owl->groups.of[slot];
}

static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size;
    snprintf(formula, size, "ours: a group of 4 bits for each of %u warps, and a turn of 7 bits for each of 16 groups",
             warps);
    return 4ull * warps + 16 * 7;
}

const struct sched_ops sched_owl = {
    .name = "owl",
    .help = "groups of whole blocks, the oldest group first, another one on each SM; without prefetching",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct owl),
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
    .cost_bits = cost_bits,
    .wants = SCHED_WANTS_KERNEL,
};
