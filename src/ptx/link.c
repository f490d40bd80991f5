/* Links separately compiled modules (nvcc -rdc=true) into one.
 *
 * A name that a part exports (.visible, .weak, .common) means the same in every part that declares it. Among several
 * definitions, .visible wins over .weak, .weak wins over .common, the larger of two .common definitions wins, and
 * otherwise the first one wins. Names without a linkage directive belong to their part. Names without a definition keep
 * their declaration: built-in functions, shared memory whose size the launch sets, and mistakes, which the loader
 * reports. The parts stay alive: functions and variables move to the new module's lists and still point to their own
 * text. */
#include "ptx/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* The precedence of a definition. A local one is visible only in its own part. */
enum rank { RANK_DECLARED, RANK_LOCAL, RANK_COMMON, RANK_WEAK, RANK_STRONG };

/* An exported name and its best definition so far. */
struct name {
    const char *text;
    enum rank rank;
    struct ptx_function *function; /* one of the two */
    struct ptx_variable *variable;
};

struct linking {
    struct ptx_module *module;
    struct ptx_messages *messages;
    struct name *name; /* open addressing; a power of two, at most half full */
    size_t n_names;
    /* By index in the current part: the function or variable of the new module. */
    struct ptx_function **function;
    struct ptx_variable **variable;
};

/* ---- Names ------------------------------------------------------------------------------------------------------ */

static enum rank rank_of(enum ptx_linkage linkage) {
    switch (linkage) {
    case PTX_LINK_NONE:
        return RANK_LOCAL;
    case PTX_LINK_WEAK:
        return RANK_WEAK;
    case PTX_LINK_COMMON:
        return RANK_COMMON;
    default:
        return RANK_STRONG;
    }
}

static enum rank function_rank(const struct ptx_function *function) {
    return function->has_body || function->alias_of ? rank_of(function->linkage) : RANK_DECLARED;
}

static enum rank variable_rank(const struct ptx_variable *variable) {
    return variable->linkage == PTX_LINK_EXTERN ? RANK_DECLARED : rank_of(variable->linkage);
}

static struct name *find_name(const struct linking *linking, const char *text) {
    uint64_t hash = 14695981039346656037ull; /* FNV-1a */
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
    size_t at = hash & (linking->n_names - 1);
    while (linking->name[at].text && strcmp(linking->name[at].text, text) != 0)
        at = (at + 1) & (linking->n_names - 1);
    return &linking->name[at];
}

static struct ptx_location place_of(const struct name *name, const struct ptx_module **home) {
    *home = name->function ? name->function->home : name->variable->home;
    return name->function ? name->function->at : name->variable->at;
}

/* Returns whether a definition of that rank replaces the known one of the name. */
static bool replaces(struct linking *linking, const struct name *known, enum rank rank, const struct ptx_module *home,
                     struct ptx_location at, const char *text) {
    if (rank <= RANK_LOCAL)
        return false;
    if (rank == RANK_STRONG && known->rank == RANK_STRONG) {
        const struct ptx_module *other;
        struct ptx_location there = place_of(known, &other);
        ptx_error_at(linking->messages, home, at, "'%s' is also defined in %s:%u", text, other->path, there.line);
    }
    return rank > known->rank;
}

static void learn_function(struct linking *linking, struct ptx_function *function) {
    struct name *name = find_name(linking, function->name);
    enum rank rank = function_rank(function);
    if (replaces(linking, name, rank, function->home, function->at, function->name))
        *name = (struct name){function->name, rank, function, NULL};
}

static void learn_variable(struct linking *linking, struct ptx_variable *variable) {
    struct name *name = find_name(linking, variable->name);
    enum rank rank = variable_rank(variable);
    bool is_larger = rank == RANK_COMMON && name->rank == RANK_COMMON && variable->size > name->variable->size;
    if (replaces(linking, name, rank, variable->home, variable->at, variable->name) || is_larger)
        *name = (struct name){variable->name, rank, NULL, variable};
}

/* ---- Resolution -------------------------------------------------------------------------------------------------- */

