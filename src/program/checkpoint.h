/* --checkpoint and --resume: checks whether a file belongs to this run. */
#pragma once

#include "program/execute.h"

/* For a run with these two options, either of which may be NULL: makes a new checkpoint, or checks that the old one has
 * the same build, program, arguments, machine and options. Sets execution->checkpoint. Returns COMMAND_DONE, or another
 * status after one line. The rest of the execution must be set. */
int program_open_checkpoint(const char *checkpoint, const char *resume, bool is_quiet,
                            struct program_execution *execution, struct base_arena *arena);
