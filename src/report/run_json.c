/* Writes one run, or several, as a JSON object. Everything but "host" is the same in every repetition. A statistic
 * without a value, such as a rate without a denominator, is null. */
#include <math.h>

#include <jansson.h>

#include "report/advice.h"
#include "report/internal.h"
#include "report/why.h"

static json_t *shape_json(const uint32_t shape[3]) { return json_pack("[i, i, i]", shape[0], shape[1], shape[2]); }

static json_t *value_json(double value) { return isnan(value) ? json_null() : json_real(value); }

static void add_stats(json_t *object, const struct stats_counters *counters, const struct report_target *target) {
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        if (stats_exists(&stats_list[i], target, counters)) /* otherwise it has no meaning and is absent */
            json_object_set_new(object, stats_list[i].name, json_integer((json_int_t)counters->value[i]));
    for (unsigned i = 0; i < report_n_derived; i++) {
        const struct report_derived *derived = &report_derived[i];
        if (derived->is_timed && !target)
            continue;
        double value = derived->value(counters, target);
        json_object_set_new(object, derived->name,
                            derived->is_count ? json_integer((json_int_t)value) : value_json(value));
    }
}

static json_t *launches_json(const struct report_run *run, bool has_samples) {
    json_t *array = json_array();
    for (unsigned i = 0; i < run->n_launches; i++) {
        const struct report_kernel *launch = &run->launch[i];
        json_t *object = json_object();
        json_object_set_new(object, "launch", json_integer((json_int_t)i + 1));
        json_object_set_new(object, "name", json_string(launch->name));
        json_object_set_new(object, "grid", shape_json(launch->grid));
        json_object_set_new(object, "block", shape_json(launch->block));
        if (launch->n_untimed)
            json_object_set_new(object, "timed", json_false());
        if (run->launch[i].is_estimated)
            json_object_set_new(object, "estimated", json_true());
        add_stats(object, &launch->counters, run->target);
        if (launch->occupancy.text)
            json_object_set_new(object, "occupancy",
                                report_occupancy_json(launch, run->target ? &run->target->peaks : NULL));
        if (launch->active_lanes)
            json_object_set_new(object, "active_lanes", json_loads(launch->active_lanes, 0, NULL));
        if (has_samples && launch->samples)
            json_object_set_new(object, "samples", json_loads(launch->samples, 0, NULL));
        json_array_append_new(array, object);
    }
    return array;
}

/* Lists branches per kernel and launch shape, including those never executed. */
static json_t *branches_json(const struct report_run *run) {
    json_t *array = json_array();
    for (unsigned i = 0; i < run->n_profiles; i++)
        for (unsigned k = 0; k < run->profile[i].n_branches; k++) {
            const struct report_branch *branch = &run->profile[i].branch[k];
            json_t *object = json_object();
            json_object_set_new(object, "kernel", json_string(run->profile[i].kernel));
            json_object_set_new(object, "grid", shape_json(run->profile[i].grid));
            json_object_set_new(object, "block", shape_json(run->profile[i].block));
            json_object_set_new(object, "launches", json_integer(run->profile[i].n_launches));
            json_object_set_new(object, "line", json_integer(branch->line));
            json_object_set_new(object, "executed", json_integer((json_int_t)branch->executed));
            json_object_set_new(object, "diverged", json_integer((json_int_t)branch->diverged));
            double share = branch->executed ? (double)branch->diverged / (double)branch->executed : NAN;
            json_object_set_new(object, "share", value_json(share));
            json_array_append_new(array, object);
        }
    return array;
}

static json_t *host_json(const struct report_run *run) {
    double seconds = run->host_seconds;
    json_t *object = json_object();
    json_object_set_new(object, "seconds", json_real(seconds));
    json_object_set_new(object, "warp_instructions_per_second",
                        json_real(report_rate(run->total.counters.warp_instructions, seconds)));
    return object;
}

