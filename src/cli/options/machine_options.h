/* The options that choose a machine, for every command that runs something on one: rows for its table, and the machine
 * that they describe. */
#pragma once

#include <stdbool.h>

#include "cli/options/options.h"
#include "config/config.h"

struct cli_machine_options {
    const char *machine; /* a name or a file; NULL: the default */
    struct cli_words set;
    const char *dram_policy; /* a name or a file; NULL: the machine's */
    bool dump;
};

#define CLI_DEFAULT_MACHINE "gtx480"

/* Rows of a table of options; `at` is the offset of a struct cli_machine_options in the command's struct. */
#define CLI_MACHINE_ROW(at)                                                                                            \
    {                                                                                                                  \
        "--machine", 'm', CLI_TEXT, "NAME|FILE.yaml", "the machine, default " CLI_DEFAULT_MACHINE,                     \
            (at) + offsetof(struct cli_machine_options, machine), 0, 0                                                 \
    }
#define CLI_SET_ROW(at)                                                                                                \
    {                                                                                                                  \
        "--set", 0, CLI_LIST, "KEY=VALUE", "change a machine's option; repeat it, the last counts",                    \
            (at) + offsetof(struct cli_machine_options, set), 0, 0                                                     \
    }
#define CLI_DRAM_POLICY_ROW(at)                                                                                        \
    {                                                                                                                  \
        "--dram-policy", 0, CLI_TEXT, "NAME|FILE.so",                                                                  \
            "which waiting request DRAM serves first, default the machine's",                                          \
            (at) + offsetof(struct cli_machine_options, dram_policy), 0, 0                                             \
    }
#define CLI_DUMP_ROW(at)                                                                                               \
    {                                                                                                                  \
        "--dump-config", 0, CLI_FLAG, NULL, "print the whole machine as YAML, loadable again, and run nothing",        \
            (at) + offsetof(struct cli_machine_options, dump), 0, 0                                                    \
    }

/* Replaces a policy's file by its absolute path, because the program may change its folder. Returns false, with errno,
 * if there is no such file. Text that names no file stays as it is. */
bool cli_make_policy_absolute(char *text, size_t size);
/* Loads the machine, applies every --set in order, and checks the outcome. `folder` contains the bundled machines.
 * Returns CLI_DONE, or the exit status after one message on standard error. */
int cli_load_machine(struct config_machine *machine, const struct cli_machine_options *given, const char *folder);
