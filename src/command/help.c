/* The help text of a command. All text about options comes from their tables. */
#include <stdio.h>
#include <string.h>

#include "command/options.h"

enum { OPTION_COLUMN = 34 };

/* "-q, --quiet" or "    --size small|medium|paper". */
static int format_option(char *text, size_t size, const struct command_option *option) {
    char letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    return snprintf(text, size, "%s%s%s%s", letter, option->name, option->value ? " " : "",
                    option->value ? option->value : "");
}

static void print_option(const struct command_option *option) {
    char text[96];
    int length = format_option(text, sizeof text, option);
    if (length < OPTION_COLUMN)
        printf("  %-*s %s\n", OPTION_COLUMN, text, option->help);
    else
        printf("  %s\n  %*s %s\n", text, OPTION_COLUMN, "", option->help);
}

void command_print_help(const struct command *command) {
    printf("heddle %s: %s\n\nusage: heddle %s\n", command->name, command->summary, command->usage);
    if (command->text)
        printf("\n%s", command->text);
    puts("\nOptions:");
    for (unsigned i = 0; i < command->n_options; i++)
        print_option(&command->options[i]);
    print_option(&(struct command_option){.name = "--help", .letter = 'h', .help = "this text"});
    if (command->examples)
        printf("\nExamples:\n%s", command->examples);
}

void command_print_options(const struct command *command) {
    for (unsigned i = 0; i < command->n_options; i++) {
        const struct command_option *option = &command->options[i];
        printf("%s%s%s\n", option->name, option->value ? " " : "", option->value ? option->value : "");
        if (option->letter)
            printf("-%c%s%s\n", option->letter, option->value ? " " : "", option->value ? option->value : "");
    }
    puts("--help");
}
