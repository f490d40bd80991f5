/* subwarp: subwarp interleaving. Convergence barriers, as in barriers, but a diverged warp does not wait while a path
 * of it could run: when its active subwarp waits for data from memory, another one becomes active. A subwarp is a path
 * of a warp: the lanes at one pc.
 *
 * Source: Damani et al., "GPU Subwarp Interleaving", HPCA 2022. Only its abstract could be read. The states of a thread
 * and the names of the transitions are those of its thread status table, as a public simulator implements it:
 *
 *     state     here                                      leaves it by
 *     active    the last path, whose pc the group has     subwarp-stall, subwarp-yield, BSYNC, a divergent branch
 *     ready     any other path that can run               subwarp-select: becomes active
 *     stalled   a path that waits for memory              subwarp-wakeup: its data have arrived, it is ready
 *     blocked   lanes that have arrived at a barrier      the barrier is complete: active
 *
 * The hardware needs scoreboards for each subwarp. Here the SM tracks the results of each lane (sm/boards.h), so a
 * subwarp waits only for its own results, including those from before the warp diverged.
 *
 * Ours:
 * - When subwarps switch (`trigger`), how long it takes (`latency`), which one is next (`order`) and how many may be
 *   stalled at a time (`entries`). We do not know the paper's values.
 * - With trigger=half and trigger=all the SM's groups are counted, not those of a scheduler. A warp that may not switch
 *   yet tries again when another stalls, and when the SM is idle.
 * - yield=on: a subwarp gives way right after a long load, before it stalls, if another is ready. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/convergence/warps.h"

enum { TRIGGER_ANY, TRIGGER_HALF, TRIGGER_ALL };
enum { ORDER_LAST, ORDER_FIRST };
enum { YIELD_OFF, YIELD_ON };

struct options {
    uint32_t trigger, yield, latency, order, entries;
};

static const struct config_plugin_option option_table[] = {
    {"trigger", CONFIG_PLUGIN_CHOICE, offsetof(struct options, trigger), TRIGGER_HALF, 0, 0, "any|half|all",
     "a stalled subwarp gives way always, if at least half of the SM's groups wait for memory, or if no other can "
     "issue"},
    {"yield", CONFIG_PLUGIN_CHOICE, offsetof(struct options, yield), YIELD_OFF, 0, 0, "off|on",
     "a subwarp gives way when it stalls, or right after each load of global, local or texture memory too"},
    {"latency", CONFIG_PLUGIN_UINT, offsetof(struct options, latency), 6, 0, 1000, NULL, "cycles that a switch takes"},
    {"order", CONFIG_PLUGIN_CHOICE, offsetof(struct options, order), ORDER_LAST, 0, 0, "last|first",
     "the ready subwarp that becomes active: the one that stopped last, or first"},
    {"entries", CONFIG_PLUGIN_UINT, offsetof(struct options, entries), 0, 0, 32, NULL,
     "subwarps of a warp that may be stalled while another runs; 0: any number"},
    {0},
};

enum { MOST_LISTED = CONFIG_MAX_WARPS };

struct model {
    struct divergence_converging base; /* first */
    struct options options;
    const struct exec_program *program; /* of next_pause */
    uint32_t *next_pause;
    /* Warps whose active subwarp is stalled, and that may switch when more of the SM waits. */
    struct divergence_converging_warp *listed[MOST_LISTED];
    uint32_t n_listed;
};

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    model->base.setup = *setup;
    model->options = *(const struct options *)setup->options;
    return model;
}

static void free_model(void *user) {
    struct model *model = user;
    free(model->next_pause);
    free(model);
}

static bool is_long_load(const struct exec_insn *insn) {
    bool is_long = insn->access.space == PTX_SPACE_GLOBAL || insn->access.space == PTX_SPACE_GENERIC ||
                   insn->access.space == PTX_SPACE_LOCAL || ptx_opcode_family(insn->opcode) == PTX_FAMILY_TEXTURE;
    return insn->kind == EXEC_KIND_CONTEXT && insn->n_dst && is_long;
}

static void begin_grid(void *user) {
    struct model *model = user;
    const struct exec_program *program = model->base.setup.cx->grid->program;
    model->n_listed = 0;
    if (model->options.yield == YIELD_OFF || model->program == program)
        return;
    free(model->next_pause);
    model->next_pause = base_allocate(program->n_insns, sizeof *model->next_pause);
    uint32_t next = EXEC_NO_PC;
    for (uint32_t pc = program->n_insns; pc-- > 0;) {
        if (is_long_load(&program->code[pc]))
            next = pc + 1;
        model->next_pause[pc] = next;
    }
    model->base.next_pause = model->next_pause;
    model->program = program;
}

/* --- switching --- */

/* Returns the cycle in which a path has its data; 0: it waits for none; UINT64_MAX: not known. */
static uint64_t data_ready(const struct model *model, const struct divergence_converging_warp *warp, uint32_t pc,
                           uint32_t mask) {
    const struct divergence_setup *setup = &model->base.setup;
    return setup->host->splits->data_ready(setup->sm, &warp->group, pc, mask);
}

/* subwarp-select: returns the index of the subwarp that becomes active instead of the last one, or -1, and in *from the
 * cycle in which it is ready. If none is ready, it is the one that is known to be ready first, before the active one.
 */
