/* Textures and surfaces: tex, suld, sust, txq, suq in one and two dimensions.
 *
 * From the PTX ISA manual and, for filtering, the CUDA C++ Programming Guide ("Texture Fetching"): a nearest fetch
 * takes texel floor(x); a linear one blends the texels around x - 0.5 with weights of 8 fraction bits. Wrapping and
 * mirroring work on normalised coordinates only and mean clamping otherwise. Texel values are 32-bit register contents:
 * floating-point texels and normalised integers as f32, other integers extended. Channels that the format lacks read as
 * 0, 0, 1. Integer coordinates outside linear memory read 0. Left out: three dimensions, arrays, cubes, mip
 * levels, gradients, half-precision results. */
#include "exec/float_bits.h"
#include "exec/internal.h"

const struct exec_texture *exec_texture_of(struct exec_context *cx, uint64_t handle, unsigned lane) {
    const struct exec_memory *memory = cx->grid->memory;
    const struct exec_texture *texture = memory->texture ? memory->texture(memory->user, handle) : NULL;
    if (!texture)
        exec_fault_set(cx, EXEC_FAULT_BAD_TEXTURE, lane, handle, 0, "no texture or surface object has handle 0x%llx",
                       (unsigned long long)handle);
    return texture;
}

static unsigned channel_bytes(enum exec_texel texel) {
    switch (texel) {
    case EXEC_TEXEL_U8:
    case EXEC_TEXEL_S8:
        return 1;
    case EXEC_TEXEL_U16:
    case EXEC_TEXEL_S16:
    case EXEC_TEXEL_F16:
        return 2;
    default:
        return 4;
    }
}

unsigned exec_texel_bytes(const struct exec_texture *t) { return channel_bytes(t->texel) * t->channels; }

static uint64_t texel_address(const struct exec_texture *t, uint32_t x, uint32_t y) {
    return t->address + y * t->pitch + (uint64_t)x * exec_texel_bytes(t);
}

static bool reads_float(const struct exec_texture *t) {
    return t->texel == EXEC_TEXEL_F16 || t->texel == EXEC_TEXEL_F32 || t->reads_normalized;
}

/* Returns a channel's value as the bits of a 32-bit register. */
static uint32_t channel_value(const struct exec_texture *t, const unsigned char *p) {
    uint32_t raw = 0;
    memcpy(&raw, p, channel_bytes(t->texel));
    bool is_normalized = t->reads_normalized;
    switch (t->texel) {
    case EXEC_TEXEL_U8:
        return is_normalized ? exec_float_bits((float)raw / 255.0f) : raw;
    case EXEC_TEXEL_U16:
        return is_normalized ? exec_float_bits((float)raw / 65535.0f) : raw;
    case EXEC_TEXEL_S8: {
        int8_t value = (int8_t)raw;
        return is_normalized ? exec_float_bits(fmaxf((float)value / 127.0f, -1.0f)) : (uint32_t)(int32_t)value;
    }
    case EXEC_TEXEL_S16: {
        int16_t value = (int16_t)raw;
        return is_normalized ? exec_float_bits(fmaxf((float)value / 32767.0f, -1.0f)) : (uint32_t)(int32_t)value;
    }
    case EXEC_TEXEL_F16:
        return exec_float_bits(exec_half_to_float((uint16_t)raw));
    default:
        return raw;
    }
}

struct texel {
    uint32_t channel[4];
};

static struct texel blank_texel(const struct exec_texture *t) {
    return (struct texel){{0, 0, 0, t->channels == 4 ? 0 : reads_float(t) ? 0x3f800000u : 1u}};
}

static struct texel border_texel(const struct exec_texture *t) {
    struct texel texel;
    for (unsigned k = 0; k < 4; k++)
        texel.channel[k] = reads_float(t) ? exec_float_bits(t->border[k]) : (uint32_t)(int64_t)t->border[k];
    return texel;
}

