/* The reasons that keep an SM, or a group at a line of its kernel, from issuing: the words of stalls.def with their
 * counters. */
#pragma once

#include "stats/counters.h"
#include "stats/lines.h"

enum {
#define STATS_SM_STALL(word, heading) STATS_SM_STALL_##word,
#include "stats/stalls.def"
    STATS_N_SM_STALLS
};

enum {
#define STATS_LINE_STALL(word, heading) STATS_LINE_STALL_##word,
#include "stats/stalls.def"
    STATS_N_LINE_STALLS
};

struct stats_stall {
    const char *word;
    const char *heading; /* above a narrow column */
    unsigned at;         /* index of its counter: value[at] of struct stats_counters or struct stats_line */
};
extern const struct stats_stall stats_sm_stalls[STATS_N_SM_STALLS];
extern const struct stats_stall stats_line_stalls[STATS_N_LINE_STALLS];

/* Returns the cycles that groups waited at the line, for whatever reason. */
uint64_t stats_line_stall_cycles(const struct stats_line *line);
