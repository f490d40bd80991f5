/* The constant pool of a program: each distinct immediate is a row of 32 equal lanes, so that operands need no special
 * case. */
#include "exec/program/link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct constant {
    uint64_t value;
    uint32_t offset;
    uint8_t width;
    bool is_used;
};

struct exec_constants {
    struct base_arena *arena;
    unsigned char *bytes;
    uint32_t n_bytes, capacity;
    struct constant *table; /* open addressing, a power of two */
    uint32_t n_entries, table_size;
};

enum { CONSTANT_ALIGNMENT = 64 };

static void *checked(void *memory) {
    if (!memory)
        abort();
    return memory;
}

struct exec_constants *exec_constants_new(struct base_arena *arena) {
    struct exec_constants *pool = checked(calloc(1, sizeof *pool));
    pool->arena = arena;
    pool->table_size = 64;
    pool->table = checked(calloc(pool->table_size, sizeof *pool->table));
    return pool;
}

void exec_constants_free(struct exec_constants *pool) {
    if (!pool)
        return;
    free(pool->bytes);
    free(pool->table);
    free(pool);
}

static uint32_t reserve(struct exec_constants *pool, uint32_t bytes) {
    uint32_t offset = pool->n_bytes;
    uint32_t end = offset + ((bytes + CONSTANT_ALIGNMENT - 1) & ~(uint32_t)(CONSTANT_ALIGNMENT - 1));
    if (end > pool->capacity) {
        pool->capacity = end * 2;
        pool->bytes = checked(realloc(pool->bytes, pool->capacity));
    }
    memset(pool->bytes + offset, 0, end - offset);
    pool->n_bytes = end;
    return offset;
}

static struct constant *slot_for(struct exec_constants *pool, uint64_t value, enum ptx_width width) {
    uint64_t hash = (value ^ (uint64_t)width << 59) * 0x9e3779b97f4a7c15ull;
    uint32_t at = (uint32_t)(hash >> 32) & (pool->table_size - 1);
    while (pool->table[at].is_used && (pool->table[at].value != value || pool->table[at].width != width))
        at = (at + 1) & (pool->table_size - 1);
    return &pool->table[at];
}

static void grow_table(struct exec_constants *pool) {
    struct constant *old = pool->table;
    uint32_t old_size = pool->table_size;
    pool->table_size *= 2;
    pool->table = checked(calloc(pool->table_size, sizeof *pool->table));
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].is_used)
            *slot_for(pool, old[i].value, old[i].width) = old[i];
    free(old);
}

static void fill(unsigned char *to, uint64_t value, enum ptx_width width) {
    static const unsigned bytes_of[PTX_N_WIDTHS] = {0, 2, 4, 8};
    if (width == PTX_WIDTH_PRED) {
        uint32_t mask = value & 1 ? ~0u : 0;
        memcpy(to, &mask, sizeof mask);
        return;
    }
    for (unsigned lane = 0; lane < EXEC_LANES; lane++)
        memcpy(to + lane * bytes_of[width], &value, bytes_of[width]);
}

uint32_t exec_constants_broadcast(struct exec_constants *pool, uint64_t value, enum ptx_width width) {
    static const uint64_t kept[PTX_N_WIDTHS] = {1, 0xffff, 0xffffffff, ~0ull};
    static const uint32_t row_bytes[PTX_N_WIDTHS] = {4, 64, 128, 256};
    value &= kept[width];
    struct constant *slot = slot_for(pool, value, width);
    if (slot->is_used)
        return slot->offset;
    *slot = (struct constant){value, reserve(pool, row_bytes[width]), (uint8_t)width, true};
    uint32_t offset = slot->offset;
    fill(pool->bytes + offset, value, width);
    if (++pool->n_entries * 2 > pool->table_size)
        grow_table(pool);
    return offset;
}

uint32_t exec_constants_row(struct exec_constants *pool, const uint32_t lane[EXEC_LANES]) {
    uint32_t offset = reserve(pool, EXEC_LANES * sizeof *lane);
    memcpy(pool->bytes + offset, lane, EXEC_LANES * sizeof *lane);
    return offset;
}

unsigned char *exec_constants_finish(struct exec_constants *pool, uint32_t *bytes) {
    unsigned char *memory = base_arena_alloc(pool->arena, pool->n_bytes, CONSTANT_ALIGNMENT);
    if (pool->n_bytes)
        memcpy(memory, pool->bytes, pool->n_bytes);
    *bytes = pool->n_bytes;
    return memory;
}
