/* A squad: threads of several rows of a block that run together as a warp, each in its own lane. Lanes of a squad are
 * handled in pieces: those that belong to one row. `rows` are the block's rows. */
#pragma once

#include "divergence/divergence.h"

struct divergence_squad {
    uint32_t pc, mask;
    uint8_t row[EXEC_LANES]; /* of the thread in each lane */
    uint32_t at_barrier;     /* lanes that wait at the barrier instruction at pc */
    bool has_come;           /* to where all squads meet */
};

/* Lanes of `mask` (not 0) that belong to the row of its first lane. */
uint32_t divergence_squad_piece(const struct divergence_squad *squad, uint32_t mask);
static inline struct exec_row *divergence_squad_row(const struct divergence_squad *squad, struct exec_row *rows,
                                                    uint32_t piece) {
    return &rows[squad->row[__builtin_ctz(piece)]];
}
/* Adds these lanes' threads to a mask over the rows. */
void divergence_squad_add(const struct divergence_squad *squad, uint32_t mask, uint32_t *over_rows);

/* Makes squads of the threads in `mask`, all at pc: one for each row, or, packed, as few as possible: a lane takes the
 * thread of the lowest row that is left. Gives their number. */
uint32_t divergence_squad_muster(struct divergence_squad *squad, const uint32_t *mask, uint32_t n_rows, uint32_t pc,
                                 bool is_packed);
/* Threads of one row are in several of the squads that hold the threads `mask`. */
bool divergence_squad_splits_rows(const struct divergence_squad *squad, uint32_t n_squads, const uint32_t *mask);

/* What the squad executes at pc. */
void divergence_squad_bundle(const struct divergence_squad *squad, struct exec_row *rows, struct exec_context *cx,
                             uint32_t pc, struct divergence_bundle *bundle);
/* A warp-wide instruction or a built-in function, piece by piece. */
void divergence_squad_execute(const struct divergence_squad *squad, struct exec_row *rows, struct exec_context *cx,
                              uint32_t pc, uint32_t mask);
/* The branch at pc sends threads of the squad different ways. */
bool divergence_squad_diverges(const struct divergence_squad *squad, struct exec_row *rows, struct exec_context *cx,
                               uint32_t pc);
/* Sets free the lanes that wait for this barrier; true when nobody of the squad waits any more, and somebody did. */
bool divergence_squad_release(struct divergence_squad *squad, struct exec_row *rows, const struct exec_context *cx,
                              const struct exec_barrier *barrier, uint32_t number);