static bool same_shapes(const struct ptx_variable *a, uint32_t n_a, const struct ptx_variable *b, uint32_t n_b) {
    if (n_a != n_b)
        return false;
    for (uint32_t i = 0; i < n_a; i++)
        if (a[i].size != b[i].size || (a[i].space == PTX_SPACE_REG) != (b[i].space == PTX_SPACE_REG))
            return false;
    return true;
}

static struct ptx_function *resolve_function(struct linking *linking, struct ptx_function *function) {
    const struct name *name = find_name(linking, function->name);
    struct ptx_function *found = name->function;
    if (function_rank(function) == RANK_LOCAL || !name->text || found == function)
        return function;
    if (!found || !same_shapes(found->parameter, found->n_parameters, function->parameter, function->n_parameters) ||
        !same_shapes(found->result, found->n_results, function->result, function->n_results)) {
        const struct ptx_module *other;
        struct ptx_location there = place_of(name, &other);
        ptx_error_at(linking->messages, function->home, function->at, "'%s' is something else in %s:%u", function->name,
                     other->path, there.line);
        return function;
    }
    return found->alias_of ? found->alias_of : found;
}

static struct ptx_variable *resolve_variable(struct linking *linking, struct ptx_variable *variable) {
    const struct name *name = find_name(linking, variable->name);
    struct ptx_variable *found = name->variable;
    enum rank rank = variable_rank(variable);
    if (rank == RANK_LOCAL || !name->text || found == variable)
        return variable;
    bool fits = found && found->space == variable->space && found->object == variable->object &&
                (variable->is_unsized || rank == RANK_COMMON || variable->size == found->size);
    if (!fits) {
        const struct ptx_module *other;
        struct ptx_location there = place_of(name, &other);
        ptx_error_at(linking->messages, variable->home, variable->at, "'%s' has another space or size in %s:%u",
                     variable->name, other->path, there.line);
        return variable;
    }
    return found;
}

/* ---- A part's code and data -------------------------------------------------------------------------------------- */

static void move_operand(const struct linking *linking, struct ptx_operand *operand) {
    if (operand->function) {
        struct ptx_function *to = linking->function[operand->function->index];
        to->address_taken |= operand->function->address_taken;
        operand->function = to;
    }
    if (operand->variable && !operand->variable->owner)
        operand->variable = linking->variable[operand->variable->index];
    for (uint32_t i = 0; i < operand->n_elements; i++)
        move_operand(linking, &operand->element[i]);
}

static void move_call(const struct linking *linking, struct ptx_call *call) {
    move_operand(linking, &call->target);
    for (uint32_t i = 0; i < call->n_results; i++)
        move_operand(linking, &call->result[i]);
    for (uint32_t i = 0; i < call->n_arguments; i++)
        move_operand(linking, &call->argument[i]);
    for (uint32_t i = 0; i < call->n_candidates; i++)
        call->candidate[i] = linking->function[call->candidate[i]->index];
}

static void move_relocations(const struct linking *linking, struct ptx_variable *variable) {
    for (uint32_t i = 0; i < variable->n_relocations; i++) {
        struct ptx_relocation *relocation = &variable->relocation[i];
        if (relocation->variable && !relocation->variable->owner)
            relocation->variable = linking->variable[relocation->variable->index];
        if (relocation->function) {
            struct ptx_function *to = linking->function[relocation->function->index];
            to->address_taken |= relocation->function->address_taken;
            relocation->function = to;
        }
    }
}

static void move_function(const struct linking *linking, struct ptx_function *function, uint32_t first_file) {
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        struct ptx_instruction *instruction = &function->instruction[i];
        for (uint32_t k = 0; k < instruction->n_operands; k++)
            move_operand(linking, &instruction->operand[k]);
        if (instruction->call)
            move_call(linking, instruction->call);
        if (instruction->source.file)
            instruction->source.file += first_file;
    }
    for (uint32_t i = 0; i < function->n_variables; i++)
        move_relocations(linking, function->variable[i]);
    if (function->alias_of)
        function->alias_of = linking->function[function->alias_of->index];
}

/* Redirects everything in a part to its resolution, and moves the functions and variables that are kept to the new
 * module's lists. */
