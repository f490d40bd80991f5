/* The slots of an SM. Each holds a group of threads, with its scoreboard, the reason why it waits, and the cycle from
 * which its next instruction may issue. */
#pragma once

#include "divergence/divergence.h"
#include "sched/sched.h"
#include "sm/timing.h"

enum { SM_NO_SLOT = -1, SM_NO_TRAITS = 0xff };

enum sm_state {
    SM_SLOT_FREE,
    SM_SLOT_READY,
    SM_SLOT_MEMORY,
    SM_SLOT_DEPENDENCY,
    SM_SLOT_FETCH,
    SM_SLOT_BARRIER,
    SM_N_STATES
};

/* One cache line, because every cycle looks at many. */
struct sm_slot {
    struct divergence_group *group; /* NULL: free */
    uint64_t fetch_ready;           /* it does not issue before this cycle */
    uint64_t result_ready;          /* latest result in flight, except memory's */
    uint64_t *register_ready;       /* scoreboard; SM_NEVER while a load is in flight */
    uint64_t wake;                  /* the cycle in which the wheel wakes it */
    uint64_t age;                   /* identifies the group: a request may outlive the group that made it */
    uint32_t fetch_line;            /* of the last instruction */
    uint16_t n_accesses, n_loads;   /* memory instructions in flight; those of them with a result */
    uint8_t state;                  /* enum sm_state */
    uint8_t unit, traits;           /* of the next instruction */
    uint8_t parts;                  /* parts of a machine instruction that have not been issued yet */
    uint8_t grid;                   /* its group's, if there are several (grids.h) */
    bool is_draining : 1;           /* resume() is due when it wakes */
    bool is_continued : 1;          /* some but not all bundles of its instruction have issued */
    bool waits_for_copies : 1;      /* its next instruction waits for copies (copies.c) */
    bool has_accessed : 1;          /* global memory, since its last fence */
    bool is_fenced : 1;             /* its next instruction, which releases, has waited for earlier accesses */
};
_Static_assert(sizeof(struct sm_slot) == 64, "a slot is a cache line");

struct sm_slots {
    struct sm_slot *slot;
    uint32_t n, n_words; /* slots; words of a set of slots that are in use */
    uint32_t n_usable;   /* for models that pull blocks: as many warps as the kernel's registers allow */
    uint32_t n_in_state[SM_N_STATES];
    struct sched_set ready, occupied;
    uint64_t quiet_until;          /* before this cycle only the load/store unit has work; 0: not known */
    struct sched_set next_visible; /* slots whose next instruction other SMs may observe */
    uint64_t n_arrived;            /* groups so far */
    uint64_t *registers;           /* the scoreboards of all slots */
    uint32_t n_registers;          /* of a scoreboard */
};

void sm_slots_init(struct sm_slots *slots, uint32_t n);
void sm_slots_free(struct sm_slots *slots);
/* Before and after a grid: sets up scoreboards of n_registers entries, one more than there are registers. The last
 * entry is that of accesses (sm_access_entry). */
void sm_slots_begin(struct sm_slots *slots, uint32_t n_registers);
void sm_slots_end(struct sm_slots *slots);
/* During a grid: makes the scoreboards at least n_registers entries long. The last entry stays the last one. */
void sm_slots_widen(struct sm_slots *slots, uint32_t n_registers);
/* Returns a free slot among every n_schedulers'th from `scheduler` on, otherwise any free one, or SM_NO_SLOT if none is
 * usable. */
int sm_slots_find_free(const struct sm_slots *slots, uint32_t scheduler, uint32_t n_schedulers);
/* Puts a group into a free slot, with an empty scoreboard. It does not issue before cycle fetch_ready. */
void sm_slots_occupy(struct sm_slots *slots, uint32_t s, struct divergence_group *group, uint64_t fetch_ready);
void sm_slots_release(struct sm_slots *slots, uint32_t s);

static inline void sm_slots_set_state(struct sm_slots *slots, uint32_t s, enum sm_state state) {
    struct sm_slot *slot = &slots->slot[s];
    slots->quiet_until = 0;
    slots->n_in_state[slot->state]--;
    slots->n_in_state[state]++;
    slot->state = (uint8_t)state;
    if (state == SM_SLOT_READY)
        sched_add(&slots->ready, s);
    else
        sched_remove(&slots->ready, s);
}

static inline uint32_t sm_slots_n_occupied(const struct sm_slots *slots) {
    return slots->n - slots->n_in_state[SM_SLOT_FREE];
}

static inline bool sm_slot_is_awake(const struct sm_slot *slot) {
    return slot->state == SM_SLOT_READY || slot->state == SM_SLOT_DEPENDENCY || slot->state == SM_SLOT_FETCH;
}

/* Returns the number of groups that may issue soon. Those that wait for memory or for others may not. */
static inline uint32_t sm_slots_n_awake(const struct sm_slots *slots) {
    return slots->n_in_state[SM_SLOT_READY] + slots->n_in_state[SM_SLOT_DEPENDENCY] + slots->n_in_state[SM_SLOT_FETCH];
}
