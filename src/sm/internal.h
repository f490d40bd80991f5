/* Inside sm: the multiprocessor, made of its parts. */
#pragma once

#include "base/bits.h"
#include "exec/scattered.h"
#include "sm/blocks.h"
#include "sm/boards.h"
#include "sm/constants.h"
#include "sm/copies.h"
#include "sm/fetch.h"
#include "sm/grids.h"
#include "sm/lanes.h"
#include "sm/ldst.h"
#include "sm/products.h"
#include "sm/retries.h"
#include "sm/schedulers.h"
#include "sm/slots.h"
#include "sm/sm.h"
#include "sm/units.h"
#include "sm/wheel.h"
#include "sm/wide.h"

_Static_assert(CONFIG_MAX_WARPS <= (int)SCHED_MAX_SLOTS && CONFIG_MAX_SLOTS == (int)SCHED_MAX_SLOTS,
               "what config_check() and models allow has a slot");

/* Progress within a cycle. */
struct sm_turn {
    uint64_t cycle;
    uint32_t first;  /* the scheduler whose turn comes first */
    uint32_t n_over; /* schedulers that have had theirs */
    int picked;      /* the slot that it picked and that waits for other SMs, or SM_NO_SLOT */
    bool has_issued;
    bool is_over;   /* of the scheduler: its last instruction became machine instructions */
    bool is_waking; /* a group placed or woken now may issue in this cycle */
};

/* The instructions that an SM issues. */
enum sm_issues {
    SM_ISSUES_PTX,
    SM_ISSUES_MACHINE, /* none, one or several for a PTX instruction */
    SM_ISSUES_FOLDED,  /* and one that becomes none may issue together with another */
};

/* The fields that every cycle reads come first, in few cache lines: with many SMs in step, the host's cache has lost
 * them by the next cycle. sm_prefetch() prefetches everything before active_lanes. */
struct sm {
    uint64_t last_cycle; /* the last cycle that was accounted */
    struct sm_turn turn; /* of the current cycle, or the last one */
    /* With partitioned units the schedulers take turns at the load/store unit: the one after the last that used it
     * comes first in the next cycle. Otherwise always 0. */
    uint32_t first_scheduler;
    bool takes_turns;
    uint64_t model_wake; /* when refill() is due; SM_NEVER: not requested */
    bool has_freed_slot; /* refill() is due at the end of the cycle */
    bool has_clusters;   /* the grid's clusters have several blocks */
    bool needs_prefetch; /* there are so many SMs that the host's cache does not keep this one's state: prefetch.c */
    bool prefetches;     /* needs_prefetch, and it has not been running ahead of the others */
    /* checks: for tests. is_watched: checks, an observer, or the grid records the execution of its threads or lines. */
    bool checks, is_watched;
    bool is_separate; /* it may run ahead of the others: sm.c */
    bool is_plain;    /* in this grid it has none of the parts that few machines, models and observers need: sm.c */
    bool has_several_grids; /* the launch shares the SM with others, or may: grids.h */
    enum config_pipeline pipeline;
    enum sm_issues issues;
    enum exec_kind first_model_kind; /* instructions of this kind and above go to the model: control() */
    struct sm_wheel wheel;
    struct sm_fetch fetch;
    struct sm_slots slots;
    struct sm_units units;
    struct sm_schedulers schedulers;
    struct sm_lanes lanes;
    struct sm_boards boards;
    struct sm_copies copies;
    struct sm_products products;
    struct sm_ldst ldst;
    struct sm_retries retries;
    const struct sm_program *program;
    const struct divergence_ops *divergence;
    void *model;
    struct sm_follower *follower; /* observe.c; NULL: nothing observes the slots of this grid */
    struct sm_wide *wide;         /* wide.c; NULL: the policy asks for nothing beyond the slots */
    uint64_t *lanes_at;           /* per pc: thread instructions executed in this grid */
    struct sm_hot *hot;           /* per pc; NULL: nothing to count so far */
    uint32_t access_cycles;       /* sm.access_cycles */
    uint64_t cycles_to_next, cycles_to_next_after_control; /* until a group may be fetched again, except for memory */
    enum sm_stall sleeps_for;
    uint64_t active_before; /* active_cycles when the grid began */
    uint64_t last_change;   /* sm.h */
    uint64_t barrier_end;   /* when the groups that a barrier releases continue; 0: no group is at a barrier now */
    struct stats_sm counters;
    struct stats_divergence divergence_counters;

