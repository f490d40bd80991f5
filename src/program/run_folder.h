/* The private folder of a command that runs programs. It contains a folder for each program. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"

struct program_run_folder {
    const char *path;
    int lock; /* held as long as the command lives */
};

/* Makes one in TMPDIR, after removing those of commands that no longer run. Returns false after one line. */
bool program_run_folder_make(struct program_run_folder *folder, struct base_arena *arena);
/* Removes the folder, whose own folders have already been removed. */
void program_run_folder_remove(struct program_run_folder *folder, struct base_arena *arena);
