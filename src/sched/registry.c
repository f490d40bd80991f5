/* The list of schedulers, and parsing of the text that selects one: NAME[:KEY=VALUE,...], or a file instead of the
 * name. */
#include <stdio.h>

#include "sched/internal.h"

static const struct sched_ops *const schedulers[] = {
#define SCHEDULER(symbol) &sched_##symbol,
#include "sched/schedulers.def"
#undef SCHEDULER
};
enum { N_SCHEDULERS = sizeof schedulers / sizeof schedulers[0] };

const struct sched_ops *const *sched_list(size_t *count) {
    *count = N_SCHEDULERS;
    return schedulers;
}

bool sched_sees_waits(const struct sched_ops *ops) {
    return ops->stall != sched_no_stall || ops->wake != sched_no_slot;
}

static const void *table_of(size_t i) { return i < N_SCHEDULERS ? schedulers[i] : NULL; }

static struct config_plugin plugin_of(const void *table) {
    const struct sched_ops *ops = table;
    return (struct config_plugin){ops->name, ops->help, ops->option, ops->preset, ops->options_bytes};
}

static const char *missing(const void *table) {
    const struct sched_ops *ops = table;
    return !ops->name ? "name" : !ops->help ? "help" : !ops->pick ? "pick()" : NULL;
}

const struct config_policies sched_policies = {
    "scheduler", HEDDLE_PLUGIN_SCHEDULER, SCHED_LAYOUT, table_of, plugin_of, missing,
};

const struct sched_ops *sched_find(const char *name) { return config_policies_find(&sched_policies, name); }

struct sched_ops sched_complete(const struct sched_ops *table) {
    struct sched_ops ops = *table;
    ops.start = ops.start ? ops.start : sched_no_start;
    ops.arrive = ops.arrive ? ops.arrive : sched_no_slot;
    ops.leave = ops.leave ? ops.leave : sched_no_slot;
    ops.stall = ops.stall ? ops.stall : sched_no_stall;
    ops.wake = ops.wake ? ops.wake : sched_no_slot;
    ops.issued = ops.issued ? ops.issued : sched_no_slot;
    return ops;
}

bool sched_parse_by(const char *rules, const char *text, const struct sched_ops **ops, void **options, char *error,
                    size_t error_size) {
    const void *table;
    if (!config_policies_parse(&sched_policies, rules, text, &table, options, error, error_size))
        return false;
    *ops = table;
    return true;
}

bool sched_parse(const char *text, const struct sched_ops **ops, void **options, char *error, size_t error_size) {
    return sched_parse_by(NULL, text, ops, options, error, error_size);
}

bool sched_count_bits(const struct sched_ops *ops, const void *options, const struct config_machine *machine,
                      uint64_t *bits, char *formula, size_t size) {
    uint32_t warps = machine->sm.threads / machine->sm.warp_size;
    *bits = 0;
    if (size)
        *formula = '\0';
    if (ops->cost_bits) {
        *bits = ops->cost_bits(options, machine, formula, size);
        return true;
    }
    if (!ops->warp_bits && !ops->sm_bits)
        return false;
    snprintf(formula, size, "declared: %u bits for each of %u warps, and %u bits", ops->warp_bits, warps, ops->sm_bits);
    *bits = (uint64_t)ops->warp_bits * warps + ops->sm_bits;
    return true;
}

void sched_describe(const struct sched_ops *ops, const void *options, char *text, size_t size) {
    struct config_plugin plugin = plugin_of(ops);
    config_plugin_describe(&plugin, options, text, size);
}
