/* Reads the results file of the driver; cuda/process/results.c writes and describes it. Totals are summed from the
 * launches. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "report/internal.h"

enum { DEFAULT_LANES = 32 }; /* of a warp, in results that do not say it */

static const char *copy_text(struct base_arena *arena, const json_t *value, const char *fallback) {
    const char *text = json_string_value(value);
    text = text ? text : fallback;
    return text ? base_arena_copy(arena, text, strlen(text)) : NULL;
}

static const char *copy_json(struct base_arena *arena, const json_t *value) {
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    const char *copy = text ? base_arena_copy(arena, text, strlen(text)) : NULL;
    free(text);
    return copy;
}

static void read_shape(uint32_t shape[3], const json_t *value) {
    for (size_t i = 0; i < 3; i++)
        shape[i] = (uint32_t)json_integer_value(json_array_get(value, i));
}

static void read_counters(struct stats_counters *counters, const json_t *object) {
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        counters->value[i] = (uint64_t)json_integer_value(json_object_get(object, stats_list[i].name));
}

static void add_kernel(struct report_kernel *to, const struct report_kernel *from) {
    to->n_launches += from->n_launches;
    to->n_untimed += from->n_untimed;
    to->has_grids |= memcmp(to->grid, from->grid, sizeof to->grid) != 0;
    to->has_blocks |= memcmp(to->block, from->block, sizeof to->block) != 0;
    stats_add(&to->counters, &from->counters);
}

static struct report_occupancy read_occupancy(const json_t *object, struct base_arena *arena) {
    return (struct report_occupancy){
        .blocks = (unsigned)json_integer_value(json_object_get(object, "blocks")),
        .warps = (unsigned)json_integer_value(json_object_get(object, "warps")),
        .most_warps = (unsigned)json_integer_value(json_object_get(object, "most_warps")),
        .limiter = copy_text(arena, json_object_get(object, "limited_by"), NULL),
        .text = copy_json(arena, object),
    };
}

static void read_launches(struct report_run *run, const json_t *array, struct base_arena *arena) {
    run->n_launches = (unsigned)json_array_size(array);
    run->launch = BASE_ARENA_ARRAY(arena, struct report_kernel, run->n_launches);
    run->total.name = "total";
    for (unsigned i = 0; i < run->n_launches; i++) {
        const json_t *object = json_array_get(array, i);
        struct report_kernel *launch = &run->launch[i];
        launch->name = copy_text(arena, json_object_get(object, "name"), "?");
        read_shape(launch->grid, json_object_get(object, "grid"));
        read_shape(launch->block, json_object_get(object, "block"));
        launch->n_untimed = json_is_false(json_object_get(object, "timed"));
        launch->is_estimated = json_is_true(json_object_get(object, "estimated"));
        struct stats_counters *untimed = launch->n_untimed ? BASE_ARENA_NEW(arena, struct stats_counters) : NULL;
        read_counters(untimed ? untimed : &launch->counters, object);
        launch->untimed = untimed;
        launch->active_lanes = copy_json(arena, json_object_get(object, "active_lanes"));
        launch->samples = copy_json(arena, json_object_get(object, "samples"));
        launch->occupancy = read_occupancy(json_object_get(object, "occupancy"), arena);
        launch->n_launches = 1;
        add_kernel(&run->total, launch);
    }
}

static enum report_section_kind read_kind(const json_t *value) {
    static const char *const kinds[] = {[REPORT_SECTION_WHOLE] = "whole",
                                        [REPORT_SECTION_NEW] = "new",
                                        [REPORT_SECTION_FIRST] = "first",
                                        [REPORT_SECTION_MIDDLE] = "middle",
                                        [REPORT_SECTION_LAST] = "last"};
    const char *text = json_string_value(value);
    unsigned i = 0;
    while (text && i < REPORT_SECTION_LAST && strcmp(text, kinds[i]) != 0)
        i++;
    return (enum report_section_kind)i;
}

