/* Threads of a block that wait for each other: at barriers, and at warp-wide instructions that name lanes of their row,
 * such as shfl.sync. For models that let the lanes of a row run apart. Each resident block has one. */
#pragma once

#include "divergence/divergence.h"

struct divergence_sync {
    uint32_t n_rows;
    bool has_any;               /* a thread has arrived since the block began */
    uint32_t *waiting;          /* per row: lanes that wait */
    uint32_t *released;         /* per row: lanes that no longer wait and have not been taken */
    uint32_t (*pc)[EXEC_LANES]; /* per row and lane: the instruction that it waits at, or was released from */
};

struct divergence_sync *divergence_sync_new(uint32_t n_rows);
void divergence_sync_free(struct divergence_sync *sync);
void divergence_sync_start(struct divergence_sync *sync); /* a new block: no thread waits */

/* Lanes of a row (guard true, mask not 0) reach the barrier or warp-wide instruction at pc. If they complete it, the
 * instruction takes effect, and all lanes that waited are in released[]. Lanes that need not wait (bar.arrive) are in
 * released[] at once. Returns whether lanes were released, in any row. Faults are left in cx->fault. */
bool divergence_sync_arrive(struct divergence_sync *sync, struct exec_context *cx, struct exec_row *row, uint32_t pc,
                            uint32_t mask);
/* Threads have ended: completes instructions that waited only for them. Returns whether lanes were released. */
bool divergence_sync_after_exit(struct divergence_sync *sync, struct exec_context *cx, struct exec_cta *cta);
/* Takes released lanes of a row that continue at the same pc. Returns their mask (0: none is left), and the pc in
 * *next_pc. */
uint32_t divergence_sync_take(struct divergence_sync *sync, uint32_t row, uint32_t *next_pc);
/* For refuses() of models that let the lanes of a row run apart. They cannot run a program with a warp-wide instruction
 * that names no lanes (activemask, vote and shfl without .sync, cond_acc, tree_traverse). Returns NULL if the program
 * contains none. */
const char *divergence_refuse_unsynced(const struct exec_program *program, const char *model, char *text, size_t size);
