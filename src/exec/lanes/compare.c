/* Comparison and selection: setp set selp slct testp, of every type.
 *
 * From the PTX ISA manual, "Comparison and Selection Instructions" and "Half Precision Comparison Instructions". A
 * comparison is a set of outcomes (less, equal, greater, unordered). One function per type and set returns the lanes'
 * mask. setp with one predicate uses this function directly. set and the forms with a boolean operation, with q, or
 * with packed halves look the function up in tables, and imm holds the rest (exec/lanes/imm.h). f16 and bf16 are
 * compared as f32. */
#include "exec/lanes/lanes.h"

#include <string.h>

#include "exec/lanes/form_rows.h"
#include "exec/lanes/imm.h"
#include "exec/lanes/lane_masks.h"

enum { N_RELATIONS = 16 };

typedef uint32_t compare_fn(const void *a, const void *b);

/* Collects the condition over a and b into the lanes' mask; load() converts the stored elements to C type t. */
#define MASK_OF(t, stored, load, condition)                                                                            \
    const stored *pa = va, *pb = vb;                                                                                   \
    LANES_MASK_WORD(t) mask = 0;                                                                                       \
    EXEC_FOR_LANES {                                                                                                   \
        const t a = load(pa[i]), b = load(pb[i]);                                                                      \
        mask |= (condition) ? LANES_BIT(t)[i] : 0;                                                                     \
    }                                                                                                                  \
    return (uint32_t)mask;

static inline float float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* .ftz: a subnormal compares as zero. */
static inline float flushed(uint32_t bits) { return float_of_bits(bits & 0x7f800000 ? bits : 0); }
#define unchanged(x) (x)

#define INTEGER_RELATIONS(X, ...)                                                                                      \
    X(eq, EXEC_EQUAL, a == b, __VA_ARGS__)                                                                             \
    X(ne, EXEC_LESS | EXEC_GREATER, a != b, __VA_ARGS__)                                                               \
    X(lt, EXEC_LESS, a < b, __VA_ARGS__)                                                                               \
    X(le, EXEC_LESS | EXEC_EQUAL, a <= b, __VA_ARGS__)                                                                 \
    X(gt, EXEC_GREATER, a > b, __VA_ARGS__)                                                                            \
    X(ge, EXEC_GREATER | EXEC_EQUAL, a >= b, __VA_ARGS__)

#define FLOAT_RELATIONS(X, ...)                                                                                        \
    X(eq, EXEC_EQUAL, a == b, __VA_ARGS__)                                                                             \
    X(ne, EXEC_LESS | EXEC_GREATER, (a < b) | (a > b), __VA_ARGS__)                                                    \
    X(lt, EXEC_LESS, a < b, __VA_ARGS__)                                                                               \
    X(le, EXEC_LESS | EXEC_EQUAL, a <= b, __VA_ARGS__)                                                                 \
    X(gt, EXEC_GREATER, a > b, __VA_ARGS__)                                                                            \
    X(ge, EXEC_GREATER | EXEC_EQUAL, a >= b, __VA_ARGS__)                                                              \
    X(num, EXEC_LESS | EXEC_EQUAL | EXEC_GREATER, (a == a) & (b == b), __VA_ARGS__)                                    \
    X(equ, EXEC_UNORDERED | EXEC_EQUAL, !((a < b) | (a > b)), __VA_ARGS__)                                             \
    X(neu, EXEC_UNORDERED | EXEC_LESS | EXEC_GREATER, !(a == b), __VA_ARGS__)                                          \
    X(ltu, EXEC_UNORDERED | EXEC_LESS, !(a >= b), __VA_ARGS__)                                                         \
    X(leu, EXEC_UNORDERED | EXEC_LESS | EXEC_EQUAL, !(a > b), __VA_ARGS__)                                             \
    X(gtu, EXEC_UNORDERED | EXEC_GREATER, !(a <= b), __VA_ARGS__)                                                      \
    X(geu, EXEC_UNORDERED | EXEC_GREATER | EXEC_EQUAL, !(a < b), __VA_ARGS__)                                          \
    X(nan, EXEC_UNORDERED, (a != a) | (b != b), __VA_ARGS__)

