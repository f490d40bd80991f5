/* Values of PTX types as tests write them, and their comparison with results. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_kind { VALUE_UNSIGNED, VALUE_SIGNED, VALUE_BITS, VALUE_FLOAT, VALUE_PREDICATE };

struct value_type {
    const char *name;          /* "f16x2" */
    const char *register_type; /* of a register that holds one: "b32" */
    enum value_kind kind;
    unsigned bits;               /* of the value; 1 for predicates */
    unsigned parts;              /* 2 for packed types */
    unsigned exponent, mantissa; /* bits of each part of a float */
};

struct value {
    uint64_t bits;
    bool is_any_nan; /* written nan: matches every NaN */
    bool is_ignored; /* written _: matches every value */
};

enum tolerance_kind { TOLERANCE_NONE, TOLERANCE_ULP, TOLERANCE_ABSOLUTE, TOLERANCE_RELATIVE };

struct tolerance {
    enum tolerance_kind kind;
    double amount;
};

enum { VALUE_TEXT = 64 };

/* Returns the type with this name, or NULL. */
const struct value_type *value_type_named(const char *name, size_t length);

/* Reads a value: an integer in decimal or 0x, 0f and 0d bits, and for floats also decimals, inf and nan. Returns false
 * when the text is not a value, or the type cannot hold it. 0x sets the bits of a float; half-precision values are
 * always bits, also in decimal, while 2 in a single or double is the number two. */
bool value_parse(const struct value_type *type, const char *text, size_t length, struct value *value);

/* Writes the value for a message; buffer has VALUE_TEXT bytes and is returned. */
const char *value_text(const struct value_type *type, uint64_t bits, char *buffer);

/* Writes the value as a PTX immediate; buffer has VALUE_TEXT bytes. Returns false for types without immediates. */
bool value_immediate(const struct value_type *type, uint64_t bits, char *buffer);

bool value_matches(const struct value_type *type, uint64_t got, const struct value *expected,
                   const struct tolerance *tolerance);

/* The register's bytes are in the low bits. */
uint64_t value_cut(const struct value_type *type, uint64_t bits);
