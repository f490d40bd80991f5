/* Logic, shifts, bit fields, counts and permutes: and or xor not cnot lop3 shl shr shf bfe bfi bfind bmsk brev clz popc
 * fns prmt szext. The forms are in bits.def.
 *
 * From the PTX ISA manual, "Logic and Shift Instructions" and the bit instructions among "Integer Arithmetic
 * Instructions". Shift amounts past the width count as the width. The manual allows positions and lengths of bit fields
 * from 0 to 255; beyond that, GPUs take them modulo 256 for 32-bit values and unchanged for 64-bit ones, and so does
 * this file. */
#include "exec/lanes/lanes.h"

#include "exec/lanes/form_rows.h"
#include "exec/lanes/lane_masks.h"

/* The upper word of {b, a} shifted left, and the lower word shifted right, by n of 0 to 31. */
static inline uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t n) { return b << n | a >> 1 >> (31 - n); }
static inline uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t n) { return a >> n | b << 1 << (31 - n); }

/* Returns a word with the low n bits set; all for n of 32 or more. */
static inline uint32_t ones(uint32_t n) { return n > 31 ? UINT32_MAX : (1u << (n & 31)) - 1; }
static inline uint64_t ones64(uint32_t n) { return n > 63 ? UINT64_MAX : (1ull << (n & 63)) - 1; }

static inline uint32_t sign_extend(uint32_t x, uint32_t n) {
    uint32_t sign = n > 31 ? 0 : (1u << (n & 31)) >> 1;
    return ((x & ones(n)) ^ sign) - sign;
}

static inline uint32_t extract32(uint32_t x, uint32_t position, uint32_t length) {
    return (position > 31 ? 0 : x >> (position & 31)) & ones(length);
}
static inline uint64_t extract64(uint64_t x, uint32_t position, uint32_t length) {
    return (position > 63 ? 0 : x >> (position & 63)) & ones64(length);
}

/* Bits past the msb are copies of it, and so is the sign of a field that extends past it. Shifting x left until the
 * field's top bit is bit 63, and back right, extends the field's sign. */
static inline int64_t extract_signed(int64_t x, uint32_t position, uint32_t length, uint32_t msb) {
    int64_t field = x >> (position > msb ? msb : position);
    uint32_t unused = length == 0 || length > 63 ? 0 : 64 - length;
    field = (int64_t)((uint64_t)field << unused) >> unused;
    return length == 0 ? 0 : field;
}

static inline uint32_t insert32(uint32_t field, uint32_t into, uint32_t position, uint32_t length) {
    uint32_t mask = position > 31 ? 0 : ones(length) << (position & 31);
    return (into & ~mask) | (field << (position & 31) & mask);
}
static inline uint64_t insert64(uint64_t field, uint64_t into, uint32_t position, uint32_t length) {
    uint64_t mask = position > 63 ? 0 : ones64(length) << (position & 63);
    return (into & ~mask) | (field << (position & 63) & mask);
}

/* Returns the number of the most significant 1, or -1. */
static inline int top_bit(uint64_t x) { return x ? 63 - __builtin_clzll(x) : -1; }
static inline int shift_amount(int bit, int msb) { return bit < 0 ? -1 : msb - bit; }

static inline uint32_t reverse32(uint32_t x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
static inline uint64_t reverse64(uint64_t x) {
    return (uint64_t)reverse32((uint32_t)x) << 32 | reverse32((uint32_t)(x >> 32));
}

/* Returns the position of the |offset|-th set bit from base upwards (offset > 0) or downwards; offset 0 means the base
 * bit itself. The manual does not define bases past 31: here there is no such bit. NVIDIA's compiler expands the
 * instruction, and for the offset INT_MIN its code returns 0 (H200, driver 580). */
static inline uint32_t find_nth_set(uint32_t mask, uint32_t base, int32_t offset) {
    uint32_t count = offset < 0 ? 0 - (uint32_t)offset : (uint32_t)offset, found = UINT32_MAX;
    int step = offset < 0 ? -1 : 1;
    if (offset == INT32_MIN)
        return 0;
    if (offset == 0) {
        mask &= base > 31 ? 0 : 1u << base;
        count = 1;
    }
    for (uint32_t position = base; position < 32; position += step)
        if (mask >> position & 1 && --count == 0)
            found = position;
    return found;
}

/* Returns one of the eight bytes in {b, a}; with bit 3 of the selector, eight copies of its sign. */
static inline uint32_t pick_byte(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t word = selector & 4 ? b : a, byte = word >> (selector & 3) * 8 & 0xff, sign = byte & 0x80 ? 0xff : 0;
    return selector & 8 ? sign : byte;
}
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors) {
    return pick_byte(a, b, selectors) | pick_byte(a, b, selectors >> 4) << 8 | pick_byte(a, b, selectors >> 8) << 16 |
           pick_byte(a, b, selectors >> 12) << 24;
}

