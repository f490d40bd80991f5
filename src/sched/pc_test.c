/* Tests of the lowest program counter first. */
#include "sched/fixture.h"

static void the_warp_furthest_behind_goes_first(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "pc", 3);
    bench.slot[0].pc = 40;
    bench.slot[1].pc = 20;
    bench.slot[2].pc = 30;
    EXPECT_ISSUES(&bench, 0b111, 1, 1);
    bench.slot[1].pc = 31;
    EXPECT_ISSUES(&bench, 0b111, 2);
    EXPECT_ISSUES(&bench, 0b011, 1);
    EXPECT_ISSUES(&bench, 0b001, 0);
    bench_end(&bench);
}

static void of_equal_ones_the_oldest_goes_first(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "pc", 3);
    bench.slot[0].age = 7;
    EXPECT_ISSUES(&bench, 0b111, 1);
    EXPECT_ISSUES(&bench, 0b101, 2);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_warp_furthest_behind_goes_first),
        cmocka_unit_test(of_equal_ones_the_oldest_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
