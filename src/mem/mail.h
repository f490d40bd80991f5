/* Packets between units of the memory system that different host threads run.
 *
 * A sender has an outbox with two sides, each with a box for every receiver. In one round it fills one side while the
 * receivers empty the other. In the next round they change sides. */
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
    uint32_t n_boxes;
    uint64_t earliest[2]; /* cycle of the earliest packet of a side, MEM_NEVER without one */
    struct mem_box *box[2];
    uint64_t *filled[2]; /* a bit per box that contains packets */
};

void mem_outbox_init(struct mem_outbox *outbox, uint32_t n_boxes);
void mem_outbox_free(struct mem_outbox *outbox);
/* Begins to fill this side, which its receivers have emptied. */
void mem_outbox_begin(struct mem_outbox *outbox, uint32_t side);
void mem_outbox_add(struct mem_outbox *outbox, uint32_t side, uint32_t receiver, uint64_t cycle,
                    enum mem_event_kind kind, const struct mem_message *message);
/* Adds the receivers of this side's packets to the set, a bit for each. Returns the cycle of the earliest. */
uint64_t mem_outbox_receivers(const struct mem_outbox *outbox, uint32_t side, uint64_t *set);
/* Moves the packets for this receiver into its queue. */
void mem_outbox_empty(struct mem_outbox *outbox, uint32_t side, uint32_t receiver, struct mem_events *events);
