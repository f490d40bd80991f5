/* Options about the program, for every command that runs one: rows for its table, and their meaning for a program. */
#pragma once

#include "cli/program/execute.h"

/* The choices of --size, in its order. */
enum { CLI_SIZE_SMALL, CLI_SIZE_MEDIUM, CLI_SIZE_PAPER };
#define CLI_SIZE_NOT_GIVEN UINT32_MAX

struct cli_program_options {
    bool has_check;
    unsigned size;                                          /* or CLI_SIZE_NOT_GIVEN */
    uint64_t seed, blocks, threads_per_block, shared_bytes; /* UINT64_MAX: not given */
    const char *kernel, *grid, *block;                      /* NULL: not given */
    struct cli_words arguments;                             /* from --arg */
};

#define CLI_PROGRAM_DEFAULTS                                                                                           \
    {                                                                                                                  \
        .has_check = true, .size = CLI_SIZE_NOT_GIVEN, .seed = UINT64_MAX, .blocks = UINT64_MAX,                       \
        .threads_per_block = UINT64_MAX, .shared_bytes = UINT64_MAX                                                    \
    }

/* Rows of a table of options; `at` is the offset of a struct cli_program_options in the command's struct. */
#define CLI_PROGRAM_FIELD(at, name) ((at) + offsetof(struct cli_program_options, name))
#define CLI_PROGRAM_ROWS(at)                                                                                            \
    {"--size",                                                                                                          \
     0,                                                                                                                 \
     CLI_CHOICE,                                                                                                        \
     "small|medium|paper",                                                                                              \
     "input of a bundled workload, default small",                                                                      \
     CLI_PROGRAM_FIELD(at, size),                                                                                       \
     0,                                                                                                                 \
     0},                                                                                                                \
        {"--seed", 0,         CLI_NUMBER, "N", "seed of a bundled workload's input", CLI_PROGRAM_FIELD(at, seed),       \
         0,        UINT32_MAX},                                                                                         \
        {"--blocks", 0,         CLI_NUMBER, "N", "blocks of a bundled workload's grid", CLI_PROGRAM_FIELD(at, blocks),  \
         1,          UINT32_MAX},                                                                                       \
        {"--threads-per-block",                                                                                         \
         0,                                                                                                             \
         CLI_NUMBER,                                                                                                    \
         "N",                                                                                                           \
         "threads of a bundled workload's blocks",                                                                      \
         CLI_PROGRAM_FIELD(at, threads_per_block),                                                                      \
         1,                                                                                                             \
         UINT32_MAX},                                                                                                   \
        {"--no-check",                                                                                                  \
         0,                                                                                                             \
         CLI_NO_FLAG,                                                                                                   \
         NULL,                                                                                                          \
         "skip a bundled workload's CPU reference",                                                                     \
         CLI_PROGRAM_FIELD(at, has_check),                                                                              \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--kernel",                                                                                                    \
         0,                                                                                                             \
         CLI_TEXT,                                                                                                      \
         "NAME",                                                                                                        \
         "kernel of a .ptx file; of a program, a REGEX: those timed",                                                   \
         CLI_PROGRAM_FIELD(at, kernel),                                                                                 \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--grid", 0, CLI_TEXT, "X[,Y[,Z]]", "blocks of a .ptx file's grid, default 1", CLI_PROGRAM_FIELD(at, grid),    \
         0,        0},                                                                                                  \
        {"--block", 0, CLI_TEXT, "X[,Y[,Z]]", "threads of its blocks, default 32", CLI_PROGRAM_FIELD(at, block), 0, 0}, \
        {"--shared",                                                                                                    \
         0,                                                                                                             \
         CLI_NUMBER,                                                                                                    \
         "BYTES",                                                                                                       \
         "dynamic shared memory of its blocks",                                                                         \
         CLI_PROGRAM_FIELD(at, shared_bytes),                                                                           \
         0,                                                                                                             \
         INT32_MAX},                                                                                                    \
    {                                                                                                                   \
        "--arg", 0, CLI_LIST, "VALUE", "an argument of its kernel; repeat it, in order",                                \
            CLI_PROGRAM_FIELD(at, arguments), 0, 0                                                                      \
    }

/* Rejects options that do not apply to the program: CLI_USAGE after one line, otherwise CLI_DONE. */
int cli_check_program_options(const struct cli_program *program, const struct cli_program_options *given);

/* Returns the program's arguments: those of the options, then `words`. */
struct cli_words cli_program_arguments(const struct cli_program *program, const struct cli_program_options *given,
                                       const struct cli_words *words, struct base_arena *arena);

/* Returns "small", or NULL for a program that has no sizes. */
const char *cli_program_size(const struct cli_program *program, const struct cli_program_options *given);
