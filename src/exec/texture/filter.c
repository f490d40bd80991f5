/* Reads a level: the nearest texel, or a blend of the 2, 4 or 8 around a coordinate.
 *
 * The weights are 256ths and add up to 256: they are divided along the third axis, then the first, then the second, and
 * each share is rounded. blend.c adds up the weighted texels. If a cube is seamless, texels beyond an edge are those of
 * the next face. At a corner there are three texels, and the weight of the fourth is divided among them. A line is a
 * plane of one line, read at its upper edge: if the addressing mode of the second axis is a border, half of the result
 * is border. All of this is as on an H200. */
#include "exec/texture/texture.h"

static struct exec_axis axis_of(const struct exec_texture *t, unsigned level, unsigned k) {
    const uint32_t size[3] = {t->width, t->height, t->depth};
    return (struct exec_axis){exec_level_size(size[k], level), t->wrap[k], t->is_normalized_coords && !t->is_buffer};
}

bool exec_sample_texel(struct exec_context *cx, const struct exec_texture *t, unsigned level, unsigned dimensions,
                       const int64_t number[3], uint32_t slice, unsigned lane, struct exec_value *value) {
    uint32_t at[3] = {0, 0, slice};
    for (unsigned k = 0; k < dimensions; k++)
        if (!exec_wrap_texel(axis_of(t, level, k), number[k], &at[k])) {
            *value = exec_texel_border(t);
            return true;
        }
    return exec_texel_read(cx, t, level, (struct exec_texel_place){at[0], at[1], at[2]}, lane, value);
}

bool exec_sample_nearest(struct exec_context *cx, const struct exec_texture *t, unsigned level,
                         const struct exec_sample *s, unsigned lane, struct exec_value *value) {
    int64_t number[3] = {0};
    for (unsigned k = 0; k < s->dimensions; k++)
        number[k] = exec_nearest_texel(axis_of(t, level, k), s->coordinate[k]) + s->offset[k];
    return exec_sample_texel(cx, t, level, s->dimensions, number, s->slice, lane, value);
}

/* Weights of the corners, `whole` in all: bit k of a corner's number chooses the texel after the coordinate along axis
 * k. */
static void corner_weights(const struct exec_blend blend[3], unsigned dimensions, uint32_t whole, uint32_t weight[8]) {
    uint32_t x = blend[0].weight, y = dimensions > 1 ? blend[1].weight : 0, z = dimensions > 2 ? blend[2].weight : 0;
    uint32_t behind = (whole * z + 128) / 256;
    for (unsigned slice = 0; slice < (dimensions > 2 ? 2u : 1u); slice++) {
        uint32_t all = slice ? behind : whole - behind, right = (all * x + 128) / 256, left = all - right;
        uint32_t lower_right = (right * y + 128) / 256, lower_left = (left * y + 127) / 256;
        const uint32_t of_slice[4] = {left - lower_left, right - lower_right, lower_left, lower_right};
        memcpy(&weight[4 * slice], of_slice, (dimensions > 1 ? 4 : 2) * sizeof *weight);
    }
}

/* Reads a texel of a cube that may be beyond one of the face's edges. */
static bool read_across(struct exec_context *cx, const struct exec_texture *t, unsigned level,
                        const struct exec_sample *s, const int64_t number[3], unsigned lane, struct exec_value *value) {
    uint32_t size = exec_level_size(t->width, level), slice = s->slice;
    int64_t x = number[0], y = number[1];
    if (x < 0 || x >= size || y < 0 || y >= size)
        slice = slice / 6 * 6 + exec_cube_neighbour(slice % 6, size, &x, &y);
    struct exec_texel_place place = {(uint32_t)x, (uint32_t)y, slice};
    return exec_texel_read(cx, t, level, place, lane, value);
}

/* At a corner of a cube: divides the weight of the texel that does not exist. The two beyond the edges get a third
 * each, rounded, and the one on the face gets the rest. */
static void divide_corner(const struct exec_blend blend[3], uint32_t size, uint32_t weight[4]) {
    bool is_left = blend[0].first < 0, is_right = blend[0].first >= (int64_t)size - 1;
    bool is_above = blend[1].first < 0, is_below = blend[1].first >= (int64_t)size - 1;
    if ((!is_left && !is_right) || (!is_above && !is_below))
        return;
    unsigned missing = (is_left ? 0u : 1u) + (is_above ? 0u : 2u);
    uint32_t whole = weight[missing], third = (whole + 1) / 3;
    weight[missing] = 0;
    weight[missing ^ 1] += third;
    weight[missing ^ 2] += third;
    weight[missing ^ 3] += whole - 2 * third;
}

bool exec_add_corners(struct exec_context *cx, const struct exec_texture *t, unsigned level,
                      const struct exec_sample *s, uint32_t whole, unsigned lane, struct exec_corners *corners) {
    struct exec_blend blend[3] = {{0}};
    for (unsigned k = 0; k < s->dimensions; k++) {
        struct exec_axis axis = axis_of(t, level, k);
        blend[k] = t->is_linear ? exec_blend_texels(axis, s->coordinate[k])
                                : (struct exec_blend){exec_nearest_texel(axis, s->coordinate[k]), 0};
        blend[k].first += s->offset[k];
        if (t->is_linear && !s->crosses_edges)
            blend[k] = exec_clamp_blend(axis, blend[k]);
    }
    corner_weights(blend, s->dimensions, whole, &corners->weight[corners->n]);
    if (s->crosses_edges)
        divide_corner(blend, exec_level_size(t->width, level), &corners->weight[corners->n]);
    uint8_t plane = corners->n ? (uint8_t)(corners->plane[corners->n - 1] + 1) : 0;
    for (unsigned corner = 0; corner < 1u << s->dimensions; corner++) {
        int64_t number[3] = {0};
        for (unsigned k = 0; k < s->dimensions; k++)
            number[k] = blend[k].first + (corner >> k & 1);
        struct exec_value *value = &corners->value[corners->n];
        bool is_read = corners->weight[corners->n] != 0;
        if (is_read &&
            !(s->crosses_edges ? read_across(cx, t, level, s, number, lane, value)
                               : exec_sample_texel(cx, t, level, s->dimensions, number, s->slice, lane, value)))
            return false;
        corners->plane[corners->n++] = (uint8_t)(plane + corner / 4);
    }
    return true;
}

bool exec_sample_four(struct exec_context *cx, const struct exec_texture *t, const struct exec_sample *s,
                      unsigned component, unsigned lane, struct exec_value *value) {
    static const uint8_t right[4] = {0, 1, 1, 0}, lower[4] = {1, 1, 0, 0};
    struct exec_blend blend[2];
    struct exec_value four;
    for (unsigned k = 0; k < 2; k++)
        blend[k] = exec_blend_texels(axis_of(t, 0, k), s->coordinate[k]);
    blend[0].first += s->offset[0];
    blend[1].first += s->offset[1];
    for (unsigned i = 0; i < 4; i++) {
        struct exec_value texel;
        const int64_t number[3] = {blend[0].first + right[i], blend[1].first + lower[i], 0};
        if (!exec_sample_texel(cx, t, 0, 2, number, s->slice, lane, &texel))
            return false;
        four.channel[i] = texel.channel[component];
    }
    *value = four;
    return true;
}
