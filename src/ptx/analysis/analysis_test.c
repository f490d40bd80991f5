/* Tests of the analysis of small functions. */
#include "ptx/analysis/fixture.h"

static uint32_t find_register(const struct subject *subject, const char *name) {
    for (uint32_t r = 0; r < subject->function->n_registers; r++)
        if (strcmp(subject->function->reg[r].name, name) == 0)
            return r;
    fail_msg("no register %s", name);
    return 0;
}

static bool is_uniform(const struct subject *subject, const char *name) {
    return subject->analysis->is_uniform[find_register(subject, name)];
}

static uint32_t slot_of(const struct subject *subject, const char *name) {
    return subject->analysis->slot[find_register(subject, name)];
}

static void a_function_without_instructions_is_only_its_exit(void **state) {
    (void)state;
    struct subject subject = open_kernel("");
    assert_int_equal(subject.analysis->n_blocks, 1);
    assert_int_equal(subject.analysis->block[0].count, 0);
    assert_int_equal(subject.analysis->register_count, 0);
    close_subject(&subject);
}

static void both_sides_of_a_condition_reconverge_after_it(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r0, %tid.x;\n"
                                         "    setp.eq.u32 %p0, %r0, 0;\n"
                                         "    @%p0 bra ELSE;\n"
                                         "    mov.u32 %r1, 1;\n"
                                         "    bra END;\n"
                                         "ELSE:\n"
                                         "    mov.u32 %r1, 2;\n"
                                         "END:\n"
                                         "    st.global.u32 [%d0], %r1;\n"
                                         "    ret;\n");
    assert_int_equal(subject.analysis->n_blocks, 5);
    assert_int_equal(subject.analysis->reconvergence[2], 6);
    assert_int_equal(subject.analysis->reconvergence[4], PTX_NO_INDEX);
    assert_int_equal(subject.analysis->block[0].post_dominator, 3);
    assert_int_equal(subject.analysis->block[3].dominator, 0);
    assert_false(is_uniform(&subject, "%r1"));
    close_subject(&subject);
}

static void a_branch_to_the_next_instruction_reconverges_there(void **state) {
    (void)state;
    struct subject subject = open_kernel("    setp.eq.u32 %p0, %r0, 0;\n"
                                         "    @%p0 bra NEXT;\n"
                                         "NEXT:\n"
                                         "    ret;\n");
    assert_int_equal(subject.analysis->block[0].n_successors, 1);
    assert_int_equal(subject.analysis->reconvergence[1], 2);
    close_subject(&subject);
}

static void paths_that_return_apart_reconverge_at_the_end(void **state) {
    (void)state;
    struct subject subject = open_kernel("    setp.eq.u32 %p0, %r0, 0;\n"
                                         "    @%p0 bra OTHER;\n"
                                         "    ret;\n"
                                         "OTHER:\n"
                                         "    exit;\n");
    assert_int_equal(subject.analysis->reconvergence[1], 4);
    close_subject(&subject);
}

static void a_guarded_return_has_two_successors(void **state) {
    (void)state;
    struct subject subject = open_kernel("    setp.eq.u32 %p0, %r0, 0;\n"
                                         "    @%p0 ret;\n"
                                         "    mov.u32 %r1, 2;\n");
    assert_int_equal(subject.analysis->n_blocks, 3);
    assert_int_equal(subject.analysis->block[0].n_successors, 2);
    assert_int_equal(subject.analysis->block[1].successor[0], 2);
    assert_int_equal(subject.analysis->reconvergence[1], PTX_NO_INDEX);
    close_subject(&subject);
}

static void paths_that_never_return_do_not_move_the_reconvergence_point(void **state) {
    (void)state;
    static const char *const ending[] = {"trap;", "call stop;", "FOREVER: bra FOREVER;"};
    for (size_t e = 0; e < sizeof ending / sizeof *ending; e++) {
        char body[400];
        snprintf(body, sizeof body,
                 "    setp.eq.u32 %%p0, %%r0, 0;\n"
                 "    @%%p0 bra GOOD;\n"
                 "    %s\n"
                 "GOOD:\n"
                 "    ret;\n",
                 ending[e]);
        struct subject subject = open_kernel(body);
        assert_int_equal(subject.analysis->reconvergence[1], 3);
        close_subject(&subject);
    }
}

