/* Tests of ownership. Slots arrive in the order of their numbers, so slot 0 is the oldest. The L1 has 10 MSHRs, so
 * memory is saturated with 9. */
#include "sched/fixture.h"

static void start(struct bench *bench, const char *scheduler, uint32_t n_slots) {
    bench_start_full(bench, scheduler, n_slots);
    bench->pressure.n_mshrs = 10;
}

static void without_saturation_all_warps_have_equal_priority(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "mascar", 4);
    bench.next_long = bench_set(0b1111);
    bench.pressure.mshrs_used = 8;
    EXPECT_ISSUES(&bench, 0b1111, 0, 1, 2, 3, 0);
    EXPECT_ISSUES(&bench, 0b1101, 2, 3, 0);
    bench_end(&bench);
    start(&bench, "mascar:order=gto", 4);
    EXPECT_ISSUES(&bench, 0b1110, 1);
    EXPECT_ISSUES(&bench, 0b1111, 1);
    EXPECT_ISSUES(&bench, 0b1101, 0);
    bench_end(&bench);
}

static void under_saturation_only_the_owner_accesses_memory(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "mascar", 4);
    bench.next_long = bench_set(0b1110);
    bench.pressure.mshrs_used = 9;
    EXPECT_ISSUES(&bench, 0b1110, 1, 1); /* the oldest that is ready to access memory */
    EXPECT_ISSUES(&bench, 0b1111, 1);    /* it goes before warps that compute */
    EXPECT_ISSUES(&bench, 0b1101, 0);    /* warps that compute may issue */
    EXPECT_ISSUES(&bench, 0b1100, SCHED_NONE);
    bench.pressure.mshrs_used = 8;
    EXPECT_ISSUES(&bench, 0b1100, 2);
    bench_end(&bench);
}

/* Its short waits do not count: it will continue by itself. */
static void the_owner_gives_up_when_it_needs_its_data(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "mascar", 3);
    bench.next_long = bench_set(0b111);
    bench.pressure.mshrs_used = 10;
    EXPECT_ISSUES(&bench, 0b111, 0, 0);
    bench_stall(&bench, 0, WAITS_SHORT);
    EXPECT_ISSUES(&bench, 0b110, SCHED_NONE);
    bench_stall(&bench, 0, WAITS_LONG);
    EXPECT_ISSUES(&bench, 0b110, 1);
    bench_wake(&bench, 0);
    EXPECT_ISSUES(&bench, 0b101, SCHED_NONE); /* warp 1 owns memory now, although warp 0 is older */
    EXPECT_ISSUES(&bench, 0b111, 1);
    bench_end(&bench);
}

static void an_owner_that_waits_for_others_or_ends_gives_up(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "mascar", 3);
    bench.next_long = bench_set(0b111);
    bench.pressure.mshrs_used = 10;
    EXPECT_ISSUES(&bench, 0b111, 0);
    bench_stall(&bench, 0, WAITS_PENDING);
    EXPECT_ISSUES(&bench, 0b110, 1);
    bench_leave(&bench, 1);
    EXPECT_ISSUES(&bench, 0b100, 2);
    bench_end(&bench);
}

static void a_refused_access_means_saturation(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "mascar:full=101", 2);
    bench.next_long = bench_set(0b11);
    bench.pressure.mshrs_used = 10;
    EXPECT_ISSUES(&bench, 0b11, 0, 1, 0);
    bench.pressure.is_refused = true;
    EXPECT_ISSUES(&bench, 0b11, 0, 0);
    bench_end(&bench);
    start(&bench, "mascar:full=50", 2);
    bench.next_long = bench_set(0b11);
    bench.pressure.mshrs_used = 5;
    EXPECT_ISSUES(&bench, 0b11, 0, 0);
    bench_end(&bench);
}

static void queue_limits_the_loads_that_wait_aside(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "mascar", 2);
    assert_int_equal(bench.ops->most_aside(bench.state, &bench.view), 32);
    bench_end(&bench);
    start(&bench, "mascar:queue=5", 2);
    assert_int_equal(bench.ops->most_aside(bench.state, &bench.view), 5);
    bench_end(&bench);
}

/* Slots 0 and 2 belong to one scheduler, 1 and 3 to the other. */
static void an_sm_has_one_owner(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "mascar", 4);
    bench.view.n_schedulers = 2;
    bench.next_long = bench_set(0b1111);
    bench.pressure.mshrs_used = 10;
    EXPECT_ISSUES(&bench, 0b0101, 0);
    EXPECT_ISSUES(&bench, 0b1010, SCHED_NONE);
    bench.next_long = bench_set(0b0101);
    EXPECT_ISSUES(&bench, 0b1010, 1, 3, 1);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_saturation_all_warps_have_equal_priority),
        cmocka_unit_test(under_saturation_only_the_owner_accesses_memory),
        cmocka_unit_test(the_owner_gives_up_when_it_needs_its_data),
        cmocka_unit_test(an_owner_that_waits_for_others_or_ends_gives_up),
        cmocka_unit_test(a_refused_access_means_saturation),
        cmocka_unit_test(queue_limits_the_loads_that_wait_aside),
        cmocka_unit_test(an_sm_has_one_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
