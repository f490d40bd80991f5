/* The table that people see after a run: a line for each kernel, a total, and how fast the host was. */
#include <string.h>

#include "report/report.h"

enum { LONGEST_NAME = 40 };

static const char *const headings[] = {"kernel",        "launches",     "blocks",   "threads",   "warp instr.",
                                       "thread instr.", "active lanes", "branches", "divergent", "memory instr."};
enum { N_COLUMNS = sizeof headings / sizeof headings[0] };

static void add_kernel(struct report_table *table, const struct report_kernel *kernel) {
    const struct stats_counters *counters = &kernel->counters;
    const char *cut = strlen(kernel->name) > LONGEST_NAME ? "..." : "";
    report_table_cell(table, "%.*s%s", LONGEST_NAME - (int)strlen(cut), kernel->name, cut);
    report_table_count(table, kernel->n_launches);
    report_table_count(table, counters->blocks);
    report_table_count(table, counters->threads);
    report_table_count(table, counters->warp_instructions);
    report_table_count(table, counters->thread_instructions);
    report_table_cell(table, "%.2f", report_active_lanes(counters));
    report_table_count(table, counters->branches);
    if (counters->branches)
        report_table_cell(table, "%.1f %%", 100.0 * (double)counters->divergent_branches / (double)counters->branches);
    else
        report_table_cell(table, "-");
    report_table_count(table, counters->memory_instructions);
}

void report_print_run(FILE *file, const struct report_run *run, bool is_colored, struct base_arena *arena) {
    if (run->n_launches == 0) {
        fputs("no kernel was launched\n", file);
        return;
    }
    unsigned n_kernels;
    const struct report_kernel *kernel = report_by_name(run, arena, &n_kernels);
    struct report_table table = report_table_new(arena, N_COLUMNS);
    for (unsigned i = 0; i < N_COLUMNS; i++)
        report_table_cell(&table, "%s", headings[i]);
    for (unsigned i = 0; i < n_kernels; i++)
        add_kernel(&table, &kernel[i]);
    if (n_kernels > 1)
        add_kernel(&table, &run->total);
    report_table_print(&table, file, is_colored);
    fprintf(file, "host: %.3f s in kernels, %.1f M warp instructions/s\n", run->host_seconds,
            report_rate(run->total.counters.warp_instructions, run->host_seconds) * 1e-6);
}
