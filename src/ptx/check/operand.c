/* Checks the kind and type of one operand. */
#include "ptx/check/check.h"

#include <string.h>

enum fit { EXACT, WIDER };

static const char *name_of(struct ptx_check *check) {
    return ptx_instruction_name(check->instruction, check->name, sizeof check->name);
}

static const struct ptx_register *register_of(const struct ptx_check *check, uint32_t id) {
    return &check->function->reg[id];
}

static bool is_integer_kind(enum ptx_kind kind) { return kind == PTX_KIND_U || kind == PTX_KIND_S; }

/* The type-checking rules: sizes must be equal; then bits agree with everything, integers with integers, and a
 * floating-point type with itself. Where wider registers are allowed, bits agree with everything, integers with
 * integers and bits, floating point with bits. */
static bool agrees(enum ptx_type wanted, enum ptx_type given, enum fit fit) {
    enum ptx_kind want = ptx_type_kind(wanted), have = ptx_type_kind(given);
    if (want == PTX_KIND_P || have == PTX_KIND_P)
        return want == have;
    if (ptx_type_bits(wanted) == ptx_type_bits(given))
        return want == PTX_KIND_B || have == PTX_KIND_B || (is_integer_kind(want) && is_integer_kind(have)) ||
               wanted == given;
    if (fit == EXACT || ptx_type_bits(given) < ptx_type_bits(wanted))
        return false;
    return have == PTX_KIND_B || want == PTX_KIND_B || (is_integer_kind(want) && is_integer_kind(have));
}

static bool check_register(struct ptx_check *check, const struct ptx_operand *operand, uint32_t id,
                           enum ptx_type wanted, enum fit fit) {
    const struct ptx_register *reg = register_of(check, id);
    if (agrees(wanted, reg->type, fit))
        return true;
    return ptx_fail(check->parser, operand->at, "'%s' is .%s, but %s needs .%s here", reg->name,
                    ptx_type_name(reg->type), name_of(check), ptx_type_name(wanted));
}

static const char *kind_name(const struct ptx_operand *operand) {
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        return operand->is_sum ? "a register plus a constant" : "a register";
    case PTX_OPERAND_SINK:
        return "'_'";
    case PTX_OPERAND_INTEGER:
        return "an integer constant";
    case PTX_OPERAND_FLOAT32:
    case PTX_OPERAND_FLOAT64:
        return "a floating-point constant";
    case PTX_OPERAND_SPECIAL:
        return "a special register";
    case PTX_OPERAND_VARIABLE:
        return "a variable";
    case PTX_OPERAND_FUNCTION:
        return "a function";
    case PTX_OPERAND_ADDRESS:
        return "an address in brackets";
    case PTX_OPERAND_LABEL:
        return "a label";
    default:
        return "a vector";
    }
}

static bool wrong_kind(struct ptx_check *check, const struct ptx_operand *operand, const char *wanted) {
    return ptx_fail(check->parser, operand->at, "%s needs %s here, got %s", name_of(check), wanted, kind_name(operand));
}

/* Rejects signs, selectors and pairs where the instruction does not support them. */
static bool check_decoration(struct ptx_check *check, const struct ptx_operand *operand, bool may_negate,
                             bool may_select) {
    if (operand->is_negated && !may_negate)
        return ptx_fail(check->parser, operand->at, "%s cannot negate this operand", name_of(check));
    if (operand->selector_mask != 0xffff && !may_select)
        return ptx_fail(check->parser, operand->at, "%s takes no selector such as .b0", name_of(check));
    if (operand->pair_id != PTX_NO_INDEX)
        return ptx_fail(check->parser, operand->at, "%s takes no pair of registers here", name_of(check));
    return true;
}

/* ---- Sources ---- */

