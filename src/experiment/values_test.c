/* Values, means, variations and claims, from results that stand in for runs. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiment/values.h"

/* Two programs under two systems, in three variations: cycles in this order, the variation fastest. */
static const char text[] =
    "title: t\n"
    "programs: [bfs, mum]\n"
    "axes: [{axis: s, points: {a: {}, b: {}}}]\n"
    "variations: [{}, {arguments: --seed 1}, {arguments: --seed 2}]\n"
    "measures:\n"
    "  cycles: cycles\n"
    "  speed: {of: base.cycles / cycles, base: {s: a}}\n"
    "  some: 'lanes(1, 2)'\n"
    "means: {geometric: geometric, harmonic: harmonic, arithmetic: arithmetic}\n"
    "claims:\n"
    "  - {says: 0, check: 'speed[*, b] > 1'}\n"
    "  - {says: 1, check: 'speed[bfs, b] > 2.2'}\n"
    "  - {says: 2, check: 'speed[mum, b] > 2 or speed[mum, b] < 0', reason: known,\n"
    "     shown_by: [{check: 'speed[mum, b] > 1'}]}\n"
    "  - {says: 3, check: 'speed[mum, a] < speed[mum, b] < speed[bfs, b]'}\n"
    "  - {says: 4, check: 'falling(cycles[mum|bfs, a]) and not rising(cycles[mum|bfs, a])'}\n"
    "  - {says: 5, check: 'min(cycles[*, *]) = 40 and max(cycles[*, *]) = 300'}\n"
    "  - {says: 6, check: 'abs(1 - speed[mum, b]) > 1 / 3 + 0.01', reason: supposed}\n"
    "  - {says: 7, check: 'max(abs(cycles[bfs|mum, a] - 200)) = 100 and abs(200 - cycles[*, a]) > 99'}\n";
static const double cycles[] = {100, 100, 100, 50, 40, 40, 300, 300, 300, 200, 250, 250};

enum { N_RUNS = sizeof cycles / sizeof cycles[0] };

struct fixture {
    struct base_arena arena;
    struct experiment experiment;
    struct experiment_plan plan;
    struct experiment_trial trial[N_RUNS], *pointer[N_RUNS];
    int index[N_RUNS];
    struct experiment_grid grid;
};

static int set_up(void **state) {
    static struct fixture fixture;
    fixture = (struct fixture){0};
    char path[] = "/tmp/heddle-values-XXXXXX";
    int file = mkstemp(path);
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
        return -1;
    close(file);
    struct base_diag diag = {0};
    bool is_good = experiment_load(&fixture.experiment, path, &fixture.arena, &diag);
    unlink(path);
    if (!is_good)
        return -1;
    for (int i = 0; i < N_RUNS; i++) {
        fixture.trial[i].result =
            json_pack("{s:{s:f}, s:[i,i,i,i]}", "total", "cycles", cycles[i], "active_lanes", 1, 2, 3, 4);
        fixture.pointer[i] = &fixture.trial[i];
        fixture.index[i] = i;
    }
    fixture.plan.trial = fixture.pointer;
    fixture.grid = (struct experiment_grid){
        .experiment = &fixture.experiment, .plan = &fixture.plan, .most_best_of = 1, .trial = fixture.index};
    *state = &fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    for (int i = 0; i < N_RUNS; i++)
        json_decref(fixture->trial[i].result);
    base_arena_free(&fixture->arena);
    return 0;
}

static void expect_near(double value, double expected) {
    if (!(fabs(value - expected) < 1e-9))
        fail_msg("%.12g is not %.12g", value, expected);
}

static void measures_are_means_over_variations_with_their_spread(void **state) {
    struct fixture *fixture = *state;
    struct experiment_value value = experiment_value_of(&fixture->grid, 1, &(struct experiment_cell){{0, 1}});
    expect_near(value.mean, (100 / 50.0 + 2 * 100 / 40.0) / 3);
    expect_near(value.low, 2);
    expect_near(value.high, 2.5);
    expect_near(experiment_value_of(&fixture->grid, 2, &(struct experiment_cell){{0, 0}}).mean, 0.5);
}

