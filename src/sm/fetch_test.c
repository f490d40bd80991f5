/* Instruction fetch: when the line of the next instruction arrives. A line of 32 bytes holds four instructions. */
#include "sm/fixture.h"

#define LINES "icache.perfect=false", "icache.line=32", "icache.latency=3"
#define FOUR "mov.u32 %r1, 1;\nmov.u32 %r2, 1;\nmov.u32 %r3, 1;\nmov.u32 %r4, 1;\n"
#define OTHERS "mov.u32 %r5, 1;\nmov.u32 %r6, 1;\nmov.u32 %r7, 1;\nmov.u32 %r8, 1;\n"

/* The first line is requested in 0 and arrives in 3. Its instructions issue in 3 to 6, the next line is requested in 6
 * and arrives in 9. Without the I-cache instructions issue from 1 on. */
static void a_group_fetches_when_it_enters_a_line(void **state) {
    (void)state;
    static const char *const lines[] = {LINES, NULL};
    assert_int_equal(fixture_cycles(lines, "ret;", 32), 3);
    assert_int_equal(fixture_cycles(lines, FOUR "ret;", 32), 9);
    assert_int_equal(fixture_cycles(lines, FOUR OTHERS "ret;", 32), 15);
    assert_int_equal(fixture_cycles(NULL, FOUR OTHERS "ret;", 32), 9);
}

/* Both warps ask in 0. One port serves the second in 1, so that it ends in 4. */
static void one_port_serves_one_group_in_each_cycle(void **state) {
    (void)state;
    static const char *const one[] = {LINES, "sm.schedulers=2", NULL};
    static const char *const two[] = {LINES, "sm.schedulers=2", "icache.banks=2", NULL};
    assert_int_equal(fixture_cycles(one, "ret;", 64), 4);
    assert_int_equal(fixture_cycles(two, "ret;", 64), 3);
}

/* The branch issues in 4. A target in its line issues in 5, and one in another line when that line arrives. */
static void a_branch_to_another_line_fetches_it(void **state) {
    (void)state;
    static const char *const lines[] = {LINES, "sm.branch_cycles=1", NULL};
    static const char within[] = "mov.u32 %r1, 1;\nbra L;\nL:\nret;";
    static const char away[] = "mov.u32 %r1, 1;\nbra L;\n" FOUR "L:\nret;";
    assert_int_equal(fixture_cycles(lines, within, 32), 3 + 2);
    assert_int_equal(fixture_cycles(lines, away, 32), 3 + 1 + 3);
}

/* The second warp finds the line in the I-cache, or waits for the same one. Both lines come from the L2, one after the
 * other. */
static void a_line_that_misses_arrives_later_and_stays(void **state) {
    (void)state;
    static const char *const slow[] = {LINES, "memory.perfect=false", NULL};
    struct stats_counters one = fixture_run(slow, FOUR "ret;", 1, 32), two = fixture_run(slow, FOUR "ret;", 1, 64);
    assert_true(one.cycles > 9 + 20);
    assert_int_equal(one.icache_misses, 2);
    assert_true(two.cycles <= one.cycles + 5);
    assert_true(one.stall_fetch > 20);
}

/* The MSHR has room for the first warp only. The second, for which the port is free from cycle 1 on, is refused in
 * every cycle until the line arrives, and the third as well. */
static void groups_that_find_the_mshr_full_are_refused_in_every_cycle(void **state) {
    (void)state;
    static const char *const slow[] = {LINES, "memory.perfect=false", "icache.mshr_merges=1", NULL};
    uint64_t arrival = fixture_run(slow, "ret;", 1, 32).cycles;
    assert_int_equal(fixture_run(slow, "ret;", 1, 64).mshr_full, arrival - 1);
    assert_int_equal(fixture_run(slow, "ret;", 1, 96).mshr_full, 2 * (arrival - 1));
}

#define EIGHT                                                                                                          \
    "add.f32 %f1, %f1, %f1;\nadd.f32 %f2, %f2, %f2;\nadd.f32 %f3, %f3, %f3;\nadd.f32 %f4, %f4, %f4;\n"                 \
    "add.f32 %f5, %f5, %f5;\nadd.f32 %f6, %f6, %f6;\nadd.f32 %f7, %f7, %f7;\nadd.f32 %f8, %f8, %f8;\n"
#define NEW_CODE                                                                                                       \
    "lowering.target=sm_90", "sm.fp32_cycles=4", "lowering.new_code_cycles=50", "lowering.new_line_cycles=20"
static const char *const known[] = {"lowering.target=sm_90", "sm.fp32_cycles=4", NULL};
static const char *const unknown[] = {NEW_CODE, NULL};

/* Lines of eight machine instructions. The first is entered in 1 and arrives in 51, the second in 71, and the third in
 * 91. After sums the end issues in the second cycle of its line. A second warp finds the lines and
 * ends two cycles later. */
static void new_code_arrives_line_by_line(void **state) {
    (void)state;
    assert_int_equal(fixture_cycles(unknown, "ret;", 32), 51);
    assert_int_equal(fixture_cycles(unknown, EIGHT "ret;", 32), 72);
    assert_int_equal(fixture_cycles(unknown, EIGHT EIGHT "ret;", 32), 92);
    assert_int_equal(fixture_cycles(unknown, EIGHT EIGHT "ret;", 64), 94);
}

/* The branch in line 0 issues in 52, and its target may in 57. Three lines on it arrives with the lines before it, in
 * 51 + 3 * 20, six lines on 50 cycles after it was asked for. */
static void a_jump_waits_for_new_code_or_for_the_lines_before_it(void **state) {
    (void)state;
    static const char near[] = "setp.ne.u64 %p1, %d1, 0;\n@!%p1 bra.uni L;\n" EIGHT EIGHT EIGHT "L:\nret;";
    static const char far[] =
        "setp.ne.u64 %p1, %d1, 0;\n@!%p1 bra.uni L;\n" EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT "L:\nret;";
    uint64_t before = fixture_cycles(known, far, 32);
    assert_int_equal(fixture_cycles(known, near, 32), before);
    assert_int_equal(fixture_cycles(unknown, near, 32), 51 + 3 * 20);
    assert_int_equal(fixture_cycles(unknown, far, 32), before + 50 + 50);
}

/* Code that comes back to a line does not wait for it again. */
static void a_loop_waits_for_its_code_once(void **state) {
    (void)state;
    static const char loop[] = "mov.u32 %r1, %tid.x;\nand.b32 %r1, %r1, 0;\nL:\n" EIGHT
                               "add.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 20;\n@%p1 bra L;\nret;";
    uint64_t before = fixture_cycles(known, loop, 32), now = fixture_cycles(unknown, loop, 32);
    assert_true(now >= before + 50 && now <= before + 50 + 3 * 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_fetches_when_it_enters_a_line),
        cmocka_unit_test(one_port_serves_one_group_in_each_cycle),
        cmocka_unit_test(a_branch_to_another_line_fetches_it),
        cmocka_unit_test(a_line_that_misses_arrives_later_and_stays),
        cmocka_unit_test(groups_that_find_the_mshr_full_are_refused_in_every_cycle),
        cmocka_unit_test(new_code_arrives_line_by_line),
        cmocka_unit_test(a_jump_waits_for_new_code_or_for_the_lines_before_it),
        cmocka_unit_test(a_loop_waits_for_its_code_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
