/* A timed streaming multiprocessor: groups of threads in slots, warp schedulers, execution units, a load/store queue.
 *
 * sm_run() runs the cycles that the SM asks for. In between only sm_memory_done() can affect it. Values are computed
 * when an instruction issues. The scoreboard and the memory system decide when they may be used. */
#pragma once

#include "config/machine.h"
#include "divergence/divergence.h"
#include "exec/cta.h"
#include "mem/mem.h"
#include "sched/sched.h"
#include "sm/calls.h"
#include "sm/observer.h"
#include "sm/timing.h"

#define SM_NEVER UINT64_MAX

/* Why an SM issued nothing in a cycle: the index of the counter. */
enum sm_stall {
    SM_STALL_STRUCTURAL =
        STATS_SM_AT_stall_structural, /* a ready group, but its unit or the load/store queue is taken */
    SM_STALL_MEMORY = STATS_SM_AT_stall_memory,
    SM_STALL_DEPENDENCY = STATS_SM_AT_stall_dependency,
    SM_STALL_FETCH = STATS_SM_AT_stall_fetch,
    SM_STALL_BARRIER = STATS_SM_AT_stall_barrier,
    SM_STALL_EMPTY = STATS_SM_AT_stall_empty, /* no group on the SM */
};

struct sm;

/* The SM's calls to the rest of the GPU. pull_block is called only for models that pull blocks. */
struct sm_dispatcher {
    bool (*pull_block)(void *user, uint32_t sm,
                       uint64_t cycle); /* calls sm_start_block_at() on this SM; false: none left */
    void (*block_ended)(void *user, uint32_t sm);
    void (*wake)(void *user, uint32_t sm, uint64_t cycle); /* the SM must be ticked in that cycle */
    void (*has_room)(void *user, uint32_t sm);             /* the policy allows more blocks now; may be NULL */
    void *user;
    void (*cluster_ended)(void *user, struct exec_cluster *cluster); /* its last block has ended */
};

struct sm_setup {
    const struct config_machine *machine;
    const struct sched_ops *scheduler;
    const void *scheduler_options;
    const struct divergence_ops *divergence;
    const void *divergence_options;
    void *divergence_chip;
    struct sm_dispatcher dispatcher;
    struct mem *mem;
    struct sm_calls *calls;             /* of the chip */
    const struct sm_observer *observer; /* NULL: none */
    uint32_t index;
    bool checks; /* checks every bundle; sm_check_invariants() reports */
};

struct sm *sm_new(const struct sm_setup *setup);
void sm_free(struct sm *sm);
/* Before a grid: sets the program's costs, and the number of its blocks that fit. At least one must. */
void sm_begin_grid(struct sm *sm, const struct exec_grid *grid, const struct sm_program *program);
void sm_end_grid(struct sm *sm);
bool sm_has_room(const struct sm *sm);
/* Returns the number of blocks now on the SM, and the number of groups in its slots. */
uint32_t sm_count_blocks(const struct sm *sm);
/* Returns how many blocks of its grid the SM can hold. */
uint32_t sm_most_blocks(const struct sm *sm);
uint32_t sm_count_groups(const struct sm *sm);
/* For models that pull blocks: fills the SM's slots. */
void sm_pull(struct sm *sm, uint64_t cycle);
/* Puts the block on the SM now. Its groups issue from cycle `start` on. */
void sm_start_block_at(struct sm *sm, uint32_t block, uint64_t start, uint64_t cycle);
void sm_start_block(struct sm *sm, uint32_t block, uint64_t cycle);
/* As sm_start_block_at(), for a block whose number and exact start are not known yet: it starts no earlier than
 * `start`. It gets them before that cycle, by sm_number_block(). Only if sm_numbers_later(). */
struct sm_resident;
bool sm_numbers_later(const struct sm *sm);
struct sm_resident *sm_start_some_block(struct sm *sm, uint64_t start, uint64_t cycle);
void sm_number_block(struct sm *sm, struct sm_resident *resident, uint32_t block, uint64_t start);
/* The same for a block of a cluster. The SM may have passed this cycle. Returns the cycle in which the block came. */
uint64_t sm_start_block_in(struct sm *sm, struct exec_cluster *cluster, uint32_t rank, uint32_t block, uint64_t start,
                           uint64_t cycle);

