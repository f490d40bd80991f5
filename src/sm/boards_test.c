/* Scoreboards of rows: the cycles of warps whose paths take turns while loads are in flight. */
#include "sm/fixture.h"

/* Lanes 16 to 31 jump to C, the others continue; each path loads a word and adds to it. */
#define TWO_LOADS                                                                                                      \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %laneid;\n"   /* 1 2 */                                                       \
    "setp.ge.u32 %p1, %r1, 16; @%p1 bra C;\n"          /* 11 20 */                                                     \
    "ld.global.u32 %r2, [%d1]; add.u32 %r3, %r2, 1;\n" /* B */                                                         \
    "bra D;\n"                                                                                                         \
    "C: ld.global.u32 %r2, [%d1+128]; add.u32 %r3, %r2, 1;\n"                                                          \
    "D: ret;"

/* C starts in 25. With barriers its addition waits until 25 + 41 = 66, B loads in 67, adds in 108, jumps in 109 and
 * returns in 114. With subwarp B loads in 26. Then both wait. C adds in 66 and B in 67, which jumps in 68 and returns
 * in 73. */
static void a_path_loads_while_another_waits(void **state) {
    (void)state;
    static const char *const barriers[] = {"divergence=barriers", NULL};
    static const char *const subwarp[] = {"divergence=subwarp:trigger=any,latency=0", NULL};
    assert_int_equal(fixture_cycles(barriers, TWO_LOADS, 32), 114);
    struct stats_counters counters = fixture_run(subwarp, TWO_LOADS, 1, 32);
    assert_int_equal(counters.cycles, 73);
    assert_int_equal(counters.path_switches, 2);
}

/* B loads in 26 + 6 = 32. C has its data in 66 and adds in 66 + 6 = 72. B, which has its own in 73, follows then
 * without a switch, because C has come to its barrier: 73, 74, and 79. */
static void a_switch_takes_its_latency(void **state) {
    (void)state;
    static const char *const subwarp[] = {"divergence=subwarp:trigger=any,latency=6", NULL};
    assert_int_equal(fixture_cycles(subwarp, TWO_LOADS, 32), 79);
}

/* Both paths write %r2. With one scoreboard for the warp B's addition would wait for C's load, until 66: with barriers
 * it does, because C loads in 25 and B starts in 26. The last addition is in 67, and B returns in 68 + 5. With a
 * scoreboard for each lane B adds in 26, and C's return in 27 + 5 waits for nothing. */
static void lanes_wait_for_their_own_results_only(void **state) {
    (void)state;
    static const char *const barriers[] = {"divergence=barriers", NULL};
    static const char *const subwarp[] = {"divergence=subwarp", NULL};
    static const char body[] = "ld.param.u64 %d1, [p]; mov.u32 %r1, %laneid;\n"
                               "setp.ge.u32 %p1, %r1, 16; @%p1 bra C;\n"
                               "add.u32 %r2, %r1, 1; bra D;\n"
                               "C: ld.global.u32 %r2, [%d1];\n"
                               "D: ret;";
    assert_int_equal(fixture_cycles(barriers, body, 32), 66 + 1 + 5);
    assert_int_equal(fixture_cycles(subwarp, body, 32), 26 + 1 + 5);
}

/* Block 0 ends while its load is in flight. Block 1 takes its row and loads the same register from another line, which
 * arrives later. So its addition issues as late as with a scoreboard for each slot. */
static void a_load_does_not_outlive_its_row(void **state) {
    (void)state;
    static const char *const rows[] = {"divergence=subwarp", "sm.blocks=1", "memory.perfect=false", NULL};
    static const char *const slots[] = {"divergence=barriers", "sm.blocks=1", "memory.perfect=false", NULL};
    static const char body[] = "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1; @%p1 bra L;\n"
                               "ld.global.u32 %r2, [%d1]; ret;\n"
                               "L: ld.global.u32 %r2, [%d1+4096]; add.u32 %r3, %r2, 1; ret;";
    uint64_t expected = fixture_run(slots, body, 2, 32).cycles;
    assert_int_equal(fixture_run(rows, body, 2, 32).cycles, expected);
    assert_true(expected > fixture_run(slots, body, 1, 32).cycles + 40);
}

/* A path that waits for an addition does not give way, although the register once held a word from memory. */
static void a_result_of_an_addition_is_no_data(void **state) {
    (void)state;
    static const char *const subwarp[] = {"divergence=subwarp:trigger=any,latency=0", NULL};
    static const char body[] = "ld.param.u64 %d1, [p]; mov.u32 %r1, %laneid; ld.global.u32 %r2, [%d1];\n"
                               "add.u32 %r3, %r2, 1; setp.ge.u32 %p1, %r1, 16; @%p1 bra C;\n"
                               "add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; bra D;\n"
                               "C: add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1;\n"
                               "D: ret;";
    assert_int_equal(fixture_run(subwarp, body, 1, 32).path_switches, 0);
}

/* The branch issues in 19, and both paths start in 24. With multi-pc B issues in 24, 25 and 26. C waits for B's
 * results, since a slot has one scoreboard, and issues in 24 + 9 and 25 + 9. They return in 35. With branch
 * interweaving C issues in 24 and 25 beside B, and they return in 26 + 5. */
static void two_paths_issue_in_one_cycle(void **state) {
    (void)state;
    static const char *const one[] = {"divergence=multi-pc", NULL}, *const two[] = {"divergence=interweave:sbi", NULL};
    static const char body[] = "mov.u32 %r1, %laneid; setp.ge.u32 %p1, %r1, 16; @%p1 bra C;\n"
                               "add.u32 %r2, 1, 2; add.u32 %r3, 1, 2; bra D;\n"
                               "C: add.u32 %r2, 1, 2; add.u32 %r3, 1, 2;\n"
                               "D: ret;";
    assert_int_equal(fixture_cycles(one, body, 32), 35);
    struct stats_counters counters = fixture_run(two, body, 1, 32);
    assert_int_equal(counters.cycles, 31);
    assert_int_equal(counters.shared_issues, 2);
    assert_int_equal(counters.warp_instructions, 3 + 2 + 1 + 1); /* two count as one */
}

/* Lanes 0 to 15 load a line that is in the L1, the others one that is not. The small warps that hit continue. */
static void lanes_that_hit_have_their_data(void **state) {
    (void)state;
    static const char *const apart[] = {"divergence=vws:misses=on", "memory.perfect=false", NULL};
    static const char *const together[] = {"divergence=vws:misses=off", "memory.perfect=false", NULL};
    static const char body[] = "ld.param.u64 %d1, [p]; ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1;\n"
                               "mov.u32 %r1, %laneid; and.b32 %r1, %r1, 16; mul.wide.u32 %d2, %r1, 256;\n"
                               "add.u64 %d2, %d2, %d1; ld.global.u32 %r3, [%d2]; add.u32 %r3, %r3, %r2; ret;";
    assert_int_equal(fixture_run(apart, body, 1, 32).warp_splits, 1);
    assert_int_equal(fixture_run(together, body, 1, 32).warp_splits, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_loads_while_another_waits),      cmocka_unit_test(a_switch_takes_its_latency),
        cmocka_unit_test(lanes_wait_for_their_own_results_only), cmocka_unit_test(a_load_does_not_outlive_its_row),
        cmocka_unit_test(a_result_of_an_addition_is_no_data),    cmocka_unit_test(two_paths_issue_in_one_cycle),
        cmocka_unit_test(lanes_that_hit_have_their_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
