/* Compares metrics, ranks their differences and prints them. */
#include "cli/validate/metrics.h"

#include <math.h>
#include <stdlib.h>

enum { SECTOR_BYTES = 32 }; /* of Nsight Compute's sectors */
enum unit { COUNT, SHARE };

static const struct {
    const char *word;
    enum unit unit;
} metric[CLI_N_METRICS] = {
#define CLI_METRIC(word, unit, real, per, simulated) {word, unit},
#include "cli/validate/metrics.def"
};

#define WARPS(threads) ((double)(threads) * (double)c->warp_instructions / (double)c->thread_instructions)

static double simulated_value(unsigned which, const struct stats_counters *c, const struct report_peaks *p) {
    const double value[CLI_N_METRICS] = {
#define CLI_METRIC(word, unit, real, per, simulated) simulated,
#include "cli/validate/metrics.def"
    };
    return value[which];
}

static double real_value(unsigned which, const struct cli_recorded *real) {
    return real->metric[which].sum / real->metric[which].per;
}

double cli_metric_difference(unsigned which, const struct cli_measured *measured) {
    double real = real_value(which, measured->real);
    double simulated = simulated_value(which, &measured->counters, measured->peaks);
    if (metric[which].unit == SHARE)
        return simulated - real;
    return (simulated - real) / fmax(simulated, real);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

struct difference {
    unsigned metric;
    const struct cli_measured *measured;
    double value;
};

static int by_size(const void *a, const void *b) {
    double x = fabs(((const struct difference *)a)->value), y = fabs(((const struct difference *)b)->value);
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Writes the known differences of a metric, the largest first. Returns their number. */
static unsigned rank(struct difference *to, unsigned which, const struct cli_measured *measured, unsigned n) {
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++) {
        double value = cli_metric_difference(which, &measured[i]);
        if (!isnan(value))
            to[count++] = (struct difference){which, &measured[i], value};
    }
    qsort(to, count, sizeof *to, by_size);
    return count;
}

static void add_summary(struct report_table *table, const struct difference *difference, unsigned n) {
    double sum = 0, middle = fabs(difference[n / 2].value);
    unsigned n_high = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += fabs(difference[i].value);
        n_high += difference[i].value > 0;
    }
    if (n % 2 == 0)
        middle = (middle + fabs(difference[n / 2 - 1].value)) / 2;
    report_table_cell(table, "%s", metric[difference->metric].word);
    report_table_count(table, n);
    report_table_cell(table, "%.1f %%", 100 * sum / n);
    report_table_cell(table, "%.1f %%", 100 * middle);
    report_table_count(table, n_high);
}

static void add_value(struct report_table *table, unsigned which, double value) {
    if (metric[which].unit == SHARE)
        report_table_cell(table, "%.1f %%", 100 * value);
    else if (value < 1000)
        report_table_cell(table, "%.4g", value);
    else
        report_table_count(table, (uint64_t)value);
}

static void add_difference(struct report_table *table, const struct difference *difference) {
    unsigned which = difference->metric;
    const struct cli_measured *measured = difference->measured;
    report_table_cell(table, "%s", measured->real->workload);
    report_table_cell(table, "%s", metric[which].word);
    add_value(table, which, real_value(which, measured->real));
    add_value(table, which, simulated_value(which, &measured->counters, measured->peaks));
    report_table_cell(table, "%+.1f %%", 100 * difference->value);
}

void cli_print_metrics(FILE *file, const struct cli_measured *measured, unsigned n, struct base_arena *arena) {
    enum { N_WORST = 5 };
    struct difference *all = BASE_ARENA_ARRAY(arena, struct difference, n ? n : 1);
    struct report_table summary = report_table_new(arena, 5), worst = report_table_new(arena, 5);
    static const char *const summary_heads[] = {"metric", "programs", "mean", "median", "ours is higher"};
    static const char *const worst_heads[] = {"program", "metric", "real", "simulated", "difference"};
    for (unsigned k = 0; k < 5; k++) {
        report_table_cell(&summary, "%s", summary_heads[k]);
        report_table_cell(&worst, "%s", worst_heads[k]);
    }
    worst.is_left[1] = true;
    for (unsigned which = 0; which < CLI_N_METRICS; which++) {
        unsigned count = rank(all, which, measured, n);
        if (!count)
            continue;
        add_summary(&summary, all, count);
        for (unsigned i = 0; i < count && i < N_WORST; i++)
            add_difference(&worst, &all[i]);
    }
    report_table_print(&summary, file, false);
    fprintf(file, "\nThe largest differences of each metric:\n\n");
    report_table_print(&worst, file, false);
}

void cli_write_metrics(FILE *file, const struct cli_measured *measured, unsigned n) {
    fprintf(file, "program,size,metric,real,simulated,difference\n");
    for (unsigned i = 0; i < n; i++)
        for (unsigned which = 0; which < CLI_N_METRICS; which++) {
            double difference = cli_metric_difference(which, &measured[i]);
            if (!isnan(difference))
                fprintf(file, "%s,%s,%s,%.9g,%.9g,%.4f\n", measured[i].real->workload, measured[i].real->size,
                        metric[which].word, real_value(which, measured[i].real),
                        simulated_value(which, &measured[i].counters, measured[i].peaks), difference);
        }
}
