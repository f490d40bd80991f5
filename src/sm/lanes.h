/* Scoreboards of single lanes, for models in which each thread of a group fetches its own instruction (mimd). */
#pragma once

#include "exec/exec.h"
#include "sm/sm.h"

/* The lanes of a slot. */
struct sm_lane_times {
    uint64_t ready_cycle[EXEC_LANES]; /* when the lane can issue */
    uint64_t valid_from, valid_until; /* `ready` holds from cycle valid_from until before valid_until */
    uint32_t ready;                   /* lanes that can issue */
    uint32_t of_unit[SM_N_UNITS];     /* lanes by their instruction's unit */
    uint32_t changed;                 /* lanes whose entries here are out of date */
};

struct sm_lanes {
    uint64_t *ready; /* for each slot, register and lane. NULL: each slot has one scoreboard */
    struct sm_lane_times *slot;
};

/* Returns whether every lane of a group fetches its own instruction. */
static inline bool sm_model_has_lane_pcs(const struct divergence_ops *divergence) {
    return divergence->joint && divergence->joint->lane_pcs;
}

void sm_lanes_begin(struct sm *sm); /* a grid */
void sm_lanes_end(struct sm_lanes *lanes);
/* The other functions need `ready`. */
void sm_lanes_clear(struct sm *sm, uint32_t slot);
void sm_lanes_changed(struct sm *sm, uint32_t slot); /* they may have other instructions now */
void sm_lanes_set_results(struct sm *sm, uint32_t slot, const struct sm_timing *timing, uint32_t mask, uint64_t cycle);
void sm_lanes_set_fetch(struct sm *sm, uint32_t slot, uint32_t mask, uint64_t cycle);
/* Returns the cycle, not before `cycle`, in which the first lane can issue, and sets *pc to its instruction. Among
 * several lanes it prefers one that does not need the load/store unit. SM_NEVER: memory has to answer first, or no lane
 * has an instruction. */
uint64_t sm_lanes_earliest(const struct sm *sm, uint32_t slot, uint64_t cycle, uint32_t *pc);
/* Returns the lanes of `mask` that can issue now, and whose unit is in `units` (a bit per enum sm_unit). */
uint32_t sm_lanes_ready(const struct sm *sm, uint32_t slot, uint32_t units, uint32_t mask, uint64_t cycle);
