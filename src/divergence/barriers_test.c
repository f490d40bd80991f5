/* Tests of convergence barriers: which lanes run where, step by step, derived on paper from the rules in
 * docs/models/barriers.md. Lane 0 is the rightmost bit of a mask. */
#include "divergence/testing/programs.h"

static struct fixture *start(const char *text, uint32_t block, uint32_t warp_size) {
    return fixture_begin("barriers", text, &(struct fixture_shape){.block = block, .warp_size = warp_size});
}

/* --- BSSY and BSYNC --- */

/* A for 1111, C for 0010, B for 1101, D where they meet. */
#define BRANCH                                                                                                         \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 1; @%p1 bra C;\n" /* 0 1 2: A */                        \
                   "add.u32 %r1, %r0, 1; bra D;\n"                               /* 3 4: B */                          \
                   "C: add.u32 %r1, %r0, 2;\n"                                   /* 5 */                               \
                   "D: add.u32 %r2, %r1, 3; ret; }\n"                            /* 6 7 */

static void the_path_that_jumps_runs_first_and_both_meet(void **state) {
    (void)state;
    struct fixture *f = start(BRANCH, 4, 4);
    fixture_expect_until(f, 0, 0, 0b1111, EXEC_NO_PC);
    fixture_steps(f, 0, 3);
    fixture_expect_until(f, 0, 5, 0b0010, 6);
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 3, 0b1101, 6);
    fixture_steps(f, 0, 2);
    fixture_expect_until(f, 0, 6, 0b1111, EXEC_NO_PC);
    assert_int_equal(f->sm[0].counters.divergent_branches, 1);
    assert_int_equal(f->sm[0].counters.reconvergences, 1);
    fixture_finish(f);
}

/* Lane 3 ends on its side of the branch. The others do not wait for it. */
#define ENDS                                                                                                           \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 2; setp.eq.u32 %p2, %r0, 3; @%p1 bra D;\n" /* 0-3 */    \
                   "@%p2 exit; add.u32 %r1, %r0, 1;\n"                                                    /* 4 5 */    \
                   "D: add.u32 %r2, %r1, 3; ret; }\n"                                                     /* 6 7 */

static void a_lane_that_ends_leaves_its_barriers(void **state) {
    (void)state;
    struct fixture *f = start(ENDS, 4, 4);
    fixture_steps(f, 0, 4);
    fixture_expect_until(f, 0, 4, 0b1100, 6); /* lanes 0 and 1 have arrived */
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 5, 0b0100, 6);
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 6, 0b0111, EXEC_NO_PC);
    fixture_finish(f);
}

/* --- loops and BREAK --- */

/* for (i = lane; ; i--) { if (i != 1) { if (i == 0) break; work } after }  Lane i leaves in iteration i, counted from
 * 0. */
#define LEAVES                                                                                                         \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x;\n"                                        /* 0 */                             \
                   "LOOP: setp.eq.u32 %p1, %r0, 1; @%p1 bra AFTER;\n"              /* 1 2 */                           \
                   "setp.eq.u32 %p2, %r0, 0; @%p2 bra OUT; add.u32 %r1, %r1, 1;\n" /* 3 4 5 */                         \
                   "AFTER: sub.u32 %r0, %r0, 1; bra LOOP;\n"                       /* 6 7 */                           \
                   "OUT: add.u32 %r2, %r1, 3; ret; }\n"                            /* 8 9 */

static void a_branch_in_a_loop_meets_within_the_iteration(void **state) {
    (void)state;
    struct fixture *f = start(LEAVES, 4, 4);
    fixture_steps(f, 0, 3);
    fixture_expect_until(f, 0, 3, 0b1101, 6); /* lane 1 has arrived at AFTER */
    fixture_steps(f, 0, 2);
    fixture_expect_until(f, 0, 5, 0b1100, 6); /* lane 0 has left the loop: BREAK. It waits at OUT. */
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 6, 0b1110, 8); /* AFTER, without lane 0 */
    fixture_steps(f, 0, 2);
    fixture_expect_until(f, 0, 1, 0b1110, 8);
    fixture_finish(f);
}

