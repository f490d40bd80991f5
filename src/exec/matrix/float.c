/* Products of floating-point matrices, as an H200 computes them (docs/validation.md describes the experiments).
 *
 * A group of up to 16 products and the addend become one sum. Products are exact. All terms are aligned to the largest
 * exponent and cut off EXEC_SUM_FRACTION bits below it; the exponent of a product is the sum of its factors' exponents,
 * and zeros have none. The sum is exact again, and is then cut off to f32 or rounded to the nearest f16. In longer sums
 * each group's sum is the next group's addend. Factors of 8 bits are converted to f16 and take two groups: the lower
 * two of each four neighbours along k, then the upper two. These groups start from zero, and C is added at the end,
 * rounded to nearest.
 *
 * wgmma sums as mma does, except that factors of 8 bits keep their own format: their 32 products and the addend become
 * one sum, of which WGMMA_SMALL_FRACTION bits are kept below the largest exponent and, in f32, below the leading bit of
 * the result. */
#include <math.h>

#include "exec/float_bits.h"
#include "exec/matrix/matrix.h"

enum { MAX_K = 64, MAX_LINES = 32, F16_NAN = 0x7fff, F32_NAN = 0x7fffffff, WGMMA_SMALL_FRACTION = 13 };

enum class { CLASS_FINITE, CLASS_INFINITE, CLASS_NAN };

struct format {
    unsigned exponent_bits, mantissa_bits;
};

/* e4m3 has no infinities. It is NaN only if all bits but the sign are ones. */
static const struct format e4m3 = {4, 3}, e5m2 = {5, 2};

/* Returns the format in which an element is multiplied; `is_own` if 8-bit formats are multiplied as they are. */
static struct format format_of(enum ptx_element element, bool is_own) {
    if (is_own && element == PTX_ELEMENT_E4M3)
        return e4m3;
    if (is_own && element == PTX_ELEMENT_E5M2)
        return e5m2;
    switch (element) {
    case PTX_ELEMENT_BF16:
        return (struct format){8, 7};
    case PTX_ELEMENT_TF32:
        return (struct format){8, 10};
    case PTX_ELEMENT_F32:
        return (struct format){8, 23};
    default: /* f16, and types that are converted to it */
        return (struct format){5, 10};
    }
}

/* --- numbers --- */

static uint32_t half_of_e4m3(uint32_t bits) {
    uint32_t sign = (bits & 0x80) << 8, exponent = bits >> 3 & 15, mantissa = bits & 7;
    if ((bits & 0x7f) == 0x7f)
        return F16_NAN;
    if (exponent)
        return sign | (exponent + 8) << 10 | mantissa << 7;
    if (!mantissa)
        return sign;
    unsigned shift = (unsigned)__builtin_clz(mantissa) - 28; /* to the implicit bit */
    return sign | (9 - shift) << 10 | (mantissa << shift & 7) << 7;
}

/* Returns the bits of element i of a line, in the format of format_of(). tf32 ignores the low bits of its register. */
static uint32_t element_bits(const unsigned char *line, enum ptx_element element, unsigned i) {
    switch (element) {
    case PTX_ELEMENT_E4M3:
        return half_of_e4m3(line[i]);
    case PTX_ELEMENT_E5M2:
        return (uint32_t)line[i] << 8;
    case PTX_ELEMENT_TF32:
        return ((const uint32_t *)line)[i] >> 13;
    case PTX_ELEMENT_F32:
        return ((const uint32_t *)line)[i];
    default:
        return ((const uint16_t *)line)[i];
    }
}

static enum class class_of(struct format format, uint32_t bits) {
    uint32_t infinity = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
    uint32_t magnitude = bits & ((1u << (format.exponent_bits + format.mantissa_bits)) - 1);
    if (format.mantissa_bits == 3) /* e4m3 */
            return magnitude == 0x7f
        ? CLASS_NAN
        : CLASS_FINITE;
    return magnitude > infinity    ? CLASS_NAN
           : magnitude == infinity ? CLASS_INFINITE
                                   : CLASS_FINITE;
}

