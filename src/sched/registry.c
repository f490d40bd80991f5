/* The list of schedulers, and parsing of the text that selects one: NAME[:KEY=VALUE,...]. */
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

bool sched_parse_by(const char *rules, const char *text, const struct sched_ops **ops, void **options, char *error,
                    size_t error_size) {
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
