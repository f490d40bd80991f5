/* tex, tld4, txq and suq: decodes their operands and reads.
 *
 * Sources: the handle, the layer if there is one, the coordinates, then the level or the derivatives by x and by y.
 * Offsets in texels come last. Sources that do not fit into an instruction are its extra operands. A fifth destination
 * is the predicate that says whether the texels were resident, which they always are. Left out: multisampled textures,
 * depth comparison. */
#include "exec/texture/texture.h"

#include "exec/float_bits.h"
#include "exec/program/link.h"
#include "exec/run/run.h"

const struct exec_geometry_info exec_geometry_info[EXEC_N_GEOMETRIES] = {
    [EXEC_GEOMETRY_1D] = {1, 0, 0},   [EXEC_GEOMETRY_2D] = {2, 0, 0},  [EXEC_GEOMETRY_3D] = {3, 0, 0},
    [EXEC_GEOMETRY_A1D] = {1, 1, 0},  [EXEC_GEOMETRY_A2D] = {2, 1, 0}, [EXEC_GEOMETRY_CUBE] = {3, 0, 1},
    [EXEC_GEOMETRY_ACUBE] = {3, 1, 1}};

const struct exec_texture *exec_texture_of(struct exec_context *cx, uint64_t handle, unsigned lane) {
    const struct exec_memory *memory = cx->grid->memory;
    const struct exec_texture *texture = memory->texture ? memory->texture(memory->user, handle) : NULL;
    if (!texture)
        exec_fault_set(cx, EXEC_FAULT_BAD_TEXTURE, lane, handle, 0, "no texture or surface object has handle 0x%llx",
                       (unsigned long long)handle);
    return texture;
}

/* ---- Operands --------------------------------------------------------------------------------------------------- */

static enum exec_geometry geometry_of(const struct exec_operands *o) {
    return (enum exec_geometry)(o->imm & EXEC_TEXTURE_GEOMETRY);
}

/* The k-th source after the handle, of one lane. */
static uint32_t source(const struct exec_context *cx, const struct exec_operands *o, unsigned k, unsigned lane) {
    unsigned n = cx->insn->n_src;
    return k + 1 < n ? ((const uint32_t *)o->src[k + 1])[lane] : exec_extra_value(cx, k + 1 - n, lane);
}

/* The number of sources after the handle. */
static unsigned n_sources(const struct exec_context *cx) {
    uint32_t extra = cx->insn->extra;
    return cx->insn->n_src - 1u + (extra ? cx->grid->program->extra[extra - 1].n : 0);
}

static void read_floats(const struct exec_context *cx, const struct exec_operands *o, unsigned first, unsigned n,
                        unsigned lane, float *to) {
    for (unsigned k = 0; k < n; k++)
        to[k] = exec_bits_float(source(cx, o, first + k, lane));
}

static uint32_t n_layers(const struct exec_texture *t, bool is_cube) {
    return is_cube ? t->layers / 6 : t->layers ? t->layers : 1;
}

/* Layers beyond the last one read the last one. */
static uint32_t layer_of(const struct exec_texture *t, uint32_t layer, bool is_cube) {
    uint32_t n = n_layers(t, is_cube);
    return layer < n ? layer : n - 1;
}

/* Number of sources up to the last coordinate, without the handle. */
static unsigned n_coordinates(struct exec_geometry_info info) { return info.has_layer + info.dimensions; }

/* Returns a lane's sample: its coordinates, on a face if the texture is a cube. */
static struct exec_sample sample_of(const struct exec_context *cx, const struct exec_operands *o,
                                    const struct exec_texture *t, unsigned lane) {
    struct exec_geometry_info info = exec_geometry_info[geometry_of(o)];
    struct exec_sample s = {.dimensions = info.dimensions};
    uint32_t layer = info.has_layer ? layer_of(t, source(cx, o, 0, lane), info.is_cube) : 0;
    read_floats(cx, o, info.has_layer, info.dimensions, lane, s.coordinate);
    s.slice = layer;
    if (info.is_cube) {
        const float direction[3] = {s.coordinate[0], s.coordinate[1], s.coordinate[2]};
        s.slice = 6 * layer + exec_cube_face(direction, s.coordinate);
        s.dimensions = 2;
        s.crosses_edges = t->is_seamless && t->is_linear;
    }
    if (o->imm & EXEC_TEXTURE_HAS_OFFSET)
        for (unsigned k = 0; k < info.dimensions; k++)
            s.offset[k] = (int32_t)source(cx, o, n_sources(cx) - info.dimensions + k, lane);
    if (s.dimensions == 1 && !info.has_layer && !t->is_buffer) { /* a plane of one line */
        s.dimensions = 2;
        s.coordinate[1] = 0;
    }
    return s;
}

