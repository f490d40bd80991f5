/* Makes targets: a machine, a scheduler and a divergence model, chosen by name. */
#define _GNU_SOURCE
#include "program/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "divergence/divergence.h"
#include "mem/dram_policy.h"
#include "program/place.h"
#include "report/advice.h"
#include "sched/sched.h"

static int check_scheduler(const char *text) {
    const struct sched_ops *ops;
    void *options;
    char error[512];
    if (!sched_parse(text, &ops, &options, error, sizeof error))
        return command_fail(COMMAND_USAGE, "%s", error);
    free(options);
    return COMMAND_DONE;
}

/* *refusal: why the model cannot run on this machine; NULL: it can. */
static int check_divergence(const struct config_machine *machine, const char **refusal, struct base_arena *arena) {
    const struct divergence_ops *ops;
    void *options;
    char error[512], rule[400];
    if (!divergence_parse_by(machine->rules, machine->divergence, &ops, &options, error, sizeof error))
        return command_fail(COMMAND_USAGE, "%s", error);
    const char *text = ops->refuses ? ops->refuses(options, machine, NULL, rule, sizeof rule) : NULL;
    *refusal = text ? base_arena_copy(arena, text, strlen(text)) : NULL;
    free(options);
    return COMMAND_DONE;
}

static int check_dram_policy(const struct config_machine *machine) {
    const struct dram_policy *policy;
    void *options;
    char error[512];
    if (!mem_parse_dram_policy(machine->rules, machine->dram.policy, &policy, &options, error, sizeof error))
        return command_fail(COMMAND_USAGE, "%s", error);
    free(options);
    return COMMAND_DONE;
}

/* Sets the name in the machine, so that --dump-config shows what runs. */
static int set_name(struct config_machine *machine, const char *key, const char *name, struct base_arena *arena) {
    char error[CONFIG_ERROR_BYTES], whole[sizeof machine->scheduler];
    snprintf(whole, sizeof whole, "%s", name);
    if (!command_make_policy_absolute(whole, sizeof whole))
        return command_fail(COMMAND_USAGE, "--%s: '%.*s': %s", key, (int)config_plugin_file_length(name), name,
                            strerror(errno));
    name = whole;
    if (!config_set(machine, base_arena_printf(arena, "%s=%s", key, name), error, sizeof error))
        return command_fail(COMMAND_USAGE, "--%s", error);
    return COMMAND_DONE;
}

static const char *dump(const struct config_machine *machine, struct base_arena *arena) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        abort();
    config_dump(machine, file);
    fclose(file);
    const char *copy = base_arena_copy(arena, text, length);
    free(text);
    return copy;
}

int program_try_target(struct program_target *target, const struct command_machine_options *given,
                       const char *scheduler, const char *divergence, const char **refusal, struct base_arena *arena) {
    struct config_machine *machine = &target->machine;
    const char *folder = program_find_machines(arena);
    int status = folder ? command_load_machine(machine, given, folder) : COMMAND_ERROR;
    if (status == COMMAND_DONE && scheduler)
        status = set_name(machine, "scheduler", scheduler, arena);
    if (status == COMMAND_DONE && divergence)
        status = set_name(machine, "divergence", divergence, arena);
    if (status == COMMAND_DONE)
        status = check_scheduler(machine->scheduler);
    if (status == COMMAND_DONE)
        status = check_divergence(machine, refusal, arena);
    if (status == COMMAND_DONE)
        status = check_dram_policy(machine);
    if (status != COMMAND_DONE)
        return status;
    target->changes = given->set;
    target->yaml = dump(machine, arena);
    return COMMAND_DONE;
}

int program_make_target(struct program_target *target, const struct command_machine_options *given,
                        const char *scheduler, const char *divergence, uint64_t max_cycles, struct base_arena *arena) {
    const char *refusal;
    int status = program_try_target(target, given, scheduler, divergence, &refusal, arena);
    if (status == COMMAND_DONE && refusal)
        return command_fail(COMMAND_USAGE, "%s", refusal);
    if (status == COMMAND_DONE && max_cycles) {
        target->machine.limits.max_cycles = max_cycles;
        target->yaml = dump(&target->machine, arena);
    }
    return status;
}

struct report_target program_report_target(const struct program_target *target) {
    const struct config_machine *machine = &target->machine;
    return (struct report_target){
        .machine = machine->name,
        .description = machine->description,
        .scheduler = machine->scheduler,
        .divergence = machine->divergence,
        .changes = target->changes.item,
        .n_changes = target->changes.count,
        .lanes = machine->sm.warp_size,
        .channels = machine->dram.channels,
        .peaks = report_peaks_of(machine),
    };
}
