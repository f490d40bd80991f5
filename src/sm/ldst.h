/* The load/store unit: its requests, the queue in which they wait for the L1, and the list of requests that memory has
 * answered. access.c turns instructions into requests, and ldst.c takes the requests through the L1. */
#pragma once

#include "divergence/divergence.h"
#include "mem/mem.h"
#include "sm/sm.h"

enum {
    SM_LDST_QUEUE = 8, /* accesses that wait for the L1; an instruction that finds room may add up to 32 (mimd) */
    SM_LDST_RING = 64,
    SM_TOKEN_SHIFT = 16, /* token of a line: the request, and above this bit the number of the line */
    SM_NO_REQUEST = 0xffff,
};

/* A memory instruction, or one bundle of it, on its way through the L1. */
struct sm_request {
    struct mem_transaction transaction[MEM_MAX_TRANSACTIONS];
    uint32_t n_transactions, next;
    uint8_t lines_per_cycle, more_cycles;   /* most lines per cycle; L1 busy cycles after the last. 0: no limit */
    uint16_t late_cycles;                   /* from the arrival of its last line until its destinations are ready */
    uint32_t written[MEM_MAX_TRANSACTIONS]; /* of a store, if memory joins stores: bytes of each line, a bit for each */
    uint64_t outstanding;                   /* a bit per line: missed and not yet arrived */
    uint64_t conflicting;                   /* a bit per line before `next`: it waits for its bank (l1.bank_queues) */
    uint64_t ready;                         /* the cycle in which its latest line so far arrived */
    uint64_t first_cycle;                   /* in which its instruction issued */
    uint32_t slot, pc, tag;
    uint32_t next_free;     /* in the list of free or of answered requests */
    uint32_t lanes, missed; /* missed: lanes whose lines were not in the L1 */
    uint64_t age;           /* of the group that asked */
    uint32_t board;         /* its row's scoreboard (boards.h), */
    uint64_t board_age;     /* and the age of that row */
    struct exec_row *row;
    enum mem_kind kind;
    uint32_t copy;        /* is_copy: which one, or SM_NO_COPY */
    uint32_t atomic;      /* enum mem_atomic */
    uint32_t twice_above; /* bytes of an atomic that take a slice one pass */
    uint32_t number_bytes;
    bool is_used, is_copy;
    uint8_t grid; /* of the group that asked, if there are several (grids.h) */
};

struct sm_ldst {
    uint32_t head, length;                  /* of the queue */
    uint32_t done, last_done;               /* list of requests that memory has answered since the last tick */
    uint32_t n_requests, n_free, n_touched; /* n_touched: taken at least once, and initialised */
    uint32_t next_free;                     /* the list of those that were given back */
    bool has_bank_queues;                   /* l1.bank_queues */
    const uint64_t *memory_clock;           /* of mem_sm_clock(), if memory joins stores; otherwise NULL */
    bool is_refused;                        /* memory has no room for an access until it calls sm_memory_changed() */
    uint64_t *port_conflicts;               /* of mem_only_port() */
    uint64_t port_cycle;                    /* with port_conflicts: the cycle in which the port was last taken */
    uint64_t l1_free; /* the cycle in which the L1 takes the first line of another access: unified.tag_banks */
    struct sm_request *request;
    uint64_t *passes_end; /* of each slot: the cycle in which its last access has passed */
    uint32_t queue[SM_LDST_RING];
    /* Loads that memory has refused, for schedulers that let them wait aside (sched_ops.most_aside). */
    uint32_t n_aside, first_aside;
    bool is_aside_refused; /* the first of them, until sm_memory_changed() */
    bool is_aside_full;    /* the first load of the queue found no room among them; they are tried first then */
    uint32_t aside[SCHED_MOST_ASIDE];
};

void sm_ldst_init(struct sm_ldst *ldst, uint32_t n_requests, uint32_t n_slots);
void sm_ldst_free(struct sm_ldst *ldst);
/* Takes a free request. Check sm_ldst_has_room() first. */
uint32_t sm_ldst_take(struct sm_ldst *ldst);
void sm_ldst_release(struct sm_ldst *ldst, struct sm_request *request);
/* Adds a request to those that memory has answered. */
void sm_ldst_add_done(struct sm_ldst *ldst, uint32_t number);

/* Returns whether the queue has room for an instruction, which may need a request for every lane (mimd). */
static inline bool sm_ldst_has_room(const struct sm_ldst *ldst) {
    return ldst->length < SM_LDST_QUEUE && ldst->n_free >= EXEC_LANES;
}

static inline void sm_ldst_push(struct sm_ldst *ldst, uint32_t number) {
    ldst->queue[(ldst->head + ldst->length++) % SM_LDST_RING] = number;
}

static inline void sm_ldst_pop(struct sm_ldst *ldst) {
    ldst->head = (ldst->head + 1) % SM_LDST_RING;
    ldst->length--;
}

/* Returns whether an access is to be tried in the next cycle, as far as the queues know. */
static inline bool sm_ldst_has_work(const struct sm_ldst *ldst) {
    return (ldst->length && !ldst->is_refused) || (ldst->n_aside && !ldst->is_aside_refused);
}

/* Returns whether the L1 has answered for every line. */
static inline bool sm_request_is_answered(const struct sm_request *request) {
    return request->next == request->n_transactions && !request->conflicting;
}

/* Returns whether every line has arrived. */
static inline bool sm_request_is_over(const struct sm_request *request) {
    return sm_request_is_answered(request) && !request->outstanding;
}

/* Returns the lanes whose data has not arrived. */
uint32_t sm_request_missing(const struct sm_request *request);

/* ---- The unit's work ------------------------------------------------------------------------------------------- */

/* access.c: handles an executed instruction that accesses memory. */
void sm_ldst_issue(struct sm *sm, uint32_t slot, const struct divergence_bundle *bundle, uint64_t cycle);
/* ldst.c: takes requests through the L1, as many as it accepts in this cycle. */
void sm_ldst_tick(struct sm *sm, uint64_t cycle);
/* Ends the accesses that memory has answered. This is not part of sm_memory_done(), during which memory takes no
 * requests. */
void sm_ldst_collect(struct sm *sm, uint64_t cycle);

/* A store's result, which only cond_acc has, does not wait for its access. */
static inline bool sm_has_result(const struct sm_timing *timing) { return timing->n_destinations && !timing->is_store; }
