/* Writes runs as CSV (RFC 4180, lines end in a plain newline). One run: a heading, then one line per launch, without a
 * line of totals, which readers would have to filter out. Several runs: one line each, with its totals. Runs without
 * timing have no columns that need timing. A cell without a value is empty. */
#include <inttypes.h>
#include <math.h>

#include "report/report.h"

/* Names come from programs and may contain anything. */
static void print_text(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

/* ---- The columns that every line has ----------------------------------------------------------------------------- */

static void print_run_heading(FILE *file, bool is_timed) {
    fprintf(file, "program,size%s", is_timed ? ",machine,scheduler,divergence" : "");
}

static void print_run_cells(FILE *file, const struct report_run *run) {
    print_text(file, run->program);
    fprintf(file, ",%s", run->size ? run->size : "");
    if (!run->target)
        return;
    const char *const cells[] = {run->target->machine, run->target->scheduler, run->target->divergence};
    for (unsigned i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        fputc(',', file);
        print_text(file, cells[i]);
    }
}

static void print_stats_heading(FILE *file, bool is_timed) {
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        if (stats_is_shown(&stats_list[i], is_timed))
            fprintf(file, ",%s", stats_list[i].name);
    for (unsigned i = 0; i < report_n_derived; i++)
        if (is_timed || !report_derived[i].is_timed)
            fprintf(file, ",%s", report_derived[i].name);
}

static void print_value(FILE *file, double value) {
    if (isnan(value))
        fputc(',', file);
    else
        fprintf(file, ",%.9g", value);
}

static void print_stats(FILE *file, const struct stats_counters *counters, const struct report_target *target) {
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        if (stats_exists(&stats_list[i], target, counters))
            fprintf(file, ",%" PRIu64, counters->value[i]);
        else if (stats_is_shown(&stats_list[i], target))
            fputc(',', file);
    for (unsigned i = 0; i < report_n_derived; i++) {
        const struct report_derived *derived = &report_derived[i];
        if (derived->is_timed && !target)
            continue;
        if (derived->is_count)
            fprintf(file, ",%.0f", derived->value(counters, target));
        else
            print_value(file, derived->value(counters, target));
    }
}

/* ---- One run ----------------------------------------------------------------------------------------------------- */

static void print_launch(FILE *file, const struct report_run *run, unsigned i) {
    const struct report_kernel *launch = &run->launch[i];
    print_run_cells(file, run);
    fprintf(file, ",%u,", i + 1);
    print_text(file, launch->name);
    fprintf(file, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32, launch->grid[0], launch->grid[1], launch->grid[2]);
    fprintf(file, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32, launch->block[0], launch->block[1], launch->block[2]);
    print_stats(file, &launch->counters, run->target);
    fputc('\n', file);
}

bool report_write_csv(FILE *file, const struct report_run *run) {
    print_run_heading(file, run->target);
    fputs(",launch,kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z", file);
    print_stats_heading(file, run->target);
    fputc('\n', file);
    for (unsigned i = 0; i < run->n_launches; i++)
        print_launch(file, run, i);
    return fflush(file) == 0 && !ferror(file);
}

/* ---- Several ----------------------------------------------------------------------------------------------------- */

bool report_write_comparison_csv(FILE *file, const struct report_comparison *comparison) {
    print_run_heading(file, true);
    fputs(",checked,outcome,launches", file);
    print_stats_heading(file, true);
    fputs(",speedup\n", file);
    for (unsigned i = 0; i < comparison->n_entries; i++) {
        const struct report_run *run = comparison->entry[i].run;
        print_run_cells(file, run);
        fprintf(file, ",%s,%s,%u", run->is_checked ? "true" : "false", report_outcome(run), run->n_launches);
        print_stats(file, &run->total.counters, run->target);
        print_value(file, report_speedup(&comparison->entry[i]));
        fputc('\n', file);
    }
    return fflush(file) == 0 && !ferror(file);
}
