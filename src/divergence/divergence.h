/* Divergence models: which threads execute together. Each model is a file that ends in its operations table, and a line
 * in models.def.
 *
 * A thread's registers are in a lane of a row (exec.h), wherever it executes. A model forms groups of threads that have
 * the same next instruction. A group sits in a slot of an SM, where a warp scheduler picks it. The SM knows slots,
 * units and results in flight, but not how groups are formed. A model knows threads, masks and program counters, but
 * not units. This file is the whole interface between them.
 *
 * The life of a group: the model makes it (admit) and puts it into a slot (host->place). The SM issues its instructions
 * one after the other. It advances pc itself and calls the model only at control instructions (control), when pc
 * reaches notify_pc (reached), and when a group that drains has no results left in flight (resume). In these calls the
 * model may change the group's pc, mask and status. In control() it asks parts/resolve.h where the threads go.
 *
 * A group is re-formed, split by pc or joined with another only when nothing of it is in flight. In between, its
 * scoreboard belongs to exactly these threads. */
#pragma once

#include "config/machine.h"
#include "config/plugin.h"
#include "exec/cta.h"
#include "exec/scattered.h"
#include "stats/counters.h"

enum { DIVERGENCE_NO_SLOT = -1, DIVERGENCE_NO_BARRIER = -1 };
#define DIVERGENCE_NO_WARP UINT32_MAX

enum divergence_status {
    DIVERGENCE_RUNS,   /* its next instruction is at pc */
    DIVERGENCE_WAITS,  /* for other groups: at a barrier, at a join. The model calls host->wake when it may continue. */
    DIVERGENCE_DRAINS, /* will be re-formed: the SM calls resume() when nothing of it is in flight */
    DIVERGENCE_ENDED,  /* leaves its slot, and the SM forgets it */
};

/* A group as the SM sees it: the first member of a model's own group structs. The model owns the memory. */
struct divergence_group {
    uint32_t pc;        /* its next instruction */
    uint32_t notify_pc; /* the SM calls reached() when pc gets here; EXEC_NO_PC: never; pc + 1: every time */
    /* The group's threads are the lanes `mask` of this row or, if it is NULL, of `threads`. Both NULL: the SM asks
     * bundle() for the threads. */
    struct exec_row *row;
    struct exec_threads *threads;
    uint32_t mask;      /* never 0 while the group runs */
    uint32_t n_threads; /* without a row: threads in the group, for schedulers */
    /* For fetch groups and id order; less than the number of slots. Splits of one warp have the same number.
     * DIVERGENCE_NO_WARP before place(): the SM numbers the group by its slot. */
    uint32_t warp_id;
    uint32_t passed; /* post-dominators passed; the SM counts them for the scheduler pdprio */
    int slot;        /* set by the SM; DIVERGENCE_NO_SLOT: none. The model sets that once, when it makes the group. */
    uint8_t status;  /* enum divergence_status */
    /* Bundles of the next instruction may issue while some of this one are in flight. The model holds busy threads back
     * (lwm with refetch=first). Returns, exits, indirect calls and barriers wait in any case. */
    bool overlaps : 1;
    bool is_blocked : 1;           /* all threads left for this instruction are busy: wait until an access ends */
    uint8_t n_arrived;             /* paths that waited at this pc for the last one; the SM sets it back to 0 */
    uint8_t kind;                  /* for a model with several kinds of groups: which one this is; otherwise 0 */
    struct divergence_block *home; /* its block, for schedulers; any of its blocks if it has threads of several */
    uint64_t ready_cycle;          /* it does not issue before this cycle; 0: no bound */
};
_Static_assert(sizeof(struct divergence_group) <= 64, "a group is a cache line at most");

/* A group with a row executes there, unless its threads carry registers. */
static inline bool divergence_is_in_row(const struct divergence_group *group) {
    return group->row && !(group->threads && group->threads->carried & group->mask);
}

/* The threads that enter the SIMD pipeline at once: at most one per lane. */
struct divergence_bundle {
    uint32_t pc;
    uint32_t mask;        /* lanes that execute, the guard applied; may be 0 */
    struct exec_row *row; /* the lanes are of this row; NULL: of cx->threads */
    uint32_t tag;         /* passed to answered() and complete() */
    /* With lane_pcs(): before bundle(), the group's lanes that may execute; after it, those that do, whatever their
     * guards. */
    uint32_t ready;
    /* The last bundle of the instruction: control() follows, or pc advances. Otherwise the scheduler's next turn goes
     * to the group's next bundle. */
    bool is_last;
    /* (mimd) Another bundle issues in the same cycle, and counts as one with it. Each is a whole instruction: control()
     * is called for control instructions; pc does not change, and reached() is called after the last of them. */
    bool shares_issue;
};