static bool read_texel(struct exec_context *cx, const struct exec_texture *t, uint32_t x, uint32_t y, unsigned lane,
                       struct texel *texel) {
    unsigned size = channel_bytes(t->texel);
    const unsigned char *p = exec_global(cx, texel_address(t, x, y), exec_texel_bytes(t), lane);
    *texel = blank_texel(t);
    for (unsigned k = 0; p && k < t->channels; k++)
        texel->channel[k] = channel_value(t, p + (size_t)k * size);
    return p != NULL;
}

/* Applies an addressing mode to index i, for a size of `size` texels. Returns false when the result is the border. */
static bool wrap_index(enum exec_wrap wrap, int64_t i, uint32_t size, uint32_t *index) {
    int64_t n = size;
    switch (wrap) {
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
    *index = (uint32_t)i;
    return true;
}

static enum exec_wrap wrap_of(const struct exec_texture *t, unsigned axis) {
    bool folds = t->wrap[axis] == EXEC_WRAP_REPEAT || t->wrap[axis] == EXEC_WRAP_MIRROR;
    return folds && !t->is_normalized_coords ? EXEC_WRAP_CLAMP : t->wrap[axis];
}

static uint32_t height_of(const struct exec_texture *t) { return t->height ? t->height : 1; }

static bool fetch(struct exec_context *cx, const struct exec_texture *t, int64_t x, int64_t y, unsigned lane,
                  struct texel *texel) {
    uint32_t column, line;
    if (t->is_buffer && (x < 0 || x >= t->width)) {
        *texel = blank_texel(t);
        return true;
    }
    if (!wrap_index(wrap_of(t, 0), x, t->width, &column) || !wrap_index(wrap_of(t, 1), y, height_of(t), &line)) {
        *texel = border_texel(t);
        return true;
    }
    return read_texel(cx, t, column, line, lane, texel);
}

/* Returns a coordinate in texels, limited to values that convert to an integer. NaN becomes 0. */
static double scaled(const struct exec_texture *t, float coordinate, uint32_t size) {
    double x = t->is_normalized_coords ? (double)coordinate * size : (double)coordinate;
    return isnan(x) ? 0 : fmin(fmax(x, -0x1p40), 0x1p40);
}

struct blend {
    int64_t first;
    float weight; /* of the texel after `first`, a multiple of 1/256 */
};

static struct blend blend_at(double x) {
    double steps = floor((x - 0.5) * 256 + 0.5);
    double first = floor(steps / 256);
    return (struct blend){(int64_t)first, (float)(steps - first * 256) / 256.0f};
}

static bool fetch_linear(struct exec_context *cx, const struct exec_texture *t, double x, double y, unsigned lane,
                         struct texel *texel) {
    struct blend across = blend_at(x), down = t->height ? blend_at(y) : (struct blend){0, 0};
    float sum[4] = {0};
    for (unsigned corner = 0; corner < 4; corner++) {
        unsigned right = corner & 1, below = corner >> 1;
        float weight = (right ? across.weight : 1 - across.weight) * (below ? down.weight : 1 - down.weight);
        if (weight == 0)
            continue;
        if (!fetch(cx, t, across.first + right, down.first + below, lane, texel))
            return false;
        for (unsigned k = 0; k < 4; k++)
            sum[k] += weight * exec_bits_float(texel->channel[k]);
    }
    for (unsigned k = 0; k < 4; k++)
        texel->channel[k] = exec_float_bits(sum[k]);
    return true;
}

static void write_texel(const struct exec_operands *o, unsigned lane, const struct texel *texel) {
    for (unsigned k = 0; k < 4; k++)
        if (o->dst[k])
            ((uint32_t *)o->dst[k])[lane] = texel->channel[k];
}

/* Works lane by lane: a destination may be the same register as a coordinate. */
static void tex_integer(struct exec_context *cx, const struct exec_operands *o) {
    const uint64_t *handle = o->src[0];
    EXEC_FOR_ACTIVE(l, o->mask) {
        struct texel texel;
        const struct exec_texture *t = exec_texture_of(cx, handle[l], l);
        if (!t)
            return;
        int32_t x = ((const int32_t *)o->src[1])[l], y = o->imm > 1 && t->height ? ((const int32_t *)o->src[2])[l] : 0;
        cx->address[l] = t->address;
        if (!fetch(cx, t, x, y, l, &texel))
            return;
        write_texel(o, l, &texel);
    }
}

static void tex_float(struct exec_context *cx, const struct exec_operands *o) {
    const uint64_t *handle = o->src[0];
    EXEC_FOR_ACTIVE(l, o->mask) {
        struct texel texel;
        const struct exec_texture *t = exec_texture_of(cx, handle[l], l);
        if (!t)
            return;
        double x = scaled(t, ((const float *)o->src[1])[l], t->width);
        double y = o->imm > 1 && t->height ? scaled(t, ((const float *)o->src[2])[l], t->height) : 0;
        cx->address[l] = t->address;
        bool is_linear = t->is_linear && reads_float(t) && !t->is_buffer;
        if (!(is_linear ? fetch_linear(cx, t, x, y, l, &texel)
                        : fetch(cx, t, (int64_t)floor(x), (int64_t)floor(y), l, &texel)))
            return;
        write_texel(o, l, &texel);
    }
}

static unsigned n_dimensions(const struct ptx_instruction *insn) {
    return ptx_has(insn, PTX_MOD_D1) ? 1 : ptx_has(insn, PTX_MOD_D2) ? 2 : 0;
}

static exec_act_fn *select_tex(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    unsigned n = n_dimensions(insn);
    bool has_level = ptx_has(insn, PTX_MOD_LEVEL) || ptx_has(insn, PTX_MOD_GRAD) || ptx_has(insn, PTX_MOD_BASE);
    if (n == 0 || has_level || insn->n_types != 2 || form->n_dst != 4 || form->n_src < 1 + n)
        return NULL;
    for (unsigned k = 0; k < 4; k++)
        if (form->dst_bits[k] != 32 && form->dst_bits[k] != 0)
            return NULL;
    if (ptx_type_bits(insn->type[0]) != 32 || ptx_type_bits(insn->type[1]) != 32 || form->src_bits[0] != 64)
        return NULL;
    return insn->type[1] == PTX_F32 ? tex_float : insn->type[1] == PTX_S32 ? tex_integer : NULL;
}

/* Queries */

static void query(struct exec_context *cx, const struct exec_operands *o, bool wants_height) {
    const uint64_t *handle = o->src[0];
    uint32_t *d = o->dst[0];
    EXEC_FOR_ACTIVE(l, o->mask) {
        const struct exec_texture *t = exec_texture_of(cx, handle[l], l);
        if (!t)
            return;
        d[l] = wants_height ? t->height : t->width;
    }
}

static void query_width(struct exec_context *cx, const struct exec_operands *o) { query(cx, o, false); }

static void query_height(struct exec_context *cx, const struct exec_operands *o) { query(cx, o, true); }

static exec_act_fn *select_query(const struct exec_form *form) {
    if (form->dst_bits[0] != 32 || form->src_bits[0] != 64 || ptx_has(form->insn, PTX_MOD_LEVEL))
        return NULL;
    return ptx_has(form->insn, PTX_MOD_WIDTH) ? query_width : ptx_has(form->insn, PTX_MOD_HEIGHT) ? query_height : NULL;
}

exec_act_fn *exec_select_texture(const struct exec_form *form) {
    switch (form->insn->opcode) {
    case PTX_OP_TEX:
        return select_tex(form);
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
        return select_query(form);
    case PTX_OP_SULD:
    case PTX_OP_SUST:
        return exec_select_surface(form);
    default:
        return NULL;
    }
}
