/* Elements of arrays as operands: a[3], a[%r1], a[%r1 + 2]; and registers plus a constant, %r1 + 2.
 *
 * From the PTX ISA manual ("Arrays as Operands"). mov and cvta take the address of the element; ld, ldu and st access
 * it without brackets. Details that the manual leaves open follow the vendor's assembler, release 13.0: an index counts
 * elements of the scalar type, even in arrays of vectors and of several dimensions. Only the low 32 bits of a register
 * count, index times size is computed with 32 bits, and the product is unsigned.
 *
 * An index in a register needs arithmetic, which the parser writes out before the instruction. So does a register plus
 * a constant as a source. The manual allows such a sum only in addresses, but the vendor's assembler accepts it for
 * every integer register, and emits the same machine code as for an add before the instruction. */
#include "ptx/internal.h"

static uint32_t element_bytes(const struct ptx_variable *variable) { return (ptx_type_bits(variable->type) + 7) / 8; }

static bool parse_index_register(struct ptx_parser *parser, struct ptx_operand *operand) {
    struct ptx_location at = parser->token.at;
    if (!ptx_parse_register(parser, "an integer register", &operand->register_id))
        return false;
    const struct ptx_register *reg = &parser->registers.item[operand->register_id];
    enum ptx_kind kind = ptx_type_kind(reg->type);
    if (kind == PTX_KIND_F || kind == PTX_KIND_P)
        return ptx_fail(parser, at, "'%s' is .%s; an index must be an integer", reg->name, ptx_type_name(reg->type));
    return true;
}

bool ptx_parse_element(struct ptx_parser *parser, struct ptx_operand *operand) {
    const struct ptx_variable *variable = operand->variable;
    if (!variable->is_array)
        return ptx_fail(parser, parser->token.at, "'%s' is not an array", variable->name);
    ptx_advance(parser);
    operand->is_element = true;
    parser->element_at = operand->at;
    parser->n_elements++;
    bool has_register = parser->token.kind == TOKEN_NAME;
    if (has_register && !parse_index_register(parser, operand))
        return false;
    struct ptx_value index = {.kind = VALUE_INTEGER, .at = parser->token.at};
    if ((!has_register || !ptx_is_punctuation(parser, ']')) && !ptx_parse_value(parser, &index))
        return false;
    if (index.kind != VALUE_INTEGER)
        return ptx_fail(parser, index.at, "expected an integer or a register as index");
    operand->offset = (int64_t)(index.bits * element_bytes(variable));
    return ptx_expect(parser, ']', "after the index");
}

/* ---- Arithmetic for an index in a register, and sums ---- */

static struct ptx_operand register_operand(uint32_t id, struct ptx_location at) {
    return (struct ptx_operand){
        .kind = PTX_OPERAND_REGISTER, .at = at, .selector_mask = 0xffff, .register_id = id, .pair_id = PTX_NO_INDEX};
}

static struct ptx_operand integer_operand(uint64_t value, struct ptx_location at) {
    struct ptx_operand operand = register_operand(PTX_NO_INDEX, at);
    operand.kind = PTX_OPERAND_INTEGER;
    operand.value = value;
    return operand;
}

/* Writes opcode.type d, sources with a new register d of that type, and returns it. A second type is cvt's. */
static uint32_t write(struct ptx_parser *parser, const struct ptx_instruction *near, enum ptx_opcode opcode,
                      enum ptx_type type, enum ptx_type from, const struct ptx_operand *source, uint32_t n_sources) {
    struct ptx_register reg = {.name = base_arena_printf(parser->arena, "%%element%u", parser->registers.count),
                               .type = type};
    uint32_t id = parser->registers.count;
    PTX_PUSH(&parser->registers, reg);
    struct ptx_instruction instruction = {.at = near->at,
                                          .source = near->source,
                                          .opcode = opcode,
                                          .vector = 1,
                                          .guard = PTX_NO_INDEX,
                                          .n_types = from == PTX_NO_TYPE ? 1 : 2,
                                          .type = {type, from},
                                          .n_operands = (uint8_t)(1 + n_sources)};
    if (opcode == PTX_OP_MAD)
        instruction.modifiers[PTX_MOD_LO / 64] |= UINT64_C(1) << PTX_MOD_LO % 64;
    instruction.operand = BASE_ARENA_ARRAY(parser->arena, struct ptx_operand, 1 + n_sources);
    instruction.operand[0] = register_operand(id, near->at);
    for (uint32_t i = 0; i < n_sources; i++)
        instruction.operand[1 + i] = source[i];
    PTX_PUSH(&parser->instructions, instruction);
    return id;
}

