/* Programs with several kernels: their table, the launches that are timed, and errors that they ignore. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static void the_table_has_names_as_in_cpp_shapes_and_shares_of_time(void **state) {
    (void)state;
    struct outcome outcome = heddle("run %s/launches", programs());
    expect_status(&outcome, 0);
    expect_text(outcome.out, "kernel                launches     grid  block  cycles     time ");
    expect_text(outcome.out, "geo::scale<float, 3>         3        8    128 ");
    expect_text(outcome.out, "step                         3  various    8,8 ");
    expect_text(outcome.out, "100.0 %");
    outcome_free(&outcome);
}

static unsigned count_timed(const char *options, const char **first) {
    struct outcome outcome = heddle("run %s/launches --json - %s", programs(), options);
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome), *launch;
    size_t i;
    unsigned n = 0;
    *first = "";
    json_array_foreach(json_object_get(object, "kernels"), i, launch) {
        bool is_timed = !json_is_false(json_object_get(launch, "timed"));
        bool has_cycles = json_integer_value(json_object_get(launch, "cycles")) > 0;
        assert_int_equal(is_timed, has_cycles);
        if (is_timed && !n)
            *first = i == 0 ? "first" : i == 1 ? "second" : i == 2 ? "third" : "later";
        n += is_timed;
    }
    assert_int_equal(i, 6);
    json_decref(object);
    outcome_free(&outcome);
    return n;
}

static void launches_are_chosen_by_name_and_number(void **state) {
    (void)state;
    const char *first;
    assert_int_equal(count_timed("", &first), 6);
    assert_int_equal(count_timed("--kernel step", &first), 3);
    assert_string_equal(first, "second");
    assert_int_equal(count_timed("--kernel '^geo::scale<float'", &first), 3); /* as C++ has it */
    assert_string_equal(first, "first");
    assert_int_equal(count_timed("--kernel ^_ZN3geo", &first), 3); /* mangled */
    assert_int_equal(count_timed("--launch 3..5", &first), 3);
    assert_string_equal(first, "third");
    assert_int_equal(count_timed("--launch 3", &first), 1);
    assert_int_equal(count_timed("--launch ..2", &first), 2);
    assert_int_equal(count_timed("--launch 5..", &first), 2);
    assert_int_equal(count_timed("--launch 2..5 --kernel step", &first), 2);
}

/* sc makes 245 launches of one kernel. */
static void a_sample_of_launches_estimates_all(void **state) {
    (void)state;
    struct outcome full = heddle("run sc --size medium --json -");
    struct outcome outcome = heddle("run sc --size medium --estimate 2%% --json -");
    expect_status(&outcome, 0);
    json_t *all = json_output(&full), *some = json_output(&outcome), *estimate = json_object_get(some, "estimate");
    assert_null(json_object_get(all, "estimate"));
    json_int_t n_timed = json_integer_value(json_object_get(estimate, "timed_sections"));
    assert_int_equal(json_integer_value(json_object_get(estimate, "launches")), 245);
    assert_in_range(n_timed, 6, 60);
    double cycles = (double)json_integer_value(json_object_get(json_object_get(all, "total"), "cycles"));
    double estimated = (double)json_integer_value(json_object_get(json_object_get(some, "total"), "cycles"));
    double halfwidth = json_real_value(json_object_get(json_object_get(estimate, "halfwidth"), "cycles"));
    assert_true(estimated > 0.97 * cycles && estimated < 1.03 * cycles);
    assert_true(halfwidth <= 0.02 * estimated);
    json_t *launch;
    size_t i;
    json_array_foreach(json_object_get(some, "kernels"), i, launch) {
        n_timed -= !json_is_true(json_object_get(launch, "estimated"));
        assert_true(json_integer_value(json_object_get(launch, "cycles")) > 0);
    }
    assert_int_equal(n_timed, 0);
    json_decref(all);
    json_decref(some);
    outcome_free(&full);
    outcome_free(&outcome);
}

static double total_cycles(const json_t *run) {
    return (double)json_integer_value(json_object_get(json_object_get(run, "total"), "cycles"));
}

#ifndef N_MACHINES /* the sanitized suite takes one of them */
#define N_MACHINES 2
#define N_LONG_LAUNCHES 3
#endif