static int select_next(const struct model *model, const struct divergence_converging_warp *warp, uint64_t cycle,
                       uint64_t *from) {
    const struct divergence_paths *paths = &warp->paths;
    int found = -1;
    uint32_t n_stalled = 1;
    *from = data_ready(model, warp, warp->group.pc, warp->group.mask);
    *from = *from > cycle + 1 ? *from : UINT64_MAX; /* it yields, and will stall */
    for (uint32_t i = 0; i + 1 < paths->n_paths; i++) {
        const struct divergence_path *path = &paths->path[i];
        if (path->state != DIVERGENCE_PATH_RUNS)
            continue;
        uint64_t ready = data_ready(model, warp, path->pc, path->mask);
        ready = ready > cycle + 1 ? ready : cycle + 1;
        n_stalled += ready > cycle + 1;
        if (ready > *from || (ready == *from && (found < 0 || model->options.order == ORDER_FIRST)))
            continue;
        found = (int)i;
        *from = ready;
    }
    return model->options.entries && n_stalled > model->options.entries ? -1 : found;
}

/* The active subwarp gives way to another. Returns false if there is none. */
static bool give_way(struct model *model, struct divergence_converging_warp *warp, uint64_t cycle) {
    uint64_t from;
    int index = select_next(model, warp, cycle, &from);
    if (index < 0)
        return false;
    divergence_paths_switch(&warp->paths, warp->group.pc, (uint32_t)index);
    divergence_converging_show(&model->base, warp);
    warp->group.ready_cycle = from + model->options.latency;
    model->base.setup.counters->path_switches++;
    return true;
}

/* Returns whether enough of the SM waits for memory, with this group. */
static bool is_triggered(const struct model *model, const struct divergence_group *group) {
    const struct divergence_setup *setup = &model->base.setup;
    uint32_t others, waiting;
    if (model->options.trigger == TRIGGER_ANY)
        return true;
    setup->host->splits->count_others(setup->sm, group, &others, &waiting);
    return model->options.trigger == TRIGGER_HALF ? 2 * (waiting + 1) >= others + 1 : waiting == others;
}

static void list(struct model *model, struct divergence_converging_warp *warp) {
    if (warp->is_listed || model->n_listed == MOST_LISTED)
        return;
    warp->is_listed = true;
    model->listed[model->n_listed++] = warp;
}

/* Enough of the SM waits: asks the warps that had to wait, once. */
static void ask_listed(struct model *model, const struct divergence_converging_warp *self, uint64_t cycle) {
    const struct divergence_setup *setup = &model->base.setup;
    uint32_t n = model->n_listed;
    model->n_listed = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct divergence_converging_warp *warp = model->listed[i];
        warp->is_listed = false;
        if (warp == self || warp->group.slot == DIVERGENCE_NO_SLOT || warp->group.status != DIVERGENCE_RUNS ||
            data_ready(model, warp, warp->group.pc, warp->group.mask) <= cycle + 1)
            continue;
        if (give_way(model, warp, cycle))
            setup->host->wake(setup->sm, &warp->group, cycle);
    }
}

/* --- hooks --- */

/* subwarp-stall. If all subwarps are stalled, the hook is called again when an access of the warp ends. */
static bool stalls(void *user, struct divergence_group *group, uint64_t cycle) {
    struct model *model = user;
    struct divergence_converging_warp *warp = (struct divergence_converging_warp *)group;
    if (!is_triggered(model, group)) {
        if (warp->paths.n_paths > 1)
            list(model, warp);
        return false;
    }
    bool has_switched = warp->paths.n_paths > 1 && give_way(model, warp, cycle);
    ask_listed(model, warp, cycle);
    return has_switched;
}

static void idle(void *user, uint64_t cycle) { ask_listed(user, NULL, cycle); }

/* A path has reached its barrier, or has issued a load: subwarp-yield. */
static void reached(void *user, struct divergence_group *group, uint64_t cycle) {
    struct model *model = user;
    struct divergence_converging_warp *warp = (struct divergence_converging_warp *)group;
    uint32_t mask = group->mask, pc = group->pc;
    divergence_converging_reached(user, group, cycle);
    bool has_loaded = model->next_pause && model->next_pause[pc - 1] == pc;
    if (has_loaded && group->status == DIVERGENCE_RUNS && group->mask == mask && group->pc == pc)
        give_way(model, warp, cycle);
}

/* barriers, and for each thread of the status table its state and the scoreboard entry that it waits for. */
static uint64_t cost_bits(const void *given, const struct config_machine *machine, char *formula, size_t size) {
    enum { STATE = 3, SCOREBOARD = 3 };
    uint64_t barriers = divergence_converging_cost_bits(given, machine, formula, size);
    size_t length = strlen(formula);
    uint32_t threads = machine->sm.threads;
    snprintf(formula + length, size - length, "; threads x (state 3 + scoreboard 3): %u x %u", threads,
             STATE + SCOREBOARD);
    return barriers + (uint64_t)threads * (STATE + SCOREBOARD);
}

const struct divergence_ops divergence_subwarp = {
    .name = "subwarp",
    .help = "subwarp interleaving: convergence barriers, and when a path waits for memory, another path of its warp "
            "runs",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .splits_rows = true,
    .gathers_rows = true,
    .tracks_lanes = true,
    .new_model = new_model,
    .free_model = free_model,
    .begin_grid = begin_grid,
    .new_block = divergence_converging_new_block,
    .free_block = divergence_converging_free_block,
    .admit = divergence_converging_admit,
    .control = divergence_converging_control,
    .reached = reached,
    .memory = &(const struct divergence_memory_ops){.idle = idle, .stalls = stalls},
    .visit = divergence_converging_visit,
    .cost_bits = cost_bits,
};
