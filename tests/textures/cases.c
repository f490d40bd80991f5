/* The list of cases. */
#include "case.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const geometry_names[N_GEOMETRIES] = {"linear", "pitch", "1d",   "2d",   "3d",
                                                         "a1d",    "a2d",   "cube", "acube"};
static const char *const wrap_names[] = {"wrap", "clamp", "mirror", "border"};

static const struct format {
    CUarray_format format;
    const char *name;
    unsigned bytes;
    bool is_float;
} formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, "u8", 1, false},
    {CU_AD_FORMAT_SIGNED_INT8, "s8", 1, false},
    {CU_AD_FORMAT_UNSIGNED_INT16, "u16", 2, false},
    {CU_AD_FORMAT_SIGNED_INT16, "s16", 2, false},
    {CU_AD_FORMAT_UNSIGNED_INT32, "u32", 4, false},
    {CU_AD_FORMAT_SIGNED_INT32, "s32", 4, false},
    {CU_AD_FORMAT_HALF, "f16", 2, true},
    {CU_AD_FORMAT_FLOAT, "f32", 4, true},
};
enum { N_FORMATS = sizeof formats / sizeof formats[0], F16 = 6, F32 = 7 };
static const unsigned filtered_formats[] = {0, 1, 2, 3, F16, F32};
enum { N_FILTERED = sizeof filtered_formats / sizeof filtered_formats[0] };

static const struct format *format_of(const struct texture_case *c) {
    for (unsigned i = 0; i < N_FORMATS; i++)
        if (formats[i].format == c->format)
            return &formats[i];
    abort();
}

unsigned case_texel_bytes(const struct texture_case *c) { return format_of(c)->bytes * c->channels; }
bool case_reads_float(const struct texture_case *c) { return format_of(c)->is_float || c->reads_fractions; }
bool case_has_layers(const struct texture_case *c) {
    return c->geometry == A1D || c->geometry == A2D || c->geometry == ACUBE;
}
bool case_is_cube(const struct texture_case *c) { return c->geometry == CUBE || c->geometry == ACUBE; }
unsigned case_levels(const struct texture_case *c) { return c->is_mipmapped ? CASE_LEVELS : 1; }

unsigned case_dimensions(const struct texture_case *c) {
    static const unsigned n[N_GEOMETRIES] = {1, 2, 1, 2, 3, 1, 2, 3, 3};
    return n[c->geometry];
}

struct extent case_extent(const struct texture_case *c, unsigned level) {
    static const struct extent whole[N_GEOMETRIES] = {{{61, 1, 1}, 1}, {{13, 7, 1}, 1}, {{13, 1, 1}, 1},
                                                      {{13, 7, 1}, 1}, {{13, 7, 5}, 1}, {{13, 1, 1}, 3},
                                                      {{13, 7, 1}, 3}, {{8, 8, 1}, 6},  {{8, 8, 1}, 12}};
    struct extent e = whole[c->geometry];
    if (c->width)
        e.size[0] = c->width;
    for (unsigned axis = 0; axis < 3; axis++)
        e.size[axis] = e.size[axis] >> level ? e.size[axis] >> level : 1;
    return e;
}

