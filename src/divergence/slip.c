/* slip: adaptive slip (Tarjan, Meng, Skadron 2009) as Meng 2010, 5.7, compares it with dws. Threads that hit the cache
 * continue. Those that miss fall behind until the others return to the same memory instruction, an iteration later, and
 * then continue together with them. The model uses splits/, with an unlimited table, since the original has no table.
 *
 * As in the paper:
 * - A conditional branch, or any other instruction that may change the stack, stops the threads that are ahead until
 *   the others catch up (branches=limited), because the stack needs the outcome of all threads of its top entry.
 *   Threads pass a loop's back-edge if it is uniform and taken: its outcome is the same for all, and after it the
 *   threads ahead revisit the access, as the paper says. With branches=bypass the threads ahead pass branches in
 *   splits, as in dws.
 * - The distance by which threads may get ahead adapts every `interval` cycles. It grows by one step if the SM waited
 *   for memory for more than `up` per cent of them, and shrinks by one if it issued in more than `down` per cent.
 *
 * Where the paper is silent:
 * - The maximum slip is the number of times that other threads may run past the instruction at which threads wait. It
 *   starts at 1. At 0 no thread gets ahead.
 * - Threads that would exceed it wait after the access too, until those that fell behind have their data.
 * - Threads that fell behind and have their data continue alone if no other thread of their stack's top entry can: all
 *   have stopped, joined or ended, or wait at a barrier.
 * - The distance changes at the first access after an interval. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "divergence/splits/splits.h"

enum { BRANCHES_LIMITED, BRANCHES_BYPASS };

struct options {
    uint32_t branches, branch_length, interval, up, down;
};

static const struct config_plugin_option option_table[] = {
    {"branches", CONFIG_PLUGIN_CHOICE, offsetof(struct options, branches), BRANCHES_LIMITED, 0, 0, "limited|bypass",
     "threads that went ahead stop at a conditional branch, or are subdivided there and continue"},
    {"branch_len", CONFIG_PLUGIN_UINT, offsetof(struct options, branch_length), 50, 0, UINT32_MAX, NULL,
     "with bypass: longest basic block at the post-dominator of a branch that subdivides a whole warp"},
    {"interval", CONFIG_PLUGIN_UINT, offsetof(struct options, interval), 100000, 1, UINT32_MAX, NULL,
     "cycles between two changes of the maximum slip"},
    {"up", CONFIG_PLUGIN_UINT, offsetof(struct options, up), 70, 0, 100, NULL,
     "more slip when the SM waits for memory for more than this percentage"},
    {"down", CONFIG_PLUGIN_UINT, offsetof(struct options, down), 50, 0, 100, NULL,
     "less slip when the SM issues for more than this percentage"},
    {0},
};

static const struct config_preset presets[] = {
    {"bypass", "branches=bypass", "Slip.BranchBypass: goes beyond branches in splits of dws"},
    {0},
};

struct slip {
    struct divergence_splits splits; /* first */
    struct options options;
    uint32_t most;               /* the maximum slip */
    uint64_t since;              /* the cycle in which the interval began, */
    uint64_t was_active, waited; /* and the SM's activity until then */
};

static void drained(struct divergence_splits_hook *hook, struct divergence_split *split);

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)options, (void)machine;
    return divergence_refuse_unsynced(program, "slip", text, size);
}

static uint32_t n_slots(const void *options, const struct config_machine *machine, uint32_t n_warps,
                        uint32_t most_slots) {
    (void)options, (void)machine;
    return 2 * n_warps < most_slots ? 2 * n_warps : most_slots;
}

static void *new_model(const struct divergence_setup *setup) {
    struct slip *slip = calloc(1, sizeof *slip);
    if (!slip)
        abort();
    slip->options = *(const struct options *)setup->options;
    slip->most = 1;
    bool bypasses = slip->options.branches == BRANCHES_BYPASS;
    const struct divergence_splits_rules rules = {
        .at_branches = bypasses,
        .branch_length = slip->options.branch_length,
        .by_pc = bypasses,
        .stops_at_branches = !bypasses,
        .passes_back_edges = !bypasses,
    };
    divergence_splits_init(&slip->splits, setup, &rules);
    slip->splits.drained = drained;
    return slip;
}

static void free_model(void *model) {
    divergence_splits_release(model);
    free(model);
}

static void adapt(struct slip *slip, uint64_t cycle) {
    if (cycle < slip->since)
        slip->since = cycle;
    uint64_t passed = cycle - slip->since, active, waiting;
    if (passed < slip->options.interval)
        return;
    slip->splits.setup.host->splits->activity(slip->splits.setup.sm, &active, &waiting);
    if (active < slip->was_active || waiting < slip->waited) /* the counters have been reset */
        slip->was_active = slip->waited = 0;
    if (100 * (waiting - slip->waited) > slip->options.up * passed)
        slip->most++;
    else if (100 * (active - slip->was_active) > slip->options.down * passed && slip->most)
        slip->most--;
    slip->since = cycle;
    slip->was_active = active;
    slip->waited = waiting;
}

/* --- others at the same instruction --- */

/* Returns the next split, from `from` on, that waits in this phase at the pc of `split`. */
static struct divergence_split *next_at(struct divergence_split *from, const struct divergence_split *split,
                                        enum divergence_split_phase phase) {
    while (from && (from == split || from->phase != phase || from->group.pc != split->group.pc))
        from = from->next;
    return from;
}

