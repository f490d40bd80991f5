/* The event queue: a wheel of one slot per cycle for the near future, a binary heap for later events. The order of
 * events is (cycle, phase, sender in the second phase, order of addition), the same on every host.
 *
 * Nearly all delays (lookups, links, DRAM) are shorter than the wheel, so adding and taking an event cost a few
 * nanoseconds. The heap serves links with long backlogs. */
#include "mem/events.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

enum { FIRST_CAPACITY = 64 };

static void grow_pool(struct mem_events *events) {
    uint32_t n = events->n_pool, capacity = n ? 2 * n : FIRST_CAPACITY;
    events->pool = base_grow_aligned(events->pool, n * sizeof *events->pool, capacity * sizeof *events->pool);
    for (uint32_t i = n; i < capacity; i++)
        events->pool[i].next = i + 1 < capacity ? i + 1 : events->free;
    events->free = n;
    events->n_pool = capacity;
}

void mem_events_init(struct mem_events *events, struct base_arena *arena, enum mem_sender sender) {
    *events = (struct mem_events){.next = MEM_NEVER, .free = MEM_NONE, .sender = sender};
    events->slots =
        base_arena_alloc_array(arena, MEM_WHEEL_SLOTS, sizeof *events->slots, _Alignof(struct mem_event_list));
    for (uint32_t i = 0; i < MEM_WHEEL_SLOTS; i++)
        for (uint32_t phase = 0; phase < MEM_EVENT_PHASES; phase++)
            events->slots[i][phase] = (struct mem_event_list){MEM_NONE, MEM_NONE};
}

void mem_events_free(struct mem_events *events) {
    free(events->pool);
    free(events->heap);
    free(events->tails);
}

static uint16_t sender_of(const struct mem_events *events, uint32_t id) {
    const struct mem_message *message = &events->pool[id].message;
    return events->sender == MEM_SENT_BY_SMS ? message->sm : message->unit;
}

/* Returns whether packet `a` of a cycle comes after packet `b`. */
static inline bool is_after(const struct mem_events *events, uint32_t a, uint32_t b) {
    uint16_t sender_a = sender_of(events, a), sender_b = sender_of(events, b);
    if (sender_a != sender_b)
        return sender_a > sender_b;
    return (int16_t)(uint16_t)(events->pool[a].sequence - events->pool[b].sequence) > 0;
}

/* Inserts a packet after the last one that it does not precede. Senders mostly run in ascending order, so that is
 * usually the end of the list. */
static __attribute__((noinline)) void insert_by_sender(struct mem_events *events, struct mem_event_list *list,
                                                       uint32_t id) {
    struct mem_event *pool = events->pool;
    uint32_t before = MEM_NONE, after = list->head;
    while (after != MEM_NONE && !is_after(events, after, id)) {
        before = after;
        after = pool[after].next;
    }
    pool[id].next = after;
    if (before == MEM_NONE)
        list->head = id;
    else
        pool[before].next = id;
}

static inline void insert_on_wheel(struct mem_events *events, uint64_t cycle, enum mem_event_phase phase, uint32_t id) {
    uint32_t slot = (uint32_t)cycle % MEM_WHEEL_SLOTS;
    struct mem_event_list *list = &events->slots[slot][phase];
    events->occupied[slot / 64] |= UINT64_C(1) << slot % 64;
    if (phase == MEM_PHASE_PACKETS && list->head != MEM_NONE && is_after(events, list->tail, id))
        insert_by_sender(events, list, id);
    else
        mem_events_append(events, list, id);
}

static bool is_before(const struct mem_heap_event *a, const struct mem_heap_event *b) {
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->sequence < b->sequence;
}

static void insert_into_heap(struct mem_events *events, uint64_t cycle, enum mem_event_phase phase, uint32_t id) {
    struct mem_heap_event event = {cycle, events->sequence++, id, (uint8_t)phase};
    if (events->n_heap == events->heap_capacity) {
        size_t used = events->n_heap * sizeof *events->heap;
        events->heap_capacity = events->heap_capacity ? 2 * events->heap_capacity : FIRST_CAPACITY;
        events->heap = base_grow_aligned(events->heap, used, events->heap_capacity * sizeof *events->heap);
    }
    uint32_t place = events->n_heap++;
    while (place > 0 && is_before(&event, &events->heap[(place - 1) / 2])) {
        events->heap[place] = events->heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    events->heap[place] = event;
}

static void remove_first_of_heap(struct mem_events *events) {
    struct mem_heap_event last = events->heap[--events->n_heap];
    uint32_t place = 0;
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= events->n_heap)
            break;
        if (child + 1 < events->n_heap && is_before(&events->heap[child + 1], &events->heap[child]))
            child++;
        if (!is_before(&events->heap[child], &last))
            break;
        events->heap[place] = events->heap[child];
        place = child;
    }
    events->heap[place] = last;
}

