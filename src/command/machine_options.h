/* The options that choose a machine, for every command that runs something on one: rows for its table, and the machine
 * that they describe. */
#pragma once

#include <stdbool.h>

#include "command/options.h"
#include "config/config.h"

struct command_machine_options {
    const char *machine; /* a name or a file; NULL: the default */
    struct command_words set;
    const char *dram_policy; /* a name or a file; NULL: the machine's */
    bool dump;
};

/* Rows of a table of options; `at` is the offset of a struct command_machine_options in the command's struct. */
#define COMMAND_MACHINE_ROW(at)                                                                                        \
    {                                                                                                                  \
        "--machine", 'm', COMMAND_TEXT, "NAME|FILE.yaml", "the machine, default " CONFIG_DEFAULT_MACHINE,              \
            (at) + offsetof(struct command_machine_options, machine), 0, 0                                             \
    }
#define COMMAND_SET_ROW(at)                                                                                            \
    {                                                                                                                  \
        "--set", 0, COMMAND_LIST, "KEY=VALUE", "change a machine's option; repeat it, the last counts",                \
            (at) + offsetof(struct command_machine_options, set), 0, 0                                                 \
    }
#define COMMAND_DRAM_POLICY_ROW(at)                                                                                    \
    {                                                                                                                  \
        "--dram-policy", 0, COMMAND_TEXT, "POLICY|FILE.so[:KEY=VALUE,...]",                                            \
            "which waiting request DRAM serves first, default the machine's",                                          \
            (at) + offsetof(struct command_machine_options, dram_policy), 0, 0                                         \
    }
#define COMMAND_DUMP_ROW(at)                                                                                           \
    {                                                                                                                  \
        "--dump-config", 0, COMMAND_FLAG, NULL, "print the whole machine as YAML, loadable again, and run nothing",    \
            (at) + offsetof(struct command_machine_options, dump), 0, 0                                                \
    }

/* Replaces a policy's file by its absolute path, because the program may change its folder. Returns false, with errno,
 * if there is no such file. Text that names no file stays as it is. */
bool command_make_policy_absolute(char *text, size_t size);
/* Loads the machine, applies every --set in order, and checks the outcome. `folder` contains the bundled machines.
 * Returns COMMAND_DONE, or the exit status after one message on standard error. */
int command_load_machine(struct config_machine *machine, const struct command_machine_options *given,
                         const char *folder);
