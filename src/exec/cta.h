/* A block in execution: its rows, their registers and local memory, shared memory, barriers. Functional and timed runs
 * use the same structure. */
#pragma once

#include "exec/exec.h"

struct exec_cta {
    struct exec_block block;
    uint64_t open_barriers; /* their numbers, as a set */
    struct exec_row *row;
    uint32_t n_rows, n_live_rows; /* rows that still have a live thread */
    unsigned char *registers, *local, *shared;
    void *owner;            /* the engine's own data */
    bool is_released;       /* the barrier of its cluster is complete; only while the engine releases its threads */
    uint64_t cluster_ready; /* timed runs: the cycle from which a completed wait for that barrier may continue */
    uint64_t
        first_row; /* number of its first row among all with local memory; determines local addresses in timed runs */
    struct exec_barrier barrier[EXEC_N_BARRIERS]; /* only of open ones: most blocks never use the others' memory */
};

static inline bool exec_cta_is_open(const struct exec_cta *cta, uint32_t barrier) {
    return cta->open_barriers >> barrier & 1;
}

/* Allocates one block of the grid. Ends the program if the host is out of memory. */
struct exec_cta *exec_cta_new(const struct exec_grid *grid);
void exec_cta_free(struct exec_cta *cta);
/* Starts block number `index` on SM `sm`: memory is zero, and so are all
 * registers that a thread can read before it writes them; all threads live. */
void exec_cta_start(struct exec_cta *cta, uint32_t index, uint32_t sm);
/* Gives a block that has started, but executed nothing, another index. */
void exec_cta_number(struct exec_cta *cta, uint32_t index);
/* Lets block number `rank` of a cluster of several blocks join it, after it was started, and leave it when it has
 * ended. Returns true if it was the last one. */
void exec_cta_join(struct exec_cta *cta, struct exec_cluster *cluster, uint32_t rank);
bool exec_cta_leave(struct exec_cta *cta);
/* Returns the number of the block that is `rank` in the cluster with this number. Clusters are numbered as blocks are:
 * along x first. */
uint32_t exec_cluster_block(const struct exec_shape *shape, uint64_t cluster, uint32_t rank);
/* Returns whether all live threads of the cluster have arrived at its barrier. */
bool exec_cluster_is_complete(const struct exec_cluster *cluster, uint32_t warp_size);
/* Opens a barrier at which the first thread arrives, if it is not open. */
void exec_cta_open_barrier(struct exec_cta *cta, uint32_t number);
/* A barrier is complete, and its threads have been released: it is ready for the next arrivals. */
void exec_cta_reset_barrier(struct exec_cta *cta, uint32_t number);