/* Subnormal numbers keep the least exponent. */
static struct exec_number number_of(struct format format, uint32_t bits) {
    uint32_t field = bits >> format.mantissa_bits & ((1u << format.exponent_bits) - 1),
             mantissa = bits & ((1u << format.mantissa_bits) - 1);
    int32_t bias = (1 << (format.exponent_bits - 1)) - 1;
    struct exec_number number = {.sign = -(int32_t)(bits >> (format.exponent_bits + format.mantissa_bits) & 1)};
    number.magnitude = (int32_t)(mantissa | (field ? 1u << format.mantissa_bits : 0));
    number.exponent = number.magnitude ? (int32_t)(field ? field : 1) - bias : EXEC_NO_EXPONENT;
    return number;
}

/* --- results --- */

/* Cuts off to f32, and the lowest bits of that too. Numbers that are too large become infinite. */
static uint32_t cut_to_single(double value, unsigned n_lowest) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = (uint32_t)(bits >> 32) & 0x80000000u;
    double magnitude = fabs(value);
    if (magnitude >= 0x1p128)
        return sign | 0x7f800000u;
    if (magnitude >= 0x1p-126)
        return sign | (uint32_t)((bits << 1 >> 30) - ((1023ull - 127) << 23)) >> n_lowest << n_lowest;
    uint32_t subnormal = (uint32_t)(magnitude * 0x1p149) >> n_lowest << n_lowest;
    return subnormal ? sign | subnormal : 0; /* a zero result has no sign */
}

static uint32_t round_to_half(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = (uint32_t)(bits >> 48) & 0x8000;
    double magnitude = fabs(value);
    if (magnitude >= 65520)
        return sign | 0x7c00;
    if (magnitude < 0x1p-14) {
        uint32_t subnormal = (uint32_t)rint(magnitude * 0x1p24);
        return subnormal ? sign | subnormal : 0;
    }
    uint64_t rounded = (bits & ~(1ull << 63)) + ((1ull << 41) - 1) + (bits >> 42 & 1);
    return sign | (uint32_t)((rounded >> 42) - ((1023ull - 15) << 10));
}

/* --- the multiplication --- */

/* The factors as numbers. B is stored by rows here, so that the columns of a term are neighbours. */
struct factors {
    struct format a_format, b_format;
    bool is_own; /* 8-bit factors in their own format */
    struct exec_number a[MAX_LINES][MAX_K];
    int32_t b_magnitude[MAX_K][MAX_LINES], b_exponent[MAX_K][MAX_LINES], b_sign[MAX_K][MAX_LINES];
    uint8_t a_class[MAX_LINES][MAX_K], b_class[MAX_K][MAX_LINES]; /* valid if has_special */
    bool has_special;
    unsigned a_k; /* of A; half of k if it is sparse */
};

static void read_factors(const struct exec_matrix *matrix, const struct exec_dense *dense, struct factors *factors) {
    enum ptx_element a_element = matrix->element[PTX_MATRIX_A], b_element = matrix->element[PTX_MATRIX_B];
    unsigned a_bytes = factors->a_k * ptx_element_bits(a_element) / 8,
             b_bytes = matrix->k * ptx_element_bits(b_element) / 8;
    struct format a_format = factors->a_format = format_of(a_element, factors->is_own),
                  b_format = factors->b_format = format_of(b_element, factors->is_own);
    unsigned special = 0;
    for (unsigned i = 0; i < matrix->m; i++)
        for (unsigned x = 0; x < factors->a_k; x++) {
            const unsigned char *line = dense->a + i * a_bytes;
            uint32_t bits = factors->is_own ? line[x] : element_bits(line, a_element, x);
            factors->a[i][x] = number_of(a_format, bits);
            special |= factors->a_class[i][x] = (uint8_t)class_of(a_format, bits);
        }
    for (unsigned j = 0; j < dense->n; j++)
        for (unsigned x = 0; x < matrix->k; x++) {
            const unsigned char *line = dense->b + j * b_bytes;
            uint32_t bits = factors->is_own ? line[x] : element_bits(line, b_element, x);
            struct exec_number number = number_of(b_format, bits);
            factors->b_magnitude[x][j] = number.magnitude;
            factors->b_exponent[x][j] = number.exponent;
            factors->b_sign[x][j] = number.sign;
            special |= factors->b_class[x][j] = (uint8_t)class_of(b_format, bits);
        }
    factors->has_special = special;
}

/* The order of the terms of a row: their indices in A and in B. */
struct order {
    unsigned n, group; /* number of terms; terms of a group, which divides n */
    uint8_t a[MAX_K], b[MAX_K];
};

/* Returns the bits of the sum of the group that begins with term `first` if it contains infinities or NaNs, otherwise
 * 0. */
