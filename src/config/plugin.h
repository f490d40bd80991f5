/* Policies (schedulers and divergence models), chosen by name and options: `gto`, `two-level:group=8,switch=stall`,
 * `dws:revive`. */
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

/* ---- Policies in shared objects (plugin_file.c) ------------------------------------------------------------------ */

/* `mine.so`, `./mine.so:key=value`: the length of the file's name at the start of the text, or 0 if it names a policy
 * of the list. */
size_t config_plugin_file_length(const char *text);
/* Loads the file at the start of the text and returns its policy's table; *rest is the text after the name of the file
 * ("" or ":key=value"). NULL after one line in `error`: no such file, not a plug-in, of another kind, or built for
 * another version of Heddle. */
const void *config_plugin_load(const char *text, enum heddle_plugin_kind kind, uint64_t layout, const char **rest,
                               char *error, size_t error_size);
/* Parses what follows the name of the file, as config_plugin_parse_by() does. */
bool config_plugin_parse_file(const char *rules, const char *kind, const struct config_plugin *plugin, const char *rest,
                              void **options, char *error, size_t error_size);
/* A policy has done what its contract forbids: prints one line and ends the process with exit status 1. */
_Noreturn void config_plugin_broken(const char *kind, const char *name, const char *what);
/* Looks into a file without knowing its kind; NULL as above. */
const struct heddle_plugin *config_plugin_open(const char *path, char *error, size_t error_size);
