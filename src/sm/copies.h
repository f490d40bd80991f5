/* Asynchronous copies of an SM: the copies in flight, the slots that wait for them, and the queue of bulk copies. */
#pragma once

#include "divergence/divergence.h"
#include "sm/ldst.h"

enum {
    SM_NO_COPY = 0xffffffff,
    SM_NO_GROUP = 0xffffffff, /* of copies: they signal an mbarrier */
};

struct sm_copies {
    uint32_t n_queued; /* bulk copies that wait for the L1 */
    uint32_t queue_head;
    uint32_t *queue; /* their requests */
    uint32_t n_copies, n_words;
    uint32_t n_used;          /* the entries from here on have never been used */
    struct sm_copy *copy;     /* NULL: the program has none */
    uint64_t *awaited;        /* for each slot a bit set of copies */
    struct sched_set waiting; /* slots that wait for copies */
};

void sm_copies_begin(struct sm *sm); /* a grid */
void sm_copies_end(struct sm *sm);
/* Sets up the request for the bundle's copies, which have executed. Returns the lanes that access global memory, or 0
 * if there are none and the request is not used. */
uint32_t sm_copies_issue(struct sm *sm, const struct divergence_bundle *bundle, struct sm_request *request,
                         uint64_t cycle);
/* Gives a bulk copy further requests for the lines that its first one has no room for. */
void sm_copies_spread(struct sm *sm, uint32_t request);
/* Handles an executed instruction that waits for copies or ties them. */
void sm_copies_follow(struct sm *sm, uint32_t slot, const struct divergence_bundle *bundle, uint64_t cycle);
/* Handles the arrival of the request's lines. Returns false if the request continues with others. */
bool sm_copies_finish(struct sm *sm, struct sm_request *request, uint64_t cycle);
/* Returns the request of the first bulk copy in the queue. pop() removes it. */
uint32_t sm_copies_first(const struct sm *sm);
void sm_copies_pop(struct sm *sm);
/* An mbarrier of the block is signalled, by another SM: waits for this phase end no earlier than `ready`. */
void sm_copies_signal(struct sm *sm, const struct exec_block *block, uint32_t mbarrier, uint64_t ready, uint64_t cycle);
/* Forgets the waits of a group that has left the slot. */
void sm_copies_forget(struct sm *sm, uint32_t slot);
