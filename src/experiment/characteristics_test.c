/* The tables of `heddle characterize`: classes, and which of the papers' values belong to a program. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "command/command.h"
#include "experiment/characteristics.h"
#include "program/workloads.h"

static void classes_are_those_of_the_paper(void **state) {
    (void)state;
    assert_int_equal(experiment_divergence_intensity(30.01), EXPERIMENT_INTENSITY_LOW);
    assert_int_equal(experiment_divergence_intensity(30), EXPERIMENT_INTENSITY_MEDIUM);
    assert_int_equal(experiment_divergence_intensity(20), EXPERIMENT_INTENSITY_MEDIUM);
    assert_int_equal(experiment_divergence_intensity(19.99), EXPERIMENT_INTENSITY_HIGH);
    assert_int_equal(experiment_idle_intensity(19.99), EXPERIMENT_INTENSITY_LOW);
    assert_int_equal(experiment_idle_intensity(20), EXPERIMENT_INTENSITY_MEDIUM);
    assert_int_equal(experiment_idle_intensity(40), EXPERIMENT_INTENSITY_MEDIUM);
    assert_int_equal(experiment_idle_intensity(40.01), EXPERIMENT_INTENSITY_HIGH);
    assert_string_equal(experiment_intensity_name(EXPERIMENT_INTENSITY_LOW), "low");
    assert_string_equal(experiment_intensity_name(EXPERIMENT_INTENSITY_HIGH), "high");
}

static void the_first_rule_that_applies_decides_the_class(void **state) {
    (void)state;
    assert_int_equal(experiment_classify(1.2, 5, 100), EXPERIMENT_CACHE_SENSITIVE);
    assert_int_equal(experiment_classify(1.19, 30, 100), EXPERIMENT_DIVERGENT);
    assert_int_equal(experiment_classify(1.19, 30.01, 1), EXPERIMENT_STREAMING);
    assert_int_equal(experiment_classify(1.19, 30.01, 0.99), EXPERIMENT_COMPUTING);
    assert_string_equal(experiment_program_class_name(EXPERIMENT_CACHE_SENSITIVE), "cache-sensitive");
    assert_string_equal(experiment_program_class_name(EXPERIMENT_COMPUTING), "computing");
}

static void a_program_has_the_values_under_its_own_name(void **state) {
    (void)state;
    assert_true(experiment_paper_values(EXPERIMENT_LIU2023, "bfs_1")[0] == 4e6);
    assert_true(experiment_paper_values(EXPERIMENT_LIU2023, "bfs_2")[0] == 724e6);
    assert_true(experiment_paper_values(EXPERIMENT_MENG2010, "merge_rows")[4] == 60);
    assert_true(isnan(experiment_paper_values(EXPERIMENT_NARASIMAN2011, "bfs")[0]));
    assert_true(experiment_paper_values(EXPERIMENT_NARASIMAN2011, "bfs")[3] == EXPERIMENT_INTENSITY_HIGH);
}

static void else_those_of_the_first_name_of_its_workload(void **state) {
    (void)state;
    assert_ptr_equal(experiment_paper_values(EXPERIMENT_LIU2023, "bfs"),
                     experiment_paper_values(EXPERIMENT_LIU2023, "bfs_1"));
    assert_ptr_equal(experiment_paper_values(EXPERIMENT_MENG2010, "merge"),
                     experiment_paper_values(EXPERIMENT_MENG2010, "merge_rows"));
    assert_ptr_equal(experiment_paper_values(EXPERIMENT_NARASIMAN2011, "bfs_2"),
                     experiment_paper_values(EXPERIMENT_NARASIMAN2011, "bfs"));
}

static void other_programs_have_none(void **state) {
    (void)state;
    assert_null(experiment_paper_values(EXPERIMENT_LIU2023, "vecadd"));
    assert_null(experiment_paper_values(EXPERIMENT_LIU2023, "./mine"));
}

static void every_program_of_a_paper_is_one_of_ours(void **state) {
    (void)state;
    static const char *const programs[] = {
#define EXPERIMENT_PAPER(table, program, ...) #program,
#include "experiment/paper_classes.def"
#undef EXPERIMENT_PAPER
    };
    for (unsigned i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (!program_find_workload(programs[i]))
            fail_msg("paper_classes.def has %s, which is no workload", programs[i]);
}

/* Counters for which every measure has a different value. */
static void measures_are_what_they_say(void **state) {
    (void)state;
    struct report_run run = {.total.counters = {.warp_instructions = 1000,
                                                .thread_instructions = 25000,
                                                .long_thread_instructions = 5000,
                                                .branches = 100,
                                                .divergent_branches = 7,
                                                .missing_memory_instructions = 50,
                                                .divergent_misses = 20,
                                                .sm_cycles = 4000,
                                                .active_cycles = 1000}};
    struct experiment_measured measured = {.run = &run, .n_branches = 3};
    static const double expected[EXPERIMENT_N_PAPER_TABLES][EXPERIMENT_MOST_PAPER_MEASURES] = {
        [EXPERIMENT_NARASIMAN2011] = {25, EXPERIMENT_INTENSITY_MEDIUM, 75, EXPERIMENT_INTENSITY_HIGH},
        [EXPERIMENT_LIU2023] = {25000, 5000, 20},
        [EXPERIMENT_MENG2010] = {10, 7, 20, 50, 40},
    };
    for (unsigned t = 0; t < EXPERIMENT_MALITS2012; t++)
        for (unsigned k = 0; k < experiment_characterizations[t].n_measures; k++)
            if (fabs(experiment_characterizations[t].measure[k].value(&measured) - expected[t][k]) > 1e-9)
                fail_msg("%s is wrong", experiment_characterizations[t].measure[k].key);
    struct report_kernel launch = {.grid = {2, 3, 1}, .block = {16, 8, 1}};
    run.launch = &launch;
    run.n_launches = 1;
    assert_true(experiment_characterizations[EXPERIMENT_MALITS2012].measure[0].value(&measured) == 6);
    assert_true(experiment_characterizations[EXPERIMENT_MALITS2012].measure[1].value(&measured) == 128);
    assert_true(experiment_characterizations[EXPERIMENT_MALITS2012].measure[2].value(&measured) == 3);
}

