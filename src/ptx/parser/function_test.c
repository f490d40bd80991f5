/* Tests of function headers, declarations before definitions, and recovery inside bodies. */
#include "ptx/fixture.h"

static void headers_keep_their_directives(void **state) {
    (void)state;
    struct ptx_module *module = fixture_module(
        ".visible .entry k (.param .u32 a) .maxntid 128, 2 .minnctapersm 3 .maxnreg 40 .pragma \"nounroll\";\n"
        "{ .pragma \"used_bytes_mask 1\"; ret; }\n.entry r .reqntid 8, 4, 2 { ret; }\n.weak .func n () .noreturn { "
        "exit; }\n"
        ".entry c () .explicitcluster .reqnctapercluster 2, 1, 1 .maxclusterrank 8 { ret; }");
    const struct ptx_function *k = ptx_find_function(module, "k"), *r = ptx_find_function(module, "r");
    const struct ptx_function *n = ptx_find_function(module, "n");
    assert_true(k->is_entry);
    assert_int_equal(k->linkage, PTX_LINK_VISIBLE);
    assert_int_equal(k->max_threads[0], 128);
    assert_int_equal(k->max_threads[1], 2);
    assert_int_equal(k->max_threads[2], 1);
    assert_int_equal(k->required_threads[0], 0);
    assert_int_equal(k->min_blocks_per_sm, 3);
    assert_int_equal(k->max_registers, 40);
    assert_int_equal(k->n_pragmas, 2);
    assert_string_equal(k->pragma[0], "nounroll");
    assert_int_equal(r->required_threads[2], 2);
    assert_int_equal(r->n_parameters, 0);
    assert_false(n->is_entry);
    assert_true(n->is_noreturn);
    assert_int_equal(n->linkage, PTX_LINK_WEAK);
    assert_int_equal(n->index, 2);
    ptx_module_free(module);
}

static void a_declaration_and_its_definition_are_one_function(void **state) {
    (void)state;
    struct ptx_module *module = fixture_module(".extern .func (.param .b64 r) malloc (.param .b64 n);\n"
                                               ".func (.param .b32 r) f (.param .b32 a);\n"
                                               ".func g () { .reg .b32 %r; call (%r), f, (3); ret; }\n"
                                               ".func (.param .b32 r2) f (.param .b32 a2) { ret; }");
    assert_int_equal(module->n_functions, 3);
    const struct ptx_function *f = ptx_find_function(module, "f"), *g = ptx_find_function(module, "g");
    assert_true(f->has_body);
    assert_string_equal(f->parameter[0].name, "a2");
    assert_ptr_equal(f->parameter[0].owner, f);
    assert_int_equal(f->result[0].role, PTX_ROLE_RESULT);
    assert_ptr_equal(g->instruction[0].call->target.function, f);
    const struct ptx_function *external = ptx_find_function(module, "malloc");
    assert_false(external->has_body);
    assert_int_equal(external->linkage, PTX_LINK_EXTERN);
    assert_int_equal(external->result[0].size, 8);
    ptx_module_free(module);
}

static void parameters_may_be_registers(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_module(".func (.reg .u32 r) f (.reg .u32 a, .param .b32 b) { mov.u32 r, a; ret; }");
    const struct ptx_function *f = module->function[0];
    const struct ptx_instruction *move = &f->instruction[0];
    assert_int_equal(move->operand[0].register_id, f->result[0].register_id);
    assert_int_equal(move->operand[1].register_id, f->parameter[0].register_id);
    assert_int_equal(f->parameter[0].space, PTX_SPACE_REG);
    assert_int_equal(f->parameter[1].register_id, PTX_NO_INDEX);
    ptx_module_free(module);
}

static void an_alias_refers_to_its_function(void **state) {
    (void)state;
    struct ptx_module *module = fixture_module(".visible .func g ();\n.func h () { .reg .b64 %rd; call g; mov.u64 %rd, "
                                               "g; ret; }\n.visible .func f () { ret; }\n"
                                               ".alias g, f;");
    struct ptx_function *f = ptx_find_function(module, "f"), *g = ptx_find_function(module, "g");
    const struct ptx_function *h = ptx_find_function(module, "h");
    assert_ptr_equal(g->alias_of, f);
    assert_ptr_equal(h->instruction[0].call->target.function, f);
    assert_ptr_equal(h->instruction[1].operand[1].function, f);
    assert_true(f->address_taken);
    ptx_module_free(module);
}

