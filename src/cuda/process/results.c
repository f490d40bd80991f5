/* The results of a run, as a JSON file named by HEDDLE_RESULTS:
 *
 *   {"kernels": [{"name", "grid": [x, y, z], "block": [x, y, z], counters...}, ...],   one per launch, in order
 *    "total": {"launches", counters...},
 *    "memory": {"peak_device_bytes"},
 *    "errors": [{"error": "CUDA_ERROR_...", "message", "unsupported": true where Heddle lacks something}, ...],
 *    "missing_functions": ["cuFoo", ...],   called or asked for by the program, and not supported
 *    "memcheck": {"uninitialised_reads", "races"},   with check_memory: accesses found
 *    "profiles": [{"name", "grid", "block", "launches",    with "profile" in HEDDLE_CONFIG, by kernel and shape
 *                  "branches": [{"line", "executed", "diverged"}, ...]}, ...],
 *    "listings": [{"name", "launches",                     with "lines" in HEDDLE_CONFIG, by kernel
 *                  "lines": [{"line", "text", "file", "source_line", counters...}, ...]}, ...],
 *    "apart": {"launches", "why"},   launches of several streams that ran one after the other, and the reason
 *    "host": {"seconds", "warp_instructions_per_second"},
 *    "timeline": [{"kind", "stream", "launch" of a kernel or "bytes" of a copy, "first", "end"}, ...]}
 *
 * Only machines with a link to the host have a timeline. Its cycles count from the start of the program.
 *
 * With profiles there is a second file, with ".threads" appended to the name. For each profile, in order, it contains
 * the instructions of every thread and its divergences, as 32-bit numbers in the host's byte order.
 *
 * Everything but "host" is the same from run to run. The file is replaced as a whole, so a reader never sees half of
 * it. It is written when the process ends and after each launch that fails. */
#include "cuda/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

/* Later errors mostly repeat the first. */
enum { MOST_ERRORS = 100, WRITE_EVERY_NS = 300000000, WRITE_SHARE = 50 };

/* ---- Collecting ------------------------------------------------------------------------------------------------- */

void cuda_results_note_launches(struct cuda_state *state) {
    uint32_t count;
    gpu_launches(state->gpu, &count);
    state->n_changes += count - state->n_launches;
    state->n_launches = count;
}

void cuda_results_add_error(struct cuda_state *state, CUresult result, const char *limit, const char *message) {
    if (state->n_errors == MOST_ERRORS)
        return;
    if (!state->error)
        state->error = cuda_allocate(MOST_ERRORS * sizeof(*state->error));
    struct cuda_error_record *record = &state->error[state->n_errors++];
    record->result = result;
    record->limit = limit;
    snprintf(record->message, sizeof(record->message), "%s", message);
    state->n_changes++;
}

bool cuda_results_has_error(const struct cuda_state *state, const char *message) {
    for (unsigned i = 0; i < state->n_errors; i++)
        if (strncmp(state->error[i].message, message, sizeof(state->error[i].message) - 1) == 0)
            return true;
    return state->n_errors == MOST_ERRORS;
}

/* Returns true if Heddle lacks a feature that the program needs. The other errors occur on a GPU too. A program that
 * loads wrong PTX and then uses no module that does not exist has checked the error. */
static bool is_unsupported(const struct cuda_state *state, const struct cuda_error_record *error) {
    CUresult result = error->result;
    if (error->is_wrong && !state->has_lost_module)
        return false;
    return result == CUDA_ERROR_NOT_SUPPORTED || result == CUDA_ERROR_INVALID_PTX ||
           result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_INVALID_IMAGE;
}

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

static void add_counters(json_t *object, const struct stats_counters *values) {
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        if (stats_exists(&stats_list[i], values->cycles, values))
            json_object_set_new(object, stats_list[i].name, json_integer((json_int_t)values->value[i]));
}

static json_t *shape(const uint32_t n[3]) {
    return json_pack("[I,I,I]", (json_int_t)n[0], (json_int_t)n[1], (json_int_t)n[2]);
}

static json_t *numbers(const uint64_t *value, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer((json_int_t)value[i]));
    return list;
}

static json_t *table(const uint32_t *value, uint64_t n_rows, size_t n_columns) {
    json_t *rows = json_array();
    for (uint64_t row = 0; row < n_rows; row++) {
        json_t *list = json_array();
        for (size_t i = 0; i < n_columns; i++)
            json_array_append_new(list, json_integer((json_int_t)value[row * n_columns + i]));
        json_array_append_new(rows, list);
    }
    return rows;
}

