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
    FIXTURE_EXPECT(&f, 3, 1, 1, 1, 1); /* and the loop finds it */
}

static void one_of_two_constants_is_in_a_register(void **state) {
    (void)state;
    struct fixture f =
        load("fma.rn.f32 %f1, %f2, 0f3F000001, 0f3F800001;\nfma.rn.f32 %f3, %f2, 0f3F000001, 0f3F800001;\n"
             "selp.b32 %r2, 5, -4, %p1;\nselp.b32 %r3, 5, 0, %p1;\nfma.rn.f64 %d1, %d2, " HALF ", " ONE
             ";\nfma.rn.f64 %d1, %d2, " FOUR_TENTHS ", " SIX_TENTHS ";\n");
    FIXTURE_EXPECT(&f, 2, 1, 2, 1, 3, 5);
    f = load("mov.f32 %f3, 0f3F000001;\nmov.f32 %f4, 0f3F800001;\nfma.rn.f32 %f1, %f2, %f3, %f4;\n");
    FIXTURE_EXPECT(&f, 0, 0, 2); /* nvcc names them */
}

static void a_short_loop_without_loads_finds_its_constants_in_registers(void **state) {
    (void)state;
    struct fixture f = load("mov.f32 %f1, %f2;\nL: fma.rn.f32 %f1, %f1, 0f3F000001, 0f3F800001;\n"
                            "setp.lt.f32 %p1, %f1, %f2;\n@%p1 bra L;\n");
    unsigned before = fixture_at(&f, 0)->parts;
    assert_int_equal(before, ISA_PARTS + f.code.target->cost(&f.code, FIXTURE_N_HEAD) * ISA_PARTS);
    FIXTURE_EXPECT(&f, before / ISA_PARTS, 1, 1, 1);
    f = load("L: ld.global.f32 %f3, [%rd0];\nfma.rn.f32 %f1, %f3, 0f3F000001, 0f3F800001;\n"
             "setp.lt.f32 %p1, %f1, %f2;\n@%p1 bra L;\n");
    FIXTURE_EXPECT(&f, 1, 2, 1, 1); /* a load leaves time for it in every iteration */
    f = load("M: mov.f32 %f1, %f2;\nL: fma.rn.f32 %f1, %f1, 0f3F000001, 0f3F800001;\nsetp.lt.f32 %p1, %f1, %f2;\n"
             "@%p1 bra L;\nfma.rn.f32 %f2, %f2, 0f3F000001, 0f3F800002;\nsetp.lt.f32 %p1, %f2, 0f3F800000;\n"
             "@%p1 bra M;\n");
    assert_int_equal(fixture_at(&f, 4)->parts, 2 * ISA_PARTS); /* in a loop around another one */
    fixture_free(&f);
}

static void a_swap_has_its_numbers_in_a_pair_of_registers(void **state) {
    (void)state;
    struct fixture f = load("mov.b32 %r3, 0;\natom.global.cas.b32 %r2, [%rd0], %r3, %r1;\n"
                            "atom.global.cas.b32 %r2, [%rd0], %r3, %r1;\natom.global.cas.b32 %r2, [%rd0], %r2, %r1;\n"
                            "atom.shared.cas.b32 %r2, [%r4], 0, 7;\n");
    FIXTURE_EXPECT(&f, 0, 2, 3, 1, 3);
}

static void a_constant_that_an_access_writes_is_in_a_register(void **state) {
    (void)state;
    struct fixture f = load("mul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd0, %rd1;\nred.global.add.u32 [%rd2], 1;\n"
                            "red.global.add.u32 [%rd2+4], 1;\nred.global.add.u32 [%rd2], %r1;\n"
                            "st.global.u32 [%rd2], 5;\nst.global.u32 [%rd2], 0;\n"
                            "atom.global.cas.b32 %r2, [%rd2], 0, 1;\n");
    FIXTURE_EXPECT(&f, 1, 2, 2, 1, 1, 2, 1, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instruction_contains_the_upper_half_of_a_double),
        cmocka_unit_test(a_block_loads_a_constant_once),
        cmocka_unit_test(one_of_two_constants_is_in_a_register),
        cmocka_unit_test(a_short_loop_without_loads_finds_its_constants_in_registers),
        cmocka_unit_test(a_swap_has_its_numbers_in_a_pair_of_registers),
        cmocka_unit_test(a_constant_that_an_access_writes_is_in_a_register),
    };
    return cmocka_run_group_tests_name("isa/constants", tests, NULL, NULL);
}