/* ---- Making the list -------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void add(struct case_list *list, struct texture_case c, const char *format,
                                                      ...) {
    char more[CASE_NAME / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(more, sizeof more, format, arguments);
    va_end(arguments);
    static const char *const operations[] = {"tex", "tex", "level", "grad", "tld4", "suld", "sust"};
    snprintf(c.name, sizeof c.name, "%s.%s %s%s x%u %s", operations[c.operation], geometry_names[c.geometry],
             format_of(&c)->name, c.reads_fractions ? "/1" : "", c.channels, more);
    struct texture_case *grown = realloc(list->item, (list->n + 1) * sizeof *grown);
    if (!grown)
        abort();
    list->item = grown;
    list->item[list->n++] = c;
}

static struct texture_case make(enum operation operation, enum geometry geometry, unsigned format, unsigned channels) {
    return (struct texture_case){.operation = operation,
                                 .geometry = geometry,
                                 .format = formats[format].format,
                                 .channels = channels,
                                 .wrap = CU_TR_ADDRESS_MODE_CLAMP,
                                 .max_level = 99};
}

static void add_fetches(struct case_list *list) {
    static const enum geometry geometries[] = {LINEAR, PITCH, D1, D2, D3, A1D, A2D};
    for (unsigned g = 0; g < sizeof geometries / sizeof geometries[0]; g++)
        for (unsigned f = 0; f < N_FORMATS; f++)
            for (unsigned channels = 1; channels <= 4; channels *= 2) {
                struct texture_case c = make(FETCH, geometries[g], f, channels);
                bool is_main = geometries[g] == D2;
                if (!is_main && !(f == F32 && channels == 1) && !(f == 0 && channels == 4))
                    continue;
                add(list, c, "integer clamp");
                if (!is_main || channels == 2) {
                    c.wrap = CU_TR_ADDRESS_MODE_BORDER;
                    add(list, c, "integer border");
                }
                c.wrap = CU_TR_ADDRESS_MODE_CLAMP;
                if (f < 4 && is_main) {
                    c.reads_fractions = true;
                    add(list, c, "integer clamp");
                }
            }
}

static void add_samples(struct case_list *list, CUfilter_mode filter) {
    const char *name = filter == CU_TR_FILTER_MODE_LINEAR ? "linear" : "point";
    for (unsigned g = PITCH; g < N_GEOMETRIES; g++)
        for (unsigned k = 0; k < N_FILTERED; k++)
            for (unsigned wrap = 0; wrap < 4; wrap++)
                for (unsigned normalized = 0; normalized < 2; normalized++) {
                    unsigned f = filtered_formats[k];
                    bool is_flat = g == D1 || g == D2 || g == D3, is_cube = g == CUBE || g == ACUBE;
                    if (!normalized && (wrap == 0 || wrap == 2))
                        continue; /* they need normalised coordinates */
                    if (is_cube && (!normalized || wrap != 1))
                        continue;
                    if (f != F32 && (!is_flat || filter == CU_TR_FILTER_MODE_POINT) && !(wrap == 1 && f == 0))
                        continue;
                    struct texture_case c = make(SAMPLE, (enum geometry)g, f, f == 0 ? 4 : 1);
                    c.wrap = (CUaddress_mode)wrap;
                    c.filter = filter;
                    c.normalized = normalized;
                    c.reads_fractions = !formats[f].is_float;
                    add(list, c, "%s %s%s", name, wrap_names[wrap], normalized ? " normalized" : "");
                }
}

static void add_special_samples(struct case_list *list) {
    for (unsigned mode = 0; mode < 2; mode++) {
        struct texture_case cube = make(SAMPLE, mode ? ACUBE : CUBE, F32, 1);
        cube.filter = CU_TR_FILTER_MODE_LINEAR;
        cube.normalized = cube.is_seamless = true;
        add(list, cube, "linear clamp normalized seamless");
        struct texture_case srgb = make(SAMPLE, D2, 0, 4);
        srgb.filter = mode ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
        srgb.reads_fractions = srgb.is_srgb = true;
        add(list, srgb, "%s clamp srgb", mode ? "linear" : "point");
    }
}

/* Coordinates of other precision: from few texels to many. */
static void add_widths(struct case_list *list) {
    static const unsigned widths[] = {2, 3, 100, 1000, 16384};
    for (unsigned i = 0; i < sizeof widths / sizeof widths[0]; i++)
        for (unsigned filter = 0; filter < 2; filter++)
            for (unsigned mode = 0; mode < 4; mode++) {
                struct texture_case c = make(SAMPLE, i == 2 ? D2 : D1, F32, 1);
                c.width = widths[i];
                c.filter = (CUfilter_mode)filter;
                c.normalized = mode > 0;
                c.wrap = mode < 2    ? CU_TR_ADDRESS_MODE_CLAMP
                         : mode == 2 ? CU_TR_ADDRESS_MODE_WRAP
                                     : CU_TR_ADDRESS_MODE_MIRROR;
                add(list, c, "%s %s%s width %u", filter ? "linear" : "point", wrap_names[c.wrap],
                    c.normalized ? " normalized" : "", c.width);
            }
}

/* Filtered values of all magnitudes, infinities and NaNs. */
static void add_values(struct case_list *list) {
    static const enum geometry geometries[] = {D1, D2, D3};
    for (unsigned g = 0; g < 3; g++)
        for (unsigned f = F16; f <= F32; f++)
            for (unsigned texels = WIDE_RANGE; texels <= SPECIAL; texels++) {
                struct texture_case c = make(SAMPLE, geometries[g], f, 4);
                c.filter = CU_TR_FILTER_MODE_LINEAR;
                c.texels = (enum texels)texels;
                add(list, c, "linear clamp %s values", texels == SPECIAL ? "special" : "wide");
            }
}

