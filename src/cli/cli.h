/* The `heddle` command: its subcommands and the list of them. */
#pragma once

#include <jansson.h>

#include "base/arena.h"
#include "command/command.h"
#include "command/options.h"

/* Runs the whole command line; argv[0] is the command itself. */
int cli_main(int argc, char **argv);

/* One subcommand each; argv[0] is its name. Returns the exit status. */
int cli_run(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_characterize(int argc, char **argv);
int cli_ptx(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_validate(int argc, char **argv);
int cli_paper(int argc, char **argv);
int cli_sweep(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_new(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_import(int argc, char **argv);
int cli_query(int argc, char **argv);
int cli_cost(int argc, char **argv);
int cli_championship(int argc, char **argv);
int cli_help(int argc, char **argv);

/* read_results.c: reads the runs of a store that meet `where`, or the --json output of a command: a run, a
 * comparison, or an array of experiments. Returns NULL after one line. */
json_t *cli_read_results(const char *path, const char *where, struct base_arena *arena);

/* Every command, in the order of the help. */
extern const struct command *const cli_commands[];
extern const unsigned cli_n_commands;
const struct command *cli_find_command(const char *name); /* NULL: none */
/* Prints one line on standard error, with the nearest command. Returns the exit status. */
int cli_unknown_command(const char *name);
/* Prints the text of `heddle` alone. */
void cli_print_overview(void);
