/* The fixed vocabulary of PTX: types, opcodes, modifiers, state spaces and special registers, from the .def lists, and
 * the conversions between name and number. */
#include "ptx/internal.h"

#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct type_row {
    const char *text;
    uint8_t bits;
    uint8_t kind;
};

static const struct type_row type_rows[PTX_N_TYPES] = {
    [PTX_NO_TYPE] = {"none", 0, PTX_KIND_NONE},
#define PTX_TYPE(id, text, bits, kind) [PTX_##id] = {text, bits, PTX_KIND_##kind},
#include "ptx/types.def"
#undef PTX_TYPE
};

static const struct {
    const char *text;
    enum ptx_family family;
} opcode_rows[PTX_N_OPCODES] = {
#define PTX_OPCODE(id, text, family) [PTX_OP_##id] = {text, PTX_FAMILY_##family},
#include "ptx/opcodes.def"
#undef PTX_OPCODE
};

static const char *const modifier_texts[PTX_N_MODIFIERS] = {
#define PTX_MODIFIER(id, text) [PTX_MOD_##id] = text,
#include "ptx/modifiers.def"
#undef PTX_MODIFIER
};

static const struct {
    const char *text;
    int component;
    unsigned bits;
} special_rows[PTX_N_SPECIALS] = {
#define PTX_SPECIAL(id, name, component, bits) [PTX_SPECIAL_##id] = {name, component, bits},
#include "ptx/special.def"
#undef PTX_SPECIAL
};

static const struct {
    const char *text;
    enum ptx_space space;
} space_rows[] = {
    {"reg", PTX_SPACE_REG},
    {"global", PTX_SPACE_GLOBAL},
    {"const", PTX_SPACE_CONST},
    {"shared", PTX_SPACE_SHARED},
    {"shared::cta", PTX_SPACE_SHARED},
    /* An address says by itself whether it is one of another block. */
    {"shared::cluster", PTX_SPACE_SHARED},
    {"local", PTX_SPACE_LOCAL},
    {"param", PTX_SPACE_PARAM},
    {"param::entry", PTX_SPACE_PARAM},
    {"param::func", PTX_SPACE_PARAM},
    {"tex", PTX_SPACE_TEX},
};

/* Valid suffixes of supported opcodes that Heddle does not support. */
static const char *const unsupported_texts[] = {
    /* cvt: floats of 4 and 6 bits, four at a time, stochastic rounding */
    "e4m3x4", "e5m2x4", "e2m1x2", "e2m1x4", "e2m3x2", "e2m3x4", "e3m2x2", "e3m2x4", "ue8m0x2", "s2f6x2",
    "scaled::n2::ue8m0", "rs",
    /* cp and tensormap: modes of later devices, masks of bytes */
    "tile::gather4", "tile::scatter4", "im2col::w", "im2col::w::128", "cp_mask", "ignore_oob", "cta_group::1",
    "cta_group::2", "swizzle_atomicity"};

const char *ptx_type_name(enum ptx_type type) { return type_rows[type].text; }
unsigned ptx_type_bits(enum ptx_type type) { return type_rows[type].bits; }
enum ptx_kind ptx_type_kind(enum ptx_type type) { return (enum ptx_kind)type_rows[type].kind; }
const char *ptx_opcode_name(enum ptx_opcode opcode) { return opcode_rows[opcode].text; }
enum ptx_family ptx_opcode_family(enum ptx_opcode opcode) { return opcode_rows[opcode].family; }
const char *ptx_modifier_name(enum ptx_modifier modifier) { return modifier_texts[modifier]; }
const char *ptx_special_name(enum ptx_special special) { return special_rows[special].text; }
int ptx_special_component(enum ptx_special special) { return special_rows[special].component; }
unsigned ptx_special_bits(enum ptx_special special) { return special_rows[special].bits; }

const char *ptx_space_name(enum ptx_space space) {
    static const char *const texts[PTX_N_SPACES] = {"generic", "reg",   "global", "const",
                                                    "shared",  "local", "param",  "tex"};
    return texts[space];
}

bool ptx_instruction_is_supported(const struct ptx_instruction *instruction) {
    return ptx_opcode_family(instruction->opcode) != PTX_FAMILY_NONE && !instruction->unsupported;
}

