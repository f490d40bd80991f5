/* Tests of the model `stack`: the states of the paper's example as the SM sees them, barriers, loops, calls, spinning
 * lanes. pdom_test.c tests the stack alone. Masks are written with lane 0 on the right. */
#include "divergence/testing/programs.h"

extern const struct divergence_ops divergence_stack;

static struct fixture *open_model(const char *text, const struct fixture_shape *shape) {
    struct fixture *f = fixture_open(&divergence_stack, "stack", text, shape);
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    fixture_start(f);
    return f;
}

static void expect(const struct fixture *f, uint32_t pc, uint32_t mask, uint32_t notify_pc) {
    fixture_expect_until(f, 0, pc, mask, notify_pc);
    assert_non_null(f->sm[0].slot[0].group->row);
}

/* Narasiman 2011, figure 3: A 1111, then B 1011 and C 0100, which meet at D. The entries below the running one are not
 * to be seen from here; that they come back in this order is. C is where the branch jumps to. */
#define FIGURE_3                                                                                                       \
    PROGRAM_HEAD PROGRAM_BEGIN "setp.eq.u32 %p1, %r0, 2; @%p1 bra C;\n"                                                \
                               "B: xor.b32 %r4, %r0, 1; bra D; C: not.b32 %r4, %r0; D: add.u32 %r4, %r4, "             \
                               "1;\n" PROGRAM_END

static void the_papers_example_goes_through_the_papers_states(void **state) {
    (void)state;
    struct fixture *f = open_model(FIGURE_3, &(struct fixture_shape){.block = 4, .warp_size = 4});
    uint32_t branch = fixture_pc_of(f, PTX_OP_BRA, 0), b = fixture_pc_of(f, PTX_OP_XOR, 0),
             c = fixture_pc_of(f, PTX_OP_NOT, 0), d = c + 1;
    expect(f, 0, 0xf, EXEC_NO_PC); /* (b) */
    fixture_step_to(f, 0, branch);
    expect(f, branch, 0xf, EXEC_NO_PC);
    fixture_step(&f->sm[0], 0);
    bool is_b_first = f->sm[0].slot[0].group->pc == b;
    expect(f, is_b_first ? b : c, is_b_first ? 0xb : 0x4, d); /* (c) */
    fixture_step_to(f, 0, is_b_first ? c : b);
    expect(f, is_b_first ? c : b, is_b_first ? 0x4 : 0xb, d); /* (d) */
    assert_int_equal(FIXTURE_COUNTER(f, reconvergences), 1);
    fixture_step_to(f, 0, d);
    expect(f, d, 0xf, EXEC_NO_PC);                     /* (e) */
    assert_int_equal(FIXTURE_COUNTER(f, branches), 2); /* that of A, and B's jump to D */
    assert_int_equal(FIXTURE_COUNTER(f, divergent_branches), 1);
    assert_int_equal(FIXTURE_COUNTER(f, reconvergences), 2);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 0);
    fixture_run(f);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], (i == 2 ? ~i : i ^ 1) + 1);
    fixture_close(f);
}

static void warps_of_a_block_wait_for_each_other_at_a_barrier(void **state) {
    (void)state;
    struct fixture *f = open_model(PROGRAM_HEAD PROGRAM_BEGIN "bar.sync 0; mov.u32 %r4, %r0;\n" PROGRAM_END,
                                   &(struct fixture_shape){.block = 8, .warp_size = 4});
    const struct fixture_slot *slot = f->sm[0].slot;
    uint32_t barrier = fixture_pc_of(f, PTX_OP_BAR, 0);
    fixture_step_to(f, 0, barrier);
    fixture_step(&f->sm[0], 0);
    assert_int_equal(slot[0].group->status, DIVERGENCE_WAITS);
    assert_int_equal(slot[1].group->status, DIVERGENCE_RUNS);
    fixture_step_to(f, 1, barrier);
    fixture_step(&f->sm[0], 1);
    assert_int_equal(slot[0].group->status, DIVERGENCE_RUNS);
    assert_int_equal(slot[1].group->status, DIVERGENCE_RUNS);
    assert_int_equal(slot[0].group->pc, barrier + 1);
    assert_int_equal(slot[1].group->pc, barrier + 1);
    assert_int_equal(FIXTURE_COUNTER(f, barriers), 2);
    fixture_run(f);
    fixture_close(f);
}

static void the_end_of_a_warp_completes_a_barrier(void **state) {
    (void)state;
    struct fixture *f = open_model(PROGRAM_HEAD PROGRAM_BEGIN
                                   "setp.ge.u32 %p1, %r0, 4; @%p1 exit; bar.sync 0; mov.u32 %r4, 7;\n" PROGRAM_END,
                                   &(struct fixture_shape){.block = 8, .warp_size = 4});
    fixture_step_to(f, 0, fixture_pc_of(f, PTX_OP_BAR, 0));
    fixture_step(&f->sm[0], 0);
    assert_int_equal(f->sm[0].slot[0].group->status, DIVERGENCE_WAITS);
    fixture_step_to(f, 1, fixture_pc_of(f, PTX_OP_EXIT, 0));
    fixture_step(&f->sm[0], 1);
    assert_null(f->sm[0].slot[1].group);
    assert_int_equal(f->sm[0].slot[0].group->status, DIVERGENCE_RUNS);
    fixture_run(f);
    fixture_close(f);
}

