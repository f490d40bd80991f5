/* A crew: threads of several rows of a block that run together as a warp, each in its own lane. Lanes of a crew are
 * handled in pieces: those that belong to one row. `rows` are the block's rows. */
#pragma once

#include "divergence/divergence.h"

struct divergence_crew {
    uint32_t pc, mask;
    uint8_t row[EXEC_LANES]; /* of the thread in each lane */
    uint32_t at_barrier;     /* lanes that wait at the barrier instruction at pc */
    bool has_come;           /* to where all crews meet */
};

/* Lanes of `mask` (not 0) that belong to the row of its first lane. */
uint32_t divergence_crew_piece(const struct divergence_crew *crew, uint32_t mask);
static inline struct exec_row *divergence_crew_row(const struct divergence_crew *crew, struct exec_row *rows,
                                                   uint32_t piece) {
    return &rows[crew->row[__builtin_ctz(piece)]];
}
/* Adds these lanes' threads to a mask over the rows. */
void divergence_crew_add(const struct divergence_crew *crew, uint32_t mask, uint32_t *over_rows);

/* Makes crews of the threads in `mask`, all at pc: one for each row, or, packed, as few as possible: a lane takes the
 * thread of the lowest row that is left. Gives their number. */
uint32_t divergence_crew_muster(struct divergence_crew *crew, const uint32_t *mask, uint32_t n_rows, uint32_t pc,
                                bool is_packed);
/* Threads of one row are in several of the crews that hold the threads `mask`. */
bool divergence_crew_splits_rows(const struct divergence_crew *crew, uint32_t n_crews, const uint32_t *mask);

/* What the crew executes at pc. */
void divergence_crew_bundle(const struct divergence_crew *crew, struct exec_row *rows, struct exec_context *cx,
                            uint32_t pc, struct divergence_bundle *bundle);
/* A warp-wide instruction or a built-in function, piece by piece. */
void divergence_crew_execute(const struct divergence_crew *crew, struct exec_row *rows, struct exec_context *cx,
                             uint32_t pc, uint32_t mask);
/* The branch at pc sends threads of the crew different ways. */
bool divergence_crew_diverges(const struct divergence_crew *crew, struct exec_row *rows, struct exec_context *cx,
                              uint32_t pc);
/* Sets free the lanes that wait for this barrier; true when nobody of the crew waits any more, and somebody did. */
bool divergence_crew_release(struct divergence_crew *crew, struct exec_row *rows, const struct exec_context *cx,
                             const struct exec_barrier *barrier, uint32_t number);
