/* From a coordinate to texels along one axis.
 *
 * A coordinate in texels is exact; a normalised one is first cut off after 21 fraction bits, or as many as the size
 * needs for a 256th of a texel (established on an H200 for sizes from 2 to 16,384). A nearest fetch takes the texel
 * that contains the coordinate. A linear fetch blends the two texels whose centres are on either side of the
 * coordinate; the weight is rounded to a 256th. */
#include "exec/texture/texture.h"

#include <math.h>

enum { FRACTION_BITS = 21, WEIGHT_BITS = 8 };

static int fraction_bits(uint32_t size) {
    int needed = size > 1 ? 32 - __builtin_clz(size - 1) + WEIGHT_BITS : WEIGHT_BITS;
    return needed > FRACTION_BITS ? needed : FRACTION_BITS;
}

/* Returns a coordinate in texels, limited to values that convert to an integer. NaN becomes 0. */
static double in_texels(struct exec_axis axis, float coordinate) {
    double x = coordinate;
    if (isnan(x) || fabsf(coordinate) < 0x1p-126f) /* subnormal numbers count as 0 */
        return 0;
    x = fmin(fmax(x, -0x1p40), 0x1p40);
    if (!axis.is_normalized)
        return x;
    int bits = fraction_bits(axis.size);
    return floor(ldexp(x, bits)) * ldexp(axis.size, -bits);
}

int64_t exec_nearest_texel(struct exec_axis axis, float coordinate) {
    return (int64_t)floor(in_texels(axis, coordinate));
}

struct exec_blend exec_blend_texels(struct exec_axis axis, float coordinate) {
    double steps = floor((in_texels(axis, coordinate) - 0.5) * 256 + 0.5), first = floor(steps / 256);
    return (struct exec_blend){(int64_t)first, (uint32_t)(steps - first * 256)};
}

bool exec_wrap_texel(struct exec_axis axis, int64_t i, uint32_t *texel) {
    int64_t n = axis.size;
    bool folds = axis.wrap == EXEC_WRAP_REPEAT || axis.wrap == EXEC_WRAP_MIRROR;
    switch (folds && !axis.is_normalized ? EXEC_WRAP_CLAMP : axis.wrap) {
    case EXEC_WRAP_REPEAT:
        i = (i % n + n) % n;
        break;
    case EXEC_WRAP_MIRROR:
        i = (i % (2 * n) + 2 * n) % (2 * n);
        i = i < n ? i : 2 * n - 1 - i;
        break;
    case EXEC_WRAP_BORDER:
        if (i < 0 || i >= n)
            return false;
        break;
    case EXEC_WRAP_CLAMP:
        i = i < 0 ? 0 : i >= n ? n - 1 : i;
        break;
    }
    *texel = (uint32_t)i;
    return true;
}

struct exec_blend exec_clamp_blend(struct exec_axis axis, struct exec_blend blend) {
    bool clamps = axis.wrap == EXEC_WRAP_CLAMP || (!axis.is_normalized && axis.wrap != EXEC_WRAP_BORDER);
    if (clamps && blend.first < 0)
        return (struct exec_blend){0, 0};
    if (clamps && blend.first >= (int64_t)axis.size - 1)
        return (struct exec_blend){(int64_t)axis.size - 1, 0};
    return blend;
}
