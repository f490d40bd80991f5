/* Criticality-aware warp scheduling: the warp that is predicted to end last goes first, so that a block does not wait
 * for it.
 *
 * Sources: Lee and Wu, CAWS: Criticality-Aware Warp Scheduling for GPGPU Workloads, PACT 2014; Lee, Arunkumar and Wu,
 * CAWA: Coordinated Warp Scheduling and Cache Prioritization for Critical Warp Acceleration of GPGPU Workloads, ISCA
 * 2015.
 * - Criticality of a warp = instructions left x cycles per instruction + stall cycles. `by` leaves a part out.
 * - Instructions left are relative to the other warps. A branch that the whole warp takes adds the length of the side
 *   that follows. A branch that divides the warp adds both sides. Each instruction that issues subtracts 1.
 * - Stall cycles are those between two instructions of the warp.
 * - caws: in each cycle, the most critical warp that can issue.
 * - gcaws: the warp that issued last as long as it can issue, then the most critical.
 * - A warp is critical for the L1 (cacp.present) if it is more critical than half of the other warps of its block.
 *
 * A public GPGPU-Sim fork confirms the formula, the two orders, and the older warp among equal ones
 * (docs/schedulers.md). Nobody has compared the rest with the full texts yet.
 *
 * Left open by the papers, or different here:
 * - The lengths of the sides come from the layout of the code, and count PTX instructions (sched_insn.taken_path).
 * - A warp's criticality changes only when it issues. Its cycles per instruction are those since its arrival.
 * - A branch after which another path of the warp continues adds nothing.
 * - The oracle of CAWS, which knows how long each warp took in an earlier run, is left out.
 * - Criticality of warps of different blocks is compared as it is. */
#include <stdio.h>

#include "sched/internal.h"

enum { BY_BOTH, BY_INSTRUCTIONS, BY_STALLS };
enum { MOST_LEFT = 1 << 24 }; /* where the counter of instructions left saturates */

struct options {
    uint32_t by;
};

static const struct config_plugin_option option_table[] = {
    {"by", CONFIG_PLUGIN_CHOICE, offsetof(struct options, by), BY_BOTH, 0, 0, "both|instructions|stalls",
     "the parts of criticality that count"},
    {0},
};

struct caws {
    struct options options;
    bool is_greedy;
    struct sched_greedy greedy;
    int32_t left[SCHED_MAX_SLOTS];       /* instructions, relative to the other warps */
    struct sched_set has_branched;       /* the last instruction was a branch whose sides are not counted yet */
    uint32_t branch_pc[SCHED_MAX_SLOTS]; /* that branch */
    uint32_t branch_lanes[SCHED_MAX_SLOTS];
};

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)n_slots;
    ((struct caws *)state)->options = *(const struct options *)options;
}

static void start_greedy(void *state, const void *options, uint32_t n_slots) {
    start(state, options, n_slots);
    ((struct caws *)state)->is_greedy = true;
}

/* ---- Criticality ------------------------------------------------------------------------------------------------- */

static void add_left(struct caws *caws, uint32_t slot, int64_t n) {
    int64_t left = caws->left[slot] + n;
    caws->left[slot] = (int32_t)(left > MOST_LEFT ? MOST_LEFT : left < -MOST_LEFT ? -MOST_LEFT : left);
}

/* Adds the sides of the warp's last branch, if it was one. The view shows where the warp went, and with how many of its
 * lanes. */
static void count_branch(struct caws *caws, const struct sched_view *view, uint32_t slot) {
    if (!sched_has(&caws->has_branched, slot))
        return;
    const struct sched_insn *insn = &view->kernel->insn[caws->branch_pc[slot]];
    const struct sched_slot *now = &view->slot[slot];
    bool is_taken = now->pc == insn->target, is_other = now->pc == caws->branch_pc[slot] + 1;
    bool has_parted = now->active_lanes < caws->branch_lanes[slot];
    sched_remove(&caws->has_branched, slot);
    if (!is_taken && !is_other)
        return;
    if (is_taken || has_parted)
        add_left(caws, slot, insn->taken_path);
    if (is_other || has_parted)
        add_left(caws, slot, insn->other_path);
}

