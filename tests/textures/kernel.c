/* The PTX of a case. */
#include "case.h"

#include "text.h"

static void add_coordinates(struct text *text, const struct texture_case *c) {
    static const char *const forms[N_GEOMETRIES] = {[LINEAR] = "{%s1}",
                                                    [PITCH] = "{%s1, %s2}",
                                                    [D1] = "{%s1}",
                                                    [D2] = "{%s1, %s2}",
                                                    [D3] = "{%s1, %s2, %s3, %s3}",
                                                    [A1D] = "{%%i0, %s1}",
                                                    [A2D] = "{%%i0, %s1, %s2, %s2}",
                                                    [CUBE] = "{%s1, %s2, %s3, %s3}",
                                                    [ACUBE] = "{%%i0, %s1, %s2, %s3}"};
    bool is_integer = c->operation == FETCH || c->operation == LOAD || c->operation == STORE;
    const char *name = is_integer ? "%i" : "%c";
    for (const char *p = forms[c->geometry]; *p; p++) {
        if (p[0] == '%' && p[1] == 's') {
            text_add(text, "%s", name);
            p++;
        } else if (p[0] == '%' && p[1] == '%') {
            text_add(text, "%%");
            p++;
        } else {
            text_add(text, "%c", *p);
        }
    }
}

static const char *ptx_geometry(const struct texture_case *c) {
    static const char *const names[N_GEOMETRIES] = {"1d", "2d", "1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};
    return names[c->geometry];
}

static const char *result_type(const struct texture_case *c) {
    bool is_signed = c->format == CU_AD_FORMAT_SIGNED_INT8 || c->format == CU_AD_FORMAT_SIGNED_INT16 ||
                     c->format == CU_AD_FORMAT_SIGNED_INT32;
    return case_reads_float(c) ? "f32" : is_signed ? "s32" : "u32";
}

static void add_slopes(struct text *text, const struct texture_case *c, char axis) {
    text_add(text, ", ");
    switch (case_dimensions(c)) {
    case 1:
        text_add(text, "{%%d%c0}", axis);
        break;
    case 2:
        text_add(text, "{%%d%c0, %%d%c1}", axis, axis);
        break;
    default:
        text_add(text, "{%%d%c0, %%d%c1, %%d%c2, %%d%c2}", axis, axis, axis, axis);
    }
}

static void add_texture(struct text *text, const struct texture_case *c) {
    const char *type = result_type(c), *out = case_reads_float(c) ? "f" : "u";
    const char *variant = c->operation == LEVEL ? ".level" : c->operation == GRAD ? ".grad" : "";
    if (c->operation == GATHER)
        text_add(text, "tld4.%c.2d.v4.%s.f32", c->component, type);
    else
        text_add(text, "tex%s.%s.v4.%s.%s", variant, ptx_geometry(c), type, c->operation == FETCH ? "s32" : "f32");
    text_add(text, " {%%%s0, %%%s1, %%%s2, %%%s3}, [%%handle, ", out, out, out, out);
    add_coordinates(text, c);
    text_add(text, "]");
    if (c->operation == LEVEL)
        text_add(text, ", %%level");
    if (c->operation == GRAD) {
        add_slopes(text, c, 'x');
        add_slopes(text, c, 'y');
    }
    text_add(text, ";\n");
    for (unsigned k = 0; k < 4; k++)
        text_add(text, "st.global.b32 [%%at_out+%u], %%%s%u;\n", 4 * k, out, k);
}

static char register_of(unsigned bits) { return bits <= 16 ? 'h' : bits == 32 ? 'u' : 'w'; }

static void add_values(struct text *text, const struct texture_case *c) {
    char letter = register_of(c->bits);
    for (unsigned k = 0; k < c->vector; k++)
        text_add(text, "%s%%%c%u", k ? ", " : "{", letter, k);
    text_add(text, "}");
}

static void add_surface(struct text *text, const struct texture_case *c) {
    char vector[8] = "";
    if (c->vector > 1)
        vector[0] = '.', vector[1] = 'v', vector[2] = (char)('0' + c->vector);
    if (c->operation == LOAD) {
        text_add(text, "suld.b.%s%s.b%u.%s ", ptx_geometry(c), vector, c->bits, c->bounds);
        add_values(text, c);
        text_add(text, ", [%%handle, ");
        add_coordinates(text, c);
        text_add(text, "];\n");
        for (unsigned k = 0; k < c->vector; k++)
            text_add(text, "st.global.b%u [%%at_out+%u], %%%c%u;\n", c->bits, k * c->bits / 8, register_of(c->bits), k);
        return;
    }
    for (unsigned k = 0; k < c->vector; k++)
        text_add(text, "ld.global.b%u %%%c%u, [%%at_in+%u];\n", c->bits, register_of(c->bits), k, 48 + k * c->bits / 8);
    text_add(text, "sust.b.%s%s.b%u.%s [%%handle, ", ptx_geometry(c), vector, c->bits, c->bounds);
    add_coordinates(text, c);
    text_add(text, "], ");
    add_values(text, c);
    text_add(text, ";\n");
}

char *case_ptx(const struct texture_case *c) {
    struct text text = {0};
    text_add(&text,
             ".version 7.0\n.target sm_70\n.address_size 64\n"
             ".visible .entry run(.param .u64 handle, .param .u64 in, .param .u64 out, .param .u32 n) {\n"
             ".reg .pred %%past; .reg .u32 %%number, %%block, %%size, %%count, %%i<4>, %%u<4>;\n"
             ".reg .f32 %%c<4>, %%level, %%dx<3>, %%dy<3>, %%f<4>; .reg .b16 %%h<4>; .reg .b64 %%w<4>;\n"
             ".reg .u64 %%handle, %%at_in, %%at_out;\n"
             "ld.param.u64 %%handle, [handle]; ld.param.u64 %%at_in, [in]; ld.param.u64 %%at_out, [out];\n"
             "ld.param.u32 %%count, [n];\n"
             "mov.u32 %%number, %%tid.x; mov.u32 %%block, %%ctaid.x; mov.u32 %%size, %%ntid.x;\n"
             "mad.lo.u32 %%number, %%block, %%size, %%number;\n"
             "setp.ge.u32 %%past, %%number, %%count;\n@%%past ret;\n"
             "mad.wide.u32 %%at_in, %%number, %u, %%at_in;\nmad.wide.u32 %%at_out, %%number, %u, %%at_out;\n",
             4 * CASE_IN_WORDS, 4 * CASE_OUT_WORDS);
    for (unsigned k = 0; k < 4; k++)
        text_add(&text, "ld.global.u32 %%i%u, [%%at_in+%u]; mov.b32 %%c%u, %%i%u;\n", k, 4 * k, k, k);
    text_add(&text, "ld.global.f32 %%level, [%%at_in+16];\n");
    for (unsigned k = 0; k < 3; k++)
        text_add(&text, "ld.global.f32 %%dx%u, [%%at_in+%u]; ld.global.f32 %%dy%u, [%%at_in+%u];\n", k, 20 + 4 * k, k,
                 32 + 4 * k);
    if (c->operation == LOAD || c->operation == STORE)
        add_surface(&text, c);
    else
        add_texture(&text, c);
    text_add(&text, "ret;\n}\n");
    return text.data;
}
