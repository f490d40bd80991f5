/* For models whose groups issue together on disjoint lanes (interweave, vws): the instructions of one cycle. At most
 * one of them accesses memory. */
#pragma once

#include "divergence/divergence.h"

struct divergence_joint {
    uint32_t n_groups, lanes; /* so far; lanes of the units that they use */
    bool has_memory;
};

static inline bool divergence_joint_is_memory(const struct divergence_setup *setup,
                                              const struct divergence_group *group) {
    return setup->cx->grid->program->code[group->pc].goes_to_memory;
}

/* Whether the group, which would use these lanes, can issue with the others. */
static inline bool divergence_joint_fits(const struct divergence_joint *joint, const struct divergence_setup *setup,
                                         const struct divergence_group *group, uint32_t lanes) {
    return !(lanes & joint->lanes) && !(joint->has_memory && divergence_joint_is_memory(setup, group));
}

/* Adds a group; the first is the one that the scheduler has picked, and the others count as shared issues. */
static inline void divergence_joint_add(struct divergence_joint *joint, const struct divergence_setup *setup,
                                        const struct divergence_group *group, uint32_t lanes) {
    setup->counters->shared_issues += joint->n_groups++ > 0;
    joint->lanes |= lanes;
    joint->has_memory |= divergence_joint_is_memory(setup, group);
}
