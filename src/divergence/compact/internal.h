/* What the files of compact.h share and models do not need. */
#pragma once

#include "divergence/compact/compact.h"
#include "divergence/parts/control.h"

struct divergence_compact_warp {
    struct divergence_group group;
    struct divergence_compacted compacted; /* its pc is the group's while it runs */
    struct divergence_compact_block *block;
};

/* What the warps of an entry of the stack were doing when it gave way to another. */
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
    struct divergence_compact_warp *warp; /* n_rows; those with threads are in slots */
    uint32_t n_rows;
    uint32_t n_warps;                       /* with threads */
    uint32_t n_come;                        /* of these, at the meeting place */
    uint32_t n_barred;                      /* of these, at a barrier */
    uint32_t n_draining;                    /* warps still to drain before new ones are formed; 0: it is not to be */
    bool is_packed;                         /* the warps are not the rows */
    bool has_left;                          /* somebody has left */
    uint32_t n_local_rows;                  /* rows that began here */
    uint32_t n_kept;                        /* slots not used now that it may need later */
    bool has_split_rows;                    /* threads of one row are in several warps */
    bool is_at_join;                        /* the meeting place is where the entry's path ends */
    uint32_t sync_pc;                       /* the instruction, or the reconvergence pc */
    uint32_t taken[EXEC_MAX_ROWS];          /* threads there whose guard is true */
    uint64_t resolved;                      /* not before this cycle do the new warps run */
    struct divergence_compact_saved *saved; /* the label of an entry is 1 + its place here */
    uint32_t n_saved;
};

/* --- compact_form.c: warps come and go --- */

/* The group is its compacted. */
void divergence_compact_show(const struct divergence_compact_block *block, struct divergence_compact_warp *warp);
struct divergence_compact_saved *divergence_compact_new_saved(struct divergence_compact_block *block);
/* The warps of the top entry are not its rows. */
bool divergence_compact_is_packed(const struct divergence_compact_block *block);
/* Threads of the block have ended: it may need fewer slots. */
void divergence_compact_keep_slots(struct divergence_compact *compact, struct divergence_compact_block *block);
/* The warps have to drain: then new ones are formed. `self` is the one whose hook is running. */
void divergence_compact_drain(const struct divergence_compact *compact, struct divergence_compact_block *block,
                              const struct divergence_compact_warp *self, uint64_t cycle);
/* All warps have drained: new ones for the top entry. */
void divergence_compact_form(struct divergence_compact *compact, struct divergence_compact_block *block,
                             struct divergence_compact_warp *self, uint64_t cycle);