/* The launch has 32,768 blocks. On h200, which holds 4,224 of them at once, it is timed whole. */
static void a_long_launch_is_estimated_from_some_of_its_blocks(void **state) {
    (void)state;
    static const char *const how[] = {"", "-s gto -d lwm", "-m h200"};
    for (size_t k = 0; k < N_LONG_LAUNCHES; k++) {
        struct outcome full = heddle("run vecadd --size medium --threads-per-block 32 %s --json -", how[k]);
        struct outcome outcome =
            heddle("run vecadd --size medium --threads-per-block 32 %s --estimate 5%% --json -", how[k]);
        expect_status(&outcome, 0);
        json_t *all = json_output(&full), *some = json_output(&outcome), *estimate = json_object_get(some, "estimate");
        json_int_t n = json_integer_value(json_object_get(estimate, "sections"));
        if (k < 2) {
            assert_in_range(n, 40, 130);
            assert_in_range(json_integer_value(json_object_get(estimate, "timed_sections")), 8, n / 2);
        } else {
            assert_int_equal(n, 1);
        }
        assert_true(fabs(total_cycles(some) / total_cycles(all) - 1) < (k < 2 ? 0.03 : 1e-9));
        json_t *a = json_object_get(all, "total"), *b = json_object_get(some, "total");
        assert_int_equal(json_integer_value(json_object_get(a, "blocks")), 32768);
        assert_int_equal(json_integer_value(json_object_get(b, "blocks")), 32768);
        assert_int_equal(json_integer_value(json_object_get(a, "thread_instructions")),
                         json_integer_value(json_object_get(b, "thread_instructions")));
        json_decref(all);
        json_decref(some);
        outcome_free(&full);
        outcome_free(&outcome);
    }
}

/* It has 91 waves: its windows would take longer than the launch. */
static void a_first_launch_of_some_waves_is_timed_whole(void **state) {
    (void)state;
    struct outcome outcome = heddle("run vecadd --size medium --threads-per-block 96 --estimate --json -");
    expect_status(&outcome, 0);
    json_t *run = json_output(&outcome), *estimate = json_object_get(run, "estimate");
    assert_int_equal(json_integer_value(json_object_get(estimate, "sections")), 1);
    assert_int_equal(json_integer_value(json_object_get(estimate, "timed_sections")), 1);
    json_decref(run);
    outcome_free(&outcome);
}

/* The timed launches of an estimate find the caches as if all launches had been timed. */
static void a_timed_launch_of_an_estimate_takes_as_long_as_in_a_full_run(void **state) {
    (void)state;
    static const char *const machines[] = {"gtx480", "h200"};
    for (size_t m = 0; m < N_MACHINES; m++) {
        struct outcome full = heddle("run needleman -m %s --size medium --json -", machines[m]);
        struct outcome outcome = heddle("run needleman -m %s --size medium --estimate 30%% --json -", machines[m]);
        json_t *all = json_output(&full), *some = json_output(&outcome), *launch;
        size_t i, n_timed = 0;
        json_array_foreach(json_object_get(some, "kernels"), i, launch) {
            if (json_is_true(json_object_get(launch, "estimated")))
                continue;
            json_int_t expected =
                json_integer_value(json_object_get(json_array_get(json_object_get(all, "kernels"), i), "cycles"));
            json_int_t cycles = json_integer_value(json_object_get(launch, "cycles"));
            assert_true(llabs(cycles - expected) * 200 <= expected);
            n_timed++;
        }
        assert_in_range(n_timed, 2, i - 1);
        json_decref(all);
        json_decref(some);
        outcome_free(&full);
        outcome_free(&outcome);
    }
}

static void an_estimate_is_the_same_every_time_and_says_how_exact_it_is(void **state) {
    (void)state;
    struct outcome first = heddle("run sc --estimate"), second = heddle("run sc --estimate --threads 3");
    expect_status(&first, 0);
    expect_text(first.out, "estimated from ");
    expect_text(first.out, "in 19 of 20 cases");
    expect_text(first.out, "checked: the result agrees with the CPU reference");
    const char *a = strstr(first.out, "estimated from"), *b = strstr(second.out, "estimated from");
    assert_memory_equal(a, b, strcspn(a, "\n"));
    outcome_free(&first);
    outcome_free(&second);
    struct outcome outcome = heddle("compare sc -s 'lrr gto' --estimate");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "estimated from ");
    outcome_free(&outcome);
}

