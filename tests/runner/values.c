/* Values of PTX types as tests write them. The C library rounds decimal floats correctly. */
#include "values.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 8-bit values of .u8 and .s8 are in 16-bit registers, as in compiled code; .b8 registers exist for packing. */
static const struct value_type types[] = {
    {"u8", "b16", VALUE_UNSIGNED, 8, 1, 0, 0},   {"u16", "u16", VALUE_UNSIGNED, 16, 1, 0, 0},
    {"u32", "u32", VALUE_UNSIGNED, 32, 1, 0, 0}, {"u64", "u64", VALUE_UNSIGNED, 64, 1, 0, 0},
    {"s8", "b16", VALUE_SIGNED, 8, 1, 0, 0},     {"s16", "s16", VALUE_SIGNED, 16, 1, 0, 0},
    {"s32", "s32", VALUE_SIGNED, 32, 1, 0, 0},   {"s64", "s64", VALUE_SIGNED, 64, 1, 0, 0},
    {"u16x2", "b32", VALUE_BITS, 32, 1, 0, 0},   {"s16x2", "b32", VALUE_BITS, 32, 1, 0, 0},
    {"b8", "b8", VALUE_BITS, 8, 1, 0, 0},        {"b16", "b16", VALUE_BITS, 16, 1, 0, 0},
    {"b32", "b32", VALUE_BITS, 32, 1, 0, 0},     {"b64", "b64", VALUE_BITS, 64, 1, 0, 0},
    {"f16", "b16", VALUE_FLOAT, 16, 1, 5, 10},   {"f16x2", "b32", VALUE_FLOAT, 32, 2, 5, 10},
    {"bf16", "b16", VALUE_FLOAT, 16, 1, 8, 7},   {"bf16x2", "b32", VALUE_FLOAT, 32, 2, 8, 7},
    {"e4m3x2", "b16", VALUE_BITS, 16, 1, 0, 0},  {"e5m2x2", "b16", VALUE_BITS, 16, 1, 0, 0},
    {"tf32", "b32", VALUE_FLOAT, 32, 1, 8, 23},  {"f32", "f32", VALUE_FLOAT, 32, 1, 8, 23},
    {"f64", "f64", VALUE_FLOAT, 64, 1, 11, 52},  {"pred", "pred", VALUE_PREDICATE, 1, 1, 0, 0},
};

const struct value_type *value_type_named(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
            return &types[i];
    return NULL;
}

uint64_t value_cut(const struct value_type *type, uint64_t bits) {
    return type->bits == 64 ? bits : bits & ((1ull << type->bits) - 1);
}

static bool is_hex_digits(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!isxdigit((unsigned char)text[i]))
            return false;
    return length > 0;
}

/* 0f and eight digits, 0d and sixteen. */
static bool parse_float_bits(const struct value_type *type, const char *text, uint64_t *bits) {
    size_t digits = strlen(text) - 2;
    bool is_single = (text[1] | 32) == 'f';
    if (digits != (is_single ? 8 : 16) || type->bits != (is_single ? 32 : 64) || !is_hex_digits(text + 2, digits))
        return false;
    *bits = strtoull(text + 2, NULL, 16);
    return true;
}

static bool parse_integer(const struct value_type *type, const char *text, uint64_t *bits) {
    bool is_negative = text[0] == '-';
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    bool is_hex = digits[0] == '0' && (digits[1] | 32) == 'x';
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)digits[0]))
        return false;
    uint64_t magnitude = strtoull(digits, &end, is_hex ? 16 : 10);
    if (*end || errno)
        return false;
    uint64_t most = value_cut(type, UINT64_MAX);
    if (magnitude > (is_negative ? most / 2 + 1 : most))
        return false;
    *bits = value_cut(type, is_negative ? 0 - magnitude : magnitude);
    return true;
}

static uint64_t infinity(const struct value_type *type) { return ((1ull << type->exponent) - 1) << type->mantissa; }

static uint64_t sign_bit(const struct value_type *type) { return 1ull << (type->exponent + type->mantissa); }

static bool parse_decimal_float(const struct value_type *type, const char *text, uint64_t *bits) {
    char *end;
    if (type->bits == 64) {
        double number = strtod(text, &end);
        memcpy(bits, &number, 8);
    } else {
        float number = strtof(text, &end);
        uint32_t word;
        memcpy(&word, &number, 4);
        *bits = word;
    }
    return *end == 0 && end != text;
}

static bool parse_float(const struct value_type *type, const char *text, struct value *value) {
    const char *name = text + (text[0] == '-' || text[0] == '+');
    if (strcmp(name, "nan") == 0) {
        value->bits = infinity(type) | 1ull << (type->mantissa - 1);
        value->is_any_nan = true;
        return type->parts == 1;
    }
    if (strcmp(name, "inf") == 0) {
        value->bits = infinity(type) | (text[0] == '-' ? sign_bit(type) : 0);
        return type->parts == 1;
    }
    bool is_half = type->exponent + type->mantissa < 31;
    if (is_half || (name[0] == '0' && (name[1] | 32) == 'x'))
        return parse_integer(type, text, &value->bits);
    return parse_decimal_float(type, text, &value->bits);
}

