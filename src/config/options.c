/* The table of options: converts text to fields of a machine and back. Numbers are parsed strictly: no blanks, no
 * signs, no trailing text. */
#include "config/config.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/internal.h"

static const char targets[] =
#define CONFIG_TARGET(name) "|" #name
#include "config/targets.def"
#undef CONFIG_TARGET
    ;
#define CONFIG_TARGETS (targets + 1)

const struct config_option config_options[] = {
#define CONFIG_OPTION(name, type, field, initial, allowed, unit, help)                                                 \
    {name,                                                                                                             \
     CONFIG_##type,                                                                                                    \
     offsetof(struct config_machine, field),                                                                           \
     sizeof(((struct config_machine *)0)->field),                                                                      \
     initial,                                                                                                          \
     allowed,                                                                                                          \
     unit,                                                                                                             \
     help},
#include "config/options.def"
#undef CONFIG_OPTION
};
const unsigned config_n_options = sizeof config_options / sizeof config_options[0];

_Static_assert(sizeof(enum config_pipeline) == sizeof(unsigned), "a choice is stored as an unsigned");

bool config_error(char *error, size_t error_bytes, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, error_bytes, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

const struct config_option *config_find_option(const char *name) {
    for (unsigned i = 0; i < config_n_options; i++)
        if (config_options[i].name[0] == name[0] && strcmp(config_options[i].name, name) == 0)
            return &config_options[i];
    return NULL;
}

bool config_is_group(const char *word) {
    size_t length = strlen(word);
    for (unsigned i = 0; i < config_n_options; i++)
        if (strncmp(config_options[i].name, word, length) == 0 && config_options[i].name[length] == '.')
            return true;
    return false;
}

/* Returns the length of an option's group with its dot, 0 for a name without a group. */
static size_t group_length(const char *name) {
    const char *dot = strchr(name, '.');
    return dot ? (size_t)(dot - name) + 1 : 0;
}

/* length: of the group of `option`. */
static bool is_same_group(const struct config_option *option, size_t length, const struct config_option *other) {
    return option->name[0] == other->name[0] && strncmp(option->name, other->name, length) == 0;
}

const struct config_option *config_switch_of(const struct config_option *option) {
    size_t length = group_length(option->name);
    unsigned i = (unsigned)(option - config_options); /* the options of a group are adjacent */
    while (length && i > 0 && is_same_group(option, length, &config_options[i - 1]))
        i--;
    for (; length && i < config_n_options && is_same_group(option, length, &config_options[i]); i++)
        if (config_options[i].name[length] == 'p' && strcmp(config_options[i].name + length, "present") == 0 &&
            strcmp(config_options[i].initial, "false") == 0)
            return &config_options[i];
    return NULL;
}

bool config_is_on(const struct config_option *present, const struct config_machine *machine) {
    return *(const bool *)((const char *)machine + present->offset);
}

bool config_is_absent(const struct config_option *option, const struct config_machine *machine) {
    const struct config_option *present = config_switch_of(option);
    return present && present != option && !config_is_on(present, machine);
}

static const char *later_name(const char *key) {
    static const char *const names[][2] = {
#define CONFIG_RENAMED(earlier, name) {earlier, name},
#include "config/renamed.def"
#undef CONFIG_RENAMED
    };
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i][0], key) == 0)
            return names[i][1];
    return NULL;
}

/* The commonest mistake is a key without its group: 'line' is not near any name, but 'l1.line' ends in it. */
static const char *nearest_key(const char *key) {
    struct base_nearest nearest = base_nearest_to(key);
    for (unsigned i = 0; i < config_n_options; i++)
        base_nearest_offer(&nearest, config_options[i].name);
    for (unsigned i = 0; i < config_n_options && !nearest.best; i++) {
        const char *dot = strchr(config_options[i].name, '.');
        if (dot && strcmp(dot + 1, key) == 0)
            nearest.best = config_options[i].name;
    }
    return nearest.best;
}

bool config_unknown_key(const char *key, char *error, size_t error_bytes) {
    const char *later = later_name(key), *nearest = nearest_key(key);
    if (later)
        return config_error(error, error_bytes, "'%s' is now '%s'", key, later);
    if (nearest)
        return config_error(error, error_bytes, "unknown key '%s'; did you mean '%s'?", key, nearest);
    return config_error(error, error_bytes, "unknown key '%s'; 'heddle list options' lists the keys", key);
}

/* ---- Reading values ---------------------------------------------------------------------------------------------- */

bool config_parse_bytes(const char *text, uint64_t *value) {
    static const char suffixes[] = "KMG";
    char digits[32];
    size_t length = strlen(text);
    if (length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, text, length + 1);
    unsigned shift = 0;
    const char *suffix = strchr(suffixes, toupper((unsigned char)digits[length - 1]));
    if (suffix) {
        shift = 10 * (unsigned)(suffix - suffixes + 1);
        digits[length - 1] = '\0';
    }
    if (!base_parse_u64(digits, value) || *value > UINT64_MAX >> shift)
        return false;
    *value <<= shift;
    return true;
}