/* Writes the lines, and one row per sample with the cycles of each line and last those of all others. */
static json_t *line_series(const struct gpu_line_series *series, uint64_t n_samples) {
    json_t *lines = json_array();
    for (uint32_t i = 0; i < series->n_lines; i++) {
        const struct gpu_series_line *line = &series->line[i];
        json_t *file = line->file ? json_string(line->file) : NULL; /* NULL: not UTF-8 */
        json_array_append_new(lines, file ? json_pack("{s:o,s:I}", "file", file, "source_line", (json_int_t)line->line)
                                          : json_pack("{s:I}", "line", (json_int_t)line->line));
    }
    return json_pack("{s:o,s:o}", "lines", lines, "cycles", table(series->cycles, n_samples, series->n_lines + 1));
}

/* Writes one row per sample: per SM, per DRAM channel, hits and conflicts of DRAM rows, per number of active lanes,
 * cycles of all SMs by stall. The counters of memory have one number per sample. The last row covers the remaining
 * cycles. */
static json_t *samples(const struct gpu_series *series) {
    json_t *object = json_object();
    json_object_set_new(object, "every_cycles", json_integer((json_int_t)series->every_cycles));
    json_object_set_new(object, "thread_instructions",
                        table(series->thread_instructions, series->n_samples, series->n_sms));
    json_object_set_new(object, "channel_busy_cycles",
                        table(series->channel_busy, series->n_samples, series->n_channels));
    json_object_set_new(object, "resident_blocks", table(series->resident_blocks, series->n_samples, series->n_sms));
    json_object_set_new(object, "resident_groups", table(series->resident_groups, series->n_samples, series->n_sms));
    json_object_set_new(object, "row_accesses", table(series->row_accesses[0], series->n_samples, 2));
    json_object_set_new(object, "active_lanes", table(series->active_lanes[0], series->n_samples, EXEC_LANES + 1));
    json_object_set_new(object, "sm_cycles", table(series->sm_cycles[0], series->n_samples, 1 + STATS_N_SM_STALLS));
    for (unsigned i = 0; i < GPU_N_TRAFFIC; i++) {
        json_t *list = json_array();
        for (uint64_t row = 0; row < series->n_samples; row++)
            json_array_append_new(list, json_integer((json_int_t)series->traffic[row][i]));
        json_object_set_new(object, gpu_traffic_names[i], list);
    }
    if (series->lines.n_lines)
        json_object_set_new(object, "lines", line_series(&series->lines, series->n_samples));
    return object;
}

static json_t *occupancy(const struct gpu_occupancy *occupancy) {
    json_t *object =
        json_pack("{s:I,s:I,s:I,s:I,s:I,s:s}", "registers", (json_int_t)occupancy->registers_per_thread, "shared_bytes",
                  (json_int_t)occupancy->shared_bytes, "blocks", (json_int_t)occupancy->blocks, "warps",
                  (json_int_t)occupancy->warps, "most_warps", (json_int_t)occupancy->most_warps, "limited_by",
                  config_resource_words[occupancy->limiter]);
    for (unsigned i = 0; i < CONFIG_N_RESOURCES; i++) /* null: any number */
        json_object_set_new(object, config_resource_keys[i],
                            occupancy->blocks_by[i] == UINT32_MAX ? json_null()
                                                                  : json_integer((json_int_t)occupancy->blocks_by[i]));
    return object;
}

/* The lines that cost the launch most, by the way in which they did. */
static json_t *hot_lines(const struct gpu_launch_record *launch) {
    static const char *const names[GPU_N_HOT] = {
        [GPU_HOT_LOADS] = "loads", [GPU_HOT_CONFLICTS] = "conflicts", [GPU_HOT_BRANCHES] = "branches"};
    json_t *object = json_object();
    for (int i = 0; i < GPU_N_HOT; i++) {
        const struct gpu_hot_line *hot = &launch->hot[i];
        if (!hot->whole)
            continue;
        json_t *line =
            json_pack("{s:I,s:I,s:I,s:I,s:I}", "line", (json_int_t)hot->line, "part", (json_int_t)hot->part, "whole",
                      (json_int_t)hot->whole, "accesses", (json_int_t)hot->accesses, "lines", (json_int_t)hot->lines);
        if (hot->second)
            json_object_set_new(line, "second", json_integer((json_int_t)hot->second));
        json_t *file = hot->file ? json_string(hot->file) : NULL; /* NULL: not UTF-8 */
        if (file)
            json_object_set_new(line, "file", file);
        json_object_set_new(object, names[i], line);
    }
    return object;
}

