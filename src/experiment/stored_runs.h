/* A page's document with the runs of a result store. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "base/arena.h"

/* True if the file is an SQLite database. */
bool experiment_is_database(const char *path);

/* The runs of the store at `path` that meet `where`, an SQL expression over the columns of its table `runs` (NULL:
 * all); of runs that differ only in the version of the simulator, the latest. Each has `set`, the options in which runs
 * on machines of its machine's name differ. Returns NULL after one line. */
json_t *experiment_stored_runs_document(const char *path, const char *where, struct base_arena *arena);
