/* The list of schedulers, and parsing of the text that selects one: NAME[:KEY=VALUE,...], or a file instead of the
 * name. */
#include <stdio.h>
#include <string.h>

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

const struct sched_ops *sched_find(const char *name) {
    for (size_t i = 0; i < N_SCHEDULERS; i++)
        if (strcmp(schedulers[i]->name, name) == 0)
            return schedulers[i];
    return NULL;
}

bool sched_sees_waits(const struct sched_ops *ops) {
    return ops->stall != sched_no_stall || ops->wake != sched_no_slot;
}

static struct config_plugin plugin_of(const struct sched_ops *ops) {
    return (struct config_plugin){ops->name, ops->help, ops->option, ops->preset, ops->options_bytes};
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

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

static bool parse_file(const char *rules, const char *text, const struct sched_ops **ops, void **options, char *error,
                       size_t error_size) {
    const char *rest;
    const struct sched_ops *table =
        config_plugin_load(text, HEDDLE_PLUGIN_SCHEDULER, SCHED_LAYOUT, &rest, error, error_size);
    if (!table)
        return false;
    if (!table->name || !table->help || !table->pick) {
        snprintf(error, error_size, "%.*s: its scheduler has no %s", (int)(rest - text), text,
                 !table->name   ? "name"
                 : !table->help ? "help"
                                : "pick()");
        return false;
    }
    struct config_plugin plugin = plugin_of(table);
    *ops = table;
    return config_plugin_parse_file(rules, "scheduler", &plugin, rest, options, error, error_size);
}

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

bool sched_parse_by(const char *rules, const char *text, const struct sched_ops **ops, void **options, char *error,
                    size_t error_size) {
    if (config_plugin_file_length(text))
        return parse_file(rules, text, ops, options, error, error_size);
    struct config_plugin list[N_SCHEDULERS];
    for (size_t i = 0; i < N_SCHEDULERS; i++)
        list[i] = plugin_of(schedulers[i]);
    size_t which;
    if (!config_plugin_parse_by(rules, "scheduler", list, N_SCHEDULERS, text, &which, options, error, error_size))
        return false;
    *ops = schedulers[which];
    return true;
}

bool sched_parse(const char *text, const struct sched_ops **ops, void **options, char *error, size_t error_size) {
    return sched_parse_by(NULL, text, ops, options, error, error_size);
}

void sched_describe(const struct sched_ops *ops, const void *options, char *text, size_t size) {
    struct config_plugin plugin = plugin_of(ops);
    config_plugin_describe(&plugin, options, text, size);
}
