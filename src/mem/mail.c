/* See mail.h. Boxes keep their memory, so after a while nothing more is allocated. */
#include "mem/mail.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { FIRST_CAPACITY = 8 };

static uint32_t words(const struct mem_outbox *outbox) { return (outbox->n_boxes + 63) / 64; }

void mem_outbox_init(struct mem_outbox *outbox, uint32_t n_boxes) {
    *outbox = (struct mem_outbox){.n_boxes = n_boxes};
    for (uint32_t side = 0; side < 2; side++) {
        outbox->earliest[side] = MEM_NEVER;
        outbox->box[side] = base_allocate(n_boxes, sizeof *outbox->box[side]);
        outbox->filled[side] = base_allocate(words(outbox), sizeof *outbox->filled[side]);
    }
}

void mem_outbox_free(struct mem_outbox *outbox) {
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < outbox->n_boxes; i++)
            free(outbox->box[side][i].packet);
        free(outbox->box[side]);
        free(outbox->filled[side]);
    }
}

void mem_outbox_begin(struct mem_outbox *outbox, uint32_t side) {
    if (outbox->earliest[side] == MEM_NEVER)
        return;
    outbox->earliest[side] = MEM_NEVER;
    memset(outbox->filled[side], 0, words(outbox) * sizeof *outbox->filled[side]);
}

void mem_outbox_add(struct mem_outbox *outbox, uint32_t side, uint32_t receiver, uint64_t cycle,
                    enum mem_event_kind kind, const struct mem_message *message) {
    struct mem_box *box = &outbox->box[side][receiver];
    if (box->n == box->capacity) {
        box->capacity = box->capacity ? 2 * box->capacity : FIRST_CAPACITY;
        box->packet = base_grow(box->packet, box->capacity, sizeof *box->packet);
    }
    box->packet[box->n++] = (struct mem_packet){cycle, *message, (uint8_t)kind};
    outbox->filled[side][receiver / 64] |= UINT64_C(1) << receiver % 64;
    if (cycle < outbox->earliest[side])
        outbox->earliest[side] = cycle;
}

uint64_t mem_outbox_receivers(const struct mem_outbox *outbox, uint32_t side, uint64_t *set) {
    if (outbox->earliest[side] == MEM_NEVER)
        return MEM_NEVER;
    for (uint32_t i = 0; i < words(outbox); i++)
        set[i] |= outbox->filled[side][i];
    return outbox->earliest[side];
}

void mem_outbox_empty(struct mem_outbox *outbox, uint32_t side, uint32_t receiver, struct mem_events *events) {
    if (!(outbox->filled[side][receiver / 64] >> receiver % 64 & 1))
        return;
    struct mem_box *box = &outbox->box[side][receiver];
    for (uint32_t i = 0; i < box->n; i++)
        mem_events_add(events, box->packet[i].cycle, MEM_PHASE_PACKETS, (enum mem_event_kind)box->packet[i].kind,
                       &box->packet[i].message);
    box->n = 0;
}
