/* Tests of comparisons that end loops. */
#include "isa/fixture.h"

/* Returns the comparison of a loop that adds one to %r2, after the pass. */
static struct ptx_instruction turned(const char *comparison, const char *inside) {
    static char body[1024];
    snprintf(body, sizeof body,
             "mov.u32 %%r2, 0;\nLOOP:\nadd.s32 %%r2, %%r2, 1;\n%s\n%s\n@%%p1 bra LOOP;\nst.global.u32 [%%rd0], %%r2;\n",
             inside, comparison);
    struct fixture f = fixture_new(body);
    struct ptx_instruction found = {0};
    isa_turn_counters(f.function);
    for (uint32_t i = 0; i < f.function->n_instructions; i++)
        if (f.function->instruction[i].opcode == PTX_OP_SETP)
            found = f.function->instruction[i];
    static struct ptx_operand operand[3];
    memcpy(operand, found.operand, sizeof operand);
    for (unsigned k = 0; k < 3; k++) /* the number in the register's name */
        operand[k].value = strtoul(f.function->reg[operand[k].register_id].name + 2, NULL, 10);
    found.operand = operand;
    fixture_free(&f);
    return found;
}

static void the_counter_comes_first(void **state) {
    (void)state;
    struct ptx_instruction insn = turned("setp.gt.s32 %p1, %r0, %r2;", "");
    assert_int_equal(insn.operand[1].value, 2);
    assert_int_equal(insn.operand[2].value, 0);
    assert_true(ptx_has(&insn, PTX_MOD_LT));
    assert_false(ptx_has(&insn, PTX_MOD_GT));
    insn = turned("setp.ls.u32 %p1, %r0, %r2;", "");
    assert_int_equal(insn.operand[1].value, 2);
    assert_true(ptx_has(&insn, PTX_MOD_HS));
    insn = turned("setp.ne.s32 %p1, %r0, %r2;", "");
    assert_int_equal(insn.operand[1].value, 2);
    assert_true(ptx_has(&insn, PTX_MOD_NE));
}

static void other_comparisons_stay(void **state) {
    (void)state;
    struct ptx_instruction insn = turned("setp.lt.s32 %p1, %r2, %r0;", "");
    assert_int_equal(insn.operand[1].value, 2);
    assert_true(ptx_has(&insn, PTX_MOD_LT));
    insn = turned("setp.gt.s32 %p1, %r0, %r2;", "ld.global.u32 %r0, [%rd0];"); /* both change */
    assert_int_equal(insn.operand[1].value, 0);
    assert_true(ptx_has(&insn, PTX_MOD_GT));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counter_comes_first),
        cmocka_unit_test(other_comparisons_stay),
    };
    return cmocka_run_group_tests_name("isa/counters", tests, NULL, NULL);
}
