/* What a run measured, and how it is shown: a table for people, JSON and CSV for programs. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "gpu/gpu.h"

/* One launch, or all launches of a kernel. */
struct report_kernel {
    const char *name;
    uint32_t grid[3], block[3]; /* of the first launch */
    unsigned n_launches;
    struct stats_counters counters;
};

/* One error of the driver, in the order they came. */
struct report_error {
    const char *result; /* CUDA_ERROR_... */
    const char *limit;  /* "timeout", "max-instructions", "interrupt", or NULL */
    const char *message;
};

struct report_run {
    const char *program;
    const char *size;    /* NULL: the program has no sizes */
    bool is_checked;     /* the result was compared with a CPU reference, and agrees */
    const char *stopped; /* what ended the run early: "timeout", "max-instructions", "interrupt"; NULL: nothing did */
    const char *error;   /* why the run failed, one line; NULL: it did not */
    struct report_kernel *launch;
    unsigned n_launches;
    struct report_kernel total;
    double host_seconds; /* in launches */
    struct report_error *errors;
    unsigned n_errors;
    const char **missing; /* functions of the driver that the program wanted and that Heddle has not */
    unsigned n_missing;
    bool has_results; /* the program reached Heddle's driver */
};

/* Reads the file that the driver writes (HEDDLE_RESULTS) into the run's launches, errors and total. A file that is not
 * there or is empty is a run without results; any other trouble is in diag, and false. */
bool report_read(struct report_run *run, const char *path, struct base_arena *arena, struct base_diag *diag);

/* The launches of each kernel name together, in the order of their first; *count of them. */
struct report_kernel *report_by_name(const struct report_run *run, struct base_arena *arena, unsigned *count);

/* Average active lanes of an instruction; 0 when there was none. */
double report_active_lanes(const struct stats_counters *counters);
/* 0 when no time passed. */
double report_rate(uint64_t count, double seconds);

/* `is_colored` puts escape sequences of terminals into the text. */
void report_print_run(FILE *file, const struct report_run *run, bool is_colored, struct base_arena *arena);

/* False when the file cannot take it (errno says why). */
bool report_write_json(FILE *file, const struct report_run *run);
bool report_write_csv(FILE *file, const struct report_run *run);

/* ---- Tables of text ---------------------------------------------------------------------------------------------- */

enum { REPORT_MAX_COLUMNS = 16 };

/* Columns as wide as their widest cell. The first is set to the left, the others to the right, unless is_left says so.
 */
struct report_table {
    struct base_arena *arena;
    unsigned n_columns;
    bool is_left[REPORT_MAX_COLUMNS];
    struct report_row *first, *last;
};

struct report_table report_table_new(struct base_arena *arena, unsigned n_columns);
/* The next cell from left to right; a full row begins the next one. */
__attribute__((format(printf, 2, 3))) void report_table_cell(struct report_table *table, const char *format, ...);
/* The same, with a comma after every three digits. */
void report_table_count(struct report_table *table, uint64_t count);
/* The first row is the heading. */
void report_table_print(const struct report_table *table, FILE *file, bool is_colored);
