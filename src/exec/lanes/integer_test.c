/* Selection of integer forms by type, modifiers and slots. tests/instructions checks their results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exec/lanes/lanes.h"

static const enum ptx_modifier no_modifier = PTX_N_MODIFIERS;

static struct ptx_instruction instruction(enum ptx_opcode opcode, enum ptx_type type, enum ptx_modifier modifier) {
    struct ptx_instruction insn = {.opcode = opcode, .n_types = 1, .type = {type}};
    if (modifier != no_modifier)
        insn.modifiers[modifier / 64] |= 1ull << modifier % 64;
    return insn;
}

static exec_lanes_fn *selected(enum ptx_opcode opcode, enum ptx_type type, enum ptx_modifier modifier) {
    struct ptx_instruction insn = instruction(opcode, type, modifier);
    struct exec_form form = {.insn = &insn};
    return EXEC_NAME(exec_select_integer)(&form);
}

static void forms_of_the_manual_have_functions(void **state) {
    (void)state;
    assert_non_null(selected(PTX_OP_ADD, PTX_S32, PTX_MOD_SAT));
    assert_non_null(selected(PTX_OP_ADD, PTX_U16X2, no_modifier));
    assert_non_null(selected(PTX_OP_MUL, PTX_S16, PTX_MOD_WIDE));
    assert_non_null(selected(PTX_OP_ADDC, PTX_U64, PTX_MOD_CC));
    assert_non_null(selected(PTX_OP_MIN, PTX_S16X2, PTX_MOD_RELU));
}

static void forms_that_ptx_does_not_have_are_refused(void **state) {
    (void)state;
    assert_null(selected(PTX_OP_ADD, PTX_U32, PTX_MOD_SAT));
    assert_null(selected(PTX_OP_SUB, PTX_U16X2, no_modifier));
    assert_null(selected(PTX_OP_MUL, PTX_U64, PTX_MOD_WIDE));
    assert_null(selected(PTX_OP_MUL, PTX_U32, no_modifier));
    assert_null(selected(PTX_OP_ADD, PTX_U16, PTX_MOD_CC));
    assert_null(selected(PTX_OP_NEG, PTX_U32, no_modifier));
    assert_null(selected(PTX_OP_MAX, PTX_U32, PTX_MOD_RELU));
    assert_null(selected(PTX_OP_ADD, PTX_F32, no_modifier));
    assert_null(selected(PTX_OP_ADD, PTX_S32, PTX_MOD_FTZ));
}

static void a_register_of_another_width_is_refused(void **state) {
    (void)state;
    struct ptx_instruction insn = instruction(PTX_OP_MUL, PTX_U32, PTX_MOD_WIDE);
    struct exec_form form = {.insn = &insn, .n_dst = 1, .n_src = 2, .dst_bits = {64}, .src_bits = {32, 32}};
    assert_non_null(EXEC_NAME(exec_select_integer)(&form));
    form.dst_bits[0] = 32;
    assert_null(EXEC_NAME(exec_select_integer)(&form));
    form.dst_bits[0] = 64;
    form.src_bits[1] = 16;
    assert_null(EXEC_NAME(exec_select_integer)(&form));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_of_the_manual_have_functions),
        cmocka_unit_test(forms_that_ptx_does_not_have_are_refused),
        cmocka_unit_test(a_register_of_another_width_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