static uint32_t special_sum(const struct factors *factors, const struct order *order, unsigned first, unsigned i,
                            unsigned j, uint32_t addend, struct format format) {
    uint32_t nan = format.mantissa_bits == 10 ? F16_NAN : F32_NAN,
             infinity = format.mantissa_bits == 10 ? 0x7c00 : 0x7f800000;
    uint32_t sign_bit = infinity + (nan & ~infinity) + 1;
    enum class c = class_of(format, addend);
    bool is_nan = c == CLASS_NAN, has[2] = {false, false};
    if (c == CLASS_INFINITE)
        has[(addend & sign_bit) != 0] = true;
    for (unsigned x = first; x < first + order->group && factors->has_special; x++) {
        unsigned ax = order->a[x], bx = order->b[x];
        unsigned p = factors->a_class[i][ax], q = factors->b_class[bx][j];
        if (p == CLASS_FINITE && q == CLASS_FINITE)
            continue;
        bool has_zero =
            (p == CLASS_FINITE && !factors->a[i][ax].magnitude) || (q == CLASS_FINITE && !factors->b_magnitude[bx][j]);
        if (p == CLASS_NAN || q == CLASS_NAN || has_zero)
            is_nan = true;
        else
            has[(factors->a[i][ax].sign ^ factors->b_sign[bx][j]) != 0] = true;
    }
    if (is_nan || (has[0] && has[1]))
        return nan;
    return has[0] ? infinity : has[1] ? infinity | sign_bit : 0;
}

/* Adds the groups of a row's terms to eight addends, which are in the format of the sum. */
static void sum_groups(const struct exec_matrix *matrix, const struct factors *factors, const struct order *order,
                       unsigned i, unsigned first, struct format format, uint32_t *sums) {
    bool is_half = format.mantissa_bits == 10;
    unsigned fraction = factors->is_own ? WGMMA_SMALL_FRACTION : EXEC_SUM_FRACTION;
    unsigned lost = format.mantissa_bits > fraction ? format.mantissa_bits - fraction : 0; /* bits of an addend */
    struct exec_sum sum = {.fraction = (int32_t)fraction,
                           .product_shift =
                               fraction - factors->a_format.mantissa_bits - factors->b_format.mantissa_bits,
                           .addend_shift = fraction + lost - format.mantissa_bits};
    for (unsigned x = 0; x < order->n; x += order->group) {
        sum.n_terms = order->group;
        for (unsigned y = 0; y < sum.n_terms; y++) {
            sum.a[y] = &factors->a[i][order->a[x + y]];
            sum.b_magnitude[y] = &factors->b_magnitude[order->b[x + y]][first];
            sum.b_exponent[y] = &factors->b_exponent[order->b[x + y]][first];
            sum.b_sign[y] = &factors->b_sign[order->b[x + y]][first];
        }
        for (unsigned j = 0; j < EXEC_SUM_COLUMNS; j++) {
            struct exec_number addend = number_of(format, sums[j]);
            sum.c_magnitude[j] = addend.magnitude >> lost;
            sum.c_exponent[j] = addend.exponent;
            sum.c_sign[j] = addend.sign;
        }
        matrix->sum_products(&sum);
        for (unsigned j = 0; j < EXEC_SUM_COLUMNS; j++) {
            bool is_special = factors->has_special || class_of(format, sums[j]) != CLASS_FINITE;
            uint32_t special = is_special ? special_sum(factors, order, x, i, first + j, sums[j], format) : 0;
            sums[j] = special ? special : is_half ? round_to_half(sum.result[j]) : cut_to_single(sum.result[j], lost);
        }
    }
}

static bool is_small(enum ptx_element element) { return element == PTX_ELEMENT_E4M3 || element == PTX_ELEMENT_E5M2; }

/* Returns whether 8-bit factors are multiplied in their own format. */
static bool is_own_format(const struct exec_matrix *matrix) {
    return matrix->insn->opcode == PTX_OP_WGMMA && is_small(matrix->element[PTX_MATRIX_A]);
}

