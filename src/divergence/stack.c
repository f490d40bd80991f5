/* stack: one post-dominator stack for each warp (Fung 2007; "POD" in Malits 2012, "Conv" in Meng 2010). parts/pdom.c
 * contains the stack, and parts/control.c changes it at control instructions. The functional engine uses both files
 * too.
 *
 * Ours: lanes may spin on a value that other lanes of their warp will write. After a while they let those lanes
 * continue (pdom.h, break_join), as hardware does since compute capability 7.0. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/parts/control.h"
#include "divergence/parts/count.h"

struct warp {
    _Alignas(64) struct divergence_group group; /* the SM reads it with every instruction */
    struct divergence_stack *stack;
    struct divergence_watch watch;
};

struct block {
    struct warp *warp;
    struct divergence_stack *stack; /* one per row */
    uint32_t n_rows;
};

struct model {
    struct divergence_setup setup;
};

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    model->setup = *setup;
    return model;
}

static void *new_block(void *user, const struct exec_cta *cta) {
    (void)user;
    struct block *block = base_allocate(1, sizeof *block);
    block->n_rows = cta->n_rows;
    block->warp = base_allocate_aligned(cta->n_rows * sizeof *block->warp);
    block->stack = base_allocate(cta->n_rows, sizeof *block->stack);
    for (uint32_t i = 0; i < cta->n_rows; i++) {
        block->warp[i].stack = &block->stack[i];
        block->warp[i].group.slot = DIVERGENCE_NO_SLOT;
    }
    return block;
}

static void free_block(void *user, void *state) {
    (void)user;
    struct block *block = state;
    for (uint32_t i = 0; i < block->n_rows; i++)
        divergence_stack_free(&block->stack[i]);
    free(block->stack);
    free(block->warp);
    free(block);
}

/* Sets the group to the top of the stack. */
static void show_top(struct warp *warp) {
    struct divergence_stack *stack = warp->stack;
    struct divergence_group *group = &warp->group;
    if (!stack->depth) {
        group->status = DIVERGENCE_ENDED;
        return;
    }
    if (divergence_stack_top(stack)->is_waiting && !divergence_stack_yield(stack)) {
        group->status = DIVERGENCE_WAITS;
        return;
    }
    const struct divergence_entry *top = divergence_stack_top(stack);
    group->status = DIVERGENCE_RUNS;
    group->pc = top->pc;
    group->notify_pc = top->reconvergence;
    group->mask = top->mask[0];
}

static void admit(void *user, struct divergence_block *place, uint64_t cycle) {
    struct model *model = user;
    struct block *block = place->state;
    uint32_t first_pc = model->setup.cx->grid->program->function[0].first_pc;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct warp *warp = &block->warp[i];
        divergence_stack_start(warp->stack, &place->cta->row[i], 1, first_pc);
        warp->watch = (struct divergence_watch){.n_diverged = 0};
        warp->group.row = &place->cta->row[i];
        warp->group.home = place;
        warp->group.passed = 0;
        show_top(warp);
        warp->group.warp_id = DIVERGENCE_NO_WARP;
        model->setup.host->place(model->setup.sm, &warp->group, cycle);
    }
}

/* This warp has released other warps of the block. */
static void set_free(struct model *model, struct block *block, uint64_t rows, const struct warp *self, uint64_t cycle) {
    for (; rows; rows &= rows - 1) {
        struct warp *warp = &block->warp[__builtin_ctzll(rows)];
        if (warp == self || warp->group.status != DIVERGENCE_WAITS)
            continue;
        show_top(warp);
        model->setup.host->wake(model->setup.sm, &warp->group, cycle);
    }
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct model *model = user;
    struct warp *warp = (struct warp *)group;
    struct exec_context *cx = model->setup.cx;
    struct divergence_block *place = group->home;
    struct block *block = place->state;
    uint32_t depth = warp->stack->depth;
    struct divergence_outcome outcome = divergence_control(warp->stack, cx, pc, &mask);
    bool is_branch = outcome.effect == DIVERGENCE_BRANCHES;
    if (is_branch)
        divergence_count_branch(&model->setup, pc, outcome.is_divergent);
    if (outcome.is_divergent)
        divergence_count_split(&model->setup, group->row, group->mask);
    model->setup.counters->reconvergences += is_branch && warp->stack->depth < depth;
    if (divergence_stack_spins(&warp->watch, warp->stack, pc))
        divergence_stack_break_join(warp->stack);
    if (outcome.effect == DIVERGENCE_MEETS_BLOCK) {
        model->setup.counters->barriers++;
        uint32_t row = group->row->index;
        set_free(model, block, divergence_arrive(block->stack, block->n_rows, cx, place->cta, row, pc, &mask), warp,
                 cycle);
    }
    if (divergence_has_ended(&outcome)) {
        set_free(model, block, divergence_after_exit(block->stack, block->n_rows, cx, place->cta), warp, cycle);
        if (!place->cta->n_live_rows)
            model->setup.host->block_ended(model->setup.sm, place);
    }
    show_top(warp);
}

static void release(void *user, struct divergence_block *place, uint64_t cycle) {
    struct model *model = user;
    struct block *block = place->state;
    struct exec_context *cx = model->setup.cx;
    set_free(model, block, divergence_after_exit(block->stack, block->n_rows, cx, place->cta), NULL, cycle);
}

static void reached(void *user, struct divergence_group *group, uint64_t cycle) {
    (void)cycle;
    struct model *model = user;
    struct warp *warp = (struct warp *)group;
    divergence_stack_top(warp->stack)->pc = group->pc;
    divergence_stack_pop_finished(warp->stack);
    model->setup.counters->reconvergences++;
    show_top(warp);
}

static void visit(const void *user, const struct divergence_block *place,
                  void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                 uint32_t lane),
                  void *visitor) {
    (void)user;
    const struct block *block = place->state;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        const struct divergence_stack *stack = &block->stack[i];
        uint32_t lanes = 0; /* after a broken join the lowest entry does not have all lanes */
        for (uint32_t d = 0; d < stack->depth; d++)
            lanes |= divergence_stack_at(stack, d)->mask[0];
        for (uint32_t left = lanes; left; left &= left - 1)
            thread(visitor, &block->warp[i].group, block->warp[i].group.row, (uint32_t)__builtin_ctz(left));
    }
}

/* A stack entry is {pc, reconvergence pc, mask}; a stack is at most as deep as the warp is wide. */
static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size;
    snprintf(formula, size, "warps x lanes deep x (32-bit pc + 32-bit reconvergence pc + lanes): %u x %u x %u", warps,
             machine->sm.warp_size, 64 + machine->sm.warp_size);
    return (uint64_t)warps * machine->sm.warp_size * (64 + machine->sm.warp_size);
}

const struct divergence_ops divergence_stack = {
    .name = "stack",
    .help = "a stack of paths that reconverge at the immediate post-dominator of their branch",
    .shares_sms = true,
    .new_model = new_model,
    .free_model = free,
    .new_block = new_block,
    .free_block = free_block,
    .admit = admit,
    .control = control,
    .reached = reached,
    .release = release,
    .visit = visit,
    .cost_bits = cost_bits,
};
