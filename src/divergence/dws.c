/* dws: Dynamic Warp Subdivision (Meng, Tarjan, Skadron 2010, technical report CS-2010-5). A warp may consist of several
 * independent groups, its warp-splits: the two sides of a branch, or the threads that hit the cache and those that
 * missed. The folder splits/ contains the code for both. This file contains the options, and decides when memory
 * subdivides a warp.
 *
 * How the paper maps onto the SM's hooks:
 * - Divergent access (5.1): answered(). The threads that miss stay in the group, whose access is in flight. The others
 *   continue in a new group (host->splits->split). The next instruction of both is the one after the access.
 * - AggressSplit subdivides every time, LazySplit only when others_wait(). ReviveSplit does the same as LazySplit, and
 *   at idle() also divides one suspended group that missed in part (5.2). It divides by the hit mask, which takes the
 *   place of a branch's outcome (5.4). In the other reading of the paper, revived=arrived, threads whose lines have
 *   arrived since then run ahead too.
 * - PC-based re-convergence (4.5): the paper compares pcs when the running split executes a memory instruction. Its
 *   machine switches groups only there, so every group that does not run is at a memory instruction. One kind of split
 *   is an exception: one side of a branch that subdivides is at the branch's target, ready or without a slot, and
 *   "those that are not being scheduled can still merge with those that are" (6.6). So this model compares pcs when a
 *   split reaches an access, and when it reaches a pc where a ready sibling is.
 * - The paper's splits resume at the instruction whose data they waited for, ours after it. So a split at an access
 *   merges with those that are before it. After it has asked for its data, it merges with those that have finished the
 *   access. All of them then wait for its data, unless the access subdivides them again. A split is ready if it waits
 *   for no data.
 * - BranchLimited (5.3.1): splits stop before every instruction that could push or pop the stack. Warps are then not
 *   subdivided at branches either. BranchBypass (5.3.2): branches subdivide warps, and splits stop only at the
 *   post-dominator on top of the stack.
 * - Waiting for a slot (5.6): seats.c. A split made by memory that finds no slot waits like any other. If the threads
 *   that missed get their data before it gets a slot, the two become one again.
 *
 * Stores subdivide as loads do where groups wait for them: 5.1 names scatter stores beside gather loads, and in 3.3 a
 * WPU switches warps at every access to the cache. With a scoreboard no group waits for a store, and none subdivides.
 *
 * Where the paper is silent:
 * - ReviveSplit takes the groups in turn, starting after the one it chose last.
 * - Where a branch subdivides, the side that comes first in the program continues and the other becomes ready. The
 *   first side then passes the place where the other stands, or reaches the same access one turn after it. With
 *   first=taken the side that skips the body of an if runs ahead, and the splits meet an iteration apart.
 * - Lanes may spin on a value that others of their warp will write. After a while they let those continue, as in the
 *   model stack. Splits run side by side anyway.
 *
 * size=N combines the model with large warps (Narasiman 2011, 7.1): a warp has N threads, and a split issues its
 * instructions in sub-warps and is subdivided as above.
 *
 * merge=dwf combines it with dynamic warp formation. Meng 2010, 8, proposes this; the details are ours. Groups of
 * different warps that are ready at one pc issue together if their lanes leave room for each other. No group is
 * re-formed. Which groups issue together is decided for every instruction, and each part continues by its own warp's
 * stack and table. Parts of one instruction have the same next one, so they usually stay together until a load or a
 * branch.
 * - The group that the scheduler picks leads. The ready groups of the same scheduler are asked in the order of their
 *   slots.
 * - Splits of one warp never issue together: merging them is the task of `reconv`.
 * - Each part's memory access is separate: it is coalesced, divided and answered as if the others did not exist.
 * - Two kinds of instructions never issue together. Warp-wide instructions need a warp's lanes in their places.
 *   Accesses that may go to shared memory count bank conflicts for one row. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "divergence/parts/threads.h"
#include "divergence/splits/splits.h"

enum { MEM_NONE, MEM_AGGRESS, MEM_LAZY, MEM_REVIVE };
enum { RECONV_STACK, RECONV_PC };
enum { BRANCHES_LIMITED, BRANCHES_BYPASS };
enum { FIRST_LOW, FIRST_TAKEN };
enum { REVIVED_HITS, REVIVED_ARRIVED };
enum { MERGE_OWN, MERGE_DWF };
enum { LANES_AWARE, LANES_FREE };

struct options {
    uint32_t wst, slots, branch_length, mem, reconv, branches, first, revived, size, merge, lanes;
};

static const struct config_plugin_option option_table[] = {
    {"mem", CONFIG_PLUGIN_CHOICE, offsetof(struct options, mem), MEM_REVIVE, 0, 0, "none|aggress|lazy|revive",
     "accesses that subdivide: none, all divergent ones, those when all other groups wait, or these and suspended "
     "ones"},
    {"reconv", CONFIG_PLUGIN_CHOICE, offsetof(struct options, reconv), RECONV_PC, 0, 0, "stack|pc",
     "splits join at the post-dominator on top of the stack only, or wherever their pcs meet too"},
    {"branches", CONFIG_PLUGIN_CHOICE, offsetof(struct options, branches), BRANCHES_BYPASS, 0, 0, "limited|bypass",
     "splits must join before every branch, or continue beyond it and are subdivided there"},
    {"branch_len", CONFIG_PLUGIN_UINT, offsetof(struct options, branch_length), 50, 0, UINT32_MAX, NULL,
     "longest basic block at the post-dominator of a branch that subdivides a whole warp"},
    {"first", CONFIG_PLUGIN_CHOICE, offsetof(struct options, first), FIRST_LOW, 0, 0, "low|taken",
     "which side of a branch that subdivides continues: the one that comes first in the program, or the one that "
     "branches"},
    {"revived", CONFIG_PLUGIN_CHOICE, offsetof(struct options, revived), REVIVED_HITS, 0, 0, "hits|arrived",
     "with mem=revive, who runs ahead of a suspended group: the threads that hit, or all that have their data by now"},
    {"wst", CONFIG_PLUGIN_UINT, offsetof(struct options, wst), 16, 2, 4096, NULL,
     "entries of an SM's warp-split table"},
    {"slots", CONFIG_PLUGIN_UINT, offsetof(struct options, slots), 0, 0, CONFIG_MAX_SLOTS, NULL,
     "groups that the schedulers see at once; 0: twice the warps, at most 128; never fewer than the warps"},
    {"size", CONFIG_PLUGIN_UINT, offsetof(struct options, size), 0, 0, 1024, NULL,
     "threads in a warp: a multiple of the machine's; 0: the machine's"},
    {"merge", CONFIG_PLUGIN_CHOICE, offsetof(struct options, merge), MERGE_OWN, 0, 0, "own|dwf",
     "splits come together with those of their own warp only, or groups of different warps at one pc issue together "
     "too"},
    {"lanes", CONFIG_PLUGIN_CHOICE, offsetof(struct options, lanes), LANES_AWARE, 0, 0, "aware|free",
     "with merge=dwf: a thread keeps its lane, or takes any that is free"},
    {0},
};

static const struct config_preset presets[] = {
    {"branch-only", "mem=none,reconv=pc,branches=bypass", "at branches only (Meng 2010, 4.5)"},
    {"branch-only-stack", "mem=none,reconv=stack,branches=bypass", "the same, joining at post-dominators only (4.4)"},
    {"mem-only", "mem=revive,reconv=pc,branches=limited", "at accesses only (5.3.1)"},
    {"aggress", "mem=aggress,reconv=pc,branches=bypass", "at branches and at every divergent access"},
    {"lazy", "mem=lazy,reconv=pc,branches=bypass", "at branches and, when all others wait, at accesses"},
    {"revive", "mem=revive,reconv=pc,branches=bypass", "the paper's best, and the default"},
    {0},
};

/* The groups that issue together in this cycle, so far. */
struct partners {
    uint32_t lanes, n_threads, n_warps;
    const struct divergence_warp *warp[EXEC_LANES];
};

