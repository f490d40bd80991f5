/* See mail.h. Boxes keep their memory, so after a while nothing more is allocated. */
#include "mem/mail.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { FIRST_CAPACITY = 8 };

static uint32_t words(uint32_t n_bits) { return (n_bits + 63) / 64; }

void mem_outbox_init(struct mem_outbox *outbox, uint32_t n_boxes) {
    *outbox = (struct mem_outbox){.n_boxes = n_boxes};
    outbox->sent = base_allocate_aligned(sizeof *outbox->sent + words(n_boxes) * sizeof *outbox->sent->filled);
    for (uint32_t i = 0; i < 2; i++)
        outbox->box[i] = base_allocate_aligned(n_boxes * sizeof *outbox->box[i]);
}

void mem_outbox_free(struct mem_outbox *outbox) {
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < outbox->n_boxes; k++)
            free(outbox->box[i][k].others);
        free(outbox->box[i]);
    }
    free(outbox->sent);
}

static struct mem_packet *new_packet(struct mem_box *box) {
    if (box->n == 0) {
        box->n = 1;
        return &box->first;
    }
    if (box->n > box->capacity) {
        box->capacity = box->capacity ? 2 * box->capacity : FIRST_CAPACITY;
        size_t used = (box->n - 1) * sizeof *box->others;
        box->others = base_grow_aligned(box->others, used, box->capacity * sizeof *box->others);
    }
    return &box->others[box->n++ - 1];
}

void mem_outbox_add(struct mem_outbox *outbox, uint64_t round, uint32_t receiver, uint64_t cycle,
                    enum mem_event_kind kind, const struct mem_message *message, uint16_t sequence) {
    struct mem_box *box = &outbox->box[round % 2][receiver];
    struct mem_sent *sent = outbox->sent;
    if (sent->round != round) {
        sent->round = round;
        sent->earliest = MEM_NEVER;
        memset(sent->filled, 0, words(outbox->n_boxes) * sizeof *sent->filled);
    }
    if (box->round != round) {
        box->round = round;
        box->n = 0;
        sent->filled[receiver / 64] |= UINT64_C(1) << receiver % 64;
    }
    *new_packet(box) = (struct mem_packet){cycle, *message, sequence, (uint8_t)kind};
    if (cycle < sent->earliest)
        sent->earliest = cycle;
}

uint64_t mem_outbox_receivers(const struct mem_outbox *outbox, uint64_t round, uint64_t *set) {
    const struct mem_sent *sent = outbox->sent;
    if (sent->round != round)
        return MEM_NEVER;
    for (uint32_t i = 0; i < words(outbox->n_boxes); i++)
        set[i] |= sent->filled[i];
    return sent->earliest;
}

static void collect(const struct mem_packet *packet, struct mem_events *events) {
    mem_events_add_packet(events, packet->cycle, (enum mem_event_kind)packet->kind, &packet->message, packet->sequence);
}

void mem_outbox_collect(const struct mem_outbox *outbox, uint64_t round, uint32_t receiver, struct mem_events *events) {
    const struct mem_box *box = &outbox->box[round % 2][receiver];
    if (box->round != round)
        return;
    collect(&box->first, events);
    for (uint32_t i = 0; i + 1 < box->n; i++)
        collect(&box->others[i], events);
}
