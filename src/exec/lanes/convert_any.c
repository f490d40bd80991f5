/* The general cvt: every pair of places, in three passes over a row: read the lanes into 64-bit integers or doubles,
 * convert, write them back. Common pairs have separate loops (convert.c).
 *
 * From the cvt section of the PTX ISA manual and, for NaN, from an NVIDIA H200:
 * - A NaN becomes the integer 0, or the smallest signed integer of the type's width if either side has 64 bits.
 * - Between floats a NaN keeps its sign and the top of its payload, made quiet, when either side is f64; otherwise it
 *   becomes the canonical NaN of the result's type. Flushing an f32 input first turns a NaN into the canonical NaN of
 *   f32.
 * - Numbers outside the range of the integer type become the nearest end of the range, with or without .sat. */
#include "exec/lanes/convert.h"

#include <math.h>

#include "exec/lanes/float.h"

static bool is_signed(struct place p) { return p.kind == PLACE_S; }

/* Reads the low p.bits of a slot, extended according to the type. */
static void read_integers(uint64_t *row, const void *src, struct place p) {
    const uint16_t *halves = src;
    const uint32_t *words = src;
    if (p.slot == 16)
        EXEC_FOR_LANES row[i] = halves[i];
    else if (p.slot == 32)
        EXEC_FOR_LANES row[i] = words[i];
    else
        memcpy(row, src, EXEC_LANES * sizeof *row);
}

static void extend(uint64_t *row, struct place p) {
    unsigned shift = 64u - p.bits;
    if (is_signed(p))
        EXEC_FOR_LANES row[i] = (uint64_t)((int64_t)(row[i] << shift) >> shift);
    else
        EXEC_FOR_LANES row[i] = row[i] << shift >> shift;
}

static void write_integers(void *dst, const uint64_t *row, struct place p) {
    uint16_t *halves = dst;
    uint32_t *words = dst;
    if (p.slot == 16)
        EXEC_FOR_LANES halves[i] = (uint16_t)row[i];
    else if (p.slot == 32)
        EXEC_FOR_LANES words[i] = (uint32_t)row[i];
    else
        memcpy(dst, row, EXEC_LANES * sizeof *row);
}

static void read_floats(double *row, const void *src, struct place p, bool ftz) {
    uint64_t bits[EXEC_LANES];
    read_integers(bits, src, p);
    if (p.kind == PLACE_F64)
        EXEC_FOR_LANES row[i] = f64_from(bits[i]);
    else if (p.kind == PLACE_F16)
        EXEC_FOR_LANES row[i] = (double)f16_widen((uint32_t)bits[i]);
    else if (p.kind == PLACE_BF16)
        EXEC_FOR_LANES row[i] = (double)bf16_widen((uint32_t)bits[i] & 0xffff);
    else if (ftz)
        EXEC_FOR_LANES row[i] = (double)f32_canonical(f32_flush(f32_from((uint32_t)bits[i])));
    else
        EXEC_FOR_LANES row[i] = (double)f32_from((uint32_t)bits[i]);
}

/* Exact limits of an integer type; high is the largest value, in the type's bits. */
struct range {
    uint64_t low, high;
    double low_value, end_value; /* end: high + 1 */
};

static struct range range_of(struct place p) {
    if (is_signed(p)) {
        uint64_t end = 1ull << (p.bits - 1);
        return (struct range){0 - end, end - 1, -(double)end, (double)end};
    }
    uint64_t high = UINT64_MAX >> (64 - p.bits);
    return (struct range){0, high, 0, 2 * (double)(1ull << (p.bits - 1))};
}

static void saturate_integers(uint64_t *row, struct place from, struct place to) {
    struct range r = range_of(to);
    if (is_signed(from)) {
        int64_t low = (int64_t)r.low, high = r.high > INT64_MAX ? INT64_MAX : (int64_t)r.high;
        EXEC_FOR_LANES {
            int64_t x = (int64_t)row[i];
            x = x < low ? low : x;
            row[i] = (uint64_t)(x > high ? high : x);
        }
    } else {
        EXEC_FOR_LANES row[i] = row[i] > r.high ? r.high : row[i];
    }
}

