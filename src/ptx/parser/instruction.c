/* Instructions: guard, opcode, suffixes, operands; branches, whose targets may come later. */
#include "ptx/internal.h"

#include <stdio.h>
#include <string.h>

enum { MAX_OPERANDS = 32 };

/* @p or @!p */
static bool parse_guard(struct ptx_parser *parser, struct ptx_instruction *instruction) {
    if (!ptx_accept(parser, '@'))
        return true;
    instruction->guard_negated = ptx_accept(parser, '!');
    struct ptx_location at = parser->token.at;
    if (!ptx_parse_register(parser, "a predicate register", &instruction->guard))
        return false;
    const struct ptx_register *reg = &parser->registers.item[instruction->guard];
    if (reg->type != PTX_PRED)
        return ptx_fail(parser, at, "the guard '%s' is .%s; a guard must be .pred", reg->name,
                        ptx_type_name(reg->type));
    return true;
}

static bool parse_opcode(struct ptx_parser *parser, struct ptx_instruction *instruction) {
    const struct ptx_token *token = &parser->token;
    if (token->kind != TOKEN_NAME)
        return ptx_unexpected(parser, "an instruction");
    instruction->at = token->at;
    instruction->text = token->text;
    instruction->text_length = token->length;
    instruction->opcode = (enum ptx_opcode)token->name->opcode;
    if (token->name->opcode == PTX_N_OPCODES) {
        const char *nearest = ptx_nearest_opcode(parser, token->name->text);
        if (nearest)
            return ptx_fail(parser, token->at, "unknown instruction '%s'; did you mean '%s'?", token->name->text,
                            nearest);
        return ptx_fail(parser, token->at, "unknown instruction '%s'", token->name->text);
    }
    if (ptx_opcode_family(instruction->opcode) == PTX_FAMILY_MATRIX)
        instruction->matrix = ptx_matrix_new(parser, instruction->opcode);
    ptx_advance(parser);
    return true;
}

static bool unknown_suffix(struct ptx_parser *parser, const struct ptx_instruction *instruction) {
    const char *text = parser->token.name->text, *opcode = ptx_opcode_name(instruction->opcode);
    const char *nearest = ptx_nearest_suffix(parser, text);
    if (nearest)
        return ptx_fail(parser, parser->token.at, "unknown suffix '.%s' of %s; did you mean '.%s'?", text, opcode,
                        nearest);
    return ptx_fail(parser, parser->token.at, "unknown suffix '.%s' of %s", text, opcode);
}

static bool add_type(struct ptx_parser *parser, struct ptx_instruction *instruction, enum ptx_type type) {
    if (instruction->n_types < PTX_MAX_TYPES)
        instruction->type[instruction->n_types++] = type;
    else if (ptx_opcode_family(instruction->opcode) != PTX_FAMILY_NONE)
        return ptx_fail(parser, parser->token.at, "more than %d types", PTX_MAX_TYPES);
    return true;
}

static bool add_space(struct ptx_parser *parser, struct ptx_instruction *instruction, enum ptx_space space) {
    if (instruction->space == PTX_SPACE_GENERIC)
        instruction->space = space;
    else if ((instruction->opcode == PTX_OP_CP || instruction->opcode == PTX_OP_TENSORMAP) &&
             instruction->source_space == PTX_SPACE_GENERIC)
        instruction->source_space = space;
    else if (ptx_opcode_family(instruction->opcode) != PTX_FAMILY_NONE)
        return ptx_fail(parser, parser->token.at, "second state space '.%s'", parser->token.name->text);
    return true;
}

static void mark_unsupported(struct ptx_parser *parser, struct ptx_instruction *instruction) {
    if (!instruction->unsupported)
        instruction->unsupported = base_arena_printf(parser->arena, ".%s", parser->token.name->text);
}

/* Returns whether the instruction takes .b128 as .v2.b64: a register of 128 bits is a vector of two halves. */
static bool divides(enum ptx_opcode opcode) {
    return opcode == PTX_OP_MOV || opcode == PTX_OP_LD || opcode == PTX_OP_ST || opcode == PTX_OP_ATOM;
}

static bool parse_suffix(struct ptx_parser *parser, struct ptx_instruction *instruction) {
    const struct ptx_name *name = parser->token.name;
    if (instruction->matrix && ptx_parse_matrix_suffix(name->text, instruction->matrix))
        return true;
    if (instruction->matrix && ptx_is_later_matrix_suffix(name->text)) {
        mark_unsupported(parser, instruction);
        return true;
    }
    switch (name->suffix_kind) {
    case SUFFIX_TYPE:
        if (name->suffix_value == PTX_B128 && divides(instruction->opcode)) {
            instruction->vector = 2;
            return add_type(parser, instruction, PTX_B64);
        }
        if (name->suffix_value == PTX_B128)
            mark_unsupported(parser, instruction);
        return add_type(parser, instruction, (enum ptx_type)name->suffix_value);
    case SUFFIX_SPACE:
        return add_space(parser, instruction, (enum ptx_space)name->suffix_value);
    case SUFFIX_VECTOR:
        instruction->vector = (uint8_t)name->suffix_value;
        return true;
    case SUFFIX_MODIFIER:
        instruction->modifiers[name->suffix_value / 64] |= UINT64_C(1) << name->suffix_value % 64;
        return true;
    default:
        if (ptx_opcode_family(instruction->opcode) == PTX_FAMILY_NONE)
            return true; /* the whole instruction is unsupported; its suffixes do not matter */
        if (name->suffix_kind == SUFFIX_NONE)
            return unknown_suffix(parser, instruction);
        mark_unsupported(parser, instruction);
        return true;
    }
}

