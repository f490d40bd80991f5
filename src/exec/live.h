/* Which registers a thread needs at an instruction: what moves with it when it goes elsewhere (scattered.h). */
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
};

/* For a program whose code is complete; the memory is its arena's. Where there are calls, all registers of all
 * functions are taken to be needed everywhere. */
struct exec_live *exec_live_new(const struct exec_program *program);
