/* Integer arithmetic: add sub mul mad mul24 mad24 sad div rem min max abs neg dp4a dp2a. The forms are in integer.def.
 *
 * From the PTX ISA manual, "Integer Arithmetic Instructions". The manual does not define division by zero; the results
 * here are those of NVIDIA GPUs: quotient and remainder are all ones. Carries are in carry.c, comparisons in
 * compare.c. */
#include "exec/lanes/lanes.h"

#include <string.h>

#include "exec/lanes/form_rows.h"
#include "exec/lanes/integer_parts.h"

static inline int32_t clamp_s32(int64_t x) {
    x = x > INT32_MAX ? INT32_MAX : x;
    return (int32_t)(x < INT32_MIN ? INT32_MIN : x);
}

/* Halves and bytes of a packed value. */
static inline uint32_t low_u(uint32_t x) { return x & 0xffff; }
static inline uint32_t high_u(uint32_t x) { return x >> 16; }
static inline int32_t low_s(uint32_t x) { return (int32_t)(x << 16) >> 16; }
static inline int32_t high_s(uint32_t x) { return (int32_t)x >> 16; }
static inline uint32_t byte_u(uint32_t x, unsigned k) { return x >> 8 * k & 0xff; }
static inline uint32_t byte_s(uint32_t x, unsigned k) { return (uint32_t)((int32_t)(x << (24 - 8 * k)) >> 24); }
static inline uint32_t join(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }

