/* vws: variable warp sizing. The threads of a row are several small warps, of 4 threads by default, each with a
 * post-dominator stack of its own. They execute ganged together, as one warp with one fetch, while they are at one pc.
 * A gang splits where its small warps diverge. Each small warp executes in a slice of the lanes, its own, and slices
 * that one gang leaves free take instructions of others in the same cycle.
 *
 * Source: Rogers, Johnson, O'Connor and Keckler, "A Variable Warp Size Architecture", ISCA 2015. Only the abstract and
 * notes of readers could be read: a small base warp size under control and memory divergence, warps ganged in the
 * scheduler otherwise, slices with a front end each, a unit that forms gangs. The names of the variants, inelastic
 * (regang=off) and elastic (regang=on), are the paper's, their details ours:
 * - A gang splits by pc: small warps that continue at the same pc stay together (divide=pc), or each is on its own then
 *   (divide=all).
 * - misses=on: where some small warps have the data of a load and others do not, the gang splits too.
 * - regang=on: gangs of a row that reach the same pc, and do not wait for data, join again, in any cycle.
 * - The group that the scheduler picks is joined by the ready groups of this scheduler whose slices are free, the
 *   lowest slot first. One of them accesses memory at most. Each slice has its lanes of every unit.
 * - A gang without a slot queues for one. One that waits for other threads gives its slot up if another queues. One
 *   that spins goes to the end of the queue.
 * - Results are tracked for each lane (sm/boards.h). */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/gangs/gangs.h"
#include "divergence/parts/control.h"
#include "divergence/parts/count.h"
#include "divergence/parts/joint.h"
#include "divergence/parts/sync.h"

enum { OFF, ON };
enum { DIVIDE_PC, DIVIDE_ALL };
enum { MOST_SLICES = EXEC_LANES };

struct options {
    uint32_t slice, regang, divide, misses;
};

static const struct config_plugin_option option_table[] = {
    {"slice", CONFIG_PLUGIN_UINT, offsetof(struct options, slice), 4, 1, 32, NULL, "threads of a small warp"},
    {"regang", CONFIG_PLUGIN_CHOICE, offsetof(struct options, regang), ON, 0, 0, "off|on",
     "gangs that have split stay apart, or are one again where their pcs meet"},
    {"divide", CONFIG_PLUGIN_CHOICE, offsetof(struct options, divide), DIVIDE_PC, 0, 0, "pc|all",
     "a gang that splits does so by pc, or into its small warps"},
    {"misses", CONFIG_PLUGIN_CHOICE, offsetof(struct options, misses), ON, 0, 0, "off|on",
     "small warps that have the data of a load leave the others behind"},
    {0},
};

static const struct config_preset presets[] = {
    {"inelastic", "regang=off", "gangs that have split stay apart (I-VWS)"},
    {"elastic", "regang=on", "they gang again (E-VWS), and the default"},
    {0},
};

struct model {
    struct divergence_gangs gangs; /* first */
    struct options options;
    struct divergence_joint issue; /* the gangs of this cycle, so far */
};

static const char *refuses(const void *given, const struct config_machine *machine, const struct exec_program *program,
                           char *text, size_t size) {
    const struct options *options = given;
    if (options->slice >= machine->sm.warp_size && options->slice > 1) {
        snprintf(text, size, "vws: with slice=%u a warp of %u threads is one small warp: that is the model stack",
                 options->slice, machine->sm.warp_size);
        return text;
    }
    return divergence_refuse_unsynced(program, "vws", text, size);
}

static uint32_t slices_of(const struct options *options, const struct config_machine *machine) {
    return (machine->sm.warp_size + options->slice - 1) / options->slice;
}

static uint32_t n_slots(const void *given, const struct config_machine *machine, uint32_t n_warps,
                        uint32_t most_slots) {
    uint32_t n = n_warps * slices_of(given, machine);
    return n < most_slots ? n : most_slots;
}

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    model->options = *(const struct options *)setup->options;
    divergence_gangs_init(&model->gangs, setup, model->options.slice);
    model->gangs.rejoin = model->options.regang == ON;
    model->gangs.split_completely = model->options.divide == DIVIDE_ALL;
    return model;
}

