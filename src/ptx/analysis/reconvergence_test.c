/* Tests of reconvergence points when some paths end the thread. Instructions are counted from 0. */
#include "ptx/analysis/fixture.h"

/* The kernel of `if (a) { if (b) { store; end } add } store`: the end can be written in any of these ways. */
static void lanes_reconverge_after_an_if_in_which_others_end(void **state) {
    (void)state;
    static const struct {
        const char *ending;
        uint32_t inner, outer; /* reconvergence points of the branch around the end, if there is one, and of the if */
    } cases[] = {
        {"    @%p1 exit;\n", PTX_NO_INDEX, 4},
        {"    @%p1 ret;\n", PTX_NO_INDEX, 4},
        {"    @!%p1 bra ON;\n    st.global.u32 [%d0], %r1;\n    exit;\nON:\n", 5, 6},
        {"    @%p1 bra END;\n", 3, 4},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char body[500];
        snprintf(body, sizeof body,
                 "    mov.u32 %%r0, %%tid.x;\n"
                 "    @%%p0 bra JOIN;\n"
                 "%s"
                 "    add.u32 %%r1, %%r1, 1;\n"
                 "JOIN:\n"
                 "    st.global.u32 [%%d0], %%r1;\n"
                 "END:\n"
                 "    ret;\n",
                 cases[c].ending);
        struct subject subject = open_kernel(body);
        assert_int_equal(subject.analysis->reconvergence[1], cases[c].outer);
        assert_int_equal(subject.analysis->reconvergence[2], cases[c].inner);
        close_subject(&subject);
    }
}

/* Threads that have nothing to do jump to the return and wait there: it is the only reconvergence point. */
static void a_bounds_check_reconverges_at_the_return(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r0, %tid.x;\n"
                                         "    @%p0 bra END;\n"
                                         "    @%p1 bra JOIN;\n"
                                         "    mov.u32 %r0, 1;\n"
                                         "JOIN:\n"
                                         "    st.global.u32 [%d0], %r0;\n"
                                         "END:\n"
                                         "    ret;\n");
    assert_int_equal(subject.analysis->reconvergence[1], 5);
    assert_int_equal(subject.analysis->reconvergence[2], 4);
    close_subject(&subject);
}

/* Before a barrier they must not wait there, since the threads at the barrier wait for them, unless all go there. The
 * same holds for warp-wide instructions, at which lanes that run apart wait. */
static void a_bounds_check_before_a_barrier_ends_threads_at_once(void **state) {
    (void)state;
    static const struct {
        const char *source, *barrier;
        uint32_t reconvergence;
    } cases[] = {{"%tid.x", "bar.sync 0", 3},
                 {"%ctaid.x", "bar.sync 0", 5},
                 {"%tid.x", "bar.warp.sync -1", 3},
                 {"%tid.x", "shfl.sync.idx.b32 %r1, %r0, 0, 31, -1", 3},
                 {"%tid.x", "add.u32 %r1, %r0, 1", 5}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char body[300];
        snprintf(body, sizeof body,
                 "    mov.u32 %%r0, %s;\n"
                 "    setp.gt.u32 %%p0, %%r0, 20;\n"
                 "    @%%p0 bra END;\n"
                 "    %s;\n"
                 "    st.global.u32 [%%d0], %%r0;\n"
                 "END:\n"
                 "    ret;\n",
                 cases[c].source, cases[c].barrier);
        struct subject subject = open_kernel(body);
        assert_int_equal(subject.analysis->reconvergence[2], cases[c].reconvergence);
        close_subject(&subject);
    }
}

static void a_loop_with_an_end_inside_reconverges_at_its_regular_exit(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r0, 0;\n"
                                         "AGAIN:\n"
                                         "    @%p0 bra SKIP;\n"
                                         "    @%p1 exit;\n"
                                         "    add.u32 %r0, %r0, 1;\n"
                                         "SKIP:\n"
                                         "    @%p2 bra AGAIN;\n"
                                         "END:\n"
                                         "    ret;\n");
    assert_int_equal(subject.analysis->reconvergence[1], 4);
    assert_int_equal(subject.analysis->reconvergence[4], 5); /* lanes that leave the loop wait at its end */
    close_subject(&subject);
}

