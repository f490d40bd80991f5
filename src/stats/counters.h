/* The counters of a launch, or of several: plain fields, described once in counters.def; writers walk the list. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stats_counters {
#define STATS_COUNTER(name, when, meaning) uint64_t name;
#include "stats/counters.def"
#undef STATS_COUNTER
};

static inline void stats_add(struct stats_counters *to, const struct stats_counters *from) {
#define STATS_COUNTER(name, when, meaning) to->name += from->name;
#include "stats/counters.def"
#undef STATS_COUNTER
}

enum stats_when { STATS_ALWAYS, STATS_TIMED, STATS_ENERGY };

/* Whether a statistic of that kind has a value in a run. */
static inline bool stats_exists(enum stats_when when, bool is_timed, const struct stats_counters *counters) {
    return when == STATS_ALWAYS || (is_timed && (when == STATS_TIMED || counters->energy_nj));
}
