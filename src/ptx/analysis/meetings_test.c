/* Tests of meeting points: the places where ptxas 13.0 puts BSYNC in kernels of this kind, and loops with YIELD. */
#include "ptx/analysis/fixture.h"

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

#define CONDITIONS                                                                                                     \
    "    mov.u32 %r0, %tid.x;\n    setp.eq.u32 %p1, %r0, 1;\n    setp.eq.u32 %p2, %r0, 2;\n"                           \
    "    setp.eq.u32 %p3, %r0, 3;\n"
#define RESULT "    popc.b32 %r1, %r1;\n    st.global.u32 [%d0], %r1;\n    ret;\n"

/* for (...) { if (!p1) { add; if (p2) break; mul; } xor; if (!p3) break; }  popc */
static void lanes_that_leave_a_loop_do_not_delay_the_others(void **state) {
    (void)state;
    struct subject subject =
        open_kernel(CONDITIONS "LOOP:\n    @%p1 bra SKIP;\n    add.u32 %r1, %r1, 1;\n    @%p2 bra OUT;\n"
                               "    mul.lo.u32 %r1, %r1, 3;\nSKIP:\n    xor.b32 %r1, %r1, 7;\n    @%p3 bra LOOP;\n"
                               "OUT:\n" RESULT);
    uint32_t skip = find(&subject, PTX_OP_XOR), out = find(&subject, PTX_OP_POPC);
    assert_int_equal(meeting_of(&subject, 0), skip);
    assert_int_equal(subject.analysis->reconvergence[4], out); /* its post-dominator is later */
    assert_int_equal(subject.analysis->loop[0].meeting, out);
    close_subject(&subject);
}

/* while (true) { if (p1) { if (p2) add; else mul; } else { if (p3) break; } }  popc */
static void a_branch_meets_at_the_latest_where_the_next_iteration_begins(void **state) {
    (void)state;
    struct subject subject =
        open_kernel(CONDITIONS "LOOP:\n    xor.b32 %r1, %r1, 7;\n    @%p1 bra IN;\n    @%p3 bra OUT;\n    bra LOOP;\n"
                               "IN:\n    @%p2 bra ADD;\n    mul.lo.u32 %r1, %r1, 3;\n    bra LOOP;\n"
                               "ADD:\n    add.u32 %r1, %r1, 1;\n    bra LOOP;\nOUT:\n" RESULT);
    uint32_t header = find(&subject, PTX_OP_XOR);
    assert_int_equal(meeting_of(&subject, 0), header);
    assert_int_equal(meeting_of(&subject, 2), header);
    assert_int_equal(subject.analysis->loop[0].meeting, find(&subject, PTX_OP_POPC));
    close_subject(&subject);
}

/* while (true) { do { xor; } while (p1 || p2); add; if (p3) break; mul; }  popc */
static void lanes_that_leave_an_inner_loop_wait_for_those_that_go_on(void **state) {
    (void)state;
    struct subject subject =
        open_kernel(CONDITIONS "OUTER:\n    not.b32 %r1, %r1;\nINNER:\n    xor.b32 %r1, %r1, 7;\n    @%p1 bra INNER;\n"
                               "    shl.b32 %r1, %r1, 1;\n    @%p2 bra INNER;\n    add.u32 %r1, %r1, 1;\n"
                               "    @%p3 bra OUT;\n    mul.lo.u32 %r1, %r1, 3;\n    bra OUTER;\nOUT:\n" RESULT);
    assert_int_equal(meeting_of(&subject, 0), find(&subject, PTX_OP_XOR)); /* the inner loop's next iteration */
    assert_int_equal(subject.analysis->n_loops, 2);
    assert_int_equal(subject.analysis->loop[1].meeting, find(&subject, PTX_OP_ADD));
    assert_int_equal(subject.analysis->loop[0].meeting, find(&subject, PTX_OP_POPC));
    close_subject(&subject);
}

/* The ways out of the inner loop meet only where the outer one begins again. */
static void the_end_of_an_outer_iteration_is_a_meeting_point(void **state) {
    (void)state;
    struct subject subject =
        open_kernel(CONDITIONS "OUTER:\n    not.b32 %r1, %r1;\nINNER:\n    @%p1 bra ASIDE;\n    shl.b32 %r1, %r1, 1;\n"
                               "    @%p2 bra INNER;\n    bra OUTER;\nASIDE:\n    add.u32 %r1, %r1, 1;\n"
                               "    @%p3 bra OUT;\n    mul.lo.u32 %r1, %r1, 3;\n    bra OUTER;\nOUT:\n" RESULT);
    assert_int_equal(subject.analysis->loop[1].meeting, find(&subject, PTX_OP_NOT));
    close_subject(&subject);
}

static void outside_loops_meeting_points_are_the_reconvergence_points(void **state) {
    (void)state;
    struct subject subject = open_kernel(CONDITIONS "    @%p1 bra SKIP;\n    @%p2 bra END;\n    add.u32 %r1, %r1, 1;\n"
                                                    "SKIP:\n    xor.b32 %r1, %r1, 7;\n" RESULT "END:\n    ret;\n");
    for (uint32_t i = 0; i < subject.function->n_instructions; i++)
        assert_int_equal(subject.analysis->meeting[i], subject.analysis->reconvergence[i]);
    close_subject(&subject);
}

static bool first_loop_awaits(const char *body) {
    struct subject subject = open_kernel(body);
    assert_int_equal(subject.analysis->n_loops, 1);
    bool awaits = subject.analysis->loop[0].awaits;
    close_subject(&subject);
    return awaits;
}

static void a_loop_awaits_others_if_what_they_write_decides_whether_it_goes_on(void **state) {
    (void)state;
    assert_true(first_loop_awaits("L:\n atom.global.cas.b32 %r1, [%d0], 0, 1;\n setp.ne.u32 %p1, %r1, 0;\n"
                                  " @%p1 bra L;\n ret;\n"));
    assert_true(first_loop_awaits("L:\n ld.volatile.global.u32 %r1, [%d0];\n add.u32 %r2, %r1, 1;\n"
                                  " setp.ne.u32 %p1, %r2, 0;\n @%p1 bra L;\n ret;\n"));
    assert_true(first_loop_awaits("L:\n ld.acquire.gpu.global.u32 %r1, [%d0];\n setp.ne.u32 %p1, %r1, 0;\n"
                                  " @%p1 bra L;\n ret;\n"));
}

static void a_loop_that_only_counts_awaits_no_one(void **state) {
    (void)state;
    assert_false(first_loop_awaits("L:\n atom.global.add.u32 %r1, [%d0], 1;\n add.u32 %r2, %r2, 1;\n"
                                   " setp.ne.u32 %p1, %r2, 9;\n @%p1 bra L;\n st.global.u32 [%d0], %r1;\n ret;\n"));
    assert_false(first_loop_awaits("L:\n ld.global.u32 %r1, [%d0];\n setp.ne.u32 %p1, %r1, 0;\n @%p1 bra L;\n ret;\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_leave_a_loop_do_not_delay_the_others),
        cmocka_unit_test(a_branch_meets_at_the_latest_where_the_next_iteration_begins),
        cmocka_unit_test(lanes_that_leave_an_inner_loop_wait_for_those_that_go_on),
        cmocka_unit_test(the_end_of_an_outer_iteration_is_a_meeting_point),
        cmocka_unit_test(outside_loops_meeting_points_are_the_reconvergence_points),
        cmocka_unit_test(a_loop_awaits_others_if_what_they_write_decides_whether_it_goes_on),
        cmocka_unit_test(a_loop_that_only_counts_awaits_no_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
