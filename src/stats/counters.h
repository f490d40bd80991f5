/* The counters of a launch, or of several: plain fields, described once in counters.def; writers walk the list. */
#pragma once

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
