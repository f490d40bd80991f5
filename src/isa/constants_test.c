/* Tests of constants that need a register: as many machine instructions as ptxas emits for sm_90. */
#include "isa/fixture.h"

static struct fixture load(const char *body) {
    struct fixture f = fixture_new(body);
    isa_load_constants(&f.code);
    return f;
}

#define FOUR_TENTHS "0d3FD999999999999A"
#define SIX_TENTHS "0d3FE3333333333333"
#define HALF "0d3FE0000000000000"
#define ONE "0d3FF0000000000000"

static void an_instruction_contains_the_upper_half_of_a_double(void **state) {
    (void)state;
    struct fixture f = load("add.f64 %d1, %d2, " HALF ";\nadd.f64 %d1, %d2, " FOUR_TENTHS ";\n");
    assert_int_equal(fixture_at(&f, 1)->n_constants, 2);
    FIXTURE_EXPECT(&f, 1, 3); /* UMOV, UMOV, DADD */
}

static void a_block_loads_a_constant_once(void **state) {
    (void)state;
    struct fixture f = load("add.f64 %d1, %d2, " FOUR_TENTHS ";\nmul.f64 %d3, %d2, " FOUR_TENTHS ";\n"
                            "L: mul.f64 %d3, %d3, " FOUR_TENTHS ";\nsetp.lt.f64 %p1, %d3, %d1;\n@%p1 bra L;\n");
    FIXTURE_EXPECT(&f, 3, 1, 3, 1, 1); /* in every iteration again */
}

static void one_of_two_constants_is_in_a_register(void **state) {
    (void)state;
    struct fixture f =
        load("fma.rn.f32 %f1, %f2, 0f3F000001, 0f3F800001;\nfma.rn.f32 %f3, %f2, 0f3F000001, 0f3F800001;\n"
             "selp.b32 %r2, 5, -4, %p1;\nselp.b32 %r3, 5, 0, %p1;\nfma.rn.f64 %d1, %d2, " HALF ", " ONE
             ";\nfma.rn.f64 %d1, %d2, " FOUR_TENTHS ", " SIX_TENTHS ";\n");
    FIXTURE_EXPECT(&f, 2, 1, 2, 1, 3, 5);
    f = load("L: fma.rn.f32 %f1, %f1, 0f3F000001, 0f3F800001;\nsetp.lt.f32 %p1, %f1, %f2;\n@%p1 bra L;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1); /* before the loop */
}

static void a_constant_that_an_access_writes_is_in_a_register(void **state) {
    (void)state;
    struct fixture f = load("mul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd0, %rd1;\nred.global.add.u32 [%rd2], 1;\n"
                            "red.global.add.u32 [%rd2+4], 1;\nred.global.add.u32 [%rd2], %r1;\n"
                            "st.global.u32 [%rd2], 5;\nst.global.u32 [%rd2], 0;\n"
                            "atom.global.cas.b32 %r2, [%rd2], 0, 1;\n");
    FIXTURE_EXPECT(&f, 1, 2, 2, 1, 1, 2, 1, 2); /* the last finds 1 in its register */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instruction_contains_the_upper_half_of_a_double),
        cmocka_unit_test(a_block_loads_a_constant_once),
        cmocka_unit_test(one_of_two_constants_is_in_a_register),
        cmocka_unit_test(a_constant_that_an_access_writes_is_in_a_register),
    };
    return cmocka_run_group_tests_name("isa/constants", tests, NULL, NULL);
}
