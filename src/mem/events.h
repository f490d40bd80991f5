/* Messages between the units of the memory system, and the queue of events that carry them through time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "mem/mem.h"

enum { MEM_NONE = INT32_MAX }; /* no index */

enum mem_message_type {
    /* SM to bank */
    MEM_MSG_READ,  /* a line to read */
    MEM_MSG_OWN,   /* a line to write (MESI) */
    MEM_MSG_WRITE, /* bytes written through */
    MEM_MSG_ATOMIC,
    MEM_MSG_PUT,       /* a dirty line comes back */
    MEM_MSG_PUT_CLEAN, /* an exclusive clean line was dropped (MESI) */
    MEM_MSG_ACK,       /* answer to INVALIDATE or DOWNGRADE (MESI) */
    /* bank to SM */
    MEM_MSG_DATA,    /* a line for an MSHR */
    MEM_MSG_UPGRADE, /* ownership without data (MESI) */
    MEM_MSG_DONE,    /* answer to a request that passed the caches by */
    MEM_MSG_INVALIDATE,
    MEM_MSG_DOWNGRADE,
};

enum mem_message_flags {
    MEM_FLAG_CODE = 1,       /* from or to the instruction cache */
    MEM_FLAG_DIRECT = 2,     /* no MSHR: the token is the caller's */
    MEM_FLAG_HAS_COPY = 4,   /* OWN: the sender has a shared copy. ACK: the sender kept a shared copy */
    MEM_FLAG_HAS_DATA = 8,   /* ACK: carries the modified line */
    MEM_FLAG_EXCLUSIVE = 16, /* DATA: no other copy exists; the line may be written */
    MEM_FLAG_HOLDS_ROW = 32  /* READ: DRAM should keep the row open */
};

struct mem_message {
    uint64_t line;     /* number of the memory line */
    uint32_t token;    /* MSHR, L2 entry or the caller's token */
    uint32_t fraction; /* of the cycle in which the packet's head arrives, in ticks */
    uint16_t sm, unit; /* unit: L2 bank */
    uint16_t bytes;    /* data asked for (READ, OWN) or carried */
    uint8_t type, flags;
};

enum mem_event_kind {
    MEM_EVENT_BANK_ARRIVE, /* a packet's head is at the bank's port */
    MEM_EVENT_BANK_SERVE,  /* the bank may take its next request */
    MEM_EVENT_BANK_RETRY,  /* fills that found no way try again */
    MEM_EVENT_BANK_SEND,   /* lookup done: the packet goes out */
    MEM_EVENT_SM_ARRIVE,   /* a packet's head is at the SM's port */
    MEM_EVENT_SM_DELIVER,  /* its tail is in */
    MEM_EVENT_SM_CREDIT,   /* a store or write-back has left the queues */
    MEM_EVENT_DRAM_ENTER,  /* a request of an L2 entry reaches its channel */
    MEM_EVENT_DRAM_DATA,   /* the bank has the data; the bus is next */
    MEM_EVENT_DRAM_DONE    /* the line has crossed the bus */
};

struct mem_event {
    struct mem_message message;
    uint32_t next;
    uint8_t kind;
};
_Static_assert(sizeof(struct mem_event) == 32, "two events share a cache line");

/* In one cycle the events of the first lane come first, in the order they were added; then those of the second,
 * ordered by (SM, order added). What SMs send goes into the second, so the order in which they run does not matter. */
enum mem_event_lane { MEM_LANE_MEMORY, MEM_LANE_FROM_SM };
enum { MEM_EVENT_LANES = 2, MEM_EVENT_SLOTS = 1024 };

struct mem_event_list {
    uint32_t head, tail;
};

struct mem_far_event {
    uint64_t cycle, sequence;
    uint32_t event;
    uint8_t lane;
};

struct mem_events {
    struct mem_event *pool;
    uint32_t free, n_pool, n_used;
    uint64_t base; /* the wheel holds the cycles base to base + MEM_EVENT_SLOTS - 1 */
    uint64_t next; /* cycle of the earliest event, MEM_NEVER without one */
    uint64_t occupied[MEM_EVENT_SLOTS / 64];
    struct mem_event_list slots[MEM_EVENT_SLOTS][MEM_EVENT_LANES];
    struct mem_far_event *far; /* binary heap of later events, earliest first */
    uint32_t n_far;
    uint64_t sequence;
};

void mem_events_init(struct mem_events *events, struct base_arena *arena, uint32_t capacity);
/* Adds an event at `cycle`, not before base. The pool is sized for everything that can be under way at once. */
void mem_events_add(struct mem_events *events, uint64_t cycle, enum mem_event_lane lane, enum mem_event_kind kind,
                    const struct mem_message *message);
/* Moves the wheel to `cycle`, which no event precedes. */
void mem_events_move(struct mem_events *events, uint64_t cycle);
/* Takes the next event of the cycle `base`; false when there is none left. */
bool mem_events_take(struct mem_events *events, struct mem_event *event);
