/* Tests of the instructions around a function's own. */
#include "isa/fixture.h"

/* Two registers and the return address are stored at the beginning and loaded at the end. */
static void a_function_that_calls_keeps_registers(void **state) {
    (void)state;
    struct fixture f =
        fixture_of(&isa_sm_90,
                   ".version 7.0\n.target sm_70\n.address_size 64\n.func g();\n.func f(.param .b32 x) {\n"
                   ".reg .b32 %r<4>; .reg .b64 %rd<2>;\nld.param.u32 %r1, [x];\nadd.u32 %r2, %r1, 1;\n"
                   "call g, ();\nadd.u32 %r3, %r1, %r2;\ncvt.u64.u32 %rd1, %r3;\n"
                   "st.global.u32 [%rd1], %r3;\nret;\n}\n",
                   "f");
    isa_add_prologue(&f.code);
    assert_int_equal(f.code.insn[0].parts, ISA_PARTS);
    isa_add_frame(&f.code);
    assert_int_equal(f.code.insn[0].parts, (1 + 5) * ISA_PARTS);
    assert_int_equal(f.code.insn[1].parts, ISA_PARTS);
    assert_int_equal(f.code.insn[6].parts, (1 + 5) * ISA_PARTS);
    fixture_free(&f);
}

static void a_kernel_begins_with_its_stack_pointer(void **state) {
    (void)state;
    struct fixture f = fixture_new("st.shared.u32 [%r1], %r0;\n");
    isa_add_prologue(&f.code);
    isa_add_frame(&f.code);
    assert_int_equal(f.code.insn[0].parts, 2 * ISA_PARTS);
    fixture_free(&f);
    f = fixture_new("st.global.u32 [%rd0], %r0;\n"); /* and a descriptor for global memory */
    isa_add_prologue(&f.code);
    assert_int_equal(f.code.insn[0].parts, 3 * ISA_PARTS);
    fixture_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_that_calls_keeps_registers),
        cmocka_unit_test(a_kernel_begins_with_its_stack_pointer),
    };
    return cmocka_run_group_tests_name("isa/frame", tests, NULL, NULL);
}
