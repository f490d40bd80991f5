/* Warps that are subdivided: the machinery that dws (Meng 2010) and slip (Tarjan 2009, as compared there) have in
 * common. A warp is one row, or several (a large warp); it is run by one or more splits, groups that the scheduler
 * sees.
 *
 *     warp -- subdivision (a stack) -- split  B  1100     splits partition the threads of the stack's running entry
 *                              |- split  D  0010
 *                              `- subdivision (a stack of its own) -- split ...
 *
 * A warp that is not subdivided is one split on one stack, as in the model `stack`. When it is subdivided the stack
 * stays as it is; the splits run until they come to the post-dominator on its top, and wait there for each other. A
 * split that must serialise two paths (the table is full, a call, an indexed branch) while it has siblings does so on a
 * stack of its own, a child subdivision, which it leaves when its paths have met.
 *
 * Every split of a warp that has two or more holds an entry of the warp-split table; waiting ones too. Those that wait
 * for other splits give their slot up meanwhile, and those that find no slot wait in a queue for one: so nobody who
 * could go on is kept out by somebody who cannot. */
#pragma once

#include "divergence/large_warp/subwarps.h"
#include "divergence/parts/control.h"
#include "divergence/parts/sync.h"

enum divergence_split_phase {
    DIVERGENCE_SPLIT_RUNS, /* in a slot, or in the queue for one */
    /* To do when nothing of it is under way any more: */
    DIVERGENCE_SPLIT_PARTS,    /* its threads part at the branch at pc: those in `part` take it */
    DIVERGENCE_SPLIT_ARRIVES,  /* those in `part` have come to the barrier or warp-wide instruction at pc */
    DIVERGENCE_SPLIT_JOINS,    /* it has come to the post-dominator */
    DIVERGENCE_SPLIT_STOPS,    /* it has come to a place where all splits must be one again */
    DIVERGENCE_SPLIT_MERGES,   /* it has met a split with the same pc */
    DIVERGENCE_SPLIT_ASKS,     /* the model has: splits->drained() */
    DIVERGENCE_SPLIT_AT_SYNC,  /* waits at a barrier or warp-wide instruction for the threads in `part` */
    DIVERGENCE_SPLIT_AT_ENTRY, /* the same, but its stack's entry says so (a barrier), and a sibling path may run */
    DIVERGENCE_SPLIT_FREED,    /* no longer; in the midst of being set free */
    DIVERGENCE_SPLIT_AT_JOIN,
    DIVERGENCE_SPLIT_AT_STOP,
    DIVERGENCE_SPLIT_BEHIND, /* (slip) waits for data, in its slot */
    DIVERGENCE_SPLIT_HELD,   /* (slip) has its data and waits for the others, without a slot */
};

struct divergence_split {
    struct divergence_group group;
    struct divergence_subdivision *subdivision; /* NULL: not in use */
    struct divergence_split *next;              /* in its subdivision, or in the list of those not in use */
    struct divergence_split *next_queued;
    enum divergence_split_phase phase;
    bool is_queued;
    bool passes_stop;  /* it need not stop where it is */
    int entry;         /* in the table; -1: none */
    uint32_t n_passed; /* (slip) times that others have run past the instruction that it waits at */
    uint32_t mask[EXEC_MAX_ROWS];
    uint32_t part[EXEC_MAX_ROWS];
    /* Of a large warp, whose memory instructions go row by row: */
    struct divergence_subwarps subwarps;
    bool is_issuing;                 /* some bundles of its instruction have issued, not all */
    bool was_idle;                   /* nothing else was under way when its last memory instruction began */
    bool is_answered;                /* the L1 has been asked for all rows of that */
    uint32_t memory_pc, last_row;    /* that instruction, and the last row that takes part */
    uint32_t missing[EXEC_MAX_ROWS]; /* threads whose data from it are not there */
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

struct divergence_splits_rules {
    uint32_t n_entries;     /* of the table; 0: as many as there are threads */
    uint32_t warp_threads;  /* a warp's threads; 0: one row */
    bool at_branches;       /* warps are subdivided at branches */
    uint32_t branch_length; /* ... but undivided ones only where the post-dominator's block is not longer */
    bool by_pc;             /* splits that meet at one pc merge */
    bool stops_at_branches; /* splits must be one again at control instructions that may part or end paths */
};

/* The first member of a model's state. */
struct divergence_splits {
    struct divergence_setup setup;
    struct divergence_splits_rules rules;
    uint32_t row_threads, rows_per_warp;
    struct divergence_split **table; /* rules.n_entries, NULL: free */
    uint32_t n_used;
    uint64_t used_since; /* the cycle up to which split_entry_cycles is counted */
    struct divergence_split *queue, *queue_tail;
    struct divergence_split **pool; /* all that were ever made */
    uint32_t n_pool, pool_capacity;
    struct divergence_split *free_split;
    struct divergence_subdivision *free_subdivision;
    uint64_t warp_ids_used[16]; /* a bit for each */
    /* Of the running program: */
    const struct exec_program *program;
    uint32_t *next_memory, *next_stop; /* per pc: the first such instruction from there on, or EXEC_NO_PC */
    bool *is_short;                    /* per pc: a branch at which an undivided warp is subdivided */
    /* Of the running hook: */
    struct divergence_split *self;
    uint64_t cycle;
    /* (slip) What divergence_splits_ask() was for; may be NULL. */
    void (*drained)(struct divergence_splits *splits, struct divergence_split *split);
};

void divergence_splits_init(struct divergence_splits *splits, const struct divergence_setup *setup,
                            const struct divergence_splits_rules *rules);
void divergence_splits_release(struct divergence_splits *splits); /* frees what it holds, not itself */

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

/* For hooks that a model writes itself. `self` is the split whose hook runs, or NULL; close every hook with end. */
void divergence_splits_enter(struct divergence_splits *splits, struct divergence_split *self, uint64_t cycle);
void divergence_splits_leave(struct divergence_splits *splits);
/* Threads of a split that have their data go on in a new split; `from` keeps those in `missing`. False: not now: no
 * entry, no slot (counted), or nothing to gain. The new one is given back. */
struct divergence_split *divergence_splits_run_ahead(struct divergence_splits *splits, struct divergence_split *from,
                                                     const uint32_t *missing);
/* Notes what the L1 said. True when the instruction's last answer has come; missing[] is then complete. */
bool divergence_splits_note_memory(struct divergence_splits *splits, struct divergence_split *split,
                                   const struct divergence_access *access, uint32_t *missing);
/* Merges the split with those of its subdivision that have its pc and are ready. */
void divergence_splits_reunite(struct divergence_splits *splits, struct divergence_split *split);
/* (slip) Calls splits->drained() when nothing of the split, whose hook runs, is under way. */
void divergence_splits_ask(struct divergence_splits *splits, struct divergence_split *split);
/* (slip) The split, whose hook runs and which has nothing under way, waits without a slot until its subdivision's other
 * splits cannot go on or come to its pc. */
void divergence_splits_hold(struct divergence_splits *splits, struct divergence_split *split);
/* (slip) The held split joins `split`, at the same pc. */
void divergence_splits_take_in(struct divergence_splits *splits, struct divergence_split *split,
                               struct divergence_split *held);
/* No split of this subdivision can go on by itself: who waits for that? */
void divergence_splits_look_after(struct divergence_splits *splits, struct divergence_subdivision *subdivision);

static inline bool divergence_splits_is_sole(const struct divergence_subdivision *subdivision) {
    return subdivision->n_splits == 1 && !subdivision->n_children;
}
