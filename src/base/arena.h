/* Memory by lifetime: many allocations, one release. arena.c lists the limits. */
#pragma once

#include <stddef.h>

/* An arena whose bytes are all zero is empty and ready. Copying an arena moves it: use only one of the copies
 * afterwards. */
struct base_arena {
    struct base_arena_chunk *chunks; /* newest first */
    char *next;                      /* first free byte of the newest chunk */
    char *end;
    char *fresh; /* from here on the newest chunk is still zero */
};

/* Returns `bytes` zeroed bytes at a multiple of `alignment` (a power of two). Never NULL: out of memory ends the
 * process. */
void *base_arena_alloc(struct base_arena *arena, size_t bytes, size_t alignment);

/* Returns `count * bytes` zeroed bytes. If the product overflows size_t, the process ends as for out of memory. */
void *base_arena_alloc_array(struct base_arena *arena, size_t count, size_t bytes, size_t alignment);

/* Begins a pair of cache lines: later allocations share none with earlier ones. */
void base_arena_begin_pair(struct base_arena *arena);

#define BASE_ARENA_NEW(arena, type) ((type *)base_arena_alloc((arena), sizeof(type), _Alignof(type)))
#define BASE_ARENA_ARRAY(arena, type, count)                                                                           \
    ((type *)base_arena_alloc_array((arena), (count), sizeof(type), _Alignof(type)))

/* Returns a NUL-terminated copy of `length` bytes of text. */
char *base_arena_copy(struct base_arena *arena, const char *text, size_t length);

/* Returns formatted text that lives as long as the arena. */
__attribute__((format(printf, 2, 3))) char *base_arena_printf(struct base_arena *arena, const char *format, ...);

/* Forgets every allocation and keeps the newest (largest) chunk for the next ones. */
void base_arena_reset(struct base_arena *arena);

/* Releases everything. The arena is then empty and ready again. It may live in its own memory. */
void base_arena_free(struct base_arena *arena);
