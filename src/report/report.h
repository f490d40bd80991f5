/* What a run measured, and how it is shown: a table for people, JSON and CSV for programs. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "stats/counters.h"

/* One launch, or all launches of a kernel. */
struct report_kernel {
    const char *name;
    uint32_t grid[3], block[3]; /* of the first launch */
    unsigned n_launches;
    struct stats_counters counters;
    const char *active_lanes, *samples; /* JSON texts of a launch: the histogram, the time series; NULL when absent */
    unsigned n_untimed; /* of the launches: run functionally on a machine with time; their counters are not kept */
    bool has_grids, has_blocks; /* launches have different ones */
};

/* One error of the driver, in the order they came. */
struct report_error {
    const char *result; /* CUDA_ERROR_... */
    const char *limit;  /* "timeout", "max-instructions", "max-cycles", "interrupt", or NULL */
    const char *message;
};

/* What a run was timed on. */
struct report_target {
    const char *machine, *scheduler, *divergence;
    const char *const *changes; /* KEY=VALUE each: how the machine differs from the one of that name */
    unsigned n_changes;
    unsigned lanes;    /* of a warp */
    unsigned channels; /* of DRAM */
};

/* All launches of a kernel with one shape, when the run recorded its threads and branches. */
struct report_profile {
    const char *kernel;
    uint32_t grid[3], block[3];
    unsigned n_launches, n_branches;
    struct report_branch {
        uint32_t line;               /* of the PTX */
        uint64_t executed, diverged; /* by groups of threads */
    } * branch;
    uint64_t n_threads;
    uint32_t *path, *split; /* per thread: instructions executed; branches at which its group went different ways */
};

struct report_run {
    const char *program;
    const char *size;                   /* NULL: the program has no sizes */
    const struct report_target *target; /* NULL: it was executed without timing */
    bool is_checked;                    /* the result was compared with a CPU reference, and agrees */
    bool is_wrong;                      /* it was compared, and differs */
    const char *stopped;                /* what ended the run early: a limit or "interrupt"; NULL: nothing did */
    const char *error;                  /* why the run failed, one line; NULL: it did not */
    struct report_kernel *launch;
    unsigned n_launches;
    struct report_kernel total;
    double host_seconds; /* in launches */
    uint64_t peak_bytes; /* of the program's memory on the host; 0: unknown */
    struct report_error *errors;
    unsigned n_errors;
    const char **missing; /* functions of the driver that the program wanted and that Heddle has not */
    unsigned n_missing;
    struct report_profile *profile;
    unsigned n_profiles;
    bool has_results;  /* the program reached Heddle's driver */
    bool shows_shapes; /* the table has grids, blocks and shares of time */
};

/* Reads the file that the driver writes (HEDDLE_RESULTS), and what it wrote beside it, into the run's launches, errors,
 * profiles and total. A file that is not there or is empty is a run without results; any other trouble is in diag, and
 * false. */
bool report_read(struct report_run *run, const char *path, struct base_arena *arena, struct base_diag *diag);

/* The launches of each kernel name together, in the order of their first; *count of them. */
struct report_kernel *report_by_name(const struct report_run *run, struct base_arena *arena, unsigned *count);

/* ---- Statistics from counters ------------------------------------------------------------------------------------ */

struct report_derived {
    const char *name;
    bool is_timed; /* it exists only where time does */
    bool is_count; /* a whole number */
    const char *meaning;
    /* NaN where there is nothing to divide by; `target` may be NULL unless is_timed. */
    double (*value)(const struct stats_counters *counters, const struct report_target *target);
};
extern const struct report_derived report_derived[];
extern const unsigned report_n_derived;

/* Average active lanes of an instruction; 0 when there was none. */
double report_active_lanes(const struct stats_counters *counters);
/* Active lanes of the lanes issued, 0 to 1. */
double report_simd_efficiency(const struct stats_counters *counters, const struct report_target *target);
/* Thread instructions per cycle; NaN without cycles. */
double report_ipc(const struct stats_counters *counters, const struct report_target *target);

/* Where the SM cycles went. */
enum { REPORT_N_SHARES = 7 };
extern const char *const report_share_names[REPORT_N_SHARES]; /* "active", "memory"... */
/* In tenths of a per cent, rounded so that they add up to 1000; all 0 without cycles. */
void report_shares(const struct stats_counters *counters, unsigned share[REPORT_N_SHARES]);

/* 0 when no time passed. */
double report_rate(uint64_t count, double seconds);

/* `is_colored` puts escape sequences of terminals into the text. */
void report_print_run(FILE *file, const struct report_run *run, bool is_colored, struct base_arena *arena);

/* The branches that were executed, with how often their groups diverged. */
void report_print_branches(FILE *file, const struct report_run *run, bool is_colored, struct base_arena *arena);

/* A grey picture, line by line from the top. */
struct report_image {
    uint32_t width, height;
    uint8_t *pixel;
};
/* A pixel for each thread, black is 0 and white the most: two-dimensional grids as they lie, layers below each other,
 * threads in a line in rows. */
struct report_image report_thread_image(const struct report_profile *profile, const uint32_t *value, uint32_t *most,
                                        struct base_arena *arena);
/* False when the file cannot take it (errno says why). */
bool report_write_png(FILE *file, const struct report_image *image);
bool report_write_pgm(FILE *file, const struct report_image *image);

/* False when the file cannot take it (errno says why). */
bool report_write_json(FILE *file, const struct report_run *run);
bool report_write_csv(FILE *file, const struct report_run *run);
/* The totals, the cycles by active lanes and whatever was recorded, as JSON on one line: what is kept of a run. */
enum { REPORT_MAX_LANES = 64 };
bool report_write_summary(FILE *file, const struct report_run *run);

/* ---- Several runs side by side ----------------------------------------------------------------------------------- */

struct report_entry {
    const struct report_run *run;
    const struct report_run *baseline; /* the first run of the same program, which may be this; NULL: it did not end */
    unsigned target_number; /* the same for all programs on the same machine, scheduler and divergence model */
};

struct report_comparison {
    const struct report_entry *entry; /* the runs of a program stand together */
    unsigned n_entries, n_programs, n_targets;
    bool is_verbose; /* with host times */
};

/* "done", "check failed", "error", or what stopped it. */
const char *report_outcome(const struct report_run *run);
/* Cycles of the baseline for one of this run; NaN when one of the two was not done. */
double report_speedup(const struct report_entry *entry);
/* The geometric mean of the speed-ups on a target; NaN unless every program has one. */
double report_mean_speedup(const struct report_comparison *comparison, unsigned target_number);

struct report_style {
    bool is_colored;
    bool has_blocks; /* bars of block characters in UTF-8 instead of # */
    unsigned bar_width;
};
void report_print_comparison(FILE *file, const struct report_comparison *comparison, struct report_style style,
                             struct base_arena *arena);
bool report_write_comparison_json(FILE *file, const struct report_comparison *comparison);
bool report_write_comparison_csv(FILE *file, const struct report_comparison *comparison);

/* ---- Tables of text ---------------------------------------------------------------------------------------------- */

enum { REPORT_MAX_COLUMNS = 20 };

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
