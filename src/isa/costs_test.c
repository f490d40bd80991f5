/* Tests of the cost of single PTX instructions: as many machine instructions as ptxas emits for sm_90. */
#include "isa/fixture.h"

static void sequences_have_their_length(void **state) {
    (void)state;
    struct fixture f =
        fixture_new("rsqrt.approx.f32 %f1, %f2;\nrsqrt.approx.ftz.f32 %f3, %f2;\n"
                    "div.rn.f32 %f4, %f1, %f3;\nadd.s64 %rd2, %rd0, %rd1;\nst.global.f32 [%rd2], %f4;\n");
    FIXTURE_EXPECT(&f, 4, 1, 10, 2, 1);
    f = fixture_new(
        "div.s32 %r2, %r1, %r0;\nrem.u32 %r3, %r1, 7;\ndiv.rn.f64 %d1, %d2, %d3;\nsin.approx.f32 %f1, %f2;\n"
        "popc.b64 %r4, %rd1;\nmul24.lo.s32 %r5, %r1, %r0;\n");
    FIXTURE_EXPECT(&f, 26, 6, 19, 2, 3, 3);
}

static void a_second_division_has_the_reciprocal(void **state) {
    (void)state;
    struct fixture f = fixture_new("div.u32 %r2, %r1, %r0;\nrem.u32 %r3, %r1, %r0;\n");
    FIXTURE_EXPECT(&f, 18, 8);
}

static void addresses_in_shared_memory_have_32_bits(void **state) {
    (void)state;
    struct fixture f = fixture_new("mov.u64 %rd1, s;\ncvt.s64.s32 %rd2, %r1;\nadd.s64 %rd3, %rd1, %rd2;\n"
                                   "st.shared.u32 [%rd3], %r1;\n");
    FIXTURE_EXPECT(&f, 1, 0, 1, 1);
    f = fixture_new("cvt.s64.s32 %rd2, %r1;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\n");
    FIXTURE_EXPECT(&f, 1, 2, 1);
}

static void moves_are_names(void **state) {
    (void)state;
    struct fixture f = fixture_new("mov.u32 %r2, %r1;\nmov.u32 %r3, 5;\nmov.u32 %r4, 6;\nst.global.u32 [%rd0], %r4;\n"
                                   "mov.u32 %r5, %laneid;\nmov.b64 {%r6, %r7}, 5;\n");
    FIXTURE_EXPECT(&f, 0, 0, 1, 1, 1, 0); /* a constant that is stored must be in a register */
}

static void one_lane_adds_for_all_on_one_address(void **state) {
    (void)state;
    struct fixture f = fixture_new("mul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd0, %rd1;\n"
                                   "atom.global.add.u32 %r2, [%rd0], 3;\nred.global.add.u32 [%rd0], 3;\n"
                                   "red.global.add.u32 [%rd2], 3;\natom.shared.add.u64 %rd3, [%r1], %rd4;\n"
                                   "red.global.max.s32 [%rd0], %r1;\nred.global.inc.u32 [%rd0], %r1;\n"
                                   "red.global.add.u64 [%rd0], %rd1;\natom.global.max.s32 %r3, [%rd0], %r1;\n"
                                   "atom.global.add.u32 %r4, [%rd0], %r1;\n");
    FIXTURE_EXPECT(&f, 1, 2, 10, 5, 1, 9, 7, 1, 1, 1, 4);
}

static void fragments_of_matrices_are_words(void **state) {
    (void)state;
#define EIGHT "{%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}"
#define SUMS "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}"
    struct fixture f =
        fixture_new("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " EIGHT ", [%rd0], %r0;\n"
                    "wmma.load.a.sync.aligned.col.m16n16k16.global.f16 " EIGHT ", [%rd0], %r0;\n"
                    "wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 " EIGHT ", [s], %r0;\n"
                    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " SUMS ", " EIGHT ", " EIGHT ", " SUMS ";\n"
                    "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd0], " SUMS ", %r0;\n"
                    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, "
                    "{%r2, %r3, %r4, %r5}, {%r6, %r7}, {%f1, %f2, %f3, %f4};\n");
    FIXTURE_EXPECT(&f, 7, 11, 2, 2, 7, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_have_their_length),
        cmocka_unit_test(a_second_division_has_the_reciprocal),
        cmocka_unit_test(addresses_in_shared_memory_have_32_bits),
        cmocka_unit_test(moves_are_names),
        cmocka_unit_test(one_lane_adds_for_all_on_one_address),
        cmocka_unit_test(fragments_of_matrices_are_words),
    };
    return cmocka_run_group_tests_name("isa/costs", tests, NULL, NULL);
}
