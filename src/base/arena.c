/* A bump allocator over a list of chunks that double in size.
 *
 * An arena belongs to one lifetime (a run, a launch, a scratch step) and one thread. Single allocations cannot be
 * released, and nothing is locked. If memory runs out, the process ends with a one-line message. */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct base_arena_chunk {
    struct base_arena_chunk *older;
    size_t bytes; /* of data, without this header */
    char data[];
};

enum { FIRST_CHUNK_BYTES = 4096 };

static _Noreturn void out_of_memory(size_t bytes) {
    fprintf(stderr, "heddle: out of memory (%zu bytes wanted)\n", bytes);
    exit(1);
}

static void free_chunks(struct base_arena_chunk *chunk) {
    while (chunk) {
        struct base_arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
}

void base_arena_free(struct base_arena *arena) {
    struct base_arena_chunk *chunks = arena->chunks;
    *arena = (struct base_arena){0}; /* before free_chunks(): the arena may live in one of the chunks */
    free_chunks(chunks);
}

void base_arena_reset(struct base_arena *arena) {
    if (!arena->chunks)
        return;
    free_chunks(arena->chunks->older);
    arena->chunks->older = NULL;
    arena->next = arena->chunks->data;
}

static void add_chunk(struct base_arena *arena, size_t wanted_bytes) {
    size_t bytes = arena->chunks ? 2 * arena->chunks->bytes : FIRST_CHUNK_BYTES;
    if (bytes < wanted_bytes)
        bytes = wanted_bytes;
    /* The bound keeps the doubling and the header from overflowing. */
    struct base_arena_chunk *chunk = bytes <= SIZE_MAX / 4 ? calloc(1, sizeof(struct base_arena_chunk) + bytes) : NULL;
    if (!chunk)
        out_of_memory(wanted_bytes);
    chunk->older = arena->chunks;
    chunk->bytes = bytes;
    arena->chunks = chunk;
    arena->next = chunk->data;
    arena->end = chunk->data + bytes;
    arena->fresh = chunk->data;
}

static size_t padding_to(const char *address, size_t alignment) { return -(uintptr_t)address & (alignment - 1); }

void *base_arena_alloc(struct base_arena *arena, size_t bytes, size_t alignment) {
    assert(alignment != 0 && (alignment & (alignment - 1)) == 0);
    if (bytes > SIZE_MAX - alignment)
        out_of_memory(bytes);
    size_t padding = padding_to(arena->next, alignment);
    if (!arena->chunks || padding + bytes > (size_t)(arena->end - arena->next)) {
        add_chunk(arena, bytes + alignment);
        padding = padding_to(arena->next, alignment);
    }
    char *result = arena->next + padding;
    arena->next = result + bytes;
    /* The system provides a large chunk as zero pages, which it does not allocate until someone writes to them. */
    if (result < arena->fresh)
        memset(result, 0, arena->next < arena->fresh ? bytes : (size_t)(arena->fresh - result));
    if (arena->fresh < arena->next)
        arena->fresh = arena->next;
    return result;
}

void *base_arena_alloc_array(struct base_arena *arena, size_t count, size_t bytes, size_t alignment) {
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total))
        out_of_memory(SIZE_MAX);
    return base_arena_alloc(arena, total, alignment);
}

void base_arena_begin_pair(struct base_arena *arena) { base_arena_alloc(arena, 0, BASE_PAIR_BYTES); }

char *base_arena_copy(struct base_arena *arena, const char *text, size_t length) {
    char *copy = base_arena_alloc(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *base_arena_printf(struct base_arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    assert(length >= 0);
    char *text = base_arena_alloc(arena, (size_t)length + 1, 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}
