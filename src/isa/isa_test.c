/* Machine instructions of small kernels, against what ptxas makes of them for sm_90. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/isa.h"

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.shared .align 16 .b8 s[4096];\n"                                  \
    ".const .align 16 .b32 table[64];\n"                                                                               \
    ".visible .entry k(.param .u64 p, .param .u32 q) {\n"                                                              \
    ".reg .b32 %r<32>;\n.reg .f32 %f<64>;\n.reg .b64 %rd<32>;\n.reg .f64 %d<4>;\n.reg .pred %p<8>;\n"                  \
    "ld.param.u64 %rd0, [p];\nld.param.u32 %r0, [q];\nmov.u32 %r1, %tid.x;\n"
enum { N_HEAD = 3 };

static struct ptx_module *module;
static struct ptx_analysis *analysis;
static uint16_t *cost;

static void count(const char *body) {
    static char text[1 << 14];
    struct ptx_messages messages = {0};
    int length = snprintf(text, sizeof text, "%s%sret;\n}\n", HEAD, body);
    module = ptx_parse("test", text, (size_t)length, &messages);
    if (!module)
        fail_msg("%s", messages.text);
    ptx_messages_free(&messages);
    analysis = ptx_analyze(ptx_find_function(module, "k"));
    cost = isa_sm_90(analysis);
}

static void done(void) {
    free(cost);
    ptx_analysis_free(analysis);
    ptx_module_free(module);
}

/* The cost of the body's k-th instruction in machine instructions. */
static double at(unsigned k) { return (double)(cost[N_HEAD + k] & ISA_COST) / ISA_PARTS; }

static void expect(unsigned k, double machine_instructions) {
    if (at(k) != machine_instructions)
        fail_msg("instruction %u costs %g, expected %g", k, at(k), machine_instructions);
}

static void constants_of_all_lanes_come_in_pairs(void **state) {
    (void)state;
    count("ld.const.f32 %f1, [table];\nld.const.f32 %f2, [table+4];\nmul.wide.u32 %rd1, %r1, 4;\nmov.u64 %rd2, table;\n"
          "add.s64 %rd3, %rd2, %rd1;\nld.const.f32 %f3, [%rd3];\nadd.f32 %f4, %f1, %f2;\nadd.f32 %f4, %f4, %f3;\n"
          "st.global.f32 [%rd0], %f4;\n");
    expect(0, 0.5);
    expect(1, 0.5);
    expect(5, 1); /* lanes read different words */
    done();
}

