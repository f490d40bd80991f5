/* Properties of every scheduler in schedulers.def, on the small random machine of trial.h. */
#include "sched/fixture.h"
#include "sched/trial.h"

enum { N_SLOTS = SCHED_TRIAL_SLOTS };

/* Tested in addition to every scheduler with its default options. */
static const char *const variants[] = {
    "two-level:group=4",
    "two-level:group=4,switch=stall",
    "two-level:group=4,switch=stall,inner=gto,outer=gto",
    "two-level:group=1,timeout=5",
    "two-level:group=1,timeout=5,switch=stall,outer=gto",
    "lpi:queue=cycle",
    "llos:until=signal",
    "llos:polling=first",
    "two-level-active:active=1",
    "two-level-active:active=2",
    "two-level-opt:active=3",
    "progress:ties=gto",
    "progress:among=block",
    "progress:among=block,ties=gto",
    "adaptive:window=20,phase=5",
    "swl:warps=1",
    "swl:warps=2,patience=3",
    "ccws:throttle=1000,tags=64,ways=64",
    "daws:capacity=1",
    "daws:patience=1",
    "owl:rules=groups",
    "dyncta:window=20,idle=1,low=2,high=3",
    "owl:rules=locality,warps=1",
    "caws:by=instructions",
    "gcaws:by=stalls",
    "ipaws:window=1",
    "mascar:full=50,order=gto",
    "adaptive:window=1,phase=1,change=0,of=lrr+gto+two-level+two-level-stall+two-level-gto+llos+lfws+progress",
};
enum { N_VARIANTS = sizeof variants / sizeof variants[0] };

struct choice {
    const struct sched_ops *ops;
    void *options;
};

static struct choice choose(const char *text) {
    struct choice choice;
    char error[256];
    if (!sched_parse(text, &choice.ops, &choice.options, error, sizeof error))
        fail_msg("%s", error);
    return choice;
}

/* Runs until all blocks are done and returns a digest of the picks. `second` may be NULL. */
static uint64_t simulate(const char *first, const char *second, bool has_marks, uint32_t n_blocks, uint64_t seed) {
    struct choice one = choose(first), other = second ? choose(second) : (struct choice){0};
    const struct sched_trial trial = {one.ops, one.options, other.ops, other.options, has_marks, n_blocks, seed, NULL};
    struct sched_trial_outcome outcome;
    if (!sched_trial_run(&trial, &outcome))
        fail_msg("%s%s%s: %s", first, second ? " and " : "", second ? second : "", outcome.problem);
    free(one.options);
    free(other.options);
    return outcome.picks;
}

/* simulate() checks the picks and that programs with barriers end. */
static void every_scheduler_picks_candidates_ends_and_is_deterministic(void **state) {
    (void)state;
    size_t count;
    const struct sched_ops *const *list = sched_list(&count);
    for (size_t i = 0; i < count + N_VARIANTS; i++) {
        const char *name = i < count ? list[i]->name : variants[i - count];
        for (uint64_t seed = 1; seed <= 5; seed++)
            assert_true(simulate(name, NULL, true, 30, seed) == simulate(name, NULL, true, 30, seed));
    }
}

static void schedulers_differ(void **state) {
    (void)state;
    size_t count;
    const struct sched_ops *const *list = sched_list(&count);
    uint64_t picks[64];
    assert_true(count <= 64);
    for (size_t i = 0; i < count; i++) {
        picks[i] = simulate(list[i]->name, NULL, true, 90, 1); /* long enough for a second candidate of adaptive */
        for (size_t j = 0; j < i; j++)
            if (picks[i] == picks[j])
                fail_msg("%s picks like %s", list[i]->name, list[j]->name);
    }
}

static void one_fetch_group_is_the_inner_policy(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        simulate("lrr", "two-level:group=128", true, 30, seed);
        simulate("lrr", "two-level:group=24,switch=stall", true, 30, seed);
        simulate("gto", "two-level:group=128,inner=gto", true, 30, seed);
    }
}

static void fetch_groups_as_large_as_blocks_are_sticky_round_robin(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        simulate("sticky-rr", "two-level:group=4", true, 30, seed);
}

static void an_active_set_of_all_warps_is_loose_round_robin(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        simulate("lrr", "two-level-active:active=24", true, 30, seed);
}

static void without_long_operations_their_priority_changes_nothing(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        simulate("two-level-active", "two-level-opt", false, 30, seed);
        simulate("two-level-active:active=3", "two-level-opt:active=3", false, 30, seed);
        simulate("gto", "lfws", false, 30, seed);
        simulate("lrr", "llos", false, 30, seed);
    }
}

static void while_only_stalled_warps_guide_llos_is_loose_round_robin(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        simulate("lrr", "llos:until=signal", true, 30, seed);
}

static void without_the_instruction_progress_is_the_policy_of_ties(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        simulate("lrr", "progress", false, 30, seed);
        simulate("gto", "progress:ties=gto", false, 30, seed);
    }
}

static void a_throttle_that_is_open_changes_nothing(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        simulate("gto", "swl:warps=24,patience=0", true, 30, seed);
        simulate("gto", "ccws:throttle=0", true, 30, seed);
        simulate("gto", "ipaws:share=0", true, 30, seed);
        simulate("gto", "daws:patience=1,capacity=1000", true, 30, seed);
        simulate("lrr", "owl:warps=24", true, 30, seed);
        simulate("sticky-rr", "owl:rules=groups,warps=1", true, 30, seed);
    }
}

