/* A compacted warp: threads of several rows of a block that run together as a warp. Each thread keeps its own lane,
 * unless the compacted warp is crossed (odgs, where lanes are free). */
#pragma once

#include "divergence/divergence.h"
#include "exec/scattered.h"

struct divergence_compacted {
    uint32_t pc, mask;
    struct exec_threads threads; /* those in mask */
    uint8_t row[EXEC_LANES];     /* of each thread, the number of its row in the block */
    uint32_t at_barrier;         /* lanes that wait at the barrier instruction at pc; never crossed */
    bool has_come;               /* it is where all compacted warps of the entry meet */
    bool is_crossed;             /* some thread is not in its own lane */
};

enum divergence_arrangement {
    DIVERGENCE_IN_ROWS,    /* a compacted warp for each row */
    DIVERGENCE_IN_COLUMNS, /* as few as possible: a lane takes the thread of the lowest row that has one left */
    DIVERGENCE_IN_ORDER,   /* as few as possible, whatever the lanes: all but the last one are full */
};

/* Adds these lanes' threads to a mask over the rows. */
void divergence_compacted_add(const struct divergence_compacted *compacted, uint32_t mask, uint32_t *over_rows);

/* Forms compacted warps of at most n_lanes threads out of those in `mask`, all at pc. Returns their number. */
uint32_t divergence_compacted_form(struct divergence_compacted *compacted, struct exec_row *rows, const uint32_t *mask,
                                   uint32_t n_rows, uint32_t pc, enum divergence_arrangement arrangement,
                                   uint32_t n_lanes);
/* Returns whether threads of one row are in several of the compacted warps that hold the threads `mask`, or not in
 * their own lanes. */
bool divergence_compacted_splits_rows(const struct divergence_compacted *compacted, uint32_t n_compacted,
                                      const uint32_t *mask);

/* Executes a warp-wide instruction, row by row. */
void divergence_compacted_execute(const struct divergence_compacted *compacted, struct exec_context *cx, uint32_t pc,
                                  uint32_t mask);
/* Releases the lanes that wait for this barrier. Returns true if lanes of the compacted warp waited and none waits any
 * longer. */
bool divergence_compacted_release(struct divergence_compacted *compacted, const struct exec_context *cx,
                                  const struct exec_barrier *barrier, uint32_t number);
