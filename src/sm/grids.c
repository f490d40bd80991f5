/* Several grids on an SM. See grids.h. */
#include "sm/grids.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sm/internal.h"

static void add_difference(uint64_t *to, const uint64_t *now, uint64_t *before, size_t n) {
    for (size_t i = 0; i < n; i++) {
        to[i] += now[i] - before[i];
        before[i] = now[i];
    }
}

/* Adds what has been counted since the last switch to the share of the current grid. */
static void settle(struct sm *sm) {
    struct sm_grids *grids = &sm->grids;
    struct sm_share *share = &grids->grid[grids->current].share, *mark = &grids->mark;
    const struct stats_mem *mem = mem_sm_counters(sm->mem, sm->index);
    add_difference(share->sm.value, sm->counters.value, mark->sm.value, STATS_N_SM);
    add_difference((uint64_t *)&share->divergence, (const uint64_t *)&sm->divergence_counters,
                   (uint64_t *)&mark->divergence, sizeof share->divergence / sizeof(uint64_t));
    add_difference((uint64_t *)&share->mem, (const uint64_t *)mem, (uint64_t *)&mark->mem,
                   sizeof share->mem / sizeof(uint64_t));
    add_difference(share->active_lanes, sm->active_lanes, mark->active_lanes, EXEC_LANES + 1);
}

/* Keeps what the SM holds of the current grid. */
static void put_away(struct sm *sm) {
    struct sm_grid *grid = &sm->grids.grid[sm->grids.current];
    settle(sm);
    grid->lanes_at = sm->lanes_at;
    grid->hot = sm->hot;
}

static void take_out(struct sm *sm, uint32_t k) {
    const struct sm_grid *grid = &sm->grids.grid[k];
    sm->grids.current = k;
    sm->grid = sm->cx.grid = grid->grid;
    sm->program = grid->program;
    sm->lanes_at = grid->lanes_at;
    sm->hot = grid->hot;
}

void sm_switch_grid(struct sm *sm, uint32_t k) {
    put_away(sm);
    take_out(sm, k);
}

void sm_use_request(struct sm *sm, uint32_t k) {
    if (sm->grids.grid[k].grid)
        sm_use_grid(sm, k);
}

void sm_show_grid(struct sm *sm, uint32_t k, uint64_t cycle) {
    sm_catch_up(sm, cycle);
    sm_use_grid(sm, k);
}
uint32_t sm_current_grid(const struct sm *sm) { return sm->grids.current; }

bool sm_can_share(const struct sm *sm) { return sm->divergence->shares_sms && !sm->wide; }

static void set_up(struct sm *sm, uint32_t k, const struct exec_grid *grid, const struct sm_program *program) {
    const struct config_capacity capacity = config_capacity_of(sm->machine);
    const struct config_demand block = sm_block_demand(grid);
    sm->grids.grid[k] = (struct sm_grid){
        .grid = grid, .program = program, .use = config_use_of(&capacity, &block), .empty_arrived = SM_NEVER};
}

void sm_share_grid(struct sm *sm) {
    struct sm_grids *grids = &sm->grids;
    if (!grids->grid)
        grids->grid = base_allocate(SM_MOST_GRIDS, sizeof *grids->grid);
    sm->has_several_grids = true;
    sm->is_plain = false;
    grids->current = 0;
    grids->in_use = (struct config_use){0};
    set_up(sm, 0, sm->grid, sm->program);
    settle(sm); /* sets the mark */
    memset(&grids->grid[0].share, 0, sizeof grids->grid[0].share);
}

void sm_join_grid(struct sm *sm, uint32_t k, const struct exec_grid *grid, const struct sm_program *program,
                  uint64_t cycle) {
    if (cycle)
        sm_catch_up(sm, cycle - 1);
    put_away(sm);
    set_up(sm, k, grid, program);
    sm->grids.grid[k].lanes_at = base_allocate(grid->program->n_insns, sizeof *sm->lanes_at);
    sm_slots_widen(&sm->slots, program->n_registers + 1);
    take_out(sm, k);
    sm_fetch_end(&sm->fetch); /* lines of several programs are not kept apart */
    if (!sm->copies.copy)
        sm_copies_begin(sm);
    if (!sm->products.warp)
        sm_products_begin(sm);
}

bool sm_has_room_for(const struct sm *sm, uint32_t k) {
    const struct config_capacity capacity = config_capacity_of(sm->machine);
    return config_has_room(&capacity, &sm->grids.in_use, &sm->grids.grid[k].use);
}

