/* The list of divergence models, and the parser of the text that chooses one: NAME[:WORD,...], or a file instead of the
 * name. */
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

static const void *table_of(size_t i) { return i < N_MODELS ? models[i] : NULL; }

static struct config_plugin plugin_of(const void *table) {
    const struct divergence_ops *ops = table;
    return (struct config_plugin){ops->name, ops->help, ops->option, ops->preset, ops->options_bytes};
}

/* The hooks that the SM calls without checking for NULL. */
static const char *missing(const void *table) {
    const struct divergence_ops *ops = table;
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

const struct config_policies divergence_policies = {
    "divergence model", HEDDLE_PLUGIN_DIVERGENCE, DIVERGENCE_LAYOUT, table_of, plugin_of, missing,
};

const struct divergence_ops *divergence_find(const char *name) {
    return config_policies_find(&divergence_policies, name);
}

bool divergence_parse_by(const char *rules, const char *text, const struct divergence_ops **ops, void **options,
                         char *error, size_t error_size) {
    const void *table;
    if (!config_policies_parse(&divergence_policies, rules, text, &table, options, error, error_size))
        return false;
    *ops = table;
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
