/* Timed runs: their machine, their output, and that it repeats exactly. */
#include <math.h>
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
        fail_msg("\"%s\" is missing or not a whole number", key);
    return json_integer_value(value);
}

static json_t *run(const char *words) {
    struct outcome outcome = heddle("run %s --json -", words);
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome);
    outcome_free(&outcome);
    return object;
}

/* Checks what must hold for any launch. */
static void check_stats(const json_t *stats) {
    static const char *const parts[] = {"active_cycles", "stall_memory",     "stall_dependency", "stall_barrier",
                                        "stall_fetch",   "stall_structural", "stall_empty"};
    json_int_t sum = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        sum += number_at(stats, parts[i]);
    assert_int_equal(sum, number_at(stats, "sm_cycles"));
    assert_int_equal(number_at(stats, "idle_cycles"),
                     number_at(stats, "sm_cycles") - number_at(stats, "active_cycles"));
    assert_true(number_at(stats, "cycles") > 0);
    assert_true(number_at(stats, "l1_misses") <= number_at(stats, "l1_accesses"));
    assert_true(number_at(stats, "l2_misses") <= number_at(stats, "l2_accesses"));
    double ipc = json_real_value(json_object_get(stats, "ipc"));
    double expected = (double)number_at(stats, "thread_instructions") / (double)number_at(stats, "cycles");
    assert_true(ipc > 0.999 * expected && ipc < 1.001 * expected);
}

