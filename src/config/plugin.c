/* Parses policies and their options. See plugin.h. */
#include "config/plugin.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

struct parser {
    const char *kind;
    const struct config_plugin *list, *plugin;
    size_t count;
    const char *rules;
    char *values;    /* the options struct */
    uint64_t is_set; /* bit i: the text sets option i */
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

static bool refuse_plugin(struct parser *parser, const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    char list[1024] = "";
    for (size_t i = 0; i < parser->count; i++) {
        base_nearest_offer(&nearest, parser->list[i].name);
        add_name(list, sizeof list, parser->list[i].name);
    }
    if (strchr(name, '/'))
        return refuse(parser, "no %s '%s'; the name of a plug-in's file ends in .so", parser->kind, name);
    if (strchr(name, ','))
        return refuse(parser, "no %s '%s'; where several are taken, spaces separate them: \"A B\"", parser->kind, name);
    if (nearest.best)
        return refuse(parser, "no %s '%s'; did you mean '%s'?", parser->kind, name, nearest.best);
    return refuse(parser, "no %s '%s'; there are: %s", parser->kind, name, list);
}

static bool refuse_option(struct parser *parser, const char *name) {
    const struct config_plugin *plugin = parser->plugin;
    if (!plugin->option)
        return refuse(parser, "%s has no options, so '%s' cannot be one", plugin->name, name);
    struct base_nearest nearest = base_nearest_to(name);
    char list[256] = "";
    for (const struct config_plugin_option *option = plugin->option; option->name; option++) {
        base_nearest_offer(&nearest, option->name);
        add_name(list, sizeof list, option->name);
    }
    for (const struct config_preset *preset = plugin->preset; preset && preset->name; preset++) {
        base_nearest_offer(&nearest, preset->name);
        add_name(list, sizeof list, preset->name);
    }
    if (nearest.best)
        return refuse(parser, "%s has no option '%s'; did you mean '%s'?", plugin->name, name, nearest.best);
    return refuse(parser, "%s has no option '%s'; there are: %s", plugin->name, name, list);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void store(char *values, const struct config_plugin_option *option, uint32_t value) {
    memcpy(values + option->offset, &value, sizeof value);
}

/* Copies the first word to `word` and advances `choices` past it. Returns false when there is none. */
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

/* Finds the index of a word among the choices. */
static bool find_choice(struct parser *parser, const struct config_plugin_option *option, const char *text,
                        uint32_t *index) {
    char word[32], best[32] = "";
    struct base_nearest nearest = base_nearest_to(text);
    *index = 0;
    for (const char *rest = option->choices; next_choice(&rest, word, sizeof word); ++*index) {
        if (strcmp(word, text) == 0)
            return true;
        unsigned before = nearest.best_distance;
        base_nearest_offer(&nearest, word);
        if (nearest.best_distance < before)
            memcpy(best, word, sizeof best);
    }
    const char *name = parser->plugin->name;
    if (best[0])
        return refuse(parser, "%s: %s takes %s, not '%s'; did you mean '%s'?", name, option->name, option->choices,
                      text, best);
    return refuse(parser, "%s: %s takes %s, not '%s'", name, option->name, option->choices, text);
}

static bool set_choice(struct parser *parser, const struct config_plugin_option *option, const char *text) {
    uint32_t index;
    if (!find_choice(parser, option, text, &index))
        return false;
    store(parser->values, option, index);
    return true;
}

/* Splits the text at '+', in place. */
static bool set_set(struct parser *parser, const struct config_plugin_option *option, char *text) {
    uint32_t members = 0, index;
    for (char *next; text; text = next) {
        next = strchr(text, '+');
        if (next)
            *next++ = '\0';
        if (!find_choice(parser, option, text, &index))
            return false;
        members |= 1u << index;
    }
    store(parser->values, option, members);
    return true;
}

static bool set_number(struct parser *parser, const struct config_plugin_option *option, const char *text) {
    uint64_t value;
    if (!base_parse_u64(text, &value) || value < option->least || value > option->most)
        return refuse(parser, "%s: %s takes a whole number from %u to %u, not '%s'", parser->plugin->name, option->name,
                      option->least, option->most, text);
    store(parser->values, option, (uint32_t)value);
    return true;
}

static bool refuse_no_value(struct parser *parser, const struct config_plugin_option *option) {
    const char *name = parser->plugin->name;
    if (option->choices)
        return refuse(parser, "%s: %s needs a value: %s=%s", name, option->name, option->name, option->choices);
    return refuse(parser, "%s: %s needs a value, such as %s=%u", name, option->name, option->name,
                  option->default_value);
}

/* ---- The text ---------------------------------------------------------------------------------------------------- */

static bool set_options(struct parser *parser, char *text);

/* Values that the text sets win over a preset's, whether they come before or after it. */
static bool set_preset(struct parser *parser, const struct config_preset *preset) {
    char values[256];
    struct parser inner = *parser;
    char *outer = malloc(parser->plugin->options_bytes);
    if (!outer)
        return refuse(parser, "no memory for the options of %s", parser->plugin->name);
    memcpy(outer, parser->values, parser->plugin->options_bytes);
    snprintf(values, sizeof values, "%s", preset->values);
    inner.is_set = 0;
    bool is_good = set_options(&inner, values);
    for (uint32_t i = 0; parser->plugin->option[i].name; i++)
        if (parser->is_set >> i & 1)
            memcpy(parser->values + parser->plugin->option[i].offset, outer + parser->plugin->option[i].offset,
                   sizeof(uint32_t));
    free(outer);
    return is_good;
}

/* Applies one "key=value" or a preset. */
static bool set_option(struct parser *parser, char *word) {
    const struct config_plugin *plugin = parser->plugin;
    if (*word == '\0' && !plugin->option)
        return refuse(parser, "%s has no options; write it without ':'", plugin->name);
    if (*word == '\0')
        return refuse(parser, "%s: an option is missing; write %s:KEY=VALUE,...", plugin->name, plugin->name);
    for (const struct config_preset *preset = plugin->preset; preset && preset->name; preset++)
        if (strcmp(preset->name, word) == 0)
            return set_preset(parser, preset);
    char *value = strchr(word, '=');
    if (value)
        *value++ = '\0';
    const struct config_plugin_option *option = plugin->option;
    while (option && option->name && strcmp(option->name, word) != 0)
        option++;
    if (!option || !option->name)
        return refuse_option(parser, word);
    if (!value || *value == '\0')
        return refuse_no_value(parser, option);
    uint64_t bit = 1ull << (option - plugin->option);
    if (parser->is_set & bit)
        return refuse(parser, "%s: %s is set twice", plugin->name, option->name);
    parser->is_set |= bit;
    switch (option->type) {
    case CONFIG_PLUGIN_CHOICE:
        return set_choice(parser, option, value);
    case CONFIG_PLUGIN_SET:
        return set_set(parser, option, value);
    default:
        return set_number(parser, option, value);
    }
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
    for (size_t i = 0; i < parser->count; i++)
        if (strcmp(parser->list[i].name, text) == 0)
            parser->plugin = &parser->list[i];
    if (!parser->plugin)
        return refuse_plugin(parser, text);
    if (parser->plugin->options_bytes) {
        parser->values = calloc(1, parser->plugin->options_bytes);
        if (!parser->values)
            return refuse(parser, "no memory for the options of %s", text);
        for (const struct config_plugin_option *option = parser->plugin->option; option->name; option++)
            store(parser->values, option, option->default_value);
    }
    for (const struct config_preset *preset = parser->plugin->preset; parser->rules && preset && preset->name; preset++)
        if (strcmp(preset->name, parser->rules) == 0 && !set_preset(parser, preset))
            return false;
    return set_options(parser, rest);
}

bool config_plugin_parse_by(const char *rules, const char *kind, const struct config_plugin *list, size_t count,
                            const char *text, size_t *which, void **options, char *error, size_t error_size) {
    struct parser parser = {
        .kind = kind, .list = list, .count = count, .rules = rules, .error = error, .error_size = error_size};
    char *copy = strdup(text);
    bool is_good = copy ? parse(&parser, copy) : refuse(&parser, "no memory for a %s", kind);
    free(copy);
    if (!is_good) {
        free(parser.values);
        return false;
    }
    *which = (size_t)(parser.plugin - list);
    *options = parser.values;
    return true;
}

bool config_plugin_parse(const char *kind, const struct config_plugin *list, size_t count, const char *text,
                         size_t *which, void **options, char *error, size_t error_size) {
    return config_plugin_parse_by(NULL, kind, list, count, text, which, options, error, error_size);
}

void config_plugin_format_value(const struct config_plugin_option *option, uint32_t value, char *text, size_t size) {
    if (option->type == CONFIG_PLUGIN_UINT) {
        snprintf(text, size, "%u", value);
        return;
    }
    char word[32];
    uint32_t members = option->type == CONFIG_PLUGIN_SET ? value : 1u << value;
    size_t length = 0;
    text[0] = '\0';
    for (const char *rest = option->choices; next_choice(&rest, word, sizeof word); members >>= 1)
        if (members & 1 && length < size)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? "+" : "", word);
}

void config_plugin_describe(const struct config_plugin *plugin, const void *options, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "%s", plugin->name);
    for (const struct config_plugin_option *option = plugin->option; option && option->name && length < size;
         option++) {
        uint32_t value;
        char written[256];
        memcpy(&value, (const char *)options + option->offset, sizeof value);
        config_plugin_format_value(option, value, written, sizeof written);
        length += (size_t)snprintf(text + length, size - length, "%c%s=%s", option == plugin->option ? ':' : ',',
                                   option->name, written);
    }
}
