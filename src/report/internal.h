/* Shared by the files of report. */
#pragma once

#include <jansson.h>

#include "report/report.h"

/* run_json.c: one run, or several, as --json writes them. has_host: with the host's times. is_page: with everything
 * recorded, for a page. */
json_t *report_run_json(const struct report_run *run, bool has_host, bool is_page);
json_t *report_comparison_json(const struct report_comparison *comparison, bool is_page);
/* The counts of each thread, by kernel and shape. */
json_t *report_threads_json(const struct report_run *run);

/* memory.c: the levels of memory of these counters, the machine's peaks, and the occupancy of a launch. */
json_t *report_memory_json(const struct stats_counters *counters, const struct report_target *target);
json_t *report_peaks_json(const struct report_target *target);
json_t *report_occupancy_json(const struct report_kernel *kernel, const struct report_peaks *peaks);

/* hot.c: finds the lines that cost most in the launches of a results file. */
void report_read_hot(struct report_run *run, const json_t *launches, struct base_arena *arena);

/* why.c: an explanation as compare --json writes it. */
struct report_why;
json_t *report_why_json(const struct report_why *why);

/* profile.c: reads the "profiles" of a results file, and the per-thread counts from a separate file. */
bool report_read_profiles(struct report_run *run, const json_t *array, const char *threads_path,
                          struct base_arena *arena, struct base_diag *diag);

/* lines.c: reads the "listings" of a results file, and writes them. */
void report_read_listings(struct report_run *run, const json_t *array, struct base_arena *arena);
json_t *report_listings_json(const struct report_run *run);

/* source.c: the lines of a text file without the blanks around them; none if the file cannot be read. */
struct report_source {
    const char **line;
    unsigned n_lines;
};
struct report_source report_read_source(const char *path, struct base_arena *arena);
