/* Packets between units of the memory system that different host threads run.
 *
 * A sender has an outbox with a box for each receiver, on two sides: it fills one side while the receivers empty the
 * other. Between two rounds one thread turns all outboxes round. */
#pragma once

#include "mem/events.h"

struct mem_packet {
    uint64_t cycle;
    struct mem_message message;
    uint8_t kind; /* enum mem_event_kind */
};

struct mem_box {
    struct mem_packet *packet;
    uint32_t n, capacity;
};

struct mem_outbox {
    uint32_t n_boxes, filling; /* filling: the side */
    uint64_t earliest[2];      /* cycle of the earliest packet of a side, MEM_NEVER without one */
    struct mem_box *box[2];
    uint64_t *filled[2]; /* a bit per box that has packets */
};

void mem_outbox_init(struct mem_outbox *outbox, uint32_t n_boxes);
void mem_outbox_free(struct mem_outbox *outbox);
void mem_outbox_add(struct mem_outbox *outbox, uint32_t receiver, uint64_t cycle, enum mem_event_kind kind,
                    const struct mem_message *message);
/* The side that was filled can be emptied now. Every receiver has emptied the other one. */
void mem_outbox_turn(struct mem_outbox *outbox);
/* Adds the receiver's bit of each box with packets to the set. */
void mem_outbox_receivers(const struct mem_outbox *outbox, uint64_t *set);
/* Moves the packets for this receiver into its queue. */
void mem_outbox_empty(struct mem_outbox *outbox, uint32_t receiver, struct mem_events *events);
