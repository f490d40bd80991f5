/* Functions: headers, performance directives, and the statements of a body. */
#include "ptx/internal.h"

#include <stdio.h>
#include <string.h>

/* ---- Headers ---- */

static bool parse_dimensions3(struct ptx_parser *parser, const char *what, uint32_t out[3]) {
    out[0] = out[1] = out[2] = 1;
    for (unsigned i = 0; i < 3; i++) {
        struct ptx_location at = parser->token.at;
        uint64_t value;
        if (!ptx_parse_count(parser, INT32_MAX, what, &value))
            return false;
        if (value == 0)
            return ptx_fail(parser, at, "%s cannot be 0", what);
        out[i] = (uint32_t)value;
        if (!ptx_accept(parser, ','))
            break;
    }
    return true;
}

static bool parse_one(struct ptx_parser *parser, const char *what, uint32_t *out) {
    uint64_t value;
    if (!ptx_parse_count(parser, INT32_MAX, what, &value))
        return false;
    if (out)
        *out = (uint32_t)value;
    return true;
}

/* Parses a performance directive such as .maxntid; sets *is_directive to false when the token is something else. */
static bool parse_performance(struct ptx_parser *parser, struct ptx_function *function, bool *is_directive) {
    *is_directive = true;
    if (ptx_accept_dot(parser, "maxntid"))
        return parse_dimensions3(parser, ".maxntid", function->max_threads);
    if (ptx_accept_dot(parser, "reqntid"))
        return parse_dimensions3(parser, ".reqntid", function->required_threads);
    if (ptx_accept_dot(parser, "minnctapersm") || ptx_accept_dot(parser, "maxnctapersm"))
        return parse_one(parser, ".minnctapersm", &function->min_blocks_per_sm);
    if (ptx_accept_dot(parser, "maxnreg"))
        return parse_one(parser, ".maxnreg", &function->max_registers);
    if (ptx_accept_dot(parser, "reqnctapercluster"))
        return parse_dimensions3(parser, ".reqnctapercluster", function->cluster);
    if (ptx_accept_dot(parser, "maxclusterrank"))
        return parse_one(parser, ".maxclusterrank", &function->max_cluster_rank);
    if (ptx_accept_dot(parser, "abi_preserve") || ptx_accept_dot(parser, "abi_preserve_control"))
        return parse_one(parser, ".abi_preserve", NULL);
    if (ptx_accept_dot(parser, "explicitcluster"))
        return true;
    if (ptx_accept_dot(parser, "blocksareclusters")) {
        function->blocks_are_clusters = true;
        return true;
    }
    if (ptx_accept_dot(parser, "attribute"))
        return ptx_skip_attribute(parser, NULL);
    if (ptx_accept_dot(parser, "pragma"))
        return ptx_parse_pragma(parser);
    if (ptx_accept_dot(parser, "noreturn")) {
        function->is_noreturn = true;
        return true;
    }
    *is_directive = false;
    return true;
}

static bool parse_directives(struct ptx_parser *parser, struct ptx_function *function) {
    bool is_directive = true;
    while (is_directive)
        if (!parse_performance(parser, function, &is_directive))
            return false;
    return true;
}

/* (results) name (parameters) directives; `function` must be zeroed. */
static bool parse_header(struct ptx_parser *parser, struct ptx_function *function, struct ptx_name **name) {
    if (!parse_directives(parser, function))
        return false;
    if (ptx_is_punctuation(parser, '(')) {
        if (function->is_entry)
            return ptx_fail(parser, parser->token.at, "an .entry returns nothing");
        if (!ptx_parse_parameters(parser, function, PTX_ROLE_RESULT, &function->result, &function->n_results, NULL))
            return false;
    }
    if (parser->token.kind != TOKEN_NAME)
        return ptx_unexpected(parser, "a function name");
    *name = parser->token.name;
    function->name = (*name)->text;
    function->at = parser->token.at;
    ptx_advance(parser);
    if (ptx_is_punctuation(parser, '(') &&
        !ptx_parse_parameters(parser, function, PTX_ROLE_PARAMETER, &function->parameter, &function->n_parameters,
                              &function->parameter_bytes))
        return false;
    for (uint32_t i = 0; function->is_entry && i < function->n_parameters; i++) {
        parser->has_lack |= function->parameter[i].space == PTX_SPACE_TEX;
        if (function->parameter[i].space != PTX_SPACE_PARAM)
            return ptx_fail(parser, function->parameter[i].at,
                            function->parameter[i].space == PTX_SPACE_TEX
                                ? "texture and surface references as parameters are not supported; use a .u64 handle"
                                : "the parameters of an .entry are .param, not .reg");
    }
    return parse_directives(parser, function);
}

