/* Tests of branches that become predicates, and of the instructions around those that do not. */
#include "isa/fixture.h"

static struct fixture convert(const char *body) {
    struct fixture f = fixture_new(body);
    isa_fold(&f.code);
    isa_convert_branches(&f.code);
    return f;
}

static void a_short_branch_becomes_predicates(void **state) {
    (void)state;
    struct fixture f = convert("setp.gt.s32 %p1, %r1, 5;\n@%p1 bra OVER;\nfma.rn.f32 %f1, %f1, %f1, %f2;\n"
                               "fma.rn.f32 %f1, %f1, %f1, %f2;\nOVER:\nst.global.f32 [%rd0], %f1;\n");
    assert_true(fixture_at(&f, 1)->is_predicated);
    FIXTURE_EXPECT(&f, 1, 2, 0, 0, 1); /* the branch pays for its path */
}

static void accesses_under_predicates_keep_their_cost(void **state) {
    (void)state;
    struct fixture f = convert("setp.gt.s32 %p1, %r1, 5;\n@%p1 bra OVER;\nld.global.f32 %f1, [%rd0];\n"
                               "add.f32 %f1, %f1, %f1;\nOVER:\nst.global.f32 [%rd0], %f1;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1, 0, 1);
}

static void a_branch_to_the_end_is_an_exit(void **state) {
    (void)state;
    struct fixture f = convert("setp.gt.s32 %p1, %r1, 5;\n@%p1 bra END;\nst.global.u32 [%rd0], %r1;\nEND:\n");
    assert_false(fixture_at(&f, 1)->is_predicated);
    FIXTURE_EXPECT(&f, 1, 1, 1, 1);
}

static void a_choice_becomes_predicates(void **state) {
    (void)state;
    struct fixture f = convert("setp.gt.s32 %p1, %r1, 5;\n@%p1 bra OTHER;\nadd.f32 %f1, %f1, %f2;\nbra.uni END;\n"
                               "OTHER:\nadd.f32 %f1, %f1, %f3;\nadd.f32 %f1, %f1, %f3;\nEND:\n"
                               "st.global.f32 [%rd0], %f1;\n");
    assert_true(fixture_at(&f, 1)->is_predicated);
    FIXTURE_EXPECT(&f, 1, 3, 0, 0, 0, 0, 1);
}

static void a_path_with_a_short_branch_becomes_predicates(void **state) {
    (void)state;
    struct fixture f = convert("setp.gt.s32 %p1, %r1, 5;\n@%p1 bra OVER;\nadd.f32 %f1, %f1, %f2;\n"
                               "setp.gt.s32 %p2, %r1, 3;\n@%p2 bra INNER;\nadd.f32 %f1, %f1, %f3;\n"
                               "INNER:\nadd.f32 %f1, %f1, %f3;\nOVER:\nst.global.f32 [%rd0], %f1;\n");
    assert_true(fixture_at(&f, 1)->is_predicated);
    FIXTURE_EXPECT(&f, 1, 4, 0, 0, 0, 0, 0, 1);
    f = convert("setp.gt.s32 %p1, %r1, 5;\n@%p1 bra OTHER;\nadd.f32 %f1, %f1, %f2;\nbra.uni END;\n"
                "OTHER:\nsetp.gt.s32 %p2, %r1, 3;\n@%p2 bra LAST;\nadd.f32 %f1, %f1, %f3;\nbra.uni END;\n"
                "LAST:\nmul.f32 %f1, %f1, %f3;\nEND:\nst.global.f32 [%rd0], %f1;\n");
    assert_true(fixture_at(&f, 1)->is_predicated); /* two choices end at one place */
    FIXTURE_EXPECT(&f, 1, 4, 0, 0, 0, 0, 0, 0, 0, 1);
}

static void a_branch_to_the_end_of_a_kernel_stays(void **state) {
    (void)state;
    const char *body = "setp.gt.s32 %p1, %r1, 5;\n@%p1 bra OVER;\nadd.f32 %f1, %f1, %f2;\n"
                       "st.global.f32 [%rd0], %f1;\nOVER:\nret;\n";
    struct fixture f = convert(body);
    assert_false(fixture_at(&f, 1)->is_predicated); /* ptxas: @P0 EXIT */
    FIXTURE_EXPECT(&f, 1, 1, 1, 1);
}

/* "a || (b && c)": two instructions for b and c, or more, and the body's. */
static struct fixture choose(const char *more) {
    static char body[2048];
    snprintf(body, sizeof body,
             "setp.lt.f32 %%p1, %%f1, %%f2;\n@%%p1 bra BODY;\nsetp.neu.f32 %%p2, %%f1, %%f2;\n%s"
             "setp.ge.or.s32 %%p3, %%r1, %%r2, %%p2;\n@%%p3 bra OVER;\nBODY:\nadd.f32 %%f1, %%f1, %%f3;\n"
             "add.f32 %%f1, %%f1, %%f3;\nOVER:\nst.global.f32 [%%rd0], %%f1;\n",
             more);
    return convert(body);
}

static void conditions_that_decide_together_become_one_predicate(void **state) {
    (void)state;
    struct fixture f = choose("");
    assert_true(fixture_at(&f, 1)->is_predicated);
    assert_true(fixture_at(&f, 4)->is_predicated);
    FIXTURE_EXPECT(&f, 1, 4, 0, 0, 0, 0, 0, 1);
    f = choose("add.f32 %f4, %f1, %f3;\n"); /* not a condition */
    assert_false(fixture_at(&f, 1)->is_predicated);
    fixture_free(&f);
    f = choose("setp.gt.f32 %p2, %f3, %f2;\nsetp.gt.f32 %p2, %f3, %f2;\n"); /* ptxas joins up to three */
    assert_false(fixture_at(&f, 1)->is_predicated);
    fixture_free(&f);
}

/* Nine instructions: ptxas predicates up to eight. */
static const char *nine(const char *condition) {
    static char body[2048];
    snprintf(body, sizeof body, "setp.gt.s32 %%p1, %s, 5;\n@%%p1 bra OVER;\n", condition);
    for (int i = 0; i < 9; i++)
        strcat(body, "fma.rn.f32 %f1, %f1, %f1, %f2;\n");
    return strcat(body, "OVER:\nst.global.f32 [%rd0], %f1;\n");
}

static void a_long_divergent_branch_has_a_region(void **state) {
    (void)state;
    struct fixture f = convert(nine("%r1"));
    isa_mark_regions(&f.code);
    assert_false(fixture_at(&f, 1)->is_predicated);
    FIXTURE_EXPECT(&f, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3); /* BSSY and BSYNC */
    f = convert(nine("%r0"));
    isa_mark_regions(&f.code);
    FIXTURE_EXPECT(&f, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1); /* all threads go one way */
}

/* ptxas 13.0: a guard before the end of a kernel is @P EXIT, a predicate is no branch, a jump to the next instruction
 * is nothing. The return of a kernel is EXIT, that of a function RET. */
#define POPC "popc.b32 %r3, %r3;\n"
#define LONG POPC POPC POPC POPC POPC POPC POPC POPC POPC

/* The branch to OUT leaves the barrier of INNER, which the threads of the first branch have. */
static void threads_that_leave_a_loop_leave_its_barriers(void **state) {
    (void)state;
    struct fixture f = convert("LOOP:\nsetp.gt.s32 %p1, %r1, 5;\n@%p1 bra INNER;\n" LONG "setp.gt.s32 %p2, %r3, 5;\n"
                               "@%p2 bra OUT;\n" LONG "INNER:\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p3, %r2, %r1;\n"
                               "@%p3 bra LOOP;\nOUT:\nst.global.u32 [%rd0], %r3;\n");
    isa_mark_regions(&f.code);
    assert_int_equal(fixture_at(&f, 1)->parts, ISA_PARTS);
    assert_int_equal(fixture_at(&f, 12)->parts, 2 * ISA_PARTS); /* BREAK, BRA */
    fixture_free(&f);
}

static void branches_that_stay_are_jumps(void **state) {
    (void)state;
    struct fixture f = convert("setp.gt.s32 %p1, %r1, 5;\n@%p1 bra END;\n@%p1 bra OVER;\npopc.b32 %r2, %r1;\n"
                               "OVER:\nbra NEXT;\nNEXT:\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p2, %r1, %r0;\n"
                               "@%p2 bra NEXT;\nst.global.u32 [%rd0], %r2;\nEND:\n");
    static const bool jumps[] = {false, false, false, false, false, false, false, true, false, false /* ret */};
    isa_mark_jumps(&f.code);
    assert_true(fixture_at(&f, 2)->is_predicated);
    isa_choose_units(&f.code);
    assert_true(fixture_at(&f, 3)->is_paid && !fixture_at(&f, 4)->is_paid);
    assert_int_equal(fixture_at(&f, 3)->n_special, 1); /* counts although the branch has its parts */
    for (unsigned k = 0; k < sizeof jumps / sizeof *jumps; k++)
        if (fixture_at(&f, k)->jumps != jumps[k])
            fail_msg("instruction %u", k);
    fixture_free(&f);
    f = fixture_of(&isa_sm_90, ".version 7.8\n.target sm_90\n.address_size 64\n.func g() {\nret;\n}\n", "g");
    isa_mark_jumps(&f.code);
    assert_true(f.code.insn[0].jumps);
    fixture_free(&f);
}

/* A load from global memory and `n` instructions: ptxas predicates 20 in all. */
static bool is_predicated_with(unsigned n) {
    static char body[2048];
    strcpy(body, "setp.gt.s32 %p1, %r1, 5;\n@%p1 bra OVER;\nld.global.f32 %f2, [%rd0];\n");
    for (unsigned i = 0; i < n; i++)
        strcat(body, "fma.rn.f32 %f1, %f1, %f1, %f2;\n");
    struct fixture f = convert(strcat(body, "OVER:\nst.global.f32 [%rd0], %f1;\n"));
    bool is_predicated = fixture_at(&f, 1)->is_predicated;
    fixture_free(&f);
    return is_predicated;
}

static void a_path_that_loads_may_be_longer(void **state) {
    (void)state;
    assert_true(is_predicated_with(19));
    assert_false(is_predicated_with(20));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_branch_becomes_predicates),
        cmocka_unit_test(a_branch_to_the_end_of_a_kernel_stays),
        cmocka_unit_test(accesses_under_predicates_keep_their_cost),
        cmocka_unit_test(a_branch_to_the_end_is_an_exit),
        cmocka_unit_test(a_choice_becomes_predicates),
        cmocka_unit_test(a_path_with_a_short_branch_becomes_predicates),
        cmocka_unit_test(conditions_that_decide_together_become_one_predicate),
        cmocka_unit_test(a_long_divergent_branch_has_a_region),
        cmocka_unit_test(threads_that_leave_a_loop_leave_its_barriers),
        cmocka_unit_test(branches_that_stay_are_jumps),
        cmocka_unit_test(a_path_that_loads_may_be_longer),
    };
    return cmocka_run_group_tests_name("isa/branches", tests, NULL, NULL);
}
