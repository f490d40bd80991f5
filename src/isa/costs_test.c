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

static void a_constant_is_converted_by_the_compiler(void **state) {
    (void)state;
    struct fixture f = fixture_new("mov.f32 %f1, 0f3F000000;\ncvt.rn.f16.f32 %h1, %f1;\ncvt.rn.f16.f32 %h2, %f2;\n"
                                   "st.global.v2.u16 [%rd0], {%h1, %h2};\n");
    FIXTURE_EXPECT(&f, 0, 0, 1, 1);
}

static void a_predicate_that_paths_set_is_moved(void **state) {
    (void)state;
    struct fixture f =
        fixture_new("mov.pred %p1, 0;\n@%p2 bra end;\nmov.pred %p1, -1;\nend:\nmov.pred %p3, 0;\n"
                    "selp.u32 %r2, 1, 0, %p1;\nselp.u32 %r3, %r2, 0, %p3;\nst.global.u32 [%rd0], %r3;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1, 0, 1, 1, 1); /* PLOP3 */
}

static void an_empty_half_needs_no_instruction(void **state) {
    (void)state;
    struct fixture f = fixture_new("ld.global.u64 %rd1, [%rd0];\nld.global.u64 %rd2, [%rd0+8];\n"
                                   "shl.b64 %rd3, %rd1, 2;\nand.b64 %rd4, %rd3, 4194300;\nadd.s64 %rd5, %rd4, %rd2;\n"
                                   "shr.u64 %rd6, %rd1, 35;\nshr.u64 %rd7, %rd1, 5;\nshl.b64 %rd8, %rd1, 35;\n"
                                   "and.b64 %rd9, %rd1, %rd2;\nst.global.v2.u64 [%rd0], {%rd5, %rd6};\n"
                                   "st.global.v2.u64 [%rd0+16], {%rd7, %rd8};\nst.global.u64 [%rd0+32], %rd9;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1, 2, 1, 2, 1, 2);
    f = fixture_new("cvt.u64.u32 %rd1, %r1;\nmul.lo.s64 %rd2, %rd1, %rd3;\nmul.lo.s64 %rd4, %rd3, %rd3;\n"
                    "mul.lo.s64 %rd5, %rd3, 12345;\nselp.f64 %d1, %d2, %d3, %p1;\nmax.f64 %d1, %d2, %d3;\n"
                    "st.global.u64 [%rd0], %rd2;\nst.global.u64 [%rd0], %rd4;\nst.global.u64 [%rd0], %rd5;\n");
    FIXTURE_EXPECT(&f, 0, 2, 4, 3, 2, 9);
}

static void sequences_of_two_words_have_their_length(void **state) {
    (void)state;
    struct fixture f = fixture_new("ld.global.u64 %rd1, [%rd0];\nmul.hi.s64 %rd2, %rd1, %rd1;\n"
                                   "mul.hi.s64 %rd3, %rd1, 9223231301513871361;\nmul.hi.u64 %rd4, %rd1, %rd1;\n"
                                   "mad.wide.u32 %rd5, %r0, %r1, %rd1;\nshr.u64 %rd6, %rd1, 32;\n"
                                   "add.s64 %rd7, %rd6, %rd2;\nbfi.b64 %rd8, %rd2, %rd3, 8, 8;\n"
                                   "bfe.u64 %rd9, %rd4, 8, 8;\nst.global.v2.u64 [%rd0], {%rd7, %rd8};\n"
                                   "st.global.v2.u64 [%rd0], {%rd5, %rd9};\n");
    FIXTURE_EXPECT(&f, 1, 17, 12, 7, 3, 0, 2, 5, 2);
}

static void two_words_become_a_pair(void **state) {
    (void)state;
    struct fixture f = fixture_new("cvt.u64.u32 %rd1, %r1;\ncvt.u64.u32 %rd2, %r0;\nshl.b64 %rd3, %rd1, 32;\n"
                                   "or.b64 %rd4, %rd3, %rd2;\nor.b64 %rd5, %rd3, %rd6;\n"
                                   "bfi.b64 %rd7, %rd1, %rd2, 32, 32;\nst.global.v2.u64 [%rd0], {%rd4, %rd5};\n"
                                   "st.global.u64 [%rd0], %rd7;\n");
    FIXTURE_EXPECT(&f, 0, 0, 0, 0, 1, 0);
    f = fixture_new("ld.global.u64 %rd1, [%rd0];\nand.b64 %rd2, %rd1, 0xffffffff00000000;\n"
                    "and.b64 %rd3, %rd1, 0xff000000;\nand.b64 %rd4, %rd1, 0xf0000000f;\n"
                    "st.global.v2.u64 [%rd0], {%rd2, %rd3};\nst.global.u64 [%rd0], %rd4;\n");
    FIXTURE_EXPECT(&f, 1, 0, 1, 2);
}

static void fields_of_bytes_are_permuted(void **state) {
    (void)state;
    struct fixture f = fixture_new("bfi.b32 %r2, %r1, %r0, 8, 8;\nbfi.b32 %r3, %r1, %r0, 3, 5;\n"
                                   "bfe.u32 %r4, %r1, 8, 8;\nbfe.u32 %r5, %r1, 3, 5;\n");
    FIXTURE_EXPECT(&f, 1, 2, 1, 2);
}

/* As nvcc writes the accumulator of inline assembler: VABSDIFF4 reads the zero register. */
static void a_move_to_an_operand_that_is_overwritten_is_a_name(void **state) {
    (void)state;
#define LOOP "L: mov.u32 %r3, %r2;\nvabsdiff4.u32.u32.u32.add %r3, %r1, %r0, %r3;\nadd.s32 %r4, %r4, %r3;\n"
#define END "setp.lt.s32 %p1, %r4, %r0;\n@%p1 bra L;\nst.global.u32 [%rd0], %r4;\n"
    struct fixture f = fixture_new("mov.u32 %r2, 0;\n" LOOP END);
    FIXTURE_EXPECT(&f, 0, 0, 1, 1);
    f = fixture_new("mov.u32 %r2, 0;\n" LOOP "mov.u32 %r3, %r2;\n" END "st.global.u32 [%rd0], %r3;\n");
    FIXTURE_EXPECT(&f, 0, 0, 1, 1, 0); /* the second is needed only where the loop is left */
    f = fixture_new("mov.u32 %r2, %laneid;\nL: mov.u32 %r3, %r2;\nadd.s32 %r2, %r2, 1;\n"
                    "vabsdiff4.u32.u32.u32.add %r3, %r1, %r0, %r3;\nadd.s32 %r4, %r4, %r3;\n" END);
    FIXTURE_EXPECT(&f, 1, 1, 1, 1); /* %r2 has changed when %r3 is read */
}

static void one_lane_adds_for_all_on_one_address(void **state) {
    (void)state;
    struct fixture f = fixture_new("mul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd0, %rd1;\n"
                                   "atom.global.add.u32 %r2, [%rd0], 3;\nred.global.add.u32 [%rd0], 3;\n"
                                   "red.global.add.u32 [%rd2], 3;\natom.shared.add.u64 %rd3, [%r1], %rd4;\n"
                                   "red.global.max.s32 [%rd0], %r1;\nred.global.inc.u32 [%rd0], %r1;\n"
                                   "red.global.add.u64 [%rd0], %rd1;\natom.global.max.s32 %r3, [%rd0], %r1;\n"
                                   "atom.global.add.u32 %r4, [%rd0], %r1;\n");
    FIXTURE_EXPECT(&f, 1, 2, 10, 5, 1, 9, 3, 1, 1, 1, 4); /* the lane has been chosen: REDUX, MOV, RED */
    f = fixture_new("red.global.max.s32 [%rd0], %r1;\nred.global.add.u32 [%rd0+4], 3;\n");
    FIXTURE_EXPECT(&f, 7, 2);
    f = fixture_new("vote.sync.ballot.b32 %r2, %p1, -1;\npopc.b32 %r3, %r2;\n"
                    "atom.global.add.u32 %r4, [%rd0], %r3;\n"); /* all lanes have the result of a vote */
    FIXTURE_EXPECT(&f, 1, 1, 10);
    f = fixture_new("red.global.add.u64 [%rd0], 3;\nred.global.max.u64 [%rd0], 3;\nred.shared.add.u64 [%r1], 3;\n"
                    "atom.global.add.u64 %rd3, [%rd0], 3;\n"); /* of 64 bits only sums of the same number */
    FIXTURE_EXPECT(&f, 11, 1, 9, 19);
}

static void one_thread_adds_by_itself(void **state) {
    (void)state;
    struct fixture f = fixture_new("setp.ne.s32 %p1, %r1, 0;\n@%p1 bra OVER;\nred.global.add.u32 [%rd0], %r1;\n"
                                   "red.global.add.u64 [%rd0], 3;\natom.global.add.u32 %r2, [%rd0], 3;\nOVER:\n"
                                   "red.global.add.u32 [%rd0], %r1;\n");
    FIXTURE_EXPECT(&f, 1, 1, 1, 1, 1, 7);
    f = fixture_new("setp.eq.s32 %p1, %r0, 0;\n@%p1 bra OVER;\nred.global.add.u32 [%rd0], %r1;\nOVER:\n");
    FIXTURE_EXPECT(&f, 1, 1, 7); /* all threads or none */
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

/* ptxas 13.0: a shift beside the load. */
static void a_load_extends_the_sign(void **state) {
    (void)state;
    struct fixture f = fixture_new("ld.global.s32 %rd1, [%rd0];\nld.global.u32 %rd2, [%rd0];\n"
                                   "st.global.u64 [%rd0], %rd1;\nst.global.u64 [%rd0], %rd2;\n"
                                   "ld.global.s32 %rd3, [%rd0];\ncvt.u32.u64 %r2, %rd3;\nst.global.u32 [%rd0], %r2;\n");
    FIXTURE_EXPECT(&f, 2, 1, 1, 1, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_have_their_length),
        cmocka_unit_test(a_second_division_has_the_reciprocal),
        cmocka_unit_test(addresses_in_shared_memory_have_32_bits),
        cmocka_unit_test(moves_are_names),
        cmocka_unit_test(a_constant_is_converted_by_the_compiler),
        cmocka_unit_test(a_predicate_that_paths_set_is_moved),
        cmocka_unit_test(an_empty_half_needs_no_instruction),
        cmocka_unit_test(sequences_of_two_words_have_their_length),
        cmocka_unit_test(two_words_become_a_pair),
        cmocka_unit_test(fields_of_bytes_are_permuted),
        cmocka_unit_test(a_move_to_an_operand_that_is_overwritten_is_a_name),
        cmocka_unit_test(one_lane_adds_for_all_on_one_address),
        cmocka_unit_test(one_thread_adds_by_itself),
        cmocka_unit_test(fragments_of_matrices_are_words),
        cmocka_unit_test(a_load_extends_the_sign),
    };
    return cmocka_run_group_tests_name("isa/costs", tests, NULL, NULL);
}
