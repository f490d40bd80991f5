/* Prints the table after a run: a line per kernel, a total, the shares of the cycles, and the speed of the host. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/demangle.h"
#include "report/advice.h"

enum { LONGEST_NAME = 40 };

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

/* Returns the function's own name, after its namespaces, if that makes it shorter. */
static const char *without_namespaces(const char *name) {
    const char *own = name;
    for (const char *c = name; *c && *c != '<' && *c != '('; c++)
        if (c[0] == ':' && c[1] == ':')
            own = c + 2;
    return own;
}

static void add_name(struct report_table *table, const struct report_kernel *kernel) {
    struct base_arena arena = {0};
    const char *name = base_demangle(kernel->name, &arena);
    if (strlen(name) > LONGEST_NAME)
        name = without_namespaces(name);
    const char *cut = strlen(name) > LONGEST_NAME ? "..." : "";
    report_table_cell(table, "%.*s%s", LONGEST_NAME - (int)strlen(cut), name, cut);
    base_arena_free(&arena);
    if (kernel->n_untimed)
        report_table_cell(table, "%u of %u", kernel->n_launches - kernel->n_untimed, kernel->n_launches);
    else
        report_table_count(table, kernel->n_launches);
}

static void add_shape(struct report_table *table, const uint32_t shape[3], bool is_one_of_several) {
    if (is_one_of_several)
        report_table_cell(table, "various");
    else if (shape[2] > 1)
        report_table_cell(table, "%u,%u,%u", shape[0], shape[1], shape[2]);
    else if (shape[1] > 1)
        report_table_cell(table, "%u,%u", shape[0], shape[1]);
    else
        report_table_cell(table, "%u", shape[0]);
}

static void add_share(struct report_table *table, uint64_t part, uint64_t whole) {
    if (whole)
        report_table_cell(table, "%.1f %%", 100.0 * (double)part / (double)whole);
    else
        report_table_cell(table, "-");
}

/* ---- Without time ------------------------------------------------------------------------------------------------ */

static const char *const headings[] = {"kernel",        "launches",     "blocks",   "threads",   "warp instr.",
                                       "thread instr.", "active lanes", "branches", "divergent", "memory instr."};

static void add_kernel(struct report_table *table, const struct report_kernel *kernel, const struct report_run *run) {
    (void)run;
    const struct stats_counters *counters = &kernel->counters;
    add_name(table, kernel);
    report_table_count(table, counters->blocks);
    report_table_count(table, counters->threads);
    report_table_count(table, counters->warp_instructions);
    report_table_count(table, counters->thread_instructions);
    report_table_cell(table, "%.2f", report_active_lanes(counters));
    report_table_count(table, counters->branches);
    add_share(table, counters->divergent_branches, counters->branches);
    report_table_count(table, counters->memory_instructions);
}

/* ---- With time --------------------------------------------------------------------------------------------------- */

static const char *const timed_headings[] = {"kernel",      "launches",     "cycles",    "IPC",
                                             "warp instr.", "active lanes", "SIMD eff.", "divergent",
                                             "L1 misses",   "L2 misses",    "row hits"};

static void add_timed_kernel(struct report_table *table, const struct report_kernel *kernel,
                             const struct report_run *run) {
    const struct stats_counters *counters = &kernel->counters;
    add_name(table, kernel);
    report_table_count(table, counters->cycles);
    if (counters->cycles)
        report_table_cell(table, "%.2f", report_ipc(counters, run->target));
    else
        report_table_cell(table, "-");
    report_table_count(table, counters->warp_instructions);
    report_table_cell(table, "%.2f", report_active_lanes(counters));
    report_table_cell(table, "%.1f %%", 100 * report_simd_efficiency(counters, run->target));
    add_share(table, counters->divergent_branches, counters->branches);
    add_share(table, counters->l1_misses, counters->l1_accesses);
    add_share(table, counters->l2_misses, counters->l2_accesses);
    add_share(table, counters->row_hits, counters->row_hits + counters->row_conflicts);
}

/* The table of a user's program: the columns that describe its launches come first. */
static const char *const program_headings[] = {"kernel", "launches", "grid",        "block",        "cycles",
                                               "time",   "IPC",      "warp instr.", "active lanes", "SIMD eff."};

static void add_program_kernel(struct report_table *table, const struct report_kernel *kernel,
                               const struct report_run *run) {
    const struct stats_counters *counters = &kernel->counters;
    bool is_total = kernel == &run->total, is_timed = counters->cycles > 0;
    add_name(table, kernel);
    if (is_total) {
        report_table_cell(table, " ");
        report_table_cell(table, " ");
    } else {
        add_shape(table, kernel->grid, kernel->has_grids);
        add_shape(table, kernel->block, kernel->has_blocks);
    }
    if (!is_timed) {
        for (unsigned i = 4; i < sizeof program_headings / sizeof program_headings[0]; i++)
            report_table_cell(table, "-");
        return;
    }
    report_table_count(table, counters->cycles);
    add_share(table, counters->cycles, run->total.counters.cycles);
    report_table_cell(table, "%.2f", report_ipc(counters, run->target));
    report_table_count(table, counters->warp_instructions);
    report_table_cell(table, "%.2f", report_active_lanes(counters));
    report_table_cell(table, "%.1f %%", 100 * report_simd_efficiency(counters, run->target));
}

