/* The host rounding mode of a form. */
#include "exec/exec.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct ptx_instruction instruction(enum ptx_opcode opcode, enum ptx_modifier modifier, enum ptx_type to,
                                          enum ptx_type from) {
    struct ptx_instruction insn = {.opcode = opcode, .n_types = from == PTX_NO_TYPE ? 1 : 2, .type = {to, from}};
    insn.modifiers[modifier / 64] |= 1ull << (modifier % 64);
    return insn;
}

static enum exec_rounding rounding_of(enum ptx_opcode opcode, enum ptx_modifier modifier, enum ptx_type to,
                                      enum ptx_type from) {
    struct ptx_instruction insn = instruction(opcode, modifier, to, from);
    return exec_form_rounding(&(struct exec_form){.insn = &insn});
}

static void directed_arithmetic_runs_under_the_hosts_mode(void **state) {
    (void)state;
    assert_int_equal(rounding_of(PTX_OP_ADD, PTX_MOD_RZ, PTX_F32, PTX_NO_TYPE), EXEC_ROUND_ZERO);
    assert_int_equal(rounding_of(PTX_OP_FMA, PTX_MOD_RM, PTX_F64, PTX_NO_TYPE), EXEC_ROUND_DOWN);
    assert_int_equal(rounding_of(PTX_OP_SQRT, PTX_MOD_RP, PTX_F32, PTX_NO_TYPE), EXEC_ROUND_UP);
    assert_int_equal(rounding_of(PTX_OP_DIV, PTX_MOD_RN, PTX_F32, PTX_NO_TYPE), EXEC_ROUND_NEAREST);
}

static void conversions_to_floats_run_under_the_hosts_mode(void **state) {
    (void)state;
    assert_int_equal(rounding_of(PTX_OP_CVT, PTX_MOD_RZ, PTX_F32, PTX_S64), EXEC_ROUND_ZERO);
    assert_int_equal(rounding_of(PTX_OP_CVT, PTX_MOD_RM, PTX_F16, PTX_F32), EXEC_ROUND_DOWN);
    assert_int_equal(rounding_of(PTX_OP_CVT, PTX_MOD_RZ, PTX_BF16X2, PTX_F32), EXEC_ROUND_ZERO);
}

static void forms_that_round_by_themselves_run_under_nearest(void **state) {
    (void)state;
    assert_int_equal(rounding_of(PTX_OP_CVT, PTX_MOD_RZI, PTX_S32, PTX_F32), EXEC_ROUND_NEAREST);
    assert_int_equal(rounding_of(PTX_OP_CVT, PTX_MOD_RMI, PTX_F64, PTX_F64), EXEC_ROUND_NEAREST);
    assert_int_equal(rounding_of(PTX_OP_CVT, PTX_MOD_RZ, PTX_TF32, PTX_F32), EXEC_ROUND_NEAREST);
    assert_int_equal(rounding_of(PTX_OP_EX2, PTX_MOD_APPROX, PTX_F32, PTX_NO_TYPE), EXEC_ROUND_NEAREST);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directed_arithmetic_runs_under_the_hosts_mode),
        cmocka_unit_test(conversions_to_floats_run_under_the_hosts_mode),
        cmocka_unit_test(forms_that_round_by_themselves_run_under_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