static json_t *launches(const struct cuda_state *state) {
    uint32_t count;
    const struct gpu_launch_record *launch = gpu_launches(state->gpu, &count);
    json_t *list = json_array();
    for (uint32_t i = 0; i < state->n_launches && i < count; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(launch[i].kernel));
        json_object_set_new(object, "grid", shape(launch[i].shape.grid));
        json_object_set_new(object, "block", shape(launch[i].shape.block));
        if (gpu_config(state->gpu)->machine && !launch[i].is_timed)
            json_object_set_new(object, "timed", json_false());
        add_counters(object, &launch[i].counters);
        if (launch[i].counters.cycles)
            json_object_set_new(object, "active_lanes", numbers(launch[i].active_lanes, EXEC_LANES + 1));
        if (launch[i].is_timed || gpu_config(state->gpu)->draws)
            json_object_set_new(object, "occupancy", occupancy(&launch[i].occupancy));
        if (launch[i].is_timed)
            json_object_set_new(object, "hot", hot_lines(&launch[i]));
        if (launch[i].series.n_samples)
            json_object_set_new(object, "samples", samples(&launch[i].series));
        json_array_append_new(list, object);
    }
    return list;
}

/* The sections of --estimate. */
static json_t *sections(const struct cuda_state *state) {
    static const char *const kinds[] = {[GPU_SECTION_WHOLE] = "whole",
                                        [GPU_SECTION_NEW] = "new",
                                        [GPU_SECTION_FIRST] = "first",
                                        [GPU_SECTION_MIDDLE] = "middle",
                                        [GPU_SECTION_LAST] = "last"};
    struct gpu_error error;
    uint32_t count;
    const struct gpu_section *section = gpu_sections(state->gpu, &count, &error);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count && section[i].launch < state->n_launches; i++) {
        json_t *counted = json_object();
        add_counters(counted, &section[i].counted);
        json_t *object =
            json_pack("{s:I,s:s,s:I,s:I,s:I,s:I,s:f,s:I,s:I,s:I,s:o}", "launch", (json_int_t)section[i].launch, "kind",
                      kinds[section[i].kind], "first_block", (json_int_t)section[i].first_block, "blocks",
                      (json_int_t)section[i].n_blocks, "stratum", (json_int_t)section[i].stratum, "segment",
                      (json_int_t)section[i].segment, "work", section[i].work, "longest",
                      (json_int_t)section[i].longest, "touched_lines", (json_int_t)section[i].warmed.touched_lines,
                      "missed_lines", (json_int_t)section[i].warmed.missed_lines, "counted", counted);
        if (section[i].timed) {
            json_t *timed = json_object();
            add_counters(timed, section[i].timed);
            json_object_set_new(object, "timed", timed);
            json_object_set_new(object, "early_cycles", numbers(section[i].early_cycles, 2));
            json_object_set_new(object, "line_cycles", json_real(section[i].line_cycles));
            json_object_set_new(object, "true_caches", json_boolean(section[i].has_true_caches));
        }
        json_array_append_new(list, object);
    }
    return list;
}

/* Keeps the first error of a section that could not be timed. */
static void note_section_error(struct cuda_state *state) {
    struct gpu_error error;
    uint32_t count;
    gpu_sections(state->gpu, &count, &error);
    if (error.status == GPU_OK || cuda_results_has_error(state, error.message))
        return;
    cuda_print("%s", error.message);
    cuda_results_add_error(state, cuda_result_of(error.status), NULL, error.message);
}

static json_t *total(const struct cuda_state *state) {
    const struct stats_counters sums = gpu_totals(state->gpu);
    json_t *object = json_object();
    json_object_set_new(object, "launches", json_integer((json_int_t)state->n_launches));
    add_counters(object, &sums);
    return object;
}

