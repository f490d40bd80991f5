/* call (results), function, (arguments), prototype; every part but the function may be missing. */
#include "ptx/internal.h"

/* Parses ( a, b ) into an arena array; the opening parenthesis is the current token. */
static bool parse_list(struct ptx_parser *parser, struct ptx_operand **list, uint32_t *count) {
    uint32_t first = parser->operands.count;
    ptx_advance(parser);
    if (!ptx_is_punctuation(parser, ')')) {
        do {
            struct ptx_operand operand;
            if (!ptx_parse_operand(parser, &operand))
                return false;
            PTX_PUSH(&parser->operands, operand);
        } while (ptx_accept(parser, ','));
    }
    *count = parser->operands.count - first;
    *list = PTX_KEEP(parser->arena, &parser->operands, first);
    parser->operands.count = first;
    ptx_note_unresolved(parser, *list, *count);
    return ptx_expect(parser, ')', "after operand");
}

static bool parse_target(struct ptx_parser *parser, struct ptx_operand *target) {
    struct ptx_name *name = parser->token.name;
    if (parser->token.kind != TOKEN_NAME)
        return ptx_unexpected(parser, "a function or a register");
    *target = (struct ptx_operand){.kind = PTX_OPERAND_FUNCTION,
                                   .at = parser->token.at,
                                   .selector_mask = 0xffff,
                                   .register_id = PTX_NO_INDEX,
                                   .pair_id = PTX_NO_INDEX};
    ptx_advance(parser);
    const struct ptx_binding *binding = ptx_lookup(parser, name);
    if (binding && binding->kind == BINDING_REGISTER && binding->width == 1) {
        target->kind = PTX_OPERAND_REGISTER;
        target->register_id = binding->register_id;
        return true;
    }
    if (!binding && name->text[0] == '%')
        return ptx_undefined(parser, name, target->at, "register");
    struct ptx_pending pending = {.kind = PENDING_FUNCTION,
                                  .name = name,
                                  .at = target->at,
                                  .function = &target->function,
                                  .function_serial = parser->function_serial};
    PTX_PUSH(&parser->symbols, pending);
    return true;
}

static bool parse_prototype(struct ptx_parser *parser, struct ptx_call *call) {
    struct ptx_pending pending = {.kind = PENDING_PROTOTYPE, .name = parser->token.name, .at = parser->token.at};
    if (parser->token.kind != TOKEN_NAME)
        return ptx_unexpected(parser, "the label of a .callprototype or .calltargets");
    pending.call = call;
    ptx_advance(parser);
    PTX_PUSH(&parser->labels, pending);
    return true;
}

bool ptx_parse_call(struct ptx_parser *parser, struct ptx_instruction *instruction) {
    struct ptx_call *call = BASE_ARENA_NEW(parser->arena, struct ptx_call);
    instruction->call = call;
    if (ptx_is_punctuation(parser, '(')) {
        if (!parse_list(parser, &call->result, &call->n_results) || !ptx_expect(parser, ',', "after the results"))
            return false;
    }
    if (!parse_target(parser, &call->target))
        return false;
    bool has_more = ptx_accept(parser, ',');
    if (has_more && ptx_is_punctuation(parser, '(')) {
        if (!parse_list(parser, &call->argument, &call->n_arguments))
            return false;
        has_more = ptx_accept(parser, ',');
    }
    return !has_more || parse_prototype(parser, call);
}
