/* cvt: selects the conversion of a form. The loops for common conversions are here, the others in convert_any.c.
 *
 * Forms and rules are from the cvt section of the PTX ISA manual; convert_any.c contains the rules for NaN. Left out:
 * the 6- and 4-bit floats and stochastic rounding (.rs). .rz, .rm and .rp between floats or from integers run under the
 * host's rounding mode. */
#include "exec/lanes/convert.h"

#include <math.h>

#include "exec/lanes/float.h"
#include "exec/lanes/float_form.h"

/* Integers without .sat: a loop for each source place and width of the destination. 8-bit destinations extend:
 * convert_any.c. */
#define TO_WIDTH(name, from, slot, width)                                                                              \
    static void name##_to_##width(const struct exec_operands *o) {                                                     \
        uint##width##_t *d = o->dst[0];                                                                                \
        const slot *a = o->src[0];                                                                                     \
        EXEC_FOR_LANES d[i] = (uint##width##_t)(from)a[i];                                                             \
    }
#define WIDEN_OR_CUT(name, from, slot)                                                                                 \
    TO_WIDTH(name, from, slot, 16) TO_WIDTH(name, from, slot, 32) TO_WIDTH(name, from, slot, 64)
WIDEN_OR_CUT(u8_16, uint8_t, uint16_t)
WIDEN_OR_CUT(u8_32, uint8_t, uint32_t)
WIDEN_OR_CUT(u8_64, uint8_t, uint64_t)
WIDEN_OR_CUT(s8_16, int8_t, uint16_t)
WIDEN_OR_CUT(s8_32, int8_t, uint32_t)
WIDEN_OR_CUT(s8_64, int8_t, uint64_t)
WIDEN_OR_CUT(u16_16, uint16_t, uint16_t)
WIDEN_OR_CUT(u16_32, uint16_t, uint32_t)
WIDEN_OR_CUT(u16_64, uint16_t, uint64_t)
WIDEN_OR_CUT(s16_16, int16_t, uint16_t)
WIDEN_OR_CUT(s16_32, int16_t, uint32_t)
WIDEN_OR_CUT(s16_64, int16_t, uint64_t)
WIDEN_OR_CUT(u32_32, uint32_t, uint32_t)
WIDEN_OR_CUT(u32_64, uint32_t, uint64_t)
WIDEN_OR_CUT(s32_32, int32_t, uint32_t)
WIDEN_OR_CUT(s32_64, int32_t, uint64_t)
WIDEN_OR_CUT(u64_64, uint64_t, uint64_t)
WIDEN_OR_CUT(s64_64, int64_t, uint64_t)

