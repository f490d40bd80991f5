/* What a run is timed on: a machine, a warp scheduler and a divergence model. */
#pragma once

#include "cli/options/machine_options.h"
#include "report/report.h"

struct cli_target {
    struct config_machine machine; /* with the scheduler and the divergence model that were chosen */
    const char *yaml;              /* the same as config_dump() writes it */
    struct cli_words changes;      /* what --set says */
};

/* Loads and checks what is chosen; NULL for the scheduler and the divergence model means the machine's own, and 0 for
 * the limit of cycles too. CLI_DONE, or the exit status after one message on standard error. */
int cli_make_target(struct cli_target *target, const struct cli_machine_options *given, const char *scheduler,
                    const char *divergence, uint64_t max_cycles, struct base_arena *arena);

/* The same, but a rule that forbids the divergence model on the machine is no mistake: it comes back in *refusal. */
int cli_try_target(struct cli_target *target, const struct cli_machine_options *given, const char *scheduler,
                   const char *divergence, const char **refusal, struct base_arena *arena);

/* How reports name it; it refers to the target. */
struct report_target cli_report_target(const struct cli_target *target);

/* How the help and the completion name values. */
#define CLI_SCHEDULER_VALUE "NAME[:KEY=VALUE,...]"
#define CLI_DIVERGENCE_VALUE "MODEL[:KEY=VALUE,...]"

/* A row of a table of options; `at` is the offset of the field in the command's struct. */
#define CLI_MAX_CYCLES_ROW(at)                                                                                         \
    { "--max-cycles", 0, CLI_NUMBER, "N", "stop a launch after N cycles, with what there is", (at), 1, INT64_MAX }