/* Converts a constant to the width of its operand: 1.0 has 32 bits in add.f32. */
static bool check_float(struct ptx_check *check, struct ptx_operand *operand, enum ptx_type type) {
    bool is_single = operand->kind == PTX_OPERAND_FLOAT32;
    if (type == (is_single ? PTX_F32 : PTX_F64) || type == (is_single ? PTX_B32 : PTX_B64))
        return true;
    if (type == PTX_F32) {
        double wide;
        float narrow;
        uint32_t bits;
        memcpy(&wide, &operand->value, sizeof wide);
        narrow = (float)wide;
        memcpy(&bits, &narrow, sizeof bits);
        operand->kind = PTX_OPERAND_FLOAT32;
        operand->value = bits;
        return true;
    }
    if (type == PTX_F64) {
        uint32_t bits = (uint32_t)operand->value;
        float narrow;
        memcpy(&narrow, &bits, sizeof narrow);
        double wide = (double)narrow;
        memcpy(&operand->value, &wide, sizeof wide);
        operand->kind = PTX_OPERAND_FLOAT64;
        return true;
    }
    return ptx_fail(check->parser, operand->at, "a floating-point constant cannot be a .%s operand of %s",
                    ptx_type_name(type), name_of(check));
}

static bool check_special(struct ptx_check *check, const struct ptx_operand *operand, enum ptx_type type) {
    const char *text = ptx_special_name(operand->special);
    bool is_read = check->instruction->opcode == PTX_OP_MOV || check->instruction->opcode == PTX_OP_CVT;
    if (!is_read)
        return ptx_fail(check->parser, operand->at, "%s cannot read the special register '%%%s'; use mov",
                        name_of(check), text);
    unsigned bits = ptx_special_bits(operand->special), wanted = ptx_type_bits(type);
    if (ptx_type_kind(type) == PTX_KIND_F || wanted > bits || (wanted < bits && wanted != 16))
        return ptx_fail(check->parser, operand->at, "special register '%%%s' has %u bits, not .%s", text, bits,
                        ptx_type_name(type));
    return true;
}

/* mov and cvta take the address of a variable or function: 64 bits, or 32 inside a window. */
static bool check_symbol(struct ptx_check *check, const struct ptx_operand *operand, enum ptx_type type) {
    enum ptx_opcode opcode = check->instruction->opcode;
    bool takes_address = opcode == PTX_OP_MOV || opcode == PTX_OP_CVTA || opcode == PTX_OP_MAPA;
    if (!takes_address && opcode != PTX_OP_GETCTARANK)
        return wrong_kind(check, operand, "a register or a constant");
    bool is_windowed = operand->kind == PTX_OPERAND_VARIABLE && operand->variable->space != PTX_SPACE_GLOBAL;
    unsigned bits = ptx_type_bits(type);
    if (ptx_type_kind(type) != PTX_KIND_F && (bits == 64 || (bits == 32 && is_windowed)))
        return true;
    const char *name = operand->kind == PTX_OPERAND_VARIABLE ? operand->variable->name : operand->function->name;
    return ptx_fail(check->parser, operand->at, "the address of '%s' needs a 64-bit integer, not .%s", name,
                    ptx_type_name(type));
}

static bool check_source(struct ptx_check *check, struct ptx_operand *operand, enum ptx_type type, enum fit fit) {
    enum ptx_kind kind = ptx_type_kind(type);
    if (!check_decoration(check, operand, kind == PTX_KIND_P, false))
        return false;
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        return check_register(check, operand, operand->register_id, type, fit);
    case PTX_OPERAND_INTEGER:
        if (kind == PTX_KIND_F)
            return ptx_fail(check->parser, operand->at, "an integer constant cannot be a .%s operand of %s%s",
                            ptx_type_name(type), name_of(check),
                            type == PTX_F32 || type == PTX_F64 ? "; write it with a point, as in 1.0" : "");
        return true;
    case PTX_OPERAND_FLOAT32:
    case PTX_OPERAND_FLOAT64:
        return check_float(check, operand, type);
    case PTX_OPERAND_SPECIAL:
        return check_special(check, operand, type);
    case PTX_OPERAND_VARIABLE:
    case PTX_OPERAND_FUNCTION:
        return check_symbol(check, operand, type);
    default:
        return wrong_kind(check, operand, "a register or a constant");
    }
}

/* ---- Destinations and vectors ---- */

