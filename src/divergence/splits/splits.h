/* Subdivided warps. dws (Meng 2010) and slip (Tarjan 2009, as compared there) share this code. A warp is one row, or
 * several (a large warp). It runs as one or more splits, which are the groups that the scheduler sees.
 *
 *     warp -- subdivision (a stack) -- split  B  1100
 *                                   |- split  D  0010
 *                                   `- subdivision (a stack of its own) -- split ...
 *
 * A subdivision is a stack, with the splits that partition the threads of its running entry. A warp that is not
 * subdivided is one split on one stack, as in the model `stack`. When it is subdivided, the stack stays as it is. The
 * splits run until they reach the post-dominator on its top, and wait there for each other. A split with siblings may
 * have to serialise two paths, because the table is full, or at a call or an indexed branch. It does so on a stack of
 * its own, a child subdivision, which it leaves when its paths have met.
 *
 * If a warp has two or more splits, each of them holds an entry of the warp-split table, even while it waits. A split
 * that waits for other splits gives up its slot, and a split that finds no slot queues for one. So no split that cannot
 * continue blocks one that can.
 *
 * splits.c contains the phases of a split and the transitions between them, execute.c the control instructions,
 * split_sync.c barriers and warp-wide instructions, memory.c accesses, seats.c the table and the queue, setup.c
 * launches and blocks. */
#pragma once

#include "divergence/large_warp/subwarps.h"
#include "divergence/parts/control.h"
#include "divergence/parts/sync.h"
#include "divergence/parts/warp_ids.h"

/* The head of splits.c contains the table of events in each phase. */
enum divergence_split_phase {
    DIVERGENCE_SPLIT_RUNS, /* in a slot, or in the queue for one */
    /* It drains: nothing of it may be in flight when it */
    DIVERGENCE_SPLIT_PARTS,   /* parts at the branch at pc: the threads in `part` take it */
    DIVERGENCE_SPLIT_ARRIVES, /* arrives with the threads in `part` at the barrier or warp-wide instruction at pc */
    DIVERGENCE_SPLIT_JOINS,   /* waits at the post-dominator on top of the stack */
    DIVERGENCE_SPLIT_STOPS,   /* waits where all splits must be one again */
    DIVERGENCE_SPLIT_MERGES,  /* merges with a split that has the same pc */
    DIVERGENCE_SPLIT_ASKS,    /* asks the model: splits->drained() */
    /* It waits for other threads, without a slot: */
    DIVERGENCE_SPLIT_AT_SYNC,  /* at a barrier or warp-wide instruction, with the threads in `part` */
    DIVERGENCE_SPLIT_AT_ENTRY, /* at a barrier; the entries of its stack say so, and every path of the stack waits */
    DIVERGENCE_SPLIT_FREED,    /* no longer at a barrier or warp-wide instruction, about to run */
    DIVERGENCE_SPLIT_AT_JOIN,  /* at the post-dominator on top of the stack */
    DIVERGENCE_SPLIT_AT_STOP,  /* where all splits must be one again */
    DIVERGENCE_SPLIT_BEHIND,   /* (slip) for its data, in its slot */
    DIVERGENCE_SPLIT_HELD,     /* (slip) has its data, and waits until the others reach its pc or cannot continue */
};

struct divergence_split {
    struct divergence_group group;
    struct divergence_subdivision *subdivision; /* NULL: not in use */
    struct divergence_split *next;              /* in its subdivision, or in the list of those not in use */
    struct divergence_split *next_queued;
    enum divergence_split_phase phase;
    bool is_queued;
    int entry;         /* in the table; -1: none */
    uint32_t n_passed; /* (slip) times that others have run past the instruction that it waits at */
    uint32_t mask[EXEC_MAX_ROWS];
    uint32_t part[EXEC_MAX_ROWS];
    /* Of a large warp, whose memory instructions go row by row: */
    struct divergence_subwarps subwarps;
    bool is_issuing;                 /* some bundles of its instruction have issued, not all */
    bool was_idle;                   /* nothing else was in flight when its last memory instruction began */
    bool is_answered;                /* the L1 has been asked for all rows of that instruction */
    uint32_t memory_pc, last_row;    /* that instruction, and the last row that takes part */
    uint32_t missing[EXEC_MAX_ROWS]; /* threads that wait for data from it */
};

