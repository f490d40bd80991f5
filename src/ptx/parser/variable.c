/* Declarations: variables of every state space with their initialisers, registers, and parameter lists. */
#include "ptx/internal.h"

#include <string.h>

/* Everything between the state space and the name. */
struct declaration {
    struct ptx_location at;
    enum ptx_space space;
    enum ptx_linkage linkage;
    enum ptx_type type;
    enum ptx_object object;
    uint32_t vector;
    uint32_t alignment; /* 0: natural */
    bool is_managed;
};

struct shape {
    uint64_t dimension[PTX_MAX_DIMENSIONS + 1]; /* the elements of a vector are one more dimension */
    unsigned n_dimensions;
    bool is_open; /* first dimension []: the initialiser determines it */
};

static bool parse_alignment(struct ptx_parser *parser, uint32_t *alignment) {
    struct ptx_location at = parser->token.at;
    uint64_t value;
    if (!ptx_parse_count(parser, 1 << 20, "alignment", &value))
        return false;
    if (value == 0 || (value & (value - 1)) != 0)
        return ptx_fail(parser, at, "alignment %llu is not a power of two", (unsigned long long)value);
    *alignment = (uint32_t)value;
    return true;
}

bool ptx_parse_leading_alignment(struct ptx_parser *parser, uint32_t *alignment) {
    *alignment = 0;
    return !ptx_accept_dot(parser, "align") || parse_alignment(parser, alignment);
}

/* .attribute(.managed) and .attribute(.unified(uuid1, uuid2)). */
bool ptx_skip_attribute(struct ptx_parser *parser, bool *is_managed) {
    if (!ptx_expect(parser, '(', "after .attribute"))
        return false;
    unsigned depth = 1;
    while (depth > 0) {
        if (parser->token.kind == TOKEN_END || ptx_is_punctuation(parser, ';'))
            return ptx_unexpected(parser, "')' after attribute");
        if (is_managed && ptx_is_dot(parser, "managed"))
            *is_managed = true;
        depth += ptx_is_punctuation(parser, '(');
        depth -= ptx_is_punctuation(parser, ')');
        ptx_advance(parser);
    }
    return true;
}

/* .ptr .global .align 8 describes the target of a pointer parameter. It is a hint for optimisers, checked and
 * dropped. */
static bool skip_pointee(struct ptx_parser *parser) {
    const struct ptx_name *name = parser->token.kind == TOKEN_DOT ? parser->token.name : NULL;
    if (name && name->suffix_kind == SUFFIX_SPACE)
        ptx_advance(parser);
    uint32_t alignment;
    return !ptx_accept_dot(parser, "align") || parse_alignment(parser, &alignment);
}

static bool parse_object(struct ptx_parser *parser, struct declaration *declaration) {
    if (ptx_is_dot(parser, "texref"))
        declaration->object = PTX_OBJECT_TEXREF;
    else if (ptx_is_dot(parser, "samplerref"))
        declaration->object = PTX_OBJECT_SAMPLERREF;
    else if (ptx_is_dot(parser, "surfref"))
        declaration->object = PTX_OBJECT_SURFREF;
    else
        return false;
    declaration->type = PTX_U64; /* opaque; as large as a handle */
    ptx_advance(parser);
    return true;
}

static bool parse_specifier(struct ptx_parser *parser, struct declaration *declaration) {
    if (ptx_accept_dot(parser, "align"))
        return parse_alignment(parser, &declaration->alignment);
    if (ptx_accept_dot(parser, "attribute"))
        return ptx_skip_attribute(parser, &declaration->is_managed);
    if (ptx_accept_dot(parser, "ptr"))
        return skip_pointee(parser);
    if (parse_object(parser, declaration))
        return true;
    const struct ptx_name *name = parser->token.name;
    if (name->suffix_kind == SUFFIX_VECTOR && declaration->vector == 1 && name->suffix_value <= 4) {
        declaration->vector = name->suffix_value;
    } else if (name->suffix_kind == SUFFIX_TYPE && declaration->type == PTX_NO_TYPE) {
        declaration->type = (enum ptx_type)name->suffix_value;
    } else {
        const char *nearest = ptx_nearest_suffix(parser, name->text);
        if (name->suffix_kind == SUFFIX_NONE && nearest)
            return ptx_fail(parser, parser->token.at, "unknown type '.%s'; did you mean '.%s'?", name->text, nearest);
        return ptx_unexpected(parser, "a type or a name in the declaration");
    }
    ptx_advance(parser);
    return true;
}

