/* Shared by the policies: functions that are not called every cycle. */
#include <assert.h>

#include "sched/internal.h"

void sched_no_start(void *state, const void *options, uint32_t n_slots) { (void)state, (void)options, (void)n_slots; }

void sched_no_slot(void *state, const struct sched_view *view, uint32_t slot) { (void)state, (void)view, (void)slot; }

void sched_no_stall(void *state, const struct sched_view *view, uint32_t slot, bool is_long) {
    (void)state, (void)view, (void)slot, (void)is_long;
}

void sched_groups_add(struct sched_groups *groups, uint32_t slot, uint32_t group) {
    assert(slot < SCHED_MAX_SLOTS && group < SCHED_MAX_SLOTS);
    groups->of[slot] = (uint8_t)group;
    sched_add(&groups->member[group], slot);
    if (group >= groups->n)
        groups->n = group + 1;
}

void sched_groups_remove(struct sched_groups *groups, uint32_t slot) {
    assert(sched_has(&groups->member[groups->of[slot]], slot));
    sched_remove(&groups->member[groups->of[slot]], slot);
}
