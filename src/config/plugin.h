/* A policy chosen by name, with its parameters: `gto`, `two-level:group=8,switch=stall`, `dws:revive`. What schedulers
 * and divergence models have in common. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_parameter_type { CONFIG_PARAMETER_UINT, CONFIG_PARAMETER_CHOICE, CONFIG_PARAMETER_SET };

/* One row per parameter. Values are stored as uint32_t at `offset` in the policy's options struct; a choice stores the
 * place of the word in `choices` (words separated by '|'), a set, written `this+that`, a bit for each of its words. */
struct config_parameter {
    const char *name;
    enum config_parameter_type type;
    size_t offset;
    uint32_t default_value, least, most;
    const char *choices;
    const char *help;
};

/* A word that stands for several values: `revive` for "mem=revive,reconv=pc". Values written behind it win. */
struct config_preset {
    const char *name;
    const char *values;
    const char *help;
};

struct config_plugin {
    const char *name, *help;
    const struct config_parameter *parameter; /* ends with a NULL name; may be NULL */
    const struct config_preset *preset;       /* the same */
    size_t options_bytes;
};

/* Parses "name" or "name:word,...". Gives the place in the list and a malloc'ed options struct (NULL when the policy
 * has none). On a mistake false and one line in error: what is wrong and what would be right (nearest name, allowed
 * values). `kind` is what the list holds, for messages: "scheduler". */
bool config_plugin_parse(const char *kind, const struct config_plugin *list, size_t count, const char *text,
                         size_t *which, void **options, char *error, size_t error_size);
/* A value of a parameter as it is written: `8`, `lazy`, `this+that`. */
void config_parameter_text(const struct config_parameter *parameter, uint32_t value, char *text, size_t size);
/* The text that config_plugin_parse() would read as these options, every parameter named. */
void config_plugin_describe(const struct config_plugin *plugin, const void *options, char *text, size_t size);
