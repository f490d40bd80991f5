/* Every DRAM policy passes its trial, and broken ones do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mem/dram_trial.h"

enum { N_REQUESTS = 3000 };

static void every_policy_serves_all_requests_and_is_deterministic(void **state) {
    (void)state;
    enum { MOST = 64 };
    uint64_t picks[MOST];
    const struct dram_policy *policy;
    void *options;
    for (size_t i = 0; (policy = mem_dram_policies.table(i)); i++) {
        struct dram_trial_outcome first, second;
        char error[256];
        assert_true(i < MOST);
        assert_true(mem_parse_dram_policy(NULL, policy->name, &policy, &options, error, sizeof error));
        assert_true(mem_try_dram_policy(policy, options, N_REQUESTS, 5, &first));
        assert_true(mem_try_dram_policy(policy, options, N_REQUESTS, 5, &second));
        free(options);
        assert_int_equal(first.picks, second.picks);
        assert_int_equal(first.n_served, N_REQUESTS);
        picks[i] = first.picks;
        for (size_t k = 0; k < i; k++)
            assert_true(picks[i] != picks[k]);
    }
}

static uint32_t pick_beyond(const void *options, const struct dram_view *view) {
    (void)options;
    return view->n;
}

static uint32_t n_calls;

static uint32_t pick_by_turns(const void *options, const struct dram_view *view) {
    (void)options;
    return n_calls++ % view->n;
}

/* Asks for the request that can start last. */
static uint32_t pick_latest(const void *options, const struct dram_view *view) {
    (void)options;
    uint32_t latest = 0;
    for (uint32_t i = 1; i < view->n; i++)
        latest = dram_start(view, i) > dram_start(view, latest) ? i : latest;
    return latest;
}

static void a_broken_policy_is_told_what_it_did(void **state) {
    (void)state;
    const struct dram_policy beyond = {.name = "beyond", .pick = pick_beyond},
                             turns = {.name = "turns", .pick = pick_by_turns},
                             latest = {.name = "latest", .pick = pick_latest};
    struct dram_trial_outcome outcome;
    assert_false(mem_try_dram_policy(&beyond, NULL, N_REQUESTS, 5, &outcome));
    assert_non_null(strstr(outcome.problem, "after the end of the queue"));
    assert_false(mem_try_dram_policy(&turns, NULL, N_REQUESTS, 5, &outcome));
    assert_non_null(strstr(outcome.problem, "different places for the same view"));
    assert_true(mem_try_dram_policy(&latest, NULL, N_REQUESTS, 5, &outcome)); /* slow, and right */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_serves_all_requests_and_is_deterministic),
        cmocka_unit_test(a_broken_policy_is_told_what_it_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