/* Parses everything up to the name. */
static bool parse_declaration(struct ptx_parser *parser, struct declaration *declaration) {
    declaration->at = parser->token.at;
    while (parser->token.kind == TOKEN_DOT)
        if (!parse_specifier(parser, declaration))
            return false;
    if (declaration->type == PTX_NO_TYPE)
        return ptx_unexpected(parser, "a type such as .u32 in the declaration");
    if (declaration->object != PTX_OBJECT_DATA || declaration->space == PTX_SPACE_TEX) {
        declaration->space = PTX_SPACE_TEX;
        if (declaration->object == PTX_OBJECT_DATA)
            declaration->object = PTX_OBJECT_TEXREF; /* the old `.tex .u32 name` */
        declaration->type = PTX_U64;
    }
    if (declaration->type == PTX_PRED && declaration->space != PTX_SPACE_REG)
        return ptx_fail(parser, declaration->at, "a .pred variable must be a register");
    return true;
}

static bool parse_dimensions(struct ptx_parser *parser, struct shape *shape) {
    while (ptx_accept(parser, '[')) {
        if (shape->n_dimensions == PTX_MAX_DIMENSIONS)
            return ptx_fail(parser, parser->token.at, "more than %d array dimensions", PTX_MAX_DIMENSIONS);
        uint64_t *dimension = &shape->dimension[shape->n_dimensions];
        if (shape->n_dimensions == 0 && ptx_is_punctuation(parser, ']'))
            shape->is_open = true;
        else if (!ptx_parse_count(parser, PTX_MAX_VARIABLE_BYTES, "array size", dimension))
            return false;
        shape->n_dimensions++;
        if (!ptx_expect(parser, ']', "after array size"))
            return false;
    }
    return true;
}

/* Counts the elements below a dimension; returns false when the product exceeds the limit. */
static bool elements_from(const struct shape *shape, unsigned first, uint64_t *elements) {
    *elements = 1;
    for (unsigned i = first; i < shape->n_dimensions; i++)
        if (__builtin_mul_overflow(*elements, shape->dimension[i], elements) || *elements > PTX_MAX_VARIABLE_BYTES)
            return false;
    return true;
}

static uint32_t element_bytes(const struct ptx_variable *variable) { return (ptx_type_bits(variable->type) + 7) / 8; }

/* ---- Initialisers ---- */

struct initialiser {
    struct ptx_variable *variable;
    const struct shape *shape;
    uint64_t cursor; /* elements so far, including gaps */
};

static bool place(struct ptx_parser *parser, const struct initialiser *init, struct ptx_location at, uint64_t value) {
    uint32_t bytes = element_bytes(init->variable);
    uint64_t end = (init->cursor + 1) * bytes;
    if (parser->initialised_bytes + end > PTX_MAX_INITIALISED_BYTES)
        return ptx_fail(parser, at, "more than %llu bytes of initialised data",
                        (unsigned long long)PTX_MAX_INITIALISED_BYTES);
    if (end > parser->bytes.count) {
        PTX_RESERVE(&parser->bytes, (uint32_t)end - parser->bytes.count);
        memset(parser->bytes.item + parser->bytes.count, 0, end - parser->bytes.count);
        parser->bytes.count = (uint32_t)end;
    }
    memcpy(parser->bytes.item + init->cursor * bytes, &value,
           bytes < 8 ? bytes : 8); /* the host is little-endian too */
    return true;
}

