/* See stalls.h. */
#include "stats/stalls.h"

const struct stats_stall stats_sm_stalls[STATS_N_SM_STALLS] = {
#define STATS_SM_STALL(word, heading) {#word, heading, STATS_AT_stall_##word},
#include "stats/stalls.def"
};

const struct stats_stall stats_line_stalls[STATS_N_LINE_STALLS] = {
#define STATS_LINE_STALL(word, heading) {#word, heading, STATS_LINE_AT_stall_##word},
#include "stats/stalls.def"
};

uint64_t stats_line_stall_cycles(const struct stats_line *line) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < STATS_N_LINE_STALLS; i++)
        sum += line->value[stats_line_stalls[i].at];
    return sum;
}
