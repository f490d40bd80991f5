/* Tests of elements of arrays and of sums as operands: the instructions they become, and wrong ones.
 * tests/kernels/grammar_elements and tests/grammar execute them. */
#include "ptx/fixture.h"

#define ARRAYS ".shared .u32 tile[8]; .local .u64 own[4]; "

static const struct ptx_operand *operand(const struct ptx_module *module, unsigned instruction, unsigned index) {
    return &fixture_kernel(module)->instruction[instruction].operand[index];
}

static void a_constant_index_is_an_offset(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body(ARRAYS "mov.u64 %rd1, tile[3]; ld.local.u64 %rd1, own[1 + 2]; ld.u32 %r1, tile[WARP_SZ - 31];");
    assert_int_equal(fixture_kernel(module)->n_instructions, 3);
    assert_int_equal(operand(module, 0, 1)->kind, PTX_OPERAND_VARIABLE);
    assert_int_equal(operand(module, 0, 1)->offset, 12);
    assert_int_equal(operand(module, 1, 1)->kind, PTX_OPERAND_ADDRESS);
    assert_int_equal(operand(module, 1, 1)->offset, 24);
    assert_int_equal(operand(module, 2, 1)->offset, 4);
    assert_int_equal(fixture_kernel(module)->instruction[2].space, PTX_SPACE_SHARED);
    ptx_module_free(module);
}

static void an_index_in_a_register_becomes_arithmetic(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body(ARRAYS "st.u64 own[%r1 + 2], %rd1;");
    static const enum ptx_opcode opcodes[] = {PTX_OP_MAD, PTX_OP_CVT, PTX_OP_MOV, PTX_OP_ADD, PTX_OP_ST};
    const struct ptx_function *kernel = fixture_kernel(module);
    assert_int_equal(kernel->n_instructions, 5);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(kernel->instruction[i].opcode, opcodes[i]);
    assert_int_equal(operand(module, 0, 2)->value, 8);
    assert_int_equal(operand(module, 0, 3)->value, 16);
    assert_int_equal(kernel->instruction[4].space, PTX_SPACE_LOCAL);
    assert_int_equal(operand(module, 4, 0)->kind, PTX_OPERAND_ADDRESS);
    assert_int_equal(operand(module, 4, 0)->register_id, operand(module, 3, 0)->register_id);
    ptx_module_free(module);
}

static void labels_stay_before_the_arithmetic(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body(ARRAYS "bra L; L: mov.u32 %r2, tile[%r1]; bra L;");
    assert_int_equal(operand(module, 0, 0)->target, 1);
    assert_int_equal(fixture_kernel(module)->n_instructions, 6);
    assert_int_equal(operand(module, 5, 0)->target, 1);
    ptx_module_free(module);
}

static void wrong_elements_are_explained(void **state) {
    (void)state;
    fixture_rejects("mov.u64 %rd1, cell[1];", 19, "'cell' is not an array");
    fixture_rejects("mov.u64 %rd1, later[1];", 15, "'later' must be declared before its elements are used");
    fixture_rejects("mov.u64 %rd1, block[%f1];", 21, "'%f1' is .f32; an index must be an integer");
    fixture_rejects("mov.u64 %rd1, block[1.0];", 21, "expected an integer or a register as index");
    fixture_rejects("mov.u64 %rd1, block[%r1;", 24, "expected a constant, got ';'");
    fixture_rejects("add.u64 %rd1, %rd2, block[1];", 21, "only mov, cvta, ld, ldu and st take an element of an array");
    fixture_rejects("mov.v2.u64 {%rd1, %rd2}, {block[1], block[%r1]};", 37,
                    "only mov, cvta, ld, ldu and st take an element of an array");
    fixture_rejects("call (_), helper, (block[%r1]);", 20,
                    "only mov, cvta, ld, ldu and st take an element of an array");
    fixture_rejects("ld.param.b8 %r1, block[%r1];", 18, "the index of the parameter 'block' must be a constant");
    fixture_rejects(".shared .u32 t[8]; ld.global.u32 %r1, t[%r1];", 39, "'t' is in .shared, not in .global");
}

static void a_register_plus_a_constant_becomes_an_addition(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("@%p1 mul.lo.u32 %r1, %r2 + 3, %r2 + -1 + 2; mov.u64 %rd1, %rd2 + 0;");
    const struct ptx_function *kernel = fixture_kernel(module);
    assert_int_equal(kernel->n_instructions, 4);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(kernel->instruction[i].opcode, PTX_OP_ADD);
        assert_int_equal(kernel->instruction[i].guard, PTX_NO_INDEX);
        assert_int_equal(operand(module, i, 2)->value, i == 0 ? 3 : 1);
        assert_int_equal(operand(module, 2, 1 + i)->register_id, operand(module, i, 0)->register_id);
    }
    assert_int_equal(kernel->instruction[3].opcode, PTX_OP_MOV);
    ptx_module_free(module);
}

static void wrong_sums_are_explained(void **state) {
    (void)state;
    fixture_rejects("add.u32 %r1 + 1, %r2, %r3;", 9,
                    "add.u32 needs a destination register here, got a register plus a constant");
    fixture_rejects("add.f32 %f1, %f2 + 1, %f3;", 14, "'%f2' is .f32; a constant is added to integers only");
    fixture_rejects("and.pred %p1, %p2 + 1, %p3;", 15, "'%p2' is .pred; a constant is added to integers only");
    fixture_rejects("add.u32 %r1, %r2 - 1, %r3;", 18, "expected ';' after operand, got '-'");
    fixture_rejects("add.u32 %r1, %r2 + %r3, %r3;", 18, "an offset must be a constant, not '%r3'");
    fixture_rejects("mov.b64 %rd1, {%r1 + 1, %r2};", 20, "expected '}' after operand, got '+'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_index_is_an_offset),
        cmocka_unit_test(an_index_in_a_register_becomes_arithmetic),
        cmocka_unit_test(labels_stay_before_the_arithmetic),
        cmocka_unit_test(wrong_elements_are_explained),
        cmocka_unit_test(a_register_plus_a_constant_becomes_an_addition),
        cmocka_unit_test(wrong_sums_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
