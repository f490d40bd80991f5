/* The help texts of `heddle`. All text about options comes from their tables. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options/options.h"

enum { OPTION_COLUMN = 34 };

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

/* "-q, --quiet" or "    --size small|medium|paper". */
static int format_option(char *text, size_t size, const struct cli_option *option) {
    char letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    return snprintf(text, size, "%s%s%s%s", letter, option->name, option->value ? " " : "",
                    option->value ? option->value : "");
}

static void print_option(const struct cli_option *option) {
    char text[96];
    int length = format_option(text, sizeof text, option);
    if (length < OPTION_COLUMN)
        printf("  %-*s %s\n", OPTION_COLUMN, text, option->help);
    else
        printf("  %s\n  %*s %s\n", text, OPTION_COLUMN, "", option->help);
}

void cli_print_command(const struct cli_command *command) {
    printf("heddle %s: %s\n\nusage: heddle %s\n", command->name, command->summary, command->usage);
    if (command->text)
        printf("\n%s", command->text);
    puts("\nOptions:");
    for (unsigned i = 0; i < command->n_options; i++)
        print_option(&command->options[i]);
    print_option(&(struct cli_option){.name = "--help", .letter = 'h', .help = "this text"});
    if (command->examples)
        printf("\nExamples:\n%s", command->examples);
}

void cli_print_options(const struct cli_command *command) {
    for (unsigned i = 0; i < command->n_options; i++) {
        const struct cli_option *option = &command->options[i];
        printf("%s%s%s\n", option->name, option->value ? " " : "", option->value ? option->value : "");
        if (option->letter)
            printf("-%c%s%s\n", option->letter, option->value ? " " : "", option->value ? option->value : "");
    }
    puts("--help");
}
