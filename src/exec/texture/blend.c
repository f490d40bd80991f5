/* Adds up weighted texels, as the filter unit of an H200 does: in fixed point.
 *
 * Integers that are read as fractions are first converted to 16 bits, and so is their sum. Floating-point texels are
 * aligned with the largest texel of their plane and cut off four bits below the last bit of that texel. The sum is
 * rounded to the format. Ties round away from zero, but ties of integers round up. Established on an H200, except for
 * texels of signed bytes, whose sums may be a hundredth off, and halves in several planes, which may be one unit in the
 * last place off. */
#include "exec/texture/texture.h"

#include <math.h>

#include "exec/float_bits.h"

enum { HALF_BITS = 11, HALF_LEAST = -24, FLOAT_BITS = 24, FLOAT_LEAST = -149, GUARD = 4 };

/* one: the value of 1 in texels; full: its value in the sum. */
static float blend_fractions(unsigned n, const double *value, const uint32_t *weight, double one, double full) {
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += round(value[i] * one) * weight[i];
    return (float)floor(sum * full / (one * 256) + 0.5) / (float)full;
}

/* bits and least: significant bits of the format, and the exponent of its last bit; smallest: exponent of the smallest
 * number that is not flushed to 0. */
static float blend_floats(unsigned n, const double *value, const uint32_t *weight, const uint8_t *plane, int bits,
                          int least, int smallest) {
    uint32_t not_a_number = bits == HALF_BITS ? 0x7fffe000 : 0x7fffffff;
    double largest = 0, sum = 0, least_value = value[0], most = value[0];
    bool is_negative = true;
    for (unsigned i = 0; i < n; i++) {
        if (isnan(value[i]))
            return exec_bits_float(not_a_number);
        largest = fmax(largest, fabs(value[i]));
        least_value = fmin(least_value, value[i]);
        most = fmax(most, value[i]);
        is_negative &= signbit(value[i]) != 0;
    }
    if (isinf(largest))
        return isinf(least_value) && isinf(most) && least_value < most ? exec_bits_float(not_a_number)
               : isinf(most)                                           ? (float)most
                                                                       : (float)least_value;
    if (largest == 0)
        return is_negative ? -0.0f : 0.0f;
    for (unsigned first = 0, end; first < n; first = end) {
        double of_plane = 0;
        for (end = first; end < n && plane[end] == plane[first]; end++)
            of_plane = fmax(of_plane, fabs(value[end]));
        int last = of_plane > 0 ? ilogb(of_plane) - bits + 1 - GUARD : 0; /* exponent of the last bit that is kept */
        for (unsigned i = first; i < end; i++)
            sum += ldexp(trunc(ldexp(value[i], -last)), last) * weight[i] / 256;
    }
    if (sum == 0 || ilogb(sum) < smallest)
        return 0;
    int exponent = ilogb(sum) - bits + 1;
    exponent = exponent < least ? least : exponent;
    return (float)ldexp(round(ldexp(sum, -exponent)), exponent);
}

static float blend_channel(const struct exec_texture *t, unsigned n, const double *value, const uint32_t *weight,
                           const uint8_t *plane) {
    switch (t->texel) {
    case EXEC_TEXEL_U8:
        return blend_fractions(n, value, weight, 255, 65535);
    case EXEC_TEXEL_U16:
        return blend_fractions(n, value, weight, 65535, 65535);
    case EXEC_TEXEL_S8:
        return blend_fractions(n, value, weight, 127, 32767);
    case EXEC_TEXEL_S16:
        return blend_fractions(n, value, weight, 32767, 32767);
    case EXEC_TEXEL_F16:
        return blend_floats(n, value, weight, plane, HALF_BITS, HALF_LEAST, HALF_LEAST);
    default:
        return blend_floats(n, value, weight, plane, FLOAT_BITS, FLOAT_LEAST, FLOAT_LEAST + FLOAT_BITS - 1);
    }
}

/* Subnormal f32 count as 0. */
static float flushed(float value) { return fabsf(value) < 0x1p-126f ? copysignf(0, value) : value; }

struct exec_value exec_blend_corners(const struct exec_texture *t, const struct exec_corners *corners) {
    struct exec_value blended = {{0}};
    double channel[16];
    uint32_t weight[16];
    uint8_t plane[16];
    for (unsigned k = 0; k < t->channels; k++) {
        unsigned n = 0;
        for (unsigned i = 0; i < corners->n; i++) {
            channel[n] = (double)flushed(exec_bits_float(corners->value[i].channel[k]));
            weight[n] = corners->weight[i];
            plane[n] = corners->plane[i];
            n += corners->weight[i] != 0;
        }
        blended.channel[k] = exec_float_bits(blend_channel(t, n, channel, weight, plane));
    }
    return blended;
}
