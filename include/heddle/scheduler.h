/* Warp schedulers: which warp issues next. A scheduler sees slots (each holds a warp, or another group of the
 * divergence model) through a small read-only view and returns a slot. docs/write-a-scheduler.md and docs/plug-ins.md
 * show how to write one. */
#pragma once

#include "heddle/policy.h"

struct config_machine; /* defined only inside Heddle */

/* ---- Sets of slots: one or two machine instructions replace a loop over warps ------------------------------------ */

enum { SCHED_MAX_SLOTS = 128, SCHED_WORDS = SCHED_MAX_SLOTS / 64, SCHED_NONE = -1 };

struct sched_set {
    uint64_t word[SCHED_WORDS];
};

static inline bool sched_has(const struct sched_set *set, uint32_t slot) {
    return set->word[slot / 64] >> slot % 64 & 1;
}

static inline void sched_add(struct sched_set *set, uint32_t slot) { set->word[slot / 64] |= 1ull << slot % 64; }

static inline void sched_remove(struct sched_set *set, uint32_t slot) { set->word[slot / 64] &= ~(1ull << slot % 64); }

/* Adds or removes the slot. */
static inline void sched_put(struct sched_set *set, uint32_t slot, bool is_member) {
    sched_remove(set, slot);
    set->word[slot / 64] |= (uint64_t)is_member << slot % 64;
}

static inline bool sched_is_empty(const struct sched_set *set) { return (set->word[0] | set->word[1]) == 0; }

static inline uint32_t sched_count(const struct sched_set *set) {
    return (uint32_t)(__builtin_popcountll(set->word[0]) + __builtin_popcountll(set->word[1]));
}

static inline struct sched_set sched_and(const struct sched_set *a, const struct sched_set *b) {
    return (struct sched_set){{a->word[0] & b->word[0], a->word[1] & b->word[1]}};
}

static inline struct sched_set sched_and_not(const struct sched_set *a, const struct sched_set *b) {
    return (struct sched_set){{a->word[0] & ~b->word[0], a->word[1] & ~b->word[1]}};
}

static inline bool sched_intersect(const struct sched_set *a, const struct sched_set *b) {
    struct sched_set both = sched_and(a, b);
    return !sched_is_empty(&both);
}

/* Returns the lowest member, or SCHED_NONE. */
static inline int sched_first(const struct sched_set *set) {
    if (set->word[0])
        return __builtin_ctzll(set->word[0]);
    return set->word[1] ? 64 + __builtin_ctzll(set->word[1]) : SCHED_NONE;
}

/* Returns the first member at or after slot `from`, wrapping around, or SCHED_NONE. `from` may be SCHED_MAX_SLOTS. */
static inline int sched_next(const struct sched_set *set, uint32_t from) {
    if (from < SCHED_MAX_SLOTS) {
        struct sched_set rest = {{0, set->word[1]}};
        if (from < 64)
            rest.word[0] = set->word[0] & ~0ull << from;
        else
            rest.word[1] &= ~0ull << from % 64;
        int slot = sched_first(&rest);
        if (slot != SCHED_NONE)
            return slot;
    }
    return sched_first(set);
}

_Static_assert(SCHED_WORDS == 2, "the functions above name both words");

/* ---- What a scheduler is ----------------------------------------------------------------------------------------- */

/* What a scheduler may know of a slot. The SM keeps it up to date. */
struct sched_slot {
    uint64_t age;      /* order of arrival on the SM: smaller is older */
    uint32_t pc;       /* of the next instruction */
    uint32_t warp_id;  /* number among the warps of this scheduler, below SCHED_MAX_SLOTS; decides fetch groups and id
                        * order. Splits of one warp may have the same number. */
    uint32_t block;    /* block slot on the SM, below SCHED_MAX_SLOTS */
    uint32_t progress; /* last value of the progress instruction, 0 before it */
    uint32_t active_lanes; /* of the next instruction */
    uint32_t passed;       /* number of post-dominators that the group has passed */
};

/* Properties with one bit per slot are sets, so that a policy narrows its candidates with one AND. Only bits of
 * occupied slots are valid. */
