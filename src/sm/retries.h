/* Atomics on shared memory that are loops of compare-and-swap. retries.c times them. */
#pragma once

#include <stdint.h>

#include "config/machine.h"

enum { SM_RETRY_WORDS = 256 };

/* The words for which warps have competed last, by a hash of word and block. */
struct sm_retries {
    struct {
        uint64_t key, free; /* free: the cycle in which the last lane of the warps so far has changed the word */
    } word[SM_RETRY_WORDS];
    double rest; /* cycles of the load/store unit that have been used but not charged */
};

/* What one such instruction of a warp takes. */
struct sm_retry_cost {
    uint64_t ready;    /* when its last lane has succeeded */
    uint32_t n_rounds; /* of the loop */
    uint32_t busy_cycles;
};

/* Times an access of the lanes of `mask` to `bytes` each, at `cycle`. passes: those of a plain access. block: the
 * number of the warp's block on the SM. */
struct sm_retry_cost sm_retries_access(struct sm_retries *retries, const struct config_machine *machine,
                                       const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t passes,
                                       uint32_t block, uint64_t cycle);
