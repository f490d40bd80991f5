/* How models count branches: in their statistics, and, when the launch records them, for each branch and thread. */
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

/* These lanes of a row were in a group whose threads have gone different ways at a branch. */
static inline void divergence_count_split(const struct divergence_setup *setup, const struct exec_row *row,
                                          uint32_t mask) {
    if (setup->cx->grid->profile)
        exec_profile_split(setup->cx->grid->profile, row, mask);
}

/* These threads have executed an instruction without being in a bundle of it (an unconditional jump of a large warp,
 * say). */
static inline void divergence_count_path(const struct divergence_setup *setup, const struct exec_row *row,
                                         uint32_t mask) {
    if (setup->cx->grid->profile)
        exec_profile_path(setup->cx->grid->profile, row, mask);
}
