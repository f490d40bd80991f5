/* A block in execution: its rows, their registers and local memory, shared memory, barriers. The same for every engine.
 */
#pragma once

#include "exec/exec.h"

struct exec_cta {
    struct exec_block block;
    struct exec_barrier barrier[EXEC_N_BARRIERS];
    struct exec_row *row;
    uint32_t n_rows, n_live_rows; /* rows that still have a live thread */
    unsigned char *registers, *local, *shared;
    void *owner;        /* who runs it */
    uint64_t first_row; /* number of its first row among all that have local memory: for addresses in time */
};

/* Room for one block of the grid at a time; ends the program when the host has no memory left. */
struct exec_cta *exec_cta_new(const struct exec_grid *grid);
void exec_cta_free(struct exec_cta *cta);
/* Block number `index` begins on SM `sm`: registers and memory zeroed, all threads live. */
void exec_cta_start(struct exec_cta *cta, uint32_t index, uint32_t sm);
