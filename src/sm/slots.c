/* Slots: their memory, and the groups that enter and leave them. */
#include "sm/slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void sm_slots_init(struct sm_slots *slots, uint32_t n) {
    *slots = (struct sm_slots){.slot = base_allocate_aligned(n * sizeof *slots->slot),
                               .n = n,
                               .n_words = (n + 63) / 64,
                               .n_usable = n,
                               .n_in_state = {[SM_SLOT_FREE] = n}};
}

void sm_slots_free(struct sm_slots *slots) {
    sm_slots_end(slots);
    free(slots->slot);
}

void sm_slots_begin(struct sm_slots *slots, uint32_t n_registers) {
    slots->n_registers = n_registers;
    slots->registers = base_grow(NULL, (size_t)slots->n * n_registers, sizeof *slots->registers);
    for (uint32_t s = 0; s < slots->n; s++)
        slots->slot[s].register_ready = slots->registers + (size_t)s * n_registers;
}

void sm_slots_end(struct sm_slots *slots) {
    free(slots->registers);
    slots->registers = NULL;
}

void sm_slots_widen(struct sm_slots *slots, uint32_t n_registers) {
    uint64_t *before = slots->registers;
    uint32_t n_before = slots->n_registers;
    if (n_registers <= n_before)
        return;
    sm_slots_begin(slots, n_registers);
    for (uint32_t s = 0; s < slots->n; s++) {
        uint64_t *to = slots->slot[s].register_ready;
        const uint64_t *from = before + (size_t)s * n_before;
        memset(to, 0, n_registers * sizeof *to);
        memcpy(to, from, (n_before - 1) * sizeof *to);
        to[n_registers - 1] = from[n_before - 1];
    }
    free(before);
}

int sm_slots_find_free(const struct sm_slots *slots, uint32_t scheduler, uint32_t n_schedulers) {
    int other = SM_NO_SLOT;
    if (sm_slots_n_occupied(slots) == slots->n_usable)
        return SM_NO_SLOT;
    for (uint32_t word = 0; word < slots->n_words; word++)
        for (uint64_t left = ~slots->occupied.word[word]; left; left &= left - 1) {
            uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (s < slots->n && s % n_schedulers == scheduler)
                return (int)s;
            if (s < slots->n && other == SM_NO_SLOT)
                other = (int)s;
        }
    return other;
}

void sm_slots_occupy(struct sm_slots *slots, uint32_t s, struct divergence_group *group, uint64_t fetch_ready) {
    struct sm_slot *slot = &slots->slot[s];
    *slot = (struct sm_slot){
        .group = group,
        .fetch_ready = fetch_ready,
        .age = slots->n_arrived++,
        .fetch_line = UINT32_MAX,
        .register_ready = slot->register_ready,
        .state = slot->state,
        .unit = slot->unit,
        .traits = SM_NO_TRAITS,
    };
    memset(slot->register_ready, 0, slots->n_registers * sizeof *slot->register_ready);
    group->slot = (int)s;
    sched_add(&slots->occupied, s);
}

void sm_slots_release(struct sm_slots *slots, uint32_t s) {
    sched_remove(&slots->occupied, s);
    sm_slots_set_state(slots, s, SM_SLOT_FREE);
    slots->slot[s].group->slot = DIVERGENCE_NO_SLOT;
    slots->slot[s].group = NULL;
}
