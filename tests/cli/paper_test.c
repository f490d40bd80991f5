/* `heddle paper` and the lists of schedulers and experiments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

/* The command succeeds and says this. */
static void says(const char *words, const char *text) {
    struct outcome outcome = heddle("%s", words);
    expect_status(&outcome, 0);
    assert_string_equal(outcome.err, "");
    expect_text(outcome.out, text);
    outcome_free(&outcome);
}

static void refused(int status, const char *words, const char *text) {
    struct outcome outcome = heddle("%s", words);
    expect_status(&outcome, status);
    assert_string_equal(outcome.out, "");
    expect_line(&outcome, text);
    outcome_free(&outcome);
}

static void schedulers_are_listed_with_their_options(void **state) {
    (void)state;
    says("list schedulers --names", "srr\nlrr\ngto\n");
    says("list schedulers", "greedy then oldest");
    says("list schedulers", "  switch=empty");
    says("list schedulers", "empty|stall");
    struct outcome outcome = heddle("list schedulers --json");
    json_t *array = json_output(&outcome);
    size_t i;
    json_t *scheduler, *two_level = NULL;
    json_array_foreach(array, i, scheduler) {
        if (strcmp(json_string_value(json_object_get(scheduler, "name")), "two-level") == 0)
            two_level = scheduler;
    }
    json_t *group = json_array_get(json_object_get(two_level, "options"), 0);
    assert_string_equal(json_string_value(json_object_get(group, "name")), "group");
    assert_string_equal(json_string_value(json_object_get(group, "default")), "8");
    assert_string_equal(json_string_value(json_object_get(group, "takes")), "1..128");
    json_decref(array);
    outcome_free(&outcome);
}

static void experiments_are_listed_by_both_commands(void **state) {
    (void)state;
    says("paper", "liu2023-fig1          six warps");
    says("list experiments", "liu2023-fig1          six warps");
    says("list experiments --names", "liu2023-fig1\n");
    says("list experiments --json", "\"paper\": \"SRR 45, LRR 39, GTO 41, LFWS 37 cycles\"");
}

static void the_worked_example_stands_beside_the_papers_numbers(void **state) {
    (void)state;
    says("paper liu2023-fig1", "srr   cycles    45     45");
    says("paper liu2023-fig1", "lrr   cycles    37     39\n");
    says("paper liu2023-fig1", "\nlrr cycles: the rule as the paper states it gives 37\n");
    says("paper liu2023-fig1", "gto   stalls    17     17");
    says("paper liu2023-fig1", "lfws, 37 cycles\n"
                               "  w1 L---------L---------SL---------\n"
                               "  w2     SSL---------L---------\n");
}

static void results_are_json_too(void **state) {
    (void)state;
    struct outcome outcome = heddle("paper liu2023-fig1 --json -");
    json_t *array = json_output(&outcome);
    json_t *results = json_object_get(json_array_get(array, 0), "results");
    assert_int_equal(json_array_size(results), 8);
    json_t *lrr = json_array_get(results, 2);
    assert_string_equal(json_string_value(json_object_get(lrr, "subject")), "lrr");
    assert_string_equal(json_string_value(json_object_get(lrr, "measure")), "cycles");
    assert_true(json_number_value(json_object_get(lrr, "ours")) == 37);
    assert_true(json_number_value(json_object_get(lrr, "paper")) == 39);
    json_decref(array);
    outcome_free(&outcome);

    struct outcome written = heddle("paper liu2023-fig1 --json %s/paper.json", scratch());
    expect_status(&written, 0);
    expect_text(written.out, "ours");
    outcome_free(&written);
}

/* The value of the first result with that subject and measure. */
static double value_of(const json_t *results, const char *subject, const char *measure, const char *key) {
    size_t i;
    json_t *result;
    json_array_foreach(results, i, result) {
        if (strcmp(json_string_value(json_object_get(result, "subject")), subject) == 0 &&
            strcmp(json_string_value(json_object_get(result, "measure")), measure) == 0)
            return json_number_value(json_object_get(result, key));
    }
    fail_msg("no %s of %s", measure, subject);
    return 0;
}

