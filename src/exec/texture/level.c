/* Determines the mip levels that a level of detail reads, and the weight of each. */
#include "exec/texture/texture.h"

#include <math.h>

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
