/* Tests of names and scopes: ranges, shadowing, labels in braces, vector registers, undefined names. */
#include "ptx/fixture.h"

static uint32_t destination(const struct ptx_module *module, uint32_t index) {
    const struct ptx_operand *operand = &fixture_instruction(module, index)->operand[0];
    assert_int_equal(operand->kind, PTX_OPERAND_REGISTER);
    return operand->register_id;
}

static void registers_are_created_at_their_first_use(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body(".reg .u64 %x<1000000>; .reg .b32 a, b;\nmov.u64 %x999999, 0; mov.b32 b, 1;"
                     "mov.u64 %x999999, 2;");
    assert_int_equal(fixture_kernel(module)->n_registers, 3);
    assert_string_equal(fixture_register(module, destination(module, 0)), "%x999999");
    assert_int_equal(fixture_kernel(module)->reg[destination(module, 0)].type, PTX_U64);
    assert_string_equal(fixture_register(module, destination(module, 1)), "b");
    assert_int_equal(destination(module, 0), destination(module, 2));
    ptx_module_free(module);
}

static void inner_scopes_shadow_registers_until_they_end(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("mov.b32 %r1, 0;\n{ .reg .b64 %r<2>; mov.b64 %r1, 1; mov.b32 %r5, 2;\n"
                                             "{ .reg .b16 %r1; mov.b16 %r1, 3; } mov.b64 %r1, 4; }\nmov.b32 %r1, 5;");
    uint32_t outer = destination(module, 0), middle = destination(module, 1), inner = destination(module, 3);
    const struct ptx_function *kernel = fixture_kernel(module);
    assert_int_equal(kernel->reg[outer].type, PTX_B32);
    assert_int_equal(kernel->reg[middle].type, PTX_B64);
    assert_int_equal(kernel->reg[inner].type, PTX_B16);
    assert_int_equal(destination(module, 4), middle);
    assert_int_equal(destination(module, 5), outer);
    assert_int_equal(kernel->reg[destination(module, 2)].type, PTX_B32); /* %r5 is beyond the inner range */
    ptx_module_free(module);
}

static void variables_of_sibling_scopes_are_different(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("{ .param .b32 x; st.param.b32 [x], 1; } { .param .b64 x; st.param.b64 [x+4], 1; }");
    const struct ptx_variable *first = fixture_instruction(module, 0)->operand[0].variable;
    const struct ptx_variable *second = fixture_instruction(module, 1)->operand[0].variable;
    assert_ptr_not_equal(first, second);
    assert_int_equal(first->size, 4);
    assert_int_equal(second->size, 8);
    assert_int_equal(second->index, 1);
    assert_ptr_equal(second->owner, fixture_kernel(module));
    assert_int_equal(fixture_kernel(module)->n_variables, 2);
    ptx_module_free(module);
}

static void labels_belong_to_their_braces(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("{ again: ret; bra again; bra out; }\n{ bra again; ret; again: }\nout: ret;");
    const struct ptx_function *kernel = fixture_kernel(module);
    assert_int_equal(kernel->instruction[1].operand[0].kind, PTX_OPERAND_LABEL);
    assert_int_equal(kernel->instruction[1].operand[0].target, 0);
    assert_int_equal(kernel->instruction[2].operand[0].target, 5);
    assert_int_equal(kernel->instruction[3].operand[0].target, 5);
    ptx_module_free(module);
}

static void a_label_at_the_end_is_one_past_the_last_instruction(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("bra $L__end_0;\n$L__end_0:");
    assert_int_equal(fixture_instruction(module, 0)->operand[0].target, 1);
    ptx_module_free(module);
}

static void an_inner_label_hides_an_earlier_outer_one(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("here: ret; { bra here; ret; here: ret; } bra here;");
    assert_int_equal(fixture_instruction(module, 1)->operand[0].target, 3);
    assert_int_equal(fixture_instruction(module, 4)->operand[0].target, 0);
    ptx_module_free(module);
}

static void a_vector_register_is_several_registers(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body(".reg .v4 .f32 %v; .reg .v2 .b32 %w<3>;\nld.global.v4.f32 %v, [cell];\n"
                                             "mov.f32 %v.z, %v.x; mov.b32 %w2.g, %w0.x;");
    const struct ptx_operand *vector = &fixture_instruction(module, 0)->operand[0];
    assert_int_equal(vector->kind, PTX_OPERAND_VECTOR);
    assert_int_equal(vector->n_elements, 4);
    assert_string_equal(fixture_register(module, vector->element[3].register_id), "%v.w");
    const struct ptx_instruction *move = fixture_instruction(module, 1);
    assert_int_equal(move->operand[0].register_id, vector->element[2].register_id);
    assert_int_equal(move->operand[1].register_id, vector->element[0].register_id);
    assert_string_equal(fixture_register(module, destination(module, 2)), "%w2.y");
    ptx_module_free(module);
}

