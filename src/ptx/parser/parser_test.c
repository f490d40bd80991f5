/* Tests of whole files: the seed corpus of the fuzzer, every prefix of it, and the time for a large file. Run from the
 * root of the source tree. */
#include "ptx/fixture.h"

#include <stdlib.h>

static const char *const corpus[] = {"assembly", "debug",     "directives", "families", "lineinfo", "pointers",
                                     "print",    "recursion", "switch",     "texture",  "vectors",  "warp"};

static char *read_file(const char *name, size_t *length) {
    char path[256];
    snprintf(path, sizeof path, "tests/corpus/ptx/%s.ptx", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    char *text = malloc(65536);
    *length = fread(text, 1, 65535, file);
    text[*length] = '\0';
    fclose(file);
    return text;
}

static void compiler_output_parses(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof corpus / sizeof *corpus; i++) {
        size_t length;
        char *text = read_file(corpus[i], &length);
        struct ptx_module *module = fixture_parse(text);
        assert_true(fixture_kernel(module)->n_instructions > 0);
        ptx_module_free(module);
        free(text);
    }
}

static void every_kind_of_mistake_in_one_file_is_found(void **state) {
    (void)state;
    size_t length;
    unsigned n_errors;
    char *text = read_file("errors", &length);
    const char *errors = fixture_errors(text, length, &n_errors);
    free(text);
    assert_int_equal(n_errors, 14);
    for (unsigned line = 4; line < 15; line++) {
        char start[32];
        snprintf(start, sizeof start, "t.ptx:%u:", line);
        if (line != 8 && line != 9) /* line 9 lacks a ';', which shows on line 10 */
            assert_non_null(strstr(errors, start));
    }
}

static void every_prefix_of_a_file_is_parsed_without_a_crash(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof corpus / sizeof *corpus; i++) {
        size_t length;
        char *text = read_file(corpus[i], &length);
        for (size_t n = 0; n < length; n += 1 + n / 60) {
            struct ptx_messages messages;
            char *exact = malloc(n + 1); /* so that a sanitizer sees a read past the end */
            memcpy(exact, text, n);
            struct ptx_module *module = ptx_parse("t.ptx", exact, n, &messages);
            free(exact);
            assert_int_equal(module == NULL, messages.n_errors > 0);
            ptx_module_free(module);
            ptx_messages_free(&messages);
        }
        free(text);
    }
}

/* Tens of thousands of names, labels and registers: quadratic time would not end. */
static void large_functions_parse_in_linear_time(void **state) {
    (void)state;
    enum { N = 40000, BYTES = 8 << 20 };
    char *text = malloc(BYTES);
    size_t n =
        (size_t)snprintf(text, BYTES, "%s.entry k () {\n.reg .b32 %%r<%d>;\n.reg .pred %%p;\n", FIXTURE_HEADER, N + 1);
    for (int i = 0; i < N; i++)
        n += (size_t)snprintf(text + n, BYTES - n, "@%%p bra L%d; { .reg .b32 a%d; mov.b32 a%d, %%r%d; } L%d:\n",
                              (i * 7919) % N, i, i, i, i);
    n += (size_t)snprintf(text + n, BYTES - n, "ret; }\n");
    struct ptx_messages messages;
    struct ptx_module *module = ptx_parse("t.ptx", text, n, &messages);
    free(text);
    assert_non_null(module);
    const struct ptx_function *k = module->function[0];
    assert_int_equal(k->n_instructions, 2 * N + 1);
    assert_int_equal(k->n_registers, 2 * N + 1);
    assert_int_equal(k->instruction[2].operand[0].target, 2 * 7919 + 2);
    ptx_module_free(module);
    ptx_messages_free(&messages);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiler_output_parses),
        cmocka_unit_test(every_kind_of_mistake_in_one_file_is_found),
        cmocka_unit_test(every_prefix_of_a_file_is_parsed_without_a_crash),
        cmocka_unit_test(large_functions_parse_in_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