struct dws {
    struct divergence_splits splits; /* first */
    struct options options;
    uint32_t revived; /* the split that idle() chose last: its number in the pool */
    struct partners partners;
};

static const char *refuses(const void *given, const struct config_machine *machine, const struct exec_program *program,
                           char *text, size_t size) {
    const struct options *options = given;
    if (options->mem == MEM_NONE && options->branches == BRANCHES_LIMITED)
        return "dws with mem=none and branches=limited never subdivides a warp: that is the model stack";
    if (options->size % machine->sm.warp_size) {
        snprintf(text, size, "dws: size=%u is not a multiple of the machine's warps of %u threads", options->size,
                 machine->sm.warp_size);
        return text;
    }
    if (options->merge == MERGE_DWF && options->size > machine->sm.warp_size)
        return "dws with merge=dwf takes warps of the machine's size: a large warp fills its lanes from rows of its "
               "own";
    return divergence_refuse_unsynced(program, "dws", text, size);
}

static uint32_t n_slots(const void *given, const struct config_machine *machine, uint32_t n_warps,
                        uint32_t most_slots) {
    (void)machine;
    const struct options *options = given;
    uint32_t n = options->slots ? options->slots : 2 * n_warps;
    n = n < n_warps ? n_warps : n;
    return n < most_slots ? n : most_slots;
}