static void nothing_measured_is_no_number(void **state) {
    (void)state;
    struct report_run run = {0};
    struct experiment_measured measured = {.run = &run, .n_branches = NAN};
    for (unsigned t = 0; t < EXPERIMENT_N_PAPER_TABLES; t++)
        for (unsigned k = 0; k < experiment_characterizations[t].n_measures; k++) {
            const struct experiment_measure *one = &experiment_characterizations[t].measure[k];
            assert_true(isnan(one->value(&measured)) ||
                        (one->kind == EXPERIMENT_MEASURE_COUNT && one->value(&measured) == 0));
        }
}

static void values_within_a_third_are_not_off(void **state) {
    (void)state;
    assert_false(experiment_is_off(EXPERIMENT_MEASURE_NUMBER, 20, 15));
    assert_true(experiment_is_off(EXPERIMENT_MEASURE_NUMBER, 20.1, 15));
    assert_false(experiment_is_off(EXPERIMENT_MEASURE_COUNT, 10, 15));
    assert_true(experiment_is_off(EXPERIMENT_MEASURE_COUNT, 9, 15));
    assert_true(experiment_is_off(EXPERIMENT_MEASURE_PERCENT, 0.1, 0));
    assert_true(experiment_is_off(EXPERIMENT_MEASURE_CLASS, EXPERIMENT_INTENSITY_LOW, EXPERIMENT_INTENSITY_MEDIUM));
    assert_false(experiment_is_off(EXPERIMENT_MEASURE_CLASS, EXPERIMENT_INTENSITY_LOW, EXPERIMENT_INTENSITY_LOW));
    assert_false(experiment_is_off(EXPERIMENT_MEASURE_NUMBER, 20, NAN));
    assert_false(experiment_is_off(EXPERIMENT_MEASURE_NUMBER, NAN, 20));
}

static void every_reason_is_about_a_row_of_its_table(void **state) {
    (void)state;
    static const struct {
        enum experiment_paper_table table;
        const char *program;
    } all[] = {
#define EXPERIMENT_REASON(table, program, text) {EXPERIMENT_##table, #program},
#include "experiment/paper_reasons.def"
    };
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!experiment_paper_values(all[i].table, all[i].program))
            fail_msg("%s is in no such table", all[i].program);
        assert_non_null(experiment_paper_reason(all[i].table, all[i].program));
    }
    assert_string_equal(experiment_paper_reason(EXPERIMENT_LIU2023, "ray"),
                        experiment_paper_reason(EXPERIMENT_LIU2023, "ray_32"));
    assert_null(experiment_paper_reason(EXPERIMENT_MALITS2012, "mum"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_those_of_the_paper),
        cmocka_unit_test(the_first_rule_that_applies_decides_the_class),
        cmocka_unit_test(a_program_has_the_values_under_its_own_name),
        cmocka_unit_test(else_those_of_the_first_name_of_its_workload),
        cmocka_unit_test(other_programs_have_none),
        cmocka_unit_test(every_program_of_a_paper_is_one_of_ours),
        cmocka_unit_test(measures_are_what_they_say),
        cmocka_unit_test(nothing_measured_is_no_number),
        cmocka_unit_test(values_within_a_third_are_not_off),
        cmocka_unit_test(every_reason_is_about_a_row_of_its_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
