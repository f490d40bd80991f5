/* Statistics derived from the counters, one row each. The JSON, the CSV and `heddle list stats` use these rows. */
#include <math.h>

#include "report/report.h"

enum { ROW_LANES = 32 }; /* of an instruction when there is no machine */

static double ratio(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : NAN; }

double report_active_lanes(const struct stats_counters *counters) {
    return counters->warp_instructions ? ratio(counters->thread_instructions, counters->warp_instructions) : 0;
}

double report_simd_efficiency(const struct stats_counters *counters, const struct report_target *target) {
    return report_active_lanes(counters) / (target ? target->lanes : ROW_LANES);
}

double report_ipc(const struct stats_counters *counters, const struct report_target *target) {
    (void)target;
    return ratio(counters->thread_instructions, counters->cycles);
}

static double average_active_threads(const struct stats_counters *counters, const struct report_target *target) {
    (void)target;
    return report_active_lanes(counters);
}

static double idle_cycles(const struct stats_counters *counters, const struct report_target *target) {
    (void)target;
    return (double)counters->sm_cycles - (double)counters->active_cycles;
}

static double row_hit_rate(const struct stats_counters *counters, const struct report_target *target) {
    (void)target;
    return ratio(counters->row_hits, counters->row_hits + counters->row_conflicts);
}

static double bus_utilization(const struct stats_counters *counters, const struct report_target *target) {
    return ratio(counters->bus_busy_cycles, counters->cycles * target->channels);
}

const struct report_derived report_derived[] = {
    {"ipc", true, false, "thread_instructions / cycles", report_ipc},
    {"simd_efficiency", false, false,
     "share of the issued lanes that are active: average_active_threads / lanes of a warp", report_simd_efficiency},
    {"average_active_threads", false, false, "thread_instructions / warp_instructions", average_active_threads},
    {"idle_cycles", true, true, "SM cycles in which no instruction issued: sm_cycles - active_cycles", idle_cycles},
    {"row_hit_rate", true, false, "row_hits / (row_hits + row_conflicts)", row_hit_rate},
    {"bus_utilization", true, false, "bus_busy_cycles / (cycles * channels of DRAM)", bus_utilization},
};
const unsigned report_n_derived = sizeof report_derived / sizeof report_derived[0];

/* ---- Where the cycles went --------------------------------------------------------------------------------------- */

const char *report_share_word(unsigned share) { return share ? stats_sm_stalls[share - 1].word : "active"; }

const char *report_share_heading(unsigned share) { return share ? stats_sm_stalls[share - 1].heading : "active"; }

void report_shares(const struct stats_counters *counters, unsigned share[REPORT_N_SHARES]) {
    uint64_t cycles[REPORT_N_SHARES] = {counters->active_cycles}, sum = cycles[0];
    for (unsigned i = 1; i < REPORT_N_SHARES; i++) {
        cycles[i] = counters->value[stats_sm_stalls[i - 1].at];
        sum += cycles[i];
    }
    double rest[REPORT_N_SHARES];
    unsigned left = sum ? 1000 : 0;
    for (unsigned i = 0; i < REPORT_N_SHARES; i++) {
        double exact = sum ? 1000.0 * (double)cycles[i] / (double)sum : 0;
        share[i] = (unsigned)exact;
        rest[i] = exact - share[i];
        left -= share[i];
    }
    for (; left; left--) { /* rounds up the shares that lost the most by rounding down */
        unsigned most = 0;
        for (unsigned i = 1; i < REPORT_N_SHARES; i++)
            if (rest[i] > rest[most])
                most = i;
        share[most]++;
        rest[most] = -1;
    }
}