/* Returns a register of that type with the address of the element. */
static uint32_t write_address(struct ptx_parser *parser, const struct ptx_instruction *near,
                              const struct ptx_operand *element, enum ptx_type type) {
    struct ptx_location at = element->at;
    struct ptx_operand index = register_operand(element->register_id, at), array = *element;
    unsigned bits = ptx_type_bits(parser->registers.item[index.register_id].type);
    array.register_id = PTX_NO_INDEX;
    array.offset = 0;
    array.is_element = false;
    if (bits != 32) {
        enum ptx_type from = bits == 64 ? PTX_U64 : PTX_U16;
        index.register_id = write(parser, near, PTX_OP_CVT, PTX_U32, from, &index, 1);
    }
    struct ptx_operand product[] = {index, integer_operand(element_bytes(element->variable), at),
                                    integer_operand((uint64_t)element->offset, at)};
    struct ptx_operand distance =
        register_operand(write(parser, near, PTX_OP_MAD, PTX_U32, PTX_NO_TYPE, product, 3), at);
    if (type == PTX_U64)
        distance.register_id = write(parser, near, PTX_OP_CVT, PTX_U64, PTX_U32, &distance, 1);
    struct ptx_operand sum[] = {register_operand(write(parser, near, PTX_OP_MOV, type, PTX_NO_TYPE, &array, 1), at),
                                distance};
    return write(parser, near, PTX_OP_ADD, type, PTX_NO_TYPE, sum, 2);
}

/* An access without a state space is to that of the array. */
static bool set_space(struct ptx_parser *parser, struct ptx_instruction *instruction,
                      const struct ptx_operand *element) {
    const struct ptx_variable *array = element->variable;
    if (array->space == PTX_SPACE_PARAM)
        return ptx_fail(parser, element->at, "the index of the parameter '%s' must be a constant", array->name);
    if (instruction->space == PTX_SPACE_GENERIC)
        instruction->space = array->space;
    return instruction->space == array->space ||
           ptx_fail(parser, element->at, "'%s' is in .%s, not in .%s", array->name, ptx_space_name(array->space),
                    ptx_space_name(instruction->space));
}

static bool place_element(struct ptx_parser *parser, struct ptx_instruction *instruction, struct ptx_operand *operand) {
    bool is_access =
        instruction->opcode == PTX_OP_LD || instruction->opcode == PTX_OP_LDU || instruction->opcode == PTX_OP_ST;
    bool is_move = instruction->opcode == PTX_OP_MOV, is_narrow = false;
    if (!is_access && !is_move && instruction->opcode != PTX_OP_CVTA)
        return true; /* ptx_place_elements() reports it */
    if (is_move && instruction->n_types > 0)
        is_narrow = ptx_type_bits(instruction->type[0]) == 32;
    if (operand->register_id != PTX_NO_INDEX) {
        if (!is_move && !set_space(parser, instruction, operand))
            return false;
        uint32_t address = write_address(parser, instruction, operand, is_narrow ? PTX_U32 : PTX_U64);
        *operand = register_operand(address, operand->at);
    }
    if (is_access)
        operand->kind = PTX_OPERAND_ADDRESS;
    operand->is_element = false;
    parser->n_elements--;
    return true;
}

bool ptx_place_elements(struct ptx_parser *parser, struct ptx_instruction *instruction) {
    for (uint32_t i = 0; i < instruction->n_operands; i++)
        if (instruction->operand[i].is_element && !place_element(parser, instruction, &instruction->operand[i]))
            return false;
    return parser->n_elements == 0 ||
           ptx_fail(parser, parser->element_at, "only mov, cvta, ld, ldu and st take an element of an array");
}

static bool place_sum(struct ptx_parser *parser, const struct ptx_instruction *instruction,
                      struct ptx_operand *operand) {
    static const enum ptx_type types[] = {[16] = PTX_U16, [32] = PTX_U32, [64] = PTX_U64};
    const struct ptx_register *reg = &parser->registers.item[operand->register_id];
    enum ptx_kind kind = ptx_type_kind(reg->type);
    if (kind == PTX_KIND_F || kind == PTX_KIND_P || ptx_type_bits(reg->type) < 16)
        return ptx_fail(parser, operand->at, "'%s' is .%s; a constant is added to integers only", reg->name,
                        ptx_type_name(reg->type));
    enum ptx_type type = types[ptx_type_bits(reg->type)];
    struct ptx_operand sum[] = {register_operand(operand->register_id, operand->at),
                                integer_operand((uint64_t)operand->offset, operand->at)};
    *operand = register_operand(write(parser, instruction, PTX_OP_ADD, type, PTX_NO_TYPE, sum, 2), operand->at);
    operand->is_sum = true;
    return true;
}

bool ptx_place_sums(struct ptx_parser *parser, struct ptx_instruction *instruction) {
    for (uint32_t i = 0; i < instruction->n_operands; i++) {
        struct ptx_operand *operand = &instruction->operand[i];
        if (operand->kind == PTX_OPERAND_REGISTER && operand->offset != 0 && !place_sum(parser, instruction, operand))
            return false;
    }
    return true;
}