static json_t *errors(const struct cuda_state *state) {
    json_t *list = json_array();
    for (unsigned i = 0; i < state->n_errors; i++) {
        const char *name = cuda_error_name(state->error[i].result);
        json_t *object = json_object();
        json_object_set_new(object, "error", json_string(name ? name : "CUDA_ERROR_UNKNOWN"));
        /* A message may quote bytes of the program that are not text. */
        json_t *message = json_string(state->error[i].message);
        json_object_set_new(object, "message", message ? message : json_string(""));
        if (is_unsupported(state, &state->error[i]))
            json_object_set_new(object, "unsupported", json_true());
        if (state->error[i].limit)
            json_object_set_new(object, "limit", json_string(state->error[i].limit));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *missing_functions(const struct cuda_state *state) {
    json_t *list = json_array();
    for (unsigned i = 0; i < state->n_unsupported; i++)
        json_array_append_new(list, json_string(state->unsupported[i]));
    return list;
}

static json_t *memcheck(const struct cuda_state *state) {
    uint64_t n_uninitialised, n_races;
    gpu_count_findings(state->gpu, &n_uninitialised, &n_races);
    return json_pack("{s:I,s:I}", "uninitialised_reads", (json_int_t)n_uninitialised, "races", (json_int_t)n_races);
}

static json_t *host(const struct cuda_state *state) {
    uint32_t count;
    const struct gpu_launch_record *launch = gpu_launches(state->gpu, &count);
    double seconds = 0;
    for (uint32_t i = 0; i < count; i++)
        seconds += launch[i].host_seconds;
    double instructions = (double)gpu_totals(state->gpu).warp_instructions;
    return json_pack("{s:f,s:f}", "seconds", seconds, "warp_instructions_per_second",
                     seconds > 0 ? instructions / seconds : 0.0);
}

static json_t *timeline(const struct cuda_state *state) {
    static const char *const kinds[] = {[GPU_WORK_KERNEL] = "kernel",
                                        [GPU_WORK_TO_DEVICE] = "to_device",
                                        [GPU_WORK_TO_HOST] = "to_host",
                                        [GPU_WORK_ON_DEVICE] = "on_device",
                                        [GPU_WORK_FILL] = "fill"};
    uint32_t count;
    const struct gpu_work *work = gpu_timeline(state->gpu, &count);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        bool is_kernel = work[i].kind == GPU_WORK_KERNEL;
        json_array_append_new(list, json_pack("{s:s,s:I,s:I,s:I,s:I}", "kind", kinds[work[i].kind], "stream",
                                              (json_int_t)work[i].stream, is_kernel ? "launch" : "bytes",
                                              (json_int_t)(is_kernel ? work[i].launch : work[i].bytes), "first",
                                              (json_int_t)work[i].first, "end", (json_int_t)work[i].end));
    }
    return list;
}

static json_t *profiles(const struct cuda_state *state) {
    uint32_t count;
    const struct gpu_profile *profile = gpu_profiles(state->gpu, &count);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *object = json_object(), *branches = json_array();
        json_object_set_new(object, "name", json_string(profile[i].kernel));
        json_object_set_new(object, "grid", shape(profile[i].shape.grid));
        json_object_set_new(object, "block", shape(profile[i].shape.block));
        json_object_set_new(object, "launches", json_integer(profile[i].n_launches));
        for (uint32_t k = 0; k < profile[i].n_branches; k++) {
            const struct gpu_branch *branch = &profile[i].branch[k];
            json_array_append_new(branches,
                                  json_pack("{s:I,s:I,s:I}", "line", (json_int_t)branch->line, "executed",
                                            (json_int_t)branch->executed, "diverged", (json_int_t)branch->diverged));
        }
        json_object_set_new(object, "branches", branches);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *line_json(const struct gpu_line *line, bool is_timed) {
    json_t *object = json_object();
    json_object_set_new(object, "line", json_integer(line->line));
    json_t *text = json_string(line->text); /* NULL: not UTF-8 */
    json_object_set_new(object, "text", text ? text : json_string("?"));
    if (line->source_line) {
        json_t *file = json_string(line->file);
        json_object_set_new(object, "file", file ? file : json_string("?"));
        json_object_set_new(object, "source_line", json_integer(line->source_line));
    }
    for (unsigned i = 0; i < STATS_N_LINE; i++)
        if (stats_is_shown(&stats_line_list[i], is_timed))
            json_object_set_new(object, stats_line_list[i].name, json_integer((json_int_t)line->counters.value[i]));
    return object;
}

static json_t *listings(const struct cuda_state *state) {
    uint32_t count;
    const struct gpu_listing *listing = gpu_listings(state->gpu, &count);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *object = json_object(), *lines = json_array();
        json_object_set_new(object, "name", json_string(listing[i].kernel));
        json_object_set_new(object, "launches", json_integer(listing[i].n_launches));
        for (uint32_t k = 0; k < listing[i].n_lines; k++)
            json_array_append_new(lines, line_json(&listing[i].line[k], gpu_config(state->gpu)->machine));
        json_object_set_new(object, "lines", lines);
        json_array_append_new(list, object);
    }
    return list;
}

static bool write_threads(const char *path, const struct cuda_state *state) {
    uint32_t count;
    const struct gpu_profile *profile = gpu_profiles(state->gpu, &count);
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        fwrite(profile[i].path, sizeof(*profile[i].path), profile[i].n_threads, file);
        fwrite(profile[i].split, sizeof(*profile[i].split), profile[i].n_threads, file);
        fwrite(profile[i].miss, sizeof(*profile[i].miss), profile[i].n_threads, file);
    }
    bool is_good = !ferror(file);
    return fclose(file) == 0 && is_good;
}

