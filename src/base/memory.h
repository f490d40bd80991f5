/* Memory that is allocated at the start of a run or launch, or grows a few times. Out of memory ends the program. */
#pragma once

#include <stdlib.h>
#include <string.h>

/* Returns zeroed memory. */
static inline void *base_allocate(size_t count, size_t bytes) {
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory)
        abort();
    return memory;
}

/* The same, aligned to a cache line. */
static inline void *base_allocate_aligned(size_t bytes) {
    size_t whole = (bytes + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, whole);
    if (!memory)
        abort();
    return memset(memory, 0, whole);
}

/* Returns the memory with room for `count` elements. New elements are not zeroed. */
static inline void *base_grow(void *memory, size_t count, size_t bytes) {
    void *larger = realloc(memory, count ? count * bytes : 1);
    if (!larger)
        abort();
    return larger;
}
