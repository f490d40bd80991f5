/* Declarations for the files of compact.h only. */
#pragma once

#include "divergence/compact/compact.h"
#include "divergence/parts/control.h"

struct divergence_compact_warp {
    struct divergence_group group;
    struct divergence_compacted compacted; /* its pc is the group's while it runs */
    struct divergence_compact_block *block;
};

/* The state of an entry's warps when the entry gave way to another. */
struct divergence_compact_saved {
    struct divergence_compacted *compacted;
    uint32_t n_compacted;
    uint32_t sync_pc, taken[EXEC_MAX_ROWS];
    bool is_at_join, is_used;
};

struct divergence_compact_block {
    struct divergence_stack stack;
    struct divergence_watch watch;
    struct divergence_block *place;
    struct divergence_compact_warp *warp; /* n_rows of them; those with threads are in slots */
    uint32_t n_rows;
    uint32_t n_warps;              /* with threads */
    uint32_t n_come;               /* of those, at the meeting place */
    uint32_t n_barred;             /* of those, at a barrier */
    uint32_t n_draining;           /* warps that must drain before new ones are formed; 0: none are to be formed */
    bool is_packed;                /* the warps are not the rows */
    bool has_left;                 /* a thread has left for the pool */
    uint32_t n_local_rows;         /* rows that began here */
    uint32_t n_kept;               /* slots that it does not use now and may need later */
    bool has_split_rows;           /* threads of one row are in several warps */
    bool is_at_join;               /* the meeting place is where the entry's path ends */
    uint32_t sync_pc;              /* the instruction, or the reconvergence pc */
    uint32_t taken[EXEC_MAX_ROWS]; /* threads there whose guard is true */
    uint64_t resolved;             /* the new warps run from this cycle on */
    struct divergence_compact_saved *saved; /* the label of an entry is 1 + its place here */
    uint32_t n_saved;
};

/* --- form.c: forming warps --- */

/* Shows the SM the compacted warp, in its group. */
void divergence_compact_show(const struct divergence_compact_block *block, struct divergence_compact_warp *warp);
struct divergence_compact_saved *divergence_compact_new_saved(struct divergence_compact_block *block);
/* Returns whether the warps of the top entry are packed, or its rows. */
bool divergence_compact_is_packed(const struct divergence_compact_block *block);
/* Threads of the block have ended or left: updates how many slots it keeps. */
void divergence_compact_keep_slots(struct divergence_compact *compact, struct divergence_compact_block *block);
/* Makes the warps drain; new ones are formed afterwards. `self` is the one whose hook runs. */
void divergence_compact_drain(const struct divergence_compact *compact, struct divergence_compact_block *block,
                              const struct divergence_compact_warp *self, uint64_t cycle);
/* All warps have drained: forms new ones for the top entry. `self` is the one whose hook runs. */
void divergence_compact_form(struct divergence_compact *compact, struct divergence_compact_block *block,
                             struct divergence_compact_warp *self, uint64_t cycle);