static bool write_json(const char *path, const json_t *results) {
    return json_dump_file(results, path, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0;
}

/* Writes a new file, then renames it. `results` is NULL for the counts of threads. If writing fails, an empty file
 * PATH.lost says that older results, or missing ones, are not those of the run. */
static void replace_file(const char *path, const json_t *results, const struct cuda_state *state) {
    size_t size = strlen(path) + 32;
    char *temporary = cuda_allocate(2 * size), *lost = temporary + size;
    snprintf(temporary, size, "%s.%ld.tmp", path, (long)getpid());
    snprintf(lost, size, "%s.lost", path);
    if ((results ? write_json(temporary, results) : write_threads(temporary, state)) && rename(temporary, path) == 0) {
        unlink(lost);
    } else {
        int error = errno;
        if (access(lost, F_OK) != 0) /* once */
            cuda_print("cannot write the results to %s: %s", path, strerror(error));
        if (truncate(temporary, 0) != 0 || rename(temporary, lost) != 0)
            unlink(temporary);
    }
    free(temporary);
}

/* A program may start others, or fork before cuInit. The first process that launches something owns the results: the
 * file PATH.owner says so. The launches of others are not in them. */
static bool owns_results(struct cuda_state *state) {
    size_t size = strlen(state->results_path) + 32;
    char *path = cuda_allocate(size), text[32] = "";
    bool has_work = state->n_launches || state->n_errors;
    snprintf(path, size, "%s.owner", state->results_path);
    int file = open(path, has_work ? O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0600);
    bool is_new = file >= 0 && has_work;
    if (is_new)
        dprintf(file, "%ld", (long)getpid());
    else if (file < 0 && has_work)
        file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && !is_new && read(file, text, sizeof(text) - 1) < 0)
        text[0] = '\0';
    if (file >= 0)
        close(file);
    free(path);
    long owner = is_new || file < 0 ? getpid() : atol(text);
    if (owner == getpid())
        return true;
    if (has_work && !state->is_extra)
        cuda_print("the launches of process %ld are not in the results, which are those of process %ld", (long)getpid(),
                   owner);
    state->is_extra = state->is_extra || has_work;
    return false;
}

void cuda_results_write(struct cuda_state *state) {
    if (!state->results_path || state->pid != getpid() || state->n_written == state->n_changes ||
        (state->is_of_command && !owns_results(state)))
        return;
    note_section_error(state);
    uint64_t start_ns = gpu_host_clock_ns();
    json_t *results = json_object();
    json_object_set_new(results, "kernels", launches(state));
    json_object_set_new(results, "total", total(state));
    if (gpu_config(state->gpu)->draws)
        json_object_set_new(results, "sections", sections(state));
    json_object_set_new(results, "memory", json_pack("{s:I}", "peak_device_bytes", (json_int_t)state->peak_bytes));
    json_object_set_new(results, "errors", errors(state));
    json_object_set_new(results, "missing_functions", missing_functions(state));
    if (gpu_config(state->gpu)->checks_memory)
        json_object_set_new(results, "memcheck", memcheck(state));
    if (gpu_config(state->gpu)->records_threads) {
        json_object_set_new(results, "profiles", profiles(state));
        replace_file(state->threads_path, NULL, state);
    }
    if (gpu_config(state->gpu)->records_lines)
        json_object_set_new(results, "listings", listings(state));
    if (state->apart.has_several && state->apart.n_launches)
        json_object_set_new(
            results, "apart",
            json_pack("{s:I,s:s}", "launches", (json_int_t)state->apart.n_launches, "why", cuda_why_apart(state)));
    json_object_set_new(results, "host", host(state));
    if (gpu_has_timeline(state->gpu))
        json_object_set_new(results, "timeline", timeline(state));
    replace_file(state->results_path, results, state);
    json_decref(results);
    state->n_written = state->n_changes;
    state->written_ns = gpu_host_clock_ns();
    state->write_ns = state->written_ns - start_ns;
}

/* A file of many launches takes long to write, so writing takes at most one part in WRITE_SHARE of the time. */
void cuda_results_write_sometimes(struct cuda_state *state) {
    uint64_t waited_ns = gpu_host_clock_ns() - state->written_ns;
    bool has_sections = gpu_config(state->gpu)->draws; /* some are still being timed */
    if (!has_sections && waited_ns > WRITE_EVERY_NS && waited_ns / WRITE_SHARE > state->write_ns)
        cuda_results_write(state);
}
