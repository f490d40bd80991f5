/* The results of a run, and how they are shown: a table for people, JSON and CSV for programs. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "stats/counters.h"
#include "stats/lines.h"
#include "stats/stalls.h"

/* How a launch fills an SM: config/occupancy.h. */
struct report_occupancy {
    unsigned blocks, warps; /* that fit on an SM */
    unsigned most_warps;    /* of an SM; 0: not known */
    const char *limiter;
    const char *text; /* all of it, as JSON */
};

/* One launch, or all launches of a kernel. */
struct report_kernel {
    const char *name;
    uint32_t grid[3], block[3]; /* of the first launch */
    unsigned n_launches;
    struct stats_counters counters;
    const char *active_lanes, *samples; /* JSON texts of a launch: the histogram, the time series; NULL when absent */
    struct report_occupancy occupancy;  /* of the first launch */
    unsigned n_untimed; /* launches that ran functionally on a timed machine; they are not part of `counters` */
    const struct stats_counters *untimed; /* of such a launch: its counters; otherwise NULL */
    bool is_estimated;                    /* a launch that was not timed, and whose counters are estimates */
    bool has_grids, has_blocks;           /* launches differ in them */
};

/* One error of the driver, in order of occurrence. */
struct report_error {
    const char *result; /* CUDA_ERROR_... */
    const char *limit;  /* "timeout", "max-instructions", "max-cycles", "interrupt", or NULL */
    const char *message;
    bool is_unsupported; /* Heddle lacks a feature; the other errors occur on a GPU too */
};

enum report_unit {
#define REPORT_UNIT(name, word, work, peak) REPORT_##name,
#include "report/units.def"
    REPORT_N_UNITS
};

enum report_level {
#define REPORT_LEVEL(name, word, requests, bytes, hits, lookups, peak) REPORT_LEVEL_##name,
#include "report/levels.def"
    REPORT_N_LEVELS
};

/* The most that a machine can do, and the sizes that relate its counters to bytes. */
struct report_peaks {
    double per_cycle[REPORT_N_UNITS];        /* of a unit, in the measure of units.def; 0: the machine lacks it */
    double bytes_per_cycle[REPORT_N_LEVELS]; /* of a level of memory; 0: the machine lacks it */
    double clock_ghz;
    unsigned sms, schedulers, warps;                  /* schedulers and warps: of an SM */
    unsigned l1_line_bytes, line_bytes, shared_banks; /* line_bytes: of the L2 and DRAM */
    unsigned start_cycles;                            /* from a launch until its first block starts */
};

/* The machine, scheduler and divergence model of a timed run. */
struct report_target {
    const char *machine, *scheduler, *divergence;
    const char *description;    /* of the machine, one line, or NULL */
    const char *const *changes; /* KEY=VALUE each: differences from the machine of that name */
    unsigned n_changes;
    unsigned lanes;    /* of a warp */
    unsigned channels; /* of DRAM */
    struct report_peaks peaks;
};

/* All launches of a kernel with one shape, if the run recorded its threads and branches. */
struct report_profile {
    const char *kernel;
    uint32_t grid[3], block[3];
    unsigned n_launches, n_branches;
    struct report_branch {
        uint32_t line;               /* of the PTX */
        uint64_t executed, diverged; /* by groups of threads */
    } * branch;
    uint64_t n_threads;
    uint32_t *path, *split; /* per thread: instructions executed; branches at which its group diverged */
    uint32_t *miss;         /* per thread: accesses that missed the L1 */
};

/* The instructions of a kernel in the order of the program, if the run recorded its lines. */
struct report_listing {
    const char *kernel;
    unsigned n_launches, n_lines;
    struct report_line {
        uint32_t line;        /* of the PTX; 0: a return that is not written there */
        uint32_t source_line; /* of the CUDA source; 0: not known */
        const char *file;     /* of the CUDA source, or NULL */
        const char *text;
        struct stats_line counters;
    } * line;
};

/* A kernel or copy on the device's timeline. */
struct report_work {
    const char *kind;
    uint32_t stream, launch; /* launch: the number of a kernel, from 1; 0: a copy */
    uint64_t bytes;
    uint64_t first, end; /* cycles from the start of the program */
};

/* The source line that costs a run most, in each of these ways: its loads are longest in flight, its accesses to shared
 * memory conflict, its branches diverge. */
enum report_hot { REPORT_HOT_LOADS, REPORT_HOT_CONFLICTS, REPORT_HOT_BRANCHES, REPORT_N_HOT };
struct report_hot_line {
    const char *kernel;
    const char *file; /* NULL: the line is of the PTX */
    uint32_t line;
    uint64_t part, whole;     /* of the line, of all lines; whole is 0 if there is none */
    uint64_t accesses, lines; /* REPORT_HOT_LOADS: of its loads */
    uint32_t second;          /* a line of the file with nearly as many conflicts; part has both. 0: none */
};