    uint64_t active_lanes[EXEC_LANES + 1]; /* sm.h */
    struct exec_context cx;
    struct sm_constants constants;
    const struct config_machine *machine;
    struct sm_dispatcher dispatcher;
    struct mem *mem;
    struct sm_calls *calls;
    const struct sm_observer *observer;
    uint32_t index;
    const struct exec_grid *grid;
    uint32_t n_warps; /* of threads */
    struct sm_blocks blocks;
    struct sm_grids grids;
    uint64_t empty_before;  /* stall_empty when the grid began */
    uint64_t empty_arrived; /* stall_empty when a group last came to the empty SM; SM_NEVER: none came */
    const struct exec_cluster *left_cluster; /* that a block has just left and others have not; NULL: none */
    struct {
        double next, next_request; /* cycle in which the port, and its own requests, take the next access */
    } network;                     /* to other SMs: cluster.c */
    uint64_t fault_pc;
    struct exec_row *fault_row;
    char broken[160]; /* the finding of a check; empty: none */
};

/* Returns whether results are tracked by register. Otherwise a group waits for all its accesses. */
static inline bool sm_has_scoreboard(const struct sm *sm) { return sm->pipeline == CONFIG_PIPELINE_SCOREBOARD; }

/* Returns whether an instruction, or a call of the model that may place, wake or end groups, has set a fault. */
/* Returns whether the model works in cycles without an issue. */
static inline bool sm_has_idle_work(const struct sm *sm) {
    return sm->divergence->memory && sm->divergence->memory->idle;
}

/* Returns whether the instruction is an access, or a shuffle, which sm.access_cycles keeps apart. */
static inline bool sm_takes_turns(const struct sm_timing *timing) {
    return timing->unit == SM_UNIT_LDST && timing->access != SM_ACCESS_CONSTANT;
}

/* Returns where the cycle is kept from which the slot's next access may issue: behind its registers. */
static inline uint64_t *sm_access_entry(const struct sm *sm, const struct sm_slot *slot) {
    return &slot->register_ready[sm->slots.n_registers - 1];
}

static inline bool sm_has_fault(const struct sm *sm) { return sm->cx.fault.kind != EXEC_FAULT_NONE; }

static inline uint32_t sm_lanes_in(uint32_t mask) { return mask == ~0u ? EXEC_LANES : base_count_bits(mask); }

/* Returns the time of a fence for the device. */
static inline uint64_t sm_fence_cycles(const struct sm *sm, const struct sm_slot *slot) {
    const struct config_lowering *lowering = &sm->machine->lowering;
    return slot->has_accessed && lowering->fence_access_cycles ? lowering->fence_access_cycles : lowering->fence_cycles;
}

/* Returns the cycles for which the bundle occupies its unit: in proportion to the number of lanes if lanes issue by
 * themselves. */
static inline uint32_t sm_occupancy_cycles(const struct sm *sm, const struct sm_timing *timing, uint32_t mask) {
    if (!sm->lanes.ready)
        return timing->occupancy_cycles;
    uint32_t n = (uint32_t)__builtin_popcount(mask), all = sm->machine->sm.warp_size;
    return (timing->occupancy_cycles * n + all - 1) / all;
}

/* Sets the cycle in which the result of a memory instruction is ready. */
static inline void sm_set_destinations(struct sm *sm, uint32_t s, const struct sm_timing *timing, uint32_t mask,
                                       uint64_t ready) {
    if (!sm_has_result(timing))
        return;
    if (sm->lanes.ready) {
        sm_lanes_set_results(sm, s, timing, mask, ready);
        return;
    }
    if (sm->boards.board) {
        sm_boards_set_results(sm, s, timing, mask, ready);
        return;
    }
    const uint32_t *reg = sm_registers(sm->program, timing);
    for (unsigned i = 0; i < timing->n_destinations; i++)
        sm->slots.slot[s].register_ready[reg[i]] = ready;
}

