/* The grids on an SM. Usually there is one, and this part does nothing. If launches share the SMs, blocks of several
 * grids are on an SM at once. Then one of the grids is the current one: sm->grid, sm->program and the context show it,
 * and the SM switches to the grid of a group before it works for the group.
 *
 * Each grid has a share of the SM's counters. A count belongs to the grid that is current at that time: the
 * grid of the group that issues, whose access is served, or whose block starts. A cycle in which nothing issues, and
 * whatever a cache does by itself, belongs to the grid that the SM served last. The shares of all grids add up to the
 * counters of the SM. */
#pragma once

#include "config/occupancy.h"
#include "exec/exec.h"
#include "sm/sm.h"

/* A grid's part of the counters of an SM, its L1 and its I-cache. */
struct sm_share {
    struct stats_sm sm;
    struct stats_divergence divergence;
    struct stats_mem mem;
    uint64_t active_lanes[EXEC_LANES + 1];
};

struct sm_grid {
    const struct exec_grid *grid; /* NULL: no grid has this number */
    const struct sm_program *program;
    uint64_t *lanes_at; /* these two as in struct sm, while another grid is current */
    struct sm_hot *hot;
    struct config_use use;  /* of one block */
    uint32_t n_ended;       /* blocks that have ended since sm_take_ended() */
    uint64_t empty_arrived; /* its stall_empty when a block of it last came to the empty SM; SM_NEVER: none came */
    struct sm_share share;
};

struct sm_grids {
    uint32_t current;
    struct sm_grid *grid;     /* SM_MOST_GRIDS; NULL: never needed so far */
    struct config_use in_use; /* by all blocks on the SM */
    struct sm_share mark;     /* the counters at the last switch */
};

/* Makes grid k the current one. */
void sm_switch_grid(struct sm *sm, uint32_t k);
/* The same for an access of grid k, which may have ended since. */
void sm_use_request(struct sm *sm, uint32_t k);
/* A block of grid k starts, or has ended. */
void sm_grids_begin_block(struct sm *sm, uint32_t k);
void sm_grids_end_block(struct sm *sm, uint32_t k);
/* The last grid has ended. */
void sm_grids_end(struct sm *sm);
