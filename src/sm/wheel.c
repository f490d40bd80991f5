/* The wheel of wake-ups: its memory and the search for the next one. */
#include "sm/wheel.h"

#include <stdlib.h>

#include "base/memory.h"

void sm_wheel_init(struct sm_wheel *wheel) {
    *wheel = (struct sm_wheel){.slots = base_allocate(SM_WHEEL_CYCLES, sizeof *wheel->slots)};
}

void sm_wheel_free(struct sm_wheel *wheel) { free(wheel->slots); }

uint64_t sm_wheel_next(const struct sm_wheel *wheel, uint64_t cycle) {
    for (uint32_t ahead = 1; ahead < SM_WHEEL_CYCLES;) {
        uint32_t at = (uint32_t)((cycle + ahead) % SM_WHEEL_CYCLES);
        uint64_t left = wheel->used[at / 64] >> at % 64;
        if (left)
            return cycle + ahead + (uint64_t)__builtin_ctzll(left);
        ahead += 64 - at % 64;
    }
    return SM_NEVER;
}
