/* Watching a program whose kernels run at the same time changes nothing: every observer, under several schedulers and
 * two divergence models, on one and on two host threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static const char machine[] = "-m h200 --set sm.count=4 --set link.latency=100";

/* Returns the run's results, without the host's time and what only observers add. */
static json_t *run(const char *options, const char *observer, json_t **seen) {
    struct outcome outcome =
        heddle("run --quiet %s %s %s --json %s/run.json %s/beside", machine, options, observer, scratch(), programs());
    expect_status(&outcome, 0);
    assert_string_equal(outcome.out, "right\n");
    char path[256];
    snprintf(path, sizeof path, "%s/run.json", scratch());
    json_t *object = json_load_file(path, 0, NULL), *kernel;
    assert_non_null(object);
    size_t i;
    if (seen)
        *seen = json_deep_copy(object);
    json_object_del(object, "host");
    json_object_del(object, "lines");
    json_object_del(object, "branches");
    json_array_foreach(json_object_get(object, "kernels"), i, kernel) json_object_del(kernel, "samples");
    outcome_free(&outcome);
    return object;
}

static json_int_t number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

/* Kernels overlap: the last one ends long before all their cycles, one after the other, are over. */
static void expect_overlap(const json_t *run) {
    const json_t *work;
    size_t i;
    json_int_t sum = 0, first = -1, last = 0;
    json_array_foreach(json_object_get(run, "timeline"), i, work) {
        if (strcmp(json_string_value(json_object_get(work, "kind")), "kernel") != 0)
            continue;
        json_int_t begin = number(work, "first"), end = number(work, "end");
        sum += end - begin;
        first = first < 0 || begin < first ? begin : first;
        last = end > last ? end : last;
    }
    assert_true(sum > last - first);
}

static const char *const policies[] = {"-s gto", "-s lrr", "-s two-level", "-s gto -d tbc"};
#ifndef N_POLICIES /* the sanitized suite takes fewer */
#define N_POLICIES (sizeof policies / sizeof *policies)
#endif
static const char *const observers[] = {
    "--lines",
    "--branches",
    "--sample 64",
    "--thread-map %s/map",
    "--html %s/page.html",
    "--trace %s/trace.json --trace-size 16",
    "--memcheck",
    "--lines --sample 100 --trace %s/both.json --trace-size 16",
    "--kernel .",
    "--launch 1..12",
};

static void no_observer_changes_a_statistic(void **state) {
    (void)state;
    char options[64], words[256];
    for (size_t s = 0; s < N_POLICIES; s++) {
        snprintf(options, sizeof options, "%s --threads 1", policies[s]);
        json_t *plain = run(options, "", NULL);
        expect_overlap(plain);
        for (size_t i = 0; i < sizeof observers / sizeof *observers; i++) {
            snprintf(options, sizeof options, "%s --threads %d", policies[s], (i + s) % 2 ? 2 : 1);
            snprintf(words, sizeof words, observers[i], scratch()); /* NOLINT: a format of ours */
            json_t *observed = run(options, words, NULL);
            if (!json_equal(plain, observed))
                fail_msg("%s %s changes statistics", options, words);
            json_decref(observed);
        }
        json_decref(plain);
    }
}

/* ---- What observers saw ------------------------------------------------------------------------------------------ */

static json_int_t sum_rows(const json_t *rows) {
    const json_t *row, *value;
    size_t i, k;
    json_int_t sum = 0;
    json_array_foreach(rows, i, row) json_array_foreach(row, k, value) sum += json_integer_value(value);
    return sum;
}

static void samples_and_lines_add_up(void **state) {
    (void)state;
    json_t *seen, *plain = run("", "--sample 64 --lines", &seen);
    const json_t *kernel, *listing, *line;
    size_t i, k;
    json_array_foreach(json_object_get(seen, "kernels"), i, kernel) {
        const json_t *samples = json_object_get(kernel, "samples");
        assert_int_equal(sum_rows(json_object_get(samples, "thread_instructions")),
                         number(kernel, "thread_instructions"));
        assert_int_equal(sum_rows(json_object_get(samples, "sm_cycles")), number(kernel, "sm_cycles"));
        assert_true(json_array_size(json_object_get(samples, "sm_cycles")) > 10);
    }
    json_array_foreach(json_object_get(seen, "lines"), i, listing) {
        json_int_t executed = 0, misses = 0, expected = 0, missing = 0;
        const char *name = json_string_value(json_object_get(listing, "kernel"));
        json_array_foreach(json_object_get(listing, "lines"), k, line) {
            executed += number(line, "executed");
            misses += number(line, "misses");
        }
        json_array_foreach(json_object_get(seen, "kernels"), k, kernel) {
            bool is_this = strcmp(json_string_value(json_object_get(kernel, "name")), name) == 0;
            expected += is_this ? number(kernel, "warp_instructions") : 0;
            missing += is_this ? number(kernel, "l1_misses") : 0;
        }
        assert_int_equal(executed, expected);
        assert_int_equal((misses > 0), (missing > 0)); /* several loads may miss one line */
    }
    assert_int_equal(json_array_size(json_object_get(seen, "lines")), 2);
    json_decref(plain);
    json_decref(seen);
}