static uint64_t number_at(const json_t *array, size_t i) {
    return (uint64_t)json_integer_value(json_array_get(array, i));
}

static void read_sections(struct report_run *run, const json_t *array, struct base_arena *arena) {
    run->section = BASE_ARENA_ARRAY(arena, struct report_section, json_array_size(array));
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *object = json_array_get(array, i), *timed = json_object_get(object, "timed");
        const json_t *early = json_object_get(object, "early_cycles");
        struct report_section *section = &run->section[run->n_sections];
        *section = (struct report_section){
            .launch = (uint32_t)json_integer_value(json_object_get(object, "launch")),
            .kind = read_kind(json_object_get(object, "kind")),
            .first_block = (uint64_t)json_integer_value(json_object_get(object, "first_block")),
            .n_blocks = (uint64_t)json_integer_value(json_object_get(object, "blocks")),
            .stratum = (uint32_t)json_integer_value(json_object_get(object, "stratum")),
            .segment = (uint32_t)json_integer_value(json_object_get(object, "segment")),
            .work = json_number_value(json_object_get(object, "work")),
            .longest = (uint64_t)json_integer_value(json_object_get(object, "longest")),
            .touched_lines = (uint64_t)json_integer_value(json_object_get(object, "touched_lines")),
            .missed_lines = (uint64_t)json_integer_value(json_object_get(object, "missed_lines")),
            .early_cycles = {number_at(early, 0), number_at(early, 1)},
            .has_true_caches = json_is_true(json_object_get(object, "true_caches")),
            .line_cycles = json_number_value(json_object_get(object, "line_cycles")),
            .timed = timed ? BASE_ARENA_NEW(arena, struct stats_counters) : NULL,
        };
        read_counters(&section->counted, json_object_get(object, "counted"));
        if (timed)
            read_counters(section->timed, timed);
        run->n_sections += section->launch < run->n_launches;
    }
}

static void read_errors(struct report_run *run, const json_t *array, struct base_arena *arena) {
    run->n_errors = (unsigned)json_array_size(array);
    run->errors = BASE_ARENA_ARRAY(arena, struct report_error, run->n_errors);
    for (unsigned i = 0; i < run->n_errors; i++) {
        const json_t *object = json_array_get(array, i);
        run->errors[i].result = copy_text(arena, json_object_get(object, "error"), "");
        run->errors[i].message = copy_text(arena, json_object_get(object, "message"), "");
        run->errors[i].is_unsupported = json_is_true(json_object_get(object, "unsupported"));
        run->errors[i].limit = copy_text(arena, json_object_get(object, "limit"), NULL);
    }
}

static void read_missing(struct report_run *run, const json_t *array, struct base_arena *arena) {
    run->n_missing = (unsigned)json_array_size(array);
    run->missing = BASE_ARENA_ARRAY(arena, const char *, run->n_missing);
    for (unsigned i = 0; i < run->n_missing; i++)
        run->missing[i] = copy_text(arena, json_array_get(array, i), "?");
}

static void read_timeline(struct report_run *run, const json_t *array, struct base_arena *arena) {
    run->n_work = (unsigned)json_array_size(array);
    run->work = BASE_ARENA_ARRAY(arena, struct report_work, run->n_work);
    for (unsigned i = 0; i < run->n_work; i++) {
        const json_t *object = json_array_get(array, i);
        run->work[i] = (struct report_work){
            .kind = copy_text(arena, json_object_get(object, "kind"), ""),
            .stream = (uint32_t)json_integer_value(json_object_get(object, "stream")),
            .launch = (uint32_t)json_integer_value(json_object_get(object, "launch")),
            .bytes = (uint64_t)json_integer_value(json_object_get(object, "bytes")),
            .first = (uint64_t)json_integer_value(json_object_get(object, "first")),
            .end = (uint64_t)json_integer_value(json_object_get(object, "end")),
        };
    }
}

