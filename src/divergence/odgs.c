/* odgs: the oracle dynamic global scheduler (Malits 2012, sections 3.5 to 3.8). A warp that diverges leaves its SM for
 * a pool that all SMs share. Threads with equal pc, from anywhere on the chip and whatever their lane, form full warps
 * there. A free slot takes, in this order, a full warp from the pool, a new warp of the grid, or an incomplete warp
 * with the lowest pc. Threads at a barrier leave their slot too, and return as the rows they belong to.
 *
 * By this order alone, every slot would take an incomplete warp as soon as the grid has no new ones, and threads would
 * never meet in the pool again. We read "if there are no more full warps to schedule" (3.5) as the SM's need: an SM
 * takes incomplete warps only while it runs too few warps to be busy (`incomplete`).
 *
 * latency=N: a warp that diverged keeps its slot for N cycles, and its threads are not in the pool (fig. 13). Only
 * slots and registers limit the blocks of an SM: a block is "a logical entity" here.
 *
 * Ours where the paper is silent:
 * - New warps that are not full (NN has blocks of one thread) go to the pool at once. New blocks are fetched until a
 *   full warp has formed.
 * - Threads do not regroup while they may still access shared memory. With shared=off that is the whole kernel. With
 *   shared=after-last it ends when they can no longer reach a shared access.
 * - There, and at branches whose paths have at most `short` instructions (the selective variant of section 3.8), a warp
 *   runs on its own post-dominator stack.
 *
 * Section 3.8 names hierarchical variants without details. odgs/local_dwf.c and odgs/local_tbc.c implement them.
 *
 * odgs/execute.c handles control instructions, odgs/warps.c the warps and the pool, odgs/slots.c the slots of all SMs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/odgs/departure.h"
#include "divergence/odgs/internal.h"
#include "divergence/parts/threads.h"

static const struct config_plugin_option option_table[] = {
    {"latency", CONFIG_PLUGIN_UINT, offsetof(struct divergence_odgs_options, latency), 0, 0, 1000000, NULL,
     "cycles for which a diverged warp keeps its slot and its threads cannot be regrouped"},
    {"shared", CONFIG_PLUGIN_CHOICE, offsetof(struct divergence_odgs_options, shared), DIVERGENCE_ODGS_SHARED_OFF, 0, 0,
     "off|after-last|on", "kernels with shared memory: never regroup, after the last access, always"},
    {"short", CONFIG_PLUGIN_UINT, offsetof(struct divergence_odgs_options, short_length), 0, 0, 100000, NULL,
     "branches whose paths are at most so many instructions long stay on the warp's own stack"},
    {"local", CONFIG_PLUGIN_CHOICE, offsetof(struct divergence_odgs_options, local), DIVERGENCE_ODGS_LOCAL_NONE, 0, 0,
     "none|dwf|tbc",
     "what regroups threads inside an SM first: dwf fills up its incomplete warps, tbc compacts blocks"},
    {"incomplete", CONFIG_PLUGIN_UINT, offsetof(struct divergence_odgs_options, incomplete), 0, 0, 1000000, NULL,
     "incomplete warps go to SMs that run fewer warps than this; 0: as many as fill the pipeline, or all slots"},
    {.name = NULL},
};

/* --- the chip and its SMs --- */

/* Warps that keep an SM busy. Known for a barrel with perfect memory, where each warp issues once in as many cycles as
 * there are stages; elsewhere every slot may hide some latency. */
static uint32_t find_enough(uint32_t option, const struct config_machine *machine) {
    if (option)
        return option;
    if (machine->sm.pipeline != CONFIG_PIPELINE_BARREL || !machine->memory.is_perfect)
        return UINT32_MAX;
    return (machine->sm.stages * machine->sm.simd_width + machine->sm.warp_size - 1) / machine->sm.warp_size;
}

static void *new_chip(const void *options, const struct config_machine *machine) {
    struct divergence_odgs_chip *chip = base_allocate(1, sizeof *chip);
    chip->options = *(const struct divergence_odgs_options *)options;
    chip->warp_size = machine->sm.warp_size;
    chip->n_sms = machine->sm.count;
    chip->enough_warps = find_enough(chip->options.incomplete, machine);
    chip->model = base_allocate(machine->sm.count, sizeof(struct divergence_odgs_sm *));
    chip->n_free = base_allocate(machine->sm.count, sizeof *chip->n_free);
    return chip;
}