/* A block on its SM; cta->owner points back to it. */
struct divergence_block {
    struct exec_cta *cta;
    void *state;          /* from the model's new_block() */
    uint32_t slot;        /* its number among the SM's blocks, for schedulers */
    uint64_t first_cycle; /* from which on its threads may execute */
};

/* The lanes of one memory instruction, or of one bundle of it, after the L1 has answered for all its lines. */
struct divergence_access {
    uint32_t pc;
    struct exec_row *row; /* NULL: scattered */
    uint32_t tag;
    uint32_t hit, missing; /* lanes of the bundle: hit have their data at `ready`, missing still wait */
    uint64_t ready;
    bool is_awaited;   /* the group waits for it: a load, and on machines without a scoreboard a store too */
    uint32_t n_others; /* other accesses of the group in flight */
};

/* Functions of the SM for models that split a group by the hits and misses of an access (dws, slip). */
struct divergence_split_host {
    /* `from` waits for an access that has answered some of its lanes. Those lanes form `to` (the model has changed both
     * masks), which gets a free slot and a copy of the scoreboard in which that access has ended. Returns false, and
     * does nothing, if no slot is free. */
    bool (*split)(void *sm, struct divergence_group *from, struct divergence_group *to, uint64_t cycle);
    /* Returns the cycle from which lanes may continue that have their data of the group's only access; 0: there is not
     * exactly one access. For lanes that leave the group without a slot of their own. */
    uint64_t (*answered_from)(void *sm, const struct divergence_group *group);
    /* Returns the lanes that do not wait for the group's only access in flight; 0: there is not exactly one. */
    uint32_t (*arrived)(void *sm, const struct divergence_group *group);
    /* The same, as of the cycle in which the L1 answered: without lanes whose lines have arrived since. */
    uint32_t (*hit)(void *sm, const struct divergence_group *group);
    /* Returns whether every other group in a slot waits for memory or for other groups, so that without this one the SM
     * would idle. */
    bool (*others_wait)(void *sm, const struct divergence_group *group);
    /* (subwarp) Returns the cycle in which lanes of the group's row, whose next instruction is at pc, have the data
     * from memory that it needs. 0: it needs none; UINT64_MAX: not known yet. */
    uint64_t (*data_ready)(void *sm, const struct divergence_group *group, uint32_t pc, uint32_t mask);
    /* (subwarp) Counts the other groups in slots, and those of them that wait for memory. */
    void (*count_others)(void *sm, const struct divergence_group *group, uint32_t *others, uint32_t *waiting);
    /* Returns the cycles so far in which the SM issued, and in which it waited for memory. */
    void (*activity)(void *sm, uint64_t *active, uint64_t *waiting);
};

/* Functions of the SM for models with state for the whole chip (odgs). */
struct divergence_chip_host {
    /* Calls refill() in that cycle. The SM keeps only the earliest request; refill() asks again for a later one. */
    void (*call_at)(void *sm, uint64_t cycle);
    /* Starts the grid's next block on this SM (admit() is called before it returns). Returns false if no block is left,
     * or there is no room. */
    bool (*pull_block)(void *sm, uint64_t cycle);
    /* place() for a group that may not issue before the cycle `first`, such as that of a new block. */
    bool (*place_at)(void *sm, struct divergence_group *group, uint64_t first, uint64_t cycle);
};

/* Functions of the SM for every model. `sm` is the handle from the setup. */
struct divergence_host {
    /* Puts a group into a free slot, where it may issue from the next cycle on. Returns false if no slot is free. */
    bool (*place)(void *sm, struct divergence_group *group, uint64_t cycle);
    /* The model has changed a group in a slot (pc, mask, status) outside the hooks that are called for it. */
    void (*wake)(void *sm, struct divergence_group *group, uint64_t cycle);
    /* Takes a group out of its slot, if it has one. Nothing of it but stores may be in flight. Not for the group whose
     * hook is running, which sets ENDED instead. The SM does not call refill() for it. */
    void (*evict)(void *sm, struct divergence_group *group, uint64_t cycle);
    /* Returns true if results of this group are in flight: it cannot be joined or re-formed now. False without a
     * slot. */
    bool (*is_in_flight)(void *sm, const struct divergence_group *group, uint64_t cycle);
    uint32_t (*free_slots)(const void *sm);
    /* The last thread of the block has ended. */
    void (*block_ended)(void *sm, struct divergence_block *block);
    const struct divergence_split_host *splits;
    const struct divergence_chip_host *chip;
};

