/* Warps of the oracle scheduler: lists of them, and threads that become some. See odgs.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/odgs_inside.h"
#include "divergence/threads.h"

/* --- lists --- */

void divergence_odgs_queue_start(struct divergence_odgs_queue *queue) {
    queue->first = NULL;
    queue->last = &queue->first;
}

void divergence_odgs_queue_push(struct divergence_odgs_queue *queue, struct divergence_odgs_warp *warp) {
    warp->next = NULL;
    *queue->last = warp;
    queue->last = &warp->next;
}

struct divergence_odgs_warp *divergence_odgs_queue_pop(struct divergence_odgs_queue *queue) {
    struct divergence_odgs_warp *warp = queue->first;
    if (warp && !(queue->first = warp->next))
        queue->last = &queue->first;
    return warp;
}

struct divergence_odgs_warp *divergence_odgs_new_warp(struct divergence_odgs_chip *chip) {
    struct divergence_odgs_warp *warp = chip->unused;
    if (warp) {
        chip->unused = warp->next;
    } else {
        warp = base_allocate(1, sizeof *warp);
        chip->warp = realloc(chip->warp, (chip->n_warps + 1) * sizeof(struct divergence_odgs_warp *));
        if (!chip->warp)
            abort();
        warp->number = chip->n_warps;
        chip->warp[chip->n_warps++] = warp;
    }
    warp->group = (struct divergence_group){.slot = DIVERGENCE_NO_SLOT, .warp_id = DIVERGENCE_NO_WARP};
    warp->lanes = 0;
    warp->due = 0;
    warp->next = NULL;
    warp->on = NULL;
    warp->is_used = true;
    return warp;
}

void divergence_odgs_give_back(struct divergence_odgs_chip *chip, struct divergence_odgs_warp *warp) {
    warp->is_used = false;
    warp->next = chip->unused;
    chip->unused = warp;
}

/* --- warps --- */

/* The group is what the top of the warp's stack says. */
void divergence_odgs_show_top(struct divergence_odgs_warp *warp) {
    struct divergence_group *group = &warp->group;
    if (!warp->stack.depth) {
        group->status = DIVERGENCE_ENDED;
        return;
    }
    const struct divergence_entry *top = divergence_stack_top(&warp->stack);
    group->status = DIVERGENCE_RUNS;
    group->pc = top->pc;
    group->meet = top->reconvergence;
    group->mask = top->mask;
    group->n_threads = (uint32_t)__builtin_popcount(top->mask);
}

void divergence_odgs_set_thread(struct divergence_odgs_warp *warp, uint32_t lane, struct divergence_thread thread) {
    warp->thread[lane] = thread;
    exec_threads_put(&warp->threads, lane, thread.row, thread.lane);
}

/* The threads [0, n) of warp->thread, all at pc. Threads of one row in their own lanes run in place. */
void divergence_odgs_form(struct divergence_odgs_warp *warp, uint32_t pc, uint32_t n) {
    struct exec_row *row = warp->thread[0].row;
    uint32_t own = 0;
    for (uint32_t i = 0; i < n; i++)
        own |= warp->thread[i].row == row ? 1u << warp->thread[i].lane : 0;
    bool is_row = (uint32_t)__builtin_popcount(own) == n;
    struct divergence_thread old[EXEC_LANES];
    memcpy(old, warp->thread, n * sizeof *old);
    for (uint32_t i = 0; i < n; i++)
        divergence_odgs_set_thread(warp, is_row ? old[i].lane : i, old[i]);
    warp->lanes = is_row ? own : n == EXEC_LANES ? ~0u : (1u << n) - 1;
    warp->group.row = is_row ? row : NULL;
    warp->group.threads = &warp->threads;
    warp->group.home = divergence_block_of(row);
    divergence_stack_start(&warp->stack, pc, warp->lanes);
    divergence_odgs_show_top(warp);
}

void divergence_odgs_add_thread(struct divergence_odgs_chip *chip, uint32_t pc, struct divergence_thread thread) {
    divergence_pool_add(&chip->pool, pc, thread);
    if (chip->pool.at[pc].count < chip->warp_size)
        return;
    struct divergence_odgs_warp *warp = divergence_odgs_new_warp(chip);
    divergence_odgs_form(warp, pc, divergence_pool_take(&chip->pool, pc, warp->thread, chip->warp_size));
    divergence_odgs_queue_push(&chip->full, warp);
}

/* A row's lanes at pc, which are nowhere else now: a full row is a warp of its own. */
void divergence_odgs_add_row(struct divergence_odgs_chip *chip, struct exec_row *row, uint32_t mask, uint32_t pc,
                             uint16_t sm, struct divergence_odgs_queue *queue) {
    bool is_full = (uint32_t)__builtin_popcount(mask) == chip->warp_size;
    bool must_stay = !chip->may_regroup[pc];
    struct divergence_odgs_warp *warp = is_full || must_stay ? divergence_odgs_new_warp(chip) : NULL;
    uint32_t n = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        struct divergence_thread thread = {row, (uint8_t)__builtin_ctz(left), sm};
        if (warp)
            warp->thread[n++] = thread;
        else
            divergence_odgs_add_thread(chip, pc, thread);
    }
    if (!warp)
        return;
    divergence_odgs_form(warp, pc, n);
    divergence_odgs_queue_push(queue, warp);
}
