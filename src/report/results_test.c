/* Tests of reading results: every field, and missing or malformed files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/report.h"

struct fixture {
    char path[32];
    struct base_arena arena;
    struct report_run run;
    struct base_diag diag;
};

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    strcpy(fixture->path, "/tmp/heddle-test-XXXXXX");
    int file = mkstemp(fixture->path);
    *state = fixture;
    return file < 0 || close(file) != 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    unlink(fixture->path);
    base_arena_free(&fixture->arena);
    free(fixture);
    return 0;
}

static bool read_text(struct fixture *fixture, const char *text) {
    FILE *file = fopen(fixture->path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return report_read(&fixture->run, fixture->path, &fixture->arena, &fixture->diag);
}

static const char three_launches[] =
    "{\"kernels\": ["
    "{\"name\": \"a\", \"grid\": [2, 3, 4], \"block\": [32, 2, 1], \"warp_instructions\": 10, "
    "\"thread_instructions\": 160, \"branches\": 4, \"divergent_branches\": 1, \"memory_instructions\": 3, "
    "\"barriers\": 2, \"blocks\": 24, \"threads\": 1536},"
    "{\"name\": \"b\", \"grid\": [1, 1, 1], \"block\": [1, 1, 1], \"warp_instructions\": 5, "
    "\"thread_instructions\": 5},"
    "{\"name\": \"a\", \"grid\": [1, 1, 1], \"block\": [32, 1, 1], \"warp_instructions\": 1, "
    "\"thread_instructions\": 32, \"blocks\": 1}],"
    "\"errors\": [{\"error\": \"CUDA_ERROR_ASSERT\", \"message\": \"assertion failed\"}],"
    "\"missing_functions\": [\"cuGraphCreate\"], \"host\": {\"seconds\": 1.0}}";

static void every_field_of_a_launch_is_read(void **state) {
    struct fixture *fixture = *state;
    assert_true(read_text(fixture, three_launches));
    assert_true(fixture->run.has_results);
    assert_int_equal(fixture->run.n_launches, 3);
    const struct report_kernel *launch = &fixture->run.launch[0];
    assert_string_equal(launch->name, "a");
    assert_int_equal(launch->grid[2], 4);
    assert_int_equal(launch->block[1], 2);
    assert_int_equal(launch->counters.warp_instructions, 10);
    assert_int_equal(launch->counters.thread_instructions, 160);
    assert_int_equal(launch->counters.branches, 4);
    assert_int_equal(launch->counters.divergent_branches, 1);
    assert_int_equal(launch->counters.memory_instructions, 3);
    assert_int_equal(launch->counters.barriers, 2);
    assert_int_equal(launch->counters.blocks, 24);
    assert_int_equal(launch->counters.threads, 1536);
}

static void errors_and_missing_functions_are_read(void **state) {
    struct fixture *fixture = *state;
    assert_true(read_text(fixture, three_launches));
    assert_int_equal(fixture->run.n_errors, 1);
    assert_string_equal(fixture->run.errors[0].result, "CUDA_ERROR_ASSERT");
    assert_string_equal(fixture->run.errors[0].message, "assertion failed");
    assert_int_equal(fixture->run.n_missing, 1);
    assert_string_equal(fixture->run.missing[0], "cuGraphCreate");
}

static void the_total_is_the_sum_of_the_launches(void **state) {
    struct fixture *fixture = *state;
    assert_true(read_text(fixture, three_launches));
    assert_int_equal(fixture->run.total.n_launches, 3);
    assert_int_equal(fixture->run.total.counters.warp_instructions, 16);
    assert_int_equal(fixture->run.total.counters.blocks, 25);
    assert_true(fixture->run.host_seconds == 1.0);
}

static void launches_of_one_kernel_are_summed_in_order(void **state) {
    struct fixture *fixture = *state;
    unsigned count;
    assert_true(read_text(fixture, three_launches));
    const struct report_kernel *kernel = report_by_name(&fixture->run, &fixture->arena, &count);
    assert_int_equal(count, 2);
    assert_string_equal(kernel[0].name, "a");
    assert_int_equal(kernel[0].n_launches, 2);
    assert_int_equal(kernel[0].counters.thread_instructions, 192);
    assert_string_equal(kernel[1].name, "b");
    assert_int_equal(kernel[1].n_launches, 1);
}

static void a_file_that_is_empty_or_missing_is_a_run_without_results(void **state) {
    struct fixture *fixture = *state;
    assert_true(read_text(fixture, ""));
    assert_false(fixture->run.has_results);
    unlink(fixture->path);
    assert_true(report_read(&fixture->run, fixture->path, &fixture->arena, &fixture->diag));
    assert_false(fixture->run.has_results);
}

static void a_broken_file_is_named(void **state) {
    struct fixture *fixture = *state;
    assert_false(read_text(fixture, "{\"kernels\": ["));
    assert_non_null(strstr(fixture->diag.text, fixture->path));
}

static void averages_and_rates_without_a_denominator_are_zero(void **state) {
    (void)state;
    struct stats_counters counters = {0};
    assert_true(report_active_lanes(&counters) == 0);
    assert_true(report_rate(5, 0) == 0);
    counters = (struct stats_counters){.warp_instructions = 4, .thread_instructions = 66};
    assert_true(report_active_lanes(&counters) == 16.5);
    assert_true(report_rate(6, 1.5) == 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_field_of_a_launch_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_and_missing_functions_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_total_is_the_sum_of_the_launches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(launches_of_one_kernel_are_summed_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_is_empty_or_missing_is_a_run_without_results, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_broken_file_is_named, set_up, tear_down),
        cmocka_unit_test(averages_and_rates_without_a_denominator_are_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
