/* Modules: the directives outside functions. */
#include "ptx/internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_NUMBER = 1 << 20 };

static bool parse_version(struct ptx_parser *parser) {
    const struct ptx_token *token = &parser->token;
    if (token->kind != TOKEN_FLOAT64 && token->kind != TOKEN_INTEGER)
        return ptx_unexpected(parser, "a version such as 7.0");
    char text[32] = "";
    memcpy(text, token->text, token->length < sizeof text ? token->length : sizeof text - 1);
    char *minor;
    unsigned long major = strtoul(text, &minor, 10);
    parser->module->version_major = (uint32_t)major;
    parser->module->version_minor = *minor == '.' ? (uint32_t)strtoul(minor + 1, NULL, 10) : 0;
    parser->has_lack |= major > 9;
    if (major < 1 || major > 9)
        return ptx_fail(parser, token->at, "PTX version %s is not supported; 1.0 to 9.0 are", text);
    ptx_advance(parser);
    return true;
}

static bool is_target_option(const struct ptx_parser *parser) {
    static const char *const options[] = {"texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (ptx_is_word(parser, options[i]))
            return true;
    return false;
}

static bool parse_target(struct ptx_parser *parser) {
    do {
        bool is_architecture =
            parser->token.kind == TOKEN_NAME &&
            (strncmp(parser->token.name->text, "sm_", 3) == 0 || strncmp(parser->token.name->text, "compute_", 8) == 0);
        if (is_architecture)
            parser->module->target = parser->token.name->text;
        else if (!is_target_option(parser))
            return ptx_unexpected(parser, "a target such as sm_70");
        ptx_advance(parser);
    } while (ptx_accept(parser, ','));
    return true;
}

static bool parse_address_size(struct ptx_parser *parser) {
    struct ptx_location at = parser->token.at;
    uint64_t value;
    if (!ptx_parse_count(parser, 64, ".address_size", &value))
        return false;
    parser->has_lack |= value == 32;
    if (value != 64)
        return ptx_fail(parser, at, ".address_size %llu is not supported; 64 is", (unsigned long long)value);
    parser->module->address_size = 64;
    return true;
}

/* .file 1 "a.cu" [, timestamp, size] */
bool ptx_parse_file(struct ptx_parser *parser) {
    uint64_t number, ignored;
    if (!ptx_parse_count(parser, MAX_FILE_NUMBER, "file number", &number))
        return false;
    if (parser->token.kind != TOKEN_STRING)
        return ptx_unexpected(parser, "a file name in quotes");
    if (number >= parser->files.count) {
        uint32_t more = (uint32_t)number + 1 - parser->files.count;
        PTX_RESERVE(&parser->files, more);
        memset(parser->files.item + parser->files.count, 0, more * sizeof *parser->files.item);
        parser->files.count += more;
    }
    parser->files.item[number] = base_arena_copy(parser->arena, parser->token.text, parser->token.length);
    ptx_advance(parser);
    while (ptx_accept(parser, ','))
        if (!ptx_parse_count(parser, UINT64_MAX, "file time or size", &ignored))
            return false;
    return true;
}

/* After "function_name": label [+ offset]; after "inlined_at": file line column. */
static bool skip_loc_detail(struct ptx_parser *parser) {
    struct ptx_value ignored;
    if (ptx_is_word(parser, "function_name")) {
        ptx_advance(parser);
        return ptx_parse_value(parser, &ignored);
    }
    if (!ptx_is_word(parser, "inlined_at"))
        return ptx_unexpected(parser, "function_name or inlined_at");
    ptx_advance(parser);
    for (unsigned i = 0; i < 3; i++)
        if (!ptx_parse_value(parser, &ignored))
            return false;
    return true;
}

/* .loc file line column [, function_name label, inlined_at file line column] */
bool ptx_parse_loc(struct ptx_parser *parser) {
    uint64_t file, line, column;
    if (!ptx_parse_count(parser, UINT32_MAX, "file number", &file) ||
        !ptx_parse_count(parser, UINT32_MAX, "line number", &line) ||
        !ptx_parse_count(parser, UINT32_MAX, "column number", &column))
        return false;
    parser->source = (struct ptx_source_line){(uint32_t)file, (uint32_t)line};
    while (ptx_accept(parser, ','))
        if (!skip_loc_detail(parser))
            return false;
    return true;
}

bool ptx_parse_pragma(struct ptx_parser *parser) {
    do {
        if (parser->token.kind != TOKEN_STRING)
            return ptx_unexpected(parser, "a string after .pragma");
        PTX_PUSH(&parser->pragmas, base_arena_copy(parser->arena, parser->token.text, parser->token.length));
        ptx_advance(parser);
    } while (ptx_accept(parser, ','));
    return ptx_expect(parser, ';', "after .pragma");
}

/* .section .debug_info { ... }: DWARF for debuggers. */
bool ptx_skip_section(struct ptx_parser *parser) {
    if (parser->token.kind != TOKEN_DOT && parser->token.kind != TOKEN_NAME)
        return ptx_unexpected(parser, "a section name");
    struct ptx_location at = parser->token.at;
    ptx_advance(parser);
    if (!ptx_is_punctuation(parser, '{'))
        return ptx_unexpected(parser, "'{' after the section name");
    unsigned depth = 0;
    do {
        depth += ptx_is_punctuation(parser, '{');
        depth -= ptx_is_punctuation(parser, '}');
        ptx_advance(parser);
        if (parser->token.kind == TOKEN_END && depth > 0)
            return ptx_fail(parser, at, "section without an end");
    } while (depth > 0);
    return true;
}

/* .alias a, b; */
static bool parse_alias(struct ptx_parser *parser) {
    struct ptx_alias alias = {.name = parser->token.name, .at = parser->token.at};
    if (parser->token.kind != TOKEN_NAME)
        return ptx_unexpected(parser, "a function name after .alias");
    ptx_advance(parser);
    if (!ptx_expect(parser, ',', "after the alias"))
        return false;
    if (parser->token.kind != TOKEN_NAME)
        return ptx_unexpected(parser, "the function the alias stands for");
    alias.target = parser->token.name;
    ptx_advance(parser);
    PTX_PUSH(&parser->aliases, alias);
    return ptx_expect(parser, ';', "after .alias");
}

bool ptx_parse_linkage(struct ptx_parser *parser, enum ptx_linkage *linkage) {
    *linkage = PTX_LINK_NONE;
    for (;;) {
        if (ptx_accept_dot(parser, "visible"))
            *linkage = PTX_LINK_VISIBLE;
        else if (ptx_accept_dot(parser, "extern"))
            *linkage = PTX_LINK_EXTERN;
        else if (ptx_accept_dot(parser, "weak"))
            *linkage = PTX_LINK_WEAK;
        else if (ptx_accept_dot(parser, "common"))
            *linkage = PTX_LINK_COMMON;
        else
            return true;
    }
}

enum ptx_space ptx_variable_space(const struct ptx_parser *parser) {
    const struct ptx_name *name = parser->token.kind == TOKEN_DOT ? parser->token.name : NULL;
    if (!name || name->suffix_kind != SUFFIX_SPACE || name->suffix_value == PTX_SPACE_REG)
        return PTX_SPACE_GENERIC;
    return (enum ptx_space)name->suffix_value;
}

static bool parse_declaration(struct ptx_parser *parser) {
    enum ptx_linkage linkage;
    if (!ptx_parse_linkage(parser, &linkage))
        return false;
    if (ptx_accept_dot(parser, "entry"))
        return ptx_parse_function(parser, true, linkage);
    if (ptx_accept_dot(parser, "func"))
        return ptx_parse_function(parser, false, linkage);
    uint32_t alignment;
    if (!ptx_parse_leading_alignment(parser, &alignment))
        return false;
    enum ptx_space space = ptx_variable_space(parser);
    if (space == PTX_SPACE_GENERIC || space == PTX_SPACE_PARAM || space == PTX_SPACE_LOCAL)
        return ptx_unexpected(parser, "a directive, a function or a variable of the module");
    ptx_advance(parser);
    return ptx_parse_variables(parser, space, linkage, alignment);
}

static bool parse_directive(struct ptx_parser *parser) {
    if (ptx_accept(parser, ';'))
        return true;
    if (ptx_accept_dot(parser, "version"))
        return parse_version(parser);
    if (ptx_accept_dot(parser, "target"))
        return parse_target(parser);
    if (ptx_accept_dot(parser, "address_size"))
        return parse_address_size(parser);
    if (ptx_accept_dot(parser, "file"))
        return ptx_parse_file(parser);
    if (ptx_accept_dot(parser, "section"))
        return ptx_skip_section(parser);
    if (ptx_accept_dot(parser, "pragma"))
        return ptx_parse_pragma(parser);
    if (ptx_accept_dot(parser, "alias"))
        return parse_alias(parser);
    return parse_declaration(parser);
}

static bool starts_directive(const struct ptx_parser *parser) {
    static const char *const words[] = {"visible", "extern", "weak",   "common", "entry",   "func",
                                        "global",  "const",  "shared", "file",   "section", "alias"};
    if (parser->token.kind != TOKEN_DOT || !parser->token.is_first)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_is_word(parser, words[i]))
            return true;
    return false;
}

