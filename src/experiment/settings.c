/* Reads the settings of a run from a map of an experiment's file. Every name is checked here, where its place is
 * known. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "command/command.h"
#include "config/config.h"
#include "divergence/divergence.h"
#include "experiment/load.h"
#include "program/place.h"
#include "program/workloads.h"
#include "sched/sched.h"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

bool experiment_check_program_name(struct experiment_yaml *yaml, const yaml_node_t *node, const char *name) {
    if (program_find_workload(name))
        return true;
    if (strchr(name, '/'))
        return access(name, R_OK) == 0 || experiment_yaml_fail(yaml, node, "there is no program '%s'", name);
    const char *nearest = program_nearest_workload(name);
    if (nearest)
        return experiment_yaml_fail(yaml, node, "no workload '%s'; did you mean '%s'?", name, nearest);
    return experiment_yaml_fail(yaml, node, "no workload '%s'; 'heddle list workloads' has them, a file has a slash",
                                name);
}

static bool read_program(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment_settings *settings = context;
    settings->program = experiment_yaml_text(yaml, value, "program");
    return settings->program && experiment_check_program_name(yaml, value, settings->program);
}

static bool read_arguments(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment_settings *settings = context;
    settings->arguments = experiment_yaml_text(yaml, value, "arguments");
    return settings->arguments;
}

static bool read_medium_arguments(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment_settings *settings = context;
    settings->medium_arguments = experiment_yaml_text(yaml, value, "medium_arguments");
    return settings->medium_arguments;
}

static bool read_size(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    static const char *const sizes[] = {"small", "medium", "paper"};
    struct experiment_settings *settings = context;
    unsigned place = 0;
    bool is_good = experiment_yaml_word(yaml, value, "size", sizes, 3, &place);
    settings->size = sizes[place];
    return is_good;
}

static bool read_machine(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment_settings *settings = context;
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES];
    settings->machine = experiment_yaml_text(yaml, value, "machine");
    if (!settings->machine)
        return false;
    const char *folder = program_find_machines(yaml->arena);
    return config_load(&machine, settings->machine, folder ? folder : "", error, sizeof error) ||
           experiment_yaml_fail(yaml, value, "%s", error);
}

static bool read_scheduler(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment_settings *settings = context;
    const struct sched_ops *ops;
    void *options;
    char error[512];
    settings->scheduler = experiment_yaml_text(yaml, value, "scheduler");
    if (!settings->scheduler)
        return false;
    if (!sched_parse(settings->scheduler, &ops, &options, error, sizeof error))
        return experiment_yaml_fail(yaml, value, "%s", error);
    free(options);
    return true;
}

static bool read_divergence(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment_settings *settings = context;
    const struct divergence_ops *ops;
    void *options;
    char error[512];
    settings->divergence = experiment_yaml_text(yaml, value, "divergence");
    if (!settings->divergence)
        return false;
    if (!divergence_parse(settings->divergence, &ops, &options, error, sizeof error))
        return experiment_yaml_fail(yaml, value, "%s", error);
    free(options);
    return true;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool read_set(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment_settings *settings = context;
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES];
    if (value->type != YAML_MAPPING_NODE)
        return experiment_yaml_fail(yaml, value, "set is a map of a machine's options, such as {l1.size: 64K}");
    settings->set.item = BASE_ARENA_ARRAY(yaml->arena, const char *, experiment_yaml_count(value));
    config_defaults(&machine);
    for (unsigned i = 0; i < experiment_yaml_count(value); i++) {
        const char *key = experiment_yaml_text(yaml, experiment_yaml_key_at(yaml, value, i), "an option");
        const char *text = experiment_yaml_text(yaml, experiment_yaml_value_at(yaml, value, i), key ? key : "");
        if (!key || !text)
            return false;
        const char *change = base_arena_printf(yaml->arena, "%s=%s", key, text);
        if (!config_set(&machine, change, error, sizeof error))
            return experiment_yaml_fail(yaml, experiment_yaml_key_at(yaml, value, i), "%s", error);
        settings->set.item[settings->set.count++] = change;
    }
    return true;
}

static bool read_sample(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment_settings *settings = context;
    double cycles;
    if (!experiment_yaml_number(yaml, value, "sample", &cycles))
        return false;
    if (cycles < 1 || cycles > 1e12)
        return experiment_yaml_fail(yaml, value, "sample takes a number of cycles from 1");
    settings->sample_cycles = (uint64_t)cycles;
    return true;
}

static bool read_threads(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment_settings *settings = context;
    return experiment_yaml_flag(yaml, value, "threads", &settings->records_threads);
}

static bool read_estimate(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment_settings *settings = context;
    return experiment_yaml_flag(yaml, value, "estimate", &settings->is_estimated);
}

static bool read_best_of(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment_settings *settings = context;
    if (value->type != YAML_SEQUENCE_NODE || experiment_yaml_count(value) < 2)
        return experiment_yaml_fail(yaml, value,
                                    "best_of takes a list of two or more settings, of which the fastest counts");
    settings->n_best_of = experiment_yaml_count(value);
    settings->best_of = BASE_ARENA_ARRAY(yaml->arena, struct experiment_settings, settings->n_best_of);
    for (unsigned i = 0; i < settings->n_best_of; i++) {
        if (!experiment_read_settings(yaml, experiment_yaml_item(yaml, value, i), &settings->best_of[i]))
            return false;
        if (settings->best_of[i].best_of)
            return experiment_yaml_fail(yaml, experiment_yaml_item(yaml, value, i),
                                        "best_of cannot be inside of best_of");
    }
    return true;
}

/* ---- Examples ---------------------------------------------------------------------------------------------------- */