/* Launches that share the SMs (grids.h). After sm_begin_grid() and before its first block, sm_share_grid() makes the
 * grid number 0 of several. Others join with free numbers below SM_MOST_GRIDS, and leave when their blocks have ended.
 * Then sm_end_grid() ends all. Only for models with shares_sms and schedulers without `wide` parts. */
enum { SM_MOST_GRIDS = 128, SM_ALL_GRIDS = SM_MOST_GRIDS };
void sm_share_grid(struct sm *sm);
void sm_join_grid(struct sm *sm, uint32_t k, const struct exec_grid *grid, const struct sm_program *program,
                  uint64_t cycle);
bool sm_has_room_for(const struct sm *sm, uint32_t k);
/* As sm_start_block_at(). */
void sm_start_block_of(struct sm *sm, uint32_t k, uint32_t block, uint64_t start, uint64_t cycle);
/* Returns how many blocks of the grid have ended since the last call. */
uint32_t sm_take_ended(struct sm *sm, uint32_t k);
/* Accounts the cycles up to `cycle`, and adds the grid's share of the counters. */
void sm_leave_grid(struct sm *sm, uint32_t k, uint64_t cycle, struct stats_counters *counters,
                   uint64_t active_lanes[EXEC_LANES + 1]);
/* Adds the grid's share so far. */
void sm_add_share(struct sm *sm, uint32_t k, struct stats_counters *counters);
/* Accounts the cycles up to `cycle`. Then makes the grid the one that sm_add_hot() and sm_fault() are about. */
void sm_show_grid(struct sm *sm, uint32_t k, uint64_t cycle);
/* Returns whether the SM can hold several grids. */
bool sm_can_share(const struct sm *sm);
/* Returns the number of the current grid: after a fault, the one that faulted. */
uint32_t sm_current_grid(const struct sm *sm);

/* What an SM may do in a cycle that the other SMs have not reached, or have passed. */
enum sm_freedom {
    SM_TOGETHER, /* everything: all SMs have reached this cycle, and those with lower numbers have finished it */
    SM_APART,    /* plain loads and stores too: it keeps its stores to itself (sm_keep_stores()) */
    SM_AHEAD     /* only actions that others cannot observe. The SM is alone: sm_is_alone() */
};
enum sm_outcome {
    SM_TICKED,
    SM_WAITS,  /* at an instruction for which it must wait for the others: a later call with the same cycle and more
                * freedom continues there */
    SM_FAULTED /* the program has faulted: sm_fault() */
};
/* When an SM next runs. */
struct sm_clock {
    uint64_t wake; /* the next cycle in which it has work; SM_NEVER: only memory can wake it */
    uint64_t n_ticks, most_ticks;
    bool must_stop; /* after the cycle that runs now */
};
/* Runs the cycle clock->wake, and then those for which the SM asks before `end`, the first cycle in which memory may do
 * something for it. If it runs ahead, it goes on only while it is alone, and until it has had most_ticks. Each finished
 * cycle counts in n_ticks. sm_dispatcher.wake() may make `wake` earlier. After SM_WAITS, `wake` is the cycle that a
 * later call continues. */
enum sm_outcome sm_run(struct sm *sm, enum sm_freedom freedom, uint64_t end, struct sm_clock *clock);
/* Returns whether no access is in flight. Then the SM does not depend on the rest of the chip in this cycle, the next
 * that it asked for, unless a group issues an instruction that other SMs may observe. */
bool sm_is_alone(const struct sm *sm, uint64_t cycle);
/* Returns whether an atomic or a write to host memory still waits in the load/store queue. Its group need not wait for
 * it, so it may outlive its block. */
bool sm_has_queued_effect(const struct sm *sm);
/* Prefetch the SM's state into the host's cache: first its own, then the data that it points to, then the data that
 * those point to. */
void sm_prefetch(const struct sm *sm);
void sm_prefetch_slots(const struct sm *sm);
void sm_prefetch_groups(const struct sm *sm);
/* From now on the SM's stores to global memory go to `stores`; NULL: to memory. */
void sm_keep_stores(struct sm *sm, struct exec_stores *stores);
/* Returns whether the host's cache loses the SM's state while the others run. */
bool sm_needs_prefetch(const struct sm *sm);
uint64_t sm_last_cycle(const struct sm *sm); /* the last cycle that was accounted */
/* Tells the SM that the data of the access with this token has arrived. Returns whether the SM must be ticked in that
 * cycle: a line of an access that waits for others changes nothing that a tick looks at. */