static bool may_pass(const struct slip *slip, const struct divergence_split *split) {
    struct divergence_split *behind = split->subdivision->split;
    while ((behind = next_at(behind, split, DIVERGENCE_SPLIT_BEHIND))) {
        if (behind->n_passed >= slip->most)
            return false;
        behind = behind->next;
    }
    return true;
}

static void pass(const struct divergence_split *split) {
    struct divergence_split *behind = split->subdivision->split;
    while ((behind = next_at(behind, split, DIVERGENCE_SPLIT_BEHIND))) {
        behind->n_passed++;
        behind = behind->next;
    }
}

static bool take_in_held(struct divergence_splits_hook *hook, struct divergence_split *split) {
    bool has_taken = false;
    for (struct divergence_split *held; (held = next_at(split->subdivision->split, split, DIVERGENCE_SPLIT_HELD));
         has_taken = true)
        divergence_splits_take_in(hook, split, held);
    return has_taken;
}

/* --- hooks --- */

static void slip_past(const struct slip *slip, struct divergence_splits_hook *hook, struct divergence_split *split,
                      const uint32_t *missing) {
    const struct divergence_setup *setup = &slip->splits.setup;
    if (!slip->most || !may_pass(slip, split))
        return;
    struct divergence_split *ahead = divergence_splits_run_ahead(hook, split, missing);
    if (!ahead)
        return;
    pass(ahead);
    split->phase = DIVERGENCE_SPLIT_BEHIND;
    split->group.is_blocked = true; /* even if its next instructions do not need the data */
    split->n_passed = 1;
    setup->host->wake(setup->sm, &split->group, hook->cycle);
    if (take_in_held(hook, ahead))
        setup->host->wake(setup->sm, &ahead->group, hook->cycle);
}

static void answered(void *model, struct divergence_group *group, const struct divergence_access *access,
                     uint64_t cycle) {
    struct slip *slip = model;
    struct divergence_split *split = (struct divergence_split *)group;
    uint32_t missing[EXEC_MAX_ROWS];
    adapt(slip, cycle);
    if (!access->is_awaited || !access->missing || access->n_others)
        return;
    struct divergence_splits_hook hook;
    divergence_splits_enter(&hook, &slip->splits, split, cycle);
    if (divergence_splits_note_memory(split, access, missing))
        slip_past(slip, &hook, split, missing);
    divergence_splits_leave(&hook);
}

/* The split has its data. Threads that fell behind wait for the others. Threads that are ahead take in those that wait
 * here for them, and continue unless they would get too far ahead of others. */
static void drained(struct divergence_splits_hook *hook, struct divergence_split *split) {
    const struct slip *slip = (const struct slip *)hook->splits;
    bool fell_behind = split->n_passed > 0;
    split->n_passed = 0;
    if (!fell_behind)
        take_in_held(hook, split);
    if (fell_behind || !may_pass(slip, split))
        divergence_splits_hold(hook, split);
    else
        pass(split);
}

static void complete(void *model, struct divergence_group *group, uint32_t tag, uint64_t cycle) {
    (void)tag;
    struct slip *slip = model;
    struct divergence_split *split = (struct divergence_split *)group, *first = split->subdivision->split;
    bool is_running = split->phase == DIVERGENCE_SPLIT_RUNS && group->status == DIVERGENCE_RUNS;
    bool meets =
        is_running && (next_at(first, split, DIVERGENCE_SPLIT_HELD) || next_at(first, split, DIVERGENCE_SPLIT_BEHIND));
    if (!meets && split->phase != DIVERGENCE_SPLIT_BEHIND)
        return;
    struct divergence_splits_hook hook;
    divergence_splits_enter(&hook, &slip->splits, split, cycle);
    group->is_blocked = false;
    divergence_splits_ask(&hook, split);
    divergence_splits_leave(&hook);
}

/* --- cost --- */

enum { SLIP_BITS = 8 }; /* ours: the papers set no upper bound */

/* No paper counts it. Entries are those of the table of dws (Meng 2010, 5.6). Nothing limits their number, and there
 * may be as many as threads (same section). Ours: in each entry, how often its threads have been passed; and once for
 * an SM the maximum slip and the counts that adapt it: the cycles of the interval, and those in which the SM issued and
 * waited. */
static uint64_t cost_bits(const void *given, const struct config_machine *machine, char *formula, size_t size) {
    const struct options *options = given;
    uint32_t lanes = machine->sm.warp_size, warp_bits = base_bits_for(machine->sm.threads / lanes);
    uint32_t entry = lanes + warp_bits + 64 + 2 + SLIP_BITS, count = 32 - (uint32_t)__builtin_clz(options->interval);
    snprintf(formula, size,
             "threads x (mask %u + warp number %u + pc 64 + status 2 + times passed %u): %u x %u; maximum slip %u; "
             "counts of cycles: 3 x %u",
             lanes, warp_bits, SLIP_BITS, machine->sm.threads, entry, SLIP_BITS, count);
    return (uint64_t)machine->sm.threads * entry + SLIP_BITS + 3 * count;
}

const struct divergence_ops divergence_slip = {
    .name = "slip",
    .help = "adaptive slip: threads that hit continue, the others wait until these come back to the same access",
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
    .control = divergence_splits_control,
    .reached = divergence_splits_reached,
    .resume = divergence_splits_resume,
    .refill = divergence_splits_refill,
    .memory = &(const struct divergence_memory_ops){.answered = answered, .complete = complete},
    .visit = divergence_splits_visit,
    .cost_bits = cost_bits,
};
