/* The wheel of wake-ups: for each of the next SM_WHEEL_CYCLES cycles, the slots that wake up in it. A slot that sleeps
 * longer comes off the wheel at the end of a turn, and the SM puts it back. Finding the next wake-up takes a few
 * machine instructions, however many slots sleep. */
#pragma once

#include "sched/sched.h"
#include "sm/sm.h"

enum { SM_WHEEL_CYCLES = 128 };

struct sm_wheel {
    uint64_t used[SM_WHEEL_CYCLES / 64]; /* a bit for each cycle: its set is not empty */
    struct sched_set *slots;             /* for each cycle, modulo SM_WHEEL_CYCLES */
};

void sm_wheel_init(struct sm_wheel *wheel);
void sm_wheel_free(struct sm_wheel *wheel);
/* Returns the first cycle after `cycle` in which a slot is due, or SM_NEVER. */
uint64_t sm_wheel_next(const struct sm_wheel *wheel, uint64_t cycle);

/* In `cycle`, adds a slot that sleeps until cycle `wake`. */
static inline void sm_wheel_add(struct sm_wheel *wheel, uint32_t slot, uint64_t cycle, uint64_t wake) {
    uint64_t at = wake - cycle < SM_WHEEL_CYCLES ? wake : cycle + SM_WHEEL_CYCLES - 1;
    sched_add(&wheel->slots[at % SM_WHEEL_CYCLES], slot);
    wheel->used[at % SM_WHEEL_CYCLES / 64] |= 1ull << at % 64;
}

static inline bool sm_wheel_is_due(const struct sm_wheel *wheel, uint64_t cycle) {
    return wheel->used[cycle % SM_WHEEL_CYCLES / 64] >> cycle % 64 & 1;
}

/* Removes and returns the slots that are due in this cycle. */
static inline struct sched_set sm_wheel_take(struct sm_wheel *wheel, uint64_t cycle) {
    uint32_t at = (uint32_t)(cycle % SM_WHEEL_CYCLES);
    struct sched_set due = wheel->slots[at];
    wheel->slots[at] = (struct sched_set){{0}};
    wheel->used[at / 64] &= ~(1ull << at % 64);
    return due;
}
