/* Loops whose counter is paid for once in several iterations. */
#include "isa/fixture.h"

static struct fixture amortize(const char *start, const char *step, const char *test) {
    static char body[1024];
    snprintf(
        body, sizeof body,
        "%s\nLOOP:\nfma.rn.f32 %%f1, %%f1, %%f1, %%f2;\n%s\nsetp.%s;\n@%%p1 bra LOOP;\nst.global.f32 [%%rd0], %%f1;\n",
        start, step, test);
    struct fixture f = fixture_new(body);
    isa_fold(&f.code);
    isa_convert_branches(&f.code);
    isa_amortize_loops(&f.code);
    return f;
}

static void a_counted_loop_is_unrolled(void **state) {
    (void)state;
    struct fixture f = amortize("mov.u32 %r2, 0;", "add.s32 %r2, %r2, 1;", "lt.s32 %p1, %r2, %r0");
    FIXTURE_EXPECT(&f, 1 + 6, 1, 0.25, 0.25, 0.25, 1); /* 6: the choice between the unrolled loop and its remainder */
}

static void a_loop_of_known_length_disappears(void **state) {
    (void)state;
    struct fixture f = amortize("mov.u32 %r2, 0;", "add.s32 %r2, %r2, 1;", "ne.s32 %p1, %r2, 16");
    FIXTURE_EXPECT(&f, 1, 1, 0, 0, 0, 1);
    f = amortize("mov.u32 %r2, 0;", "add.s32 %r2, %r2, 1;", "ne.s32 %p1, %r2, 9000"); /* 90 times a body of 4 */
    FIXTURE_EXPECT(&f, 1, 1, 0, 0, 0, 1);                                             /* less than a part */
}

/* Expects the loop, whose body has `length` instructions, to be unrolled so many times. */
static void expect_times(unsigned iterations, unsigned length, const char *branch, uint32_t times) {
    static char body[8192];
    int n = snprintf(body, sizeof body, "mov.u32 %%r2, 0;\nLOOP:\n%s", branch);
    for (unsigned k = 0; k < length; k++)
        n += snprintf(body + n, sizeof body - (size_t)n, "fma.rn.f32 %%f1, %%f1, %%f1, %%f2;\n");
    snprintf(
        body + n, sizeof body - (size_t)n,
        "NEXT:\nadd.s32 %%r2, %%r2, 1;\nsetp.ne.s32 %%p1, %%r2, %u;\n@%%p1 bra LOOP;\nst.global.f32 [%%rd0], %%f1;\n",
        iterations);
    struct fixture f = fixture_new(body);
    struct isa_loop loop = {.times = 1};
    isa_find_loop(&f.code, 0, &loop);
    assert_int_equal(loop.times, times);
    fixture_free(&f);
}

/* ptxas 13.0 for the same loops. */
static void long_loops_are_unrolled_in_part(void **state) {
    (void)state;
    expect_times(40, 22, "", 0);
    expect_times(44, 22, "", 11);
    expect_times(1000, 42, "", 8); /* 8 bodies of 45 */
    expect_times(1000, 44, "", 5); /* 7 would leave 6 */
    expect_times(1009, 52, "", 4); /* one remains */
    expect_times(64, 69, "", 4);
    expect_times(64, 73, "", 1);
    expect_times(1000, 20, "setp.gt.f32 %p2, %f1, %f2;\n@%p2 bra NEXT;\n", 1);
}

#define LOAD "ld.shared.f32 %f3, [s];\n"
#define TEN_LOADS LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD

static void few_iterations_may_be_long(void **state) {
    (void)state;
    expect_times(4, 97, "", 0);
    expect_times(4, 98, "", 1);
    expect_times(5, 77, "", 0);
    expect_times(16, 37, "", 0);
    expect_times(16, 19, TEN_LOADS, 0);
    expect_times(16, 20, TEN_LOADS, 8);
}