struct divergence_setup {
    const struct config_machine *machine;
    const void *options;
    void *chip; /* state shared by all SMs, from chip->new_chip(); NULL: none */
    uint32_t sm_index, n_slots;
    const struct divergence_host *host;
    void *sm;                /* for the host's functions */
    struct exec_context *cx; /* the SM's; its grid changes with each launch */
    struct stats_divergence *counters;
};

/* For models that move threads between SMs (odgs): state that all SMs share. Such a model starts blocks itself
 * (host->chip->pull_block); the dispatcher does not. */
struct divergence_chip_ops {
    void *(*new_chip)(const void *options, const struct config_machine *machine);
    void (*free_chip)(void *chip);
};

/* For models that follow memory accesses (lwm, dws, slip). Every hook may be NULL. */
struct divergence_memory_ops {
    /* The L1 has answered for every line of a memory instruction. */
    void (*answered)(void *model, struct divergence_group *group, const struct divergence_access *access,
                     uint64_t cycle);
    /* An access of the group has ended: all its lines have arrived. */
    void (*complete)(void *model, struct divergence_group *group, uint32_t tag, uint64_t cycle);
    /* Nothing could issue in this cycle, and every group waits for memory or for other groups. */
    void (*idle)(void *model, uint64_t cycle);
    /* (subwarp) With tracks_lanes: the group's next instruction waits for data from memory, at least for the next
     * cycle. Returns true if other lanes of its row run instead: then the hook has changed the group. */
    bool (*stalls)(void *model, struct divergence_group *group, uint64_t cycle);
    /* (vws) With tracks_lanes: the lanes of an access that hit have their data before the others. */
    bool serves_hits;
};

/* For models that issue several instructions, or several groups, in one cycle. Every hook may be NULL. */
struct divergence_joint_ops {
    /* (mimd) Every lane fetches its own instruction. Returns the next pc of each lane that has one, and sets *mask to
     * these lanes. On a machine with scoreboards each lane then has its own. */
    const uint32_t *(*lane_pcs)(void *model, const struct divergence_group *group, uint32_t *mask);
    /* (dws:merge=dwf) For groups with a row. leads(): the group has been picked; returns true if others at its pc may
     * issue with it, in the same cycle and as parts of one instruction. follows(): called for each such group that is
     * ready under the same scheduler, after those before it have issued; returns true if it issues too. For its own
     * group and slot each part is a whole instruction. */
    bool (*leads)(void *model, const struct divergence_group *group);
    bool (*follows)(void *model, const struct divergence_group *group);
    /* (interweave, vws) Instead of follows(), for groups at any pc. `ready` are n groups that are ready under the same
     * scheduler, in the order of their slots, and whose unit takes an instruction or has just taken one of those that
     * issue in this cycle. Returns the place of the one that issues next, with an instruction of its own, or -1. Called
     * until then. */
    int (*next)(void *model, struct divergence_group *const *ready, uint32_t n);
};

/* Hooks marked "may be NULL" are optional. No hook allocates, except new_model, new_block, and pools that grow. Equal
 * calls have equal effects. After a hook that set cx->fault the launch ends. */
struct divergence_ops {
    const char *name, *help;
    const struct config_plugin_option *option; /* ends with a NULL name; may be NULL */
    const struct config_preset *preset;        /* as option */
    size_t options_bytes;
    /* Lanes of one row may be in different groups: warp-wide instructions (EXEC_KIND_WARP) go to control() too, where
     * divergence_sync (sync.h) brings the lanes together. */
    bool splits_rows;
    /* With splits_rows: the model has gathered the lanes that a memory access of a whole row needs before the group is
     * at the access (notify_pc), so such accesses (EXEC_KIND_WARP_MEMORY) do not go to control(). */
    bool gathers_rows;
    /* The SM tracks the results in flight of each lane of a row, in whatever group it is. So the model may split and
     * join groups at any time, and take a group out of its slot. Its groups have rows. */
    bool tracks_lanes;

    /* Blocks of several grids may be on the SM at once: the model forms no groups of threads of several blocks, keeps
     * nothing that spans blocks, and looks at cx->grid whenever it needs the program. Then begin_grid() and refill()
     * are NULL. */
    bool shares_sms;

