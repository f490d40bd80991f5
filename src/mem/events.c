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
    events->pool = base_grow(events->pool, capacity, sizeof *events->pool);
    for (uint32_t i = n; i < capacity; i++)
        events->pool[i].next = i + 1 < capacity ? i + 1 : events->free;
    events->free = n;
    events->n_pool = capacity;
}

void mem_events_init(struct mem_events *events, struct base_arena *arena, uint32_t n_slots, enum mem_sender sender) {
    *events = (struct mem_events){.next = MEM_NEVER, .free = MEM_NONE, .n_slots = n_slots, .sender = sender};
    events->occupied = BASE_ARENA_ARRAY(arena, uint64_t, n_slots / 64);
    events->slots = base_arena_alloc_array(arena, n_slots, sizeof *events->slots, _Alignof(struct mem_event_list));
    for (uint32_t i = 0; i < n_slots; i++)
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

/* Inserts a packet after the last one of the same or a lower sender. Senders mostly run in ascending order, so that is
 * usually the end of the list. */
static __attribute__((noinline)) void insert_by_sender(struct mem_events *events, struct mem_event_list *list,
                                                       uint32_t id) {
    struct mem_event *pool = events->pool;
    uint16_t sender = sender_of(events, id);
    uint32_t before = MEM_NONE, after = list->head;
    while (after != MEM_NONE && sender_of(events, after) <= sender) {
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
    uint32_t slot = (uint32_t)cycle & (events->n_slots - 1);
    struct mem_event_list *list = &events->slots[slot][phase];
    events->occupied[slot / 64] |= UINT64_C(1) << slot % 64;
    struct mem_event *pool = events->pool;
    if (list->head == MEM_NONE) {
        pool[id].next = MEM_NONE;
        list->head = list->tail = id;
    } else if (phase == MEM_PHASE_PACKETS && sender_of(events, list->tail) > sender_of(events, id)) {
        insert_by_sender(events, list, id);
    } else {
        pool[id].next = MEM_NONE;
        pool[list->tail].next = id;
        list->tail = id;
    }
}

static bool is_before(const struct mem_heap_event *a, const struct mem_heap_event *b) {
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->sequence < b->sequence;
}

static void insert_into_heap(struct mem_events *events, uint64_t cycle, enum mem_event_phase phase, uint32_t id) {
    struct mem_heap_event event = {cycle, events->sequence++, id, (uint8_t)phase};
    if (events->n_heap == events->heap_capacity) {
        events->heap_capacity = events->heap_capacity ? 2 * events->heap_capacity : FIRST_CAPACITY;
        events->heap = base_grow(events->heap, events->heap_capacity, sizeof *events->heap);
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

/* Takes a free place of the pool, which must have one, and puts the event there. */
static inline uint32_t put_in_pool(struct mem_events *events, enum mem_event_kind kind,
                                   const struct mem_message *message) {
    uint32_t id = events->free;
    struct mem_event *event = &events->pool[id];
    events->free = event->next;
    __builtin_prefetch(&events->pool[event->next], 1); /* the next one to be added */
    events->n_used++;
    event->message = *message;
    event->kind = (uint8_t)kind;
    return id;
}

/* Adds an event that lies beyond the wheel, or for which the pool has no place. */
static __attribute__((noinline)) void add_with_growth(struct mem_events *events, uint64_t cycle,
                                                      enum mem_event_phase phase, enum mem_event_kind kind,
                                                      const struct mem_message *message) {
    assert(cycle >= events->base && "an event in the past");
    if (events->free == MEM_NONE)
        grow_pool(events);
    uint32_t id = put_in_pool(events, kind, message);
    if (cycle - events->base < events->n_slots)
        insert_on_wheel(events, cycle, phase, id);
    else
        insert_into_heap(events, cycle, phase, id);
    if (cycle < events->next)
        events->next = cycle;
}

/* An event in the past is beyond the wheel, too: the difference of unsigned numbers is large then. */
void mem_events_add(struct mem_events *events, uint64_t cycle, enum mem_event_phase phase, enum mem_event_kind kind,
                    const struct mem_message *message) {
    if (events->free == MEM_NONE || cycle - events->base >= events->n_slots) {
        add_with_growth(events, cycle, phase, kind, message);
        return;
    }
    insert_on_wheel(events, cycle, phase, put_in_pool(events, kind, message));
    if (cycle < events->next)
        events->next = cycle;
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
    uint32_t mask = events->tail_capacity - 1, place = (events->first_tail + events->n_tails) & mask;
    assert(cycle >= events->base && "a tail in the past");
    assert((!events->n_tails || events->tails[(place - 1) & mask].cycle <= cycle) && "a tail overtakes another");
    events->tails[place] = (struct mem_tail){cycle, *message};
    events->n_tails++;
    events->n_used++;
    if (cycle < events->next)
        events->next = cycle;
}

/* Returns the earliest cycle on the wheel with an event, from base on. */
static uint64_t first_on_wheel(const struct mem_events *events, uint64_t base) {
    uint32_t n_words = events->n_slots / 64, start = (uint32_t)base & (events->n_slots - 1);
    uint64_t soon = events->occupied[start / 64] >> start % 64;
    if (soon)
        return base + (uint64_t)__builtin_ctzll(soon);
    for (uint32_t i = 1; i <= n_words; i++) {
        uint32_t word = (start / 64 + i) & (n_words - 1);
        uint64_t bits = events->occupied[word];
        if (i == n_words)
            bits &= ~(UINT64_MAX << start % 64);
        if (bits == 0)
            continue;
        uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
        return base + ((slot - start) & (events->n_slots - 1));
    }
    return MEM_NEVER;
}

uint64_t mem_events_after(const struct mem_events *events, uint64_t cycle) {
    uint64_t next = first_on_wheel(events, cycle + 1);
    return next - events->base < events->n_slots ? next : MEM_NEVER;
}

static inline void find_next(struct mem_events *events) {
    uint64_t next = first_on_wheel(events, events->base);
    if (next == MEM_NEVER && events->n_heap > 0)
        next = events->heap[0].cycle;
    if (events->n_tails > 0 && events->tails[events->first_tail].cycle < next)
        next = events->tails[events->first_tail].cycle;
    events->next = next;
}

bool mem_events_take_tail(struct mem_events *events, struct mem_message *message) {
    if (events->n_tails == 0 || events->tails[events->first_tail].cycle != events->base)
        return false;
    *message = events->tails[events->first_tail].message;
    events->first_tail = (events->first_tail + 1) & (events->tail_capacity - 1);
    events->n_tails--;
    events->n_used--;
    find_next(events);
    return true;
}

void mem_events_refill(struct mem_events *events, uint64_t cycle) {
    while (events->n_heap > 0 && events->heap[0].cycle - cycle < events->n_slots) {
        struct mem_heap_event event = events->heap[0];
        remove_first_of_heap(events);
        insert_on_wheel(events, event.cycle, (enum mem_event_phase)event.phase, event.event);
    }
}

void mem_events_remove(struct mem_events *events, struct mem_event *event) {
    uint32_t slot = (uint32_t)events->base & (events->n_slots - 1);
    struct mem_event_list *own = &events->slots[slot][MEM_PHASE_OWN], *packets = own + 1;
    struct mem_event_list *list = own->head == MEM_NONE ? packets : own;
    uint32_t id = list->head;
    *event = events->pool[id];
    list->head = event->next;
    __builtin_prefetch(&events->pool[list->head]);
    events->pool[id].next = events->free;
    events->free = id;
    events->n_used--;
    if (own->head == MEM_NONE && packets->head == MEM_NONE) {
        events->occupied[slot / 64] &= ~(UINT64_C(1) << slot % 64);
        find_next(events);
    }
}
