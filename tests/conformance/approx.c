/* Bounds and exact results of the approximate instructions, from the PTX ISA manual, version 9.0, "Floating Point
 * Instructions" and "Half Precision Floating Point Instructions". Exact results are those of the C library in long
 * double, far beyond the precision of the types. */
#include "approx.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static bool is_opcode(const struct form *form, const char *opcode) { return strcmp(form->word[0], opcode) == 0; }

bool approx_is(const struct form *form) { return form_has(form, "approx") || form_has(form, "full"); }

unsigned approx_parts(const struct form *form) {
    const char *type = form_type(form, 0);
    size_t length = strlen(type);
    return length > 2 && strcmp(type + length - 2, "x2") == 0 ? 2 : 1;
}

struct format {
    unsigned bits, mantissa;
};

static struct format format_of(const struct form *form) {
    const char *type = form_type(form, 0);
    if (strncmp(type, "bf16", 4) == 0)
        return (struct format){16, 7};
    if (strncmp(type, "f16", 3) == 0)
        return (struct format){16, 10};
    return strcmp(type, "f64") == 0 ? (struct format){64, 52} : (struct format){32, 23};
}

static int lowest_exponent(struct format format) { return 2 - (1 << (format.bits - format.mantissa - 2)); }

static long double number(struct format format, uint64_t bits) {
    unsigned exponent_bits = format.bits - 1 - format.mantissa;
    uint64_t fraction = bits & ((1ull << format.mantissa) - 1), most = (1ull << exponent_bits) - 1;
    uint64_t exponent = bits >> format.mantissa & most;
    long double magnitude;
    if (exponent == most)
        magnitude = fraction ? (long double)NAN : (long double)INFINITY;
    else if (exponent == 0)
        magnitude = ldexpl((long double)fraction, lowest_exponent(format) - (int)format.mantissa);
    else
        magnitude = ldexpl((long double)(fraction | 1ull << format.mantissa),
                           (int)exponent - 1 + lowest_exponent(format) - (int)format.mantissa);
    return bits >> (format.bits - 1) & 1 ? -magnitude : magnitude;
}

static bool is_subnormal(struct format format, long double x) { return fabsl(x) < ldexpl(1, lowest_exponent(format)); }

/* Returns input k of a part; with .ftz subnormals are zeros. */
static long double operand(const struct form *form, const uint64_t *inputs, unsigned part, unsigned k) {
    struct format format = format_of(form);
    uint64_t bits = format.bits == 64 ? inputs[k] : inputs[k] >> part * format.bits & ((1ull << format.bits) - 1);
    if (format.bits == 64 && form_has(form, "ftz")) /* the lower word is ignored */
        bits &= 0xffffffff00000000u;
    long double x = number(format, bits);
    return form_has(form, "ftz") && is_subnormal(format, x) ? copysignl(0, x) : x;
}

