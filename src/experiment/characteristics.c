/* The tables of `heddle characterize`. They count PTX instructions; the papers count x86 (Narasiman), Alpha (Meng) or
 * GPGPU-Sim's PTX from another compiler (Liu, Malits), so only the magnitudes of instruction counts compare.
 *
 * Narasiman 2011: threads of a retired warp and idle cycles, on its machine. Liu 2023: long operations are loads and
 * stores beyond shared memory. Meng 2010: a miss is an instruction of a warp with at least one lane whose line is not
 * in the L1. A divergent miss also has lanes that hit. The last line of the paper's table is the quotient of the two.
 * Malits 2012: the shape of the first launch, and branches in the program text. Caches: misses of loads, and what 8
 * times the L1 gains, as papers about cache-aware schedulers sort their programs; the classes' limits are ours. */
#include "experiment/characteristics.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "command/command.h"
#include "program/workloads.h"
#include "ptx/analysis.h"

static double ratio(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : NAN; }

/* ---- Classes ----------------------------------------------------------------------------------------------------- */

const char *experiment_intensity_name(double intensity) {
    static const char *const names[] = {"low", "medium", "high"};
    assert(intensity >= EXPERIMENT_INTENSITY_LOW && intensity <= EXPERIMENT_INTENSITY_HIGH);
    return names[(int)intensity];
}

enum experiment_intensity experiment_divergence_intensity(double active_threads) {
    return active_threads > 30    ? EXPERIMENT_INTENSITY_LOW
           : active_threads >= 20 ? EXPERIMENT_INTENSITY_MEDIUM
                                  : EXPERIMENT_INTENSITY_HIGH;
}

enum experiment_intensity experiment_idle_intensity(double idle_percent) {
    return idle_percent < 20    ? EXPERIMENT_INTENSITY_LOW
           : idle_percent <= 40 ? EXPERIMENT_INTENSITY_MEDIUM
                                : EXPERIMENT_INTENSITY_HIGH;
}

const char *experiment_program_class_name(double program_class) {
    static const char *const names[] = {"cache-sensitive", "divergent", "streaming", "computing"};
    assert(program_class >= EXPERIMENT_CACHE_SENSITIVE && program_class <= EXPERIMENT_COMPUTING);
    return names[(int)program_class];
}

enum experiment_program_class experiment_classify(double cache_sensitivity, double active_threads,
                                                  double misses_per_kilo_instruction) {
    return cache_sensitivity >= 1.2                                                      ? EXPERIMENT_CACHE_SENSITIVE
           : experiment_divergence_intensity(active_threads) != EXPERIMENT_INTENSITY_LOW ? EXPERIMENT_DIVERGENT
           : misses_per_kilo_instruction >= 1                                            ? EXPERIMENT_STREAMING
                                                                                         : EXPERIMENT_COMPUTING;
}

/* ---- Measures ---------------------------------------------------------------------------------------------------- */

static const struct stats_counters *counters(const struct experiment_measured *measured) {
    return &measured->run->total.counters;
}

static double active_threads(const struct experiment_measured *measured) {
    return ratio(counters(measured)->thread_instructions, counters(measured)->warp_instructions);
}

static double divergence_class(const struct experiment_measured *measured) {
    double threads = active_threads(measured);
    return isnan(threads) ? NAN : (double)experiment_divergence_intensity(threads);
}

static double idle_percent(const struct experiment_measured *measured) {
    const struct stats_counters *c = counters(measured);
    return 100 * ratio(c->sm_cycles - c->active_cycles, c->sm_cycles);
}

static double idle_class(const struct experiment_measured *measured) {
    double idle = idle_percent(measured);
    return isnan(idle) ? NAN : (double)experiment_idle_intensity(idle);
}

static double thread_instructions(const struct experiment_measured *measured) {
    return (double)counters(measured)->thread_instructions;
}

static double long_operations(const struct experiment_measured *measured) {
    return (double)counters(measured)->long_thread_instructions;
}

static double long_percent(const struct experiment_measured *measured) {
    return 100 * ratio(counters(measured)->long_thread_instructions, counters(measured)->thread_instructions);
}

static double instructions_per_branch(const struct experiment_measured *measured) {
    return ratio(counters(measured)->warp_instructions, counters(measured)->branches);
}

static double divergent_branch_percent(const struct experiment_measured *measured) {
    return 100 * ratio(counters(measured)->divergent_branches, counters(measured)->branches);
}

static double instructions_per_miss(const struct experiment_measured *measured) {
    return ratio(counters(measured)->warp_instructions, counters(measured)->missing_memory_instructions);
}