static uint16_t half_of(const struct exec_value *value, unsigned k) {
    return exec_float_to_half(exec_bits_float(value->channel[k]));
}

/* Writes words, or with EXEC_TEXTURE_HALVES four halves, or two pairs of them. */
static void write_value(const struct exec_context *cx, const struct exec_operands *o, unsigned lane,
                        const struct exec_value *value) {
    bool are_halves = o->imm & EXEC_TEXTURE_HALVES, are_pairs = are_halves && cx->insn->n_dst < 4;
    for (unsigned k = 0; k < (are_pairs ? 2u : 4u); k++)
        if (are_pairs)
            ((uint32_t *)o->dst[k])[lane] = half_of(value, 2 * k) | (uint32_t)half_of(value, 2 * k + 1) << 16;
        else if (are_halves)
            ((uint16_t *)o->dst[k])[lane] = half_of(value, k);
        else if (o->dst[k])
            ((uint32_t *)o->dst[k])[lane] = value->channel[k];
}

/* ---- Accesses --------------------------------------------------------------------------------------------------- */

typedef bool read_fn(struct exec_context *cx, const struct exec_operands *o, const struct exec_texture *t,
                     unsigned lane, struct exec_value *value);

/* Works lane by lane: a destination may be the same register as a coordinate. A lane's address is that of its first
 * texel. */
EXEC_INLINE void for_lanes(struct exec_context *cx, const struct exec_operands *o, read_fn *read) {
    const uint64_t *handle = o->src[0];
    const struct exec_texture *t = NULL;
    uint64_t found = 0; /* the handle of t */
    EXEC_FOR_ACTIVE(l, o->mask) {
        struct exec_value value;
        if (!t || handle[l] != found) {
            t = exec_texture_of(cx, handle[l], l);
            if (!t)
                return;
            found = handle[l];
            cx->texel_bytes = exec_texel_bytes(t);
        }
        cx->address[l] = 0;
        if (!read(cx, o, t, l, &value))
            return;
        if (!cx->address[l])
            cx->address[l] = t->address; /* a border has no texel to read */
        write_value(cx, o, l, &value);
    }
    if (cx->insn->n_dst == 5)
        exec_write_predicate(o->dst[4], EXEC_FULL_MASK, o->mask);
}

static bool fetch_level(struct exec_context *cx, const struct exec_operands *o, const struct exec_texture *t,
                        unsigned lane, unsigned level, struct exec_value *value) {
    struct exec_geometry_info info = exec_geometry_info[geometry_of(o)];
    unsigned dimensions = info.dimensions == 2 && !t->height ? 1 : info.dimensions;
    uint32_t layer = info.has_layer ? source(cx, o, 0, lane) : 0;
    const uint32_t size[3] = {t->width, t->height, t->depth};
    int64_t number[3] = {0};
    bool is_inside = t->is_buffer || geometry_of(o) != EXEC_GEOMETRY_1D; /* here tex.1d reads only linear memory */
    is_inside &= layer < n_layers(t, false);
    for (unsigned k = 0; k < dimensions; k++) {
        number[k] = (int32_t)source(cx, o, info.has_layer + k, lane);
        if (o->imm & EXEC_TEXTURE_HAS_OFFSET)
            number[k] += (int32_t)source(cx, o, n_sources(cx) - info.dimensions + k, lane);
        is_inside &= number[k] >= 0 && number[k] < exec_level_size(size[k], level);
    }
    *value = (struct exec_value){{0}};
    return !is_inside || exec_sample_texel(cx, t, level, dimensions, number, layer, lane, value);
}

static bool fetch(struct exec_context *cx, const struct exec_operands *o, const struct exec_texture *t, unsigned lane,
                  struct exec_value *value) {
    return fetch_level(cx, o, t, lane, 0, value);
}

static bool fetch_at_level(struct exec_context *cx, const struct exec_operands *o, const struct exec_texture *t,
                           unsigned lane, struct exec_value *value) {
    uint32_t level = source(cx, o, n_coordinates(exec_geometry_info[geometry_of(o)]), lane);
    uint32_t last = t->n_levels ? t->n_levels - 1 : 0;
    return fetch_level(cx, o, t, lane, (int32_t)level < 0 ? 0 : level < last ? level : last, value);
}

static bool sample(struct exec_context *cx, const struct exec_operands *o, const struct exec_texture *t, unsigned lane,
                   struct exec_value *value) {
    struct exec_sample s = sample_of(cx, o, t, lane);
    return exec_sample_at_level(cx, t, &s, 0, lane, value);
}

