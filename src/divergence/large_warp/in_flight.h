/* Threads in flight. A bit for each thread of a large warp (the paper's busy bit) holds the thread while its last
 * instruction is in flight. The next instruction may start with the others (Narasiman 2014, 4.2.2). */
#pragma once

#include "divergence/large_warp/subwarps.h"

struct divergence_in_flight {
    uint32_t n_rows;
    uint64_t (*free_at)[EXEC_LANES];   /* the cycle in which its instruction leaves the pipeline */
    uint64_t *row_free_at;             /* the latest of the row: saves looking at most rows lane by lane */
    uint32_t (*tag)[EXEC_LANES];       /* the bundle that the thread is in, */
    uint32_t at_memory[EXEC_MAX_ROWS]; /* threads whose bundle has not come back from memory */
    uint32_t next_tag, first_tag;      /* of the next bundle; of the first bundle of the last instruction */
    bool has_first;                    /* a bundle of the last instruction has come back */
};

void divergence_in_flight_new(struct divergence_in_flight *in_flight, uint32_t most_rows);
void divergence_in_flight_free(struct divergence_in_flight *in_flight);
void divergence_in_flight_start(struct divergence_in_flight *in_flight, uint32_t n_rows);
/* Fills in the threads that are in flight in this cycle. */
void divergence_in_flight_mask(const struct divergence_in_flight *in_flight, uint64_t cycle, uint32_t *mask);
/* A bundle of these threads issues, the first of its instruction or not; it leaves the pipeline at `free_at`. With
 * goes_to_memory it ends at divergence_in_flight_complete(). Returns its tag. */
uint32_t divergence_in_flight_issue(struct divergence_in_flight *in_flight, const uint32_t *packed, bool is_first,
                                    bool goes_to_memory, uint64_t free_at);
/* The bundle has its data at `ready`, or later. */
void divergence_in_flight_ready(struct divergence_in_flight *in_flight, uint32_t tag, uint64_t ready);
void divergence_in_flight_complete(struct divergence_in_flight *in_flight, uint32_t tag, uint64_t cycle);
/* Returns the cycle from which the next sub-warp can be formed; 0: the next one; UINT64_MAX: a bundle must come back
 * from memory first. is_first: it is the instruction's first; then a bundle of the instruction before must have come
 * back, too. */
uint64_t divergence_in_flight_until(const struct divergence_in_flight *in_flight,
                                    const struct divergence_subwarps *subwarps, bool is_first, uint64_t cycle);
