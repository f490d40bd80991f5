/* `heddle cost` reports the papers' numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static const json_t *cost_of(const json_t *object, const char *name) {
    const json_t *costs = json_object_get(object, "costs");
    for (size_t i = 0; i < json_array_size(costs); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(costs, i), "name")), name) == 0)
            return json_array_get(costs, i);
    fail_msg("no cost of '%s'", name);
    return NULL;
}

static void expect_bits(const char *machine, const char *mechanism, json_int_t bits, json_int_t bytes) {
    struct outcome outcome = heddle("cost %s -m %s --json -", mechanism, machine);
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome);
    assert_string_equal(json_string_value(json_object_get(object, "machine")), machine);
    const json_t *cost = cost_of(object, mechanism);
    assert_int_equal(json_integer_value(json_object_get(cost, "bits")), bits);
    assert_int_equal(json_integer_value(json_object_get(cost, "bytes")), bytes);
    assert_true(json_string_length(json_object_get(cost, "formula")) > 0);
    json_decref(object);
    outcome_free(&outcome);
}

static void costs_are_those_of_the_papers(void **state) {
    (void)state;
    expect_bits("narasiman2011", "lwm:refetch=all", 768, 96);     /* Narasiman 2011, 3.3 */
    expect_bits("narasiman2014", "lwm:refetch=first", 1792, 224); /* Narasiman 2014, 4.5 */
    expect_bits("narasiman2011", "lwm", 768, 96);                 /* each machine has its own rules */
    expect_bits("narasiman2014", "lwm", 1792, 224);
    expect_bits("meng2010", "dws:wst=2", 2 * 84, 21); /* Meng 2010, 5.6: 84 bits an entry */
    expect_bits("meng2010", "dws", 16 * 84, 168);     /* the default: sixteen of them */
    expect_bits("narasiman2011", "two-level", 0, 0);  /* Narasiman 2011, 3.3: only logic */
    struct outcome outcome =
        heddle("cost lfws -m liu2023 --set sm.threads=768 --set sm.threads_per_block=768 --json -");
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome);
    json_int_t of_an_sm = json_integer_value(json_object_get(cost_of(object, "lfws"), "bits"));
    assert_int_equal(2 * of_an_sm, 48); /* Liu 2023, 2.4: 2 SMs of 24 warps */
    json_decref(object);
    outcome_free(&outcome);
}

static void the_area_that_the_paper_cites_is_named(void **state) {
    (void)state;
    struct outcome outcome = heddle("cost lwm -m narasiman2011");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "narasiman2011: 1 SMs, 1024 threads on each, warps of 32\n");
    expect_text(outcome.out, "register file +11 to 18.7 %, chip +1.5 to 3 %");
    outcome_free(&outcome);
}

static void without_arguments_everything_is_shown(void **state) {
    (void)state;
    struct outcome models = heddle("list divergence --names"), schedulers = heddle("list schedulers --names");
    struct outcome outcome = heddle("cost --json -");
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome);
    size_t count = 0;
    char *lists[] = {models.out, schedulers.out};
    for (int i = 0; i < 2; i++)
        for (char *name = strtok(lists[i], "\n"); name; name = strtok(NULL, "\n"), count++)
            assert_string_equal(json_string_value(json_object_get(cost_of(object, name), "kind")),
                                i ? "scheduler" : "divergence");
    assert_int_equal(json_array_size(json_object_get(object, "costs")), count);
    assert_true(json_is_null(json_object_get(cost_of(object, "gto"), "bits"))); /* no paper states them */
    json_decref(object);
    outcome_free(&outcome);
    outcome_free(&models);
    outcome_free(&schedulers);
}

static void csv_has_a_line_for_each(void **state) {
    (void)state;
    struct outcome outcome = heddle("cost lwm:refetch=all gto -m narasiman2011 --csv -");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "machine,mechanism,kind,bits,bytes,formula,area\n"
                             "narasiman2011,\"lwm:refetch=all\",divergence,768,96,\"");
    expect_text(outcome.out, "\nnarasiman2011,\"gto\",scheduler,,,\"\",\"\"\n");
    outcome_free(&outcome);
}

static void mistakes_are_answered_with_what_would_be_right(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"cost lwn", "no divergence model or scheduler 'lwn'; did you mean 'lwm'?"},
        {"cost something", "no divergence model or scheduler 'something'; 'heddle cost' shows all"},
        {"cost dws:wst=0", "wst takes a whole number from"},
        {"cost two-level:size=8", "two-level has no option 'size'"},
        {"cost lwm --json - --csv -", "--json and --csv cannot both write to '-'"},
        {"cost lwm -m gtx481", "gtx480"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome outcome = heddle("%s", cases[i][0]);
        assert_true(outcome.status == 1 || outcome.status == 2);
        expect_line(&outcome, cases[i][1]);
        assert_string_equal(outcome.out, "");
        outcome_free(&outcome);
    }
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_those_of_the_papers),
        cmocka_unit_test(the_area_that_the_paper_cites_is_named),
        cmocka_unit_test(without_arguments_everything_is_shown),
        cmocka_unit_test(csv_has_a_line_for_each),
        cmocka_unit_test(mistakes_are_answered_with_what_would_be_right),
    };
    return cmocka_run_group_tests_name("cli/cost", tests, NULL, clean_up);
}
