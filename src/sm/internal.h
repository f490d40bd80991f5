/* Inside sm: the multiprocessor's state. */
#pragma once

#include "divergence/control.h"
#include "sm/sm.h"

enum {
    SM_WHEEL = 1024,   /* cycles that a wake-up can lie ahead; later ones are looked
                          at again */
    SM_LDST_QUEUE = 8, /* accesses that wait for the L1 */
    SM_INSTRUCTION_BYTES = 8,
    SM_MAX_SCHEDULERS = 4,
    SM_SPIN_AFTER =
        20000, /* control instructions in diverged state, in a loop of SM_SPIN_LOOP instructions: it spins */
    SM_SPIN_LOOP = 64,
    SM_FETCH_TOKEN = 0x80000000u, /* token of an instruction fetch: this and the slot */
};

enum sm_state {
    SM_SLOT_FREE,
    SM_SLOT_READY,
    SM_SLOT_MEMORY,
    SM_SLOT_DEPENDENCY,
    SM_SLOT_FETCH,
    SM_SLOT_BARRIER,
    SM_N_STATES
};

/* A group's place on the SM. */
struct sm_slot {
    struct exec_row *row;
    struct divergence_stack *stack;
    uint32_t cta;                   /* place in sm->cta */
    uint32_t pc, mask;              /* the next instruction */
    uint64_t fetch_ready;           /* not before this cycle */
    uint64_t *register_ready;       /* scoreboard; SM_NEVER while a load is under way */
    uint64_t wake;                  /* on the wheel until then */
    uint8_t unit;                   /* of the next instruction */
    uint32_t fetch_line;            /* of the last instruction */
    uint32_t n_accesses;            /* memory instructions that have not ended */
    uint64_t age;                   /* which group this is: a request may outlive the one that made it */
    uint32_t n_diverged;            /* control instructions since all lanes last ran together, */
    uint32_t lowest_pc, highest_pc; /* and the code they were in */
    enum sm_state state;
    bool is_refused; /* the I-cache took no request: asks again */
    bool is_stalled; /* its scheduler has been told */
};

/* A memory instruction on its way through the L1. */
struct sm_request {
    struct mem_transaction transaction[MEM_MAX_TRANSACTIONS];
    uint32_t n_transactions, next, n_outstanding;
    uint64_t ready;
    uint32_t slot, pc;
    uint64_t age; /* of the group that asked */
    enum mem_kind kind;
    bool is_used;
};

struct sm_resident {
    struct exec_cta *cta;
    struct divergence_stack *stack;
    uint32_t *slot_of; /* per row */
    bool is_busy;
};

struct sm {
    const struct config_machine *machine;
    const struct sched_ops *policy;
    const void *policy_options;
    struct mem *mem;
    uint32_t index;
    const struct exec_grid *grid;
    const struct sm_program *program;
    struct exec_context cx;
    struct sm_counters counters;

    uint32_t n_slots, n_schedulers;
    bool has_icache;     /* one that can miss */
    uint32_t line_shift; /* from a pc to its line there */
    struct sm_slot *slot;
    struct sched_slot *view_slot;
    struct sched_set occupied, ready, next_long, next_load, waits_long, pending; /* what the schedulers see */
    struct sched_set of_scheduler[SM_MAX_SCHEDULERS];
    struct sched_set of_unit[SM_N_UNITS]; /* slots by their next instruction's unit */
    struct sched_view view;               /* the sets above, by address */
    uint32_t n_words;                     /* of a set that are in use */
    void *policy_state[SM_MAX_SCHEDULERS];
    uint64_t unit_free[SM_N_UNITS][SM_MAX_SCHEDULERS]; /* ALU: one per scheduler; the others
                                                          share entry 0 */
    uint32_t n_in_state[SM_N_STATES];
    uint64_t n_arrived;

    struct sched_set *wheel; /* SM_WHEEL sets of slots to wake */
    uint64_t wheel_used[SM_WHEEL / 64];

    struct sm_request *request;
    uint32_t n_requests;
    uint32_t queue[SM_LDST_QUEUE], queue_head, queue_length;

    struct sm_resident *resident;
    uint32_t max_residents, n_residents, n_finished;
    uint64_t *register_memory;

    uint64_t last_cycle; /* the last one accounted */
    enum sm_stall sleeps_for;
    uint64_t fault_pc;
    struct exec_row *fault_row;
};

/* issue.c */
void sm_prepare(struct sm *sm, uint32_t slot, uint64_t cycle); /* finds the group's next instruction and when
                                                                  it may issue */
void sm_set_state(struct sm *sm, uint32_t slot, enum sm_state state);
/* sm.c */
void sm_finish_slot(struct sm *sm, uint32_t slot);
/* ldst.c */
bool sm_ldst_has_room(const struct sm *sm);
void sm_ldst_issue(struct sm *sm, uint32_t slot, uint32_t pc, uint32_t mask, uint64_t cycle);
void sm_ldst_tick(struct sm *sm, uint64_t cycle);
