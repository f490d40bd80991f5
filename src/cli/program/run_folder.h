/* The private folder of a command that runs programs: each has a folder of its own in it. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"

struct cli_run_folder {
    const char *path;
    int lock; /* held as long as the command lives */
};

/* Makes one in TMPDIR, after removing those of commands that are no longer there. Returns false after one line. */
bool cli_run_folder_make(struct cli_run_folder *folder, struct base_arena *arena);
/* The folders in it are gone already. */
void cli_run_folder_remove(struct cli_run_folder *folder, struct base_arena *arena);
