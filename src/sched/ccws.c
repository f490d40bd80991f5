/* Cache-conscious warp scheduling: a warp that misses lines that it had in the L1 gets a score, and warps with high
 * scores keep others from loading, until as many warps load as the L1 can serve.
 *
 * Source: Rogers, O'Connor and Aamodt, Cache-Conscious Wavefront Scheduling, MICRO 2012.
 * - Victim tags. A line in the L1 carries the number of the warp whose miss brought it. When it is evicted, its tag
 * goes into that warp's part of the victim tag array: `tags` (16) tags in sets of `ways` (8). A warp that misses in the
 * L1 looks for the line in its own part. A tag that it finds there is lost locality.
 * - Scores. A warp arrives with the score `base` (100). When it has lost locality, its score becomes
 *       (lost locality so far / instructions so far) x `throttle` (8) x cutoff
 *   for the whole SM, with cutoff = warps on the SM x base. A score above the base falls by 1 in each cycle.
 * - Throttling. The warps are sorted by score, the highest first, and their scores added up. Warps whose sum exceeds
 *   the cutoff may not issue loads. All other instructions may issue.
 * - The order is that of gto.
 *
 * Nobody has compared these rules with the full text yet (docs/schedulers.md).
 *
 * Left open by the paper:
 * - Among equal scores the older warp comes first, so that the youngest warps are throttled.
 * - The first warp may always load, however high its score.
 * - The scores of warps that wait for others, at a barrier, a join or a fence, are left out of the sums: the warps that
 *   they wait for must be able to load.
 * - Lost locality never lowers a score that has not fallen yet.
 * - A tag that is found leaves the array, because its line returns to the L1. The array replaces the least recently
 *   inserted tag of a set.
 * - Only loads look for tags. Lines that stores bring have owners too.
 * - The slot stands for the warp, as a hardware context does: a new warp in the slot starts with the base score, but
 *   finds the tags of its predecessor. Splits of a warp (dws) have slots, and so scores, of their own.
 * - The scores are those of the SM. If an SM has several schedulers, all of them obey one cutoff. */
#include <stdio.h>

#include "sched/internal.h"

enum { MOST_TAGS = 64 };

struct options {
    uint32_t base, throttle, tags, ways;
};

static const struct config_plugin_option option_table[] = {
    {"base", CONFIG_PLUGIN_UINT, offsetof(struct options, base), 100, 1, 1000000, NULL,
     "score of a warp that lost nothing"},
    {"throttle", CONFIG_PLUGIN_UINT, offsetof(struct options, throttle), 8, 0, 1000000, NULL,
     "weight of lost locality in a score; 0: gto"},
    {"tags", CONFIG_PLUGIN_UINT, offsetof(struct options, tags), 16, 1, MOST_TAGS, NULL, "victim tags of a warp"},
    {"ways", CONFIG_PLUGIN_UINT, offsetof(struct options, ways), 8, 1, MOST_TAGS, NULL,
     "tags of a set; at most as many as there are tags"},
    {0},
};

struct victim {
    uint64_t line; /* its address plus 1; 0: none */
    uint64_t age;  /* order of insertion */
};

struct ccws {
    struct options options;
    uint32_t n_sets;
    struct sched_greedy greedy;
    struct sched_set raised; /* warps whose score is above the base */
    uint64_t score[SCHED_MAX_SLOTS];
    uint64_t score_cycle; /* to which the scores have fallen */
    uint64_t n_lost, n_issued, n_inserted;
    struct victim victim[SCHED_MAX_SLOTS][MOST_TAGS];
};

static void start(void *state, const void *options, uint32_t n_slots) {
    struct ccws *ccws = state;
    ccws->options = *(const struct options *)options;
    if (ccws->options.ways > ccws->options.tags)
        ccws->options.ways = ccws->options.tags;
    ccws->n_sets = ccws->options.tags / ccws->options.ways;
    for (uint32_t slot = 0; slot < n_slots; slot++)
        ccws->score[slot] = ccws->options.base;
}

/* ---- Victim tags ------------------------------------------------------------------------------------------------- */

static struct victim *set_of(struct ccws *ccws, const struct sched_view *view, uint32_t slot, uint64_t line) {
    uint32_t line_bytes = view->kernel->l1_line_bytes ? view->kernel->l1_line_bytes : 1;
    return &ccws->victim[slot][line / line_bytes % ccws->n_sets * ccws->options.ways];
}

static void insert(struct ccws *ccws, const struct sched_view *view, uint32_t slot, uint64_t line) {
    struct victim *set = set_of(ccws, view, slot, line), *oldest = set;
    for (struct victim *one = set; one < set + ccws->options.ways; one++) {
        if (one->line == line + 1) {
            oldest = one;
            break;
        }
        if (one->age < oldest->age)
            oldest = one;
    }
    *oldest = (struct victim){line + 1, ++ccws->n_inserted};
}

/* Takes the line out of the warp's victims. Returns whether it was there. */
static bool take(struct ccws *ccws, const struct sched_view *view, uint32_t slot, uint64_t line) {
    struct victim *set = set_of(ccws, view, slot, line);
    for (struct victim *one = set; one < set + ccws->options.ways; one++)
        if (one->line == line + 1) {
            *one = (struct victim){0};
            return true;
        }
    return false;
}

/* ---- Scores ------------------------------------------------------------------------------------------------------ */

static uint64_t cutoff(const struct ccws *ccws) {
    return (uint64_t)sched_count(&ccws->greedy.by_age.known) * ccws->options.base;
}

