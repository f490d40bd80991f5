/* Finds the limit of a run. The counters of all launches together are compared with the machine's peaks. No counter is
 * added for this purpose, so the advice never changes a result. */
#include "report/advice.h"

#include <string.h>

#include "config/machine.h"
#include "report/internal.h"

static const char *const words[] = {
#define REPORT_UNIT(name, word, work, peak) word,
#include "report/units.def"
};

const char *report_unit_word(unsigned unit) { return words[unit]; }

struct report_peaks report_peaks_of(const struct config_machine *machine) {
    bool has_l2 = machine->l2.cache.is_present;
    return (struct report_peaks){
        .per_cycle =
            {
#define REPORT_UNIT(name, word, work, peak) peak,
#include "report/units.def"
            },
        .bytes_per_cycle =
            {
#define REPORT_LEVEL(name, word, requests, bytes, hits, lookups, peak) peak,
#include "report/levels.def"
            },
        .clock_ghz = machine->clock_ghz,
        .sms = machine->sm.count,
        .schedulers = machine->sm.schedulers,
        .warps = machine->sm.threads / machine->sm.warp_size,
        .l1_line_bytes = machine->l1.cache.line_bytes,
        .line_bytes = has_l2 ? machine->l2.cache.line_bytes : machine->l1.cache.line_bytes,
        .shared_banks = machine->shared.banks,
    };
}

static double share(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

/* Returns the stall that most SM cycles went to. */
static unsigned largest_stall(const struct stats_counters *counters) {
    unsigned largest = 0;
    for (unsigned i = 1; i < STATS_N_SM_STALLS; i++)
        if (counters->value[stats_sm_stalls[i].at] > counters->value[stats_sm_stalls[largest].at])
            largest = i;
    return stats_sm_stalls[largest].at;
}

struct report_evidence report_evidence_of(const struct report_run *run) {
    const struct stats_counters *counters = &run->total.counters;
    const struct report_target *target = run->target;
    const double work[] = {
#define REPORT_UNIT(name, word, work, peak) work,
#include "report/units.def"
    };
    struct report_evidence x = {
        .active = share(counters->active_cycles, counters->sm_cycles),
        .memory = share(counters->stall_memory, counters->sm_cycles),
        .dependency = share(counters->stall_dependency, counters->sm_cycles),
        .barrier = share(counters->stall_barrier, counters->sm_cycles),
        .fetch = share(counters->stall_fetch, counters->sm_cycles),
        .structural = share(counters->stall_structural, counters->sm_cycles),
        .empty = share(counters->stall_empty, counters->sm_cycles),
        .largest = largest_stall(counters),
        .lanes = report_simd_efficiency(counters, target),
        .l1_misses = share(counters->l1_misses, counters->l1_accesses),
        .row_hits = share(counters->row_hits, counters->row_hits + counters->row_conflicts),
        .lines = share(counters->l1_accesses, counters->long_instructions),
        .blocks = share(counters->blocks, run->n_launches - run->total.n_untimed),
        .sms = target->peaks.sms,
        .warp = target->lanes,
    };
    for (unsigned i = 0; i < REPORT_N_UNITS; i++) {
        double most = target->peaks.per_cycle[i] * (double)counters->cycles;
        x.use[i] = most > 0 ? work[i] / most : 0;
    }
    return x;
}

struct report_advice report_advise(const struct report_run *run) {
    struct report_evidence evidence = report_evidence_of(run);
    const struct report_evidence *x = &evidence;
    struct report_advice advice = {0};
#define WRITE(...) snprintf(advice.evidence, sizeof advice.evidence, __VA_ARGS__)
#define REPORT_ADVICE(name, applies, text, step)                                                                       \
    if (!advice.limiter && (applies)) {                                                                                \
        advice.limiter = name;                                                                                         \
        advice.next = step;                                                                                            \
        WRITE text;                                                                                                    \
    }
#include "report/advice.def"
#undef WRITE
    return advice;
}

void report_print_advice(FILE *file, const struct report_run *run) {
    struct report_evidence x = report_evidence_of(run);
    struct report_advice advice = report_advise(run);
    fputs("share of the peak:", file);
    for (unsigned i = 0, n = 0; i < REPORT_N_UNITS; i++)
        if (x.use[i] >= 0.0005) /* otherwise it would read 0.0 */
            fprintf(file, "%s %s %.1f %%", n++ ? "," : "", words[i], 100 * x.use[i]);
    fprintf(file, "\nlimited by %s: %s\nnext: %s\n", advice.limiter, advice.evidence, advice.next);
}
