/* Counts branches: in the statistics and, if the launch records a profile, for each branch and thread. */
#pragma once

#include "divergence/divergence.h"
#include "exec/profile.h"

/* A group has executed the branch at pc. */
static inline void divergence_count_branch(const struct divergence_setup *setup, uint32_t pc, bool is_divergent) {
    setup->counters->branches++;
    setup->counters->divergent_branches += is_divergent;
    if (setup->cx->grid->profile)
        exec_profile_branch(setup->cx->grid->profile, pc, is_divergent);
}

/* These lanes of a row were in a group whose threads went different ways at a branch. */
static inline void divergence_count_split(const struct divergence_setup *setup, const struct exec_row *row,
                                          uint32_t mask) {
    if (setup->cx->grid->profile)
        exec_profile_split(setup->cx->grid->profile, row, mask);
}

/* The same for a group of several consecutive rows. */
static inline void divergence_count_wide_split(const struct divergence_setup *setup, const struct exec_row *row,
                                               const uint32_t *mask, uint32_t n_rows) {
    for (uint32_t i = 0; i < n_rows; i++)
        divergence_count_split(setup, &row[i], mask[i]);
}
