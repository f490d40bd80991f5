/* `heddle help [COMMAND]`. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"

struct help_options {
    bool options;
};

static const struct command_option options[] = {
    {"--options", 0, COMMAND_FLAG, NULL, "only the options, one on a line, for completion in shells",
     offsetof(struct help_options, options), 0, 0},
};

const struct command cli_help_command = {
    .name = "help",
    .summary = "explain Heddle or one of its commands",
    .usage = "help [COMMAND] [--options]",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_help,
};

static void explain(const struct command *command, bool only_options) {
    if (only_options)
        command_print_options(command);
    else
        command_print_help(command);
}

void cli_print_overview(void) {
    printf("Heddle %s runs CUDA programs on a simulated GPU, without a GPU.\n\nusage: heddle COMMAND ...\n\n",
           HEDDLE_VERSION);
    for (unsigned i = 0; i < cli_n_commands; i++)
        printf("  %-12s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("\nTry:\n"
          "  heddle compare bfs                            every scheduler on one workload, side by side\n"
          "  heddle run bfs                                a bundled workload, its result checked on the CPU\n"
          "  heddle run ./myapp                            your own CUDA program, unmodified\n"
          "  heddle run my.ptx --block 256 --arg out:u32[256]\n"
          "                                                one kernel of a PTX file\n"
          "  heddle list workloads                         what Heddle includes\n"
          "  heddle help run                               a command and its options\n",
          stdout);
}

int cli_help(int argc, char **argv) {
    struct base_arena arena = {0};
    struct help_options given = {0};
    struct command_words words = {0};
    int status = COMMAND_DONE;
    if (command_parse(&cli_help_command, argc, argv, &given, &words, &arena, &status)) {
        const struct command *command = words.count ? cli_find_command(words.item[0]) : NULL;
        if (words.count > 1)
            status = command_fail(COMMAND_USAGE, "help takes one command, not '%s' too", words.item[1]);
        else if (command)
            explain(command, given.options);
        else if (words.count)
            status = cli_unknown_command(words.item[0]);
        else
            cli_print_overview();
    }
    base_arena_free(&arena);
    return status;
}