static void integer_to_integer(const struct exec_operands *o, struct place from, struct place to, bool sat) {
    uint64_t row[EXEC_LANES];
    read_integers(row, o->src[0], from);
    extend(row, from);
    if (sat)
        saturate_integers(row, from, to);
    extend(row, to);
    write_integers(o->dst[0], row, to);
}

static void make_integral(double *row, enum integral how) {
    switch (how) {
    case TO_NEAREST:
        EXEC_FOR_LANES row[i] = rint(row[i]);
        break;
    case TO_ZERO:
        EXEC_FOR_LANES row[i] = trunc(row[i]);
        break;
    case TO_FLOOR:
        EXEC_FOR_LANES row[i] = floor(row[i]);
        break;
    default:
        EXEC_FOR_LANES row[i] = ceil(row[i]);
        break;
    }
}

static void float_to_integer(const struct exec_operands *o, struct place from, bool ftz, struct place to,
                             enum integral how) {
    double row[EXEC_LANES];
    uint64_t result[EXEC_LANES];
    read_floats(row, o->src[0], from, ftz);
    make_integral(row, how);
    struct range r = range_of(to);
    uint64_t of_nan = from.bits == 64 || to.bits == 64 ? 1ull << (to.bits - 1) : 0;
    for (int i = 0; i < EXEC_LANES; i++) {
        double x = row[i];
        if (x != x)
            result[i] = of_nan;
        else if (x >= r.end_value)
            result[i] = r.high;
        else if (x < r.low_value)
            result[i] = r.low;
        else
            result[i] = is_signed(to) ? (uint64_t)(int64_t)x : (uint64_t)x;
    }
    extend(result, to);
    write_integers(o->dst[0], result, to);
}

static double max_finite_of(struct place p) {
    return p.kind == PLACE_F16    ? 65504
           : p.kind == PLACE_BF16 ? 0x1.fep127
           : p.kind == PLACE_F32  ? 0x1.fffffep127
                                  : 0x1.fffffffffffffp1023;
}

static void limit_floats(double *row, struct place to, enum limit limit) {
    double most = max_finite_of(to);
    if (limit == LIMIT_SAT)
        EXEC_FOR_LANES row[i] = f64_saturate(row[i]);
    if (limit == LIMIT_RELU || limit == LIMIT_RELU_FINITE)
        EXEC_FOR_LANES row[i] = f64_choose((row[i] > 0) | (row[i] != row[i]), row[i], 0);
    if (limit == LIMIT_FINITE || limit == LIMIT_RELU_FINITE)
        EXEC_FOR_LANES {
            double x = f64_choose(row[i] > most, most, row[i]);
            row[i] = f64_choose(x < -most, -most, x);
        }
}

/* Rounds to f32, in the host's mode. */
static void write_singles(uint64_t *bits, const double *row, bool keeps_payload, bool ftz) {
    EXEC_FOR_LANES {
        float x = (float)row[i];
        if (ftz)
            x = f32_flush_result(x, (float)(row[i] * 0x1p24));
        bits[i] = f32_bits(keeps_payload ? x : f32_canonical(x));
    }
}

/* Returns a double's NaN as a half with its sign and the top of its payload; fraction_bits are those of the half. */
static uint64_t half_nan(double nan, unsigned fraction_bits) {
    uint64_t bits = f64_bits(nan) | F64_QUIET;
    uint64_t exponent = 0x7fffu >> fraction_bits << fraction_bits;
    return (bits >> 48 & 0x8000) | exponent | (bits >> (52 - fraction_bits) & ((1u << fraction_bits) - 1));
}

static void write_halves(uint64_t *bits, const double *row, bool is_f16, bool keeps_payload) {
    if (is_f16)
        EXEC_FOR_LANES bits[i] = f16_pack(half_round(row[i], F16_FORMAT));
    else
        EXEC_FOR_LANES bits[i] = bf16_pack(half_round(row[i], BF16_FORMAT));
    if (keeps_payload)
        for (int i = 0; i < EXEC_LANES; i++)
            bits[i] = row[i] == row[i] ? bits[i] : half_nan(row[i], is_f16 ? 10 : 7);
}

