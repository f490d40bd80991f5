/* Blocks in execution. See cta.h. */
#include "exec/cta.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "exec/check/check.h"
#include "exec/program/live.h"

static void *allocate(size_t bytes) {
    void *memory = aligned_alloc(BASE_PAIR_BYTES, (bytes + BASE_PAIR_BYTES) & ~(size_t)(BASE_PAIR_BYTES - 1));
    if (!memory)
        abort();
    return memory;
}

void exec_cta_free(struct exec_cta *cta) {
    if (!cta)
        return;
    exec_check_block_free(cta->block.check);
    free(cta->row);
    free(cta->registers);
    free(cta->local);
    free(cta->shared);
    free(cta);
}

static void broadcast(uint32_t *lanes, uint32_t value) {
    for (int i = 0; i < EXEC_LANES; i++)
        lanes[i] = value;
}

static const struct exec_frame_header kernel_header = {EXEC_NO_PC, 0, 0, 0};

/* Returns whether the frame of each thread consists of its header, which then never changes. */
static bool has_only_headers(const struct exec_program *program) {
    return program->local_bytes == sizeof kernel_header && program->n_functions == 1 && !exec_needs_stack(program);
}

/* Sets the local memory of the row's threads as a kernel finds it. */
static void start_local(struct exec_row *row, uint32_t lane_bytes, size_t used_bytes) {
    for (uint32_t lane = 0; lane < EXEC_LANES; lane++) {
        unsigned char *local = row->local + (size_t)lane * lane_bytes;
        memcpy(local, &kernel_header, sizeof kernel_header);
        if (used_bytes > sizeof kernel_header)
            memset(local + sizeof kernel_header, 0, used_bytes - sizeof kernel_header);
    }
}

/* Sets the fields that are the same for all blocks of the grid that use this row. */
static void place_row(struct exec_cta *cta, uint32_t index) {
    const struct exec_grid *grid = cta->block.grid;
    const struct exec_program *program = grid->program;
    struct exec_row *row = &cta->row[index];
    uint32_t n_threads = exec_shape_threads(&grid->shape);
    row->base[EXEC_BASE_REGISTERS] = cta->registers + (size_t)index * program->register_bytes;
    row->base[EXEC_BASE_CONSTANTS] = program->constants;
    row->base[EXEC_BASE_ROW] = (unsigned char *)row;
    row->base[EXEC_BASE_BLOCK] = (unsigned char *)&cta->block;
    row->local = cta->local + (size_t)index * EXEC_LANES * grid->local_bytes;
    row->block = &cta->block;
    row->index = index;
    broadcast(row->warpid, index);
    if (has_only_headers(program))
        start_local(row, grid->local_bytes, 0);
    for (uint32_t lane = 0; lane < EXEC_LANES; lane++) {
        uint32_t thread = index * grid->warp_size + lane;
        row->threads |= (uint32_t)(lane < grid->warp_size && thread < n_threads) << lane;
        row->tid[0][lane] = thread % grid->shape.block[0];
        row->tid[1][lane] = thread / grid->shape.block[0] % grid->shape.block[1];
        row->tid[2][lane] = thread / grid->shape.block[0] / grid->shape.block[1];
    }
}

/* Sets the special registers that are the same for all blocks of the grid. */
static void place_block(struct exec_cta *cta) {
    struct exec_block *block = &cta->block;
    const struct exec_grid *grid = block->grid;
    const struct exec_shape *shape = &grid->shape;
    block->shared = cta->shared;
    block->n_rows = cta->n_rows;
    block->is_explicit_cluster = shape->cluster[0] ? ~0u : 0;
    for (int i = 0; i < 3; i++) {
        uint32_t dim = exec_shape_cluster_dim(shape, i);
        broadcast(block->nctaid[i], shape->grid[i]);
        broadcast(block->ntid[i], shape->block[i]);
        broadcast(block->nclusterid[i], shape->grid[i] / dim);
        broadcast(block->cluster_nctaid[i], dim);
    }
    broadcast(block->cluster_nctarank, exec_shape_cluster(shape));
    broadcast(block->nsmid, grid->n_sms);
    broadcast(block->nwarpid, grid->warps_per_sm);
    broadcast(block->dynamic_shared, shape->dynamic_shared_bytes);
    broadcast(block->total_shared, grid->shared_bytes);
    for (int i = 0; i < EXEC_LANES; i++)
        block->gridid[i] = grid->grid_id;
    broadcast(block->workspace[0], (uint32_t)(grid->workspace >> 32));
    broadcast(block->workspace[1], (uint32_t)grid->workspace);
}

struct exec_cta *exec_cta_new(const struct exec_grid *grid) {
    struct exec_cta *cta = allocate(sizeof *cta);
    memset(cta, 0, offsetof(struct exec_cta, barrier));
    uint32_t n_threads = exec_shape_threads(&grid->shape);
    cta->n_rows = (n_threads + grid->warp_size - 1) / grid->warp_size;
    cta->block.grid = grid;
    cta->row = allocate(cta->n_rows * sizeof *cta->row);
    memset(cta->row, 0, cta->n_rows * sizeof *cta->row);
    cta->registers = allocate((size_t)cta->n_rows * grid->program->register_bytes);
    cta->local = allocate((size_t)cta->n_rows * EXEC_LANES * grid->local_bytes);
    cta->shared = allocate(grid->shared_bytes);
    memset(cta->registers, 0, (size_t)cta->n_rows * grid->program->register_bytes);
    if (grid->check)
        cta->block.check = exec_check_block_new(grid, cta->n_rows);
    place_block(cta);
    for (uint32_t i = 0; i < cta->n_rows; i++)
        place_row(cta, i);
    return cta;
}