/* A part of a launch, with --estimate: gpu.h. */
enum report_section_kind {
    REPORT_SECTION_WHOLE,
    REPORT_SECTION_NEW,
    REPORT_SECTION_FIRST,
    REPORT_SECTION_MIDDLE,
    REPORT_SECTION_LAST
};
struct report_section {
    uint32_t launch; /* its index */
    enum report_section_kind kind;
    uint64_t first_block, n_blocks;
    uint32_t stratum, segment;
    double work;                          /* the cycles that the machine's peaks would allow */
    uint64_t touched_lines, missed_lines; /* of the L2 */
    uint64_t longest;                     /* instructions of its longest row */
    struct stats_counters counted;        /* in the functional run */
    struct stats_counters *timed;         /* NULL: it was not timed */
    bool has_true_caches;                 /* timed, and every launch before it: it found the caches of a full run */
    double line_cycles;                   /* timed: by how much a line that is missed wrongly can delay the launch */
    uint64_t early_cycles[2]; /* timed, in the middle of a launch: if no blocks, or half as many, had run before it */
};

/* How exact the counters of a run are if only some of its sections were timed. */
struct report_estimate {
    unsigned n_timed, n_sections, n_launches; /* n_timed: sections */
    unsigned n_runs;                          /* of the program */
    double halfwidth[STATS_N_COUNTERS];       /* of the interval that contains a counter in 19 of 20 cases */
    double doubt;                             /* the part of the cycles by which they may be wrong in any sample */
    double timed_work;                        /* the part of the predicted work that was timed, 0 to 1 */
};

struct report_run {
    const char *program;
    const char *size;                   /* NULL if the program has no sizes */
    const struct report_target *target; /* NULL without timing */
    bool is_checked;                    /* the result agrees with a CPU reference */
    bool is_wrong;                      /* the result differs from it */
    const char *stopped;                /* the limit that ended the run early, or "interrupt", or NULL */
    const char *error;                  /* the reason that the run failed, one line, or NULL */
    struct report_kernel *launch;
    unsigned n_launches;
    struct report_kernel total;
    double host_seconds; /* in launches */
    uint64_t peak_bytes; /* of the program's host memory; 0: unknown */
    struct report_error *errors;
    unsigned n_errors;
    uint64_t n_uninitialised, n_races; /* accesses that --memcheck found */
    const char **missing;              /* driver functions that the program uses and Heddle lacks */
    unsigned n_missing;
    struct report_profile *profile;
    unsigned n_profiles;
    struct report_listing *listing;
    unsigned n_listings;
    struct report_hot_line hot[REPORT_N_HOT];
    struct report_section *section; /* with --estimate, of all launches, in order */
    unsigned n_sections;
    const struct report_estimate *estimate; /* NULL: every launch was timed, or nothing is known of the others */
    uint64_t n_apart;                       /* launches of several streams that ran one after the other */
    const char *why_apart;
    struct report_work *work; /* on machines with a link to the host */
    unsigned n_work;
    /* Recorded only for the page: report_write_json() and report_write_comparison_json() leave it out. */
    struct {
        bool samples, branches, lines;
    } is_for_page;
    bool has_results;  /* the program reached Heddle's driver */
    bool shows_shapes; /* the table shows grids, blocks and shares of time */
};

/* Reads the files that the driver writes (HEDDLE_RESULTS) into the run's launches, errors, profiles and total. A
 * missing or empty file is a run without results. For any other problem it returns false, with the reason in `diag`. */
bool report_read(struct report_run *run, const char *path, struct base_arena *arena, struct base_diag *diag);

/* Reads a run from the JSON that `run`, or `compare` for each of its runs, has written. Its target, too: `shown` must
 * live as long as the run. Texts are copied. */
struct json_t;
void report_read_document(struct report_run *run, struct report_target *shown, const struct json_t *object,
                          struct base_arena *arena);

/* Sums the launches of each kernel name, in the order of their first launch. Returns *count results. */
struct report_kernel *report_by_name(const struct report_run *run, struct base_arena *arena, unsigned *count);

/* ---- Statistics from counters ------------------------------------------------------------------------------------ */

struct report_derived {
    const char *name;
    bool is_timed; /* only for timed runs */
    bool is_count; /* a whole number */
    const char *meaning;
    /* Returns NaN if the denominator is 0; `target` may be NULL unless is_timed. */
    double (*value)(const struct stats_counters *counters, const struct report_target *target);
};
extern const struct report_derived report_derived[];
extern const unsigned report_n_derived;

/* Returns the average active lanes of an instruction; 0 without instructions. */
double report_active_lanes(const struct stats_counters *counters);
/* Returns the share of the issued lanes that are active, 0 to 1. */
double report_simd_efficiency(const struct stats_counters *counters, const struct report_target *target);
/* Returns thread instructions per cycle; NaN without cycles. */
double report_ipc(const struct stats_counters *counters, const struct report_target *target);

