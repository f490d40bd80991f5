/* Runs of a plan as an array job of Slurm. Beside the store of results is a folder, STORE.slurm, which all machines of
 * the cluster have to see: job-N.runs lists the keys of a job's runs, one task per line, job-N.id has Slurm's number of
 * the job, and a task leaves each of its results there as a file (run_file.h). Only the user's own command touches the
 * store. */
#pragma once

#include "experiment/plan.h"

struct experiment_slurm {
    const char *folder;
    const struct command_words *again; /* the words after `heddle` that plan the same runs */
    const char *options;               /* for sbatch, as the user gave them; NULL: none */
};

const char *experiment_slurm_folder(const char *store, struct base_arena *arena);

/* Each returns COMMAND_DONE, or the exit status after one line. */

/* Submits the runs that have no result and are not in a job already, and says so; *is_complete: there is nothing to
 * wait for. */
int experiment_slurm_submit(struct experiment_plan *plan, const struct experiment_slurm *slurm, bool *is_complete);
/* Prints how many runs are done, running, waiting, failed and not submitted. */
int experiment_slurm_print_status(struct experiment_plan *plan, const struct experiment_slurm *slurm);
/* Reduces the plan to the runs of this task: the line of the file `runs` that SLURM_ARRAY_TASK_ID names. */
int experiment_slurm_choose(struct experiment_plan *plan, const char *runs);
