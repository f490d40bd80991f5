/* Shared by the files of report. */
#pragma once

#include <jansson.h>

#include "report/report.h"

/* profile.c: reads the "profiles" of a results file, and the per-thread counts from a separate file. */
bool report_read_profiles(struct report_run *run, const json_t *array, const char *threads_path,
                          struct base_arena *arena, struct base_diag *diag);