static void branches_in_an_endless_loop_reconverge_inside_it(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r0, %tid.x;\n"
                                         "AGAIN:\n"
                                         "    setp.eq.u32 %p0, %r0, 0;\n"
                                         "    @%p0 bra SKIP;\n"
                                         "    add.u32 %r0, %r0, 1;\n"
                                         "SKIP:\n"
                                         "    setp.eq.u32 %p1, %r0, 5;\n"
                                         "    @%p1 bra AGAIN;\n"
                                         "    add.u32 %r0, %r0, 2;\n"
                                         "    bra AGAIN;\n");
    assert_int_equal(subject.analysis->reconvergence[2], 4); /* SKIP */
    assert_int_equal(subject.analysis->reconvergence[5], 1); /* the next iteration */
    assert_int_equal(subject.analysis->block[3].post_dominator, subject.analysis->n_blocks - 1);
    close_subject(&subject);
}

static void an_indexed_branch_reaches_all_its_targets(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r0, %tid.x;\n"
                                         "    ts: .branchtargets A, B, A;\n"
                                         "    brx.idx %r0, ts;\n"
                                         "A:\n"
                                         "    mov.u32 %r1, 1;\n"
                                         "    bra END;\n"
                                         "B:\n"
                                         "    mov.u32 %r1, 2;\n"
                                         "END:\n"
                                         "    ret;\n");
    assert_int_equal(subject.analysis->block[0].n_successors, 2);
    assert_int_equal(subject.analysis->reconvergence[1], 5);
    assert_false(subject.analysis->is_uniform_branch[1]);
    close_subject(&subject);
}

static void guarded_calls_reconverge_at_the_next_instruction(void **state) {
    (void)state;
    struct subject subject = open_kernel("    .param .b32 x;\n"
                                         "    setp.eq.u32 %p0, %r0, 0;\n"
                                         "    @%p0 call callee, (x);\n"
                                         "    call callee, (x);\n"
                                         "    ret;\n");
    assert_int_equal(subject.analysis->n_blocks, 2);
    assert_int_equal(subject.analysis->reconvergence[1], 2);
    assert_int_equal(subject.analysis->reconvergence[2], PTX_NO_INDEX);
    close_subject(&subject);
}

static void unreachable_code_is_kept_and_marked(void **state) {
    (void)state;
    struct subject subject = open_kernel("    .reg .b32 unused;\n"
                                         "    bra END;\n"
                                         "    mov.u32 %r1, 1;\n"
                                         "END:\n"
                                         "    ret;\n");
    assert_int_equal(subject.analysis->n_blocks, 4);
    assert_false(subject.analysis->block[1].is_reachable);
    assert_int_equal(subject.analysis->block[1].dominator, PTX_NO_BLOCK);
    assert_int_not_equal(slot_of(&subject, "%r1"), PTX_NO_INDEX);
    assert_int_equal(slot_of(&subject, "unused"), PTX_NO_INDEX);
    assert_int_equal(subject.analysis->register_count, 0);
    close_subject(&subject);
}

static const char nested_loops[] = "    mov.u32 %r0, 0;\n"
                                   "OUTER:\n"
                                   "    mov.u32 %r1, 0;\n"
                                   "INNER:\n"
                                   "    add.u32 %r1, %r1, 1;\n"
                                   "    setp.lt.u32 %p0, %r1, 7;\n"
                                   "    @%p0 bra INNER;\n"
                                   "    add.u32 %r0, %r0, 1;\n"
                                   "    setp.lt.u32 %p1, %r0, 9;\n"
                                   "    @%p1 bra OUTER;\n"
                                   "    ret;\n";

static void loops_are_nested_by_their_headers(void **state) {
    (void)state;
    struct subject subject = open_kernel(nested_loops);
    const struct ptx_analysis *analysis = subject.analysis;
    assert_int_equal(analysis->n_loops, 2);
    assert_int_equal(analysis->loop[0].header, 1);
    assert_int_equal(analysis->loop[0].n_blocks, 3);
    assert_int_equal(analysis->loop[1].header, 2);
    assert_int_equal(analysis->loop[1].parent, 0);
    assert_int_equal(analysis->loop[1].depth, 2);
    assert_int_equal(analysis->block[3].loop_header, 1);
    assert_int_equal(analysis->block[2].loop_depth, 2);
    assert_int_equal(analysis->block[4].loop_depth, 0);
    close_subject(&subject);
}

static void a_cycle_with_two_entries_is_no_loop(void **state) {
    (void)state;
    struct subject subject = open_kernel("    @%p0 bra B;\n"
                                         "A:\n"
                                         "    @%p1 bra B;\n"
                                         "    ret;\n"
                                         "B:\n"
                                         "    @%p2 bra A;\n"
                                         "    ret;\n");
    assert_int_equal(subject.analysis->n_loops, 0);
    close_subject(&subject);
}

