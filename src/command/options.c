/* The option parser: `--name value`, `--name=value`, `-l`, and `--` before words that are not options. After the name
 * of a program, options that the command does not have may belong to the program. The parser accepts no abbreviations
 * and no grouped letters, because a command line in a script should say what it means. */
#include "command/options.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "command/command.h"

struct parser {
    const struct command *command;
    char *values;
    struct base_arena *arena;
    int argc;
    char **argv;
    int at;
    int status;
};

#define FIELD(parser, option, type) ((type *)(void *)((parser)->values + (option)->field))

static bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

/* ---- Finding the option ------------------------------------------------------------------------------------------ */

static const struct command_option *find_option(const struct command *command, const char *name, size_t length) {
    for (unsigned i = 0; i < command->n_options; i++) {
        const struct command_option *option = &command->options[i];
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
        if (length == 2 && name[0] == '-' && option->letter && name[1] == option->letter)
            return option;
    }
    return NULL;
}

/* Returns the shortest option that begins with the name, otherwise the one spelt most like it. */
static const char *nearest_option(const struct command *command, const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    const char *longer = NULL;
    for (unsigned i = 0; i < command->n_options; i++) {
        const char *offered = command->options[i].name;
        if (strlen(name) > 3 && starts_with(offered, name) && (!longer || strlen(offered) < strlen(longer)))
            longer = offered;
        base_nearest_offer(&nearest, offered);
    }
    return longer ? longer : nearest.best;
}