/* For each type: mask_NAME_RELATION, the table masks_NAME of them, setp_NAME_RELATION, and the table setps_NAME. */
#define DEFINE_MASK(relation, set, condition, name, t, stored, load)                                                   \
    static uint32_t mask_##name##_##relation(const void *va, const void *vb) { MASK_OF(t, stored, load, condition) }
#define DEFINE_SETP(relation, set, condition, name, t, stored, load)                                                   \
    static void setp_##name##_##relation(const struct exec_operands *o) {                                              \
        *(uint32_t *)o->dst[0] = mask_##name##_##relation(o->src[0], o->src[1]);                                       \
    }
#define MASK_ENTRY(relation, set, condition, name, t, stored, load) [set] = mask_##name##_##relation,
#define SETP_ENTRY(relation, set, condition, name, t, stored, load) [set] = setp_##name##_##relation,
#define DEFINE_TYPE(RELATIONS, name, t, stored, load)                                                                  \
    RELATIONS(DEFINE_MASK, name, t, stored, load)                                                                      \
    RELATIONS(DEFINE_SETP, name, t, stored, load)                                                                      \
    static compare_fn *const masks_##name[N_RELATIONS] = {RELATIONS(MASK_ENTRY, name, t, stored, load)};               \
    static exec_lanes_fn *const setps_##name[N_RELATIONS] = {RELATIONS(SETP_ENTRY, name, t, stored, load)};

DEFINE_TYPE(INTEGER_RELATIONS, u16, uint16_t, uint16_t, unchanged)
DEFINE_TYPE(INTEGER_RELATIONS, s16, int16_t, int16_t, unchanged)
DEFINE_TYPE(INTEGER_RELATIONS, u32, uint32_t, uint32_t, unchanged)
DEFINE_TYPE(INTEGER_RELATIONS, s32, int32_t, int32_t, unchanged)
DEFINE_TYPE(INTEGER_RELATIONS, u64, uint64_t, uint64_t, unchanged)
DEFINE_TYPE(INTEGER_RELATIONS, s64, int64_t, int64_t, unchanged)
DEFINE_TYPE(FLOAT_RELATIONS, f32, float, float, unchanged)
DEFINE_TYPE(FLOAT_RELATIONS, f32_ftz, float, uint32_t, flushed)
DEFINE_TYPE(FLOAT_RELATIONS, f64, double, double, unchanged)

/* Returns a float with the same order as the 16-bit values. The exponent of an f16 keeps its bias: every finite value
 * shrinks by the same factor. */
static inline float ordered_f16(uint32_t half) {
    uint32_t special = (half & 0x7c00) == 0x7c00 ? 0x7f800000 : 0; /* infinity and NaN */
    return float_of_bits((half & 0x8000) << 16 | (half & 0x7fff) << 13 | special);
}
static inline float ordered_f16_ftz(uint32_t half) { return ordered_f16(half & 0x7c00 ? half : 0); }
static inline float ordered_bf16(uint32_t half) { return float_of_bits(half << 16); }

static inline unsigned relation_of(const struct exec_operands *o) {
    return o->imm >> EXEC_COMPARE_RELATION_SHIFT & (N_RELATIONS - 1);
}

#define DEFINE_WIDENED(name, t, convert, shift)                                                                        \
    static uint32_t test_##name(const struct exec_operands *o) {                                                       \
        const t *pa = o->src[0], *pb = o->src[1];                                                                      \
        float a[EXEC_LANES], b[EXEC_LANES];                                                                            \
        EXEC_FOR_LANES {                                                                                               \
            a[i] = convert((uint32_t)(pa[i] >> (shift)) & 0xffff);                                                     \
            b[i] = convert((uint32_t)(pb[i] >> (shift)) & 0xffff);                                                     \
        }                                                                                                              \
        return masks_f32[relation_of(o)](a, b);                                                                        \
    }
