/* Tests of the places where parameters and the base of shared memory come into registers, counted in the machine code
 * of ptxas 13.0. */
#include "isa/fixture.h"

static struct fixture placed(const char *body) {
    struct fixture f = fixture_new(body);
    isa_fold(&f.code);
    isa_convert_branches(&f.code);
    isa_place_bases(&f.code);
    return f;
}

static void a_parameter_is_loaded_where_it_is_used(void **state) {
    (void)state;
    struct fixture f = placed("setp.ge.s32 %p1, %r1, %r0;\n@%p1 bra end;\nst.global.u32 [%rd0], %r1;\nbar.sync 0;\n"
                              "st.global.u32 [%rd0+4], %r1;\nend:\n");
    assert_int_equal(f.code.insn[0].parts, 0);
    FIXTURE_EXPECT(&f, 2, 1, 2, 1, 1); /* setp with r0; rd0 once */
}

static void a_path_that_is_predicated_loads_its_own(void **state) {
    (void)state;
    struct fixture f = placed("setp.ge.s32 %p1, %r1, 5;\n@%p1 bra over;\nst.global.u32 [%rd0], %r1;\nover:\n"
                              "setp.ge.s32 %p2, %r1, 9;\n@%p2 bra end;\nst.global.u32 [%rd0+4], %r1;\nend:\n"
                              "bar.sync 0;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1, 1, 1);
}

static void a_loop_without_inner_loops_has_its_parameters_before_it(void **state) {
    (void)state;
    struct fixture f = placed("mov.u32 %r2, 0;\nloop:\nld.global.u32 %r3, [%rd0];\nadd.s32 %r2, %r2, %r3;\n"
                              "setp.lt.s32 %p1, %r2, %r0;\n@%p1 bra loop;\n");
    FIXTURE_EXPECT(&f, 3, 1, 1, 1, 1);
    f = placed("mov.u32 %r2, 0;\nloop:\nld.global.u32 %r3, [%rd0];\ninner:\nadd.s32 %r2, %r2, %r3;\n"
               "setp.lt.s32 %p1, %r2, 50;\n@%p1 bra inner;\nsetp.lt.s32 %p2, %r2, %r0;\n@%p2 bra loop;\n");
    FIXTURE_EXPECT(&f, 1, 2, 1, 1, 1, 2, 1);
}

static void a_second_variable_of_shared_memory_has_an_address_of_its_own(void **state) {
    (void)state;
    struct fixture f = placed(".shared .b32 t[64];\nshl.b32 %r2, %r1, 3;\nmov.u32 %r3, s;\nxor.b32 %r4, %r3, %r2;\n"
                              "mov.u32 %r5, t;\nxor.b32 %r6, %r5, %r2;\nxor.b32 %r7, %r5, %r1;\n"
                              "st.shared.u32 [%r4], %r1;\nst.shared.u32 [%r6], %r7;\n");
    FIXTURE_EXPECT(&f, 1, 0, 1 + 3, 0, 1 + 2, 1, 1, 1);
}

static void blocks_that_may_not_execute_have_the_base_of_shared_memory_for_themselves(void **state) {
    (void)state;
    struct fixture f = placed("setp.ge.s32 %p1, %r1, 5;\n@%p1 bra over;\nmov.u32 %r2, s;\nadd.s32 %r3, %r2, %r1;\n"
                              "atom.shared.add.u32 %r4, [%r3], %r1;\nover:\nmov.u32 %r5, s;\nadd.s32 %r6, %r5, 4;\n"
                              "ld.shared.u32 %r7, [%r6];\nld.shared.u32 %r8, [s+8];\nst.global.u32 [%rd0], %r7;\n");
    FIXTURE_EXPECT(&f, 1, 1, 0, 3, 1, 0, 3, 1, 1, 2);
}

/* The divisor r0, a parameter, is loaded before the loop, too. */
static void a_reciprocal_is_computed_before_the_loop(void **state) {
    (void)state;
#define LOOP "mov.u32 %r2, 0;\nloop:\ndiv.u32 %r3, %r2, %r0;\nrem.u32 %r4, %r2, %r0;\n"
#define END "add.s32 %r2, %r2, %r3;\nsetp.lt.s32 %p1, %r2, %r4;\n@%p1 bra loop;\n"
    struct fixture f = placed(LOOP END);
    FIXTURE_EXPECT(&f, 1 + 1 + 10, 9, 8, 1, 1, 1);
    f = placed(LOOP "add.s32 %r0, %r0, 1;\n" END);
    FIXTURE_EXPECT(&f, 1, 18, 17, 1, 1, 1, 1);
}

static void pointers_of_all_threads_are_copied_in_each_iteration(void **state) {
    (void)state;
#define BODY(start, pointer)                                                                                           \
    "mov.u32 %r2, 0;\n" start "loop:\nld.global.u32 %r3, [" pointer "];\nadd.s64 " pointer ", " pointer                \
    ", 4;\nst.shared.u32 [s], %r3;\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p1, %r2, %r0;\n@%p1 bra loop;\n"
    struct fixture f = placed(BODY("add.s64 %rd1, %rd0, 8;\n", "%rd1"));
    assert_int_equal(fixture_at(&f, 2)->parts, 3 * ISA_PARTS);
    fixture_free(&f);
    f = placed(BODY("mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd0, %rd2;\n", "%rd1"));
    assert_int_equal(fixture_at(&f, 3)->parts, 1 * ISA_PARTS);
    fixture_free(&f);
    f = placed("mov.u32 %r2, 0;\nadd.s64 %rd1, %rd0, 8;\nloop:\nmul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
               "ld.global.u32 %r3, [%rd3];\nadd.s64 %rd1, %rd1, 4;\nst.shared.u32 [s], %r3;\nadd.s32 %r2, %r2, 1;\n"
               "setp.lt.s32 %p1, %r2, %r0;\n@%p1 bra loop;\n");
    assert_int_equal(fixture_at(&f, 3)->parts, 3 * ISA_PARTS); /* MOV, MOV, IMAD.WIDE */
    fixture_free(&f);
    f = placed(BODY("mov.u64 %rd1, words;\n", "%rd1"));
    assert_int_equal(fixture_at(&f, 2)->parts, 3 * ISA_PARTS);
    fixture_free(&f);
}

/* x[p[k]] for k < q: each iteration of the four bodies loads the pair with x, and the remainder has it. */
static void unrolled_loops_load_their_pairs(void **state) {
    (void)state;
    struct fixture f = fixture_new("mov.u32 %r2, 0;\nloop:\nld.shared.u32 %r3, [s];\nmul.wide.s32 %rd1, %r3, 4;\n"
                                   "add.s64 %rd2, %rd0, %rd1;\nld.global.f32 %f2, [%rd2];\nadd.f32 %f1, %f1, %f2;\n"
                                   "add.s32 %r2, %r2, 1;\nsetp.lt.s32 %p1, %r2, %r0;\n@%p1 bra loop;\n"
                                   "st.global.f32 [%rd0], %f1;\n");
    isa_unroll(&isa_sm_90, f.function, f.module->arena);
    struct ptx_analysis *analysis = ptx_analyze(f.function);
    struct isa_code code = isa_code_new(&isa_sm_90, analysis);
    isa_fold(&code);
    isa_place_bases(&code);
    unsigned n_loads = 0, n_sums = 0;
    for (uint32_t i = 0; i < code.n; i++)
        if (code.insn[i].takes == ISA_TAKES_WIDE_PRODUCT &&
            analysis->block[analysis->block_of[i]].loop_header != PTX_NO_BLOCK) {
            n_sums++;
            n_loads += code.insn[i].parts == 2 * ISA_PARTS;
        }
    assert_int_equal(n_sums, 4 + 1);
    assert_int_equal(n_loads, 1);
    isa_code_free(&code);
    ptx_analysis_free(analysis);
    fixture_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parameter_is_loaded_where_it_is_used),
        cmocka_unit_test(a_path_that_is_predicated_loads_its_own),
        cmocka_unit_test(a_loop_without_inner_loops_has_its_parameters_before_it),
        cmocka_unit_test(a_reciprocal_is_computed_before_the_loop),
        cmocka_unit_test(pointers_of_all_threads_are_copied_in_each_iteration),
        cmocka_unit_test(unrolled_loops_load_their_pairs),
        cmocka_unit_test(a_second_variable_of_shared_memory_has_an_address_of_its_own),
        cmocka_unit_test(blocks_that_may_not_execute_have_the_base_of_shared_memory_for_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
