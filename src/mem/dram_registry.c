/* The list of DRAM policies, and the text by which users choose one: NAME, or a file with options. */
#include "mem/dram_policy.h"

#define DRAM_POLICY(symbol) extern const struct dram_policy dram_##symbol;
#include "mem/dram_policies.def"
#undef DRAM_POLICY

static const struct dram_policy *const list[] = {
#define DRAM_POLICY(symbol) &dram_##symbol,
#include "mem/dram_policies.def"
#undef DRAM_POLICY
};

static const void *table_of(size_t i) { return i < sizeof list / sizeof list[0] ? list[i] : NULL; }

static struct config_plugin plugin_of(const void *table) {
    const struct dram_policy *policy = table;
    return (struct config_plugin){policy->name, policy->help, policy->option, policy->preset, policy->options_bytes};
}

static const char *missing(const void *table) {
    const struct dram_policy *policy = table;
    return !policy->name ? "name" : !policy->help ? "help" : !policy->pick ? "pick()" : NULL;
}

const struct config_policies mem_dram_policies = {
    "DRAM policy", HEDDLE_PLUGIN_DRAM_POLICY, DRAM_LAYOUT, table_of, plugin_of, missing,
};

bool mem_parse_dram_policy(const char *rules, const char *text, const struct dram_policy **policy, void **options,
                           char *error, size_t error_size) {
    const void *table;
    if (!config_policies_parse(&mem_dram_policies, rules, text, &table, options, error, error_size))
        return false;
    *policy = table;
    return true;
}
