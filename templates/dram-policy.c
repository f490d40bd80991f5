/* @NAME@: a DRAM policy of your own: which of the waiting requests a channel starts next. heddle/dram_policy.h says
 * what it may look at.
 *
 *     make                      builds @NAME@.so; so does
 *     cc -O2 -shared -fPIC -I @INCLUDE@ @NAME@.c -o @NAME@.so
 *     heddle check ./@NAME@.so     tries it on random requests
 *     heddle run bfs --dram-policy ./@NAME@.so
 *
 * To start with: the oldest request to an open row, reads before writes; then the oldest. */
#include <heddle/dram_policy.h>

static uint32_t pick(const struct dram_view *view) {
    for (int writes = 0; writes <= 1; writes++)
        for (uint32_t i = 0; i < view->n; i++)
            if (view->queue[i].is_write == (writes == 1) && dram_is_row_hit(view, i) && !dram_is_starved(view, 0))
                return i;
    return 0;
}

static const struct dram_policy table = {
    .name = "@NAME@",
    .help = "row hits first, reads before writes, then the order of arrival",
    .pick = pick,
};

HEDDLE_DRAM_POLICY(table);
