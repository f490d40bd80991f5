/* First ready, first come, first served: among the requests that can start now, picks the oldest that hits an open row,
 * otherwise the oldest. Rixner et al. 2000, as cited and used in Narasiman 2014 (7.2) and by Liu 2023.
 *
 * With row hold (Narasiman 2014, 7.2), conflicts after an access with a hint wait for the hit that the hint promises;
 * dram_start() contains the rule.
 *
 * Row hits could delay a conflict forever, and the papers name no remedy. Our rule: a request that has waited longer
 * than a full queue takes in the worst case goes first, and no other starts before it. */
#include "mem/dram_policy.h"

static uint32_t pick(const void *options, const struct dram_view *view) {
    (void)options;
    if (dram_is_starved(view, 0))
        return 0;
    uint32_t oldest = 0;
    uint64_t earliest = UINT64_MAX;
    for (uint32_t i = 0; i < view->n; i++) {
        uint64_t start = dram_start(view, i);
        if (start <= view->cycle) {
            if (dram_is_row_hit(view, i))
                return i;
            start = 0;
        }
        if (start < earliest) {
            earliest = start;
            oldest = i;
        }
    }
    return oldest;
}

const struct dram_policy dram_fr_fcfs = {
    .name = "fr-fcfs",
    .help = "row hits first, then the order of arrival",
    .follows_hints = true,
    .pick = pick,
};
