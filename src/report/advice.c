/* Finds the limit of a run. The counters of all launches together are compared with the machine's peaks, and
 * the cycles of the SMs are divided by cause. */
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
        .start_cycles = machine->launch.start_cycles,
    };
}

static double share(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

/* ---- Causes ------------------------------------------------------------------------------------------------------ */

const char *report_cause_word(unsigned cause) {
    static const char *const cause_words[] = {
#define REPORT_CAUSE(name, word, cycles) word,
#include "report/causes.def"
    };
    return cause_words[cause];
}

void report_causes(const struct stats_counters *counters, const struct report_target *target,
                   uint64_t cycles[REPORT_N_CAUSES]) {
    double lanes = report_simd_efficiency(counters, target);
    uint64_t idle_lane_cycles = (uint64_t)((double)counters->active_cycles * (lanes < 1 ? 1 - lanes : 0) + 0.5);
    const uint64_t values[] = {
#define REPORT_CAUSE(name, word, cycles) cycles,
#include "report/causes.def"
    };
    memcpy(cycles, values, sizeof values);
}

/* Returns the cause that most SM cycles without an issue went to. */
static unsigned largest_cause(const uint64_t cycles[REPORT_N_CAUSES]) {
    unsigned largest = REPORT_CAUSE_MEMORY;
    for (unsigned i = REPORT_CAUSE_MEMORY; i < REPORT_N_CAUSES; i++)
        if (cycles[i] > cycles[largest])
            largest = i;
    return largest;
}

/* ---- Evidence ---------------------------------------------------------------------------------------------------- */

static const struct report_kernel *longest_launch(const struct report_run *run) {
    const struct report_kernel *longest = &run->total;
    for (unsigned i = 0; i < run->n_launches && run->launch; i++)
        if (i == 0 || run->launch[i].counters.cycles > longest->counters.cycles)
            longest = &run->launch[i];
    return longest;
}

struct report_evidence report_evidence_of(const struct report_run *run) {
    const struct stats_counters *counters = &run->total.counters;
    const struct report_target *target = run->target;
    const struct report_kernel *longest = longest_launch(run);
    const double work[] = {
#define REPORT_UNIT(name, word, work, peak) work,
#include "report/units.def"
    };
    uint64_t cycles[REPORT_N_CAUSES], n_timed = run->n_launches - run->total.n_untimed;
    report_causes(counters, target, cycles);
    struct report_evidence x = {
        .largest = largest_cause(cycles),
        .active = share(counters->active_cycles, counters->sm_cycles),
        .lanes = report_simd_efficiency(counters, target),
        .l1_misses = share(counters->l1_misses, counters->l1_accesses),
        .row_hits = share(counters->row_hits, counters->row_hits + counters->row_conflicts),
        .atomics = share(counters->atomics, counters->atomics + counters->l1_accesses),
        .conflicts = share(counters->bank_conflicts, counters->shared_passes),
        .lines = share(counters->l1_accesses, counters->long_instructions),
        .spread = share(counters->l1_accesses * target->peaks.l1_line_bytes, counters->long_instructions * 128),
        .used = share(counters->requested_bytes, counters->l1_accesses * target->peaks.l1_line_bytes),
        .blocks = share(counters->blocks, n_timed),
        .launch_cycles = share(counters->cycles, n_timed),
        .block_cycles = share(counters->block_cycles, counters->blocks),
        .theoretical = report_theoretical_occupancy(longest),
        .is_full = longest->occupancy.blocks &&
                   longest->counters.blocks >= (uint64_t)longest->occupancy.blocks * target->peaks.sms,
        .occupancy_limiter = longest->occupancy.limiter ? longest->occupancy.limiter : "",
        .sms = target->peaks.sms,
        .warp = target->lanes,
    };
    for (unsigned i = 0; i < REPORT_N_CAUSES; i++)
        x.cause[i] = share(cycles[i], counters->sm_cycles);
    for (unsigned i = 0; i < REPORT_N_UNITS; i++) {
        double most = target->peaks.per_cycle[i] * (double)counters->cycles;
        x.use[i] = most > 0 ? work[i] / most : 0;
    }
    return x;
}

/* ---- Advice ------------------------------------------------------------------------------------------------------ */

/* The last column of a rule. */
enum line { NO_LINE = -1, LOADS = REPORT_HOT_LOADS, CONFLICTS = REPORT_HOT_CONFLICTS, BRANCHES = REPORT_HOT_BRANCHES };

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Completes the evidence by the line that costs most in this way. */
static void add_line(struct report_advice *advice, const struct report_run *run, enum line kind) {
    const struct report_hot_line *hot = kind == NO_LINE ? NULL : &run->hot[kind];
    size_t length = strlen(advice->evidence), room = sizeof advice->evidence - length;
    char *to = advice->evidence + length, where[160];
    if (!hot || !hot->whole || !hot->line)
        return;
    double percent = 100 * share(hot->part, hot->whole);
    advice->line = hot;
    const char *name = base_name(hot->file ? hot->file : hot->kernel), *ptx = hot->file ? "" : "PTX ";
    if (hot->second)
        snprintf(where, sizeof where, "%slines %u and %u of %.100s", ptx, hot->line, hot->second, name);
    else
        snprintf(where, sizeof where, "%sline %u of %.100s", ptx, hot->line, name);
    if (kind == LOADS)
        snprintf(to, room, "; %.0f %% of the time that loads take is that of %s, with %.1f cache lines per load",
                 percent, where, share(hot->lines, hot->accesses));
    else
        snprintf(to, room, "; %.0f %% of the %s are at %s", percent, kind == CONFLICTS ? "conflicts" : "divergences",
                 where);
}

/* Completes the evidence by the second largest loss of SM cycles, from a fifth of them on. Reports only causes that no
 * busy unit explains: a busy unit leads to waits for memory and to taken units. */
static void add_second(struct report_advice *advice, const struct report_evidence *x) {
    static const struct {
        enum report_cause cause;
        const char *limiter, *text;
    } causes[] = {
        {REPORT_CAUSE_TAIL, "tail", "have finished while others still work"},
        {REPORT_CAUSE_FETCH, "instruction fetch", "wait for instructions"},
        {REPORT_CAUSE_BARRIER, "barriers", "wait at barriers"},
        {REPORT_CAUSE_UNUSED, "few blocks", "have no block"},
        {REPORT_CAUSE_START, "launch start", "wait for a launch to start"},
    };
    unsigned most = 0;
    double least = 0.2;
    for (unsigned i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        if (x->cause[causes[i].cause] <= least || strcmp(causes[i].limiter, advice->limiter) == 0)
            continue;
        most = i + 1;
        least = x->cause[causes[i].cause];
    }
    size_t length = strlen(advice->evidence);
    if (most)
        snprintf(advice->evidence + length, sizeof advice->evidence - length, "; SMs %s in %.0f %% of their cycles",
                 causes[most - 1].text, 100 * least);
}

struct report_advice report_advise(const struct report_run *run) {
    struct report_evidence evidence = report_evidence_of(run);
    const struct report_evidence *x = &evidence;
    struct report_advice advice = {0};
#define WRITE(...) snprintf(advice.evidence, sizeof advice.evidence, __VA_ARGS__)
#define REPORT_ADVICE(name, applies, text, line, step)                                                                 \
    if (!advice.limiter && (applies)) {                                                                                \
        advice.limiter = name;                                                                                         \
        advice.next = step;                                                                                            \
        WRITE text;                                                                                                    \
        add_line(&advice, run, line);                                                                                  \
    }
#include "report/advice.def"
#undef WRITE
    add_second(&advice, x);
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
