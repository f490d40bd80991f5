/* Groups of one warp in several slots, which models place beside each other: when their instructions issue. Cycles are
 * derived on paper: fixture.h. */
#include "sm/fixture.h"

static uint64_t cycles(const char *model, const char *body) {
    char setting[64];
    snprintf(setting, sizeof setting, "divergence=%s", model);
    const char *settings[] = {setting, NULL};
    return fixture_cycles(settings, body, 32);
}

/* mov in 1, setp in 10, the branch in 19; both sides may issue from 24 on. */
#define BRANCH "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p1, %r0, 16;\n@%p1 bra L;\n"

/* stack: L in 24 and 33, then R in 34 and 43, bra in 44, ret in 49.
 * Both at once: L in 24, R in 25, L in 33, R in 34, bra in 35, ret in 40. */
static void sides_of_a_branch_hide_each_others_latency(void **state) {
    (void)state;
    static const char body[] = BRANCH "add.u32 %r1, %r0, 1;\nadd.u32 %r2, %r1, 1;\nbra J;\n"
                                      "L:\nadd.u32 %r1, %r0, 2;\nadd.u32 %r2, %r1, 2;\nJ:\nret;";
    assert_int_equal(cycles("stack", body), 49);
    assert_int_equal(cycles("dual-path", body), 40);
    assert_int_equal(cycles("multi-path", body), 40);
}

/* The address in 1, mov in 2, the load in 10: its line is requested in 11 and arrives in 51. setp in 11, the branch in
 * 20. Both sides need the load: L in 51, R in 52, bra in 53, ret in 58. */
static void a_result_from_before_the_branch_is_awaited_by_both_sides(void **state) {
    (void)state;
    static const char body[] = "mov.u64 %d1, 0x10000;\nmov.u32 %r0, %tid.x;\nld.global.u32 %r5, [%d1];\n"
                               "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra L;\nadd.u32 %r1, %r5, 1;\nbra J;\n"
                               "L:\nadd.u32 %r2, %r5, 2;\nJ:\nret;";
    assert_int_equal(cycles("multi-path", body), 58);
    assert_int_equal(cycles("dual-path", body), 58);
}

/* As above, but each side loads %r5 itself. The branch is in 20: the load of L in 25, that of R in 26 and its jump in
 * 27. The line of L arrives in 66, that of R in 67. The add after the branch needs both: it issues in 67, not in 66,
 * and ret in 68. */
static void a_register_that_both_sides_load_is_ready_with_the_later_load(void **state) {
    (void)state;
    static const char body[] = "mov.u64 %d1, 0x10000;\nmov.u32 %r0, %tid.x;\n"
                               "mov.u32 %r9, 0;\nsetp.lt.u32 %p1, %r0, 16;\n@%p1 bra L;\n"
                               "ld.global.u32 %r5, [%d1];\nbra J;\nL:\nld.global.u32 %r5, [%d1+1024];\nJ:\n"
                               "add.u32 %r1, %r5, 1;\nret;";
    assert_int_equal(cycles("multi-path", body), 68);
    assert_int_equal(cycles("dual-path", body), 68);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_of_a_branch_hide_each_others_latency),
        cmocka_unit_test(a_result_from_before_the_branch_is_awaited_by_both_sides),
        cmocka_unit_test(a_register_that_both_sides_load_is_ready_with_the_later_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
