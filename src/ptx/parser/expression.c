/* Constant expressions: C's operators on 64-bit integers and doubles, casts to .s64 and .u64, and in initialisers the
 * address of a symbol. From the chapter on constants of the PTX ISA manual: a constant is .s64 unless it has a U suffix
 * or does not fit, and an operation is unsigned when one of its operands is. */
#include "ptx/internal.h"

#include <string.h>

static double bits_to_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t double_to_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double ptx_value_double(const struct ptx_value *value) {
    if (value->kind == VALUE_FLOAT64)
        return bits_to_double(value->bits);
    if (value->kind == VALUE_FLOAT32) {
        uint32_t low = (uint32_t)value->bits;
        float single;
        memcpy(&single, &low, sizeof single);
        return single;
    }
    return value->is_unsigned ? (double)value->bits : (double)(int64_t)value->bits;
}

static bool parse_ternary(struct ptx_parser *parser, struct ptx_value *value);

static bool enter(struct ptx_parser *parser) {
    if (++parser->expression_depth <= PTX_MAX_EXPRESSION_DEPTH)
        return true;
    return ptx_fail(parser, parser->token.at, "expression nested deeper than %d", PTX_MAX_EXPRESSION_DEPTH);
}

/* A symbol, also inside generic( ) and mask( ). */
static bool parse_symbol(struct ptx_parser *parser, struct ptx_value *value) {
    value->kind = VALUE_ADDRESS;
    value->symbol = parser->token.name;
    value->bits = 0;
    ptx_advance(parser);
    return true;
}

static bool parse_name(struct ptx_parser *parser, struct ptx_value *value) {
    bool is_generic = ptx_is_word(parser, "generic") && ptx_peek(parser) == '(';
    if (!is_generic)
        return parse_symbol(parser, value);
    ptx_advance(parser);
    ptx_advance(parser);
    if (!ptx_parse_value(parser, value))
        return false;
    if (value->kind != VALUE_ADDRESS)
        return ptx_fail(parser, value->at, "expected a variable inside generic()");
    value->is_generic = true;
    return ptx_expect(parser, ')', "after generic(variable");
}

/* 0xFF00(value): one byte of an address or an integer. */
static bool parse_mask(struct ptx_parser *parser, struct ptx_value *value) {
    uint64_t mask = value->bits;
    struct ptx_location at = value->at;
    unsigned shift = 0;
    ptx_advance(parser);
    while (shift < 56 && mask >> shift != 0xff)
        shift += 8;
    if (mask != UINT64_C(0xff) << shift)
        return ptx_fail(parser, at, "expected a mask of one byte such as 0xFF00");
    if (!ptx_parse_value(parser, value))
        return false;
    if (value->kind == VALUE_INTEGER)
        value->bits = value->bits >> shift & 0xff;
    else if (value->kind != VALUE_ADDRESS || value->is_masked)
        return ptx_fail(parser, value->at, "expected a variable or an integer after the byte mask");
    value->is_masked = value->kind == VALUE_ADDRESS;
    value->mask_shift = shift;
    return ptx_expect(parser, ')', "after the masked value");
}

static bool parse_number(struct ptx_parser *parser, struct ptx_value *value) {
    const struct ptx_token *token = &parser->token;
    value->kind = token->kind == TOKEN_INTEGER   ? VALUE_INTEGER
                  : token->kind == TOKEN_FLOAT32 ? VALUE_FLOAT32
                                                 : VALUE_FLOAT64;
    value->bits = token->value;
    value->is_unsigned = token->is_unsigned;
    ptx_advance(parser);
    if (value->kind == VALUE_INTEGER && ptx_is_punctuation(parser, '('))
        return parse_mask(parser, value);
    return true;
}

static bool parse_unary(struct ptx_parser *parser, struct ptx_value *value);

/* After '(': a cast or a parenthesised expression. */
static bool parse_parenthesis(struct ptx_parser *parser, struct ptx_value *value) {
    ptx_advance(parser);
    bool is_signed = ptx_is_dot(parser, "s64"), is_unsigned = ptx_is_dot(parser, "u64");
    if (!is_signed && !is_unsigned)
        return parse_ternary(parser, value) && ptx_expect(parser, ')', "after expression");
    ptx_advance(parser);
    if (!ptx_expect(parser, ')', "after cast") || !enter(parser) || !parse_unary(parser, value))
        return false;
    parser->expression_depth--;
    if (value->kind == VALUE_FLOAT32 || value->kind == VALUE_FLOAT64)
        return ptx_fail(parser, value->at, "a floating-point constant cannot be cast to an integer");
    value->is_unsigned = is_unsigned;
    return true;
}

