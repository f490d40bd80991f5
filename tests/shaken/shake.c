/* See shake.h. Usually nothing happens. Sometimes another thread gets the processor. Rarely the thread sleeps for
 * longer than a round takes, and very rarely for longer than many rounds. */
#include "shake.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { YIELD_IN = 8, SLEEP_IN = 64, LONG_SLEEP_IN = 1 << 13, SLEEP_NS = 40000, LONG_SLEEP_NS = 2000000 };

static atomic_uint n_threads;
static _Thread_local uint64_t state;

/* xorshift64 (Marsaglia 2003). */
static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void sleep_for(uint64_t ns) { nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL); }

void shake(unsigned rarity) {
    if (!state) {
        const char *seed = getenv("HEDDLE_SHAKE");
        state = ((seed ? strtoull(seed, NULL, 10) : 0) << 10) + __atomic_add_fetch(&n_threads, 1, __ATOMIC_SEQ_CST);
        state *= UINT64_C(0x9E3779B97F4A7C15);
    }
    uint64_t number = draw() >> 20;
    if (number % rarity != 0)
        return;
    number /= rarity;
    if (number % LONG_SLEEP_IN == 0)
        sleep_for(number % LONG_SLEEP_NS);
    else if (number % SLEEP_IN == 1)
        sleep_for(number % SLEEP_NS);
    else if (number % YIELD_IN == 2)
        sched_yield();
}
