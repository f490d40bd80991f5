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
    says("paper", "liu2023-fig1  six warps");
    says("list experiments", "liu2023-fig1  six warps");
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

static void mistakes_are_named(void **state) {
    (void)state;
    refused(2, "paper liu2023-fig2", "no experiment 'liu2023-fig2'; did you mean 'liu2023-fig1'?");
    refused(2, "paper frobnicate", "no experiment 'frobnicate'; 'heddle paper' lists them");
    refused(2, "paper liu2023-fig1 frobnicate", "no experiment 'frobnicate'");
    refused(2, "paper --json -", "--json is for results: heddle paper NAME --json -");
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
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
