/* The use of a machine's memory and of its SMs' places for warps: bytes, requests and hit rates of each level
 * (levels.def), the peaks for rooflines, and occupancy. */
#include "report/advice.h"
#include "report/internal.h"

/* ---- Levels ------------------------------------------------------------------------------------------------------ */

struct report_use report_level_use(unsigned level, const struct stats_counters *counters,
                                   const struct report_peaks *peaks) {
    const struct report_use uses[REPORT_N_LEVELS] = {
#define REPORT_LEVEL(name, word, requests, bytes, hits, lookups, peak) {word, requests, bytes, hits, lookups},
#include "report/levels.def"
    };
    return uses[level];
}

static json_t *rate_json(uint64_t part, uint64_t whole) {
    return whole ? json_real((double)part / (double)whole) : json_null();
}

json_t *report_memory_json(const struct stats_counters *counters, const struct report_target *target) {
    const struct report_peaks *peaks = &target->peaks;
    json_t *levels = json_array();
    for (unsigned i = 0; i < REPORT_N_LEVELS; i++) {
        struct report_use use = report_level_use(i, counters, peaks);
        double most = peaks->bytes_per_cycle[i] * (double)counters->cycles;
        if (peaks->bytes_per_cycle[i] <= 0)
            continue;
        json_t *level = json_pack("{s:s, s:I}", "name", use.word, "bytes", (json_int_t)use.bytes);
        if (i != REPORT_LEVEL_CROSSBAR)
            json_object_set_new(level, "requests", json_integer((json_int_t)use.requests));
        json_object_set_new(level, "hit_rate", rate_json(use.hits, use.lookups));
        json_object_set_new(level, "share_of_peak", json_real(most > 0 ? (double)use.bytes / most : 0));
        json_array_append_new(levels, level);
    }
    return json_pack("{s:I, s:I, s:o}", "operations", (json_int_t)counters->thread_instructions, "float_operations",
                     (json_int_t)counters->float_thread_instructions, "levels", levels);
}

json_t *report_peaks_json(const struct report_target *target) {
    const struct report_peaks *peaks = &target->peaks;
    json_t *object = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f}", "sms", peaks->sms, "schedulers",
                               peaks->schedulers, "warp", target->lanes, "slots", peaks->warps, "l1_line_bytes",
                               peaks->l1_line_bytes, "line_bytes", peaks->line_bytes, "clock_hz",
                               peaks->clock_ghz * 1e9, "issue", peaks->per_cycle[REPORT_ISSUE] * target->lanes);
    static const char *const keys[REPORT_N_LEVELS] = {[REPORT_LEVEL_SHARED] = "shared_bytes",
                                                      [REPORT_LEVEL_L1] = "l1_bytes",
                                                      [REPORT_LEVEL_CROSSBAR] = "crossbar_bytes",
                                                      [REPORT_LEVEL_L2] = "l2_bytes",
                                                      [REPORT_LEVEL_DRAM] = "dram_bytes"};
    for (unsigned i = 0; i < REPORT_N_LEVELS; i++)
        json_object_set_new(object, keys[i], json_real(peaks->bytes_per_cycle[i]));
    return object;
}

/* ---- Occupancy --------------------------------------------------------------------------------------------------- */

double report_theoretical_occupancy(const struct report_kernel *kernel) {
    const struct report_occupancy *occupancy = &kernel->occupancy;
    return occupancy->most_warps ? (double)occupancy->warps / occupancy->most_warps : 0;
}

/* block_cycles begins when the launch has started, launch.start_cycles after the SM got its first block. Only these
 * cycles are left out of the SM's. The rest of fetch_start, the fetch of the first instruction, is part of both. */
double report_achieved_occupancy(const struct report_kernel *kernel, const struct report_peaks *peaks) {
    const struct stats_counters *counters = &kernel->counters;
    const struct report_occupancy *occupancy = &kernel->occupancy;
    uint64_t used_sms = counters->cycles ? (counters->sm_cycles - counters->empty_unused) / counters->cycles : 0;
    uint64_t start = used_sms * (peaks ? peaks->start_cycles : 0);
    uint64_t before = start < counters->fetch_start ? start : counters->fetch_start;
    uint64_t with_groups = counters->sm_cycles - counters->stall_empty - before;
    if (!occupancy->most_warps || !occupancy->blocks || !with_groups)
        return 0;
    double warps_of_block = (double)occupancy->warps / occupancy->blocks;
    return (double)counters->block_cycles * warps_of_block / ((double)with_groups * occupancy->most_warps);
}

json_t *report_occupancy_json(const struct report_kernel *kernel, const struct report_peaks *peaks) {
    json_t *object = json_loads(kernel->occupancy.text, 0, NULL);
    json_object_set_new(object, "theoretical", json_real(report_theoretical_occupancy(kernel)));
    json_object_set_new(object, "achieved", json_real(report_achieved_occupancy(kernel, peaks)));
    return object;
}
