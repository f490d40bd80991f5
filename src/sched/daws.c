/* Divergence-aware warp scheduling: predicts how much of the L1 a warp needs for the data that it reuses in a loop, and
 * lets warps load in loops only while their needs fit.
 *
 * Source: Rogers, O'Connor and Aamodt, Divergence-Aware Warp Scheduling, MICRO 2013.
 * - A warp's footprint in a loop is the sum over the loads of the loop that reuse data: as many lines as the warp has
 *   active lanes for a divergent load, and the lines of a single access for a convergent one. It follows the number of
 *   active lanes, because lanes leave a loop at different times.
 * - The loads are classified while the kernel runs: by whether their data is reused within the warp and the loop, and
 *   by whether their accesses are divergent.
 * - A warp may load in a loop if its footprint fits into the L1 beside the footprints of the warps that are in loops
 *   already. Otherwise it waits until others leave. `capacity` percent (60) of the L1's lines count, because of
 * conflicts in its sets.
 * - The order is that of gto.
 *
 * Nobody has compared these rules with the full text yet (docs/schedulers.md).
 *
 * Left open by the paper, or different here:
 * - The loop is the outermost one around the instruction, of those that the compiler's output has. The paper marks
 * loops in the program.
 * - Each warp remembers lines that it brought, up to TAGS of them, whether they are still in the L1 or not. An access
 *   of the warp to such a line, in the same loop, is a reuse of the load that brought it. A load reuses data if, after
 *   LEARN lines, there are at least a quarter as many reuses as lines that it has accessed. The paper combines the hits
 *   of one warp that it observes with victim tags.
 * - A load is divergent from its first access to more than two lines on. Convergent accesses of 64 bits touch two.
 * - Loads of neighbouring addresses in one line count each. The paper merges them.
 * - Warps that want to enter a loop enter in the order of their age. If no warp is in a loop, the oldest enters even if
 *   its footprint does not fit.
 * - A warp that waits for others at a barrier, a join or a fence gives its place up, and asks again afterwards.
 * - After `patience` (1000000) cycles a warp enters in any case, because it may hold a lock that warps in the loop wait
 *   for. */
#include <stdio.h>

#include "sched/internal.h"

enum { TAGS = 128, LEARN = 64, LOADS = 256, LOOPS = 64, CONVERGENT_LINES = 2 };

struct options {
    uint32_t capacity, patience;
};

static const struct config_plugin_option option_table[] = {
    {"capacity", CONFIG_PLUGIN_UINT, offsetof(struct options, capacity), 60, 1, 1000, NULL,
     "percent of the lines of the L1 that footprints may take"},
    {"patience", CONFIG_PLUGIN_UINT, offsetof(struct options, patience), 1000000, 1, UINT32_MAX, NULL,
     "cycles after which a warp enters a loop in any case"},
    {0},
};

struct tag {
    uint64_t line; /* its address plus 1; 0: none */
    uint32_t pc;   /* of the load that brought it */
};

/* A static load. */
struct load {
    uint32_t pc, most_lines; /* of an access; 0: the entry is free */
    uint64_t n_lines, n_reused;
    bool reuses, is_divergent;
};

/* The loads of an outermost loop that reuse data. */
struct loop {
    uint32_t n_divergent, convergent_lines;
};

struct daws {
    struct options options;
    struct sched_greedy greedy;
    bool has_reuse;           /* some load reuses data, or did */
    struct sched_set inside;  /* warps that may load in their loop */
    struct sched_set waiting; /* warps that want to */
    uint8_t loop_of[SCHED_MAX_SLOTS];
    uint64_t waits_since[SCHED_MAX_SLOTS];
    struct load load[LOADS];
    struct loop loop[LOOPS];
    struct tag tag[SCHED_MAX_SLOTS][TAGS];
};

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)n_slots;
    ((struct daws *)state)->options = *(const struct options *)options;
}

