/* Divergence models: which threads execute together. One file per model, ending in its operations table; models.def
 * lists them.
 *
 * A thread lives in a lane of a row (exec.h), wherever it executes; what a model forms are groups of threads that have
 * the same next instruction. A group sits in a slot of an SM, where a warp scheduler picks it. The SM knows slots,
 * units and results under way, and nothing of how groups come about; a model knows threads, masks and program counters,
 * and nothing of units. What they say to each other is all in this file.
 *
 * The life of a group: the model makes it (admit) and puts it into a slot (host->place). The SM issues its instructions
 * one after the other. It moves pc on by itself and calls the model only at control instructions (control), when pc
 * comes to `meet` (meet), and when the group, asked to, has no results under way (resume). In these calls the model
 * changes the group as it likes: pc, mask, status. A group is re-formed, split by pc or joined with another only when
 * nothing of it is under way; in between, its scoreboard belongs to exactly these threads. */
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
    DIVERGENCE_WAITS,  /* for other groups: at a barrier, at a join. The model calls host->wake when that is over. */
    DIVERGENCE_DRAINS, /* to be re-formed: the SM calls resume() when nothing of it is under way */
    DIVERGENCE_ENDED,  /* leaves its slot, and the SM forgets it */
};

/* What the SM sees of a group. The first member of a model's own group structs; the model owns the memory. */
struct divergence_group {
    uint32_t pc;        /* its next instruction */
    uint32_t notify_pc; /* reached() is called when pc has come here; EXEC_NO_PC: never. pc + 1 means after each. */
    /* The group is the lanes `mask` of this row or, where that is NULL, of these threads. Both NULL: the SM asks
     * bundle() who executes. */
    struct exec_row *row;
    struct exec_threads *threads;
    uint32_t mask;      /* never 0 while the group runs */
    uint32_t n_threads; /* without a row: threads in the group, for schedulers */
    /* Number for fetch groups and id order, below the SM's slots: splits of one warp share it. DIVERGENCE_NO_WARP
     * before place(): the SM numbers it by its slot. */
    uint32_t warp_id;
    uint32_t passed; /* post-dominators passed: bumped by the SM, for the scheduler pdprio */
    int slot;        /* the SM's; DIVERGENCE_NO_SLOT: none. The model sets that once, when it makes the group. */
    uint8_t status;  /* enum divergence_status */
    /* Bundles of the next instruction may issue while some of this one are under way; the model keeps busy threads back
     * (lwm with refetch=first). Control instructions wait all the same. */
    bool overlaps;
    bool is_blocked; /* all threads that are left for this instruction are busy: wait until an access ends */
    uint8_t kind;    /* the model's own: which of its structs this is, where it has several; otherwise 0 */
    struct divergence_block *home; /* the block it counts to, for schedulers; with threads of several: any of them */
    uint64_t ready_cycle;          /* not before this cycle; 0: no such bound */
};
_Static_assert(sizeof(struct divergence_group) <= 64, "a group is a cache line at most");

/* A group with a row executes there, unless its threads carry registers. */
static inline bool divergence_is_in_row(const struct divergence_group *group) {
    return group->row && !(group->threads && group->threads->carried & group->mask);
}

/* What enters the SIMD pipeline at once: at most one thread a lane. */
struct divergence_bundle {
    uint32_t pc;
    uint32_t mask;        /* lanes that execute, the guard applied; may be 0 */
    struct exec_row *row; /* they are lanes of this row; NULL: of cx->threads */
    uint32_t tag;         /* handed back by memory() and complete() */
    uint32_t ready; /* with lane_pcs(): those of the group's lanes that may execute; from bundle() on, those that do,
                     * whatever their guards */
    bool is_last;   /* the instruction is complete with it: control() follows, or pc moves on. Else the next bundle
                     * of the group takes the scheduler's next turn, and nobody else does. */
    /* (mimd) Another bundle goes in the same cycle, and counts as one with it. Each is a whole instruction: control()
     * is called for those that are control instructions; pc does not move, and after the last of them reached() is
     * called.
     */
    bool shares_issue;
};

/* A block on its SM; cta->owner points back to it. */
struct divergence_block {
    struct exec_cta *cta;
    void *state;   /* the model's: from new_block() */
    uint32_t slot; /* number among the SM's blocks, for schedulers */
};

