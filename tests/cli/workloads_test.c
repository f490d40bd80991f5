/* Every bundled workload runs, agrees with its reference, and produces the same numbers every time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static json_int_t number_at(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        fail_msg("\"%s\" is missing or not a number", key);
    return json_integer_value(value);
}

static void check_stats(const json_t *stats) {
    json_int_t warps = number_at(stats, "warp_instructions"), threads = number_at(stats, "thread_instructions");
    assert_true(warps > 0 && threads > 0 && threads <= 32 * warps);
    assert_true(number_at(stats, "divergent_branches") <= number_at(stats, "branches"));
    assert_true(number_at(stats, "memory_instructions") > 0);
    double lanes = json_real_value(json_object_get(stats, "average_active_threads"));
    assert_true(lanes > 0.999 * (double)threads / (double)warps && lanes < 1.001 * (double)threads / (double)warps);
    assert_true(json_real_value(json_object_get(stats, "simd_efficiency")) <= 1);
}

static void check_object(json_t *object, const char *name) {
    const json_t *kernels = json_object_get(object, "kernels"), *total = json_object_get(object, "total");
    const json_t *host = json_object_get(object, "host");
    assert_string_equal(json_string_value(json_object_get(object, "program")), name);
    assert_string_equal(json_string_value(json_object_get(object, "size")), "small");
    assert_string_equal(json_string_value(json_object_get(object, "heddle")), HEDDLE_VERSION);
    assert_true(json_is_true(json_object_get(object, "functional")));
    assert_true(json_is_true(json_object_get(object, "checked")));
    assert_null(json_object_get(object, "error"));
    json_int_t warps = 0;
    size_t i;
    json_t *kernel;
    json_array_foreach(kernels, i, kernel) {
        assert_non_null(json_string_value(json_object_get(kernel, "name")));
        assert_int_equal(json_array_size(json_object_get(kernel, "grid")), 3);
        assert_int_equal(json_array_size(json_object_get(kernel, "block")), 3);
        check_stats(kernel);
        warps += number_at(kernel, "warp_instructions");
    }
    assert_true(json_array_size(kernels) > 0);
    assert_int_equal(number_at(total, "launches"), json_array_size(kernels));
    assert_int_equal(number_at(total, "warp_instructions"), warps);
    check_stats(total);
    assert_true(json_real_value(json_object_get(host, "seconds")) > 0);
    assert_true(json_real_value(json_object_get(host, "warp_instructions_per_second")) > 0);
}

static json_t *run_workload(const char *name) {
    struct outcome outcome = heddle("run %s --functional --json -", name);
    expect_status(&outcome, 0);
    expect_text(outcome.err, "verified"); /* the program's own line, moved out of the way */
    json_t *object = json_output(&outcome);
    outcome_free(&outcome);
    return object;
}

/* "256" or "(16, 8)", as workloads.def writes them. */
static bool is_shape(const json_t *shape, const char *text) {
    int x = 0, y = 1;
    if (sscanf(text, "(%d, %d)", &x, &y) != 2 && sscanf(text, "%d", &x) != 1)
        return false;
    return json_integer_value(json_array_get(shape, 0)) == x && json_integer_value(json_array_get(shape, 1)) == y;
}

static void every_shape_in_the_list_is_that_of_a_launch(void **state) {
    (void)state;
    struct outcome outcome = heddle("list workloads --json");
    expect_status(&outcome, 0);
    json_t *list = json_output(&outcome), *workload;
    size_t i, k;
    json_array_foreach(list, i, workload) {
        const char *name = json_string_value(json_object_get(workload, "name"));
        const char *shape = json_string_value(json_object_get(workload, "shape"));
        json_t *object = run_workload(name), *launch;
        const char *block = strstr(shape, " x ");
        bool is_found = false;
        assert_non_null(block);
        json_array_foreach(json_object_get(object, "kernels"), k, launch) {
            is_found |= is_shape(json_object_get(launch, "grid"), shape) &&
                        is_shape(json_object_get(launch, "block"), block + strlen(" x "));
        }
        if (!is_found)
            fail_msg("no launch of %s has the shape %s of workloads.def", name, shape);
        json_decref(object);
    }
    json_decref(list);
    outcome_free(&outcome);
}