struct divergence_subdivision {
    struct divergence_stack stack;
    struct divergence_watch watch;
    struct divergence_warp *warp;
    struct divergence_subdivision *parent, *next; /* next: of the warp */
    struct divergence_split *split;
    uint32_t n_splits, n_children;
    uint32_t joined[EXEC_MAX_ROWS]; /* threads that wait at the post-dominator on top */
};

struct divergence_warp {
    struct exec_row *row;
    uint32_t n_rows, warp_id;
    struct divergence_block *block;
    struct divergence_subdivision *subdivision;
    uint32_t n_splits;
    bool is_live;
};

/* A step that a hook still has to take, and for which split, subdivision or warp. internal.h declares the functions. */
enum divergence_splits_step_kind {
    DIVERGENCE_STEP_RUN,          /* split: continues at its pc, unless it has to do or wait for something there */
    DIVERGENCE_STEP_PASS_STOP,    /* split: the same, and it need not stop there */
    DIVERGENCE_STEP_END_PATH,     /* subdivision: the threads of a split have reached the path's end or are gone */
    DIVERGENCE_STEP_RUN_STACK,    /* split: the only one of its subdivision, continues with the top of the stack */
    DIVERGENCE_STEP_LOOK_AFTER,   /* subdivision: a split has stopped running: can any other continue? */
    DIVERGENCE_STEP_WAIT_AT_SYNC, /* split: waits, unless it has been freed meanwhile */
    DIVERGENCE_STEP_FREE,         /* warp, and those after it in its block: splits that were freed run */
    DIVERGENCE_STEP_AFTER_EXIT,   /* warp: threads of it have ended; barriers that waited only for them are complete */
};

/* A step notes at most one other in its place. FREE and AFTER_EXIT stay noted meanwhile. */
enum { DIVERGENCE_SPLITS_MAX_STEPS = 4 };

struct divergence_splits_rules {
    uint32_t n_entries;     /* of the table; 0: as many as there are threads */
    uint32_t warp_threads;  /* a warp's threads; 0: one row */
    bool at_branches;       /* warps are subdivided at branches */
    uint32_t branch_length; /* ... but undivided ones only if the post-dominator's block is not longer than this */
    bool taken_first;       /* the side that branches continues; otherwise the one that comes first in the program */
    bool by_pc;             /* splits that meet at one pc merge */
    bool queues_ahead;      /* threads that run ahead and find no slot wait for one; otherwise they do not run ahead */
    bool stops_at_branches; /* splits must be one again at control instructions that may part or end paths */
    bool
        passes_back_edges; /* ... except at a loop's back-edge that is uniform and that all threads of the split take */
};

struct divergence_splits_hook;

/* The first member of a model's state. */
struct divergence_splits {
    struct divergence_setup setup;
    struct divergence_splits_rules rules;
    uint32_t row_threads, rows_per_warp;
    struct divergence_split **table; /* rules.n_entries, NULL: free */
    uint32_t n_used;
    uint64_t used_since; /* the cycle up to which split_entry_cycles is counted */
    struct divergence_split *queue, *queue_tail;
    struct divergence_split **pool; /* every split ever made, in use or not */
    uint32_t n_pool, pool_capacity;
    struct divergence_split *free_split;
    struct divergence_subdivision *free_subdivision;
    struct divergence_warp_ids warp_ids;
    /* Of the running program: */
    const struct exec_program *program;
    uint32_t *next_memory, *next_stop; /* per pc: the first such instruction from there on, or EXEC_NO_PC */
    bool *is_short;                    /* per pc: a branch at which an undivided warp is subdivided */
    /* (slip) Called after divergence_splits_ask(), when nothing of the split is in flight; may be NULL. */
    void (*drained)(struct divergence_splits_hook *hook, struct divergence_split *split);
};