/* The lanes of one memory instruction (one bundle of it) after the L1 has been asked for all its lines. */
struct divergence_access {
    uint32_t pc;
    struct exec_row *row; /* NULL: scattered */
    uint32_t tag;
    uint32_t hit, missing; /* lanes of the bundle: have their data at `ready` / still wait */
    uint64_t ready;
    bool is_load;
    uint32_t n_others; /* accesses of the group under way besides this one */
};

/* What the SM does for models that split a group by the hits and misses of an access (dws, slip). */
struct divergence_split_host {
    /* `from` waits for an access that has answered some of its lanes: `to`, which those lanes form (the model has
     * changed both masks), gets a free slot and a copy of the scoreboard in which that access has ended. Returns false,
     * and does nothing, when no slot is free. */
    bool (*split)(void *sm, struct divergence_group *from, struct divergence_group *to, uint64_t cycle);
    /* Lanes of the group's only access under way that have their data; 0 when there is no or more than one access. */
    uint32_t (*arrived)(void *sm, const struct divergence_group *group);
    /* Every other group in a slot waits for memory or for others: without this one the SM would stand still. */
    bool (*others_wait)(void *sm, const struct divergence_group *group);
    /* Cycles so far in which the SM issued, and in which it waited for memory. */
    void (*activity)(void *sm, uint64_t *active, uint64_t *waiting);
};

/* What the SM does for models with a chip (odgs). */
struct divergence_chip_host {
    /* Calls refill() in that cycle. The SM keeps only the earliest; refill() asks again for a later one. */
    void (*call_at)(void *sm, uint64_t cycle);
    /* Starts the grid's next block on this SM (admit() is called before it returns). Returns false when no block is
     * left, or no room. */
    bool (*pull_block)(void *sm, uint64_t cycle);
};

/* What the SM does for every model. `sm` is the handle from the setup. */
struct divergence_host {
    /* Puts a group into a free slot, where it may issue from the next cycle on. Returns false when there is none. */
    bool (*place)(void *sm, struct divergence_group *group, uint64_t cycle);
    /* The model has changed a group in a slot (pc, mask, status) outside the hooks that are called for it. */
    void (*wake)(void *sm, struct divergence_group *group, uint64_t cycle);
    /* Takes a group out of its slot, unless it has none; nothing of it may be under way but stores. Not for the group
     * whose hook is running: that one sets ENDED. refill() is not called for it. */
    void (*evict)(void *sm, struct divergence_group *group, uint64_t cycle);
    /* Results of this group are under way: it cannot be joined or re-formed now. False without a slot. */
    bool (*is_under_way)(void *sm, const struct divergence_group *group, uint64_t cycle);
    uint32_t (*free_slots)(const void *sm);
    /* The last thread of the block has ended. */
    void (*block_ended)(void *sm, struct divergence_block *block);
    const struct divergence_split_host *splits;
    const struct divergence_chip_host *chip;
};

struct divergence_setup {
    const struct config_machine *machine;
    const void *options;
    void *chip; /* the state that all SMs share, from chip->new_chip(); NULL without */
    uint32_t sm_index, n_slots;
    const struct divergence_host *host;
    void *sm;                /* for the host's functions */
    struct exec_context *cx; /* the SM's; its grid changes from launch to launch */
    struct stats_divergence *counters;
};

/* For models that move threads between SMs (odgs): a state of the chip that all SMs share. Such a model starts blocks
 * itself (host->chip->pull_block); the dispatcher does not. */
struct divergence_chip_ops {
    void *(*new_chip)(const void *options, const struct config_machine *machine);
    void (*free_chip)(void *chip);
};

/* For models that follow accesses to memory (lwm, dws, slip). Every hook may be NULL. */
struct divergence_memory_ops {
    /* The L1 has answered for every line of a memory instruction. */
    void (*answered)(void *model, struct divergence_group *group, const struct divergence_access *access,
                     uint64_t cycle);
    /* An access of the group has ended: all its lines have arrived. */
    void (*complete)(void *model, struct divergence_group *group, uint32_t tag, uint64_t cycle);
    /* Nothing could issue in this cycle, and every group waits for memory or for other groups. */
    void (*idle)(void *model, uint64_t cycle);
};

