/* See stores.h. Loads look at the filter first: nearly all find nothing there, and read memory as usual. */
#include "exec/memory/stores.h"

#include <stdlib.h>

#include "base/memory.h"
#include "exec/internal.h"

enum { CHUNK_SHIFT = 7, DATA_ALIGNMENT = 64, FIRST_STORES = 16, FIRST_DATA = 4096 };

/* Multiplicative hashing, as in mem/mshr.c. */
static uint32_t bit_of(uint64_t chunk) {
    return (uint32_t)(chunk * UINT64_C(0x9E3779B97F4A7C15) >> 32) % EXEC_STORES_BITS;
}

static bool mark(struct exec_stores *stores, uint64_t chunk) {
    uint32_t bit = bit_of(chunk);
    stores->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    return true;
}

static bool unmark(struct exec_stores *stores, uint64_t chunk) {
    stores->filter[bit_of(chunk) / 64] = 0;
    return true;
}

static bool may_be_touched(const struct exec_stores *stores, uint64_t address) {
    uint32_t bit = bit_of(address >> CHUNK_SHIFT);
    return stores->filter[bit / 64] >> bit % 64 & 1;
}

static const uint64_t *addresses_of(const struct exec_stores *stores, const struct exec_store *store) {
    return (const uint64_t *)(const void *)(stores->data + store->data);
}

static unsigned char *values_of(const struct exec_stores *stores, const struct exec_store *store) {
    return stores->data + store->data + (store->mask ? EXEC_LANES * sizeof(uint64_t) : 0);
}

/* Calls visit() for each chunk of memory that the store touches, until it returns false. */
static inline __attribute__((always_inline)) bool visit_chunks(struct exec_stores *stores,
                                                               const struct exec_store *store,
                                                               bool (*visit)(struct exec_stores *, uint64_t chunk)) {
    if (!store->mask) {
        for (uint64_t chunk = store->low >> CHUNK_SHIFT; chunk <= (store->high - 1) >> CHUNK_SHIFT; chunk++)
            if (!visit(stores, chunk))
                return false;
        return true;
    }
    const uint64_t *address = addresses_of(stores, store);
    EXEC_FOR_ACTIVE(l, store->mask)
    if (!visit(stores, address[l] >> CHUNK_SHIFT))
        return false;
    return true;
}

/* --- claims --- */

/* A claim is one word and protects no other data, so relaxed operations suffice. Whatever their order, an entry ends up
 * with the only SM that claimed it, or with CONTENDED. The end of the round orders them before
 * exec_stores_apply_free(). tests/interleavings runs them in every order. */
enum { CONTENDED = EXEC_CLAIM_SMS }; /* instead of an SM: several have claimed it, or its SM has given it up */

static uint32_t claim_of(const struct exec_claims *claims, uint32_t sm) {
    return claims->round << EXEC_CLAIM_SM_BITS | sm;
}

static atomic_uint *claim_at(struct exec_claims *claims, uint64_t chunk) {
    return &claims->claim[(chunk * UINT64_C(0x9E3779B97F4A7C15) >> 40) % EXEC_CLAIMS];
}

static bool claim(struct exec_stores *stores, uint64_t chunk) {
    struct exec_claims *claims = stores->claims;
    atomic_uint *place = claim_at(claims, chunk);
    uint32_t own = claim_of(claims, stores->sm), old = atomic_load_explicit(place, memory_order_relaxed);
    while (old != own && old != claim_of(claims, CONTENDED)) {
        bool is_taken = old >> EXEC_CLAIM_SM_BITS == own >> EXEC_CLAIM_SM_BITS;
        if (atomic_compare_exchange_weak_explicit(place, &old, is_taken ? claim_of(claims, CONTENDED) : own,
                                                  memory_order_relaxed, memory_order_relaxed))
            break;
    }
    return true;
}

static bool is_own(struct exec_stores *stores, uint64_t chunk) {
    return atomic_load_explicit(claim_at(stores->claims, chunk), memory_order_relaxed) ==
           claim_of(stores->claims, stores->sm);
}

/* The store waits for its turn, so later stores to its chunks must too. No other SM's thread writes this claim. */
static bool give_up(struct exec_stores *stores, uint64_t chunk) {
    if (is_own(stores, chunk))
        atomic_store_explicit(claim_at(stores->claims, chunk), claim_of(stores->claims, CONTENDED),
                              memory_order_relaxed);
    return true;
}

