/* The cvt forms whose result is not one plain number: two f32 packed into f16x2 or bf16x2, tf32, and two integers
 * packed into a word (cvt.pack).
 *
 * From the cvt section of the PTX ISA manual; NaN results from an NVIDIA H200. Packing runs under the host's
 * rounding mode; tf32 rounds by itself. */
#include "exec/lanes/convert.h"
#include "exec/lanes/float.h"
#include "exec/lanes/float_form.h"

/* Two f32 to a packed pair: the first source is the upper half. */
LANES_INLINE void pack_pair(const struct exec_operands *o, bool is_f16, bool relu, bool is_finite) {
    uint32_t *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1];
    struct half_format format = is_f16 ? F16_FORMAT : BF16_FORMAT;
    EXEC_FOR_LANES {
        float half[2] = {b[i], a[i]};
        for (int k = 0; k < 2; k++) {
            double x = (double)half[k];
            if (relu)
                x = f64_choose((x > 0) | (x != x), x, 0);
            if (is_finite) {
                x = f64_choose(x > format.max_finite, format.max_finite, x);
                x = f64_choose(x < -format.max_finite, -format.max_finite, x);
            }
            half[k] = half_round(x, format);
        }
        uint32_t low = is_f16 ? f16_pack(half[0]) : bf16_pack(half[0]);
        uint32_t high = is_f16 ? f16_pack(half[1]) : bf16_pack(half[1]);
        d[i] = low | high << 16;
    }
}

#define PACKS(name, is_f16)                                                                                            \
    static void name##_plain(const struct exec_operands *o) { pack_pair(o, is_f16, false, false); }                    \
    static void name##_relu(const struct exec_operands *o) { pack_pair(o, is_f16, true, false); }                      \
    static void name##_finite(const struct exec_operands *o) { pack_pair(o, is_f16, false, true); }                    \
    static void name##_relu_finite(const struct exec_operands *o) { pack_pair(o, is_f16, true, true); }
PACKS(pack_f16, true)
PACKS(pack_bf16, false)
static exec_lanes_fn *const pack_forms[2][2][2] = {
    {{pack_bf16_plain, pack_bf16_finite}, {pack_bf16_relu, pack_bf16_relu_finite}},
    {{pack_f16_plain, pack_f16_finite}, {pack_f16_relu, pack_f16_relu_finite}},
};

/* tf32 is an f32 whose low 13 bits are zero. Adding half a last place, or slightly less, to the bits as an integer
 * rounds them. */
enum tf32_rounding { TF32_NEAREST_EVEN, TF32_ZERO, TF32_NEAREST_AWAY };

LANES_INLINE void f32_to_tf32(const struct exec_operands *o, enum tf32_rounding rounding, bool relu) {
    uint32_t *d = o->dst[0];
    const uint32_t *a = o->src[0];
    EXEC_FOR_LANES {
        uint32_t half = rounding == TF32_NEAREST_EVEN ? 0xfff + (a[i] >> 13 & 1) : 0;
        uint32_t bits = (a[i] + half) & ~0x1fffu, magnitude = a[i] & ~F32_SIGN;
        bits = u32_choose(magnitude >= F32_INFINITY, a[i], bits);
        bits = relu ? u32_choose(a[i] >> 31, 0, bits) : bits;
        d[i] = u32_choose(magnitude > F32_INFINITY, 0x7fffe000, bits);
    }
}

/* .rna treats a NaN as a number and truncates its payload; .satfinite then decrements every infinity and NaN by one
 * last place. */
LANES_INLINE void f32_to_tf32_away(const struct exec_operands *o, bool is_finite) {
    uint32_t *d = o->dst[0];
    const uint32_t *a = o->src[0];
    EXEC_FOR_LANES {
        bool is_special = (a[i] & F32_INFINITY) == F32_INFINITY;
        uint32_t bits = u32_choose(is_special, a[i], a[i] + 0x1000) & ~0x1fffu;
        bool is_over = (bits & F32_INFINITY) == F32_INFINITY;
        d[i] = is_finite ? u32_choose(is_over, bits - 0x2000, bits) : bits;
    }
}

