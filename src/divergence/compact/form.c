/* Forms the warps of a compacted block, and decides which threads leave it. See compact.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/compact/internal.h"

void divergence_compact_show(const struct divergence_compact_block *block, struct divergence_compact_warp *warp) {
    struct divergence_group *group = &warp->group;
    struct divergence_compacted *compacted = &warp->compacted;
    uint32_t home, same = divergence_same_row(&compacted->threads, compacted->mask, &home);
    bool is_row = !compacted->is_crossed && same == compacted->mask;
    group->pc = compacted->pc;
    group->notify_pc = divergence_stack_top(&block->stack)->reconvergence;
    group->row = is_row ? compacted->threads.row[__builtin_ctz(same)] : NULL;
    group->threads = &compacted->threads;
    group->mask = compacted->mask;
    group->n_threads = (uint32_t)__builtin_popcount(compacted->mask);
    group->ready_cycle = block->resolved;
    group->status = compacted->at_barrier || compacted->has_come ? DIVERGENCE_WAITS : DIVERGENCE_RUNS;
}

struct divergence_compact_saved *divergence_compact_new_saved(struct divergence_compact_block *block) {
    uint32_t i = 0;
    while (i < block->n_saved && block->saved[i].is_used)
        i++;
    if (i == block->n_saved) {
        block->saved = base_grow(block->saved, ++block->n_saved, sizeof *block->saved);
        block->saved[i] = (struct divergence_compact_saved){
            .compacted = base_allocate(block->n_rows, sizeof(struct divergence_compacted))};
    }
    return &block->saved[i];
}

/* Entries that a divergent branch made, and calls from them, are packed. After a thread has left, all are. */
bool divergence_compact_is_packed(const struct divergence_compact_block *block) {
    const struct divergence_stack *stack = &block->stack;
    if (block->has_left)
        return true;
    uint32_t level = stack->depth ? divergence_stack_top(stack)->level : 0;
    for (uint32_t i = stack->depth; i-- > 0;) {
        const struct divergence_entry *entry = divergence_stack_at(stack, i);
        if (entry->level != level)
            continue; /* the top does not stand on it */
        if (entry->is_path || !entry->is_call)
            return entry->is_path;
        level--;
    }
    return false;
}

/* Restores the compacted warps of the top entry, which gave way before. Returns their number. */
static uint32_t restore(struct divergence_compact_block *block, struct divergence_compacted *compacted) {
    struct divergence_entry *top = divergence_stack_top(&block->stack);
    struct divergence_compact_saved *saved = &block->saved[top->label - 1];
    memcpy(compacted, saved->compacted, saved->n_compacted * sizeof *compacted);
    memcpy(block->taken, saved->taken, sizeof saved->taken);
    block->sync_pc = saved->sync_pc;
    block->is_at_join = saved->is_at_join;
    if (saved->is_at_join && saved->sync_pc != top->reconvergence) /* that join has been broken */
        for (uint32_t i = 0; i < saved->n_compacted; i++)
            compacted[i].has_come = false;
    saved->is_used = false;
    top->label = 0;
    return saved->n_compacted;
}

/* The block may need a slot for each row or, after threads have left, as many as the others fill. */
void divergence_compact_keep_slots(struct divergence_compact *compact, struct divergence_compact_block *block) {
    uint32_t n_threads = 0, warp_size = compact->setup.machine->sm.warp_size, needed = block->n_local_rows;
    for (uint32_t r = 0; r < block->n_rows && (block->has_left || !block->stack.depth); r++) {
        uint32_t row = 0;
        for (uint32_t i = 0; i < block->stack.depth; i++)
            row |= divergence_stack_at(&block->stack, i)->mask[r];
        n_threads += (uint32_t)__builtin_popcount(row);
        needed = (n_threads + warp_size - 1) / warp_size;
    }
    uint32_t n_kept = needed > block->n_warps ? needed - block->n_warps : 0;
    compact->n_kept += n_kept - block->n_kept;
    block->n_kept = n_kept;
}

/* Returns whether threads may leave: no thread of the block can still reach a pc where may_leave[pc] is 0. */
static bool may_depart(const struct divergence_compact *compact, const struct divergence_compact_block *block) {
    if (!compact->may_leave)
        return false;
    for (uint32_t i = 0; i < block->stack.depth; i++) {
        const struct divergence_entry *entry = divergence_stack_at(&block->stack, i);
        if (entry->label || entry->is_waiting || (entry->pc != EXEC_NO_PC && !compact->may_leave[entry->pc]))
            return false;
    }
    return true;
}

/* The incomplete warp of a short path stays and waits at its join. */
static bool is_short(const struct divergence_compact *compact, const struct divergence_entry *entry) {
    return entry->reconvergence != EXEC_NO_PC && entry->pc < entry->reconvergence &&
           entry->reconvergence - entry->pc <= compact->short_length;
}

