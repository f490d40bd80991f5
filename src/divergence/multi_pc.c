/* multi-pc: one program counter for every thread, and one for the warp, which follows the lowest of them (Diamos et al.
 * 2011 and Intel's GPUs, as described in Narasiman 2014, 2.1.3.2). A thread executes only when its own pc equals the
 * warp's. Threads that are ahead in the code wait until the others arrive. Paths therefore meet at the first
 * instruction they have in common (the thread frontier), not only at the post-dominator.
 *
 * The model compares pcs at control instructions, and where the warp's pc reaches the next higher one (the group's
 * notify_pc). In between only the warp's own pc moves, so this is enough.
 *
 * Ours:
 * - Lanes that wait at a barrier, or at a warp-wide instruction for other lanes, do not count. The warp follows the
 *   lowest pc of the rest.
 * - Warp-wide instructions that name no lanes act on the lanes that execute together, as with a stack. cond_acc is
 *   refused, because it would access memory in parts.
 * - A lane that spins on a value that a lane further ahead in the code will write spins forever, as on the machines
 *   that this models. The SM's watchdog or the cycle limit ends it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/divergence.h"
#include "divergence/parts/count.h"
#include "divergence/parts/resolve.h"
#include "divergence/parts/sync.h"

struct warp {
    struct divergence_group group;
    uint32_t pc[EXEC_LANES]; /* of each thread; those of the running lanes are in group.pc between hooks */
};

struct block {
    struct warp *warp;
    struct divergence_sync *sync;
    uint32_t n_rows;
};

struct model {
    struct divergence_setup setup;
};

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)options, (void)machine;
    for (uint32_t pc = 0; program && pc < program->n_insns; pc++)
        if (exec_is_row_access(&program->code[pc])) {
            char name[80];
            snprintf(text, size,
                     "multi-pc lets the lanes of a warp run apart, and '%s' (line %u) accesses memory for all of them "
                     "at once: "
                     "use another model",
                     ptx_instruction_name(program->source[pc], name, sizeof name), program->source[pc]->at.line);
            return text;
        }
    return NULL;
}

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    model->setup = *setup;
    return model;
}

static void *new_block(void *user, const struct exec_cta *cta) {
    (void)user;
    struct block *block = base_allocate(1, sizeof *block);
    block->n_rows = cta->n_rows;
    block->warp = base_allocate(cta->n_rows, sizeof *block->warp);
    block->sync = divergence_sync_new(cta->n_rows);
    for (uint32_t i = 0; i < cta->n_rows; i++)
        block->warp[i].group.slot = DIVERGENCE_NO_SLOT;
    return block;
}

static void free_block(void *user, void *state) {
    (void)user;
    struct block *block = state;
    divergence_sync_free(block->sync);
    free(block->warp);
    free(block);
}

/* --- the warp's program counter --- */

/* The warp goes to the lowest program counter of its lanes that do not wait. */
static void follow_lowest(struct block *block, struct warp *warp) {
    struct divergence_group *group = &warp->group;
    uint32_t going = group->row->live & ~block->sync->waiting[group->row->index];
    if (!going) {
        group->status = group->row->live ? DIVERGENCE_WAITS : DIVERGENCE_ENDED;
        return;
    }
    uint32_t lowest = EXEC_NO_PC, second = EXEC_NO_PC, mask = 0;
    for (uint32_t left = going; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), pc = warp->pc[lane];
        if (pc < lowest) {
            second = lowest;
            lowest = pc;
            mask = 0;
        } else if (pc > lowest && pc < second) {
            second = pc;
        }
        mask |= (uint32_t)(pc == lowest) << lane;
    }
    group->status = DIVERGENCE_RUNS;
    group->pc = lowest;
    group->notify_pc = second;
    group->mask = mask;
}

static void set_pcs(struct warp *warp, uint32_t mask, uint32_t pc) {
    for (uint32_t left = mask; left; left &= left - 1)
        warp->pc[__builtin_ctz(left)] = pc;
}

