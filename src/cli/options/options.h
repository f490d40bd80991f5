/* Options: one table per command. The parser, `--help` and the completion all read the same rows, so they agree. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum cli_kind {
    CLI_FLAG,    /* bool */
    CLI_NO_FLAG, /* bool, cleared by the option */
    CLI_CHOICE,  /* unsigned: the index among the words of `value`, separated by `|` */
    CLI_TEXT,    /* const char * */
    CLI_NUMBER,  /* uint64_t from least to most */
    CLI_SECONDS, /* double above 0 */
    CLI_LIST,    /* struct cli_words: the option may be repeated */
};

struct cli_option {
    const char *name; /* "--size" */
    char letter;      /* 'q' for -q; 0: none */
    enum cli_kind kind;
    const char *value; /* how the help names it; NULL for flags */
    const char *help;
    size_t field; /* offset of the value in the command's struct */
    uint64_t least, most;
};

struct cli_words {
    const char **item;
    unsigned count;
    unsigned n_before; /* on a command line: how many came before -- */
};

struct cli_command {
    const char *name;
    const char *summary;  /* one line */
    const char *usage;    /* what follows `heddle` */
    const char *text;     /* paragraphs below it, or NULL */
    const char *examples; /* lines, or NULL */
    const struct cli_option *options;
    unsigned n_options;
    bool has_program; /* words after -- are for the program that it runs */
    int (*main)(int argc, char **argv);
};

/* Every command, in the order of the help. */
extern const struct cli_command *const cli_commands[];
extern const unsigned cli_n_commands;
const struct cli_command *cli_find_command(const char *name); /* NULL: none */
/* Prints one line on standard error, with the nearest command. Returns the exit status. */
int cli_unknown_command(const char *name);

/* Reads the words after argv[0]. Options may come anywhere before `--` and are stored in `values`, the command's
 * struct, which holds the defaults. The other words are collected in order. Returns false if the command must end at
 * once with *status: after --help, or after one line about wrong usage. */
bool cli_parse(const struct cli_command *command, int argc, char **argv, void *values, struct cli_words *words,
               struct base_arena *arena, int *status);

/* Print the help of `heddle` alone, of `heddle help COMMAND` and, for completion, every option on a separate line. */
void cli_print_overview(void);
void cli_print_command(const struct cli_command *command);
void cli_print_options(const struct cli_command *command);
