/* Tests of declarations: sizes, alignment, initialisers, addresses in initialisers, parameters. */
#include "ptx/fixture.h"

static const struct ptx_variable *only(const struct ptx_module *module, const char *name) {
    const struct ptx_variable *variable = ptx_find_variable(module, name);
    assert_non_null(variable);
    return variable;
}

static void sizes_and_alignments_follow_type_vector_and_dimensions(void **state) {
    (void)state;
    struct ptx_module *module = fixture_module(".global .u16 a; .visible .const .v4 .f32 b[3]; .shared .align 32 .b8 "
                                               "c[2][5];\n.weak .global .f64 d, e[7]; .global .attribute(.managed) "
                                               ".u32 f; .extern .shared .align 16 .b8 g[];");
    const struct ptx_variable *a = only(module, "a"), *b = only(module, "b"), *c = only(module, "c");
    assert_int_equal(a->size, 2);
    assert_int_equal(a->alignment, 2);
    assert_int_equal(a->space, PTX_SPACE_GLOBAL);
    assert_null(a->data);
    assert_int_equal(b->size, 48);
    assert_int_equal(b->alignment, 16);
    assert_int_equal(b->vector, 4);
    assert_int_equal(b->linkage, PTX_LINK_VISIBLE);
    assert_int_equal(b->space, PTX_SPACE_CONST);
    assert_int_equal(c->size, 10);
    assert_int_equal(c->alignment, 32);
    assert_int_equal(only(module, "d")->linkage, PTX_LINK_WEAK);
    assert_int_equal(only(module, "e")->size, 56);
    assert_true(only(module, "f")->is_managed);
    assert_true(only(module, "g")->is_unsized);
    assert_int_equal(only(module, "g")->size, 0);
    assert_int_equal(module->n_variables, 7);
    assert_int_equal(only(module, "e")->index, 4);
    ptx_module_free(module);
}

static void initialisers_fill_nested_dimensions_and_leave_zeros(void **state) {
    (void)state;
    struct ptx_module *module = fixture_module(".global .u16 a[2][3] = {{1, 2}, {0xFFFF, -1, 300}};");
    static const uint16_t expected[6] = {1, 2, 0, 0xffff, 0xffff, 300};
    assert_memory_equal(only(module, "a")->data, expected, sizeof expected);
    ptx_module_free(module);
}

static void an_open_array_has_as_many_rows_as_values(void **state) {
    (void)state;
    struct ptx_module *module = fixture_module(".global .u8 a[] = {1, 2, 3}; .const .u16 b[][2] = {{1}, {2, 3}};");
    assert_int_equal(only(module, "a")->size, 3);
    assert_false(only(module, "a")->is_unsized);
    static const uint16_t expected[4] = {1, 0, 2, 3};
    assert_int_equal(only(module, "b")->size, 8);
    assert_memory_equal(only(module, "b")->data, expected, sizeof expected);
    ptx_module_free(module);
}

static void integers_are_truncated_to_the_variable(void **state) {
    (void)state;
    struct ptx_module *module = fixture_module(".global .u8 a[3] = {300, -1, -200};");
    static const uint8_t expected[3] = {44, 255, 56};
    assert_memory_equal(only(module, "a")->data, expected, sizeof expected);
    ptx_module_free(module);
}

static void floating_point_values_take_the_width_of_the_variable(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_module(".global .f32 a[4] = {1.5, 0f3F800000, 0d4000000000000000, -0.1}; .global .f64 b[2] = "
                       "{0f3FC00000, 1e-3}; .global .v2 .f32 c = {1.0, 2.0}; .global .b32 d = 0f40000000;");
    static const float a[4] = {1.5f, 1.0f, 2.0f, -0.1f}, c[2] = {1.0f, 2.0f}, d = 2.0f;
    static const double b[2] = {1.5, 1e-3};
    assert_memory_equal(only(module, "a")->data, a, sizeof a);
    assert_memory_equal(only(module, "b")->data, b, sizeof b);
    assert_memory_equal(only(module, "c")->data, c, sizeof c);
    assert_memory_equal(only(module, "d")->data, &d, sizeof d);
    ptx_module_free(module);
}

