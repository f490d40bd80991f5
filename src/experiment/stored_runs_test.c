/* The runs of a store, as a page has them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiment/store.h"
#include "experiment/stored_runs.h"

static char path[] = "/tmp/heddle-stored-XXXXXX";
static struct base_arena arena;

static void add(const char *version, const char *arguments, const char *configuration, int cycles) {
    struct experiment_store *store;
    struct experiment_stored_run run = {version, "bfs",         "i1", arguments, "small", "gtx480", "lrr",
                                        "stack", configuration, "0",  false,     0.5,     NULL};
    run.statistics = base_arena_printf(&arena, "{\"total\": {\"cycles\": %d}}", cycles);
    assert_int_equal(experiment_store_open(&store, path), 0);
    assert_true(experiment_store_add(store, &run));
    experiment_store_close(store);
}

static json_int_t cycles_of(const json_t *run) {
    return json_integer_value(json_object_get(json_object_get(run, "total"), "cycles"));
}

static const json_t *run_of(const json_t *document, size_t i) {
    return json_array_get(json_object_get(document, "runs"), i);
}

static void an_empty_store_is_one_line(void **state) {
    (void)state;
    struct experiment_store *store;
    assert_int_equal(experiment_store_open(&store, path), 0);
    experiment_store_close(store);
    assert_true(experiment_is_database(path));
    assert_null(experiment_stored_runs_document(path, NULL, &arena));
}

static void the_latest_of_several_versions_counts(void **state) {
    (void)state;
    add("v2", "--size small --seed 1", "name: gtx480\nl1:\n  size: 16K # bytes\n", 20);
    add("v1", "--size small --seed 1", "name: gtx480\nl1:\n  size: 16K # bytes\n", 10);
    json_t *document = experiment_stored_runs_document(path, NULL, &arena);
    assert_int_equal(json_array_size(json_object_get(document, "runs")), 1);
    assert_int_equal(cycles_of(run_of(document, 0)), 10);
    assert_string_equal(json_string_value(json_object_get(run_of(document, 0), "arguments")), "--seed 1");
    assert_null(json_object_get(run_of(document, 0), "set"));
    json_decref(document);
}

static void machines_of_one_name_are_told_apart_by_what_differs(void **state) {
    (void)state;
    add("v1", "--size small --seed 1", "name: gtx480\nl1:\n  size: 32K # bytes\nl2:\n  size: 1M\nrules: \"a # b\"\n",
        30);
    json_t *document = experiment_stored_runs_document(path, NULL, &arena);
    assert_int_equal(json_array_size(json_object_get(document, "runs")), 2);
    const json_t *first = json_object_get(run_of(document, 0), "set");
    const json_t *second = json_object_get(run_of(document, 1), "set");
    assert_int_equal(json_array_size(first), 1);
    assert_string_equal(json_string_value(json_array_get(first, 0)), "l1.size=16K");
    assert_int_equal(json_array_size(second), 3);
    assert_string_equal(json_string_value(json_array_get(second, 0)), "l1.size=32K");
    assert_string_equal(json_string_value(json_array_get(second, 1)), "l2.size=1M");
    assert_string_equal(json_string_value(json_array_get(second, 2)), "rules=\"a # b\"");
    json_decref(document);
}

static int set_up(void **state) {
    (void)state;
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int clean_up(void **state) {
    (void)state;
    base_arena_free(&arena);
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < 3; i++) {
        char name[sizeof path + 8];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_store_is_one_line),
        cmocka_unit_test(the_latest_of_several_versions_counts),
        cmocka_unit_test(machines_of_one_name_are_told_apart_by_what_differs),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