static void *new_model(const struct divergence_setup *setup) {
    struct dws *dws = calloc(1, sizeof *dws);
    if (!dws)
        abort();
    dws->options = *(const struct options *)setup->options;
    const struct divergence_splits_rules rules = {
        .n_entries = dws->options.wst,
        .warp_threads = dws->options.size,
        .at_branches = dws->options.branches == BRANCHES_BYPASS,
        .branch_length = dws->options.branch_length,
        .taken_first = dws->options.first == FIRST_TAKEN,
        .by_pc = dws->options.reconv == RECONV_PC,
        .queues_ahead = true,
        .stops_at_branches = dws->options.branches == BRANCHES_LIMITED,
    };
    divergence_splits_init(&dws->splits, setup, &rules);
    return dws;
}

static void free_model(void *model) {
    divergence_splits_release(model);
    free(model);
}

static void answered(void *model, struct divergence_group *group, const struct divergence_access *access,
                     uint64_t cycle) {
    struct dws *dws = model;
    struct divergence_split *split = (struct divergence_split *)group;
    const struct divergence_setup *setup = &dws->splits.setup;
    uint32_t missing[EXEC_MAX_ROWS];
    bool is_one_of_several = group->row && access->n_others; /* split() divides a group by its only access */
    bool may_meet = dws->options.reconv == RECONV_PC && !divergence_splits_is_sole(split->subdivision);
    if (!access->is_awaited || is_one_of_several || (dws->options.mem == MEM_NONE && !may_meet))
        return;
    struct divergence_splits_hook hook;
    divergence_splits_enter(&hook, &dws->splits, split, cycle);
    if (divergence_splits_note_memory(split, access, missing)) {
        if (may_meet)
            divergence_splits_take_in_finished(&hook, split, access->pc);
        if (dws->options.mem == MEM_AGGRESS ||
            (dws->options.mem != MEM_NONE && setup->host->splits->others_wait(setup->sm, group)))
            divergence_splits_run_ahead(&hook, split, missing);
    }
    divergence_splits_leave(&hook);
}

static void complete(void *model, struct divergence_group *group, uint32_t tag, uint64_t cycle) {
    struct dws *dws = model;
    struct divergence_split *split = (struct divergence_split *)group;
    if (!group->row)
        split->missing[tag] = 0;
    if (dws->options.reconv != RECONV_PC || divergence_splits_is_sole(split->subdivision))
        return;
    struct divergence_splits_hook hook;
    divergence_splits_enter(&hook, &dws->splits, split, cycle);
    divergence_splits_reunite(&hook, split);
    divergence_splits_leave(&hook);
}

/* Fills in the threads of a suspended split that still wait for data. Returns false if no thread has its data, or all
 * have. */
static bool waits_in_part(const struct dws *dws, const struct divergence_split *split, uint32_t *missing) {
    const struct divergence_setup *setup = &dws->splits.setup;
    if (!split->subdivision || split->phase != DIVERGENCE_SPLIT_RUNS || split->group.slot == DIVERGENCE_NO_SLOT)
        return false;
    uint32_t (*has_data)(void *, const struct divergence_group *) =
        dws->options.revived == REVIVED_HITS ? setup->host->splits->hit : setup->host->splits->arrived;
    uint32_t n_rows = split->subdivision->warp->n_rows, n_arrived = 0;
    for (uint32_t i = 0; i < n_rows; i++) {
        if (split->group.row)
            missing[i] = split->mask[i] & ~has_data(setup->sm, &split->group);
        else
            missing[i] = split->is_answered ? split->missing[i] : ~0u;
        n_arrived += (uint32_t)__builtin_popcount(split->mask[i] & ~missing[i]);
    }
    return n_arrived && !divergence_masks_are_empty(missing, n_rows);
}

static void idle(void *model, uint64_t cycle) {
    struct dws *dws = model;
    const struct divergence_splits *splits = &dws->splits;
    uint32_t missing[EXEC_MAX_ROWS];
    if (dws->options.mem != MEM_REVIVE || splits->n_used >= splits->rules.n_entries)
        return;
    struct divergence_splits_hook hook;
    divergence_splits_enter(&hook, &dws->splits, NULL, cycle);
    for (uint32_t i = 0; i < splits->n_pool; i++) {
        uint32_t at = (dws->revived + 1 + i) % splits->n_pool;
        if (waits_in_part(dws, splits->pool[at], missing) &&
            divergence_splits_run_ahead(&hook, splits->pool[at], missing)) {
            dws->revived = at;
            break;
        }
    }
    divergence_splits_leave(&hook);
}