/* The shares of the SM cycles: an instruction issued, or a stall of stats/stalls.def. */
enum { REPORT_N_SHARES = 1 + STATS_N_SM_STALLS };
/* Returns "active" or the word of a stall. A heading is the same for a narrow column. */
const char *report_share_word(unsigned share);
const char *report_share_heading(unsigned share);
/* Writes the shares in tenths of a percent, rounded so that they add up to 1000; all 0 without cycles. */
void report_shares(const struct stats_counters *counters, unsigned share[REPORT_N_SHARES]);

/* Returns Student's t: how many standard errors an interval has on either side that contains the mean in 19 of 20
 * cases. `freedom`: degrees of freedom, one less than the numbers of a sample. */
double report_student(double freedom);

/* Returns 0 if no time passed. */
double report_rate(uint64_t count, double seconds);

/* `is_colored` adds terminal escape sequences. */
void report_print_run(FILE *file, const struct report_run *run, bool is_colored, struct base_arena *arena);

/* Prints the executed branches, and how often their groups diverged. */
void report_print_branches(FILE *file, const struct report_run *run, bool is_colored, struct base_arena *arena);

/* Prints the executed lines of each kernel with their counters, first as PTX and then, if .loc names it, as CUDA. */
void report_print_lines(FILE *file, const struct report_run *run, bool is_colored, struct base_arena *arena);

/* A grey picture, top line first. */
struct report_image {
    uint32_t width, height;
    uint8_t *pixel;
};
/* Returns a picture with one pixel per thread, from black for 0 to white for the maximum, *most. Two-dimensional grids
 * keep their layout, with layers below each other. One-dimensional ones are cut into rows. */
struct report_image report_thread_image(const struct report_profile *profile, const uint32_t *value, uint32_t *most,
                                        struct base_arena *arena);
/* Returns false when writing fails (see errno). */
bool report_write_png(FILE *file, const struct report_image *image);
bool report_write_pgm(FILE *file, const struct report_image *image);

/* Returns false when writing fails (see errno). */
bool report_write_json(FILE *file, const struct report_run *run);
bool report_write_csv(FILE *file, const struct report_run *run);
/* Writes the totals, the cycles by active lanes and all recordings of a run as one line of JSON, for a store of
 * results. */
enum { REPORT_MAX_LANES = 64 };
bool report_write_summary(FILE *file, const struct report_run *run);

/* ---- Several runs side by side ----------------------------------------------------------------------------------- */

struct report_entry {
    const struct report_run *run;
    const struct report_run *baseline; /* the first run of the same program, possibly this one; NULL if it failed */
    unsigned target_number;            /* identifies machine, scheduler and divergence model, for all programs */
    double halfwidth; /* of the speed-up, relative, if the runs are estimates from the same sample; otherwise 0 */
};

struct report_comparison {
    const struct report_entry *entry; /* the runs of a program are adjacent */
    unsigned n_entries, n_programs, n_targets;
    bool is_verbose; /* with host times */
};

/* Returns "done", "check failed", "error", or the limit that stopped the run. */
const char *report_outcome(const struct report_run *run);
/* Returns the baseline's cycles / this run's; NaN unless both succeeded. */
double report_speedup(const struct report_entry *entry);
/* Returns the geometric mean of the speed-ups on a target; NaN unless every program has one. */
double report_mean_speedup(const struct report_comparison *comparison, unsigned target_number);

struct report_style {
    bool is_colored;
    bool has_blocks; /* draw bars with UTF-8 block characters instead of # */
    unsigned bar_width;
};
void report_print_comparison(FILE *file, const struct report_comparison *comparison, struct report_style style,
                             struct base_arena *arena);
bool report_write_comparison_json(FILE *file, const struct report_comparison *comparison);
bool report_write_comparison_csv(FILE *file, const struct report_comparison *comparison);

/* ---- Tables of text ---------------------------------------------------------------------------------------------- */

enum { REPORT_MAX_COLUMNS = 20 };

/* Columns are as wide as their widest cell. The first is aligned left, the others right unless is_left is set. */
struct report_table {
    struct base_arena *arena;
    unsigned n_columns;
    bool is_left[REPORT_MAX_COLUMNS];
    struct report_row *first, *last;
};

struct report_table report_table_new(struct base_arena *arena, unsigned n_columns);
/* Adds the next cell from left to right. After a full row a new one begins. */
__attribute__((format(printf, 2, 3))) void report_table_cell(struct report_table *table, const char *format, ...);
/* Adds a number with a comma before every three digits. */
void report_table_count(struct report_table *table, uint64_t count);
/* The first row is the heading. */
void report_table_print(const struct report_table *table, FILE *file, bool is_colored);
