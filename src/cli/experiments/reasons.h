/* The reasons why claims do not hold, and the runs that show them. */
#pragma once

#include <stdio.h>

#include "cli/experiments/plan.h"

struct cli_reasons;

/* Adds the runs that the experiments' `shown_by` name. Returns CLI_DONE, or the exit status after one line. */
int cli_plan_reasons(struct cli_reasons **made, struct cli_plan *plan, const struct cli_experiment *const *experiment,
                     unsigned count);
/* Prints every reason and what its runs say, from the results of the plan. Returns CLI_CHECK_FAILED after a line if a
 * run does not show its reason, otherwise CLI_DONE. */
int cli_print_reasons(FILE *file, const struct cli_reasons *reasons, const struct cli_experiment *const *experiment,
                      unsigned count, struct base_arena *arena);
