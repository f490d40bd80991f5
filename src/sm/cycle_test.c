/* The cycle of an SM: a tick that waits for the other SMs continues where it stopped, and nothing happens twice. */
#include "sm/fixture.h"

/* Two warps on two schedulers: in a tick the second may wait after the first has issued. */
static const char *const two[] = {"sm.schedulers=2", NULL};

static void check_waits(enum sm_freedom freedom, const char *body, uint32_t threads, uint32_t expected) {
    uint32_t n_waits;
    struct stats_counters together = fixture_run(two, body, 1, threads);
    struct stats_counters counters = fixture_run_with(freedom, &n_waits, two, body, 1, threads);
    assert_memory_equal(&counters, &together, sizeof counters);
    assert_int_equal(n_waits, expected);
}

/* Each warp issues one atomic. The load/store unit takes them in two cycles, so two ticks wait. */
static void an_sm_apart_waits_at_atomics(void **state) {
    (void)state;
    check_waits(SM_APART, "ld.param.u64 %d1, [p];\nred.global.add.u32 [%d1], 1;\nret;", 64, 2);
    check_waits(SM_APART, "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nst.global.u32 [%d1], 1;\nret;", 64, 0);
    check_waits(SM_APART, "add.u32 %r1, 1, 2;\nret;", 64, 0);
}

/* Loads are visible to others, and so is the end of a block. Arithmetic, shared memory and the end of a warp that is
 * not the last of its block are not. */
static void an_sm_ahead_waits_at_visible_instructions(void **state) {
    (void)state;
    check_waits(SM_AHEAD, "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nret;", 64, 3);
    check_waits(SM_AHEAD, "add.u32 %r1, 1, 2;\nret;", 64, 1);
    check_waits(SM_AHEAD, ".shared .b32 s[32];\nst.shared.u32 [s], 1;\nld.shared.u32 %r1, [s];\nret;", 64, 1);
}

/* Each scheduler has two warps, so that one can add while the other waits at its atomic. The scheduler that waited
 * issues the atomic and nothing else, and the one before it has had its turn. */
static void a_tick_continues_at_the_scheduler_that_waited(void **state) {
    (void)state;
    check_waits(SM_APART,
                "ld.param.u64 %d1, [p];\nred.global.add.u32 [%d1], 1;\nadd.u32 %r1, 1, 2;\nadd.u32 %r2, 1, 2;\n"
                "add.u32 %r3, 1, 2;\nadd.u32 %r4, 1, 2;\nadd.u32 %r5, 1, 2;\nret;",
                128, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_sm_apart_waits_at_atomics),
        cmocka_unit_test(an_sm_ahead_waits_at_visible_instructions),
        cmocka_unit_test(a_tick_continues_at_the_scheduler_that_waited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