static void wrong_headers_are_explained(void **state) {
    (void)state;
    fixture_module_rejects(".func f () { ret; } .func f () { ret; }", 27,
                           "function 'f' has two bodies; first on line 4");
    fixture_module_rejects(".func f (.param .b32 a); .func f (.param .b64 a) { ret; }", 32,
                           "'f' differs from its declaration on line 4");
    fixture_module_rejects(".entry (.param .b32 a) k () { ret; }", 8, "an .entry returns nothing");
    fixture_module_rejects(".entry k (.reg .b32 a) { ret; }", 21, "the parameters of an .entry are .param, not .reg");
    fixture_module_rejects(".entry { ret; }", 8, "expected a function name, got '{'");
    fixture_module_rejects(".entry k (.global .u32 a) { ret; }", 11,
                           "expected '.param' or '.reg' in the parameter list, got '.global'");
    fixture_module_rejects(".entry k () .foo { ret; }", 13,
                           "expected ';' or '{' after the function's header, got '.foo'");
    fixture_module_rejects(".entry k () { ret;", 19, "expected '}' at the end of function 'k', got end of file");
    fixture_module_rejects(".alias a, b;", 8, "'a' is not a declared function");
    fixture_module_rejects(".func a () { ret; } .func b () { ret; } .alias a, b;", 48,
                           "'a' has a body and cannot be an alias");
    fixture_module_rejects(".func a (); .func b () { call c; ret; } .alias a, b;", 31, "undefined function 'c'");
}

static void every_wrong_statement_is_reported_and_the_rest_is_parsed(void **state) {
    (void)state;
    const char *errors = fixture_body_errors("add.s32 %r1, %r2\nmov.u32 %r1, %r2;\nld.v2.u32 {%r1 %r2}, [%rd1];\n"
                                             "{ mov.u32 %r1, ; }\nbra away;\nadd.s32 %r1, %r2, %r3, %r4;\nret;");
    assert_string_equal(errors, "t.ptx:9:1: error: expected ';' after operand, got 'mov'\n"
                                "mov.u32 %r1, %r2;\n"
                                "^\n"
                                "t.ptx:10:16: error: expected '}' after operand, got '%r2'\n"
                                "ld.v2.u32 {%r1 %r2}, [%rd1];\n"
                                "               ^\n"
                                "t.ptx:11:16: error: expected an operand, got ';'\n"
                                "{ mov.u32 %r1, ; }\n"
                                "               ^\n"
                                "t.ptx:12:5: error: undefined label 'away'\n"
                                "bra away;\n"
                                "    ^\n"
                                "t.ptx:13:1: error: add.s32 needs 3 operands, got 4\n"
                                "add.s32 %r1, %r2, %r3, %r4;\n"
                                "^\n");
}

static void a_wrong_header_skips_only_its_function(void **state) {
    (void)state;
    unsigned n_errors;
    static const char text[] = FIXTURE_HEADER ".entry k (.param .u32 3) { .reg .b32 %r; { mov.b32 %r, 1; } ret; }\n"
                                              ".entry j () { bra nowhere; }";
    const char *errors = fixture_errors(text, sizeof text - 1, &n_errors);
    assert_int_equal(n_errors, 2);
    assert_non_null(strstr(errors, "t.ptx:4:23: error: expected a variable name, got '3'\n"));
    assert_non_null(strstr(errors, "t.ptx:5:19: error: undefined label 'nowhere'\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_keep_their_directives),
        cmocka_unit_test(a_declaration_and_its_definition_are_one_function),
        cmocka_unit_test(parameters_may_be_registers),
        cmocka_unit_test(an_alias_refers_to_its_function),
        cmocka_unit_test(wrong_headers_are_explained),
        cmocka_unit_test(every_wrong_statement_is_reported_and_the_rest_is_parsed),
        cmocka_unit_test(a_wrong_header_skips_only_its_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
