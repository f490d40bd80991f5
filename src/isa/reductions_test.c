/* Tests of atomics that become reductions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "isa/internal.h"

/* Returns the opcode of the atomic after the pass. */
static enum ptx_opcode opcode_of(const char *atomic, const char *after) {
    static char text[4096];
    struct ptx_messages messages = {0};
    int length = snprintf(text, sizeof text,
                          ".version 7.1\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                          ".reg .b32 %%r<8>;\n.reg .f32 %%f<4>;\n.reg .b64 %%rd<8>;\n.reg .pred %%p<2>;\n"
                          "%s\n%s\nret;\n}\n",
                          atomic, after);
    struct ptx_module *module = ptx_parse("test", text, (size_t)length, &messages);
    if (!module)
        fail_msg("%s", messages.text);
    ptx_messages_free(&messages);
    struct ptx_function *function = ptx_find_function(module, "k");
    isa_reduce_atomics(function);
    enum ptx_opcode opcode = function->instruction[0].opcode;
    if (opcode == PTX_OP_RED) {
        assert_int_equal(function->instruction[0].n_operands, 2);
        assert_int_equal(function->instruction[0].operand[0].kind, PTX_OPERAND_ADDRESS);
    }
    ptx_module_free(module);
    return opcode;
}

static void an_atomic_whose_result_is_not_read_is_a_reduction(void **state) {
    (void)state;
    assert_int_equal(opcode_of("atom.global.add.u32 %r0, [%rd0], %r1;", ""), PTX_OP_RED);
    assert_int_equal(opcode_of("atom.global.min.s32 %r0, [%rd0], %r1;", "mov.u32 %r0, 1;"), PTX_OP_RED);
    assert_int_equal(opcode_of("atom.global.add.f32 %f0, [%rd0], %f1;", ""), PTX_OP_RED);
    assert_int_equal(opcode_of("@%p0 atom.shared.add.u32 %r0, [%r2], 1;", ""), PTX_OP_RED);
    assert_int_equal(opcode_of("atom.global.add.u64 _, [%rd0], %rd1;", ""), PTX_OP_RED);
}

static void an_atomic_whose_result_is_read_stays(void **state) {
    (void)state;
    assert_int_equal(opcode_of("atom.global.add.u32 %r0, [%rd0], %r1;", "st.global.u32 [%rd1], %r0;"), PTX_OP_ATOM);
    assert_int_equal(opcode_of("atom.global.add.u32 %r0, [%rd0], %r0;", ""), PTX_OP_ATOM); /* its own operand */
}

static void exchanges_and_acquires_stay(void **state) {
    (void)state;
    assert_int_equal(opcode_of("atom.global.exch.b32 %r0, [%rd0], %r1;", ""), PTX_OP_ATOM);
    assert_int_equal(opcode_of("atom.global.cas.b32 %r0, [%rd0], %r1, %r2;", ""), PTX_OP_ATOM);
    assert_int_equal(opcode_of("atom.acquire.gpu.global.add.u32 %r0, [%rd0], %r1;", ""), PTX_OP_ATOM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_atomic_whose_result_is_not_read_is_a_reduction),
        cmocka_unit_test(an_atomic_whose_result_is_read_stays),
        cmocka_unit_test(exchanges_and_acquires_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
