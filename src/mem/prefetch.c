/* Prefetches the data that the next packets of an SM or a partition will use into the host's cache, many lines at once.
 * While the other units run, the host's cache loses this data, and fetching its lines one after the other would take
 * longer. Prefetching changes no state. */
#include "mem/internal.h"

enum { LINE = 64 };

/* Prefetches bytes from `from` on. Always inline, because compilers drop calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void touch(const void *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const char *)from + at);
    __builtin_prefetch((const char *)from + bytes - 1);
}

/* Prefetches the set of a line. */
static inline __attribute__((always_inline)) void touch_set(const struct mem_cache *cache, uint64_t line,
                                                            bool is_filled) {
    uint32_t first = mem_cache_set(cache, line) * cache->ways;
    touch(&cache->lines[first], cache->ways * sizeof *cache->lines);
    if (!is_filled)
        return;
    touch(&cache->used[first], cache->ways * sizeof *cache->used);
    __builtin_prefetch(&cache->is_pinned[first]);
    __builtin_prefetch(&cache->state[first]);
}

void mem_prefetch_access(const struct mem *mem, uint32_t sm, uint64_t address) {
    const struct mem_l1 *l1 = &mem->sms[sm].data;
    if (!l1->mshrs.lines.n)
        return;
    uint64_t line = address >> l1->line_shift;
    touch_set(&l1->cache, line, false);
    __builtin_prefetch(mem_lines_bucket(&l1->mshrs.lines, line));
}

static inline __attribute__((always_inline)) void touch_answer(const struct mem_sm *sm,
                                                               const struct mem_message *message) {
    const struct mem_l1 *l1 = &sm->data;
    if (message->type != MEM_MSG_DATA || message->flags & MEM_FLAG_READ_ONLY)
        return;
    __builtin_prefetch(&l1->mshrs.mshr[message->token]);
    __builtin_prefetch(&l1->mshrs.lines.line[message->token]);
    __builtin_prefetch(&l1->mshrs.lines.next[message->token]);
    __builtin_prefetch(mem_lines_bucket(&l1->mshrs.lines, message->line));
    touch_set(&l1->cache, message->line, true);
}

static inline __attribute__((always_inline)) void touch_request(const struct mem *mem,
                                                                const struct mem_message *message) {
    const struct mem_bank *bank = &mem->banks[message->unit];
    if (bank->lines.n && bank->cache.lines)
        touch_set(&bank->cache, message->line, false);
    if (bank->lines.n)
        __builtin_prefetch(mem_lines_bucket(&bank->lines, message->line));
}

/* Runs the next statement with id = each packet up to the cycle `last`. */
#define FOR_PACKETS(id, events, last)                                                                                  \
    for (uint64_t at_ = (events)->next; at_ <= (last) && at_ - (events)->base < MEM_WHEEL_SLOTS;                       \
         at_ = mem_events_after(events, at_))                                                                          \
        for (uint32_t id = (events)->slots[at_ % MEM_WHEEL_SLOTS][MEM_PHASE_PACKETS].head; id != MEM_NONE;             \
             id = (events)->pool[id].next)

void mem_prefetch_sm(const struct mem *mem, uint32_t i, uint64_t last) {
    const struct mem_sm *sm = &mem->sms[i];
    FOR_PACKETS(id, &sm->events, last)
    touch_answer(sm, &sm->events.pool[id].message);
}

void mem_prefetch_partition(const struct mem *mem, uint32_t i, uint64_t last) {
    const struct mem_events *events = &mem->partitions[i].events;
    FOR_PACKETS(id, events, last)
    touch_request(mem, &events->pool[id].message);
}