static bool parse_double(const char *text, double *value) {
    if (strspn(text, "0123456789.eE+-") != strlen(text) || !isdigit((unsigned char)text[0]))
        return false;
    char *rest;
    *value = strtod(text, &rest);
    return *rest == '\0' && isfinite(*value);
}

/* The two ends of "LEAST..MOST". */
struct range {
    char least[32], most[32];
};

static struct range split_range(const char *allowed) {
    struct range range;
    const char *dots = strstr(allowed, "..");
    assert(dots);
    snprintf(range.least, sizeof range.least, "%.*s", (int)(dots - allowed), allowed);
    snprintf(range.most, sizeof range.most, "%s", dots + 2);
    return range;
}

static bool parse_integer(enum config_type type, const char *text, uint64_t *value) {
    return type == CONFIG_BYTES ? config_parse_bytes(text, value) : base_parse_u64(text, value);
}

static bool store_integer(char *field, const struct config_option *option, const char *text) {
    struct range range = split_range(option->allowed);
    uint64_t value, least, most;
    bool is_range = parse_integer(option->type, range.least, &least) && parse_integer(option->type, range.most, &most);
    assert(is_range);
    if (!is_range || !parse_integer(option->type, text, &value) || value < least || value > most)
        return false;
    if (option->bytes == sizeof(uint64_t)) {
        memcpy(field, &value, sizeof value);
    } else {
        uint32_t narrow = (uint32_t)value;
        assert(narrow == value);
        memcpy(field, &narrow, sizeof narrow);
    }
    return true;
}

static bool store_double(char *field, const struct config_option *option, const char *text) {
    struct range range = split_range(option->allowed);
    double value;
    if (!parse_double(text, &value) || value < strtod(range.least, NULL) || value > strtod(range.most, NULL))
        return false;
    memcpy(field, &value, sizeof value);
    return true;
}

/* The booleans of YAML 1.1. */
static bool store_bool(char *field, const char *text) {
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0) {
            bool value = i % 2;
            memcpy(field, &value, sizeof value);
            return true;
        }
    return false;
}

/* Moves to the next of the words separated by | and returns its length; 0 after the last. */
static size_t next_word(const char **word, const char *end_of_last) {
    *word = *end_of_last == '|' ? end_of_last + 1 : end_of_last;
    return strcspn(*word, "|");
}

static bool store_choice(char *field, const struct config_option *option, const char *text) {
    const char *word;
    unsigned index = 0;
    for (size_t length = next_word(&word, option->allowed); length; length = next_word(&word, word + length), index++)
        if (strlen(text) == length && strncmp(text, word, length) == 0) {
            memcpy(field, &index, sizeof index);
            return true;
        }
    return false;
}

static bool store_text(char *field, const struct config_option *option, const char *text) {
    size_t length = strlen(text);
    if (length >= option->bytes)
        return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    memset(field, 0, option->bytes); /* so that equal machines have equal bytes */
    memcpy(field, text, length);
    return true;
}

static bool store(struct config_machine *machine, const struct config_option *option, const char *text) {
    char *field = (char *)machine + option->offset;
    switch (option->type) {
    case CONFIG_UINT:
    case CONFIG_BYTES:
        return store_integer(field, option, text);
    case CONFIG_FLOAT:
        return store_double(field, option, text);
    case CONFIG_BOOL:
        return store_bool(field, text);
    case CONFIG_CHOICE:
        return store_choice(field, option, text);
    case CONFIG_TEXT:
        return store_text(field, option, text);
    }
    return false;
}

static void store_default(struct config_machine *machine, const struct config_option *option) {
    bool is_good = store(machine, option, option->initial);
    assert(is_good);
    (void)is_good;
}

/* A parameter switches its mechanism on. Without the mechanism its parameters have their defaults, so that equal
 * machines have equal bytes. */
static void switch_mechanism(struct config_machine *machine, const struct config_option *option) {
    const struct config_option *present = config_switch_of(option);
    if (!present)
        return;
    bool *is_present = (bool *)((char *)machine + present->offset);
    if (option != present)
        *is_present = true;
    for (unsigned i = 0; i < config_n_options && !*is_present; i++)
        if (is_same_group(option, group_length(option->name), &config_options[i]))
            store_default(machine, &config_options[i]);
}

bool config_store(struct config_machine *machine, const struct config_option *option, const char *text, char *error,
                  size_t error_bytes) {
    if (store(machine, option, text)) {
        switch_mechanism(machine, option);
        return true;
    }
    char allowed[CONFIG_VALUE_BYTES];
    config_describe(option, allowed);
    return config_error(error, error_bytes, "%s is '%s', but takes %s", option->name, text, allowed);
}

