/* A random channel on which any DRAM policy can be tried: requests arrive, wait in a bounded queue and are served in
 * the order that the policy picks. `heddle check` runs a user's policy on it. */
#pragma once

#include "mem/dram_policy.h"

struct dram_trial_outcome {
    uint64_t n_served, cycles, longest_wait_cycles;
    uint64_t picks;    /* a digest of all picks */
    char problem[160]; /* the policy's mistake; "": none */
};

/* Serves n_requests. Returns false, with outcome->problem, at the first mistake: an index past the end of the queue,
 * two different picks for the same view, or no request served for a long time. */
bool mem_try_dram_policy(const struct dram_policy *policy, const void *options, uint32_t n_requests, uint64_t seed,
                         struct dram_trial_outcome *outcome);