const char *ptx_instruction_name(const struct ptx_instruction *instruction, char *buffer, size_t size) {
    const char *text = instruction->text ? instruction->text : ptx_opcode_name(instruction->opcode);
    size_t length = instruction->text ? instruction->text_length : strlen(text);
    snprintf(buffer, size, "%.*s", (int)length, text);
    return buffer;
}

static struct ptx_name *word(struct ptx_parser *parser, const char *text) {
    return ptx_intern(parser, text, strlen(text));
}

static void set_suffix(struct ptx_parser *parser, const char *text, enum ptx_suffix_kind kind, unsigned value) {
    struct ptx_name *name = word(parser, text);
    assert(name->suffix_kind == SUFFIX_NONE);
    name->suffix_kind = (uint8_t)kind;
    name->suffix_value = (uint16_t)value;
}

static void start_suffixes(struct ptx_parser *parser) {
    for (unsigned i = 1; i < PTX_N_TYPES; i++)
        set_suffix(parser, type_rows[i].text, SUFFIX_TYPE, i);
    for (size_t i = 0; i < sizeof space_rows / sizeof *space_rows; i++)
        set_suffix(parser, space_rows[i].text, SUFFIX_SPACE, space_rows[i].space);
    set_suffix(parser, "v2", SUFFIX_VECTOR, 2);
    set_suffix(parser, "v4", SUFFIX_VECTOR, 4);
    set_suffix(parser, "v8", SUFFIX_VECTOR, 8);
    for (unsigned i = 0; i < PTX_N_MODIFIERS; i++)
        set_suffix(parser, modifier_texts[i], SUFFIX_MODIFIER, i);
    for (size_t i = 0; i < sizeof unsupported_texts / sizeof *unsupported_texts; i++)
        set_suffix(parser, unsupported_texts[i], SUFFIX_UNSUPPORTED, 0);
}

static void set_special(struct ptx_parser *parser, const char *text, unsigned special, unsigned number) {
    struct ptx_name *name = word(parser, text);
    if (name->special != PTX_N_SPECIALS)
        return; /* the first component stands for all */
    name->special = (uint16_t)special;
    name->special_number = (uint16_t)number;
}

static void start_specials(struct ptx_parser *parser) {
    char text[40];
    for (unsigned i = 0; i < PTX_N_SPECIALS; i++) {
        bool is_wide = i == PTX_SPECIAL_PM_64;
        unsigned numbers = i == PTX_SPECIAL_ENVREG ? 32 : i == PTX_SPECIAL_PM || is_wide ? 8 : 0;
        for (unsigned n = 0; n < numbers; n++) {
            snprintf(text, sizeof text, "%%%s%u%s", special_rows[i].text, n, is_wide ? "_64" : "");
            set_special(parser, text, i, n);
        }
        if (numbers > 0)
            continue;
        snprintf(text, sizeof text, "%%%s", special_rows[i].text);
        set_special(parser, text, i, 0);
    }
}

void ptx_names_start(struct ptx_parser *parser) {
    for (unsigned i = 0; i < PTX_N_OPCODES; i++)
        word(parser, opcode_rows[i].text)->opcode = (uint16_t)i;
    start_suffixes(parser);
    start_specials(parser);
}

const char *ptx_nearest_opcode(struct ptx_parser *parser, const char *wanted) {
    if (!ptx_may_search(parser))
        return NULL;
    struct base_nearest nearest = base_nearest_to(wanted);
    for (unsigned i = 0; i < PTX_N_OPCODES; i++)
        base_nearest_offer(&nearest, opcode_rows[i].text);
    return nearest.best;
}

const char *ptx_nearest_suffix(struct ptx_parser *parser, const char *wanted) {
    if (!ptx_may_search(parser))
        return NULL;
    struct base_nearest nearest = base_nearest_to(wanted);
    for (unsigned i = 1; i < PTX_N_TYPES; i++)
        if (type_rows[i].bits == 32)
            base_nearest_offer(&nearest, type_rows[i].text); /* the likeliest ones first */
    for (unsigned i = 1; i < PTX_N_TYPES; i++)
        base_nearest_offer(&nearest, type_rows[i].text);
    for (size_t i = 0; i < sizeof space_rows / sizeof *space_rows; i++)
        base_nearest_offer(&nearest, space_rows[i].text);
    for (unsigned i = 0; i < PTX_N_MODIFIERS; i++)
        base_nearest_offer(&nearest, modifier_texts[i]);
    return nearest.best;
}