static void means_are_of_their_kind(void **state) {
    struct fixture *fixture = *state;
    expect_near(experiment_value_in(&fixture->grid, 1, &(struct experiment_cell){{2, 1}}, 0), sqrt(2 * 1.5));
    expect_near(experiment_value_in(&fixture->grid, 1, &(struct experiment_cell){{3, 1}}, 0), 2 / (1 / 2.0 + 1 / 1.5));
    expect_near(experiment_value_in(&fixture->grid, 1, &(struct experiment_cell){{4, 1}}, 0), (2 + 1.5) / 2);
}

static void a_claim_holds_in_all_variations_or_in_most_or_not(void **state) {
    struct fixture *fixture = *state;
    static const struct experiment_verdict expected[] = {
        {EXPERIMENT_HOLDS, 3, 0}, {EXPERIMENT_HOLDS_MOSTLY, 3, 1}, {EXPERIMENT_EXPLAINED, 3, 0},
        {EXPERIMENT_HOLDS, 3, 0}, {EXPERIMENT_HOLDS, 3, 0},        {EXPERIMENT_HOLDS_MOSTLY, 3, 1},
        {EXPERIMENT_OPEN, 3, 1},  {EXPERIMENT_HOLDS, 3, 0},
    };
    for (unsigned i = 0; i < fixture->experiment.n_claims; i++) {
        struct experiment_verdict verdict = experiment_judge(&fixture->grid, &fixture->experiment.claim[i]);
        assert_int_equal(verdict.state, expected[i].state);
        assert_int_equal(verdict.n_against, expected[i].n_against);
    }
    assert_int_equal(experiment_check_in(&fixture->grid, fixture->experiment.claim[5].check, 1), 1);
    assert_int_equal(experiment_check_in(&fixture->grid, fixture->experiment.claim[5].check, 0), 0);
}

/* Claim 6 is true in the first variation only. */
static void noise_of_another_size_tells_that_a_claim_holds_mostly(void **state) {
    struct fixture *fixture = *state;
    const struct experiment_claim *claim = &fixture->experiment.claim[6];
    struct experiment alone = fixture->experiment;
    struct experiment_plan plan = fixture->plan;
    int first[] = {0, 3, 6, 9};
    alone.n_variations = 1;
    plan.size = "paper";
    fixture->plan.size = "medium";
    struct experiment_grid grid = {.experiment = &alone, .plan = &plan, .most_best_of = 1, .trial = first};
    assert_int_equal(experiment_judge(&grid, claim).state, EXPERIMENT_HOLDS);
    grid.noise = &fixture->grid; /* there the first holds, its two neighbours do not */
    assert_int_equal(experiment_judge(&grid, claim).state, EXPERIMENT_HOLDS_MOSTLY);
    assert_int_equal(experiment_judge(&grid, claim).n_against, 2);
    for (int i = 0; i < N_RUNS; i += 3) { /* the first does not hold either: a matter of size */
        fixture->index[i] = i + 1;
        fixture->index[i + 1] = i;
    }
    assert_int_equal(experiment_judge(&grid, claim).state, EXPERIMENT_HOLDS);
    plan.size = "medium";
    assert_int_equal(experiment_judge(&grid, claim).state, EXPERIMENT_OPEN);
    for (int i = 0; i < N_RUNS; i++)
        fixture->index[i] = i;
    fixture->plan.size = NULL;
}