/* Returns the outermost loop around the instruction, or LOOPS: none, or one too many. */
static uint32_t loop_at(const struct sched_kernel *kernel, uint32_t pc) {
    if (pc >= kernel->n_insns || kernel->insn[pc].loop == SCHED_NO_LOOP)
        return LOOPS;
    uint32_t loop = kernel->insn[pc].loop;
    while (kernel->loop[loop].parent != SCHED_NO_LOOP)
        loop = kernel->loop[loop].parent;
    return loop < LOOPS ? loop : LOOPS;
}

/* ---- Classification of loads ------------------------------------------------------------------------------------- */

/* Adds the load to its loop's footprint, or takes it out. */
static void count_load(struct daws *daws, const struct sched_kernel *kernel, const struct load *load, bool is_added) {
    uint32_t at = loop_at(kernel, load->pc);
    if (!load->reuses || at == LOOPS)
        return;
    struct loop *loop = &daws->loop[at];
    uint32_t lines = load->is_divergent ? 0 : load->most_lines, divergent = load->is_divergent;
    loop->convergent_lines = is_added ? loop->convergent_lines + lines : loop->convergent_lines - lines;
    loop->n_divergent = is_added ? loop->n_divergent + divergent : loop->n_divergent - divergent;
}

/* Returns the load's entry, or NULL if another load has its place. */
static struct load *load_at(struct daws *daws, uint32_t pc) {
    struct load *load = &daws->load[pc % LOADS];
    if (!load->most_lines)
        *load = (struct load){.pc = pc, .most_lines = 1};
    return load->pc == pc ? load : NULL;
}

/* Adds to the load's counts, and classifies it. */
static void note(struct daws *daws, const struct sched_view *view, uint32_t pc, uint32_t n_lines, bool is_reuse) {
    struct load *load = load_at(daws, pc);
    if (!load)
        return;
    load->n_lines += !is_reuse;
    load->n_reused += is_reuse;
    bool reuses = load->n_lines >= LEARN && 4 * load->n_reused >= load->n_lines;
    bool is_wider = n_lines > load->most_lines && !load->is_divergent;
    if (!is_wider && reuses == load->reuses)
        return;
    count_load(daws, view->kernel, load, false);
    load->reuses = reuses;
    load->most_lines = is_wider ? n_lines : load->most_lines;
    load->is_divergent |= load->most_lines > CONVERGENT_LINES;
    daws->has_reuse |= reuses;
    count_load(daws, view->kernel, load, true);
}

static struct tag *tag_of(struct daws *daws, const struct sched_view *view, uint32_t slot, uint64_t line) {
    uint32_t line_bytes = view->kernel->l1_line_bytes ? view->kernel->l1_line_bytes : 1;
    return &daws->tag[slot][line / line_bytes % TAGS];
}

/* Returns the tag of a line that the warp accesses, if it brought the line itself in the same loop; otherwise NULL. */
static const struct tag *reused(struct daws *daws, const struct sched_view *view, const struct sched_l1_event *event) {
    const struct tag *tag = tag_of(daws, view, event->slot, event->line);
    uint32_t loop = loop_at(view->kernel, event->pc);
    bool is_same = tag->line == event->line + 1 && loop != LOOPS && loop_at(view->kernel, tag->pc) == loop;
    return is_same ? tag : NULL;
}

static void l1(void *state, const struct sched_view *view, const struct sched_l1_event *event) {
    struct daws *daws = state;
    if (event->is_store)
        return;
    if (event->kind == SCHED_L1_FILL)
        *tag_of(daws, view, event->slot, event->line) = (struct tag){event->line + 1, event->pc};
    if (event->kind != SCHED_L1_HIT && event->kind != SCHED_L1_MISS)
        return;
    const struct tag *tag = reused(daws, view, event);
    note(daws, view, event->pc, event->n_lines, false);
    if (tag)
        note(daws, view, tag->pc, 0, true);
}

/* ---- Admission --------------------------------------------------------------------------------------------------- */

static uint64_t footprint(const struct daws *daws, const struct sched_view *view, uint32_t slot, uint32_t loop) {
    return (uint64_t)daws->loop[loop].n_divergent * view->slot[slot].active_lanes + daws->loop[loop].convergent_lines;
}

