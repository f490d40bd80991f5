/* The target of a timed run: a machine, a warp scheduler and a divergence model. */
#pragma once

#include "command/machine_options.h"
#include "report/report.h"

struct program_target {
    struct config_machine machine; /* with the chosen scheduler and divergence model */
    const char *yaml;              /* the machine as written by config_dump() */
    struct command_words changes;  /* from --set */
};

/* Loads and checks the choice. NULL for the scheduler or the divergence model means the machine's own, and so does 0
 * for the limit of cycles. Returns COMMAND_DONE, or the exit status after one message on standard error. */
int program_make_target(struct program_target *target, const struct command_machine_options *given,
                        const char *scheduler, const char *divergence, uint64_t max_cycles, struct base_arena *arena);

/* The same, but a divergence model that cannot run on the machine is not an error: *refusal says why. */
int program_try_target(struct program_target *target, const struct command_machine_options *given,
                       const char *scheduler, const char *divergence, const char **refusal, struct base_arena *arena);

/* Returns its name in reports, which refers to the target. */
struct report_target program_report_target(const struct program_target *target);

/* The form of values in the help and the completion. */
#define PROGRAM_SCHEDULER_VALUE "NAME|FILE.so[:KEY=VALUE,...]"
#define PROGRAM_DIVERGENCE_VALUE "MODEL|FILE.so[:KEY=VALUE,...]"

/* A row of a table of options; `at` is the offset of the field in the command's struct. */
#define PROGRAM_MAX_CYCLES_ROW(at)                                                                                     \
    {                                                                                                                  \
        "--max-cycles", 0, COMMAND_NUMBER, "N", "stop a launch after N cycles and report what was measured", (at), 1,  \
            INT64_MAX                                                                                                  \
    }