/* --- views --- */

void exec_stores_free(struct exec_stores *stores) {
    if (!stores)
        return;
    free(stores->store);
    free(stores->data);
    free(stores);
}

/* Returns a new store with room for this many bytes of data. */
static struct exec_store *add(struct exec_stores *stores, size_t n_bytes) {
    if (stores->n == stores->capacity) {
        stores->capacity = stores->capacity ? 2 * stores->capacity : FIRST_STORES;
        stores->store = base_grow_aligned(stores->store, stores->n * sizeof *stores->store,
                                          stores->capacity * sizeof *stores->store);
    }
    size_t end = stores->n_data + n_bytes;
    if (end > stores->data_capacity) {
        stores->data_capacity = 2 * end > FIRST_DATA ? 2 * end : FIRST_DATA;
        stores->data = base_grow_aligned(stores->data, stores->n_data, stores->data_capacity);
    }
    struct exec_store *store = &stores->store[stores->n++];
    *store = (struct exec_store){.data = stores->n_data};
    stores->n_data = (end + DATA_ALIGNMENT - 1) & ~(size_t)(DATA_ALIGNMENT - 1);
    return store;
}

static void view_store(struct exec_context *cx, uint32_t is_global, unsigned bytes, struct exec_view *view) {
    struct exec_stores *stores = cx->stores;
    struct exec_store *store;
    if (view->pattern != EXEC_PATTERN_LANES) {
        uint32_t length = view->pattern == EXEC_PATTERN_CONSECUTIVE ? bytes * EXEC_LANES : bytes;
        store = add(stores, length);
        store->low = cx->address[0];
        store->high = store->low + length;
        view->first = values_of(stores, store);
    } else {
        store = add(stores, EXEC_LANES * (sizeof(uint64_t) + bytes));
        store->mask = is_global;
        store->low = UINT64_MAX;
        memcpy(stores->data + store->data, cx->address, sizeof cx->address);
        EXEC_FOR_ACTIVE(l, is_global) {
            view->host[l] = (uintptr_t)values_of(stores, store) + (uintptr_t)l * bytes;
            store->low = cx->address[l] < store->low ? cx->address[l] : store->low;
            store->high = cx->address[l] + bytes > store->high ? cx->address[l] + bytes : store->high;
        }
        view->places = (struct exec_places){view->host, 0, 0};
    }
    store->bytes = bytes;
    store->cycle = cx->time;
    visit_chunks(stores, store, mark);
    if (stores->claims)
        visit_chunks(stores, store, claim);
}

/* Copies the bytes that [from, from + n) and [to, to + m) have in common. */
static bool overlay(uint64_t from, unsigned n, const unsigned char *value, uint64_t to, unsigned m,
                    unsigned char *seen) {
    uint64_t low = from > to ? from : to, high = from + n < to + m ? from + n : to + m;
    if (low >= high)
        return false;
    memcpy(seen + (low - to), value + (low - from), high - low);
    return true;
}

/* Applies the pending stores to a load's value. Returns whether there were any. */
static bool overlay_all(const struct exec_stores *stores, uint64_t address, unsigned bytes, unsigned char *seen) {
    bool is_touched = false;
    for (uint32_t i = stores->n_applied; i < stores->n; i++) {
        const struct exec_store *store = &stores->store[i];
        const unsigned char *value = values_of(stores, store);
        if (address >= store->high || address + bytes <= store->low)
            continue;
        if (!store->mask) {
            is_touched |= overlay(store->low, (unsigned)(store->high - store->low), value, address, bytes, seen);
            continue;
        }
        const uint64_t *own = addresses_of(stores, store);
        EXEC_FOR_ACTIVE(l, store->mask)
        is_touched |= overlay(own[l], store->bytes, value + (size_t)l * store->bytes, address, bytes, seen);
    }
    return is_touched;
}