static bool parse_primary(struct ptx_parser *parser, struct ptx_value *value) {
    *value = (struct ptx_value){.at = parser->token.at};
    switch (parser->token.kind) {
    case TOKEN_INTEGER:
    case TOKEN_FLOAT32:
    case TOKEN_FLOAT64:
        return parse_number(parser, value);
    case TOKEN_NAME:
        return parse_name(parser, value);
    default:
        if (ptx_is_punctuation(parser, '('))
            return parse_parenthesis(parser, value);
        return ptx_unexpected(parser, "a constant");
    }
}

static bool apply_unary(struct ptx_parser *parser, int op, struct ptx_value *value) {
    if (op == '+')
        return true;
    if (value->kind == VALUE_ADDRESS)
        return ptx_fail(parser, value->at, "an address cannot be negated");
    bool is_integer = value->kind == VALUE_INTEGER;
    switch (op) {
    case '-':
        if (value->kind == VALUE_FLOAT32)
            value->bits ^= UINT64_C(1) << 31;
        else
            value->bits = is_integer ? 0 - value->bits : value->bits ^ UINT64_C(1) << 63;
        return true;
    case '!':
        value->bits = is_integer ? value->bits == 0 : ptx_value_double(value) == 0;
        value->kind = VALUE_INTEGER;
        value->is_unsigned = false;
        return true;
    default: /* ~ */
        if (!is_integer)
            return ptx_fail(parser, value->at, "'~' needs an integer");
        value->bits = ~value->bits;
        return true;
    }
}

static bool parse_unary(struct ptx_parser *parser, struct ptx_value *value) {
    if (!ptx_is_punctuation(parser, '-') && !ptx_is_punctuation(parser, '+') && !ptx_is_punctuation(parser, '!') &&
        !ptx_is_punctuation(parser, '~'))
        return parse_primary(parser, value);
    int op = parser->token.punctuation;
    struct ptx_location at = parser->token.at;
    ptx_advance(parser);
    if (!enter(parser) || !parse_unary(parser, value) || !apply_unary(parser, op, value))
        return false;
    parser->expression_depth--;
    value->at = at;
    return true;
}

static int precedence(const struct ptx_token *token) {
    if (token->kind != TOKEN_PUNCTUATION)
        return 0;
    switch (token->punctuation) {
    case '*':
    case '/':
    case '%':
        return 10;
    case '+':
    case '-':
        return 9;
    case PUNCT_SHIFT_LEFT:
    case PUNCT_SHIFT_RIGHT:
        return 8;
    case '<':
    case '>':
    case PUNCT_LE:
    case PUNCT_GE:
        return 7;
    case PUNCT_EQ:
    case PUNCT_NE:
        return 6;
    case '&':
        return 5;
    case '^':
        return 4;
    case '|':
        return 3;
    case PUNCT_AND:
        return 2;
    case PUNCT_OR:
        return 1;
    default:
        return 0;
    }
}

static bool divide(struct ptx_parser *parser, int op, struct ptx_value *a, const struct ptx_value *b) {
    if (b->bits == 0)
        return ptx_fail(parser, b->at, "division by zero in a constant");
    if (a->is_unsigned) {
        a->bits = op == '/' ? a->bits / b->bits : a->bits % b->bits;
    } else if (b->bits == UINT64_MAX) { /* INT64_MIN / -1 would trap */
        a->bits = op == '/' ? 0 - a->bits : 0;
    } else {
        int64_t x = (int64_t)a->bits, y = (int64_t)b->bits;
        a->bits = (uint64_t)(op == '/' ? x / y : x % y);
    }
    return true;
}

/* The manual does not define shifts by 64 and more. The vendor's assembler uses the low six bits of the amount. */
static uint64_t shift(int op, const struct ptx_value *a, const struct ptx_value *b) {
    unsigned amount = (unsigned)b->bits % 64;
    if (op == PUNCT_SHIFT_LEFT)
        return a->bits << amount;
    return a->is_unsigned ? a->bits >> amount : (uint64_t)((int64_t)a->bits >> amount);
}

static bool is_less(const struct ptx_value *a, const struct ptx_value *b) {
    return a->is_unsigned || b->is_unsigned ? a->bits < b->bits : (int64_t)a->bits < (int64_t)b->bits;
}

static void set_bool(struct ptx_value *value, bool claim) {
    *value = (struct ptx_value){.kind = VALUE_INTEGER, .at = value->at, .bits = claim};
}

