/* What a terminal shows while several programs run. */
#pragma once

#include "cli/program/execute.h"

/* Runs them as cli_execute_all() does, with a progress line on standard error if that is a terminal and not
 * is_quiet. */
int cli_execute_with_progress(struct cli_jobs *jobs, bool is_quiet);

/* How long they will still take at the time `now`, if those to come take as long as those that have ended; below 0:
 * none has ended yet. */
double cli_seconds_left(const struct cli_jobs *jobs, double now);

/* The line: how many have ended, the time left, how many are running and which of them began first. At most `columns`
 * characters. */
const char *cli_progress_line(const struct cli_jobs *jobs, double now, unsigned columns, struct base_arena *arena);
