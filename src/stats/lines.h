/* The counters of one line of a kernel, declared only in lines.def. */
#pragma once

#include "stats/counters.h"

enum {
#define STATS_LINE(name, when, meaning) STATS_LINE_AT_##name,
#include "stats/lines.def"
#undef STATS_LINE
    STATS_N_LINE
};

struct stats_line {
    union {
        struct {
#define STATS_LINE(name, when, meaning) uint64_t name;
#include "stats/lines.def"
#undef STATS_LINE
        };
        uint64_t value[STATS_N_LINE];
    };
};

extern const struct stats_counter stats_line_list[STATS_N_LINE];

void stats_add_line(struct stats_line *to, const struct stats_line *from);