static void add_target(json_t *object, const struct report_target *target) {
    json_object_set_new(object, "machine", json_string(target->machine));
    if (target->n_changes) {
        json_t *changes = json_array();
        for (unsigned i = 0; i < target->n_changes; i++)
            json_array_append_new(changes, json_string(target->changes[i]));
        json_object_set_new(object, "set", changes);
    }
    json_object_set_new(object, "scheduler", json_string(target->scheduler));
    json_object_set_new(object, "divergence", json_string(target->divergence));
}

/* Adds how exact the counters are, if only some launches were timed. */
static void add_estimate(json_t *object, const struct report_run *run) {
    const struct report_estimate *estimate = run->estimate;
    if (!estimate)
        return;
    json_t *halfwidth = json_object();
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        if (stats_exists(&stats_list[i], true, &run->total.counters))
            json_object_set_new(halfwidth, stats_list[i].name, json_real(estimate->halfwidth[i]));
    json_object_set_new(object, "estimate",
                        json_pack("{s:i, s:i, s:i, s:i, s:f, s:o}", "launches", estimate->n_launches, "sections",
                                  estimate->n_sections, "timed_sections", estimate->n_timed, "runs", estimate->n_runs,
                                  "timed_work", estimate->timed_work, "halfwidth", halfwidth));
}

static void add_apart(json_t *object, const struct report_run *run) {
    if (run->n_apart)
        json_object_set_new(object, "apart",
                            json_pack("{s:I, s:s}", "launches", (json_int_t)run->n_apart, "why", run->why_apart));
}

static json_t *hot_line_json(const struct report_hot_line *hot) {
    json_t *object = json_pack("{s:s, s:f}", "kernel", hot->kernel, "share", (double)hot->part / (double)hot->whole);
    if (hot->file)
        json_object_set_new(object, "file", json_string(hot->file));
    json_object_set_new(object, hot->file ? "source_line" : "line", json_integer(hot->line));
    if (hot->second)
        json_object_set_new(object, "second", json_integer(hot->second));
    return object;
}

static json_t *causes_json(const struct stats_counters *counters, const struct report_target *target) {
    uint64_t cycles[REPORT_N_CAUSES];
    json_t *object = json_object();
    report_causes(counters, target, cycles);
    for (unsigned i = 0; i < REPORT_N_CAUSES; i++)
        json_object_set_new(object, report_cause_word(i), json_integer((json_int_t)cycles[i]));
    return object;
}

/* Adds what limits the run: the share of each unit's peak, the sentence of the table, and the SM cycles by cause. */
static void add_limit(json_t *object, const struct report_run *run) {
    struct report_evidence evidence = report_evidence_of(run);
    struct report_advice advice = report_advise(run);
    json_t *units = json_object();
    for (unsigned i = 0; i < REPORT_N_UNITS; i++)
        if (run->target->peaks.per_cycle[i] > 0)
            json_object_set_new(units, report_unit_word(i), json_real(evidence.use[i]));
    json_t *limit = json_pack("{s:s, s:s, s:s, s:o}", "by", advice.limiter, "evidence", advice.evidence, "next",
                              advice.next, "share_of_peak", units);
    if (advice.line)
        json_object_set_new(limit, "line", hot_line_json(advice.line));
    json_object_set_new(limit, "sm_cycles", causes_json(&run->total.counters, run->target));
    json_object_set_new(object, "limit", limit);
}

/* Kernels and copies in the order of the calls, in cycles from the start of the program. */
static json_t *timeline_json(const struct report_run *run) {
    json_t *array = json_array();
    for (unsigned i = 0; i < run->n_work; i++) {
        const struct report_work *work = &run->work[i];
        json_t *object = json_pack("{s:s, s:I}", "kind", work->kind, "stream", (json_int_t)work->stream);
        if (work->launch)
            json_object_set_new(object, "launch", json_integer((json_int_t)work->launch));
        else
            json_object_set_new(object, "bytes", json_integer((json_int_t)work->bytes));
        json_object_set_new(object, "first", json_integer((json_int_t)work->first));
        json_object_set_new(object, "end", json_integer((json_int_t)work->end));
        json_array_append_new(array, object);
    }
    return array;
}