static void free_model(void *user) {
    struct model *model = user;
    divergence_gangs_release(&model->gangs);
    free(model);
}

static void begin_grid(void *user) { ((struct model *)user)->gangs.queue_length = 0; }

/* ---- Hooks ------------------------------------------------------------------------------------------------------- */

static void admit(void *user, struct divergence_block *place, uint64_t cycle) {
    struct model *model = user;
    struct divergence_gang_block *block = place->state;
    uint32_t first_pc = model->gangs.setup.cx->grid->program->function[0].first_pc;
    divergence_sync_start(block->sync);
    block->is_live = true;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct divergence_gang_row *row = &block->row[i];
        struct exec_row *threads = &place->cta->row[i];
        uint32_t slices = 0;
        for (uint32_t s = 0; s < model->gangs.n_slices; s++) {
            struct divergence_small_warp *small_warp = &row->small_warp[s];
            uint32_t mask = threads->threads & divergence_gangs_lanes(&model->gangs, 1u << s);
            divergence_stack_start(&small_warp->stack, threads, 1, first_pc);
            divergence_stack_top(&small_warp->stack)->mask[0] = mask;
            small_warp->stack.depth = mask != 0;
            small_warp->watch = (struct divergence_watch){.n_diverged = 0};
            slices |= (uint32_t)(mask != 0) << s;
        }
        struct divergence_gang *gang = &row->gang[0];
        for (uint32_t g = 0; g < model->gangs.n_slices; g++)
            row->gang[g] = (struct divergence_gang){.group = {.slot = DIVERGENCE_NO_SLOT}};
        gang->slices = slices;
        gang->group = (struct divergence_group){
            .row = threads, .home = place, .warp_id = DIVERGENCE_NO_WARP, .slot = DIVERGENCE_NO_SLOT};
        divergence_gangs_show(&model->gangs, row, gang, false);
        divergence_gangs_seat(&model->gangs, gang, NULL, cycle);
    }
}

/* The small warp `s` of the gang follows the control instruction at pc. */
static void follow(struct model *model, struct divergence_gang_row *row, uint32_t s, uint32_t pc, uint32_t taken,
                   const struct divergence_outcome *outcome, uint32_t (*next)[EXEC_LANES]) {
    struct divergence_stack *stack = &row->small_warp[s].stack;
    const struct exec_insn *insn = &model->gangs.setup.cx->grid->program->code[pc];
    struct divergence_outcome own = *outcome;
    struct divergence_entry *top = divergence_stack_top(stack);
    if (insn->kind == EXEC_KIND_BRANCH)
        own = divergence_resolve_branch(insn, pc, 1, top->mask, &taken);
    else if (!taken)
        own = (struct divergence_outcome){.effect = DIVERGENCE_PASSES, .target = pc + 1};
    if (!divergence_has_to_wait(&own)) {
        divergence_stack_follow(stack, insn, pc, &own, &taken, next);
        return;
    }
    top->pc = pc + 1;
    top->is_waiting = true;
    top->wait_pc = pc;
    divergence_wait_mask(stack, top)[0] = taken;
}