#define THREE(name)                                                                                                    \
    { name##_to_16, name##_to_32, name##_to_64 }
static exec_lanes_fn *const integer_to_slot[N_INT_PLACES][N_SLOTS] = {
    THREE(u8_16),  THREE(u8_32),  THREE(u8_64),  THREE(s8_16),  THREE(s8_32),  THREE(s8_64),
    THREE(u16_16), THREE(u16_32), THREE(u16_64), THREE(s16_16), THREE(s16_32), THREE(s16_64),
    THREE(u32_32), THREE(u32_64), THREE(s32_32), THREE(s32_64), THREE(u64_64), THREE(s64_64)};

/* Integers to floats, where no second rounding is possible. */
#define FROM_INTEGER(name, from, slot, to)                                                                             \
    static void name(const struct exec_operands *o) {                                                                  \
        to *d = o->dst[0];                                                                                             \
        const slot *a = o->src[0];                                                                                     \
        EXEC_FOR_LANES d[i] = (to)(from)a[i];                                                                          \
    }
FROM_INTEGER(u8_to_f32, uint8_t, uint16_t, float)
FROM_INTEGER(s8_to_f32, int8_t, uint16_t, float)
FROM_INTEGER(u16_to_f32, uint16_t, uint16_t, float)
FROM_INTEGER(s16_to_f32, int16_t, uint16_t, float)
FROM_INTEGER(s32_to_f32, int32_t, uint32_t, float)
FROM_INTEGER(s32_to_f64, int32_t, uint32_t, double)

/* An unsigned word in two exact parts, so that their sum rounds once. */
static void u32_to_f32(const struct exec_operands *o) {
    float *d = o->dst[0];
    const uint32_t *a = o->src[0];
    EXEC_FOR_LANES d[i] = (float)(int32_t)(a[i] >> 16) * 0x1p16f + (float)(int32_t)(a[i] & 0xffff);
}

static void u32_to_f64(const struct exec_operands *o) {
    double *d = o->dst[0];
    const uint32_t *a = o->src[0];
    EXEC_FOR_LANES d[i] = (double)(int32_t)(a[i] >> 16) * 0x1p16 + (double)(int32_t)(a[i] & 0xffff);
}

/* f32 to words. A number out of range becomes the nearest end, NaN becomes 0; only numbers in range reach the cast. */
LANES_INLINE float f32_integral(float x, enum integral how) {
    return how == TO_NEAREST ? rintf(x) : how == TO_ZERO ? truncf(x) : how == TO_FLOOR ? floorf(x) : ceilf(x);
}

LANES_INLINE int32_t to_signed(float x) {
    uint32_t bits = (uint32_t)(int32_t)f32_choose(f32_abs(x) < 0x1p31f, x, 0);
    bits = u32_choose(x >= 0x1p31f, INT32_MAX, bits);
    return (int32_t)u32_choose(x <= -0x1p31f, (uint32_t)INT32_MIN, bits);
}

LANES_INLINE uint32_t to_unsigned(float x) {
    bool is_high = x >= 0x1p31f;
    float low = f32_choose(is_high, x - 0x1p31f, x);
    uint32_t bits = (uint32_t)(int32_t)f32_choose((low > 0) & (low < 0x1p31f), low, 0);
    bits += u32_choose(is_high, 0x80000000, 0);
    return u32_choose(x >= 0x1p32f, UINT32_MAX, bits);
}

LANES_INLINE void f32_to_word(const struct exec_operands *o, bool is_unsigned, bool ftz, enum integral how) {
    uint32_t *d = o->dst[0];
    const float *a = o->src[0];
    EXEC_FOR_LANES {
        float x = f32_integral(ftz ? f32_flush(a[i]) : a[i], how);
        d[i] = is_unsigned ? to_unsigned(x) : (uint32_t)to_signed(x);
    }
}

LANES_INLINE void f32_to_f32(const struct exec_operands *o, bool ftz, enum integral how) {
    float *d = o->dst[0];
    const float *a = o->src[0];
    EXEC_FOR_LANES d[i] = f32_canonical(f32_integral(ftz ? f32_flush(a[i]) : a[i], how));
}

#define INTEGRALS(name, ftz)                                                                                           \
    static void name##_s32_nearest(const struct exec_operands *o) { f32_to_word(o, false, ftz, TO_NEAREST); }          \
    static void name##_s32_zero(const struct exec_operands *o) { f32_to_word(o, false, ftz, TO_ZERO); }                \
    static void name##_s32_floor(const struct exec_operands *o) { f32_to_word(o, false, ftz, TO_FLOOR); }              \
    static void name##_s32_ceiling(const struct exec_operands *o) { f32_to_word(o, false, ftz, TO_CEILING); }          \
    static void name##_u32_nearest(const struct exec_operands *o) { f32_to_word(o, true, ftz, TO_NEAREST); }           \
    static void name##_u32_zero(const struct exec_operands *o) { f32_to_word(o, true, ftz, TO_ZERO); }                 \
    static void name##_u32_floor(const struct exec_operands *o) { f32_to_word(o, true, ftz, TO_FLOOR); }               \
    static void name##_u32_ceiling(const struct exec_operands *o) { f32_to_word(o, true, ftz, TO_CEILING); }           \
    static void name##_f32_nearest(const struct exec_operands *o) { f32_to_f32(o, ftz, TO_NEAREST); }                  \
    static void name##_f32_zero(const struct exec_operands *o) { f32_to_f32(o, ftz, TO_ZERO); }                        \
    static void name##_f32_floor(const struct exec_operands *o) { f32_to_f32(o, ftz, TO_FLOOR); }                      \
    static void name##_f32_ceiling(const struct exec_operands *o) { f32_to_f32(o, ftz, TO_CEILING); }
#define INTEGRAL_ROW(name)                                                                                             \
    { name##_nearest, name##_zero, name##_floor, name##_ceiling }
INTEGRALS(plain, false)
INTEGRALS(ftz, true)
static exec_lanes_fn *const f32_to_s32_forms[2][N_INTEGRALS] = {INTEGRAL_ROW(plain_s32), INTEGRAL_ROW(ftz_s32)};
static exec_lanes_fn *const f32_to_u32_forms[2][N_INTEGRALS] = {INTEGRAL_ROW(plain_u32), INTEGRAL_ROW(ftz_u32)};
static exec_lanes_fn *const f32_integral_forms[2][N_INTEGRALS] = {INTEGRAL_ROW(plain_f32), INTEGRAL_ROW(ftz_f32)};

/* Floats to floats. Between f32 and f64 the host keeps a NaN's payload as the hardware does. */
static void f32_to_f64(const struct exec_operands *o) {
    double *d = o->dst[0];
    const float *a = o->src[0];
    EXEC_FOR_LANES d[i] = (double)a[i];
}

static void f64_to_f32(const struct exec_operands *o) {
    float *d = o->dst[0];
    const double *a = o->src[0];
    EXEC_FOR_LANES d[i] = (float)a[i];
}

static void f16_to_f32(const struct exec_operands *o) {
    float *d = o->dst[0];
    const uint16_t *a = o->src[0];
    EXEC_FOR_LANES d[i] = f32_canonical(f16_widen(a[i]));
}

/* bf16 is the upper half of an f32, NaN included. */
static void bf16_to_f32(const struct exec_operands *o) {
    uint32_t *d = o->dst[0];
    const uint16_t *a = o->src[0];
    EXEC_FOR_LANES d[i] = (uint32_t)a[i] << 16;
}

static void f32_to_f16(const struct exec_operands *o) {
    uint16_t *d = o->dst[0];
    const float *a = o->src[0];
    EXEC_FOR_LANES d[i] = f16_pack(half_round((double)a[i], F16_FORMAT));
}

static void f32_to_bf16(const struct exec_operands *o) {
    uint16_t *d = o->dst[0];
    const float *a = o->src[0];
    EXEC_FOR_LANES d[i] = bf16_pack(half_round((double)a[i], BF16_FORMAT));
}

/* cvt between equal types without any modifier is a move. */
static void copy_32(const struct exec_operands *o) { memmove(o->dst[0], o->src[0], EXEC_LANES * sizeof(uint32_t)); }
static void copy_64(const struct exec_operands *o) { memmove(o->dst[0], o->src[0], EXEC_LANES * sizeof(uint64_t)); }

/* Selection: parses the form, checks whether cvt has it, and finds its function. */
struct request {
    const struct place *from, *to;
    int from_number, to_number; /* among the integer or float places */
    bool ftz, sat, relu, is_finite;
    bool rounds;      /* .rn .rz .rm .rp */
    bool is_integral; /* .rni .rzi .rmi .rpi */
    enum integral integral;
};

static int place_kind(enum ptx_type type) {
    switch (type) {
    case PTX_F16:
        return PLACE_F16;
    case PTX_BF16:
        return PLACE_BF16;
    case PTX_F32:
        return PLACE_F32;
    case PTX_F64:
        return PLACE_F64;
    case PTX_U8:
    case PTX_U16:
    case PTX_U32:
    case PTX_U64:
        return PLACE_U;
    case PTX_S8:
    case PTX_S16:
    case PTX_S32:
    case PTX_S64:
        return PLACE_S;
    default:
        return -1;
    }
}

static const struct place *find_place(enum ptx_type type, unsigned slot) {
    int kind = place_kind(type);
    for (unsigned i = 0; i < N_PLACES; i++)
        if (places[i].kind == kind && places[i].bits == ptx_type_bits(type) && places[i].slot == slot)
            return &places[i];
    return NULL;
}

static bool is_float(const struct place *p) { return p->kind >= PLACE_F16; }
static bool is_natural(const struct place *p) { return p->slot == (p->bits < 16 ? 16 : p->bits); }
static int number_of(const struct place *p) { return (int)(p - places) - (is_float(p) ? N_INT_PLACES : 0); }
static unsigned slot_number(const struct place *p) { return p->slot == 16 ? 0 : p->slot == 32 ? 1 : 2; }

static bool read_request(const struct exec_form *form, struct request *r) {
    const struct ptx_instruction *insn = form->insn;
    unsigned modifiers = form_modifiers(insn);
    if (insn->n_types != 2 || form->n_src != 1 ||
        !form_allows(modifiers, FORM_ROUNDINGS | FORM_INTEGRALS, FORM_FTZ | FORM_SAT | FORM_RELU | FORM_SATFINITE))
        return false;
    *r = (struct request){
        .from = find_place(insn->type[1], form->src_bits[0]),
        .to = find_place(insn->type[0], form->dst_bits[0]),
        .ftz = modifiers & FORM_FTZ,
        .sat = modifiers & FORM_SAT,
        .relu = modifiers & FORM_RELU,
        .is_finite = modifiers & FORM_SATFINITE,
        .rounds = modifiers & FORM_ROUNDINGS,
        .is_integral = modifiers & FORM_INTEGRALS,
        .integral = modifiers & FORM_RNI   ? TO_NEAREST
                    : modifiers & FORM_RZI ? TO_ZERO
                    : modifiers & FORM_RMI ? TO_FLOOR
                                           : TO_CEILING,
    };
    if (!r->from || !r->to)
        return false;
    if (insn->type[1] == PTX_F32 && insn->type[0] == PTX_F16)
        r->ftz = false; /* the hardware keeps subnormal inputs here, even with .ftz */
    r->from_number = number_of(r->from);
    r->to_number = number_of(r->to);
    return true;
}

/* The combinations that the manual allows: .ftz needs an f32, .relu and .satfinite belong to f32 -> f16 and bf16, bf16
 * has no .sat and no conversion with 8-bit types, integers round to floats, floats become integral for integers. */
static bool is_legal(const struct request *r) {
    bool from_float = is_float(r->from), to_float = is_float(r->to), narrows = r->to->bits < r->from->bits;
    bool has_f32 = r->from->kind == PLACE_F32 || r->to->kind == PLACE_F32;
    bool has_bf16 = r->from->kind == PLACE_BF16 || r->to->kind == PLACE_BF16;
    if (r->ftz && !has_f32)
        return false;
    if ((r->relu || r->is_finite) && (r->from->kind != PLACE_F32 || r->to->bits != 16 || !to_float || r->ftz || r->sat))
        return false;
    if (has_bf16 && (r->sat || r->from->bits == 8 || r->to->bits == 8))
        return false;
    if (!from_float && !to_float)
        return !r->rounds && !r->is_integral;
    if (!to_float)
        return r->is_integral && !r->rounds;
    if (!from_float)
        return r->rounds && !r->is_integral;
    if (r->from->kind == r->to->kind)
        return !r->rounds;
    bool is_between_halves = r->from->bits == 16 && r->to->bits == 16; /* the default is .rn */
    return !r->is_integral && (r->rounds ? narrows || is_between_halves : !narrows);
}

static exec_lanes_fn *select_from_integer(const struct request *r) {
    bool is_plain = !r->sat && is_natural(r->to);
    if (!is_float(r->to)) {
        if (is_plain && r->to->bits > 8)
            return integer_to_slot[r->from_number][slot_number(r->to)];
        return EXEC_NAME(exec_convert_numbered)(
            (unsigned)(INT_TO_INT + (r->from_number * N_INT_PLACES + r->to_number) * 2 + r->sat));
    }
    if (is_plain && is_natural(r->from) && (r->to->kind == PLACE_F32 || r->to->kind == PLACE_F64) &&
        r->from->bits <= 32) {
        bool is_single = r->to->kind == PLACE_F32, is_unsigned = r->from->kind == PLACE_U;
        if (r->from->bits == 32)
            return is_single ? (is_unsigned ? u32_to_f32 : s32_to_f32) : (is_unsigned ? u32_to_f64 : s32_to_f64);
        if (is_single)
            return r->from->bits == 16 ? (is_unsigned ? u16_to_f32 : s16_to_f32)
                                       : (is_unsigned ? u8_to_f32 : s8_to_f32);
    }
    return EXEC_NAME(exec_convert_numbered)(
        (unsigned)(INT_TO_FLOAT + (r->from_number * N_FLOAT_PLACES + r->to_number) * 2 + r->sat));
}

static exec_lanes_fn *select_float_to_integer(const struct request *r) {
    if (r->from->kind == PLACE_F32 && is_natural(r->from) && r->to->bits == 32 && is_natural(r->to))
        return (r->to->kind == PLACE_U ? f32_to_u32_forms : f32_to_s32_forms)[r->ftz][r->integral];
    int input = r->from_number + N_FLOAT_PLACES * r->ftz;
    return EXEC_NAME(exec_convert_numbered)(
        (unsigned)(FLOAT_TO_INT + (input * N_INT_PLACES + r->to_number) * N_INTEGRALS) + r->integral);
}

/* Plain conversions in natural slots, or NULL. */
static exec_lanes_fn *select_plain_float(const struct request *r) {
    enum place_kind from = r->from->kind, to = r->to->kind;
    if (from == to)
        return from == PLACE_F32 ? copy_32 : from == PLACE_F64 ? copy_64 : NULL;
    if (to == PLACE_F32)
        return from == PLACE_F64 ? f64_to_f32 : from == PLACE_F16 ? f16_to_f32 : bf16_to_f32;
    if (from == PLACE_F32)
        return to == PLACE_F64 ? f32_to_f64 : to == PLACE_F16 ? f32_to_f16 : f32_to_bf16;
    return NULL;
}

static exec_lanes_fn *select_float_to_float(const struct request *r) {
    bool is_in_place = is_natural(r->from) && is_natural(r->to);
    int input = r->from_number + N_FLOAT_PLACES * r->ftz;
    if (r->is_integral) {
        if (is_in_place && r->from->kind == PLACE_F32 && !r->sat)
            return f32_integral_forms[r->ftz][r->integral];
        return EXEC_NAME(exec_convert_numbered)(
            FLOAT_TO_INTEGRAL + (((unsigned)input * N_SLOTS + slot_number(r->to)) * N_INTEGRALS + r->integral) * 2 +
            r->sat);
    }
    enum limit limit = r->sat         ? LIMIT_SAT
                       : r->relu      ? (r->is_finite ? LIMIT_RELU_FINITE : LIMIT_RELU)
                       : r->is_finite ? LIMIT_FINITE
                                      : LIMIT_NONE;
    exec_lanes_fn *plain = is_in_place && !r->ftz && limit == LIMIT_NONE ? select_plain_float(r) : NULL;
    if (plain)
        return plain;
    return EXEC_NAME(exec_convert_numbered)(
        (unsigned)(FLOAT_TO_FLOAT + (input * N_FLOAT_PLACES + r->to_number) * N_LIMITS) + limit);
}

exec_lanes_fn *EXEC_NAME(exec_select_convert)(const struct exec_form *form) {
    struct request r;
    if (form->insn->opcode != PTX_OP_CVT)
        return NULL;
    exec_lanes_fn *packed = EXEC_NAME(exec_select_convert_packed)(form);
    if (!packed)
        packed = EXEC_NAME(exec_select_convert_float8)(form);
    if (packed)
        return packed;
    if (!read_request(form, &r) || !is_legal(&r))
        return NULL;
    if (!is_float(r.from))
        return select_from_integer(&r);
    return is_float(r.to) ? select_float_to_float(&r) : select_float_to_integer(&r);
}