static inline void insert(struct mem_events *events, uint64_t cycle, enum mem_event_phase phase, uint32_t id) {
    if (cycle - events->base < MEM_WHEEL_SLOTS)
        insert_on_wheel(events, cycle, phase, id);
    else
        insert_into_heap(events, cycle, phase, id);
    if (cycle < events->next)
        events->next = cycle;
}

struct mem_message *mem_events_add_with_growth(struct mem_events *events, uint64_t cycle, enum mem_event_kind kind) {
    assert(cycle >= events->base && "an event in the past");
    if (events->free == MEM_NONE)
        grow_pool(events);
    uint32_t id = events->free;
    struct mem_event *event = mem_events_take_place(events, kind);
    insert(events, cycle, MEM_PHASE_OWN, id);
    return &event->message;
}

void mem_events_add_packet(struct mem_events *events, uint64_t cycle, enum mem_event_kind kind,
                           const struct mem_message *message, uint16_t sequence) {
    assert(cycle >= events->base && "a packet in the past");
    if (events->free == MEM_NONE)
        grow_pool(events);
    uint32_t id = events->free;
    struct mem_event *event = mem_events_take_place(events, kind);
    event->message = *message;
    event->sequence = sequence;
    insert(events, cycle, MEM_PHASE_PACKETS, id);
}

static __attribute__((noinline)) void grow_tails(struct mem_events *events) {
    uint32_t n = events->tail_capacity, capacity = n ? 2 * n : FIRST_CAPACITY;
    struct mem_tail *tails = base_allocate(capacity, sizeof *tails);
    for (uint32_t i = 0; i < n; i++)
        tails[i] = events->tails[(events->first_tail + i) & (n - 1)];
    free(events->tails);
    events->tails = tails;
    events->first_tail = 0;
    events->tail_capacity = capacity;
}

void mem_events_add_tail(struct mem_events *events, uint64_t cycle, const struct mem_message *message) {
    if (events->n_tails == events->tail_capacity)
        grow_tails(events);
    assert(cycle >= events->base && "a tail in the past");
    struct mem_tail *tails = events->tails;
    uint32_t mask = events->tail_capacity - 1, place = events->first_tail + events->n_tails++;
    for (; place != events->first_tail && tails[(place - 1) & mask].cycle > cycle; place--)
        tails[place & mask] = tails[(place - 1) & mask];
    tails[place & mask] = (struct mem_tail){cycle, *message};
    if (cycle < events->next)
        events->next = cycle;
}

/* Returns the earliest cycle on the wheel with an event, from base on. */
static inline uint64_t first_on_wheel(const struct mem_events *events, uint64_t base) {
    uint32_t start = (uint32_t)base % MEM_WHEEL_SLOTS;
    uint64_t soon = events->occupied[start / 64] >> start % 64;
    if (soon)
        return base + (uint64_t)__builtin_ctzll(soon);
    uint64_t cycle = base - start % 64;
    for (uint32_t i = 1; i <= MEM_WHEEL_WORDS; i++) { /* the last one again: its lower bits are the latest cycles */
        uint64_t bits = events->occupied[(start / 64 + i) % MEM_WHEEL_WORDS];
        cycle += 64;
        if (bits)
            return cycle + (uint64_t)__builtin_ctzll(bits);
    }
    return MEM_NEVER;
}

uint64_t mem_events_after(const struct mem_events *events, uint64_t cycle) {
    uint64_t next = first_on_wheel(events, cycle + 1);
    return next - events->base < MEM_WHEEL_SLOTS ? next : MEM_NEVER;
}

void mem_events_end_cycle(struct mem_events *events) {
    uint32_t slot = (uint32_t)events->base % MEM_WHEEL_SLOTS;
    events->occupied[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    uint64_t next = first_on_wheel(events, events->base);
    if (next == MEM_NEVER && events->n_heap > 0)
        next = events->heap[0].cycle;
    if (events->n_tails > 0 && events->tails[events->first_tail].cycle < next)
        next = events->tails[events->first_tail].cycle;
    events->next = next;
}

void mem_events_refill(struct mem_events *events, uint64_t cycle) {
    while (events->n_heap > 0 && events->heap[0].cycle - cycle < MEM_WHEEL_SLOTS) {
        struct mem_heap_event event = events->heap[0];
        remove_first_of_heap(events);
        insert_on_wheel(events, event.cycle, (enum mem_event_phase)event.phase, event.event);
    }
}
