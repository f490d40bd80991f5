/* Levels of detail: which mip levels an access reads, and how much of each. The rule for derivatives is established for
 * one dimension, but for the last bits of the logarithm; with more, an H200 is up to half a level elsewhere. */
#include "exec/texture/texture.h"

#include <math.h>

/* The larger of two, or 11/16 of both: how an H200 takes the derivatives by x and by y together. */
static double joined(double a, double b) { return fmax(fmax(a, b), 0.6875 * (a + b)); }

float exec_level_of_slopes(const struct exec_texture *t, unsigned dimensions, const float by_x[3],
                           const float by_y[3]) {
    const uint32_t size[3] = {t->width, t->height, t->depth};
    double x = 0, y = 0;
    for (unsigned k = 0; k < dimensions; k++) {
        double scale = t->is_normalized_coords ? size[k] : 1;
        x += (double)by_x[k] * scale * (double)by_x[k] * scale;
        y += (double)by_y[k] * scale * (double)by_y[k] * scale;
    }
    return (float)log2(joined(sqrt(x), sqrt(y)));
}

/* The levels on both sides of a level of detail, and the weight of the second, of 256. */
struct between {
    unsigned level;
    uint32_t weight;
};

static struct between levels_at(const struct exec_texture *t, float level) {
    double last = t->n_levels - 1.0;
    double low = fmin(fmax((double)t->min_level, 0), last), high = fmin(fmax((double)t->max_level, low), last);
    double steps = isnan(level) ? 0 : trunc(fmin(fmax((double)level, -64), 64) * 256);
    double detail = fmin(fmax(steps / 256 + (double)t->level_bias, low), high);
    if (!t->is_mip_linear)
        return (struct between){(unsigned)floor(detail + 0.5), 0};
    steps = floor(detail * 256);
    return (struct between){(unsigned)(steps / 256), (uint32_t)steps % 256};
}

bool exec_sample_at_level(struct exec_context *cx, const struct exec_texture *t, const struct exec_sample *s,
                          float level, unsigned lane, struct exec_value *value) {
    struct between between = {0, 0};
    struct exec_corners corners = {.n = 0};
    if (t->n_levels > 1)
        between = levels_at(t, level);
    bool is_linear = t->is_linear && exec_reads_float(t) && !t->is_buffer;
    if (!is_linear && between.weight == 0)
        return exec_sample_nearest(cx, t, between.level, s, lane, value);
    if (!exec_add_corners(cx, t, between.level, s, 256 - between.weight, lane, &corners) ||
        (between.weight && !exec_add_corners(cx, t, between.level + 1, s, between.weight, lane, &corners)))
        return false;
    *value = exec_blend_corners(t, &corners);
    return true;
}
