/* The list of commands, and the function that finds the command that a command line names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "program/workloads.h"

const struct command *const cli_commands[] = {
    &cli_run_command,          &cli_compare_command, &cli_characterize_command, &cli_ptx_command,    &cli_list_command,
    &cli_paper_command,        &cli_sweep_command,   &cli_report_command,       &cli_query_command,  &cli_cost_command,
    &cli_championship_command, &cli_new_command,     &cli_check_command,        &cli_import_command, &cli_bench_command,
    &cli_validate_command,     &cli_help_command,
};
const unsigned cli_n_commands = sizeof cli_commands / sizeof cli_commands[0];

const struct command *cli_find_command(const char *name) {
    for (unsigned i = 0; i < cli_n_commands; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

int cli_unknown_command(const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < cli_n_commands; i++)
        base_nearest_offer(&nearest, cli_commands[i]->name);
    if (nearest.best)
        return command_fail(COMMAND_USAGE, "no command '%s'; did you mean '%s'?", name, nearest.best);
    if (program_find_workload(name))
        return command_fail(COMMAND_USAGE, "no command '%s'; did you mean 'heddle run %s'?", name, name);
    return command_fail(COMMAND_USAGE, "no command '%s'; 'heddle help' lists them", name);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_print_overview();
        return COMMAND_DONE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        puts("heddle " HEDDLE_VERSION);
        return COMMAND_DONE;
    }
    if (argv[1][0] == '-')
        return command_fail(COMMAND_USAGE, "the command comes first, before '%s'; 'heddle help' lists the commands",
                            argv[1]);
    const struct command *command = cli_find_command(argv[1]);
    return command ? command->main(argc - 1, argv + 1) : cli_unknown_command(argv[1]);
}

/* Lost output is an error, unless the command has already failed otherwise. */
int cli_main(int argc, char **argv) {
    int status = dispatch(argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == COMMAND_DONE)
        return command_fail(COMMAND_ERROR, "cannot write to standard output: %s", strerror(errno));
    return status;
}