/* No iteration needs to pass the only exit, so it is kept: lanes wait for each other before it. */
static void a_loop_keeps_its_only_exit(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r0, 0;\n"
                                         "AGAIN:\n"
                                         "    @%p0 bra NEXT;\n"
                                         "    @%p1 bra DONE;\n"
                                         "NEXT:\n"
                                         "    add.u32 %r0, %r0, 1;\n"
                                         "    bra AGAIN;\n"
                                         "DONE:\n"
                                         "    st.global.u32 [%d0], %r0;\n"
                                         "    ret;\n");
    assert_int_equal(subject.analysis->reconvergence[1], 2);
    assert_int_equal(subject.analysis->reconvergence[2], 5);
    close_subject(&subject);
}

static void a_loop_left_only_by_ends_reconverges_inside(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r0, 0;\n"
                                         "AGAIN:\n"
                                         "    @%p0 bra SKIP;\n"
                                         "    @%p1 exit;\n"
                                         "    add.u32 %r0, %r0, 1;\n"
                                         "SKIP:\n"
                                         "    add.u32 %r0, %r0, 1;\n"
                                         "    @%p2 exit;\n"
                                         "    bra AGAIN;\n");
    assert_int_equal(subject.analysis->reconvergence[1], 4);
    close_subject(&subject);
}

/* Lanes must not wait at the return while others wait for them at the barrier, unless all go there together. */
static void threads_that_leave_a_loop_with_a_barrier_end_at_once(void **state) {
    (void)state;
    static const struct {
        const char *trips;
        uint32_t reconvergence;
    } cases[] = {{"%tid.x", 1}, {"%ctaid.x", 5}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char body[300];
        snprintf(body, sizeof body,
                 "    mov.u32 %%r0, %s;\n"
                 "AGAIN:\n"
                 "    bar.sync 0;\n"
                 "    sub.u32 %%r0, %%r0, 1;\n"
                 "    setp.gt.s32 %%p0, %%r0, 0;\n"
                 "    @%%p0 bra AGAIN;\n"
                 "    ret;\n",
                 cases[c].trips);
        struct subject subject = open_kernel(body);
        assert_int_equal(subject.analysis->reconvergence[4], cases[c].reconvergence);
        close_subject(&subject);
    }
}

static void indexed_branches_ignore_targets_that_end(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r0, %tid.x;\n"
                                         "    ts: .branchtargets A, B, C;\n"
                                         "    @%p0 bra JOIN;\n"
                                         "    brx.idx %r0, ts;\n"
                                         "A:\n"
                                         "    mov.u32 %r1, 1;\n"
                                         "    bra NEXT;\n"
                                         "B:\n"
                                         "    st.global.u32 [%d0], %r1;\n"
                                         "    exit;\n"
                                         "C:\n"
                                         "    mov.u32 %r1, 2;\n"
                                         "NEXT:\n"
                                         "    add.u32 %r1, %r1, 1;\n"
                                         "JOIN:\n"
                                         "    st.global.u32 [%d0], %r1;\n"
                                         "    ret;\n");
    assert_int_equal(subject.analysis->reconvergence[2], 8); /* NEXT */
    assert_int_equal(subject.analysis->reconvergence[1], 9); /* JOIN */
    close_subject(&subject);
}

/* Threads at a barrier may wait for those at the reconvergence point, and a block where ends come together is a
 * join. */
