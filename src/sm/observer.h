/* Reports from SMs to an observer about their slots. Timelines are made from them (gpu/trace.c). If an SM has no
 * observer and its grid records no lines, it only compares a pointer for each access and each group, and does nothing
 * extra for an instruction. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stats/stalls.h"

struct exec_grid;

/* The activity of the group in a slot in a cycle: it issues, or stalls. SM_STALLS_ready: another group was picked, or
 * the unit is taken. SM_STALLS_barrier: it waits for others, at a barrier or a join. */
enum sm_activity {
    SM_ISSUES,
#define STATS_LINE_STALL(word, heading) SM_STALLS_##word,
#include "stats/stalls.def"
    SM_N_ACTIVITIES
};

/* Neighbouring cycles in which the group in a slot did the same at the same instruction: it issued it (always one
 * cycle; a slot may issue several bundles in it), waited to issue it or, with SM_STALLS_barrier, has issued it. */
struct sm_span {
    const struct exec_grid *grid;
    uint32_t sm, slot, pc;
    enum sm_activity activity;
    uint64_t first_cycle, n_cycles;
    uint32_t n_lanes;     /* SM_ISSUES: active lanes */
    uint32_t block, warp; /* of a group in a row: the block's number, the row in it. SM_NO_BLOCK: another group */
};
#define SM_NO_BLOCK UINT32_MAX

/* A memory instruction, or one bundle of it, from its issue until its last line arrived. */
struct sm_access_span {
    const struct exec_grid *grid;
    uint32_t sm, slot, pc;
    uint32_t n_requests, n_misses; /* lines; those not in the L1 */
    uint64_t first_cycle, n_cycles;
};

/* Threads moved from the group in one slot to the group in another: a split, or the whole group joined the other. */
struct sm_move {
    uint32_t sm, from, to;
    bool is_merge;
    uint64_t cycle;
};

/* A block, from the cycle in which its groups may issue to its end. */
struct sm_block_span {
    const struct exec_grid *grid;
    uint32_t sm, block;
    uint64_t first_cycle, n_cycles;
};

struct sm_observer {
    void (*block)(void *user, const struct sm_block_span *block);
    void (*span)(void *user, const struct sm_span *span);
    void (*access)(void *user, const struct sm_access_span *access);
    void (*move)(void *user, const struct sm_move *move);
    void *user;
};
