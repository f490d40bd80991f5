/* Tests that short branches over loads become predicates, and that others stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/internal.h"

static struct ptx_module *module;

static struct ptx_function *predicate(const char *body) {
    static char text[4096];
    struct ptx_messages messages = {0};
    int length = snprintf(text, sizeof text,
                          ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                          ".reg .b32 %%r<32>;\n.reg .f32 %%f<32>;\n.reg .b64 %%rd<8>;\n.reg .pred %%p<4>;\n"
                          "mov.u32 %%r0, %%tid.x;\nsetp.eq.u32 %%p1, %%r0, 3;\n%s}\n",
                          body);
    module = ptx_parse("test", text, (size_t)length, &messages);
    if (!module)
        fail_msg("%s", messages.text);
    ptx_messages_free(&messages);
    struct ptx_function *function = ptx_find_function(module, "k");
    isa_predicate(isa_find_target("sm_90"), function);
    return function;
}

static void a_branch_over_a_jump_takes_the_other_way(void **state) {
    (void)state;
    struct ptx_function *function = predicate("@%p1 bra L;\nbra.uni M;\nL: add.f32 %f1, %f1, %f3;\nbra.uni N;\n"
                                              "M: sub.f32 %f1, %f1, %f3;\nN: st.global.f32 [%rd1], %f1;\nret;\n");
    assert_int_equal(function->n_instructions, 9);
    isa_turn_branches(function);
    assert_int_equal(function->n_instructions, 8);
    assert_true(function->instruction[2].guard_negated);
    assert_int_equal(function->instruction[2].operand[0].target, 5);
    assert_int_equal(function->instruction[3].opcode, PTX_OP_ADD);
    assert_int_equal(function->instruction[4].operand[0].target, 6);
    ptx_module_free(module);
}

static void a_load_gets_the_negated_guard(void **state) {
    (void)state;
    const struct ptx_function *function =
        predicate("@%p1 bra L;\nbra.uni M;\nM: ld.global.f32 %f1, [%rd0];\nst.shared.f32 [%r1], %f1;\n"
                  "L: add.f32 %f2, %f2, %f3;\n@%p1 bra L;\nst.global.f32 [%rd1], %f2;\nret;\n");
    assert_int_equal(function->n_instructions, 8);
    assert_int_equal(function->instruction[2].opcode, PTX_OP_LD);
    assert_int_equal(function->instruction[2].guard, function->instruction[6 - 1].guard);
    assert_true(function->instruction[2].guard_negated);
    assert_true(function->instruction[3].guard_negated);
    assert_int_equal(function->instruction[4].guard, PTX_NO_INDEX);
    assert_int_equal(function->instruction[5].operand[0].target, 4); /* the loop's branch has moved with it */
    ptx_module_free(module);
}

static void other_branches_stay(void **state) {
    (void)state;
    const struct ptx_function *function =
        predicate("@%p1 bra L;\nadd.f32 %f1, %f1, %f3;\nL: st.global.f32 [%rd1], %f1;\nret;\n"); /* no load */
    assert_int_equal(function->instruction[2].opcode, PTX_OP_BRA);
    ptx_module_free(module);
    function =
        predicate("@%p1 bra L;\nld.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p1, %r1, 0;\n"
                  "L: st.global.u32 [%rd1], %r1;\n@%p1 st.global.u32 [%rd1], %r0;\nret;\n"); /* its guard changes */
    assert_int_equal(function->instruction[2].opcode, PTX_OP_BRA);
    ptx_module_free(module);
}

static void an_access_under_two_branches_stays_behind_them(void **state) {
    (void)state;
    const struct ptx_function *function =
        predicate("@%p1 bra M;\nsetp.gt.u32 %p2, %r0, 7;\n@%p2 bra L;\nM: ld.global.u32 %r1, [%rd0];\n"
                  "L: st.global.u32 [%rd1], %r1;\nret;\n"); /* threads load that have not come past the second */
    assert_int_equal(function->instruction[2].opcode, PTX_OP_BRA);
    assert_int_equal(function->instruction[4].opcode, PTX_OP_BRA);
    assert_int_equal(function->instruction[5].guard, PTX_NO_INDEX);
    ptx_module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_gets_the_negated_guard),
        cmocka_unit_test(a_branch_over_a_jump_takes_the_other_way),
        cmocka_unit_test(other_branches_stay),
        cmocka_unit_test(an_access_under_two_branches_stays_behind_them),
    };
    return cmocka_run_group_tests_name("isa/predicate", tests, NULL, NULL);
}
