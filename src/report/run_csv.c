/* A run as CSV (RFC 4180, lines end in a plain newline): a heading, then one line for each launch in order. Totals are
 * left out: a column can be added up, but a line that does not belong has to be found. */
#include <inttypes.h>

#include "report/report.h"

/* Names come from programs, so they may hold anything. */
static void print_text(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

enum { ALWAYS = 1, TIMED = 0 }; /* columns that have no meaning without time are absent then */

static void print_heading(FILE *file, bool is_timed) {
    fputs("program,size,launch,kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z", file);
#define STATS_COUNTER(name, when, meaning)                                                                             \
    if (when || is_timed)                                                                                              \
        fputs("," #name, file);
#include "stats/counters.def"
#undef STATS_COUNTER
    fputs(",average_active_threads\n", file);
}

static void print_launch(FILE *file, const struct report_run *run, unsigned i) {
    const struct report_kernel *launch = &run->launch[i];
    print_text(file, run->program);
    fprintf(file, ",%s,%u,", run->size ? run->size : "", i);
    print_text(file, launch->name);
    fprintf(file, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32, launch->grid[0], launch->grid[1], launch->grid[2]);
    fprintf(file, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32, launch->block[0], launch->block[1], launch->block[2]);
    bool is_timed = run->total.counters.cycles != 0;
#define STATS_COUNTER(name, when, meaning)                                                                             \
    if (when || is_timed)                                                                                              \
        fprintf(file, ",%" PRIu64, launch->counters.name);
#include "stats/counters.def"
#undef STATS_COUNTER
    fprintf(file, ",%.9g\n", report_active_lanes(&launch->counters));
}

bool report_write_csv(FILE *file, const struct report_run *run) {
    print_heading(file, run->total.counters.cycles != 0);
    for (unsigned i = 0; i < run->n_launches; i++)
        print_launch(file, run, i);
    return fflush(file) == 0 && !ferror(file);
}