static bool check_destination(struct ptx_check *check, const struct ptx_operand *operand, enum ptx_type type,
                              enum fit fit, bool may_select, bool may_sink) {
    if (!check_decoration(check, operand, false, may_select))
        return false;
    if (operand->kind == PTX_OPERAND_SINK && may_sink)
        return true;
    if (operand->kind != PTX_OPERAND_REGISTER || operand->is_sum)
        return wrong_kind(check, operand, "a destination register");
    return check_register(check, operand, operand->register_id, type, fit);
}

static bool check_value(struct ptx_check *check, struct ptx_operand *operand, enum ptx_type type, enum fit fit,
                        bool is_destination) {
    return is_destination ? check_destination(check, operand, type, fit, false, true)
                          : check_source(check, operand, type, fit);
}

static bool check_elements(struct ptx_check *check, struct ptx_operand *operand, enum ptx_type type, enum fit fit,
                           bool is_destination) {
    for (uint32_t i = 0; i < operand->n_elements; i++)
        if (!check_value(check, &operand->element[i], type, fit, is_destination))
            return false;
    return true;
}

/* A scalar, or with .v2 .v4 .v8 a vector of that many. */
static bool check_vector(struct ptx_check *check, struct ptx_operand *operand, enum ptx_type type, enum fit fit,
                         bool is_destination) {
    unsigned width = check->instruction->vector;
    if (operand->kind != PTX_OPERAND_VECTOR && width == 1)
        return check_value(check, operand, type, fit, is_destination);
    if (operand->kind != PTX_OPERAND_VECTOR || operand->n_elements != width)
        return ptx_fail(check->parser, operand->at, "%s needs a vector of %u here, got %u", name_of(check), width,
                        operand->kind == PTX_OPERAND_VECTOR ? operand->n_elements : 1);
    return check_decoration(check, operand, false, false) && check_elements(check, operand, type, fit, is_destination);
}

bool ptx_check_registers(struct ptx_check *check, struct ptx_operand *operand, enum ptx_type type, unsigned n,
                         bool is_destination) {
    unsigned given = operand->kind == PTX_OPERAND_VECTOR ? operand->n_elements : 1;
    if (given != n)
        return ptx_fail(check->parser, operand->at, "%s needs %u register%s here, got %u", name_of(check), n,
                        n == 1 ? "" : "s", given);
    if (operand->kind != PTX_OPERAND_VECTOR)
        return check_value(check, operand, type, EXACT, is_destination);
    return check_decoration(check, operand, false, false) &&
           check_elements(check, operand, type, EXACT, is_destination);
}

static bool check_pair(struct ptx_check *check, const struct ptx_operand *operand) {
    if (operand->pair_id == PTX_NO_INDEX || operand->pair_id == PTX_SINK_ID)
        return true;
    return check_register(check, operand, operand->pair_id, PTX_PRED, EXACT);
}

/* tex and suld write four registers, or as many as .v2 or .v4 says. A single register may be in braces. */
static bool check_texels(struct ptx_check *check, struct ptx_operand *operand, enum ptx_type type) {
    bool is_destination = check->instruction->opcode != PTX_OP_SUST;
    if (operand->kind != PTX_OPERAND_VECTOR)
        return check_value(check, operand, type, WIDER, is_destination);
    unsigned width = check->instruction->vector;
    if (operand->n_elements != width)
        return ptx_fail(check->parser, operand->at, "%s needs a vector of %u here, got %u", name_of(check), width,
                        operand->n_elements);
    bool may_pair = check->instruction->opcode == PTX_OP_TEX || check->instruction->opcode == PTX_OP_TLD4;
    return (may_pair ? check_pair(check, operand) : check_decoration(check, operand, false, false)) &&
           check_elements(check, operand, type, WIDER, is_destination);
}

static bool check_scalar_move(struct ptx_check *check, struct ptx_operand *operand, enum ptx_type type,
                              bool is_destination) {
    return is_destination ? check_destination(check, operand, type, EXACT, false, false)
                          : check_source(check, operand, type, EXACT);
}