static bool parse_suffixes(struct ptx_parser *parser, struct ptx_instruction *instruction) {
    while (parser->token.kind == TOKEN_DOT) {
        if (!parse_suffix(parser, instruction))
            return false;
        instruction->text_length = (uint32_t)(parser->token.text + parser->token.length - instruction->text);
        ptx_advance(parser);
    }
    ptx_complete_old(parser->module, instruction);
    return true;
}

static bool parse_target_name(struct ptx_parser *parser, struct ptx_pending *pending) {
    if (parser->token.kind != TOKEN_NAME)
        return ptx_unexpected(parser, "a label");
    pending->name = parser->token.name;
    pending->at = parser->token.at;
    ptx_advance(parser);
    return true;
}

static bool parse_branch(struct ptx_parser *parser, struct ptx_instruction *instruction) {
    struct ptx_pending pending = {.kind = PENDING_LABEL};
    if (!parse_target_name(parser, &pending))
        return false;
    struct ptx_operand *operand = BASE_ARENA_NEW(parser->arena, struct ptx_operand);
    *operand = (struct ptx_operand){.kind = PTX_OPERAND_LABEL,
                                    .at = pending.at,
                                    .selector_mask = 0xffff,
                                    .register_id = PTX_NO_INDEX,
                                    .pair_id = PTX_NO_INDEX};
    instruction->operand = operand;
    instruction->n_operands = 1;
    pending.target = &operand->target;
    PTX_PUSH(&parser->labels, pending);
    return true;
}

/* brx.idx index, table: the table's labels become the instruction's targets. */
static bool parse_indexed_branch(struct ptx_parser *parser, struct ptx_instruction *instruction) {
    struct ptx_operand index;
    struct ptx_pending pending = {.kind = PENDING_TABLE, .instruction = parser->instructions.count};
    if (!ptx_parse_operand(parser, &index) || !ptx_expect(parser, ',', "after the index") ||
        !parse_target_name(parser, &pending))
        return false;
    instruction->operand = BASE_ARENA_NEW(parser->arena, struct ptx_operand);
    *instruction->operand = index;
    instruction->n_operands = 1;
    PTX_PUSH(&parser->labels, pending);
    return true;
}

/* Rejects tokens that cannot start an operand, because the message about a bad constant would be worse. An opcode that
 * starts a line is the next instruction. */
static bool starts_operand(const struct ptx_token *token) {
    if (token->kind == TOKEN_PUNCTUATION)
        return token->punctuation < 256 && strchr("{[!-+~(", token->punctuation);
    if (token->kind == TOKEN_NAME)
        return !token->is_first || token->name->opcode == PTX_N_OPCODES;
    return token->kind == TOKEN_INTEGER || token->kind == TOKEN_FLOAT32 || token->kind == TOKEN_FLOAT64;
}

static bool parse_operands(struct ptx_parser *parser, struct ptx_instruction *instruction) {
    uint32_t first = parser->operands.count;
    if (ptx_is_punctuation(parser, ';'))
        return true;
    if (!starts_operand(&parser->token))
        return ptx_unexpected(parser, "an operand or ';'");
    do {
        struct ptx_operand operand;
        if (parser->operands.count - first == MAX_OPERANDS)
            return ptx_fail(parser, parser->token.at, "more than %d operands", MAX_OPERANDS);
        if (!ptx_parse_operand(parser, &operand) || !ptx_parse_addend(parser, &operand))
            return false;
        PTX_PUSH(&parser->operands, operand);
    } while (ptx_accept(parser, ','));
    instruction->n_operands = (uint8_t)(parser->operands.count - first);
    instruction->operand = PTX_KEEP(parser->arena, &parser->operands, first);
    parser->operands.count = first;
    ptx_note_unresolved(parser, instruction->operand, instruction->n_operands);
    return true;
}

static bool parse_rest(struct ptx_parser *parser, struct ptx_instruction *instruction) {
    switch (instruction->opcode) {
    case PTX_OP_BRA:
        return parse_branch(parser, instruction);
    case PTX_OP_BRX:
        return parse_indexed_branch(parser, instruction);
    case PTX_OP_CALL:
        return ptx_parse_call(parser, instruction);
    default:
        return parse_operands(parser, instruction);
    }
}

bool ptx_parse_instruction(struct ptx_parser *parser) {
    struct ptx_instruction instruction = {.guard = PTX_NO_INDEX, .vector = 1, .source = parser->source};
    uint32_t n_labels = parser->labels.count;
    parser->n_unresolved = parser->n_elements = 0;
    bool is_right = parse_guard(parser, &instruction) && parse_opcode(parser, &instruction) &&
                    parse_suffixes(parser, &instruction) && parse_rest(parser, &instruction) &&
                    ptx_place_elements(parser, &instruction) && ptx_place_sums(parser, &instruction) &&
                    ptx_expect(parser, ';', instruction.n_operands > 0 ? "after operand" : "after instruction");
    if (!is_right) {
        parser->labels.count = n_labels; /* drop the targets of the dropped branch */
        return false;
    }
    ptx_widen_special(&instruction);
    instruction.has_nounroll = parser->has_nounroll;
    parser->has_nounroll = false;
    PTX_PUSH(&parser->instructions, instruction);
    return true;
}