/* Lanes that no longer wait. `self` is the row whose hook runs, which is settled later. */
static void set_free(struct model *model, struct divergence_gang_block *block, uint32_t self, uint64_t cycle) {
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct divergence_gang_row *row = &block->row[i];
        uint32_t pc, released = 0;
        for (uint32_t mask; (mask = divergence_sync_take(block->sync, i, &pc));)
            released |= mask;
        if (!released)
            continue;
        if (i != self)
            divergence_gangs_update_row(&model->gangs, row);
        for (uint32_t s = 0; s < model->gangs.n_slices; s++) {
            struct divergence_stack *stack = &row->small_warp[s].stack;
            for (uint32_t d = 0; d < stack->depth; d++) {
                struct divergence_entry *entry = divergence_stack_at(stack, d);
                uint32_t *mask = divergence_wait_mask(stack, entry);
                if (!entry->is_waiting || !(*mask & released))
                    continue;
                *mask &= ~released;
                entry->is_waiting = *mask != 0;
            }
            divergence_stack_pop_finished(stack);
        }
        if (i != self)
            divergence_gangs_settle(&model->gangs, block, i, NULL, cycle);
    }
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct model *model = user;
    struct divergence_gang *gang = (struct divergence_gang *)group;
    struct divergence_gang_block *block = group->home->state;
    struct divergence_gang_row *row = divergence_gang_row_of(group);
    struct exec_context *cx = model->gangs.setup.cx;
    struct divergence_block *place = group->home;
    uint32_t next[1][EXEC_LANES], active = group->mask, index = group->row->index;
    divergence_gangs_update_row(&model->gangs, row);
    struct divergence_outcome outcome = divergence_resolve(cx, pc, group->row, 1, &active, &mask, next);
    if (cx->fault.kind)
        return;
    if (outcome.effect == DIVERGENCE_BRANCHES)
        divergence_count_branch(&model->gangs.setup, pc, outcome.is_divergent);
    if (outcome.is_divergent)
        divergence_count_split(&model->gangs.setup, group->row, active);
    for (uint32_t left = gang->slices; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(left), taken = mask & divergence_gangs_lanes(&model->gangs, left & -left);
        struct divergence_small_warp *small_warp = &row->small_warp[s];
        uint32_t depth = small_warp->stack.depth;
        follow(model, row, s, pc, taken, &outcome, next);
        model->gangs.setup.counters->reconvergences +=
            outcome.effect == DIVERGENCE_BRANCHES && small_warp->stack.depth < depth;
        if (small_warp->stack.depth && divergence_stack_spins(&small_warp->watch, &small_warp->stack, pc))
            divergence_stack_break_join(&small_warp->stack);
    }
    bool has_released = false;
    if (divergence_has_to_wait(&outcome)) {
        model->gangs.setup.counters->barriers += outcome.effect == DIVERGENCE_MEETS_BLOCK;
        has_released = divergence_sync_arrive(block->sync, cx, group->row, pc, mask);
    }
    if (divergence_has_ended(&outcome))
        has_released = divergence_sync_after_exit(block->sync, cx, place->cta);
    if (has_released)
        set_free(model, block, index, cycle);
    bool spins = divergence_spins(&gang->watch, active != group->row->live || model->gangs.queue_length, false, pc);
    divergence_gangs_settle(&model->gangs, block, index, gang, cycle);
    if (spins && model->gangs.queue_length && group->status == DIVERGENCE_RUNS) {
        group->status = DIVERGENCE_ENDED; /* leaves its slot to the first of the queue */
        divergence_gangs_enqueue(&model->gangs, gang);
    }
    if (divergence_has_ended(&outcome) && !place->cta->n_live_rows) {
        block->is_live = false;
        model->gangs.setup.host->block_ended(model->gangs.setup.sm, place);
    }
}

static void reached(void *user, struct divergence_group *group, uint64_t cycle) {
    struct model *model = user;
    struct divergence_gang *gang = (struct divergence_gang *)group;
    struct divergence_gang_row *row = divergence_gang_row_of(group);
    divergence_gangs_update_row(&model->gangs, row);
    for (uint32_t left = gang->slices; left; left &= left - 1) {
        struct divergence_stack *stack = &row->small_warp[__builtin_ctz(left)].stack;
        uint32_t depth = stack->depth;
        divergence_stack_pop_finished(stack);
        model->gangs.setup.counters->reconvergences += stack->depth < depth;
    }
    divergence_gangs_settle(&model->gangs, group->home->state, group->row->index, gang, cycle);
}

/* Some small warps of a gang have the data that the others wait for, or will have them earlier: the others stay
 * behind. */
