/* Declarations for the files of odgs only. odgs.c lists the rules of the model. */
#pragma once

#include "divergence/compact/compact.h"
#include "divergence/odgs/global_pool.h"
#include "divergence/parts/pdom.h"
#include "divergence/parts/sync.h"
#include "exec/scattered.h"

enum divergence_odgs_shared {
    DIVERGENCE_ODGS_SHARED_OFF,
    DIVERGENCE_ODGS_SHARED_AFTER_LAST,
    DIVERGENCE_ODGS_SHARED_ON
};
enum divergence_odgs_local { DIVERGENCE_ODGS_LOCAL_NONE, DIVERGENCE_ODGS_LOCAL_DWF, DIVERGENCE_ODGS_LOCAL_TBC };

struct divergence_odgs_options {
    uint32_t latency, shared, short_length, local, incomplete;
};

struct divergence_odgs_sm;

struct divergence_odgs_warp {
    struct divergence_group group;
    struct exec_threads threads;
    uint16_t sm[EXEC_LANES];           /* where each thread ran last */
    uint32_t n_waiting;                /* in the pool: it has the threads [0, n); otherwise 0 */
    struct divergence_stack stack;     /* of lanes; the group is its top */
    uint32_t next_pc[EXEC_LANES];      /* of each lane, when the warp leaves */
    uint32_t lanes;                    /* lanes that hold a live thread of this warp */
    uint64_t due;                      /* latency: the cycle from which it is in the pool */
    struct divergence_odgs_warp *next; /* in a list */
    struct divergence_odgs_sm *on;     /* the SM it is on, NULL: none */
    bool is_used;
};

struct divergence_odgs_queue {
    struct divergence_odgs_warp *first, **last;
};

/* The state of the whole chip. */
struct divergence_odgs_chip {
    struct divergence_odgs_options options;
    uint32_t warp_size, n_sms;
    uint32_t enough_warps;              /* an SM that runs this many takes no incomplete ones; UINT32_MAX: no limit */
    struct divergence_odgs_sm **model;  /* per SM */
    struct divergence_global_pool pool; /* incomplete warps */
    uint32_t *n_free;                   /* per SM: slots that are free for warps of the pool */
    bool has_counted;                   /* n_free is up to date */
    struct divergence_odgs_queue full, fresh; /* full warps from the pool; new ones of the grid */
    struct divergence_odgs_warp **warp;       /* every warp, in use or not */
    uint32_t n_warps;
    struct divergence_odgs_warp *unused;
    const struct exec_program *program;
    const struct exec_context *cx; /* of any SM, for moving registers */
    bool is_free;                  /* threads may regroup everywhere, */
    uint8_t *may_regroup;          /* or only here, by pc */
    uint8_t *may_leave;            /* per pc, local=tbc: threads may regroup, and no thread will wait for them */
    uint32_t block_rows;
};

struct divergence_odgs_sm {
    struct divergence_setup setup;
    struct divergence_odgs_chip *chip;
    struct divergence_odgs_queue leaving; /* diverged warps, in their slots until due */
    uint32_t n_leaving;                   /* those of them that are in slots */
    uint32_t n_slots;                     /* that warps of this grid may use */
    struct divergence_odgs_queue ended;   /* warps to use again when they have left their slots */
    struct divergence_odgs_warp **here;   /* local=dwf: warps in its slots, oldest first; some may have left since */
    uint32_t n_here;
    struct divergence_compact compact; /* local=tbc */
    uint32_t n_held; /* local=tbc with latency: slots whose threads have left the block and are not in the pool yet */
};

struct divergence_odgs_block {
    struct divergence_sync *sync;
    struct divergence_compact_block *compact; /* local=tbc */
};

enum { DIVERGENCE_ODGS_NOWHERE = UINT16_MAX }; /* the SM of a thread that has not run yet */

static inline uint32_t divergence_odgs_all_lanes(const struct divergence_odgs_chip *chip) {
    return chip->warp_size == EXEC_LANES ? ~0u : (1u << chip->warp_size) - 1;
}