static bool place_address(struct ptx_parser *parser, const struct initialiser *init, const struct ptx_value *value) {
    uint32_t bytes = element_bytes(init->variable);
    struct ptx_relocation relocation = {.offset = init->cursor * bytes,
                                        .bytes = bytes,
                                        .symbol = value->symbol->text,
                                        .addend = (int64_t)value->bits,
                                        .generic = value->is_generic};
    if (value->is_masked && ptx_type_kind(init->variable->type) != PTX_KIND_F) {
        relocation.bytes = 1; /* the lowest; the others are 0 */
        relocation.mask_shift = value->mask_shift;
    } else if (bytes != 8 || ptx_type_kind(init->variable->type) == PTX_KIND_F) {
        return ptx_fail(parser, value->at, "the address of '%s' needs a 64-bit integer, not .%s", value->symbol->text,
                        ptx_type_name(init->variable->type));
    }
    PTX_PUSH(&parser->relocations, relocation);
    struct ptx_pending pending = {
        .kind = PENDING_RELOCATION, .name = value->symbol, .at = value->at, .function_serial = parser->function_serial};
    PTX_PUSH(&parser->symbols, pending);
    return place(parser, init, value->at, 0);
}

static uint64_t float_bits(const struct ptx_value *value, enum ptx_type type) {
    uint64_t bits = 0;
    if (ptx_type_bits(type) == 32) {
        if (value->kind == VALUE_FLOAT32)
            return value->bits;
        float single = (float)ptx_value_double(value);
        memcpy(&bits, &single, sizeof single);
    } else {
        double wide = ptx_value_double(value);
        memcpy(&bits, &wide, sizeof wide);
    }
    return bits;
}

/* Integers are truncated to the variable's width, as the vendor's assembler does. */
static bool place_value(struct ptx_parser *parser, const struct initialiser *init, const struct ptx_value *value) {
    enum ptx_type type = init->variable->type;
    unsigned bits = ptx_type_bits(type);
    enum ptx_kind kind = ptx_type_kind(type);
    if (value->kind == VALUE_ADDRESS)
        return place_address(parser, init, value);
    bool is_integer = value->kind == VALUE_INTEGER;
    bool fits =
        is_integer ? kind != PTX_KIND_F : kind != PTX_KIND_U && kind != PTX_KIND_S && (bits == 32 || bits == 64);
    if (!fits)
        return ptx_fail(parser, value->at, "%s constant cannot initialise .%s",
                        is_integer ? "an integer" : "a floating-point", ptx_type_name(type));
    return place(parser, init, value->at, is_integer ? value->bits : float_bits(value, type));
}

static bool parse_braces(struct ptx_parser *parser, struct initialiser *init, unsigned level, uint64_t end);

/* Parses one item of a brace list at `level` whose elements end before `end`: a value, or braces for the next
 * dimension. */
static bool parse_item(struct ptx_parser *parser, struct initialiser *init, unsigned level, uint64_t end) {
    if (init->cursor >= end)
        return ptx_fail(parser, parser->token.at, "more values than '%s' has elements", init->variable->name);
    if (ptx_is_punctuation(parser, '{')) {
        uint64_t below = 1;
        if (level + 1 >= init->shape->n_dimensions || !elements_from(init->shape, level + 1, &below) || below == 0)
            return ptx_fail(parser, parser->token.at, "more braces than '%s' has dimensions", init->variable->name);
        uint64_t start = (init->cursor + below - 1) / below * below;
        init->cursor = start;
        if (start >= end || !parse_braces(parser, init, level + 1, start + below))
            return start < end
                       ? false
                       : ptx_fail(parser, parser->token.at, "more values than '%s' has elements", init->variable->name);
        init->cursor = start + below;
        return true;
    }
    struct ptx_value value;
    if (!ptx_parse_value(parser, &value) || !place_value(parser, init, &value))
        return false;
    init->cursor++;
    return true;
}

