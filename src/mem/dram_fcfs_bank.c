/* First come, first served at each bank: picks the oldest request that can start now. A request whose bank is busy
 * delays only later ones to the same bank. This is the other reading of "FCFS" in Narasiman 2011, table 1; dram_fcfs.c
 * is the strict one. */
#include "mem/dram_policy.h"

static uint32_t pick(const void *options, const struct dram_view *view) {
    (void)options;
    uint32_t oldest = 0;
    uint64_t earliest = UINT64_MAX, seen[DRAM_MAX_BANKS / 64] = {0};
    for (uint32_t i = 0; i < view->n; i++) {
        uint32_t bank = view->queue[i].bank;
        bool has_older = seen[bank / 64] >> bank % 64 & 1;
        if (has_older)
            continue;
        seen[bank / 64] |= UINT64_C(1) << bank % 64;
        uint64_t start = dram_start(view, i);
        if (start <= view->cycle)
            return i;
        if (start < earliest) {
            earliest = start;
            oldest = i;
        }
    }
    return oldest;
}

const struct dram_policy dram_fcfs_bank = {
    .name = "fcfs-bank",
    .help = "each bank in the order of arrival",
    .pick = pick,
};
