/* @NAME@: a DRAM policy of your own: which of the waiting requests a channel starts next. heddle/dram_policy.h says
 * what it may look at.
 *
 *     make                      builds @NAME@.so; so does
 *     cc -O2 -shared -fPIC -I @INCLUDE@ @NAME@.c -o @NAME@.so
 *     heddle check ./@NAME@.so     tries it on random requests
 *     heddle run bfs --dram-policy ./@NAME@.so:writes=4
 *
 * To start with: reads before writes, unless many writes wait; of these the oldest to an open row, then the oldest. */
#include <heddle/dram_policy.h>

struct options {
    uint32_t writes; /* as many waiting writes go before reads */
};

static const struct config_plugin_option rows[] = {
    {"writes", CONFIG_PLUGIN_UINT, offsetof(struct options, writes), 8, 1, UINT32_MAX, NULL,
     "as many waiting writes go before reads"},
    {0},
};

static bool writes_go_first(const struct options *options, const struct dram_view *view) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < view->n; i++)
        n += view->queue[i].is_write;
    return n >= options->writes;
}

static uint32_t pick(const void *options, const struct dram_view *view) {
    if (dram_is_starved(view, 0))
        return 0;
    bool is_write = writes_go_first(options, view);
    for (int turn = 0; turn < 2; turn++, is_write = !is_write)
        for (uint32_t i = 0; i < view->n; i++)
            if (view->queue[i].is_write == is_write && dram_is_row_hit(view, i))
                return i;
    return 0;
}

static const struct dram_policy table = {
    .name = "@NAME@",
    .help = "row hits first, reads before writes, then the order of arrival",
    .option = rows,
    .options_bytes = sizeof(struct options),
    .pick = pick,
};

HEDDLE_DRAM_POLICY(table);
