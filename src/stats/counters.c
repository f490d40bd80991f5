/* Sums and descriptions of the counters, all from the list. */
#include "stats/counters.h"

const struct stats_counter stats_list[STATS_N_COUNTERS] = {
#define STATS_COUNTER(name, when, meaning) {#name, STATS_##when, meaning},
#include "stats/counters.def"
};

void stats_add(struct stats_counters *to, const struct stats_counters *from) {
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        to->value[i] += from->value[i];
}

void stats_subtract(struct stats_counters *from, const struct stats_counters *what) {
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        from->value[i] -= what->value[i];
}

void stats_add_sm(struct stats_counters *to, const struct stats_sm *from) {
#define STATS_SM(name, when, meaning) to->name += from->name;
#include "stats/counters.def"
}

void stats_add_divergence(struct stats_counters *to, const struct stats_divergence *from) {
#define STATS_DIVERGENCE(name, when, meaning) to->name += from->name;
#include "stats/counters.def"
}

void stats_add_mem(struct stats_counters *to, const struct stats_mem *from) {
#define STATS_MEM(name, when, meaning) to->name += from->name;
#include "stats/counters.def"
}

void stats_merge_mem(struct stats_mem *to, const struct stats_mem *from) {
#define STATS_MEM(name, when, meaning) to->name += from->name;
#include "stats/counters.def"
}
