/* A streaming multiprocessor in time: groups of threads in slots, warp
 * schedulers, execution units, a load/store queue.
 *
 * An SM is ticked in the cycles it asks for: sm_tick() gives the next one. In
 * between nothing can happen to it but sm_memory_done(). Values are computed
 * when an instruction issues; the scoreboard and the memory system decide when
 * they may be used. */
#pragma once

#include "config/machine.h"
#include "divergence/divergence.h"
#include "exec/cta.h"
#include "mem/mem.h"
#include "sched/sched.h"
#include "sm/timing.h"

#define SM_NEVER UINT64_MAX

/* Why an SM issued nothing in a cycle: the counter of that. */
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

/* What the SM asks of the rest of the GPU. pull_block: only models that ask for blocks do. */
struct sm_dispatcher {
    bool (*pull_block)(void *user, uint32_t sm, uint64_t cycle); /* sm_start_block() on this SM; false: none left */
    void (*block_ended)(void *user);
    void (*wake)(void *user, uint32_t sm, uint64_t cycle); /* the SM must be ticked in that cycle */
    void *user;
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
    uint32_t index;
    bool checks; /* what bundles do is checked: sm_check_invariants() tells */
};

struct sm *sm_new(const struct sm_setup *setup);
void sm_free(struct sm *sm);
/* Before a grid: the program's costs, and how many of its blocks fit. False
 * when not even one does; error says what is short. */
bool sm_begin_grid(struct sm *sm, const struct exec_grid *grid, const struct sm_program *program, char *error,
                   size_t size);
void sm_end_grid(struct sm *sm);
bool sm_has_room(const struct sm *sm);
/* Blocks that are on it now. */
uint32_t sm_count_blocks(const struct sm *sm);
/* Models that pull blocks: fills the SM's slots. */
void sm_pull(struct sm *sm, uint64_t cycle);
void sm_start_block(struct sm *sm, uint32_t block, uint64_t cycle);
/* One cycle. Gives the next cycle in which the SM has something to do;
 * SM_NEVER: only memory can wake it. */
uint64_t sm_tick(struct sm *sm, uint64_t cycle);
/* The SM has nothing to do with the rest of the chip in this cycle, the next that it asked for, unless a group issues
 * an instruction that touches what others see: no access is under way. */
bool sm_is_alone(const struct sm *sm, uint64_t cycle);
/* Ticks it then, ahead of the others, and gives the next cycle in which it has something to do. False: it has come to
 * such an instruction, and has to be ticked in this cycle when it is everybody's. */
bool sm_tick_alone(struct sm *sm, uint64_t cycle, uint64_t *next);
uint64_t sm_last_cycle(const struct sm *sm); /* the last one accounted */
/* The memory system has the data for the access with this token. The SM must be
 * ticked in that cycle or later. */
void sm_memory_done(struct sm *sm, uint32_t token, uint64_t cycle);
/* What memory refused for want of room it may take now. The SM must be ticked in this cycle. */
void sm_memory_changed(struct sm *sm);
/* Accounts the cycles up to `cycle` in which the SM slept. */
void sm_catch_up(struct sm *sm, uint64_t cycle);
const struct stats_sm *sm_counters(const struct sm *sm);
/* Adds what the SM and its divergence model counted. */
void sm_add_counters(const struct sm *sm, struct stats_counters *sum);
/* Instructions issued by active lanes, 0 to 32; [0]: guard false for all. */
const uint64_t *sm_active_lanes(const struct sm *sm);
/* The fault that ended execution, or NULL. *row and *pc say where. */
const struct exec_context *sm_fault(const struct sm *sm, const struct exec_row **row, uint32_t *pc);
/* For tests: every live thread is in one group or waits, groups and slots agree. False and one line in text when
 * broken. Not while the SM is ticked. */
bool sm_check_invariants(const struct sm *sm, char *text, size_t size);
/* The last cycle in which memory changed, a thread ended, or a barrier was reached, and who has groups now: for whoever
 * looks for a kernel that cannot end. */
uint64_t sm_last_change(const struct sm *sm);
uint32_t sm_slots(const struct sm *sm);
const struct divergence_group *sm_group(const struct sm *sm, uint32_t slot); /* NULL: the slot is free */
void sm_describe(const struct sm *sm, void (*line)(void *user, const char *text), void *user);
