/* Prefetches an SM's state into the host's cache before the SM runs. With many SMs each runs for a quantum, a few dozen
 * instructions, and by its next turn the others have replaced its data. Without prefetching, its first instructions
 * would wait for one line of memory after another. Prefetching changes no state. */
#include "sm/internal.h"

enum { LINE = 64, WORTH_IT = 4, POLICY_BYTES = 512 };

static inline __attribute__((always_inline)) void touch(const void *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const char *)from + at);
}

bool sm_needs_prefetch(const struct sm *sm) { return sm->needs_prefetch; }

void sm_prefetch(const struct sm *sm) { touch(sm, offsetof(struct sm, active_lanes)); }

void sm_prefetch_slots(const struct sm *sm) {
    if (sm_slots_n_awake(&sm->slots) < WORTH_IT)
        return;
    touch(sm->wheel.slots, SM_WHEEL_CYCLES * sizeof *sm->wheel.slots);
    for (uint32_t word = 0; word < sm->slots.n_words; word++)
        for (uint64_t left = sm->slots.occupied.word[word]; left; left &= left - 1) {
            uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(left);
            __builtin_prefetch(&sm->slots.slot[s]);
            __builtin_prefetch(&sm->schedulers.slot[s]);
        }
    for (uint32_t k = 0; k < sm->schedulers.n; k++)
        touch(sm->schedulers.state[k],
              sm->schedulers.policy.state_bytes < POLICY_BYTES ? sm->schedulers.policy.state_bytes : POLICY_BYTES);
}

void sm_prefetch_next(const struct sm *sm, uint32_t s) {
    const struct sm_slot *slot = &sm->slots.slot[s];
    if (slot->group && slot->group->status == DIVERGENCE_RUNS)
        sm_prefetch_group(sm, slot, slot->group->pc);
    __asm__ volatile(""); /* otherwise compilers drop calls of a function that only prefetches */
}

void sm_prefetch_groups(const struct sm *sm) {
    if (sm_slots_n_awake(&sm->slots) < WORTH_IT)
        return;
    for (uint32_t word = 0; word < sm->slots.n_words; word++)
        for (uint64_t left = sm->slots.occupied.word[word]; left; left &= left - 1) {
            const struct sm_slot *slot = &sm->slots.slot[word * 64 + (uint32_t)__builtin_ctzll(left)];
            if (sm_slot_is_awake(slot))
                sm_prefetch_group(sm, slot, slot->group->pc);
        }
}
