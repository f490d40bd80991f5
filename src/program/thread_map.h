/* `heddle run --thread-map`: pictures of the work of each thread. */
#pragma once

#include "base/arena.h"
#include "report/report.h"

/* Returns false, after one line on standard error, if the folder of PREFIX-... does not exist. */
bool program_check_thread_map(const char *prefix, struct base_arena *arena);
/* Writes two pictures for each kernel and shape of launch, and prints the meaning of white to `file` (NULL: nowhere).
 * Returns false after one line on standard error. */
bool program_write_thread_map(const char *prefix, const struct report_run *run, FILE *file, struct base_arena *arena);