static void add_levels(struct case_list *list, enum operation operation) {
    static const enum geometry geometries[] = {D1, D2, D3, A1D, A2D, CUBE, ACUBE};
    static const unsigned some_formats[] = {0, F16, F32};
    for (unsigned g = 0; g < sizeof geometries / sizeof geometries[0]; g++)
        for (unsigned k = 0; k < 3; k++)
            for (unsigned modes = 0; modes < 4; modes++) {
                struct texture_case c = make(operation, geometries[g], some_formats[k], 1);
                c.reads_fractions = !formats[some_formats[k]].is_float;
                c.filter = modes & 1 ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
                c.mip_filter = modes & 2 ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
                c.normalized = c.is_mipmapped = true;
                bool is_main = geometries[g] <= D3;
                if (!is_main && (some_formats[k] != F32 || modes == 1 || modes == 2))
                    continue;
                add(list, c, "%s, mip %s", modes & 1 ? "linear" : "point", modes & 2 ? "linear" : "point");
                if (geometries[g] != D2 || some_formats[k] != F32)
                    continue;
                c.bias = 0.75f;
                add(list, c, "%s, mip %s, bias", modes & 1 ? "linear" : "point", modes & 2 ? "linear" : "point");
                c.bias = 0;
                c.min_level = 0.625f;
                c.max_level = 2.125f;
                add(list, c, "%s, mip %s, limits", modes & 1 ? "linear" : "point", modes & 2 ? "linear" : "point");
            }
}

static void add_gathers(struct case_list *list) {
    for (unsigned f = 0; f < N_FORMATS; f++)
        for (unsigned wrap = 0; wrap < 4; wrap++)
            for (unsigned normalized = 0; normalized < 2; normalized++)
                for (unsigned k = 0; k < 4; k++) {
                    if (!normalized && (wrap == 0 || wrap == 2))
                        continue;
                    if (f != F32 && (k != 1 || wrap != 1 || !normalized))
                        continue;
                    if (k != 0 && wrap != 1)
                        continue;
                    struct texture_case c = make(GATHER, D2, f, 4);
                    c.wrap = (CUaddress_mode)wrap;
                    c.filter = formats[f].is_float ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
                    c.normalized = normalized;
                    c.component = "rgba"[k];
                    add(list, c, "%c %s%s", c.component, wrap_names[wrap], normalized ? " normalized" : "");
                }
}

static void add_surfaces(struct case_list *list) {
    static const enum geometry geometries[] = {D1, D2, D3, A1D, A2D};
    for (unsigned g = 0; g < sizeof geometries / sizeof geometries[0]; g++)
        for (unsigned bits = 8; bits <= 64; bits *= 2)
            for (unsigned vector = 1; vector <= 4; vector *= 2)
                for (unsigned mode = 0; mode < 3; mode++) {
                    bool is_store = mode == 2;
                    if (bits * vector > 128 || (geometries[g] != D2 && bits != 32))
                        continue;
                    struct texture_case c = make(is_store ? STORE : LOAD, geometries[g], F32, 4);
                    c.bits = bits;
                    c.vector = vector;
                    c.bounds = mode == 0 ? "clamp" : "zero";
                    add(list, c, "b%u x%u %s", bits, vector, c.bounds);
                }
}

struct case_list case_list_all(void) {
    struct case_list list = {0};
    add_fetches(&list);
    add_samples(&list, CU_TR_FILTER_MODE_POINT);
    add_samples(&list, CU_TR_FILTER_MODE_LINEAR);
    add_special_samples(&list);
    add_widths(&list);
    add_values(&list);
    add_levels(&list, LEVEL);
    add_levels(&list, GRAD);
    add_gathers(&list);
    add_surfaces(&list);
    return list;
}

/* ---- What is not established ------------------------------------------------------------------------------------ */

struct case_bound case_bound(const struct texture_case *c) {
    bool is_linear = c->filter == CU_TR_FILTER_MODE_LINEAR, is_mip_linear = c->mip_filter == CU_TR_FILTER_MODE_LINEAR;
    bool is_flat = case_dimensions(c) < 3 && !case_is_cube(c);
    if (c->operation == GRAD && is_mip_linear)
        return (struct case_bound){0.18, is_flat ? 0.0065 : 0, "the level of derivatives, to 2/256", false};
    if (c->operation == GRAD)
        return (struct case_bound){is_flat ? 0.02 : 0.07, 0, "the level of derivatives, to 2/256", false};
    if (c->is_srgb)
        return (struct case_bound){1, 0.01, "the table of sRGB, in its eighth bit", false};
    if (c->format == CU_AD_FORMAT_SIGNED_INT8 && is_linear)
        return (struct case_bound){0.15, 0.012, "sums of signed bytes, to a hundredth", false};
    if (case_is_cube(c) && !is_linear)
        return (struct case_bound){0.05, 0, "quotients of directions near the middle of a face", false};
    if (c->texels != PLAIN && is_linear)
        return (struct case_bound){0.07, 0, "sums of several planes of infinities and far exponents", false};
    if (c->geometry == D3 && is_linear && is_mip_linear)
        return (struct case_bound){0.05, 0.1, "weights of two levels of three dimensions", false};
    if (c->width == 16384)
        return (struct case_bound){0.05, 0, "infinite coordinates that wrap", false};
    return (struct case_bound){0, 0, NULL, false};
}
