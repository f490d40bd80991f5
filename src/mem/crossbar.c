/* The crossbar between SMs and L2 banks (DRAM channels on machines without an L2): a link out of and into each SM and
 * each bank, and one crossing latency. Requests and replies have separate links.
 *
 * A packet is a header and its data. Routing is cut-through: the head crosses while the tail is still leaving, so a
 * packet takes latency + packet bytes / bandwidth through an empty crossbar. A packet occupies the sender's link and
 * then the receiver's link, each for the time its bytes take. Packets queue in order at both links. Links are reserved
 * in integer ticks of 2^-20 cycle, so that several headers fit into a cycle and every host computes the same result. A
 * packet that arrives within a cycle is seen in the next cycle.
 *
 * With crossbar.sector_cycles stores and atomics occupy the SM's link by sectors, not by bytes. A line of 128 bytes of
 * which an instruction stores parts of sectors takes the time of one sector more, for the mask of its bytes. Reads of
 * the sectors of a line leave together.
 *
 * Left out: buffers inside the crossbar, arbitration beyond (cycle, SM, order), flits. A packet reserves the SM's
 * outgoing link when the access is made, not when the L1's lookup ends. */
#include <assert.h>

#include "mem/internal.h"

/* Rounds the bandwidth to thousandths of a byte per cycle; 0 means unlimited. */
uint64_t mem_ticks_per_byte(double bytes_per_cycle) {
    uint64_t milli = (uint64_t)(bytes_per_cycle * 1000 + 0.5);
    return milli == 0 ? 0 : ((UINT64_C(1000) << MEM_TICK_BITS) + milli / 2) / milli;
}

static uint64_t ticks(uint64_t cycle) { return cycle << MEM_TICK_BITS; }

/* Reserves the link, no earlier than `start`. Returns the time from which it is reserved. */
static uint64_t reserve(struct mem_link *link, uint64_t start, uint64_t duration) {
    if (start < link->free_ticks)
        start = link->free_ticks;
    link->free_ticks = start + duration;
    return start;
}

static uint64_t pass(struct mem_link *link, uint64_t start, uint32_t bytes) {
    return reserve(link, start, bytes * link->ticks_per_byte);
}

static uint32_t packet_bytes(const struct mem_message *message) {
    switch ((enum mem_message_type)message->type) {
    case MEM_MSG_WRITE:
    case MEM_MSG_ATOMIC:
    case MEM_MSG_PUT:
    case MEM_MSG_DATA:
    case MEM_MSG_DONE:
        return MEM_HEADER_BYTES + message->bytes;
    case MEM_MSG_ACK:
        return MEM_HEADER_BYTES + (message->flags & MEM_FLAG_HAS_DATA ? message->bytes : 0);
    default:
        return MEM_HEADER_BYTES;
    }
}

/* Reserves the receiver's link for a packet whose head has arrived. Returns the cycle in which its tail has arrived. */
static uint64_t arrive(struct mem_link *link, const struct mem_message *message, uint64_t cycle) {
    pass(link, ticks(cycle) + message->fraction, packet_bytes(message));
    return (link->free_ticks + ticks(1) - 1) >> MEM_TICK_BITS;
}

/* Lets the packet's head, which leaves at `start`, cross. Returns the cycle in which it arrives. */
static uint64_t cross(const struct mem *mem, struct mem_message *message, uint64_t start) {
    uint64_t head = start + mem->crossbar_ticks;
    message->fraction = (uint32_t)(head & (ticks(1) - 1)) & 0xffffff;
    return head >> MEM_TICK_BITS;
}

static uint64_t depart(struct mem *mem, struct mem_link *link, struct mem_message *message, uint64_t cycle) {
    uint32_t bytes = message->flags & MEM_FLAG_COMBINED ? 0 : packet_bytes(message);
    return cross(mem, message, pass(link, ticks(cycle), bytes));
}

/* Packets go straight into the receiver's queue, or through the mail if another host thread may be running it. */
static void deliver(const struct mem *mem, struct mem_outbox *outbox, uint32_t receiver, struct mem_events *events,
                    uint64_t cycle, enum mem_event_kind kind, const struct mem_message *message, uint16_t sequence) {
    if (mem->has_mail)
        mem_outbox_add(outbox, *mem->round, receiver, cycle, kind, message, sequence);
    else
        mem_events_add_packet(events, cycle, kind, message, sequence);
}

static void send_to_bank(struct mem *mem, struct mem_sm *sm, const struct mem_message *message, uint64_t head) {
    uint32_t partition = message->unit % mem->n_partitions; /* the bank knows it too, but others write to the bank */
    deliver(mem, sm->outbox, partition, &mem->partitions[partition].events, head, MEM_EVENT_BANK_ARRIVE, message,
            sm->n_sent++);
}

void mem_crossbar_to_bank(struct mem *mem, struct mem_sm *sm, struct mem_message *message, uint64_t cycle) {
    sm->counters.crossbar_bytes += packet_bytes(message);
    uint64_t head = depart(mem, &sm->out, message, cycle);
    send_to_bank(mem, sm, message, head);
}

void mem_crossbar_sectors_to_bank(struct mem *mem, struct mem_sm *sm, struct mem_message *message, uint32_t n_sectors,
                                  uint64_t cycle) {
    sm->counters.crossbar_bytes += packet_bytes(message);
    uint64_t start = reserve(&sm->out, ticks(cycle), n_sectors * mem->sector_ticks);
    send_to_bank(mem, sm, message, cross(mem, message, start));
}

void mem_crossbar_at_bank(struct mem *mem, const struct mem_message *message, uint64_t cycle) {
    mem_bank_receive(mem, message, arrive(&mem->banks[message->unit].in, message, cycle), cycle);
}

static void send_to_sm(const struct mem *mem, const struct mem_bank *bank, uint64_t cycle, enum mem_event_kind kind,
                       const struct mem_message *message) {
    deliver(mem, bank->partition->outbox, message->sm, &mem->sms[message->sm].events, cycle, kind, message, 0);
}

void mem_crossbar_to_sm(struct mem *mem, struct mem_message *message, uint64_t cycle) {
    struct mem_bank *bank = &mem->banks[message->unit];
    bank->partition->counters.crossbar_bytes += packet_bytes(message);
    send_to_sm(mem, bank, depart(mem, &bank->out, message, cycle), MEM_EVENT_SM_ARRIVE, message);
}

/* Packets keep their order: head and tail arrive in the same cycle only if links are unlimited, and then for every
 * packet. */
void mem_crossbar_at_sm(struct mem *mem, const struct mem_message *message, uint64_t cycle) {
    struct mem_sm *sm = &mem->sms[message->sm];
    bool is_bulk = message->type == MEM_MSG_DATA && message->flags & MEM_FLAG_BULK;
    uint64_t tail = arrive(is_bulk ? &sm->bulk_in : &sm->in, message, cycle);
    if (tail == cycle)
        mem_l1_receive(mem, sm, message, cycle);
    else
        mem_events_add_tail(&sm->events, tail, message);
}

/* Credits have the crossing latency of packets, but take no bandwidth. */
void mem_crossbar_credit(struct mem *mem, const struct mem_bank *bank, uint32_t sm, bool is_writeback, uint64_t cycle) {
    struct mem_message message = {
        .sm = (uint16_t)sm, .unit = (uint16_t)bank->id, .type = is_writeback ? MEM_MSG_PUT : MEM_MSG_WRITE};
    send_to_sm(mem, bank, cycle + (mem->crossbar_ticks >> MEM_TICK_BITS), MEM_EVENT_SM_CREDIT, &message);
}