DEFINE_WIDENED(f16, uint16_t, ordered_f16, 0)
DEFINE_WIDENED(f16_ftz, uint16_t, ordered_f16_ftz, 0)
DEFINE_WIDENED(bf16, uint16_t, ordered_bf16, 0)
DEFINE_WIDENED(f16_low, uint32_t, ordered_f16, 0)
DEFINE_WIDENED(f16_high, uint32_t, ordered_f16, 16)
DEFINE_WIDENED(f16_ftz_low, uint32_t, ordered_f16_ftz, 0)
DEFINE_WIDENED(f16_ftz_high, uint32_t, ordered_f16_ftz, 16)
DEFINE_WIDENED(bf16_low, uint32_t, ordered_bf16, 0)
DEFINE_WIDENED(bf16_high, uint32_t, ordered_bf16, 16)

#define DEFINE_TEST(name)                                                                                              \
    static uint32_t test_##name(const struct exec_operands *o) {                                                       \
        return masks_##name[relation_of(o)](o->src[0], o->src[1]);                                                     \
    }
DEFINE_TEST(u16)
DEFINE_TEST(s16)
DEFINE_TEST(u32)
DEFINE_TEST(s32)
DEFINE_TEST(u64)
DEFINE_TEST(s64)
DEFINE_TEST(f32)
DEFINE_TEST(f32_ftz)
DEFINE_TEST(f64)

/* The outcome t of a comparison combined with the predicate c. */
static inline uint32_t combined(const struct exec_operands *o, uint32_t t) {
    enum exec_boolean boolean = (enum exec_boolean)(o->imm >> EXEC_COMPARE_BOOLEAN_SHIFT & 3);
    if (boolean == EXEC_BOOLEAN_NONE)
        return t;
    uint32_t c = *(const uint32_t *)o->src[2] ^ (o->imm & EXEC_COMPARE_NEGATED ? UINT32_MAX : 0);
    return boolean == EXEC_BOOLEAN_AND ? t & c : boolean == EXEC_BOOLEAN_OR ? t | c : t ^ c;
}

static inline void store_predicates(const struct exec_operands *o, uint32_t p, uint32_t q) {
    uint32_t combined_p = combined(o, p), combined_q = combined(o, q); /* c may be p or q itself */
    *(uint32_t *)o->dst[0] = combined_p;
    if (o->imm & EXEC_COMPARE_HAS_Q)
        *(uint32_t *)o->dst[1] = combined_q;
}

static inline void store_words(const struct exec_operands *o, uint32_t low_mask, uint32_t low, uint32_t high_mask,
                               uint32_t high) {
    uint32_t *d = o->dst[0];
    EXEC_FOR_LANES {
        const uint32_t bit = lanes_bit32[i];
        d[i] = (low_mask & bit ? low : 0) | (high_mask & bit ? high : 0);
    }
}

static inline void store_halves(const struct exec_operands *o, uint32_t mask, uint16_t value) {
    uint16_t *d = o->dst[0];
    EXEC_FOR_LANES d[i] = mask & lanes_bit32[i] ? value : 0;
}

/* set of one comparison, with a 16- or 32-bit result. */
static void store_truth(const struct exec_operands *o, uint32_t t) {
    uint32_t mask = combined(o, t);
    switch ((enum exec_truth)(o->imm >> EXEC_COMPARE_TRUTH_SHIFT & 7)) {
    case EXEC_TRUTH_ONES32:
        store_words(o, mask, UINT32_MAX, 0, 0);
        break;
    case EXEC_TRUTH_F32:
        store_words(o, mask, 0x3f800000, 0, 0);
        break;
    case EXEC_TRUTH_ONES16:
        store_halves(o, mask, UINT16_MAX);
        break;
    case EXEC_TRUTH_F16:
        store_halves(o, mask, 0x3c00);
        break;
    case EXEC_TRUTH_BF16:
        store_halves(o, mask, 0x3f80);
        break;
    }
}

/* set of two packed halves: each half of the result is all ones, or 1.0 in the operands' format. */
static void store_packed_truth(const struct exec_operands *o, uint32_t low, uint32_t high) {
    enum exec_truth truth = (enum exec_truth)(o->imm >> EXEC_COMPARE_TRUTH_SHIFT & 7);
    uint32_t value = truth == EXEC_TRUTH_F16 ? 0x3c00 : truth == EXEC_TRUTH_BF16 ? 0x3f80 : 0xffff;
    store_words(o, combined(o, low), value, combined(o, high), value << 16);
}