static void a_wrong_choice_is_explained(void **state) {
    (void)state;
    static const char *const bad[] = {"--launch 0",
                                      "--launch 5..3",
                                      "--launch x",
                                      "--launch ..",
                                      "--kernel '('",
                                      "--estimate=0%%",
                                      "--estimate --launch 2",
                                      "--estimate --lines",
                                      "--functional --launch 2",
                                      "--functional --estimate",
                                      "--functional --kernel step"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct outcome outcome = heddle("run %s/launches %s", programs(), bad[i]);
        expect_status(&outcome, 2);
        outcome_free(&outcome);
    }
}

static void a_choice_of_no_launch_is_an_error_with_the_kernels_there_are(void **state) {
    (void)state;
    struct outcome outcome = heddle("run %s/launches --kernel nosuch", programs());
    expect_status(&outcome, 1);
    assert_string_equal(outcome.out, "");
    expect_line(&outcome, "heddle: no launch matches --kernel 'nosuch', so nothing was timed; ");
    expect_text(outcome.err, "/launches made 6 launches, of geo::scale<float, 3>, step\n");
    outcome_free(&outcome);
    outcome = heddle("run %s/launches --kernel step --launch 7.. --json -", programs());
    expect_status(&outcome, 1);
    expect_line(&outcome, "heddle: no launch matches --kernel 'step' --launch 7.., so nothing was timed");
    outcome_free(&outcome);
    outcome = heddle("run /bin/true --kernel nosuch");
    expect_status(&outcome, 0);
    outcome_free(&outcome);
}

/* Launches 3 to 5 are timed: --launch, the JSON, the CSV and the timeline have the same numbers, from 1. */
static void launches_are_numbered_from_1_everywhere(void **state) {
    (void)state;
    char path[4096];
    struct outcome outcome =
        heddle("run %s/launches --launch 3..5 --json - --csv %s/launches.csv --trace %s/trace.json", programs(),
               scratch(), scratch());
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome), *launch, *event;
    size_t i;
    json_array_foreach(json_object_get(object, "kernels"), i, launch) {
        json_int_t number = json_integer_value(json_object_get(launch, "launch"));
        assert_int_equal(number, i + 1);
        assert_int_equal(!json_is_false(json_object_get(launch, "timed")), number >= 3 && number <= 5);
    }
    json_decref(object);
    outcome_free(&outcome);

    snprintf(path, sizeof path, "%s/trace.json", scratch());
    object = json_load_file(path, 0, NULL);
    json_int_t next = 3;
    json_array_foreach(json_object_get(object, "traceEvents"), i, event) {
        const json_t *number = json_object_get(json_object_get(event, "args"), "launch");
        if (number && strcmp(json_string_value(json_object_get(event, "ph")), "X") == 0) /* blocks name it too */
            assert_int_equal(json_integer_value(number), next++);
    }
    assert_int_equal(next, 6);
    json_decref(object);

    snprintf(path, sizeof path, "%s/launches.csv", scratch());
    FILE *file = fopen(path, "r");
    char line[8192];
    unsigned n = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (n++ > 0) { /* "program",size,"machine","scheduler","divergence",launch, */
            const char *at = line;
            for (unsigned comma = 0; comma < 5; comma++)
                at = strchr(at, ',') + 1;
            assert_int_equal(strtoul(at, NULL, 10), n - 1);
        }
    assert_int_equal(n, 7);
    fclose(file);
}

