/* Scoreboards of rows, for models that split and join groups while results are in flight (divergence.h, tracks_lanes).
 * A row has one scoreboard, with an entry for each register and lane. The operands of a group are ready when those of
 * all its lanes are. So a group finds its results, and waits for its accesses, in whatever slot it is. */
#pragma once

#include "divergence/divergence.h"
#include "sched/sched.h"
#include "sm/sm.h"
#include "sm/timing.h"

struct sm_board {
    uint64_t fetch[EXEC_LANES];      /* the lane does not issue before this cycle */
    uint16_t n_accesses[EXEC_LANES]; /* of the lane: memory instructions in flight */
    struct sched_set slots;          /* that hold groups of the row */
    uint32_t block;                  /* the number of the row's block, */
    uint64_t age;                    /* and a number for the row itself: an access may outlive it, and its grid */
};

struct sm_boards {
    struct sm_board *board; /* by place of the block and row. NULL: each slot has a scoreboard */
    uint64_t *ready;        /* by board, register and lane; NULL: the machine has no scoreboards */
    uint32_t *loaded;       /* by board and register: lanes whose entry is that of a load */
    uint32_t n, rows_per_block;
    uint64_t n_rows; /* so far, in all grids */
};

struct sm_request;

void sm_boards_begin(struct sm *sm); /* a grid */
void sm_boards_end(struct sm_boards *boards);
/* The other functions need `board`. */

/* Returns a free slot for a group of the row: under the scheduler of its other groups, if possible. SM_NO_SLOT: none is
 * free. */
int sm_boards_find_slot(const struct sm *sm, const struct exec_row *row);
/* A group has come to the slot, or leaves it. */
void sm_boards_arrive(struct sm *sm, uint32_t slot);
void sm_boards_leave(struct sm *sm, uint32_t slot);
void sm_boards_set_results(struct sm *sm, uint32_t slot, const struct sm_timing *timing, uint32_t mask, uint64_t cycle);
/* The group issues: it does not issue again before `cycle`, nor does any group with one of its lanes. */
void sm_boards_set_fetch(struct sm *sm, uint32_t slot, uint64_t cycle);
/* Returns the cycle from which these lanes of the group's row may issue an instruction of their own. */
uint64_t sm_boards_fetched(const struct sm *sm, const struct divergence_group *group, uint32_t mask);
/* Returns the cycle in which the registers of an instruction are ready for lanes of the group's row; SM_NEVER: memory
 * has to answer first. */
uint64_t sm_boards_operands(const struct sm *sm, const struct divergence_group *group, const struct sm_timing *timing,
                            uint32_t mask);
/* Returns the cycle in which the data from memory that an instruction needs are there; 0: it needs none. */
uint64_t sm_boards_data(const struct sm *sm, const struct divergence_group *group, const struct sm_timing *timing,
                        uint32_t mask);
/* Returns whether any of these lanes has an access in flight. */
bool sm_boards_have_accesses(const struct sm *sm, const struct divergence_group *group, uint32_t mask);
/* An access begins, and ends: the result is ready, and groups of the row that wait for memory look again. */
void sm_boards_begin_access(struct sm *sm, uint32_t slot, struct sm_request *request);
void sm_boards_end_access(struct sm *sm, const struct sm_request *request, uint64_t cycle);
/* The L1 has answered for all lines: lanes that hit have their data, and the access goes on without them. */
void sm_boards_serve_hits(struct sm *sm, struct sm_request *request, uint64_t cycle);
/* Returns whether the threads that made the access are still there. */
bool sm_boards_own(const struct sm *sm, const struct sm_request *request);
