/* Floating-point values and their bits, and the half-precision formats, for the functions that work lane by lane
 * (atomics, textures). Conversions round to nearest even; NaN results are canonical. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float exec_bits_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint32_t exec_float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float exec_half_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ff;
    if (exponent == 31)
        return exec_bits_float(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) {
        float value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    return exec_bits_float(sign | (exponent + 112) << 23 | fraction << 13);
}

static inline uint16_t exec_float_to_half(float value) {
    uint32_t bits = exec_float_bits(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return 0x7fff;
    if (magnitude >= 0x477ff000) /* 65520 and more */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000) /* subnormal or zero: the last place is 2^-24 */
        return (uint16_t)(sign | (uint32_t)lrintf(exec_bits_float(magnitude) * 0x1p24f));
    uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    return (uint16_t)(sign | (rounded - (112u << 23)) >> 13);
}

static inline float exec_bfloat_to_float(uint16_t bfloat) { return exec_bits_float((uint32_t)bfloat << 16); }

static inline uint16_t exec_float_to_bfloat(float value) {
    uint32_t bits = exec_float_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