/* Odd lanes go through the if of a loop of two trips; lane 3 ends there in the first, lane 1 in the second. The others
 * meet at the if's end in every trip. Written as a guarded exit, and as a jump to the kernel's return. */
#define ENDS_IN_A_LOOP(ending)                                                                                         \
    PROGRAM_HEAD PROGRAM_BEGIN                                                                                         \
        "mov.u32 %r4, 0; mov.u32 %r7, 0; and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 0; shr.u32 %r5, %r0, 1;\n"         \
        "LOOP: add.u32 %r7, %r7, 1; @%p1 bra SKIP;\n"                                                                  \
        "sub.u32 %r6, 2, %r7; setp.eq.u32 %p2, %r5, %r6; " ending " mul.lo.u32 %r4, %r4, 3;\n"                         \
        "SKIP: xor.b32 %r4, %r4, 1; setp.lt.u32 %p3, %r7, 2; @%p3 bra LOOP;\n"                                         \
        "st.global.u32 [%rd1], %r4; END: ret; }\n"

static void lanes_meet_behind_an_if_in_a_loop_where_others_end(void **state) {
    (void)state;
    static const char *const text[] = {ENDS_IN_A_LOOP("@%p2 exit;"), ENDS_IN_A_LOOP("@%p2 bra END;")};
    for (unsigned jumps = 0; jumps < 2; jumps++) {
        struct fixture *f = open_model(text[jumps], &(struct fixture_shape){.block = 4, .warp_size = 4});
        uint32_t end = fixture_pc_of(f, jumps ? PTX_OP_BRA : PTX_OP_EXIT, jumps),
                 skip = fixture_pc_of(f, PTX_OP_XOR, 0);
        uint32_t last = fixture_pc_of(f, PTX_OP_RET, 0);
        fixture_step_to(f, 0, end);
        expect(f, end, 0xa, skip); /* the first trip: lanes 1 and 3 are in the if, 0 and 2 wait at its end */
        fixture_step(&f->sm[0], 0);
        if (jumps) {
            expect(f, last, 0x8, end + 1); /* lane 3 ends while lane 1 waits */
            fixture_step(&f->sm[0], 0);
        }
        expect(f, end + 1, 0x2, skip);
        fixture_step_to(f, 0, skip);
        expect(f, skip, 0x7, EXEC_NO_PC);
        fixture_step_to(f, 0, end);
        expect(f, end, 0x2, skip); /* the second trip: lane 1 ends, and no lane is left in the if */
        fixture_step(&f->sm[0], 0);
        if (jumps) {
            expect(f, last, 0x2, skip);
            fixture_step(&f->sm[0], 0);
        }
        expect(f, skip, 0x5, EXEC_NO_PC);
        fixture_step_to(f, 0, last);
        expect(f, last, 0x5, EXEC_NO_PC);
        fixture_run(f);
        fixture_close(f);
    }
}

/* Lane 0 spins until another lane of its warp has written: without help the others wait at the join forever. */
static void a_lane_that_spins_on_its_neighbour_lets_it_go_on(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD PROGRAM_BEGIN "ld.param.u64 %rd3, [out]; mov.u32 %r4, 5; setp.eq.u32 %p1, %r0, 0;\n"
                                   "@%p1 bra SPIN; st.volatile.global.u32 [%rd1], %r4; bra JOIN;\n"
                                   "SPIN: ld.volatile.global.u32 %r6, [%rd3+4]; setp.eq.u32 %p2, %r6, 0; @%p2 bra "
                                   "SPIN;\n"
                                   "JOIN: add.u32 %r4, %r4, 1;\n" PROGRAM_END;
    struct fixture *f = open_model(text, &(struct fixture_shape){.block = 2, .warp_size = 4});
    fixture_run(f);
    assert_int_equal(fixture_u32(f, f->parameter[0])[0], 6);
    assert_int_equal(fixture_u32(f, f->parameter[0])[1], 6);
    fixture_close(f);
}

static void a_fault_of_a_control_instruction_stays_in_the_context(void **state) {
    (void)state;
    struct fixture *f = fixture_open(&divergence_stack, "stack", PROGRAM_HEAD PROGRAM_BEGIN "trap;\n" PROGRAM_END,
                                     &(struct fixture_shape){.block = 4, .warp_size = 4});
    f->expects_fault = true;
    fixture_start(f);
    fixture_run(f);
    assert_int_equal(f->sm[0].cx.fault.kind, EXEC_FAULT_TRAP);
    fixture_close(f);
}

static void every_program_computes_the_same(void **state) {
    (void)state;
    programs_check_all(&divergence_stack, "stack", true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_example_goes_through_the_papers_states),
        cmocka_unit_test(warps_of_a_block_wait_for_each_other_at_a_barrier),
        cmocka_unit_test(the_end_of_a_warp_completes_a_barrier),
        cmocka_unit_test(lanes_meet_behind_an_if_in_a_loop_where_others_end),
        cmocka_unit_test(a_lane_that_spins_on_its_neighbour_lets_it_go_on),
        cmocka_unit_test(a_fault_of_a_control_instruction_stays_in_the_context),
        cmocka_unit_test(every_program_computes_the_same),
    };
    return cmocka_run_group_tests_name("divergence/stack", tests, NULL, NULL);
}
