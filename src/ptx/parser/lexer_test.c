/* Tests of the lexer: constants, blanks and malformed text. */
#include "ptx/fixture.h"

static uint64_t constant(const char *type, const char *text, enum ptx_operand_kind kind) {
    char body[256];
    snprintf(body, sizeof body, "mov.%s %s, %s;", type, strcmp(type, "b64") == 0 ? "%rd1" : "%r1", text);
    struct ptx_module *module = fixture_body(body);
    const struct ptx_operand *operand = &fixture_instruction(module, 0)->operand[1];
    assert_int_equal(operand->kind, kind);
    uint64_t value = operand->value;
    ptx_module_free(module);
    return value;
}

static void integers_are_read_in_every_base(void **state) {
    (void)state;
    assert_int_equal(constant("b64", "1234567890123", PTX_OPERAND_INTEGER), 1234567890123);
    assert_int_equal(constant("b64", "0", PTX_OPERAND_INTEGER), 0);
    assert_int_equal(constant("b64", "017", PTX_OPERAND_INTEGER), 15);
    assert_int_equal(constant("b64", "0x1fE", PTX_OPERAND_INTEGER), 0x1fe);
    assert_int_equal(constant("b64", "0XffU", PTX_OPERAND_INTEGER), 0xff);
    assert_int_equal(constant("b64", "0b1011", PTX_OPERAND_INTEGER), 11);
    assert_int_equal(constant("b64", "42U", PTX_OPERAND_INTEGER), 42);
    assert_int_equal(constant("b64", "-1", PTX_OPERAND_INTEGER), UINT64_MAX);
    assert_int_equal(constant("b64", "18446744073709551615", PTX_OPERAND_INTEGER), UINT64_MAX);
}

static void floating_point_bits_are_kept(void **state) {
    (void)state;
    assert_int_equal(constant("b32", "0f3F800000", PTX_OPERAND_FLOAT32), 0x3f800000);
    assert_int_equal(constant("b32", "0F7fc00001", PTX_OPERAND_FLOAT32), 0x7fc00001);
    assert_int_equal(constant("b32", "-0f3F800000", PTX_OPERAND_FLOAT32), 0xbf800000);
    assert_int_equal(constant("b64", "0d3FF0000000000000", PTX_OPERAND_FLOAT64), 0x3ff0000000000000);
    assert_int_equal(constant("b64", "1.5", PTX_OPERAND_FLOAT64), 0x3ff8000000000000);
    assert_int_equal(constant("b64", "-1.5", PTX_OPERAND_FLOAT64), 0xbff8000000000000);
    assert_int_equal(constant("b64", "1.", PTX_OPERAND_FLOAT64), 0x3ff0000000000000);
    assert_int_equal(constant("b64", ".5", PTX_OPERAND_FLOAT64), 0x3fe0000000000000);
    assert_int_equal(constant("b64", "25e-1", PTX_OPERAND_FLOAT64), 0x4004000000000000);
    assert_int_equal(constant("b64", "1.0E+1", PTX_OPERAND_FLOAT64), 0x4024000000000000);
}

static void comments_and_blanks_separate_tokens(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("mov.u32/* a */%r1 , // b ;\n\t/* c\n\n * / */ 7\r\n\n;\n@@DWARF x\nret;");
    const struct ptx_instruction *ret = fixture_instruction(module, 1);
    assert_int_equal(fixture_instruction(module, 0)->operand[1].value, 7);
    assert_int_equal(fixture_instruction(module, 0)->operand[1].at.line, 11);
    assert_int_equal(fixture_instruction(module, 0)->operand[1].at.column, 9);
    assert_int_equal(ret->opcode, PTX_OP_RET);
    assert_int_equal(ret->at.line, 15);
    ptx_module_free(module);
}

static void malformed_numbers_are_named(void **state) {
    (void)state;
    fixture_rejects("mov.u32 %r1, 08;", 14, "malformed number '08'");
    fixture_rejects("mov.u32 %r1, 0xg;", 14, "malformed number '0xg'");
    fixture_rejects("mov.u32 %r1, 0b12;", 14, "malformed number '0b12'");
    fixture_rejects("mov.u32 %r1, 12abc;", 14, "malformed number '12abc'");
    fixture_rejects("mov.f64 %fd1, 1.5x;", 15, "malformed number '1.5x'");
    fixture_rejects("mov.b64 %rd1, 99999999999999999999;", 15, "number larger than 64 bits: '99999999999999999999'");
    fixture_rejects("mov.f32 %f1, 0f3F8;", 14, "expected 0f and 8 hexadecimal digits, got '0f3F8'");
    fixture_rejects("mov.f64 %fd1, 0d3FF00000000000000;", 15,
                    "expected 0d and 16 hexadecimal digits, got '0d3FF00000000000000'");
}

static void stray_bytes_are_named(void **state) {
    (void)state;
    fixture_rejects("mov.u32 %r1, #3;", 14, "stray character '#'");
    fixture_rejects("mov.u32 %r1, \xc3\xa9;", 14, "stray byte 0xc3");
    static const char with_nul[] = FIXTURE_HEADER ".global .u32 x\0;";
    const char *errors = fixture_errors(with_nul, sizeof with_nul - 1, NULL);
    assert_non_null(strstr(errors, "t.ptx:4:15: error: stray byte 0x00\n.global .u32 x?;\n              ^\n"));
}

static void unterminated_text_is_reported_where_it_starts(void **state) {
    (void)state;
    fixture_module_rejects("/* open\n\n", 1, "unterminated comment");
    fixture_module_rejects(".pragma \"open;\n.pragma \"shut\";", 9, "string without a closing quote: '\"open;'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_read_in_every_base),
        cmocka_unit_test(floating_point_bits_are_kept),
        cmocka_unit_test(comments_and_blanks_separate_tokens),
        cmocka_unit_test(malformed_numbers_are_named),
        cmocka_unit_test(stray_bytes_are_named),
        cmocka_unit_test(unterminated_text_is_reported_where_it_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
