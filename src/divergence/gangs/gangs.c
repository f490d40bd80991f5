#include "divergence/gangs/gangs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/parts/sync.h"

void divergence_gangs_init(struct divergence_gangs *gangs, const struct divergence_setup *setup, uint32_t width) {
    gangs->setup = *setup;
    gangs->width = width;
    gangs->n_slices = (setup->machine->sm.warp_size + width - 1) / width;
}

void divergence_gangs_release(struct divergence_gangs *gangs) { free(gangs->queue); }

void *divergence_gangs_new_block(void *user, const struct exec_cta *cta) {
    struct divergence_gangs *gangs = user;
    struct divergence_gang_block *block = base_allocate(1, sizeof *block);
    block->n_rows = cta->n_rows;
    block->row = base_allocate(cta->n_rows, sizeof *block->row);
    block->sync = divergence_sync_new(cta->n_rows);
    for (uint32_t i = 0; i < cta->n_rows; i++) {
        block->row[i].small_warp = base_allocate(gangs->n_slices, sizeof(struct divergence_small_warp));
        block->row[i].gang = base_allocate(gangs->n_slices, sizeof(struct divergence_gang));
        for (uint32_t g = 0; g < gangs->n_slices; g++)
            block->row[i].gang[g].group.slot = DIVERGENCE_NO_SLOT;
    }
    gangs->block[gangs->n_blocks++] = block;
    return block;
}

void divergence_gangs_free_block(void *user, void *state) {
    struct divergence_gangs *gangs = user;
    struct divergence_gang_block *block = state;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        for (uint32_t s = 0; s < gangs->n_slices; s++)
            divergence_stack_free(&block->row[i].small_warp[s].stack);
        free(block->row[i].small_warp);
        free(block->row[i].gang);
    }
    for (uint32_t b = 0; b < gangs->n_blocks; b++)
        if (gangs->block[b] == block)
            gangs->block[b] = gangs->block[--gangs->n_blocks];
    divergence_sync_free(block->sync);
    free(block->row);
    free(block);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

/* --- slots --- */

void divergence_gangs_enqueue(struct divergence_gangs *gangs, struct divergence_gang *gang) {
    if (gangs->queue_length == gangs->queue_capacity) {
        gangs->queue_capacity = gangs->queue_capacity ? 2 * gangs->queue_capacity : 64;
        gangs->queue = base_grow(gangs->queue, gangs->queue_capacity, sizeof(struct divergence_gang *));
    }
    gang->is_queued = true;
    gangs->queue[gangs->queue_length++] = gang;
}

static void dequeue(struct divergence_gangs *gangs, struct divergence_gang *gang) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < gangs->queue_length; i++)
        if (gangs->queue[i] != gang)
            gangs->queue[n++] = gangs->queue[i];
    gangs->queue_length = n;
    gang->is_queued = false;
}

/* Takes a gang that waits for other threads out of its slot. Returns false if there is none. */
static bool free_slot(struct divergence_gangs *gangs, const struct divergence_gang *self, uint64_t cycle) {
    for (uint32_t b = 0; b < gangs->n_blocks; b++)
        for (uint32_t i = 0; gangs->block[b]->is_live && i < gangs->block[b]->n_rows; i++)
            for (uint32_t g = 0; g < gangs->n_slices; g++) {
                struct divergence_gang *gang = &gangs->block[b]->row[i].gang[g];
                if (gang == self || gang->group.slot == DIVERGENCE_NO_SLOT || gang->group.status != DIVERGENCE_WAITS)
                    continue;
                gangs->setup.host->evict(gangs->setup.sm, &gang->group, cycle);
                return true;
            }
    return false;
}

void divergence_gangs_seat(struct divergence_gangs *gangs, struct divergence_gang *gang,
                           const struct divergence_gang *self, uint64_t cycle) {
    const struct divergence_host *host = gangs->setup.host;
    bool is_first = !gangs->queue_length; /* otherwise those in the queue come first */
    if (!is_first || (!host->place(gangs->setup.sm, &gang->group, cycle) &&
                      !(free_slot(gangs, self, cycle) && host->place(gangs->setup.sm, &gang->group, cycle))))
        divergence_gangs_enqueue(gangs, gang);
}

void divergence_gangs_refill(void *user, uint64_t cycle) {
    struct divergence_gangs *gangs = user;
    uint32_t n = 0;
    while (n < gangs->queue_length && gangs->setup.host->place(gangs->setup.sm, &gangs->queue[n]->group, cycle))
        gangs->queue[n++]->is_queued = false;
    if (n == 0)
        return;
    memmove(gangs->queue, gangs->queue + n, (gangs->queue_length - n) * sizeof(struct divergence_gang *));
    gangs->queue_length -= n;
}

/* ---- Gangs ------------------------------------------------------------------------------------------------------- */

