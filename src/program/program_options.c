/* Options of the program that runs: the programs they apply to, and how they are passed on. */
#include "program/program_options.h"

#include <string.h>

#include "command/command.h"
#include "program/workloads.h"

static const uint64_t not_given = UINT64_MAX;
static const char *const size_names[] = {"small", "medium", "paper"};

static unsigned size_of(const struct program_options *given) {
    return given->size == PROGRAM_SIZE_NOT_GIVEN ? PROGRAM_SIZE_SMALL : given->size;
}

const char *program_size(const struct program *program, const struct program_options *given) {
    return program->kind == PROGRAM_WORKLOAD ? size_names[size_of(given)] : NULL;
}

int program_check_options(const struct program *program, const struct program_options *given) {
    const char *for_workload = given->size != PROGRAM_SIZE_NOT_GIVEN   ? "--size"
                               : given->seed != not_given              ? "--seed"
                               : given->blocks != not_given            ? "--blocks"
                               : given->threads_per_block != not_given ? "--threads-per-block"
                               : !given->has_check                     ? "--no-check"
                                                                       : NULL;
    const char *for_ptx = given->kernel                      ? "--kernel"
                          : given->grid                      ? "--grid"
                          : given->block                     ? "--block"
                          : given->shared_bytes != not_given ? "--shared"
                          : given->arguments.count           ? "--arg"
                                                             : NULL;
    if (for_workload && program->kind != PROGRAM_WORKLOAD)
        return command_fail(COMMAND_USAGE, "%s is for bundled workloads; the options of '%s' itself come after --",
                            for_workload, program->name);
    if (for_ptx && program->kind != PROGRAM_PTX)
        return command_fail(COMMAND_USAGE, "%s is for .ptx files; '%s' is not one", for_ptx, program->name);
    return COMMAND_DONE;
}

/* ---- Arguments of the program ------------------------------------------------------------------------------------ */

struct arguments {
    struct command_words words;
    struct base_arena *arena;
};

static void add_argument(struct arguments *arguments, const char *word) {
    arguments->words.item[arguments->words.count++] = word;
}

static void add_option(struct arguments *arguments, const char *name, const char *value) {
    if (!value)
        return;
    add_argument(arguments, name);
    add_argument(arguments, value);
}

static void add_number(struct arguments *arguments, const char *name, uint64_t value) {
    if (value != not_given)
        add_option(arguments, name, base_arena_printf(arguments->arena, "%llu", (unsigned long long)value));
}

/* Adds the alias's arguments. Options that the user gives come later and win. */
static void add_alias(struct arguments *arguments, const struct program *program, unsigned size) {
    const struct program_alias *alias = program_find_alias(program->name);
    if (!alias)
        return;
    for (const char *at = alias->arguments[size]; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        add_argument(arguments, base_arena_copy(arguments->arena, at, length));
        at += length;
    }
}

struct command_words program_arguments(const struct program *program, const struct program_options *given,
                                       const struct command_words *words, struct base_arena *arena) {
    enum { FIXED = 32 }; /* more than the options passed on and those of an alias, with their values */
    size_t most = FIXED + words->count + 2 * (size_t)given->arguments.count;
    struct arguments arguments = {.words = {BASE_ARENA_ARRAY(arena, const char *, most), 0, 0}, .arena = arena};
    if (program->kind == PROGRAM_WORKLOAD) {
        add_option(&arguments, "--size", program_size(program, given));
        add_alias(&arguments, program, size_of(given));
        add_number(&arguments, "--seed", given->seed);
        add_number(&arguments, "--blocks", given->blocks);
        add_number(&arguments, "--threads-per-block", given->threads_per_block);
        if (!given->has_check)
            add_argument(&arguments, "--no-check");
    } else if (program->kind == PROGRAM_PTX) {
        add_argument(&arguments, program->name);
        add_option(&arguments, "--kernel", given->kernel);
        add_option(&arguments, "--grid", given->grid);
        add_option(&arguments, "--block", given->block);
        add_number(&arguments, "--shared", given->shared_bytes);
        for (unsigned i = 0; i < given->arguments.count; i++)
            add_option(&arguments, "--arg", given->arguments.item[i]);
    }
    for (unsigned i = 0; i < words->count; i++)
        add_argument(&arguments, words->item[i]);
    return arguments.words;
}