/* lop3 folds the truth table one input at a time; each step chooses between two words bit by bit. */
static inline uint32_t choose(uint32_t by, uint32_t if_0, uint32_t if_1) { return if_0 ^ (by & (if_0 ^ if_1)); }
static inline uint32_t table_bit(uint32_t table, unsigned k) { return 0 - (table >> k & 1); }
static inline uint32_t look_up(uint32_t a, uint32_t b, uint32_t c, uint32_t t) {
    uint32_t at_00 = choose(c, table_bit(t, 0), table_bit(t, 1)), at_01 = choose(c, table_bit(t, 2), table_bit(t, 3));
    uint32_t at_10 = choose(c, table_bit(t, 4), table_bit(t, 5)), at_11 = choose(c, table_bit(t, 6), table_bit(t, 7));
    return choose(a, choose(b, at_00, at_01), choose(b, at_10, at_11));
}

#define UNARY(op, name, types, modifiers, t, expression) LANES_DEFINE1(name, t, t, expression)
#define COUNT(op, name, types, modifiers, t, expression) LANES_DEFINE1(name, uint32_t, t, expression)
#define BINARY(op, name, types, modifiers, t, expression) LANES_DEFINE2(name, t, t, t, expression)
#define SHIFT(op, name, types, modifiers, t, expression) LANES_DEFINE2(name, t, t, uint32_t, expression)
#define TERNARY(op, name, types, modifiers, expression)                                                                \
    LANES_DEFINE3(name, uint32_t, uint32_t, uint32_t, uint32_t, expression)
#define SCALAR(op, name, types, modifiers, expression)                                                                 \
    LANES_SCALAR3(name, uint32_t, uint32_t, uint32_t, uint32_t, expression)
#define FIELD(op, name, types, modifiers, t, expression) LANES_DEFINE3(name, t, t, uint32_t, uint32_t, expression)
#define INSERT(op, name, types, modifiers, t, expression)                                                              \
    static void name(const struct exec_operands *o) {                                                                  \
        t *d = o->dst[0];                                                                                              \
        const t *pa = o->src[0], *pb = o->src[1];                                                                      \
        const uint32_t *pc = o->src[2], *pe = o->src[3];                                                               \
        EXEC_FOR_LANES {                                                                                               \
            const t a = pa[i], b = pb[i];                                                                              \
            const uint32_t c = pc[i], e = pe[i];                                                                       \
            d[i] = (t)(expression);                                                                                    \
        }                                                                                                              \
    }
#define LOGIC(op, name, expression)                                                                                    \
    static void name(const struct exec_operands *o) {                                                                  \
        uint32_t a = *(const uint32_t *)o->src[0], b = PTX_OP_##op == PTX_OP_NOT ? 0 : *(const uint32_t *)o->src[1];   \
        a ^= -(o->imm & 1);                                                                                            \
        b ^= -(o->imm >> 1 & 1);                                                                                       \
        (void)b;                                                                                                       \
        *(uint32_t *)o->dst[0] = expression;                                                                           \
    }
#include "exec/lanes/bits.def"
#undef UNARY
#undef COUNT
#undef BINARY
#undef SHIFT
#undef TERNARY
#undef SCALAR
#undef FIELD
#undef INSERT
#undef LOGIC

