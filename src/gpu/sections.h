/* Sections of launches, for --estimate: cut and drawn while the functional engine runs a launch, and timed by forks of
 * the process. */
#pragma once

#include "gpu/internal.h"

struct gpu_sections;

struct gpu_sections *gpu_sections_new(struct gpu *gpu);
void gpu_sections_free(struct gpu_sections *sections);

/* Returns whether the process must time this launch itself: it is one section, which will probably be drawn. */
bool gpu_sections_time(struct gpu_sections *sections, const char *kernel, const struct exec_grid *grid);
/* A launch begins, on a timed machine, and will run functionally unless its record says that it is timed. */
void gpu_sections_begin(struct gpu_sections *sections, struct gpu_kernel *kernel, const struct exec_grid *grid,
                        uint32_t launch);
/* Returns the SM that a block probably runs on. The blocks of the first wave start on the SMs in turn, in every launch.
 * Later ones start where others have ended: on another SM in each launch. */
uint32_t gpu_sections_sm(const struct gpu_sections *sections, uint64_t block);
/* Returns the block before which the engine must call gpu_sections_reach(). */
uint64_t gpu_sections_next(const struct gpu_sections *sections);
/* All blocks before `block` have started, and have ended if !is_busy. The counters are the launch's so far. */
void gpu_sections_reach(struct gpu_sections *sections, uint64_t block, bool is_busy,
                        const struct stats_counters *counters, const struct gpu_warmed *warmed);
/* A block has ended; `length`: the instructions of its longest row. */
void gpu_sections_add_block(struct gpu_sections *sections, uint64_t length);
/* The launch has ended, or failed. */
void gpu_sections_end(struct gpu_sections *sections, bool is_done, const struct stats_counters *counters,
                      const struct gpu_warmed *warmed);