static void counters_of_uniform_loops_are_uniform(void **state) {
    (void)state;
    struct subject subject = open_kernel(nested_loops);
    assert_true(is_uniform(&subject, "%r0"));
    assert_true(is_uniform(&subject, "%r1"));
    assert_true(subject.analysis->is_uniform_branch[4]);
    assert_true(subject.analysis->is_uniform_branch[7]);
    close_subject(&subject);
}

static void a_counter_carried_out_of_a_divergent_loop_is_not_uniform(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r2, %tid.x;\n"
                                         "    mov.u32 %r0, 0;\n"
                                         "    mov.u32 %r1, 0;\n"
                                         "AGAIN:\n"
                                         "    add.u32 %r0, %r0, 1;\n"
                                         "    add.u32 %r1, %r1, 1;\n"
                                         "    setp.lt.u32 %p0, %r0, %r2;\n"
                                         "    @%p0 bra AGAIN;\n"
                                         "    st.global.u32 [%d0], %r1;\n"
                                         "    ret;\n");
    assert_true(is_uniform(&subject, "%r0")); /* in each iteration it is the iteration's number */
    assert_false(is_uniform(&subject, "%r1"));
    assert_false(subject.analysis->is_uniform_branch[6]);
    close_subject(&subject);
}

static void code_after_a_bounds_check_stays_uniform(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r0, %tid.x;\n"
                                         "    ld.param.u32 %r1, [a];\n"
                                         "    setp.ge.u32 %p0, %r0, %r1;\n"
                                         "    @%p0 bra END;\n"
                                         "    mov.u32 %r2, 0;\n"
                                         "AGAIN:\n"
                                         "    add.u32 %r2, %r2, 1;\n"
                                         "    setp.lt.u32 %p1, %r2, %r1;\n"
                                         "    @%p1 bra AGAIN;\n"
                                         "END:\n"
                                         "    ret;\n");
    assert_true(is_uniform(&subject, "%r1"));
    assert_true(is_uniform(&subject, "%r2"));
    assert_true(subject.analysis->is_uniform_branch[7]);
    assert_false(subject.analysis->is_uniform_branch[3]);
    close_subject(&subject);
}

static void paths_that_join_before_the_reconvergence_point_differ_there(void **state) {
    (void)state;
    /* JOIN is reached from both sides, END from JOIN and from the left side. */
    struct subject subject = open_kernel("    mov.u32 %r0, %tid.x;\n"
                                         "    ld.param.u32 %r3, [a];\n"
                                         "    setp.eq.u32 %p0, %r0, 0;\n"
                                         "    setp.eq.u32 %p1, %r3, 0;\n"
                                         "    mov.u32 %r1, 5;\n"
                                         "    @%p0 bra JOIN;\n"
                                         "    mov.u32 %r1, 6;\n"
                                         "    @%p1 bra END;\n"
                                         "JOIN:\n"
                                         "    st.global.u32 [%d0], %r1;\n"
                                         "END:\n"
                                         "    st.global.u32 [%d0], %r0;\n"
                                         "    ret;\n");
    assert_int_equal(subject.analysis->reconvergence[5], 9);
    assert_false(is_uniform(&subject, "%r1"));
    assert_true(subject.analysis->is_uniform_branch[7]);
    close_subject(&subject);
}

static void values_that_depend_on_the_thread_are_not_uniform(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r0, %ctaid.x;\n"
                                         "    mov.u32 %r1, %laneid;\n"
                                         "    ld.param.u64 %d0, [b];\n"
                                         "    ld.global.u32 %r2, [%d0];\n"
                                         "    ld.const.u32 %r3, [table+4];\n"
                                         "    mov.u32 %r4, %clock;\n"
                                         "    shfl.sync.idx.b32 %r5, %r0, 0, 31, -1;\n"
                                         "    atom.global.add.u32 %r6, [%d0], 1;\n"
                                         "    add.u32 %r7, %r0, %r3;\n"
                                         "    add.u32 %r8, %r0, %r1;\n"
                                         "    setp.eq.u32 %p0, %r1, 0;\n"
                                         "    bar.red.or.pred %p1, 0, %p0;\n"
                                         "    mov.u32 %r9, 0;\n"
                                         "    @%p0 mov.u32 %r9, 1;\n"
                                         "    ret;\n");
    static const char *const uniform[] = {"%r0", "%d0", "%r3", "%r7", "%p1"};
    static const char *const varying[] = {"%r1", "%r2", "%r4", "%r5", "%r6", "%r8", "%p0", "%r9"};
    for (size_t i = 0; i < sizeof uniform / sizeof *uniform; i++)
        assert_true(is_uniform(&subject, uniform[i]));
    for (size_t i = 0; i < sizeof varying / sizeof *varying; i++)
        assert_false(is_uniform(&subject, varying[i]));
    close_subject(&subject);
}