static void tf32_nearest(const struct exec_operands *o) { f32_to_tf32(o, TF32_NEAREST_EVEN, false); }
static void tf32_nearest_relu(const struct exec_operands *o) { f32_to_tf32(o, TF32_NEAREST_EVEN, true); }
static void tf32_zero(const struct exec_operands *o) { f32_to_tf32(o, TF32_ZERO, false); }
static void tf32_zero_relu(const struct exec_operands *o) { f32_to_tf32(o, TF32_ZERO, true); }
static void tf32_away(const struct exec_operands *o) { f32_to_tf32_away(o, false); }
static void tf32_away_finite(const struct exec_operands *o) { f32_to_tf32_away(o, true); }

static exec_lanes_fn *select_tf32(unsigned modifiers) {
    switch (modifiers) {
    case FORM_RN:
        return tf32_nearest;
    case FORM_RN | FORM_RELU:
        return tf32_nearest_relu;
    case FORM_RZ:
        return tf32_zero;
    case FORM_RZ | FORM_RELU:
        return tf32_zero_relu;
    case FORM_RNA:
        return tf32_away;
    case FORM_RNA | FORM_SATFINITE:
        return tf32_away_finite;
    default:
        return NULL;
    }
}

/* cvt.pack: two saturated integers. The first source is the upper one. The bits above them come from c, if there is
 * one. */
LANES_INLINE void pack_integers(const struct exec_operands *o, int bits, bool is_signed) {
    uint32_t *d = o->dst[0];
    const int32_t *a = o->src[0], *b = o->src[1];
    const uint32_t *c = o->src[bits < 16 ? 2 : 0], mask = (1u << bits) - 1;
    const int32_t low = is_signed ? -(1 << (bits - 1)) : 0, high = is_signed ? (1 << (bits - 1)) - 1 : (int32_t)mask;
    EXEC_FOR_LANES {
        uint32_t upper = (uint32_t)(a[i] < low ? low : a[i] > high ? high : a[i]) & mask;
        uint32_t lower = (uint32_t)(b[i] < low ? low : b[i] > high ? high : b[i]) & mask;
        d[i] = upper << bits | lower | (bits < 16 ? c[i] << 2 * bits : 0);
    }
}

#define PACK_INTEGERS(bits)                                                                                            \
    static void pack_u##bits(const struct exec_operands *o) { pack_integers(o, bits, false); }                         \
    static void pack_s##bits(const struct exec_operands *o) { pack_integers(o, bits, true); }
PACK_INTEGERS(2)
PACK_INTEGERS(4)
PACK_INTEGERS(8)
PACK_INTEGERS(16)

static exec_lanes_fn *select_pack(const struct exec_form *form) {
    static const struct {
        enum ptx_modifier modifier;
        exec_lanes_fn *pack;
    } small[] = {{PTX_MOD_U2, pack_u2}, {PTX_MOD_S2, pack_s2}, {PTX_MOD_U4, pack_u4}, {PTX_MOD_S4, pack_s4}};
    for (size_t k = 0; k < sizeof small / sizeof *small; k++)
        if (ptx_has(form->insn, small[k].modifier))
            return small[k].pack;
    switch (form->insn->type[0]) {
    case PTX_U8:
        return pack_u8;
    case PTX_S8:
        return pack_s8;
    case PTX_U16:
        return pack_u16;
    case PTX_S16:
        return pack_s16;
    default:
        return NULL;
    }
}

exec_lanes_fn *EXEC_NAME(exec_select_convert_packed)(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    if (ptx_has(insn, PTX_MOD_PACK))
        return select_pack(form);
    unsigned modifiers = form_modifiers(insn);
    if (insn->n_types != 2 || insn->type[1] != PTX_F32)
        return NULL;
    if (insn->type[0] == PTX_TF32 && form->n_src == 1)
        return select_tf32(modifiers);
    bool is_f16 = insn->type[0] == PTX_F16X2, is_bf16 = insn->type[0] == PTX_BF16X2,
         rounds = modifiers & (FORM_RN | FORM_RZ);
    if ((!is_f16 && !is_bf16) || form->n_src != 2 || !rounds ||
        !form_allows(modifiers, FORM_RN | FORM_RZ, FORM_RELU | FORM_SATFINITE))
        return NULL;
    return pack_forms[is_f16][!!(modifiers & FORM_RELU)][!!(modifiers & FORM_SATFINITE)];
}
