/* The counters of one or more launches, and those that each part of the GPU increments: plain numbers, declared only in
 * counters.def. Each struct contains its counters by name and, in the order of the list, as value[]. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
#define STATS_COUNTER(name, when, meaning) STATS_AT_##name,
#include "stats/counters.def"
    STATS_N_COUNTERS
};

/* Indices into struct stats_sm, for counters that are chosen by a number: stalls, kinds of work. */
enum {
#define STATS_SM(name, when, meaning) STATS_SM_AT_##name,
#include "stats/counters.def"
    STATS_N_SM
};

/* All counters, summed over the parts. */
struct stats_counters {
    union {
        struct {
#define STATS_COUNTER(name, when, meaning) uint64_t name;
#include "stats/counters.def"
        };
        uint64_t value[STATS_N_COUNTERS];
    };
};

/* The counters of a multiprocessor. */
struct stats_sm {
    union {
        struct {
#define STATS_SM(name, when, meaning) uint64_t name;
#include "stats/counters.def"
        };
        uint64_t value[STATS_N_SM];
    };
};

/* The counters of an SM's divergence model. */
struct stats_divergence {
#define STATS_DIVERGENCE(name, when, meaning) uint64_t name;
#include "stats/counters.def"
};

/* The counters of the memory system: of an SM's caches, or of the parts common to all SMs. */
struct stats_mem {
#define STATS_MEM(name, when, meaning) uint64_t name;
#include "stats/counters.def"
};

void stats_add(struct stats_counters *to, const struct stats_counters *from);
void stats_subtract(struct stats_counters *from, const struct stats_counters *what);
void stats_add_sm(struct stats_counters *to, const struct stats_sm *from);
void stats_add_divergence(struct stats_counters *to, const struct stats_divergence *from);
void stats_add_mem(struct stats_counters *to, const struct stats_mem *from);
void stats_merge_mem(struct stats_mem *to, const struct stats_mem *from);

enum stats_when { STATS_ALWAYS, STATS_TIMED, STATS_ENERGY };

/* How a counter is shown. stats_list[i] describes value[i]. */
struct stats_counter {
    const char *name;
    enum stats_when when;
    const char *meaning;
};
extern const struct stats_counter stats_list[STATS_N_COUNTERS];

/* Returns whether tables have a column for the counter. */
static inline bool stats_is_shown(const struct stats_counter *counter, bool is_timed) {
    return counter->when == STATS_ALWAYS || is_timed;
}

/* Returns whether the counter has a value in a run. */
static inline bool stats_exists(const struct stats_counter *counter, bool is_timed,
                                const struct stats_counters *counters) {
    return stats_is_shown(counter, is_timed) && (counter->when != STATS_ENERGY || counters->energy_nj);
}