static void parameters_of_functions_are_not_uniform(void **state) {
    (void)state;
    struct subject subject =
        open_function(".func (.reg .b32 out) f(.reg .b32 in, .param .b32 p)", "    mov.u32 %r0, in;\n"
                                                                              "    ld.param.u32 %r1, [p];\n"
                                                                              "    mov.u32 out, 1;\n"
                                                                              "    ret;\n");
    assert_false(is_uniform(&subject, "in"));
    assert_false(is_uniform(&subject, "%r0"));
    assert_false(is_uniform(&subject, "%r1"));
    assert_true(is_uniform(&subject, "out"));
    assert_true(ptx_is_live_in(subject.analysis, subject.analysis->n_blocks - 1, find_register(&subject, "out")));
    close_subject(&subject);
}

static void a_result_reuses_the_slot_of_a_value_that_dies(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r0, 1;\n"
                                         "    add.u32 %r1, %r0, 1;\n"
                                         "    add.u32 %r2, %r1, 1;\n"
                                         "    mov.u64 %d0, 0;\n"
                                         "    st.global.u32 [%d0], %r2;\n"
                                         "    ret;\n");
    assert_int_equal(subject.analysis->n_slots[PTX_WIDTH_32], 1);
    assert_int_equal(subject.analysis->n_slots[PTX_WIDTH_64], 1);
    assert_int_equal(subject.analysis->register_count, 3);
    close_subject(&subject);
}

static void destinations_of_one_instruction_have_distinct_slots(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u64 %d0, 0;\n"
                                         "    ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d0];\n"
                                         "    ret;\n");
    uint32_t seen = 0;
    static const char *const names[] = {"%r0", "%r1", "%r2", "%r3"};
    for (size_t i = 0; i < 4; i++)
        seen |= 1u << slot_of(&subject, names[i]);
    assert_int_equal(seen, 15);
    close_subject(&subject);
}

static void a_load_does_not_overwrite_its_address(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u64 %d0, 0;\n"
                                         "    ld.global.u64 %d1, [%d0];\n"
                                         "    ret;\n");
    assert_int_not_equal(slot_of(&subject, "%d0"), slot_of(&subject, "%d1"));
    close_subject(&subject);
}

static void a_guarded_write_keeps_the_old_value_alive(void **state) {
    (void)state;
    struct subject subject = open_kernel("    mov.u32 %r0, 1;\n"
                                         "    mov.u32 %r1, 2;\n"
                                         "    setp.eq.u32 %p0, %r1, 0;\n"
                                         "    bra NEXT;\n"
                                         "NEXT:\n"
                                         "    @%p0 mov.u32 %r0, 3;\n"
                                         "    @%p0 mov.u32 %r2, 4;\n"
                                         "    @!%p0 mov.u32 %r2, 5;\n"
                                         "    add.u32 %r3, %r0, %r2;\n"
                                         "    ret;\n");
    assert_true(ptx_is_live_in(subject.analysis, 1, find_register(&subject, "%r0")));
    assert_false(ptx_is_live_in(subject.analysis, 1, find_register(&subject, "%r2")));
    close_subject(&subject);
}

struct seen_registers {
    uint32_t n_reads, n_writes, last_written;
};

static void note_register(void *user, uint32_t register_id, bool is_write) {
    struct seen_registers *seen = user;
    *(is_write ? &seen->n_writes : &seen->n_reads) += 1;
    if (is_write)
        seen->last_written = register_id;
    else
        assert_int_equal(seen->n_writes, 0); /* reads come first */
}

