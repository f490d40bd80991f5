/* dwf: dynamic warp formation. There is no stack. A warp that retires an instruction joins the youngest warp of the
 * pool that has the same next instruction. Threads that find no free lane there enter the pool as a new warp. Threads
 * meet again only because the scheduler keeps them together (majority, pdprio, pc).
 *
 * Source: Fung et al. 2007 as described in Narasiman 2011, 4, and 2014, 3.2.1. With `lanes=free` threads may move to
 * other lanes, and with `pool=diverged` the pool consists of threads that have diverged (both Malits 2012, 3.2).
 *
 * Ours:
 * - The pool consists of the warps that could issue. Warps with results in flight are not in it.
 * - On barrel and switch-on-access machines a warp retires after every instruction. On a scoreboard machine
 *   instructions overlap, and a warp that retired would have to wait for its results each time. There the model
 *   compares warps only where basic blocks begin, and a warp waits only if there is another that it may join.
 * - A full warp never waits to join another: it has no room, and no warp that it could fill has room for all of it.
 * - If all threads of a warp wait at a barrier, the warp keeps its slot unless another needs it. Threads that wait
 *   while others of their warp continue leave the warp. When they no longer wait, they enter the pool row by row.
 * - If there are more warps than slots, the rest queue. A queued warp can still be joined.
 * - A spinning thread keeps its warp in a slot. If the warps in all slots spin on a value that a queued warp will
 *   write, the SM hangs. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/parts/count.h"
#include "divergence/parts/resolve.h"
#include "divergence/warp_pool/warp_pool.h"

enum { LANES_AWARE, LANES_FREE };
enum { POOL_ALL, POOL_DIVERGED };

struct options {
    uint32_t lanes, pool;
};

struct model {
    struct divergence_warp_pool pool;
    bool is_free;         /* threads may change lanes */
    bool retires_always;  /* not only where basic blocks begin */
    bool only_diverged;   /* other warps keep their threads */
    uint32_t *next_block; /* by pc: the first instruction after it that begins a basic block */
    /* By pc: the warps that last began to run there, the youngest first. Some may have run past it, but not as far as
     * the next place where warps are compared. */
    struct divergence_dynamic_warp **youngest;
};

static const struct config_plugin_option option_table[] = {
    {"lanes", CONFIG_PLUGIN_CHOICE, offsetof(struct options, lanes), LANES_AWARE, 0, 0, "aware|free",
     "a thread keeps its lane, or takes any that is free"},
    {"pool", CONFIG_PLUGIN_CHOICE, offsetof(struct options, pool), POOL_ALL, 0, 0, "all|diverged",
     "the threads that join other warps: all, or those that have diverged"},
    {.name = NULL},
};

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)options, (void)machine;
    return divergence_refuse_unsynced(program, "dwf", text, size);
}

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    divergence_warp_pool_start(&model->pool, setup, sizeof(struct divergence_dynamic_warp));
    model->pool.carries = true;
    model->is_free = ((const struct options *)setup->options)->lanes == LANES_FREE;
    model->only_diverged = ((const struct options *)setup->options)->pool == POOL_DIVERGED;
    model->retires_always = setup->machine->sm.pipeline != CONFIG_PIPELINE_SCOREBOARD;
    return model;
}

static void free_model(void *user) {
    struct model *model = user;
    divergence_warp_pool_end(&model->pool);
    free(model->next_block);
    free(model->youngest);
    free(model);
}

/* Finds where paths may come together: targets of branches, the instructions after branches, and reconvergence
 * points. */
