/* Tests of linking: the choice among definitions, names that stay local, and errors. */
#include "ptx/fixture.h"

#include <stdlib.h>

static struct ptx_module *parse_part(const char *name, const char *lines) {
    char text[4096];
    struct ptx_messages messages;
    snprintf(text, sizeof text, "%s%s", FIXTURE_HEADER, lines);
    struct ptx_module *module = ptx_parse(name, text, strlen(text), &messages);
    if (!module)
        fail_msg("unexpected errors:\n%s", messages.text);
    return module;
}

static struct ptx_module *link_two(const char *a, const char *b, struct ptx_messages *messages) {
    struct ptx_module *part[] = {parse_part("a.ptx", a), parse_part("b.ptx", b)};
    *messages = (struct ptx_messages){0};
    return ptx_link("whole", part, 2, messages);
}

static struct ptx_module *must_link(const char *a, const char *b) {
    struct ptx_messages messages;
    struct ptx_module *module = link_two(a, b, &messages);
    if (!module)
        fail_msg("unexpected errors:\n%s", messages.text);
    return module;
}

static void must_fail(const char *a, const char *b, const char *message) {
    struct ptx_messages messages;
    struct ptx_module *module = link_two(a, b, &messages);
    assert_null(module);
    if (!strstr(messages.text, message))
        fail_msg("expected '%s' in:\n%s", message, messages.text);
    ptx_messages_free(&messages);
}

#define CALLER                                                                                                         \
    ".extern .func (.param .b32 r) f (.param .b32 a);\n.visible .entry k () { .reg .b32 %r<3>; .param .b32 a;"         \
    " .param .b32 r; st.param.b32 [a], 1; call (r), f, (a); ret; }\n"
#define CALLED ".func (.param .b32 r) f (.param .b32 a) { st.param.b32 [r], 7; ret; }\n"

static const struct ptx_instruction *call_of(const struct ptx_function *function) {
    for (uint32_t i = 0; i < function->n_instructions; i++)
        if (function->instruction[i].call)
            return &function->instruction[i];
    fail_msg("%s", "no call");
    return NULL;
}

static void a_declared_function_becomes_the_defined_one(void **state) {
    (void)state;
    struct ptx_module *module = must_link(CALLER, ".visible " CALLED);
    assert_int_equal(module->n_functions, 2);
    const struct ptx_function *f = ptx_find_function(module, "f");
    assert_true(f->has_body);
    assert_ptr_equal(call_of(ptx_find_function(module, "k"))->call->target.function, f);
    assert_string_equal(f->home->path, "b.ptx");
    for (uint32_t i = 0; i < module->n_functions; i++)
        assert_int_equal(module->function[i]->index, i);
    ptx_module_free(module);
}

static void a_function_without_linkage_stays_in_its_part(void **state) {
    (void)state;
    struct ptx_module *module = must_link(CALLER, CALLED);
    assert_int_equal(module->n_functions, 3);
    assert_false(call_of(ptx_find_function(module, "k"))->call->target.function->has_body);
    ptx_module_free(module);
}

static void one_of_several_weak_functions_is_kept_and_a_visible_one_wins(void **state) {
    (void)state;
    struct ptx_module *module = must_link(".weak " CALLED, ".weak " CALLED);
    assert_int_equal(module->n_functions, 1);
    assert_string_equal(module->function[0]->home->path, "a.ptx");
    ptx_module_free(module);
    module = must_link(".weak " CALLED, ".visible " CALLED);
    assert_int_equal(module->n_functions, 1);
    assert_string_equal(module->function[0]->home->path, "b.ptx");
    ptx_module_free(module);
}

static void variables_are_linked_in_operands_and_in_initialisers(void **state) {
    (void)state;
    struct ptx_module *module = must_link(".extern .global .u32 x;\n.global .u64 p = x;\n"
                                          ".entry k () { .reg .b32 %r<2>; ld.global.u32 %r1, [x]; ret; }\n",
                                          ".visible .global .u32 x = 5;\n");
    const struct ptx_variable *x = ptx_find_variable(module, "x");
    assert_int_equal(module->n_variables, 2);
    assert_int_equal(x->linkage, PTX_LINK_VISIBLE);
    assert_ptr_equal(ptx_find_variable(module, "p")->relocation[0].variable, x);
    assert_ptr_equal(module->function[0]->instruction[0].operand[1].variable, x);
    ptx_module_free(module);
}

static void the_largest_common_variable_is_kept(void **state) {
    (void)state;
    struct ptx_module *module = must_link(".common .global .b8 x[4];\n", ".common .global .b8 x[64];\n");
    assert_int_equal(module->n_variables, 1);
    assert_int_equal(module->variable[0]->size, 64);
    ptx_module_free(module);
}

static void parts_keep_their_own_names(void **state) {
    (void)state;
    struct ptx_module *module = must_link(".global .u32 x = 1;\n.extern .shared .b8 pool[];\n",
                                          ".global .u32 x = 2;\n.extern .shared .b8 pool[];\n");
    assert_int_equal(module->n_variables, 4);
    ptx_module_free(module);
}

static void conflicting_definitions_are_errors_with_both_places(void **state) {
    (void)state;
    must_fail(".visible " CALLED, "\n.visible " CALLED, "b.ptx:5:");
    must_fail(".visible " CALLED, ".visible " CALLED, "'f' is also defined in a.ptx:4");
    must_fail(CALLER, ".visible .func f () { ret; }\n", "'f' is something else in b.ptx:4");
    must_fail(".extern .global .u32 x;\n", ".visible .global .u64 x;\n", "'x' has another space or size in b.ptx:4");
    must_fail(".extern .global .u32 x;\n", ".visible .const .u32 x;\n", "'x' has another space or size in b.ptx:4");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_declared_function_becomes_the_defined_one),
        cmocka_unit_test(a_function_without_linkage_stays_in_its_part),
        cmocka_unit_test(one_of_several_weak_functions_is_kept_and_a_visible_one_wins),
        cmocka_unit_test(variables_are_linked_in_operands_and_in_initialisers),
        cmocka_unit_test(the_largest_common_variable_is_kept),
        cmocka_unit_test(parts_keep_their_own_names),
        cmocka_unit_test(conflicting_definitions_are_errors_with_both_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