struct sched_view {
    const struct sched_slot *slot;
    const struct sched_set *occupied;   /* slots that hold a live group */
    const struct sched_set *ready;      /* may issue this cycle */
    const struct sched_set *next_long;  /* the next instruction is a load or store to global, local or texture space */
    const struct sched_set *next_load;  /* ... a load of those spaces */
    const struct sched_set *waits_long; /* blocked by the result of a global, local or texture access */
    /* Waits at a barrier or fence or for an atomic, has not started yet, or waits for other groups in any other way.
     * Every wait that only another group's progress can end must be here: strict policies skip these slots and would
     * otherwise wait for ever. */
    const struct sched_set *pending;
    uint32_t n_slots;
    uint64_t cycle;
    uint32_t n_schedulers;          /* of the SM: slot s belongs to scheduler s % n_schedulers */
    uint32_t n_blocks, most_blocks; /* blocks on the SM now; as many as fit */
    /* Each is NULL unless the policy names it in `wants`. */
    const struct sched_account *account;   /* per slot */
    const struct sched_block *block;       /* by sched_slot.block */
    const struct sched_set *at_barrier;    /* waits for other groups, at a barrier or a join, and not for memory */
    const struct sched_pressure *pressure; /* on memory */
    const struct sched_kernel *kernel;
};

/* ---- The wider view: only for policies that ask for it ----------------------------------------------------------- */

/* The parts of the view that a policy names in sched_ops.wants. The SM spends no time on the others. */
enum sched_wants {
    SCHED_WANTS_ACCOUNTS = 1 << 0, /* view->account, view->block, view->at_barrier */
    SCHED_WANTS_PRESSURE = 1 << 1, /* view->pressure, except the fields of DRAM */
    SCHED_WANTS_DRAM = 1 << 2,     /* view->pressure with these fields; costs host time, because no SM then runs ahead
                                    * of the others */
    SCHED_WANTS_KERNEL = 1 << 3,   /* view->kernel */
};

/* The time of a group since it arrived in its slot. */
struct sched_account {
    uint64_t instructions;   /* issued */
    uint64_t stall_cycles;   /* between its instructions, and from its arrival to the first */
    uint64_t memory_cycles;  /* of these: waits for the result of a long operation */
    uint64_t barrier_cycles; /* of these: waits for other groups */
};

/* A block on the SM, since it started. The counts include those of groups that have left. */
struct sched_block {
    struct sched_set slots; /* that hold its groups; with view->at_barrier: which of them have arrived at a barrier */
    uint64_t number;        /* in the grid */
    uint64_t start_cycle;
    uint64_t instructions, stall_cycles;
};

/* How full memory is. An SM knows only what has reached it: the fields of DRAM are those of the last boundary of a
 * quantum, so they do not depend on the number of host threads. */
struct sched_pressure {
    uint32_t mshrs_used, n_mshrs; /* lines that the L1 waits for */
    uint32_t queue_used, n_queue; /* memory instructions that wait for the L1 */
    uint32_t credits_left;        /* stores, atomics and uncached reads that the SM may still send */
    bool is_refused;           /* the first access of the queue needs an MSHR, a buffer or a credit, and none is free */
    uint32_t n_channels;       /* of DRAM */
    uint32_t dram_waiting;     /* requests that wait for a channel, of all SMs */
    uint64_t dram_busy_cycles; /* in which the channels' buses were busy, all added up, since the start */
    uint64_t dram_cycle;       /* in which these were read */
};

enum { SCHED_MOST_ASIDE = 64 };

#define SCHED_NO_LOOP UINT32_MAX
#define SCHED_NEVER_LONG UINT32_MAX

/* Static facts of an instruction. */
struct sched_insn {
    uint32_t loop;    /* the innermost loop around it: an index of sched_kernel.loop, or SCHED_NO_LOOP */
    uint32_t to_long; /* instructions to the nearest long operation on any path, 0: it is one; or SCHED_NEVER_LONG */
    bool is_long, is_load, is_store, is_branch;
    /* A conditional branch: its target, and the instructions that a group executes until both sides meet, if it takes
     * the branch and if it does not. Backwards: those of the loop, and 0. Other instructions: 0. */
    uint32_t target, taken_path, other_path;
};

/* A natural loop of a function. Outer loops come before the loops inside them. */
struct sched_loop {
    uint32_t head_pc;       /* its first instruction, which every iteration executes */
    uint32_t parent, depth; /* the loop around it, or SCHED_NO_LOOP; 1: an outermost loop */
    uint32_t n_loads;       /* instructions in it and its inner loops that load from global, local or texture space */
};

/* Static facts of the running kernel, and of its launch on this SM. */
struct sched_kernel {
    const struct sched_insn *insn; /* per pc */
    uint32_t n_insns, n_loops;
    const struct sched_loop *loop;
    uint32_t threads_per_block, warp_size;
    uint32_t sm, n_sms;                        /* number of this SM, and of all */
    uint64_t n_blocks;                         /* of the grid */
    uint32_t l1_lines, l1_ways, l1_line_bytes; /* l1_lines 0: no L1, or one that always hits */
};

enum sched_l1_kind {
    SCHED_L1_HIT,
    SCHED_L1_MISS,    /* the line is not there; another access may already have asked for it */
    SCHED_L1_FILL,    /* the line arrives */
    SCHED_L1_EVICTION /* the line leaves because another one needs its place */
};