static bool parse_braces(struct ptx_parser *parser, struct initialiser *init, unsigned level, uint64_t end) {
    ptx_advance(parser); /* { */
    if (level > PTX_MAX_DIMENSIONS)
        return ptx_fail(parser, parser->token.at, "braces nested deeper than %d", PTX_MAX_DIMENSIONS);
    while (!ptx_is_punctuation(parser, '}')) {
        if (!parse_item(parser, init, level, end))
            return false;
        if (!ptx_accept(parser, ','))
            break;
    }
    return ptx_expect(parser, '}', "after initialiser");
}

/* Sampler and texture references: { addr_mode_0 = wrap, ... }. Ignored: textures get their state through the driver
 * API. */
static bool skip_braces(struct ptx_parser *parser) {
    while (!ptx_is_punctuation(parser, '}')) {
        if (parser->token.kind == TOKEN_END || ptx_is_punctuation(parser, ';'))
            return ptx_unexpected(parser, "'}' after initialiser");
        ptx_advance(parser);
    }
    ptx_advance(parser);
    return true;
}

static bool has_bits(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return true;
    return false;
}

static bool keep_data(struct ptx_parser *parser, struct ptx_variable *variable, struct ptx_location at) {
    variable->n_relocations = parser->relocations.count;
    variable->relocation = PTX_KEEP(parser->arena, &parser->relocations, 0);
    if (variable->n_relocations == 0 && !has_bits(parser->bytes.item, parser->bytes.count))
        return true;
    if (parser->initialised_bytes + variable->size > PTX_MAX_INITIALISED_BYTES)
        return ptx_fail(parser, at, "more than %llu bytes of initialised data",
                        (unsigned long long)PTX_MAX_INITIALISED_BYTES);
    parser->initialised_bytes += variable->size;
    variable->data = base_arena_alloc(parser->arena, variable->size, 16);
    memcpy(variable->data, parser->bytes.item, parser->bytes.count);
    return true;
}

static bool parse_initialiser(struct ptx_parser *parser, struct ptx_variable *variable, struct shape *shape) {
    struct ptx_location at = parser->token.at;
    if (variable->space != PTX_SPACE_GLOBAL && variable->space != PTX_SPACE_CONST && variable->space != PTX_SPACE_TEX)
        return ptx_fail(parser, at, "a .%s variable cannot have an initialiser", ptx_space_name(variable->space));
    if (variable->space == PTX_SPACE_TEX && ptx_is_punctuation(parser, '{'))
        return skip_braces(parser);
    struct initialiser init = {.variable = variable, .shape = shape};
    parser->bytes.count = parser->relocations.count = 0;
    uint64_t below, end = variable->size / element_bytes(variable);
    elements_from(shape, shape->is_open, &below);
    if (shape->is_open)
        end = PTX_MAX_VARIABLE_BYTES;
    if (ptx_is_punctuation(parser, '{') && shape->n_dimensions > 0) {
        if (!parse_braces(parser, &init, 0, end))
            return false;
    } else if (shape->n_dimensions > 0) {
        return ptx_unexpected(parser, "'{' before the values of an array");
    } else if (!parse_item(parser, &init, 0, 1)) {
        return false;
    }
    if (shape->is_open) {
        if (below == 0)
            return ptx_fail(parser, at, "an array of empty rows cannot be initialised");
        variable->size = (init.cursor + below - 1) / below * below * element_bytes(variable);
        variable->is_unsized = false;
        if (variable->size > PTX_MAX_VARIABLE_BYTES)
            return ptx_fail(parser, variable->at, "variable '%s' is larger than %llu bytes", variable->name,
                            (unsigned long long)PTX_MAX_VARIABLE_BYTES);
    }
    return keep_data(parser, variable, at);
}

/* ---- Variables ---- */