static void recover(struct ptx_parser *parser) {
    while (parser->token.kind != TOKEN_END && !starts_directive(parser)) {
        bool is_end = ptx_is_punctuation(parser, ';') || ptx_is_punctuation(parser, '}');
        ptx_advance(parser);
        if (is_end)
            return;
    }
}

/* .version, .target and .address_size must be present. */
static void check_preamble(struct ptx_parser *parser) {
    struct ptx_module *module = parser->module;
    struct ptx_location start = {1, 1};
    if (module->version_major == 0)
        ptx_fail(parser, start, "expected '.version' at the start of the module");
    else if (!module->target)
        ptx_fail(parser, start, "expected '.target' after '.version'");
    else if (module->address_size == 0 && module->version_major < 3)
        module->address_size = 64; /* the directive came with 2.3; addresses here have 64 bits */
    else if (module->address_size == 0)
        parser->has_lack = !ptx_fail(
            parser, start, "expected '.address_size 64': without it addresses have 32 bits, which is not supported");
}

void ptx_parse_module(struct ptx_parser *parser) {
    while (parser->token.kind != TOKEN_END) {
        struct ptx_location before = parser->token.at;
        if (!parse_directive(parser)) {
            if (parser->token.at.line == before.line && parser->token.at.column == before.column)
                ptx_advance(parser);
            recover(parser);
        }
    }
    if (parser->n_errors == 0)
        check_preamble(parser);
}
