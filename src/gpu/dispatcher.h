/* The dispatcher: starts the blocks of launches on SMs. */
#pragma once

#include "sm/sm.h"

struct gpu_run;
struct gpu_timed;

/* Returns the functions that SMs call when blocks end, or when they want more. */
struct sm_dispatcher gpu_dispatcher(struct gpu_timed *timed);
/* At the start of a launch: starts one block or cluster on each SM or GPC in turn while there is room. Models that pull
 * blocks do so. */
void gpu_fill(struct gpu_run *run);
/* Starts blocks on the SM while there is room. */
void gpu_start_blocks(struct gpu_run *run, uint32_t sm, uint64_t cycle);
/* Ends the process if the scheduler leaves blocks that no SM takes. */
void gpu_check_blocks(const struct gpu_run *run);
/* Returns whether every block of a launch that has ended has started once and ended once. gpu_check_end() ends the
 * process otherwise: whatever the launch has computed may be wrong. */
bool gpu_has_run_all(const struct gpu_run *run);
void gpu_check_end(const struct gpu_run *run);
/* Returns when a block starts that the dispatcher starts in this cycle: launch.start_cycles after the launch's first,
 * launch.block_cycles apart, and launch.turn_cycles after the block whose place it takes. */
uint64_t gpu_start_of_block(const struct config_launch *launch, double *next_start, uint64_t first, uint64_t cycle);
