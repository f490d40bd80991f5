/* Tests of the fewest post-dominators first. */
#include "sched/fixture.h"

static void the_warp_that_has_passed_the_fewest_goes_first(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "pdprio", 3);
    bench.slot[0].passed = 4;
    bench.slot[1].passed = 2;
    bench.slot[2].passed = 3;
    bench.slot[2].pc = 1; /* the pc does not matter */
    EXPECT_ISSUES(&bench, 0b111, 1, 1);
    EXPECT_ISSUES(&bench, 0b101, 2);
    EXPECT_ISSUES(&bench, 0b001, 0);
    bench.slot[1].passed = 5;
    EXPECT_ISSUES(&bench, 0b111, 2);
    bench_end(&bench);
}

static void of_equal_ones_the_oldest_goes_first(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "pdprio", 3);
    bench.slot[0].age = 7;
    EXPECT_ISSUES(&bench, 0b111, 1);
    EXPECT_ISSUES(&bench, 0b101, 2);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_warp_that_has_passed_the_fewest_goes_first),
        cmocka_unit_test(of_equal_ones_the_oldest_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
