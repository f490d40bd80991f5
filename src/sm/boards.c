/* Scoreboards of rows. See boards.h. */
#include "sm/boards.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/parts/threads.h"
#include "sm/internal.h"

void sm_boards_begin(struct sm *sm) {
    if (!sm->divergence->tracks_lanes)
        return;
    uint32_t threads = exec_shape_threads(&sm->grid->shape), width = sm->machine->sm.warp_size;
    uint32_t rows = (threads + width - 1) / width, n = rows * sm->blocks.most;
    sm->boards.n = n;
    sm->boards.rows_per_block = rows;
    sm->boards.board = base_allocate(n, sizeof *sm->boards.board);
    if (sm_has_scoreboard(sm))
        sm->boards.ready = base_allocate((size_t)n * sm->program->n_registers * EXEC_LANES, sizeof *sm->boards.ready);
    if (sm_has_scoreboard(sm))
        sm->boards.loaded = base_allocate((size_t)n * sm->program->n_registers, sizeof *sm->boards.loaded);
}

void sm_boards_end(struct sm_boards *boards) {
    free(boards->board);
    free(boards->ready);
    free(boards->loaded);
    *boards = (struct sm_boards){.n_rows = boards->n_rows};
}

static uint32_t number_of(const struct sm *sm, const struct exec_row *row) {
    return divergence_block_of(row)->slot * sm->boards.rows_per_block + row->index;
}

static struct sm_board *board_of(const struct sm *sm, const struct exec_row *row) {
    return &sm->boards.board[number_of(sm, row)];
}

/* The lanes of a register. */
static uint64_t *entry(const struct sm *sm, const struct exec_row *row, uint32_t reg) {
    return sm->boards.ready + ((size_t)number_of(sm, row) * sm->program->n_registers + reg) * EXEC_LANES;
}

static uint32_t *loaded(const struct sm *sm, const struct exec_row *row, uint32_t reg) {
    return &sm->boards.loaded[(size_t)number_of(sm, row) * sm->program->n_registers + reg];
}

static void set(uint64_t *ready, uint32_t mask, uint64_t cycle) {
    for (; mask; mask &= mask - 1)
        ready[__builtin_ctz(mask)] = cycle;
}

static uint64_t latest(const uint64_t *ready, uint32_t mask) {
    uint64_t last = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t one = ready[__builtin_ctz(mask)];
        last = one > last ? one : last;
    }
    return last;
}

/* The row of a new block: none of its registers is in flight. */
static void start(struct sm *sm, const struct exec_row *row) {
    struct sm_board *board = board_of(sm, row);
    *board = (struct sm_board){.block = divergence_cta(row)->block.index, .age = ++sm->boards.n_rows};
    if (sm->boards.ready)
        memset(entry(sm, row, 0), 0, (size_t)sm->program->n_registers * EXEC_LANES * sizeof *sm->boards.ready);
}

int sm_boards_find_slot(const struct sm *sm, const struct exec_row *row) {
    const struct sm_board *board = board_of(sm, row);
    bool is_row = board->age && board->block == divergence_cta(row)->block.index;
    int other = is_row ? sched_first(&board->slots) : SCHED_NONE;
    if (other == SCHED_NONE)
        return sm_slots_find_free(&sm->slots, 0, 1);
    return sm_slots_find_free(&sm->slots, (uint32_t)other % sm->schedulers.n, sm->schedulers.n);
}

void sm_boards_arrive(struct sm *sm, uint32_t s) {
    struct sm_slot *slot = &sm->slots.slot[s];
    const struct exec_row *row = slot->group->row;
    const struct sm_board *board = board_of(sm, row);
    if (!board->age || board->block != divergence_cta(row)->block.index)
        start(sm, row);
    sched_add(&board_of(sm, row)->slots, s);
}

void sm_boards_leave(struct sm *sm, uint32_t s) { sched_remove(&board_of(sm, sm->slots.slot[s].group->row)->slots, s); }

void sm_boards_set_results(struct sm *sm, uint32_t s, const struct sm_timing *timing, uint32_t mask, uint64_t cycle) {
    const uint32_t *reg = sm_registers(sm->program, timing);
    const struct exec_row *row = sm->slots.slot[s].group->row;
    for (unsigned i = 0; i < timing->n_destinations && sm->boards.ready; i++) {
        uint32_t *lanes = loaded(sm, row, reg[i]);
        set(entry(sm, row, reg[i]), mask, cycle);
        *lanes = cycle == SM_NEVER ? *lanes | mask : *lanes & ~mask;
    }
}