static bool read_warps(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct sched_example *example = context;
    enum { MOST_WARPS = 64 };
    unsigned n = experiment_yaml_count(value);
    if (value->type != YAML_SEQUENCE_NODE || n == 0 || n > MOST_WARPS)
        return experiment_yaml_fail(yaml, value, "warps takes a list of programs, 1 to %d, such as [LLSL, SSLL]",
                                    MOST_WARPS);
    const char **warp = BASE_ARENA_ARRAY(yaml->arena, const char *, n);
    for (unsigned i = 0; i < n; i++) {
        yaml_node_t *item = experiment_yaml_item(yaml, value, i);
        warp[i] = experiment_yaml_text(yaml, item, "a warp's program");
        if (!warp[i])
            return false;
        if (strspn(warp[i], "LS") != strlen(warp[i]))
            return experiment_yaml_fail(yaml, item,
                                        "a warp's program is a word of L (long) and S (short), such as LLSL");
    }
    example->n_warps = n;
    example->warp = warp;
    return true;
}

static bool read_cycles(struct experiment_yaml *yaml, yaml_node_t *value, const char *what, uint32_t *cycles) {
    double number;
    if (!experiment_yaml_number(yaml, value, what, &number))
        return false;
    if (number < 1 || number > SCHED_EXAMPLE_MAX_CYCLES)
        return experiment_yaml_fail(yaml, value, "%s takes cycles from 1 to %d", what, SCHED_EXAMPLE_MAX_CYCLES);
    *cycles = (uint32_t)number;
    return true;
}

static bool read_long(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return read_cycles(yaml, value, "long", &((struct sched_example *)context)->long_cycles);
}

static bool read_short(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return read_cycles(yaml, value, "short", &((struct sched_example *)context)->short_cycles);
}

static bool read_example(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    static const struct experiment_yaml_key keys[] = {
        {"warps", read_warps, true, "a list of programs of L and S, one for each warp"},
        {"long", read_long, true, "cycles of a long operation"},
        {"short", read_short, true, "cycles of a short one"},
    };
    struct experiment_settings *settings = context;
    settings->example = BASE_ARENA_NEW(yaml->arena, struct sched_example);
    return experiment_yaml_read_map(yaml, value, "an example", keys, sizeof keys / sizeof keys[0], settings->example);
}