static double instructions_per_divergent_miss(const struct experiment_measured *measured) {
    return ratio(counters(measured)->warp_instructions, counters(measured)->divergent_misses);
}

static double divergent_miss_percent(const struct experiment_measured *measured) {
    return 100 * ratio(counters(measured)->divergent_misses, counters(measured)->missing_memory_instructions);
}

/* Stores are left out: where they are not allocated in the L1, all of them miss. */
static double misses_per_kilo_instruction(const struct experiment_measured *measured) {
    const struct stats_counters *c = counters(measured);
    return 1000 * ratio(c->l1_misses - c->l1_write_misses, c->thread_instructions);
}

static double ipc(const struct report_run *run) {
    return ratio(run->total.counters.thread_instructions, run->total.counters.cycles);
}

static double cache_sensitivity(const struct experiment_measured *measured) {
    return measured->larger_run ? ipc(measured->larger_run) / ipc(measured->run) : NAN;
}

static double program_class(const struct experiment_measured *measured) {
    double sensitivity = cache_sensitivity(measured), threads = active_threads(measured);
    return isnan(sensitivity) || isnan(threads)
               ? NAN
               : (double)experiment_classify(sensitivity, threads, misses_per_kilo_instruction(measured));
}

static double volume(const uint32_t shape[3]) { return (double)shape[0] * shape[1] * shape[2]; }

static double blocks(const struct experiment_measured *measured) {
    return measured->run->n_launches ? volume(measured->run->launch[0].grid) : NAN;
}

static double threads_per_block(const struct experiment_measured *measured) {
    return measured->run->n_launches ? volume(measured->run->launch[0].block) : NAN;
}

static double static_branches(const struct experiment_measured *measured) { return measured->n_branches; }

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static const struct experiment_measure narasiman2011[] = {
    {"active_threads", "active threads", EXPERIMENT_MEASURE_NUMBER, false, active_threads},
    {"divergence", "divergence", EXPERIMENT_MEASURE_CLASS, true, divergence_class},
    {"idle_percent", "idle cycles", EXPERIMENT_MEASURE_PERCENT, false, idle_percent},
    {"idle", "idle", EXPERIMENT_MEASURE_CLASS, true, idle_class},
};

static const struct experiment_measure liu2023[] = {
    {"thread_instructions", "thread instr.", EXPERIMENT_MEASURE_COUNT, true, thread_instructions},
    {"long_operations", "long operations", EXPERIMENT_MEASURE_COUNT, true, long_operations},
    {"long_percent", "long", EXPERIMENT_MEASURE_PERCENT, true, long_percent},
};

static const struct experiment_measure meng2010[] = {
    {"instructions_per_branch", "instr./branch", EXPERIMENT_MEASURE_NUMBER, true, instructions_per_branch},
    {"divergent_branch_percent", "divergent", EXPERIMENT_MEASURE_PERCENT, true, divergent_branch_percent},
    {"instructions_per_miss", "instr./miss", EXPERIMENT_MEASURE_NUMBER, true, instructions_per_miss},
    {"instructions_per_divergent_miss", "/div. miss", EXPERIMENT_MEASURE_NUMBER, true, instructions_per_divergent_miss},
    {"divergent_miss_percent", "divergent", EXPERIMENT_MEASURE_PERCENT, true, divergent_miss_percent},
};

static const struct experiment_measure malits2012[] = {
    {"blocks", "blocks", EXPERIMENT_MEASURE_COUNT, true, blocks},
    {"threads_per_block", "threads/block", EXPERIMENT_MEASURE_COUNT, true, threads_per_block},
    {"static_branches", "branches", EXPERIMENT_MEASURE_COUNT, true, static_branches},
};

static const struct experiment_measure caches[] = {
    {"misses_per_kilo_instruction", "misses/1000 instr.", EXPERIMENT_MEASURE_NUMBER, false,
     misses_per_kilo_instruction},
    {"cache_sensitivity", "IPC with 8 x L1", EXPERIMENT_MEASURE_RATIO, false, cache_sensitivity},
    {"active_threads", "active threads", EXPERIMENT_MEASURE_NUMBER, false, active_threads},
    {"class", "class", EXPERIMENT_MEASURE_PROGRAM_CLASS, false, program_class},
};

