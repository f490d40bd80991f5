/* Warps of the oracle scheduler, and the pool in which threads form warps. See odgs.c. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "divergence/odgs/internal.h"
#include "divergence/parts/threads.h"

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
        warp = base_allocate_aligned(sizeof *warp);
        chip->warp = base_grow(chip->warp, chip->n_warps + 1, sizeof(struct divergence_odgs_warp *));
        chip->warp[chip->n_warps++] = warp;
    }
    exec_threads_carry(&warp->threads, chip->program);
    warp->group = (struct divergence_group){.slot = DIVERGENCE_NO_SLOT, .warp_id = DIVERGENCE_NO_WARP};
    warp->lanes = warp->n_waiting = 0;
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

void divergence_odgs_show_top(struct divergence_odgs_warp *warp) {
    struct divergence_group *group = &warp->group;
    if (!warp->stack.depth) {
        group->status = DIVERGENCE_ENDED;
        return;
    }
    const struct divergence_entry *top = divergence_stack_top(&warp->stack);
    group->status = DIVERGENCE_RUNS;
    group->pc = top->pc;
    group->notify_pc = top->reconvergence;
    group->mask = top->mask[0];
    group->n_threads = base_count_bits(top->mask[0]);
}

static void put_thread(struct divergence_odgs_warp *warp, uint32_t lane, struct exec_row *row, uint32_t home,
                       uint16_t sm) {
    exec_threads_put(&warp->threads, lane, row, home);
    warp->sm[lane] = sm;
}

/* The warp begins with the threads in `lanes`, all at pc. `row`: they belong to it, each in its own lane; NULL: not
 * so. */
static void begin(struct divergence_odgs_warp *warp, uint32_t lanes, struct exec_row *row, uint32_t pc) {
    warp->lanes = lanes;
    warp->group.row = row;
    warp->group.threads = &warp->threads;
    warp->group.home = divergence_block_of(warp->threads.row[__builtin_ctz(lanes)]);
    divergence_stack_start_lanes(&warp->stack, lanes, pc);
    divergence_odgs_show_top(warp);
}

/* --- the pool --- */

static struct exec_row *only_row(const struct divergence_odgs_warp *warp, uint32_t n) {
    for (uint32_t i = 1; i < n; i++)
        if (warp->threads.row[i] != warp->threads.row[0])
            return NULL;
    return warp->threads.row[0];
}

/* Threads of one row go to their own lanes, so that they run in place. Returns the lanes. */
static uint32_t go_home(const struct divergence_odgs_chip *chip, struct divergence_odgs_warp *warp, uint32_t n,
                        uint32_t pc) {
    struct exec_row *row = warp->threads.row[0];
    exec_threads_send_home(chip->cx, &warp->threads, pc, warp->threads.carried);
    uint8_t home[EXEC_LANES];
    uint16_t sm[EXEC_LANES];
    uint32_t lanes = 0;
    memcpy(home, warp->threads.lane, sizeof home);
    memcpy(sm, warp->sm, sizeof sm);
    for (uint32_t i = 0; i < n; i++) {
        put_thread(warp, home[i], row, home[i], sm[i]);
        lanes |= 1u << home[i];
    }
    return lanes;
}

struct divergence_odgs_warp *divergence_odgs_take_waiting(struct divergence_odgs_chip *chip, uint32_t pc) {
    struct divergence_odgs_warp *warp = divergence_global_pool_take(&chip->pool, pc);
    uint32_t n = warp->n_waiting;
    struct exec_row *row = only_row(warp, n);
    begin(warp, row ? go_home(chip, warp, n, pc) : n == EXEC_LANES ? ~0u : (1u << n) - 1, row, pc);
    warp->n_waiting = 0;
    return warp;
}

uint32_t divergence_odgs_take_threads(const struct divergence_odgs_chip *chip, struct divergence_odgs_warp *to,
                                      uint32_t room, struct divergence_odgs_warp *from, uint32_t lanes, uint32_t pc) {
    uint8_t at[EXEC_LANES];
    uint32_t moving = 0;
    for (uint32_t left = lanes; left && room; left &= left - 1, room &= room - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), place = (uint32_t)__builtin_ctz(room);
        at[lane] = (uint8_t)place;
        to->sm[place] = from->sm[lane];
        moving |= 1u << lane;
    }
    exec_threads_move(chip->cx, &to->threads, at, &from->threads, moving, pc);
    return moving;
}

uint32_t divergence_odgs_lanes_at(const struct divergence_odgs_warp *warp, uint32_t lanes, uint32_t pc) {
    uint32_t there = 0;
    for (uint32_t left = lanes; left; left &= left - 1)
        there |= (uint32_t)(warp->next_pc[__builtin_ctz(left)] == pc) << __builtin_ctz(left);
    return there;
}

/* Puts threads, all at pc, into the pool. Returns the last warp that they fill, and the lane of its last thread in
 * *last; NULL: they fill none. */
static struct divergence_odgs_warp *wait_at(struct divergence_odgs_chip *chip, struct divergence_odgs_warp *from,
                                            uint32_t lanes, uint32_t pc, uint32_t *last) {
    struct divergence_odgs_warp *full = NULL;
    for (uint32_t left = lanes, came; left; left &= ~came) {
        struct divergence_odgs_warp *warp = chip->pool.at[pc];
        if (!warp) {
            warp = divergence_odgs_new_warp(chip);
            divergence_global_pool_put(&chip->pool, pc, warp);
        }
        uint32_t room = divergence_odgs_all_lanes(chip) & ~((1u << warp->n_waiting) - 1);
        came = divergence_odgs_take_threads(chip, warp, room, from, left, pc);
        warp->n_waiting += base_count_bits(came);
        if (warp->n_waiting < chip->warp_size)
            break;
        full = divergence_odgs_take_waiting(chip, pc);
        *last = EXEC_LANES - 1 - (uint32_t)__builtin_clz(came);
    }
    return full;
}

void divergence_odgs_add_threads(struct divergence_odgs_chip *chip, struct divergence_odgs_warp *from, uint32_t lanes) {
    struct divergence_odgs_warp *full[EXEC_LANES]; /* by the lane of the thread that filled it */
    uint32_t has_full = 0, last = 0;
    for (uint32_t left = lanes, there; left; left &= ~there) {
        uint32_t pc = from->next_pc[__builtin_ctz(left)];
        there = divergence_odgs_lanes_at(from, left, pc);
        struct divergence_odgs_warp *warp = wait_at(chip, from, there, pc, &last);
        if (!warp)
            continue;
        full[last] = warp;
        has_full |= 1u << last;
    }
    for (; has_full; has_full &= has_full - 1)
        divergence_odgs_queue_push(&chip->full, full[__builtin_ctz(has_full)]);
}

void divergence_odgs_add_row(struct divergence_odgs_chip *chip, struct exec_row *row, uint32_t mask, uint32_t pc,
                             uint16_t sm, struct divergence_odgs_queue *queue) {
    bool is_full = base_count_bits(mask) == chip->warp_size;
    struct divergence_odgs_warp *warp = divergence_odgs_new_warp(chip);
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        put_thread(warp, lane, row, lane, sm);
        warp->next_pc[lane] = pc;
    }
    if (is_full || !chip->may_regroup[pc]) {
        begin(warp, mask, row, pc);
        divergence_odgs_queue_push(queue, warp);
    } else {
        divergence_odgs_add_threads(chip, warp, mask);
        divergence_odgs_give_back(chip, warp);
    }
}
