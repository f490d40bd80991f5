/* Operands: registers and their components, immediates, symbols, vectors and addresses in brackets. */
#include "ptx/internal.h"

#include <string.h>

enum { MAX_OPERAND_DEPTH = 4 };

static bool parse_nested(struct ptx_parser *parser, struct ptx_operand *operand, unsigned depth);

static struct ptx_operand blank(struct ptx_location at) {
    return (struct ptx_operand){
        .at = at, .selector_mask = 0xffff, .register_id = PTX_NO_INDEX, .pair_id = PTX_NO_INDEX};
}

struct ptx_name *ptx_operand_name(const struct ptx_operand *operand) {
    return (struct ptx_name *)(uintptr_t)operand->value;
}

/* The name may be defined later: keeps it in the operand until the operand has its final address. */
static void leave_unresolved(struct ptx_parser *parser, struct ptx_operand *operand, struct ptx_name *name) {
    operand->kind = PTX_OPERAND_NONE;
    operand->value = (uintptr_t)name;
    parser->n_unresolved++;
}

void ptx_note_unresolved(struct ptx_parser *parser, struct ptx_operand *operand, uint32_t count) {
    if (parser->n_unresolved == 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (operand[i].kind == PTX_OPERAND_NONE && operand[i].value != 0) {
            struct ptx_pending pending = {.kind = PENDING_SYMBOL,
                                          .name = ptx_operand_name(&operand[i]),
                                          .at = operand[i].at,
                                          .operand = &operand[i],
                                          .function_serial = parser->function_serial};
            PTX_PUSH(&parser->symbols, pending);
        }
        ptx_note_unresolved(parser, operand[i].element, operand[i].n_elements);
    }
}

/* [+ constant] or [- constant] after a base. */
static bool parse_offset(struct ptx_parser *parser, struct ptx_operand *operand) {
    if (!ptx_is_punctuation(parser, '+') && !ptx_is_punctuation(parser, '-'))
        return true;
    struct ptx_value value;
    if (!ptx_parse_value(parser, &value))
        return false;
    if (value.kind == VALUE_ADDRESS)
        return ptx_fail(parser, value.at, "an offset must be a constant, not '%s'", value.symbol->text);
    if (value.kind != VALUE_INTEGER)
        return ptx_fail(parser, value.at, "an offset must be an integer");
    operand->offset = (int64_t)value.bits;
    return true;
}

/* ---- Registers ---- */

/* The index of .x .y .z .w (or .r .g .b .a), or -1. */
static int component_index(const struct ptx_token *token) {
    if (token->kind != TOKEN_DOT || token->length != 2)
        return -1;
    const char *found = strchr("xyzwrgba", token->text[1]);
    return found ? (int)(found - "xyzwrgba") % 4 : -1;
}

static void set_elements(struct ptx_parser *parser, struct ptx_operand *operand, const struct ptx_binding *binding) {
    operand->kind = PTX_OPERAND_VECTOR;
    operand->n_elements = binding->width;
    operand->element = BASE_ARENA_ARRAY(parser->arena, struct ptx_operand, binding->width);
    for (uint32_t i = 0; i < binding->width; i++) {
        operand->element[i] = blank(operand->at);
        operand->element[i].kind = PTX_OPERAND_REGISTER;
        operand->element[i].register_id = binding->register_id + i;
    }
}

/* .b0 .h1, or several at once: .b7610 .h10. Digits that are not written are 0xf in the mask. */
static bool parse_selector(struct ptx_parser *parser, struct ptx_operand *operand) {
    const struct ptx_token *token = &parser->token;
    char kind = token->text[1];
    unsigned n_digits = token->length - 2;
    bool is_right = (kind == 'b' && n_digits >= 1 && n_digits <= 4) || (kind == 'h' && n_digits >= 1 && n_digits <= 2);
    uint32_t mask = 0xffff;
    for (unsigned i = 0; is_right && i < n_digits; i++) {
        char digit = token->text[2 + i];
        is_right = digit >= '0' && digit <= (kind == 'b' ? '7' : '3');
        mask = mask << 4 | (unsigned)(digit - '0');
    }
    if (!is_right)
        return ptx_unexpected(parser, "a component such as .x or a selector such as .b0 or .h1");
    operand->selector_mask = (uint16_t)mask;
    if (n_digits == 1) {
        unsigned place = mask & 0xf;
        if (place > (kind == 'b' ? 3u : 1u))
            return ptx_unexpected(parser, "a selector from .b0 to .b3, .h0 or .h1");
        operand->selector = (uint8_t)(kind == 'b' ? 1 + place : 5 + place);
    }
    ptx_advance(parser);
    return true;
}

