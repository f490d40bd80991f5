/* From text to module: ptx_parse(), and the memory that a parse allocates and frees. */
#include "ptx/internal.h"

#include <stdlib.h>
#include <string.h>

static struct ptx_module *new_module(const char *path, const char *text, size_t length) {
    struct base_arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        abort();
    struct ptx_module *module = BASE_ARENA_NEW(arena, struct ptx_module);
    module->arena = arena;
    module->path = base_arena_copy(arena, path, strlen(path));
    module->text = base_arena_copy(arena, text, length);
    module->text_length = length;
    return module;
}

static void keep_lists(struct ptx_parser *parser) {
    struct ptx_module *module = parser->module;
    module->n_functions = parser->functions.count;
    module->function = PTX_KEEP(parser->arena, &parser->functions, 0);
    module->n_variables = parser->module_variables.count;
    module->variable = PTX_KEEP(parser->arena, &parser->module_variables, 0);
    module->n_files = parser->files.count;
    module->file = PTX_KEEP(parser->arena, &parser->files, 0);
    for (uint32_t i = 0; i < module->n_functions; i++)
        module->function[i]->home = module;
    for (uint32_t i = 0; i < module->n_variables; i++)
        module->variable[i]->home = module;
}

static void check_functions(struct ptx_parser *parser) {
    for (uint32_t i = 0; i < parser->functions.count; i++)
        ptx_check_function(parser, parser->functions.item[i]);
}

static void free_parser(struct ptx_parser *parser) {
    void *const lists[] = {
        parser->errors.item,       parser->labels.item,     parser->symbols.item,   parser->operands.item,
        parser->instructions.item, parser->registers.item,  parser->variables.item, parser->module_variables.item,
        parser->functions.item,    parser->pragmas.item,    parser->files.item,     parser->relocations.item,
        parser->bytes.item,        parser->parameters.item, parser->aliases.item};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        ptx_list_free(lists[i]);
    base_arena_free(&parser->scratch);
    free(parser);
}

struct ptx_module *ptx_parse(const char *path, const char *text, size_t length, struct ptx_messages *messages) {
    *messages = (struct ptx_messages){0};
    bool is_too_long = length > PTX_MAX_TEXT_BYTES;
    struct ptx_module *module = new_module(path, text, is_too_long ? 0 : length);
    if (is_too_long) {
        ptx_error_at(messages, module, (struct ptx_location){1, 1}, "PTX text longer than %llu bytes",
                     (unsigned long long)PTX_MAX_TEXT_BYTES);
        ptx_module_free(module);
        return NULL;
    }
    struct ptx_parser *parser = calloc(1, sizeof *parser);
    if (!parser)
        abort();
    parser->module = module;
    parser->arena = module->arena;
    ptx_names_start(parser);
    ptx_lexer_start(parser);
    ptx_parse_module(parser);
    ptx_resolve_module(parser);
    check_functions(parser);
    keep_lists(parser);
    ptx_report(parser, messages);
    messages->has_lack = parser->has_lack;
    bool is_right = parser->n_errors == 0;
    free_parser(parser);
    if (is_right) {
        ptx_find_open_functions(module);
        return module;
    }
    ptx_module_free(module);
    return NULL;
}

void ptx_module_free(struct ptx_module *module) {
    if (!module)
        return;
    for (uint32_t i = 0; i < module->n_parts; i++)
        ptx_module_free(module->part[i]);
    struct base_arena *arena = module->arena;
    base_arena_free(arena);
    free(arena);
}

struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name) {
    for (uint32_t i = 0; i < module->n_functions; i++)
        if (strcmp(module->function[i]->name, name) == 0)
            return module->function[i];
    return NULL;
}

struct ptx_variable *ptx_find_variable(const struct ptx_module *module, const char *name) {
    for (uint32_t i = 0; i < module->n_variables; i++)
        if (strcmp(module->variable[i]->name, name) == 0)
            return module->variable[i];
    return NULL;
}
