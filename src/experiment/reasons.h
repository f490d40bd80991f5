/* The reasons why claims do not hold, and the runs that show them. */
#pragma once

#include <stdio.h>

#include "experiment/plan.h"

struct experiment_reasons;

/* Adds the runs that the experiments' `shown_by` name. Returns COMMAND_DONE, or the exit status after one line. */
int experiment_plan_reasons(struct experiment_reasons **made, struct experiment_plan *plan,
                            const struct experiment *const *experiment, unsigned count);
/* Prints every reason and the results of its runs, from those of the plan. Returns COMMAND_CHECK_FAILED after a line if
 * a run does not show its reason, otherwise COMMAND_DONE. */
int experiment_print_reasons(FILE *file, const struct experiment_reasons *reasons,
                             const struct experiment *const *experiment, unsigned count, struct base_arena *arena);