/* Returns whether the group in the slot has accesses in flight. */
static inline bool sm_group_has_accesses(const struct sm *sm, uint32_t s) {
    const struct sm_slot *slot = &sm->slots.slot[s];
    return sm->boards.board ? sm_boards_have_accesses(sm, slot->group, slot->group->mask) : slot->n_accesses > 0;
}

/* Accounts cycles in which nothing issued. Those before the grid's first instruction are its start. */
static inline void sm_count_stall(struct sm *sm, uint64_t n_cycles) {
    sm->counters.value[sm->sleeps_for] += n_cycles;
    if (sm->counters.active_cycles == sm->active_before && sm->sleeps_for == SM_STALL_FETCH)
        sm->counters.fetch_start += n_cycles;
}

/* Makes grid k, or that of the slot's group, the current one, if there are several. */
static inline void sm_use_grid(struct sm *sm, uint32_t k) {
    if (sm->grids.current != k)
        sm_switch_grid(sm, k);
}
/* Returns the program of the group in a slot. */
static inline const struct exec_program *sm_program_at(const struct sm *sm, uint32_t s) {
    return sm->has_several_grids ? sm->grids.grid[sm->slots.slot[s].grid].program->exec : sm->program->exec;
}
static inline void sm_use_slot(struct sm *sm, uint32_t s) {
    if (__builtin_expect(sm->has_several_grids, 0))
        sm_use_grid(sm, sm->slots.slot[s].grid);
}

/* sm.c */
void sm_count_work(struct sm *sm); /* of the current grid's instructions, all at once, when it ends */
void sm_make_hot(struct sm *sm);
static inline struct sm_hot *sm_hot_at(struct sm *sm, uint32_t pc) {
    if (!sm->hot)
        sm_make_hot(sm);
    return &sm->hot[pc];
}

/* prefetch.c: sm_prefetch_group() for the next instruction of the slot's group, if it has one. */
void sm_prefetch_next(const struct sm *sm, uint32_t s);

/* cluster.c: clusters of several blocks. */
/* Returns whether the group's next instruction may be seen by other blocks of its cluster, or may see them. */
bool sm_cluster_is_seen(const struct sm *sm, const struct divergence_group *group);
/* A thread of the block has arrived at the barrier of its cluster, or ended, at pc: releases the cluster's threads if
 * it was the last one. */
void sm_cluster_changed(struct sm *sm, const struct exec_cta *cta, uint32_t pc, uint64_t cycle);
/* The block has ended; sm_cluster_changed() follows. */
void sm_cluster_leave(struct sm *sm, struct exec_cta *cta);
/* Times an access to the shared memory of other blocks: the lanes in `mask` have addresses there. Returns the cycle in
 * which its result is ready, and sets *sent to that in which its last byte has left. */
uint64_t sm_cluster_access(struct sm *sm, uint32_t mask, uint32_t bytes, const struct sm_timing *timing, uint64_t cycle,
                           uint64_t *sent);
/* Returns the lanes whose last access was to the shared memory of other blocks. */
uint32_t sm_cluster_lanes(const struct sm *sm, uint32_t mask);
/* An arrival of these lanes at mbarriers of other blocks, which see it later. */
void sm_cluster_signal(struct sm *sm, uint32_t pc, uint32_t mask, uint64_t cycle);

/* fragments.c: wmma.load and wmma.store, for machines that issue machine instructions. */
bool sm_is_fragment(const struct sm *sm, uint32_t pc);
/* Returns the passes through shared memory or the L1 of the access that has just executed; 0: as for other accesses. */
uint32_t sm_fragment_passes(const struct sm *sm, uint32_t pc, bool is_shared);