#define DEFINE_GENERAL(name)                                                                                           \
    static void setp_##name(const struct exec_operands *o) {                                                           \
        uint32_t t = test_##name(o);                                                                                   \
        store_predicates(o, t, ~t);                                                                                    \
    }                                                                                                                  \
    static void set_##name(const struct exec_operands *o) { store_truth(o, test_##name(o)); }
#define DEFINE_PACKED(name)                                                                                            \
    static void setp_##name##x2(const struct exec_operands *o) {                                                       \
        store_predicates(o, test_##name##_low(o), test_##name##_high(o));                                              \
    }                                                                                                                  \
    static void set_##name##x2(const struct exec_operands *o) {                                                        \
        store_packed_truth(o, test_##name##_low(o), test_##name##_high(o));                                            \
    }
DEFINE_GENERAL(u16)
DEFINE_GENERAL(s16)
DEFINE_GENERAL(u32)
DEFINE_GENERAL(s32)
DEFINE_GENERAL(u64)
DEFINE_GENERAL(s64)
DEFINE_GENERAL(f32)
DEFINE_GENERAL(f32_ftz)
DEFINE_GENERAL(f64)
DEFINE_GENERAL(f16)
DEFINE_GENERAL(f16_ftz)
DEFINE_GENERAL(bf16)
DEFINE_PACKED(f16)
DEFINE_PACKED(f16_ftz)
DEFINE_PACKED(bf16)

/* The functions of an operand type: setp by relation, if it has special ones, and the general setp and set. */
struct compared_type {
    exec_lanes_fn *const *setp_by_relation;
    exec_lanes_fn *setp, *set;
};

static struct compared_type compared_type(enum ptx_type type, bool ftz) {
    switch (type) {
    case PTX_B16:
    case PTX_U16:
        return (struct compared_type){setps_u16, setp_u16, set_u16};
    case PTX_S16:
        return (struct compared_type){setps_s16, setp_s16, set_s16};
    case PTX_B32:
    case PTX_U32:
        return (struct compared_type){setps_u32, setp_u32, set_u32};
    case PTX_S32:
        return (struct compared_type){setps_s32, setp_s32, set_s32};
    case PTX_B64:
    case PTX_U64:
        return (struct compared_type){setps_u64, setp_u64, set_u64};
    case PTX_S64:
        return (struct compared_type){setps_s64, setp_s64, set_s64};
    case PTX_F32:
        return ftz ? (struct compared_type){setps_f32_ftz, setp_f32_ftz, set_f32_ftz}
                   : (struct compared_type){setps_f32, setp_f32, set_f32};
    case PTX_F64:
        return (struct compared_type){setps_f64, setp_f64, set_f64};
    case PTX_F16:
        return ftz ? (struct compared_type){NULL, setp_f16_ftz, set_f16_ftz}
                   : (struct compared_type){NULL, setp_f16, set_f16};
    case PTX_BF16:
        return (struct compared_type){NULL, setp_bf16, set_bf16};
    case PTX_F16X2:
        return ftz ? (struct compared_type){NULL, setp_f16_ftzx2, set_f16_ftzx2}
                   : (struct compared_type){NULL, setp_f16x2, set_f16x2};
    case PTX_BF16X2:
        return (struct compared_type){NULL, setp_bf16x2, set_bf16x2};
    default:
        return (struct compared_type){NULL, NULL, NULL};
    }
}

static const uint8_t comparison_words[] = {
    PTX_MOD_FTZ, PTX_MOD_AND, PTX_MOD_OR,  PTX_MOD_XOR, PTX_MOD_EQ,  PTX_MOD_NE,       PTX_MOD_LT,  PTX_MOD_LE,
    PTX_MOD_GT,  PTX_MOD_GE,  PTX_MOD_LO,  PTX_MOD_LS,  PTX_MOD_HI,  PTX_MOD_HS,       PTX_MOD_EQU, PTX_MOD_NEU,
    PTX_MOD_LTU, PTX_MOD_LEU, PTX_MOD_GTU, PTX_MOD_GEU, PTX_MOD_NUM, PTX_MOD_UNORDERED};