/* An event of the L1 data cache. Accesses that bypass it cause none. */
struct sched_l1_event {
    enum sched_l1_kind kind;
    uint32_t slot; /* hit, miss: of the group that accesses the line; fill, eviction: of the group whose miss brought
                    * it, even if that group has left since */
    uint32_t pc;   /* of that access */
    bool is_store;
    uint64_t line;    /* its address */
    uint32_t n_lines; /* hit, miss: that the access touches, each with an event */
};

/* The blocks of the grid that have not started, and how those that have are spread over the chip. */
struct sched_blocks_left {
    const uint64_t *started; /* a bit for each block of the grid */
    uint64_t n_blocks;       /* of the grid */
    uint64_t first;          /* the lowest that has not started */
    uint32_t sm, n_sms;      /* the SM that has room, and the number of all */
    const uint64_t *n_on_sm; /* by SM: the blocks that have started there, with those that have ended */
};
#define SCHED_NO_BLOCK UINT64_MAX

/* In a shared object hooks other than pick may be NULL and then do nothing. In Heddle itself only those after issued()
 * may. Hooks see an up-to-date view. A scheduler sees only its own slots, unless has_one_state. If an SM has several
 * schedulers, each has its own state. Hooks other than start never allocate, and depend only on their arguments, so
 * that equal calls lead to equal picks. */
struct sched_ops {
    const char *name, *help;
    const struct config_plugin_option *option; /* ends with a NULL name; may be NULL */
    const struct config_preset *preset;        /* as option */
    size_t options_bytes, state_bytes;
    bool is_strict; /* pick may return SCHED_NONE despite candidates */
    /* `state` is zeroed, `options` are complete. Called before cycle 0 for each scheduler of each SM. */
    void (*start)(void *state, const void *options, uint32_t n_slots);
    /* A slot gets a new group / its group has finished. A group may arrive pending; wake() follows when it no longer
     * is. */
    void (*arrive)(void *state, const struct sched_view *view, uint32_t slot);
    void (*leave)(void *state, const struct sched_view *view, uint32_t slot);
    /* The group in the slot starts to wait / no longer waits. It waits for a long-latency result if is_long, for other
     * groups or a fence if it is pending, otherwise for a short result or its next instruction. When one kind of wait
     * becomes another, stall() is called again. A group whose unit is busy does not wait; it is only not a
     * candidate. */
    void (*stall)(void *state, const struct sched_view *view, uint32_t slot, bool is_long);
    void (*wake)(void *state, const struct sched_view *view, uint32_t slot);
    /* Returns one of `candidates` (a subset of ready, never empty), or SCHED_NONE to leave the issue slot empty (strict
     * policies). */
    int (*pick)(void *state, const struct sched_view *view, const struct sched_set *candidates);
    /* The picked slot has issued. Its stall(), if it must wait now, or its leave() follows. */
    void (*issued)(void *state, const struct sched_view *view, uint32_t slot);
    /* Returns the storage that the policy adds to an SM, in bits, as its paper counts it, with the formula in words.
     * May be NULL if no paper counts it. */
    uint64_t (*cost_bits)(const void *options, const struct config_machine *machine, char *formula, size_t size);

    /* The same for a policy outside Heddle, which cannot look at the machine: bits for each warp, and other bits of an
     * SM. Used if cost_bits is NULL. Both 0: not counted. */
    uint32_t warp_bits, sm_bits;

    /* What follows may be 0 or NULL, and then costs nothing. */
    uint32_t wants; /* enum sched_wants */
    /* All schedulers of an SM have one state, and hooks are called for all slots. Candidates of one pick still belong
     * to one scheduler. */
    bool has_one_state;
    /* The L1 has answered or changed. Called in the order in which this happens. */
    void (*l1)(void *state, const struct sched_view *view, const struct sched_l1_event *event);
    /* Adds slots to `held`, which is empty: their loads and stores to global, local and texture space, and atomics, do
     * not issue now. Other instructions of these slots may. Called before each pick. Every hold must end, as long as
     * other groups run. */
    void (*hold)(void *state, const struct sched_view *view, struct sched_set *held);
    /* Returns how many blocks may be on the SM. Called in each cycle in which the SM is awake, for the first scheduler.
     * Values below 1 or above view->most_blocks count as these. Blocks that run are never stopped. */
    uint32_t (*blocks)(void *state, const struct sched_view *view);
    /* Returns the number of a block that has not started, which then starts on this SM, or SCHED_NO_BLOCK to leave the
     * blocks to other SMs. The SM is asked again when one of its blocks ends, or when blocks() allows more. All blocks
     * must start on some SM. NULL: the first of them. Called for the first scheduler. SMs are asked one after the
     * other, in the order of cycles, so that the answers decide which block runs on which SM of the chip. */
    uint64_t (*choose_block)(void *state, const struct sched_view *view, const struct sched_blocks_left *left);
    /* Returns how many loads that the L1 has refused may wait aside, at most SCHED_MOST_ASIDE, so that the accesses
     * after them reach the L1. They are tried again, in their order, when no access waits in the load/store queue or no
     * more loads may wait aside. Called when the L1 refuses a load because an MSHR or a buffer is missing. */
    uint32_t (*most_aside)(void *state, const struct sched_view *view);
    /* Returns whether the group in the slot is critical, for an L1 that protects lines of critical groups
     * (cacp.present). Such an L1 needs a scheduler with this hook. Called for each line that the group accesses. */
    bool (*is_critical)(void *state, const struct sched_view *view, uint32_t slot);
};