/* ---- The map ----------------------------------------------------------------------------------------------------- */

bool experiment_read_settings(struct experiment_yaml *yaml, yaml_node_t *node, struct experiment_settings *settings) {
    static const struct experiment_yaml_key keys[] = {
        {"program", read_program, false, "the name of a workload, or the path of a CUDA executable"},
        {"arguments", read_arguments, false, "the program's own options, with spaces between"},
        {"medium_arguments", read_medium_arguments, false, "more options of the program, at size medium alone"},
        {"size", read_size, false, "small, medium or paper"},
        {"machine", read_machine, false, "the name of a machine or a .yaml file"},
        {"scheduler", read_scheduler, false, "a warp scheduler"},
        {"divergence", read_divergence, false, "a divergence model"},
        {"set", read_set, false, "a map of a machine's options"},
        {"sample", read_sample, false, "cycles between two points of the time series"},
        {"threads", read_threads, false, "true: count for each thread and branch"},
        {"estimate", read_estimate, false, "true: estimate from a sample of the launches"},
        {"best_of", read_best_of, false, "a list of settings, of which the fastest counts"},
        {"example", read_example, false, "warps on the smallest machine: {warps: [LLSL], long: 10, short: 1}"},
    };
    return experiment_yaml_is_empty(node) ||
           experiment_yaml_read_map(yaml, node, "a run", keys, sizeof keys / sizeof keys[0], settings);
}

/* ---- Settings on top of others ----------------------------------------------------------------------------------- */

static void replace(const char **to, const char *from) {
    if (from)
        *to = from;
}

void experiment_append_words(const char **to, const char *more, struct base_arena *arena) {
    if (more)
        *to = *to ? base_arena_printf(arena, "%s %s", *to, more) : more;
}

void experiment_add_settings(struct experiment_settings *to, const struct experiment_settings *more,
                             struct base_arena *arena) {
    replace(&to->program, more->program);
    replace(&to->size, more->size);
    replace(&to->machine, more->machine);
    replace(&to->scheduler, more->scheduler);
    replace(&to->divergence, more->divergence);
    experiment_append_words(&to->arguments, more->arguments, arena);
    experiment_append_words(&to->medium_arguments, more->medium_arguments, arena);
    if (more->set.count) {
        const char **item = BASE_ARENA_ARRAY(arena, const char *, to->set.count + more->set.count);
        for (unsigned i = 0; i < to->set.count; i++)
            item[i] = to->set.item[i];
        for (unsigned i = 0; i < more->set.count; i++)
            item[to->set.count + i] = more->set.item[i];
        to->set = (struct command_words){.item = item, .count = to->set.count + more->set.count};
    }
    if (more->sample_cycles)
        to->sample_cycles = more->sample_cycles;
    to->records_threads |= more->records_threads;
    to->is_estimated |= more->is_estimated;
    if (more->neighbour)
        to->neighbour = more->neighbour;
    if (more->seed)
        to->seed = more->seed;
    if (more->example)
        to->example = more->example;
}

const char *experiment_settings_text(const struct experiment_settings *settings, struct base_arena *arena) {
    const char *const part[] = {settings->program, settings->arguments, settings->machine, settings->scheduler,
                                settings->divergence};
    const char *text = "";
    for (unsigned i = 0; i < sizeof part / sizeof part[0]; i++)
        if (part[i])
            text = base_arena_printf(arena, "%s%s%s", text, *text ? ", " : "", part[i]);
    for (unsigned i = 0; i < settings->set.count; i++)
        text = base_arena_printf(arena, "%s%s%s", text, *text ? ", " : "", settings->set.item[i]);
    if (settings->sample_cycles)
        text = base_arena_printf(arena, "%s%ssample=%" PRIu64, text, *text ? ", " : "", settings->sample_cycles);
    if (settings->is_estimated)
        text = base_arena_printf(arena, "%s%sestimate", text, *text ? ", " : "");
    if (settings->size)
        text = base_arena_printf(arena, "%s%ssize %s", text, *text ? ", " : "", settings->size);
    return text;
}