static bool set_register(struct ptx_parser *parser, struct ptx_operand *operand, const struct ptx_binding *binding) {
    bool has_suffix = parser->token.kind == TOKEN_DOT;
    operand->kind = PTX_OPERAND_REGISTER;
    operand->register_id = binding->register_id;
    if (binding->width == 1)
        return !has_suffix || parse_selector(parser, operand);
    if (!has_suffix) {
        set_elements(parser, operand, binding);
        return true;
    }
    int component = component_index(&parser->token);
    if (component < 0 || component >= (int)binding->width)
        return ptx_unexpected(parser, "a component of the vector register");
    operand->register_id += (uint32_t)component;
    ptx_advance(parser);
    return true;
}

bool ptx_parse_register(struct ptx_parser *parser, const char *what, uint32_t *register_id) {
    struct ptx_name *name = parser->token.name;
    struct ptx_location at = parser->token.at;
    if (parser->token.kind != TOKEN_NAME)
        return ptx_unexpected(parser, what);
    ptx_advance(parser);
    const struct ptx_binding *binding = ptx_lookup(parser, name);
    if (!binding)
        return ptx_undefined(parser, name, at, "register");
    if (binding->kind != BINDING_REGISTER || binding->width != 1)
        return ptx_fail(parser, at, "'%s' is not %s", name->text, what);
    *register_id = binding->register_id;
    return true;
}

/* The q of p|q. */
static bool parse_pair(struct ptx_parser *parser, struct ptx_operand *operand) {
    if (!ptx_is_word(parser, "_"))
        return ptx_parse_register(parser, "a predicate register", &operand->pair_id);
    operand->pair_id = PTX_SINK_ID;
    ptx_advance(parser);
    return true;
}

/* ---- Names ---- */

/* A name with a % is a register, and so is one with the prefix of a range. No function or variable of that name can
 * follow. */
static bool is_register_name(struct ptx_parser *parser, struct ptx_name *name) {
    return name->text[0] == '%' || ptx_is_near_range(parser, name);
}

/* The fourth component is 0. */
static void set_component(struct ptx_operand *operand, unsigned component) {
    operand->kind = component < 3 ? PTX_OPERAND_SPECIAL : PTX_OPERAND_INTEGER;
    operand->special += component < 3 ? component : 0;
}

/* The whole %tid, the source of mov.v4. */
static bool set_special_vector(struct ptx_parser *parser, struct ptx_operand *operand) {
    struct ptx_operand *element = BASE_ARENA_ARRAY(parser->arena, struct ptx_operand, 4);
    for (unsigned i = 0; i < 4; i++) {
        element[i] = *operand;
        set_component(&element[i], i);
    }
    operand->kind = PTX_OPERAND_VECTOR;
    operand->element = element;
    operand->n_elements = 4;
    return true;
}

static bool set_special(struct ptx_parser *parser, struct ptx_operand *operand, const struct ptx_name *name) {
    operand->kind = PTX_OPERAND_SPECIAL;
    operand->special = (enum ptx_special)name->special;
    operand->value = name->special_number;
    if (ptx_special_component(operand->special) < 0)
        return true;
    int component = component_index(&parser->token);
    if (component < 0)
        return parser->token.kind == TOKEN_DOT ? ptx_unexpected(parser, "a component .x, .y, .z or .w")
                                               : set_special_vector(parser, operand);
    ptx_advance(parser);
    set_component(operand, (unsigned)component);
    return true;
}

static bool set_name(struct ptx_parser *parser, struct ptx_operand *operand, struct ptx_name *name) {
    const struct ptx_binding *binding = ptx_lookup(parser, name);
    if (!binding && name->special != PTX_N_SPECIALS)
        return set_special(parser, operand, name);
    if (!binding && is_register_name(parser, name))
        return ptx_undefined(parser, name, operand->at, "register");
    if (!binding && ptx_is_punctuation(parser, '['))
        return ptx_fail(parser, operand->at, "'%s' must be declared before its elements are used", name->text);
    if (!binding) {
        leave_unresolved(parser, operand, name);
        return parse_offset(parser, operand);
    }
    switch (binding->kind) {
    case BINDING_REGISTER:
        return set_register(parser, operand, binding);
    case BINDING_VARIABLE:
        operand->kind = PTX_OPERAND_VARIABLE;
        operand->variable = binding->variable;
        return ptx_is_punctuation(parser, '[') ? ptx_parse_element(parser, operand) : parse_offset(parser, operand);
    default:
        operand->kind = PTX_OPERAND_FUNCTION;
        operand->function = binding->function;
        binding->function->address_taken = true;
        return true;
    }
}

