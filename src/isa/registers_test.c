/* Tests of the estimated registers. The numbers in comments are those of ptxas 13.0 for the same text. */
#include "isa/fixture.h"

static unsigned count_of(const char *body) {
    struct fixture f = fixture_new(body);
    isa_count_registers(&isa_sm_90, f.function);
    unsigned n = f.function->machine_registers;
    fixture_free(&f);
    return n;
}

#define ADDRESS "mul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd0, %rd1;\n"
#define LOAD_4                                                                                                         \
    "ld.global.f32 %f1, [%rd2];\nld.global.f32 %f2, [%rd2+128];\nld.global.f32 %f3, [%rd2+256];\n"                     \
    "ld.global.f32 %f4, [%rd2+384];\n"
#define STORE_4                                                                                                        \
    "st.global.f32 [%rd2+4], %f1;\nst.global.f32 [%rd2+132], %f2;\nst.global.f32 [%rd2+260], %f3;\n"                   \
    "st.global.f32 [%rd2+388], %f4;\n"

/* ptxas: 14. The pointer's pair, and four odd registers; the stack pointer is the fifth. */
static void stored_values_take_every_second_register(void **state) {
    (void)state;
    assert_int_equal(count_of(ADDRESS LOAD_4 STORE_4), 2 + 2 * 5 + 2);
}

/* ptxas: 10. Values that are only added fill both banks. */
static void other_values_take_every_register(void **state) {
    (void)state;
    assert_int_equal(count_of(ADDRESS LOAD_4 "add.f32 %f5, %f1, %f2;\nadd.f32 %f6, %f3, %f4;\nadd.f32 %f7, %f5, %f6;\n"
                                             "st.global.f32 [%rd2], %f7;\n"),
                     2 + 6 + 2);
}

static void a_division_needs_registers_for_rare_operands(void **state) {
    (void)state;
    unsigned product = count_of(ADDRESS LOAD_4 "mul.f32 %f1, %f1, %f2;\n" STORE_4);
    unsigned fast = count_of(ADDRESS LOAD_4 "div.approx.f32 %f1, %f1, %f2;\n" STORE_4);
    unsigned rounded = count_of(ADDRESS LOAD_4 "div.rn.f32 %f1, %f1, %f2;\n" STORE_4);
    assert_int_equal(fast, product);
    assert_true(rounded > product);
}

#define LOAD_WIDE "ld.global.u64 %rd3, [%rd2];\nld.global.u64 %rd4, [%rd2+8];\n"
#define STORE_WIDE "st.global.u64 [%rd2], %rd5;\n"

/* ptxas: 10, 12 and 16. */
static void products_of_64_bits_have_parts(void **state) {
    (void)state;
    assert_int_equal(count_of(ADDRESS LOAD_WIDE "add.s64 %rd5, %rd3, %rd4;\n" STORE_WIDE), 10);
    assert_int_equal(count_of(ADDRESS LOAD_WIDE "mul.lo.s64 %rd5, %rd3, %rd4;\n" STORE_WIDE), 12);
    assert_int_equal(count_of(ADDRESS LOAD_WIDE "mul.hi.u64 %rd5, %rd3, %rd4;\n" STORE_WIDE), 16);
}

#define EXCHANGES                                                                                                      \
    "shfl.sync.down.b32 %r3, %r2, 4, 31, -1;\nadd.s32 %r4, %r3, %r2;\nshfl.sync.down.b32 %r5, %r4, 2, 31, -1;\n"       \
    "add.s32 %r6, %r4, %r5;\n"
#define MIX "mul.lo.s32 %r7, %r6, %r2;\nxor.b32 %r8, %r7, %r6;\nst.global.u32 [%rd2], %r8;\n"

/* ptxas: 10 and 12. */
static void exchanges_keep_their_operands(void **state) {
    (void)state;
    assert_int_equal(count_of(ADDRESS "ld.global.u32 %r2, [%rd2];\n" EXCHANGES MIX), 10);
    assert_int_equal(count_of(ADDRESS "ld.global.u32 %r2, [%rd2];\nmov.u32 %r6, %r2;\nsetp.ge.s32 %p1, %r1, %r0;\n"
                                      "@%p1 bra END;\n" EXCHANGES "END:\n" MIX),
                     12);
}

#define SIX_VALUES                                                                                                     \
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %tid.y;\nmov.u32 %r4, %tid.z;\nmov.u32 %r5, %ctaid.y;\n"                     \
    "mov.u32 %r6, %ctaid.z;\nmov.u32 %r7, %ntid.x;\n"
#define MIX_VALUES                                                                                                     \
    "xor.b32 %r9, %r8, %r2;\nmul.lo.u32 %r10, %r9, %r3;\nxor.b32 %r11, %r10, %r4;\nmul.lo.u32 %r12, %r11, %r5;\n"      \
    "xor.b32 %r13, %r12, %r6;\nmul.lo.u32 %r14, %r13, %r7;\nst.shared.u32 [%r14], %r14;\n"

/* A parameter is an operand in constant memory unless the instruction has another constant. */
static void a_parameter_with_another_constant_is_loaded(void **state) {
    (void)state;
    unsigned operand = count_of(SIX_VALUES "mad.lo.u32 %r8, %r1, %r2, %r0;\n" MIX_VALUES);
    unsigned loaded = count_of(SIX_VALUES "mad.lo.u32 %r8, %r1, 12, %r0;\n" MIX_VALUES);
    assert_int_equal(loaded, operand + 2);
}