bool sm_memory_done(struct sm *sm, uint32_t token, uint64_t cycle);
/* Tells the SM that memory may have room for an access that it refused. The SM must be ticked in this cycle. */
void sm_memory_changed(struct sm *sm);
/* For schedulers that ask for it. A line has taken a slot of the SM's L1. */
void sm_line_filled(struct sm *sm, const struct mem_fill *fill, uint64_t cycle);
/* The state of DRAM at the start of this cycle: busy cycles of its buses, and requests that wait, of all channels. */
void sm_sample_dram(struct sm *sm, uint64_t busy_cycles, uint32_t n_channels, uint32_t waiting, uint64_t cycle);
/* Lets a scheduler that has choose_block() choose the next block of this SM. May return SCHED_NO_BLOCK. */
uint64_t sm_choose_block(struct sm *sm, const struct sched_blocks_left *left, uint64_t cycle);

/* What an instruction of a grid costs, as far as every run counts it. */
struct sm_hot {
    uint64_t in_flight;       /* cycles of its loads, from issue to the last line, all together */
    uint64_t accesses, lines; /* of these loads */
    uint64_t conflicts;       /* of its accesses to shared memory */
    uint64_t diverged;        /* groups */
};
/* Adds those of the grid that ends now, by pc. */
void sm_add_hot(const struct sm *sm, struct sm_hot *sum);

/* For SMs that are observed, or whose grid records lines: call it after each finished tick, with its cycle, and once
 * when the grid has ended, before sm_end_grid(). */
void sm_observe_cycle(struct sm *sm, uint64_t cycle);
void sm_observe_end(struct sm *sm, uint64_t cycle);
/* Adds the cycles up to this one that belong to the grid, or to all grids (SM_ALL_GRIDS): those in which the SM issued,
 * then its stalls in the order of stalls.def. It may be asleep. */
void sm_add_cycles(struct sm *sm, uint32_t grid, uint64_t cycle, uint64_t sum[1 + STATS_N_SM_STALLS]);
/* The counters of the SM for one of several grids, or for all, and the groups and blocks that it holds. Valid until the
 * next tick. Reading them changes nothing. */
struct sm_seen {
    const struct stats_sm *counters;
    const struct stats_mem *mem; /* of the SM's own part of the memory */
    const uint64_t *active_lanes;
    uint32_t n_blocks, n_groups;
};
struct sm_seen sm_see(struct sm *sm, uint32_t grid);
/* Accounts the cycles up to `cycle` in which the SM slept. */
void sm_catch_up(struct sm *sm, uint64_t cycle);
const struct stats_sm *sm_counters(const struct sm *sm);
/* Adds the counters of the SM and its divergence model. */
/* Within a launch: adds the kinds of work so far to the counters, which otherwise happens when the launch ends. */
void sm_add_work(struct sm *sm);
void sm_add_counters(const struct sm *sm, struct stats_counters *sum);
/* Returns instructions issued by number of active lanes, 0 to 32; [0]: the guard was false for all. */
const uint64_t *sm_active_lanes(const struct sm *sm);
/* Returns the fault that ended execution, or NULL. *row and *pc are its place. */
const struct exec_context *sm_fault(const struct sm *sm, const struct exec_row **row, uint32_t *pc);
/* For tests: checks that every live thread is in one group or waits, and that groups and slots agree. If not, returns
 * false and one line in text. Do not call it during a tick. */
bool sm_check_invariants(const struct sm *sm, char *text, size_t size);
/* Returns the last cycle in which memory changed, a thread ended, or a barrier was reached; and the groups now in
 * slots. For livelock detection. */
uint64_t sm_last_change(const struct sm *sm);
uint32_t sm_slots(const struct sm *sm);
const struct divergence_group *sm_group(const struct sm *sm, uint32_t slot); /* NULL: the slot is free */
bool sm_has_accesses(const struct sm *sm, uint32_t slot);                    /* of its group, in flight */
/* Returns the name of the scheduler if it is strict and a group of the SM is ready; otherwise NULL. */
const char *sm_strict_scheduler(const struct sm *sm);
void sm_describe(const struct sm *sm, void (*line)(void *user, const char *text), void *user);