static long double exact(const struct form *form, long double a, long double b) {
    static const struct {
        const char *opcode;
        long double (*function)(long double);
    } rows[] = {{"sqrt", sqrtl}, {"sin", sinl}, {"cos", cosl}, {"lg2", log2l}, {"ex2", exp2l}, {"tanh", tanhl}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (is_opcode(form, rows[i].opcode))
            return rows[i].function(a);
    return is_opcode(form, "div") ? a / b : is_opcode(form, "rcp") ? 1 / a : 1 / sqrtl(a);
}

static struct approx_bound stated(enum approx_measure measure, double amount, const char *range) {
    return (struct approx_bound){measure, amount, true, false, range};
}

/* A bound outside the ranges of the manual. */
static struct approx_bound unstated(enum approx_measure measure, double amount, const char *range) {
    return (struct approx_bound){measure, amount, false, true, range};
}

/* The manual has no bound for the double-precision forms; these are the errors that they achieve. */
static struct approx_bound double_bound(const struct form *form) {
    return (struct approx_bound){APPROX_RELATIVE, form_has(form, "ftz") ? 0x1p-19 : 0x1p-52, false, false, ""};
}

/* Beyond the manual's ranges the angle has lost its digits, but its sine or cosine has the same precision. */
static struct approx_bound circular_bound(long double a) {
    if (fabsl(a) <= 2 * pi)
        return stated(APPROX_ABSOLUTE, exp2(-20.5), "to 2 pi");
    if (fabsl(a) <= 100 * pi)
        return stated(APPROX_ABSOLUTE, exp2(-14.7), "to 100 pi");
    return unstated(APPROX_ABSOLUTE, exp2(-20.5), "beyond");
}

static struct approx_bound half_bound(const struct form *form) {
    bool is_bf16 = format_of(form).mantissa == 7;
    if (is_opcode(form, "tanh"))
        return stated(APPROX_ABSOLUTE, is_bf16 ? 0x1p-8 : exp2(-10.987), "");
    return stated(APPROX_RELATIVE, is_bf16 ? 0x1p-7 : exp2(-9.9), "");
}

static struct approx_bound single_bound(const struct form *form, long double a, long double b) {
    if (is_opcode(form, "sin") || is_opcode(form, "cos"))
        return circular_bound(a);
    if (is_opcode(form, "lg2"))
        return a > 0.5L && a < 2 ? stated(APPROX_ABSOLUTE, 0x1p-22, "1/2 to 2")
                                 : stated(APPROX_RELATIVE, 0x1p-22, "elsewhere");
    if (is_opcode(form, "tanh"))
        return stated(APPROX_RELATIVE, 0x1p-11, "");
    if (is_opcode(form, "sqrt"))
        return stated(APPROX_RELATIVE, 0x1p-23, "");
    if (is_opcode(form, "rsqrt"))
        return stated(APPROX_RELATIVE, exp2(-22.9), "");
    bool is_quick = is_opcode(form, "div") && form_has(form, "approx");
    if (is_quick && !(fabsl(b) >= 0x1p-126L && fabsl(b) <= 0x1p126L))
        return unstated(APPROX_ULP, 2, "divisor beyond 2^-126 to 2^126");
    return stated(APPROX_ULP, is_opcode(form, "rcp") ? 1 : 2, is_quick ? "divisor 2^-126 to 2^126" : "");
}

/* Infinite, zero and NaN results are exact on a GPU and must be exact here. */
static bool is_special(long double x) { return !(fabsl(x) < (long double)INFINITY) || x == 0; }

bool approx_bound_of(const struct form *form, const uint64_t *inputs, unsigned part, struct approx_bound *bound) {
    struct format format = format_of(form);
    long double a = operand(form, inputs, part, 0);
    long double b = form->first_hidden > 1 ? operand(form, inputs, part, 1) : 1;
    if (!(fabsl(a) < (long double)INFINITY) || !(fabsl(b) < (long double)INFINITY) || is_special(exact(form, a, b)))
        return false;
    *bound = format.bits == 64 ? double_bound(form) : format.bits == 16 ? half_bound(form) : single_bound(form, a, b);
    return true;
}

double approx_error(const struct form *form, const uint64_t *inputs, unsigned part, uint64_t bits, uint64_t recorded,
                    const struct approx_bound *bound) {
    struct format format = format_of(form);
    long double a = operand(form, inputs, part, 0);
    long double b = form->first_hidden > 1 ? operand(form, inputs, part, 1) : 1;
    long double right = bound->against_recorded ? number(format, recorded) : exact(form, a, b);
    long double is = number(format, bits), error = fabsl(is - right);
    if (is == right)
        return 0;
    if (!(fabsl(is) < (long double)INFINITY) ||
        !(fabsl(right) < (long double)INFINITY)) { /* right is finite, but may lie beyond the format */
        long double largest = ldexpl(2 - ldexpl(1, -(int)format.mantissa), 1 - lowest_exponent(format));
        return is == is && fabsl(right) >= largest * (1 - ldexpl(1, -(int)format.mantissa)) ? 0 : (double)INFINITY;
    }
    if (is == 0 && form_has(form, "ftz") && is_subnormal(format, right * (1 - ldexpl(1, -(int)format.mantissa))))
        return 0;
    int exponent = ilogbl(right) < lowest_exponent(format) ? lowest_exponent(format) : ilogbl(right);
    long double ulp = ldexpl(1, exponent - (int)format.mantissa);
    switch (bound->measure) {
    case APPROX_ULP:
        return (double)(error / ulp);
    case APPROX_RELATIVE: /* below the smallest normal number, precision ends at its last place */
        return (double)(is_subnormal(format, right) && error <= ulp ? 0 : error / fabsl(right));
    default:
        return (double)error;
    }
}
