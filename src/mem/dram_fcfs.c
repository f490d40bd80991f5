/* First come, first served: requests start in the order of arrival. A request whose bank is busy delays all later ones,
 * even if their banks are free. Narasiman 2011, table 1. */
#include "mem/dram_policy.h"

static uint32_t pick(const void *options, const struct dram_view *view) {
    (void)options, (void)view;
    return 0;
}

const struct dram_policy dram_fcfs = {
    .name = "fcfs",
    .help = "requests start in the order of arrival",
    .pick = pick,
};
