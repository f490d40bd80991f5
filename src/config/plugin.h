/* Policies (schedulers, divergence models and DRAM policies), chosen by name and options, or by a file: `gto`,
 * `two-level:group=8,switch=stall`, `dws:revive`, `./mine.so:length=8`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/policy.h"

struct config_plugin {
    const char *name, *help;
    const struct config_plugin_option *option; /* ends with a NULL name; may be NULL */
    const struct config_preset *preset;        /* likewise */
    size_t options_bytes;
};

/* A kind of policy. Each has one registry.c, which defines one of these from its list. */
struct config_policies {
    const char *kind; /* the word for a policy in messages: "scheduler" */
    enum heddle_plugin_kind plugin_kind;
    uint64_t layout;                /* that shared objects must have been built with */
    const void *(*table)(size_t i); /* the operations table of number i in the list; NULL after the last */
    struct config_plugin (*plugin_of)(const void *table);
    const char *(*missing)(const void *table); /* the first part that a table must have and lacks; NULL: none */
};

/* Returns the table of this name in the list, or NULL. */
const void *config_policies_find(const struct config_policies *policies, const char *name);
/* Parses "name", "name:word,...", or a file in the place of the name. Stores the policy's table and a malloc'ed options
 * struct (NULL if the policy has none). The policy's preset named `rules`, if it has one, replaces its defaults; NULL:
 * none. On a mistake it returns false and writes one line to `error` that says what is wrong and what would be right
 * (nearest name, allowed values). */
bool config_policies_parse(const struct config_policies *policies, const char *rules, const char *text,
                           const void **table, void **options, char *error, size_t error_size);

/* Parses "name" or "name:word,...". Stores the index in the list and a malloc'ed options struct (NULL if the policy has
 * none). On a mistake it returns false and writes one line to `error` that says what is wrong and what would be right
 * (nearest name, allowed values). `kind` is the word for a policy of the list in messages: "scheduler". */
bool config_plugin_parse(const char *kind, const struct config_plugin *list, size_t count, const char *text,
                         size_t *which, void **options, char *error, size_t error_size);
/* The same, but the policy's preset named `rules`, if it has one, replaces its defaults. NULL: none. */
bool config_plugin_parse_by(const char *rules, const char *kind, const struct config_plugin *list, size_t count,
                            const char *text, size_t *which, void **options, char *error, size_t error_size);
/* Writes a value of an option as a user would: `8`, `lazy`, `this+that`. */
void config_plugin_format_value(const struct config_plugin_option *option, uint32_t value, char *text, size_t size);
/* Writes the text that config_plugin_parse() reads as these options, with every option named. */
void config_plugin_describe(const struct config_plugin *plugin, const void *options, char *text, size_t size);

/* ---- Policies in shared objects (plugin_file.c) ------------------------------------------------------------------ */

/* Returns the length of the file name at the start of the text (`mine.so`, `./mine.so:key=value`), or 0 if the text
 * names a policy of the list. */
size_t config_plugin_file_length(const char *text);
/* Loads the file at the start of the text and returns its policy's table. *rest is the text after the file name ("" or
 * ":key=value"). Returns NULL after one line in `error` if there is no such file, or it is not a plug-in, is of another
 * kind, or was built for another version of Heddle. */
const void *config_plugin_load(const char *text, enum heddle_plugin_kind kind, uint64_t layout, const char **rest,
                               char *error, size_t error_size);
/* Parses the text after the file name, as config_plugin_parse_by() does. */
bool config_plugin_parse_file(const char *rules, const char *kind, const struct config_plugin *plugin, const char *rest,
                              void **options, char *error, size_t error_size);
/* Reports that a policy has broken its contract: prints one line and ends the process with exit status 1. */
_Noreturn void config_plugin_broken(const char *kind, const char *name, const char *what);
/* Opens a file without knowing its kind. Returns NULL as above. */
const struct heddle_plugin *config_plugin_open(const char *path, char *error, size_t error_size);