static double cycles_of_run(const char *words) {
    struct outcome outcome = heddle("run -m narasiman2014-db --set sm.registers=65536 --json - %s", words);
    json_t *object = json_output(&outcome);
    double cycles = json_number_value(json_object_get(json_object_get(object, "total"), "cycles"));
    json_decref(object);
    outcome_free(&outcome);
    return cycles;
}

static void an_experiment_that_simulates_shows_what_its_runs_measured(void **state) {
    (void)state;
    struct outcome outcome = heddle("paper narasiman2014-fig8.1 --size small --json -");
    json_t *array = json_output(&outcome);
    json_t *results = json_object_get(json_array_get(array, 0), "results");
    assert_non_null(json_object_get(json_array_get(array, 0), "conditions"));
    double ballot = value_of(results, "ballot", "cycles", "ours");
    double cond_acc = value_of(results, "cond_acc", "cycles", "ours");
    assert_true(ballot == cycles_of_run("scan"));
    assert_true(cond_acc == cycles_of_run("scan -- --code cond_acc"));
    double gain = value_of(results, "cond_acc", "speed-up, %", "ours") / 100;
    assert_true(gain > 0);
    assert_true(cond_acc * (1 + gain) > ballot - 1 && cond_acc * (1 + gain) < ballot + 1);
    assert_true(value_of(results, "cond_acc", "speed-up, %", "paper") == 21);
    assert_true(value_of(results, "cond_acc", "fewer warp instructions, %", "ours") > 0);
    assert_true(value_of(results, "cond_acc", "fewer warp instructions, %", "ours") < 100);
    json_decref(array);
    outcome_free(&outcome);
}

static void results_are_csv_too(void **state) {
    (void)state;
    says("paper liu2023-fig1 --csv -", "experiment,subject,measure,ours,paper,note\n"
                                       "liu2023-fig1,srr,\"cycles\",45,45,\"\"\n");
    says("paper liu2023-fig1 --csv -",
         "\nliu2023-fig1,lrr,\"cycles\",37,39,\"the rule as the paper states it gives 37\"\n");
    says("paper narasiman2014-fig8.4 --size small --csv -", "\nnarasiman2014-fig8.4,plain,\"cycles\",");
}

static void mistakes_are_named(void **state) {
    (void)state;
    refused(2, "paper liu2023-fig2", "no experiment 'liu2023-fig2'; did you mean 'liu2023-fig1'?");
    refused(2, "paper frobnicate", "no experiment 'frobnicate'; 'heddle paper' lists them");
    refused(2, "paper liu2023-fig1 frobnicate", "no experiment 'frobnicate'");
    refused(2, "paper --json -", "--json is for results: heddle paper NAME --json -");
    refused(2, "paper --csv x.csv", "--csv is for results: heddle paper NAME --csv x.csv");
    refused(2, "paper liu2023-fig1 --json - --csv -", "--json and --csv cannot both write to '-'");
    refused(2, "paper liu2023-fig1 --size small", "liu2023-fig1 runs no workload: it takes no --size");
    refused(1, "paper liu2023-fig1 --json /nowhere/x.json", "cannot write '/nowhere/x.json'");
    refused(2, "list schedulers gto", "list schedulers takes no 'gto'");
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedulers_are_listed_with_their_options),
        cmocka_unit_test(experiments_are_listed_by_both_commands),
        cmocka_unit_test(the_worked_example_stands_beside_the_papers_numbers),
        cmocka_unit_test(results_are_json_too),
        cmocka_unit_test(an_experiment_that_simulates_shows_what_its_runs_measured),
        cmocka_unit_test(results_are_csv_too),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
