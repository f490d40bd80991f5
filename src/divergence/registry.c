/* The list of divergence models, and the parser of the text that chooses one: NAME[:WORD,...], or a file instead of the
 * name. */
#include <stdio.h>
#include <string.h>

#include "divergence/divergence.h"

#define DIVERGENCE_MODEL(symbol) extern const struct divergence_ops divergence_##symbol;
#include "divergence/models.def"
#undef DIVERGENCE_MODEL

static const struct divergence_ops *const models[] = {
#define DIVERGENCE_MODEL(symbol) &divergence_##symbol,
#include "divergence/models.def"
#undef DIVERGENCE_MODEL
};
enum { N_MODELS = sizeof models / sizeof models[0] };

const struct divergence_ops *const *divergence_list(size_t *count) {
    *count = N_MODELS;
    return models;
}

const struct divergence_ops *divergence_find(const char *name) {
    for (size_t i = 0; i < N_MODELS; i++)
        if (strcmp(models[i]->name, name) == 0)
            return models[i];
    return NULL;
}

static struct config_plugin plugin_of(const struct divergence_ops *ops) {
    return (struct config_plugin){ops->name, ops->help, ops->option, ops->preset, ops->options_bytes};
}

/* The hooks that the SM calls without checking for NULL. */
static const char *missing_hook(const struct divergence_ops *ops) {
    return !ops->name         ? "name"
           : !ops->help       ? "help"
           : !ops->new_model  ? "new_model()"
           : !ops->free_model ? "free_model()"
           : !ops->admit      ? "admit()"
           : !ops->control    ? "control()"
           : !ops->reached    ? "reached()"
           : !ops->visit      ? "visit()"
                              : NULL;
}

static bool parse_file(const char *rules, const char *text, const struct divergence_ops **ops, void **options,
                       char *error, size_t error_size) {
    const char *rest;
    const struct divergence_ops *table =
        config_plugin_load(text, HEDDLE_PLUGIN_DIVERGENCE, DIVERGENCE_LAYOUT, &rest, error, error_size);
    if (!table)
        return false;
    const char *missing = missing_hook(table);
    if (missing) {
        snprintf(error, error_size, "%.*s: its divergence model has no %s", (int)(rest - text), text, missing);
        return false;
    }
    struct config_plugin plugin = plugin_of(table);
    *ops = table;
    return config_plugin_parse_file(rules, "divergence model", &plugin, rest, options, error, error_size);
}

bool divergence_parse_by(const char *rules, const char *text, const struct divergence_ops **ops, void **options,
                         char *error, size_t error_size) {
    if (config_plugin_file_length(text))
        return parse_file(rules, text, ops, options, error, error_size);
    struct config_plugin list[N_MODELS];
    for (size_t i = 0; i < N_MODELS; i++)
        list[i] = plugin_of(models[i]);
    size_t which;
    if (!config_plugin_parse_by(rules, "divergence model", list, N_MODELS, text, &which, options, error, error_size))
        return false;
    *ops = models[which];
    return true;
}

bool divergence_parse(const char *text, const struct divergence_ops **ops, void **options, char *error,
                      size_t error_size) {
    return divergence_parse_by(NULL, text, ops, options, error, error_size);
}

void divergence_describe(const struct divergence_ops *ops, const void *options, char *text, size_t size) {
    struct config_plugin plugin = plugin_of(ops);
    config_plugin_describe(&plugin, options, text, size);
}