static void start_row(struct exec_cta *cta, uint32_t index) {
    const struct exec_grid *grid = cta->block.grid;
    const struct exec_program *program = grid->program;
    struct exec_row *row = &cta->row[index];
    size_t bytes = program->uses_alloca ? grid->local_bytes : program->local_bytes;
    row->progress = 0;
    memset(row->n_copy_groups, 0, sizeof row->n_copy_groups);
    memset(row->frame, 0, sizeof row->frame);
    memset(row->taken, 0, sizeof row->taken);
    if (!has_only_headers(program))
        start_local(row, grid->local_bytes, bytes);
    row->live = row->threads;
    for (uint32_t i = 0; i < program->live->n_cleared; i++)
        memset(row->base[EXEC_BASE_REGISTERS] + program->live->cleared[i].offset, 0, program->live->cleared[i].n);
}

uint32_t exec_cluster_block(const struct exec_shape *shape, uint64_t cluster, uint32_t rank) {
    uint32_t at[3];
    for (int i = 0; i < 3; i++) {
        uint32_t dim = exec_shape_cluster_dim(shape, i), n = shape->grid[i] / dim;
        at[i] = (uint32_t)(cluster % n) * dim + rank % dim;
        cluster /= n;
        rank /= dim;
    }
    return (at[2] * shape->grid[1] + at[1]) * shape->grid[0] + at[0];
}

/* Sets the special registers of the block's place in its cluster. */
static void place_in_cluster(struct exec_block *block, const uint32_t ctaid[3]) {
    const struct exec_shape *shape = &block->grid->shape;
    uint32_t rank = 0;
    block->cluster = NULL;
    if (exec_shape_cluster(shape) == 1) { /* the other registers are the same for all blocks */
        for (int i = 0; i < 3; i++)
            broadcast(block->clusterid[i], ctaid[i]);
        return;
    }
    for (int i = 2; i >= 0; i--) {
        uint32_t dim = exec_shape_cluster_dim(shape, i);
        broadcast(block->clusterid[i], ctaid[i] / dim);
        broadcast(block->cluster_ctaid[i], ctaid[i] % dim);
        rank = rank * dim + ctaid[i] % dim;
    }
    broadcast(block->cluster_ctarank, rank);
    block->rank = rank;
}

void exec_cta_join(struct exec_cta *cta, struct exec_cluster *cluster, uint32_t rank) {
    cta->block.cluster = cluster;
    cluster->block[rank] = &cta->block;
    cluster->n_live++;
}

bool exec_cta_leave(struct exec_cta *cta) {
    struct exec_cluster *cluster = cta->block.cluster;
    cluster->block[cta->block.rank] = NULL;
    cta->block.cluster = NULL;
    return --cluster->n_live == 0;
}

bool exec_cluster_is_complete(const struct exec_cluster *cluster, uint32_t warp_size) {
    for (uint32_t i = 0; i < cluster->n_blocks; i++) {
        const struct exec_cta *cta = (const struct exec_cta *)cluster->block[i];
        uint32_t live[EXEC_MAX_ROWS];
        if (!cta || !cta->n_live_rows)
            continue;
        for (uint32_t k = 0; k < cta->n_rows; k++)
            live[k] = cta->row[k].live;
        const struct exec_barrier *barrier = &cta->barrier[EXEC_CLUSTER_BARRIER];
        if (!exec_cta_is_open(cta, EXEC_CLUSTER_BARRIER) ||
            !exec_barrier_is_complete(barrier, live, cta->n_rows, warp_size))
            return false;
    }
    return true;
}

void exec_cta_number(struct exec_cta *cta, uint32_t index) {
    struct exec_block *block = &cta->block;
    const uint32_t *grid = block->grid->shape.grid;
    const uint32_t ctaid[3] = {index % grid[0], index / grid[0] % grid[1], index / grid[0] / grid[1]};
    block->index = index;
    for (int i = 0; i < 3; i++)
        broadcast(block->ctaid[i], ctaid[i]);
    place_in_cluster(block, ctaid);
}

void exec_cta_start(struct exec_cta *cta, uint32_t index, uint32_t sm) {
    struct exec_block *block = &cta->block;
    const struct exec_grid *grid = block->grid;
    exec_cta_number(cta, index);
    broadcast(block->smid, sm);
    memset(cta->shared, 0, grid->shared_bytes);
    cta->open_barriers = 0;
    for (uint32_t i = 0; i < cta->n_rows; i++)
        start_row(cta, i);
    cta->n_live_rows = cta->n_rows;
    cta->is_released = false;
    cta->cluster_ready = 0;
    if (block->check)
        exec_check_block_start(block->check);
}

void exec_cta_open_barrier(struct exec_cta *cta, uint32_t number) {
    if (exec_cta_is_open(cta, number))
        return;
    exec_barrier_reset(&cta->barrier[number]);
    cta->open_barriers |= UINT64_C(1) << number;
}

void exec_cta_reset_barrier(struct exec_cta *cta, uint32_t number) {
    if (cta->block.check)
        exec_check_release(cta, number);
    cta->open_barriers &= ~(UINT64_C(1) << number);
}