static void undefined_names_suggest_the_nearest(void **state) {
    (void)state;
    fixture_rejects("mov.u32 %r1, %r9;", 14, "undefined register '%r9'; '%r<9>' on line 7 declares %r0 to %r8");
    fixture_rejects(".reg .b32 counter; mov.u32 %r1, %laneidd;", 33,
                    "undefined register '%laneidd'; did you mean '%laneid'?");
    fixture_rejects(".reg .b32 %count; mov.u32 %r1, %cuont;", 32,
                    "undefined register '%cuont'; did you mean '%count'?");
    fixture_rejects("mov.u32 %r1, %zzzzzz;", 14, "undefined register '%zzzzzz'");
    fixture_rejects("mov.u64 %rd1, celll;", 15, "undefined symbol 'celll'; did you mean 'cell'?");
    fixture_rejects("call helpr;", 6, "undefined function 'helpr'; did you mean 'helper'?");
    fixture_rejects("call cell;", 6, "'cell' is not a function");
    fixture_rejects("$L_1: bra $L_2;", 11, "undefined label '$L_2'; did you mean '$L_1'?");
    fixture_rejects("bra inside; { inside: ret; }", 5,
                    "label 'inside' on line 8 is inside braces and not visible here");
    fixture_rejects("brx.idx %r1, table; l: ret;", 14, "undefined .branchtargets list 'table'");
    fixture_rejects("l: brx.idx %r1, l;", 17, "'l' is not a .branchtargets list");
    fixture_rejects("{ .reg .b32 %in; } mov.u32 %in, 1;", 28, "undefined register '%in'");
    fixture_rejects(".reg .b32 c<4>; mov.b32 c4, 0;", 25,
                    "undefined register 'c4'; 'c<4>' on line 8 declares c0 to c3");
}

static void an_undefined_name_is_reported_once_per_function(void **state) {
    (void)state;
    unsigned n_errors;
    static const char text[] =
        FIXTURE_HEADER ".func f () { .reg .b32 %r; mov.b32 %r, %s; mov.b32 %r, %s; bra l; bra l;\n"
                       "call g; call g; }\n.func h () { call g; }";
    fixture_errors(text, sizeof text - 1, &n_errors);
    assert_int_equal(n_errors, 4);
}

static void names_are_declared_once_in_a_scope(void **state) {
    (void)state;
    fixture_rejects(".reg .b32 a, a;", 14, "'a' is declared twice; first on line 8");
    fixture_rejects(".reg .b32 %r3;", 11, "'%r3' is declared twice; first on line 7");
    fixture_rejects(".reg .b32 %r<2>;", 11, "'%r<2>' is declared twice; first on line 7");
    fixture_rejects(".local .b8 pointer[4];", 12, "'pointer' is declared twice; first on line 6");
    fixture_rejects("l: ret; l: ret;", 9, "label 'l' is defined twice; first on line 8");
    assert_non_null(strstr(fixture_body_errors(".reg .b32 c1; .reg .b32 c<3>; mov.b32 c1, 0;"),
                           "t.ptx:8:25: error: 'c1' is declared twice; first on line 8\n"));
}

static void the_nesting_of_scopes_is_limited(void **state) {
    (void)state;
    char body[2048];
    memset(body, '{', 1000);
    memset(body + 1000, '}', 1000);
    body[2000] = '\0';
    fixture_rejects(body, 63, "scopes nested deeper than 64");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_are_created_at_their_first_use),
        cmocka_unit_test(inner_scopes_shadow_registers_until_they_end),
        cmocka_unit_test(variables_of_sibling_scopes_are_different),
        cmocka_unit_test(labels_belong_to_their_braces),
        cmocka_unit_test(a_label_at_the_end_is_one_past_the_last_instruction),
        cmocka_unit_test(an_inner_label_hides_an_earlier_outer_one),
        cmocka_unit_test(a_vector_register_is_several_registers),
        cmocka_unit_test(undefined_names_suggest_the_nearest),
        cmocka_unit_test(an_undefined_name_is_reported_once_per_function),
        cmocka_unit_test(names_are_declared_once_in_a_scope),
        cmocka_unit_test(the_nesting_of_scopes_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
