/* Messages between the units of the memory system, and the queue of events that carry them through time. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "mem/mem.h"

enum { MEM_NONE = INT32_MAX }; /* no index */

enum mem_message_type {
    /* SM to bank */
    MEM_MSG_READ,  /* asks for a line to read */
    MEM_MSG_OWN,   /* asks for a line to write (MESI) */
    MEM_MSG_WRITE, /* carries bytes written through */
    MEM_MSG_ATOMIC,
    MEM_MSG_PUT,       /* writes a dirty line back */
    MEM_MSG_PUT_CLEAN, /* reports that an exclusive clean line was dropped (MESI) */
    MEM_MSG_ACK,       /* answers INVALIDATE or DOWNGRADE (MESI) */
    /* bank to SM */
    MEM_MSG_DATA,    /* a line for an MSHR */
    MEM_MSG_UPGRADE, /* ownership without data (MESI) */
    MEM_MSG_DONE,    /* answers a request that bypassed the caches */
    MEM_MSG_INVALIDATE,
    MEM_MSG_DOWNGRADE,
};

enum mem_message_flags {
    MEM_FLAG_CODE = 1,        /* from or to the instruction cache */
    MEM_FLAG_DIRECT = 2,      /* no MSHR: the token is the caller's */
    MEM_FLAG_NEXT_PART = 4,   /* WRITE: follows a part of the same 128 bytes, of the same instruction */
    MEM_FLAG_NEXT_SECTOR = 4, /* ATOMIC: follows another sector of the same 128 bytes, for other lanes */
    MEM_FLAG_ATOMIC = 4,      /* DONE: answers an atomic */
    MEM_FLAG_HAS_COPY = 4,    /* OWN: the sender has a shared copy. ACK: the sender keeps a shared copy */
    MEM_FLAG_HAS_DATA = 8,    /* ACK: carries the modified line */
    MEM_FLAG_BULK = 8,        /* READ, DATA: of a bulk copy */
    MEM_FLAG_TWICE = 8,       /* ATOMIC: takes a slice two passes */
    MEM_FLAG_SUM = 16,        /* ATOMIC: adds floating-point numbers */
    MEM_FLAG_EXCLUSIVE = 16,  /* DATA: no other copy exists; the line may be written */
    MEM_FLAG_SEVERAL = 32,    /* ATOMIC: changes several numbers; not set any more when it leaves the SM */
    MEM_FLAG_HOLDS_ROW = 32,  /* READ: DRAM should keep the row open */
    MEM_FLAG_TEXTURE = 64,    /* from or to the texture cache */
    MEM_FLAG_COMBINED = 128,  /* DATA: leaves the bank in another SM's packet */
    MEM_FLAG_READ_ONLY = MEM_FLAG_CODE | MEM_FLAG_TEXTURE /* caches that the directory does not track */
};

struct mem_message {
    uint64_t line;          /* number of the memory line */
    uint32_t token;         /* MSHR, L2 entry or the caller's token */
    uint32_t fraction : 24; /* part of a cycle after which the packet's head arrives, in ticks */
    bool is_several : 1;    /* ATOMIC: changes several numbers */
    bool returns : 1;       /* ATOMIC: its result is needed */
    uint16_t sm, unit;      /* unit: L2 bank */
    uint16_t bytes;         /* data requested (READ, OWN) or carried */
    uint8_t type, flags;
};

enum mem_event_kind {
    MEM_EVENT_BANK_ARRIVE, /* a packet's head is at the bank's port */
    MEM_EVENT_BANK_SERVE,  /* the bank may take its next request */
    MEM_EVENT_BANK_RETRY,  /* fills that found no free way try again */
    MEM_EVENT_BANK_SEND,   /* the lookup is done: the packet leaves */
    MEM_EVENT_SM_ARRIVE,   /* a packet's head is at the SM's port */
    MEM_EVENT_SM_CREDIT,   /* a store or write-back has left the queues */
    MEM_EVENT_SM_STORES,   /* stores that waited for others leave the SM */
    MEM_EVENT_DRAM_ENTER,  /* a request of an L2 entry reaches its channel */
    MEM_EVENT_DRAM_DATA,   /* the bank has the data; the bus is next */
    MEM_EVENT_DRAM_DONE    /* the line has crossed the bus */
};

