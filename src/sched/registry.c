/* The list of schedulers, and the text by which users choose one: NAME[:KEY=VALUE,...]. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sched/internal.h"

static const struct sched_ops *const schedulers[] = {
#define SCHEDULER(symbol) &sched_##symbol,
#include "sched/schedulers.def"
#undef SCHEDULER
};
enum { N_SCHEDULERS = sizeof schedulers / sizeof schedulers[0] };

const struct sched_ops *const *sched_list(size_t *count) {
    *count = N_SCHEDULERS;
    return schedulers;
}

const struct sched_ops *sched_find(const char *name) {
    for (size_t i = 0; i < N_SCHEDULERS; i++)
        if (strcmp(schedulers[i]->name, name) == 0)
            return schedulers[i];
    return NULL;
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

struct parser {
    const struct sched_ops *ops;
    char *values;   /* the options struct */
    uint64_t given; /* bit i: option i has a value from the text */
    char *error;
    size_t error_size;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct parser *parser, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(parser->error, parser->error_size, format, arguments);
    va_end(arguments);
    return false;
}

static void add_name(char *list, size_t size, const char *name) {
    size_t length = strlen(list);
    snprintf(list + length, size - length, "%s%s", length ? ", " : "", name);
}

static bool refuse_scheduler(struct parser *parser, const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    char list[256] = "";
    for (size_t i = 0; i < N_SCHEDULERS; i++) {
        base_nearest_offer(&nearest, schedulers[i]->name);
        add_name(list, sizeof list, schedulers[i]->name);
    }
    if (nearest.best)
        return refuse(parser, "no scheduler '%s'; did you mean '%s'?", name, nearest.best);
    return refuse(parser, "no scheduler '%s'; there are: %s", name, list);
}

