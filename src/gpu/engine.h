/* Inside gpu: a timed machine and a launch on it, used by timed.c, limits.c, clock.c and turns.c. */
#pragma once

#include "base/memory.h"
#include "exec/memory/stores.h"
#include "gpu/livelock.h"
#include "gpu/pace.h"
#include "gpu/progress.h"
#include "gpu/sampler.h"
#include "gpu/timed.h"
#include "gpu/trace.h"
#include "gpu/window.h"
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

/* A block that has started in the place of one that has ended, and has no number yet. */
struct gpu_replacement {
    uint64_t cycle;
    struct sm_resident *block;
};

/* What an SM does when blocks end (turns.c). */
enum gpu_replacing {
    GPU_REPLACES_IN_TURN,
    GPU_REPLACES_NONE, /* no block is left: it only counts them */
    GPU_REPLACES_LATER /* it starts others, which get their numbers after the round */
};
enum { GPU_MOST_REPLACED = 16 };

/* The clock's data about an SM. Host threads run neighbouring SMs, so each has its own cache lines. */
struct gpu_unit {
    _Alignas(BASE_PAIR_BYTES) struct sm_clock clock; /* n_ticks: not counted yet */
    const uint64_t *answer; /* the next cycle that its part of the memory wants: mem_sm_clock() */
    struct sm *sm;
    uint64_t stop_cycle;
    enum gpu_stop stop;
    uint32_t n_ended;                /* blocks that have ended and are not counted yet */
    bool has_room;                   /* its scheduler allows more blocks now */
    uint32_t n_counted;              /* blocks that have ended without a turn in this round */
    uint64_t last_end;               /* of these */
    uint32_t n_replaced, n_numbered; /* of `replaced`, in this round; those that have got their numbers */
    struct gpu_replacement replaced[GPU_MOST_REPLACED];
    struct exec_stores *stores; /* that other SMs do not see yet */
};

/* The host threads that usually run the parts of the machine: the partitions, then the SMs. Their processors' caches
 * hold the parts' state. */
struct gpu_homes {
    uint32_t n_threads; /* for which this is; 0: none yet */
    uint32_t *home;     /* per part: its thread */
    uint32_t *part_of;  /* per piece of the workers */
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
    struct sm_calls calls;
    uint32_t quantum;                          /* cycles of a round; 1: every tick needs its turn */
    struct gpu_workers *workers;               /* of the pools; NULL: one thread, or not needed yet */
    struct gpu_workers *pool[GPU_PACE_LEVELS]; /* by number of threads */
    struct gpu_homes homes;                    /* for `workers` */
    struct gpu_pace pace;                      /* if it chooses the number */
    struct exec_claims *claims;                /* of SMs that run on several threads */
    bool checks;
    const char **remarked; /* kernels about which the model has made a remark; the gpu owns the names */
    uint32_t n_remarked;
    struct gpu_trace *trace; /* NULL: none */
    struct mem_range *host;  /* memory of the host, by address */
    uint32_t n_host;
    _Alignas(BASE_PAIR_BYTES) uint64_t cycle; /* changes in every round, while other threads read the fields above */
    uint64_t shift;                           /* of the running launch: its cycles on the timeline minus `cycle` */
    uint64_t trace_shift;                     /* the same, for its events in --trace */
};

enum {
    GPU_CHECK_EVERY = 16384,     /* ticks of SMs between checks of the host's clock */
    GPU_QUIET_CHECK_EVERY = 512, /* the same while a livelock is suspected */
    GPU_MOST_AHEAD = 2048,       /* cycles that an SM may run ahead of the others */
};

struct gpu_run;
/* hot_lines.c: finds the lines that cost the launch most, before its grid ends. */
void gpu_find_hot_lines(const struct gpu_run *run, struct gpu_launch_record *record);

/* A launch in progress, or several that share the machine (together.c). Then `grid` is one of theirs, and the numbers
 * of blocks are those of all. */
