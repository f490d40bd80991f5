/* Options: one table per command. The parser, `--help` and the completion all read the same rows, so they agree. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum command_kind {
    COMMAND_FLAG,    /* bool */
    COMMAND_NO_FLAG, /* bool, cleared by the option */
    COMMAND_CHOICE,  /* unsigned: the index among the words of `value`, separated by `|` */
    COMMAND_TEXT,    /* const char * */
    COMMAND_NUMBER,  /* uint64_t from least to most */
    COMMAND_SECONDS, /* double above 0 */
    COMMAND_PERCENT, /* double above 0: a share, 0.01 for 1%. The next word is its value only if it ends in %, and must
                      * be no number; `least` is the value without one, in thousandths of a percent */
    COMMAND_LIST,    /* struct command_words: the option may be repeated */
};

struct command_option {
    const char *name; /* "--size" */
    char letter;      /* 'q' for -q; 0: none */
    enum command_kind kind;
    const char *value; /* how the help names it; NULL for flags */
    const char *help;
    size_t field; /* offset of the value in the command's struct */
    uint64_t least, most;
};

struct command_words {
    const char **item;
    unsigned count;
    unsigned n_before; /* on a command line: how many came before -- */
};

struct command {
    const char *name;
    const char *summary;  /* one line */
    const char *usage;    /* what follows `heddle` */
    const char *text;     /* paragraphs below it, or NULL */
    const char *examples; /* lines, or NULL */
    const struct command_option *options;
    unsigned n_options;
    bool has_program; /* words after -- are for the program that it runs */
    /* Returns whether unknown options after the program's name are the program's own; NULL: they are mistakes. */
    bool (*has_own_options)(const char *program);
    int (*main)(int argc, char **argv);
};

/* Reads the words after argv[0]. Options may come anywhere before `--` and are stored in `values`, the command's
 * struct, which holds the defaults. The other words are collected in order. Returns false if the command must end at
 * once with *status: after --help, or after one line about wrong usage. */
bool command_parse(const struct command *command, int argc, char **argv, void *values, struct command_words *words,
                   struct base_arena *arena, int *status);

/* Print the text of `heddle help COMMAND` and, for completion, every option on a separate line. */
void command_print_help(const struct command *command);
void command_print_options(const struct command *command);