/* Takes the warps out that have left their loop or wait for others. Returns the lines that the rest needs. */
static uint64_t lines_inside(struct daws *daws, const struct sched_view *view) {
    uint64_t lines = 0;
    struct sched_set left = daws->inside;
    for (int slot; (slot = sched_first(&left)) != SCHED_NONE; sched_remove(&left, (uint32_t)slot)) {
        uint32_t s = (uint32_t)slot;
        if (loop_at(view->kernel, view->slot[s].pc) != daws->loop_of[s] || sched_has(view->pending, s))
            sched_remove(&daws->inside, s);
        else
            lines += footprint(daws, view, s, daws->loop_of[s]);
    }
    return lines;
}

static bool may_enter(const struct daws *daws, const struct sched_view *view, uint32_t slot, uint64_t lines) {
    uint64_t capacity = (uint64_t)view->kernel->l1_lines * daws->options.capacity / 100;
    bool has_waited =
        sched_has(&daws->waiting, slot) && view->cycle - daws->waits_since[slot] >= daws->options.patience;
    return lines <= capacity || sched_is_empty(&daws->inside) || has_waited;
}

static void hold(void *state, const struct sched_view *view, struct sched_set *held) {
    struct daws *daws = state;
    if (!daws->has_reuse || !view->kernel->l1_lines)
        return;
    uint64_t lines = lines_inside(daws, view);
    struct sched_set loads = sched_and(view->ready, view->next_load);
    loads = sched_and_not(&loads, &daws->inside);
    for (int slot; (slot = sched_order_first(&daws->greedy.by_age, &loads)) != SCHED_NONE;) {
        uint32_t s = (uint32_t)slot, loop = loop_at(view->kernel, view->slot[s].pc);
        sched_remove(&loads, s);
        uint64_t own = loop == LOOPS ? 0 : footprint(daws, view, s, loop);
        if (!own)
            continue;
        if (may_enter(daws, view, s, lines + own)) {
            lines += own;
            daws->loop_of[s] = (uint8_t)loop;
            sched_add(&daws->inside, s);
            sched_remove(&daws->waiting, s);
            continue;
        }
        if (!sched_has(&daws->waiting, s))
            daws->waits_since[s] = view->cycle;
        sched_add(&daws->waiting, s);
        sched_add(held, s);
    }
}

/* ---- Hooks ------------------------------------------------------------------------------------------------------- */

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct daws *daws = state;
    sched_greedy_arrive(&daws->greedy, view, slot);
    for (uint32_t i = 0; i < TAGS; i++)
        daws->tag[slot][i].line = 0;
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    struct daws *daws = state;
    sched_greedy_leave(&daws->greedy, view, slot);
    sched_remove(&daws->inside, slot);
    sched_remove(&daws->waiting, slot);
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    const struct daws *daws = state;
    return sched_greedy_pick(&daws->greedy, view, candidates);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    sched_greedy_issued(&((struct daws *)state)->greedy, view, slot);
}

static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    enum { TAG_BITS = 40, PC_BITS = 16, LINES_BITS = 16 };
    (void)options;
    uint64_t warps = machine->sm.threads / machine->sm.warp_size;
    snprintf(formula, size,
             "ours: %d tags of %d bits with a pc of %d for each of %u warps; a pc and 36 bits for each of %d loads; "
             "%d bits for each of %d loops; a footprint of %d bits and a loop of 6 for each warp",
             TAGS, TAG_BITS, PC_BITS, (unsigned)warps, LOADS, 2 * LINES_BITS, LOOPS, LINES_BITS);
    return warps * TAGS * (TAG_BITS + PC_BITS) + LOADS * (PC_BITS + 36) + LOOPS * 2 * LINES_BITS +
           warps * (LINES_BITS + 6);
}

const struct sched_ops sched_daws = {
    .name = "daws",
    .help = "divergence-aware: warps load in loops only while the data that they reuse fits into the L1",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct daws),
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
    .cost_bits = cost_bits,
    .wants = SCHED_WANTS_KERNEL,
    .has_one_state = true,
    .l1 = l1,
    .hold = hold,
};
