/* Values of PTX types as tests write them, and how results are compared with them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_kind { VALUE_UNSIGNED, VALUE_SIGNED, VALUE_BITS, VALUE_FLOAT, VALUE_PREDICATE };

struct value_type {
    const char *name;          /* "f16x2" */
    const char *register_type; /* what .reg declares to hold one: "b32" */
    enum value_kind kind;
    unsigned bits;               /* of the value; 1 for predicates */
    unsigned parts;              /* 2 for packed types */
    unsigned exponent, mantissa; /* bits of each part of a float */
};

struct value {
    uint64_t bits;
    bool is_any_nan; /* written nan: every NaN will do */
    bool is_ignored; /* written _: everything will do */
};

enum tolerance_kind { TOLERANCE_NONE, TOLERANCE_ULP, TOLERANCE_ABSOLUTE, TOLERANCE_RELATIVE };

struct tolerance {
    enum tolerance_kind kind;
    double amount;
};

enum { VALUE_TEXT = 64 };

/* NULL when there is no such type. */
const struct value_type *value_type_named(const char *name, size_t length);

/* Reads a value: an integer in decimal or 0x, 0f and 0d bits, and for floats also decimals, inf and nan. False when the
 * text is none, or the type cannot hold it. 0x gives a float its bits; half-precision values are always bits, also in
 * decimal, while 2 in a single or double is the number two. */
bool value_parse(const struct value_type *type, const char *text, size_t length, struct value *value);

/* The value for a message; buffer holds VALUE_TEXT bytes and is returned. */
const char *value_text(const struct value_type *type, uint64_t bits, char *buffer);

/* The value as a PTX immediate; buffer holds VALUE_TEXT bytes. False for types without immediates. */
bool value_immediate(const struct value_type *type, uint64_t bits, char *buffer);

bool value_matches(const struct value_type *type, uint64_t got, const struct value *expected,
                   const struct tolerance *tolerance);

/* The register's bytes are in the low bits. */
uint64_t value_cut(const struct value_type *type, uint64_t bits);
