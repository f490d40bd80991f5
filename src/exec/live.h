/* Which registers a thread needs at an instruction: what moves with it when it goes elsewhere (scattered.h).
 *
 * One that lives through loops and is touched in none would move in every round for nothing: such registers stay at
 * home, and the few instructions that do touch them (EXEC_FLAG_AT_HOME) find them there. Predicates never do. */
#pragma once

#include "exec/exec.h"

/* Of the list program->live->offset, the entries [first, first + end[3]): predicates, then those of 16, 32 and 64 bits,
 * each ending before end[width]. */
struct exec_live_at {
    uint32_t first;
    uint16_t end[PTX_N_WIDTHS];
};

struct exec_live {
    struct exec_live_at *at; /* per pc */
    uint32_t *offset;        /* of registers in a row's */
    uint8_t *is_at_home;     /* by offset / 4: that register stays there, and is in no list */
};

/* For a program whose code is complete; flags its instructions. The memory is its arena's. Where there are calls, all
 * registers of all functions are taken to be needed everywhere. */
struct exec_live *exec_live_new(const struct exec_program *program);