struct gpu_run {
    struct gpu *gpu;
    struct gpu_timed *timed;
    const struct exec_grid *grid;
    struct gpu_error *error;
    uint64_t n_blocks, next_block, n_finished, first_cycle; /* next_block: as many have started */
    struct sched_blocks_left left;                          /* if the scheduler chooses blocks */
    uint64_t *started, *n_on_sm;                            /* of `left` */
    uint64_t last_cycle;  /* the launch's last so far: a block has ended, or later an atomic has left its SM */
    double next_start;    /* no block starts before this cycle */
    uint64_t most_cycles; /* the launch ends after this many */
    uint64_t last_ahead;  /* SMs that run ahead stop at this cycle */
    struct gpu_progress progress;
    struct gpu_livelock *livelock;
    struct gpu_sampler *sampler; /* NULL: no samples */
    bool has_series;             /* samples, or a timeline */
    bool is_watched;             /* SMs are checked or observed after each tick */
    bool is_observed;
    enum gpu_replacing replacing; /* in this round */
    bool has_blocks_left;         /* when the round began, some had not started */
    bool is_quiet; /* when last looked at, nothing had changed for limits.watchdog cycles: it may be a livelock */
    struct gpu_together *together; /* NULL: one launch */
    struct gpu_window *window;     /* NULL: the whole launch */
    _Alignas(BASE_PAIR_BYTES)
        uint64_t n_ticks; /* of all SMs; changes in every round, while other threads read the fields above */
    uint64_t next_look;   /* the tick of the next look at the host's clock */
    uint64_t n_checked;   /* the tick of the next check */
};

static inline void gpu_wake_by(struct gpu_unit *unit, uint64_t cycle) {
    if (cycle < unit->clock.wake)
        unit->clock.wake = cycle;
}

/* timed.c */
/* The machine at the end of launches: lets memory finish the work that arrives by this cycle, adds up all counters, and
 * brings the SMs to timed->cycle. gpu_renew() follows a launch that did not end by itself. */
void gpu_drain(struct gpu_timed *timed, uint64_t cycle);
void gpu_collect(const struct gpu_timed *timed, struct stats_counters *sum);
void gpu_catch_up(struct gpu_timed *timed);
void gpu_renew(struct gpu_timed *timed);
void gpu_show_remark(struct gpu_timed *timed, const struct exec_grid *grid, const char *kernel);
/* Prepares what the run needs beside its grid: progress, the kernel's costs. */
void gpu_begin_run(struct gpu_run *run);
const struct sm_program *gpu_costs_of(struct gpu_timed *timed, struct gpu_kernel *kernel);
/* Returns the cycles from the end of the last block of a launch to the end of the launch, if its n_blocks have accessed
 * memory. They grow with the logarithm of the number of SMs, from launch.drain_least_cycles on one SM to
 * launch.drain_cycles on all.
 * */
uint64_t gpu_drain_cycles(const struct config_machine *machine, uint64_t n_blocks);
/* together.c: an SM stopped because blocks ended: counts them and starts others. */
void gpu_take_parts_turn(struct gpu_run *run, uint32_t sm, uint64_t cycle);
/* Between rounds, when everything before `cycle` has happened: launches end and begin. Returns whether blocks have
 * started. */
bool gpu_change_parts(struct gpu_run *run, uint64_t cycle);
/* Takes the samples of all launches that are due: everything up to `cycle` has happened. */
void gpu_sample_parts(struct gpu_run *run, uint64_t cycle);
/* Shows the SMs the state of DRAM, as it is at the start of a quantum. */
void gpu_sample_dram(struct gpu_timed *timed, uint64_t cycle);

/* homes.c */
/* Chooses the number of host threads, and the homes of the parts. */
uint32_t gpu_choose_threads(struct gpu_run *run);
/* Calls work() for each SM, on the thread that usually runs it, with those that were chosen last. */
typedef void gpu_sm_work_fn(struct gpu_timed *timed, uint32_t sm, const void *user);
void gpu_for_each_sm(struct gpu_timed *timed, gpu_sm_work_fn *work, const void *user);

/* clock.c: runs the SMs and the memory in rounds until all blocks have ended. Returns false if the launch did not end
 * by itself. */
bool gpu_run_rounds(struct gpu_run *run);

/* live.c: writes the state of the run, if it is watched and the last state is old enough. */
void gpu_live_look(struct gpu_run *run);
/* Returns the thread instructions of all launches so far. */
uint64_t gpu_count_instructions(const struct gpu_timed *timed);

/* limits.c: conditions that end a launch early. Each returns false, after setting run->error, if the launch must
 * end. */
bool gpu_look_outside(struct gpu_run *run); /* at the host's clock, and for the user */
bool gpu_has_no_fault(struct gpu_run *run, uint32_t sm);
/* `next`: the cycle of the next event. Not if there is none, or it is beyond the limit of cycles. */
bool gpu_may_reach(struct gpu_run *run, uint64_t next);
bool gpu_observe_tick(struct gpu_run *run, uint32_t sm, uint64_t cycle);
static inline bool gpu_may_go_on(struct gpu_run *run) { return run->n_ticks < run->next_look || gpu_look_outside(run); }
/* Observes and checks an SM after a finished tick. */
static inline bool gpu_watch(struct gpu_run *run, uint32_t sm, uint64_t cycle) {
    return !run->is_watched || gpu_observe_tick(run, sm, cycle);
}
