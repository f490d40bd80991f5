/* Warps whose paths run at the same time: each path (paths.h) is a group of its own, in a slot. Barriers are at
 * immediate post-dominators. For dual-path and multi-path. The SM tracks the results of each lane (sm/boards.h), so
 * both sides of a branch wait for results from before it, and each side for its own later ones.
 *
 * Slots. There are fewer slots than a warp could have paths. A path that finds none waits in a queue. Paths that wait
 * for others give up their slots to queued ones. If all slots run, a path that has executed MOST_TURNS control
 * instructions in its slot goes to the end of the queue. So each path that can run is picked again and again.
 *
 * Progress: paths.h proves that a warp never waits for itself. When a path spins (parts/spin.h), the lanes that wait
 * for it at its nearest barrier continue. */
#pragma once

#include "divergence/convergence/execute.h"
#include "divergence/parts/spin.h"
#include "divergence/parts/warp_ids.h"

struct divergence_path_group {
    struct divergence_group group; /* first */
    struct divergence_groups_warp *warp;
    struct divergence_path_group *next; /* of its warp, or of those not in use */
    struct divergence_path_group *next_queued;
    struct divergence_watch watch;
    uint32_t n_turns;  /* control instructions since it got its slot */
    bool is_used;      /* by a warp */
    bool has_path;     /* otherwise its lanes have arrived, or are in other groups now */
    bool is_scheduled; /* its path may run */
    bool is_queued;    /* for a slot */
};

struct divergence_groups_warp {
    struct divergence_paths paths;
    struct divergence_block *block;
    struct divergence_path_group *group; /* list */
    uint32_t warp_id;
    bool has_spun; /* a path of it has: its paths are likely to spin again (parts/spin.h) */
};

struct divergence_groups_rules {
    uint32_t n_at_once; /* paths of a barrier that run, if only those of one barrier do; 0: all paths of the warp run */
    bool nests;         /* every divergent branch has a barrier of its own (paths.h) */
    bool meets_early;   /* a path that comes by a branch to the pc of another with the same barrier joins it */
};

/* The first member of a model's state. */
struct divergence_groups {
    struct divergence_setup setup;
    struct divergence_groups_rules rules;
    struct exec_regions *regions; /* of the running program */
    struct divergence_path_group *queue, *queue_tail;
    struct divergence_path_group *free;
    struct divergence_path_group **pool; /* every one ever made, in use or not */
    uint32_t n_pool, pool_capacity;
    struct divergence_warp_ids warp_ids;
};

/* Hooks of divergence_ops; the model is a struct divergence_groups. */
void divergence_groups_init(struct divergence_groups *groups, const struct divergence_setup *setup,
                            const struct divergence_groups_rules *rules);
void divergence_groups_free(void *model); /* and the model itself */
void divergence_groups_begin_grid(void *model);
void *divergence_groups_new_block(void *model, const struct exec_cta *cta);
void divergence_groups_free_block(void *model, void *state);
void divergence_groups_admit(void *model, struct divergence_block *block, uint64_t cycle);
void divergence_groups_control(void *model, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle);
void divergence_groups_reached(void *model, struct divergence_group *group, uint64_t cycle);
void divergence_groups_refill(void *model, uint64_t cycle);
void divergence_groups_visit(const void *model, const struct divergence_block *block,
                             void (*thread)(void *user, const struct divergence_group *group,
                                            const struct exec_row *row, uint32_t lane),
                             void *user);
