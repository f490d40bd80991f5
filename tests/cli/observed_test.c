/* Observing a run changes none of its statistics, and what an observer saw adds up to them: every option that observes,
 * on every machine. Workloads, divergence models and schedulers move on from machine to machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

/* A run without an observer, and the words that repeat it. */
struct plain {
    char words[256];
    json_t *run;
    bool issues_several; /* mimd issues several bundles as one instruction */
};

static json_int_t number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        fail_msg("\"%s\" is missing or not a whole number", key);
    return json_integer_value(value);
}

static json_t *run(const char *words, const char *observer, int n_threads) {
    struct outcome outcome = heddle("run %s %s --threads %d --json -", words, observer, n_threads);
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome);
    json_object_del(object, "host");
    outcome_free(&outcome);
    return object;
}

/* Names the first statistic that differs. */
static void expect_equal(const struct plain *plain, const json_t *other, const char *how) {
    const char *key;
    json_t *value;
    if (json_equal(plain->run, other))
        return;
    json_object_foreach(json_object_get(plain->run, "total"), key, value) {
        const json_t *found = json_object_get(json_object_get(other, "total"), key);
        if (!json_equal(value, found))
            fail_msg("%s %s: %s is %.9g instead of %.9g", plain->words, how, key, json_number_value(found),
                     json_number_value(value));
    }
    fail_msg("%s %s: the totals are equal, other values differ", plain->words, how);
}

static struct plain plain_run(const char *machine, const char *workload, const char *model, const char *scheduler) {
    struct plain plain = {.issues_several = model && strcmp(model, "mimd") == 0};
    int n = snprintf(plain.words, sizeof plain.words, "%s -m %s", workload, machine);
    if (model)
        snprintf(plain.words + n, sizeof plain.words - (size_t)n, " -d %s -s %s", model, scheduler);
    plain.run = run(plain.words, "", 1);
    json_t *again = run(plain.words, "", 3);
    expect_equal(&plain, again, "--threads 3");
    json_decref(again);
    return plain;
}

/* ---- What observers saw ------------------------------------------------------------------------------------------ */

static void expect_sum(const struct plain *plain, const char *what, json_int_t sum, const char *counter) {
    json_int_t total = number(json_object_get(plain->run, "total"), counter);
    if (sum != total)
        fail_msg("%s: the sum of %s is %lld, %s is %lld", plain->words, what, (long long)sum, counter,
                 (long long)total);
}

static json_int_t sum_of(const json_t *array, const char *key) {
    const json_t *item;
    size_t i;
    json_int_t sum = 0;
    json_array_foreach(array, i, item) sum += number(item, key);
    return sum;
}

static json_int_t sum_lines(const json_t *listings, const char *key) {
    const json_t *listing;
    size_t i;
    json_int_t sum = 0;
    json_array_foreach(listings, i, listing) sum += sum_of(json_object_get(listing, "lines"), key);
    return sum;
}

static void check_lines(const struct plain *plain, const json_t *lines) {
    if (!plain->issues_several)
        expect_sum(plain, "executed", sum_lines(lines, "executed"), "warp_instructions");
    expect_sum(plain, "active_lanes", sum_lines(lines, "active_lanes"), "thread_instructions");
    expect_sum(plain, "diverged", sum_lines(lines, "diverged"), "divergent_branches");
    expect_sum(plain, "accesses", sum_lines(lines, "accesses"), "long_instructions");
}

static void check_branches(const struct plain *plain, const json_t *branches) {
    expect_sum(plain, "the branches", sum_of(branches, "executed"), "branches");
    expect_sum(plain, "the divergences", sum_of(branches, "diverged"), "divergent_branches");
}

/* Removes the time series of the launches, and returns the instructions that they have seen. */
static json_int_t take_samples(json_t *observed) {
    json_t *kernel, *row, *value;
    size_t i, k, m;
    json_int_t sum = 0;
    json_array_foreach(json_object_get(observed, "kernels"), i, kernel) {
        const json_t *samples = json_object_get(kernel, "samples");
        json_array_foreach(json_object_get(samples, "thread_instructions"), k, row) json_array_foreach(row, m, value)
            sum += json_integer_value(value);
        json_object_del(kernel, "samples");
    }
    return sum;
}

