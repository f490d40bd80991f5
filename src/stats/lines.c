/* Sums and descriptions of the counters of lines, all from the list. */
#include "stats/lines.h"

const struct stats_counter stats_line_list[STATS_N_LINE] = {
#define STATS_LINE(name, when, meaning) {#name, STATS_##when, meaning},
#include "stats/lines.def"
#undef STATS_LINE
};

void stats_add_line(struct stats_line *to, const struct stats_line *from) {
    for (unsigned i = 0; i < STATS_N_LINE; i++)
        to->value[i] += from->value[i];
}