void sm_start_block_of(struct sm *sm, uint32_t k, uint32_t block, uint64_t start, uint64_t cycle) {
    if (cycle)
        sm_catch_up(sm, cycle - 1);
    sm_use_grid(sm, k);
    if (sm_slots_n_occupied(&sm->slots) == 0) {
        settle(sm);
        sm->grids.grid[k].empty_arrived = sm->grids.grid[k].share.sm.stall_empty;
    }
    sm_start_block_at(sm, block, start, cycle);
}

void sm_grids_begin_block(struct sm *sm, uint32_t k) { config_take(&sm->grids.in_use, &sm->grids.grid[k].use); }

void sm_grids_end_block(struct sm *sm, uint32_t k) {
    config_give_back(&sm->grids.in_use, &sm->grids.grid[k].use);
    sm->grids.grid[k].n_ended++;
}

uint32_t sm_take_ended(struct sm *sm, uint32_t k) {
    uint32_t n = sm->grids.grid[k].n_ended;
    sm->grids.grid[k].n_ended = 0;
    return n;
}

/* Divides the grid's cycles without a group as sm_end_grid() does for a grid that is alone. */
static void divide_empty(struct sm_grid *grid) {
    struct stats_sm *share = &grid->share.sm;
    if (grid->empty_arrived == SM_NEVER) {
        share->empty_unused = share->stall_empty;
        return;
    }
    share->empty_start = grid->empty_arrived;
    share->empty_tail = share->stall_empty - grid->empty_arrived;
}

void sm_leave_grid(struct sm *sm, uint32_t k, uint64_t cycle, struct stats_counters *counters,
                   uint64_t active_lanes[EXEC_LANES + 1]) {
    struct sm_grid *grid = &sm->grids.grid[k];
    sm_catch_up(sm, cycle);
    sm_use_grid(sm, k);
    if (sm->follower)
        sm_observe_leave(sm, k, cycle);
    sm_count_work(sm);
    free(sm->hot);
    sm->hot = NULL;
    for (uint32_t s = 0; s < sm->slots.n; s++)
        if (sm->slots.slot[s].group && sm->slots.slot[s].grid == k) /* only if the launch has failed */
            sm_finish_slot(sm, s);
    sm_blocks_leave(sm, k);
    put_away(sm);
    divide_empty(grid);
    stats_add_sm(counters, &grid->share.sm);
    stats_add_divergence(counters, &grid->share.divergence);
    stats_add_mem(counters, &grid->share.mem);
    for (int i = 0; i <= EXEC_LANES; i++)
        active_lanes[i] += grid->share.active_lanes[i];
    memset(&grid->share, 0, sizeof grid->share);
    grid->grid = NULL;
    for (uint32_t other = 0; other < SM_MOST_GRIDS; other++) /* the first of those that are left */
        if (sm->grids.grid[other].grid) {
            take_out(sm, other);
            return;
        }
}

struct sm_seen sm_see(struct sm *sm, uint32_t k) {
    if (k == SM_ALL_GRIDS)
        return (struct sm_seen){&sm->counters, mem_sm_counters(sm->mem, sm->index), sm->active_lanes, sm->blocks.n,
                                sm_slots_n_occupied(&sm->slots)};
    const struct sm_share *share = &sm->grids.grid[k].share;
    struct sm_seen seen = {&share->sm, &share->mem, share->active_lanes, 0, 0};
    settle(sm);
    for (uint32_t i = 0; i < sm->blocks.n_places; i++)
        seen.n_blocks += sm->blocks.place[i] && sm->blocks.place[i]->is_in_flight && sm->blocks.place[i]->grid == k;
    for (uint32_t s = 0; s < sm->slots.n; s++)
        seen.n_groups += sm->slots.slot[s].group && sm->slots.slot[s].grid == k;
    return seen;
}

void sm_add_share(struct sm *sm, uint32_t k, struct stats_counters *counters) {
    settle(sm);
    stats_add_sm(counters, &sm->grids.grid[k].share.sm);
    stats_add_mem(counters, &sm->grids.grid[k].share.mem);
}

void sm_grids_end(struct sm *sm) {
    struct sm_grids *grids = &sm->grids;
    for (uint32_t k = 0; sm->has_several_grids && k < SM_MOST_GRIDS; k++) {
        if (grids->grid[k].grid && k != grids->current) { /* only if a launch has failed */
            free(grids->grid[k].lanes_at);
            free(grids->grid[k].hot);
        }
        grids->grid[k].grid = NULL;
    }
    sm->has_several_grids = false;
    grids->current = 0;
}
