/* A run and its statistics as a file of its own, for tasks on machines that share a file system but no database: SQLite
 * does not lock reliably over networks. A merge step moves the files into the store. */
#pragma once

#include <stdbool.h>

#include "experiment/store.h"

/* Writes folder/KEY.json; the file appears with its whole content or not at all. Returns false after one line. */
bool experiment_run_file_write(const char *folder, const struct experiment_stored_run *run);
/* Writes folder/KEY.failed, which says why the run has no result. */
bool experiment_run_file_write_failure(const char *folder, const struct experiment_stored_run *run, const char *why);
/* Moves all KEY.json of the folder into the store and counts them. A folder that is not there has none. Returns
 * COMMAND_DONE, or the exit status after one line. */
int experiment_run_files_merge(const char *folder, struct experiment_store *store, unsigned *n_merged);
