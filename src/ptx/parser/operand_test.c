/* Tests of operands of every kind. */
#include "ptx/fixture.h"

static const struct ptx_operand *operand(const struct ptx_module *module, uint32_t index, unsigned k) {
    const struct ptx_instruction *instruction = fixture_instruction(module, index);
    assert_true(k < instruction->n_operands);
    return &instruction->operand[k];
}

static void addresses_have_a_base_and_an_offset(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("ld.global.u32 %r1, [%rd1];\nld.global.u32 %r1, [%rd1+16];\nld.global.u32 %r1, [%rd1+-8];\n"
                     "ld.global.u32 %r1, [cell+4];\nld.shared.u32 %r1, [1234];\nld.param.u64 %rd1, [pointer];\n"
                     "ld.global.u32 %r1, [later+12];\n}\n.global .u32 later;\n.func last () {\nret;");
    const struct ptx_function *kernel = ptx_find_function(module, "kernel");
    static const int64_t offsets[7] = {0, 16, -8, 4, 1234, 0, 12};
    for (uint32_t i = 0; i < 7; i++) {
        const struct ptx_operand *address = &kernel->instruction[i].operand[1];
        assert_int_equal(address->kind, PTX_OPERAND_ADDRESS);
        assert_int_equal(address->offset, offsets[i]);
        assert_int_equal(address->register_id == PTX_NO_INDEX, i > 2);
        assert_int_equal(address->variable != NULL, i == 3 || i > 4);
    }
    assert_string_equal(kernel->reg[kernel->instruction[0].operand[1].register_id].name, "%rd1");
    assert_ptr_equal(kernel->instruction[3].operand[1].variable, ptx_find_variable(module, "cell"));
    assert_ptr_equal(kernel->instruction[5].operand[1].variable, &kernel->parameter[0]);
    assert_ptr_equal(kernel->instruction[6].operand[1].variable, ptx_find_variable(module, "later"));
    ptx_module_free(module);
}

static void symbols_stand_for_their_addresses(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("mov.u64 %rd1, cell+8; mov.u64 %rd1, helper; mov.u32 %r1, common; cvta.const.u64 %rd1, fixed;");
    assert_int_equal(operand(module, 0, 1)->kind, PTX_OPERAND_VARIABLE);
    assert_int_equal(operand(module, 0, 1)->offset, 8);
    assert_int_equal(operand(module, 1, 1)->kind, PTX_OPERAND_FUNCTION);
    assert_ptr_equal(operand(module, 1, 1)->function, ptx_find_function(module, "helper"));
    assert_true(ptx_find_function(module, "helper")->address_taken);
    assert_int_equal(operand(module, 2, 1)->variable->space, PTX_SPACE_SHARED);
    assert_int_equal(operand(module, 3, 1)->variable->space, PTX_SPACE_CONST);
    ptx_module_free(module);
}

static void special_registers_have_components_and_numbers(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("mov.u32 %r1, %tid.y; mov.u32 %r1, %nctaid.z; mov.u64 %rd1, %clock64; mov.u32 %r1, %envreg31;\n"
                     "mov.u32 %r1, %lanemask_lt; add.u32 %r1, %r2, WARP_SZ; mov.u32 %r1, %ctaid.w; mov.u32 %r1, %pm7;\n"
                     "mov.v4.u32 {%r1, %r2, %r3, %r4}, %ntid;");
    assert_int_equal(operand(module, 0, 1)->kind, PTX_OPERAND_SPECIAL);
    assert_int_equal(operand(module, 0, 1)->special, PTX_SPECIAL_TID_Y);
    assert_int_equal(operand(module, 1, 1)->special, PTX_SPECIAL_NCTAID_Z);
    assert_int_equal(operand(module, 2, 1)->special, PTX_SPECIAL_CLOCK64);
    assert_int_equal(operand(module, 3, 1)->special, PTX_SPECIAL_ENVREG);
    assert_int_equal(operand(module, 3, 1)->value, 31);
    assert_int_equal(operand(module, 4, 1)->special, PTX_SPECIAL_LANEMASK_LT);
    assert_int_equal(operand(module, 5, 2)->value, 32);
    assert_int_equal(operand(module, 6, 1)->kind, PTX_OPERAND_INTEGER);
    assert_int_equal(operand(module, 6, 1)->value, 0);
    assert_int_equal(operand(module, 7, 1)->value, 7);
    const struct ptx_operand *whole = operand(module, 8, 1);
    assert_int_equal(whole->kind, PTX_OPERAND_VECTOR);
    assert_int_equal(whole->element[1].special, PTX_SPECIAL_NTID_Y);
    assert_int_equal(whole->element[3].kind, PTX_OPERAND_INTEGER);
    ptx_module_free(module);
}