/* Lets the scores fall to this cycle. */
static void decay(struct ccws *ccws, uint64_t cycle) {
    uint64_t passed = cycle > ccws->score_cycle ? cycle - ccws->score_cycle : 0;
    ccws->score_cycle = cycle;
    struct sched_set left = ccws->raised;
    for (int slot; passed && (slot = sched_first(&left)) != SCHED_NONE; sched_remove(&left, (uint32_t)slot)) {
        if (ccws->score[slot] > ccws->options.base + passed) {
            ccws->score[slot] -= passed;
            continue;
        }
        ccws->score[slot] = ccws->options.base;
        sched_remove(&ccws->raised, (uint32_t)slot);
    }
}

static void raise_score(struct ccws *ccws, uint32_t slot) {
    uint64_t issued = ccws->n_issued ? ccws->n_issued : 1;
    uint64_t score = ccws->n_lost * ccws->options.throttle * cutoff(ccws) / issued;
    if (score <= ccws->score[slot])
        return;
    ccws->score[slot] = score;
    sched_add(&ccws->raised, slot);
}

static void l1(void *state, const struct sched_view *view, const struct sched_l1_event *event) {
    struct ccws *ccws = state;
    if (event->kind == SCHED_L1_EVICTION)
        insert(ccws, view, event->slot, event->line);
    if (event->kind != SCHED_L1_MISS || event->is_store || !take(ccws, view, event->slot, event->line))
        return;
    ccws->n_lost++;
    decay(ccws, view->cycle);
    raise_score(ccws, event->slot);
}

/* ---- Throttling -------------------------------------------------------------------------------------------------- */

/* Returns the sum of the scores up to and including that of the slot, in the order of scores. */
static uint64_t sum_to(const struct ccws *ccws, const struct sched_view *view, uint32_t slot) {
    struct sched_set above = sched_and_not(&ccws->raised, view->pending);
    uint64_t sum = ccws->score[slot];
    for (int other; (other = sched_first(&above)) != SCHED_NONE; sched_remove(&above, (uint32_t)other)) {
        bool is_older = sched_has(&ccws->greedy.by_age.before[slot], (uint32_t)other);
        bool is_before =
            ccws->score[other] > ccws->score[slot] || (ccws->score[other] == ccws->score[slot] && is_older);
        if (is_before && other != (int)slot)
            sum += ccws->score[other];
    }
    if (sched_has(&ccws->raised, slot))
        return sum;
    struct sched_set older = sched_and_not(&ccws->greedy.by_age.before[slot], &ccws->raised);
    older = sched_and_not(&older, view->pending);
    return sum + (uint64_t)sched_count(&older) * ccws->options.base;
}

static void hold(void *state, const struct sched_view *view, struct sched_set *held) {
    struct ccws *ccws = state;
    decay(ccws, view->cycle);
    if (sched_is_empty(&ccws->raised))
        return;
    uint64_t most = cutoff(ccws);
    struct sched_set loads = sched_and(view->ready, view->next_load);
    for (int slot; (slot = sched_first(&loads)) != SCHED_NONE; sched_remove(&loads, (uint32_t)slot)) {
        uint64_t sum = sum_to(ccws, view, (uint32_t)slot);
        if (sum > most && sum > ccws->score[slot]) /* the first warp's sum is its own score */
            sched_add(held, (uint32_t)slot);
    }
}

/* ---- Hooks ------------------------------------------------------------------------------------------------------- */

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct ccws *ccws = state;
    sched_greedy_arrive(&ccws->greedy, view, slot);
    ccws->score[slot] = ccws->options.base;
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    struct ccws *ccws = state;
    sched_greedy_leave(&ccws->greedy, view, slot);
    sched_remove(&ccws->raised, slot);
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    const struct ccws *ccws = state;
    return sched_greedy_pick(&ccws->greedy, view, candidates);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    struct ccws *ccws = state;
    sched_greedy_issued(&ccws->greedy, view, slot);
    ccws->n_issued++;
}

static uint64_t cost_bits(const void *given, const struct config_machine *machine, char *formula, size_t size) {
    enum { TAG_BITS = 40, SCORE_BITS = 16, COUNTER_BITS = 32 };
    const struct options *options = given;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size, warp_bits = 0, lines = 0;
    while (1u << warp_bits < warps)
        warp_bits++;
    if (machine->l1.cache.is_present && !machine->l1.cache.is_perfect)
        lines = machine->l1.cache.size_bytes / machine->l1.cache.line_bytes;
    snprintf(
        formula, size,
        "victim tags of %d bits, %u for each of %u warps; a warp's number of %u bits in each of %u lines of the L1; "
        "a score of %d bits for each warp; two counters of %d bits (the widths are ours)",
        TAG_BITS, options->tags, warps, warp_bits, lines, SCORE_BITS, COUNTER_BITS);
    return (uint64_t)TAG_BITS * options->tags * warps + (uint64_t)warp_bits * lines + (uint64_t)SCORE_BITS * warps +
           2 * COUNTER_BITS;
}

const struct sched_ops sched_ccws = {
    .name = "ccws",
    .help = "cache-conscious: warps that lose lines of the L1 keep others from loading; otherwise gto",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct ccws),
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
    .cost_bits = cost_bits,
    .wants = SCHED_WANTS_KERNEL,
    .has_one_state = true,
    .l1 = l1,
    .hold = hold,
};
