/* `--machine`, `--set` and `--dump-config`. */
#include "cli/options/machine_options.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* A message about a place in a file has the compilers' form, so that editors can jump there. */
static int refuse(const char *error) {
    if (!strchr(error, '\n'))
        return cli_fail(CLI_ERROR, "%s", error);
    fprintf(stderr, "%s\n", error);
    return CLI_ERROR;
}

int cli_load_machine(struct config_machine *machine, const struct cli_machine_options *given, const char *folder) {
    char error[CONFIG_ERROR_BYTES];
    const char *name = given->machine ? given->machine : CLI_DEFAULT_MACHINE;
    if (!config_load(machine, name, folder, error, sizeof error))
        return refuse(error);
    for (unsigned i = 0; i < given->set.count; i++)
        if (!config_set(machine, given->set.item[i], error, sizeof error))
            return cli_fail(CLI_USAGE, "--set: %s", error);
    if (!config_check(machine, error, sizeof error))
        return cli_fail(CLI_ERROR, "machine %s: %s", machine->name, error);
    return CLI_DONE;
}
