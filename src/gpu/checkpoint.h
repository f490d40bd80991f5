/* Checkpoints: after each launch, what a later process needs to go on as if this one had not ended.
 *
 * The later process runs the same program from its start. Launches that the file has are not simulated: the device
 * becomes what it was after them, so whatever the program reads in between is what it read then. Memory, results,
 * simulated time and what kernels print come from the file; allocations, copies and modules are the program's own
 * calls, and a launch is replayed only if it and all that the host has written are the same as then. */
#pragma once

#include "gpu/internal.h"

struct gpu_checkpoint;

/* Opens config.checkpoint, which gpu_checkpoint_file_create() has made. NULL and an error if that cannot be. */
struct gpu_checkpoint *gpu_checkpoint_open(const struct gpu *gpu, struct gpu_error *error);
void gpu_checkpoint_free(struct gpu_checkpoint *checkpoint);
/* Before a launch. Returns true if the file has it: *error then says how it ended. GPU_OTHER_RUN: the launch is not the
 * one in the file. */
bool gpu_checkpoint_replay(struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error);
/* After a launch that replay() did not have: appends it. One that was interrupted or ran out of time is left out. */
void gpu_checkpoint_add(struct gpu *gpu, const struct gpu_error *error);
/* A kernel prints. */
void gpu_checkpoint_note_text(struct gpu_checkpoint *checkpoint, const char *text, size_t length);
