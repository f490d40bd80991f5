/* Finds a policy of a kind: in the kind's list, or in a shared object. See plugin.h. */
#include <stdio.h>
#include <string.h>

#include "config/plugin.h"

enum { MOST_POLICIES = 64 };

const void *config_policies_find(const struct config_policies *policies, const char *name) {
    const void *table;
    for (size_t i = 0; (table = policies->table(i)); i++)
        if (strcmp(policies->plugin_of(table).name, name) == 0)
            return table;
    return NULL;
}

static bool parse_file(const struct config_policies *policies, const char *rules, const char *text, const void **table,
                       void **options, char *error, size_t error_size) {
    const char *rest;
    *table = config_plugin_load(text, policies->plugin_kind, policies->layout, &rest, error, error_size);
    if (!*table)
        return false;
    const char *missing = policies->missing(*table);
    if (missing) {
        snprintf(error, error_size, "%.*s: its %s has no %s", (int)(rest - text), text, policies->kind, missing);
        return false;
    }
    struct config_plugin plugin = policies->plugin_of(*table);
    return config_plugin_parse_file(rules, policies->kind, &plugin, rest, options, error, error_size);
}

bool config_policies_parse(const struct config_policies *policies, const char *rules, const char *text,
                           const void **table, void **options, char *error, size_t error_size) {
    if (config_plugin_file_length(text))
        return parse_file(policies, rules, text, table, options, error, error_size);
    struct config_plugin list[MOST_POLICIES];
    size_t count = 0, which;
    for (; count < MOST_POLICIES && policies->table(count); count++)
        list[count] = policies->plugin_of(policies->table(count));
    if (!config_plugin_parse_by(rules, policies->kind, list, count, text, &which, options, error, error_size))
        return false;
    *table = policies->table(which);
    return true;
}