static bool stalls(void *user, struct divergence_group *group, uint64_t cycle) {
    struct model *model = user;
    struct divergence_gang *gang = (struct divergence_gang *)group;
    struct divergence_gang_row *row = divergence_gang_row_of(group);
    uint64_t ready[MOST_SLICES], first = UINT64_MAX;
    uint32_t behind = 0;
    for (uint32_t left = gang->slices; left && model->options.misses == ON; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(left),
                 mask = group->mask & divergence_gangs_lanes(&model->gangs, left & -left);
        ready[s] = model->gangs.setup.host->splits->data_ready(model->gangs.setup.sm, group, group->pc, mask);
        ready[s] = ready[s] > cycle + 1 ? ready[s] : cycle + 1;
        first = ready[s] < first ? ready[s] : first;
    }
    if (first == UINT64_MAX)
        return false;
    for (uint32_t left = gang->slices; left; left &= left - 1)
        behind |= ready[__builtin_ctz(left)] > first ? left & -left : 0;
    if (!behind)
        return false;
    divergence_gangs_update(row, gang);
    struct divergence_gang *others = divergence_gangs_add(&model->gangs, row, gang, behind);
    gang->slices &= ~behind;
    divergence_gangs_show(&model->gangs, row, gang, false);
    divergence_gangs_show(&model->gangs, row, others, false);
    divergence_gangs_seat(&model->gangs, others, gang, cycle);
    return true;
}

/* ---- Joint issue ------------------------------------------------------------------------------------------------- */

/* A slice is taken even if some of its lanes are not active. */
static uint32_t lanes_of_group(const struct model *model, const struct divergence_group *group) {
    return divergence_gangs_lanes(&model->gangs, ((const struct divergence_gang *)group)->slices);
}

static bool leads(void *user, const struct divergence_group *group) {
    struct model *model = user;
    model->issue = (struct divergence_joint){0};
    divergence_joint_add(&model->issue, &model->gangs.setup, group, lanes_of_group(model, group));
    return model->issue.lanes !=
           divergence_gangs_lanes(&model->gangs, model->gangs.n_slices == 32 ? ~0u : (1u << model->gangs.n_slices) - 1);
}

static int next(void *user, struct divergence_group *const *ready, uint32_t n) {
    struct model *model = user;
    for (uint32_t i = 0; i < n; i++)
        if (divergence_joint_fits(&model->issue, &model->gangs.setup, ready[i], ready[i]->mask)) {
            divergence_joint_add(&model->issue, &model->gangs.setup, ready[i], lanes_of_group(model, ready[i]));
            return (int)i;
        }
    return -1;
}

/* Ours: a stack for each small warp, as deep as it is wide, and for each the gang that it is in. */
static uint64_t cost_bits(const void *given, const struct config_machine *machine, char *formula, size_t size) {
    const struct options *options = given;
    uint32_t slices = slices_of(options, machine), warps = machine->sm.threads / machine->sm.warp_size * slices;
    uint32_t number = 0;
    while (slices > 1u << number)
        number++;
    uint32_t each = options->slice * (64 + options->slice) + number;
    snprintf(formula, size,
             "small warps x (%u deep x (32-bit pc + 32-bit reconvergence pc + mask %u) + gang %u): %u x %u",
             options->slice, options->slice, number, warps, each);
    return (uint64_t)warps * each;
}

const struct divergence_ops divergence_vws = {
    .name = "vws",
    .help = "variable warp sizing: small warps are ganged together while they agree, and issue side by side otherwise",
    .option = option_table,
    .preset = presets,
    .options_bytes = sizeof(struct options),
    .splits_rows = true,
    .tracks_lanes = true,
    .refuses = refuses,
    .n_slots = n_slots,
    .new_model = new_model,
    .free_model = free_model,
    .begin_grid = begin_grid,
    .new_block = divergence_gangs_new_block,
    .free_block = divergence_gangs_free_block,
    .admit = admit,
    .control = control,
    .reached = reached,
    .refill = divergence_gangs_refill,
    .memory = &(const struct divergence_memory_ops){.stalls = stalls, .serves_hits = true},
    .visit = divergence_gangs_visit,
    .joint = &(const struct divergence_joint_ops){.leads = leads, .next = next},
    .cost_bits = cost_bits,
    .area = "5 % of an SM (Rogers 2015, abstract)",
};