/* A hook of the model, while it runs. A change to one split often has consequences for others. The hook notes them as
 * steps, and divergence_splits_leave() takes the steps until none is left (splits.c). */
struct divergence_splits_hook {
    struct divergence_splits *splits;
    struct divergence_split *self; /* the split that the SM calls the hook for, whose slot is the SM's until the hook
                                    * returns; NULL: none */
    uint64_t cycle;
    uint32_t n_steps;
    struct divergence_splits_step {
        enum divergence_splits_step_kind kind;
        struct divergence_split *split;
        union {
            struct divergence_subdivision *subdivision;
            struct divergence_warp *warp;
        };
    } step[DIVERGENCE_SPLITS_MAX_STEPS];
};

void divergence_splits_init(struct divergence_splits *splits, const struct divergence_setup *setup,
                            const struct divergence_splits_rules *rules);
void divergence_splits_release(struct divergence_splits *splits); /* frees its members, not itself */

/* Hooks of divergence_ops; the model is a struct divergence_splits. */
void divergence_splits_begin_grid(void *model);
void *divergence_splits_new_block(void *model, const struct exec_cta *cta);
void divergence_splits_free_block(void *model, void *state);
void divergence_splits_admit(void *model, struct divergence_block *block, uint64_t cycle);
void divergence_splits_bundle(void *model, struct divergence_group *group, struct divergence_bundle *bundle,
                              uint64_t cycle);
void divergence_splits_control(void *model, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle);
void divergence_splits_reached(void *model, struct divergence_group *group, uint64_t cycle);
void divergence_splits_resume(void *model, struct divergence_group *group, uint64_t cycle);
void divergence_splits_refill(void *model, uint64_t cycle);
void divergence_splits_visit(const void *model, const struct divergence_block *block,
                             void (*thread)(void *user, const struct divergence_group *group,
                                            const struct exec_row *row, uint32_t lane),
                             void *user);

/* Hooks that a model writes itself begin with enter and end with leave. */
void divergence_splits_enter(struct divergence_splits_hook *hook, struct divergence_splits *splits,
                             struct divergence_split *self, uint64_t cycle);
void divergence_splits_leave(struct divergence_splits_hook *hook);
/* Threads of a split that have their data continue in a new split, and `from` keeps those in `missing`. Returns the new
 * split, or NULL if there is no entry or no slot (both are counted), or nothing to gain. */
struct divergence_split *divergence_splits_run_ahead(struct divergence_splits_hook *hook, struct divergence_split *from,
                                                     const uint32_t *missing);
/* Notes which lanes of an access hit. Returns true after the instruction's last answer; missing[] is then complete. */
bool divergence_splits_note_memory(struct divergence_split *split, const struct divergence_access *access,
                                   uint32_t *missing);
/* Merges the split with those of its subdivision that have its pc and are ready. */
void divergence_splits_reunite(struct divergence_splits_hook *hook, struct divergence_split *split);
/* Merges those into the split, whose access at pc has been answered, that have finished the same access and are ready
 * after it. */
void divergence_splits_take_in_finished(struct divergence_splits_hook *hook, struct divergence_split *split,
                                        uint32_t pc);
/* (slip) Calls splits->drained() when nothing of the split, whose hook runs, is in flight. */
void divergence_splits_ask(struct divergence_splits_hook *hook, struct divergence_split *split);
/* (slip) The split, whose hook runs, has nothing in flight. It waits without a slot until its subdivision's other
 * splits reach its pc or cannot continue. */
void divergence_splits_hold(struct divergence_splits_hook *hook, struct divergence_split *split);
/* (slip) Merges the held split into `split`, at the same pc. */
void divergence_splits_take_in(struct divergence_splits_hook *hook, struct divergence_split *split,
                               struct divergence_split *held);

/* Returns whether the subdivision has only one split, which may use the stack. */
static inline bool divergence_splits_is_sole(const struct divergence_subdivision *subdivision) {
    return subdivision->n_splits == 1 && !subdivision->n_children;
}
