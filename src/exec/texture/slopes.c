/* The level of detail of derivatives, as an H200 computes it.
 *
 * The length of a vector is its largest component, plus 11/32 of the next and 1/4 of the least, computed with few bits:
 * the smaller components have 10 bits after their first, and the largest and the rest are cut off 9 places below the
 * first bit of the largest. The result is the largest of four numbers: the lengths of the derivatives by x and by y,
 * and 11/16 of the lengths of their sum and difference. These are the sides and the diagonals of the pixel in the
 * texture. The logarithm of the result has 8 fraction bits and comes from a table of 256 entries. Of 131,072
 * derivatives in one, two and three dimensions, 95 % get the GPU's level, and the others are within 2/256. It is not
 * known where else the GPU drops bits.
 *
 * Derivatives of directions are differences between the direction plus its derivative and the direction, both on the
 * cube. A neighbour on another face counts as if that face were unfolded into the plane of the first. */
#include "exec/texture/texture.h"

#include <math.h>

enum { FRACTION_BITS = 8, LENGTH_BITS = 9, PART_BITS = 10, LARGEST = 64 };

/* The logarithm of 1 + k / 256 in 256ths. */
static const uint8_t logarithm[1 << FRACTION_BITS] = {
    0,   2,   4,   5,   6,   8,   9,   11,  12,  13,  15,  16,  18,  19,  20,  22,  23,  24,  26,  27,  28,  30,
    31,  32,  34,  35,  36,  38,  39,  40,  42,  43,  44,  45,  47,  48,  49,  50,  52,  53,  54,  55,  57,  58,
    59,  60,  62,  63,  64,  65,  66,  68,  69,  70,  71,  72,  74,  75,  76,  77,  78,  79,  81,  82,  83,  84,
    85,  86,  88,  89,  90,  91,  92,  93,  94,  95,  97,  98,  99,  100, 101, 102, 103, 104, 105, 106, 107, 109,
    110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131,
    132, 133, 135, 136, 137, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153,
    154, 155, 156, 157, 158, 159, 160, 161, 162, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 173,
    174, 175, 176, 177, 178, 179, 180, 181, 181, 182, 183, 184, 185, 186, 187, 188, 188, 189, 190, 191, 192, 193,
    194, 195, 195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205, 205, 206, 207, 208, 209, 210, 210, 211,
    212, 213, 214, 214, 215, 216, 217, 218, 218, 219, 220, 221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229,
    229, 230, 231, 232, 233, 233, 234, 235, 236, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243, 244, 245, 245,
    246, 247, 248, 248, 249, 250, 251, 251, 252, 253, 253, 254, 255, 255,
};

static float level_of_length(double length) {
    int exponent;
    if (isnan(length))
        return 0;
    if (length == 0 || isinf(length))
        return length > 0 ? LARGEST : -LARGEST;
    double fraction = 2 * frexp(length, &exponent) - 1;
    return (float)(exponent - 1) + logarithm[(unsigned)(fraction * (1 << FRACTION_BITS))] / 256.0f;
}

/* Cuts off the bits more than `bits` places below 2^exponent. */
static double cut(double x, int bits, int exponent) { return ldexp(floor(ldexp(x, bits - exponent)), exponent - bits); }

static double cut_alone(double x) { return x > 0 ? cut(x, PART_BITS, ilogb(x)) : x; }

static double length_of(const double v[3]) {
    double x = fabs(v[0]), y = fabs(v[1]), z = fabs(v[2]);
    double largest = fmax(x, fmax(y, z)), least = fmin(x, fmin(y, z)), middle = fmax(fmin(x, y), fmin(fmax(x, y), z));
    if (isnan(x + y + z) || isinf(largest) || largest == 0)
        return x + y + z;
    double rest = cut_alone(middle) * 11 / 32 + cut_alone(least) / 4;
    return cut(largest, LENGTH_BITS, ilogb(largest)) + cut(rest, LENGTH_BITS, ilogb(largest));
}

static float level_of(const double by_x[3], const double by_y[3]) {
    double sum[3], difference[3];
    for (unsigned k = 0; k < 3; k++) {
        sum[k] = by_x[k] + by_y[k];
        difference[k] = by_x[k] - by_y[k];
    }
    double diagonal = fmax(length_of(sum), length_of(difference)) * 11 / 16;
    return level_of_length(fmax(fmax(length_of(by_x), length_of(by_y)), diagonal));
}

float exec_level_of_slopes(const struct exec_texture *t, unsigned dimensions, const float by_x[3],
                           const float by_y[3]) {
    const uint32_t size[3] = {t->width, t->height, t->depth};
    double x[3] = {0}, y[3] = {0};
    for (unsigned k = 0; k < dimensions; k++) {
        double scale = t->is_normalized_coords ? size[k] : 1;
        x[k] = (double)by_x[k] * scale;
        y[k] = (double)by_y[k] * scale;
    }
    return level_of(x, y);
}

/* ---- Cube maps -------------------------------------------------------------------------------------------------- */

static unsigned major_axis(const double v[3]) {
    double x = fabs(v[0]), y = fabs(v[1]), z = fabs(v[2]);
    return z >= x && z >= y ? 2 : y >= x ? 1 : 0;
}

/* Finds where a direction meets the cube from -1 to 1, in the plane of the face at the end of `axis` on the side of
 * `sign`; along the axis itself the result is 0. */
static void unfold(const double direction[3], unsigned axis, double sign, double place[3]) {
    unsigned own = major_axis(direction);
    double largest = fabs(direction[own]);
    for (unsigned k = 0; k < 3; k++)
        place[k] = direction[k] / largest;
    if (own != axis)
        place[own] *= 2 - place[axis] * sign;
    place[axis] = 0;
}

float exec_level_of_directions(const struct exec_texture *t, const float direction[3], const float by_x[3],
                               const float by_y[3]) {
    double middle[3], right[3], below[3], here[3], x[3], y[3];
    for (unsigned k = 0; k < 3; k++) {
        middle[k] = (double)direction[k];
        right[k] = (double)direction[k] + (double)by_x[k];
        below[k] = (double)direction[k] + (double)by_y[k];
    }
    unsigned axis = major_axis(middle);
    double sign = middle[axis] < 0 ? -1 : 1;
    unfold(middle, axis, sign, here);
    unfold(right, axis, sign, x);
    unfold(below, axis, sign, y);
    for (unsigned k = 0; k < 3; k++) {
        x[k] = (x[k] - here[k]) * t->width / 2;
        y[k] = (y[k] - here[k]) * t->width / 2;
    }
    return level_of(x, y);
}
