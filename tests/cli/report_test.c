/* Pages of results: the data inside them, and what `heddle report` accepts. tests/web looks at them in a browser. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static char *read_text(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", scratch(), name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("there is no %s", path);
    char *text = NULL;
    size_t size = 0;
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    return text;
}

/* Returns the data of a page: the text of its script element, which is JSON without a '<'. */
static json_t *data_of(const char *name) {
    static const char begin[] = "<script id=\"data\" type=\"application/json\">";
    char *text = read_text(name), *at = strstr(text, begin);
    assert_non_null(at);
    at += strlen(begin);
    char *end = strchr(at, '<');
    assert_non_null(end);
    assert_memory_equal(end, "</script>", strlen("</script>"));
    json_error_t error;
    json_t *data = json_loadb(at, (size_t)(end - at), 0, &error);
    if (!data)
        fail_msg("%s: %s", name, error.text);
    free(text);
    return data;
}

static const json_t *document_of(const json_t *data, size_t i) {
    return json_array_get(json_object_get(data, "documents"), i);
}

/* Returns the sum of a time series of a launch; *count samples. */
static json_int_t sum_samples(const json_t *kernel, const char *series, size_t *count) {
    const json_t *samples = json_object_get(json_object_get(kernel, "samples"), series), *row, *value;
    size_t i, k;
    json_int_t sum = 0;
    *count = json_array_size(samples);
    json_array_foreach(samples, i, row) json_array_foreach(row, k, value) sum += json_integer_value(value);
    return sum;
}

static void a_page_of_a_run_has_series_lines_and_threads(void **state) {
    (void)state;
    struct outcome outcome = heddle("run ray --size small -m h200 -q --html %s/ray.html", scratch());
    expect_status(&outcome, 0);
    json_t *data = data_of("ray.html");
    const json_t *run = document_of(data, 0);
    const json_t *threads = json_array_get(json_object_get(run, "threads"), 0);
    const json_t *lines = json_object_get(json_array_get(json_object_get(run, "lines"), 0), "lines");
    assert_int_equal(json_array_size(json_object_get(threads, "path")), 32 * 32);
    json_int_t n_instructions = 0;
    for (size_t i = 0; i < 32 * 32; i++)
        n_instructions += json_integer_value(json_array_get(json_object_get(threads, "path"), i));
    assert_int_equal(n_instructions,
                     json_integer_value(json_object_get(json_object_get(run, "total"), "thread_instructions")));
    assert_true(json_array_size(lines) > 100);
    assert_true(json_object_size(json_object_get(run, "sources")) > 0);
    assert_string_equal(json_string_value(json_object_get(data, "title")), "ray");
    assert_true(json_object_size(json_object_get(data, "meanings")) > 50);
    assert_string_equal(json_string_value(json_object_get(run, "machine_description")),
                        "NVIDIA H200, measured by microbenchmarks");
    json_decref(data);
    outcome_free(&outcome);
}

/* Returns the group cycles of all lines of a run's first listing: issuing and waiting. */
static json_int_t sum_line_cycles(const json_t *run) {
    const json_t *lines = json_object_get(json_array_get(json_object_get(run, "lines"), 0), "lines"), *line, *value;
    const char *name;
    size_t i;
    json_int_t sum = 0;
    json_array_foreach(lines, i, line) json_object_foreach((json_t *)line, name, value) {
        if (strcmp(name, "executed") == 0 || strncmp(name, "stall_", 6) == 0)
            sum += json_integer_value(value);
    }
    return sum;
}

