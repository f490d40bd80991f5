/* The terminal's progress line while several programs run. */
#pragma once

#include "program/execute.h"

/* Runs them as program_execute_all() does, and shows progress on standard error unless is_quiet: a line that changes on
 * a terminal, elsewhere a line every minute. */
int program_execute_with_progress(struct program_jobs *jobs, bool is_quiet);

/* Returns how long they will still take at the time `now`, or a value below 0 if that is not known yet. Runs take their
 * expected seconds, scaled by the ratio of actual to expected seconds of the ended ones. Runs without an expectation
 * take the mean of those that have ended. */
double program_seconds_left(const struct program_jobs *jobs, double now);

/* Returns the line: how many have ended, the time left, how many are running and which of them began first. At most
 * `columns` characters. */
const char *program_progress_line(const struct program_jobs *jobs, double now, unsigned columns,
                                  struct base_arena *arena);