static void begin_grid(void *user) {
    struct model *model = user;
    const struct exec_program *program = model->pool.setup.cx->grid->program;
    free(model->next_block);
    free(model->youngest);
    model->next_block = base_allocate(program->n_insns + 1, sizeof *model->next_block);
    model->youngest = base_allocate(program->n_insns + 1, sizeof(struct divergence_dynamic_warp *));
    bool *begins = base_allocate(program->n_insns + 1, sizeof *begins);
    for (uint32_t pc = 0; pc < program->n_insns; pc++) {
        const struct exec_insn *insn = &program->code[pc];
        if (insn->kind == EXEC_KIND_BRANCH)
            begins[insn->target] = true;
        if (insn->kind == EXEC_KIND_BRANCH_INDEXED)
            for (uint32_t i = 1; i <= program->branch_table[insn->branch_table][0]; i++)
                begins[program->branch_table[insn->branch_table][i]] = true;
        bool is_branch = insn->kind == EXEC_KIND_BRANCH || insn->kind == EXEC_KIND_BRANCH_INDEXED;
        if (is_branch && insn->reconvergence != EXEC_NO_PC)
            begins[insn->reconvergence] = true;
    }
    uint32_t next = EXEC_NO_PC;
    for (uint32_t pc = program->n_insns; pc-- > 0;) {
        model->next_block[pc] = next;
        if (begins[pc])
            next = pc;
    }
    free(begins);
}

/* --- the pool --- */

static bool is_full(const struct model *model, const struct divergence_dynamic_warp *warp) {
    return warp->mask == model->pool.all_lanes;
}

/* Returns the youngest warp that could issue the instruction at pc; NULL: none. `self` is not in the pool. */
static struct divergence_dynamic_warp *youngest_at(const struct model *model, uint32_t pc,
                                                   const struct divergence_dynamic_warp *self, uint64_t cycle) {
    const struct divergence_setup *setup = &model->pool.setup;
    for (struct divergence_dynamic_warp *warp = model->youngest[pc]; warp; warp = warp->older)
        if (warp->group.pc == pc && warp != self && warp->mask && (!model->only_diverged || warp->is_diverged) &&
            warp->group.status == DIVERGENCE_RUNS && !setup->host->is_in_flight(setup->sm, &warp->group, cycle))
            return warp;
    return NULL;
}

static bool has_room_for(const struct model *model, const struct divergence_dynamic_warp *warp,
                         const struct divergence_dynamic_warp *other) {
    return model->is_free ? !is_full(model, warp) : (other->mask & ~warp->mask) != 0;
}

/* The warp runs at pc, and is the youngest there. */
static void set_running(struct model *model, struct divergence_dynamic_warp *warp, uint32_t pc) {
    warp->group.status = DIVERGENCE_RUNS;
    warp->group.pc = pc;
    warp->group.notify_pc = model->retires_always ? pc + 1 : model->next_block[pc];
    divergence_dynamic_warp_set_youngest(warp, &model->youngest[pc]);
}

/* Moves threads of `from` (those in *mask) to `to` while there is room. */
static void move_threads(const struct model *model, struct divergence_dynamic_warp *to,
                         struct divergence_dynamic_warp *from, uint32_t *mask) {
    uint8_t at[EXEC_LANES];
    uint32_t moving = model->is_free ? 0 : *mask & ~to->mask;
    for (uint32_t left = model->is_free ? *mask : 0; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        int room = divergence_dynamic_warp_room(to, i, model->pool.setup.machine->sm.warp_size);
        if (room < 0)
            break;
        at[i] = (uint8_t)room;
        to->mask |= 1u << room;
        moving |= 1u << i;
    }
    divergence_dynamic_warp_take(&model->pool, to, model->is_free ? at : NULL, from, moving);
    *mask &= ~moving;
}

/* Threads of a retired warp, all with this next instruction, enter the pool. Those that find no room in another warp
 * stay in `own`, the retired warp, or form a new one if that is NULL. Returns true if `own` has been used.
 * is_diverged: they have diverged. */