enum { FTZ = 1, BOOLEANS = 14, N_NOT_RELATIONS = 4 };

static bool can_flush(enum ptx_type type) { return type == PTX_F32 || type == PTX_F16 || type == PTX_F16X2; }
static bool is_packed(enum ptx_type type) { return type == PTX_F16X2 || type == PTX_BF16X2; }

/* Returns whether set.type.operand_type exists. */
static bool set_result_fits(enum ptx_type type, enum ptx_type operand_type) {
    bool is_half = operand_type == PTX_F16 || operand_type == PTX_BF16;
    switch (type) {
    case PTX_U32:
    case PTX_S32:
        return true;
    case PTX_F32:
        return !is_half && !is_packed(operand_type);
    case PTX_U16:
    case PTX_S16:
        return is_half;
    case PTX_F16:
        return operand_type != PTX_BF16 && !is_packed(operand_type);
    case PTX_BF16:
        return !is_packed(operand_type);
    default:
        return type == operand_type && is_packed(type);
    }
}

static exec_lanes_fn *select_comparison(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    bool is_set = insn->opcode == PTX_OP_SET;
    uint32_t words;
    if (insn->n_types != (is_set ? 2 : 1) ||
        !lanes_modifier_set(insn, comparison_words, LANES_COUNT(comparison_words), &words) ||
        __builtin_popcount(words >> N_NOT_RELATIONS) != 1 || __builtin_popcount(words & BOOLEANS) > 1)
        return NULL;
    enum ptx_type type = insn->type[insn->n_types - 1];
    struct compared_type functions = compared_type(type, words & FTZ);
    unsigned relation = exec_compare_imm(insn) >> EXEC_COMPARE_RELATION_SHIFT & (N_RELATIONS - 1);
    if (relation == 0 || functions.set == NULL || (words & FTZ && !can_flush(type)))
        return NULL;
    if (is_set)
        return set_result_fits(insn->type[0], type) ? functions.set : NULL;
    if ((type == PTX_F16 || type == PTX_BF16) && exec_has_q(insn))
        return NULL;
    bool is_plain = !(words & BOOLEANS) && !exec_has_q(insn);
    return is_plain && functions.setp_by_relation ? functions.setp_by_relation[relation] : functions.setp;
}

/* testp: the kind of number. Zeros count as normal numbers. */
#define NUMBER_KINDS(X, ...)                                                                                           \
    X(finite, FINITE, magnitude < infinity, __VA_ARGS__)                                                               \
    X(infinite, INFINITE, magnitude == infinity, __VA_ARGS__)                                                          \
    X(number, NUMBER, magnitude <= infinity, __VA_ARGS__)                                                              \
    X(notanumber, NOTANUMBER, magnitude > infinity, __VA_ARGS__)                                                       \
    X(normal, NORMAL, (magnitude >= smallest && magnitude < infinity) || magnitude == 0, __VA_ARGS__)                  \
    X(subnormal, SUBNORMAL, magnitude < smallest && magnitude != 0, __VA_ARGS__)
#define DEFINE_TESTP(name, id, condition, suffix, type, t, largest_exponent, first_normal)                             \
    static void testp_##name##_##suffix(const struct exec_operands *o) {                                               \
        const t *pa = o->src[0], infinity = largest_exponent, smallest = first_normal;                                 \
        LANES_MASK_WORD(t) mask = 0;                                                                                   \
        EXEC_FOR_LANES {                                                                                               \
            const t magnitude = pa[i] << 1 >> 1;                                                                       \
            mask |= (condition) ? LANES_BIT(t)[i] : 0;                                                                 \
        }                                                                                                              \
        (void)smallest;                                                                                                \
        (void)infinity;                                                                                                \
        *(uint32_t *)o->dst[0] = (uint32_t)mask;                                                                       \
    }
#define TESTP_TYPES(X)                                                                                                 \
    NUMBER_KINDS(X, f32, F32, uint32_t, 0x7f800000, 0x00800000)                                                        \
    NUMBER_KINDS(X, f64, F64, uint64_t, 0x7ff0000000000000, 0x0010000000000000)
TESTP_TYPES(DEFINE_TESTP)

