/* Stray accesses: loads and stores a little outside every allocation. A GPU maps memory in pieces of 2 MB, so such an
 * access goes through if its piece contains an allocation, and reads or writes memory outside all allocations. Programs
 * that read a few bytes past their buffers rely on this. Here such accesses go through too, with one warning for each
 * kernel.
 *
 * Accesses in a piece without an allocation are faults, as on a GPU. Memory outside allocations is zero until a stray
 * store writes it. The warning names the access with the lowest block, row and lane number, whatever the order of
 * execution. Left out: neighbouring allocations. On a GPU a stray access may hit another allocation, but here
 * allocations are never adjacent. Checkpoints do not contain stray stores. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "exec/scattered.h"
#include "gpu/internal.h"

enum { PIECE_BYTES = 2 << 20 };

/* Those of a launch that runs. */
struct stray {
    uint64_t grid_id;
    uint64_t first;     /* the rank of the first, below */
    char message[1024]; /* about the first */
};

struct gpu_strays {
    pthread_mutex_t lock;
    struct stray *stray;
    uint32_t n;
};

struct gpu_strays *gpu_strays_new(void) {
    struct gpu_strays *strays = calloc(1, sizeof *strays);
    if (!strays || pthread_mutex_init(&strays->lock, NULL) != 0)
        abort();
    return strays;
}

void gpu_strays_free(struct gpu_strays *strays) {
    if (!strays)
        return;
    pthread_mutex_destroy(&strays->lock);
    free(strays->stray);
    free(strays);
}

/* Returns whether the piece of this address contains an allocation. */
static bool is_mapped(const struct gpu_memory *memory, uint64_t address) {
    uint64_t piece = address & ~(uint64_t)(PIECE_BYTES - 1);
    const struct exec_allocation *above = gpu_memory_next(memory, piece);
    return (above && above->address - piece < PIECE_BYTES) || gpu_memory_find(memory, piece);
}

/* Describes the access as a fault would be, without leaving one. */
static void describe(const struct gpu *gpu, struct exec_context *cx, uint64_t address, uint32_t bytes, unsigned lane,
                     struct stray *stray) {
    struct gpu_error error;
    struct exec_row *row = exec_row_at(cx, lane);
    struct exec_fault before = cx->fault;
    const struct exec_memory *memory = &gpu->memory.view;
    cx->fault = (struct exec_fault){
        .kind = EXEC_FAULT_STRAY, .lane = exec_lane_at(cx, lane), .address = address, .bytes = bytes};
    memory->explain(memory->user, address, bytes, cx->fault.detail, sizeof cx->fault.detail);
    gpu_describe_fault(cx, row, (uint32_t)(cx->insn - cx->grid->program->code), &error);
    cx->fault = before;
    snprintf(stray->message, sizeof stray->message, "%s", error.message);
}

/* Returns the entry of the launch, or NULL. */
static struct stray *find(const struct gpu_strays *strays, uint64_t grid_id) {
    for (uint32_t i = 0; i < strays->n; i++)
        if (strays->stray[i].grid_id == grid_id)
            return &strays->stray[i];
    return NULL;
}

bool gpu_allows_stray(void *user, struct exec_context *cx, uint64_t address, uint32_t bytes, unsigned lane) {
    struct gpu *gpu = user;
    struct gpu_strays *strays = gpu->strays;
    const struct gpu_memory *memory = &gpu->memory;
    if (address < memory->view.base || address >= memory->range_base || memory->range_base - address < bytes ||
        !is_mapped(memory, address) || !is_mapped(memory, address + bytes - 1))
        return false;
    const struct exec_row *row = exec_row_at(cx, lane);
    uint64_t rank = ((uint64_t)row->block->index << 16 | row->index << 5) + exec_lane_at(cx, lane);
    pthread_mutex_lock(&strays->lock);
    struct stray *stray = find(strays, cx->grid->grid_id);
    if (!stray) {
        strays->stray = base_grow(strays->stray, strays->n + 1, sizeof *strays->stray);
        stray = &strays->stray[strays->n++];
        *stray = (struct stray){.grid_id = cx->grid->grid_id, .first = UINT64_MAX};
    }
    if (rank < stray->first) {
        stray->first = rank;
        describe(gpu, cx, address, bytes, lane, stray);
    }
    gpu->memory.has_strays = true;
    pthread_mutex_unlock(&strays->lock);
    return true;
}

void gpu_strays_report(struct gpu *gpu, struct gpu_kernel *kernel, const struct exec_grid *grid) {
    struct gpu_strays *strays = gpu->strays;
    struct stray *stray = strays ? find(strays, grid->grid_id) : NULL;
    if (!stray)
        return;
    if (!kernel->has_warned)
        fprintf(stderr, "heddle: warning: %s, which a GPU does not notice and --memcheck makes an error\n",
                stray->message);
    kernel->has_warned = true;
    *stray = strays->stray[--strays->n];
}