/* Released lanes continue after the instruction that they waited at. `self` is the warp whose hook runs. */
static void set_free(struct model *model, struct block *block, const struct warp *self, uint64_t cycle) {
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct warp *warp = &block->warp[i];
        uint32_t pc, mask = divergence_sync_take(block->sync, i, &pc);
        if (!mask)
            continue;
        if (warp != self && warp->group.status == DIVERGENCE_RUNS)
            set_pcs(warp, warp->group.mask, warp->group.pc);
        for (; mask; mask = divergence_sync_take(block->sync, i, &pc))
            set_pcs(warp, mask, pc);
        if (warp == self)
            continue;
        follow_lowest(block, warp);
        model->setup.host->wake(model->setup.sm, &warp->group, cycle);
    }
}

/* --- hooks --- */

static void admit(void *user, struct divergence_block *place, uint64_t cycle) {
    struct model *model = user;
    struct block *block = place->state;
    uint32_t first_pc = model->setup.cx->grid->program->function[0].first_pc;
    divergence_sync_start(block->sync);
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct warp *warp = &block->warp[i];
        warp->group.row = &place->cta->row[i];
        warp->group.home = place;
        warp->group.passed = 0;
        warp->group.warp_id = DIVERGENCE_NO_WARP;
        set_pcs(warp, place->cta->row[i].threads, first_pc);
        follow_lowest(block, warp);
        model->setup.host->place(model->setup.sm, &warp->group, cycle);
    }
}

/* A warp-wide instruction that names no lanes acts on those that are here. */
static bool acts_at_once(const struct exec_program *program, uint32_t pc) {
    return exec_acts_on_row(program->code[pc].kind) &&
           !(program->source[pc] && ptx_has(program->source[pc], PTX_MOD_SYNC));
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct model *model = user;
    struct warp *warp = (struct warp *)group;
    struct block *block = group->home->state;
    struct exec_context *cx = model->setup.cx;
    const struct exec_program *program = cx->grid->program;
    struct exec_row *row = group->row;
    uint32_t lanes = group->mask;
    struct divergence_outcome outcome = divergence_resolve_lanes(cx, pc, row, lanes, mask, warp->pc);
    if (outcome.effect == DIVERGENCE_BRANCHES)
        divergence_count_branch(&model->setup, pc, outcome.is_divergent);
    if (outcome.is_divergent)
        divergence_count_split(&model->setup, row, lanes);
    bool has_released = false;
    if (outcome.effect == DIVERGENCE_MEETS_ROW && acts_at_once(program, pc)) {
        exec_row_insn(cx, row, &program->code[pc], mask);
    } else if (divergence_has_to_wait(&outcome)) {
        model->setup.counters->barriers += outcome.effect == DIVERGENCE_MEETS_BLOCK;
        has_released = divergence_sync_arrive(block->sync, cx, row, pc, mask);
    }
    if (divergence_has_ended(&outcome))
        has_released = divergence_sync_after_exit(block->sync, cx, group->home->cta);
    if (has_released)
        set_free(model, block, warp, cycle);
    follow_lowest(block, warp);
    if (divergence_has_ended(&outcome) && !group->home->cta->n_live_rows)
        model->setup.host->block_ended(model->setup.sm, group->home);
}

static void reached(void *user, struct divergence_group *group, uint64_t cycle) {
    (void)cycle;
    struct model *model = user;
    struct warp *warp = (struct warp *)group;
    set_pcs(warp, group->mask, group->pc);
    follow_lowest(group->home->state, warp);
    model->setup.counters->reconvergences++;
}

static void visit(const void *user, const struct divergence_block *place,
                  void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                 uint32_t lane),
                  void *visitor) {
    (void)user;
    const struct block *block = place->state;
    for (uint32_t i = 0; i < block->n_rows; i++)
        for (uint32_t left = place->cta->row[i].live; left; left &= left - 1)
            thread(visitor, &block->warp[i].group, &place->cta->row[i], (uint32_t)__builtin_ctz(left));
}

static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size;
    snprintf(formula, size, "warps x (lanes + 1) x 32-bit pc: %u x %u x 32", warps, machine->sm.warp_size + 1);
    return (uint64_t)warps * (machine->sm.warp_size + 1) * 32;
}

const struct divergence_ops divergence_multi_pc = {
    .name = "multi-pc",
    .help = "a program counter for every thread; the warp follows the lowest, so that paths meet at the first "
            "common instruction",
    .splits_rows = true,
    .refuses = refuses,
    .new_model = new_model,
    .free_model = free,
    .new_block = new_block,
    .free_block = free_block,
    .admit = admit,
    .control = control,
    .reached = reached,
    .visit = visit,
    .cost_bits = cost_bits,
};
