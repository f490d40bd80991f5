/* The threads of an SM in dynamic warps. See warp_pool.h. */
#include "divergence/warp_pool/warp_pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "divergence/parts/count.h"
#include "divergence/parts/resolve.h"
#include "divergence/parts/threads.h"

uint32_t divergence_warp_pool_n_slots(const void *options, const struct config_machine *machine, uint32_t n_warps,
                                      uint32_t most_slots) {
    (void)options, (void)machine, (void)n_warps;
    return most_slots;
}

void divergence_warp_pool_start(struct divergence_warp_pool *pool, const struct divergence_setup *setup,
                                size_t warp_bytes) {
    *pool = (struct divergence_warp_pool){.setup = *setup, .warp_bytes = warp_bytes};
    pool->all_lanes = setup->machine->sm.warp_size == EXEC_LANES ? ~0u : (1u << setup->machine->sm.warp_size) - 1;
}

static void free_warp(struct divergence_dynamic_warp *warp) {
    free(warp->threads.registers);
    free(warp);
}

void divergence_warp_pool_end(struct divergence_warp_pool *pool) {
    for (uint32_t i = 0; i < pool->n_live; i++)
        free_warp(pool->live[i]);
    for (uint32_t i = 0; i < pool->n_spare; i++)
        free_warp(pool->spare[i]);
    free(pool->live);
    free(pool->spare);
    free(pool->queue);
    free(pool->block);
    free(pool->loose);
}

/* --- blocks --- */

void *divergence_warp_pool_new_block(void *model, const struct exec_cta *cta) {
    (void)model;
    struct divergence_warp_pool_block *block = base_allocate(1, sizeof *block);
    block->sync = divergence_sync_new(cta->n_rows);
    return block;
}

void divergence_warp_pool_free_block(void *model, void *state) {
    (void)model;
    struct divergence_warp_pool_block *block = state;
    divergence_sync_free(block->sync);
    free(block);
}

static struct divergence_block *block_of(const struct divergence_warp_pool *pool, const struct exec_row *row) {
    uint32_t i = 0;
    while (i < pool->n_blocks && &pool->block[i]->cta->block != row->block)
        i++;
    assert(i < pool->n_blocks);
    return pool->block[i];
}

static void add_loose(struct divergence_warp_pool *pool, struct exec_row *row, uint32_t mask, uint32_t pc,
                      uint32_t passed) {
    if (pool->n_loose == pool->loose_capacity) {
        pool->loose_capacity = pool->loose_capacity ? 2 * pool->loose_capacity : 64;
        pool->loose = base_grow(pool->loose, pool->loose_capacity, sizeof *pool->loose);
    }
    pool->loose[pool->n_loose++] = (struct divergence_loose){row, mask, pc, passed};
}

void divergence_warp_pool_admit(struct divergence_warp_pool *pool, struct divergence_block *block) {
    struct divergence_warp_pool_block *state = block->state;
    if (pool->n_blocks == pool->block_capacity) {
        pool->block_capacity = pool->block_capacity ? 2 * pool->block_capacity : 16;
        pool->block = base_grow(pool->block, pool->block_capacity, sizeof(struct divergence_block *));
    }
    pool->block[pool->n_blocks++] = block;
    divergence_sync_start(state->sync);
    state->passed = 0;
    uint32_t first_pc = pool->setup.cx->grid->program->function[0].first_pc;
    for (uint32_t i = 0; i < block->cta->n_rows; i++)
        add_loose(pool, &block->cta->row[i], block->cta->row[i].threads, first_pc, 0);
}

static void end_block(struct divergence_warp_pool *pool, struct divergence_block *block) {
    for (uint32_t i = 0; i < pool->n_blocks; i++)
        if (pool->block[i] == block)
            pool->block[i] = pool->block[--pool->n_blocks];
    pool->setup.host->block_ended(pool->setup.sm, block);
}