static bool same_shapes(const struct ptx_variable *a, const struct ptx_variable *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (a[i].size != b[i].size)
            return false;
    return true;
}

static void set_owner(struct ptx_variable *list, uint32_t count, struct ptx_function *owner) {
    for (uint32_t i = 0; i < count; i++)
        list[i].owner = owner;
}

/* Stores the header in the function of that name, which may be declared already. */
static struct ptx_function *declare(struct ptx_parser *parser, struct ptx_name *name,
                                    const struct ptx_function *header) {
    struct ptx_binding *binding = name->binding;
    struct ptx_function *function;
    if (binding && binding->kind == BINDING_FUNCTION) {
        function = binding->function;
        if (function->is_entry != header->is_entry || function->n_parameters != header->n_parameters ||
            function->n_results != header->n_results ||
            !same_shapes(function->parameter, header->parameter, header->n_parameters) ||
            !same_shapes(function->result, header->result, header->n_results)) {
            ptx_fail(parser, header->at, "'%s' differs from its declaration on line %u", name->text, function->at.line);
            return NULL;
        }
    } else {
        function = BASE_ARENA_NEW(parser->arena, struct ptx_function);
        function->at = header->at;
        if (!ptx_bind_function(parser, name, function))
            return NULL;
        function->index = parser->functions.count;
        PTX_PUSH(&parser->functions, function);
    }
    if (function->has_body)
        return function;
    bool is_noreturn = function->is_noreturn || header->is_noreturn;
    enum ptx_linkage linkage = header->linkage == PTX_LINK_NONE ? function->linkage : header->linkage;
    uint32_t index = function->index;
    bool address_taken = function->address_taken;
    *function = *header;
    function->index = index;
    function->is_noreturn = is_noreturn;
    function->linkage = linkage;
    function->address_taken = address_taken;
    set_owner(function->parameter, function->n_parameters, function);
    set_owner(function->result, function->n_results, function);
    return function;
}

/* ---- Recovery ---- */

static void skip_block(struct ptx_parser *parser) {
    unsigned depth = 0;
    do {
        depth += ptx_is_punctuation(parser, '{');
        depth -= ptx_is_punctuation(parser, '}');
        ptx_advance(parser);
    } while (depth > 0 && parser->token.kind != TOKEN_END);
}

/* After a wrong header: skips its body or semicolon. */
static void skip_function(struct ptx_parser *parser) {
    while (parser->token.kind != TOKEN_END && !ptx_is_punctuation(parser, '{') && !ptx_is_punctuation(parser, ';'))
        ptx_advance(parser);
    if (ptx_is_punctuation(parser, '{'))
        skip_block(parser);
    else
        ptx_accept(parser, ';');
}

static bool starts_statement(const struct ptx_token *token) {
    if (!token->is_first)
        return false;
    return (token->kind == TOKEN_NAME && token->name->opcode != PTX_N_OPCODES) ||
           (token->kind == TOKEN_PUNCTUATION && token->punctuation == '@') ||
           (token->kind == TOKEN_DOT && token->name->suffix_kind == SUFFIX_SPACE);
}

/* After a wrong statement: skips to after the next ';', or before the '}' that ends the scope or a line that looks like
 * the next statement. A '}' with more operands after it closes a vector. */
static void recover(struct ptx_parser *parser) {
    while (parser->token.kind != TOKEN_END && !starts_statement(&parser->token)) {
        if (ptx_accept(parser, ';'))
            return;
        if (ptx_is_punctuation(parser, '}')) {
            char next = ptx_peek(parser);
            if (next != ',' && next != ';' && next != ']' && next != ')')
                return;
        }
        ptx_advance(parser);
    }
}

/* ---- Bodies ---- */