void sm_boards_set_fetch(struct sm *sm, uint32_t s, uint64_t cycle) {
    const struct divergence_group *group = sm->slots.slot[s].group;
    set(board_of(sm, group->row)->fetch, group->mask, cycle);
}

uint64_t sm_boards_fetched(const struct sm *sm, const struct divergence_group *group, uint32_t mask) {
    return latest(board_of(sm, group->row)->fetch, mask);
}

uint64_t sm_boards_operands(const struct sm *sm, const struct divergence_group *group, const struct sm_timing *timing,
                            uint32_t mask) {
    const uint32_t *reg = sm_registers(sm->program, timing);
    uint64_t last = 0;
    for (unsigned i = 0; i < timing->n_registers && sm->boards.ready; i++) {
        uint64_t one = latest(entry(sm, group->row, reg[i]), mask);
        last = one > last ? one : last;
    }
    return last;
}

uint64_t sm_boards_data(const struct sm *sm, const struct divergence_group *group, const struct sm_timing *timing,
                        uint32_t mask) {
    const uint32_t *reg = sm_registers(sm->program, timing);
    uint64_t last = 0;
    if (!sm->boards.ready || timing->is_fence || timing->is_barrier)
        return sm_boards_have_accesses(sm, group, mask) ? SM_NEVER : 0;
    for (unsigned i = 0; i < timing->n_registers; i++) {
        uint64_t one = latest(entry(sm, group->row, reg[i]), mask & *loaded(sm, group->row, reg[i]));
        last = one > last ? one : last;
    }
    return last;
}

bool sm_boards_have_accesses(const struct sm *sm, const struct divergence_group *group, uint32_t mask) {
    const struct sm_board *board = board_of(sm, group->row);
    for (; mask; mask &= mask - 1)
        if (board->n_accesses[__builtin_ctz(mask)])
            return true;
    return false;
}

bool sm_boards_own(const struct sm *sm, const struct sm_request *request) {
    return request->board < sm->boards.n && sm->boards.board[request->board].age == request->board_age;
}

void sm_boards_begin_access(struct sm *sm, uint32_t s, struct sm_request *request) {
    struct sm_board *board = board_of(sm, sm->slots.slot[s].group->row);
    request->board = (uint32_t)(board - sm->boards.board);
    request->board_age = board->age;
    for (uint32_t left = request->lanes; left; left &= left - 1)
        board->n_accesses[__builtin_ctz(left)]++;
}

/* The access has ended for these lanes. */
static void end_lanes(struct sm *sm, const struct sm_request *request, uint32_t lanes, uint64_t cycle) {
    struct sm_board *board = board_of(sm, request->row);
    const struct sm_timing *timing = &sm->program->timing[request->pc];
    const uint32_t *reg = sm_registers(sm->program, timing);
    for (uint32_t left = lanes; left; left &= left - 1)
        board->n_accesses[__builtin_ctz(left)]--;
    for (unsigned i = 0; i < timing->n_destinations && sm_has_result(timing) && sm->boards.ready; i++)
        set(entry(sm, request->row, reg[i]), lanes, request->ready);
    if (!sm_has_scoreboard(sm))
        for (uint32_t left = lanes; left; left &= left - 1) {
            uint64_t *fetch = &board->fetch[__builtin_ctz(left)];
            *fetch = request->ready > *fetch ? request->ready : *fetch;
        }
    bool may_switch = sm->divergence->memory && sm->divergence->memory->stalls;
    for (uint32_t word = 0; word < sm->slots.n_words; word++)
        for (uint64_t left = board->slots.word[word]; left; left &= left - 1) {
            uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(left);
            const struct sm_slot *slot = &sm->slots.slot[s];
            if (slot->state == SM_SLOT_MEMORY || (may_switch && slot->state == SM_SLOT_DEPENDENCY))
                sm_prepare(sm, s, cycle);
        }
}

void sm_boards_end_access(struct sm *sm, const struct sm_request *request, uint64_t cycle) {
    end_lanes(sm, request, request->lanes, cycle);
}

void sm_boards_serve_hits(struct sm *sm, struct sm_request *request, uint64_t cycle) {
    uint32_t missing = sm_request_missing(request), hit = request->lanes & ~missing;
    if (!hit || !missing || !sm_boards_own(sm, request))
        return;
    request->lanes = missing;
    end_lanes(sm, request, hit, cycle);
}
