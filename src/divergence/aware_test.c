/* Tests of adaptive reconvergence: which lanes run where, step by step, derived on paper from the rules in
 * docs/models/aware.md. Lane 0 is the rightmost bit of a mask. */
#include "divergence/testing/programs.h"

static struct fixture *start(const char *model, const char *text, uint32_t block, uint32_t warp_size) {
    return fixture_begin(model, text, &(struct fixture_shape){.block = block, .warp_size = warp_size});
}

/* --- the queue --- */

/* Lanes 0 and 1 take the branch, the others do not. Both sides have a jump in the middle. All meet at 11. */
#define TURNS                                                                                                          \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 2; @%p1 bra L;\n"                       /* 0 1 2 */     \
                   "add.u32 %r1, %r0, 1; bra R; add.u32 %r1, %r1, 7; R: add.u32 %r1, %r1, 1; bra G;\n" /* 3 4 5 6 7 */ \
                   "L: bra M; add.u32 %r1, %r1, 7; M: add.u32 %r1, %r0, 4;\n"                          /* 8 9 10 */    \
                   "G: add.u32 %r2, %r1, 3; ret; }\n"                                                  /* 11 12 */

static void the_side_that_falls_through_runs_first_and_a_jump_ends_a_turn(void **state) {
    (void)state;
    struct fixture *f = start("aware", TURNS, 4, 4);
    fixture_steps(f, 0, 3);
    fixture_expect_until(f, 0, 3, 0b1100, 11); /* the queue is now: R, L */
    fixture_steps(f, 0, 2);
    fixture_expect_until(f, 0, 8, 0b0011, 11); /* R has jumped: L, R */
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 6, 0b1100, 11); /* L has jumped: R, L */
    fixture_steps(f, 0, 2);
    fixture_expect_until(f, 0, 10, 0b0011, 11); /* R has jumped to 11 and waits there */
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 11, 0b1111, EXEC_NO_PC);
    assert_int_equal(f->sm[0].counters.reconvergences, 1);
    fixture_finish(f);
}

static void a_branch_that_is_not_taken_does_not_end_a_turn(void **state) {
    (void)state;
#define FALLS                                                                                                          \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 2; setp.gt.u32 %p2, %r0, 9; @%p1 bra L;\n" /* 0-3 */    \
                   "@%p2 bra L; add.u32 %r1, %r0, 1; bra G;\n"                                            /* 4 5 6 */  \
                   "L: add.u32 %r1, %r0, 4;\n"                                                            /* 7 */      \
                   "G: add.u32 %r2, %r1, 3; ret; }\n"                                                     /* 8 9 */
    struct fixture *f = start("aware", FALLS, 4, 4);
    fixture_steps(f, 0, 5);
    fixture_expect_until(f, 0, 5, 0b1100, 8);
    fixture_finish(f);
}

/* --- time-outs --- */

/* Lanes 1 to 3 leave the loop at once, and wait at 5 for lane 0, which iterates 1000 times. */
#define LONG                                                                                                           \
    PROGRAM_KERNEL                                                                                                     \
    "mov.u32 %r0, %tid.x; mov.u32 %r1, 0;\n" /* 0 1 */                                                                 \
    "LOOP: add.u32 %r1, %r1, 1; mad.lo.u32 %r2, %r0, 1000, %r1; setp.lt.u32 %p1, %r2, 1000; @%p1 bra LOOP;\n"          \
    "G: add.u32 %r2, %r1, 3; ret; }\n" /* 2 3 4 5; 6 7 */

static void lanes_wait_for_the_time_out_and_no_longer(void **state) {
    (void)state;
    struct fixture *f = start("aware:timeout=20", LONG, 4, 4);
    fixture_steps(f, 0, 6);
    fixture_expect_until(f, 0, 2, 0b0001, 6); /* in cycle 6 the others have arrived */
    fixture_steps(f, 0, 20);
    assert_int_equal(f->sm[0].counters.reconvergence_timeouts, 0);
    assert_int_equal(f->sm[0].slot[0].group->mask, 0b0001);
    fixture_steps(f, 0, 4); /* in cycle 27 they continue, when lane 0 jumps next, in cycle 30 */
    assert_int_equal(f->sm[0].counters.reconvergence_timeouts, 1);
    fixture_expect_until(f, 0, 6, 0b1110, EXEC_NO_PC);
    fixture_steps(f, 0, 2); /* they end */
    fixture_expect_until(f, 0, 2, 0b0001, 6);
    fixture_finish(f);
}

static void an_arrival_starts_the_time_again(void **state) {
    (void)state;
    /* Lane i leaves after iteration i: every 4 cycles one more arrives. 4 cycles are not too long. */
#define LEAVES                                                                                                         \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; mov.u32 %r1, 0;\n"                                                            \
                   "LOOP: add.u32 %r1, %r1, 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r1, %r0; @%p1 bra LOOP;\n"       \
                   "G: add.u32 %r2, %r1, 3; ret; }\n"
    struct fixture *f = start("aware:timeout=4", LEAVES, 8, 8);
    fixture_run(f);
    assert_int_equal(f->sm[0].counters.reconvergence_timeouts, 0);
    fixture_close(f);
    f = start("aware:timeout=2", LEAVES, 8, 8);
    fixture_run(f);
    assert_true(f->sm[0].counters.reconvergence_timeouts > 0);
    fixture_close(f);
}

