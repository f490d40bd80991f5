/* Runs programs, times a sample of their launches, and estimates the rest. */
#pragma once

#include "program/execute.h"
#include "report/sample.h"

/* The row of --estimate; `at` is the offset of a double in the command's struct, 0 if the option is not given. */
enum { PROGRAM_ESTIMATE_DEFAULT = 3000 }; /* 3 %, as options.h counts */
#define PROGRAM_ESTIMATE_ROW(at)                                                                                       \
    {                                                                                                                  \
        "--estimate", 0, COMMAND_PERCENT, "[P%]",                                                                      \
            "time a sample of the launches, large enough to know the cycles of all within P % [3%]", (at),             \
            PROGRAM_ESTIMATE_DEFAULT, 0                                                                                \
    }

/* Sections drawn from each segment, at least: two are the fewest that show how they deviate. */
enum { PROGRAM_ESTIMATE_DRAWS = 2 };
/* Estimates a run that was executed with so many draws; job->status and run.error say if this failed. */
void program_estimate_once(struct program_job *job, struct base_arena *arena);
/* Executes the jobs as program_execute_all() does. Each `n_together` neighbours are runs of one program on different
 * targets, with samples of the same size. Runs without an error then have an estimate. */
int program_estimate_all(struct program_jobs *jobs, unsigned n_together, double error, bool is_quiet);
/* The same for one run, as program_execute() does it. */
int program_estimate(const struct program_execution *execution, double error, struct report_run *run,
                     struct base_arena *arena, bool *is_said);
