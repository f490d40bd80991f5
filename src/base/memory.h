/* Memory that is allocated at the start of a run or launch, or grows a few times. Out of memory ends the program. */
#pragma once

#include <stdlib.h>
#include <string.h>

enum {
    BASE_PAIR_BYTES = 128,         /* of two cache lines, which processors fetch together */
    BASE_LARGE_BYTES = 256 * 1024, /* the system provides more than this as zero pages, and only those that are used */
};

/* Returns zeroed memory in cache lines of its own, so that threads that write to different objects do not wait for each
 * other. */
static inline void *base_allocate_aligned(size_t bytes) {
    size_t whole = (bytes + BASE_PAIR_BYTES - 1) & ~(size_t)(BASE_PAIR_BYTES - 1);
    void *memory = aligned_alloc(BASE_PAIR_BYTES, whole ? whole : BASE_PAIR_BYTES);
    if (!memory)
        abort();
    return memset(memory, 0, whole);
}

/* The same for an array. A large one is not aligned. */
static inline void *base_allocate(size_t count, size_t bytes) {
    size_t whole;
    if (!__builtin_mul_overflow(count, bytes, &whole) && whole <= BASE_LARGE_BYTES)
        return base_allocate_aligned(whole);
    void *memory = calloc(count, bytes);
    if (!memory)
        abort();
    return memory;
}

/* Returns an aligned copy of the first `used` bytes of `memory` with room for `bytes`, and frees `memory`. The rest is
 * zeroed. */
static inline void *base_grow_aligned(void *memory, size_t used, size_t bytes) {
    void *larger = base_allocate_aligned(bytes);
    if (used)
        memcpy(larger, memory, used);
    free(memory);
    return larger;
}

/* Returns the memory with room for `count` elements. New elements are not zeroed. */
static inline void *base_grow(void *memory, size_t count, size_t bytes) {
    void *larger = realloc(memory, count ? count * bytes : 1);
    if (!larger)
        abort();
    return larger;
}
