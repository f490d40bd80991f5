/* Runs programs of which only a sample of the launches is timed, and estimates the rest. */
#pragma once

#include "program/execute.h"
#include "report/sample.h"

/* The row of --estimate; `at` is the offset of a double in the command's struct, 0 if the option is not given. */
enum { PROGRAM_ESTIMATE_DEFAULT = 1000 }; /* 1 %, as options.h counts */
#define PROGRAM_ESTIMATE_ROW(at)                                                                                       \
    {                                                                                                                  \
        "--estimate", 0, COMMAND_PERCENT, "[P%]",                                                                      \
            "time a sample of the launches, large enough to know the cycles of all within P % [1%]", (at),             \
            PROGRAM_ESTIMATE_DEFAULT, 0                                                                                \
    }

/* Executes the jobs as program_execute_all() does. Each `n_together` neighbours are runs of one program on different
 * targets, and time the same sample. Runs without an error then have an estimate. The sample of each program is stored
 * in sample[], if that is not NULL. */
int program_estimate_all(struct program_jobs *jobs, unsigned n_together, double error, bool is_quiet,
                         struct report_sample *sample);
/* The same for one run, as program_execute() does it. */
int program_estimate(const struct program_execution *execution, double error, struct report_run *run,
                     struct base_arena *arena, bool *is_said);
