/* Packets between units of the memory system that different host threads run.
 *
 * A host thread has an outbox with two boxes for every receiver. In one round it fills one box with the packets of all
 * units that it runs, while the receivers empty the other. In the next round they change boxes.
 *
 * Only its thread writes to a box. A box contains the packets of the round whose number is in it. A box of an earlier
 * round counts as empty, so boxes need not be emptied. The clock lets each receiver collect exactly once, in the round
 * after the packets were sent.
 *
 * A box that has been filled is in the cache of its thread's processor, and a look at it takes time. So the first
 * packet is in the box's own cache line, and a thread prefetches the boxes for all its receivers at the beginning of a
 * round. An empty box stays in the caches of both. */
#pragma once

#include "mem/events.h"

struct mem_packet {
    uint64_t cycle;
    struct mem_message message;
    uint16_t sequence; /* mem_events_add_packet() */
    uint8_t kind;      /* enum mem_event_kind */
};

struct mem_box {
    _Alignas(64) uint64_t round;
    uint32_t n, capacity; /* capacity: of `others` */
    struct mem_packet first, *others;
};
_Static_assert(sizeof(struct mem_box) == 64, "a box with one packet is one cache line");

/* What the thread knows of its packets. The receivers do not look at it. */
struct mem_sent {
    uint64_t round;    /* in which it last sent a packet. Of this round: */
    uint64_t earliest; /* cycle of the earliest packet */
    uint64_t filled[]; /* a bit per box that contains packets */
};

struct mem_outbox {
    _Alignas(64) uint32_t n_boxes;
    struct mem_sent *sent;
    struct mem_box *box[2]; /* of even and of odd rounds */
};
_Static_assert(sizeof(struct mem_outbox) == 64, "nothing that changes is in its cache line");

void mem_outbox_init(struct mem_outbox *outbox, uint32_t n_boxes);
void mem_outbox_free(struct mem_outbox *outbox);
void mem_outbox_add(struct mem_outbox *outbox, uint64_t round, uint32_t receiver, uint64_t cycle,
                    enum mem_event_kind kind, const struct mem_message *message, uint16_t sequence);
/* Adds the receivers of this round's packets to the set, a bit for each. Returns the cycle of the earliest. */
uint64_t mem_outbox_receivers(const struct mem_outbox *outbox, uint64_t round, uint64_t *set);
static inline void mem_outbox_prefetch(const struct mem_outbox *outbox, uint64_t round, uint32_t receiver) {
    __builtin_prefetch(&outbox->box[round % 2][receiver]);
}
/* Copies the packets of a round for this receiver into its queue. */
void mem_outbox_collect(const struct mem_outbox *outbox, uint64_t round, uint32_t receiver, struct mem_events *events);