static void write_floats(void *dst, const double *row, struct place to, bool keeps_payload, bool ftz) {
    uint64_t bits[EXEC_LANES];
    if (to.kind == PLACE_F64)
        EXEC_FOR_LANES bits[i] = f64_bits(row[i]);
    else if (to.kind == PLACE_F32)
        write_singles(bits, row, keeps_payload, ftz);
    else
        write_halves(bits, row, to.kind == PLACE_F16, keeps_payload);
    write_integers(dst, bits, to);
}

/* The magnitude of a 64-bit integer has more digits than a double. Digits below a half's precision become one sticky
 * digit, so that the double is exact and the half rounds once. */
static double integer_as_double(uint64_t magnitude) {
    uint64_t low = magnitude & 0xfff;
    return (double)(magnitude >> 53 ? (magnitude ^ low) | (low ? 0x800 : 0) : magnitude);
}

static void integer_to_float(const struct exec_operands *o, struct place from, struct place to, bool sat) {
    uint64_t row[EXEC_LANES], bits[EXEC_LANES];
    read_integers(row, o->src[0], from);
    extend(row, from);
    if (sat) /* to 0 or 1 */
        for (int i = 0; i < EXEC_LANES; i++)
            row[i] = row[i] != 0 && !(is_signed(from) && row[i] >> 63);
    if (to.kind == PLACE_F32 || to.kind == PLACE_F64) {
        for (int i = 0; i < EXEC_LANES; i++) {
            if (to.kind == PLACE_F32)
                bits[i] = f32_bits(is_signed(from) ? (float)(int64_t)row[i] : (float)row[i]);
            else
                bits[i] = f64_bits(is_signed(from) ? (double)(int64_t)row[i] : (double)row[i]);
            bits[i] = row[i] ? bits[i] : 0; /* compilers convert 0 to -0 when rounding down */
        }
    } else {
        double value[EXEC_LANES];
        for (int i = 0; i < EXEC_LANES; i++) {
            bool is_negative = is_signed(from) && row[i] >> 63;
            double magnitude = integer_as_double(is_negative ? 0 - row[i] : row[i]);
            value[i] = is_negative ? -magnitude : magnitude;
            value[i] = row[i] ? value[i] : 0;
        }
        write_halves(bits, value, to.kind == PLACE_F16, false);
    }
    write_integers(o->dst[0], bits, to);
}

static void float_to_float(const struct exec_operands *o, struct place from, bool ftz, struct place to,
                           enum limit limit) {
    double row[EXEC_LANES];
    read_floats(row, o->src[0], from, ftz);
    limit_floats(row, to, limit);
    write_floats(o->dst[0], row, to, from.bits == 64 || to.bits == 64, ftz);
}

static void float_to_integral(const struct exec_operands *o, struct place from, bool ftz, uint8_t slot,
                              enum integral how, bool sat) {
    double row[EXEC_LANES];
    struct place to = {from.kind, from.bits, slot};
    read_floats(row, o->src[0], from, ftz);
    if (from.kind == PLACE_F64)
        EXEC_FOR_LANES row[i] = f64_with_nan(row[i], row[i], row[i], row[i]);
    make_integral(row, how);
    if (sat)
        limit_floats(row, to, LIMIT_SAT);
    write_floats(o->dst[0], row, to, from.bits == 64, false);
}

/* Removes the last digit of a number in mixed radix and returns it. */
static unsigned take(unsigned *number, unsigned radix) {
    unsigned digit = *number % radix;
    *number /= radix;
    return digit;
}

