/* The two constant caches of an SM, both direct-mapped. A line that misses in the first cache comes from the second, or
 * from memory if the second misses too. A requested line is in the cache at once, but its data arrives later. Constants
 * change only between grids. Both caches are cleared at the end of each grid. */
#pragma once

#include "config/machine.h"
#include "exec/exec.h"

enum {
    SM_CONSTANT_LINE_BYTES = 64,
    SM_MOST_CONSTANT_LINES = 64, /* config_check() limits constant_cache.size */
    SM_FAR_CONSTANT_LINE_BYTES = 256,
    SM_FAR_CONSTANT_LINES = 256,
};

struct sm_constants {
    uint64_t tag[SM_MOST_CONSTANT_LINES];     /* line number plus one; 0: empty */
    uint64_t arrives[SM_MOST_CONSTANT_LINES]; /* the cycle in which the line's data arrives */
    uint64_t far_tag[SM_FAR_CONSTANT_LINES];
};

/* Returns where the constant lies in its bank. The device keeps the variables apart, in allocations of their own. */
uint64_t sm_constants_place(const struct exec_program *program, uint64_t address);
void sm_constants_clear(struct sm_constants *constants);
/* Accesses constants at the addresses of these lanes. Returns the cycles until the last of them is ready, where one in
 * the cache takes hit_cycles, and sets *n_addresses to the number of different addresses. */
uint64_t sm_constants_access(struct sm_constants *constants, const struct config_constant_cache *options,
                             const uint64_t address[EXEC_LANES], uint32_t lanes, uint32_t hit_cycles, uint64_t cycle,
                             uint32_t *n_addresses);