static bool sample_at_level(struct exec_context *cx, const struct exec_operands *o, const struct exec_texture *t,
                            unsigned lane, struct exec_value *value) {
    struct exec_sample s = sample_of(cx, o, t, lane);
    float level;
    read_floats(cx, o, n_coordinates(exec_geometry_info[geometry_of(o)]), 1, lane, &level);
    return exec_sample_at_level(cx, t, &s, level, lane, value);
}

static bool sample_at_slopes(struct exec_context *cx, const struct exec_operands *o, const struct exec_texture *t,
                             unsigned lane, struct exec_value *value) {
    struct exec_geometry_info info = exec_geometry_info[geometry_of(o)];
    struct exec_sample s = sample_of(cx, o, t, lane);
    float by_x[3], by_y[3];
    read_floats(cx, o, n_coordinates(info), info.dimensions, lane, by_x);
    read_floats(cx, o, n_coordinates(info) + info.dimensions, info.dimensions, lane, by_y);
    float level;
    if (info.is_cube) {
        float direction[3];
        read_floats(cx, o, info.has_layer, 3, lane, direction);
        level = exec_level_of_directions(t, direction, by_x, by_y);
    } else {
        level = exec_level_of_slopes(t, info.dimensions, by_x, by_y);
    }
    return exec_sample_at_level(cx, t, &s, level, lane, value);
}

static bool gather(struct exec_context *cx, const struct exec_operands *o, const struct exec_texture *t, unsigned lane,
                   struct exec_value *value) {
    struct exec_sample s = sample_of(cx, o, t, lane);
    return exec_sample_four(cx, t, &s, o->imm >> EXEC_TEXTURE_COMPONENT_SHIFT & 3, lane, value);
}

#define ACT(name, read)                                                                                                \
    static void name(struct exec_context *cx, const struct exec_operands *o) { for_lanes(cx, o, read); }
ACT(tex_integer, fetch)
ACT(tex_integer_level, fetch_at_level)
ACT(tex_float, sample)
ACT(tex_level, sample_at_level)
ACT(tex_grad, sample_at_slopes)
ACT(tld4, gather)

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

static void query(struct exec_context *cx, const struct exec_operands *o, size_t field) {
    const uint64_t *handle = o->src[0];
    uint32_t *d = o->dst[0];
    EXEC_FOR_ACTIVE(l, o->mask) {
        const struct exec_texture *t = exec_texture_of(cx, handle[l], l);
        if (!t)
            return;
        cx->address[l] = t->address;
        cx->texel_bytes = 4;
        memcpy(&d[l], (const char *)t + field, sizeof *d);
    }
}

#define QUERY(name, field)                                                                                             \
    static void name(struct exec_context *cx, const struct exec_operands *o) {                                         \
        query(cx, o, offsetof(struct exec_texture, field));                                                            \
    }
/* The size of a level: the second source. */
static void query_level(struct exec_context *cx, const struct exec_operands *o, size_t field) {
    query(cx, o, field);
    uint32_t *d = o->dst[0];
    const int32_t *level = o->src[1];
    EXEC_FOR_ACTIVE(l, o->mask) d[l] = level[l] < 0 || level[l] > 31 ? 0 : exec_level_size(d[l], (unsigned)level[l]);
}

#define QUERY_LEVEL(name, field)                                                                                       \
    static void name(struct exec_context *cx, const struct exec_operands *o) {                                         \
        query_level(cx, o, offsetof(struct exec_texture, field));                                                      \
    }
QUERY_LEVEL(query_level_width, width)
QUERY_LEVEL(query_level_height, height)
QUERY_LEVEL(query_level_depth, depth)
QUERY(query_width, width)
QUERY(query_height, height)
QUERY(query_depth, depth)
QUERY(query_layers, layers)
QUERY(query_levels, n_levels)

static exec_act_fn *select_query(const struct exec_form *form) {
    static const struct {
        enum ptx_modifier what;
        exec_act_fn *act, *of_level;
    } queries[] = {{PTX_MOD_WIDTH, query_width, query_level_width},
                   {PTX_MOD_HEIGHT, query_height, query_level_height},
                   {PTX_MOD_DEPTH, query_depth, query_level_depth},
                   {PTX_MOD_ARRAY_SIZE, query_layers, NULL},
                   {PTX_MOD_NUM_MIPMAP_LEVELS, query_levels, NULL}};
    bool has_level = ptx_has(form->insn, PTX_MOD_LEVEL);
    if (form->dst_bits[0] != 32 || form->src_bits[0] != 64 || form->n_src != 1u + has_level)
        return NULL;
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        if (ptx_has(form->insn, queries[i].what))
            return has_level ? queries[i].of_level : queries[i].act;
    return NULL;
}

/* ---- Selection -------------------------------------------------------------------------------------------------- */