static void free_chip(void *user) {
    struct divergence_odgs_chip *chip = user;
    for (uint32_t i = 0; i < chip->n_warps; i++) {
        divergence_stack_free(&chip->warp[i]->stack);
        free(chip->warp[i]->threads.registers);
        free(chip->warp[i]);
    }
    divergence_global_pool_free(&chip->pool);
    free(chip->warp);
    free(chip->model);
    free(chip->n_free);
    free(chip->may_regroup);
    free(chip->may_leave);
    free(chip);
}

static void *new_model(const struct divergence_setup *setup) {
    struct divergence_odgs_sm *model = base_allocate(1, sizeof *model);
    model->setup = *setup;
    model->chip = setup->chip;
    model->chip->model[setup->sm_index] = model;
    divergence_odgs_queue_start(&model->leaving);
    divergence_odgs_queue_start(&model->ended);
    model->here = base_allocate(setup->n_slots, sizeof(struct divergence_odgs_warp *));
    divergence_odgs_start_tbc(model);
    return model;
}

static void free_model(void *user) {
    free(((struct divergence_odgs_sm *)user)->here);
    free(user);
}

static void begin_grid(void *user) {
    struct divergence_odgs_sm *model = user;
    struct divergence_odgs_chip *chip = model->chip;
    const struct exec_grid *grid = model->setup.cx->grid;
    divergence_odgs_queue_start(&model->leaving);
    divergence_odgs_queue_start(&model->ended);
    model->n_here = model->compact.n_kept = model->n_held = model->n_leaving = 0;
    if (model->setup.sm_index != 0)
        return;
    chip->program = grid->program;
    chip->cx = model->setup.cx;
    chip->has_counted = false;
    uint32_t block_threads = exec_shape_threads(&grid->shape);
    chip->block_rows = (block_threads + chip->warp_size - 1) / chip->warp_size;
    divergence_global_pool_start(&chip->pool, grid->program->n_insns);
    divergence_odgs_queue_start(&chip->full);
    divergence_odgs_queue_start(&chip->fresh);
    chip->unused = NULL;
    for (uint32_t i = 0; i < chip->n_warps; i++)
        divergence_odgs_give_back(chip, chip->warp[i]);
    chip->may_regroup = base_grow(chip->may_regroup, grid->program->n_insns, sizeof *chip->may_regroup);
    chip->is_free = !grid->shared_bytes || chip->options.shared == DIVERGENCE_ODGS_SHARED_ON;
    memset(chip->may_regroup, chip->is_free, grid->program->n_insns);
    if (!chip->is_free && chip->options.shared == DIVERGENCE_ODGS_SHARED_AFTER_LAST)
        divergence_find_shared_free(grid->program, chip->may_regroup);
    if (chip->options.local == DIVERGENCE_ODGS_LOCAL_TBC)
        divergence_odgs_find_where_to_leave(chip);
}

static void *new_block(void *user, const struct exec_cta *cta) {
    const struct divergence_odgs_sm *model = user;
    struct divergence_odgs_block *block = base_allocate(1, sizeof *block);
    block->sync = divergence_sync_new(cta->n_rows);
    if (model->chip->options.local == DIVERGENCE_ODGS_LOCAL_TBC)
        block->compact = divergence_compact_new_block(cta);
    return block;
}

static void free_block(void *user, void *state) {
    (void)user;
    struct divergence_odgs_block *block = state;
    divergence_sync_free(block->sync);
    if (block->compact)
        divergence_compact_free_block(block->compact);
    free(block);
}

/* divergence_odgs_refill() places the new warps. */
static void admit(void *user, struct divergence_block *block, uint64_t cycle) {
    const struct divergence_odgs_sm *model = user;
    struct divergence_odgs_chip *chip = model->chip;
    struct divergence_odgs_block *state = block->state;
    divergence_sync_start(state->sync);
    if (state->compact) {
        divergence_odgs_admit_tbc(user, block, cycle);
        return;
    }
    for (uint32_t i = 0; i < block->cta->n_rows; i++)
        divergence_odgs_add_row(chip, &block->cta->row[i], block->cta->row[i].threads,
                                chip->program->function[0].first_pc, DIVERGENCE_ODGS_NOWHERE, &chip->fresh);
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct divergence_odgs_sm *model = user;
    if (divergence_compact_owns(group))
        divergence_compact_control(&model->compact, group, pc, mask, cycle);
    else
        divergence_odgs_execute(model, (struct divergence_odgs_warp *)group, pc, mask, cycle);
}