static int64_t criticality(const struct caws *caws, const struct sched_view *view, uint32_t slot) {
    const struct sched_account *account = &view->account[slot];
    if (account->instructions == 0)
        return 0;
    int64_t stalled = (int64_t)account->stall_cycles, issued = (int64_t)account->instructions;
    int64_t left = caws->left[slot] * (issued + stalled) / issued;
    return caws->options.by == BY_INSTRUCTIONS ? left : caws->options.by == BY_STALLS ? stalled : left + stalled;
}

static bool is_critical(void *state, const struct sched_view *view, uint32_t slot) {
    const struct caws *caws = state;
    struct sched_set others = view->block[view->slot[slot].block].slots;
    sched_remove(&others, slot);
    uint32_t n_less = 0, n = sched_count(&others);
    int64_t own = criticality(caws, view, slot);
    for (int other; (other = sched_first(&others)) != SCHED_NONE; sched_remove(&others, (uint32_t)other))
        n_less += criticality(caws, view, (uint32_t)other) < own;
    return 2 * n_less > n;
}

/* ---- Hooks ------------------------------------------------------------------------------------------------------- */

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct caws *caws = state;
    sched_greedy_arrive(&caws->greedy, view, slot);
    sched_remove(&caws->has_branched, slot);
    caws->left[slot] = 0;
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    sched_greedy_leave(&((struct caws *)state)->greedy, view, slot);
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    struct caws *caws = state;
    uint32_t k = (uint32_t)sched_first(candidates) % view->n_schedulers;
    if (caws->is_greedy && caws->greedy.is_known[k] && sched_has(candidates, caws->greedy.last[k]))
        return caws->greedy.last[k];
    struct sched_set left = *candidates;
    int most = SCHED_NONE;
    int64_t most_critical = 0;
    for (int slot; (slot = sched_first(&left)) != SCHED_NONE; sched_remove(&left, (uint32_t)slot)) {
        count_branch(caws, view, (uint32_t)slot);
        int64_t its = criticality(caws, view, (uint32_t)slot);
        bool is_equal = most != SCHED_NONE && its == most_critical;
        if (most == SCHED_NONE || its > most_critical || (is_equal && view->slot[slot].age < view->slot[most].age)) {
            most = slot;
            most_critical = its;
        }
    }
    return most;
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    struct caws *caws = state;
    uint32_t pc = view->slot[slot].pc;
    count_branch(caws, view, slot);
    sched_greedy_issued(&caws->greedy, view, slot);
    add_left(caws, slot, -1);
    if (pc >= view->kernel->n_insns || !(view->kernel->insn[pc].taken_path | view->kernel->insn[pc].other_path))
        return;
    sched_add(&caws->has_branched, slot);
    caws->branch_pc[slot] = pc;
    caws->branch_lanes[slot] = view->slot[slot].active_lanes;
}

static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    enum { COUNTER_BITS = 32 };
    (void)options;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size, lines = 0;
    if (machine->cacp.is_present)
        lines = machine->l1.cache.size_bytes / machine->l1.cache.line_bytes;
    int used = snprintf(
        formula, size,
        "ours: for each of %u warps, counters of instructions left, instructions and stall cycles, of %d bits each",
        warps, COUNTER_BITS);
    if (lines)
        snprintf(
            formula + used, size - (size_t)used,
            "; for cacp a signature of 8 bits, 2 bits of distance and 2 of use in each of %u lines of the L1, and two "
            "tables of 256 counters of 2 bits",
            lines);
    return 3ull * COUNTER_BITS * warps + 12ull * lines + (lines ? 2ull * 256 * 2 : 0);
}

#define CRITICALITY                                                                                                    \
    .option = option_table, .options_bytes = sizeof(struct options), .state_bytes = sizeof(struct caws),               \
    .arrive = arrive, .leave = leave, .stall = sched_no_stall, .wake = sched_no_slot, .pick = pick, .issued = issued,  \
    .cost_bits = cost_bits, .wants = SCHED_WANTS_ACCOUNTS | SCHED_WANTS_KERNEL, .has_one_state = true,                 \
    .is_critical = is_critical

const struct sched_ops sched_caws = {
    .name = "caws",
    .help = "criticality-aware: the warp that is predicted to end last goes first",
    .start = start,
    CRITICALITY,
};

const struct sched_ops sched_gcaws = {
    .name = "gcaws",
    .help = "greedy caws: the same warp until it stalls, then the one that is predicted to end last",
    .start = start_greedy,
    CRITICALITY,
};