static bool apply_integers(struct ptx_parser *parser, int op, struct ptx_value *a, const struct ptx_value *b) {
    bool is_shift = op == PUNCT_SHIFT_LEFT || op == PUNCT_SHIFT_RIGHT;
    if (!is_shift)
        a->is_unsigned |= b->is_unsigned;
    switch (op) {
    case '*':
        a->bits *= b->bits;
        return true;
    case '/':
    case '%':
        return divide(parser, op, a, b);
    case '+':
        a->bits += b->bits;
        return true;
    case '-':
        a->bits -= b->bits;
        return true;
    case '&':
        a->bits &= b->bits;
        return true;
    case '^':
        a->bits ^= b->bits;
        return true;
    case '|':
        a->bits |= b->bits;
        return true;
    case PUNCT_SHIFT_LEFT:
    case PUNCT_SHIFT_RIGHT:
        a->bits = shift(op, a, b);
        return true;
    case '<':
        set_bool(a, is_less(a, b));
        return true;
    case '>':
        set_bool(a, is_less(b, a));
        return true;
    case PUNCT_LE:
        set_bool(a, !is_less(b, a));
        return true;
    case PUNCT_GE:
        set_bool(a, !is_less(a, b));
        return true;
    case PUNCT_EQ:
        set_bool(a, a->bits == b->bits);
        return true;
    case PUNCT_NE:
        set_bool(a, a->bits != b->bits);
        return true;
    case PUNCT_AND:
        set_bool(a, a->bits && b->bits);
        return true;
    default:
        set_bool(a, a->bits || b->bits);
        return true;
    }
}

static bool apply_floats(struct ptx_parser *parser, int op, struct ptx_value *a, const struct ptx_value *b) {
    double x = ptx_value_double(a), y = ptx_value_double(b);
    double result;
    switch (op) {
    case '<':
        set_bool(a, x < y);
        return true;
    case '>':
        set_bool(a, x > y);
        return true;
    case PUNCT_LE:
        set_bool(a, x <= y);
        return true;
    case PUNCT_GE:
        set_bool(a, x >= y);
        return true;
    case PUNCT_EQ:
        set_bool(a, x == y);
        return true;
    case PUNCT_NE:
        set_bool(a, x != y);
        return true;
    case '+':
        result = x + y;
        break;
    case '-':
        result = x - y;
        break;
    case '*':
        result = x * y;
        break;
    case '/':
        result = x / y;
        break;
    default:
        return ptx_fail(parser, a->at, "this operator needs integers");
    }
    a->kind = VALUE_FLOAT64;
    a->bits = double_to_bits(result);
    return true;
}

static bool apply_binary(struct ptx_parser *parser, int op, struct ptx_value *a, const struct ptx_value *b) {
    if (a->kind == VALUE_INTEGER && b->kind == VALUE_INTEGER)
        return apply_integers(parser, op, a, b);
    if (a->kind != VALUE_ADDRESS && b->kind != VALUE_ADDRESS)
        return apply_floats(parser, op, a, b);
    bool is_sum = op == '+' && (a->kind == VALUE_INTEGER || b->kind == VALUE_INTEGER);
    bool is_difference = op == '-' && b->kind == VALUE_INTEGER;
    if ((!is_sum && !is_difference) || a->is_masked || b->is_masked)
        return ptx_fail(parser, a->at, "an address can only be increased or decreased by an integer");
    uint64_t addend = is_difference ? a->bits - b->bits : a->bits + b->bits;
    if (a->kind != VALUE_ADDRESS)
        *a = *b;
    a->bits = addend;
    return true;
}

static bool parse_binary(struct ptx_parser *parser, struct ptx_value *value, int lowest) {
    if (!enter(parser) || !parse_unary(parser, value))
        return false;
    for (;;) {
        int strength = precedence(&parser->token);
        if (strength < lowest || strength == 0)
            break;
        int op = parser->token.punctuation;
        struct ptx_value right;
        ptx_advance(parser);
        if (!parse_binary(parser, &right, strength + 1) || !apply_binary(parser, op, value, &right))
            return false;
    }
    parser->expression_depth--;
    return true;
}

static bool parse_ternary(struct ptx_parser *parser, struct ptx_value *value) {
    if (!parse_binary(parser, value, 1))
        return false;
    if (!ptx_is_punctuation(parser, '?'))
        return true;
    if (value->kind != VALUE_INTEGER)
        return ptx_fail(parser, value->at, "expected an integer before '?'");
    struct ptx_value yes, no;
    ptx_advance(parser);
    if (!enter(parser) || !parse_ternary(parser, &yes) || !ptx_expect(parser, ':', "in conditional expression") ||
        !parse_ternary(parser, &no))
        return false;
    parser->expression_depth--;
    *value = value->bits ? yes : no;
    return true;
}

bool ptx_parse_value(struct ptx_parser *parser, struct ptx_value *value) {
    uint32_t depth = parser->expression_depth;
    bool is_right = enter(parser) && parse_ternary(parser, value);
    parser->expression_depth = depth; /* an error may have left it higher */
    return is_right;
}

bool ptx_parse_count(struct ptx_parser *parser, uint64_t largest, const char *what, uint64_t *count) {
    struct ptx_value value;
    if (!ptx_parse_value(parser, &value))
        return false;
    if (value.kind != VALUE_INTEGER)
        return ptx_fail(parser, value.at, "expected an integer as %s", what);
    if ((!value.is_unsigned && (int64_t)value.bits < 0) || value.bits > largest)
        return ptx_fail(parser, value.at, "%s is out of range: 0 to %llu", what, (unsigned long long)largest);
    *count = value.bits;
    return true;
}