/* mov: a scalar, a whole vector register, or one wide register against several narrow ones. */
static bool check_move(struct ptx_check *check, struct ptx_operand *operand, enum ptx_type type, bool is_destination) {
    if (check->instruction->vector > 1)
        return check_vector(check, operand, type, EXACT, is_destination);
    if (operand->kind != PTX_OPERAND_VECTOR)
        return check_scalar_move(check, operand, type, is_destination);
    const struct ptx_operand *other = &check->instruction->operand[is_destination ? 1 : 0];
    bool is_packing = other->kind != PTX_OPERAND_VECTOR && ptx_type_kind(type) == PTX_KIND_B;
    if (operand->n_elements == 1 && is_packing) { /* {a} is a */
        *operand = operand->element[0];
        return check_scalar_move(check, operand, type, is_destination);
    }
    if (operand->element[0].kind == PTX_OPERAND_SPECIAL)
        return ptx_fail(check->parser, operand->at, "'%%%s' needs a component such as .x",
                        ptx_special_name(operand->element[0].special));
    if (!check_decoration(check, operand, false, false))
        return false;
    static const enum ptx_type parts[] = {PTX_B8, PTX_B16, PTX_B32, PTX_B64};
    unsigned bits = ptx_type_bits(type), n = operand->n_elements;
    if (!is_packing)
        return ptx_fail(check->parser, operand->at, "%s cannot move a vector; packing needs a type such as .b64",
                        name_of(check));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if ((n == 2 || n == 4) && ptx_type_bits(parts[i]) * n == bits)
            return check_elements(check, operand, parts[i], EXACT, is_destination);
    return ptx_fail(check->parser, operand->at, "%u parts do not make up a .%s", n, ptx_type_name(type));
}

/* ---- Predicates ---- */

/* d|p: checks the part before '|' as a separate destination. */
static bool check_paired(struct ptx_check *check, const struct ptx_operand *operand, enum ptx_type type) {
    struct ptx_operand first = *operand;
    first.pair_id = PTX_NO_INDEX;
    return check_destination(check, &first, type, EXACT, false, true) && check_pair(check, operand);
}

/* ---- Addresses ---- */

static bool is_window(enum ptx_space space) { return space != PTX_SPACE_GENERIC && space != PTX_SPACE_GLOBAL; }

static bool check_base(struct ptx_check *check, const struct ptx_operand *operand, bool may_be_narrow) {
    const struct ptx_register *reg = register_of(check, operand->register_id);
    enum ptx_kind kind = ptx_type_kind(reg->type);
    unsigned bits = ptx_type_bits(reg->type);
    if ((is_integer_kind(kind) || kind == PTX_KIND_B) && (bits == 64 || (bits == 32 && may_be_narrow)))
        return true;
    return ptx_fail(check->parser, operand->at, "'%s' is .%s; the address of %s needs a 64-bit%s integer", reg->name,
                    ptx_type_name(reg->type), name_of(check), may_be_narrow ? " or 32-bit" : "");
}

/* Sets the state space of an access without one to that of the variable it names. */
static bool check_variable_space(struct ptx_check *check, const struct ptx_operand *operand) {
    struct ptx_instruction *instruction = check->instruction;
    const struct ptx_variable *variable = operand->variable;
    enum ptx_space space = variable->space;
    bool is_generic = instruction->space == PTX_SPACE_GENERIC;
    if (is_generic && (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_SHARED || space == PTX_SPACE_LOCAL)) {
        instruction->space = space;
        return true;
    }
    if (instruction->space != space)
        return ptx_fail(check->parser, operand->at, "'%s' is in .%s, but %s accesses %s%s", variable->name,
                        ptx_space_name(space), name_of(check), is_generic ? "a generic address" : ".",
                        is_generic ? "" : ptx_space_name(instruction->space));
    bool is_write = instruction->opcode == PTX_OP_ST;
    if (is_write && variable->role == PTX_ROLE_PARAMETER)
        return ptx_fail(check->parser, operand->at, "parameter '%s' cannot be written", variable->name);
    return true;
}

static bool check_address(struct ptx_check *check, const struct ptx_operand *operand) {
    if (operand->kind != PTX_OPERAND_ADDRESS)
        return wrong_kind(check, operand, "an address in brackets");
    if (operand->register_id != PTX_NO_INDEX)
        return check_base(check, operand, is_window(check->instruction->space));
    return !operand->variable || check_variable_space(check, operand);
}