/* selp and slct copy bits, so only the width of the type matters. */
#define DEFINE_SELP(bits)                                                                                              \
    static void selp_##bits(const struct exec_operands *o) {                                                           \
        uint##bits##_t *d = o->dst[0];                                                                                 \
        const uint##bits##_t *pa = o->src[0], *pb = o->src[1];                                                         \
        const LANES_MASK_WORD(uint##bits##_t) c = *(const uint32_t *)o->src[2];                                        \
        EXEC_FOR_LANES {                                                                                               \
            const uint##bits##_t a = pa[i], b = pb[i];                                                                 \
            d[i] = c & LANES_BIT(uint##bits##_t)[i] ? a : b;                                                           \
        }                                                                                                              \
    }
DEFINE_SELP(16)
DEFINE_SELP(32)
DEFINE_SELP(64)

#define DEFINE_SLCT(bits, suffix, t, load)                                                                             \
    LANES_DEFINE3(slct_##bits##_##suffix, uint##bits##_t, uint##bits##_t, uint##bits##_t, t, load(c) >= 0 ? a : b)
DEFINE_SLCT(16, s32, int32_t, unchanged)
DEFINE_SLCT(32, s32, int32_t, unchanged)
DEFINE_SLCT(64, s32, int32_t, unchanged)
DEFINE_SLCT(16, f32, float, unchanged)
DEFINE_SLCT(32, f32, float, unchanged)
DEFINE_SLCT(64, f32, float, unchanged)
DEFINE_SLCT(16, f32_ftz, uint32_t, flushed)
DEFINE_SLCT(32, f32_ftz, uint32_t, flushed)
DEFINE_SLCT(64, f32_ftz, uint32_t, flushed)

static const uint8_t vocabulary[] = {PTX_MOD_FTZ,        PTX_MOD_FINITE, PTX_MOD_INFINITE, PTX_MOD_NUMBER,
                                     PTX_MOD_NOTANUMBER, PTX_MOD_NORMAL, PTX_MOD_SUBNORMAL};
enum { FINITE = 2, INFINITE = 4, NUMBER = 8, NOTANUMBER = 16, NORMAL = 32, SUBNORMAL = 64 };

enum {
    ANY16 = LANES_TYPE(B16) | LANES_TYPE(U16) | LANES_TYPE(S16),
    ANY32 = LANES_TYPE(B32) | LANES_TYPE(U32) | LANES_TYPE(S32) | LANES_TYPE(F32),
    ANY64 = LANES_TYPE(B64) | LANES_TYPE(U64) | LANES_TYPE(S64) | LANES_TYPE(F64),
};

static const struct lanes_row rows[] = {
#define TESTP_ROW(name, id, condition, suffix, type, t, largest_exponent, first_normal)                                \
    {PTX_OP_TESTP, 1, {LANES_BITS(t)}, LANES_TYPE(type), 0, id, testp_##name##_##suffix},
    TESTP_TYPES(TESTP_ROW)
#define SELP_ROW(bits) {PTX_OP_SELP, bits, {bits, bits, 1}, ANY##bits, 0, 0, selp_##bits},
        SELP_ROW(16) SELP_ROW(32) SELP_ROW(64)
#define SLCT_ROWS(bits)                                                                                                \
    {PTX_OP_SLCT, bits, {bits, bits, 32}, ANY##bits, LANES_TYPE(S32), 0, slct_##bits##_s32},                           \
        {PTX_OP_SLCT, bits, {bits, bits, 32}, ANY##bits, LANES_TYPE(F32), 0, slct_##bits##_f32},                       \
        {PTX_OP_SLCT, bits, {bits, bits, 32}, ANY##bits, LANES_TYPE(F32), FTZ, slct_##bits##_f32_ftz},
            SLCT_ROWS(16) SLCT_ROWS(32) SLCT_ROWS(64)};

exec_lanes_fn *EXEC_NAME(exec_select_compare)(const struct exec_form *form) {
    switch (form->insn->opcode) {
    case PTX_OP_SETP:
    case PTX_OP_SET:
        return select_comparison(form);
    default:
        return lanes_find_row(rows, LANES_COUNT(rows), form, vocabulary, LANES_COUNT(vocabulary));
    }
}