static void a_declared_register_wins_over_a_special_one(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body(".reg .b32 %laneid; mov.u32 %r1, %laneid;");
    assert_int_equal(operand(module, 0, 1)->kind, PTX_OPERAND_REGISTER);
    ptx_module_free(module);
}

static void predicates_come_in_pairs_negated_and_as_sinks(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("setp.eq.and.s32 %p1|%p2, %r1, %r2, !%p3; setp.eq.s32 _|%p2, %r1, 0; setp.eq.s32 %p1|_, %r1, 0;\n"
                     "shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1; setp.eq.s32 %p1, %r1, 0;");
    assert_string_equal(fixture_register(module, operand(module, 0, 0)->register_id), "%p1");
    assert_string_equal(fixture_register(module, operand(module, 0, 0)->pair_id), "%p2");
    assert_true(operand(module, 0, 3)->is_negated);
    assert_false(operand(module, 0, 1)->is_negated);
    assert_int_equal(operand(module, 1, 0)->kind, PTX_OPERAND_SINK);
    assert_string_equal(fixture_register(module, operand(module, 1, 0)->pair_id), "%p2");
    assert_int_equal(operand(module, 2, 0)->pair_id, PTX_NO_INDEX - 1);
    assert_string_equal(fixture_register(module, operand(module, 3, 0)->pair_id), "%p1");
    assert_int_equal(operand(module, 4, 0)->pair_id, PTX_NO_INDEX);
    ptx_module_free(module);
}

static void vectors_hold_registers_constants_and_sinks(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("ld.global.v2.u32 {%r1, _}, [cell]; st.global.v2.u32 [cell], {%r1, 3};");
    const struct ptx_operand *loaded = operand(module, 0, 0), *stored = operand(module, 1, 1);
    assert_int_equal(loaded->n_elements, 2);
    assert_int_equal(loaded->element[0].kind, PTX_OPERAND_REGISTER);
    assert_int_equal(loaded->element[1].kind, PTX_OPERAND_SINK);
    assert_int_equal(stored->element[1].kind, PTX_OPERAND_INTEGER);
    assert_int_equal(stored->element[1].value, 3);
    ptx_module_free(module);
}

static void textures_come_before_their_coordinates(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body(
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];\n"
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, sampler, {%f1, %f2}];\n"
        "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, %r1];\n"
        "sust.b.1d.b32.trap [plane, {%r1}], {%r2};\n txq.width.b32 %r1, [picture];\n"
        "}\n.global .texref picture; .global .samplerref sampler; .global .surfref plane;\n.func last () {\nret;");
    const struct ptx_function *kernel = ptx_find_function(module, "kernel");
    const struct ptx_operand *place = &kernel->instruction[0].operand[1];
    assert_int_equal(place->kind, PTX_OPERAND_VECTOR);
    assert_int_equal(place->n_elements, 2);
    assert_int_equal(place->element[0].kind, PTX_OPERAND_REGISTER);
    assert_int_equal(place->element[1].kind, PTX_OPERAND_VECTOR);
    assert_int_equal(place->element[1].n_elements, 2);
    place = &kernel->instruction[1].operand[1];
    assert_int_equal(place->n_elements, 3);
    assert_int_equal(place->element[0].kind, PTX_OPERAND_VARIABLE);
    assert_int_equal(place->element[0].variable->object, PTX_OBJECT_TEXREF);
    assert_int_equal(place->element[1].variable->object, PTX_OBJECT_SAMPLERREF);
    place = &kernel->instruction[2].operand[1];
    assert_int_equal(place->element[1].kind, PTX_OPERAND_VECTOR);
    assert_int_equal(place->element[1].n_elements, 1);
    assert_int_equal(kernel->instruction[3].operand[0].element[0].variable->object, PTX_OBJECT_SURFREF);
    assert_int_equal(kernel->instruction[4].operand[1].kind, PTX_OPERAND_ADDRESS);
    assert_int_equal(kernel->instruction[4].operand[1].variable->object, PTX_OBJECT_TEXREF);
    ptx_module_free(module);
}