/* --- gangs --- */

void divergence_gangs_update(struct divergence_gang_row *row, const struct divergence_gang *gang) {
    for (uint32_t left = gang->slices; left; left &= left - 1) {
        struct divergence_stack *stack = &row->small_warp[__builtin_ctz(left)].stack;
        if (stack->depth)
            divergence_stack_top(stack)->pc = gang->group.pc;
    }
}

static uint32_t pc_of(const struct divergence_gang_row *row, uint32_t slice) {
    return divergence_stack_top(&row->small_warp[slice].stack)->pc;
}

/* Returns whether a small warp can run: if its path waits, another one may. A path that was released below the top may
 * have ended meanwhile. */
static bool can_run(struct divergence_stack *stack) {
    divergence_stack_pop_finished(stack);
    return stack->depth && (!divergence_stack_top(stack)->is_waiting || divergence_stack_yield(stack));
}

/* Removes the small warps that have ended from the gang. Returns those that wait for other threads. */
static uint32_t find_waiting(struct divergence_gang_row *row, struct divergence_gang *gang) {
    uint32_t waiting = 0;
    for (uint32_t left = gang->slices; left; left &= left - 1) {
        struct divergence_stack *stack = &row->small_warp[__builtin_ctz(left)].stack;
        if (can_run(stack))
            continue;
        if (stack->depth)
            waiting |= left & -left;
        else
            gang->slices &= ~(left & -left);
    }
    return waiting;
}

struct divergence_gang *divergence_gangs_add(struct divergence_gangs *gangs, struct divergence_gang_row *row,
                                             const struct divergence_gang *like, uint32_t slices) {
    struct divergence_gang *gang = row->gang;
    while (gang->slices || gang->group.slot != DIVERGENCE_NO_SLOT)
        gang++;
    *gang = (struct divergence_gang){.group = like->group, .slices = slices};
    gang->group.slot = DIVERGENCE_NO_SLOT;
    gangs->setup.counters->warp_splits++;
    return gang;
}

void divergence_gangs_show(const struct divergence_gangs *gangs, const struct divergence_gang_row *row,
                           struct divergence_gang *gang, bool waits) {
    struct divergence_group *group = &gang->group;
    bool is_alone = true;
    group->status = waits ? DIVERGENCE_WAITS : DIVERGENCE_RUNS;
    if (waits)
        return;
    group->pc = pc_of(row, (uint32_t)__builtin_ctz(gang->slices));
    group->mask = 0;
    group->notify_pc = EXEC_NO_PC;
    for (uint32_t left = gang->slices; left; left &= left - 1) {
        const struct divergence_entry *top = divergence_stack_top(&row->small_warp[__builtin_ctz(left)].stack);
        group->mask |= top->mask[0];
        if (top->reconvergence > group->pc && top->reconvergence < group->notify_pc)
            group->notify_pc = top->reconvergence;
    }
    for (uint32_t g = 0; g < gangs->n_slices; g++)
        is_alone &= &row->gang[g] == gang || !row->gang[g].slices;
    if (gangs->rejoin && !is_alone)
        group->notify_pc = group->pc + 1; /* another gang may reach the same pc */
}

/* Splits the gang by the next step of its small warps. Those that the gang keeps come first in its order. */
static void divide(struct divergence_gangs *gangs, struct divergence_gang_row *row, struct divergence_gang *gang) {
    uint32_t waiting = find_waiting(row, gang), running = gang->slices & ~waiting, keeps = 0;
    if (!gang->slices)
        return;
    for (uint32_t left = running; left; left &= left - 1) {
        uint32_t first = (uint32_t)__builtin_ctz(running), slice = (uint32_t)__builtin_ctz(left);
        keeps |= (uint32_t)(pc_of(row, slice) == pc_of(row, first)) << slice;
    }
    keeps = running ? keeps : waiting;
    if (keeps != gang->slices && running && gangs->split_completely)
        keeps &= -keeps;
    uint32_t others = gang->slices & ~keeps;
    gang->slices = keeps;
    for (uint32_t same; others; others &= ~same) {
        same = others & waiting ? others & waiting : others & -others;
        for (uint32_t left = others & waiting || gangs->split_completely ? 0 : others; left; left &= left - 1)
            if (pc_of(row, (uint32_t)__builtin_ctz(left)) == pc_of(row, (uint32_t)__builtin_ctz(others)))
                same |= left & -left;
        divergence_gangs_add(gangs, row, gang, same);
    }
}

