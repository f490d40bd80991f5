/* Blocks on an SM: they start, run and make room for others. */
#include "sm/blocks.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "config/occupancy.h"
#include "sm/internal.h"

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

struct config_demand sm_block_demand(const struct exec_grid *grid) {
    return (struct config_demand){
        .threads = exec_shape_threads(&grid->shape),
        .registers_per_thread = grid->program->registers_per_thread,
        .shared_bytes = grid->shared_bytes,
    };
}

/* Returns how many blocks the SM holds at once: at least one, because the launch has been checked. */
static uint32_t blocks_that_fit(const struct config_capacity *capacity, const struct exec_grid *grid) {
    const struct config_demand block = sm_block_demand(grid);
    uint32_t blocks = config_occupancy(capacity, &block, NULL);
    assert(blocks);
    return blocks;
}

/* Returns the number of warps whose registers the SM can hold, whatever their blocks. */
static uint32_t warps_that_fit(const struct sm *sm, const struct config_capacity *capacity) {
    return least(sm->n_warps, config_register_warps(capacity, sm->grid->program->registers_per_thread));
}

void sm_blocks_begin(struct sm *sm) {
    const struct config_capacity capacity = config_capacity_of(sm->machine);
    sm->blocks.most = blocks_that_fit(&capacity, sm->grid);
    sm->has_clusters = exec_shape_cluster(&sm->grid->shape) > 1;
    sm->slots.n_usable = sm->slots.n;
    if (sm->divergence->chip)
        sm->slots.n_usable = least(sm->slots.n, warps_that_fit(sm, &capacity));
}

static void free_place(struct sm *sm, uint32_t i) {
    struct sm_resident *resident = sm->blocks.place[i];
    if (!resident)
        return;
    if (resident->block.cta->block.cluster) /* the launch has failed */
        sm_cluster_leave(sm, resident->block.cta);
    if (sm->divergence->free_block)
        sm->divergence->free_block(sm->model, resident->block.state);
    exec_cta_free(resident->block.cta);
    free(resident);
    sm->blocks.place[i] = NULL;
}

void sm_blocks_leave(struct sm *sm, uint32_t k) {
    for (uint32_t i = 0; i < sm->blocks.n_places; i++)
        if (sm->blocks.place[i] && sm->blocks.place[i]->grid == k)
            free_place(sm, i);
}

void sm_blocks_end(struct sm *sm) {
    for (uint32_t i = 0; i < sm->blocks.n_places; i++)
        free_place(sm, i);
    free(sm->blocks.place);
    sm->blocks = (struct sm_blocks){0};
}

bool sm_has_room(const struct sm *sm) {
    return sm->blocks.n < (sm->wide ? least(sm->wide->most_blocks, sm->blocks.most) : sm->blocks.most);
}
uint32_t sm_most_blocks(const struct sm *sm) { return sm->blocks.most; }
uint32_t sm_count_blocks(const struct sm *sm) { return sm->blocks.n; }

/* Returns the number of a place that holds nothing. */
static uint32_t new_place(struct sm_blocks *blocks) {
    for (uint32_t i = 0; i < blocks->n_places; i++)
        if (!blocks->place[i])
            return i;
    blocks->place = base_grow(blocks->place, blocks->n_places + 1, sizeof *blocks->place);
    return blocks->n_places++;
}

/* Local memory of different grids lies at different addresses. */
static uint64_t first_row_of(const struct sm *sm, uint32_t number) {
    const uint64_t rows_of_grid = UINT64_C(1) << 28;
    return ((uint64_t)number * sm->grid->n_sms + sm->index) * EXEC_MAX_ROWS + sm->grids.current * rows_of_grid;
}

/* Returns a place for a block of the current grid. */
static struct sm_resident *free_resident(struct sm *sm) {
    for (uint32_t i = 0; i < sm->blocks.n_places; i++)
        if (sm->blocks.place[i] && !sm->blocks.place[i]->is_in_flight && sm->blocks.place[i]->grid == sm->grids.current)
            return sm->blocks.place[i];
    uint32_t number = new_place(&sm->blocks);
    struct sm_resident *resident = sm->blocks.place[number] = base_allocate(1, sizeof *resident);
    resident->grid = (uint8_t)sm->grids.current;
    resident->block.cta = exec_cta_new(sm->grid);
    resident->block.cta->owner = &resident->block;
    resident->sm = sm;
    resident->block.slot = number % SCHED_MAX_SLOTS;
    resident->block.cta->first_row = first_row_of(sm, number);
    if (sm->divergence->new_block)
        resident->block.state = sm->divergence->new_block(sm->model, resident->block.cta);
    return resident;
}

