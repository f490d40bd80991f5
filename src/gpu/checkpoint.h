/* Checkpoints: after each launch, everything that a later process needs to continue as if this one had not ended.
 *
 * The later process runs the same program from its start. Launches in the file are not simulated: the device gets the
 * state it had after them, so whatever the program reads in between is the same as before. Memory, results, simulated
 * time and printed text come from the file. Allocations, copies and modules are the program's own calls. A launch is
 * replayed only if it and all that the host has written are the same as before. */
#pragma once

#include "gpu/internal.h"

struct gpu_checkpoint;

/* Opens config.checkpoint, which gpu_checkpoint_file_create() has made. On failure returns NULL and sets the error. */
struct gpu_checkpoint *gpu_checkpoint_open(const struct gpu *gpu, struct gpu_error *error);
void gpu_checkpoint_free(struct gpu_checkpoint *checkpoint);
/* Before a launch. Returns true if the file contains it; *error is then its outcome. GPU_OTHER_RUN: the launch is not
 * the one in the file. */
bool gpu_checkpoint_replay(struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error);
/* After a launch that replay() did not find: appends it, unless it was interrupted or ran out of time. */
void gpu_checkpoint_add(struct gpu *gpu, const struct gpu_error *error);
/* Records text that a kernel prints. */
void gpu_checkpoint_note_text(struct gpu_checkpoint *checkpoint, const char *text, size_t length);