static bool refuse_option(struct parser *parser, const char *name) {
    const struct sched_ops *ops = parser->ops;
    if (!ops->option)
        return refuse(parser, "%s has no options, so '%s' cannot be one", ops->name, name);
    struct base_nearest nearest = base_nearest_to(name);
    char list[256] = "";
    for (const struct sched_option *option = ops->option; option->name; option++) {
        base_nearest_offer(&nearest, option->name);
        add_name(list, sizeof list, option->name);
    }
    if (nearest.best)
        return refuse(parser, "%s has no option '%s'; did you mean '%s'?", ops->name, name, nearest.best);
    return refuse(parser, "%s has no option '%s'; there are: %s", ops->name, name, list);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void store(char *values, const struct sched_option *option, uint32_t value) {
    memcpy(values + option->offset, &value, sizeof value);
}

/* Copies the first of the words to `word` and moves on behind it; false when there was none. */
static bool next_choice(const char **choices, char *word, size_t size) {
    size_t length = strcspn(*choices, "|");
    if (length == 0)
        return false;
    assert(length < size);
    memcpy(word, *choices, length);
    word[length] = '\0';
    *choices += length + ((*choices)[length] == '|');
    return true;
}

static bool set_choice(struct parser *parser, const struct sched_option *option, const char *text) {
    char word[32], best[32] = "";
    struct base_nearest nearest = base_nearest_to(text);
    uint32_t place = 0;
    for (const char *rest = option->choices; next_choice(&rest, word, sizeof word); place++) {
        if (strcmp(word, text) == 0) {
            store(parser->values, option, place);
            return true;
        }
        unsigned before = nearest.best_distance;
        base_nearest_offer(&nearest, word);
        if (nearest.best_distance < before)
            memcpy(best, word, sizeof best);
    }
    const char *name = parser->ops->name;
    if (best[0])
        return refuse(parser, "%s: %s takes %s, not '%s'; did you mean '%s'?", name, option->name, option->choices,
                      text, best);
    return refuse(parser, "%s: %s takes %s, not '%s'", name, option->name, option->choices, text);
}

static bool set_number(struct parser *parser, const struct sched_option *option, const char *text) {
    uint64_t value;
    if (!base_parse_u64(text, &value) || value < option->least || value > option->most)
        return refuse(parser, "%s: %s takes a whole number from %u to %u, not '%s'", parser->ops->name, option->name,
                      option->least, option->most, text);
    store(parser->values, option, (uint32_t)value);
    return true;
}

static bool refuse_no_value(struct parser *parser, const struct sched_option *option) {
    const char *name = parser->ops->name;
    if (option->type == SCHED_OPTION_CHOICE)
        return refuse(parser, "%s: %s needs a value: %s=%s", name, option->name, option->name, option->choices);
    return refuse(parser, "%s: %s needs a value, such as %s=%u", name, option->name, option->name,
                  option->default_value);
}

/* ---- The text ---------------------------------------------------------------------------------------------------- */

/* One "key=value". */
static bool set_option(struct parser *parser, char *word) {
    const struct sched_ops *ops = parser->ops;
    if (*word == '\0' && !ops->option)
        return refuse(parser, "%s has no options; write it without ':'", ops->name);
    if (*word == '\0')
        return refuse(parser, "%s: an option is missing; write %s:KEY=VALUE,...", ops->name, ops->name);
    char *value = strchr(word, '=');
    if (value)
        *value++ = '\0';
    const struct sched_option *option = ops->option;
    while (option && option->name && strcmp(option->name, word) != 0)
        option++;
    if (!option || !option->name)
        return refuse_option(parser, word);
    if (!value || *value == '\0')
        return refuse_no_value(parser, option);
    uint64_t bit = 1ull << (option - ops->option);
    if (parser->given & bit)
        return refuse(parser, "%s: %s is given twice", ops->name, option->name);
    parser->given |= bit;
    return option->type == SCHED_OPTION_CHOICE ? set_choice(parser, option, value) : set_number(parser, option, value);
}

static bool set_options(struct parser *parser, char *text) {
    while (text) {
        char *comma = strchr(text, ',');
        if (comma)
            *comma++ = '\0';
        if (!set_option(parser, text))
            return false;
        text = comma;
    }
    return true;
}

static bool parse(struct parser *parser, char *text) {
    char *rest = strchr(text, ':');
    if (rest)
        *rest++ = '\0';
    parser->ops = sched_find(text);
    if (!parser->ops)
        return refuse_scheduler(parser, text);
    if (parser->ops->options_bytes) {
        parser->values = calloc(1, parser->ops->options_bytes);
        if (!parser->values)
            return refuse(parser, "no memory for the options of %s", text);
        for (const struct sched_option *option = parser->ops->option; option->name; option++)
            store(parser->values, option, option->default_value);
    }
    return set_options(parser, rest);
}

bool sched_parse(const char *text, const struct sched_ops **ops, void **options, char *error, size_t error_size) {
    struct parser parser = {.error = error, .error_size = error_size};
    char *copy = strdup(text);
    bool is_good = copy ? parse(&parser, copy) : refuse(&parser, "no memory for a scheduler");
    free(copy);
    if (!is_good) {
        free(parser.values);
        return false;
    }
    *ops = parser.ops;
    *options = parser.values;
    return true;
}

void sched_describe(const struct sched_ops *ops, const void *options, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "%s", ops->name);
    for (const struct sched_option *option = ops->option; option && option->name && length < size; option++) {
        uint32_t value;
        char word[32] = "";
        memcpy(&value, (const char *)options + option->offset, sizeof value);
        if (option->type == SCHED_OPTION_CHOICE) {
            const char *rest = option->choices;
            for (uint32_t i = 0; i <= value; i++)
                next_choice(&rest, word, sizeof word);
        } else {
            snprintf(word, sizeof word, "%u", value);
        }
        length += (size_t)snprintf(text + length, size - length, "%c%s=%s", option == ops->option ? ':' : ',',
                                   option->name, word);
    }
}