/* The trace has a row for each stream, and every block belongs to its launch. */
static void the_trace_shows_launches_at_the_same_time(void **state) {
    (void)state;
    char path[256], words[300];
    unsigned blocks[13] = {0}, n_launches = 0, n_beside = 0;
    json_int_t stream[13] = {0};
    snprintf(path, sizeof path, "%s/rows.json", scratch());
    snprintf(words, sizeof words, "--trace %s", path);
    json_t *plain = run("", words, NULL), *trace = json_load_file(path, 0, NULL);
    assert_non_null(trace);
    const json_t *event, *events = json_is_array(trace) ? trace : json_object_get(trace, "traceEvents");
    size_t i;
    json_int_t end[8] = {0};
    json_array_foreach(events, i, event) {
        const json_t *arguments = json_object_get(event, "args");
        const char *name = json_string_value(json_object_get(event, "name"));
        if (!name || !json_object_get(arguments, "launch"))
            continue;
        json_int_t launch = number(arguments, "launch");
        assert_in_range(launch, 1, 12);
        blocks[launch] += strncmp(name, "block ", 6) == 0;
        if (!json_object_get(arguments, "stream")) /* not of the chip's rows */
            continue;
        stream[launch] = number(arguments, "stream");
        json_int_t row = number(event, "tid"), first = number(event, "ts");
        assert_in_range(row, 1, 7);
        assert_true(first >= end[row]); /* spans of a row do not overlap */
        end[row] = first + number(event, "dur");
        n_launches++;
        n_beside += row > 1;
    }
    assert_int_equal(n_launches, 12);
    assert_true(n_beside >= 4);
    json_int_t lowest = stream[1], highest = stream[1];
    for (unsigned launch = 1; launch <= 12; launch++) {
        lowest = stream[launch] < lowest ? stream[launch] : lowest;
        highest = stream[launch] > highest ? stream[launch] : highest;
    }
    for (unsigned launch = 1; launch <= 12; launch++)
        assert_int_equal(blocks[launch], stream[launch] == lowest ? 12 : stream[launch] == highest ? 10 : 11);
    json_decref(trace);
    json_decref(plain);
}

static void a_finding_belongs_to_its_kernel(void **state) {
    (void)state;
    struct outcome outcome = heddle("run --quiet %s --memcheck %s/beside unwritten", machine, programs());
    expect_status(&outcome, 1);
    expect_text(outcome.err, "uninitialised read");
    expect_text(outcome.err, "kernel 'sums'");
    assert_null(strstr(outcome.err, "kernel 'branches'"));
    outcome_free(&outcome);
}

/* Where kernels cannot run at the same time, the report says so and why. */
static void the_report_says_why_launches_ran_one_after_the_other(void **state) {
    (void)state;
    static const struct {
        const char *options, *why;
    } runs[] = {
        {"-d dwf", "under this divergence model an SM runs one kernel at a time"},
        {"-s ccws", "under this scheduler an SM runs one kernel at a time"},
        {"--checkpoint %s/checkpoint.run", "--checkpoint saves the machine between launches"},
        {"--estimate", "--estimate times launches one at a time"},
        {"", NULL},
        {"--set launch.concurrent=1", NULL},
    };
    char options[256], line[256];
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        snprintf(options, sizeof options, runs[i].options, scratch()); /* NOLINT: a format of ours */
        struct outcome outcome = heddle("run %s %s %s/beside", machine, options, programs());
        expect_status(&outcome, 0);
        snprintf(line, sizeof line, "12 launches of several streams ran one after the other: %s\n",
                 runs[i].why ? runs[i].why : "");
        if (runs[i].why)
            expect_text(outcome.out, line);
        else
            assert_null(strstr(outcome.out, "ran one after the other"));
        outcome_free(&outcome);
    }
}

static int remove_files(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_observer_changes_a_statistic),
        cmocka_unit_test(samples_and_lines_add_up),
        cmocka_unit_test(the_trace_shows_launches_at_the_same_time),
        cmocka_unit_test(a_finding_belongs_to_its_kernel),
        cmocka_unit_test(the_report_says_why_launches_ran_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
