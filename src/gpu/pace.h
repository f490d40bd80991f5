/* Chooses the number of host threads, if the user has not. Results do not depend on it.
 *
 * More threads make a round shorter, until they wait for each other or for a processor that other programs use. That
 * depends on the machine, the kernel and the host, so it is measured: the pace compares its number of threads with the
 * next higher or lower one, in short windows that take turns, and keeps the faster. Then it rests for a while. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { GPU_PACE_LEVELS = 12 };

struct gpu_pace {
    uint32_t level[GPU_PACE_LEVELS]; /* numbers of threads to choose from, ascending */
    uint32_t n_levels, best;         /* best: so far */
    uint32_t other;                  /* compared with the best now; the same while it rests */
    bool is_other;                   /* runs now */
    bool goes_up;                    /* the next comparison is with more threads */
    uint32_t n_windows, n_wins;      /* of this comparison: both together; those that the other has won */
    uint32_t n_losses;               /* comparisons in a row that have changed nothing */
    double rate[2], last_rate;       /* of this comparison, sums: the best's, the other's; of the last window */
    double rest;                     /* seconds until the next comparison */
    double work, seconds;            /* of this window */
    uint32_t n_rounds;
};

/* most: the largest number of threads, with which it begins. */
void gpu_pace_init(struct gpu_pace *pace, uint32_t most);
static inline uint32_t gpu_pace_threads(const struct gpu_pace *pace) {
    return pace->level[pace->is_other ? pace->other : pace->best];
}
/* Adds rounds in which the threads did this work in these seconds. Returns whether another number of threads comes
 * next. */
bool gpu_pace_add(struct gpu_pace *pace, uint32_t n_rounds, double work, double seconds);
