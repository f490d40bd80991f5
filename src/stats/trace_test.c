/* Timelines: the file is JSON at every flush, respects its limit, and contains the events as they were given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "stats/trace.h"

static char path[] = "/tmp/heddle-trace-XXXXXX";

static int make_file(void **state) {
    (void)state;
    int file = mkstemp(path);
    return file < 0 || close(file) != 0;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

/* Returns the events of the file, which must be whole. */
static json_t *read_events(json_t **document) {
    json_error_t error;
    *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!*document)
        fail_msg("line %d: %s", error.line, error.text);
    return json_object_get(*document, "traceEvents");
}

static size_t count_events(void) {
    json_t *document;
    size_t n = json_array_size(read_events(&document));
    json_decref(document);
    return n;
}

static void the_file_is_whole_after_each_flush_and_goes_on(void **state) {
    (void)state;
    struct stats_trace *trace = stats_trace_open(path, 1000000);
    assert_true(stats_trace_flush(trace));
    assert_int_equal(count_events(), 0);
    stats_trace_span(trace, (struct stats_track){0, 1}, "add.u32", 10, 1, NULL);
    assert_true(stats_trace_flush(trace));
    assert_true(stats_trace_flush(trace));
    assert_int_equal(count_events(), 1);
    stats_trace_counter(trace, 0, "IPC", 11, 0.5);
    stats_trace_arrow(trace, 1, "split", (struct stats_track){0, 1}, (struct stats_track){0, 2}, 12);
    assert_true(stats_trace_close(trace));
    assert_int_equal(count_events(), 4);
}

static void a_span_has_its_name_its_cycles_and_its_arguments(void **state) {
    (void)state;
    json_t *document;
    struct stats_trace *trace = stats_trace_open(path, 1000000);
    const struct stats_argument arguments[] = {{"line", 7}, {"lanes", 32}, {NULL, 0}};
    stats_trace_span(trace, (struct stats_track){3, 5}, "odd \"name\" \\ \x01", UINT64_C(1) << 60, 9, arguments);
    assert_true(stats_trace_close(trace));
    const json_t *event = json_array_get(read_events(&document), 0), *args = json_object_get(event, "args");
    assert_string_equal(json_string_value(json_object_get(event, "ph")), "X");
    assert_string_equal(json_string_value(json_object_get(event, "name")), "odd \"name\" \\ ?");
    assert_int_equal(json_integer_value(json_object_get(event, "pid")), 3);
    assert_int_equal(json_integer_value(json_object_get(event, "tid")), 5);
    assert_int_equal(json_integer_value(json_object_get(event, "ts")), INT64_C(1) << 60);
    assert_int_equal(json_integer_value(json_object_get(event, "dur")), 9);
    assert_int_equal(json_integer_value(json_object_get(args, "line")), 7);
    assert_int_equal(json_integer_value(json_object_get(args, "lanes")), 32);
    json_decref(document);
}

/* Both ends of an overlapping span are written, or none. */
static void a_full_file_is_whole_and_no_larger_than_its_limit(void **state) {
    (void)state;
    enum { MOST = 3000 };
    struct stat about;
    struct stats_trace *trace = stats_trace_open(path, MOST);
    for (uint64_t i = 0; i < 100; i++)
        stats_trace_overlapping_span(trace, 0, i, "memory", "ld.global.u32", i, 400, NULL);
    assert_true(stats_trace_is_full(trace));
    assert_true(stats_trace_close(trace));
    assert_int_equal(stat(path, &about), 0);
    assert_in_range(about.st_size, MOST - 300, MOST);
    assert_int_equal(count_events() % 2, 0);
}

static bool is_of_process_2(void *user, const struct stats_event *event) {
    *(uint64_t *)user += event->phase == 'e' ? event->cycle : 0;
    return event->process == 2;
}

/* Thinning keeps the names and both ends of spans, and the file continues. */
static void a_thinned_file_has_only_the_events_to_keep(void **state) {
    (void)state;
    enum { MOST = 20000 };
    uint64_t begins = 0;
    struct stats_trace *trace = stats_trace_open(path, MOST);
    stats_trace_name_process(trace, 1, "one");
    stats_trace_name_process(trace, 2, "two");
    for (uint64_t i = 0; i < 20; i++)
        stats_trace_overlapping_span(trace, 1 + i % 2, i, "memory", "ld", 10 * i, 5, NULL);
    uint64_t room = stats_trace_room(trace);
    assert_true(stats_trace_thin(trace, is_of_process_2, &begins));
    assert_int_equal(begins, 10 * 190); /* an end has the cycle of its begin */
    assert_true(stats_trace_room(trace) > room + (MOST - room) / 3);
    assert_true(stats_trace_flush(trace));
    assert_int_equal(count_events(), 2 + 20);
    stats_trace_span(trace, (struct stats_track){1, 1}, "add", 7, 1, NULL);
    assert_true(stats_trace_close(trace));
    assert_int_equal(count_events(), 2 + 20 + 1);
    trace = stats_trace_open("/dev/null", MOST);
    assert_false(stats_trace_thin(trace, is_of_process_2, &begins));
    stats_trace_close(trace);
}

static void a_long_name_is_cut(void **state) {
    (void)state;
    char name[3000];
    for (size_t i = 0; i < sizeof name - 1; i++)
        name[i] = '"';
    name[sizeof name - 1] = '\0';
    struct stats_trace *trace = stats_trace_open(path, 1000000);
    stats_trace_name_process(trace, 0, name);
    assert_true(stats_trace_close(trace));
    assert_int_equal(count_events(), 2);
}

static void a_file_that_cannot_be_written_is_refused(void **state) {
    (void)state;
    assert_null(stats_trace_open("/nonexistent/trace.json", 1000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_whole_after_each_flush_and_goes_on),
        cmocka_unit_test(a_span_has_its_name_its_cycles_and_its_arguments),
        cmocka_unit_test(a_full_file_is_whole_and_no_larger_than_its_limit),
        cmocka_unit_test(a_thinned_file_has_only_the_events_to_keep),
        cmocka_unit_test(a_long_name_is_cut),
        cmocka_unit_test(a_file_that_cannot_be_written_is_refused),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