static bool enter_pool(struct model *model, struct divergence_dynamic_warp *from, uint32_t mask, uint32_t pc,
                       struct divergence_dynamic_warp *own, bool is_diverged, uint64_t cycle) {
    const struct divergence_setup *setup = &model->pool.setup;
    struct divergence_dynamic_warp *youngest =
        model->only_diverged && !is_diverged ? NULL : youngest_at(model, pc, own, cycle);
    if (youngest) {
        uint32_t before = mask;
        move_threads(model, youngest, from, &mask);
        if (mask != before) {
            setup->counters->merges++;
            if (from->group.passed < youngest->group.passed)
                youngest->group.passed = from->group.passed;
            divergence_dynamic_warp_show(youngest);
            if (youngest->group.slot != DIVERGENCE_NO_SLOT)
                setup->host->wake(setup->sm, &youngest->group, cycle);
        }
    }
    if (!mask)
        return false;
    struct divergence_dynamic_warp *warp = own ? own : divergence_warp_pool_new_warp(&model->pool);
    if (!own)
        divergence_dynamic_warp_take(&model->pool, warp, NULL, from, mask);
    warp->mask = mask;
    set_running(model, warp, pc);
    warp->is_diverged = is_diverged;
    divergence_dynamic_warp_show(warp);
    if (!own) {
        warp->group.passed = from->group.passed;
        divergence_warp_pool_enter(&model->pool, warp, cycle);
    }
    return own != NULL;
}

/* Loose threads (they no longer wait, or their block is new) enter the pool, those of each row as a warp. */
static void take_loose(struct model *model, uint64_t cycle) {
    struct divergence_warp_pool *pool = &model->pool;
    for (uint32_t i = 0; i < pool->n_loose; i++) {
        const struct divergence_loose *threads = &pool->loose[i];
        struct divergence_dynamic_warp row = {.group.passed = threads->passed};
        for (uint32_t left = threads->mask; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            divergence_dynamic_warp_put(&row, lane, threads->row, lane, threads->pc);
        }
        enter_pool(model, &row, row.mask, threads->pc, NULL, false, cycle);
    }
    pool->n_loose = 0;
}

/* --- hooks --- */

static void admit(void *user, struct divergence_block *block, uint64_t cycle) {
    struct model *model = user;
    divergence_warp_pool_admit(&model->pool, block);
    take_loose(model, cycle);
}

/* All threads of the warp continue at group.pc: alone, or in another warp if one has room. */
static void go_on(struct model *model, struct divergence_dynamic_warp *warp, uint64_t cycle) {
    set_running(model, warp, warp->group.pc);
    if (is_full(model, warp) || (model->only_diverged && !warp->is_diverged))
        return;
    if (!model->retires_always) {
        const struct divergence_dynamic_warp *youngest = youngest_at(model, warp->group.pc, warp, cycle);
        if (!youngest || !has_room_for(model, youngest, warp))
            return;
    }
    warp->is_together = true;
    warp->group.status = DIVERGENCE_DRAINS;
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct model *model = user;
    struct divergence_dynamic_warp *warp = (struct divergence_dynamic_warp *)group;
    const struct exec_insn *insn = &model->pool.setup.cx->grid->program->code[pc];
    if (insn->kind == EXEC_KIND_BRANCH) {
        struct divergence_outcome outcome = divergence_resolve_branch(insn, pc, 1, &warp->mask, &mask);
        if (!outcome.is_divergent) { /* most branches */
            divergence_count_branch(&model->pool.setup, pc, false);
            group->pc = outcome.target;
            go_on(model, warp, cycle);
            return;
        }
    }
    uint32_t before = warp->mask, there;
    group->status = DIVERGENCE_DRAINS; /* not in the pool while other threads enter it */
    divergence_warp_pool_control(&model->pool, warp, before, mask, pc, cycle);
    take_loose(model, cycle);
    uint32_t next = divergence_dynamic_warp_lowest(warp, warp->mask, &there);
    if (!warp->mask) {
        divergence_warp_pool_leave(&model->pool, warp, true, cycle);
    } else if (warp->waits == warp->mask && !model->pool.queue_length) {
        group->status = DIVERGENCE_WAITS;
    } else if (there == warp->mask && !warp->waits) {
        group->pc = next;
        if (warp->mask != before)
            divergence_dynamic_warp_show(warp);
        go_on(model, warp, cycle);
    }
}