bool report_read(struct report_run *run, const char *path, struct base_arena *arena, struct base_diag *diag) {
    struct stat about;
    if (stat(path, &about) != 0 || about.st_size == 0)
        return true;
    json_error_t error;
    json_t *object = json_load_file(path, 0, &error);
    if (!json_is_object(object)) {
        json_decref(object);
        return base_diag_error(diag, "cannot read the results in '%s': %s", path, error.text);
    }
    run->has_results = true;
    read_launches(run, json_object_get(object, "kernels"), arena);
    report_read_hot(run, json_object_get(object, "kernels"), arena);
    read_sections(run, json_object_get(object, "sections"), arena);
    run->host_seconds = json_number_value(json_object_get(json_object_get(object, "host"), "seconds"));
    read_errors(run, json_object_get(object, "errors"), arena);
    read_missing(run, json_object_get(object, "missing_functions"), arena);
    const json_t *found = json_object_get(object, "memcheck");
    run->n_uninitialised = (uint64_t)json_integer_value(json_object_get(found, "uninitialised_reads"));
    run->n_races = (uint64_t)json_integer_value(json_object_get(found, "races"));
    const json_t *apart = json_object_get(object, "apart");
    run->n_apart = (uint64_t)json_integer_value(json_object_get(apart, "launches"));
    run->why_apart = copy_text(arena, json_object_get(apart, "why"), "");
    read_timeline(run, json_object_get(object, "timeline"), arena);
    char *threads = base_arena_printf(arena, "%s.threads", path);
    bool is_good = report_read_profiles(run, json_object_get(object, "profiles"), threads, arena, diag);
    report_read_listings(run, json_object_get(object, "listings"), arena);
    json_decref(object);
    return is_good;
}

void report_read_document(struct report_run *run, struct report_target *shown, const json_t *object,
                          struct base_arena *arena) {
    const json_t *peaks = json_object_get(object, "peaks"), *total = json_object_get(object, "total");
    *run = (struct report_run){.has_results = true};
    run->program = copy_text(arena, json_object_get(object, "program"), "?");
    run->size = copy_text(arena, json_object_get(object, "size"), NULL);
    run->is_checked = json_is_true(json_object_get(object, "checked"));
    run->stopped = copy_text(arena, json_object_get(object, "stopped"), NULL);
    run->error = copy_text(arena, json_object_get(object, "error"), NULL);
    read_launches(run, json_object_get(object, "kernels"), arena);
    read_counters(&run->total.counters, total); /* a store keeps no launches */
    report_read_listings(run, json_object_get(object, "lines"), arena);
    run->host_seconds = json_number_value(json_object_get(json_object_get(object, "host"), "seconds"));
    *shown = (struct report_target){
        .machine = copy_text(arena, json_object_get(object, "machine"), "?"),
        .scheduler = copy_text(arena, json_object_get(object, "scheduler"), "?"),
        .divergence = copy_text(arena, json_object_get(object, "divergence"), "?"),
        .lanes = peaks ? (unsigned)json_integer_value(json_object_get(peaks, "warp")) : DEFAULT_LANES,
        .channels = 1,
        .peaks.sms = (unsigned)json_integer_value(json_object_get(peaks, "sms")),
    };
    run->target = run->total.counters.cycles ? shown : NULL;
}

struct report_kernel *report_by_name(const struct report_run *run, struct base_arena *arena, unsigned *count) {
    struct report_kernel *kernel = BASE_ARENA_ARRAY(arena, struct report_kernel, run->n_launches);
    unsigned n = 0;
    for (unsigned i = 0; i < run->n_launches; i++) {
        unsigned k = 0;
        while (k < n && strcmp(kernel[k].name, run->launch[i].name) != 0)
            k++;
        if (k == n)
            kernel[n++] = run->launch[i];
        else
            add_kernel(&kernel[k], &run->launch[i]);
    }
    *count = n;
    return kernel;
}

double report_rate(uint64_t count, double seconds) { return seconds > 0 ? (double)count / seconds : 0; }