struct mem_event {
    struct mem_message message;
    uint32_t next;
    uint16_t sequence; /* of a packet */
    uint8_t kind;
};
_Static_assert(sizeof(struct mem_event) == 32, "two events fill a cache line");

/* A cycle has two phases: first the unit's own events, in the order they were added; then the packets that other units
 * sent, ordered by (sender, sequence, order added). So it does not matter in which order the host runs the senders, nor
 * in which order packets come that an SM has sent from several host threads. */
enum mem_event_phase { MEM_PHASE_OWN, MEM_PHASE_PACKETS };
enum { MEM_EVENT_PHASES = 2 };
/* The senders of a queue's packets: SMs (to a partition) or banks (to an SM). */
enum mem_sender { MEM_SENT_BY_SMS, MEM_SENT_BY_BANKS };

struct mem_event_list {
    uint32_t head, tail;
};

struct mem_heap_event {
    uint64_t cycle, sequence;
    uint32_t event;
    uint8_t phase;
};

/* A packet whose head has arrived at an SM. */
struct mem_tail {
    uint64_t cycle; /* in which its tail arrives */
    struct mem_message message;
};

/* The cycles on a wheel: a power of two. A wheel turns through all its slots, so a longer one costs host cache. Few
 * events of gtx480, and a tenth of those of h200, lie further ahead. */
enum { MEM_WHEEL_SLOTS = 256, MEM_WHEEL_WORDS = MEM_WHEEL_SLOTS / 64 };

struct mem_events {
    uint64_t next; /* cycle of the earliest event or tail, MEM_NEVER without one; base until that cycle's are taken */
    uint64_t base; /* the wheel holds the cycles base to base + MEM_WHEEL_SLOTS - 1 */
    struct mem_event *pool;
    uint32_t free, n_pool;
    struct mem_event_list (*slots)[MEM_EVENT_PHASES];
    uint64_t occupied[MEM_WHEEL_WORDS]; /* a bit per slot */
    enum mem_sender sender;
    uint32_t n_heap, heap_capacity;
    struct mem_heap_event *heap; /* binary heap of the events beyond the wheel, earliest first */
    uint64_t sequence;
    struct mem_tail *tails; /* a ring; its capacity is 0 or a power of two */
    uint32_t first_tail, n_tails, tail_capacity;
};

void mem_events_init(struct mem_events *events, struct base_arena *arena, enum mem_sender sender);
/* Frees the memory that does not belong to the arena. */
void mem_events_free(struct mem_events *events);
/* Adds a packet that another unit sent, at `cycle`, not before base. sequence: the sender's number of it, if a sender's
 * packets may come in another order, otherwise 0. Numbers start over after the highest. */
void mem_events_add_packet(struct mem_events *events, uint64_t cycle, enum mem_event_kind kind,
                           const struct mem_message *message, uint16_t sequence);
/* Adds an event of the unit's own that lies beyond the wheel, or for which the pool has no place. */
struct mem_message *mem_events_add_with_growth(struct mem_events *events, uint64_t cycle, enum mem_event_kind kind);

/* Takes a free place of the pool, which must have one. */
static inline struct mem_event *mem_events_take_place(struct mem_events *events, enum mem_event_kind kind) {
    struct mem_event *event = &events->pool[events->free];
    events->free = event->next;
    __builtin_prefetch(&events->pool[event->next], 1); /* the next one to be added */
    event->kind = (uint8_t)kind;
    return event;
}