static struct sm_resident *start(struct sm *sm, uint32_t block, uint64_t cycle) {
    if (cycle)
        sm_catch_up(sm, cycle - 1);
    struct sm_resident *resident = free_resident(sm);
    exec_cta_start(resident->block.cta, block, sm->index);
    if (sm->blocks.cluster)
        exec_cta_join(resident->block.cta, sm->blocks.cluster, sm->blocks.rank);
    resident->is_in_flight = true;
    resident->block.first_cycle = cycle + 1 > sm->blocks.start ? cycle + 1 : sm->blocks.start;
    sm->last_change = cycle;
    sm->schedulers.view.n_blocks = ++sm->blocks.n;
    if (sm->wide)
        sm_wide_begin_block(sm, &resident->block, cycle);
    if (sm->has_several_grids)
        sm_grids_begin_block(sm, resident->grid);
    sm->counters.blocks++;
    sm->counters.threads += exec_shape_threads(&sm->grid->shape);
    sm->divergence->admit(sm->model, &resident->block, cycle);
    return resident;
}

void sm_start_block(struct sm *sm, uint32_t block, uint64_t cycle) { start(sm, block, cycle); }

/* Nothing may look at the block's number before it executes, and its first instructions need not be fetched. */
bool sm_numbers_later(const struct sm *sm) {
    return sm_can_share(sm) && !sm->boards.board && !sm->has_several_grids && !sm->has_clusters && !sm->observer &&
           !sm->fetch.can_miss && sm_has_scoreboard(sm);
}

struct sm_resident *sm_start_some_block(struct sm *sm, uint64_t first, uint64_t cycle) {
    sm->blocks.start = first + 1;
    struct sm_resident *resident = start(sm, 0, cycle);
    sm->blocks.start = 0;
    return resident;
}

/* The block's groups sleep. If it starts later than was known, they still wake at first, and find that they must sleep
 * on: the SM has a tick more, in which nothing happens. */
void sm_number_block(struct sm *sm, struct sm_resident *resident, uint32_t block, uint64_t first) {
    exec_cta_number(resident->block.cta, block);
    if (first + 1 == resident->block.first_cycle)
        return;
    for (uint32_t s = 0; s < sm->slots.n; s++) {
        struct sm_slot *slot = &sm->slots.slot[s];
        if (!sched_has(&sm->slots.occupied, s) || slot->group->home != &resident->block)
            continue;
        assert(slot->state == SM_SLOT_FETCH && slot->wake == resident->block.first_cycle && first >= slot->wake);
        slot->fetch_ready = slot->wake = first + 1;
    }
    resident->block.first_cycle = first + 1;
}

void sm_start_block_at(struct sm *sm, uint32_t block, uint64_t start, uint64_t cycle) {
    sm->blocks.start = start + 1;
    sm_start_block(sm, block, cycle);
    sm->blocks.start = 0;
}

uint64_t sm_start_block_in(struct sm *sm, struct exec_cluster *cluster, uint32_t rank, uint32_t block, uint64_t start,
                           uint64_t cycle) {
    cycle = sm->last_cycle > cycle ? sm->last_cycle : cycle;
    cycle = sm->turn.cycle > cycle ? sm->turn.cycle : cycle;
    sm->blocks.cluster = cluster;
    sm->blocks.rank = rank;
    sm_start_block_at(sm, block, start > cycle ? start : cycle, cycle);
    sm->blocks.cluster = NULL;
    return cycle;
}

void sm_pull(struct sm *sm, uint64_t cycle) { sm->divergence->refill(sm->model, cycle); }

/* Another SM may end the block (odgs), when this one's own cycle is an older one. */
void sm_end_block(struct sm *sm, struct divergence_block *block) {
    struct sm_resident *resident = (struct sm_resident *)block;
    uint64_t last = sm->turn.cycle > sm->last_cycle ? sm->turn.cycle : sm->last_cycle;
    if (last >= block->first_cycle)
        sm->counters.block_cycles += last + 1 - block->first_cycle;
    if (sm->observer && last >= block->first_cycle)
        sm->observer->block(sm->observer->user,
                            &(struct sm_block_span){block->cta->block.grid, sm->index, block->cta->block.index,
                                                    block->first_cycle, last + 1 - block->first_cycle});
    if (block->cta->block.cluster)
        sm_cluster_leave(sm, block->cta);
    resident->is_in_flight = false;
    if (sm->has_several_grids)
        sm_grids_end_block(sm, resident->grid);
    sm->schedulers.view.n_blocks = --sm->blocks.n;
    sm->dispatcher.block_ended(sm->dispatcher.user, sm->index);
}
