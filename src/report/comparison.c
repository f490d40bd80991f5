/* Compares runs of the same programs on different targets: speed-ups, and their table. */
#include <math.h>
#include <string.h>

#include "report/report.h"

const char *report_outcome(const struct report_run *run) {
    if (run->is_wrong)
        return "check failed";
    if (run->stopped)
        return run->stopped;
    return run->error ? "error" : "done";
}

static bool is_done(const struct report_run *run) {
    return run && !run->is_wrong && !run->stopped && !run->error && run->total.counters.cycles;
}

double report_speedup(const struct report_entry *entry) {
    if (!is_done(entry->baseline) || !is_done(entry->run))
        return NAN;
    return (double)entry->baseline->total.counters.cycles / (double)entry->run->total.counters.cycles;
}

double report_mean_speedup(const struct report_comparison *comparison, unsigned target_number) {
    double sum = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < comparison->n_entries; i++)
        if (comparison->entry[i].target_number == target_number) {
            sum += log(report_speedup(&comparison->entry[i]));
            n++;
        }
    return n && n == comparison->n_programs ? exp(sum / n) : NAN;
}

/* ---- The columns ------------------------------------------------------------------------------------------------- */

/* The comparison, and the columns that its table needs. */
struct view {
    const struct report_comparison *comparison;
    struct report_style style;
    struct base_arena *arena;
    bool has_programs, has_machines, has_divergence; /* more than one */
    bool has_share[REPORT_N_SHARES];                 /* some run has a share above 0 */
    double most;                                     /* the largest speed-up */
};

static bool is_same_machine(const struct report_target *a, const struct report_target *b) {
    return strcmp(a->machine, b->machine) == 0;
}

static struct view make_view(const struct report_comparison *comparison, struct report_style style,
                             struct base_arena *arena) {
    struct view view = {.comparison = comparison, .style = style, .arena = arena};
    const struct report_run *first = comparison->entry[0].run;
    view.has_programs = comparison->n_programs > 1;
    for (unsigned i = 0; i < comparison->n_entries; i++) {
        const struct report_run *run = comparison->entry[i].run;
        unsigned share[REPORT_N_SHARES];
        report_shares(&run->total.counters, share);
        for (unsigned k = 0; k < REPORT_N_SHARES; k++)
            view.has_share[k] |= share[k] > 0;
        view.has_machines |= !is_same_machine(run->target, first->target);
        view.has_divergence |= strcmp(run->target->divergence, first->target->divergence) != 0;
        view.most = fmax(view.most, report_speedup(&comparison->entry[i])); /* ignores NaN */
    }
    return view;
}

static unsigned count_shares(const struct view *view) {
    unsigned n = 0;
    for (unsigned i = 0; i < REPORT_N_SHARES; i++)
        n += view->has_share[i];
    return n;
}

static unsigned count_columns(const struct view *view) {
    unsigned n_names = 1u + view->has_programs + view->has_machines + view->has_divergence;
    return n_names + 3 + count_shares(view) + view->comparison->is_verbose + 2;
}

static void add_headings(const struct view *view, struct report_table *table) {
    unsigned n_left = 1u + view->has_programs + view->has_machines + view->has_divergence;
    for (unsigned i = 0; i < n_left; i++)
        table->is_left[i] = true;
    table->is_left[table->n_columns - 1] = true;
    if (view->has_programs)
        report_table_cell(table, "program");
    if (view->has_machines)
        report_table_cell(table, "machine");
    report_table_cell(table, "scheduler");
    if (view->has_divergence)
        report_table_cell(table, "divergence");
    static const char *const numbers[] = {"cycles", "IPC", "SIMD"};
    for (unsigned i = 0; i < 3; i++)
        report_table_cell(table, "%s", numbers[i]);
    for (unsigned i = 0; i < REPORT_N_SHARES; i++)
        if (view->has_share[i])
            report_table_cell(table, "%s", report_share_heading(i));
    if (view->comparison->is_verbose)
        report_table_cell(table, "host s");
    report_table_cell(table, "speed-up");
    report_table_cell(table, "%s", "");
}

/* Returns a bar of length value / most, to an eighth of a character. */
static const char *bar(const struct view *view, double value) {
    static const char *const eighths[] = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
    double length = value / view->most * view->style.bar_width;
    unsigned n = (unsigned)floor(length * 8 + 0.5), whole = n / 8;
    const char *text = "", *color = view->style.is_colored ? value < 1 ? "\033[31m" : "\033[32m" : "";
    if (!view->style.has_blocks)
        whole = (unsigned)floor(length + 0.5);
    for (unsigned i = 0; i < whole; i++)
        text = base_arena_printf(view->arena, "%s%s", text, view->style.has_blocks ? "\u2588" : "#");
    return base_arena_printf(view->arena, "%s%s%s%s", color, text, view->style.has_blocks ? eighths[n % 8] : "",
                             *color ? "\033[0m" : "");
}

