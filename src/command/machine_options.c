/* `--machine`, `--set` and `--dump-config`. */
#include "command/machine_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "config/plugin.h"

/* An unknown name is wrong usage; a wrong file is an error. A message about a place in a file has the compilers' form,
 * so that editors can jump there. */
static int refuse(const char *name, const char *error) {
    if (!strchr(error, '\n'))
        return command_fail(config_is_path(name) ? COMMAND_ERROR : COMMAND_USAGE, "%s", error);
    fprintf(stderr, "%s\n", error);
    return COMMAND_ERROR;
}

static bool set_dram_policy(struct config_machine *machine, const char *policy, char *error, size_t size) {
    char text[CONFIG_ERROR_BYTES];
    snprintf(text, sizeof text, "dram.policy=%s", policy);
    return config_set(machine, text, error, size);
}

bool command_make_policy_absolute(char *text, size_t size) {
    size_t length = config_plugin_file_length(text);
    if (!length || text[0] == '/')
        return true;
    char path[PATH_MAX], full[PATH_MAX], rest[512];
    snprintf(path, sizeof path, "%.*s", (int)length, text);
    snprintf(rest, sizeof rest, "%s", text + length);
    if (!realpath(path, full))
        return false;
    if (strlen(full) + strlen(rest) >= size) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(text, size, "%s%s", full, rest);
    return true;
}

int command_load_machine(struct config_machine *machine, const struct command_machine_options *given,
                         const char *folder) {
    char error[CONFIG_ERROR_BYTES];
    const char *name = given->machine ? given->machine : CONFIG_DEFAULT_MACHINE;
    if (!config_load(machine, name, folder, error, sizeof error))
        return refuse(name, error);
    for (unsigned i = 0; i < given->set.count; i++)
        if (!config_set(machine, given->set.item[i], error, sizeof error))
            return command_fail(COMMAND_USAGE, "--set: %s", error);
    if (given->dram_policy && !set_dram_policy(machine, given->dram_policy, error, sizeof error))
        return command_fail(COMMAND_USAGE, "--dram-policy: %s", error);
    if (!command_make_policy_absolute(machine->dram.policy, sizeof machine->dram.policy))
        return command_fail(COMMAND_USAGE, "%s: %s", machine->dram.policy, strerror(errno));
    if (!config_check(machine, error, sizeof error))
        return command_fail(COMMAND_ERROR, "machine %s: %s", machine->name, error);
    return COMMAND_DONE;
}