/* Every cycle of an SM, every byte and every cycle of a line is in one interval. */
static void the_course_of_stalls_traffic_and_lines_is_complete(void **state) {
    (void)state;
    static const char *const counters[] = {"l1_accesses", "l1_misses", "l2_accesses", "crossbar_bytes", "dram_reads"};
    struct outcome outcome = heddle("run ray --size small -q --html %s/course.html", scratch());
    expect_status(&outcome, 0);
    json_t *data = data_of("course.html");
    const json_t *run = document_of(data, 0), *kernel = json_array_get(json_object_get(run, "kernels"), 0), *row;
    const json_t *samples = json_object_get(kernel, "samples"), *lines = json_object_get(samples, "lines"), *value;
    json_int_t active = 0, in_lines = 0, bytes = 0;
    size_t n, i, k;
    assert_int_equal(sum_samples(kernel, "sm_cycles", &n), json_integer_value(json_object_get(kernel, "sm_cycles")));
    json_array_foreach(json_object_get(samples, "sm_cycles"), i, row) active +=
        json_integer_value(json_array_get(row, 0));
    assert_int_equal(active, json_integer_value(json_object_get(kernel, "active_cycles")));
    for (size_t c = 0; c < sizeof counters / sizeof *counters; c++, bytes = 0) {
        json_array_foreach(json_object_get(samples, counters[c]), i, value) bytes += json_integer_value(value);
        json_int_t all = json_integer_value(json_object_get(kernel, counters[c]));
        assert_true(bytes > 0 && bytes <= all && bytes > all * 9 / 10); /* the end of a launch writes lines back */
    }
    assert_int_equal(json_array_size(json_object_get(lines, "cycles")), n);
    json_array_foreach(json_object_get(lines, "cycles"), i, row) {
        assert_int_equal(json_array_size(row), json_array_size(json_object_get(lines, "lines")) + 1);
        json_array_foreach(row, k, value) in_lines += json_integer_value(value);
    }
    assert_in_range(json_array_size(json_object_get(lines, "lines")), 10, 24);
    assert_int_equal(in_lines, sum_line_cycles(run));
    json_decref(data);
    outcome_free(&outcome);
}

/* Intervals double where there would be more than 256 samples, and nothing is lost. */
static void the_series_of_a_page_are_short_and_complete(void **state) {
    (void)state;
    struct outcome outcome = heddle("run ray --size small -q --html %s/series.html", scratch());
    expect_status(&outcome, 0);
    json_t *data = data_of("series.html");
    const json_t *kernel = json_array_get(json_object_get(document_of(data, 0), "kernels"), 0);
    size_t n;
    assert_int_equal(sum_samples(kernel, "thread_instructions", &n),
                     json_integer_value(json_object_get(kernel, "thread_instructions")));
    assert_in_range(n, 128, 256);
    assert_int_equal(sum_samples(kernel, "row_accesses", &n),
                     json_integer_value(json_object_get(kernel, "row_hits")) +
                         json_integer_value(json_object_get(kernel, "row_conflicts")));
    assert_true(sum_samples(kernel, "resident_groups", &n) > 0);
    json_int_t every = json_integer_value(json_object_get(json_object_get(kernel, "samples"), "every_cycles"));
    json_int_t cycles = json_integer_value(json_object_get(kernel, "cycles"));
    assert_true((json_int_t)n * every >= cycles && (json_int_t)(n - 1) * every <= cycles);
    json_decref(data);
    outcome_free(&outcome);
}

static void a_page_has_what_the_json_has(void **state) {
    (void)state;
    struct outcome first =
        heddle("compare reduction vecadd --size small -s \"lrr gto\" -q --json %s/c.json", scratch());
    expect_status(&first, 0);
    struct outcome second = heddle("report %s/c.json -o %s/c.html --title \"<b> & more\"", scratch(), scratch());
    expect_status(&second, 0);
    char path[4096];
    snprintf(path, sizeof path, "%s/c.json", scratch());
    json_t *data = data_of("c.html"), *json = json_load_file(path, 0, NULL);
    assert_true(json_equal(document_of(data, 0), json));
    assert_string_equal(json_string_value(json_object_get(data, "title")), "<b> & more");
    json_decref(json);
    json_decref(data);
    outcome_free(&first);
    outcome_free(&second);
}

/* The bytes of a file below scratch(). */
static char *read_scratch(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", scratch(), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = NULL;
    size_t size = 0;
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    return text;
}

/* Runs `words` with --json, without and with --html, and returns the second JSON; both are the same but for the host's
 * times. */
