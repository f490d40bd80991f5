/* Tests of diagnostics: positions, the caret, and text that is too long or cannot be read. */
#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct base_source source_of(const char *text) {
    return (struct base_source){.name = "k.ptx", .text = text, .length = strlen(text)};
}

static void positions_count_lines_and_columns_from_one(void **state) {
    (void)state;
    struct base_source source = source_of("ab\n\ncd");
    static const struct base_position expected[] = {{1, 1}, {1, 2}, {1, 3}, {2, 1}, {3, 1}, {3, 2}, {3, 3}};
    for (size_t offset = 0; offset <= source.length; offset++) {
        struct base_position position = base_source_position(&source, offset);
        assert_int_equal(position.line, expected[offset].line);
        assert_int_equal(position.column, expected[offset].column);
    }
}

static void an_error_shows_its_line_and_a_caret(void **state) {
    (void)state;
    struct base_source source = source_of("ret;\n\tadd\tr1, r9;\nret;\n");
    struct base_diag diag = {0};
    size_t offset = (size_t)(strstr(source.text, "r9") - source.text);
    assert_false(base_diag_error_at(&diag, &source, offset, "no register '%s'", "r9"));
    assert_string_equal(diag.text, "k.ptx:2:10: error: no register 'r9'\n"
                                   "    add r1, r9;\n"
                                   "            ^\n");
    assert_int_equal(diag.position.line, 2);
    assert_int_equal(diag.position.column, 10);
}

static void the_caret_counts_characters_not_bytes(void **state) {
    (void)state;
    struct base_source source = source_of("\xC3\xA9\xC3\xA9 x");
    struct base_diag diag = {0};
    base_diag_error_at(&diag, &source, 5, "here");
    assert_string_equal(diag.text, "k.ptx:1:6: error: here\n    \xC3\xA9\xC3\xA9 x\n       ^\n");
}

static void the_end_of_the_text_is_a_position(void **state) {
    (void)state;
    struct base_source source = source_of("{\n");
    struct base_diag diag = {0};
    base_diag_error_at(&diag, &source, source.length, "expected '}'");
    assert_string_equal(diag.text, "k.ptx:2:1: error: expected '}'\n    \n    ^\n");
}

static void a_long_line_is_cut_around_the_caret(void **state) {
    (void)state;
    char text[2001];
    memset(text, 'a', 2000);
    text[1000] = 'B';
    text[2000] = '\0';
    struct base_source source = source_of(text);
    struct base_diag diag = {0};
    base_diag_error_at(&diag, &source, 1000, "here");
    const char *excerpt = strchr(diag.text, '\n') + 1;
    const char *caret_line = strchr(excerpt, '\n') + 1;
    assert_in_range(caret_line - excerpt, 1, 120);
    assert_int_equal(excerpt[strchr(caret_line, '^') - caret_line], 'B');
}

static void only_the_first_error_is_kept(void **state) {
    (void)state;
    struct base_diag diag = {0};
    base_diag_error(&diag, "first");
    base_diag_error(&diag, "second");
    assert_true(diag.is_set);
    assert_string_equal(diag.text, "error: first\n");
}

static void a_message_is_one_line_whatever_it_quotes(void **state) {
    (void)state;
    struct base_diag diag = {0};
    base_diag_error(&diag, "bad name '%s'", "a\nb\tc");
    assert_string_equal(diag.text, "error: bad name 'a b c'\n");
}

static void an_overlong_message_is_cut_inside_the_buffer(void **state) {
    (void)state;
    char text[3000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    struct {
        struct base_diag diag;
        char guard;
    } guarded = {.guard = 'G'};
    struct base_source source = source_of(text);
    base_diag_error_at(&guarded.diag, &source, 10, "%s", text);
    assert_int_equal(strlen(guarded.diag.text), BASE_DIAG_BYTES - 1);
    assert_int_equal(guarded.guard, 'G');
}

static void a_file_is_read_whole(void **state) {
    (void)state;
    char path[] = "/tmp/heddle-diag-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "wb");
    for (unsigned i = 0; i < 200 * 1000; i++)
        fputc((int)(i % 251), file);
    fclose(file);

    struct base_arena arena = {0};
    struct base_diag diag = {0};
    struct base_source source;
    assert_true(base_source_read(&source, &arena, path, &diag));
    unlink(path);
    assert_int_equal(source.length, 200 * 1000);
    for (unsigned i = 0; i < source.length; i++)
        assert_int_equal((unsigned char)source.text[i], i % 251);
    assert_int_equal(source.text[source.length], 0);
    base_arena_free(&arena);
}

static void an_unreadable_file_is_named(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct base_source source;
    struct base_diag missing = {0}, folder = {0};
    assert_false(base_source_read(&source, &arena, "/nonexistent/k.ptx", &missing));
    assert_string_equal(missing.text, "error: cannot open '/nonexistent/k.ptx': No such file or directory\n");
    assert_false(base_source_read(&source, &arena, "/", &folder));
    assert_string_equal(folder.text, "error: cannot read '/': Is a directory\n");
    base_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_count_lines_and_columns_from_one),
        cmocka_unit_test(an_error_shows_its_line_and_a_caret),
        cmocka_unit_test(the_caret_counts_characters_not_bytes),
        cmocka_unit_test(the_end_of_the_text_is_a_position),
        cmocka_unit_test(a_long_line_is_cut_around_the_caret),
        cmocka_unit_test(only_the_first_error_is_kept),
        cmocka_unit_test(a_message_is_one_line_whatever_it_quotes),
        cmocka_unit_test(an_overlong_message_is_cut_inside_the_buffer),
        cmocka_unit_test(a_file_is_read_whole),
        cmocka_unit_test(an_unreadable_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