#define MEASURES(table) table, sizeof table / sizeof table[0]
const struct experiment_characterization experiment_characterizations[EXPERIMENT_N_PAPER_TABLES] = {
    [EXPERIMENT_NARASIMAN2011] = {"narasiman2011", "Divergence and idle cycles (Narasiman et al. 2011, table 2)",
                                  "narasiman2011", true, 0, MEASURES(narasiman2011)},
    [EXPERIMENT_LIU2023] = {"liu2023", "Instructions of threads and long operations (Liu et al. 2023, table 2)",
                            "gtx480", false, 0, MEASURES(liu2023)},
    [EXPERIMENT_MENG2010] = {"meng2010", "Branches and misses of warps (Meng et al. 2010, table 1)", "meng2010", true,
                             0, MEASURES(meng2010)},
    [EXPERIMENT_MALITS2012] = {"malits2012",
                               "Shape of the first launch and branches in the text (Malits et al. 2012, table 1)",
                               "gtx480", false, 0, MEASURES(malits2012)},
    [EXPERIMENT_CACHES] = {"caches", "Misses, cache sensitivity and class", "gtx480", true, 8, MEASURES(caches)},
};

/* ---- The papers' values ------------------------------------------------------------------------------------------ */

#define NONE NAN
#define LOW EXPERIMENT_INTENSITY_LOW
#define MEDIUM EXPERIMENT_INTENSITY_MEDIUM
#define HIGH EXPERIMENT_INTENSITY_HIGH
static const struct paper_row {
    enum experiment_paper_table table;
    const char *program;
    double value[EXPERIMENT_MOST_PAPER_MEASURES];
} paper_rows[] = {
#define EXPERIMENT_PAPER(table, program, ...) {EXPERIMENT_##table, #program, {__VA_ARGS__}},
#include "experiment/paper_classes.def"
#undef EXPERIMENT_PAPER
};
enum { N_PAPER_ROWS = sizeof paper_rows / sizeof paper_rows[0] };

const double *experiment_paper_values(enum experiment_paper_table table, const char *program) {
    const struct program_workload *workload = program_find_workload(program);
    const double *found = NULL;
    for (unsigned i = 0; i < N_PAPER_ROWS; i++) {
        if (paper_rows[i].table != table)
            continue;
        if (strcmp(paper_rows[i].program, program) == 0)
            return paper_rows[i].value;
        if (!found && workload && program_find_workload(paper_rows[i].program) == workload)
            found = paper_rows[i].value;
    }
    return found;
}

bool experiment_is_off(enum experiment_measure_kind kind, double ours, double paper) {
    if (isnan(ours) || isnan(paper))
        return false;
    return kind == EXPERIMENT_MEASURE_CLASS ? ours != paper : fabs(ours - paper) > fabs(paper) / 3;
}

const char *experiment_paper_reason(enum experiment_paper_table table, const char *program) {
    static const struct {
        enum experiment_paper_table table;
        const char *program, *text;
    } reasons[] = {
#define EXPERIMENT_REASON(table, program, text) {EXPERIMENT_##table, #program, text},
#include "experiment/paper_reasons.def"
#undef EXPERIMENT_REASON
    };
    const struct program_workload *workload = program_find_workload(program);
    const char *found = NULL;
    for (unsigned i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].table != table)
            continue;
        if (strcmp(reasons[i].program, program) == 0)
            return reasons[i].text;
        if (!found && workload && program_find_workload(reasons[i].program) == workload)
            found = reasons[i].text;
    }
    return found;
}

/* ---- The program text -------------------------------------------------------------------------------------------- */

static bool is_launched(const struct report_run *run, const char *kernel) {
    for (unsigned i = 0; i < run->n_launches; i++)
        if (strcmp(run->launch[i].name, kernel) == 0)
            return true;
    return false;
}

static unsigned branches_of(const struct ptx_function *function) {
    struct ptx_analysis *analysis = ptx_analyze(function);
    unsigned n = 0;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        n += analysis->reconvergence[i] != PTX_NO_INDEX;
    ptx_analysis_free(analysis);
    return n;
}

double experiment_count_branches(const char *ptx_path, const struct report_run *run) {
    struct base_arena arena = {0};
    struct base_source source;
    struct base_diag diag = {0};
    struct ptx_messages messages = {0};
    struct ptx_module *module = NULL;
    double n = NAN;
    if (base_source_read(&source, &arena, ptx_path, &diag))
        module = ptx_parse(source.name, source.text, source.length, &messages);
    if (module)
        n = 0;
    for (uint32_t f = 0; module && f < module->n_functions; f++)
        if (module->function[f]->has_body && is_launched(run, module->function[f]->name))
            n += branches_of(module->function[f]);
    ptx_module_free(module);
    ptx_messages_free(&messages);
    base_arena_free(&arena);
    return n;
}