static void reached(void *user, struct divergence_group *group, uint64_t cycle) {
    go_on(user, (struct divergence_dynamic_warp *)group, cycle);
}

/* A warp retires, and all its threads have the same next instruction. */
static void resume_together(struct model *model, struct divergence_dynamic_warp *warp, uint64_t cycle) {
    const struct divergence_dynamic_warp *youngest = youngest_at(model, warp->group.pc, warp, cycle);
    if (!youngest || !has_room_for(model, youngest, warp)) { /* there is none to fill: it continues */
        set_running(model, warp, warp->group.pc);
        return;
    }
    uint32_t all = warp->mask;
    divergence_dynamic_warp_set_pcs(warp, warp->group.pc);
    warp->mask = 0;
    if (!enter_pool(model, warp, all, warp->group.pc, warp, warp->is_diverged, cycle))
        divergence_warp_pool_leave(&model->pool, warp, true, cycle);
}

static bool has_several_paths(const struct divergence_dynamic_warp *warp) {
    uint32_t there;
    divergence_dynamic_warp_lowest(warp, warp->mask, &there);
    return there != warp->mask;
}

/* The warp retires: its threads enter the pool, at each of their next instructions. */
static void resume(void *user, struct divergence_group *group, uint64_t cycle) {
    struct model *model = user;
    struct divergence_dynamic_warp *warp = (struct divergence_dynamic_warp *)group;
    if (warp->is_together) {
        warp->is_together = false;
        resume_together(model, warp, cycle);
        return;
    }
    divergence_dynamic_warp_dismiss(warp);
    struct divergence_dynamic_warp *own = warp;
    uint32_t n_paths = 0, those, all = warp->mask;
    bool is_diverged = warp->is_diverged || has_several_paths(warp);
    warp->mask = 0;
    for (uint32_t left = all; left; left &= ~those) {
        uint32_t pc = divergence_dynamic_warp_lowest(warp, left, &those);
        n_paths++;
        if (enter_pool(model, warp, those, pc, own, is_diverged, cycle))
            own = NULL;
    }
    model->pool.setup.counters->warp_splits += n_paths > 1;
    if (own)
        divergence_warp_pool_leave(&model->pool, warp, true, cycle);
}

static void refill(void *user, uint64_t cycle) { divergence_warp_pool_refill(&((struct model *)user)->pool, cycle); }

static void visit(const void *user, const struct divergence_block *block,
                  void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                 uint32_t lane),
                  void *visitor) {
    divergence_warp_pool_visit(&((const struct model *)user)->pool, block, thread, visitor);
}

/* Fung 2007, 4.3. A pool entry holds a pc, a thread number for each lane and the scheduler's bits. An entry of the
 * table that finds the youngest warp of a pc holds the pc, an occupancy bit for each lane and the number of a pool
 * entry. Both have as many entries as there are warps. */
static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size, lanes = machine->sm.warp_size, number = 1;
    while (1u << number < warps)
        number++;
    snprintf(formula, size,
             "warps x (32-bit pc + lanes x %u-bit warp number) + warps x (32-bit pc + lanes + %u-bit pool entry): "
             "%u x %u + %u x %u",
             number, number, warps, 32 + lanes * number, warps, 32 + lanes + number);
    return (uint64_t)warps * (32 + lanes * number) + (uint64_t)warps * (32 + lanes + number);
}

const struct divergence_ops divergence_dwf = {
    .name = "dwf",
    .help = "dynamic warp formation: threads of any warps with the same next instruction form new warps",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .splits_rows = true,
    .refuses = refuses,
    .n_slots = divergence_warp_pool_n_slots,
    .new_model = new_model,
    .free_model = free_model,
    .begin_grid = begin_grid,
    .new_block = divergence_warp_pool_new_block,
    .free_block = divergence_warp_pool_free_block,
    .admit = admit,
    .control = control,
    .reached = reached,
    .resume = resume,
    .refill = refill,
    .visit = visit,
    .cost_bits = cost_bits,
};
