/* The paths of a diverged warp and the convergence barriers that bring them together: what BSSY, BSYNC, BREAK and YIELD
 * do on GPUs since compute capability 7.0. With barriers at post-dominators and without loops
 * (divergence_postdominators below) they are the warp-split table and the reconvergence table of multi-path and aware,
 * and the stack of dual-path.
 *
 * A path is a set of lanes with one pc. A barrier is {pc, participants, arrived}: BSSY makes one, with the lanes of the
 * path that executes it. BSYNC at its pc lets a path's lanes arrive. When all participants have arrived, they continue
 * as one path. Lanes that end or leave the barrier's region (BREAK) are no longer participants.
 *
 * Barriers form a tree. A path knows the innermost barrier that it takes part in, and a barrier the one around it. The
 * participants of a barrier also take part in those around it. A call is a barrier as well: callers meet at their
 * return.
 *
 * Progress: no cycle of waiting. A lane that has arrived at a barrier waits only for lanes below that barrier in the
 * tree. So a path that is blocked by no barrier of the block and by no warp-wide instruction can always run. If no path
 * can run, then every lane has arrived somewhere, or is on a blocked path. Take a barrier B where lanes have arrived.
 * One of its participants has not arrived there. It is on a blocked path below B, or it has arrived at a barrier below
 * B, for which the same holds. The tree is finite, so some blocked path has a barrier above it where lanes have
 * arrived, and divergence_paths_unblock() finds it. It lets these lanes continue. Each such step removes participants
 * from a barrier, and only a path that runs makes new ones, so the warp runs unless all its live lanes are blocked by
 * something outside the warp's barriers. */
#pragma once

#include "divergence/divergence.h"
#include "exec/program/regions.h"

#define DIVERGENCE_NO_JOIN UINT32_MAX /* in no barrier */

enum divergence_path_state {
    DIVERGENCE_PATH_RUNS,
    DIVERGENCE_PATH_WAITS,   /* at a barrier of the block, or for lanes that a warp-wide instruction names */
    DIVERGENCE_PATH_GATHERS, /* at an access of a whole row, for the other live lanes */
};

struct divergence_path {
    uint32_t pc, mask;
    uint32_t join;     /* innermost barrier, or DIVERGENCE_NO_JOIN */
    uint8_t state;     /* enum divergence_path_state */
    uint8_t n_arrived; /* paths that waited at this pc for the last one, before it continued */
    /* For models in which each path has a group (groups.h): NULL if it is new. Its pc is then that of the group while
     * it runs. */
    struct divergence_group *group;
};

struct divergence_join {
    uint32_t pc;                    /* of BSYNC; of a call: where its threads return to */
    uint32_t participants, arrived; /* lanes */
    uint32_t n_arrived;             /* paths */
    uint32_t loop;                  /* lanes that leave this loop leave the barrier; EXEC_NO_LOOP: none do */
    uint32_t parent;                /* the barrier around it, or the next free one */
    bool is_call, is_used;
    uint64_t since; /* the cycle in which it was made, or lanes last arrived or were released */
};

struct divergence_paths {
    const struct exec_regions *regions;
    struct exec_row *row;
    uint32_t n_paths;
    uint32_t n_reconverged;                  /* barriers at which lanes of several paths have met */
    bool nests;                              /* two sides of a branch get a barrier even where the one around them is */
    uint64_t cycle;                          /* now, for models that use `since` */
    struct divergence_path path[EXEC_LANES]; /* the last one that can run does */
    struct divergence_join *join;
    uint32_t capacity; /* of join[] */
    uint32_t first_free;
};

void divergence_paths_start(struct divergence_paths *paths, const struct exec_regions *regions, struct exec_row *row,
                            uint32_t pc);
void divergence_paths_free(struct divergence_paths *paths);

/* Moves the last path that can run to the end. If there is none, lets lanes that wait at a barrier continue without
 * those that are blocked. Returns false if all live lanes are blocked. */
bool divergence_paths_select(struct divergence_paths *paths);

static inline struct divergence_path *divergence_paths_top(struct divergence_paths *paths) {
    return &paths->path[paths->n_paths - 1];
}

/* Returns whether the running path has all live lanes, and leaves no barrier whatever branch it takes. */
static inline bool divergence_paths_are_one(const struct divergence_paths *paths) {
    return paths->n_paths == 1 &&
           (paths->path[0].join == DIVERGENCE_NO_JOIN || paths->join[paths->path[0].join].is_call);
}

/* Returns the pc at which the path reaches its innermost barrier or has to gather its row, or EXEC_NO_PC. */
uint32_t divergence_paths_next_stop(const struct divergence_paths *paths, const struct divergence_path *path);

/* Makes regions without loops, in which paths meet at immediate post-dominators. The caller frees them. */
struct exec_regions *divergence_postdominators(const struct exec_program *program);
void divergence_postdominators_free(struct exec_regions *regions);

/* The functions below change the running path, the last one. Its pc need not be up to date before the call. */

/* The path has reached pc without a branch. */
void divergence_paths_reach(struct divergence_paths *paths, uint32_t pc);
/* All lanes of the path go from the control instruction at `from` to pc. */
void divergence_paths_go(struct divergence_paths *paths, uint32_t from, uint32_t pc);
/* A branch at pc sends each lane of the path to next[lane]. Targets other than pc + 1 run first. */
void divergence_paths_diverge(struct divergence_paths *paths, uint32_t pc, const uint32_t next[EXEC_LANES]);
/* The lanes of `taken` call functions at next[lane]. The others wait for them after the call. */
void divergence_paths_call(struct divergence_paths *paths, uint32_t pc, uint32_t taken,
                           const uint32_t next[EXEC_LANES]);
/* The lanes of `taken` return to next[lane]; the others continue at pc + 1. */
void divergence_paths_return(struct divergence_paths *paths, uint32_t pc, uint32_t taken,
                             const uint32_t next[EXEC_LANES]);
/* The lanes of `taken` have ended; the others continue at pc + 1. */
void divergence_paths_end(struct divergence_paths *paths, uint32_t pc, uint32_t taken);
/* The lanes of `waiting` wait and will continue at pc + 1, where the others continue at once. */
void divergence_paths_wait(struct divergence_paths *paths, uint32_t pc, uint32_t waiting);
/* YIELD: another path runs. If there is none, the lanes that wait for the path at its nearest barrier continue without
 * it. Returns whether another path runs now. */
bool divergence_paths_yield(struct divergence_paths *paths);
/* The lanes that wait for the running path at its nearest barrier continue without it. Returns whether there are any.
 */
bool divergence_paths_release_nearest(struct divergence_paths *paths);
/* The lanes that have arrived at this barrier continue; it stays for the others. */
void divergence_paths_release_join(struct divergence_paths *paths, uint32_t join);
/* Adds the lanes of one path to another with the same barrier, and removes it. */
void divergence_paths_merge(struct divergence_paths *paths, uint32_t into, uint32_t from);
/* The last n paths run after all others, in their order; the first of the others to stop runs next. */
void divergence_paths_send_back(struct divergence_paths *paths, uint32_t n);
/* Lanes that waited continue at pc. */
void divergence_paths_release(struct divergence_paths *paths, uint32_t released, uint32_t pc);
/* Another path runs, path[index], although the running one, at pc, could continue. */
void divergence_paths_switch(struct divergence_paths *paths, uint32_t pc, uint32_t index);
/* The path with these lanes is the running one again, after others have been released. */
void divergence_paths_continue(struct divergence_paths *paths, uint32_t mask);