/* ptxas 13.0 for the same loop: up to 19 iterations become that number of bodies. */
static void accesses_count_almost_twice(void **state) {
    (void)state;
    for (unsigned iterations = 16; iterations <= 24; iterations += 8) {
        static char body[4096];
        int n = snprintf(body, sizeof body, "mov.u32 %%r2, 0;\nLOOP:\n");
        for (unsigned k = 0; k < 8; k++)
            n += snprintf(body + n, sizeof body - (size_t)n,
                          "ld.global.f32 %%f3, [%%rd0+%u];\nadd.f32 %%f2, %%f2, %%f3;\n", 4096 * k);
        for (unsigned k = 0; k < 10; k++)
            n += snprintf(body + n, sizeof body - (size_t)n, "fma.rn.f32 %%f1, %%f1, %%f2, %%f2;\n");
        snprintf(body + n, sizeof body - (size_t)n,
                 "add.s32 %%r2, %%r2, 1;\nsetp.ne.s32 %%p1, %%r2, %u;\n@%%p1 bra LOOP;\nst.global.f32 [%%rd0], %%f1;\n",
                 iterations);
        struct fixture f = fixture_new(body);
        struct isa_loop loop = {.times = 1};
        isa_find_loop(&f.code, 0, &loop);
        assert_int_equal(loop.times == 0, iterations == 16);
        fixture_free(&f);
    }
}

/* Expects a loop with iterations known at run time to be unrolled if its body has `most` of these, and not with one
 * more. */
static void expect_most(const char *head, const char *unit, unsigned most) {
    static char body[8192];
    for (unsigned length = most; length <= most + 1; length++) {
        int n = snprintf(body, sizeof body, "mov.u32 %%r2, 0;\nLOOP:\n%s", head);
        for (unsigned k = 0; k < length; k++)
            n += snprintf(body + n, sizeof body - (size_t)n, "%s", unit);
        snprintf(
            body + n, sizeof body - (size_t)n,
            "add.s32 %%r2, %%r2, 1;\nsetp.lt.s32 %%p1, %%r2, %%r0;\n@%%p1 bra LOOP;\nst.global.u32 [%%rd0], %%r3;\n"
            "st.global.f32 [%%rd0+4], %%f1;\n");
        struct fixture f = fixture_new(body);
        struct isa_loop loop = {.times = 1};
        isa_fold(&f.code);
        isa_find_loop(&f.code, 0, &loop);
        assert_int_equal(loop.times, length == most ? 4 : 1);
        fixture_free(&f);
    }
}

/* ptxas 13.0 for the same loops. */
static void joined_instructions_count_before_they_are_joined(void **state) {
    (void)state;
    expect_most("", "min.u32 %r3, %r3, %r1;\n", 18);
    expect_most("", "shl.b32 %r4, %r3, 3;\nadd.s32 %r3, %r4, %r1;\n", 9); /* LEA */
    expect_most("", "not.b32 %r4, %r3;\nand.b32 %r5, %r4, %r1;\nor.b32 %r3, %r5, %r2;\n", 6);
    expect_most("cvt.u64.u32 %rd1, %r3;\nadd.s64 %rd2, %rd1, %rd3;\ncvt.u32.u64 %r3, %rd2;\n",
                "min.u32 %r3, %r3, %r1;\n", 15);
}

static void loads_allow_longer_bodies(void **state) {
    (void)state;
#define MORE "add.s32 %r3, %r4, %r3;\n"
    expect_most("ld.shared.u32 %r4, [s];\n" MORE, "min.u32 %r3, %r3, %r1;\n", 21);
    expect_most("ld.shared.u32 %r4, [s];\n" MORE "ld.shared.u32 %r4, [s+4];\n" MORE, "min.u32 %r3, %r3, %r1;\n", 23);
    expect_most("ld.global.u32 %r4, [%rd0];\n" MORE, "min.u32 %r3, %r3, %r1;\n", 44);
    expect_most("st.global.u32 [%rd0], %r3;\n" MORE, "min.u32 %r3, %r3, %r1;\n", 15);
}

/* ptxas 13.0 for the same loops. */
static void divisions_and_combined_atomics_are_long(void **state) {
    (void)state;
#define DIVIDE(operation) "ld.global.u32 %r4, [%rd0];\n" operation " %r5, %r4, %r0;\nst.global.u32 [%rd0+64], %r5;\n"
#define UNIT "fma.rn.f32 %f1, %f1, %f2, %f2;\n"
    expect_most(DIVIDE("div.s32"), UNIT, 15);
    expect_most(DIVIDE("div.u32"), UNIT, 21);
    expect_most(DIVIDE("rem.s32"), UNIT, 18);
    expect_most(DIVIDE("rem.u32"), UNIT, 23);
    expect_most("atom.global.add.u32 %r4, [%rd0], 1;\n", UNIT, 8);
    expect_most("red.global.add.u32 [%rd0], %r1;\n", UNIT, 8);
    expect_most("atom.global.exch.b32 %r4, [%rd0], %r1;\n", UNIT, 17);
}