static void print_shares(FILE *file, const struct stats_counters *counters) {
    unsigned share[REPORT_N_SHARES];
    report_shares(counters, share);
    fputs("where the cycles went:", file);
    for (unsigned i = 0; i < REPORT_N_SHARES; i++)
        fprintf(file, "%s %s %u.%u %%", i ? "," : "", report_share_word(i), share[i] / 10, share[i] % 10);
    fputc('\n', file);
}

/* Prints the total and its parts, the largest first. */
static void print_energy(FILE *file, const struct stats_counters *counters) {
    struct {
        const char *name;
        uint64_t nj;
    } part[] = {
        {"fetch", counters->energy_fetch_nj},     {"integer", counters->energy_integer_nj},
        {"float", counters->energy_float_nj},     {"special", counters->energy_special_nj},
        {"matrix", counters->energy_matrix_nj},   {"registers", counters->energy_register_nj},
        {"results", counters->energy_result_nj},  {"L1", counters->energy_l1_nj},
        {"L2", counters->energy_l2_nj},           {"crossbar", counters->energy_crossbar_nj},
        {"DRAM", counters->energy_dram_nj},       {"clock", counters->energy_clock_nj},
        {"leakage", counters->energy_leakage_nj},
    };
    enum { N_PARTS = sizeof part / sizeof part[0] };
    fprintf(file, "energy: %.4g uJ:", (double)counters->energy_nj / 1000);
    for (unsigned n = 0; n < N_PARTS; n++) {
        unsigned most = 0;
        for (unsigned i = 1; i < N_PARTS; i++)
            if (part[i].nj > part[most].nj)
                most = i;
        if (part[most].nj == 0)
            break;
        fprintf(file, "%s %s %.1f %%", n ? "," : "", part[most].name,
                100 * (double)part[most].nj / (double)counters->energy_nj);
        part[most].nj = 0;
    }
    fputc('\n', file);
}

static void print_estimate(FILE *file, const struct report_run *run) {
    const struct report_estimate *estimate = run->estimate;
    if (!estimate)
        return;
    double cycles = (double)run->total.counters.cycles;
    fprintf(
        file,
        "estimated from %u of %u sections of the launches (%.1f %% of the work), in %u %s: cycles +- %.2f %%, in 19 "
        "of 20 cases\n",
        estimate->n_timed, estimate->n_sections, 100 * estimate->timed_work, estimate->n_runs,
        estimate->n_runs == 1 ? "run" : "runs", cycles > 0 ? 100 * estimate->halfwidth[STATS_AT_cycles] / cycles : 0);
}

static void print_apart(FILE *file, const struct report_run *run) {
    if (run->n_apart)
        fprintf(file, "%" PRIu64 " launches of several streams ran one after the other: %s\n", run->n_apart,
                run->why_apart);
}

static void print_target(FILE *file, const struct report_target *target) {
    fprintf(file, "%s", target->machine);
    for (unsigned i = 0; i < target->n_changes; i++)
        fprintf(file, "%s%s", i ? ", " : " with ", target->changes[i]);
    fprintf(file, "; scheduler %s, divergence %s\n", target->scheduler, target->divergence);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static void print_kernels(FILE *file, const struct report_run *run, bool is_colored, struct base_arena *arena) {
    unsigned n_kernels, n_columns = sizeof headings / sizeof headings[0];
    const char *const *heading = headings;
    void (*add)(struct report_table *, const struct report_kernel *, const struct report_run *) = add_kernel;
    if (run->target) {
        n_columns = sizeof timed_headings / sizeof timed_headings[0];
        heading = timed_headings;
        add = add_timed_kernel;
    }
    if (run->target && run->shows_shapes) {
        n_columns = sizeof program_headings / sizeof program_headings[0];
        heading = program_headings;
        add = add_program_kernel;
    }
    const struct report_kernel *kernel = report_by_name(run, arena, &n_kernels);
    struct report_table table = report_table_new(arena, n_columns);
    for (unsigned i = 0; i < n_columns; i++)
        report_table_cell(&table, "%s", heading[i]);
    for (unsigned i = 0; i < n_kernels; i++)
        add(&table, &kernel[i], run);
    if (n_kernels > 1)
        add(&table, &run->total, run);
    report_table_print(&table, file, is_colored);
}

void report_print_run(FILE *file, const struct report_run *run, bool is_colored, struct base_arena *arena) {
    if (run->n_launches == 0) {
        fputs("no kernel was launched\n", file);
        return;
    }
    if (run->target)
        print_target(file, run->target);
    print_kernels(file, run, is_colored, arena);
    if (run->target) {
        print_shares(file, &run->total.counters);
        if (run->total.counters.cycles)
            report_print_advice(file, run);
    }
    if (run->target)
        print_estimate(file, run);
    print_apart(file, run);
    if (run->total.counters.energy_nj)
        print_energy(file, &run->total.counters);
    double rate = report_rate(run->total.counters.warp_instructions, run->host_seconds);
    fprintf(file, "host: %.3f s in kernels, %.1f %s warp instructions/s\n", run->host_seconds,
            rate * (run->target ? 1e-3 : 1e-6), run->target ? "thousand" : "M");
}