static bool has_data(const struct divergence_gangs *gangs, const struct divergence_gang_row *row,
                     const struct divergence_gang *gang, uint64_t cycle) {
    uint32_t pc = pc_of(row, (uint32_t)__builtin_ctz(gang->slices)), mask = 0;
    for (uint32_t left = gang->slices; left; left &= left - 1)
        mask |= divergence_stack_top(&row->small_warp[__builtin_ctz(left)].stack)->mask[0];
    return gangs->setup.host->splits->data_ready(gangs->setup.sm, &gang->group, pc, mask) <= cycle + 1;
}

static bool waits(const struct divergence_gang_row *row, const struct divergence_gang *gang) {
    return divergence_stack_top(&row->small_warp[__builtin_ctz(gang->slices)].stack)->is_waiting;
}

/* Gangs at one pc become one. `self`, whose hook runs, keeps its slot. */
static void regang(struct divergence_gangs *gangs, struct divergence_gang_row *row, struct divergence_gang *self,
                   uint64_t cycle) {
    for (uint32_t a = 0; a < gangs->n_slices; a++)
        for (uint32_t b = a + 1; b < gangs->n_slices && row->gang[a].slices; b++) {
            struct divergence_gang *to = &row->gang[a], *from = &row->gang[b];
            if (!from->slices || waits(row, from) || waits(row, to) ||
                pc_of(row, (uint32_t)__builtin_ctz(from->slices)) != pc_of(row, (uint32_t)__builtin_ctz(to->slices)) ||
                !has_data(gangs, row, from, cycle) || !has_data(gangs, row, to, cycle))
                continue;
            if (from == self || (to != self && to->group.slot == DIVERGENCE_NO_SLOT)) {
                struct divergence_gang *other = to;
                to = from;
                from = other;
            }
            to->slices |= from->slices;
            from->slices = 0;
            gangs->setup.counters->merges++;
        }
}

void divergence_gangs_settle(struct divergence_gangs *gangs, struct divergence_gang_block *block, uint32_t index,
                             struct divergence_gang *self, uint64_t cycle) {
    struct divergence_gang_row *row = &block->row[index];
    const struct divergence_host *host = gangs->setup.host;
    uint32_t n = gangs->n_slices;
    for (uint32_t g = 0; g < n; g++)
        if (row->gang[g].slices)
            divide(gangs, row, &row->gang[g]);
    if (gangs->rejoin)
        regang(gangs, row, self, cycle);
    for (uint32_t g = 0; g < n; g++) {
        struct divergence_gang *gang = &row->gang[g];
        struct divergence_group *group = &gang->group, before = *group;
        if (!gang->slices) {
            if (gang->is_queued)
                dequeue(gangs, gang);
            group->status = DIVERGENCE_ENDED;
            if (gang != self)
                host->evict(gangs->setup.sm, group, cycle);
            continue;
        }
        bool is_waiting = waits(row, gang);
        divergence_gangs_show(gangs, row, gang, is_waiting);
        if (gang == self) {
            if (is_waiting && gangs->queue_length)
                group->status = DIVERGENCE_ENDED; /* for its slot */
        } else if (group->slot == DIVERGENCE_NO_SLOT) {
            if (!is_waiting && !gang->is_queued)
                divergence_gangs_seat(gangs, gang, self, cycle);
        } else if (is_waiting && gangs->queue_length) {
            host->evict(gangs->setup.sm, group, cycle);
            divergence_gangs_refill(gangs, cycle);
        } else if (group->status != before.status ||
                   (!is_waiting && (group->pc != before.pc || group->mask != before.mask))) {
            host->wake(gangs->setup.sm, group, cycle);
        }
    }
}

void divergence_gangs_update_row(struct divergence_gangs *gangs, struct divergence_gang_row *row) {
    for (uint32_t g = 0; g < gangs->n_slices; g++)
        if (row->gang[g].slices && row->gang[g].group.status == DIVERGENCE_RUNS)
            divergence_gangs_update(row, &row->gang[g]);
}

void divergence_gangs_visit(const void *user, const struct divergence_block *place,
                            void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                           uint32_t lane),
                            void *visitor) {
    const struct divergence_gangs *gangs = user;
    const struct divergence_gang_block *block = place->state;
    for (uint32_t i = 0; i < block->n_rows; i++)
        for (uint32_t g = 0; g < gangs->n_slices; g++) {
            const struct divergence_gang *gang = &block->row[i].gang[g];
            for (uint32_t slices = gang->slices; slices; slices &= slices - 1) {
                const struct divergence_stack *stack = &block->row[i].small_warp[__builtin_ctz(slices)].stack;
                uint32_t lanes = 0;
                for (uint32_t d = 0; d < stack->depth; d++)
                    lanes |= divergence_stack_at(stack, d)->mask[0];
                for (; lanes; lanes &= lanes - 1)
                    thread(visitor, gang->group.slot == DIVERGENCE_NO_SLOT ? NULL : &gang->group, &place->cta->row[i],
                           (uint32_t)__builtin_ctz(lanes));
            }
        }
}
