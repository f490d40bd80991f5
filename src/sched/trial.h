/* A small random machine on which any scheduler can be tried: blocks of warps that compute, wait for short and long
 * results and at barriers, finish, and make room for new blocks. Tests run every scheduler on it, and `heddle check`
 * runs a user's. */
#pragma once

#include "sched/sched.h"

enum { SCHED_TRIAL_SLOTS = 24 };

struct sched_trial {
    const struct sched_ops *ops;
    const void *options;
    const struct sched_ops *second; /* sees the same and must pick the same; NULL: none */
    const void *second_options;
    bool has_marks; /* with long operations and progress instructions */
    uint32_t n_blocks;
    uint64_t seed;
    const char *volatile *hook; /* holds the name of a scheduler's hook while it runs; NULL: not wanted */
};

struct sched_trial_outcome {
    uint64_t picks;    /* a digest of all picks */
    uint64_t cycles;   /* until all blocks had ended */
    char problem[160]; /* the scheduler's mistake; "": none */
};

/* Runs until all blocks have ended. Returns false, with outcome->problem, at the first mistake. */
bool sched_trial_run(const struct sched_trial *trial, struct sched_trial_outcome *outcome);
/* Returns the longest wait of a warp that is always ready, counted in issues of others, out of `n_issues`, whatever the
 * others do, with nothing pending. UINT32_MAX: one of them never issued. It uses only ops, options, seed and hook of
 * the trial. */
uint32_t sched_trial_longest_wait(const struct sched_trial *trial, uint32_t n_issues);
