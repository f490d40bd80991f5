/* `heddle bench` measures the kernels and workloads it is given and reports the results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static void every_kernel_and_a_workload_can_be_measured(void **state) {
    (void)state;
    struct outcome outcome =
        heddle("bench fma integer mixed copy gather vecadd --size small --repeat 1 --functional --json -");
    expect_status(&outcome, 0);
    json_t *array = json_output(&outcome), *entry;
    size_t i;
    assert_int_equal(json_array_size(array), 6);
    json_array_foreach(array, i, entry) {
        double warps = (double)json_integer_value(json_object_get(entry, "warp_instructions"));
        assert_true(warps > 10000);
        assert_true(json_real_value(json_object_get(entry, "warp_instructions_per_second")) > 0);
        bool is_workload = strcmp(json_string_value(json_object_get(entry, "kind")), "workload") == 0;
        assert_true(is_workload == (i == 5));
        assert_true(is_workload == !json_object_get(entry, "target"));
        assert_null(json_object_get(entry, "timed"));
        assert_true(json_integer_value(json_object_get(entry, "peak_host_bytes")) > 1 << 20);
    }
    json_decref(array);
    outcome_free(&outcome);
}

/* 64 blocks of 8 warps, 60 iterations: 16 instructions before the loop, 35 in it, 11 after it. */
static void the_fma_kernel_executes_the_instructions_it_is_made_of(void **state) {
    (void)state;
    struct outcome outcome = heddle("bench fma --size small --repeat 1 --functional --json -");
    expect_status(&outcome, 0);
    json_t *array = json_output(&outcome);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(array, 0), "warp_instructions")),
                     64 * 8 * (16 + 60 * 35 + 11));
    json_decref(array);
    outcome_free(&outcome);
}

static void people_see_a_table_with_targets(void **state) {
    (void)state;
    struct outcome outcome = heddle("bench gather --size small --repeat 2 --functional");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "M warp/s");
    expect_text(outcome.out, "\ngather          memory ");
    outcome_free(&outcome);
}

static void timed_runs_are_measured_on_every_machine_asked_for(void **state) {
    (void)state;
    struct outcome outcome = heddle("bench vecadd fma --size small --repeat 1 --set sm.count=1,15 --json -");
    expect_status(&outcome, 0);
    json_t *array = json_output(&outcome);
    for (size_t i = 0; i < 2; i++) {
        const json_t *timed = json_object_get(json_array_get(array, i), "timed");
        assert_int_equal(json_array_size(timed), 2);
        const json_t *one = json_array_get(timed, 0), *many = json_array_get(timed, 1);
        assert_string_equal(json_string_value(json_object_get(one, "machine")), "gtx480 sm.count=1");
        assert_string_equal(json_string_value(json_object_get(many, "machine")), "gtx480 sm.count=15");
        assert_true(json_integer_value(json_object_get(one, "cycles")) >
                    json_integer_value(json_object_get(many, "cycles")));
        assert_true(json_real_value(json_object_get(one, "tax")) > 0);
        assert_true((json_object_get(one, "times_gpgpu_sim") != NULL) == (i == 0)); /* measured for vecadd alone */
    }
    json_decref(array);
    outcome_free(&outcome);
}

static void the_timed_table_names_the_tax(void **state) {
    (void)state;
    struct outcome outcome = heddle("bench vecadd --size small --repeat 1");
    expect_status(&outcome, 0);
    expect_text(outcome.out, " tax  GPGPU-Sim  MiB\nvecadd  gtx480 ");
    outcome_free(&outcome);
}

static void a_build_is_as_fast_as_itself(void **state) {
    (void)state;
    struct outcome outcome = heddle("bench vecadd --size small --repeat 3 --against \"$HEDDLE_COMMAND\"");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "3 pairs of runs; below 1 this build is faster\nworkload ");
    assert_null(strstr(outcome.out, "other cycles"));
    outcome_free(&outcome);
    outcome = heddle("bench vecadd --size small --repeat 2 --functional --against \"$HEDDLE_COMMAND\" --json -");
    json_t *array = json_output(&outcome), *one = json_array_get(array, 0);
    double ratio = json_real_value(json_object_get(one, "time_ratio"));
    assert_true(ratio > 0.02 && ratio < 50);
    assert_true(json_is_true(json_object_get(one, "same_statistics")));
    json_decref(array);
    outcome_free(&outcome);
    outcome = heddle("bench vecadd --against /nonexistent");
    expect_status(&outcome, 2);
    expect_line(&outcome, "heddle: --against /nonexistent: expected the heddle command of another build");
    outcome_free(&outcome);
    outcome = heddle("bench fma --against \"$HEDDLE_COMMAND\"");
    expect_status(&outcome, 2);
    outcome_free(&outcome);
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_and_a_workload_can_be_measured),
        cmocka_unit_test(the_fma_kernel_executes_the_instructions_it_is_made_of),
        cmocka_unit_test(people_see_a_table_with_targets),
        cmocka_unit_test(timed_runs_are_measured_on_every_machine_asked_for),
        cmocka_unit_test(the_timed_table_names_the_tax),
        cmocka_unit_test(a_build_is_as_fast_as_itself),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
