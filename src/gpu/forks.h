/* Forks: copies of the process that time sections of a launch, or count a launch that the process times.
 *
 * A fork holds the memory and the caches of the point at which it was made. It waits until the process starts it, times
 * its sections beside the process, sends what it measured and ends. Nothing else that it does reaches the process. */
#pragma once

#include <sys/types.h>

#include "gpu/internal.h"

enum { GPU_MOST_WAITING_FORKS = 24 };

struct gpu_fork {
    pid_t pid;
    int order, answer;            /* sockets */
    uint32_t made_at;             /* the section at whose start it was made */
    uint64_t instructions, block; /* thread instructions of the launch, and its next block, at that time */
    uint32_t n, *section;         /* while it times: those that it measures */
};

struct gpu_forks {
    struct gpu *gpu;
    struct gpu_kernel *kernel; /* the launch that runs */
    const struct exec_grid *grid;
    struct gpu_fork waiting[GPU_MOST_WAITING_FORKS], *running;
    uint32_t n_waiting, n_running, most_running;
    pid_t *ended; /* forks that ended without an order; the system still knows them */
    uint32_t n_ended;
    pid_t counter;          /* the fork that counts; 0: none */
    int count;              /* the socket from which its struct gpu_fork_count is read */
    struct gpu_error error; /* the first that a fork reported */
};

/* The counts of a launch that the process times. */
struct gpu_fork_count {
    bool is_done;
    struct stats_counters counters;
    struct gpu_warmed warmed;
    uint64_t longest; /* instructions of the longest row */
};

void gpu_forks_open(struct gpu_forks *forks, struct gpu *gpu);
/* A launch begins. Forgets the forks of earlier launches that have ended. */
void gpu_forks_begin(struct gpu_forks *forks, struct gpu_kernel *kernel, const struct exec_grid *grid);
/* Makes a fork where section `number` and block `block` of the launch begin, if the system has room for one. */
void gpu_forks_make(struct gpu_forks *forks, uint32_t number, uint64_t block, uint64_t instructions);
/* Lets waiting fork `i` time n of all sections, from `first` on: those that `is_wanted` marks or, if it is NULL, all.
 */
void gpu_forks_start(struct gpu_forks *forks, uint32_t i, struct gpu_section *all, uint32_t first, uint32_t n,
                     const bool *is_wanted);
/* Ends waiting fork `i` without an order. */
void gpu_forks_end(struct gpu_forks *forks, uint32_t i);
/* Waits for running fork `i`, and stores its measurements in the sections that have none. */
void gpu_forks_collect(struct gpu_forks *forks, uint32_t i, struct gpu_section *all);

/* Makes a fork that runs the launch functionally. `longest`: where the functional run counts the instructions of the
 * longest row. */
void gpu_forks_count(struct gpu_forks *forks, const uint64_t *longest);
/* Waits for that fork. Returns false if there is none, or if the launch failed in it. */
bool gpu_forks_counted(struct gpu_forks *forks, struct gpu_fork_count *count);

/* Waits for every fork. */
void gpu_forks_close(struct gpu_forks *forks, struct gpu_section *all);