static __attribute__((noinline)) void convert(const struct exec_operands *o, unsigned number) {
    static const uint8_t slots[N_SLOTS] = {16, 32, 64};
    const struct place *floats = places + N_INT_PLACES;
    if (number < INT_TO_FLOAT) {
        bool sat = take(&number, 2);
        struct place to = places[take(&number, N_INT_PLACES)];
        integer_to_integer(o, places[number], to, sat);
    } else if (number < FLOAT_TO_INT) {
        number -= INT_TO_FLOAT;
        bool sat = take(&number, 2);
        struct place to = floats[take(&number, N_FLOAT_PLACES)];
        integer_to_float(o, places[number], to, sat);
    } else if (number < FLOAT_TO_FLOAT) {
        number -= FLOAT_TO_INT;
        enum integral how = take(&number, N_INTEGRALS);
        struct place to = places[take(&number, N_INT_PLACES)];
        float_to_integer(o, floats[number % N_FLOAT_PLACES], number >= N_FLOAT_PLACES, to, how);
    } else if (number < FLOAT_TO_INTEGRAL) {
        number -= FLOAT_TO_FLOAT;
        enum limit limit = take(&number, N_LIMITS);
        struct place to = floats[take(&number, N_FLOAT_PLACES)];
        float_to_float(o, floats[number % N_FLOAT_PLACES], number >= N_FLOAT_PLACES, to, limit);
    } else {
        number -= FLOAT_TO_INTEGRAL;
        bool sat = take(&number, 2);
        enum integral how = take(&number, N_INTEGRALS);
        uint8_t slot = slots[take(&number, N_SLOTS)];
        float_to_integral(o, floats[number % N_FLOAT_PLACES], number >= N_FLOAT_PLACES, slot, how, sat);
    }
}

/* Functions 0x000 to 0xaaf. */
/* clang-format off */
#define SIXTEEN(F, h)                                                                                                  \
    F(h##0) F(h##1) F(h##2) F(h##3) F(h##4) F(h##5) F(h##6) F(h##7)                                                    \
    F(h##8) F(h##9) F(h##a) F(h##b) F(h##c) F(h##d) F(h##e) F(h##f)
#define HUNDRED(F, h)                                                                                                  \
    SIXTEEN(F, h##0) SIXTEEN(F, h##1) SIXTEEN(F, h##2) SIXTEEN(F, h##3) SIXTEEN(F, h##4) SIXTEEN(F, h##5)              \
    SIXTEEN(F, h##6) SIXTEEN(F, h##7) SIXTEEN(F, h##8) SIXTEEN(F, h##9) SIXTEEN(F, h##a) SIXTEEN(F, h##b)              \
    SIXTEEN(F, h##c) SIXTEEN(F, h##d) SIXTEEN(F, h##e) SIXTEEN(F, h##f)
#define ALL_NUMBERS(F)                                                                                                 \
    HUNDRED(F, 0x0) HUNDRED(F, 0x1) HUNDRED(F, 0x2) HUNDRED(F, 0x3) HUNDRED(F, 0x4)                                    \
    HUNDRED(F, 0x5) HUNDRED(F, 0x6) HUNDRED(F, 0x7) HUNDRED(F, 0x8) HUNDRED(F, 0x9)                                    \
    SIXTEEN(F, 0xa0) SIXTEEN(F, 0xa1) SIXTEEN(F, 0xa2) SIXTEEN(F, 0xa3) SIXTEEN(F, 0xa4) SIXTEEN(F, 0xa5)              \
    SIXTEEN(F, 0xa6) SIXTEEN(F, 0xa7) SIXTEEN(F, 0xa8) SIXTEEN(F, 0xa9) SIXTEEN(F, 0xaa)
/* clang-format on */

#define DEFINE(number)                                                                                                 \
    static void convert_##number(const struct exec_operands *o) { convert(o, number); }
ALL_NUMBERS(DEFINE)

#define NAME(number) convert_##number,
static exec_lanes_fn *const numbered[] = {ALL_NUMBERS(NAME)};
_Static_assert(sizeof numbered / sizeof *numbered >= N_CONVERSIONS, "every conversion has its function");

exec_lanes_fn *EXEC_NAME(exec_convert_numbered)(unsigned number) { return numbered[number]; }