/* Name, dimensions and size. */
static bool parse_declarator(struct ptx_parser *parser, const struct declaration *declaration,
                             struct ptx_variable *variable, struct shape *shape) {
    if (parser->token.kind != TOKEN_NAME)
        return ptx_unexpected(parser, "a variable name");
    *variable = (struct ptx_variable){.name = parser->token.name->text,
                                      .at = parser->token.at,
                                      .space = declaration->space,
                                      .type = declaration->type,
                                      .object = declaration->object,
                                      .linkage = declaration->linkage,
                                      .is_managed = declaration->is_managed,
                                      .vector = declaration->vector,
                                      .register_id = PTX_NO_INDEX};
    ptx_advance(parser);
    if (!parse_dimensions(parser, shape))
        return false;
    variable->is_array = shape->n_dimensions > 0;
    if (variable->vector > 1)
        shape->dimension[shape->n_dimensions++] = variable->vector;
    uint32_t natural = element_bytes(variable) * variable->vector;
    variable->alignment = declaration->alignment ? declaration->alignment : natural;
    uint64_t elements;
    if (!elements_from(shape, shape->is_open, &elements) || elements * element_bytes(variable) > PTX_MAX_VARIABLE_BYTES)
        return ptx_fail(parser, variable->at, "variable '%s' is larger than %llu bytes", variable->name,
                        (unsigned long long)PTX_MAX_VARIABLE_BYTES);
    variable->is_unsized = shape->is_open;
    variable->size = shape->is_open ? 0 : elements * element_bytes(variable);
    return true;
}

static void add_variable(struct ptx_parser *parser, struct ptx_variable *variable) {
    variable->owner = parser->function;
    if (parser->function) {
        variable->index = parser->variables.count;
        PTX_PUSH(&parser->variables, variable);
    } else {
        variable->index = parser->module_variables.count;
        PTX_PUSH(&parser->module_variables, variable);
    }
}

/* Merges `.extern x` and the definition of x in one module into one variable. */
static bool merge_extern(struct ptx_parser *parser, const struct ptx_name *name, const struct ptx_variable *variable,
                         bool *is_merged) {
    struct ptx_variable *before =
        parser->depth == 0 && name->binding && name->binding->kind == BINDING_VARIABLE ? name->binding->variable : NULL;
    *is_merged = before && (before->linkage == PTX_LINK_EXTERN || variable->linkage == PTX_LINK_EXTERN);
    if (!*is_merged)
        return true;
    if (before->space != variable->space ||
        (before->size != variable->size && !before->is_unsized && !variable->is_unsized))
        return ptx_fail(parser, variable->at, "'%s' differs from its declaration on line %u", variable->name,
                        before->at.line);
    if (before->linkage == PTX_LINK_EXTERN && variable->linkage != PTX_LINK_EXTERN) {
        uint32_t index = before->index;
        *before = *variable;
        before->index = index;
    }
    return true;
}

static bool parse_variable(struct ptx_parser *parser, const struct declaration *declaration) {
    struct ptx_name *name = parser->token.name;
    struct ptx_variable read;
    struct shape shape = {0};
    if (!parse_declarator(parser, declaration, &read, &shape))
        return false;
    if (ptx_accept(parser, '=') && !parse_initialiser(parser, &read, &shape))
        return false;
    if (read.is_unsized && read.linkage != PTX_LINK_EXTERN)
        return ptx_fail(parser, read.at, "'%s[]' needs a size, an initialiser or .extern", read.name);
    bool is_merged;
    if (!merge_extern(parser, name, &read, &is_merged) || is_merged)
        return is_merged;
    struct ptx_variable *variable = BASE_ARENA_NEW(parser->arena, struct ptx_variable);
    *variable = read;
    if (!ptx_bind_variable(parser, name, variable))
        return false;
    add_variable(parser, variable);
    return true;
}