static void lanes_that_leave_a_loop_wait_after_it(void **state) {
    (void)state;
    struct fixture *f = start(LEAVES, 4, 4);
    for (uint32_t n = 0; f->sm[0].slot[0].group->pc != 8; n++) {
        assert_true(n < 100);
        fixture_steps(f, 0, 1);
    }
    fixture_expect_until(f, 0, 8, 0b1111, EXEC_NO_PC);
    fixture_finish(f);
}

/* Lanes 2 and 3 leave two loops at once. They wait where lanes wait that leave the outer loop. */
#define TWO_LOOPS                                                                                                      \
    PROGRAM_KERNEL                                                                                                     \
    "mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 2; mov.u32 %r1, 0;\n"                      /* 0 1 2 */                 \
    "OUTER: add.u32 %r2, %r0, 0;\n"                                                        /* 3 */                     \
    "INNER: @%p1 bra OUT; sub.u32 %r2, %r2, 1; setp.gt.s32 %p2, %r2, 0; @%p2 bra INNER;\n" /* 4 5 6 7 */               \
    "add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 2; @%p3 bra OUTER;\n"                      /* 8 9 10 */                \
    "OUT: add.u32 %r2, %r1, 3; ret; }\n"                                                   /* 11 12 */

static void lanes_may_leave_several_loops_at_once(void **state) {
    (void)state;
    struct fixture *f = start(TWO_LOOPS, 4, 4);
    fixture_steps(f, 0, 5);
    fixture_expect_until(f, 0, 5, 0b0011, 11); /* lanes 2 and 3 have arrived at 11; no lane waits at 8 yet */
    fixture_steps(f, 0, 3);
    fixture_expect_until(f, 0, 8, 0b0011, 11);
    fixture_steps(f, 0, 3);
    fixture_expect_until(f, 0, 3, 0b0011, 11); /* the outer loop's next iteration */
    fixture_steps(f, 0, 5);
    fixture_expect_until(f, 0, 8, 0b0011, 11);
    fixture_steps(f, 0, 3);
    fixture_expect_until(f, 0, 11, 0b1111, EXEC_NO_PC);
    fixture_finish(f);
}

/* --- calls --- */

/* Lane 0 returns early. The callers meet after the call. */
#define CALL                                                                                                           \
    PROGRAM_HEAD ".func g(.param .b32 n) {\n.reg .b32 %a<2>; .reg .pred %q;\n"                                         \
                 "ld.param.b32 %a0, [n]; setp.eq.u32 %q, %a0, 0; @%q ret; add.u32 %a0, %a0, 1; ret; }\n"               \
                 ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<4>;\n"                                            \
                 "mov.u32 %r0, %tid.x; { .param .b32 i; st.param.b32 [i], %r0; call g, (i); }\n"                       \
                 "add.u32 %r1, %r0, 1; ret; }\n"

static void callers_meet_after_their_call(void **state) {
    (void)state;
    struct fixture *f = start(CALL, 4, 4);
    uint32_t called = 0;
    while (f->sm[0].slot[0].group->pc < f->program->function[0].n_insns && called < 100) {
        fixture_steps(f, 0, 1);
        called++;
    }
    fixture_expect_until(f, 0, f->program->function[1].first_pc, 0b1111, EXEC_NO_PC);
    fixture_steps(f, 0, 3);
    fixture_expect_until(f, 0, f->program->function[1].first_pc + 3, 0b1110, EXEC_NO_PC);
    fixture_steps(f, 0, 2);
    assert_int_equal(f->sm[0].slot[0].group->mask, 0b1111);
    assert_int_equal(f->program->function_of[f->sm[0].slot[0].group->pc], 0);
    fixture_finish(f);
}

/* --- lanes that wait for others --- */