static bool parse_label_list(struct ptx_parser *parser, struct ptx_label *label) {
    PTX_LIST(struct ptx_pending) names = {0};
    bool is_right = false;
    do {
        struct ptx_pending pending = {.kind = PENDING_LABEL, .name = parser->token.name, .at = parser->token.at};
        if (parser->token.kind != TOKEN_NAME) {
            ptx_unexpected(parser, "a label in the list");
            goto out;
        }
        PTX_PUSH(&names, pending);
        ptx_advance(parser);
    } while (ptx_accept(parser, ','));
    if (label->kind == LABEL_BRANCH_TARGETS) {
        label->n_targets = names.count;
        label->targets = BASE_ARENA_ARRAY(parser->arena, uint32_t, names.count);
        for (uint32_t i = 0; i < names.count; i++) {
            names.item[i].target = &label->targets[i];
            PTX_PUSH(&parser->labels, names.item[i]);
        }
    } else {
        label->n_candidates = names.count;
        label->candidate = BASE_ARENA_ARRAY(parser->arena, struct ptx_function *, names.count);
        for (uint32_t i = 0; i < names.count; i++) {
            names.item[i].kind = PENDING_FUNCTION;
            names.item[i].function = &label->candidate[i];
            names.item[i].function_serial = parser->function_serial;
            PTX_PUSH(&parser->symbols, names.item[i]);
        }
    }
    is_right = true;
out:
    ptx_list_free(names.item);
    return is_right;
}

/* (results) _ (parameters) .noreturn */
static bool parse_prototype(struct ptx_parser *parser, struct ptx_label *label) {
    struct ptx_function *prototype = BASE_ARENA_NEW(parser->arena, struct ptx_function);
    prototype->index = PTX_NO_INDEX;
    label->prototype = prototype;
    struct ptx_name *name;
    return parse_header(parser, prototype, &name);
}

bool ptx_parse_label_directive(struct ptx_parser *parser, struct ptx_name *name, struct ptx_location at) {
    struct ptx_label label = {.name = name, .at = at};
    if (ptx_accept_dot(parser, "branchtargets"))
        label.kind = LABEL_BRANCH_TARGETS;
    else if (ptx_accept_dot(parser, "calltargets"))
        label.kind = LABEL_CALL_TARGETS;
    else if (ptx_accept_dot(parser, "callprototype"))
        label.kind = LABEL_PROTOTYPE;
    bool is_right = label.kind == LABEL_PROTOTYPE ? parse_prototype(parser, &label) : parse_label_list(parser, &label);
    return is_right && ptx_bind_label(parser, &label) && ptx_expect(parser, ';', "after the list");
}

static bool parse_label(struct ptx_parser *parser) {
    struct ptx_name *name = parser->token.name;
    struct ptx_location at = parser->token.at;
    ptx_advance(parser);
    ptx_advance(parser); /* : */
    if (ptx_is_dot(parser, "branchtargets") || ptx_is_dot(parser, "calltargets") || ptx_is_dot(parser, "callprototype"))
        return ptx_parse_label_directive(parser, name, at);
    struct ptx_label label = {.kind = LABEL_CODE, .name = name, .at = at, .target = parser->instructions.count};
    return ptx_bind_label(parser, &label);
}

static bool parse_pragma_inside(struct ptx_parser *parser) {
    uint32_t n = parser->pragmas.count;
    if (!ptx_parse_pragma(parser))
        return false;
    for (uint32_t i = n; i < parser->pragmas.count; i++)
        parser->has_nounroll |= strstr(parser->pragmas.item[i], "nounroll") != NULL;
    return true;
}

static bool parse_directive(struct ptx_parser *parser) {
    if (ptx_accept_dot(parser, "reg"))
        return ptx_parse_registers(parser);
    if (ptx_accept_dot(parser, "loc"))
        return ptx_parse_loc(parser);
    if (ptx_accept_dot(parser, "file"))
        return ptx_parse_file(parser);
    if (ptx_accept_dot(parser, "pragma"))
        return parse_pragma_inside(parser);
    if (ptx_accept_dot(parser, "section"))
        return ptx_skip_section(parser);
    enum ptx_linkage linkage;
    uint32_t alignment;
    if (!ptx_parse_linkage(parser, &linkage) || !ptx_parse_leading_alignment(parser, &alignment))
        return false;
    enum ptx_space space = ptx_variable_space(parser);
    if (space == PTX_SPACE_GENERIC)
        return ptx_unexpected(parser, "an instruction or a declaration");
    ptx_advance(parser);
    return ptx_parse_variables(parser, space, linkage, alignment);
}