static bool parse_name(struct ptx_parser *parser, struct ptx_operand *operand) {
    struct ptx_name *name = parser->token.name;
    ptx_advance(parser);
    if (strcmp(name->text, "_") == 0)
        operand->kind = PTX_OPERAND_SINK;
    else if (!set_name(parser, operand, name))
        return false;
    bool may_pair = operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_SINK;
    return !may_pair || !ptx_accept(parser, '|') || parse_pair(parser, operand);
}

/* ---- Constants, vectors, brackets ---- */

static bool parse_constant(struct ptx_parser *parser, struct ptx_operand *operand) {
    if (parser->token.kind == TOKEN_END || ptx_is_punctuation(parser, ';') || ptx_is_punctuation(parser, ','))
        return ptx_unexpected(parser, "an operand");
    struct ptx_value value;
    if (!ptx_parse_value(parser, &value))
        return false;
    if (value.kind == VALUE_ADDRESS)
        return ptx_fail(parser, value.at, "an address expression is not an operand");
    operand->kind = value.kind == VALUE_INTEGER   ? PTX_OPERAND_INTEGER
                    : value.kind == VALUE_FLOAT32 ? PTX_OPERAND_FLOAT32
                                                  : PTX_OPERAND_FLOAT64;
    operand->value = value.bits;
    return true;
}

/* Moves the operands pushed since `first` to the arena as the operand's elements. */
static void pop_elements(struct ptx_parser *parser, struct ptx_operand *operand, uint32_t first) {
    operand->kind = PTX_OPERAND_VECTOR;
    operand->n_elements = parser->operands.count - first;
    operand->element = PTX_KEEP(parser->arena, &parser->operands, first);
    parser->operands.count = first;
}

/* Pushes operands separated by commas, up to the closing bracket. */
static bool push_elements(struct ptx_parser *parser, char closing, unsigned depth) {
    do {
        struct ptx_operand element;
        if (!parse_nested(parser, &element, depth + 1))
            return false;
        PTX_PUSH(&parser->operands, element);
    } while (ptx_accept(parser, ','));
    return ptx_expect(parser, closing, "after operand");
}

static bool parse_vector(struct ptx_parser *parser, struct ptx_operand *operand, unsigned depth) {
    uint32_t first = parser->operands.count;
    ptx_advance(parser); /* { */
    if (!push_elements(parser, '}', depth))
        return false;
    pop_elements(parser, operand, first);
    return !ptx_accept(parser, '|') || parse_pair(parser, operand);
}

/* The base of [base + offset]. */
static bool parse_base(struct ptx_parser *parser, struct ptx_operand *operand) {
    operand->kind = PTX_OPERAND_ADDRESS;
    if (parser->token.kind != TOKEN_NAME) {
        struct ptx_value value;
        if (!ptx_parse_value(parser, &value))
            return false;
        if (value.kind != VALUE_INTEGER)
            return ptx_fail(parser, value.at, "expected a register, a variable or an integer address");
        operand->offset = (int64_t)value.bits;
        return true;
    }
    struct ptx_name *name = parser->token.name;
    struct ptx_location at = parser->token.at;
    const struct ptx_binding *binding = ptx_lookup(parser, name);
    ptx_advance(parser);
    if (!binding && (name->text[0] == '%' || name->special != PTX_N_SPECIALS))
        return name->special != PTX_N_SPECIALS ? ptx_fail(parser, at, "'%s' cannot be an address", name->text)
                                               : ptx_undefined(parser, name, at, "register");
    if (!binding) {
        leave_unresolved(parser, operand, name);
        operand->register_id = PTX_SINK_ID; /* marks an operand in brackets */
    } else if (binding->kind == BINDING_REGISTER) {
        operand->register_id = binding->register_id;
        int component = binding->width > 1 ? component_index(&parser->token) : 0;
        if (component < 0 || component >= (int)binding->width)
            return ptx_unexpected(parser, "a component of the vector register");
        operand->register_id += (uint32_t)component;
        if (binding->width > 1)
            ptx_advance(parser);
    } else if (binding->kind == BINDING_VARIABLE) {
        operand->variable = binding->variable;
    } else {
        return ptx_fail(parser, at, "'%s' is a function, not a variable", name->text);
    }
    return parse_offset(parser, operand);
}

