/* The smallest machine on which schedulers differ: one issue per cycle, and a warp's next instruction waits for its
 * previous one. It calls real policies through their hooks, as an SM does. */
#pragma once

#include "sched/sched.h"

enum { SCHED_EXAMPLE_MAX_CYCLES = 256 };

/* A warp's instructions, one letter each: L is long, S is short. */
struct sched_example {
    uint32_t n_warps;
    const char *const *warp;
    uint32_t long_cycles, short_cycles; /* from issue until the warp's next instruction may issue */
};

struct sched_example_run {
    uint32_t cycles;                         /* until the last result */
    uint32_t n_issued;                       /* cycles with an issue; the others are stalls */
    int8_t issued[SCHED_EXAMPLE_MAX_CYCLES]; /* by cycle: the warp, or SCHED_NONE */
};

/* Liu et al. 2023, fig. 1: six warps, two of them with another program. */
extern const struct sched_example sched_liu2023_fig1;

/* Returns false when the example does not end within SCHED_EXAMPLE_MAX_CYCLES, or out of memory. `options` come from
 * sched_parse(). */
bool sched_example_run(const struct sched_example *example, const struct sched_ops *ops, const void *options,
                       struct sched_example_run *run);
