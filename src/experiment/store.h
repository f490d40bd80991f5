/* The result store: an SQLite file with a row for each run, so that a run is not repeated. Several processes may use it
 * at once, and a process that is killed loses only the runs in progress. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"

struct experiment_store;

/* Everything about a run that its statistics depend on. */
struct experiment_stored_run {
    const char *version;         /* of the simulator: a hash of its library */
    const char *program, *input; /* the name; a hash of the executable */
    const char *arguments, *size;
    const char *machine, *scheduler, *divergence;
    const char *configuration; /* the whole machine as YAML, without comments */
    const char *records;       /* the time series and the like that it records, as text */
    bool reads_device;         /* the program may depend on device.*, the description that programs read */
    double seconds;            /* of the host's processors */
    const char *statistics;    /* JSON */
};

struct experiment_stored_claim {
    const char *experiment, *size, *claim, *state;
};

/* Opens the file at `path`, or makes it. A file that can only be read is opened too, after one line that says so: it
 * keeps nothing. Returns COMMAND_DONE, or the exit status after one line. */
int experiment_store_open(struct experiment_store **store, const char *path);
/* The same for readers: *store is NULL if there is no file, or it cannot be read. No message. */
void experiment_store_open_to_read(struct experiment_store **store, const char *path);
bool experiment_store_is_read_only(const struct experiment_store *store);
void experiment_store_close(struct experiment_store *store); /* does nothing for NULL */

/* What tells this run from all others: 32 hexadecimal digits. The machine's name and description are not part of it,
 * and its device.* options only if the program may read them: they change no statistic. */
const char *experiment_store_key(const struct experiment_stored_run *run, struct base_arena *arena);
/* The statistics of that run; NULL: none. */
const char *experiment_store_find(struct experiment_store *store, const struct experiment_stored_run *run,
                                  struct base_arena *arena);
/* Seconds that a run like this one took: with the same settings, or else the same arguments, or else only the same
 * program; 0: not known. */
double experiment_store_seconds(struct experiment_store *store, const struct experiment_stored_run *run);
/* Does nothing if the store is read-only. Returns false after one line: the disk is full, for example. */
bool experiment_store_add(struct experiment_store *store, const struct experiment_stored_run *run);

/* Calls `take` for each run that meets `where`, an SQL expression over the table's columns (NULL: all), in the order of
 * program, machine, scheduler, model, arguments; of runs that differ only in the simulator's version, the input or what
 * they record, the latest. Returns false after one line. */
bool experiment_store_each(struct experiment_store *store, const char *where,
                           void (*take)(void *user, const struct experiment_stored_run *run), void *user);

/* Stores the state of a claim when its experiment was last run. */
bool experiment_store_set_claim(struct experiment_store *store, const struct experiment_stored_claim *claim);
/* The state from the last run; NULL: none. */
const char *experiment_store_claim(struct experiment_store *store, const char *experiment, const char *claim,
                                   struct base_arena *arena);

/* --store, or $HEDDLE_STORE, or heddle/results.db in $XDG_DATA_HOME, which is ~/.local/share by default. */
const char *experiment_store_path(const char *given, struct base_arena *arena);
