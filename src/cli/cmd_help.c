/* `heddle help [COMMAND]`. */
#include "cli/cli.h"
#include "cli/commands.h"

struct help_options {
    bool options;
};

static const struct cli_option options[] = {
    {"--options", 0, CLI_FLAG, NULL, "only the options, one on a line, for completion in shells",
     offsetof(struct help_options, options), 0, 0},
};

const struct cli_command cli_help_command = {
    .name = "help",
    .summary = "explain Heddle or one of its commands",
    .usage = "help [COMMAND] [--options]",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_help,
};

static void explain(const struct cli_command *command, bool only_options) {
    if (only_options)
        cli_print_options(command);
    else
        cli_print_command(command);
}

int cli_help(int argc, char **argv) {
    struct base_arena arena = {0};
    struct help_options given = {0};
    struct cli_words words = {0};
    int status = CLI_DONE;
    if (cli_parse(&cli_help_command, argc, argv, &given, &words, &arena, &status)) {
        const struct cli_command *command = words.count ? cli_find_command(words.item[0]) : NULL;
        if (words.count > 1)
            status = cli_fail(CLI_USAGE, "help takes one command, not '%s' too", words.item[1]);
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
