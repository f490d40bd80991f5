/* Inside sm: the multiprocessor's state. */
#pragma once

#include "base/bits.h"
#include "exec/scattered.h"
#include "sm/constants.h"
#include "sm/schedulers.h"
#include "sm/slots.h"
#include "sm/sm.h"
#include "sm/units.h"
#include "sm/wheel.h"

enum {
    SM_LDST_QUEUE = 8, /* accesses that wait for the L1; an instruction that finds room may add up to 32 (mimd) */
    SM_LDST_RING = 64,
    SM_INSTRUCTION_BYTES = 8,
    SM_WARM_SLOTS = 2048,         /* this many slots, with their registers, fit into the
                                     host's cache */
    SM_FETCH_TOKEN = 0x80000000u, /* token of an instruction fetch: this and the slot */
    SM_TOKEN_SHIFT = 16,          /* token of a line: the request, and above this bit the
                                     number of the line */
    SM_NO_REQUEST = 0xffff,
    SM_NO_COPY = 0xffffffff,
    SM_NO_GROUP = 0xffffffff, /* of copies: they signal an mbarrier */
};

_Static_assert(CONFIG_MAX_WARPS <= (int)SCHED_MAX_SLOTS && CONFIG_MAX_SLOTS == (int)SCHED_MAX_SLOTS,
               "what config_check() and models allow has a slot");

/* A memory instruction, or one bundle of it, on its way through the L1. */
struct sm_request {
    struct mem_transaction transaction[MEM_MAX_TRANSACTIONS];
    uint32_t n_transactions, next;
    uint8_t lines_per_cycle, more_cycles; /* most lines per cycle; L1 busy cycles after the last. 0: no limit */
    uint64_t outstanding;                 /* a bit per line: missed and not yet arrived */
    uint64_t conflicting;                 /* a bit per line before `next`: it waits for its bank (l1.bank_queues) */
    uint64_t ready;
    uint32_t slot, pc, tag;
    uint32_t next_free;
    /* missed: lanes whose lines were not in the L1 */
    uint32_t lanes, missed;
    uint64_t age; /* of the group that asked */
    struct exec_row *row;
    enum mem_kind kind;
    uint32_t copy; /* is_copy: which one, or SM_NO_COPY */
    bool is_used, is_copy;
};

/* The lanes of a slot, where each has its own scoreboard. */
struct sm_lanes {
    uint64_t ready_cycle[EXEC_LANES]; /* when the lane can issue */
    uint64_t valid_from, valid_until; /* `ready` holds from cycle valid_from until before valid_until */
    uint32_t ready;                   /* lanes that can issue */
    uint32_t of_unit[SM_N_UNITS];     /* lanes by their instruction's unit */
    uint32_t changed;                 /* lanes whose entries here are out of date */
};

/* Progress within a cycle. */
struct sm_turn {
    uint64_t cycle;
    uint32_t scheduler; /* whose turn it is */
    int picked;         /* the slot it picked, if has_picked */
    bool has_picked, has_issued;
};

struct sm_resident {
    struct divergence_block block; /* first member: the model hands it back */
    bool is_in_flight;
};

/* The fields that every cycle reads come first, in few cache lines: with many SMs in step, the host's cache has lost
 * them by the next cycle. */
struct sm {
    uint64_t last_cycle; /* the last cycle that was accounted */
    struct sm_turn turn; /* of the current cycle, or the last one */
    uint64_t model_wake; /* when refill() is due; SM_NEVER: not requested */
    struct sm_wheel wheel;
    struct sched_set refused; /* slots that the I-cache refused: they ask again in
                                 the next cycle */
    struct sm_slots slots;
    uint32_t done, last_done; /* list of accesses that memory has answered since
                                 the last tick */
    uint32_t queue_head, queue_length;
    uint32_t n_bulk_copies;                             /* that wait for the L1 */
    uint32_t n_requests, n_free_requests, free_request; /* the free ones form a list */
    uint64_t l1_free;     /* the cycle in which the L1 takes the first line of another access: unified.tag_banks */
    bool ldst_is_refused; /* memory has no room for the queue\'s first access; it calls sm_memory_changed() */
    bool is_waking;       /* a group placed or woken now may issue in this cycle */
    bool has_freed_slot;  /* refill() is due at the end of the cycle */
    /* The model does not depend on other SMs or on the grid's blocks, groups have one pc, and instruction fetches do
     * not share the path to the L2 with answers to other SMs, as they do with coherent caches. */
    bool is_separate;
    bool is_scoreboard;
    bool has_issued_nothing;       /* the last instruction became no machine instruction */
    bool has_machine_instructions; /* a PTX instruction may become none, one or several */
    bool folds;                    /* and one that becomes none may issue together with another */
    bool has_lane_pcs;             /* every lane fetches its own instruction (mimd) */
    bool has_icache;               /* an I-cache that can miss */
    bool gets_cold;                /* there are so many SMs that the host's cache does not keep
                                      this one's state: warm.c */
    bool is_cold;                  /* gets_cold, and it has not been running ahead of the others */
    /* checks: for tests. is_watched: checks, an observer, or the grid records the
     * execution of its threads or lines. */
    bool checks, is_watched;
    struct sm_follower *follower; /* observe.c; NULL: nothing observes the slots of this grid */

