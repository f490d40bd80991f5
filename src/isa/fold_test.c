/* Tests of folded instructions: as many machine instructions as ptxas emits for sm_90. */
#include "isa/fixture.h"

static struct fixture fold(const char *body) {
    struct fixture f = fixture_new(body);
    isa_fold(&f.code);
    return f;
}

static void constants_of_all_lanes_come_in_pairs(void **state) {
    (void)state;
    struct fixture f = fold("ld.const.f32 %f1, [table];\nld.const.f32 %f2, [table+4];\nmul.wide.u32 %rd1, %r1, 4;\n"
                            "mov.u64 %rd2, table;\nadd.s64 %rd3, %rd2, %rd1;\nld.const.f32 %f3, [%rd3];\n"
                            "add.f32 %f4, %f1, %f2;\nadd.f32 %f4, %f4, %f3;\nst.global.f32 [%rd0], %f4;\n");
    FIXTURE_EXPECT(&f, 0.5, 0.5, 0, 0, 1, 1, 1, 1, 1); /* the last load: lanes read different words */
    f = fold("ld.const.f32 %f1, [table];\nld.const.f32 %f2, [table+8];\nadd.f32 %f3, %f1, %f2;\n"
             "st.global.f32 [%rd0], %f3;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1); /* not side by side */
}

static void the_least_of_three_words_is_one_instruction(void **state) {
    (void)state;
    struct fixture f = fold("min.s32 %r2, %r1, %r0;\nmin.s32 %r3, %r2, %r4;\nmin.s32 %r5, %r1, 255;\n"
                            "max.s32 %r6, %r5, 0;\nmax.s32 %r7, %r1, %r0;\nmin.s32 %r8, %r7, %r4;\n"
                            "st.global.v4.u32 [%rd0], {%r3, %r6, %r8, %r8};\n");
    FIXTURE_EXPECT(&f, 0, 1, 0, 1, 1, 1, 1); /* VIMNMX3, VIMNMX.RELU */
}

static void opposite_shifts_turn_a_word(void **state) {
    (void)state;
    struct fixture f = fold("shl.b32 %r2, %r1, 13;\nshr.u32 %r3, %r1, 19;\nor.b32 %r4, %r2, %r3;\n"
                            "shl.b32 %r5, %r1, 13;\nshr.u32 %r6, %r1, 18;\nor.b32 %r7, %r5, %r6;\n"
                            "st.global.v2.u32 [%rd0], {%r4, %r7};\n");
    FIXTURE_EXPECT(&f, 0, 0, 1, 1, 1, 1, 1);
}

static void a_product_of_registers_is_not_subtracted(void **state) {
    (void)state;
    struct fixture f = fold("mul.lo.s32 %r2, %r1, %r0;\nsub.s32 %r3, %r1, %r2;\nmul.lo.s32 %r4, %r1, 7;\n"
                            "sub.s32 %r5, %r1, %r4;\nmul.lo.s32 %r6, %r1, %r0;\nsub.s32 %r7, %r6, %r1;\n"
                            "st.global.v4.u32 [%rd0], {%r3, %r5, %r7, %r7};\n");
    FIXTURE_EXPECT(&f, 1, 1, 0, 1, 0, 1, 1);
}

static void a_wide_product_is_part_of_the_sum(void **state) {
    (void)state;
    struct fixture f = fold("mul.wide.s32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd0, %rd1;\nld.global.f32 %f1, [%rd2];\n"
                            "st.global.f32 [%rd2+4], %f1;\n");
    FIXTURE_EXPECT(&f, 0, 1, 1, 1); /* IMAD.WIDE */
    f = fold("mul.wide.s32 %rd1, %r1, 4;\nst.global.u64 [%rd0], %rd1;\n");
    FIXTURE_EXPECT(&f, 1, 1);
    f = fold("cvt.s64.s32 %rd1, %r1;\nmul.wide.s32 %rd2, %r0, %r1;\nadd.s64 %rd3, %rd2, %rd1;\n"
             "st.global.u64 [%rd0], %rd3;\n");
    FIXTURE_EXPECT(&f, 1, 0, 1, 1); /* it adds a pair, whose upper half is the sign */
}

static void far_offsets_take_a_sum(void **state) {
    (void)state;
    struct fixture f = fold(
        "ld.global.u32 %r2, [%rd0+8388604];\nst.global.u32 [%rd0+8388608], %r2;\nst.global.u32 [%rd0+-8388608], %r2;\n"
        "st.global.u32 [%rd0+16777216], %r2;\nadd.s64 %rd1, %rd0, 33554432;\nst.global.u32 [%rd1+4], %r2;\n"
        "@%p1 st.global.u32 [%rd1+8], %r2;\n");
    FIXTURE_EXPECT(&f, 1, 3, 1, 1, 0, 3, 3); /* IADD3, IADD3.X */
}

static void lanes_that_are_not_known_meet_before_shuffles(void **state) {
    (void)state;
    struct fixture f = fold("shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1;\nmov.u32 %r3, 65535;\n"
                            "shfl.sync.bfly.b32 %r4, %r2, 8, 31, %r3;\nactivemask.b32 %r5;\n"
                            "shfl.sync.bfly.b32 %r6, %r4, 8, 31, %r5;\nst.global.u32 [%rd0], %r6;\n");
    FIXTURE_EXPECT(&f, 1, 0, 1, 1, 1, 1);
    f = fold("shfl.sync.bfly.b32 %r2, %r1, 8, 31, %r0;\nst.global.u32 [%rd0], %r2;\n"
             "bar.sync 0;\n@%p1 bra over;\nvote.sync.ballot.b32 %r5, %p2, %r0;\nst.global.u32 [%rd0+4], %r5;\n"
             "over:\nshfl.sync.bfly.b32 %r3, %r2, 4, 31, %r0;\nshfl.sync.bfly.b32 %r4, %r3, 2, 31, %r0;\n"
             "st.global.u32 [%rd0+8], %r4;\n");
    FIXTURE_EXPECT(&f, 2, 1, 1, 1, 4, 1, 6, 1, 1);
}

static void a_choice_guards_the_instruction_with_the_result(void **state) {
    (void)state;
    struct fixture f = fold("add.f32 %f1, %f2, %f3;\nselp.f32 %f4, %f1, %f2, %p1;\nst.global.f32 [%rd0], %f4;\n");
    FIXTURE_EXPECT(&f, 1, 0, 1); /* @P1 FADD */
    f = fold("add.f32 %f1, %f2, %f3;\nselp.f32 %f4, %f2, %f1, %p1;\nst.global.f32 [%rd0], %f4;\n"
             "st.global.f32 [%rd0+4], %f2;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1); /* f2 is needed */
    f = fold("add.s32 %r2, %r1, 1;\nselp.b32 %r3, %r2, 5, %p1;\nst.global.u32 [%rd0], %r3;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1);
}

static void the_highest_bit_is_one_instruction(void **state) {
    (void)state;
    struct fixture f =
        fold("clz.b32 %r2, %r1;\nmov.u32 %r3, 31;\nsub.s32 %r4, %r3, %r2;\nst.global.u32 [%rd0], %r4;\n");
    FIXTURE_EXPECT(&f, 1, 0, 0, 1); /* FLO */
    f = fold("clz.b32 %r2, %r1;\nsub.s32 %r4, 32, %r2;\nst.global.u32 [%rd0], %r4;\n");
    FIXTURE_EXPECT(&f, 2, 1, 1);
}

static void sums_and_products_limit_their_results(void **state) {
    (void)state;
    struct fixture f = fold("fma.rn.f32 %f1, %f2, %f3, %f3;\ncvt.sat.f32.f32 %f4, %f1;\nst.global.f32 [%rd0], %f4;\n");
    FIXTURE_EXPECT(&f, 1, 0, 1); /* FFMA.SAT */
    f = fold("ex2.approx.f32 %f1, %f2;\ncvt.sat.f32.f32 %f4, %f1;\nst.global.f32 [%rd0], %f4;\n");
    assert_true(fixture_at(&f, 1)->parts > 0);
    fixture_free(&f);
}

static void a_sum_takes_in_a_shift_of_two_words(void **state) {
    (void)state;
    struct fixture f = fold("mov.u32 %r5, 7;\nshf.l.wrap.b32 %r2, %r1, %r1, %r5;\nadd.s32 %r3, %r2, %r0;\n"
                            "shf.r.wrap.b32 %r4, %r1, %r3, 9;\nadd.s32 %r6, %r4, %r0;\nst.global.u32 [%rd0], %r6;\n");
    FIXTURE_EXPECT(&f, 0, 0, 1, 0, 1, 1); /* LEA.HI */
    f = fold("shf.l.wrap.b32 %r2, %r1, %r1, 7;\nsub.s32 %r3, %r2, %r0;\nst.global.u32 [%rd0], %r3;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1);
}

static void a_sum_takes_in_a_shift(void **state) {
    (void)state;
    struct fixture f =
        fold("shr.u32 %r2, %r1, 5;\nadd.s32 %r3, %r2, %r0;\nshl.b32 %r4, %r1, 3;\nsub.s32 %r5, %r4, %r3;\n"
             "st.global.u32 [%rd0], %r5;\n");
    FIXTURE_EXPECT(&f, 0, 1, 0, 1, 1); /* LEA.HI, LEA */
    f = fold("shr.s32 %r2, %r1, 5;\nsub.s32 %r3, %r0, %r2;\nst.global.u32 [%rd0], %r3;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1);
}

static void an_offset_is_part_of_the_access(void **state) {
    (void)state;
    struct fixture f = fold("add.s64 %rd1, %rd0, 64;\nld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd1+4], %f1;\n");
    FIXTURE_EXPECT(&f, 0, 1, 1);
    f = fold("add.s64 %rd1, %rd0, 64;\nst.global.u64 [%rd0], %rd1;\n");
    FIXTURE_EXPECT(&f, 2, 1);
}

static void the_first_address_of_shared_memory_is_computed(void **state) {
    (void)state;
    struct fixture f = fold("mov.u64 %rd1, s;\nadd.s64 %rd3, %rd1, %rd2;\nst.shared.u32 [%rd3], %r1;\n"
                            "mov.u64 %rd4, s;\nst.shared.u32 [%rd4], %r1;\n");
    FIXTURE_EXPECT(&f, 3, 0, 1, 0, 1);
}

static void accesses_to_shared_memory_add_a_uniform_base(void **state) {
    (void)state;
    struct fixture f = fold("mov.u32 %r2, s;\nand.b32 %r3, %r1, 1020;\nadd.s32 %r4, %r2, %r3;\n"
                            "red.shared.add.u32 [%r4], 1;\nst.shared.u32 [%r4+4], %r1;\n");
    FIXTURE_EXPECT(&f, 3, 1, 0, 1, 1);
    f = fold("mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r2, %r3;\nred.shared.add.u32 [%r4], 1;\n");
    FIXTURE_EXPECT(&f, 3, 1, 0, 1); /* or one LEA */
    f = fold("mov.u32 %r2, s;\nand.b32 %r3, %r1, 1020;\nadd.s32 %r4, %r2, %r3;\nst.shared.u32 [%r4], %r4;\n");
    FIXTURE_EXPECT(&f, 3, 1, 1, 1); /* the sum is a value too */
}

static void logic_of_three_inputs_is_one_instruction(void **state) {
    (void)state;
    struct fixture f = fold("xor.b32 %r4, %r1, %r2;\nand.b32 %r5, %r4, %r3;\nxor.b32 %r6, %r5, %r2;\n"
                            "st.global.u32 [%rd0], %r6;\n");
    FIXTURE_EXPECT(&f, 0, 0, 1);
    f = fold("xor.b32 %r4, %r1, %r2;\nand.b32 %r5, %r4, %r3;\nxor.b32 %r6, %r5, %r7;\nst.global.u32 [%rd0], %r6;\n");
    FIXTURE_EXPECT(&f, 0, 1, 1); /* r1, r2, r3 */
}

static void sums_take_in_one_more_operation(void **state) {
    (void)state;
    struct fixture f = fold("add.s32 %r4, %r1, %r2;\nadd.s32 %r5, %r4, %r3;\nadd.s32 %r6, %r5, 7;\n"
                            "st.global.u32 [%rd0], %r6;\n");
    FIXTURE_EXPECT(&f, 0, 1, 1); /* IADD3 */
    f = fold("shl.b32 %r4, %r1, 3;\nadd.s32 %r5, %r4, %r3;\nst.global.u32 [%rd0], %r5;\n");
    FIXTURE_EXPECT(&f, 0, 1); /* LEA */
    f = fold("mul.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f5;\nst.global.f32 [%rd0], %f4;\n");
    FIXTURE_EXPECT(&f, 0, 1); /* FFMA */
    f = fold("mul.rn.f32 %f1, %f2, %f3;\nadd.rn.f32 %f4, %f1, %f5;\nst.global.f32 [%rd0], %f4;\n");
    FIXTURE_EXPECT(&f, 1, 1); /* rounds twice */
}

static void wide_sums_take_in_a_sum_or_a_product(void **state) {
    (void)state;
    struct fixture f = fold("add.s64 %rd3, %rd1, %rd2;\nadd.s64 %rd5, %rd3, %rd4;\nst.global.u64 [%rd0], %rd5;\n");
    FIXTURE_EXPECT(&f, 0, 2, 1); /* IADD3, IADD3.X */
    f = fold("mul.lo.s64 %rd3, %rd1, %rd2;\nadd.s64 %rd5, %rd3, %rd4;\nst.global.u64 [%rd0], %rd5;\n");
    FIXTURE_EXPECT(&f, 0, 4, 1);
    f = fold("mul.lo.s64 %rd3, %rd1, %rd2;\nadd.s64 %rd5, %rd3, 1;\nst.global.u64 [%rd0], %rd5;\n");
    FIXTURE_EXPECT(&f, 4, 2, 1); /* the constant would have to be in a register */
    f = fold("mul.wide.s32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd4, %rd2;\n"
             "st.global.u64 [%rd0], %rd5;\n");
    FIXTURE_EXPECT(&f, 0, 1, 2, 1); /* IMAD.WIDE has one sum */
}

static void masks_of_what_a_load_clears_are_names(void **state) {
    (void)state;
    struct fixture f = fold("ld.global.u8 %h1, [%rd0];\nand.b16 %h2, %h1, 255;\nand.b16 %h3, %h1, 127;\n"
                            "st.global.u16 [%rd0], %h2;\nst.global.u16 [%rd0+2], %h3;\n");
    FIXTURE_EXPECT(&f, 1, 0, 1, 1, 1);
}

static void the_place_of_a_constant_is_an_offset(void **state) {
    (void)state;
    struct fixture f = fold("and.b32 %r2, %r1, 252;\ncvt.u64.u32 %rd1, %r2;\nmov.u64 %rd2, table;\n"
                            "add.s64 %rd3, %rd2, %rd1;\nld.const.f32 %f1, [%rd3];\nst.global.f32 [%rd0], %f1;\n");
    FIXTURE_EXPECT(&f, 1, 0, 0, 0, 1, 1);
}

static void signs_are_part_of_what_reads_them(void **state) {
    (void)state;
    struct fixture f = fold("neg.f32 %f1, %f2;\nmul.rn.f32 %f3, %f1, %f4;\nst.global.f32 [%rd0], %f3;\n");
    FIXTURE_EXPECT(&f, 0, 1, 1);
    f = fold("neg.f32 %f1, %f2;\nst.global.f32 [%rd0], %f1;\n");
    FIXTURE_EXPECT(&f, 1, 1);
}

static void predicates_are_part_of_comparisons(void **state) {
    (void)state;
    struct fixture f = fold("setp.eq.s32 %p1, %r1, 5;\nsetp.eq.s32 %p2, %r0, 6;\nand.pred %p3, %p1, %p2;\n"
                            "@%p3 st.global.u32 [%rd0], %r1;\n");
    FIXTURE_EXPECT(&f, 1, 1, 0, 1);
    f = fold("and.b32 %r2, %r1, 7;\nsetp.eq.s32 %p1, %r2, 0;\n@%p1 st.global.u32 [%rd0], %r1;\n");
    FIXTURE_EXPECT(&f, 0, 1, 1); /* a test of masked bits */
}

static void neighbouring_loads_are_one(void **state) {
    (void)state;
    struct fixture f = fold("mov.u64 %rd1, s;\nld.shared.f32 %f1, [%rd1];\nld.shared.f32 %f2, [%rd1+4];\n"
                            "ld.shared.f32 %f3, [%rd1+8];\nld.shared.f32 %f4, [%rd1+12];\n"
                            "st.global.v4.f32 [%rd0], {%f1, %f2, %f3, %f4};\n");
    FIXTURE_EXPECT(&f, 3, 1, 0, 0, 0, 1);
    f = fold("mov.u64 %rd1, s;\nld.shared.f64 %d1, [%rd1];\nld.shared.f64 %d2, [%rd1+8];\n"
             "st.global.v2.f64 [%rd0], {%d1, %d2};\n");
    FIXTURE_EXPECT(&f, 3, 1, 0, 1);
    f = fold("mov.u64 %rd1, s;\nld.shared.f32 %f1, [%rd1];\nld.shared.f32 %f2, [%rd1+4];\nbar.sync 0;\n"
             "ld.shared.f32 %f3, [%rd1+8];\nld.shared.f32 %f4, [%rd1+12];\n"
             "st.global.v4.f32 [%rd0], {%f1, %f2, %f3, %f4};\n");
    FIXTURE_EXPECT(&f, 3, 1, 1, 1, 1, 1, 1);
}

/* ptxas 13.0: VIADD R2, R3, 1; @!P1 IMAD.MOV R2, RZ, RZ, R3; and MOV R3, R2 if R3 is the sum's own register. */
static void a_choice_of_constants_is_added_under_its_predicate(void **state) {
    (void)state;
    struct fixture f = fold("selp.u32 %r4, 1, 0, %p1;\nadd.s32 %r5, %r2, %r4;\nselp.u32 %r6, 1, 0, %p2;\n"
                            "add.s32 %r7, %r5, %r6;\nst.global.u32 [%rd0], %r7;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1, 1);
    f = fold("mov.u32 %r2, %tid.y;\nselp.u32 %r4, 1, 0, %p1;\nadd.s32 %r2, %r2, %r4;\nst.global.u32 [%rd0], %r2;\n");
    FIXTURE_EXPECT(&f, 1, 1, 2, 1);
    f = fold("mov.u32 %r2, %tid.y;\nselp.b32 %r4, %r3, 0, %p1;\nadd.s32 %r2, %r2, %r4;\nst.global.u32 [%rd0], %r2;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1); /* not a constant */
    f = fold("selp.u32 %r4, 1, 0, %p1;\nadd.s32 %r5, %r2, %r4;\nadd.s32 %r6, %r5, %r3;\nst.global.u32 [%rd0], %r6;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1); /* no IADD3 of three registers */
    f = fold("add.s32 %r5, %r2, %r3;\nselp.u32 %r4, 1, 0, %p1;\nadd.s32 %r6, %r5, %r4;\nst.global.u32 [%rd0], %r6;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_of_all_lanes_come_in_pairs),
        cmocka_unit_test(the_least_of_three_words_is_one_instruction),
        cmocka_unit_test(opposite_shifts_turn_a_word),
        cmocka_unit_test(a_product_of_registers_is_not_subtracted),
        cmocka_unit_test(a_wide_product_is_part_of_the_sum),
        cmocka_unit_test(far_offsets_take_a_sum),
        cmocka_unit_test(lanes_that_are_not_known_meet_before_shuffles),
        cmocka_unit_test(a_choice_guards_the_instruction_with_the_result),
        cmocka_unit_test(the_highest_bit_is_one_instruction),
        cmocka_unit_test(sums_and_products_limit_their_results),
        cmocka_unit_test(a_sum_takes_in_a_shift_of_two_words),
        cmocka_unit_test(a_sum_takes_in_a_shift),
        cmocka_unit_test(an_offset_is_part_of_the_access),
        cmocka_unit_test(the_first_address_of_shared_memory_is_computed),
        cmocka_unit_test(accesses_to_shared_memory_add_a_uniform_base),
        cmocka_unit_test(logic_of_three_inputs_is_one_instruction),
        cmocka_unit_test(sums_take_in_one_more_operation),
        cmocka_unit_test(wide_sums_take_in_a_sum_or_a_product),
        cmocka_unit_test(masks_of_what_a_load_clears_are_names),
        cmocka_unit_test(the_place_of_a_constant_is_an_offset),
        cmocka_unit_test(signs_are_part_of_what_reads_them),
        cmocka_unit_test(predicates_are_part_of_comparisons),
        cmocka_unit_test(neighbouring_loads_are_one),
        cmocka_unit_test(a_choice_of_constants_is_added_under_its_predicate),
    };
    return cmocka_run_group_tests_name("isa/fold", tests, NULL, NULL);
}
