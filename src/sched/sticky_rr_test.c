/* Tests of sticky round robin. */
#include "sched/fixture.h"

static void a_block_keeps_its_priority_until_none_of_its_warps_is_ready(void **state) {
    (void)state;
    struct bench bench;
    bench_start(&bench, "sticky-rr", 6);
    static const uint32_t block[] = {0, 2, 0, 2, 1, 1};
    for (uint32_t slot = 0; slot < 6; slot++) {
        bench.slot[slot].block = block[slot];
        bench_arrive(&bench, slot);
    }
    EXPECT_ISSUES(&bench, 0b111111, 0, 2, 0);
    EXPECT_ISSUES(&bench, 0b111011, 0); /* 0 alone is enough */
    EXPECT_ISSUES(&bench, 0b111010, 4); /* block 1 */
    EXPECT_ISSUES(&bench, 0b111111, 5, 4);
    EXPECT_ISSUES(&bench, 0b001111, 1);
    EXPECT_ISSUES(&bench, 0b110101, 2); /* after the last block comes the first; after 0 comes 2 */
    bench_leave(&bench, 0);
    bench_leave(&bench, 2);
    EXPECT_ISSUES(&bench, 0b111010, 5, 4);
    bench.slot[0].block = 0;
    bench_arrive(&bench, 0);
    EXPECT_ISSUES(&bench, 0b111011, 5);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_keeps_its_priority_until_none_of_its_warps_is_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
