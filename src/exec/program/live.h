/* The registers that a thread needs at an instruction: those that move with it when it changes lanes (scattered.h).
 *
 * A register that is live in loops but used in none would move in every iteration for nothing. Such registers stay at
 * home, in the thread's row, and the few instructions that use them (EXEC_FLAG_AT_HOME) access them there. Predicates
 * never stay at home. */
#pragma once

#include "exec/exec.h"

/* Entries [first, first + end[3]) of program->live->offset: predicates, then registers of 16, 32 and 64 bits. Those of
 * each width end at end[width]. */
struct exec_live_at {
    uint32_t first;
    uint16_t end[PTX_N_WIDTHS];
};

/* Bytes of a row's register block. */
struct exec_bytes {
    uint32_t offset, n;
};

struct exec_live {
    struct exec_live_at *at; /* per pc */
    uint32_t *offset;        /* register offsets in a row's register block */
    uint8_t *is_at_home;     /* by offset / 4: the register stays at home, and is in no list */
    /* Must be zero when a block starts, because a thread may read them before it writes them. No thread can see what an
     * earlier block has left in the others. */
    struct exec_bytes *cleared;
    uint32_t n_cleared;
};

/* Computes the lists of a decoded program, in its arena, and sets EXEC_FLAG_AT_HOME in its instructions. In a program
 * with calls every instruction counts as needing all registers of all functions. */
struct exec_live *exec_live_new(const struct exec_program *program);
