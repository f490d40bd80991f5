/* The functional units of an SM: the cycle from which each takes its next instruction, and the slots whose next
 * instruction needs it. Every scheduler has its own ALU lanes and matrix unit, and all schedulers use one load/store
 * unit. On partitioned machines each scheduler also has its own remaining units. On other machines all schedulers share
 * them. */
#pragma once

#include "sched/sched.h"
#include "sm/timing.h"

enum { SM_UNIT_OWNERS = 1 + CONFIG_MAX_SCHEDULERS }; /* all schedulers together, and each of them */

struct sm_units {
    uint64_t latest[SM_UNIT_OWNERS]; /* of each owner: the latest cycle in `free` */
    uint32_t own[SM_N_UNITS];        /* ~0: each scheduler has such a unit; 0: all have one */
    uint32_t n_schedulers;
    struct sched_set slots[SM_N_UNITS]; /* by the unit of their next instruction */
    uint64_t free[SM_N_UNITS][SM_UNIT_OWNERS];
};

void sm_units_init(struct sm_units *units, const struct config_machine *machine);
/* Returns the first cycle in which every unit takes an instruction. */
uint64_t sm_units_all_free(const struct sm_units *units);
/* Returns the units, a bit for each, that take an instruction of this scheduler. */
uint32_t sm_units_free(const struct sm_units *units, uint32_t scheduler, uint64_t cycle);

/* Returns the owner of the unit that this scheduler uses. */
static inline uint32_t sm_units_owner(const struct sm_units *units, int unit, uint32_t scheduler) {
    return (scheduler + 1) & units->own[unit];
}

/* Returns the cycle from which the unit takes an instruction of this scheduler. */
static inline uint64_t sm_units_free_from(const struct sm_units *units, int unit, uint32_t scheduler) {
    return units->free[unit][sm_units_owner(units, unit, scheduler)];
}

/* Makes the scheduler's unit refuse instructions before `cycle`. */
static inline void sm_units_occupy(struct sm_units *units, int unit, uint32_t scheduler, uint64_t cycle) {
    uint32_t owner = sm_units_owner(units, unit, scheduler);
    units->free[unit][owner] = cycle;
    if (cycle > units->latest[owner])
        units->latest[owner] = cycle;
}

/* Returns whether a unit may refuse an instruction in this cycle. */
static inline bool sm_units_may_be_busy(const struct sm_units *units, uint64_t cycle) {
    for (uint32_t owner = 0; owner <= units->n_schedulers; owner++)
        if (units->latest[owner] > cycle)
            return true;
    return false;
}

/* Returns the slots of `set` whose unit takes an instruction of this scheduler. */
static inline struct sched_set sm_units_without_busy(const struct sm_units *units, struct sched_set set,
                                                     uint32_t scheduler, uint64_t cycle) {
    if (units->latest[0] <= cycle && units->latest[scheduler + 1] <= cycle)
        return set;
    for (int unit = 0; unit < SM_N_UNITS; unit++)
        if (sm_units_free_from(units, unit, scheduler) > cycle)
            set = sched_and_not(&set, &units->slots[unit]);
    return set;
}

/* Moves a slot whose next instruction needs another unit. */
static inline void sm_units_move(struct sm_units *units, uint32_t slot, int from, int to) {
    sched_remove(&units->slots[from], slot);
    sched_add(&units->slots[to], slot);
}