static void depart(struct divergence_compact *compact, struct divergence_compact_block *block,
                   const struct divergence_compacted *compacted, uint64_t cycle) {
    uint32_t gone[EXEC_MAX_ROWS] = {0};
    divergence_compacted_add(compacted, compacted->mask, gone);
    for (uint32_t i = 0; i < block->stack.depth; i++)
        divergence_masks_remove(divergence_stack_at(&block->stack, i)->mask, gone, block->n_rows);
    block->has_left = true;
    compact->leave(compact->user, compacted, cycle);
}

/* Forms the compacted warps of the top entry or, if all its threads leave, of the one below. Returns their number; 0:
 * no thread is left. */
static uint32_t muster(struct divergence_compact *compact, struct divergence_compact_block *block,
                       struct divergence_compacted *compacted, uint64_t cycle) {
    uint32_t n = 0, warp_size = compact->setup.machine->sm.warp_size;
    while (!n && block->stack.depth) {
        const struct divergence_entry *top = divergence_stack_top(&block->stack);
        block->is_packed = divergence_compact_is_packed(block);
        if (top->label)
            return restore(block, compacted);
        bool departs = block->is_packed && may_depart(compact, block);
        enum divergence_arrangement packed = departs ? DIVERGENCE_IN_ORDER : DIVERGENCE_IN_COLUMNS;
        n = divergence_compacted_form(compacted, block->stack.row, top->mask, block->n_rows, top->pc,
                                      block->is_packed ? packed : DIVERGENCE_IN_ROWS, warp_size);
        if (!departs || (uint32_t)__builtin_popcount(compacted[n - 1].mask) == warp_size || is_short(compact, top))
            break;
        depart(compact, block, &compacted[--n], cycle);
        if (!n)
            divergence_stack_pop_finished(&block->stack);
    }
    return n;
}

/* Finds the warp for each compacted warp: warp i for number i or, where slots may be scarce, warps that have a slot
 * first. */
static void choose_warps(const struct divergence_compact_block *block,
                         struct divergence_compact_warp *warp[EXEC_MAX_ROWS]) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < block->n_rows; i++)
        if (!block->has_left || block->warp[i].group.slot != DIVERGENCE_NO_SLOT)
            warp[n++] = &block->warp[i];
    for (uint32_t i = 0; i < block->n_rows && n < block->n_rows; i++)
        if (block->warp[i].group.slot == DIVERGENCE_NO_SLOT)
            warp[n++] = &block->warp[i];
}

static void place_or_wake(const struct divergence_compact *compact, struct divergence_compact_warp *warp,
                          const struct divergence_compact_warp *self, uint64_t cycle) {
    const struct divergence_setup *setup = &compact->setup;
    if (warp->group.slot != DIVERGENCE_NO_SLOT) {
        if (warp != self)
            setup->host->wake(setup->sm, &warp->group, cycle);
        return;
    }
    warp->group.warp_id = DIVERGENCE_NO_WARP;
    warp->group.passed = self->group.passed;
    bool is_placed = setup->host->place(setup->sm, &warp->group, cycle);
    assert(is_placed); /* the block has a slot for each of its warps */
    (void)is_placed;
}

void divergence_compact_form(struct divergence_compact *compact, struct divergence_compact_block *block,
                             struct divergence_compact_warp *self, uint64_t cycle) {
    struct divergence_compacted compacted[EXEC_MAX_ROWS];
    struct divergence_compact_warp *warp[EXEC_MAX_ROWS];
    memset(block->taken, 0, sizeof block->taken);
    block->n_warps = muster(compact, block, compacted, cycle);
    block->n_come = block->n_barred = 0;
    block->has_split_rows = block->n_warps && divergence_compacted_splits_rows(
                                                  compacted, block->n_warps, divergence_stack_top(&block->stack)->mask);
    choose_warps(block, warp);
    for (uint32_t i = 0; i < block->n_rows; i++) {
        if (i >= block->n_warps) {
            warp[i]->compacted.mask = 0;
            warp[i]->group.status = DIVERGENCE_ENDED;
            if (warp[i] != self)
                compact->setup.host->evict(compact->setup.sm, &warp[i]->group, cycle);
            continue;
        }
        warp[i]->compacted = compacted[i];
        block->n_come += compacted[i].has_come;
        block->n_barred += compacted[i].at_barrier != 0;
        divergence_compact_show(block, warp[i]);
    }
    for (uint32_t i = 0; i < block->n_warps; i++)
        place_or_wake(compact, warp[i], self, cycle);
    divergence_compact_keep_slots(compact, block);
}

void divergence_compact_drain(const struct divergence_compact *compact, struct divergence_compact_block *block,
                              const struct divergence_compact_warp *self, uint64_t cycle) {
    block->n_draining = block->n_warps;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct divergence_compact_warp *warp = &block->warp[i];
        bool is_last_to_end = warp == self && warp->group.status != DIVERGENCE_ENDED;
        if (!warp->compacted.mask && !is_last_to_end)
            continue;
        warp->group.status = DIVERGENCE_DRAINS;
        if (warp != self)
            compact->setup.host->wake(compact->setup.sm, &warp->group, cycle);
    }
}