/* ---- An order of slots ------------------------------------------------------------------------------------------- */

/* Slots ordered by a key, the smallest first, equal keys by slot number. The order is kept in a matrix, as hardware
 * keeps ages: for every slot the set of slots before it. Finding the first of any set takes a few ANDs. No list is
 * sorted or walked. All zero: empty. */
struct sched_order {
    struct sched_set known;
    struct sched_set before[SCHED_MAX_SLOTS];
    uint64_t key[SCHED_MAX_SLOTS];
};

static inline void sched_order_add(struct sched_order *order, uint32_t slot, uint64_t key) {
    order->key[slot] = key;
    order->before[slot] = (struct sched_set){0};
    struct sched_set others = order->known;
    for (int other; (other = sched_first(&others)) != SCHED_NONE; sched_remove(&others, (uint32_t)other)) {
        bool is_before = order->key[other] != key ? order->key[other] < key : (uint32_t)other < slot;
        if (is_before)
            sched_add(&order->before[slot], (uint32_t)other);
        else
            sched_add(&order->before[other], slot);
    }
    sched_add(&order->known, slot);
}

static inline void sched_order_remove(struct sched_order *order, uint32_t slot) {
    sched_remove(&order->known, slot);
    struct sched_set others = order->known;
    for (int other; (other = sched_first(&others)) != SCHED_NONE; sched_remove(&others, (uint32_t)other))
        sched_remove(&order->before[other], slot);
}

/* Returns the first of `among` (known slots), or SCHED_NONE. Each step moves to an earlier slot. Slots mostly fill in
 * order, so one or two steps suffice. */
static inline int sched_order_first(const struct sched_order *order, const struct sched_set *among) {
    int slot = sched_first(among);
    while (slot != SCHED_NONE) {
        struct sched_set before = sched_and(among, &order->before[slot]);
        int earlier = sched_first(&before);
        if (earlier == SCHED_NONE)
            break;
        slot = earlier;
    }
    return slot;
}

/* Returns the slot with the smallest key, and among equal ones the oldest. For keys that change with every instruction,
 * for which sched_order would be too slow. */
static inline int sched_least(const struct sched_view *view, const struct sched_set *among,
                              uint32_t (*key)(const struct sched_slot *slot)) {
    struct sched_set left = *among;
    int least = SCHED_NONE;
    for (int slot; (slot = sched_first(&left)) != SCHED_NONE; sched_remove(&left, (uint32_t)slot)) {
        const struct sched_slot *one = &view->slot[slot], *best = &view->slot[least == SCHED_NONE ? slot : least];
        bool is_less = key(one) != key(best) ? key(one) < key(best) : one->age < best->age;
        if (least == SCHED_NONE || is_less)
            least = slot;
    }
    return least;
}

/* ---- In a shared object ------------------------------------------------------------------------------------------ */

#define SCHED_LAYOUT                                                                                                   \
    ((sizeof(struct sched_account) + sizeof(struct sched_block) + sizeof(struct sched_pressure) +                      \
      sizeof(struct sched_kernel) + sizeof(struct sched_insn) + sizeof(struct sched_loop) +                            \
      sizeof(struct sched_l1_event) + sizeof(struct sched_blocks_left))                                                \
         << 48 |                                                                                                       \
     sizeof(struct sched_ops) << 32 | sizeof(struct sched_view) << 20 | sizeof(struct sched_slot) << 10 |              \
     sizeof(struct sched_set))
/* HEDDLE_SCHEDULER(mine): `const struct sched_ops mine` is the scheduler of this shared object. */
#define HEDDLE_SCHEDULER(ops) HEDDLE_PLUGIN_DEFINE(HEDDLE_PLUGIN_SCHEDULER, SCHED_LAYOUT, &(ops))