    struct sm_units units;
    struct sm_schedulers schedulers;

    const struct sm_program *program;
    const struct divergence_ops *divergence;
    void *model;
    uint64_t *lanes_at;                                    /* per pc: thread instructions executed in this grid */
    uint64_t cycles_to_next, cycles_to_next_after_control; /* until a group may be fetched again, except for memory */
    uint64_t *lane_ready;            /* scoreboards of single lanes (lanes.c); NULL: each slot has one */
    enum exec_kind first_model_kind; /* instructions of this kind and above go to the model: control() */
    enum sm_stall sleeps_for;
    uint32_t line_shift;  /* from a pc to its I-cache line */
    uint32_t n_fetches;   /* fetches that missed and are in flight */
    uint64_t fetch_cycle; /* the I-cache's only port is taken in this cycle */
    uint64_t last_change; /* sm.h */
    struct stats_sm counters;
    struct stats_divergence divergence_counters;
    uint64_t active_lanes[EXEC_LANES + 1]; /* sm.h */
    struct exec_context cx;
    struct sm_constants constants;

    const struct config_machine *machine;
    struct sm_dispatcher dispatcher;
    struct mem *mem;
    const struct sm_observer *observer;
    uint32_t index;
    const struct exec_grid *grid;
    uint32_t n_warps; /* of threads */
    struct sm_request *request;
    struct sm_copies *copies; /* NULL: the program has none */
    uint32_t queue[SM_LDST_RING];
    struct sm_resident **resident;
    uint32_t n_resident_places, max_residents, n_residents;
    uint64_t block_start;   /* groups of a starting block do not issue before this
                               cycle */
    struct sm_lanes *lanes; /* by slot, if lane_ready is not NULL */
    uint64_t fault_pc;
    struct exec_row *fault_row;
    char broken[160]; /* the finding of a check; empty: none */
};

/* prepare.c */
/* Finds the group's next instruction and the cycle from which it may issue, after `cycle`. */
void sm_prepare(struct sm *sm, uint32_t slot, uint64_t cycle);
void sm_sleep_until(struct sm *sm, uint32_t slot, uint64_t cycle, uint64_t wake);
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

/* Returns whether an instruction, or a call of the model that may place, wake
 * or end groups, has set a fault. */
static inline bool sm_has_fault(const struct sm *sm) { return sm->cx.fault.kind != EXEC_FAULT_NONE; }

static inline uint32_t sm_lanes_in(uint32_t mask) { return mask == ~0u ? EXEC_LANES : base_count_bits(mask); }