/* Returns the lanes that a store may have touched. */
static uint32_t touched_lanes(const struct exec_context *cx, uint32_t lanes, unsigned bytes,
                              const struct exec_view *view) {
    const struct exec_stores *stores = cx->stores;
    uint32_t touched = 0;
    if (view->pattern != EXEC_PATTERN_LANES) {
        uint64_t first = cx->address[0],
                 last = first + (view->pattern == EXEC_PATTERN_CONSECUTIVE ? bytes * EXEC_LANES : 1) - 1;
        for (uint64_t chunk = first >> CHUNK_SHIFT; chunk <= last >> CHUNK_SHIFT; chunk++)
            if (may_be_touched(stores, chunk << CHUNK_SHIFT))
                return lanes;
        return 0;
    }
    EXEC_FOR_ACTIVE(l, lanes) touched |= (uint32_t)may_be_touched(stores, cx->address[l]) << l;
    return touched;
}

static void view_load(struct exec_context *cx, uint32_t mask, uint32_t is_global, unsigned bytes,
                      struct exec_view *view) {
    uint32_t touched = touched_lanes(cx, is_global, bytes, view), found = 0;
    ptrdiff_t delta = cx->grid->memory->delta;
    EXEC_FOR_ACTIVE(l, touched) {
        unsigned char *seen = cx->stores->seen + (size_t)l * bytes;
        memcpy(seen, (const unsigned char *)(uintptr_t)(cx->address[l] + (uint64_t)delta), bytes);
        found |= (uint32_t)overlay_all(cx->stores, cx->address[l], bytes, seen) << l;
    }
    if (!found)
        return;
    if (view->pattern == EXEC_PATTERN_LANES) {
        struct exec_places places = view->places;
        EXEC_FOR_ACTIVE(l, mask) view->host[l] = (uintptr_t)exec_place(places, l);
    } else {
        EXEC_FOR_ACTIVE(l, mask) view->host[l] = cx->address[l] + (uint64_t)delta;
    }
    EXEC_FOR_ACTIVE(l, found) view->host[l] = (uintptr_t)(cx->stores->seen + (size_t)l * bytes);
    view->pattern = EXEC_PATTERN_LANES;
    view->places = (struct exec_places){view->host, 0, 0};
}

void exec_stores_view(struct exec_context *cx, uint32_t mask, uint32_t is_global, unsigned bytes, bool is_write,
                      struct exec_view *view) {
    if (is_write)
        view_store(cx, is_global, bytes, view);
    else if (exec_stores_are_pending(cx->stores))
        view_load(cx, mask, is_global, bytes, view);
}

/* --- memory --- */

/* Adds integers, not pointers: if device addresses are the host's, delta is 0, and no object begins there. */
static unsigned char *host_of(const struct exec_memory *memory, uint64_t address) {
    return (unsigned char *)((uintptr_t)memory->delta + (uintptr_t)address);
}

static void apply(const struct exec_stores *stores, struct exec_store *store, const struct exec_memory *memory) {
    const unsigned char *value = values_of(stores, store);
    store->is_applied = true;
    if (!store->mask) {
        memcpy(host_of(memory, store->low), value, store->high - store->low);
        return;
    }
    const uint64_t *address = addresses_of(stores, store);
    EXEC_FOR_ACTIVE(l, store->mask)
    memcpy(host_of(memory, address[l]), value + (size_t)l * store->bytes, store->bytes);
}

static void pass_applied(struct exec_stores *stores) {
    while (stores->n_applied < stores->n && stores->store[stores->n_applied].is_applied)
        stores->n_applied++;
}

void exec_stores_apply(struct exec_stores *stores, const struct exec_memory *memory, uint64_t cycle) {
    while (stores->n_applied < stores->n && stores->store[stores->n_applied].cycle <= cycle) {
        apply(stores, &stores->store[stores->n_applied], memory);
        pass_applied(stores);
    }
}

void exec_stores_apply_free(struct exec_stores *stores, const struct exec_memory *memory) {
    for (uint32_t i = stores->n_applied; i < stores->n; i++)
        if (visit_chunks(stores, &stores->store[i], is_own))
            apply(stores, &stores->store[i], memory);
        else
            visit_chunks(stores, &stores->store[i], give_up);
    pass_applied(stores);
}

void exec_stores_forget(struct exec_stores *stores) {
    for (uint32_t i = 0; i < stores->n; i++)
        visit_chunks(stores, &stores->store[i], unmark);
    stores->n = stores->n_applied = 0;
    stores->n_data = 0;
}
