/* The blocks on an SM, and the places that hold their threads. A place serves one block of the grid after the other, so
 * the number of places is the largest number of blocks that were ever on the SM at once. */
#pragma once

#include "divergence/divergence.h"
#include "sm/sm.h"

struct sm_resident {
    struct divergence_block block; /* first member: the model hands it back */
    bool is_in_flight;
    uint64_t first_cycle; /* from which on its groups may issue */
};

struct sm_blocks {
    struct sm_resident **place;
    uint32_t n_places, n;
    uint32_t most;  /* blocks that fit */
    uint64_t start; /* groups of a starting block do not issue before this cycle */
};

/* Before a grid: determines how many blocks, and how many groups of models that pull blocks, fit. */
void sm_blocks_begin(struct sm *sm);
void sm_blocks_end(struct sm *sm);
/* All threads of the block have ended. */
void sm_end_block(struct sm *sm, struct divergence_block *block);
