/* `heddle characterize`: its counts, tables and files, and programs that cannot run on a machine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static json_t *characterize(const char *arguments) {
    struct outcome outcome = heddle("characterize %s --json -", arguments);
    expect_status(&outcome, 0);
    assert_string_equal(outcome.err, "");
    json_t *object = json_output(&outcome);
    outcome_free(&outcome);
    return object;
}

/* A table of a program. */
static const json_t *table_of(const json_t *object, size_t program, const char *table) {
    return json_object_get(json_array_get(json_object_get(object, "programs"), program), table);
}

static double number_at(const json_t *object, const char *key) {
    if (!json_is_number(json_object_get(object, key)))
        fail_msg("\"%s\" is missing or not a number", key);
    return json_number_value(json_object_get(object, key));
}

static void accesses_count_as_long_by_their_space(void **state) {
    (void)state;
    static const char *const modes[] = {"", "--functional"};
    for (size_t i = 0; i < 2; i++) {
        char arguments[160];
        snprintf(arguments, sizeof arguments, "tests/cli/accesses.ptx --kernel spaces --arg buf:u32[32] -t liu2023 %s",
                 modes[i]);
        json_t *object = characterize(arguments);
        assert_true(number_at(table_of(object, 0, "liu2023"), "long_operations") == 6 * 32);
        assert_true(number_at(table_of(object, 0, "liu2023"), "thread_instructions") == 15 * 32);
        json_decref(object);
    }
}

static void a_miss_diverges_when_other_lanes_hit(void **state) {
    (void)state;
    json_t *object = characterize("tests/cli/accesses.ptx --kernel misses --block 16 --arg buf:u32[96] -t meng2010");
    const json_t *table = table_of(object, 0, "meng2010");
    assert_true(fabs(number_at(table, "instructions_per_miss") - 11 / 3.0) < 1e-6);
    assert_true(number_at(table, "instructions_per_divergent_miss") == 11);
    assert_true(fabs(number_at(table, "divergent_miss_percent") - 100 / 3.0) < 1e-6);
    assert_true(json_is_null(json_object_get(table, "instructions_per_branch")));
    json_decref(object);
}

static void the_papers_values_stand_beside_ours(void **state) {
    (void)state;
    json_t *object = characterize("blackjack");
    const json_t *table = table_of(object, 0, "narasiman2011"), *paper = json_object_get(table, "paper");
    assert_string_equal(json_string_value(json_object_get(table, "divergence")), "high");
    assert_string_equal(json_string_value(json_object_get(table, "idle")), "low");
    assert_string_equal(json_string_value(json_object_get(paper, "divergence")), "high");
    assert_string_equal(json_string_value(json_object_get(paper, "idle")), "low");
    assert_null(json_object_get(table_of(object, 0, "liu2023"), "paper"));
    json_decref(object);
}

static void a_program_that_cannot_run_on_a_machine_says_why(void **state) {
    (void)state;
    struct outcome outcome = heddle("characterize blackjack vecadd -t meng2010");
    expect_status(&outcome, 0);
    assert_string_equal(outcome.err, "");
    expect_text(outcome.out, "blackjack: the kernel needs shared memory, and this device has none\n");
    expect_text(outcome.out, "\nvecadd ");
    outcome_free(&outcome);
}

static void status_3_decides_the_status(void **state) {
    (void)state;
    struct outcome outcome = heddle("characterize %s/timed -t narasiman2011 -- wrong:lrr", programs());
    expect_status(&outcome, 3);
    expect_line(&outcome, "/timed ended with exit status 3");
    outcome_free(&outcome);
    outcome = heddle("characterize %s/timed -t meng2010 -- wrong:gtrr:next=warp", programs());
    expect_status(&outcome, 3);
    outcome_free(&outcome);
    outcome = heddle("characterize %s/timed -t narasiman2011 -- error:lrr", programs());
    expect_status(&outcome, 1);
    expect_line(&outcome, "no such data");
    outcome_free(&outcome);
}

static void only_the_tables_asked_for_are_measured(void **state) {
    (void)state;
    struct outcome outcome = heddle("characterize vecadd -t malits2012 -t liu2023 --functional");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "Liu et al. 2023");
    expect_text(outcome.out, "Malits et al. 2012");
    assert_null(strstr(outcome.out, "Narasiman"));
    assert_null(strstr(outcome.out, "Meng"));
    outcome_free(&outcome);
    outcome = heddle("characterize vecadd -t meng2011");
    expect_status(&outcome, 2);
    expect_line(&outcome, "no table 'meng2011'; did you mean 'meng2010'?");
    outcome_free(&outcome);
}

/* The sensitivity is that of two runs, whose cycles `heddle run` counts too. */
static void a_larger_l1_shows_which_programs_need_it(void **state) {
    (void)state;
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        struct outcome outcome = heddle("run gemv --json - %s", i ? "--set l1.size=128K" : "");
        expect_status(&outcome, 0);
        json_t *run = json_output(&outcome);
        cycles[i] = number_at(json_object_get(run, "total"), "cycles");
        json_decref(run);
        outcome_free(&outcome);
    }
    json_t *object = characterize("gemv vecadd -t caches");
    const json_t *gemv = table_of(object, 0, "caches"), *vecadd = table_of(object, 1, "caches");
    assert_true(fabs(number_at(gemv, "cache_sensitivity") - cycles[0] / cycles[1]) < 1e-6);
    assert_string_equal(json_string_value(json_object_get(gemv, "class")), "cache-sensitive");
    assert_string_equal(json_string_value(json_object_get(vecadd, "class")), "streaming");
    assert_true(number_at(vecadd, "misses_per_kilo_instruction") < number_at(gemv, "misses_per_kilo_instruction"));
    json_decref(object);
}

static void csv_has_a_line_for_each_program(void **state) {
    (void)state;
    struct outcome outcome = heddle("characterize vecadd bfs -t malits2012 --functional --csv -");
    expect_status(&outcome, 0);
    assert_string_equal(outcome.out,
                        "program,size,blocks,malits2012_blocks,threads_per_block,malits2012_threads_per_block,"
                        "static_branches,malits2012_static_branches\n"
                        "\"vecadd\",small,192,,256,,1,\n"
                        "\"bfs\",small,16,128,256,512,5,4\n");
    outcome_free(&outcome);
}

static void the_list_of_workloads_shows_what_was_measured(void **state) {
    (void)state;
    struct outcome outcome = heddle("list workloads");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "grid x block");
    expect_text(outcome.out, " branches ");
    expect_text(outcome.out, " divergence ");
    assert_null(strstr(outcome.out, "  -  ")); /* every workload has its facts */
    outcome_free(&outcome);
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_count_as_long_by_their_space),
        cmocka_unit_test(a_miss_diverges_when_other_lanes_hit),
        cmocka_unit_test(the_papers_values_stand_beside_ours),
        cmocka_unit_test(a_program_that_cannot_run_on_a_machine_says_why),
        cmocka_unit_test(status_3_decides_the_status),
        cmocka_unit_test(only_the_tables_asked_for_are_measured),
        cmocka_unit_test(a_larger_l1_shows_which_programs_need_it),
        cmocka_unit_test(csv_has_a_line_for_each_program),
        cmocka_unit_test(the_list_of_workloads_shows_what_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