bool config_set(struct config_machine *machine, const char *assignment, char *error, size_t error_bytes) {
    char key[64];
    size_t length = strcspn(assignment, "=");
    if (length == 0 || assignment[length] == '\0')
        return config_error(error, error_bytes, "'%s' is not of the form KEY=VALUE, such as l1.size=32K", assignment);
    snprintf(key, sizeof key, "%.*s", (int)(length < sizeof key ? length : sizeof key - 1), assignment);
    const struct config_option *option = config_find_option(key);
    if (!option)
        return config_unknown_key(key, error, error_bytes);
    return config_store(machine, option, assignment + length + 1, error, error_bytes);
}

void config_defaults(struct config_machine *machine) {
    memset(machine, 0, sizeof *machine);
    for (unsigned i = 0; i < config_n_options; i++)
        store_default(machine, &config_options[i]);
}

/* ---- Writing values ---------------------------------------------------------------------------------------------- */

void config_format_bytes(uint32_t value, char text[CONFIG_VALUE_BYTES]) {
    static const char *const suffixes[] = {"", "K", "M", "G"};
    unsigned suffix = 0;
    while (suffix < 3 && value >= 1024 && value % 1024 == 0) {
        value /= 1024;
        suffix++;
    }
    snprintf(text, CONFIG_VALUE_BYTES, "%" PRIu32 "%s", value, suffixes[suffix]);
}

/* Writes the shortest decimal that reads back as the same number. */
static void format_double(double value, char text[CONFIG_VALUE_BYTES]) {
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, CONFIG_VALUE_BYTES, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

static void format_choice(unsigned index, const char *allowed, char text[CONFIG_VALUE_BYTES]) {
    const char *word;
    size_t length = next_word(&word, allowed);
    while (index-- > 0)
        length = next_word(&word, word + length);
    snprintf(text, CONFIG_VALUE_BYTES, "%.*s", (int)length, word);
}

void config_format(const struct config_option *option, const struct config_machine *machine,
                   char text[CONFIG_VALUE_BYTES]) {
    const char *field = (const char *)machine + option->offset;
    uint64_t wide;
    uint32_t narrow;
    double number;
    unsigned index;
    switch (option->type) {
    case CONFIG_UINT:
    case CONFIG_BYTES:
        if (option->bytes == sizeof wide) {
            memcpy(&wide, field, sizeof wide);
            snprintf(text, CONFIG_VALUE_BYTES, "%" PRIu64, wide);
            return;
        }
        memcpy(&narrow, field, sizeof narrow);
        if (option->type == CONFIG_BYTES)
            config_format_bytes(narrow, text);
        else
            snprintf(text, CONFIG_VALUE_BYTES, "%" PRIu32, narrow);
        return;
    case CONFIG_FLOAT:
        memcpy(&number, field, sizeof number);
        format_double(number, text);
        return;
    case CONFIG_BOOL:
        snprintf(text, CONFIG_VALUE_BYTES, "%s", *(const bool *)field ? "true" : "false");
        return;
    case CONFIG_CHOICE:
        memcpy(&index, field, sizeof index);
        format_choice(index, option->allowed, text);
        return;
    case CONFIG_TEXT:
        snprintf(text, CONFIG_VALUE_BYTES, "%s", field);
        return;
    }
}

/* Writes "through or back", "barrel, scoreboard or switch-on-access". */
static void describe_choice(const char *allowed, char text[CONFIG_VALUE_BYTES]) {
    size_t used = 0;
    const char *word;
    for (size_t length = next_word(&word, allowed); length; length = next_word(&word, word + length)) {
        bool is_last = word[length] == '\0';
        const char *before = used == 0 ? "" : is_last ? " or " : ", ";
        used += (size_t)snprintf(text + used, CONFIG_VALUE_BYTES - used, "%s%.*s", before, (int)length, word);
        assert(used < CONFIG_VALUE_BYTES);
    }
}

void config_describe(const struct config_option *option, char text[CONFIG_VALUE_BYTES]) {
    struct range range;
    switch (option->type) {
    case CONFIG_UINT:
    case CONFIG_FLOAT:
        range = split_range(option->allowed);
        snprintf(text, CONFIG_VALUE_BYTES, "a %snumber from %s to %s", option->type == CONFIG_UINT ? "whole " : "",
                 range.least, range.most);
        return;
    case CONFIG_BYTES:
        range = split_range(option->allowed);
        snprintf(text, CONFIG_VALUE_BYTES, "a number of bytes from %s to %s, such as 512 or 16K", range.least,
                 range.most);
        return;
    case CONFIG_BOOL:
        snprintf(text, CONFIG_VALUE_BYTES, "true or false");
        return;
    case CONFIG_CHOICE:
        describe_choice(option->allowed, text);
        return;
    case CONFIG_TEXT:
        snprintf(text, CONFIG_VALUE_BYTES, "up to %zu printable ASCII characters", option->bytes - 1);
        return;
    }
}
