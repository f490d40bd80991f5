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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_fetches_when_it_enters_a_line),
        cmocka_unit_test(one_port_serves_one_group_in_each_cycle),
        cmocka_unit_test(a_branch_to_another_line_fetches_it),
        cmocka_unit_test(a_line_that_misses_arrives_later_and_stays),
        cmocka_unit_test(groups_that_find_the_mshr_full_are_refused_in_every_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