static void set_order(const struct exec_matrix *matrix, unsigned k, struct order *order) {
    unsigned n = 0;
    order->n = k;
    order->group = k < EXEC_SUM_TERMS ? k : EXEC_SUM_TERMS;
    if (matrix->insn->opcode == PTX_OP_WMMA && matrix->element[PTX_MATRIX_A] == PTX_ELEMENT_TF32)
        order->group = 4;
    if (is_own_format(matrix))
        order->group = k;
    if (is_own_format(matrix) || !is_small(matrix->element[PTX_MATRIX_A])) {
        for (unsigned x = 0; x < k; x++)
            order->a[x] = order->b[x] = (uint8_t)x;
        return;
    }
    order->group = k / 2;
    for (unsigned half = 0; half < 2; half++)
        for (unsigned x = 0; x < k; x++)
            if (x / 2 % 2 == half) {
                order->a[n] = order->b[n] = (uint8_t)x;
                n++;
            }
}

/* Finds the elements of B that are multiplied with those of a sparse row. */
static void find_columns(const struct exec_matrix *matrix, const struct exec_dense *dense, unsigned i,
                         struct order *order) {
    uint8_t at[MAX_K];
    exec_matrix_find_elements(matrix, dense, i, at);
    for (unsigned x = 0; x < order->n; x++)
        order->b[x] = at[order->a[x]];
}

/* Returns C in the format of the sum, which may be wider. */
static uint32_t addend_bits(const struct exec_matrix *matrix, const unsigned char *c, unsigned at, bool is_half) {
    uint32_t bits = element_bits(c, matrix->element[PTX_MATRIX_C], at);
    bool widens = matrix->element[PTX_MATRIX_C] == PTX_ELEMENT_F16 && !is_half;
    return widens ? exec_float_bits(exec_half_to_float((uint16_t)bits)) : bits;
}

/* The last step of the 8-bit formats: an ordinary addition. */
static uint32_t add_rounded(uint32_t x, uint32_t y, bool is_half) {
    if (is_half) {
        double sum = (double)exec_half_to_float((uint16_t)x) + (double)exec_half_to_float((uint16_t)y);
        return isnan(sum) ? F16_NAN : round_to_half(sum);
    }
    float sum = exec_bits_float(x) + exec_bits_float(y);
    return isnan(sum) ? F32_NAN : exec_float_bits(sum);
}

/* Computes eight columns of row i. */
static void multiply_row(const struct exec_matrix *matrix, const struct factors *factors, const struct order *order,
                         unsigned i, unsigned first, const unsigned char *c, unsigned char *d) {
    bool is_half = matrix->element[PTX_MATRIX_D] == PTX_ELEMENT_F16,
         adds_later = is_small(matrix->element[PTX_MATRIX_A]) && !is_own_format(matrix);
    bool narrows = is_half && matrix->element[PTX_MATRIX_C] == PTX_ELEMENT_F32;
    struct format format = format_of(narrows ? PTX_ELEMENT_F32 : matrix->element[PTX_MATRIX_D], false);
    uint32_t addend[EXEC_SUM_COLUMNS], sums[EXEC_SUM_COLUMNS];
    for (unsigned j = 0; j < EXEC_SUM_COLUMNS; j++) {
        addend[j] = addend_bits(matrix, c, i * matrix->n + first + j, is_half && !narrows);
        sums[j] = adds_later ? 0 : addend[j];
    }
    sum_groups(matrix, factors, order, i, first, format, sums);
    for (unsigned j = 0; j < EXEC_SUM_COLUMNS; j++) {
        uint32_t value = adds_later ? add_rounded(sums[j], addend[j], is_half) : sums[j];
        if (narrows)
            value = exec_float_to_half(exec_bits_float(value));
        if (is_half)
            ((uint16_t *)d)[i * matrix->n + first + j] = (uint16_t)value;
        else
            ((uint32_t *)d)[i * matrix->n + first + j] = value;
    }
}

void exec_multiply_float(const struct exec_matrix *matrix, struct exec_dense *dense) {
    bool is_sparse = matrix->insn->matrix->is_sparse;
    struct factors factors;
    struct order order;
    factors.is_own = is_own_format(matrix);
    factors.a_k = is_sparse ? matrix->k / 2u : matrix->k;
    set_order(matrix, factors.a_k, &order);
    read_factors(matrix, dense, &factors);
    for (unsigned i = 0; i < matrix->m; i++) {
        if (is_sparse)
            find_columns(matrix, dense, i, &order);
        for (unsigned first = 0; first < dense->n; first += EXEC_SUM_COLUMNS)
            multiply_row(matrix, &factors, &order, i, first, dense->c, dense->d);
    }
}
