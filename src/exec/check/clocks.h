/* Which accesses of a block's threads are ordered by synchronisation: vector clocks.
 *
 * Every access has a stamp, the time of its thread (`now`). A thread's time grows whenever it tells others what it has
 * done: at a barrier, a bar.warp.sync, an arrival at an mbarrier. A clock says for each thread up to which stamp its
 * accesses come before those of the clock's owners. Threads that met share one clock, which never changes again, so a
 * barrier costs one pass over the threads.
 *
 * An asynchronous copy is not ordered with its own thread. So the copies of each thread count as another thread, its
 * twin, and all bulk copies of the block as one more. */
#pragma once

#include "exec/exec.h"

struct exec_clock;

/* A place where threads meet: a barrier, a bar.warp.sync or an mbarrier. */
struct exec_meeting {
    struct exec_clock *clock, *last; /* NULL: none has come; the last clock that was added */
    uint32_t waiting[EXEC_MAX_ROWS]; /* lanes that will know the clock when the meeting ends */
};

enum { EXEC_COPY_GROUPS = 16 }; /* of a thread: older ones count as not waited for */

struct exec_mbarrier_clock {
    uint32_t offset;
    struct exec_meeting meeting;
};

struct exec_clocks {
    uint32_t n_threads, n_ids; /* ids: threads, then their twins, then bulk copies */
    uint32_t tick;
    uint32_t *now;             /* per thread */
    uint32_t *copied;          /* per thread: the stamp of its last copy that it has waited for */
    struct exec_clock **clock; /* per thread */
    struct exec_clock *spare;
    uint32_t (*group)[EXEC_COPY_GROUPS]; /* per thread: the stamp of the last copy of each group */
    struct exec_meeting barrier[EXEC_N_BARRIERS];
    struct exec_meeting *warp; /* per row: bar.warp.sync that not all named lanes have reached */
    uint32_t *warp_members;    /* the lanes that it names */
    struct exec_mbarrier_clock *mbarrier;
    uint32_t n_mbarriers;
};

void exec_clocks_open(struct exec_clocks *clocks, uint32_t n_rows, bool has_copies);
void exec_clocks_close(struct exec_clocks *clocks);
/* A new block: no access is ordered with another thread's. */
void exec_clocks_start(struct exec_clocks *clocks);

static inline uint32_t exec_clocks_twin(const struct exec_clocks *clocks, uint32_t thread) {
    return clocks->n_threads + thread;
}
static inline uint32_t exec_clocks_bulk(const struct exec_clocks *clocks) { return 2 * clocks->n_threads; }

/* Returns whether the access with this id and stamp comes before the next access of the thread. */
bool exec_clocks_knows(const struct exec_clocks *clocks, uint32_t thread, uint32_t id, uint32_t stamp);

/* Lanes of a row reach a meeting. If they wait, exec_clocks_end() orders the accesses of
 * all others before theirs. */
void exec_clocks_come(struct exec_clocks *clocks, struct exec_meeting *meeting, uint32_t row, uint32_t mask,
                      bool waits);
void exec_clocks_end(struct exec_clocks *clocks, struct exec_meeting *meeting);
/* Lanes of a row execute a bar.warp.sync that names `members`. */
void exec_clocks_sync_row(struct exec_clocks *clocks, uint32_t row, uint32_t mask, uint32_t members);

/* mbarriers: arrivals tell, completed waits learn. */
void exec_clocks_arrive(struct exec_clocks *clocks, uint32_t offset, uint32_t row, uint32_t mask);
void exec_clocks_learn(struct exec_clocks *clocks, uint32_t offset, uint32_t row, uint32_t mask);
/* A bulk copy with this stamp has been completed at the mbarrier. */
void exec_clocks_complete(struct exec_clocks *clocks, uint32_t offset, uint32_t stamp);

/* cp.async: returns the stamp of the next copies. */
uint32_t exec_clocks_copy(struct exec_clocks *clocks);
/* The thread's copies so far belong to its group number n, or to earlier ones. */
void exec_clocks_commit(struct exec_clocks *clocks, uint32_t thread, uint32_t n);
/* The thread, which has n groups, waits until at most n_pending are left. */
void exec_clocks_wait(struct exec_clocks *clocks, uint32_t thread, uint32_t n, uint32_t n_pending);
/* The thread's copies so far are complete. */
void exec_clocks_wait_all(struct exec_clocks *clocks, uint32_t thread);