static void all_zero_data_is_not_kept(void **state) {
    (void)state;
    struct ptx_module *module = fixture_module(".global .u32 a[1000000] = {0, 0}; .global .u32 b = 0;");
    assert_int_equal(only(module, "a")->size, 4000000);
    assert_null(only(module, "a")->data);
    assert_null(only(module, "b")->data);
    ptx_module_free(module);
}

static void addresses_become_relocations(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_module(".global .u64 a[4] = {7, later, generic(later)+8, f}; .const .u8 b[2] = {1, 0xFF0000(later)};\n"
                       ".global .u32 later; .func f () { ret; }");
    const struct ptx_variable *a = only(module, "a");
    assert_int_equal(a->n_relocations, 3);
    assert_int_equal(a->relocation[0].offset, 8);
    assert_int_equal(a->relocation[0].bytes, 8);
    assert_string_equal(a->relocation[0].symbol, "later");
    assert_ptr_equal(a->relocation[0].variable, only(module, "later"));
    assert_false(a->relocation[0].generic);
    assert_true(a->relocation[1].generic);
    assert_int_equal(a->relocation[1].addend, 8);
    assert_ptr_equal(a->relocation[2].function, module->function[0]);
    assert_true(module->function[0]->address_taken);
    assert_int_equal(a->data[0], 7);
    const struct ptx_variable *b = only(module, "b");
    assert_int_equal(b->relocation[0].offset, 1);
    assert_int_equal(b->relocation[0].bytes, 1);
    assert_int_equal(b->relocation[0].mask_shift, 16);
    ptx_module_free(module);
}

static void an_external_variable_and_its_definition_are_one(void **state) {
    (void)state;
    struct ptx_module *module = fixture_module(".extern .global .u32 a; .visible .global .u32 a = 5;");
    assert_int_equal(module->n_variables, 1);
    assert_int_equal(only(module, "a")->linkage, PTX_LINK_VISIBLE);
    assert_int_equal(only(module, "a")->data[0], 5);
    ptx_module_free(module);
}

static void textures_samplers_and_surfaces_are_objects(void **state) {
    (void)state;
    struct ptx_module *module = fixture_module(".global .texref t; .global .samplerref s = {addr_mode_0 = wrap, "
                                               "filter_mode = linear}; .global .surfref u; .tex .u32 old;");
    assert_int_equal(only(module, "t")->object, PTX_OBJECT_TEXREF);
    assert_int_equal(only(module, "t")->space, PTX_SPACE_TEX);
    assert_int_equal(only(module, "s")->object, PTX_OBJECT_SAMPLERREF);
    assert_int_equal(only(module, "u")->object, PTX_OBJECT_SURFREF);
    assert_int_equal(only(module, "old")->object, PTX_OBJECT_TEXREF);
    ptx_module_free(module);
}

static void parameters_are_laid_out_in_order_and_aligned(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_module(".entry k (.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .align 4 .b8 c[10],\n"
                       ".param .f64 d, .param .u16 e) { ret; }");
    const struct ptx_function *k = module->function[0];
    static const uint64_t offsets[5] = {0, 8, 16, 32, 40};
    assert_int_equal(k->n_parameters, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(k->parameter[i].offset, offsets[i]);
        assert_int_equal(k->parameter[i].role, PTX_ROLE_PARAMETER);
        assert_int_equal(k->parameter[i].index, i);
        assert_ptr_equal(k->parameter[i].owner, k);
    }
    assert_int_equal(k->parameter_bytes, 42);
    assert_int_equal(k->parameter[1].alignment, 8);
    assert_int_equal(k->parameter[2].size, 10);
    ptx_module_free(module);
}