    /* Returns NULL, or why this combination of options, machine and program cannot run: one sentence, static or in
     * `text`. program is NULL if none is loaded yet. May be NULL. */
    const char *(*refuses)(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size);
    /* Returns NULL, or a remark for users who launch this program in blocks of n_threads: one sentence, static or in
     * `text`. Shown once for a kernel. May be NULL. */
    const char *(*remarks)(const void *options, const struct exec_program *program, uint32_t n_threads, char *text,
                           size_t size);
    /* Slots that an SM with n_warps warps needs, at most most_slots. NULL: n_warps. */
    uint32_t (*n_slots)(const void *options, const struct config_machine *machine, uint32_t n_warps,
                        uint32_t most_slots);
    void *(*new_model)(const struct divergence_setup *setup);
    void (*free_model)(void *model);
    /* A grid begins: cx->grid is set, and no block is on the SM. May be NULL. */
    void (*begin_grid)(void *model);
    /* Returns the state for a block's place on the SM, which one block after the other uses. May be NULL. */
    void *(*new_block)(void *model, const struct exec_cta *cta);
    void (*free_block)(void *model, void *state);
    /* A block begins: forms its groups and places them. There is a slot for every `warp_size` threads. */
    void (*admit)(void *model, struct divergence_block *block, uint64_t cycle);
    /* For groups without a row and threads: fills in the next bundle of the instruction at group->pc. bundle->pc is
     * set, the rest is 0. NULL: there are no such groups. */
    void (*bundle)(void *model, struct divergence_group *group, struct divergence_bundle *bundle, uint64_t cycle);
    /* Executes the control instruction at pc (a kind above EXEC_KIND_WARP; with splits_rows that kind too). `mask`:
     * with a row the lanes whose guard is true, may be 0; otherwise that of the last bundle. group->pc is still pc. */
    void (*control)(void *model, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle);
    void (*reached)(void *model, struct divergence_group *group, uint64_t cycle);
    /* All blocks of the block's cluster have arrived at its barrier (cta->is_released): the threads that wait for it
     * continue. NULL: the model runs no clusters of several blocks. */
    void (*release)(void *model, struct divergence_block *block, uint64_t cycle);
    void (*resume)(void *model, struct divergence_group *group, uint64_t cycle); /* NULL: never DRAINS */
    /* A group has ended and left its slot, or the cycle of call_at has come. May be NULL. */
    void (*refill)(void *model, uint64_t cycle);
    /* Calls thread() for every live thread of the block, with its group (NULL: it waits to be put into one): for
     * invariant checks in tests and for dumps of waiting groups. */
    void (*visit)(const void *model, const struct divergence_block *block,
                  void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                 uint32_t lane),
                  void *user);
    /* Storage of the mechanism per SM in bits as its paper counts it, and the formula in words. May be NULL. */
    uint64_t (*cost_bits)(const void *options, const struct config_machine *machine, char *formula, size_t size);
    const char *area; /* its area according to its paper, with the source; may be NULL */
    /* For a few models; NULL in the others. */
    const struct divergence_chip_ops *chip;
    const struct divergence_memory_ops *memory;
    const struct divergence_joint_ops *joint;
};

/* Returns whether instructions at several pcs may issue in one cycle. */
static inline bool divergence_mixes_pcs(const struct divergence_ops *ops) {
    return ops->joint && (ops->joint->lane_pcs || ops->joint->next);
}

/* HEDDLE_DIVERGENCE_MODEL(mine) makes `const struct divergence_ops mine` the model of a shared object. */
#define DIVERGENCE_LAYOUT                                                                                              \
    ((uint64_t)sizeof(struct divergence_ops) << 48 | (uint64_t)sizeof(struct divergence_setup) << 40 |                 \
     (uint64_t)sizeof(struct divergence_host) << 32 | (uint64_t)sizeof(struct exec_row) << 20 |                        \
     (uint64_t)sizeof(struct exec_cta) << 10 | (sizeof(struct exec_context) ^ sizeof(struct stats_divergence)))
#define HEDDLE_DIVERGENCE_MODEL(ops) HEDDLE_PLUGIN_DEFINE(HEDDLE_PLUGIN_DIVERGENCE, DIVERGENCE_LAYOUT, &(ops))

/* registry.c */
extern const struct config_policies divergence_policies;
const struct divergence_ops *const *divergence_list(size_t *count);
const struct divergence_ops *divergence_find(const char *name);
/* See sched_parse(). */
bool divergence_parse(const char *text, const struct divergence_ops **ops, void **options, char *error,
                      size_t error_size);
/* See sched_parse_by(). */
bool divergence_parse_by(const char *rules, const char *text, const struct divergence_ops **ops, void **options,
                         char *error, size_t error_size);
void divergence_describe(const struct divergence_ops *ops, const void *options, char *text, size_t size);