/* For models that issue several instructions, or several groups, in one cycle. Every hook may be NULL. */
struct divergence_joint_ops {
    /* (mimd) Every lane fetches its own instruction. Returns the next pc of each lane that has one, and sets *mask to
     * these lanes. On machines with a scoreboard there is then one for each lane. */
    const uint32_t *(*lane_pcs)(void *model, const struct divergence_group *group, uint32_t *mask);
    /* (dws:merge=dwf) Groups with a row. leads(): the group has been picked; may others at its pc issue with it, in the
     * same cycle and as parts of one instruction? follows(): asked of each group that is ready there under the same
     * scheduler, after those before it have issued: does it? To its own group and slot each part is a whole
     * instruction. */
    bool (*leads)(void *model, const struct divergence_group *group);
    bool (*follows)(void *model, const struct divergence_group *group);
};

/* Hooks marked "may be NULL" need not exist. No hook allocates, except new*, new_block, and pools that grow. Equal
 * calls have equal effects. After a hook that set cx->fault the launch ends. */
struct divergence_ops {
    const char *name, *help;
    const struct config_plugin_option *option; /* ends with a NULL name; may be NULL */
    const struct config_preset *preset;        /* the same */
    size_t options_bytes;
    /* Lanes of one row may be in different groups: warp-wide instructions (EXEC_KIND_WARP) go to control() too, where
     * divergence_sync (sync.h) brings the lanes together. */
    bool splits_rows;

    /* NULL, or the rule by which this cannot run: a combination of options, a machine, a program. One sentence, in a
     * static or the given buffer. program is NULL when asked before there is one. May be NULL. */
    const char *(*refuses)(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size);
    /* Slots that an SM with n_warps warps needs, at most most_slots. May be NULL: n_warps. */
    uint32_t (*n_slots)(const void *options, const struct config_machine *machine, uint32_t n_warps,
                        uint32_t most_slots);
    void *(*new_model)(const struct divergence_setup *setup);
    void (*free_model)(void *model);
    /* A grid begins, cx->grid is set: no block is on the SM. May be NULL. */
    void (*begin_grid)(void *model);
    /* State of a block's place on the SM, made once and used for one block after the other; may be NULL. */
    void *(*new_block)(void *model, const struct exec_cta *cta);
    void (*free_block)(void *model, void *state);
    /* A block begins: form its groups and place them. There is a slot for every `warp_size` threads. */
    void (*admit)(void *model, struct divergence_block *block, uint64_t cycle);
    /* Without a row or threads: the next bundle of the instruction at group->pc, which *bundle has already; the rest is
     * 0. May be NULL: there are no such groups. */
    void (*bundle)(void *model, struct divergence_group *group, struct divergence_bundle *bundle, uint64_t cycle);
    /* Executes the control instruction at pc (a kind above EXEC_KIND_WARP, or from there on with splits_rows). `mask`:
     * with a row the lanes whose guard is true, may be 0; else that of the last bundle. group->pc is still pc. */
    void (*control)(void *model, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle);
    void (*reached)(void *model, struct divergence_group *group, uint64_t cycle);
    void (*resume)(void *model, struct divergence_group *group, uint64_t cycle); /* may be NULL: never DRAINS */
    /* A group has ended and left its slot, or the time of call_at has come. May be NULL. */
    void (*refill)(void *model, uint64_t cycle);
    /* Names every live thread of the block, with its group (NULL: in none, waiting to be put into one): for invariant
     * checks in tests and for who-waits-for-what dumps. */
    void (*visit)(const void *model, const struct divergence_block *block,
                  void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                 uint32_t lane),
                  void *user);
    /* Storage of the mechanism per SM in bits as its paper counts it, with the formula in words; may be NULL. */
    uint64_t (*cost_bits)(const void *options, const struct config_machine *machine, char *formula, size_t size);
    const char *area; /* what its paper says of area, with the source; may be NULL */
    /* For a few models; NULL in the others. */
    const struct divergence_chip_ops *chip;
    const struct divergence_memory_ops *memory;
    const struct divergence_joint_ops *joint;
};

/* registry.c */
const struct divergence_ops *const *divergence_list(size_t *count);
const struct divergence_ops *divergence_find(const char *name);
/* As sched_parse(). */
bool divergence_parse(const char *text, const struct divergence_ops **ops, void **options, char *error,
                      size_t error_size);
void divergence_describe(const struct divergence_ops *ops, const void *options, char *text, size_t size);
