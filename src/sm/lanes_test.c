/* Scoreboards of single lanes: in mimd no lane waits for another. */
#include "sm/fixture.h"

/* The branch issues in 19, both sides follow in 24. Each side waits for its own results alone: the upper half issues in
 * 24, 33, 42 and ends in 43, the lower one in 24, 41 and 42. With one side after the other, the second begins 5 cycles
 * after the first has ended: 24, 33, 42, 43, 48, 65, 66 (or 24, 41, 42, 47, 56, 65, 66). */
static void with_mimd_each_lane_waits_for_its_own_results(void **state) {
    (void)state;
    const char *body = "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 16;\n@%p0 bra L;\n"
                       "add.u32 %r1, %r0, 1;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r3, %r2, 1;\nret;\n"
                       "L:\nsin.approx.f32 %f1, %f0;\nsin.approx.f32 %f2, %f1;\nret;";
    assert_int_equal(fixture_cycles((const char *[]){"divergence=mimd", NULL}, body, 32), 43);
    assert_int_equal(fixture_cycles((const char *[]){"divergence=stack", NULL}, body, 32), 66);
}

/* The branch issues in 20, and both sides follow in 25. The upper half's line is requested in 26 and there in 66, so it
 * ends in 67. With one side after the other, the lower half issues in 25, 34 and 35, the upper one in 40, 81 and 82. */
static void a_lane_that_needs_no_data_does_not_wait_for_memory(void **state) {
    (void)state;
    const char *body = "ld.param.u64 %d1, [p];\nmov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 16;\n@%p0 bra L;\n"
                       "ld.global.u32 %r1, [%d1];\nadd.u32 %r2, %r1, 1;\nret;\n"
                       "L:\nadd.u32 %r3, %r0, 1;\nadd.u32 %r4, %r3, 1;\nret;";
    static const char *const mimd[] = {"divergence=mimd", NULL}, *const stack[] = {"divergence=stack", NULL};
    struct stats_counters lanes = fixture_run(mimd, body, 1, 32), group = fixture_run(stack, body, 1, 32);
    assert_int_equal(lanes.cycles, 67);
    assert_int_equal(group.cycles, 82);
    assert_int_equal(lanes.thread_instructions, group.thread_instructions);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_mimd_each_lane_waits_for_its_own_results),
        cmocka_unit_test(a_lane_that_needs_no_data_does_not_wait_for_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
