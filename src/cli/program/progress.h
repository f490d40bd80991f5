/* The terminal's progress line while several programs run. */
#pragma once

#include "cli/program/execute.h"

/* Runs them as cli_execute_all() does, and shows progress on standard error unless is_quiet: a line that changes on a
 * terminal, elsewhere a line every minute. */
int cli_execute_with_progress(struct cli_jobs *jobs, bool is_quiet);

/* How long they will still take at the time `now`. Runs take their expected seconds, scaled by what the ended ones took
 * compared with theirs; those without an expectation take as long as the mean of those that have ended. Below 0: not
 * known yet. */
double cli_seconds_left(const struct cli_jobs *jobs, double now);

/* Returns the line: how many have ended, the time left, how many are running and which of them began first. At most
 * `columns` characters. */
const char *cli_progress_line(const struct cli_jobs *jobs, double now, unsigned columns, struct base_arena *arena);