static void reached(void *user, struct divergence_group *group, uint64_t cycle) {
    struct divergence_odgs_sm *model = user;
    if (divergence_compact_owns(group)) {
        divergence_compact_reached(&model->compact, group, cycle);
        return;
    }
    model->setup.counters->reconvergences++;
    divergence_odgs_end_path((struct divergence_odgs_warp *)group);
}

/* Nothing of a diverged warp is in flight: it leaves, after the latency. */
static void resume(void *user, struct divergence_group *group, uint64_t cycle) {
    struct divergence_odgs_sm *model = user;
    if (divergence_compact_owns(group)) {
        divergence_compact_resume(&model->compact, group, cycle);
        return;
    }
    struct divergence_odgs_warp *warp = (struct divergence_odgs_warp *)group;
    if (!model->chip->options.latency) {
        divergence_odgs_leave(model, warp, cycle);
        return;
    }
    warp->due = cycle + model->chip->options.latency;
    group->status = DIVERGENCE_WAITS;
    divergence_odgs_queue_push(&model->leaving, warp);
    model->n_leaving++;
    bool may_lack_warps = model->chip->enough_warps < model->n_slots; /* and another slot is free */
    model->setup.host->chip->call_at(model->setup.sm, may_lack_warps ? cycle + 1 : warp->due);
}

static void refill(void *user, uint64_t cycle) { divergence_odgs_refill(user, cycle); }

/* --- the rest --- */

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)machine;
    const struct divergence_odgs_options *own = options;
    if (own && own->local == DIVERGENCE_ODGS_LOCAL_TBC)
        return divergence_compact_refuses(program, "odgs", text, size);
    return divergence_refuse_unsynced(program, "odgs", text, size);
}

typedef void visit_fn(void *user, const struct divergence_group *group, const struct exec_row *row, uint32_t lane);

static void visit_threads(const struct exec_threads *threads, uint32_t lanes, const struct divergence_block *block,
                          const struct divergence_group *group, visit_fn *thread, void *visitor) {
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (divergence_block_of(threads->row[lane]) == block)
            thread(visitor, group, threads->row[lane], threads->lane[lane]);
    }
}

static void visit(const void *user, const struct divergence_block *block, visit_fn *thread, void *visitor) {
    const struct divergence_odgs_sm *model = user;
    const struct divergence_odgs_chip *chip = model->chip;
    const struct divergence_odgs_block *state = block->state;
    const struct divergence_sync *sync = state->sync;
    if (state->compact)
        divergence_compact_visit(state->compact, thread, visitor);
    for (uint32_t i = 0; i < chip->n_warps; i++) {
        const struct divergence_odgs_warp *warp = chip->warp[i];
        if (warp->is_used)
            visit_threads(&warp->threads, warp->lanes, block, &warp->group, thread, visitor);
    }
    for (uint32_t pc = 0; pc < chip->pool.n_pcs; pc++) {
        const struct divergence_odgs_warp *warp = chip->pool.at[pc];
        if (warp)
            visit_threads(&warp->threads, (1u << warp->n_waiting) - 1, block, NULL, thread, visitor);
    }
    for (uint32_t i = 0; i < sync->n_rows; i++)
        for (uint32_t left = sync->waiting[i]; left; left &= left - 1)
            thread(visitor, NULL, &block->cta->row[i], (uint32_t)__builtin_ctz(left));
}

/* An oracle: the paper counts the bytes that move, not those that are stored. */
static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint64_t threads = machine->sm.threads;
    snprintf(formula, size, "an oracle; the pool's own state is a 32-bit pc for each thread: 32 x %u",
             machine->sm.threads);
    return 32 * threads;
}

const struct divergence_ops divergence_odgs = {
    .name = "odgs",
    .help = "a global pool: threads with equal pc, from any SM, are put together to full warps",
    .option = option_table,
    .options_bytes = sizeof(struct divergence_odgs_options),
    .splits_rows = true,
    .refuses = refuses,
    .chip = &(const struct divergence_chip_ops){.new_chip = new_chip, .free_chip = free_chip},
    .new_model = new_model,
    .free_model = free_model,
    .begin_grid = begin_grid,
    .new_block = new_block,
    .free_block = free_block,
    .admit = admit,
    .control = control,
    .reached = reached,
    .resume = resume,
    .refill = refill,
    .visit = visit,
    .cost_bits = cost_bits,
};