/* Claim 6 is true in the first variation only, claim 3 in all. */
static void noise_of_the_same_size_comes_before_that_of_another(void **state) {
    struct fixture *fixture = *state;
    const struct experiment_claim *claim = &fixture->experiment.claim[6], *holds = &fixture->experiment.claim[3];
    struct experiment alone = fixture->experiment;
    struct experiment_plan paper = fixture->plan, medium = fixture->plan;
    int first[] = {0, 3, 6, 9}, same[N_RUNS];
    alone.n_variations = 1;
    paper.size = "paper";
    medium.size = "medium";
    for (int i = 0; i < N_RUNS; i++)
        same[i] = i - i % 3;
    struct experiment_grid at_medium = fixture->grid, at_paper = fixture->grid;
    struct experiment_grid grid = {.experiment = &alone, .plan = &paper, .most_best_of = 1, .trial = first};
    at_medium.plan = &medium;
    at_medium.trial = same; /* three times the first variation: both claims hold */
    at_paper.plan = &paper;
    at_paper.noise = &at_medium;
    grid.noise = &at_paper;
    assert_ptr_equal(experiment_find_noise(&grid, claim), &at_paper);
    assert_int_equal(experiment_judge(&grid, claim).state, EXPERIMENT_OPEN); /* in 1 of 3, though it holds alone */
    assert_int_equal(experiment_judge(&grid, holds).state, EXPERIMENT_HOLDS);
    fixture->index[N_RUNS - 1] = -1; /* a neighbour at size paper is not known */
    assert_ptr_equal(experiment_find_noise(&grid, claim), &at_medium);
    assert_int_equal(experiment_judge(&grid, claim).state, EXPERIMENT_HOLDS);
    same[0] = -1;
    same[6] = -1;
    assert_null(experiment_find_noise(&grid, claim));
    fixture->index[N_RUNS - 1] = N_RUNS - 1;
}

static void a_run_that_is_missing_leaves_a_claim_unknown(void **state) {
    struct fixture *fixture = *state;
    fixture->index[N_RUNS - 1] = -1;
    assert_true(isnan(experiment_value_of(&fixture->grid, 1, &(struct experiment_cell){{1, 1}}).mean));
    assert_int_equal(experiment_judge(&fixture->grid, &fixture->experiment.claim[3]).state, EXPERIMENT_UNKNOWN);
    assert_int_equal(experiment_judge(&fixture->grid, &fixture->experiment.claim[1]).state, EXPERIMENT_HOLDS_MOSTLY);
    fixture->index[N_RUNS - 1] = N_RUNS - 1;
}

static void a_check_names_the_runs_that_it_needs(void **state) {
    struct fixture *fixture = *state;
    bool is_needed[4] = {0};
    experiment_mark_needed(&fixture->experiment, fixture->experiment.claim[1].check, is_needed);
    assert_true(is_needed[0] && is_needed[1]); /* bfs under b, and under a, which it is compared with */
    assert_false(is_needed[2] || is_needed[3]);
}

/* Two channels in two samples of ten cycles: 3 and 5 of ten, then 1 and 7. */
static void the_spread_of_a_series_is_that_of_its_samples(void **state) {
    (void)state;
    json_t *result =
        json_pack("{s:[{s:i, s:[[i,i],[i,i]]}]}", "samples", "every_cycles", 10, "channel_busy_cycles", 3, 5, 1, 7);
    double mean = experiment_run_function(result, "spread", "channel_busy_cycles", NULL);
    assert_true(fabs(mean - 0.4) < 1e-9);
    json_decref(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_spread_of_a_series_is_that_of_its_samples),
        cmocka_unit_test(measures_are_means_over_variations_with_their_spread),
        cmocka_unit_test(means_are_of_their_kind),
        cmocka_unit_test(a_claim_holds_in_all_variations_or_in_most_or_not),
        cmocka_unit_test(noise_of_another_size_tells_that_a_claim_holds_mostly),
        cmocka_unit_test(noise_of_the_same_size_comes_before_that_of_another),
        cmocka_unit_test(a_run_that_is_missing_leaves_a_claim_unknown),
        cmocka_unit_test(a_check_names_the_runs_that_it_needs),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