/* check.c */
void sm_watch_bundle(struct sm *sm, uint32_t slot, const struct divergence_bundle *bundle); /* if is_watched */
/* observe.c: only if sm->follower is not NULL, except the first two */
void sm_observe_begin(struct sm *sm); /* a grid begins */
void sm_follower_free(struct sm_follower *follower);
void sm_observe_issue(struct sm *sm, uint32_t slot, uint32_t pc, uint32_t n_lanes);
void sm_observe_hook(struct sm *sm, uint32_t slot); /* a hook of the model runs for this group */
/* `from` is the slot of the group from which it was split, or SM_NO_SLOT: that of the running hook. */
void sm_observe_arrival(struct sm *sm, uint32_t slot, int from);
void sm_observe_departure(struct sm *sm, uint32_t slot, bool is_evicted);
void sm_observe_wake(struct sm *sm, uint32_t slot);
void sm_observe_access(struct sm *sm, uint32_t request, uint64_t cycle);
void sm_observe_answer(struct sm *sm, uint32_t request); /* the L1 has answered for all its lines */
void sm_observe_access_end(struct sm *sm, uint32_t request, uint64_t cycle);
/* slots.c */
extern const struct divergence_host sm_divergence_host;
void sm_finish_slot(struct sm *sm, uint32_t slot); /* the group has left */
/* lanes.c: only if sm->lane_ready is not NULL */
void sm_lanes_clear(struct sm *sm, uint32_t slot);
void sm_lanes_changed(struct sm *sm, uint32_t slot); /* they may have other instructions now */
void sm_lanes_set_results(struct sm *sm, uint32_t slot, const struct sm_timing *timing, uint32_t mask, uint64_t cycle);
void sm_lanes_set_fetch(struct sm *sm, uint32_t slot, uint32_t mask, uint64_t cycle);
/* Returns the cycle, not before `cycle`, in which the first lane can issue, and sets *pc to its instruction. Among
 * several lanes it prefers one that does not need the load/store unit. SM_NEVER: memory has to answer first, or no lane
 * has an instruction. */
uint64_t sm_lanes_earliest(const struct sm *sm, uint32_t slot, uint64_t cycle, uint32_t *pc);
/* Returns the lanes of `mask` that can issue now, and whose unit is in `units` (a bit per enum sm_unit). */
uint32_t sm_lanes_ready(const struct sm *sm, uint32_t slot, uint32_t units, uint32_t mask, uint64_t cycle);
/* Returns the cycles for which the bundle occupies its unit: in proportion to the number of lanes if lanes issue by
 * themselves. */
static inline uint32_t sm_occupancy_cycles(const struct sm *sm, const struct sm_timing *timing, uint32_t mask) {
    if (!sm->lane_ready)
        return timing->occupancy_cycles;
    uint32_t n = (uint32_t)__builtin_popcount(mask), all = sm->machine->sm.warp_size;
    return (timing->occupancy_cycles * n + all - 1) / all;
}
/* Prefetches the data of the group's instruction at pc, and the scoreboard entries of the one after it, into the host's
 * cache. Always inline, because compilers drop calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void sm_warm_group(const struct sm *sm, const struct sm_slot *slot,
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
/* ldst.c */
/* The L1 has answered for every line. */
static inline bool sm_request_is_answered(const struct sm_request *request) {
    return request->next == request->n_transactions && !request->conflicting;
}
/* Returns whether the queue has room for an instruction, which may need a request for every lane (mimd). */
static inline bool sm_ldst_has_room(const struct sm *sm) {
    return sm->queue_length < SM_LDST_QUEUE && sm->n_free_requests >= EXEC_LANES;
}
void sm_ldst_issue(struct sm *sm, uint32_t slot, const struct divergence_bundle *bundle, uint64_t cycle);
void sm_ldst_tick(struct sm *sm, uint64_t cycle);
/* Ends the accesses that memory has answered. This is not part of sm_memory_done(), during which memory takes no
 * requests. */
void sm_ldst_collect(struct sm *sm, uint64_t cycle);
void sm_request_release(struct sm *sm, struct sm_request *request);
/* Returns the lanes of a request whose data has not arrived. */
uint32_t sm_ldst_missing(const struct sm_request *request);

/* copies.c: asynchronous copies */
void sm_copies_begin(struct sm *sm); /* a grid */
void sm_copies_end(struct sm *sm);
/* Sets up the request for the bundle's copies, which have executed. Returns the lanes that access global memory, or 0
 * if there are none and the request is not used. */
uint32_t sm_copies_issue(struct sm *sm, const struct divergence_bundle *bundle, struct sm_request *request,
                         uint64_t cycle);
/* Handles an executed instruction that waits for copies or ties them. */
void sm_copies_follow(struct sm *sm, uint32_t slot, const struct divergence_bundle *bundle, uint64_t cycle);
/* Handles the arrival of the request's lines. Returns false if the request continues with others. */
bool sm_copies_finish(struct sm *sm, struct sm_request *request, uint64_t cycle);
/* Returns the request of the first bulk copy in the queue. pop() removes it. */
uint32_t sm_copies_first(const struct sm *sm);
void sm_copies_pop(struct sm *sm);
/* Forgets the waits of a group that has left the slot. */
void sm_copies_forget(struct sm *sm, uint32_t slot);
