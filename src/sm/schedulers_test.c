/* Schedulers: the calls that a policy receives, and its view in each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sm/schedulers.h"

enum { N_SLOTS = 6, N_SCHEDULERS = 2 };

/* A policy that counts its calls and picks the highest candidate. */
struct counts {
    uint32_t arrived, left, stalled, woken, issued;
    uint64_t cycle;
    bool saw_long, saw_pending;
};

static void count_arrival(void *state, const struct sched_view *view, uint32_t slot) {
    struct counts *counts = state;
    counts->arrived += slot;
    counts->cycle = view->cycle;
}

static void count_departure(void *state, const struct sched_view *view, uint32_t slot) {
    struct counts *counts = state;
    counts->left += slot;
    counts->saw_pending = sched_has(view->pending, slot);
}

static void count_stall(void *state, const struct sched_view *view, uint32_t slot, bool is_long) {
    struct counts *counts = state;
    counts->stalled += slot;
    counts->saw_long = is_long && sched_has(view->waits_long, slot);
    counts->cycle = view->cycle;
}

static void count_wake(void *state, const struct sched_view *view, uint32_t slot) {
    struct counts *counts = state;
    counts->woken += slot;
    counts->saw_long = sched_has(view->waits_long, slot);
    counts->cycle = view->cycle;
}

static int pick_last(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)state;
    (void)view;
    return 63 - __builtin_clzll(candidates->word[0]);
}

static const struct sched_ops policy = {.name = "last",
                                        .state_bytes = sizeof(struct counts),
                                        .arrive = count_arrival,
                                        .leave = count_departure,
                                        .stall = count_stall,
                                        .wake = count_wake,
                                        .pick = pick_last};

struct fixture {
    struct sm_slots slots;
    struct sm_schedulers schedulers;
    struct divergence_block home;
    struct divergence_group group[N_SLOTS];
};

/* Every slot holds a group. Those of scheduler 1 are 1, 3 and 5. */
static void set_up(struct fixture *f) {
    *f = (struct fixture){.home = {.slot = 4}};
    sm_slots_init(&f->slots, N_SLOTS);
    sm_slots_begin(&f->slots, 1);
    sm_schedulers_init(&f->schedulers, &policy, NULL, N_SCHEDULERS, &f->slots);
    sm_schedulers_begin(&f->schedulers);
    for (uint32_t s = 0; s < N_SLOTS; s++) {
        f->group[s] = (struct divergence_group){.home = &f->home, .warp_id = DIVERGENCE_NO_WARP};
        sm_slots_occupy(&f->slots, s, &f->group[s], 0);
        sm_schedulers_arrive(&f->schedulers, s, &f->slots.slot[s], 10 + s);
    }
}

static void tear_down(struct fixture *f) {
    sm_schedulers_free(&f->schedulers);
    sm_slots_free(&f->slots);
}

static void a_scheduler_learns_of_its_own_slots(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f);
    const struct counts *even = f.schedulers.state[0], *odd = f.schedulers.state[1];
    assert_int_equal(even->arrived, 0 + 2 + 4);
    assert_int_equal(odd->arrived, 1 + 3 + 5);
    assert_int_equal(odd->cycle, 15);
    assert_int_equal(f.group[5].warp_id, 2);
    assert_int_equal(f.schedulers.view.slot[5].warp_id, 2);
    assert_int_equal(f.schedulers.view.slot[5].block, 4);
    assert_int_equal(f.schedulers.view.slot[5].age, 5);
    assert_true(sched_has(f.schedulers.view.occupied, 5));
    tear_down(&f);
}

static void a_wait_is_told_until_it_ends(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f);
    const struct counts *odd = f.schedulers.state[1];
    sm_schedulers_wake(&f.schedulers, 3, 20); /* it does not wait */
    assert_int_equal(odd->woken, 0);
    sm_schedulers_stall(&f.schedulers, 3, 21, true, false);
    assert_int_equal(odd->stalled, 3);
    assert_true(odd->saw_long);
    assert_int_equal(odd->cycle, 21);
    sm_schedulers_wake(&f.schedulers, 3, 22);
    assert_int_equal(odd->woken, 3);
    assert_false(odd->saw_long);
    assert_int_equal(odd->cycle, 22);
    sm_schedulers_wake(&f.schedulers, 3, 23);
    assert_int_equal(odd->woken, 3);
    tear_down(&f);
}

/* The policy still sees the wait of a group that leaves; the next group in the slot does not wait. */
static void a_wait_ends_with_its_group(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f);
    const struct counts *even = f.schedulers.state[0];
    sm_schedulers_stall(&f.schedulers, 2, 20, false, true);
    sm_schedulers_leave(&f.schedulers, 2);
    assert_int_equal(even->left, 2);
    assert_true(even->saw_pending);
    assert_false(sched_has(&f.schedulers.pending, 2));
    sm_schedulers_arrive(&f.schedulers, 2, &f.slots.slot[2], 30);
    sm_schedulers_wake(&f.schedulers, 2, 31);
    assert_int_equal(even->woken, 0);
    tear_down(&f);
}

static void an_instruction_with_bundles_left_is_picked_again(void **state) {
    (void)state;
    struct fixture f;
    struct sched_set candidates = {{0}};
    set_up(&f);
    assert_int_equal(sm_schedulers_pick(&f.schedulers, 1, &candidates, 20), SM_NO_SLOT);
    sched_add(&candidates, 1);
    sched_add(&candidates, 5);
    assert_int_equal(sm_schedulers_pick(&f.schedulers, 1, &candidates, 20), 5);
    f.schedulers.continued[1] = 1;
    assert_int_equal(sm_schedulers_pick(&f.schedulers, 1, &candidates, 21), 1);
    f.schedulers.continued[1] = 3; /* its unit is busy: the scheduler waits for it */
    assert_int_equal(sm_schedulers_pick(&f.schedulers, 1, &candidates, 22), SM_NO_SLOT);
    sm_schedulers_leave(&f.schedulers, 3);
    assert_int_equal(sm_schedulers_pick(&f.schedulers, 1, &candidates, 23), 5);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scheduler_learns_of_its_own_slots),
        cmocka_unit_test(a_wait_is_told_until_it_ends),
        cmocka_unit_test(a_wait_ends_with_its_group),
        cmocka_unit_test(an_instruction_with_bundles_left_is_picked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