static void every_workload_agrees_with_its_reference_in_time_too(void **state) {
    (void)state;
    struct outcome list = heddle("list workloads --names");
    expect_status(&list, 0);
    for (char *rest, *name = strtok_r(list.out, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
        json_t *object = run(name), *kernel;
        size_t i;
        assert_true(json_is_true(json_object_get(object, "checked")));
        assert_string_equal(json_string_value(json_object_get(object, "machine")), "gtx480");
        assert_string_equal(json_string_value(json_object_get(object, "scheduler")), "lrr");
        assert_string_equal(json_string_value(json_object_get(object, "divergence")), "stack");
        json_array_foreach(json_object_get(object, "kernels"), i, kernel) check_stats(kernel);
        check_stats(json_object_get(object, "total"));
        json_decref(object);
    }
    outcome_free(&list);
}

static void the_statistics_are_those_of_the_list(void **state) {
    (void)state;
    struct outcome list = heddle("list stats --names");
    expect_status(&list, 0);
    json_t *object = run("vecadd --set energy.fetch=10"); /* with energy, which others lack */
    json_t *total = json_object_get(object, "total");
    for (char *rest, *name = strtok_r(list.out, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest))
        if (json_object_del(total, name) != 0)
            fail_msg("'%s' is in the list, but not in the JSON object", name);
    json_object_del(total, "launches");
    assert_int_equal(json_object_size(total), 0);
    json_decref(object);
    outcome_free(&list);
}

static void expect_share_of(const json_t *stats, double lanes) {
    double active = (double)number_at(stats, "thread_instructions") / (double)number_at(stats, "warp_instructions");
    double share = json_real_value(json_object_get(stats, "simd_efficiency"));
    assert_true(active > 0.9 * lanes && active <= lanes);
    assert_true(fabs(json_real_value(json_object_get(stats, "average_active_threads")) - active) < 1e-6);
    assert_true(fabs(share - active / lanes) < 1e-6);
}

/* A warp of meng2010 has 16 lanes. JSON, CSV and the tables show the same share. */
static void active_lanes_are_a_share_of_the_machines_warp(void **state) {
    (void)state;
    char share[32];
    json_t *object = run("vecadd -m meng2010");
    const json_t *total = json_object_get(object, "total");
    expect_share_of(total, 16);
    expect_share_of(json_array_get(json_object_get(object, "kernels"), 0), 16);
    struct outcome csv = heddle("run vecadd -m meng2010 --csv -"), table = heddle("compare vecadd -m meng2010 -s lrr");
    expect_status(&csv, 0);
    expect_status(&table, 0);
    snprintf(share, sizeof share, ",%.9g,", json_real_value(json_object_get(total, "simd_efficiency")));
    expect_text(csv.out, share);
    snprintf(share, sizeof share, " %.1f %% ", 100 * json_real_value(json_object_get(total, "simd_efficiency")));
    expect_text(table.out, share);
    outcome_free(&csv);
    outcome_free(&table);
    json_decref(object);
}

static void two_runs_differ_only_in_the_host_time(void **state) {
    (void)state;
    char *text[2];
    for (int i = 0; i < 2; i++) {
        json_t *object = run("bfs -s gto");
        assert_int_equal(json_object_del(object, "host"), 0);
        text[i] = json_dumps(object, JSON_INDENT(1));
        json_decref(object);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

static void a_scheduler_and_a_changed_machine_are_used(void **state) {
    (void)state;
    json_t *plain = run("matmul"), *changed = run("matmul -s two-level:group=4 --set sm.count=1 --set l1.size=32K");
    assert_string_equal(json_string_value(json_object_get(changed, "scheduler")), "two-level:group=4");
    assert_int_equal(json_array_size(json_object_get(changed, "set")), 2);
    assert_null(json_object_get(plain, "set"));
    assert_true(number_at(json_object_get(changed, "total"), "cycles") >
                2 * number_at(json_object_get(plain, "total"), "cycles"));
    assert_int_equal(number_at(json_object_get(changed, "total"), "sm_cycles"),
                     number_at(json_object_get(changed, "total"), "cycles"));
    json_decref(plain);
    json_decref(changed);
}

static void a_dumped_configuration_makes_the_same_run(void **state) {
    (void)state;
    struct outcome outcome = heddle("run --dump-config -s gto --set sm.count=3 --max-cycles 9000000");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "\nscheduler: gto\n");
    expect_text(outcome.out, "\n  count: 3 ");
    expect_text(outcome.out, "\n  max_cycles: 9000000 ");
    char path[64], words[128];
    snprintf(path, sizeof path, "%s/mine.yaml", scratch());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(outcome.out, file);
    fclose(file);
    outcome_free(&outcome);
    snprintf(words, sizeof words, "vecadd -m %s", path);
    json_t *dumped = run(words), *given = run("vecadd -s gto --set sm.count=3");
    assert_true(json_equal(json_object_get(dumped, "total"), json_object_get(given, "total")));
    assert_string_equal(json_string_value(json_object_get(dumped, "scheduler")), "gto");
    json_decref(dumped);
    json_decref(given);
}

static void a_limit_of_cycles_stops_the_run_with_partial_results(void **state) {
    (void)state;
    struct outcome outcome = heddle("run matmul --size medium --max-cycles 1000 --json -");
    expect_status(&outcome, 4);
    expect_text(outcome.err, "heddle: stopped at the limit of cycles\n");
    json_t *object = json_output(&outcome);
    assert_string_equal(json_string_value(json_object_get(object, "stopped")), "max-cycles");
    assert_true(json_is_false(json_object_get(object, "checked")));
    json_decref(object);
    outcome_free(&outcome);
}

/* How often `part` is in the text. */
static unsigned occurrences(const char *text, const char *part) {
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* needleman launches its kernel once for each wave: the remark comes once. */
static void blocks_too_small_for_a_models_size_are_remarked_once_for_a_kernel(void **state) {
    (void)state;
    static const struct {
        const char *model, *threads, *remark;
    } cases[] = {
        {"lwm", "64",
         "heddle: kernel 'needleman': lwm: large warps of 256 threads are not reached, its blocks have 64\n"},
        {"lwm:size=64", "64", NULL},
        {"lwm:size=128", "96", "lwm: large warps of 128 threads are not reached, its blocks have 96\n"},
        {"tbc", "64", "tbc: blocks of 256 threads (Narasiman 2014) are not reached, its blocks have 64\n"},
        {"tbc", "256", NULL},
        {"stack", "64", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome outcome = heddle("run needleman -q -m narasiman2011 --no-check -d %s --threads-per-block %s",
                                        cases[i].model, cases[i].threads);
        expect_status(&outcome, 0);
        assert_int_equal(occurrences(outcome.err, "not reached"), cases[i].remark ? 1 : 0);
        if (cases[i].remark)
            expect_text(outcome.err, cases[i].remark);
        outcome_free(&outcome);
    }
}

static void people_see_where_the_cycles_went(void **state) {
    (void)state;
    struct outcome outcome = heddle("run bfs -s gto --set sm.count=2");
    expect_status(&outcome, 0);
    assert_string_equal(outcome.err, "");
    expect_text(outcome.out, "\ngtx480 with sm.count=2; scheduler gto, divergence stack\nkernel ");
    expect_text(outcome.out, "\nwhere the cycles went: active ");
    expect_text(outcome.out, " warp instructions/s\nchecked: the result agrees with the CPU reference\n");
    outcome_free(&outcome);
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workload_agrees_with_its_reference_in_time_too),
        cmocka_unit_test(the_statistics_are_those_of_the_list),
        cmocka_unit_test(active_lanes_are_a_share_of_the_machines_warp),
        cmocka_unit_test(two_runs_differ_only_in_the_host_time),
        cmocka_unit_test(a_scheduler_and_a_changed_machine_are_used),
        cmocka_unit_test(a_dumped_configuration_makes_the_same_run),
        cmocka_unit_test(a_limit_of_cycles_stops_the_run_with_partial_results),
        cmocka_unit_test(people_see_where_the_cycles_went),
        cmocka_unit_test(blocks_too_small_for_a_models_size_are_remarked_once_for_a_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