/* Two registers and the return address are stored at the beginning and loaded at the end. */
static void a_function_that_calls_keeps_registers(void **state) {
    (void)state;
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.func g();\n.func f(.param .b32 x) {\n"
                               ".reg .b32 %r<4>; .reg .b64 %rd<2>;\nld.param.u32 %r1, [x];\nadd.u32 %r2, %r1, 1;\n"
                               "call g, ();\nadd.u32 %r3, %r1, %r2;\ncvt.u64.u32 %rd1, %r3;\n"
                               "st.global.u32 [%rd1], %r3;\nret;\n}\n";
    struct ptx_messages messages = {0};
    module = ptx_parse("test", text, sizeof text - 1, &messages);
    if (!module)
        fail_msg("%s", messages.text);
    ptx_messages_free(&messages);
    analysis = ptx_analyze(ptx_find_function(module, "f"));
    cost = isa_sm_90(analysis);
    assert_int_equal(cost[0], (1 + 5) * ISA_PARTS);
    assert_int_equal(cost[6], (1 + 5) * ISA_PARTS);
    done();
}

static void a_wide_product_is_part_of_the_sum(void **state) {
    (void)state;
    count("mul.wide.s32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd0, %rd1;\nld.global.f32 %f1, [%rd2];\nst.global.f32 [%rd2+4], "
          "%f1;\n");
    expect(0, 0);
    expect(1, 1); /* IMAD.WIDE */
    expect(2, 1);
    expect(3, 1);
    done();
    count("mul.wide.s32 %rd1, %r1, 4;\nst.global.u64 [%rd0], %rd1;\n");
    expect(0, 1);
    done();
}

static void an_offset_is_part_of_the_access(void **state) {
    (void)state;
    count("add.s64 %rd1, %rd0, 64;\nld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd1+4], %f1;\n");
    expect(0, 0);
    done();
    count("add.s64 %rd1, %rd0, 64;\nst.global.u64 [%rd0], %rd1;\n");
    expect(0, 2);
    done();
}

static void addresses_in_shared_memory_have_32_bits(void **state) {
    (void)state;
    count("mov.u64 %rd1, s;\ncvt.s64.s32 %rd2, %r1;\nadd.s64 %rd3, %rd1, %rd2;\nst.shared.u32 [%rd3], %r1;\n");
    expect(0, 3);
    expect(1, 0);
    expect(2, 1);
    done();
}

static void logic_of_three_inputs_is_one_instruction(void **state) {
    (void)state;
    count("xor.b32 %r4, %r1, %r2;\nand.b32 %r5, %r4, %r3;\nxor.b32 %r6, %r5, %r2;\nst.global.u32 [%rd0], %r6;\n");
    expect(0, 0);
    expect(1, 0);
    expect(2, 1);
    done();
    count("xor.b32 %r4, %r1, %r2;\nand.b32 %r5, %r4, %r3;\nxor.b32 %r6, %r5, %r7;\nst.global.u32 [%rd0], %r6;\n");
    expect(0, 0); /* r1, r2, r3 */
    expect(1, 1);
    expect(2, 1);
    done();
}

static void sums_take_in_one_more_operation(void **state) {
    (void)state;
    count("add.s32 %r4, %r1, %r2;\nadd.s32 %r5, %r4, %r3;\nadd.s32 %r6, %r5, 7;\nst.global.u32 [%rd0], %r6;\n");
    expect(0, 0);
    expect(1, 1); /* IADD3 */
    expect(2, 1);
    done();
    count("shl.b32 %r4, %r1, 3;\nadd.s32 %r5, %r4, %r3;\nst.global.u32 [%rd0], %r5;\n");
    expect(0, 0); /* LEA */
    expect(1, 1);
    done();
    count("mul.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f5;\nst.global.f32 [%rd0], %f4;\n");
    expect(0, 0); /* FFMA */
    done();
    count("mul.rn.f32 %f1, %f2, %f3;\nadd.rn.f32 %f4, %f1, %f5;\nst.global.f32 [%rd0], %f4;\n");
    expect(0, 1); /* rounds twice */
    done();
}

static void sequences_have_their_length(void **state) {
    (void)state;
    count("rsqrt.approx.f32 %f1, %f2;\nrsqrt.approx.ftz.f32 %f3, %f2;\ndiv.rn.f32 %f4, %f1, %f3;\n"
          "add.s64 %rd2, %rd0, %rd1;\nst.global.f32 [%rd2], %f4;\n");
    expect(0, 4);
    expect(1, 1);
    expect(2, 10);
    expect(3, 2);
    done();
}

static void a_constant_that_is_taken_apart_costs_nothing(void **state) {
    (void)state;
    count("mov.b64 {%r4, %r5}, 5;\nst.global.u32 [%rd0], %r4;\n");
    expect(0, 0);
    done();
}

static void a_short_branch_becomes_predicates(void **state) {
    (void)state;
    count("setp.gt.s32 %p1, %r1, 5;\n@%p1 bra OVER;\nfma.rn.f32 %f1, %f1, %f1, %f2;\nfma.rn.f32 %f1, %f1, %f1, %f2;\n"
          "OVER:\nst.global.f32 [%rd0], %f1;\n");
    expect(1, 2); /* the branch pays for its path */
    expect(2, 0);
    expect(4, 1);
    done();
}

static void a_long_divergent_branch_has_a_region(void **state) {
    (void)state;
    char body[2048] = "setp.gt.s32 %p1, %r1, 5;\n@%p1 bra OVER;\n";
    for (int i = 0; i < 9; i++)
        strcat(body, "fma.rn.f32 %f1, %f1, %f1, %f2;\n");
    strcat(body, "OVER:\nst.global.f32 [%rd0], %f1;\n");
    count(body);
    expect(1, 1);
    expect(2, 1);
    expect(11, 3); /* BSSY and BSYNC */
    done();
    memcpy(strstr(body, "%r1, 5"), "%r0, 5", 6);
    count(body);
    expect(11, 1); /* all threads go one way */
    done();
}

static void a_counted_loop_is_unrolled(void **state) {
    (void)state;
    count("mov.u32 %r2, 0;\nLOOP:\nfma.rn.f32 %f1, %f1, %f1, %f2;\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p1, %r2, %r0;\n"
          "@%p1 bra LOOP;\nst.global.f32 [%rd0], %f1;\n");
    expect(1, 1);
    expect(2, 0.25);
    expect(3, 0.25);
    expect(4, 0.25);
    done();
    count("mov.u32 %r2, 0;\nLOOP:\nfma.rn.f32 %f1, %f1, %f1, %f2;\nadd.s32 %r2, %r2, 1;\nsetp.ne.s32 %p1, %r2, 16;\n"
          "@%p1 bra LOOP;\nst.global.f32 [%rd0], %f1;\n");
    expect(1, 1);
    expect(4, 0); /* completely */
    done();
    count("mov.u32 %r2, 0;\nLOOP:\nfma.rn.f32 %f1, %f1, %f1, %f2;\nadd.s32 %r2, %r2, %r0;\nsetp.lt.s32 %p1, %r2, 99;\n"
          "@%p1 bra LOOP;\nst.global.f32 [%rd0], %f1;\n");
    expect(4, 1); /* its step is not a constant */
    done();
}

static void neighbouring_loads_are_one(void **state) {
    (void)state;
    count("mov.u64 %rd1, s;\nld.shared.f32 %f1, [%rd1];\nld.shared.f32 %f2, [%rd1+4];\nld.shared.f32 %f3, [%rd1+8];\n"
          "ld.shared.f32 %f4, [%rd1+12];\nst.global.v4.f32 [%rd0], {%f1, %f2, %f3, %f4};\n");
    expect(1, 1);
    expect(2, 0);
    expect(4, 0);
    done();
    count("mov.u64 %rd1, s;\nld.shared.f32 %f1, [%rd1];\nld.shared.f32 %f2, [%rd1+4];\nbar.sync 0;\n"
          "ld.shared.f32 %f3, [%rd1+8];\nld.shared.f32 %f4, [%rd1+12];\nst.global.v4.f32 [%rd0], {%f1, %f2, %f3, "
          "%f4};\n");
    expect(2, 1);
    done();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_of_all_lanes_come_in_pairs),
        cmocka_unit_test(a_function_that_calls_keeps_registers),
        cmocka_unit_test(a_wide_product_is_part_of_the_sum),
        cmocka_unit_test(an_offset_is_part_of_the_access),
        cmocka_unit_test(addresses_in_shared_memory_have_32_bits),
        cmocka_unit_test(logic_of_three_inputs_is_one_instruction),
        cmocka_unit_test(sums_take_in_one_more_operation),
        cmocka_unit_test(sequences_have_their_length),
        cmocka_unit_test(a_constant_that_is_taken_apart_costs_nothing),
        cmocka_unit_test(a_short_branch_becomes_predicates),
        cmocka_unit_test(a_long_divergent_branch_has_a_region),
        cmocka_unit_test(a_counted_loop_is_unrolled),
        cmocka_unit_test(neighbouring_loads_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
