/* Tests of one program counter for every thread. */
#include "divergence/testing/programs.h"

/* Narasiman 2011, figure 3: A for all four threads, B for 1011, C for 0100, D where they merge. Lane 0 is the leftmost
 * thread of the figure. */
#define BRANCH                                                                                                         \
    PROGRAM_HEAD ".visible .entry k() {\n.reg .pred %p; .reg .b32 %r<4>;\n"                                            \
                 "mov.u32 %r0, %tid.x; setp.eq.u32 %p, %r0, 1; @%p bra C;\n" /* 0 1 2: A */                            \
                 "add.u32 %r1, %r0, 1; bra D;\n"                             /* 3 4: B */                              \
                 "C: add.u32 %r1, %r0, 2;\n"                                 /* 5 */                                   \
                 "D: add.u32 %r2, %r1, 3; ret; }\n"                          /* 6 7 */

static struct fixture *start(const char *text, uint32_t block, uint32_t warp_size) {
    return fixture_begin("multi-pc", text, &(struct fixture_shape){.block = block, .warp_size = warp_size});
}

static void the_warp_follows_the_lowest_pc_and_paths_meet(void **state) {
    (void)state;
    struct fixture *f = start(BRANCH, 4, 4);
    fixture_expect_until(f, 0, 0, 0b1111, EXEC_NO_PC);
    fixture_steps(f, 0, 3);
    fixture_expect_until(f, 0, 3, 0b1101, 5); /* B; lane 1 waits at C */
    fixture_steps(f, 0, 2);
    fixture_expect_until(f, 0, 5, 0b0010, 6); /* C; the others wait at D */
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 6, 0b1111, EXEC_NO_PC);
    assert_int_equal(f->sm[0].counters.branches, 2);
    assert_int_equal(f->sm[0].counters.divergent_branches, 1);
    assert_int_equal(f->sm[0].counters.reconvergences, 1);
    fixture_steps(f, 0, 2);
    assert_int_equal(f->n_finished, 1);
    assert_null(f->sm[0].slot[0].group);
    fixture_close(f);
}

/* a || b && c: THEN is entered from two places, and both paths there execute it together. A stack would execute it
 * twice, for its paths meet only at JOIN. */
static void threads_meet_before_the_post_dominator(void **state) {
    (void)state;
    uint64_t n[2];
    const char *const models[] = {"multi-pc", "stack"};
    for (int i = 0; i < 2; i++) {
        struct fixture *f = fixture_open(divergence_find(models[i]), models[i], PROGRAM_UNSTRUCTURED,
                                         &(struct fixture_shape){.block = 8});
        fixture_parameter(f, 0, fixture_alloc(f, 64));
        fixture_start(f);
        fixture_run(f);
        n[i] = f->sm[0].n_instructions;
        fixture_close(f);
    }
    assert_int_equal(n[1] - n[0], 3); /* THEN is one instruction, ELSE is two */
}

/* Lanes 0 and 1 wait at the barrier, lane 2 is on its way and lane 3 ends, which completes the barrier. */
#define BARRIER                                                                                                        \
    PROGRAM_HEAD ".visible .entry k() {\n.reg .pred %p<3>; .reg .b32 %r<4>;\n"                                         \
                 "mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 2; setp.eq.u32 %p2, %r0, 3; @%p1 bra LATER;\n" /* 0-3 */  \
                 "bar.sync 0; bra OUT;\n"                                                                   /* 4 5 */  \
                 "LATER: @%p2 bra OUT; bar.sync 0;\n"                                                       /* 6 7 */  \
                 "OUT: ret; }\n"                                                                            /* 8 */

static void lanes_at_a_barrier_are_out_of_the_way(void **state) {
    (void)state;
    struct fixture *f = start(BARRIER, 4, 4);
    fixture_steps(f, 0, 4);
    fixture_expect_until(f, 0, 4, 0b0011, 6);
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 6, 0b1100, EXEC_NO_PC); /* though 4 is lower */
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 7, 0b0100, 8);
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 8, 0b1000, EXEC_NO_PC); /* lanes 0 to 2 wait */
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 5, 0b0011, 8); /* released, at the lowest of 5 and 8 */
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 8, 0b0111, EXEC_NO_PC);
    assert_int_equal(f->sm[0].counters.barriers, 2);
    fixture_run(f);
    fixture_close(f);
}

static void a_warp_waits_when_all_its_lanes_do(void **state) {
    (void)state;
    struct fixture *f = start(PROGRAM_HEAD ".visible .entry k() {\nbar.sync 0; ret; }\n", 8, 4);
    fixture_steps(f, 1, 1);
    assert_int_equal(f->sm[0].slot[1].group->status, DIVERGENCE_WAITS);
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 1, 0b1111, EXEC_NO_PC);
    fixture_expect_until(f, 1, 1, 0b1111, EXEC_NO_PC);
    fixture_run(f);
    fixture_close(f);
}

/* Half of each warp meets at a barrier for 32 threads, the other half does not take part. */
#define BEHIND                                                                                                         \
    PROGRAM_HEAD ".visible .entry k() {\n.reg .pred %p; .reg .b32 %r<4>;\n"                                            \
                 "mov.u32 %r0, %laneid; setp.ge.u32 %p, %r0, 16; @%p bra AHEAD;\n" /* 0 1 2 */                         \
                 "bar.sync 1, 32; ret;\n"                                          /* 3 4 */                           \
                 "AHEAD: add.u32 %r0, %r0, 1; add.u32 %r0, %r0, 1; ret; }\n"       /* 5 6 7 */

static void a_running_warp_turns_to_lanes_set_free_behind_it(void **state) {
    (void)state;
    struct fixture *f = start(BEHIND, 64, 32);
    fixture_steps(f, 0, 4);
    fixture_expect_until(f, 0, 5, 0xffff0000, EXEC_NO_PC); /* lanes 0 to 15 wait */
    fixture_steps(f, 0, 1);
    fixture_steps(f, 1, 4);
    fixture_expect_until(f, 0, 4, 0x0000ffff, 6);
    fixture_expect_until(f, 1, 4, 0x0000ffff, 5);
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 6, 0xffff0000, EXEC_NO_PC);
    fixture_run(f);
    fixture_close(f);
}

static void results_do_not_depend_on_order_or_shape(void **state) {
    (void)state;
    programs_check_all(divergence_find("multi-pc"), "multi-pc", true);
}

static void each_lane_has_a_pc(void **state) {
    (void)state;
    struct config_machine machine = {.sm = {.threads = 1024, .warp_size = 32}};
    char formula[200];
    uint64_t bits = divergence_find("multi-pc")->cost_bits(NULL, &machine, formula, sizeof formula);
    assert_int_equal(bits, 32 * 33 * 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_warp_follows_the_lowest_pc_and_paths_meet),
        cmocka_unit_test(threads_meet_before_the_post_dominator),
        cmocka_unit_test(lanes_at_a_barrier_are_out_of_the_way),
        cmocka_unit_test(a_warp_waits_when_all_its_lanes_do),
        cmocka_unit_test(a_running_warp_turns_to_lanes_set_free_behind_it),
        cmocka_unit_test(results_do_not_depend_on_order_or_shape),
        cmocka_unit_test(each_lane_has_a_pc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