/* Threads in these lanes of a row continue in their warps. Returns the lanes of those that are in none. */
static uint32_t go_on_in_warps(struct divergence_warp_pool *pool, const struct exec_row *row, uint32_t mask,
                               uint32_t pc, uint64_t cycle) {
    for (uint32_t i = 0; i < pool->n_live && mask; i++) {
        struct divergence_dynamic_warp *warp = pool->live[i];
        uint32_t before = warp->waits;
        for (uint32_t left = before; left; left &= left - 1) {
            uint32_t at = (uint32_t)__builtin_ctz(left);
            if (warp->threads.row[at] != row || !(mask >> warp->threads.lane[at] & 1))
                continue;
            warp->waits &= ~(1u << at);
            warp->pc[at] = pc;
            mask &= ~(1u << warp->threads.lane[at]);
        }
        if (warp->waits == before || (warp->group.status != DIVERGENCE_WAITS && !pool->keeps_waiting))
            continue;
        if (warp->group.status == DIVERGENCE_WAITS)
            warp->group.status = DIVERGENCE_DRAINS;
        if (warp != pool->acting)
            pool->setup.host->wake(pool->setup.sm, &warp->group, cycle);
    }
    return mask;
}

/* Threads that no longer wait continue in their warps, or become loose. */
static void take_released(struct divergence_warp_pool *pool, struct divergence_block *block, uint64_t cycle) {
    struct divergence_warp_pool_block *state = block->state;
    for (uint32_t i = 0; i < block->cta->n_rows; i++) {
        uint32_t pc, mask;
        while ((mask = divergence_sync_take(state->sync, i, &pc)) != 0) {
            mask = go_on_in_warps(pool, &block->cta->row[i], mask, pc, cycle);
            if (mask)
                add_loose(pool, &block->cta->row[i], mask, pc, state->passed);
        }
    }
}

/* --- warps --- */

static void make_room(struct divergence_warp_pool *pool) {
    if (pool->n_live + pool->n_spare < pool->capacity)
        return;
    uint32_t capacity = pool->capacity ? 2 * pool->capacity : 64;
    pool->live = base_grow(pool->live, capacity, sizeof(struct divergence_dynamic_warp *));
    pool->spare = base_grow(pool->spare, capacity, sizeof(struct divergence_dynamic_warp *));
    struct divergence_dynamic_warp **queue = base_allocate(capacity, sizeof(struct divergence_dynamic_warp *));
    for (uint32_t i = 0; i < pool->queue_length; i++)
        queue[i] = pool->queue[(pool->queue_head + i) % pool->capacity];
    free(pool->queue);
    pool->queue = queue;
    pool->queue_head = 0;
    pool->capacity = capacity;
}

struct divergence_dynamic_warp *divergence_warp_pool_new_warp(struct divergence_warp_pool *pool) {
    struct divergence_dynamic_warp *warp = NULL;
    /* A warp that has ended in its own hook is in its slot until the hook returns. */
    for (uint32_t i = pool->n_spare; i-- > 0 && !warp;)
        if (pool->spare[i]->group.slot == DIVERGENCE_NO_SLOT && !pool->spare[i]->is_queued) {
            warp = pool->spare[i];
            pool->spare[i] = pool->spare[--pool->n_spare];
        }
    if (!warp) {
        make_room(pool);
        warp = base_allocate_aligned(pool->warp_bytes);
    }
    if (pool->carries)
        exec_threads_carry(&warp->threads, pool->setup.cx->grid->program);
    warp->group = (struct divergence_group){.notify_pc = EXEC_NO_PC, .slot = DIVERGENCE_NO_SLOT};
    warp->mask = warp->waits = 0;
    warp->is_together = false;
    warp->number = pool->n_live;
    pool->live[pool->n_live++] = warp;
    return warp;
}

static void unlink_warp(struct divergence_dynamic_warp *warp) {
    if (!warp->list)
        return;
    if (warp->older)
        warp->older->younger = warp->younger;
    if (warp->younger)
        warp->younger->older = warp->older;
    else
        *warp->list = warp->older;
    warp->list = NULL;
}

void divergence_dynamic_warp_set_youngest(struct divergence_dynamic_warp *warp, struct divergence_dynamic_warp **list) {
    unlink_warp(warp);
    warp->list = list;
    warp->younger = NULL;
    warp->older = *list;
    if (*list)
        (*list)->younger = warp;
    *list = warp;
}

