/* The blocks on an SM, and the places that hold their threads. A place serves one block of the grid after the other, so
 * the number of places is the largest number of blocks that were ever on the SM at once. */
#pragma once

#include "config/occupancy.h"
#include "divergence/divergence.h"
#include "sm/sm.h"

struct sm_resident {
    struct divergence_block block; /* first member: the model hands it back */
    bool is_in_flight;
    uint8_t grid; /* its grid, if there are several (grids.h) */
    struct sm *sm;
};

struct sm_blocks {
    struct sm_resident **place; /* NULL: its grid has ended */
    uint32_t n_places, n;
    uint32_t most;  /* blocks that fit */
    uint64_t start; /* groups of a starting block, or of one that is released, do not issue before this cycle */
    struct exec_cluster *cluster; /* of a starting block; NULL: none, or one block */
    uint32_t rank;
};

/* Before a grid: determines how many blocks, and how many groups of models that pull blocks, fit. */
void sm_blocks_begin(struct sm *sm);
void sm_blocks_end(struct sm *sm);
/* Grid k has ended, but not the others: its places are no longer needed. */
void sm_blocks_leave(struct sm *sm, uint32_t k);
/* Returns what one block of the grid needs. */
struct config_demand sm_block_demand(const struct exec_grid *grid);
/* All threads of the block have ended. */
void sm_end_block(struct sm *sm, struct divergence_block *block);