/* A register that only guarded instructions write and read is not live before them. */
static void a_guarded_value_begins_with_its_write(void **state) {
    (void)state;
    const char *guarded =
        "setp.gt.u32 %p1, %r1, 7;\n@%p1 ld.shared.f32 %f1, [%r1];\n@%p1 st.shared.f32 [%r1+64], %f1;\n"
        "@%p1 ld.shared.f32 %f2, [%r1+4];\n@%p1 st.shared.f32 [%r1+68], %f2;\n"
        "@%p1 ld.shared.f32 %f3, [%r1+8];\n@%p1 st.shared.f32 [%r1+72], %f3;\n";
    const char *plain = "ld.shared.f32 %f1, [%r1];\nst.shared.f32 [%r1+64], %f1;\n"
                        "ld.shared.f32 %f2, [%r1+4];\nst.shared.f32 [%r1+68], %f2;\n"
                        "ld.shared.f32 %f3, [%r1+8];\nst.shared.f32 [%r1+72], %f3;\n";
    assert_int_equal(count_of(guarded), count_of(plain));
}

/* The registers that cost no more threads than those of so many values, for a block of so many threads. */
static unsigned enough_for(unsigned values, unsigned threads, unsigned blocks) {
    char body[4096] = "";
    for (unsigned k = 0; k < values; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "ld.global.f32 %%f%u, [%%rd0+%u];\n", k, 4 * k);
    for (unsigned k = 1; k < values; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "fma.rn.f32 %%f0, %%f0, %%f%u, %%f%u;\n", k, k);
    strcat(body, "st.global.f32 [%rd0], %f0;\n");
    struct fixture f = fixture_new(body);
    f.function->max_threads[0] = threads;
    f.function->min_blocks_per_sm = blocks;
    struct isa_need need = isa_find_need(&isa_sm_90, f.function);
    fixture_free(&f);
    assert_in_range(need.least, values + 2, values + 8);
    return need.enough;
}

/* ptxas with 32 loads before a barrier, and more and more accumulators. */
static void registers_are_spent_as_long_as_they_cost_no_block(void **state) {
    (void)state;
    assert_int_equal(enough_for(10, 0, 0), 32);
    assert_int_equal(enough_for(30, 0, 0), 40);
    assert_int_equal(enough_for(41, 0, 0), 48);
    assert_int_equal(enough_for(50, 0, 0), 56);
    assert_int_equal(enough_for(58, 0, 0), 64);
    assert_int_equal(enough_for(41, 256, 0), 48);
    assert_int_equal(enough_for(50, 256, 0), 64);
    assert_int_equal(enough_for(41, 512, 0), 64);
    assert_int_equal(enough_for(30, 1024, 0), 64);
}

static void enough_blocks_leave_the_rest_of_the_registers(void **state) {
    (void)state;
    assert_int_equal(enough_for(10, 64, 1), 255);
    assert_int_equal(enough_for(10, 256, 2), 128);
    assert_int_equal(enough_for(10, 256, 4), 64);
    assert_int_equal(enough_for(10, 256, 8), 32);
}

/* ptxas: 26. Half of the eight registers of a fragment of 16 bits are copies. */
static void fragments_of_16_bits_fill_half_their_registers(void **state) {
    (void)state;
    char body[2048] = ".reg .b32 %a<64>;\n.reg .f32 %s<9>;\n";
    for (unsigned k = 0; k < 4; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%%a%u, %%a%u, %%a%u, %%a%u, %%a%u, %%a%u, %%a%u, "
                 "%%a%u}, [%%r1+%u], 16;\n",
                 8 * k, 8 * k + 1, 8 * k + 2, 8 * k + 3, 8 * k + 4, 8 * k + 5, 8 * k + 6, 8 * k + 7, 512 * k);
    for (unsigned k = 0; k < 4; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%%s0, %%s1, %%s2, %%s3, %%s4, %%s5, %%s6, %%s7}, "
                 "{%%a%u, %%a%u, %%a%u, %%a%u, %%a%u, %%a%u, %%a%u, %%a%u}, {%%a0, %%a1, %%a2, %%a3, %%a4, %%a5, %%a6, "
                 "%%a7}, {%%s0, %%s1, %%s2, %%s3, %%s4, %%s5, %%s6, %%s7};\n",
                 8 * k, 8 * k + 1, 8 * k + 2, 8 * k + 3, 8 * k + 4, 8 * k + 5, 8 * k + 6, 8 * k + 7);
    strcat(body, "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd0], {%s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7}, "
                 "16;\n");
    assert_in_range(count_of(body), 24, 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_values_take_every_second_register),
        cmocka_unit_test(other_values_take_every_register),
        cmocka_unit_test(a_division_needs_registers_for_rare_operands),
        cmocka_unit_test(products_of_64_bits_have_parts),
        cmocka_unit_test(fragments_of_16_bits_fill_half_their_registers),
        cmocka_unit_test(exchanges_keep_their_operands),
        cmocka_unit_test(a_parameter_with_another_constant_is_loaded),
        cmocka_unit_test(a_guarded_value_begins_with_its_write),
        cmocka_unit_test(registers_are_spent_as_long_as_they_cost_no_block),
        cmocka_unit_test(enough_blocks_leave_the_rest_of_the_registers),
    };
    return cmocka_run_group_tests_name("isa/registers", tests, NULL, NULL);
}