static inline uint32_t min_u(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t max_u(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline int32_t min_s(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int32_t max_s(int32_t a, int32_t b) { return a > b ? a : b; }
static inline uint32_t relu(int32_t x) { return x > 0 ? (uint32_t)x : 0; }
static inline uint32_t relu_16x2(int32_t low, int32_t high) { return join(relu(low), relu(high)); }

/* The 48-bit product of the low 24 bits. */
static inline uint64_t product24_u(uint32_t a, uint32_t b) { return (uint64_t)(a & 0xffffff) * (b & 0xffffff); }
static inline int64_t product24_s(uint32_t a, uint32_t b) {
    return (int64_t)((int32_t)(a << 8) >> 8) * ((int32_t)(b << 8) >> 8);
}

/* Dot products are sums modulo 2^32, so signed factors may be multiplied as unsigned ones. */
#define dot4(a, b, a_byte, b_byte)                                                                                     \
    (a_byte(a, 0) * b_byte(b, 0) + a_byte(a, 1) * b_byte(b, 1) + a_byte(a, 2) * b_byte(b, 2) +                         \
     a_byte(a, 3) * b_byte(b, 3))
#define dot2(a, b, a_low, a_high, b_byte) ((uint32_t)a_low(a) * b_byte(b, 0) + (uint32_t)a_high(a) * b_byte(b, 1))

/* 32-bit division in doubles, which compilers vectorise: with 53 bits the quotient of 32-bit numbers never crosses an
 * integer. A number below 2^52 equals the low bits of the double 2^52 plus that number, so adding and subtracting 2^52
 * converts and rounds. The result for a divisor of 0 is not used. */
static inline double double_of(uint32_t x) {
    uint64_t bits = 0x4330000000000000 | x;
    double at_2_52;
    memcpy(&at_2_52, &bits, sizeof bits);
    return at_2_52 - 0x1p52;
}
static inline uint32_t floor_of_ratio(uint32_t a, uint32_t b) {
    double ratio = double_of(a) / double_of(b), rounded = (ratio + 0x1p52) - 0x1p52;
    double at_2_52 = (rounded > ratio ? rounded - 1 : rounded) + 0x1p52;
    uint64_t bits;
    memcpy(&bits, &at_2_52, sizeof bits);
    return (uint32_t)bits;
}
static inline uint32_t magnitude(int32_t x) { return x < 0 ? 0 - (uint32_t)x : (uint32_t)x; }
static inline uint32_t negated_if(bool is_negative, uint32_t x) { return is_negative ? 0 - x : x; }

static inline uint32_t quotient_u32(uint32_t a, uint32_t b) {
    uint32_t quotient = floor_of_ratio(a, b);
    return b == 0 ? UINT32_MAX : quotient;
}
static inline uint32_t remainder_u32(uint32_t a, uint32_t b) {
    uint32_t remainder = a - floor_of_ratio(a, b) * b;
    return b == 0 ? UINT32_MAX : remainder;
}
static inline uint32_t quotient_s32(int32_t a, int32_t b) {
    uint32_t quotient = negated_if((a ^ b) < 0, floor_of_ratio(magnitude(a), magnitude(b)));
    return b == 0 ? UINT32_MAX : quotient;
}
static inline uint32_t remainder_s32(int32_t a, int32_t b) {
    uint32_t remainder = magnitude(a) - floor_of_ratio(magnitude(a), magnitude(b)) * magnitude(b);
    return b == 0 ? UINT32_MAX : negated_if(a < 0, remainder);
}

/* 64-bit division. INT64_MIN / -1 wraps; divisors that are undefined behaviour in C are replaced by 1. */
static inline uint64_t quotient_u64(uint64_t a, uint64_t b) { return b ? a / b : UINT64_MAX; }
static inline uint64_t remainder_u64(uint64_t a, uint64_t b) { return b ? a % b : UINT64_MAX; }
static inline int64_t safe_divisor(int64_t b) { return b == 0 || b == -1 ? 1 : b; }
static inline int64_t quotient_s64(int64_t a, int64_t b) {
    int64_t quotient = a / safe_divisor(b);
    quotient = b == -1 ? (int64_t)(0 - (uint64_t)a) : quotient;
    return b == 0 ? -1 : quotient;
}
static inline int64_t remainder_s64(int64_t a, int64_t b) {
    int64_t remainder = a % safe_divisor(b);
    return b == 0 ? -1 : remainder;
}

#define UNARY(op, name, types, modifiers, t, expression) LANES_DEFINE1(name, t, t, expression)
#define BINARY(op, name, types, modifiers, t, expression) LANES_DEFINE2(name, t, t, t, expression)
#define WIDE2(op, name, types, modifiers, td, t, expression) LANES_DEFINE2(name, td, t, t, expression)
#define TERNARY(op, name, types, modifiers, t, expression) LANES_DEFINE3(name, t, t, t, t, expression)
#define WIDE3(op, name, types, modifiers, td, t, expression) LANES_DEFINE3(name, td, t, t, td, expression)
#define DOT(op, name, type_a, type_b, modifiers, expression)                                                           \
    LANES_DEFINE3(name, uint32_t, uint32_t, uint32_t, uint32_t, expression)
#include "exec/lanes/integer.def"
#undef UNARY
#undef BINARY
#undef WIDE2
#undef TERNARY
#undef WIDE3
#undef DOT

static const uint8_t vocabulary[] = {PTX_MOD_HI, PTX_MOD_LO, PTX_MOD_WIDE, PTX_MOD_SAT, PTX_MOD_RELU};
enum { NONE = 0, HI = 1, LO = 2, WIDE = 4, SAT = 8, RELU = 16 };

enum {
    U16 = LANES_TYPE(U16),
    S16 = LANES_TYPE(S16),
    U32 = LANES_TYPE(U32),
    S32 = LANES_TYPE(S32),
    U64 = LANES_TYPE(U64),
    S64 = LANES_TYPE(S64),
    U16X2 = LANES_TYPE(U16X2),
    S16X2 = LANES_TYPE(S16X2),
    I16 = U16 | S16,
    I32 = U32 | S32,
    I64 = U64 | S64,
};

static const struct lanes_row rows[] = {
#define ROW(op, name, types, types2, modifiers, td, ta, tb, tc)                                                        \
    {PTX_OP_##op, td, {ta, tb, tc}, types, types2, modifiers, name},
#define UNARY(op, name, types, modifiers, t, expression)                                                               \
    ROW(op, name, types, 0, modifiers, LANES_BITS(t), LANES_BITS(t), 0, 0)
#define BINARY(op, name, types, modifiers, t, expression)                                                              \
    ROW(op, name, types, 0, modifiers, LANES_BITS(t), LANES_BITS(t), LANES_BITS(t), 0)
#define WIDE2(op, name, types, modifiers, td, t, expression)                                                           \
    ROW(op, name, types, 0, modifiers, LANES_BITS(td), LANES_BITS(t), LANES_BITS(t), 0)
#define TERNARY(op, name, types, modifiers, t, expression)                                                             \
    ROW(op, name, types, 0, modifiers, LANES_BITS(t), LANES_BITS(t), LANES_BITS(t), LANES_BITS(t))
#define WIDE3(op, name, types, modifiers, td, t, expression)                                                           \
    ROW(op, name, types, 0, modifiers, LANES_BITS(td), LANES_BITS(t), LANES_BITS(t), LANES_BITS(td))
#define DOT(op, name, type_a, type_b, modifiers, expression) ROW(op, name, type_a, type_b, modifiers, 32, 32, 32, 32)
#include "exec/lanes/integer.def"
};

exec_lanes_fn *EXEC_NAME(exec_select_integer)(const struct exec_form *form) {
    switch (form->insn->opcode) {
    case PTX_OP_ADDC:
    case PTX_OP_SUBC:
    case PTX_OP_MADC:
        return EXEC_NAME(exec_select_carry)(form);
    default:
        if (ptx_has(form->insn, PTX_MOD_CC))
            return EXEC_NAME(exec_select_carry)(form);
        return lanes_find_row(rows, LANES_COUNT(rows), form, vocabulary, LANES_COUNT(vocabulary));
    }
}