/* --- groups of different warps that issue together --- */

static bool may_share(const struct exec_insn *insn) {
    if (exec_acts_on_row(insn->kind) || divergence_is_row_sync(insn))
        return false;
    return insn->kind != EXEC_KIND_CONTEXT ||
           (insn->access.space != PTX_SPACE_SHARED && insn->access.space != PTX_SPACE_GENERIC);
}

static void add(struct partners *partners, const struct divergence_group *group) {
    partners->lanes |= group->mask;
    partners->n_threads += (uint32_t)__builtin_popcount(group->mask);
    partners->warp[partners->n_warps++] = ((const struct divergence_split *)group)->subdivision->warp;
}

static bool leads(void *model, const struct divergence_group *group) {
    struct dws *dws = model;
    if (dws->options.merge != MERGE_DWF)
        return false;
    dws->partners = (struct partners){.lanes = 0};
    add(&dws->partners, group);
    return dws->partners.n_threads < dws->splits.row_threads && may_share(&dws->splits.program->code[group->pc]);
}

static bool has_room(const struct dws *dws, const struct divergence_group *group) {
    const struct partners *partners = &dws->partners;
    for (uint32_t i = 0; i < partners->n_warps; i++)
        if (partners->warp[i] == ((const struct divergence_split *)group)->subdivision->warp)
            return false;
    if (dws->options.lanes == LANES_AWARE)
        return !(partners->lanes & group->mask);
    return partners->n_threads + (uint32_t)__builtin_popcount(group->mask) <= dws->splits.row_threads;
}

static bool follows(void *model, const struct divergence_group *group) {
    struct dws *dws = model;
    if (!has_room(dws, group))
        return false;
    add(&dws->partners, group);
    dws->splits.setup.counters->shared_issues++;
    return true;
}

/* --- cost --- */

/* Meng 2010, 5.6. With merge=dwf, ours: each slot has a pc and a mask that can be compared with those of the group that
 * leads. Each scheduler has, for the instruction it issues, the warp whose registers each lane reads (and in which
 * lane, with lanes=free). */
static uint64_t cost_bits(const void *given, const struct config_machine *machine, char *formula, size_t size) {
    const struct options *options = given;
    uint32_t lanes = options->size ? options->size : machine->sm.warp_size, warps = machine->sm.threads / lanes;
    uint32_t entry = lanes + base_bits_for(warps) + 64 + 2;
    int length = snprintf(formula, size, "entries x (mask %u + warp number %u + pc 64 + status 2): %u x %u", lanes,
                          base_bits_for(warps), options->wst, entry);
    uint64_t table = (uint64_t)options->wst * entry;
    if (options->merge != MERGE_DWF)
        return table;
    uint32_t slots = n_slots(given, machine, warps, UINT32_MAX), n = machine->sm.schedulers * lanes;
    uint32_t home = base_bits_for(warps) + (options->lanes == LANES_FREE ? base_bits_for(lanes) : 0);
    if (length >= 0 && (size_t)length < size)
        snprintf(formula + length, size - (size_t)length,
                 "; slots x (mask %u + pc 64): %u x %u; schedulers x lanes x home of a thread: %u x %u", lanes, slots,
                 lanes + 64, n, home);
    return table + (uint64_t)slots * (lanes + 64) + (uint64_t)n * home;
}

const struct divergence_ops divergence_dws = {
    .name = "dws",
    .help = "dynamic warp subdivision: both sides of a branch, hits and misses of an access run as groups of their own",
    .option = option_table,
    .preset = presets,
    .options_bytes = sizeof(struct options),
    .splits_rows = true,
    .refuses = refuses,
    .n_slots = n_slots,
    .new_model = new_model,
    .free_model = free_model,
    .begin_grid = divergence_splits_begin_grid,
    .new_block = divergence_splits_new_block,
    .free_block = divergence_splits_free_block,
    .admit = divergence_splits_admit,
    .bundle = divergence_splits_bundle,
    .control = divergence_splits_control,
    .reached = divergence_splits_reached,
    .resume = divergence_splits_resume,
    .refill = divergence_splits_refill,
    .memory = &(const struct divergence_memory_ops){.answered = answered, .complete = complete, .idle = idle},
    .joint = &(const struct divergence_joint_ops){.leads = leads, .follows = follows},
    .visit = divergence_splits_visit,
    .cost_bits = cost_bits,
    .area = "below 1 % of a WPU's storage with 16 entries (Meng 2010, 5.6)",
};
