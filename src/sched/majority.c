/* Majority: chooses the program counter (pc) that most threads share. All warps at this pc issue before the next pc is
 * chosen, so that many threads stay together and can merge.
 *
 * Source: Fung et al. 2007 as described in Narasiman 2014, 3.2.1: "the most common PC among all warps in the warp
 * pool". Their simulator, GPGPU-Sim, which Malits 2012 uses too, counts the threads at each pc (dwf.cc, the heap of its
 * majority policy). count=warps counts warps, the other reading of the words.
 *
 * Our choices: only warps that can issue count (others are not in the pool). When no warp at the chosen pc can issue,
 * another pc is chosen: the lowest of equally common ones. The oldest warp at the pc goes first. Warps on rare paths
 * starve, as the paper says: a warp that spins on one of them spins until the others have finished. */
#include "sched/internal.h"

enum { COUNT_THREADS, COUNT_WARPS };

struct options {
    uint32_t count;
};

static const struct config_plugin_option option_table[] = {
    {"count", CONFIG_PLUGIN_CHOICE, offsetof(struct options, count), COUNT_THREADS, 0, 0, "threads|warps",
     "what makes a program counter common: threads at it, or warps"},
    {0},
};

struct majority {
    struct options options;
    uint32_t pc; /* the chosen one */
};

/* Returns the oldest of `set` at pc, or SCHED_NONE. */
static int oldest_at(const struct sched_view *view, const struct sched_set *set, uint32_t pc) {
    int oldest = SCHED_NONE;
    for (uint32_t word = 0; word < SCHED_WORDS; word++)
        for (uint64_t left = set->word[word]; left; left &= left - 1) {
            int slot = (int)(word * 64) + __builtin_ctzll(left);
            bool is_older = oldest == SCHED_NONE || view->slot[slot].age < view->slot[oldest].age;
            if (view->slot[slot].pc == pc && is_older)
                oldest = slot;
        }
    return oldest;
}

static uint32_t most_common_pc(const struct options *options, const struct sched_view *view,
                               const struct sched_set *set) {
    uint32_t pc[SCHED_MAX_SLOTS], count[SCHED_MAX_SLOTS], n = 0, best = 0;
    for (uint32_t word = 0; word < SCHED_WORDS; word++)
        for (uint64_t left = set->word[word]; left; left &= left - 1) {
            const struct sched_slot *slot = &view->slot[word * 64 + (uint32_t)__builtin_ctzll(left)];
            uint32_t at = 0;
            while (at < n && pc[at] != slot->pc)
                at++;
            if (at == n) {
                pc[n] = slot->pc;
                count[n++] = 0;
            }
            count[at] += options->count == COUNT_WARPS ? 1 : slot->active_lanes;
        }
    for (uint32_t i = 1; i < n; i++)
        if (count[i] > count[best] || (count[i] == count[best] && pc[i] < pc[best]))
            best = i;
    return pc[best];
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    struct majority *majority = state;
    int oldest = oldest_at(view, candidates, majority->pc);
    if (oldest != SCHED_NONE)
        return oldest;
    majority->pc = most_common_pc(&majority->options, view, candidates);
    return oldest_at(view, candidates, majority->pc);
}

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)n_slots;
    *(struct majority *)state = (struct majority){*(const struct options *)options, UINT32_MAX};
}

const struct sched_ops sched_majority = {
    .name = "majority",
    .help = "all warps at the most common program counter, then at the next; for dwf",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct majority),
    .start = start,
    .arrive = sched_no_slot,
    .leave = sched_no_slot,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = sched_no_slot,
};