json_t *report_run_json(const struct report_run *run, bool has_host, bool is_page) {
    json_t *object = json_object(), *total = json_object();
    json_object_set_new(object, "heddle", json_string(HEDDLE_VERSION));
    if (run->target)
        add_target(object, run->target);
    else
        json_object_set_new(object, "functional", json_true());
    if (is_page && run->target && run->target->description && *run->target->description)
        json_object_set_new(object, "machine_description", json_string(run->target->description));
    json_object_set_new(object, "program", json_string(run->program));
    if (run->size)
        json_object_set_new(object, "size", json_string(run->size));
    json_object_set_new(object, "checked", json_boolean(run->is_checked));
    if (run->stopped)
        json_object_set_new(object, "stopped", json_string(run->stopped));
    if (run->error)
        json_object_set_new(object, "error", json_string(run->error));
    json_object_set_new(object, "kernels", launches_json(run, is_page || !run->is_for_page.samples));
    json_object_set_new(total, "launches", json_integer((json_int_t)run->n_launches));
    add_stats(total, &run->total.counters, run->target);
    json_object_set_new(object, "total", total);
    add_estimate(object, run);
    add_apart(object, run);
    if (run->n_profiles && (is_page || !run->is_for_page.branches))
        json_object_set_new(object, "branches", branches_json(run));
    if (run->n_listings && (is_page || !run->is_for_page.lines))
        json_object_set_new(object, "lines", report_listings_json(run));
    if (has_host)
        json_object_set_new(object, "host", host_json(run));
    if (has_host && run->n_work)
        json_object_set_new(object, "timeline", timeline_json(run));
    if (run->target && run->total.counters.cycles) {
        add_limit(object, run);
        json_object_set_new(object, "memory", report_memory_json(&run->total.counters, run->target));
        json_object_set_new(object, "peaks", report_peaks_json(run->target));
    }
    return object;
}

static bool write_object(FILE *file, json_t *object) {
    bool is_written =
        json_dumpf(object, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', file) != EOF;
    json_decref(object);
    return is_written && fflush(file) == 0;
}

bool report_write_json(FILE *file, const struct report_run *run) {
    return write_object(file, report_run_json(run, true, false));
}

/* ---- What a store keeps ------------------------------------------------------------------------------------------ */

/* Cycles by active lanes, all launches together. */
static json_t *sum_active_lanes(const struct report_run *run) {
    json_int_t sum[REPORT_MAX_LANES + 1] = {0};
    size_t n = 0;
    for (unsigned i = 0; i < run->n_launches; i++) {
        json_t *lanes = run->launch[i].active_lanes ? json_loads(run->launch[i].active_lanes, 0, NULL) : NULL;
        for (size_t k = 0; k < json_array_size(lanes) && k <= REPORT_MAX_LANES; k++) {
            sum[k] += json_integer_value(json_array_get(lanes, k));
            n = k + 1 > n ? k + 1 : n;
        }
        json_decref(lanes);
    }
    json_t *array = json_array();
    for (size_t k = 0; k < n; k++)
        json_array_append_new(array, json_integer(sum[k]));
    return array;
}

static json_t *samples_json(const struct report_run *run) {
    json_t *array = json_array();
    for (unsigned i = 0; i < run->n_launches; i++)
        if (run->launch[i].samples) {
            json_t *samples = json_loads(run->launch[i].samples, 0, NULL);
            json_object_set_new(samples, "launch", json_integer((json_int_t)i + 1));
            json_array_append_new(array, samples);
        }
    return array;
}

static json_t *counts_json(const uint32_t *count, uint64_t n) {
    json_t *array = json_array();
    for (uint64_t i = 0; i < n; i++)
        json_array_append_new(array, json_integer(count[i]));
    return array;
}

json_t *report_threads_json(const struct report_run *run) {
    json_t *array = json_array();
    for (unsigned i = 0; i < run->n_profiles; i++) {
        const struct report_profile *profile = &run->profile[i];
        json_array_append_new(array, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "kernel", profile->kernel, "grid",
                                               shape_json(profile->grid), "block", shape_json(profile->block), "path",
                                               counts_json(profile->path, profile->n_threads), "split",
                                               counts_json(profile->split, profile->n_threads), "miss",
                                               counts_json(profile->miss, profile->n_threads)));
    }
    return array;
}