/* An address in a space of its own: cp, and the mbarriers of other asynchronous instructions. */
static bool check_address_in(struct ptx_check *check, const struct ptx_operand *operand, enum ptx_space space) {
    if (operand->kind != PTX_OPERAND_ADDRESS)
        return wrong_kind(check, operand, "an address in brackets");
    if (operand->register_id != PTX_NO_INDEX)
        return check_base(check, operand, is_window(space));
    if (operand->variable && operand->variable->space != space)
        return ptx_fail(check->parser, operand->at, "'%s' is in .%s, but %s accesses .%s here", operand->variable->name,
                        ptx_space_name(operand->variable->space), name_of(check), ptx_space_name(space));
    return true;
}

static bool check_handle(struct ptx_check *check, const struct ptx_operand *operand) {
    bool is_register = operand->register_id != PTX_NO_INDEX;
    if (is_register)
        return check_base(check, operand, false);
    if (!operand->variable ||
        (operand->variable->space != PTX_SPACE_TEX && operand->variable->space != PTX_SPACE_PARAM))
        return ptx_fail(check->parser, operand->at, "%s needs a texture, sampler or surface here", name_of(check));
    return true;
}

/* The derivatives of a texture's coordinates: a vector, or a scalar where there is one coordinate. */
static bool check_slopes(struct ptx_check *check, struct ptx_operand *operand, enum ptx_type type) {
    if (operand->kind == PTX_OPERAND_VECTOR)
        return check_elements(check, operand, type, EXACT, false);
    return check_source(check, operand, type, EXACT);
}

static bool check_texture(struct ptx_check *check, const struct ptx_operand *operand) {
    if (operand->kind != PTX_OPERAND_VECTOR || operand->n_elements < 2 || operand->n_elements > 3)
        return wrong_kind(check, operand, "[texture, {coordinates}]");
    for (uint32_t i = 0; i + 1 < operand->n_elements; i++)
        if (!check_handle(check, &operand->element[i]))
            return false;
    const struct ptx_operand *coordinates = &operand->element[operand->n_elements - 1];
    for (uint32_t i = 0; i < coordinates->n_elements; i++) {
        const struct ptx_operand *coordinate = &coordinates->element[i];
        if (coordinate->kind == PTX_OPERAND_REGISTER &&
            ptx_type_bits(register_of(check, coordinate->register_id)->type) != 32)
            return ptx_fail(check->parser, coordinate->at, "a coordinate of %s has 32 bits", name_of(check));
    }
    return true;
}

/* [map, {coordinates}] of a copy with a tensor map. */
static bool check_tensor(struct ptx_check *check, struct ptx_operand *operand) {
    if (operand->kind != PTX_OPERAND_VECTOR || operand->n_elements != 2 ||
        operand->element[0].kind != PTX_OPERAND_REGISTER)
        return wrong_kind(check, operand, "[register, {coordinates}]");
    if (operand->element[0].offset)
        return ptx_fail(check->parser, operand->at, "the address of a tensor map cannot have an offset here");
    return check_base(check, &operand->element[0], false) &&
           check_elements(check, &operand->element[1], PTX_S32, EXACT, false);
}

/* Offsets of im2col, a mask of blocks, or a cache policy: check.c checks how many there are. */
static bool check_copy_option(struct ptx_check *check, struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_VECTOR)
        return check_elements(check, operand, PTX_U16, EXACT, false);
    bool is_wide =
        operand->kind == PTX_OPERAND_REGISTER && ptx_type_bits(register_of(check, operand->register_id)->type) == 64;
    return check_source(check, operand, is_wide ? PTX_B64 : PTX_U16, EXACT);
}

/* ---- Video ---- */

static bool check_video(struct ptx_check *check, struct ptx_operand *operand) {
    bool may_negate = check->instruction->opcode == PTX_OP_VMAD;
    if (!check_decoration(check, operand, may_negate, true))
        return false;
    if (operand->kind == PTX_OPERAND_REGISTER)
        return check_register(check, operand, operand->register_id, PTX_B32, EXACT);
    if (operand->kind == PTX_OPERAND_INTEGER)
        return true;
    return wrong_kind(check, operand, "a register or an integer constant");
}

