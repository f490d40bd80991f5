/* Tests of messages: order, excerpt, caret, and the limit on their number. */
#include "ptx/fixture.h"

#include <stdlib.h>

static void errors_are_in_the_order_of_the_text(void **state) {
    (void)state;
    const char *errors = fixture_body_errors("call nothing;\nadd.s32 %f1, %r1, %r2;\nbogus;");
    const char *first = strstr(errors, "t.ptx:8:6: error: undefined function 'nothing'\n");
    const char *second = strstr(errors, "t.ptx:9:9: error: '%f1' is .f32");
    const char *third = strstr(errors, "t.ptx:10:1: error: unknown instruction 'bogus'\n");
    assert_ptr_equal(first, errors);
    assert_true(first < second && second < third);
}

static void the_caret_follows_tabs(void **state) {
    (void)state;
    assert_string_equal(fixture_module_errors("\t.global\t.u32 x = #;\r\n"),
                        "t.ptx:4:19: error: stray character '#'\n\t.global\t.u32 x = #;\n\t       \t         ^\n");
}

static void long_lines_show_the_part_around_the_caret(void **state) {
    (void)state;
    char lines[1200];
    memset(lines, ' ', sizeof lines);
    memcpy(lines + 1000, "#", 2);
    const char *errors = fixture_module_errors(lines);
    assert_true(strlen(errors) < 400);
    assert_non_null(strstr(errors, "t.ptx:4:1001: error: stray character '#'\n"));
}

static void after_twenty_errors_the_rest_is_counted(void **state) {
    (void)state;
    char *text = malloc(65536);
    assert_non_null(text);
    size_t n = (size_t)snprintf(text, 65536, "%s.entry k () {\n", FIXTURE_HEADER);
    for (unsigned i = 0; i < 2500; i++)
        n += (size_t)snprintf(text + n, 65536 - n, "frob;\n");
    snprintf(text + n, 65536 - n, "}\n");
    unsigned n_errors;
    const char *errors = fixture_errors(text, strlen(text), &n_errors);
    free(text);
    assert_int_equal(n_errors, 2500);
    assert_non_null(strstr(errors, "t.ptx:24:1: error: unknown instruction 'frob'\n"));
    assert_null(strstr(errors, "t.ptx:25:1: error:"));
    assert_non_null(strstr(errors, "\nt.ptx: 2480 more errors\n"));
}

static void a_caller_can_add_errors(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("bar.sync 0;");
    struct ptx_messages messages = {0};
    ptx_error_at(&messages, module, fixture_instruction(module, 0)->at, "%s is %d too many", "bar", 1);
    ptx_error_at(&messages, module, (struct ptx_location){0, 0}, "nowhere");
    assert_int_equal(messages.n_errors, 2);
    assert_string_equal(messages.text,
                        "t.ptx:8:1: error: bar is 1 too many\nbar.sync 0;\n^\nt.ptx:0:0: error: nowhere\n");
    ptx_messages_free(&messages);
    assert_null(messages.text);
    ptx_module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_in_the_order_of_the_text),
        cmocka_unit_test(the_caret_follows_tabs),
        cmocka_unit_test(long_lines_show_the_part_around_the_caret),
        cmocka_unit_test(after_twenty_errors_the_rest_is_counted),
        cmocka_unit_test(a_caller_can_add_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