/* prepare.c */
/* Finds the group's next instruction and the cycle from which it may issue, after `cycle`. */
void sm_prepare(struct sm *sm, uint32_t slot, uint64_t cycle);
/* issue.c */
void sm_issue(struct sm *sm, uint32_t scheduler, uint32_t slot, uint64_t cycle);
/* Parts of sm_issue() that joint_issue.c combines. Each returns the number of lanes that executed. */
uint32_t sm_issue_picked(struct sm *sm, uint32_t scheduler, uint32_t slot, uint64_t cycle);
uint32_t sm_issue_row(struct sm *sm, uint32_t scheduler, uint32_t slot, uint64_t cycle);
/* Here the model names the threads. *is_last: the instruction has no bundles left. */
uint32_t sm_issue_bundles(struct sm *sm, uint32_t scheduler, uint32_t slot, uint32_t ready, bool *is_last,
                          uint64_t cycle);
void sm_count_issue(struct sm *sm, uint32_t lanes);
/* joint_issue.c */
void sm_issue_jointly(struct sm *sm, uint32_t scheduler, uint32_t slot, uint64_t cycle);
/* host.c */
extern const struct divergence_host sm_divergence_host;
void sm_finish_slot(struct sm *sm, uint32_t slot); /* the group has left */
/* check.c */
void sm_watch_bundle(struct sm *sm, uint32_t slot, const struct divergence_bundle *bundle); /* if is_watched */
/* observe.c: only if sm->follower is not NULL, except the first two */
void sm_observe_begin(struct sm *sm); /* a grid begins */
void sm_follower_free(struct sm_follower *follower);
void sm_observe_leave(struct sm *sm, uint32_t grid, uint64_t cycle); /* this one of several grids has ended */
void sm_observe_issue(struct sm *sm, uint32_t slot, uint32_t pc, uint32_t n_lanes);
void sm_observe_hook(struct sm *sm, uint32_t slot); /* a hook of the model runs for this group */
/* `from` is the slot of the group from which it was split, or SM_NO_SLOT: that of the running hook. */
void sm_observe_arrival(struct sm *sm, uint32_t slot, int from);
void sm_observe_departure(struct sm *sm, uint32_t slot, bool is_evicted);
void sm_observe_wake(struct sm *sm, uint32_t slot);
void sm_observe_access(struct sm *sm, uint32_t request, const uint64_t address[EXEC_LANES], uint32_t bytes,
                       uint32_t n_words, uint64_t cycle);
void sm_observe_conflicts(struct sm *sm, uint32_t pc, uint32_t n_conflicts);
void sm_observe_answer(struct sm *sm, uint32_t request); /* the L1 has answered for all its lines */
void sm_observe_access_end(struct sm *sm, uint32_t request, uint64_t cycle);

/* Prefetches the data of the group's instruction at pc, and the scoreboard entries of the one after it, into the host's
 * cache. Always inline, because compilers drop calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void sm_prefetch_group(const struct sm *sm, const struct sm_slot *slot,
                                                                    uint32_t pc) {
    const struct exec_row *row = slot->group->row;
    const struct exec_insn *insn = &sm->program->exec->code[pc];
    const struct sm_timing *next = &sm->program->timing[pc + 1 < sm->program->exec->n_insns ? pc + 1 : pc];
    __builtin_prefetch(&sm->lanes_at[pc], 1);
    unsigned n_registers = next->n_registers <= SM_OWN_REGISTERS ? next->n_registers : 0;
    for (unsigned i = 0; i < n_registers; i++)
        __builtin_prefetch(&slot->register_ready[next->reg[i]]);
    if (!row)
        return;
    for (unsigned i = 0; i < 3; i++) { /* most have no more operands; entries of missing operands are never used */
        struct exec_operand operand = insn->operand[i];
        const unsigned char *lanes = row->base[operand.base] + operand.offset;
        __builtin_prefetch(lanes);
        __builtin_prefetch(lanes + 64);
        if (operand.width == PTX_WIDTH_64) {
            __builtin_prefetch(lanes + 128);
            __builtin_prefetch(lanes + 192);
        }
    }
}