bool value_parse(const struct value_type *type, const char *text, size_t length, struct value *value) {
    char word[VALUE_TEXT];
    *value = (struct value){0};
    if (length == 0 || length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = 0;
    if (strcmp(word, "_") == 0) {
        value->is_ignored = true;
        return true;
    }
    if (word[0] == '0' && ((word[1] | 32) == 'f' || (word[1] | 32) == 'd') && type->kind != VALUE_PREDICATE)
        return parse_float_bits(type, word, &value->bits);
    if (type->kind == VALUE_FLOAT)
        return parse_float(type, word, value);
    return parse_integer(type, word, &value->bits);
}

static double as_double(const struct value_type *type, uint64_t bits) {
    if (type->bits == 64) {
        double number;
        memcpy(&number, &bits, 8);
        return number;
    }
    uint64_t fraction = bits & ((1ull << type->mantissa) - 1);
    int exponent = (int)(bits >> type->mantissa & ((1u << type->exponent) - 1));
    int most = (1 << type->exponent) - 1, bias = most / 2;
    double magnitude = exponent == most ? (fraction ? (double)NAN : (double)INFINITY)
                       : exponent == 0
                           ? ldexp((double)fraction, 1 - bias - (int)type->mantissa)
                           : ldexp((double)(fraction | 1ull << type->mantissa), exponent - bias - (int)type->mantissa);
    return bits & sign_bit(type) ? -magnitude : magnitude;
}

const char *value_text(const struct value_type *type, uint64_t bits, char *buffer) {
    int64_t extended = (int64_t)(bits << (64 - type->bits)) >> (64 - type->bits);
    int digits = (int)(type->bits + 3) / 4;
    unsigned long long raw = (unsigned long long)value_cut(type, bits);
    if (type->kind == VALUE_PREDICATE)
        snprintf(buffer, VALUE_TEXT, "%llu", raw);
    else if (type->kind == VALUE_FLOAT && type->parts == 1)
        snprintf(buffer, VALUE_TEXT, "0x%0*llx (%.17g)", digits, raw, as_double(type, raw));
    else if (type->kind == VALUE_SIGNED)
        snprintf(buffer, VALUE_TEXT, "0x%0*llx (%lld)", digits, raw, (long long)extended);
    else
        snprintf(buffer, VALUE_TEXT, "0x%0*llx", digits, raw);
    return buffer;
}

bool value_immediate(const struct value_type *type, uint64_t bits, char *buffer) {
    unsigned long long raw = (unsigned long long)value_cut(type, bits);
    if (type->kind == VALUE_PREDICATE || type->bits == 8 || strcmp(type->name, "tf32") == 0)
        return false;
    if (type->kind == VALUE_FLOAT) {
        bool is_double = type->bits == 64;
        snprintf(buffer, VALUE_TEXT, is_double ? "0d%016llX" : "0f%08llX", raw);
        return type->exponent + type->mantissa >= 31;
    }
    int64_t extended = (int64_t)(bits << (64 - type->bits)) >> (64 - type->bits);
    if (type->kind == VALUE_SIGNED)
        snprintf(buffer, VALUE_TEXT, "%lld", (long long)extended);
    else
        snprintf(buffer, VALUE_TEXT, "0x%llx", raw);
    return true;
}

static bool is_nan(const struct value_type *type, uint64_t bits) {
    return (bits & (sign_bit(type) - 1)) > infinity(type);
}

/* Maps floats to integers in the same order, -0 and +0 to the same one: neighbours differ by one. */
static int64_t ordinal(const struct value_type *type, uint64_t bits) {
    int64_t magnitude = (int64_t)(bits & (sign_bit(type) - 1));
    return bits & sign_bit(type) ? -magnitude : magnitude;
}

static uint64_t distance(int64_t a, int64_t b) { return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a; }

static bool is_near(const struct value_type *type, uint64_t got, uint64_t expected, const struct tolerance *tolerance) {
    if (is_nan(type, got) || is_nan(type, expected))
        return is_nan(type, got) && is_nan(type, expected);
    if (got == expected)
        return true;
    double a = as_double(type, got), b = as_double(type, expected);
    switch (tolerance->kind) {
    case TOLERANCE_ULP:
        return (double)distance(ordinal(type, got), ordinal(type, expected)) <= tolerance->amount;
    case TOLERANCE_ABSOLUTE:
        return fabs(a - b) <= tolerance->amount;
    case TOLERANCE_RELATIVE:
        return fabs(a - b) <= tolerance->amount * fabs(b);
    default:
        return false;
    }
}

bool value_matches(const struct value_type *type, uint64_t got, const struct value *expected,
                   const struct tolerance *tolerance) {
    got = value_cut(type, got);
    if (expected->is_ignored || got == expected->bits)
        return true;
    if (type->kind != VALUE_FLOAT)
        return false;
    if (expected->is_any_nan)
        return is_nan(type, got);
    if (tolerance->kind == TOLERANCE_NONE)
        return false;
    unsigned width = type->bits / type->parts;
    uint64_t part = width == 64 ? UINT64_MAX : (1ull << width) - 1;
    for (unsigned i = 0; i < type->parts; i++)
        if (!is_near(type, got >> (i * width) & part, expected->bits >> (i * width) & part, tolerance))
            return false;
    return true;
}
