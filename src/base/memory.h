/* Memory for what is sized once, at the start or when a launch begins: zeroed, or the program ends. */
#pragma once

#include <stdlib.h>

static inline void *base_allocate(size_t count, size_t bytes) {
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory)
        abort();
    return memory;
}
