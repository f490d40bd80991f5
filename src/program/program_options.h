/* Options about the program, for every command that runs one: rows for its table, and their meaning for a program. */
#pragma once

#include "program/execute.h"

/* The choices of --size, in its order. */
enum { PROGRAM_SIZE_SMALL, PROGRAM_SIZE_MEDIUM, PROGRAM_SIZE_PAPER };
#define PROGRAM_SIZE_NOT_GIVEN UINT32_MAX

struct program_options {
    bool has_check;
    unsigned size;                                          /* or PROGRAM_SIZE_NOT_GIVEN */
    uint64_t seed, blocks, threads_per_block, shared_bytes; /* UINT64_MAX: not given */
    const char *kernel, *grid, *block;                      /* NULL: not given */
    struct command_words arguments;                         /* from --arg */
};

#define PROGRAM_DEFAULTS                                                                                               \
    {                                                                                                                  \
        .has_check = true, .size = PROGRAM_SIZE_NOT_GIVEN, .seed = UINT64_MAX, .blocks = UINT64_MAX,                   \
        .threads_per_block = UINT64_MAX, .shared_bytes = UINT64_MAX                                                    \
    }

/* Rows of a table of options; `at` is the offset of a struct program_options in the command's struct. */
#define PROGRAM_FIELD(at, name) ((at) + offsetof(struct program_options, name))
#define PROGRAM_ROWS(at)                                                                                                \
    {"--size",                                                                                                          \
     0,                                                                                                                 \
     COMMAND_CHOICE,                                                                                                    \
     "small|medium|paper",                                                                                              \
     "input of a bundled workload, default small",                                                                      \
     PROGRAM_FIELD(at, size),                                                                                           \
     0,                                                                                                                 \
     0},                                                                                                                \
        {"--seed", 0,         COMMAND_NUMBER, "N", "seed of a bundled workload's input", PROGRAM_FIELD(at, seed),       \
         0,        UINT32_MAX},                                                                                         \
        {"--blocks", 0,         COMMAND_NUMBER, "N", "blocks of a bundled workload's grid", PROGRAM_FIELD(at, blocks),  \
         1,          UINT32_MAX},                                                                                       \
        {"--threads-per-block",                                                                                         \
         0,                                                                                                             \
         COMMAND_NUMBER,                                                                                                \
         "N",                                                                                                           \
         "threads of a bundled workload's blocks",                                                                      \
         PROGRAM_FIELD(at, threads_per_block),                                                                          \
         1,                                                                                                             \
         UINT32_MAX},                                                                                                   \
        {"--no-check",                                                                                                  \
         0,                                                                                                             \
         COMMAND_NO_FLAG,                                                                                               \
         NULL,                                                                                                          \
         "skip a bundled workload's CPU reference",                                                                     \
         PROGRAM_FIELD(at, has_check),                                                                                  \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--kernel",                                                                                                    \
         0,                                                                                                             \
         COMMAND_TEXT,                                                                                                  \
         "NAME",                                                                                                        \
         "kernel of a .ptx file; of a program, a REGEX: those timed",                                                   \
         PROGRAM_FIELD(at, kernel),                                                                                     \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--grid", 0, COMMAND_TEXT, "X[,Y[,Z]]", "blocks of a .ptx file's grid, default 1", PROGRAM_FIELD(at, grid),    \
         0,        0},                                                                                                  \
        {"--block", 0, COMMAND_TEXT, "X[,Y[,Z]]", "threads of its blocks, default 32", PROGRAM_FIELD(at, block), 0, 0}, \
        {"--shared",                                                                                                    \
         0,                                                                                                             \
         COMMAND_NUMBER,                                                                                                \
         "BYTES",                                                                                                       \
         "dynamic shared memory of its blocks",                                                                         \
         PROGRAM_FIELD(at, shared_bytes),                                                                               \
         0,                                                                                                             \
         INT32_MAX},                                                                                                    \
    {                                                                                                                   \
        "--arg", 0, COMMAND_LIST, "VALUE", "an argument of its kernel; repeat it, in order",                            \
            PROGRAM_FIELD(at, arguments), 0, 0                                                                          \
    }

/* Rejects options that do not apply to the program: COMMAND_USAGE after one line, otherwise COMMAND_DONE. */
int program_check_options(const struct program *program, const struct program_options *given);

/* Returns the program's arguments: those of the options, then `words`. */
struct command_words program_arguments(const struct program *program, const struct program_options *given,
                                       const struct command_words *words, struct base_arena *arena);

/* Returns "small", or NULL for a program that has no sizes. */
const char *program_size(const struct program *program, const struct program_options *given);
