/* The accounts of groups and blocks, for policies that want them (SCHED_WANTS_ACCOUNTS). The caller reports every event
 * here before it calls the policy's hook. */
#pragma once

#include "sched/sched.h"

enum sched_wait { SCHED_WAIT_NONE, SCHED_WAIT_SHORT, SCHED_WAIT_MEMORY, SCHED_WAIT_BARRIER };

/* All zero: empty. */
struct sched_accounts {
    struct sched_account account[SCHED_MAX_SLOTS];
    struct sched_block block[SCHED_MAX_SLOTS];
    struct sched_set at_barrier;
    uint64_t last_cycle[SCHED_MAX_SLOTS]; /* of the group's last instruction; before the first, of its arrival */
    uint64_t wait_began[SCHED_MAX_SLOTS];
    uint8_t wait[SCHED_MAX_SLOTS]; /* enum sched_wait */
};

void sched_accounts_begin_block(struct sched_accounts *accounts, uint32_t block, uint64_t number, uint64_t cycle);
void sched_accounts_arrive(struct sched_accounts *accounts, const struct sched_view *view, uint32_t slot);
void sched_accounts_leave(struct sched_accounts *accounts, const struct sched_view *view, uint32_t slot);
void sched_accounts_stall(struct sched_accounts *accounts, const struct sched_view *view, uint32_t slot, bool is_long);
void sched_accounts_wake(struct sched_accounts *accounts, const struct sched_view *view, uint32_t slot);
void sched_accounts_issued(struct sched_accounts *accounts, const struct sched_view *view, uint32_t slot);
