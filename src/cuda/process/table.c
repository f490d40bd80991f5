/* A hash table from 64-bit keys (handles, addresses) to pointers, with linear probing. Removed entries keep their key
 * until the table grows, so that a walk may remove entries. Key 0 is never stored. */
#include "cuda/internal.h"

#include <assert.h>
#include <stdlib.h>

static size_t slot_of(uint64_t key, size_t capacity) {
    return (size_t)((key * 0x9e3779b97f4a7c15ull) >> 20) & (capacity - 1);
}

/* Returns the entry of the key, or the free one where it would go. */
static struct cuda_entry *probe(const struct cuda_table *table, uint64_t key) {
    size_t slot = slot_of(key, table->capacity);
    while (table->entry[slot].key != 0 && table->entry[slot].key != key)
        slot = (slot + 1) & (table->capacity - 1);
    return &table->entry[slot];
}

static void grow(struct cuda_table *table) {
    struct cuda_table old = *table;
    table->capacity = old.capacity ? old.capacity * 2 : 64;
    table->count = 0;
    table->entry = cuda_allocate(table->capacity * sizeof(*table->entry));
    for (size_t i = 0; i < old.capacity; i++)
        if (old.entry[i].value)
            cuda_table_put(table, old.entry[i].key, old.entry[i].value);
    free(old.entry);
}

void *cuda_table_get(const struct cuda_table *table, uint64_t key) {
    return table->capacity && key ? probe(table, key)->value : NULL;
}

void cuda_table_put(struct cuda_table *table, uint64_t key, void *value) {
    assert(key != 0 && value != NULL);
    if (table->count * 4 >= table->capacity * 3)
        grow(table);
    struct cuda_entry *entry = probe(table, key);
    if (entry->key == 0)
        table->count++;
    *entry = (struct cuda_entry){key, value};
}

void *cuda_table_remove(struct cuda_table *table, uint64_t key) {
    if (!table->capacity || !key)
        return NULL;
    struct cuda_entry *entry = probe(table, key);
    void *value = entry->value;
    entry->value = NULL;
    return value;
}

struct cuda_entry *cuda_table_next(const struct cuda_table *table, size_t *at) {
    while (*at < table->capacity) {
        struct cuda_entry *entry = &table->entry[(*at)++];
        if (entry->value)
            return entry;
    }
    return NULL;
}