/* Expects the loop, whose iterations are as many as the register says, to be unrolled or not. */
static void expect_unrolled(bool is_unrolled, const char *bound, const char *inside) {
    static char body[1024];
    snprintf(body, sizeof body,
             "mov.u32 %%r2, 0;\nLOOP:\nld.global.f32 %%f2, [%%rd0];\n%s\nadd.f32 %%f1, %%f1, %%f2;\n"
             "add.s32 %%r2, %%r2, 1;\nsetp.lt.s32 %%p1, %%r2, %s;\n@%%p1 bra LOOP;\nst.global.f32 [%%rd0], %%f1;\n",
             inside, bound);
    struct fixture f = fixture_new(body);
    struct isa_loop loop;
    isa_fold(&f.code);
    if (isa_find_loop(&f.code, 0, &loop) != is_unrolled)
        fail_msg("'%s' up to %s is %sunrolled", inside, bound, is_unrolled ? "not " : "");
    fixture_free(&f);
}

/* ptxas 13.0 for the same loops. */
static void loops_of_unknown_length_with_nested_branches_stay(void **state) {
    (void)state;
#define PATH "setp.gt.f32 %p2, %f1, %f3;\n@%p2 bra X;\nex2.approx.ftz.f32 %f1, %f1;\n"
#define NESTED PATH "setp.gt.f32 %p3, %f1, %f4;\n@%p3 bra X;\nlg2.approx.ftz.f32 %f1, %f1;\nX:\n"
    expect_unrolled(true, "%r0", PATH "X:\n");
    expect_unrolled(false, "%r0", NESTED);
    expect_unrolled(true, "20", NESTED);
}

static void loops_of_unknown_length_with_barriers_and_branches_stay(void **state) {
    (void)state;
    expect_unrolled(true, "%r0", "bar.sync 0;\n");
    expect_unrolled(false, "%r0", "bar.sync 0;\n" PATH "X:\n");
    expect_unrolled(true, "20", "bar.sync 0;\n" PATH "X:\n");
    expect_unrolled(false, "%r0", "membar.gl;\n");
}

static void instructions_for_the_warp_stay_in_divergent_loops(void **state) {
    (void)state;
    expect_unrolled(true, "%r1", "");
    expect_unrolled(true, "%r0", "shfl.sync.bfly.b32 %f1, %f1, 1, 31, -1;\n");
    expect_unrolled(false, "%r1", "shfl.sync.bfly.b32 %f1, %f1, 1, 31, -1;\n");
    expect_unrolled(false, "%r1", "vote.sync.ballot.b32 %r4, %p1, -1;\n");
    expect_unrolled(false, "%r1", "bar.sync 0;\n");
}

static void other_loops_stay(void **state) {
    (void)state;
    struct fixture f = amortize("mov.u32 %r2, 0;", "add.s32 %r2, %r2, %r0;", "lt.s32 %p1, %r2, 99");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1, 1, 1); /* its step is not a constant */
    f = amortize("mov.u32 %r2, 0;", "add.s32 %r2, %r2, 1;\nadd.s32 %r0, %r0, 2;", "lt.s32 %p1, %r2, %r0");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1, 1, 1, 1); /* nor is its bound */
    f = amortize("mov.u32 %r2, 0;", "add.s32 %r2, %r2, 1;",
                 "lt.s32 %p2, %r2, 16;\nsetp.gt.f32 %p3, %f1, %f2;\nand.pred %p1, %p2, %p3");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1, 1, 0, 1, 1); /* each iteration asks for more than its counter */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counted_loop_is_unrolled),
        cmocka_unit_test(a_loop_of_known_length_disappears),
        cmocka_unit_test(long_loops_are_unrolled_in_part),
        cmocka_unit_test(few_iterations_may_be_long),
        cmocka_unit_test(accesses_count_almost_twice),
        cmocka_unit_test(joined_instructions_count_before_they_are_joined),
        cmocka_unit_test(loads_allow_longer_bodies),
        cmocka_unit_test(divisions_and_combined_atomics_are_long),
        cmocka_unit_test(loops_of_unknown_length_with_nested_branches_stay),
        cmocka_unit_test(loops_of_unknown_length_with_barriers_and_branches_stay),
        cmocka_unit_test(instructions_for_the_warp_stay_in_divergent_loops),
        cmocka_unit_test(other_loops_stay),
    };
    return cmocka_run_group_tests_name("isa/loops", tests, NULL, NULL);
}