/* lop3 with a boolean operation: p = (d != 0) op q. The table is not a source, so q is the fourth. */
#define LOP3_PREDICATE(name, op)                                                                                       \
    static void name(const struct exec_operands *o) {                                                                  \
        const uint32_t q = *(const uint32_t *)o->src[3];                                                               \
        uint32_t *d = o->dst[0], not_zero = 0;                                                                         \
        lop3(o);                                                                                                       \
        EXEC_FOR_LANES not_zero |= d[i] ? lanes_bit32[i] : 0;                                                          \
        *(uint32_t *)o->dst[1] = not_zero op q;                                                                        \
    }
LOP3_PREDICATE(lop3_and, &)
LOP3_PREDICATE(lop3_or, |)

static const uint8_t vocabulary[] = {PTX_MOD_L,        PTX_MOD_R,   PTX_MOD_CLAMP, PTX_MOD_WRAP,
                                     PTX_MOD_SHIFTAMT, PTX_MOD_F4E, PTX_MOD_B4E,   PTX_MOD_RC8,
                                     PTX_MOD_ECL,      PTX_MOD_ECR, PTX_MOD_RC16};
enum {
    NONE = 0,
    L = 1,
    R = 2,
    CLAMP = 4,
    WRAP = 8,
    SHIFTAMT = 16,
    F4E = 32,
    B4E = 64,
    RC8 = 128,
    ECL = 256,
    ECR = 512,
    RC16 = 1024
};

enum {
    B16 = LANES_TYPE(B16),
    B32 = LANES_TYPE(B32),
    B64 = LANES_TYPE(B64),
    U16 = LANES_TYPE(U16),
    S16 = LANES_TYPE(S16),
    U32 = LANES_TYPE(U32),
    S32 = LANES_TYPE(S32),
    U64 = LANES_TYPE(U64),
    S64 = LANES_TYPE(S64),
};

static const struct lanes_row rows[] = {
#define ROW(op, name, types, modifiers, td, ta, tb, tc, te)                                                            \
    {PTX_OP_##op, td, {ta, tb, tc, te}, types, 0, modifiers, name},
#define UNARY(op, name, types, modifiers, t, expression)                                                               \
    ROW(op, name, types, modifiers, LANES_BITS(t), LANES_BITS(t), 0, 0, 0)
#define COUNT(op, name, types, modifiers, t, expression) ROW(op, name, types, modifiers, 32, LANES_BITS(t), 0, 0, 0)
#define BINARY(op, name, types, modifiers, t, expression)                                                              \
    ROW(op, name, types, modifiers, LANES_BITS(t), LANES_BITS(t), LANES_BITS(t), 0, 0)
#define SHIFT(op, name, types, modifiers, t, expression)                                                               \
    ROW(op, name, types, modifiers, LANES_BITS(t), LANES_BITS(t), 32, 0, 0)
#define TERNARY(op, name, types, modifiers, expression) ROW(op, name, types, modifiers, 32, 32, 32, 32, 0)
#define SCALAR TERNARY
#define FIELD(op, name, types, modifiers, t, expression)                                                               \
    ROW(op, name, types, modifiers, LANES_BITS(t), LANES_BITS(t), 32, 32, 0)
#define INSERT(op, name, types, modifiers, t, expression)                                                              \
    ROW(op, name, types, modifiers, LANES_BITS(t), LANES_BITS(t), LANES_BITS(t), 32, 32)
#define LOGIC(op, name, expression) ROW(op, name, LANES_TYPE(PRED), NONE, 1, 1, 1, 0, 0)
#include "exec/lanes/bits.def"
};

exec_lanes_fn *EXEC_NAME(exec_select_bits)(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    bool is_and = ptx_has(insn, PTX_MOD_AND), is_or = ptx_has(insn, PTX_MOD_OR);
    if (insn->opcode == PTX_OP_LOP3 && is_and != is_or)
        return insn->n_types == 1 && insn->type[0] == PTX_B32 && form->n_dst == 2 ? is_and ? lop3_and : lop3_or : NULL;
    return lanes_find_row(rows, LANES_COUNT(rows), form, vocabulary, LANES_COUNT(vocabulary));
}