static bool parse_statement(struct ptx_parser *parser) {
    if (ptx_accept(parser, ';'))
        return true;
    if (parser->token.kind == TOKEN_DOT)
        return parse_directive(parser);
    if (parser->token.kind == TOKEN_NAME && ptx_peek(parser) == ':')
        return parse_label(parser);
    return ptx_parse_instruction(parser);
}

/* Parses statements up to the '}' of the outermost scope; inner scopes open and close on the way. */
static void parse_body(struct ptx_parser *parser) {
    uint32_t outermost = parser->depth;
    ptx_advance(parser); /* { */
    while (parser->token.kind != TOKEN_END) {
        if (ptx_is_punctuation(parser, '{')) {
            if (ptx_scope_open(parser, parser->token.at))
                ptx_advance(parser);
            else
                skip_block(parser);
        } else if (ptx_is_punctuation(parser, '}')) {
            ptx_advance(parser);
            if (parser->depth == outermost)
                return;
            ptx_scope_close(parser);
        } else {
            parser->operands.count = 0;
            if (!parse_statement(parser))
                recover(parser);
        }
    }
    char what[96];
    snprintf(what, sizeof what, "'}' at the end of function '%.60s'", parser->function->name);
    ptx_unexpected(parser, what);
    while (parser->depth > outermost)
        ptx_scope_close(parser);
}

static void bind_parameters(struct ptx_parser *parser, struct ptx_variable *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_name *name = ptx_intern(parser, list[i].name, strlen(list[i].name));
        if (list[i].space == PTX_SPACE_REG)
            ptx_bind_register(parser, name, list[i].at, list[i].type, 1, &list[i].register_id);
        else
            ptx_bind_variable(parser, name, &list[i]);
    }
}

static void keep_body(struct ptx_parser *parser, struct ptx_function *function) {
    function->n_instructions = parser->instructions.count;
    function->instruction = PTX_KEEP(parser->arena, &parser->instructions, 0);
    function->n_registers = parser->registers.count;
    function->reg = PTX_KEEP(parser->arena, &parser->registers, 0);
    function->n_variables = parser->variables.count;
    function->variable = PTX_KEEP(parser->arena, &parser->variables, 0);
}

static void parse_definition(struct ptx_parser *parser, struct ptx_function *function) {
    parser->function = function;
    parser->function_serial++;
    parser->source = (struct ptx_source_line){0};
    parser->instructions.count = parser->registers.count = parser->variables.count = parser->labels.count = 0;
    ptx_scope_open(parser, function->at);
    bind_parameters(parser, function->result, function->n_results);
    bind_parameters(parser, function->parameter, function->n_parameters);
    function->has_body = true;
    parse_body(parser);
    ptx_scope_close(parser);
    ptx_resolve_function(parser);
    keep_body(parser, function);
    parser->function = NULL;
}

static void keep_pragmas(struct ptx_parser *parser, struct ptx_function *function) {
    function->n_pragmas = parser->pragmas.count;
    function->pragma = PTX_KEEP(parser->arena, &parser->pragmas, 0);
}

bool ptx_parse_function(struct ptx_parser *parser, bool is_entry, enum ptx_linkage linkage) {
    struct ptx_function header = {.is_entry = is_entry, .linkage = linkage};
    struct ptx_name *name;
    parser->pragmas.count = 0;
    if (!parse_header(parser, &header, &name)) {
        skip_function(parser);
        return true; /* recovered */
    }
    bool has_body = ptx_is_punctuation(parser, '{');
    struct ptx_function *function = declare(parser, name, &header);
    if (function && has_body && function->has_body) {
        ptx_fail(parser, header.at, "function '%s' has two bodies; first on line %u", function->name,
                 function->at.line);
        function = NULL;
    }
    if (!function) {
        skip_function(parser);
        return true;
    }
    if (!has_body)
        return ptx_expect(parser, ';', "or '{' after the function's header");
    parse_definition(parser, function);
    keep_pragmas(parser, function);
    return true;
}
