/* Tests of the text helpers: suggestions and strict numbers. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *nearest(const char *wanted) {
    static const char *const names[] = {"bfs", "matmul", "reduction", "vecadd", "blackscholes"};
    struct base_nearest result = base_nearest_to(wanted);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        base_nearest_offer(&result, names[i]);
    return result.best;
}

static void the_distance_counts_single_edits(void **state) {
    (void)state;
    assert_int_equal(base_edit_distance("", ""), 0);
    assert_int_equal(base_edit_distance("", "abc"), 3);
    assert_int_equal(base_edit_distance("abc", ""), 3);
    assert_int_equal(base_edit_distance("bfs", "bsf"), 1);
    assert_int_equal(base_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(base_edit_distance("BFS", "bfs"), 0);
    assert_int_equal(base_edit_distance("ca", "abc"), 3);
}

static void names_too_long_to_compare_differ_unless_equal(void **state) {
    (void)state;
    char a[101], b[101];
    memset(a, 'a', 100);
    a[100] = '\0';
    memcpy(b, a, sizeof(a));
    assert_int_equal(base_edit_distance(a, b), 0);
    b[99] = 'b';
    assert_int_equal(base_edit_distance(a, b), 64);
}

static void a_misspelt_name_finds_the_right_one(void **state) {
    (void)state;
    assert_string_equal(nearest("bsf"), "bfs");
    assert_string_equal(nearest("matmull"), "matmul");
    assert_string_equal(nearest("blackshcoles"), "blackscholes");
    assert_string_equal(nearest("bfs"), "bfs");
}

static void an_unrelated_name_finds_none(void **state) {
    (void)state;
    assert_null(nearest("x"));
    assert_null(nearest(""));
    assert_null(nearest("gto"));
    assert_null(nearest("histogram"));
}

static void decimal_and_hexadecimal_numbers_are_read_whole(void **state) {
    (void)state;
    uint64_t value;
    assert_true(base_parse_u64("0", &value) && value == 0);
    assert_true(base_parse_u64("1024", &value) && value == 1024);
    assert_true(base_parse_u64("0x7fFf", &value) && value == 0x7fff);
    assert_true(base_parse_u64("18446744073709551615", &value) && value == UINT64_MAX);
    assert_true(base_parse_u64("0xffffffffffffffff", &value) && value == UINT64_MAX);
}

static void text_that_is_no_number_is_refused_and_changes_nothing(void **state) {
    (void)state;
    static const char *const wrong[] = {"",    "0x",
                                        "-1",  "+1",
                                        " 1",  "1 ",
                                        "1k",  "a",
                                        "0xg", "18446744073709551616",
                                        "1.0", "1e3",
                                        "x1",  "99999999999999999999"};
    uint64_t value = 7;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(base_parse_u64(wrong[i], &value));
    assert_int_equal(value, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_counts_single_edits),
        cmocka_unit_test(names_too_long_to_compare_differ_unless_equal),
        cmocka_unit_test(a_misspelt_name_finds_the_right_one),
        cmocka_unit_test(an_unrelated_name_finds_none),
        cmocka_unit_test(decimal_and_hexadecimal_numbers_are_read_whole),
        cmocka_unit_test(text_that_is_no_number_is_refused_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
