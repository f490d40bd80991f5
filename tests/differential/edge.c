/* Values that expose errors: limits of the formats and their neighbours, zeros of both signs, subnormals,
 * infinities, NaNs, halfway cases, powers of two and small numbers. */
#include "edge.h"

struct format {
    unsigned bits, mantissa; /* mantissa bits stored */
};

static const struct format formats[N_KINDS] = {
    [KIND_I16] = {16, 0},  [KIND_F16] = {16, 10}, [KIND_BF16] = {16, 7}, [KIND_I32] = {32, 0},
    [KIND_F32] = {32, 23}, [KIND_I64] = {64, 0},  [KIND_F64] = {64, 52},
};

static uint64_t low_bits(unsigned n) { return n >= 64 ? UINT64_MAX : (1ull << n) - 1; }

static uint64_t integer(struct random *random, unsigned bits) {
    uint64_t top = 1ull << (bits - 1), near = random_below(random, 5);
    unsigned length;
    switch (random_below(random, 10)) {
    case 0: /* the signed limits */
        return random_chance(random, 50) ? top + near : top - 1 - near;
    case 1: /* the unsigned limits */
        return random_chance(random, 50) ? near : 0 - near;
    case 2: /* powers of two and their neighbours */
        return (1ull << random_below(random, bits)) + near - 2;
    case 3:                                      /* a field of ones */
        length = random_below(random, bits + 1); /* a separate statement: the order of calls is unspecified */
        return low_bits(length) << random_below(random, bits);
    case 4:
    case 5: /* small numbers, also as shift amounts and indices */
        return random_below(random, 70);
    case 6:
        return 0 - (uint64_t)random_below(random, 300);
    case 7: /* the same byte everywhere, or few of them */
        return random_below(random, 256) * 0x0101010101010101u;
    default:
        return random_next(random);
    }
}

static uint64_t special_float(struct random *random, struct format format) {
    unsigned exponent_bits = format.bits - 1 - format.mantissa;
    uint64_t infinity = low_bits(exponent_bits) << format.mantissa, smallest_normal = 1ull << format.mantissa;
    uint64_t one = low_bits(exponent_bits - 1) << format.mantissa;
    switch (random_below(random, 9)) {
    case 0:
        return 0;
    case 1:
        return infinity;
    case 2: /* quiet and signalling NaNs; the usual ones more often */
        return random_chance(random, 50) ? infinity | 1ull << (format.mantissa - 1)
                                         : infinity | (random_next(random) & (smallest_normal - 1)) | 1;
    case 3: /* subnormals */
        return random_next(random) & (smallest_normal - 1);
    case 4: /* around the smallest normal number */
        return smallest_normal + random_below(random, 5) - 2;
    case 5: /* the largest numbers */
        return infinity - 1 - random_below(random, 3);
    case 6: /* around one */
        return one + random_below(random, 5) - 2;
    case 7: /* the smallest subnormals */
        return 1 + random_below(random, 3);
    default: /* powers of two */
        return (uint64_t)(1 + random_below(random, (uint32_t)(low_bits(exponent_bits) - 1))) << format.mantissa;
    }
}

/* Returns a number within a few powers of two of one: sums of such numbers cancel, round and tie. */
static uint64_t moderate_float(struct random *random, struct format format) {
    unsigned exponent_bits = format.bits - 1 - format.mantissa;
    uint64_t bias = low_bits(exponent_bits - 1), spread = format.mantissa < 12 ? 7 : 13;
    uint64_t exponent = bias + random_below(random, (uint32_t)(2 * spread)) - spread;
    uint64_t mantissa = random_next(random) & low_bits(format.mantissa);
    if (random_chance(random, 40)) { /* few digits: halfway cases */
        mantissa >>= random_below(random, format.mantissa);
        mantissa <<= random_below(random, format.mantissa);
    }
    return exponent << format.mantissa | (mantissa & low_bits(format.mantissa));
}

/* Returns a whole number or a half, up to slightly more than the integer types hold. */
static uint64_t whole_float(struct random *random, struct format format) {
    unsigned exponent_bits = format.bits - 1 - format.mantissa;
    uint64_t bias = low_bits(exponent_bits - 1);
    unsigned power = random_below(random, format.mantissa < 12 && exponent_bits < 8 ? 16 : 66);
    uint64_t mantissa = random_next(random) & low_bits(format.mantissa);
    unsigned cleared = format.mantissa > power + 1 ? format.mantissa - power - 1 : 0;
    return (bias + power) << format.mantissa | mantissa >> cleared << cleared;
}

static uint64_t floating(struct random *random, struct format format) {
    uint64_t sign = (uint64_t)random_below(random, 2) << (format.bits - 1);
    switch (random_below(random, 10)) {
    case 0:
    case 1:
    case 2:
        return sign | special_float(random, format);
    case 3:
    case 4:
        return sign | whole_float(random, format);
    case 5:
    case 6:
    case 7:
        return sign | moderate_float(random, format);
    default:
        return random_next(random);
    }
}

uint64_t edge_value(struct random *random, enum kind kind) {
    struct format format = formats[kind];
    uint64_t value;
    switch (kind) {
    case KIND_F16X2:
        value = edge_value(random, KIND_F16);
        return value | edge_value(random, KIND_F16) << 16;
    case KIND_BF16X2:
        value = edge_value(random, KIND_BF16);
        return value | edge_value(random, KIND_BF16) << 16;
    case KIND_PRED:
        return random_below(random, 2);
    default:
        value = format.mantissa ? floating(random, format) : integer(random, format.bits);
        return value & low_bits(format.bits);
    }
}
