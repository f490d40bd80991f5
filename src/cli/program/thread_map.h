/* `heddle run --thread-map`: pictures of what each thread did. */
#pragma once

#include "base/arena.h"
#include "report/report.h"

/* False, after one line on standard error, when there is no folder to write PREFIX-... into. */
bool cli_check_thread_map(const char *prefix, struct base_arena *arena);
/* Writes two pictures for each kernel and shape of launch, and says on `file` (NULL: nowhere) what is white there.
 * False after one line on standard error. */
bool cli_write_thread_map(const char *prefix, const struct report_run *run, FILE *file, struct base_arena *arena);
