/* Policies (schedulers and divergence models), chosen by name and options: `gto`, `two-level:group=8,switch=stall`,
 * `dws:revive`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_plugin_option_type { CONFIG_PLUGIN_UINT, CONFIG_PLUGIN_CHOICE, CONFIG_PLUGIN_SET };

/* One row per option. Values are stored as uint32_t at `offset` in the policy's options struct. A choice stores the
 * index of its word in `choices` (words separated by '|'); a set, written `this+that`, stores a bit for each of its
 * words. */
struct config_plugin_option {
    const char *name;
    enum config_plugin_option_type type;
    size_t offset;
    uint32_t default_value, least, most;
    const char *choices;
    const char *help;
};

/* A word that stands for several values: `revive` for "mem=revive,reconv=pc". Values that the user writes out win. */
struct config_preset {
    const char *name;
    const char *values;
    const char *help;
};

struct config_plugin {
    const char *name, *help;
    const struct config_plugin_option *option; /* ends with a NULL name; may be NULL */
    const struct config_preset *preset;        /* likewise */
    size_t options_bytes;
};

/* Parses "name" or "name:word,...". Stores the index in the list and a malloc'ed options struct (NULL when the policy
 * has none). On a mistake it returns false and writes one line to `error`: what is wrong and what would be right
 * (nearest name, allowed values). `kind` names what the list holds in messages: "scheduler". */
bool config_plugin_parse(const char *kind, const struct config_plugin *list, size_t count, const char *text,
                         size_t *which, void **options, char *error, size_t error_size);
/* The same, with a preset named `rules`, where the policy has one, in the place of its defaults; NULL: none. */
bool config_plugin_parse_by(const char *rules, const char *kind, const struct config_plugin *list, size_t count,
                            const char *text, size_t *which, void **options, char *error, size_t error_size);
/* Writes a value of an option as a user would: `8`, `lazy`, `this+that`. */
void config_plugin_format_value(const struct config_plugin_option *option, uint32_t value, char *text, size_t size);
/* Writes the text that config_plugin_parse() reads as these options, with every option named. */
void config_plugin_describe(const struct config_plugin *plugin, const void *options, char *text, size_t size);
