/* Splits at barriers and warp-wide instructions. See splits.h.
 *
 * Every split arrives for itself (sync.h counts threads). Those of one family that waited at the same instruction are
 * one split afterwards. A split that is alone on its stack lets a sibling path run while it waits at a barrier, as the
 * model stack does. */
#include <string.h>

#include "divergence/splits_inside.h"
#include "divergence/threads.h"

static void copy(uint32_t *to, const uint32_t *from, uint32_t n_rows) { memcpy(to, from, n_rows * sizeof *to); }

static void free_entries(struct divergence_family *family, const uint32_t *freed) {
    for (uint32_t d = 0; d < family->stack.depth; d++) {
        struct divergence_wide_entry *entry = &family->stack.entry[d];
        if (!entry->is_waiting)
            continue;
        divergence_wide_remove(entry->wait_mask, freed, family->warp->n_rows);
        entry->is_waiting = !divergence_wide_is_empty(entry->wait_mask, family->warp->n_rows);
    }
}

/* Marks the splits that need not wait any longer. */
static void mark_freed(struct divergence_warp *warp, const uint32_t *freed) {
    for (struct divergence_family *family = warp->family; family; family = family->next) {
        free_entries(family, freed);
        for (struct divergence_split *split = family->split; split; split = split->next) {
            if (split->phase != DIVERGENCE_SPLIT_AT_SYNC)
                continue;
            divergence_wide_remove(split->part, freed, warp->n_rows);
            if (divergence_wide_is_empty(split->part, warp->n_rows))
                split->phase = DIVERGENCE_SPLIT_FREED;
        }
    }
}

/* A split of the warp that can go on since the marking. */
static struct divergence_split *find_freed(const struct divergence_warp *warp) {
    for (struct divergence_family *family = warp->family; family; family = family->next)
        for (struct divergence_split *split = family->split; split; split = split->next)
            if (split->phase == DIVERGENCE_SPLIT_FREED ||
                (split->phase == DIVERGENCE_SPLIT_AT_ENTRY && !divergence_wide_top(&family->stack)->is_waiting))
                return split;
    return NULL;
}

static void run_freed(struct divergence_splits *splits, struct divergence_split *split) {
    struct divergence_family *family = split->family;
    if (split->phase == DIVERGENCE_SPLIT_AT_ENTRY) {
        divergence_wide_pop_finished(&family->stack); /* the barrier may have been the last instruction of a path */
        divergence_family_go_on(splits, family, split);
        return;
    }
    for (struct divergence_split *other = family->split, *next; other; other = next) {
        next = other->next;
        if (other == split || other->phase != DIVERGENCE_SPLIT_FREED || other->group.pc != split->group.pc)
            continue;
        if (other == splits->self) {
            divergence_split_merge(splits, other, split);
            split = other;
            next = other->next;
        } else {
            divergence_split_merge(splits, split, other);
        }
    }
    divergence_split_run_from(splits, split);
}

/* Goes on with all that barriers and warp-wide instructions have released. */
void divergence_splits_set_free(struct divergence_splits *splits, struct divergence_block *place) {
    struct divergence_splits_block *block = place->state;
    uint32_t freed[EXEC_MAX_ROWS], mask, next_pc;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        freed[i] = 0;
        while ((mask = divergence_sync_take(block->sync, i, &next_pc)))
            freed[i] |= mask;
    }
    for (uint32_t i = 0; i < block->n_warps; i++) {
        struct divergence_warp *warp = &block->warp[i];
        if (!warp->is_live)
            continue;
        mark_freed(warp, &freed[i * splits->rows_per_warp]);
        for (struct divergence_split *split; (split = find_freed(warp));)
            run_freed(splits, split);
    }
}

static bool arrive_rows(struct divergence_splits *splits, const struct divergence_warp *warp, uint32_t pc,
                        const uint32_t *taken) {
    struct divergence_splits_block *block = warp->block->state;
    bool has_released = false;
    for (uint32_t i = 0; i < warp->n_rows && !splits->setup.cx->fault.kind; i++)
        if (taken[i])
            has_released |= divergence_sync_arrive(block->sync, splits->setup.cx, &warp->row[i], pc, taken[i]);
    return has_released;
}

/* At a barrier, alone on its stack: the entry waits, and a sibling path may run meanwhile. */
static void arrive_alone(struct divergence_splits *splits, struct divergence_split *split, const uint32_t *taken) {
    struct divergence_family *family = split->family;
    struct divergence_wide_entry *top = divergence_wide_top(&family->stack);
    uint32_t pc = split->group.pc;
    top->pc = pc + 1;
    top->is_waiting = true;
    top->wait_pc = pc;
    copy(top->wait_mask, taken, family->warp->n_rows);
    if (arrive_rows(splits, family->warp, pc, taken))
        divergence_splits_set_free(splits, family->warp->block);
    if (splits->setup.cx->fault.kind)
        return;
    divergence_wide_pop_finished(&family->stack);
    divergence_family_go_on(splits, family, split);
}

/* The threads in split->part come to the barrier or warp-wide instruction at pc. */
void divergence_split_arrive(struct divergence_splits *splits, struct divergence_split *split) {
    const struct divergence_warp *warp = split->family->warp;
    uint32_t pc = split->group.pc, taken[EXEC_MAX_ROWS];
    copy(taken, split->part, warp->n_rows);
    if (splits->program->code[pc].kind == EXEC_KIND_BARRIER && divergence_splits_is_sole(split->family)) {
        arrive_alone(splits, split, taken);
        return;
    }
    split->group.pc = pc + 1;
    split->phase = DIVERGENCE_SPLIT_AT_SYNC;
    if (arrive_rows(splits, warp, pc, taken))
        divergence_splits_set_free(splits, warp->block);
    if (split->phase != DIVERGENCE_SPLIT_AT_SYNC || splits->setup.cx->fault.kind)
        return;
    divergence_split_unseat(splits, split);
    divergence_splits_look_after(splits, split->family);
}

void divergence_split_synchronise(struct divergence_splits *splits, struct divergence_split *split,
                                  const uint32_t *taken) {
    const struct exec_insn *insn = &splits->program->code[split->group.pc];
    const struct divergence_warp *warp = split->family->warp;
    splits->setup.counters->barriers += insn->kind == EXEC_KIND_BARRIER;
    copy(split->part, taken, warp->n_rows);
    if (warp->n_splits > 1) {
        divergence_split_begin(splits, split, DIVERGENCE_SPLIT_ARRIVES);
    } else if (insn->kind == EXEC_KIND_BARRIER) {
        divergence_split_arrive(splits, split);
    } else { /* the warp's running threads are all here */
        for (uint32_t i = 0; i < warp->n_rows && exec_acts_on_row(insn->kind); i++)
            if (taken[i])
                exec_row_insn(splits->setup.cx, &warp->row[i], insn, taken[i]);
        split->group.pc++;
        divergence_split_run_from(splits, split);
    }
}