bool ptx_check_operand(struct ptx_check *check, struct ptx_operand *operand, char letter, unsigned k) {
    enum ptx_type type = ptx_operand_type(check->instruction, k);
    bool is_video = ptx_opcode_family(check->instruction->opcode) == PTX_FAMILY_VIDEO;
    switch (letter) {
    case 'd':
        return check_destination(check, operand, is_video ? PTX_B32 : type, EXACT, is_video, false);
    case 'D':
        return check_vector(check, operand, type, WIDER, true);
    case 'P':
        return check_paired(check, operand, PTX_PRED);
    case 'Q':
        return check_paired(check, operand, type);
    case 'V':
        return check_texels(check, operand, type);
    case 's':
        return check_source(check, operand, type, EXACT);
    case 'S':
        return check_vector(check, operand, type, WIDER, false);
    case 'E':
        return check_vector(check, operand, type, EXACT, false);
    case 'p':
        return check_source(check, operand, PTX_PRED, EXACT);
    case 'u':
        return check_source(check, operand, PTX_U32, EXACT);
    case 'i':
        return operand->kind == PTX_OPERAND_INTEGER || wrong_kind(check, operand, "an integer constant");
    case 'A':
        return operand->kind == PTX_OPERAND_REGISTER ? check_base(check, operand, true)
                                                     : wrong_kind(check, operand, "a register");
    case 'm':
        return check_address(check, operand);
    case '1':
        return check_address_in(check, operand, check->instruction->space);
    case '2':
        return check_address_in(check, operand, check->instruction->source_space);
    case 'a':
        return check_address_in(check, operand, PTX_SPACE_SHARED);
    case 'e': {
        bool is_predicate =
            operand->kind == PTX_OPERAND_REGISTER && register_of(check, operand->register_id)->type == PTX_PRED;
        return check_source(check, operand, is_predicate ? PTX_PRED : PTX_U32, EXACT);
    }
    case 'T':
        return check_tensor(check, operand);
    case 'O':
        return check_copy_option(check, operand);
    case 'x':
        return check_texture(check, operand);
    case 'g':
        return check_slopes(check, operand, type);
    case 'o':
        return operand->kind == PTX_OPERAND_VECTOR ? check_elements(check, operand, PTX_S32, EXACT, false)
                                                   : check_source(check, operand, PTX_S32, EXACT);
    case 't':
        return operand->kind == PTX_OPERAND_ADDRESS ? check_handle(check, operand)
                                                    : wrong_kind(check, operand, "[texture]");
    case 'h':
        return check_source(check, operand, PTX_B64, EXACT);
    case 'v':
        return check_video(check, operand);
    default: /* M */
        return check_move(check, operand, type, k == 0);
    }
}

bool ptx_check_argument(struct ptx_check *check, struct ptx_operand *operand, const struct ptx_variable *parameter) {
    uint64_t bytes = 0;
    switch (operand->kind) {
    case PTX_OPERAND_SINK:
    case PTX_OPERAND_INTEGER:
        return true;
    case PTX_OPERAND_FLOAT32:
    case PTX_OPERAND_FLOAT64:
        return check_float(check, operand, parameter->type);
    case PTX_OPERAND_REGISTER: {
        enum ptx_type type = register_of(check, operand->register_id)->type;
        if (parameter->type == PTX_PRED || type == PTX_PRED)
            bytes = parameter->type == type ? parameter->size : 0;
        else
            bytes = ptx_type_bits(type) / 8;
        break;
    }
    case PTX_OPERAND_VARIABLE:
        if (operand->variable->space != PTX_SPACE_PARAM)
            return ptx_fail(check->parser, operand->at, "'%s' is in .%s; a call passes .param variables and registers",
                            operand->variable->name, ptx_space_name(operand->variable->space));
        bytes = operand->variable->size;
        break;
    default:
        return wrong_kind(check, operand, "a register, a constant or a .param variable");
    }
    if (bytes == parameter->size || parameter->is_unsized)
        return true;
    return ptx_fail(check->parser, operand->at, "%llu bytes are passed for '%s', which has %llu",
                    (unsigned long long)bytes, parameter->name, (unsigned long long)parameter->size);
}