/* The first part of [texture, {x, y}] is a handle, not an address. */
static void make_handle(struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_ADDRESS && operand->variable)
        operand->kind = PTX_OPERAND_VARIABLE;
    else if (operand->kind == PTX_OPERAND_ADDRESS && operand->register_id != PTX_NO_INDEX)
        operand->kind = PTX_OPERAND_REGISTER;
    else if (operand->kind == PTX_OPERAND_NONE)
        operand->register_id = PTX_NO_INDEX;
}

/* The rest of [texture, sampler, {x, y}]: coordinates always become a separate vector. */
static bool parse_texture(struct ptx_parser *parser, struct ptx_operand *operand, unsigned depth) {
    struct ptx_operand handle = *operand;
    uint32_t first = parser->operands.count;
    make_handle(&handle);
    PTX_PUSH(&parser->operands, handle);
    if (!push_elements(parser, ']', depth))
        return false;
    struct ptx_operand *last = &parser->operands.item[parser->operands.count - 1];
    if (last->kind != PTX_OPERAND_VECTOR) {
        struct ptx_operand *coordinate = BASE_ARENA_NEW(parser->arena, struct ptx_operand);
        *coordinate = *last;
        *last = blank(coordinate->at);
        last->kind = PTX_OPERAND_VECTOR;
        last->element = coordinate;
        last->n_elements = 1;
    }
    *operand = blank(handle.at);
    pop_elements(parser, operand, first);
    return true;
}

static bool parse_brackets(struct ptx_parser *parser, struct ptx_operand *operand, unsigned depth) {
    ptx_advance(parser); /* [ */
    if (!parse_base(parser, operand))
        return false;
    if (ptx_accept(parser, ','))
        return parse_texture(parser, operand, depth);
    return ptx_expect(parser, ']', "after address");
}

static bool is_name_start(char c) {
    return c == '%' || c == '_' || c == '$' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns whether the current token is a sign before a register, not before WARP_SZ. */
static bool precedes_register(struct ptx_parser *parser) {
    struct ptx_lexer lexer = parser->lexer;
    struct ptx_token sign = parser->token;
    if (!is_name_start(ptx_peek(parser)))
        return false;
    ptx_advance(parser);
    bool is_register = parser->token.kind != TOKEN_INTEGER;
    parser->lexer = lexer;
    parser->token = sign;
    return is_register;
}

/* !p of a predicate, -a of a number. */
static bool parse_negated(struct ptx_parser *parser, struct ptx_operand *operand) {
    bool is_not = ptx_accept(parser, '!');
    if (!is_not)
        ptx_advance(parser);
    operand->is_negated = true;
    if (parser->token.kind != TOKEN_NAME)
        return ptx_unexpected(parser, "a register after the sign");
    if (!parse_name(parser, operand))
        return false;
    if (operand->kind != PTX_OPERAND_REGISTER)
        return ptx_fail(parser, operand->at, "only a register can be negated");
    bool is_predicate = parser->registers.item[operand->register_id].type == PTX_PRED;
    if (is_predicate != is_not)
        return ptx_fail(parser, operand->at, is_not ? "'!' needs a predicate" : "a predicate is negated with '!'");
    return true;
}

static bool parse_nested(struct ptx_parser *parser, struct ptx_operand *operand, unsigned depth) {
    *operand = blank(parser->token.at);
    if (depth > MAX_OPERAND_DEPTH)
        return ptx_fail(parser, parser->token.at, "operands nested deeper than %d", MAX_OPERAND_DEPTH);
    if (ptx_is_punctuation(parser, '{'))
        return parse_vector(parser, operand, depth);
    if (ptx_is_punctuation(parser, '['))
        return parse_brackets(parser, operand, depth);
    bool is_sign = ptx_is_punctuation(parser, '!') || ptx_is_punctuation(parser, '-');
    if (is_sign && precedes_register(parser))
        return parse_negated(parser, operand);
    if (parser->token.kind == TOKEN_NAME)
        return parse_name(parser, operand);
    return parse_constant(parser, operand);
}

bool ptx_parse_operand(struct ptx_parser *parser, struct ptx_operand *operand) {
    return parse_nested(parser, operand, 0);
}

/* The rest of register + constant. ptx_place_sums() computes it before the instruction. */
bool ptx_parse_addend(struct ptx_parser *parser, struct ptx_operand *operand) {
    bool is_plain = operand->kind == PTX_OPERAND_REGISTER && !operand->is_negated && operand->selector_mask == 0xffff &&
                    operand->pair_id == PTX_NO_INDEX;
    return !is_plain || !ptx_is_punctuation(parser, '+') || parse_offset(parser, operand);
}
