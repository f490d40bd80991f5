/* The tables of `heddle characterize`: classes, and which of the papers' values belong to a program. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/experiments/characteristics.h"

static void classes_are_those_of_the_paper(void **state) {
    (void)state;
    assert_int_equal(cli_divergence_intensity(30.01), CLI_INTENSITY_LOW);
    assert_int_equal(cli_divergence_intensity(30), CLI_INTENSITY_MEDIUM);
    assert_int_equal(cli_divergence_intensity(20), CLI_INTENSITY_MEDIUM);
    assert_int_equal(cli_divergence_intensity(19.99), CLI_INTENSITY_HIGH);
    assert_int_equal(cli_idle_intensity(19.99), CLI_INTENSITY_LOW);
    assert_int_equal(cli_idle_intensity(20), CLI_INTENSITY_MEDIUM);
    assert_int_equal(cli_idle_intensity(40), CLI_INTENSITY_MEDIUM);
    assert_int_equal(cli_idle_intensity(40.01), CLI_INTENSITY_HIGH);
    assert_string_equal(cli_intensity_name(CLI_INTENSITY_LOW), "low");
    assert_string_equal(cli_intensity_name(CLI_INTENSITY_HIGH), "high");
}

static void a_program_has_the_values_under_its_own_name(void **state) {
    (void)state;
    assert_true(cli_paper_values(CLI_LIU2023, "bfs_1")[0] == 4e6);
    assert_true(cli_paper_values(CLI_LIU2023, "bfs_2")[0] == 724e6);
    assert_true(cli_paper_values(CLI_MENG2010, "merge_rows")[4] == 60);
    assert_true(isnan(cli_paper_values(CLI_NARASIMAN2011, "bfs")[0]));
    assert_true(cli_paper_values(CLI_NARASIMAN2011, "bfs")[3] == CLI_INTENSITY_HIGH);
}

static void else_those_of_the_first_name_of_its_workload(void **state) {
    (void)state;
    assert_ptr_equal(cli_paper_values(CLI_LIU2023, "bfs"), cli_paper_values(CLI_LIU2023, "bfs_1"));
    assert_ptr_equal(cli_paper_values(CLI_MENG2010, "merge"), cli_paper_values(CLI_MENG2010, "merge_rows"));
    assert_ptr_equal(cli_paper_values(CLI_NARASIMAN2011, "bfs_2"), cli_paper_values(CLI_NARASIMAN2011, "bfs"));
}

static void other_programs_have_none(void **state) {
    (void)state;
    assert_null(cli_paper_values(CLI_LIU2023, "vecadd"));
    assert_null(cli_paper_values(CLI_LIU2023, "./mine"));
}

static void every_program_of_a_paper_is_one_of_ours(void **state) {
    (void)state;
    static const char *const programs[] = {
#define CLI_PAPER(table, program, ...) #program,
#include "cli/experiments/paper_classes.def"
#undef CLI_PAPER
    };
    for (unsigned i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (!cli_find_workload(programs[i]))
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
    struct cli_measured measured = {.run = &run, .n_branches = 3};
    static const double expected[CLI_N_PAPER_TABLES][CLI_MOST_MEASURES] = {
        [CLI_NARASIMAN2011] = {25, CLI_INTENSITY_MEDIUM, 75, CLI_INTENSITY_HIGH},
        [CLI_LIU2023] = {25000, 5000, 20},
        [CLI_MENG2010] = {10, 7, 20, 50, 40},
    };
    for (unsigned t = 0; t < CLI_MALITS2012; t++)
        for (unsigned k = 0; k < cli_characterizations[t].n_measures; k++)
            if (fabs(cli_characterizations[t].measure[k].value(&measured) - expected[t][k]) > 1e-9)
                fail_msg("%s is wrong", cli_characterizations[t].measure[k].key);
    struct report_kernel launch = {.grid = {2, 3, 1}, .block = {16, 8, 1}};
    run.launch = &launch;
    run.n_launches = 1;
    assert_true(cli_characterizations[CLI_MALITS2012].measure[0].value(&measured) == 6);
    assert_true(cli_characterizations[CLI_MALITS2012].measure[1].value(&measured) == 128);
    assert_true(cli_characterizations[CLI_MALITS2012].measure[2].value(&measured) == 3);
}

static void nothing_measured_is_no_number(void **state) {
    (void)state;
    struct report_run run = {0};
    struct cli_measured measured = {.run = &run, .n_branches = NAN};
    for (unsigned t = 0; t < CLI_N_PAPER_TABLES; t++)
        for (unsigned k = 0; k < cli_characterizations[t].n_measures; k++) {
            const struct cli_measure *one = &cli_characterizations[t].measure[k];
            assert_true(isnan(one->value(&measured)) || (one->kind == CLI_MEASURE_COUNT && one->value(&measured) == 0));
        }
}

static void values_within_a_third_are_not_off(void **state) {
    (void)state;
    assert_false(cli_is_off(CLI_MEASURE_NUMBER, 20, 15));
    assert_true(cli_is_off(CLI_MEASURE_NUMBER, 20.1, 15));
    assert_false(cli_is_off(CLI_MEASURE_COUNT, 10, 15));
    assert_true(cli_is_off(CLI_MEASURE_COUNT, 9, 15));
    assert_true(cli_is_off(CLI_MEASURE_PERCENT, 0.1, 0));
    assert_true(cli_is_off(CLI_MEASURE_CLASS, CLI_INTENSITY_LOW, CLI_INTENSITY_MEDIUM));
    assert_false(cli_is_off(CLI_MEASURE_CLASS, CLI_INTENSITY_LOW, CLI_INTENSITY_LOW));
    assert_false(cli_is_off(CLI_MEASURE_NUMBER, 20, NAN));
    assert_false(cli_is_off(CLI_MEASURE_NUMBER, NAN, 20));
}

static void every_reason_is_about_a_row_of_its_table(void **state) {
    (void)state;
    static const struct {
        enum cli_paper_table table;
        const char *program;
    } all[] = {
#define CLI_REASON(table, program, text) {CLI_##table, #program},
#include "cli/experiments/paper_reasons.def"
    };
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!cli_paper_values(all[i].table, all[i].program))
            fail_msg("%s is in no such table", all[i].program);
        assert_non_null(cli_paper_reason(all[i].table, all[i].program));
    }
    assert_string_equal(cli_paper_reason(CLI_LIU2023, "ray"), cli_paper_reason(CLI_LIU2023, "ray_32"));
    assert_null(cli_paper_reason(CLI_MALITS2012, "mum"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_those_of_the_paper),
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