bool ptx_parse_variables(struct ptx_parser *parser, enum ptx_space space, enum ptx_linkage linkage,
                         uint32_t alignment) {
    struct declaration declaration = {.space = space, .linkage = linkage, .alignment = alignment, .vector = 1};
    if (!parse_declaration(parser, &declaration))
        return false;
    do {
        if (!parse_variable(parser, &declaration))
            return false;
    } while (ptx_accept(parser, ','));
    return ptx_expect(parser, ';', "after variable");
}

/* ---- Registers ---- */

static bool parse_register(struct ptx_parser *parser, const struct declaration *declaration) {
    struct ptx_name *name = parser->token.name;
    struct ptx_location at = parser->token.at;
    if (parser->token.kind != TOKEN_NAME)
        return ptx_unexpected(parser, "a register name");
    ptx_advance(parser);
    if (!ptx_accept(parser, '<'))
        return ptx_bind_register(parser, name, at, declaration->type, declaration->vector, NULL);
    if (parser->token.kind != TOKEN_INTEGER)
        return ptx_unexpected(parser, "the number of registers after '<'");
    uint64_t count = parser->token.value;
    if (count > PTX_MAX_REGISTER_RANGE)
        return ptx_fail(parser, parser->token.at, "more than %llu registers in one declaration",
                        (unsigned long long)PTX_MAX_REGISTER_RANGE);
    ptx_advance(parser);
    return ptx_expect(parser, '>', "after the number of registers") &&
           ptx_bind_range(parser, name, at, declaration->type, declaration->vector, (uint32_t)count);
}

bool ptx_parse_registers(struct ptx_parser *parser) {
    struct declaration declaration = {.space = PTX_SPACE_REG, .vector = 1};
    if (!parse_declaration(parser, &declaration))
        return false;
    if (declaration.type == PTX_B128) { /* a vector of its halves, the lower one first */
        declaration.type = PTX_B64;
        declaration.vector = 2;
    }
    do {
        if (!parse_register(parser, &declaration))
            return false;
    } while (ptx_accept(parser, ','));
    return ptx_expect(parser, ';', "after register declaration");
}

/* ---- Parameters ---- */

static bool parse_parameter(struct ptx_parser *parser) {
    struct declaration declaration = {.space = PTX_SPACE_PARAM, .vector = 1};
    if (ptx_accept_dot(parser, "reg"))
        declaration.space = PTX_SPACE_REG;
    else if (!ptx_accept_dot(parser, "param"))
        return ptx_unexpected(parser, "'.param' or '.reg' in the parameter list");
    struct ptx_variable parameter;
    struct shape shape = {0};
    if (!parse_declaration(parser, &declaration) || !parse_declarator(parser, &declaration, &parameter, &shape))
        return false;
    PTX_PUSH(&parser->parameters, parameter);
    return true;
}

bool ptx_parse_parameters(struct ptx_parser *parser, struct ptx_function *owner, enum ptx_role role,
                          struct ptx_variable **list, uint32_t *count, uint64_t *bytes) {
    ptx_advance(parser); /* ( */
    parser->parameters.count = 0;
    if (!ptx_is_punctuation(parser, ')')) {
        do {
            if (!parse_parameter(parser))
                return false;
        } while (ptx_accept(parser, ','));
    }
    if (!ptx_expect(parser, ')', "after parameters"))
        return false;
    uint64_t offset = 0;
    for (uint32_t i = 0; i < parser->parameters.count; i++) {
        struct ptx_variable *parameter = &parser->parameters.item[i];
        parameter->role = role;
        parameter->owner = owner;
        parameter->index = i;
        parameter->offset = (offset + parameter->alignment - 1) & ~(uint64_t)(parameter->alignment - 1);
        offset = parameter->offset + parameter->size;
    }
    *list = PTX_KEEP(parser->arena, &parser->parameters, 0);
    *count = parser->parameters.count;
    if (bytes)
        *bytes = offset;
    return true;
}
