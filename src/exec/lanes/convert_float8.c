/* The cvt forms with pairs of 8-bit floats: e4m3 (no infinities, NaN is 0x7f, the largest number 448) and e5m2.
 *
 * From the cvt section of the PTX ISA manual; NaN and relu results as on an NVIDIA H200. Rounds to nearest even.
 * Numbers that are too large, including infinity, become the largest number (.satfinite). If a form has two sources,
 * the first is the upper half. */
#include <math.h>

#include "exec/lanes/convert.h"
#include "exec/lanes/float.h"
#include "exec/lanes/float_form.h"

struct float8 {
    uint32_t fraction_bits, bias, largest;
    float subnormal_scale; /* 1 over the last place of subnormal numbers */
    float smallest_normal;
};

#define E4M3 ((struct float8){3, 7, 0x7e, 0x1p9f, 0x1p-6f})
#define E5M2 ((struct float8){2, 15, 0x7b, 0x1p16f, 0x1p-14f})
enum { FLOAT8_NAN = 0x7f };

LANES_INLINE uint32_t to_float8(float x, struct float8 format, bool relu) {
    uint32_t bits = f32_bits(x), sign = bits >> 24 & 0x80, magnitude = bits & ~F32_SIGN;
    uint32_t shift = 23 - format.fraction_bits;
    uint32_t rounded = (magnitude + (1u << (shift - 1)) - 1 + (magnitude >> shift & 1)) >> shift;
    uint32_t normal = rounded - ((127 - format.bias) << format.fraction_bits);
    normal = u32_choose(normal > format.largest, format.largest, normal);
    float small = f32_choose(f32_abs(x) < format.smallest_normal, f32_abs(x), 0);
    uint32_t subnormal = (uint32_t)(int32_t)rintf(small * format.subnormal_scale);
    uint32_t result = u32_choose(f32_abs(x) < format.smallest_normal, subnormal, normal) | sign;
    if (relu)
        result = u32_choose(sign != 0, 0, result);
    return u32_choose(magnitude > F32_INFINITY, FLOAT8_NAN, result);
}

/* Returns the f16 bits of an 8-bit float. */
LANES_INLINE uint32_t from_e4m3(uint32_t bits) {
    uint32_t sign = (bits & 0x80) << 8, magnitude = bits & 0x7f;
    uint32_t normal = (magnitude << 7) + (8u << 10);
    uint32_t subnormal = f16_pack((float)(int32_t)(magnitude & 7) * 0x1p-9f);
    return u32_choose(magnitude == FLOAT8_NAN, 0x7fff, sign | u32_choose(magnitude < 8, subnormal, normal));
}

LANES_INLINE uint32_t from_e5m2(uint32_t bits) { return u32_choose((bits & 0x7f) > 0x7c, 0x7fff, bits << 8); }

LANES_INLINE void pack_f32(const struct exec_operands *o, struct float8 format, bool relu) {
    uint16_t *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES d[i] = (uint16_t)(to_float8(b[i], format, relu) | to_float8(a[i], format, relu) << 8);
}

LANES_INLINE void pack_f16(const struct exec_operands *o, struct float8 format, bool relu) {
    uint16_t *d = o->dst[0];
    const uint32_t *a = o->src[0];
    EXEC_FOR_LANES {
        uint32_t low = to_float8(f16_widen((uint16_t)a[i]), format, relu);
        d[i] = (uint16_t)(low | to_float8(f16_widen((uint16_t)(a[i] >> 16)), format, relu) << 8);
    }
}

LANES_INLINE uint32_t without_negative(uint32_t half) {
    return u32_choose((half & 0x8000) != 0 && (half & 0x7fff) <= 0x7c00, 0, half);
}

LANES_INLINE void unpack(const struct exec_operands *o, bool is_e4m3, bool relu) {
    uint32_t *d = o->dst[0];
    const uint16_t *a = o->src[0];
    EXEC_FOR_LANES {
        uint32_t low = is_e4m3 ? from_e4m3(a[i] & 0xff) : from_e5m2(a[i] & 0xff);
        uint32_t high = is_e4m3 ? from_e4m3(a[i] >> 8) : from_e5m2(a[i] >> 8);
        d[i] = relu ? without_negative(low) | without_negative(high) << 16 : low | high << 16;
    }
}

#define FORMS(name, format, is_e4m3)                                                                                   \
    static void name##_from_f32(const struct exec_operands *o) { pack_f32(o, format, false); }                         \
    static void name##_from_f32_relu(const struct exec_operands *o) { pack_f32(o, format, true); }                     \
    static void name##_from_f16(const struct exec_operands *o) { pack_f16(o, format, false); }                         \
    static void name##_from_f16_relu(const struct exec_operands *o) { pack_f16(o, format, true); }                     \
    static void name##_to_f16(const struct exec_operands *o) { unpack(o, is_e4m3, false); }                            \
    static void name##_to_f16_relu(const struct exec_operands *o) { unpack(o, is_e4m3, true); }
#define ROW(name)                                                                                                      \
    {                                                                                                                  \
        {name##_from_f32, name##_from_f32_relu}, {name##_from_f16, name##_from_f16_relu}, {                            \
            name##_to_f16, name##_to_f16_relu                                                                          \
        }                                                                                                              \
    }
FORMS(e4m3, E4M3, true)
FORMS(e5m2, E5M2, false)
static exec_lanes_fn *const forms[2][3][2] = {ROW(e5m2), ROW(e4m3)};

static bool is_float8(enum ptx_type type) { return type == PTX_E4M3X2 || type == PTX_E5M2X2; }

exec_lanes_fn *EXEC_NAME(exec_select_convert_float8)(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    if (insn->n_types != 2 || is_float8(insn->type[0]) == is_float8(insn->type[1]))
        return NULL;
    bool narrows = is_float8(insn->type[0]), is_single = insn->type[1] == PTX_F32;
    unsigned modifiers = form_modifiers(insn), needed = FORM_RN | (narrows ? FORM_SATFINITE : 0);
    if ((modifiers & ~(unsigned)FORM_RELU) != needed || form->n_src != (is_single ? 2 : 1) ||
        form->dst_bits[0] != (narrows ? 16 : 32) || form->src_bits[0] != (narrows ? 32 : 16))
        return NULL;
    bool is_e4m3 = insn->type[narrows ? 0 : 1] == PTX_E4M3X2;
    return forms[is_e4m3][narrows ? !is_single : 2][!!(modifiers & FORM_RELU)];
}