bool report_write_summary(FILE *file, const struct report_run *run) {
    json_t *object = json_object(), *total = json_object();
    json_object_set_new(object, "checked", json_boolean(run->is_checked));
    json_object_set_new(total, "launches", json_integer((json_int_t)run->n_launches));
    add_stats(total, &run->total.counters, run->target);
    json_object_set_new(object, "total", total);
    add_estimate(object, run);
    json_object_set_new(object, "active_lanes", sum_active_lanes(run));
    json_t *samples = samples_json(run);
    if (json_array_size(samples))
        json_object_set(object, "samples", samples);
    json_decref(samples);
    if (run->n_profiles) {
        json_object_set_new(object, "branches", branches_json(run));
        json_object_set_new(object, "threads", report_threads_json(run));
    }
    json_object_set_new(object, "host", host_json(run));
    bool is_written = json_dumpf(object, file, JSON_COMPACT | JSON_REAL_PRECISION(12)) == 0;
    json_decref(object);
    return is_written && fflush(file) == 0;
}

/* ---- Several ----------------------------------------------------------------------------------------------------- */

/* Returns the mean over the programs for each target, in the order of the targets. */
static json_t *means_json(const struct report_comparison *comparison) {
    json_t *means = json_array();
    for (unsigned t = 0; t < comparison->n_targets; t++) {
        double mean = report_mean_speedup(comparison, t);
        unsigned i = 0;
        while (i < comparison->n_entries && comparison->entry[i].target_number != t)
            i++;
        if (isnan(mean) || i == comparison->n_entries)
            continue;
        json_t *object = json_object();
        add_target(object, comparison->entry[i].run->target);
        json_object_set_new(object, "speedup", json_real(mean));
        json_array_append_new(means, object);
    }
    return means;
}

json_t *report_comparison_json(const struct report_comparison *comparison, bool is_page) {
    json_t *object = json_object(), *runs = json_array();
    json_object_set_new(object, "heddle", json_string(HEDDLE_VERSION));
    for (unsigned i = 0; i < comparison->n_entries; i++) {
        const struct report_entry *entry = &comparison->entry[i];
        json_t *run = report_run_json(entry->run, comparison->is_verbose, is_page);
        json_object_set_new(run, "outcome", json_string(report_outcome(entry->run)));
        double speedup = report_speedup(entry);
        json_object_set_new(run, "speedup", value_json(speedup));
        if (entry->halfwidth > 0)
            json_object_set_new(run, "speedup_halfwidth", value_json(entry->halfwidth * speedup));
        if (!isnan(speedup) && entry->run != entry->baseline) {
            struct base_arena arena = {0};
            struct report_why why = report_explain(entry->baseline, entry->run, &arena);
            if (!is_page && entry->run->is_for_page.lines)
                why.n_lines = 0;
            json_object_set_new(run, "why", report_why_json(&why));
            base_arena_free(&arena);
        }
        json_array_append_new(runs, run);
    }
    json_object_set_new(object, "runs", runs);
    json_object_set_new(object, "geometric_means", means_json(comparison));
    return object;
}

bool report_write_comparison_json(FILE *file, const struct report_comparison *comparison) {
    return write_object(file, report_comparison_json(comparison, false));
}