/* Adds an event to the end of a slot's list. */
static inline void mem_events_append(struct mem_events *events, struct mem_event_list *list, uint32_t id) {
    events->pool[id].next = MEM_NONE;
    if (list->head == MEM_NONE)
        list->head = id;
    else
        events->pool[list->tail].next = id;
    list->tail = id;
}

/* Adds an event of the unit's own at `cycle`, not before base. The caller fills its message, and adds no other before.
 * An event in the past is beyond the wheel, too: the difference of unsigned numbers is large then. */
static inline struct mem_message *mem_events_add_own(struct mem_events *events, uint64_t cycle,
                                                     enum mem_event_kind kind) {
    uint32_t id = events->free, slot = (uint32_t)cycle % MEM_WHEEL_SLOTS;
    if (id == MEM_NONE || cycle - events->base >= MEM_WHEEL_SLOTS)
        return mem_events_add_with_growth(events, cycle, kind);
    struct mem_event *event = mem_events_take_place(events, kind);
    events->occupied[slot / 64] |= UINT64_C(1) << slot % 64;
    mem_events_append(events, &events->slots[slot][MEM_PHASE_OWN], id);
    if (cycle < events->next)
        events->next = cycle;
    return &event->message;
}

/* Adds an event of either phase. */
static inline void mem_events_add(struct mem_events *events, uint64_t cycle, enum mem_event_phase phase,
                                  enum mem_event_kind kind, const struct mem_message *message) {
    if (phase == MEM_PHASE_PACKETS)
        mem_events_add_packet(events, cycle, kind, message, 0);
    else
        *mem_events_add_own(events, cycle, kind) = *message;
}

/* Puts the events on the wheel that it covers from `cycle` on. For mem_events_move(). */
void mem_events_refill(struct mem_events *events, uint64_t cycle);
/* Moves the wheel to `cycle`. No event may be earlier. */
static inline void mem_events_move(struct mem_events *events, uint64_t cycle) {
    assert(cycle <= events->next && "an event would be skipped");
    if (cycle <= events->base)
        return;
    events->base = cycle;
    if (events->n_heap > 0)
        mem_events_refill(events, cycle);
}
/* Returns the cycle of the next event on the wheel after `cycle`, which is on the wheel, or MEM_NEVER. */
uint64_t mem_events_after(const struct mem_events *events, uint64_t cycle);
/* Adds a packet to those whose tails arrive one after the other. A link keeps the order of its packets, so tails need
 * no place on the wheel. Only the tail of a bulk copy, which has a link of its own, may be earlier than some added
 * before. Tails of one cycle keep the order in which they were added. */
void mem_events_add_tail(struct mem_events *events, uint64_t cycle, const struct mem_message *message);

/* Removes the next tail of the cycle `base`, before the events of that cycle. Returns false if none is left. */
static inline bool mem_events_take_tail(struct mem_events *events, struct mem_message *message) {
    if (events->n_tails == 0 || events->tails[events->first_tail].cycle != events->base)
        return false;
    *message = events->tails[events->first_tail].message;
    events->first_tail = (events->first_tail + 1) & (events->tail_capacity - 1);
    events->n_tails--;
    return true;
}

/* All events and tails of the cycle `base` have been taken: finds the next ones. For mem_events_take(). */
void mem_events_end_cycle(struct mem_events *events);
/* Removes the next event of the cycle `base`, whose tails have been taken. Returns false if no event is left. */
static inline bool mem_events_take(struct mem_events *events, struct mem_event *event) {
    if (events->next != events->base)
        return false;
    struct mem_event_list *list = events->slots[events->base % MEM_WHEEL_SLOTS];
    list += list->head == MEM_NONE; /* no event of its own: packets */
    uint32_t id = list->head;
    if (id == MEM_NONE) {
        mem_events_end_cycle(events);
        return false;
    }
    struct mem_event *place = &events->pool[id];
    *event = *place;
    list->head = event->next;
    __builtin_prefetch(&events->pool[event->next]);
    place->next = events->free;
    events->free = id;
    return true;
}