/* Adds the speed-up and its bar or, without a speed-up, the outcome. */
static void add_speedup(const struct view *view, struct report_table *table, double speedup, double halfwidth,
                        const char *outcome) {
    if (isnan(speedup)) {
        report_table_cell(table, "-");
        report_table_cell(table, "%s", strcmp(outcome, "done") == 0 ? "" : outcome);
        return;
    }
    if (halfwidth > 0)
        report_table_cell(table, "%.3f +- %.1f %%", speedup, 100 * halfwidth);
    else
        report_table_cell(table, "%.3f", speedup);
    report_table_cell(table, "%s", bar(view, speedup));
}

static void add_target(const struct view *view, struct report_table *table, const struct report_target *target) {
    if (view->has_machines)
        report_table_cell(table, "%s", target->machine);
    report_table_cell(table, "%s", target->scheduler);
    if (view->has_divergence)
        report_table_cell(table, "%s", target->divergence);
}

static void add_shares(const struct view *view, struct report_table *table, const struct stats_counters *counters) {
    unsigned share[REPORT_N_SHARES];
    report_shares(counters, share);
    for (unsigned i = 0; i < REPORT_N_SHARES; i++)
        if (view->has_share[i])
            report_table_cell(table, "%u.%u %%", share[i] / 10, share[i] % 10);
}

static void add_entry(const struct view *view, struct report_table *table, const struct report_entry *entry) {
    const struct report_run *run = entry->run;
    const struct stats_counters *counters = &run->total.counters;
    if (view->has_programs)
        report_table_cell(table, "%s", run->program);
    add_target(view, table, run->target);
    if (counters->cycles) {
        report_table_count(table, counters->cycles);
        report_table_cell(table, "%.2f", report_ipc(counters, run->target));
        report_table_cell(table, "%.1f %%", 100 * report_simd_efficiency(counters, run->target));
        add_shares(view, table, counters);
    } else {
        for (unsigned i = 0; i < 3 + count_shares(view); i++)
            report_table_cell(table, "-");
    }
    if (view->comparison->is_verbose)
        report_table_cell(table, "%.2f", run->host_seconds);
    add_speedup(view, table, report_speedup(entry), entry->halfwidth, report_outcome(run));
}

/* Adds the targets in the order of their numbers, each with its mean over the programs. */
static void add_means(const struct view *view, struct report_table *table) {
    const struct report_comparison *comparison = view->comparison;
    for (unsigned t = 0; t < comparison->n_targets; t++) {
        double mean = report_mean_speedup(comparison, t);
        unsigned i = 0, n_before = table->n_columns - 2;
        while (i < comparison->n_entries && comparison->entry[i].target_number != t)
            i++;
        if (isnan(mean) || i == comparison->n_entries)
            continue;
        report_table_cell(table, "geometric mean");
        add_target(view, table, comparison->entry[i].run->target);
        for (unsigned k = 2u + view->has_machines + view->has_divergence; k < n_before; k++)
            report_table_cell(table, "%s", "");
        add_speedup(view, table, mean, 0, "");
    }
}

/* Prints the properties that all rows have in common. */
static void print_title(FILE *file, const struct view *view) {
    const struct report_run *run = view->comparison->entry[0].run;
    const char *before = "";
    if (!view->has_programs) {
        fprintf(file, "%s", run->program);
        before = ", ";
    }
    if (run->size) {
        fprintf(file, "%ssize %s", before, run->size);
        before = ", ";
    }
    if (!view->has_machines) {
        fprintf(file, "%son %s", before, run->target->machine);
        before = ", ";
    }
    for (unsigned i = 0; i < run->target->n_changes; i++)
        fprintf(file, "%s%s", i ? ", " : view->has_machines ? ", machines with " : " with ", run->target->changes[i]);
    if (!view->has_divergence)
        fprintf(file, "%sdivergence %s", before, run->target->divergence);
    fputc('\n', file);
}

/* Prints how many launches were timed, if the cycles are estimates. */
static void print_estimates(FILE *file, const struct report_comparison *comparison) {
    for (unsigned i = 0; i < comparison->n_entries; i++) {
        const struct report_run *run = comparison->entry[i].run;
        if (run->estimate && comparison->entry[i].baseline == run)
            fprintf(file,
                    "%s: estimated from %u of %u sections of the launches; +- is half the interval that contains the "
                    "speed-up in 19 of 20 cases\n",
                    run->program, run->estimate->n_timed, run->estimate->n_sections);
    }
}

void report_print_comparison(FILE *file, const struct report_comparison *comparison, struct report_style style,
                             struct base_arena *arena) {
    if (comparison->n_entries == 0)
        return;
    struct view view = make_view(comparison, style, arena);
    struct report_table table = report_table_new(arena, count_columns(&view));
    print_title(file, &view);
    add_headings(&view, &table);
    for (unsigned i = 0; i < comparison->n_entries; i++)
        add_entry(&view, &table, &comparison->entry[i]);
    if (view.has_programs)
        add_means(&view, &table);
    report_table_print(&table, file, style.is_colored);
    print_estimates(file, comparison);
}
