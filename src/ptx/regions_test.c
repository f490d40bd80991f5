/* Tests of meeting points: the places where ptxas 13.0 puts BSYNC in kernels of this kind. */
#include "ptx/analysis_fixture.h"

/* Returns the instruction at which the branch number `which`, of those with a guard, meets. */
static uint32_t meeting_of(const struct subject *subject, unsigned which) {
    for (uint32_t i = 0; i < subject->function->n_instructions; i++) {
        const struct ptx_instruction *insn = &subject->function->instruction[i];
        if (insn->opcode == PTX_OP_BRA && insn->guard != PTX_NO_INDEX && which-- == 0)
            return subject->analysis->meeting[i];
    }
    fail_msg("no such branch");
    return 0;
}

static uint32_t find(const struct subject *subject, enum ptx_opcode opcode) {
    for (uint32_t i = 0; i < subject->function->n_instructions; i++)
        if (subject->function->instruction[i].opcode == opcode)
            return i;
    fail_msg("no such instruction");
    return 0;
}

/* for (...) { if (p1) { if (p2) break; } xor; }  popc */
#define LEAVES_FROM_AN_IF                                                                                              \
    "    mov.u32 %r0, %tid.x;\n"                                                                                       \
    "    setp.eq.u32 %p1, %r0, 1;\n    setp.eq.u32 %p2, %r0, 2;\n    setp.eq.u32 %p3, %r0, 3;\n"                       \
    "LOOP:\n    @%p1 bra SKIP;\n    add.u32 %r1, %r1, 1;\n    @%p2 bra OUT;\n    mul.lo.u32 %r1, %r1, 3;\n"            \
    "SKIP:\n    xor.b32 %r1, %r1, 7;\n"

static void lanes_that_leave_a_loop_do_not_delay_the_others(void **state) {
    (void)state;
    struct subject subject = open_kernel(LEAVES_FROM_AN_IF "    @%p3 bra LOOP;\nOUT:\n    popc.b32 %r1, %r1;\n"
                                                           "    st.global.u32 [%d0], %r1;\n    ret;\n");
    uint32_t skip = find(&subject, PTX_OP_XOR), out = find(&subject, PTX_OP_POPC);
    assert_int_equal(meeting_of(&subject, 0), skip); /* its post-dominator is OUT */
    assert_int_equal(subject.analysis->reconvergence[4], out);
    assert_int_equal(meeting_of(&subject, 1), out);
    assert_int_equal(meeting_of(&subject, 2), out);
    assert_true(subject.analysis->loop[0].is_region);
    close_subject(&subject);
}

static void a_branch_to_the_next_instruction_meets_there(void **state) {
    (void)state;
    struct subject subject =
        open_kernel("    mov.u32 %r0, %tid.x;\n    setp.eq.u32 %p1, %r0, 1;\n    setp.eq.u32 %p2, %r0, 2;\n"
                    "LOOP:\n    xor.b32 %r1, %r1, 7;\n    @%p1 bra NEXT;\nNEXT:\n    popc.b32 %r1, %r1;\n"
                    "    @%p2 bra LOOP;\n    st.global.u32 [%d0], %r1;\n    ret;\n");
    assert_int_equal(meeting_of(&subject, 0), find(&subject, PTX_OP_POPC));
    close_subject(&subject);
}

static void functions_with_barriers_keep_their_reconvergence_points(void **state) {
    (void)state;
    static const char *const barrier_at[] = {
        LEAVES_FROM_AN_IF "    bar.sync 0;\n    @%p3 bra LOOP;\nOUT:\n    popc.b32 %r1, %r1;\n"
                          "    st.global.u32 [%d0], %r1;\n    ret;\n",
        LEAVES_FROM_AN_IF "    @%p3 bra LOOP;\nOUT:\n    popc.b32 %r1, %r1;\n    bar.sync 0;\n"
                          "    st.global.u32 [%d0], %r1;\n    ret;\n",
    };
    for (unsigned k = 0; k < 2; k++) {
        struct subject subject = open_kernel(barrier_at[k]);
        assert_int_equal(meeting_of(&subject, 0), find(&subject, PTX_OP_POPC));
        assert_false(subject.analysis->loop[0].is_region);
        close_subject(&subject);
    }
}

/* while (true) { do { xor; } while (p1 || p2); add; if (p3) break; mul; }  popc */
static void lanes_that_leave_an_inner_loop_wait_for_those_that_go_on(void **state) {
    (void)state;
    struct subject subject =
        open_kernel("    mov.u32 %r0, %tid.x;\n    setp.eq.u32 %p1, %r0, 1;\n    setp.eq.u32 %p2, %r0, 2;\n"
                    "    setp.eq.u32 %p3, %r0, 3;\nOUTER:\n    not.b32 %r1, %r1;\n"
                    "INNER:\n    xor.b32 %r1, %r1, 7;\n    @%p1 bra INNER;\n    shl.b32 %r1, %r1, 1;\n"
                    "    @%p2 bra INNER;\n    add.u32 %r1, %r1, 1;\n    @%p3 bra OUT;\n    mul.lo.u32 %r1, %r1, 3;\n"
                    "    bra OUTER;\nOUT:\n    popc.b32 %r1, %r1;\n    st.global.u32 [%d0], %r1;\n    ret;\n");
    uint32_t after_inner = find(&subject, PTX_OP_ADD);
    assert_int_equal(meeting_of(&subject, 0), after_inner); /* straight back, with a way out on the other side */
    assert_int_equal(meeting_of(&subject, 1), after_inner);
    assert_int_equal(meeting_of(&subject, 2), find(&subject, PTX_OP_POPC));
    close_subject(&subject);
}

/* The ways out of the inner loop meet only where the outer one begins again. */
static void the_end_of_an_iteration_is_a_meeting_point(void **state) {
    (void)state;
    struct subject subject =
        open_kernel("    mov.u32 %r0, %tid.x;\n    setp.eq.u32 %p1, %r0, 1;\n    setp.eq.u32 %p2, %r0, 2;\n"
                    "    setp.eq.u32 %p3, %r0, 3;\nOUTER:\n    not.b32 %r1, %r1;\n"
                    "INNER:\n    @%p1 bra ASIDE;\n    shl.b32 %r1, %r1, 1;\n    @%p2 bra INNER;\n    bra OUTER;\n"
                    "ASIDE:\n    add.u32 %r1, %r1, 1;\n    @%p3 bra OUT;\n    mul.lo.u32 %r1, %r1, 3;\n"
                    "    bra OUTER;\nOUT:\n    popc.b32 %r1, %r1;\n    st.global.u32 [%d0], %r1;\n    ret;\n");
    uint32_t outer = find(&subject, PTX_OP_NOT);
    assert_int_equal(meeting_of(&subject, 0), outer);
    assert_int_equal(meeting_of(&subject, 1), outer);
    close_subject(&subject);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_leave_a_loop_do_not_delay_the_others),
        cmocka_unit_test(a_branch_to_the_next_instruction_meets_there),
        cmocka_unit_test(functions_with_barriers_keep_their_reconvergence_points),
        cmocka_unit_test(lanes_that_leave_an_inner_loop_wait_for_those_that_go_on),
        cmocka_unit_test(the_end_of_an_iteration_is_a_meeting_point),
    };
    return cmocka_run_group_tests_name("ptx/regions", tests, NULL, NULL);
}