static char *expect_same_json(const char *words) {
    struct outcome first = heddle("%s -q --json %s/0.json", words, scratch());
    struct outcome second = heddle("%s -q --json %s/1.json --html %s/1.html", words, scratch(), scratch());
    expect_status(&first, 0);
    expect_status(&second, 0);
    outcome_free(&first);
    outcome_free(&second);
    char *without = read_scratch("0.json"), *with = read_scratch("1.json");
    char *host = strstr(without, "\"host\""), *other = strstr(with, "\"host\"");
    assert_int_equal(host == NULL, other == NULL);
    if (host && other)
        *host = *other = '\0'; /* the host's times are at the end of a run */
    assert_string_equal(without, with);
    free(without);
    return with;
}

static void a_page_leaves_the_json_as_it_is(void **state) {
    (void)state;
    free(expect_same_json("compare reduction bfs --size small -d \"stack dws\""));
    free(expect_same_json("run reduction"));
    free(expect_same_json("run reduction --functional"));
    char *json = expect_same_json("run reduction --sample 100 --lines --branches");
    assert_true(strstr(json, "\"samples\"") && strstr(json, "\"lines\"") && strstr(json, "\"branches\""));
    free(json);
}

/* An experiment that runs no program: two schedulers on the smallest machine. */
static void a_page_of_an_experiment_has_its_values_and_runs(void **state) {
    (void)state;
    struct outcome outcome = heddle("paper liu2023-fig1 -q --store %s/store.db --json %s/p.json --html %s/p.html",
                                    scratch(), scratch(), scratch());
    expect_status(&outcome, 0);
    json_t *data = data_of("p.html");
    const json_t *document = document_of(data, 0);
    const json_t *experiment = json_array_get(json_object_get(document, "experiments"), 0);
    const json_t *values = json_object_get(experiment, "values"), *value;
    size_t i;
    assert_string_equal(json_string_value(json_object_get(json_object_get(experiment, "figure"), "kind")), "bars");
    assert_true(json_array_size(values) > 0);
    json_array_foreach(values, i, value) {
        const json_t *run = json_object_get(value, "run");
        assert_true(json_is_integer(run));
        assert_non_null(json_array_get(json_object_get(document, "runs"), (size_t)json_integer_value(run)));
    }
    json_decref(data);
    struct outcome report = heddle("report %s/p.json -o %s/again.html", scratch(), scratch());
    expect_status(&report, 0);
    json_t *again = data_of("again.html");
    assert_int_equal(json_array_size(json_object_get(document_of(again, 0), "experiments")), 1);
    json_decref(again);
    outcome_free(&report);
    outcome_free(&outcome);
}