/* --- warps.c: warps, and threads that form them --- */

void divergence_odgs_queue_start(struct divergence_odgs_queue *queue);
void divergence_odgs_queue_push(struct divergence_odgs_queue *queue, struct divergence_odgs_warp *warp);
struct divergence_odgs_warp *divergence_odgs_queue_pop(struct divergence_odgs_queue *queue);
/* Returns a warp without threads, in no slot. After give_back() it may be used again. */
struct divergence_odgs_warp *divergence_odgs_new_warp(struct divergence_odgs_chip *chip);
void divergence_odgs_give_back(struct divergence_odgs_chip *chip, struct divergence_odgs_warp *warp);
/* Shows the SM the top of the warp's stack, in its group. */
void divergence_odgs_show_top(struct divergence_odgs_warp *warp);
/* Moves as many threads of `from`, all at pc, as fit into the free lanes `room` of `to`. Returns the lanes of `from`
 * that have moved. */
uint32_t divergence_odgs_take_threads(const struct divergence_odgs_chip *chip, struct divergence_odgs_warp *to,
                                      uint32_t room, struct divergence_odgs_warp *from, uint32_t lanes, uint32_t pc);
/* Returns those of the lanes whose next_pc this is. */
uint32_t divergence_odgs_lanes_at(const struct divergence_odgs_warp *warp, uint32_t lanes, uint32_t pc);
/* Puts threads into the pool, each at its next_pc. Warps that they fill go to the queue of full warps. */
void divergence_odgs_add_threads(struct divergence_odgs_chip *chip, struct divergence_odgs_warp *from, uint32_t lanes);
/* Takes the warp that waits at pc out of the pool, full or not. */
struct divergence_odgs_warp *divergence_odgs_take_waiting(struct divergence_odgs_chip *chip, uint32_t pc);
/* Adds a row's lanes, which are in no warp, at pc: a full row as a warp in `queue`, others to the pool. */
void divergence_odgs_add_row(struct divergence_odgs_chip *chip, struct exec_row *row, uint32_t mask, uint32_t pc,
                             uint16_t sm, struct divergence_odgs_queue *queue);

/* --- execute.c: control instructions --- */

/* Executes the control instruction at pc: divergence_ops.control for warps of the pool. */
void divergence_odgs_execute(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint32_t pc,
                             uint32_t mask, uint64_t cycle);
/* The running path has reached its post-dominator. */
void divergence_odgs_end_path(struct divergence_odgs_warp *warp);

/* --- slots.c: which warp takes a slot, and which leaves one --- */

/* The threads of a warp continue elsewhere, each at its next_pc, and the warp ends. */
void divergence_odgs_leave(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint64_t cycle);
/* Warps whose latency is over leave, and free slots of all SMs are filled. */
void divergence_odgs_refill(struct divergence_odgs_sm *model, uint64_t cycle);

/* --- local_dwf.c --- */

/* The warp, which is in no slot yet, is about to take one on this SM. */
void divergence_odgs_note_here(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp);
/* Threads of the warp, each at its next_pc, join incomplete warps of this SM. The warp keeps the others. */
void divergence_odgs_join_here(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint64_t cycle);

/* --- local_tbc.c: the compactor runs groups for which divergence_compact_owns() is true --- */

/* A new SM. */
void divergence_odgs_start_tbc(struct divergence_odgs_sm *model);
/* A grid begins: fills chip->may_leave. */
void divergence_odgs_find_where_to_leave(struct divergence_odgs_chip *chip);
/* A block begins: its full rows go to the compactor, the threads of the others to the pool. */
void divergence_odgs_admit_tbc(struct divergence_odgs_sm *model, struct divergence_block *block, uint64_t cycle);
/* Starts a block on the SM, which has n_free slots for it, if no full warp waits and there is one for each row of the
 * block. */
bool divergence_odgs_pull_tbc(const struct divergence_odgs_sm *model, uint32_t n_free, uint64_t cycle);
