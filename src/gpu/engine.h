/* Inside gpu: a timed machine and a launch on it, used by timed.c, limits.c and the two clocks (step.c, quantum.c). */
#pragma once

#include "exec/memory/stores.h"
#include "gpu/livelock.h"
#include "gpu/progress.h"
#include "gpu/sampler.h"
#include "gpu/timed.h"
#include "gpu/trace.h"
#include "gpu/workers.h"
#include "mem/mem.h"
#include "sm/sm.h"

/* Why an SM has stopped within a quantum. */
enum gpu_stop {
    GPU_STOP_NONE,
    GPU_STOP_TURN,   /* its next instruction waits for its turn */
    GPU_STOP_BLOCKS, /* blocks have ended: there is room for others */
    GPU_STOP_FAULT   /* in the program, or of a check */
};

/* The clock's data about an SM. Host threads run neighbouring SMs, so each has its own cache lines. */
struct gpu_unit {
    _Alignas(64) uint64_t wake; /* the next cycle that the SM wants */
    const uint64_t *answer;     /* the next cycle that its part of the memory wants: mem_sm_clock() */
    struct sm *sm;
    uint64_t stop_cycle;
    enum gpu_stop stop;
    uint32_t n_ended;           /* quantum.c: blocks that have ended and are not counted yet */
    uint64_t n_ticks;           /* not counted yet */
    struct exec_stores *stores; /* NULL: stores go to memory at once */
    bool is_due;                /* step.c: it is ticked in this cycle */
};

struct gpu_timed {
    struct config_machine machine;
    const struct sched_ops *scheduler;
    void *scheduler_options;
    const struct divergence_ops *divergence;
    void *divergence_options, *divergence_chip;
    struct gpu_run *run; /* while a launch runs */
    struct mem *mem;
    struct sm **sm;
    struct gpu_unit *unit; /* per SM */
    uint64_t cycle;
    uint32_t quantum;            /* cycles that SMs run independently; 1: step.c */
    struct gpu_workers *workers; /* NULL: one thread, or not needed yet */
    struct exec_claims *claims;  /* of SMs that run on several threads */
    bool checks;
    const char **remarked; /* kernels about which the model has made a remark; the gpu owns the names */
    uint32_t n_remarked;
    struct gpu_trace *trace; /* NULL: none */
};

enum {
    GPU_CHECK_EVERY = 16384, /* ticks of SMs between checks of the host's clock */
    GPU_MOST_AHEAD = 2048,   /* cycles that an SM may run ahead of the others */
};

/* A launch in progress. */
struct gpu_run {
    struct gpu *gpu;
    struct gpu_timed *timed;
    const struct exec_grid *grid;
    struct gpu_error *error;
    uint64_t n_blocks, next_block, n_finished, first_cycle;
    double next_start;    /* no block starts before this cycle */
    uint64_t most_cycles; /* the launch ends after this many */
    uint64_t n_ticks;     /* of all SMs */
    uint64_t next_look;   /* the tick of the next look at the host's clock */
    uint64_t n_checked;   /* the tick of the next check */
    uint64_t last_ahead;  /* SMs that run ahead stop at this cycle */
    struct gpu_progress progress;
    struct gpu_livelock *livelock;
    struct gpu_sampler *sampler; /* NULL: no samples */
    bool has_series;             /* samples, or a timeline */
    bool is_watched;             /* SMs are checked or observed after each tick */
    bool is_observed;
};

static inline void gpu_wake_by(struct gpu_unit *unit, uint64_t cycle) {
    if (cycle < unit->wake)
        unit->wake = cycle;
}

/* Sets the wake-up of an SM that was ticked in this cycle and next has work in cycle `next`. Wake-ups requested during
 * the tick count too, but no SM is ticked twice in a cycle. */
static inline void gpu_wake_after(struct gpu_unit *unit, uint64_t cycle, uint64_t next) {
    if (unit->wake <= cycle)
        unit->wake = cycle + 1;
    gpu_wake_by(unit, next);
}

/* timed.c */
/* Starts blocks on the SM while there is room. */
void gpu_start_blocks(struct gpu_run *run, uint32_t sm, uint64_t cycle);

/* step.c: runs all SMs cycle by cycle. Both clocks return false if the launch did not end by itself. */
bool gpu_run_stepwise(struct gpu_run *run);
/* Ticks an SM in the cycles in which it is alone, ahead of the others. */
void gpu_run_ahead(struct gpu_run *run, uint32_t sm);
/* Returns the last cycle to which an SM may run ahead. */
uint64_t gpu_last_ahead(const struct gpu_run *run, uint64_t cycle);
/* Updates samples and timeline: everything up to `cycle` has happened. */
void gpu_advance_series(struct gpu_run *run, uint64_t cycle);
/* Returns whether the machine may use several host threads for this launch. */
bool gpu_has_workers(struct gpu_run *run);

/* quantum.c: runs all SMs a quantum at a time, on several host threads. */
bool gpu_run_in_quanta(struct gpu_run *run);

/* limits.c: conditions that end a launch early. Each returns false, after setting run->error, if the launch must
 * end. */
bool gpu_may_go_on(struct gpu_run *run); /* the host's clock and the user */
bool gpu_is_in_limit(struct gpu_run *run, uint64_t cycle);
bool gpu_has_no_fault(struct gpu_run *run, uint32_t sm);
bool gpu_has_next(struct gpu_run *run, uint64_t next); /* `next`: the cycle of the next event */
bool gpu_observe_tick(struct gpu_run *run, uint32_t sm, uint64_t cycle);
/* Observes and checks an SM after a finished tick. */
static inline bool gpu_watch(struct gpu_run *run, uint32_t sm, uint64_t cycle) {
    return !run->is_watched || gpu_observe_tick(run, sm, cycle);
}
