/* Delayed reconvergence points: where the branches of loops that await other threads meet. */
#include "divergence/convergence/delay.h"

#include "divergence/testing/programs.h"

/* The branch at pc meets at these places before and after the delay. */
static void expect_meeting(const char *body, uint32_t pc, uint32_t before, uint32_t after) {
    char text[2048];
    struct ptx_messages messages = {0};
    snprintf(text, sizeof text, "%s%s}\n", PROGRAM_KERNEL "ld.param.u64 %d1, [out];\n", body); /* pc 0 */
    struct ptx_module *module = ptx_parse("k.ptx", text, strlen(text), &messages);
    struct exec_program *program =
        module ? exec_link(module, ptx_find_function(module, "k"), NULL, NULL, &messages) : NULL;
    if (!program)
        fail_msg("%s", messages.text);
    struct exec_regions *regions = divergence_postdominators(program);
    assert_int_equal(regions->meeting[pc], before);
    divergence_delay(regions, program);
    assert_int_equal(regions->meeting[pc], after);
    divergence_postdominators_free(regions);
    exec_program_free(program);
    ptx_module_free(module);
}

/* Takes a lock: pcs 1, 2 and 3. Without the delay those that have it wait at 4 for those that spin. */
#define TAKE "L: atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;\n"

/* The write at 5 gives the lock back. It is in the block that starts at 4, and the next one is the end. */
static void threads_that_have_a_lock_do_not_wait_before_they_give_it_back(void **state) {
    (void)state;
    expect_meeting(TAKE "add.u32 %r2, %r2, 1; st.global.u32 [%d1], 0; ret;\n", 3, 4, EXEC_NO_PC);
}

/* The branch at 7 starts a new block at 8 and one at 9, the first from which no write is reached. */
static void they_meet_at_the_first_place_after_the_last_write(void **state) {
    (void)state;
    expect_meeting(TAKE "add.u32 %r2, %r2, 1; st.global.u32 [%d1], 0; setp.eq.u32 %p2, %r2, 1; @%p2 bra M;\n"
                        "add.u32 %r2, %r2, 2; M: add.u32 %r2, %r2, 3; ret;\n",
                   3, 4, 9);
    /* a write that only some threads come to, at 7 */
    expect_meeting(TAKE "add.u32 %r2, %r2, 1; setp.eq.u32 %p2, %r2, 1; @%p2 bra M;\n"
                        "st.global.u32 [%d1], 1; M: add.u32 %r2, %r2, 3; ret;\n",
                   3, 4, 8);
    /* and one at 9 moves it past this block */
    expect_meeting(TAKE "add.u32 %r2, %r2, 1; st.global.u32 [%d1], 0; setp.eq.u32 %p2, %r2, 1; @%p2 bra M;\n"
                        "add.u32 %r2, %r2, 2; M: st.global.u32 [%d1], 1; ret;\n",
                   3, 4, EXEC_NO_PC);
}

/* Nothing is written after the loop, or only to memory of the thread's own. */
static void without_a_write_after_it_a_loop_keeps_its_place(void **state) {
    (void)state;
    expect_meeting(TAKE "add.u32 %r2, %r2, 1; ret;\n", 3, 4, 4);
    expect_meeting(".local .b32 own;\n" TAKE "st.local.u32 [own], %r2; ret;\n", 3, 4, 4);
}

/* It counts, so no thread waits for another one. */
static void a_loop_that_awaits_nothing_keeps_its_place(void **state) {
    (void)state;
    expect_meeting("mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 5; @%p1 bra L;\n" /* 1 2 3 4 */
                   "st.global.u32 [%d1], 0; ret;\n",
                   4, 5, 5);
}

/* The branch at 2 skips the lock and meets at 6, where the loop's threads met. It must meet no earlier than they. */
static void a_branch_around_the_loop_moves_with_it(void **state) {
    (void)state;
    expect_meeting("setp.eq.u32 %p2, %r2, 0; @%p2 bra OUT;\n" TAKE "OUT: st.global.u32 [%d1], 0; ret;\n", 2, 6,
                   EXEC_NO_PC);
}

/* Threads write at 4 and at 8, and then meet at 12. The branch at 6 met at 8, which is skipped. */
static void a_branch_that_met_at_a_skipped_place_moves_too(void **state) {
    (void)state;
    expect_meeting(TAKE "st.global.u32 [%d1], 0; setp.eq.u32 %p2, %r2, 1; @%p2 bra X; add.u32 %r2, %r2, 1;\n" /* 4-7 */
                        "X: st.global.u32 [%d1], 0; setp.eq.u32 %p2, %r2, 1; @%p2 bra S;\n"                   /* 8-10 */
                        "add.u32 %r2, %r2, 1; S: add.u32 %r2, %r2, 1; ret;\n",                                /* 11- */
                   6, 8, 12);
}

/* The only write is the atomic of the loop, to which the branch at 6 leads back. */
static void a_write_that_is_reached_through_the_loop_does_not_count(void **state) {
    (void)state;
    expect_meeting("O: add.u32 %r2, %r2, 1;\n" TAKE "setp.ne.u32 %p2, %r2, 9; @%p2 bra O; ret;\n", 4, 5, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_have_a_lock_do_not_wait_before_they_give_it_back),
        cmocka_unit_test(they_meet_at_the_first_place_after_the_last_write),
        cmocka_unit_test(without_a_write_after_it_a_loop_keeps_its_place),
        cmocka_unit_test(a_loop_that_awaits_nothing_keeps_its_place),
        cmocka_unit_test(a_branch_around_the_loop_moves_with_it),
        cmocka_unit_test(a_branch_that_met_at_a_skipped_place_moves_too),
        cmocka_unit_test(a_write_that_is_reached_through_the_loop_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