/* Lanes 0 and 1 reach a barrier of the block inside the if, lanes 2 and 3 after it. */
#define BARRIER_INSIDE                                                                                                 \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 2; @%p1 bra D;\n" /* 0 1 2 */                           \
                   "bar.sync 0; add.u32 %r1, %r1, 1; bra E;\n"                   /* 3 4 5 */                           \
                   "D: add.u32 %r2, %r1, 3;\n"                                   /* 6 */                               \
                   "E: @%p1 bra F; add.u32 %r2, %r1, 3; ret;\n"                  /* 7 8 9 */                           \
                   "F: bar.sync 0; ret; }\n"                                     /* 10 11 */

static void lanes_do_not_wait_for_those_blocked_at_a_barrier_of_the_block(void **state) {
    (void)state;
    struct fixture *f = start(BARRIER_INSIDE, 4, 4);
    fixture_steps(f, 0, 3);
    fixture_expect_until(f, 0, 6, 0b1100, 7);
    fixture_steps(f, 0, 1); /* they wait at E */
    fixture_expect_until(f, 0, 3, 0b0011, 7);
    fixture_steps(f, 0, 1); /* lanes 0 and 1 wait for the others, which wait for them: the others continue */
    fixture_expect_until(f, 0, 7, 0b1100, EXEC_NO_PC);
    fixture_steps(f, 0, 2);
    assert_int_equal(f->sm[0].slot[0].group->status, DIVERGENCE_RUNS);
    fixture_finish(f);
}

/* Half of the lanes name all lanes inside the if, the other half after it. */
#define NAMES_ALL                                                                                                      \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 16; @%p1 bra D;\n"                                      \
                   "bar.warp.sync 0xffffffff; add.u32 %r1, %r1, 1; bra OUT;\n"                                         \
                   "D: add.u32 %r2, %r1, 3;\n"                                                                         \
                   "OUT: @!%p1 bra END; bar.warp.sync 0xffffffff;\n"                                                   \
                   "END: ret; }\n"

static void lanes_do_not_wait_for_those_that_wait_for_them_by_name(void **state) {
    (void)state;
    /* The two instructions are different, so neither half ever reaches the other's: a mistake of the program. Both
     * halves wait, and neither at a convergence barrier. */
    struct fixture *f = start(NAMES_ALL, 32, 32);
    for (uint32_t n = 0; n < 100 && f->sm[0].slot[0].group->status == DIVERGENCE_RUNS; n++)
        fixture_steps(f, 0, 1);
    assert_int_equal(f->sm[0].slot[0].group->status, DIVERGENCE_WAITS);
    f->checks_nothing = true;
    fixture_close(f);
}

/* --- YIELD --- */

/* A lock: lane after lane takes it, adds 1 to a counter without an atomic, and gives it back. The lane that has the
 * lock waits after the loop for the lanes that spin, which wait for it to give the lock back. */
#define LOCK                                                                                                           \
    PROGRAM_KERNEL "ld.param.u64 %d1, [out];\n"                                                                        \
                   "SPIN: atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;\n"             \
                   "ld.volatile.global.u32 %r2, [%d1+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%d1+4], %r2;\n"  \
                   "atom.global.exch.b32 %r3, [%d1], 0; ret; }\n"

static void the_holder_of_a_lock_continues_when_the_others_yield(void **state) {
    (void)state;
    struct fixture *f =
        fixture_open(divergence_find("barriers"), "barriers", LOCK, &(struct fixture_shape){.block = 96});
    uint64_t out = fixture_alloc(f, 64);
    fixture_parameter(f, 0, out);
    fixture_start(f);
    fixture_steps(f, 0, 4);
    fixture_expect_until(f, 0, 4, 0x00000001,
                         EXEC_NO_PC); /* lane 0 has left the loop and continues after the first YIELD */
    fixture_run(f);
    assert_int_equal(fixture_u32(f, out)[1], 96);
    assert_true(f->cycle < 96 * 200); /* stack breaks its join only after thousands of instructions */
    fixture_close(f);
}

