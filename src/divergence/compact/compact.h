/* The compactor of thread block compaction. A block has one post-dominator stack (pdom.h). Its warps meet where the
 * stack may change, and new warps are formed when it has changed. The model tbc uses it, and so does odgs with
 * local=tbc. compact.c lists the rules. */
#pragma once

#include "divergence/compact/compacted.h"

struct divergence_compact_block;

struct divergence_compact {
    struct divergence_setup setup;
    uint32_t branch_cycles; /* until the outcome of a branch is known */
    bool meets_if_uniform;  /* warps meet at uniform branches too */
    /* Departures (odgs). Threads may leave when new warps are formed and no thread of the block can still reach a pc
     * where may_leave[pc] is 0. Then lanes are free, and the threads that do not fill a warp leave the block's stack
     * for good. NULL: no thread leaves. */
    const uint8_t *may_leave;
    uint32_t short_length; /* paths with at most this many instructions up to their join keep their incomplete warp */
    void (*leave)(void *user, const struct divergence_compacted *compacted, uint64_t cycle);
    void *user;
    uint32_t n_kept; /* slots that blocks do not use now and may need later */
};

void divergence_compact_start(struct divergence_compact *compact, const struct divergence_setup *setup);
/* State of a block's place on the SM. */
struct divergence_compact_block *divergence_compact_new_block(const struct exec_cta *cta);
void divergence_compact_free_block(struct divergence_compact_block *block);
/* A block begins with these threads, a mask over its rows that may be empty. The caller runs the others. There is a
 * slot for each row with a thread. */
void divergence_compact_admit(struct divergence_compact *compact, struct divergence_compact_block *block,
                              struct divergence_block *place, const uint32_t *threads, uint64_t cycle);
/* Returns whether the group is a warp of the compactor. A model may have other groups too, for which the hooks below
 * are not. */
enum { DIVERGENCE_COMPACT_GROUP = 1 }; /* group->kind */
static inline bool divergence_compact_owns(const struct divergence_group *group) {
    return group->kind == DIVERGENCE_COMPACT_GROUP;
}
void divergence_compact_control(struct divergence_compact *compact, struct divergence_group *group, uint32_t pc,
                                uint32_t mask, uint64_t cycle);
void divergence_compact_reached(struct divergence_compact *compact, struct divergence_group *group, uint64_t cycle);
void divergence_compact_resume(struct divergence_compact *compact, struct divergence_group *group, uint64_t cycle);
/* See divergence_ops.refuses. */
const char *divergence_compact_refuses(const struct exec_program *program, const char *model, char *text, size_t size);
/* Calls thread() for the threads of the block's stack. See divergence_ops.visit. */
void divergence_compact_visit(const struct divergence_compact_block *block,
                              void (*thread)(void *user, const struct divergence_group *group,
                                             const struct exec_row *row, uint32_t lane),
                              void *user);
