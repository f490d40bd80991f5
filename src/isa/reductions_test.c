/* Tests of atomics that become reductions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "isa/internal.h"

struct reduced {
    enum ptx_opcode opcode;
    bool adds_one;
};

static struct reduced reduce(const char *atomic, const char *after) {
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
    const struct ptx_instruction *insn = &function->instruction[0];
    struct reduced reduced = {insn->opcode, false};
    if (insn->opcode == PTX_OP_RED) {
        assert_int_equal(insn->n_operands, 2);
        assert_int_equal(insn->operand[0].kind, PTX_OPERAND_ADDRESS);
        reduced.adds_one = ptx_has(insn, PTX_MOD_ADD) && !ptx_has(insn, PTX_MOD_INC) &&
                           insn->operand[1].kind == PTX_OPERAND_INTEGER && insn->operand[1].value == 1;
    }
    ptx_module_free(module);
    return reduced;
}

/* Returns the opcode of the atomic after the pass. */
static enum ptx_opcode opcode_of(const char *atomic, const char *after) { return reduce(atomic, after).opcode; }

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

static void an_increment_that_cannot_wrap_adds_one(void **state) {
    (void)state;
    assert_true(reduce("atom.global.inc.u32 %r0, [%rd0], -1;", "").adds_one);
    assert_true(reduce("atom.global.inc.u32 %r0, [%rd0], 4294967295;", "").adds_one);
    assert_false(reduce("atom.global.inc.u32 %r0, [%rd0], 7;", "").adds_one);
    assert_false(reduce("atom.global.inc.u32 %r0, [%rd0], %r1;", "").adds_one);
    assert_false(reduce("atom.global.dec.u32 %r0, [%rd0], -1;", "").adds_one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_atomic_whose_result_is_not_read_is_a_reduction),
        cmocka_unit_test(an_atomic_whose_result_is_read_stays),
        cmocka_unit_test(exchanges_and_acquires_stay),
        cmocka_unit_test(an_increment_that_cannot_wrap_adds_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