static void every_use_of_a_register_is_visited(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t n_reads, n_writes;
    } cases[] = {
        {"@%p0 add.u32 %r0, %r1, %r1;", 3, 1},
        {"setp.lt.and.u32 %p0|%p1, %r0, 5, %p2;", 2, 2},
        {"st.global.v2.u32 [%d0], {%r0, %r1};", 3, 0},
        {"ld.global.v2.u32 {%r0, _}, [%d0];", 1, 1},
        {"atom.global.cas.b32 %r0, [%d0], %r1, %r2;", 3, 1},
        {"red.global.add.u32 [%d0], %r1;", 2, 0},
        {"shfl.sync.up.b32 %r0|%p0, %r1, %r2, 0, -1;", 2, 2},
        {"bar.red.popc.u32 %r0, 0, %p0;", 1, 1},
        {"bar.sync %r0;", 1, 0},
        {"mov.b64 {%r0, %r1}, %d0;", 1, 2},
        {"mov.b64 %d0, {%r0, %r1};", 2, 1},
        {"mad.wide.u32 %d0, %r0, %r1, %d1;", 3, 1},
        {"@!%p3 bra DONE;", 1, 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char body[200];
        snprintf(body, sizeof body, "%s\nDONE: ret;\n", cases[c].text);
        struct subject subject = open_kernel(body);
        struct seen_registers seen = {0};
        ptx_for_each_register(&subject.function->instruction[0], note_register, &seen);
        if (seen.n_reads != cases[c].n_reads || seen.n_writes != cases[c].n_writes)
            fail_msg("%s: %u reads and %u writes", cases[c].text, seen.n_reads, seen.n_writes);
        close_subject(&subject);
    }
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PTX_IS_SANITIZED 1
#endif
#endif
#ifndef PTX_IS_SANITIZED
#define PTX_IS_SANITIZED 0
#endif

/* A chain of conditions and a nest of loops, both far deeper than any call stack. */
static void deep_flow_is_analyzed_without_recursion(void **state) {
    (void)state;
    enum { DEPTH = PTX_IS_SANITIZED ? 2000 : 8000 }; /* frames are larger there, and analyses slower */
    size_t size = DEPTH * 200 + 100, length = 0;
    char *body = malloc(size);
    assert_non_null(body);
    for (unsigned i = 0; i < DEPTH; i++)
        length +=
            (size_t)snprintf(body + length, size - length, "@%%p0 bra S%u;\nadd.u32 %%r0, %%r0, 1;\nS%u:\n", i, i);
    for (unsigned i = 0; i < DEPTH; i++)
        length += (size_t)snprintf(body + length, size - length, "H%u:\nadd.u32 %%r1, %%r1, 1;\n", i);
    for (unsigned i = DEPTH; i-- > 0;)
        length += (size_t)snprintf(body + length, size - length, "@%%p0 bra H%u;\n", i);
    snprintf(body + length, size - length, "ret;\n");
    struct subject subject = open_kernel(body);
    free(body);
    const struct ptx_analysis *analysis = subject.analysis;
    assert_int_equal(analysis->n_loops, DEPTH);
    assert_int_equal(analysis->block[analysis->loop[DEPTH - 1].header].loop_depth, DEPTH);
    for (uint32_t i = 0; i < DEPTH; i++)
        assert_int_equal(analysis->reconvergence[2 * i], 2 * i + 2);
    close_subject(&subject);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_without_instructions_is_only_its_exit),
        cmocka_unit_test(both_sides_of_a_condition_reconverge_after_it),
        cmocka_unit_test(a_branch_to_the_next_instruction_reconverges_there),
        cmocka_unit_test(paths_that_return_apart_reconverge_at_the_end),
        cmocka_unit_test(a_guarded_return_has_two_successors),
        cmocka_unit_test(paths_that_never_return_do_not_move_the_reconvergence_point),
        cmocka_unit_test(branches_in_an_endless_loop_reconverge_inside_it),
        cmocka_unit_test(an_indexed_branch_reaches_all_its_targets),
        cmocka_unit_test(guarded_calls_reconverge_at_the_next_instruction),
        cmocka_unit_test(unreachable_code_is_kept_and_marked),
        cmocka_unit_test(loops_are_nested_by_their_headers),
        cmocka_unit_test(a_cycle_with_two_entries_is_no_loop),
        cmocka_unit_test(counters_of_uniform_loops_are_uniform),
        cmocka_unit_test(a_counter_carried_out_of_a_divergent_loop_is_not_uniform),
        cmocka_unit_test(code_after_a_bounds_check_stays_uniform),
        cmocka_unit_test(paths_that_join_before_the_reconvergence_point_differ_there),
        cmocka_unit_test(values_that_depend_on_the_thread_are_not_uniform),
        cmocka_unit_test(parameters_of_functions_are_not_uniform),
        cmocka_unit_test(a_result_reuses_the_slot_of_a_value_that_dies),
        cmocka_unit_test(destinations_of_one_instruction_have_distinct_slots),
        cmocka_unit_test(a_load_does_not_overwrite_its_address),
        cmocka_unit_test(a_guarded_write_keeps_the_old_value_alive),
        cmocka_unit_test(every_use_of_a_register_is_visited),
        cmocka_unit_test(deep_flow_is_analyzed_without_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