static void move_part(struct linking *linking, struct ptx_module *part) {
    struct ptx_module *module = linking->module;
    linking->function = BASE_ARENA_ARRAY(module->arena, struct ptx_function *, part->n_functions);
    linking->variable = BASE_ARENA_ARRAY(module->arena, struct ptx_variable *, part->n_variables);
    for (uint32_t i = 0; i < part->n_functions; i++)
        linking->function[i] = resolve_function(linking, part->function[i]);
    for (uint32_t i = 0; i < part->n_variables; i++)
        linking->variable[i] = resolve_variable(linking, part->variable[i]);
    for (uint32_t i = 0; i < part->n_functions; i++)
        move_function(linking, part->function[i], module->n_files);
    for (uint32_t i = 0; i < part->n_variables; i++)
        move_relocations(linking, part->variable[i]);
    for (uint32_t i = 0; i < part->n_functions; i++)
        if (linking->function[i] == part->function[i])
            module->function[module->n_functions++] = part->function[i];
    for (uint32_t i = 0; i < part->n_variables; i++)
        if (linking->variable[i] == part->variable[i])
            module->variable[module->n_variables++] = part->variable[i];
    for (uint32_t i = 0; i < part->n_files; i++)
        module->file[module->n_files++] = part->file[i];
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static struct ptx_module *new_module(const char *path, struct ptx_module **part, uint32_t n_parts) {
    struct base_arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        abort();
    struct ptx_module *module = BASE_ARENA_NEW(arena, struct ptx_module);
    uint32_t n_functions = 0, n_variables = 0, n_files = 0;
    for (uint32_t i = 0; i < n_parts; i++) {
        n_functions += part[i]->n_functions;
        n_variables += part[i]->n_variables;
        n_files += part[i]->n_files;
    }
    *module = (struct ptx_module){
        .version_major = part[0]->version_major,
        .version_minor = part[0]->version_minor,
        .target = part[0]->target,
        .address_size = part[0]->address_size,
        .function = BASE_ARENA_ARRAY(arena, struct ptx_function *, n_functions),
        .variable = BASE_ARENA_ARRAY(arena, struct ptx_variable *, n_variables),
        .file = BASE_ARENA_ARRAY(arena, const char *, n_files),
        .path = base_arena_copy(arena, path, strlen(path)),
        .text = "",
        .arena = arena,
        .part = BASE_ARENA_ARRAY(arena, struct ptx_module *, n_parts),
        .n_parts = n_parts,
    };
    memcpy(module->part, part, n_parts * sizeof *part);
    return module;
}

static void learn_names(struct linking *linking) {
    const struct ptx_module *module = linking->module;
    size_t n = 0;
    for (uint32_t p = 0; p < module->n_parts; p++)
        n += (size_t)module->part[p]->n_functions + module->part[p]->n_variables;
    for (linking->n_names = 16; linking->n_names < 2 * n;)
        linking->n_names *= 2;
    linking->name = calloc(linking->n_names, sizeof *linking->name);
    if (!linking->name)
        abort();
    for (uint32_t p = 0; p < module->n_parts; p++) {
        for (uint32_t i = 0; i < module->part[p]->n_functions; i++)
            learn_function(linking, module->part[p]->function[i]);
        for (uint32_t i = 0; i < module->part[p]->n_variables; i++)
            learn_variable(linking, module->part[p]->variable[i]);
    }
}

struct ptx_module *ptx_link(const char *path, struct ptx_module **part, uint32_t n_parts,
                            struct ptx_messages *messages) {
    struct linking linking = {.module = new_module(path, part, n_parts), .messages = messages};
    struct ptx_module *module = linking.module;
    unsigned n_errors = messages->n_errors;
    learn_names(&linking);
    for (uint32_t p = 0; p < n_parts; p++)
        move_part(&linking, part[p]);
    /* The indices in the parts' lists are no longer needed. */
    for (uint32_t i = 0; i < module->n_functions; i++)
        module->function[i]->index = i;
    for (uint32_t i = 0; i < module->n_variables; i++)
        module->variable[i]->index = i;
    free(linking.name);
    if (messages->n_errors == n_errors) {
        ptx_find_open_functions(module);
        return module;
    }
    ptx_module_free(module);
    return NULL;
}
