/* The annotated listing: the counters of all lines add up to those of the run, whatever the divergence model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static json_t *run_json(const char *words) {
    struct outcome outcome = heddle("run bfs --size small --json - %s", words);
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome);
    outcome_free(&outcome);
    return object;
}

/* The sum of a counter over all lines of all kernels. */
static json_int_t sum(const json_t *run, const char *counter) {
    const json_t *listing, *line;
    size_t i, k;
    json_int_t all = 0;
    json_array_foreach(json_object_get(run, "lines"), i, listing) {
        json_array_foreach(json_object_get(listing, "lines"), k, line) {
            assert_true(json_is_integer(json_object_get(line, counter)));
            all += json_integer_value(json_object_get(line, counter));
        }
    }
    return all;
}

static json_int_t total(const json_t *run, const char *counter) {
    return json_integer_value(json_object_get(json_object_get(run, "total"), counter));
}

static void expect_sums(const char *words) {
    json_t *run = run_json(words);
    assert_true(sum(run, "executed") > 0);
    assert_int_equal(sum(run, "executed"), total(run, "warp_instructions"));
    assert_int_equal(sum(run, "active_lanes"), total(run, "thread_instructions"));
    assert_true(sum(run, "diverged") > 0);
    assert_int_equal(sum(run, "diverged"), total(run, "divergent_branches"));
    json_decref(run);
}

static void lines_add_up_to_the_run(void **state) {
    (void)state;
    expect_sums("--lines --functional");
    expect_sums("--lines");
    expect_sums("--lines -d dws");
    expect_sums("--lines -d dwf");
    expect_sums("--lines --launch 4..5");
    expect_sums("--lines -m h200");
}

/* Stalls are cycles of groups, so that there are at least as many as stalls of SMs. */
static void accesses_and_stalls_add_up_too(void **state) {
    (void)state;
    json_t *run = run_json("--lines");
    assert_int_equal(sum(run, "accesses"), total(run, "long_instructions"));
    assert_int_equal(sum(run, "requests"), total(run, "l1_accesses"));
    assert_true(sum(run, "sectors") >= sum(run, "requests"));
    assert_true(32 * sum(run, "sectors") >= total(run, "requested_bytes"));
    assert_true(sum(run, "misses") > 0 && sum(run, "misses") <= total(run, "l1_misses"));
    assert_true(sum(run, "stall_memory") >= total(run, "stall_memory"));
    assert_true(sum(run, "stall_dependency") >= total(run, "stall_dependency"));
    json_decref(run);
}

static void bank_conflicts_add_up_too(void **state) {
    (void)state;
    struct outcome outcome = heddle("run histogram --size small --lines --json -");
    expect_status(&outcome, 0);
    json_t *run = json_output(&outcome);
    assert_true(sum(run, "bank_conflicts") > 0);
    assert_int_equal(sum(run, "bank_conflicts"), total(run, "bank_conflicts"));
    json_decref(run);
    outcome_free(&outcome);
}

/* observed_test.c has every machine. */
static void a_listing_changes_no_statistic(void **state) {
    (void)state;
    static const char *const words[][2] = {{"-d dws", "-d dws --lines"}, {"-m h200", "-m h200 --lines"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        json_t *without = run_json(words[i][0]), *with = run_json(words[i][1]);
        assert_true(json_object_del(with, "lines") == 0 && json_object_del(with, "host") == 0);
        json_object_del(without, "host");
        assert_true(json_equal(with, without));
        json_decref(with);
        json_decref(without);
    }
}

static void the_listing_shows_ptx_and_cuda(void **state) {
    (void)state;
    struct outcome outcome = heddle("run bfs --size small --lines");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "PTX line");
    expect_text(outcome.out, "ld.global.u32 %r");
    expect_text(outcome.out, "workloads/bfs/kernel.cu\nCUDA line");
    expect_text(outcome.out, "memory"); /* what most groups wait for */
    outcome_free(&outcome);
}

static void a_line_tells_its_place_in_the_source(void **state) {
    (void)state;
    json_t *run = run_json("--lines --functional");
    const json_t *listing = json_array_get(json_object_get(run, "lines"), 0), *line;
    size_t i, n_known = 0;
    assert_string_equal(json_string_value(json_object_get(listing, "kernel")), "bfs");
    json_array_foreach(json_object_get(listing, "lines"), i, line) {
        const char *file = json_string_value(json_object_get(line, "file"));
        n_known += file && strstr(file, "kernel.cu") && json_integer_value(json_object_get(line, "source_line")) > 0;
    }
    assert_true(n_known > 10);
    json_decref(run);
}

static int remove_files(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_add_up_to_the_run),        cmocka_unit_test(accesses_and_stalls_add_up_too),
        cmocka_unit_test(bank_conflicts_add_up_too),      cmocka_unit_test(a_listing_changes_no_statistic),
        cmocka_unit_test(the_listing_shows_ptx_and_cuda), cmocka_unit_test(a_line_tells_its_place_in_the_source),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