static void every_workload_agrees_with_its_reference(void **state) {
    (void)state;
    struct outcome list = heddle("list workloads --names");
    expect_status(&list, 0);
    unsigned n = 0;
    for (char *rest, *name = strtok_r(list.out, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest), n++) {
        json_t *object = run_workload(name);
        check_object(object, name);
        json_decref(object);
    }
    assert_true(n > 0);
    outcome_free(&list);
}

static void two_runs_differ_only_in_the_host_time(void **state) {
    (void)state;
    char *text[2];
    for (int i = 0; i < 2; i++) {
        json_t *object = run_workload("mergesort");
        assert_int_equal(json_object_del(object, "host"), 0);
        text[i] = json_dumps(object, JSON_INDENT(1));
        json_decref(object);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

static void a_seed_and_a_shape_reach_the_workload(void **state) {
    (void)state;
    struct outcome outcome = heddle("run vecadd --functional --seed 7 --blocks 3 --threads-per-block=64 --json - -q");
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome);
    const json_t *launch = json_array_get(json_object_get(object, "kernels"), 0);
    assert_int_equal(number_at(launch, "blocks"), 3);
    assert_int_equal(number_at(launch, "threads"), 192);
    json_decref(object);
    outcome_free(&outcome);
}

static void without_a_check_nothing_is_called_checked(void **state) {
    (void)state;
    struct outcome outcome = heddle("run vecadd --functional --no-check --json -");
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome);
    assert_true(json_is_false(json_object_get(object, "checked")));
    json_decref(object);
    outcome_free(&outcome);
}

static void people_see_a_table_and_the_verdict_last(void **state) {
    (void)state;
    struct outcome outcome = heddle("run bfs --functional");
    expect_status(&outcome, 0);
    assert_string_equal(outcome.err, "");
    expect_text(outcome.out, "bfs: verified");
    expect_text(outcome.out, "\nkernel ");
    expect_text(outcome.out, "warp instructions/s\nchecked: the result agrees with the CPU reference\n");
    assert_null(strchr(outcome.out, '\033'));
    outcome_free(&outcome);
}

static void colour_is_used_only_on_request(void **state) {
    (void)state;
    struct outcome outcome = heddle("run bfs --functional --color always");
    expect_status(&outcome, 0);
    assert_non_null(strchr(outcome.out, '\033'));
    outcome_free(&outcome);
}

static void quiet_leaves_the_program_alone(void **state) {
    (void)state;
    struct outcome outcome = heddle("run vecadd --functional -q");
    expect_status(&outcome, 0);
    assert_string_equal(outcome.err, "");
    assert_ptr_equal(strstr(outcome.out, "vecadd: verified"), outcome.out);
    assert_null(strstr(outcome.out, "kernel "));
    outcome_free(&outcome);
}

static void csv_has_a_line_for_each_launch(void **state) {
    (void)state;
    struct outcome outcome = heddle("run reduction --functional --csv -");
    expect_status(&outcome, 0);
    unsigned n_lines = 0;
    for (const char *at = outcome.out; (at = strchr(at, '\n')); at++)
        n_lines++;
    assert_int_equal(n_lines, 3);
    expect_text(outcome.out, "program,size,launch,kernel,");
    expect_text(outcome.out, "\n\"reduction\",small,1,\"reduce\",");
    expect_text(outcome.out, "\n\"reduction\",small,2,\"reduce\",");
    outcome_free(&outcome);
}

static void an_alias_is_its_workload_with_another_input_at_size_paper(void **state) {
    (void)state;
    json_t *small = run_workload("bfs_1");
    assert_string_equal(json_string_value(json_object_get(small, "program")), "bfs_1");
    json_decref(small);
    struct outcome outcome = heddle("run bfs_1 --size paper --functional --no-check -q");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "bfs: not checked, 65536 nodes, 393216 edges");
    outcome_free(&outcome);
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workload_agrees_with_its_reference),
        cmocka_unit_test(every_shape_in_the_list_is_that_of_a_launch),
        cmocka_unit_test(two_runs_differ_only_in_the_host_time),
        cmocka_unit_test(a_seed_and_a_shape_reach_the_workload),
        cmocka_unit_test(without_a_check_nothing_is_called_checked),
        cmocka_unit_test(people_see_a_table_and_the_verdict_last),
        cmocka_unit_test(colour_is_used_only_on_request),
        cmocka_unit_test(quiet_leaves_the_program_alone),
        cmocka_unit_test(csv_has_a_line_for_each_launch),
        cmocka_unit_test(an_alias_is_its_workload_with_another_input_at_size_paper),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