static void write_text(const char *name, const char *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", scratch(), name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static void a_store_has_a_page_too(void **state) {
    (void)state;
    write_text("sizes.yaml", "title: two caches\n"
                             "run: {machine: gtx480, size: small}\n"
                             "programs: [reduction, vecadd]\n"
                             "axes:\n"
                             "  - axis: L1\n"
                             "    values: [16K, 32K]\n"
                             "    with: {set: {l1.size: $}}\n"
                             "measures: {cycles: {of: cycles, title: cycles}}\n");
    struct outcome sweep =
        heddle("sweep %s/sizes.yaml -q --store %s/sizes.db --json %s/sizes.json", scratch(), scratch(), scratch());
    expect_status(&sweep, 0);
    struct outcome all = heddle("report %s/sizes.db -o %s/sizes.html", scratch(), scratch());
    expect_status(&all, 0);
    struct outcome some =
        heddle("report %s/sizes.db -o %s/some.html --where \"program = 'vecadd'\"", scratch(), scratch());
    expect_status(&some, 0);
    char path[4096];
    snprintf(path, sizeof path, "%s/sizes.json", scratch());
    json_t *data = data_of("sizes.html"), *some_data = data_of("some.html"), *json = json_load_file(path, 0, NULL);
    const json_t *runs = json_object_get(document_of(data, 0), "runs");
    const json_t *values = json_object_get(json_array_get(json, 0), "values");
    assert_int_equal(json_array_size(runs), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *run = json_array_get(runs, i), *value = json_array_get(values, i);
        const json_t *at = json_object_get(value, "at"), *set = json_object_get(run, "set");
        char expected[32];
        snprintf(expected, sizeof expected, "l1.size=%s", json_string_value(json_object_get(at, "L1")));
        assert_int_equal(json_array_size(set), 1);
        assert_string_equal(json_string_value(json_array_get(set, 0)), expected);
        assert_string_equal(json_string_value(json_object_get(run, "program")),
                            json_string_value(json_object_get(at, "program")));
        assert_string_equal(json_string_value(json_object_get(run, "size")), "small");
        assert_null(json_object_get(run, "arguments"));
        assert_int_equal(json_integer_value(json_object_get(json_object_get(run, "total"), "cycles")),
                         (json_int_t)json_number_value(json_object_get(value, "ours")));
    }
    assert_int_equal(json_array_size(json_object_get(document_of(some_data, 0), "runs")), 2);
    json_decref(json);
    json_decref(some_data);
    json_decref(data);
    outcome_free(&some);
    outcome_free(&all);
    outcome_free(&sweep);
    struct outcome none = heddle("report %s/sizes.db -o %s/x.html --where \"program = 'bfs'\"", scratch(), scratch());
    expect_status(&none, 1);
    expect_line(&none, "meets --where");
    outcome_free(&none);
    struct outcome wrong =
        heddle("report %s/sizes.db -o %s/x.html --where \"programme = 'bfs'\"", scratch(), scratch());
    expect_status(&wrong, 1);
    expect_line(&wrong, "no such column: programme");
    outcome_free(&wrong);
    static const char *const not_expressions[] = {"1=1); DROP TABLE runs; --",
                                                  "1=1) UNION SELECT * FROM (runs",
                                                  "1 -- all",
                                                  "1 /* all",
                                                  "(1",
                                                  "program = 'vecadd",
                                                  "DROP TABLE runs",
                                                  "program = 'vecadd'; SELECT 1"};
    for (size_t i = 0; i < sizeof not_expressions / sizeof not_expressions[0]; i++) {
        wrong = heddle("report %s/sizes.db -o %s/x.html --where \"%s\"", scratch(), scratch(), not_expressions[i]);
        expect_status(&wrong, 1);
        expect_line(&wrong, not_expressions[i]);
        expect_text(wrong.err, "expected is an expression over columns of the table runs");
        outcome_free(&wrong);
    }
    struct outcome quoted =
        heddle("report %s/sizes.db -o %s/x.html --where \"(program <> ');--' AND (1))\"", scratch(), scratch());
    expect_status(&quoted, 0);
    outcome_free(&quoted);
}

static void what_is_not_results_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *words;
        int status;
        const char *message;
    } cases[] = {
        {"report", 2, "report needs results"},
        {"report x.json", 2, "report needs a file for the page"},
        {"report /nonexistent.json -o %s/x.html", 1, "cannot read '/nonexistent.json'"},
        {"report tests/cli/kernels.ptx -o %s/x.html", 1, "tests/cli/kernels.ptx:1:"},
        {"report web/package.json -o %s/x.html", 1, "'web/package.json' has no results"},
        {"run bfs --size small --html /nonexistent/x.html", 1, "cannot write '/nonexistent/x.html'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[4096];
        snprintf(words, sizeof words, "%s", cases[i].words);
        char *place = strstr(words, "%s");
        if (place)
            snprintf(place, sizeof words - (size_t)(place - words), "%s/x.html", scratch());
        struct outcome outcome = heddle("%s", words);
        expect_status(&outcome, cases[i].status);
        expect_line(&outcome, cases[i].message);
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
        cmocka_unit_test(a_page_of_a_run_has_series_lines_and_threads),
        cmocka_unit_test(the_series_of_a_page_are_short_and_complete),
        cmocka_unit_test(the_course_of_stalls_traffic_and_lines_is_complete),
        cmocka_unit_test(a_page_has_what_the_json_has),
        cmocka_unit_test(a_page_leaves_the_json_as_it_is),
        cmocka_unit_test(a_page_of_an_experiment_has_its_values_and_runs),
        cmocka_unit_test(a_store_has_a_page_too),
        cmocka_unit_test(what_is_not_results_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
