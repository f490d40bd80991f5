/* Tests of constant expressions, by the values that initialised variables get. */
#include "ptx/fixture.h"

static uint64_t value_of(const char *expression) {
    char lines[256];
    snprintf(lines, sizeof lines, ".global .u64 x = %s;", expression);
    struct ptx_module *module = fixture_module(lines);
    uint64_t value = 0;
    if (module->variable[0]->data)
        memcpy(&value, module->variable[0]->data, sizeof value);
    ptx_module_free(module);
    return value;
}

static void operators_bind_as_in_c(void **state) {
    (void)state;
    assert_int_equal(value_of("2 + 3 * 4"), 14);
    assert_int_equal(value_of("(2 + 3) * 4"), 20);
    assert_int_equal(value_of("10 - 4 - 3"), 3);
    assert_int_equal(value_of("1 << 2 + 1"), 8);
    assert_int_equal(value_of("7 & 3 == 3"), 1);
    assert_int_equal(value_of("1 | 6 ^ 2 & 3"), 5);
    assert_int_equal(value_of("0 || 2 && 3"), 1);
    assert_int_equal(value_of("1 ? 2 : 0 ? 3 : 4"), 2);
    assert_int_equal(value_of("0 ? 2 : 0 ? 3 : 4"), 4);
    assert_int_equal(value_of("-3 + +5"), 2);
    assert_int_equal(value_of("!5 + ~0"), UINT64_MAX);
    assert_int_equal(value_of("17 % 5"), 2);
}

static void signedness_decides_division_shifts_and_comparison(void **state) {
    (void)state;
    assert_int_equal(value_of("-7 / 2"), (uint64_t)-3);
    assert_int_equal(value_of("-7 % 3"), (uint64_t)-1);
    assert_int_equal(value_of("(.u64)-8 / 2"), UINT64_MAX / 2 - 3);
    assert_int_equal(value_of("-8 >> 1"), (uint64_t)-4);
    assert_int_equal(value_of("(.u64)(-8) >> 60"), 15);
    assert_int_equal(value_of("-1 < 1"), 1);
    assert_int_equal(value_of("-1 < 1U"), 0);
    assert_int_equal(value_of("1 << 65"), 2);
    assert_int_equal(value_of("-8 >> 65"), (uint64_t)-4);
    assert_int_equal(value_of("0x8000000000000000 / 0xFFFFFFFFFFFFFFFF"), 0);
    assert_int_equal(value_of("(.s64)0x8000000000000000 / -1"), UINT64_C(1) << 63);
    assert_int_equal(value_of("(.s64)0x8000000000000000 % -1"), 0);
}

static void wrong_expressions_are_explained(void **state) {
    (void)state;
    fixture_module_rejects(".global .u32 x = 1 / 0;", 22, "division by zero in a constant");
    fixture_module_rejects(".global .u32 x = 1 % (2 - 2);", 23, "division by zero in a constant");
    fixture_module_rejects(".global .u64 x = 1.5 & 3;", 18, "this operator needs integers");
    fixture_module_rejects(".global .u64 x = ~1.5;", 19, "'~' needs an integer");
    fixture_module_rejects(".global .u64 x = (3;", 20, "expected ')' after expression, got ';'");
    fixture_module_rejects(".global .u64 x = 3 + ;", 22, "expected a constant, got ';'");
    fixture_module_rejects(".global .u64 x = 1 ? 2;", 23, "expected ':' in conditional expression, got ';'");
    fixture_module_rejects(".global .u64 x = (.u64)1.5;", 24, "a floating-point constant cannot be cast to an integer");
    fixture_module_rejects(".global .u64 x = x * 2;", 18,
                           "an address can only be increased or decreased by an integer");
    fixture_module_rejects(".global .u64 x = -x;", 19, "an address cannot be negated");
}

static void deep_nesting_is_refused_and_not_followed(void **state) {
    (void)state;
    char lines[4096] = ".global .u64 x = ";
    memset(lines + strlen(lines), '(', 3000);
    assert_non_null(strstr(fixture_module_errors(lines), "error: expression nested deeper than 64\n"));
    memset(lines + 17, '-', 3000);
    assert_non_null(strstr(fixture_module_errors(lines), "error: expression nested deeper than 64\n"));
    for (size_t i = 17; i + 6 < 3017; i += 6)
        memcpy(lines + i, "(.s64)", 6);
    assert_non_null(strstr(fixture_module_errors(lines), "error: expression nested deeper than 64\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_bind_as_in_c),
        cmocka_unit_test(signedness_decides_division_shifts_and_comparison),
        cmocka_unit_test(wrong_expressions_are_explained),
        cmocka_unit_test(deep_nesting_is_refused_and_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
