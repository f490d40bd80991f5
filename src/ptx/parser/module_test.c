/* Tests of the text outside functions. */
#include "ptx/fixture.h"

static void the_preamble_is_kept(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_parse(".version 6.3\n.target sm_70, texmode_independent, debug\n.address_size 64\n");
    assert_int_equal(module->version_major, 6);
    assert_int_equal(module->version_minor, 3);
    assert_string_equal(module->target, "sm_70");
    assert_int_equal(module->address_size, 64);
    assert_string_equal(module->path, "t.ptx");
    assert_int_equal(module->n_functions, 0);
    assert_null(ptx_find_function(module, "k"));
    assert_null(ptx_find_variable(module, "v"));
    ptx_module_free(module);
}

static void rejects(const char *text, const char *line) {
    const char *errors = fixture_errors(text, strlen(text), NULL);
    char got[256];
    snprintf(got, sizeof got, "%.*s", (int)strcspn(errors, "\n"), errors);
    assert_string_equal(got, line);
}

static void a_module_without_its_preamble_is_refused(void **state) {
    (void)state;
    rejects("", "t.ptx:1:1: error: expected '.version' at the start of the module");
    rejects(".target sm_70\n", "t.ptx:1:1: error: expected '.version' at the start of the module");
    rejects(".version 7.0\n", "t.ptx:1:1: error: expected '.target' after '.version'");
    rejects(".version 7.0\n.target sm_70\n",
            "t.ptx:1:1: error: expected '.address_size 64': without it addresses have 32 bits, which is not supported");
    rejects(".version 7.0\n.target sm_70\n.address_size 32\n",
            "t.ptx:3:15: error: .address_size 32 is not supported; 64 is");
    rejects(".version 0.9\n", "t.ptx:1:10: error: PTX version 0.9 is not supported; 1.0 to 9.0 are");
    rejects(".version 10.0\n", "t.ptx:1:10: error: PTX version 10.0 is not supported; 1.0 to 9.0 are");
    rejects(".version x\n", "t.ptx:1:10: error: expected a version such as 7.0, got 'x'");
    rejects(".version 7.0\n.target gtx480\n", "t.ptx:2:9: error: expected a target such as sm_70, got 'gtx480'");
}

static void debug_sections_are_skipped_whole(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_module(".section .debug_info {\n.b32 5434\n.b8 108,103\n.b32 .debug_abbrev\nL: .b64 L+4\n{ .b8 1 }\n}\n"
                       ".section\t.debug_str\n{\n$L__info: .b8 0\n}\n.global .u32 after;");
    assert_int_equal(module->n_variables, 1);
    ptx_module_free(module);
    fixture_module_rejects(".section .debug_info { { }", 10, "section without an end");
}

static void garbage_is_named_and_the_next_directive_is_parsed(void **state) {
    (void)state;
    fixture_module_rejects("garbage;", 1,
                           "expected a directive, a function or a variable of the module, got 'garbage'");
    fixture_module_rejects(".local .u32 x;", 1,
                           "expected a directive, a function or a variable of the module, got '.local'");
    const char *errors = fixture_module_errors("rubbish { } \n.global .u32 x = ;\n.global .u32 y = 1.5;");
    assert_non_null(strstr(errors, "t.ptx:4:1: error: expected a directive"));
    assert_non_null(strstr(errors, "t.ptx:5:18: error: expected a constant, got ';'\n"));
    assert_non_null(strstr(errors, "t.ptx:6:18: error: a floating-point constant cannot initialise .u32\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_preamble_is_kept),
        cmocka_unit_test(a_module_without_its_preamble_is_refused),
        cmocka_unit_test(debug_sections_are_skipped_whole),
        cmocka_unit_test(garbage_is_named_and_the_next_directive_is_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