void divergence_warp_pool_leave(struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp, bool is_own,
                                uint64_t cycle) {
    pool->live[warp->number] = pool->live[--pool->n_live];
    pool->live[warp->number]->number = warp->number;
    pool->spare[pool->n_spare++] = warp;
    unlink_warp(warp);
    warp->group.status = DIVERGENCE_ENDED;
    if (!is_own)
        pool->setup.host->evict(pool->setup.sm, &warp->group, cycle);
}

/* Places the warp in a free slot, otherwise in the slot of a warp that waits with all its threads. */
static bool place(struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp, uint64_t cycle) {
    const struct divergence_setup *setup = &pool->setup;
    warp->group.home = block_of(pool, warp->threads.row[__builtin_ctz(warp->mask)]);
    if (setup->host->place(setup->sm, &warp->group, cycle))
        return true;
    uint32_t i = 0;
    while (i < pool->n_live && pool->live[i]->group.status != DIVERGENCE_WAITS)
        i++;
    if (i == pool->n_live)
        return false;
    struct divergence_dynamic_warp *waiting = pool->live[i];
    divergence_dynamic_warp_dismiss(waiting);
    divergence_warp_pool_leave(pool, waiting, false, cycle);
    return setup->host->place(setup->sm, &warp->group, cycle);
}

void divergence_warp_pool_enter(struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp,
                                uint64_t cycle) {
    warp->group.warp_id = DIVERGENCE_NO_WARP;
    if (!pool->queue_length && place(pool, warp, cycle))
        return;
    warp->is_queued = true;
    pool->queue[(pool->queue_head + pool->queue_length++) % pool->capacity] = warp;
}

void divergence_warp_pool_refill(struct divergence_warp_pool *pool, uint64_t cycle) {
    while (pool->queue_length) {
        struct divergence_dynamic_warp *warp = pool->queue[pool->queue_head];
        if (warp->group.status != DIVERGENCE_ENDED && !place(pool, warp, cycle))
            return;
        warp->is_queued = false;
        pool->queue_head = (pool->queue_head + 1) % pool->capacity;
        pool->queue_length--;
    }
}

void divergence_warp_pool_visit(const struct divergence_warp_pool *pool, const struct divergence_block *block,
                                void (*thread)(void *user, const struct divergence_group *group,
                                               const struct exec_row *row, uint32_t lane),
                                void *user) {
    const struct divergence_warp_pool_block *state = block->state;
    for (uint32_t i = 0; i < pool->n_live; i++)
        for (uint32_t left = pool->live[i]->mask & ~pool->live[i]->waits; left; left &= left - 1) {
            uint32_t at = (uint32_t)__builtin_ctz(left);
            if (pool->live[i]->threads.row[at]->block == &block->cta->block)
                thread(user, &pool->live[i]->group, pool->live[i]->threads.row[at], pool->live[i]->threads.lane[at]);
        }
    for (uint32_t i = 0; i < block->cta->n_rows; i++)
        for (uint32_t left = state->sync->waiting[i]; left; left &= left - 1)
            thread(user, NULL, &block->cta->row[i], (uint32_t)__builtin_ctz(left));
}

/* --- threads of a warp --- */

int divergence_dynamic_warp_room(const struct divergence_dynamic_warp *warp, uint32_t lane, uint32_t n_lanes) {
    if (!(warp->mask >> lane & 1))
        return (int)lane;
    uint32_t holes = ~warp->mask & (n_lanes == EXEC_LANES ? ~0u : (1u << n_lanes) - 1);
    return holes ? __builtin_ctz(holes) : -1;
}

void divergence_dynamic_warp_take(const struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp,
                                  const uint8_t *at, struct divergence_dynamic_warp *from, uint32_t mask) {
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left), to = at ? at[i] : i;
        warp->mask |= 1u << to;
        warp->pc[to] = from->pc[i];
    }
    if (mask)
        exec_threads_move(pool->setup.cx, &warp->threads, at, &from->threads, mask, from->pc[__builtin_ctz(mask)]);
}

void divergence_dynamic_warp_set_pcs(struct divergence_dynamic_warp *warp, uint32_t pc) {
    for (uint32_t left = warp->mask; left; left &= left - 1)
        warp->pc[__builtin_ctz(left)] = pc;
}

struct exec_row *divergence_dynamic_warp_row(const struct divergence_dynamic_warp *warp, uint32_t mask) {
    if (!mask)
        return NULL;
    struct exec_row *row = warp->threads.row[__builtin_ctz(mask)];
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left);
        if (warp->threads.row[at] != row || warp->threads.lane[at] != at)
            return NULL;
    }
    return row;
}