static void video_operands_select_bytes_and_halves(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("vadd.s32.u32.u32 %r1, %r2.b3, %r3.h1;\n"
                                             "vadd4.u32.u32.u32 %r1.b10, %r2.b7610, %r3, %r4;\n"
                                             "vmad.s32.s32.s32 %r1, %r2.h0, -%r3, %r4;");
    assert_int_equal(operand(module, 0, 1)->selector, 4);
    assert_int_equal(operand(module, 0, 2)->selector, 6);
    assert_int_equal(operand(module, 0, 0)->selector, 0);
    assert_int_equal(operand(module, 1, 0)->selector_mask, 0xff10);
    assert_int_equal(operand(module, 1, 1)->selector_mask, 0x7610);
    assert_int_equal(operand(module, 1, 2)->selector_mask, 0xffff);
    assert_int_equal(operand(module, 2, 1)->selector, 5);
    assert_true(operand(module, 2, 2)->is_negated);
    ptx_module_free(module);
}

static void wrong_operands_are_explained(void **state) {
    (void)state;
    fixture_rejects("add.s32 %r1, %r2 %r3;", 18, "expected ';' after operand, got '%r3'");
    fixture_rejects("add.s32 %r1,, %r3;", 13, "expected an operand, got ','");
    fixture_rejects("add.s32 %r1, %r2,;", 18, "expected an operand, got ';'");
    fixture_rejects("ld.global.u32 %r1, [%rd1;", 25, "expected ']' after address, got ';'");
    fixture_rejects("ld.global.u32 %r1, [cell+%r2];", 25, "an offset must be a constant, not '%r2'");
    fixture_rejects("ld.global.u32 %r1, [%rd1+1.5];", 25, "an offset must be an integer");
    fixture_rejects("ld.global.u32 %r1, [helper];", 21, "'helper' is a function, not a variable");
    fixture_rejects("ld.global.u32 %r1, [%tid];", 21, "'%tid' cannot be an address");
    fixture_rejects("ld.global.v2.u32 {%r1 %r2}, [cell];", 23, "expected '}' after operand, got '%r2'");
    fixture_rejects("mov.u32 %r1, %tid.q;", 18, "expected a component .x, .y, .z or .w, got '.q'");
    fixture_rejects("mov.u32 %r1, %r2.x;", 17,
                    "expected a component such as .x or a selector such as .b0 or .h1, got '.x'");
    fixture_rejects("mov.u32 %r1, !%r2;", 14, "'!' needs a predicate");
    fixture_rejects("mov.pred %p1, -%p2;", 15, "a predicate is negated with '!'");
    fixture_rejects("mov.pred %p1, !%;", 16, "expected a register after the sign, got '%'");
    fixture_rejects("mov.u32 %r1, -cell;", 14, "only a register can be negated");
    fixture_rejects("setp.eq.s32 %p1|3, %r1, %r2;", 17, "expected a predicate register, got '3'");
    fixture_rejects("mov.b32 %r1, {{{{{{%r1}}}}}};", 19, "operands nested deeper than 4");
    fixture_rejects(".reg .v2 .f32 %v; mov.f32 %f1, %v.z;", 34,
                    "expected a component of the vector register, got '.z'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_have_a_base_and_an_offset),
        cmocka_unit_test(symbols_stand_for_their_addresses),
        cmocka_unit_test(special_registers_have_components_and_numbers),
        cmocka_unit_test(a_declared_register_wins_over_a_special_one),
        cmocka_unit_test(predicates_come_in_pairs_negated_and_as_sinks),
        cmocka_unit_test(vectors_hold_registers_constants_and_sinks),
        cmocka_unit_test(textures_come_before_their_coordinates),
        cmocka_unit_test(video_operands_select_bytes_and_halves),
        cmocka_unit_test(wrong_operands_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
