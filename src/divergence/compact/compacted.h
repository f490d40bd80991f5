/* A squad: threads of several rows of a block that run together as a warp. Each keeps its own lane, unless the squad is
 * crossed (odgs, where lanes are free). Lanes of a squad are handled in pieces: those that belong to one row. */
#pragma once

#include "divergence/divergence.h"
#include "exec/scattered.h"

struct divergence_squad {
    uint32_t pc, mask;
    struct exec_threads threads; /* those in mask */
    uint8_t row[EXEC_LANES];     /* of each, the number of its row in the block */
    uint32_t at_barrier;         /* lanes that wait at the barrier instruction at pc; never crossed */
    bool has_come;               /* to where all squads meet */
    bool is_crossed;             /* some thread is not in its own lane */
};

enum divergence_arrangement {
    DIVERGENCE_IN_ROWS,    /* a squad for each row */
    DIVERGENCE_IN_COLUMNS, /* as few as possible: a lane takes the thread of the lowest row that is left */
    DIVERGENCE_IN_ORDER,   /* as few as possible, whatever the lanes: all but the last one are full */
};

/* Lanes of `mask` (not 0) that belong to the row of its first lane. */
uint32_t divergence_squad_piece(const struct divergence_squad *squad, uint32_t mask);
/* As lanes of that row. */
uint32_t divergence_squad_lanes(const struct divergence_squad *squad, uint32_t piece);
static inline struct exec_row *divergence_squad_row(const struct divergence_squad *squad, uint32_t piece) {
    return squad->threads.row[__builtin_ctz(piece)];
}
/* Adds these lanes' threads to a mask over the rows. */
void divergence_squad_add(const struct divergence_squad *squad, uint32_t mask, uint32_t *over_rows);

/* Makes squads of at most n_lanes threads of those in `mask`, all at pc. Gives their number. */
uint32_t divergence_squad_muster(struct divergence_squad *squad, struct exec_row *rows, const uint32_t *mask,
                                 uint32_t n_rows, uint32_t pc, enum divergence_arrangement arrangement,
                                 uint32_t n_lanes);
/* Threads of one row are in several of the squads that hold the threads `mask`, or not in their lanes. */
bool divergence_squad_splits_rows(const struct divergence_squad *squad, uint32_t n_squads, const uint32_t *mask);

/* A warp-wide instruction or a built-in function, piece by piece. */
void divergence_squad_execute(const struct divergence_squad *squad, struct exec_context *cx, uint32_t pc,
                              uint32_t mask);
/* The branch at pc, with a true guard in the lanes `taken`, sends threads of the squad different ways. */
bool divergence_squad_diverges(const struct divergence_squad *squad, struct exec_context *cx, uint32_t pc,
                               uint32_t taken);
/* Sets free the lanes that wait for this barrier; true when nobody of the squad waits any more, and somebody did. */
bool divergence_squad_release(struct divergence_squad *squad, const struct exec_context *cx,
                              const struct exec_barrier *barrier, uint32_t number);