static void adaptive_with_one_candidate_is_that_candidate(void **state) {
    (void)state;
    static const char *const pair[][2] = {
        {"lrr", "adaptive:of=lrr,window=7"},
        {"gto", "adaptive:of=gto,window=7"},
        {"two-level", "adaptive:of=two-level,window=7"},
        {"two-level:switch=stall", "adaptive:of=two-level-stall,window=7"},
        {"two-level:inner=gto,outer=gto", "adaptive:of=two-level-gto,window=7"},
        {"llos", "adaptive:of=llos,window=7"},
        {"lfws", "adaptive:of=lfws,window=7"},
        {"progress", "adaptive:of=progress,window=7"},
    };
    for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            simulate(pair[i][0], pair[i][1], true, 30, seed);
}

/* Expects a slot that is always ready to issue after at most `most` issues, whatever the others do. */
static void expect_no_starvation(const char *scheduler, unsigned most) {
    struct choice choice = choose(scheduler);
    const struct sched_trial trial = {.ops = choice.ops, .options = choice.options, .seed = 7};
    assert_in_range(sched_trial_longest_wait(&trial, 3000), 0, most - 1);
    free(choice.options);
}

static void no_warp_starves_under_a_fair_scheduler(void **state) {
    (void)state;
    expect_no_starvation("srr", N_SLOTS);
    expect_no_starvation("lrr", N_SLOTS);
    expect_no_starvation("two-level:group=24", N_SLOTS);
    expect_no_starvation("two-level:group=24,switch=stall", N_SLOTS);
    expect_no_starvation("two-level-active:active=24", N_SLOTS);
    expect_no_starvation("llos", N_SLOTS);
    expect_no_starvation("sticky-rr", N_SLOTS); /* one block */
    expect_no_starvation("progress", N_SLOTS);  /* none makes any */
    expect_no_starvation("lpi", 2 * N_SLOTS);   /* last in one pass, second in the next */
}

/* ---- Hooks that the random machine calls besides -------------------------------------------------------------- */

struct counts {
    uint32_t n_critical, n_aside, n_chosen;
};
static struct counts counted; /* of the last run */

static int pick_any(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)view;
    counted = *(const struct counts *)state;
    return sched_first(candidates);
}

static bool is_critical(void *state, const struct sched_view *view, uint32_t slot) {
    assert_true(sched_has(view->occupied, slot));
    return ++((struct counts *)state)->n_critical % 2;
}

static uint32_t most_aside(void *state, const struct sched_view *view) {
    assert_true(view->pressure->is_refused);
    return ++((struct counts *)state)->n_aside;
}

/* The last block first. */
static uint64_t choose_last(void *state, const struct sched_view *view, const struct sched_blocks_left *left) {
    uint64_t block = left->n_blocks - 1;
    (void)view;
    assert_int_equal(left->n_on_sm[left->sm], ((struct counts *)state)->n_chosen++);
    while (left->started[block / 64] >> block % 64 & 1)
        block--;
    return block;
}

static uint64_t choose_first(void *state, const struct sched_view *view, const struct sched_blocks_left *left) {
    (void)state, (void)view, (void)left;
    return 0;
}

static uint64_t choose_none(void *state, const struct sched_view *view, const struct sched_blocks_left *left) {
    (void)state, (void)view;
    return left->first < left->n_blocks / 2 ? left->first : SCHED_NO_BLOCK;
}

static bool try_out(uint64_t (*choose_block)(void *, const struct sched_view *, const struct sched_blocks_left *),
                    struct sched_trial_outcome *outcome) {
    const struct sched_ops ops = {.name = "own",
                                  .state_bytes = sizeof(struct counts),
                                  .pick = pick_any,
                                  .is_critical = is_critical,
                                  .most_aside = most_aside,
                                  .choose_block = choose_block};
    const struct sched_trial trial = {.ops = &ops, .has_marks = true, .n_blocks = 70, .seed = 3};
    return sched_trial_run(&trial, outcome);
}

static void every_hook_is_tried_and_wrong_blocks_are_found(void **state) {
    (void)state;
    struct sched_trial_outcome outcome;
    assert_true(try_out(choose_last, &outcome));
    assert_int_equal(counted.n_chosen, 70);
    assert_true(counted.n_critical > 70 && counted.n_aside > 10);
    assert_false(try_out(choose_first, &outcome));
    assert_non_null(strstr(outcome.problem, "choose_block() returned a block that cannot start (cycle 0)"));
    assert_false(try_out(choose_none, &outcome));
    assert_non_null(strstr(outcome.problem, "choose_block() leaves blocks that no SM takes"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheduler_picks_candidates_ends_and_is_deterministic),
        cmocka_unit_test(schedulers_differ),
        cmocka_unit_test(one_fetch_group_is_the_inner_policy),
        cmocka_unit_test(fetch_groups_as_large_as_blocks_are_sticky_round_robin),
        cmocka_unit_test(an_active_set_of_all_warps_is_loose_round_robin),
        cmocka_unit_test(without_long_operations_their_priority_changes_nothing),
        cmocka_unit_test(while_only_stalled_warps_guide_llos_is_loose_round_robin),
        cmocka_unit_test(without_the_instruction_progress_is_the_policy_of_ties),
        cmocka_unit_test(a_throttle_that_is_open_changes_nothing),
        cmocka_unit_test(adaptive_with_one_candidate_is_that_candidate),
        cmocka_unit_test(no_warp_starves_under_a_fair_scheduler),
        cmocka_unit_test(every_hook_is_tried_and_wrong_blocks_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