static void wrong_declarations_are_explained(void **state) {
    (void)state;
    fixture_module_rejects(".global .u32 x; .global .u32 x;", 30, "'x' is declared twice; first on line 4");
    fixture_module_rejects(".global .u32 x[2] = {1, 2, 3};", 28, "more values than 'x' has elements");
    fixture_module_rejects(".global .u32 x[2] = {{1}};", 22, "more braces than 'x' has dimensions");
    fixture_module_rejects(".global .u32 x[2] = 5;", 21, "expected '{' before the values of an array, got '5'");
    fixture_module_rejects(".global .u32 x = 1.5;", 18, "a floating-point constant cannot initialise .u32");
    fixture_module_rejects(".global .f32 x = 1;", 18, "an integer constant cannot initialise .f32");
    fixture_module_rejects(".shared .u32 x = 1;", 18, "a .shared variable cannot have an initialiser");
    fixture_module_rejects(".global .u32 x = x;", 18, "the address of 'x' needs a 64-bit integer, not .u32");
    fixture_module_rejects(".global .u64 x = nowhere;", 18, "undefined symbol 'nowhere'");
    fixture_module_rejects(".global .u64 longer; .global .u64 x = longre;", 39,
                           "undefined symbol 'longre'; did you mean 'longer'?");
    fixture_module_rejects(".global .u33 x;", 9, "unknown type '.u33'; did you mean '.u32'?");
    fixture_module_rejects(".global x;", 9, "expected a type such as .u32 in the declaration, got 'x'");
    fixture_module_rejects(".global .u32 5;", 14, "expected a variable name, got '5'");
    fixture_module_rejects(".global .align 3 .u32 x;", 16, "alignment 3 is not a power of two");
    fixture_module_rejects(".global .pred x;", 9, "a .pred variable must be a register");
    fixture_module_rejects(".global .u32 x[];", 14, "'x[]' needs a size, an initialiser or .extern");
    fixture_module_rejects(".global .u8 x[2] = {0xFF0(x), 1};", 21, "expected a mask of one byte such as 0xFF00");
    fixture_module_rejects(".global .u8 x = 0xFF(1.0);", 22, "expected a variable or an integer after the byte mask");
    fixture_module_rejects(".global .u32 x", 15, "expected ';' after variable, got end of file");
    fixture_module_rejects(".extern .global .u64 x; .global .u32 x;", 38, "'x' differs from its declaration on line 4");
}

static void sizes_have_limits(void **state) {
    (void)state;
    fixture_module_rejects(".global .b8 x[99999999999];", 15, "array size is out of range: 0 to 4294967296");
    fixture_module_rejects(".global .b8 x[-1];", 15, "array size is out of range: 0 to 4294967296");
    fixture_module_rejects(".global .u32 x[65536][65536];", 14, "variable 'x' is larger than 4294967296 bytes");
    fixture_module_rejects(".global .b8 x[4294967296] = {1};", 29, "more than 268435456 bytes of initialised data");
    fixture_module_rejects(".entry k () { .reg .b32 %r<4000000000>; ret; }", 28,
                           "more than 1048576 registers in one declaration");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_alignments_follow_type_vector_and_dimensions),
        cmocka_unit_test(initialisers_fill_nested_dimensions_and_leave_zeros),
        cmocka_unit_test(an_open_array_has_as_many_rows_as_values),
        cmocka_unit_test(integers_are_truncated_to_the_variable),
        cmocka_unit_test(floating_point_values_take_the_width_of_the_variable),
        cmocka_unit_test(all_zero_data_is_not_kept),
        cmocka_unit_test(addresses_become_relocations),
        cmocka_unit_test(an_external_variable_and_its_definition_are_one),
        cmocka_unit_test(textures_samplers_and_surfaces_are_objects),
        cmocka_unit_test(parameters_are_laid_out_in_order_and_aligned),
        cmocka_unit_test(wrong_declarations_are_explained),
        cmocka_unit_test(sizes_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