/* --- locks --- */

/* Lane after lane takes the lock and gives it back with a plain store. It then waits for the others. */
#define LOCK                                                                                                           \
    PROGRAM_KERNEL                                                                                                     \
    "ld.param.u64 %d1, [out]; mov.u32 %r4, 0;\n"                                              /* 0 1 */                \
    "SPIN: atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;\n"   /* 2 3 4 */              \
    "ld.volatile.global.u32 %r2, [%d1+4]; add.u32 %r2, %r2, 1; st.global.u32 [%d1+4], %r2;\n" /* 5 6 7 */              \
    "st.global.u32 [%d1], %r4; setp.eq.u32 %p2, %r2, 9999; @%p2 bra OUT; add.u32 %r5, %r2, 1;\n"                       \
    "OUT: add.u32 %r3, %r2, 1; ret; }\n"

static uint64_t run_lock(const char *model, uint64_t *n_timeouts) {
    struct fixture *f = start(model, LOCK, 96, 32);
    fixture_run(f);
    assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[1], 96);
    uint64_t cycles = f->cycle;
    *n_timeouts = f->sm[0].counters.reconvergence_timeouts;
    fixture_close(f);
    return cycles;
}

static void threads_of_a_warp_may_wait_for_each_other(void **state) {
    (void)state;
    uint64_t n_timeouts;
    assert_true(run_lock("aware", &n_timeouts) < 96 * 400); /* stack breaks its join only after 20,000 branches */
    assert_int_equal(n_timeouts, 0);
    run_lock("aware:timeout=100,delay=off", &n_timeouts);
    assert_true(n_timeouts >=
                93); /* without delays the one that has left the loop is freed by the clock: 31 in a warp */
}

static void the_one_that_has_the_lock_does_not_wait_after_the_loop(void **state) {
    (void)state;
    struct fixture *f = start("aware", LOCK, 4, 4);
    fixture_steps(f, 0, 5);
    fixture_expect_until(f, 0, 5, 0b0001, 12); /* the loop's lanes meet after the stores, where the next branch does */
    f->checks_nothing = true;
    fixture_close(f);
    f = start("aware:delay=off", LOCK, 4, 4);
    fixture_steps(f, 0, 5);
    fixture_expect_until(f, 0, 2, 0b1110, 5);
    f->checks_nothing = true;
    fixture_close(f);
}

/* A flag that a plain load reads: the analysis does not see that the loop awaits others, but the clock frees them. */
#define PLAIN_FLAG                                                                                                     \
    PROGRAM_KERNEL "ld.param.u64 %d1, [out]; mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0; mov.u32 %r3, 1;\n"          \
                   "SPIN: @%p1 bra OUT; ld.global.u32 %r1, [%d1]; setp.eq.u32 %p2, %r1, 0; @%p2 bra SPIN;\n"           \
                   "OUT: st.global.u32 [%d1], %r3; ret; }\n"

static void a_flag_that_no_analysis_finds_is_written_after_the_time_out(void **state) {
    (void)state;
    struct fixture *f = start("aware:timeout=50", PLAIN_FLAG, 4, 4);
    fixture_run(f);
    assert_int_equal(f->sm[0].counters.reconvergence_timeouts, 1);
    assert_true(f->cycle > 50 && f->cycle < 100);
    fixture_close(f);
}

/* --- everything --- */

static void results_do_not_depend_on_order_or_shape(void **state) {
    (void)state;
    programs_check_all(divergence_find("aware"), "aware", true);
    programs_check_all(divergence_find("aware"), "aware:timeout=1", true);
    programs_check_all(divergence_find("aware"), "aware:timeout=7,delay=off", true);
}

static void the_tables_of_multi_path_with_a_queue_and_times(void **state) {
    (void)state;
    struct config_machine machine = {.sm = {.threads = 1024, .warp_size = 32}};
    char formula[300];
    uint64_t bits = divergence_find("aware")->cost_bits(NULL, &machine, formula, sizeof formula);
    assert_int_equal(bits, 32 * 32 * ((64 + 32 + 5 + 5 + 2) + (64 + 64 + 5 + 1 + 32)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_side_that_falls_through_runs_first_and_a_jump_ends_a_turn),
        cmocka_unit_test(a_branch_that_is_not_taken_does_not_end_a_turn),
        cmocka_unit_test(lanes_wait_for_the_time_out_and_no_longer),
        cmocka_unit_test(an_arrival_starts_the_time_again),
        cmocka_unit_test(threads_of_a_warp_may_wait_for_each_other),
        cmocka_unit_test(the_one_that_has_the_lock_does_not_wait_after_the_loop),
        cmocka_unit_test(a_flag_that_no_analysis_finds_is_written_after_the_time_out),
        cmocka_unit_test(results_do_not_depend_on_order_or_shape),
        cmocka_unit_test(the_tables_of_multi_path_with_a_queue_and_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