/* The same with a plain load in the loop: no YIELD there, but the warp notices that it spins. */
#define PLAIN_FLAG                                                                                                     \
    PROGRAM_KERNEL "ld.param.u64 %d1, [out]; mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0; mov.u32 %r3, 1;\n"          \
                   "SPIN: @%p1 bra SET; ld.global.u32 %r1, [%d1]; setp.eq.u32 %p2, %r1, 0; @%p2 bra SPIN; bra OUT;\n"  \
                   "SET: st.global.u32 [%d1], %r3;\n"                                                                  \
                   "OUT: ret; }\n"

static void a_loop_without_yield_that_spins_yields_in_the_end(void **state) {
    (void)state;
    struct fixture *f = start(PLAIN_FLAG, 32, 32);
    fixture_finish(f);
}

/* --- accesses of a whole row --- */

/* The lock has parted the lanes for good. An access of the whole row brings them together again. */
#define LOCK_THEN_MATRIX                                                                                               \
    ".version 7.0\n.target sm_75\n.address_size 64\n.shared .align 16 .b8 area[512];\n"                                \
    ".visible .entry k(.param .u64 out) {\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<4>;\n"                      \
    "ld.param.u64 %d1, [out];\n"                                                                                       \
    "SPIN: atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;\n"                            \
    "atom.global.exch.b32 %r3, [%d1], 0; mov.u32 %r4, area;\n"                                                         \
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4];\n"                                                         \
    "atom.global.add.u32 %r6, [%d1+4], 1; ret; }\n"

static uint32_t matrix_lanes;

static void watch_matrix(void *user, const struct divergence_group *group, const struct divergence_bundle *bundle) {
    const struct fixture *f = user;
    (void)group;
    if (f->program->code[bundle->pc].opcode == PTX_OP_LDMATRIX)
        matrix_lanes = bundle->mask;
}

static void an_access_of_a_row_gathers_its_lanes(void **state) {
    (void)state;
    struct fixture *f =
        fixture_open(divergence_find("barriers"), "barriers", LOCK_THEN_MATRIX, &(struct fixture_shape){.block = 32});
    uint64_t out = fixture_alloc(f, 64);
    fixture_parameter(f, 0, out);
    f->watch = watch_matrix;
    f->user = f;
    fixture_start(f);
    fixture_run(f);
    assert_int_equal(matrix_lanes, UINT32_MAX);
    assert_int_equal(fixture_u32(f, out)[1], 32);
    fixture_close(f);
}

/* --- everything --- */

static void results_do_not_depend_on_order_or_shape(void **state) {
    (void)state;
    programs_check_all(divergence_find("barriers"), "barriers", true);
}

static void a_thread_has_a_pc_and_a_bit_in_16_registers(void **state) {
    (void)state;
    struct config_machine machine = {.sm = {.threads = 1024, .warp_size = 32}};
    char formula[200];
    uint64_t bits = divergence_find("barriers")->cost_bits(NULL, &machine, formula, sizeof formula);
    assert_int_equal(bits, 1024 * (32 + 16));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_that_jumps_runs_first_and_both_meet),
        cmocka_unit_test(a_lane_that_ends_leaves_its_barriers),
        cmocka_unit_test(a_branch_in_a_loop_meets_within_the_iteration),
        cmocka_unit_test(lanes_that_leave_a_loop_wait_after_it),
        cmocka_unit_test(lanes_may_leave_several_loops_at_once),
        cmocka_unit_test(callers_meet_after_their_call),
        cmocka_unit_test(lanes_do_not_wait_for_those_blocked_at_a_barrier_of_the_block),
        cmocka_unit_test(lanes_do_not_wait_for_those_that_wait_for_them_by_name),
        cmocka_unit_test(the_holder_of_a_lock_continues_when_the_others_yield),
        cmocka_unit_test(a_loop_without_yield_that_spins_yields_in_the_end),
        cmocka_unit_test(an_access_of_a_row_gathers_its_lanes),
        cmocka_unit_test(results_do_not_depend_on_order_or_shape),
        cmocka_unit_test(a_thread_has_a_pc_and_a_bit_in_16_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