bool exec_texture_geometry(const struct ptx_instruction *insn, enum exec_geometry *geometry) {
    static const struct {
        enum ptx_modifier modifier;
        enum exec_geometry geometry;
    } all[] = {{PTX_MOD_D1, EXEC_GEOMETRY_1D},      {PTX_MOD_D2, EXEC_GEOMETRY_2D},
               {PTX_MOD_D3, EXEC_GEOMETRY_3D},      {PTX_MOD_A1D, EXEC_GEOMETRY_A1D},
               {PTX_MOD_A2D, EXEC_GEOMETRY_A2D},    {PTX_MOD_CUBE, EXEC_GEOMETRY_CUBE},
               {PTX_MOD_ACUBE, EXEC_GEOMETRY_ACUBE}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (ptx_has(insn, all[i].modifier)) {
            *geometry = all[i].geometry;
            return true;
        }
    return false;
}

/* The operands before offsets: the texels, the texture with its coordinates, a level or two derivatives. */
static unsigned n_operands(const struct ptx_instruction *insn) {
    return 2u + ptx_has(insn, PTX_MOD_LEVEL) + 2u * ptx_has(insn, PTX_MOD_GRAD);
}

static bool has_offset(const struct ptx_instruction *insn) {
    bool may_have = insn->opcode == PTX_OP_TEX || insn->opcode == PTX_OP_TLD4;
    return may_have && insn->n_operands == n_operands(insn) + 1;
}

uint32_t exec_texture_imm(const struct ptx_instruction *insn) {
    enum exec_geometry geometry = EXEC_GEOMETRY_1D;
    exec_texture_geometry(insn, &geometry);
    uint32_t component = ptx_has(insn, PTX_MOD_G) ? 1 : ptx_has(insn, PTX_MOD_B) ? 2 : ptx_has(insn, PTX_MOD_A) ? 3 : 0;
    bool are_halves = insn->n_types == 2 && (insn->type[0] == PTX_F16 || insn->type[0] == PTX_F16X2);
    return (uint32_t)geometry | component << EXEC_TEXTURE_COMPONENT_SHIFT | (are_halves ? EXEC_TEXTURE_HALVES : 0u) |
           (has_offset(insn) ? EXEC_TEXTURE_HAS_OFFSET : 0u);
}

unsigned exec_texture_coordinates(const struct ptx_instruction *insn) {
    enum exec_geometry geometry = EXEC_GEOMETRY_1D;
    exec_texture_geometry(insn, &geometry);
    return n_coordinates(exec_geometry_info[geometry]);
}

/* Four words, or the same in halves, and the predicate. */
static bool has_right_results(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    unsigned n = insn->type[0] == PTX_F16X2 ? 2 : 4;
    bool has_predicate = form->n_dst == n + 1u && n == 4;
    for (unsigned k = 0; k < n && k < form->n_dst; k++)
        if (form->dst_bits[k] != ptx_type_bits(insn->type[0]))
            return false;
    return insn->n_types == 2 && (form->n_dst == n || has_predicate) && ptx_type_bits(insn->type[1]) == 32 &&
           form->src_bits[0] == 64;
}

static exec_act_fn *select_tex(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    enum exec_geometry geometry;
    bool has_level = ptx_has(insn, PTX_MOD_LEVEL), has_slopes = ptx_has(insn, PTX_MOD_GRAD);
    if (!exec_texture_geometry(insn, &geometry) || !has_right_results(form) || insn->n_operands > n_operands(insn) + 1)
        return NULL;
    bool is_cube = exec_geometry_info[geometry].is_cube;
    if (is_cube && has_offset(insn))
        return NULL;
    if (insn->type[1] == PTX_S32)
        return is_cube || has_slopes ? NULL : has_level ? tex_integer_level : tex_integer;
    return insn->type[1] != PTX_F32 ? NULL : has_level ? tex_level : has_slopes ? tex_grad : tex_float;
}

static exec_act_fn *select_tld4(const struct exec_form *form) {
    enum exec_geometry geometry;
    if (!exec_texture_geometry(form->insn, &geometry) || !has_right_results(form) || form->insn->n_operands > 3 ||
        form->insn->type[1] != PTX_F32)
        return NULL;
    return exec_geometry_info[geometry].dimensions == 2 ? tld4 : NULL;
}

exec_act_fn *exec_select_texture(const struct exec_form *form) {
    switch (form->insn->opcode) {
    case PTX_OP_TEX:
        return select_tex(form);
    case PTX_OP_TLD4:
        return select_tld4(form);
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
        return select_query(form);
    case PTX_OP_SULD:
    case PTX_OP_SUST:
        return exec_select_surface(form);
    case PTX_OP_SURED:
        return exec_select_surface_reduction(form);
    default:
        return NULL;
    }
}