void divergence_dynamic_warp_show(struct divergence_dynamic_warp *warp) {
    warp->group.row = divergence_dynamic_warp_row(warp, warp->mask);
    warp->group.threads = &warp->threads;
    warp->group.mask = warp->mask;
    warp->group.n_threads = base_count_bits(warp->mask);
}

void divergence_dynamic_warp_bundle(struct divergence_dynamic_warp *warp, uint32_t mask, struct exec_row *row,
                                    struct exec_context *cx, struct divergence_bundle *bundle) {
    const struct exec_insn *insn = &cx->grid->program->code[bundle->pc];
    bundle->row = row;
    if (row) {
        bundle->mask = divergence_guard(row, insn, mask);
        return;
    }
    exec_threads_ready(cx, &warp->threads, bundle->pc, mask);
    exec_use_threads(cx, &warp->threads);
    bundle->mask = exec_threads_guard(&warp->threads, insn, mask);
}

/* --- control instructions --- */

uint32_t divergence_dynamic_warp_lowest(const struct divergence_dynamic_warp *warp, uint32_t mask, uint32_t *there) {
    uint32_t lowest = EXEC_NO_PC;
    *there = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left);
        if (warp->pc[at] < lowest) {
            lowest = warp->pc[at];
            *there = 0;
        }
        *there |= (uint32_t)(warp->pc[at] == lowest) << at;
    }
    return lowest;
}

static void after_exit(struct divergence_warp_pool *pool, struct divergence_block *block, uint64_t cycle) {
    struct divergence_warp_pool_block *state = block->state;
    if (divergence_sync_after_exit(state->sync, pool->setup.cx, block->cta))
        take_released(pool, block, cycle);
    if (!block->cta->n_live_rows)
        end_block(pool, block);
}

/* Threads in these lanes of the warp reach the barrier or warp-wide instruction at pc. */
static void arrive(struct divergence_warp_pool *pool, const struct divergence_dynamic_warp *warp, uint32_t pc,
                   uint32_t mask, uint64_t cycle) {
    for (uint32_t left = mask, same, home; left && !pool->setup.cx->fault.kind; left &= ~same) {
        same = divergence_same_row(&warp->threads, left, &home);
        struct exec_row *row = warp->threads.row[__builtin_ctz(same)];
        struct divergence_block *block = block_of(pool, row);
        struct divergence_warp_pool_block *state = block->state;
        state->passed = warp->group.passed;
        if (divergence_sync_arrive(state->sync, pool->setup.cx, row, pc, home))
            take_released(pool, block, cycle);
    }
}

static void count_branch(const struct divergence_warp_pool *pool, const struct divergence_dynamic_warp *warp,
                         uint32_t mask, uint32_t pc, bool is_divergent) {
    divergence_count_branch(&pool->setup, pc, is_divergent);
    for (uint32_t left = is_divergent ? mask : 0; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        divergence_count_split(&pool->setup, warp->threads.row[i], 1u << warp->threads.lane[i]);
    }
}

void divergence_warp_pool_control(struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp,
                                  uint32_t mask, uint32_t taken, uint32_t pc, uint64_t cycle) {
    struct exec_context *cx = pool->setup.cx;
    pool->acting = warp;
    struct divergence_outcome outcome = divergence_resolve_threads(cx, pc, &warp->threads, mask, taken, warp->pc);
    if (outcome.effect == DIVERGENCE_BRANCHES)
        count_branch(pool, warp, mask, pc, outcome.is_divergent);
    pool->setup.counters->barriers += cx->grid->program->code[pc].kind == EXEC_KIND_BARRIER;
    if (divergence_has_to_wait(&outcome)) {
        warp->waits |= taken;
        arrive(pool, warp, pc, taken, cycle);
    }
    if (!divergence_has_ended(&outcome))
        return;
    warp->mask &= ~taken;
    for (uint32_t left = taken, same; left; left &= ~same) {
        same = divergence_same_block(&warp->threads, left);
        after_exit(pool, block_of(pool, warp->threads.row[__builtin_ctz(left)]), cycle);
    }
}
