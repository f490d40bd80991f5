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
#define CLI_METRIC(word, unit, real, per, weight, simulated) {word, unit},
#include "cli/validate/metrics.def"
};

/* Warp cycles on the SMs after the launch has started: until then our blocks wait on the SMs, and a card has none. */
#define WARP_CYCLES                                                                                                    \
    ((double)(c->machine_instructions + l->stall_memory + l->stall_dependency + l->stall_barrier + l->stall_fetch +    \
              l->stall_ready))
#define OCCUPANCY (WARP_CYCLES / ((double)(c->sm_cycles - c->stall_empty - c->fetch_start) * p->warps))

double cli_metric_simulated(unsigned which, const struct cli_measured *m) {
    const struct stats_counters *c = &m->counters;
    const struct stats_line *l = &m->lines;
    const struct report_peaks *p = m->peaks;
    const double value[CLI_N_METRICS] = {
#define CLI_METRIC(word, unit, real, per, weight, simulated) simulated,
#include "cli/validate/metrics.def"
    };
    return value[which];
}

double cli_metric_real(unsigned which, const struct cli_measured *measured) {
    return measured->real->metric[which].sum / measured->real->metric[which].per;
}

const char *cli_metric_word(unsigned which) { return metric[which].word; }

bool cli_metric_is_share(unsigned which) { return metric[which].unit == SHARE; }

double cli_metric_difference(unsigned which, const struct cli_measured *measured) {
    double real = cli_metric_real(which, measured);
    double simulated = cli_metric_simulated(which, measured);
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
    report_table_cell(table, "%s", measured->real->kernel ? measured->real->kernel : measured->real->workload);
    report_table_cell(table, "%s", metric[which].word);
    add_value(table, which, cli_metric_real(which, measured));
    add_value(table, which, cli_metric_simulated(which, measured));
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
                fprintf(file, "%s,%s,%s,%.9g,%.9g,%.4f\n", measured[i].real->workload,
                        measured[i].real->kernel ? measured[i].real->kernel : measured[i].real->size,
                        metric[which].word, cli_metric_real(which, &measured[i]),
                        cli_metric_simulated(which, &measured[i]), difference);
        }
}
