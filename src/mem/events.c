/* The event queue: a wheel of one slot per cycle for the near future, a binary heap for what lies beyond it. The order
 * of events is (cycle, lane, SM for the second lane, order of addition), the same on every host.
 *
 * Nearly all delays (lookups, links, DRAM) are shorter than the wheel, so adding and taking cost a few nanoseconds;
 * the heap serves links with long backlogs. */
#include "mem/events.h"

#include <assert.h>
#include <string.h>

void mem_events_init(struct mem_events *events, struct base_arena *arena, uint32_t capacity) {
    memset(events, 0, sizeof *events);
    events->pool = BASE_ARENA_ARRAY(arena, struct mem_event, capacity);
    events->far = BASE_ARENA_ARRAY(arena, struct mem_far_event, capacity);
    events->n_pool = capacity;
    for (uint32_t i = 0; i < capacity; i++)
        events->pool[i].next = i + 1 < capacity ? i + 1 : MEM_NONE;
    for (uint32_t i = 0; i < MEM_EVENT_SLOTS; i++)
        for (uint32_t lane = 0; lane < MEM_EVENT_LANES; lane++)
            events->slots[i][lane] = (struct mem_event_list){MEM_NONE, MEM_NONE};
    events->next = MEM_NEVER;
}

/* From the SMs: behind the last event of the same or a lower SM. SMs mostly run in ascending order, then that is the
 * end of the list. */
static void insert_by_sm(struct mem_events *events, struct mem_event_list *list, uint32_t id) {
    struct mem_event *pool = events->pool;
    uint16_t sm = pool[id].message.sm;
    uint32_t before = MEM_NONE, after = list->head;
    while (after != MEM_NONE && pool[after].message.sm <= sm) {
        before = after;
        after = pool[after].next;
    }
    pool[id].next = after;
    if (before == MEM_NONE)
        list->head = id;
    else
        pool[before].next = id;
}

static void insert_near(struct mem_events *events, uint64_t cycle, enum mem_event_lane lane, uint32_t id) {
    uint32_t slot = (uint32_t)(cycle % MEM_EVENT_SLOTS);
    struct mem_event_list *list = &events->slots[slot][lane];
    events->occupied[slot / 64] |= UINT64_C(1) << slot % 64;
    struct mem_event *pool = events->pool;
    if (list->head == MEM_NONE) {
        pool[id].next = MEM_NONE;
        list->head = list->tail = id;
    } else if (lane == MEM_LANE_FROM_SM && pool[list->tail].message.sm > pool[id].message.sm) {
        insert_by_sm(events, list, id);
    } else {
        pool[id].next = MEM_NONE;
        pool[list->tail].next = id;
        list->tail = id;
    }
}

static bool is_before(const struct mem_far_event *a, const struct mem_far_event *b) {
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->sequence < b->sequence;
}

static void insert_far(struct mem_events *events, uint64_t cycle, enum mem_event_lane lane, uint32_t id) {
    struct mem_far_event event = {cycle, events->sequence++, id, (uint8_t)lane};
    uint32_t place = events->n_far++;
    while (place > 0 && is_before(&event, &events->far[(place - 1) / 2])) {
        events->far[place] = events->far[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    events->far[place] = event;
}

static void remove_first_far(struct mem_events *events) {
    struct mem_far_event last = events->far[--events->n_far];
    uint32_t place = 0;
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= events->n_far)
            break;
        if (child + 1 < events->n_far && is_before(&events->far[child + 1], &events->far[child]))
            child++;
        if (!is_before(&events->far[child], &last))
            break;
        events->far[place] = events->far[child];
        place = child;
    }
    events->far[place] = last;
}

void mem_events_add(struct mem_events *events, uint64_t cycle, enum mem_event_lane lane, enum mem_event_kind kind,
                    const struct mem_message *message) {
    assert(cycle >= events->base && "an event in the past");
    uint32_t id = events->free;
    assert(id != MEM_NONE && "more events under way than the machine can have");
    events->free = events->pool[id].next;
    events->n_used++;
    events->pool[id].message = *message;
    events->pool[id].kind = (uint8_t)kind;
    if (cycle - events->base < MEM_EVENT_SLOTS)
        insert_near(events, cycle, lane, id);
    else
        insert_far(events, cycle, lane, id);
    if (cycle < events->next)
        events->next = cycle;
}

/* The earliest cycle on the wheel, starting with base itself. */
static uint64_t first_near(const struct mem_events *events) {
    enum { WORDS = MEM_EVENT_SLOTS / 64 };
    uint32_t start = (uint32_t)(events->base % MEM_EVENT_SLOTS);
    for (uint32_t i = 0; i <= WORDS; i++) {
        uint32_t word = (start / 64 + i) % WORDS;
        uint64_t bits = events->occupied[word];
        if (i == 0)
            bits &= UINT64_MAX << start % 64;
        else if (i == WORDS)
            bits &= ~(UINT64_MAX << start % 64);
        if (bits == 0)
            continue;
        uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
        return events->base + (slot - start) % MEM_EVENT_SLOTS;
    }
    return MEM_NEVER;
}

static void find_next(struct mem_events *events) {
    events->next = first_near(events);
    if (events->next == MEM_NEVER && events->n_far > 0)
        events->next = events->far[0].cycle;
}

void mem_events_move(struct mem_events *events, uint64_t cycle) {
    assert(cycle <= events->next && "an event would be skipped");
    if (cycle <= events->base)
        return;
    events->base = cycle;
    while (events->n_far > 0 && events->far[0].cycle - cycle < MEM_EVENT_SLOTS) {
        struct mem_far_event event = events->far[0];
        remove_first_far(events);
        insert_near(events, event.cycle, (enum mem_event_lane)event.lane, event.event);
    }
}

bool mem_events_take(struct mem_events *events, struct mem_event *event) {
    uint32_t slot = (uint32_t)(events->base % MEM_EVENT_SLOTS);
    struct mem_event_list *list = &events->slots[slot][MEM_LANE_MEMORY];
    if (list->head == MEM_NONE)
        list = &events->slots[slot][MEM_LANE_FROM_SM];
    uint32_t id = list->head;
    if (id == MEM_NONE) {
        events->occupied[slot / 64] &= ~(UINT64_C(1) << slot % 64);
        find_next(events);
        return false;
    }
    *event = events->pool[id];
    list->head = event->next;
    events->pool[id].next = events->free;
    events->free = id;
    events->n_used--;
    return true;
}