static bool refuse_unknown(struct parser *parser, const char *word) {
    const struct command *command = parser->command;
    char *name = base_arena_copy(parser->arena, word, strcspn(word, "="));
    const char *nearest = nearest_option(command, name);
    const struct command_option *letter = strlen(word) > 2 && word[1] != '-' ? find_option(command, word, 2) : NULL;
    if (letter && letter->value)
        parser->status =
            command_fail(COMMAND_USAGE, "unknown option '%s'; did you mean '-%c %s'?", word, letter->letter, word + 2);
    else if (nearest)
        parser->status = command_fail(COMMAND_USAGE, "unknown option '%s'; did you mean '%s'?", name, nearest);
    else if (command->has_program)
        parser->status = command_fail(COMMAND_USAGE,
                                      "unknown option '%s'; options of the program come after --, and 'heddle help %s' "
                                      "lists Heddle's own",
                                      name, command->name);
    else
        parser->status =
            command_fail(COMMAND_USAGE, "unknown option '%s'; 'heddle help %s' lists the options", name, command->name);
    return false;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool set_choice(struct parser *parser, const struct command_option *option, const char *text) {
    struct base_nearest nearest = base_nearest_to(text);
    unsigned place = 0;
    for (const char *word = option->value; *word; place++) {
        size_t length = strcspn(word, "|");
        const char *choice = base_arena_copy(parser->arena, word, length);
        if (strcmp(choice, text) == 0) {
            *FIELD(parser, option, unsigned) = place;
            return true;
        }
        base_nearest_offer(&nearest, choice);
        word += length + (word[length] == '|');
    }
    if (nearest.best)
        parser->status = command_fail(COMMAND_USAGE, "%s takes %s, not '%s'; did you mean '%s'?", option->name,
                                      option->value, text, nearest.best);
    else
        parser->status = command_fail(COMMAND_USAGE, "%s takes %s, not '%s'", option->name, option->value, text);
    return false;
}

static bool set_number(struct parser *parser, const struct command_option *option, const char *text) {
    uint64_t value;
    if (base_parse_u64(text, &value) && value >= option->least && value <= option->most) {
        *FIELD(parser, option, uint64_t) = value;
        return true;
    }
    parser->status = command_fail(COMMAND_USAGE, "%s takes a whole number from %llu to %llu, not '%s'", option->name,
                                  (unsigned long long)option->least, (unsigned long long)option->most, text);
    return false;
}

static bool set_seconds(struct parser *parser, const struct command_option *option, const char *text) {
    char *rest;
    double value = strtod(text, &rest);
    if (rest != text && *rest == '\0' && isfinite(value) && value > 0 && !isspace((unsigned char)text[0])) {
        *FIELD(parser, option, double) = value;
        return true;
    }
    parser->status = command_fail(COMMAND_USAGE, "%s takes a number of seconds above 0, not '%s'", option->name, text);
    return false;
}

/* Returns the share that a text such as 1.5% states, or NAN. */
static double read_percent(const char *text) {
    char *rest;
    double value = strtod(text, &rest);
    bool is_good = rest != text && strcmp(rest, "%") == 0 && isfinite(value) && value > 0 && value <= 100;
    return is_good && (isdigit((unsigned char)text[0]) || text[0] == '.') ? value / 100 : NAN;
}

static bool set_percent(struct parser *parser, const struct command_option *option, const char *text) {
    *FIELD(parser, option, double) = text ? read_percent(text) : (double)option->least / 100000;
    if (!isnan(*FIELD(parser, option, double)))
        return true;
    parser->status = command_fail(
        COMMAND_USAGE, "%s takes a percentage above 0%% and up to 100%%, such as 1%%, not '%s'", option->name, text);
    return false;
}

/* There are never more words to collect than on the command line. */
static void add_word(struct parser *parser, struct command_words *words, const char *word) {
    if (!words->item)
        words->item = BASE_ARENA_ARRAY(parser->arena, const char *, (size_t)parser->argc);
    words->item[words->count++] = word;
}

static bool set_value(struct parser *parser, const struct command_option *option, const char *text) {
    switch (option->kind) {
    case COMMAND_FLAG:
        *FIELD(parser, option, bool) = true;
        return true;
    case COMMAND_NO_FLAG:
        *FIELD(parser, option, bool) = false;
        return true;
    case COMMAND_CHOICE:
        return set_choice(parser, option, text);
    case COMMAND_TEXT:
        *FIELD(parser, option, const char *) = text;
        return true;
    case COMMAND_NUMBER:
        return set_number(parser, option, text);
    case COMMAND_SECONDS:
        return set_seconds(parser, option, text);
    case COMMAND_PERCENT:
        return set_percent(parser, option, text);
    case COMMAND_LIST:
        add_word(parser, FIELD(parser, option, struct command_words), text);
        return true;
    }
    return false;
}

/* ---- The words --------------------------------------------------------------------------------------------------- */

/* Reads a percentage from the next word if it is one. A number is probably meant as one, too. */
static bool read_next_percent(struct parser *parser, const struct command_option *option) {
    const char *next = parser->at + 1 < parser->argc ? parser->argv[parser->at + 1] : "";
    size_t sign = *next == '-', digits = strspn(next + sign, "0123456789."), length = sign + digits;
    bool has_value = digits && strcmp(next + length, "%") == 0;
    if (digits && next[length] == '\0') {
        parser->status = command_fail(COMMAND_USAGE,
                                      "%s takes a percentage, such as 1%%, not '%s'; a number that is the program's "
                                      "comes after --",
                                      option->name, next);
        return false;
    }
    parser->at += has_value;
    return set_value(parser, option, has_value ? next : NULL);
}

/* Reads the option at argv[at] and its value, which may be the next word. */
static bool read_option(struct parser *parser) {
    const char *word = parser->argv[parser->at];
    size_t length = strcspn(word, "=");
    const struct command_option *option = find_option(parser->command, word, length);
    if (!option)
        return refuse_unknown(parser, word);
    const char *text = word[length] == '=' ? word + length + 1 : NULL;
    bool takes_value = option->value != NULL;
    if (!takes_value && text) {
        parser->status = command_fail(COMMAND_USAGE, "%s takes no value", option->name);
        return false;
    }
    if (option->kind == COMMAND_PERCENT && !text)
        return read_next_percent(parser, option);
    if (takes_value && !text) {
        if (++parser->at == parser->argc) {
            parser->status = command_fail(COMMAND_USAGE, "%s needs a value: %s", option->name, option->value);
            return false;
        }
        text = parser->argv[parser->at];
    }
    if (takes_value && !*text) {
        parser->status = command_fail(COMMAND_USAGE, "%s needs a value: %s", option->name, option->value);
        return false;
    }
    return set_value(parser, option, text);
}

/* A lone - and negative numbers are words. */
static bool is_option(const char *word) {
    return word[0] == '-' && word[1] != '\0' && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

/* Returns whether the word is an option of the program that comes before it. */
static bool is_of_program(const struct parser *parser, const struct command_words *words, const char *word) {
    const struct command *command = parser->command;
    return words->count > 0 && command->has_own_options && !find_option(command, word, strcspn(word, "=")) &&
           command->has_own_options(words->item[0]);
}

bool command_parse(const struct command *command, int argc, char **argv, void *values, struct command_words *words,
                   struct base_arena *arena, int *status) {
    struct parser parser = {.command = command, .values = values, .arena = arena, .argc = argc, .argv = argv};
    bool takes_options = true, is_good = true;
    for (parser.at = 1; parser.at < argc && is_good; parser.at++) {
        const char *word = argv[parser.at];
        if (takes_options && strcmp(word, "--") == 0) {
            takes_options = false;
        } else if (takes_options && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            command_print_help(command);
            *status = COMMAND_DONE;
            return false;
        } else if (takes_options && is_option(word) && !is_of_program(&parser, words, word)) {
            is_good = read_option(&parser);
        } else {
            add_word(&parser, words, word);
            words->n_before += takes_options;
        }
    }
    if (!is_good)
        *status = parser.status;
    return is_good;
}
