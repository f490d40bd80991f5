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
    f = amortize("mov.u32 %r2, 0;", "add.s32 %r2, %r2, 1;", "ne.s32 %p1, %r2, 1000"); /* 80 times a body of 4 */
    FIXTURE_EXPECT(&f, 1, 1, 0, 0, 0, 1);                                             /* less than a part */
}

static void other_loops_stay(void **state) {
    (void)state;
    struct fixture f = amortize("mov.u32 %r2, 0;", "add.s32 %r2, %r2, %r0;", "lt.s32 %p1, %r2, 99");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1, 1, 1); /* its step is not a constant */
    f = amortize("mov.u32 %r2, 0;", "add.s32 %r2, %r2, 1;\nadd.s32 %r0, %r0, 2;", "lt.s32 %p1, %r2, %r0");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1, 1, 1, 1); /* nor is its bound */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counted_loop_is_unrolled),
        cmocka_unit_test(a_loop_of_known_length_disappears),
        cmocka_unit_test(other_loops_stay),
    };
    return cmocka_run_group_tests_name("isa/loops", tests, NULL, NULL);
}
