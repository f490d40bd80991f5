/* The parts of the view that only some policies ask for: accounts, pressure on memory, facts of the kernel, events of
 * the L1; and the decisions that only some make: holding accesses back, and blocks. An SM whose policy asks for none of
 * them has no struct sm_wide, and tests one pointer for each line that it accesses and for each tick. */
#pragma once

#include "sched/accounts.h"
#include "sm/sm.h"

/* The group whose miss brought a line into the L1. */
struct sm_owner {
    uint32_t pc;
    uint16_t slot;
    bool is_known, is_store;
};

struct sm_wide {
    struct sm *sm;
    struct sched_ops own; /* the policy's table; the SM calls hooks of wide.c instead */
    struct sched_accounts accounts;
    struct sched_pressure pressure;
    struct sched_kernel kernel;
    struct sched_set held;  /* slots whose accesses may not issue now: of the last pick */
    struct sm_owner *owner; /* by slot of the L1 */
    bool names_critical;    /* before each access it says whether the group is critical */
    uint32_t most_blocks;   /* that the policy allows; without its hook, as many as fit */
};

/* Returns NULL if the policy asks for nothing. Otherwise replaces hooks of sm->schedulers.policy. */
struct sm_wide *sm_wide_new(struct sm *sm);
void sm_wide_free(struct sm_wide *wide);
/* Before the schedulers start on a grid. */
void sm_wide_begin(struct sm *sm);
void sm_wide_begin_block(struct sm *sm, const struct divergence_block *block, uint64_t cycle);
/* The L1 has answered for a line of the request. */
struct sm_request;
void sm_wide_access(struct sm *sm, const struct sm_request *request, uint32_t line, bool is_hit);
/* Tells memory whether the request's group is critical. */
void sm_wide_name_access(struct sm *sm, const struct sm_request *request);
/* Returns how many refused loads may wait aside, for a load of this slot. */
uint32_t sm_wide_most_aside(struct sm *sm, uint32_t slot, uint64_t cycle);
/* Asks the policy how many blocks it allows now, and the dispatcher for blocks if there is more room. */
void sm_wide_limit_blocks(struct sm *sm, uint64_t cycle);
