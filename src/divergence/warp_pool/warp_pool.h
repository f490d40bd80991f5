/* All threads of an SM, in teams: what models share that put threads of any warp and block into one group (dwf, mimd).
 * A team is a group with at most one thread in each lane. There may be more teams than the SM has slots: those that get
 * none wait in a queue. */
#pragma once

#include "divergence/divergence.h"
#include "divergence/parts/sync.h"
#include "exec/scattered.h"

struct divergence_team {
    struct divergence_group group; /* pc and status are the model's; row, mask and n_threads: divergence_team_show() */
    uint32_t mask;                 /* lanes that have a thread */
    /* Of those: they wait for others (sync.h). A team of which all do keeps its slot and has the status WAITS; set free
     * it is to DRAIN. Where only some do, those leave when nothing is under way, or stay (keeps_waiting). */
    uint32_t waits;
    struct exec_threads threads;
    uint32_t pc[EXEC_LANES];                 /* of each thread, when they may differ: after control instructions */
    struct divergence_team **list;           /* dwf: the list it is in, by its youngest team; NULL: in none */
    struct divergence_team *older, *younger; /* there */
    uint32_t number;                         /* in crowd->live */
    bool is_together;                        /* dwf: it retires with one pc for all, that of the group */
    bool is_queued;
};

/* Threads of a row that go on at one pc. */
struct divergence_set {
    struct exec_row *row;
    uint32_t mask, pc;
    uint32_t passed; /* post-dominators */
};

struct divergence_crowd {
    struct divergence_setup setup;
    size_t team_bytes;
    uint32_t all_lanes;                   /* the mask of a full team */
    bool carries;                         /* threads take their registers along (scattered.h) */
    bool keeps_waiting;                   /* the others of a team go on without those that wait */
    const struct divergence_team *acting; /* the one whose control instruction is executed, or was last */
    struct divergence_team **live, **spare;
    uint32_t n_live, n_spare, capacity;
    struct divergence_team **queue; /* a ring of `capacity` */
    uint32_t queue_head, queue_length;
    struct divergence_block **block; /* in execution */
    uint32_t n_blocks, block_capacity;
    struct divergence_set *loose; /* set free by others, and for the model to take: it sets n_loose to 0 */
    uint32_t n_loose, loose_capacity;
};

struct divergence_crowd_block {
    struct divergence_sync *sync;
    uint32_t passed; /* by the last that came to a barrier */
};

/* For n_slots(): groups may be as many as threads, so as many slots as there can be. */
uint32_t divergence_crowd_n_slots(const void *options, const struct config_machine *machine, uint32_t n_warps,
                                  uint32_t most_slots);
/* team_bytes: a model's own struct, whose first member is the team. */
void divergence_crowd_start(struct divergence_crowd *crowd, const struct divergence_setup *setup, size_t team_bytes);
void divergence_crowd_end(struct divergence_crowd *crowd);

/* new_block() and free_block() of a model that uses a crowd. */
void *divergence_crowd_new_block(void *model, const struct exec_cta *cta);
void divergence_crowd_free_block(void *model, void *state);
/* A block begins: its rows are in the loose sets. */
void divergence_crowd_admit(struct divergence_crowd *crowd, struct divergence_block *block);

/* A team without threads; what a model keeps behind the team (team_bytes) is what it was. */
struct divergence_team *divergence_crowd_new_team(struct divergence_crowd *crowd);
/* The team is the youngest of this list now, and in no other. divergence_crowd_leave() takes it out. */
void divergence_team_set_youngest(struct divergence_team *team, struct divergence_team **list);
/* A team that runs gets a free slot, that of a team that waits (which is dissolved), or a place in the queue. Not while
 * the team whose hook runs has the status WAITS. */
void divergence_crowd_enter(struct divergence_crowd *crowd, struct divergence_team *team, uint64_t cycle);
/* The team has lost its last thread. It leaves its slot: by itself, when its own hook runs (is_own). */
void divergence_crowd_leave(struct divergence_crowd *crowd, struct divergence_team *team, bool is_own, uint64_t cycle);
/* Slots have become free. */
void divergence_crowd_refill(struct divergence_crowd *crowd, uint64_t cycle);
void divergence_crowd_visit(const struct divergence_crowd *crowd, const struct divergence_block *block,
                            void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                           uint32_t lane),
                            void *user);

static inline void divergence_team_put(struct divergence_team *team, uint32_t at, struct exec_row *row, uint32_t lane,
                                       uint32_t pc) {
    team->mask |= 1u << at;
    exec_threads_put(&team->threads, at, row, lane);
    team->pc[at] = pc;
}

/* Threads of another team come to this one, that of lane i to at[i], or to the same lane when `at` is NULL. Where they
 * are carried, all of them are at one pc. */
void divergence_team_take(const struct divergence_crowd *crowd, struct divergence_team *team, const uint8_t *at,
                          struct divergence_team *from, uint32_t mask);
/* Where a thread of this lane may be put: in its own lane, or else in any below n_lanes; -1: nowhere. */
int divergence_team_room(const struct divergence_team *team, uint32_t lane, uint32_t n_lanes);
void divergence_team_set_pcs(struct divergence_team *team, uint32_t pc);
/* Makes the group what the SM sees of the team: lanes of one row, or a number of threads. */
void divergence_team_show(struct divergence_team *team);
/* The row that these threads are lanes of, each in its own; NULL: not so. */
struct exec_row *divergence_team_row(const struct divergence_team *team, uint32_t mask);
/* The bundle of the team's threads in `mask` at bundle->pc, when that is their row. */
void divergence_team_bundle(struct divergence_team *team, uint32_t mask, struct exec_row *row, struct exec_context *cx,
                            struct divergence_bundle *bundle);
/* The lowest pc of the team's threads in `mask`, and which of them are there. */
uint32_t divergence_team_lowest(const struct divergence_team *team, uint32_t mask, uint32_t *there);
/* Executes the control instruction at pc for the team's threads in `mask`, of which those in `taken` have a true guard:
 * their pcs are the next ones, ended threads
 * are gone, those that have to wait are in team->waits. Threads that are in no team and have been set free by these are
 * in the loose sets. */
void divergence_crowd_control(struct divergence_crowd *crowd, struct divergence_team *team, uint32_t mask,
                              uint32_t taken, uint32_t pc, uint64_t cycle);
/* The team's waiting threads leave it. */
static inline void divergence_team_dismiss(struct divergence_team *team) {
    team->mask &= ~team->waits;
    team->waits = 0;
}