static void dead_ends_with_a_barrier_or_a_join_are_kept(void **state) {
    (void)state;
    static const char *const endings[] = {"    @!%p1 bra ON;\n    bar.sync 0;\n    exit;\nON:\n",
                                          "    @%p1 bra FAIL;\n    @%p2 bra FAIL;\n"};
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
        char body[500];
        snprintf(body, sizeof body,
                 "    mov.u32 %%r0, %%tid.x;\n"
                 "    @%%p0 bra JOIN;\n"
                 "%s"
                 "    add.u32 %%r1, %%r1, 1;\n"
                 "JOIN:\n"
                 "    st.global.u32 [%%d0], %%r1;\n"
                 "    ret;\n"
                 "FAIL:\n"
                 "    st.global.u32 [%%d0], %%r0;\n"
                 "    ret;\n",
                 endings[e]);
        struct subject subject = open_kernel(body);
        assert_int_equal(subject.analysis->reconvergence[1], subject.function->n_instructions);
        close_subject(&subject);
    }
}

/* A call counts as a barrier unless the function's body is known, has none and calls no other. */
static void dead_ends_with_a_call_are_ignored_if_no_thread_can_wait_there(void **state) {
    (void)state;
    static const struct {
        const char *callee;
        uint32_t reconvergence;
    } cases[] = {{"leaf", 6}, {"waits", 8}, {"calls", 8}, {"absent", 8}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char body[400];
        snprintf(body, sizeof body,
                 "    mov.u32 %%r0, %%tid.x;\n"
                 "    @%%p0 bra JOIN;\n"
                 "    @!%%p1 bra ON;\n"
                 "    call %s;\n"
                 "    exit;\n"
                 "ON:\n"
                 "    add.u32 %%r1, %%r1, 1;\n"
                 "JOIN:\n"
                 "    st.global.u32 [%%d0], %%r1;\n"
                 "    ret;\n",
                 cases[c].callee);
        struct subject subject = open_function(".func leaf() { ret; }\n"
                                               ".func waits() { bar.sync 0; ret; }\n"
                                               ".func calls() { call leaf; ret; }\n"
                                               ".func absent();\n"
                                               ".entry f(.param .b32 a, .param .b64 b)",
                                               body);
        assert_int_equal(subject.analysis->reconvergence[1], cases[c].reconvergence);
        close_subject(&subject);
    }
}

/* In a called function a return continues in the caller; an exit does not. */
static void a_called_function_ignores_exits_but_not_returns(void **state) {
    (void)state;
    static const struct {
        const char *ending;
        uint32_t reconvergence;
    } cases[] = {{"exit", 4}, {"ret", 6}};
    for (size_t c = 0; c < 2; c++) {
        char body[400];
        snprintf(body, sizeof body,
                 "    setp.eq.u32 %%p0, %%r0, 0;\n"
                 "    @%%p0 bra JOIN;\n"
                 "    @%%p1 %s;\n"
                 "    add.u32 %%r1, %%r1, 1;\n"
                 "JOIN:\n"
                 "    add.u32 %%r1, %%r1, 2;\n"
                 "    ret;\n",
                 cases[c].ending);
        struct subject subject = open_function(".func f()", body);
        assert_int_equal(subject.analysis->reconvergence[1], cases[c].reconvergence);
        close_subject(&subject);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_reconverge_after_an_if_in_which_others_end),
        cmocka_unit_test(a_bounds_check_reconverges_at_the_return),
        cmocka_unit_test(a_bounds_check_before_a_barrier_ends_threads_at_once),
        cmocka_unit_test(a_loop_with_an_end_inside_reconverges_at_its_regular_exit),
        cmocka_unit_test(a_loop_keeps_its_only_exit),
        cmocka_unit_test(a_loop_left_only_by_ends_reconverges_inside),
        cmocka_unit_test(threads_that_leave_a_loop_with_a_barrier_end_at_once),
        cmocka_unit_test(indexed_branches_ignore_targets_that_end),
        cmocka_unit_test(dead_ends_with_a_barrier_or_a_join_are_kept),
        cmocka_unit_test(dead_ends_with_a_call_are_ignored_if_no_thread_can_wait_there),
        cmocka_unit_test(a_called_function_ignores_exits_but_not_returns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
