/* Finds kernels that run for ever without effect: every group spins on memory that no thread will write. */
#pragma once

#include "sm/sm.h"

struct gpu_livelock;

/* May be NULL: it is allocated when a livelock is first suspected, so that most launches never need it. */
void gpu_livelock_free(struct gpu_livelock *livelock);
/* Returns whether nothing has changed for quiet_cycles (0: never). */
bool gpu_is_quiet(struct sm *const *sm, uint32_t n_sms, uint64_t quiet_cycles, uint64_t cycle);
/* While it is quiet: checks the SMs from time to time. Returns true if no group can ever do anything new. */
bool gpu_livelock_found(struct gpu_livelock **livelock, struct sm *const *sm, uint32_t n_sms, uint64_t cycle);
/* After a livelock: returns the name of a strict scheduler that has picked none of the ready groups, on any SM, since
 * the first look. NULL: instructions were issued. */
const char *gpu_livelock_scheduler(const struct gpu_livelock *livelock, struct sm *const *sm, uint32_t n_sms);