enum sight { SEES_NOTHING_HERE, SEES_LINES = 1, SEES_BRANCHES = 2, SEES_TIME = 4 };

static const struct {
    const char *words; /* %s: a folder for the file */
    unsigned sights;   /* what --json then has: enum sight */
} observers[] = {
    {"--lines", SEES_LINES},
    {"--branches", SEES_BRANCHES},
    {"--sample 64", SEES_TIME},
    {"--thread-map %s/map", SEES_BRANCHES},
    {"--html %s/page.html", SEES_NOTHING_HERE},                  /* report_test.c looks at the page */
    {"--trace %s/trace.json --trace-size 4", SEES_NOTHING_HERE}, /* trace_test.c adds its spans up */
};
enum { N_OBSERVERS = sizeof observers / sizeof *observers };

static void expect_unchanged(const struct plain *plain, size_t i) {
    char words[256];
    snprintf(words, sizeof words, observers[i].words, scratch()); /* NOLINT: a format of ours */
    json_t *observed = run(plain->words, words, i % 2 ? 1 : 3);
    if (observers[i].sights & SEES_LINES)
        check_lines(plain, json_object_get(observed, "lines"));
    if (observers[i].sights & SEES_BRANCHES)
        check_branches(plain, json_object_get(observed, "branches"));
    if (observers[i].sights & SEES_TIME)
        expect_sum(plain, "the samples", take_samples(observed), "thread_instructions");
    json_object_del(observed, "lines");
    json_object_del(observed, "branches");
    expect_equal(plain, observed, words);
    json_decref(observed);
}

/* ---- Machines ---------------------------------------------------------------------------------------------------- */

/* meng2010 holds 64 threads of a block, and no shared memory. */
static const char *const workloads[] = {"reduction", "divergent", "histogram", "bfs", "fft"};
static const char *const small_blocks[] = {"divergent", "bfs", "fft"};

static const char *workload_for(const char *machine, size_t i) {
    return strcmp(machine, "meng2010") == 0 ? small_blocks[i % 3] : workloads[i % 5];
}

static void expect_unchanged_on(const char *machine, size_t number) {
    static const char *const models[] = {"dws", "lwm", "dwf", "tbc", "mimd", "odgs", "multi-pc", "slip", "stack"},
                             *const schedulers[] = {"gto", "two-level", "lfws", "sticky-rr"};
    struct plain plain = plain_run(machine, workload_for(machine, number), NULL, NULL);
    for (size_t i = 0; i < N_OBSERVERS; i++)
        expect_unchanged(&plain, i);
    json_decref(plain.run);
    plain = plain_run(machine, workload_for(machine, number + 1), models[number % 9], schedulers[number % 4]);
    expect_unchanged(&plain, 0);
    expect_unchanged(&plain, 1 + number % (N_OBSERVERS - 1));
    json_decref(plain.run);
}

static void no_observer_changes_a_statistic_on_any_machine(void **state) {
    (void)state;
    struct outcome list = heddle("list machines --names");
    expect_status(&list, 0);
    size_t i = 0;
    for (char *rest, *name = strtok_r(list.out, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest))
        expect_unchanged_on(name, i++);
    assert_true(i >= 10);
    outcome_free(&list);
}

static void nor_does_one_without_timing(void **state) {
    (void)state;
    json_t *plain = run("bfs --functional", "", 1), *observed = run("bfs --functional", "--lines --branches", 1);
    assert_int_equal(json_object_del(observed, "lines"), 0);
    assert_int_equal(json_object_del(observed, "branches"), 0);
    assert_true(json_equal(plain, observed));
    json_decref(plain);
    json_decref(observed);
}

static void a_page_of_validate_shows_the_same_errors(void **state) {
    (void)state;
    static const char words[] = "validate h200 divergent reduction --size medium --csv -";
    struct outcome plain = heddle("%s", words), page = heddle("%s --html %s/validate.html", words, scratch());
    expect_status(&plain, 0);
    expect_status(&page, 0);
    expect_text(plain.out, "reduction");
    assert_string_equal(plain.out, page.out);
    outcome_free(&plain);
    outcome_free(&page);
}

static int remove_files(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_observer_changes_a_statistic_on_any_machine),
        cmocka_unit_test(nor_does_one_without_timing),
        cmocka_unit_test(a_page_of_validate_shows_the_same_errors),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
