/* Inside report. */
#pragma once

#include <jansson.h>

#include "report/report.h"

/* profile.c: the "profiles" of a results file, with the counts of threads in a file of their own. */
bool report_read_profiles(struct report_run *run, const json_t *array, const char *threads_path,
                          struct base_arena *arena, struct base_diag *diag);