static void only_what_is_missing_here_makes_a_success_an_error(void **state) {
    (void)state;
    struct outcome outcome = heddle("run %s/launches wide --functional", programs());
    expect_status(&outcome, 0); /* a GPU refuses such a launch too, and the program passes over that */
    expect_text(outcome.err, "kernel '_Z4stepPfi': the number of threads in a block is 4096");
    outcome_free(&outcome);
    outcome = heddle("run %s/launches graphics --functional", programs());
    expect_status(&outcome, 1);
    expect_text(outcome.err, "ended with exit status 0 although something that it used is missing here, first: "
                             "cuGraphicsUnregisterResource is not supported (CUDA_ERROR_NOT_SUPPORTED)");
    outcome_free(&outcome);
    outcome = heddle("run %s/launches graphics --functional --keep-going", programs());
    expect_status(&outcome, 0);
    outcome_free(&outcome);
}

/* A GPU's driver refuses wrong PTX too, so a program that sees this may continue. It cannot know what is missing here.
 */
static void a_program_that_checks_wrong_ptx_decides_about_its_status(void **state) {
    (void)state;
    struct outcome outcome = heddle("run %s/wrong_ptx checked --functional", programs());
    expect_status(&outcome, 0);
    expect_text(outcome.out, "refused with 218, then 7\n");
    expect_text(outcome.err, "error: unknown instruction 'frobnicate'");
    outcome_free(&outcome);
    static const char *const status_1[] = {"ignored", "lacking", "later"};
    for (size_t i = 0; i < sizeof status_1 / sizeof *status_1; i++) {
        outcome = heddle("run %s/wrong_ptx %s --functional", programs(), status_1[i]);
        expect_status(&outcome, 1);
        expect_text(outcome.err, "ended with exit status 0 although something that it used is missing here, first: ");
        outcome_free(&outcome);
    }
}

/* The program passes over the error and ends with 0. */
static void a_launch_that_the_model_or_the_machine_refuses_is_an_error(void **state) {
    (void)state;
    static const char *const refused[][2] = {{"mask -d dws", "kernel 'mask': dws "},
                                             {"multiply -m gtx480", "kernel 'multiply' multiplies matrices (line "}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct outcome outcome = heddle("run %s/launches %s", programs(), refused[i][0]);
        expect_status(&outcome, 1);
        expect_text(outcome.err, "ended with exit status 0 although something that it used is missing here, first: ");
        expect_text(outcome.err, refused[i][1]);
        outcome_free(&outcome);
        outcome = heddle("run %s/launches %s --keep-going", programs(), refused[i][0]);
        expect_status(&outcome, 0);
        outcome_free(&outcome);
    }
}

static void the_first_cause_is_named_with_the_exit_status(void **state) {
    (void)state;
    struct outcome outcome = heddle("run %s/launches wide 7 --functional", programs());
    expect_status(&outcome, 1);
    expect_text(outcome.err, "ended with exit status 7; what failed first: kernel '_Z4stepPfi'");
    outcome_free(&outcome);
}

static void a_name_that_is_only_looked_up_is_not_missed(void **state) {
    (void)state;
    struct outcome outcome = heddle("run %s/launches lookup --functional", programs());
    expect_status(&outcome, 0);
    assert_string_equal(outcome.err, "");
    outcome_free(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_names_as_in_cpp_shapes_and_shares_of_time),
        cmocka_unit_test(launches_are_chosen_by_name_and_number),
        cmocka_unit_test(a_sample_of_launches_estimates_all),
        cmocka_unit_test(a_long_launch_is_estimated_from_some_of_its_blocks),
        cmocka_unit_test(a_first_launch_of_some_waves_is_timed_whole),
        cmocka_unit_test(a_timed_launch_of_an_estimate_takes_as_long_as_in_a_full_run),
        cmocka_unit_test(an_estimate_is_the_same_every_time_and_says_how_exact_it_is),
        cmocka_unit_test(a_wrong_choice_is_explained),
        cmocka_unit_test(a_choice_of_no_launch_is_an_error_with_the_kernels_there_are),
        cmocka_unit_test(launches_are_numbered_from_1_everywhere),
        cmocka_unit_test(only_what_is_missing_here_makes_a_success_an_error),
        cmocka_unit_test(a_program_that_checks_wrong_ptx_decides_about_its_status),
        cmocka_unit_test(a_launch_that_the_model_or_the_machine_refuses_is_an_error),
        cmocka_unit_test(the_first_cause_is_named_with_the_exit_status),
        cmocka_unit_test(a_name_that_is_only_looked_up_is_not_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
