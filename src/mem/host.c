/* Host memory that kernels access over the link (`link`).
 *
 * Neither the L1 nor the L2 keeps lines of host memory (bench/hardware: host_chase_twice, host_read_again): each access
 * crosses the link. A read or atomic is answered `link.read_latency` cycles after its lookup, or later if the link is
 * busy. A write takes its place on the link, and the SM's credit returns when its transfer begins. A write of a part of
 * a line takes as long as a packet of its own. The directions are separate: reads take time on the way to the device,
 * writes on the way to the host, and atomics on both. An atomic waits until the one before it on the same line has been
 * answered (host_atomics).
 *
 * Every partition has a fixed share of the link's bandwidth, so partitions need not know about each other. Neighbouring
 * lines of host memory go to different partitions, so that accesses use all shares. That is our choice.
 *
 * Left out: page tables of the host, copies that use the link at the same time, the order of writes, and that reads of
 * single lines take twice the time of neighbouring ones (host_read_stride_words). */
#include "mem/internal.h"

void mem_host_init(struct mem *mem) {
    const struct config_link *link = &mem->machine->link;
    if (!link->is_present || mem->is_coherent)
        return;
    mem->has_link = true;
    for (uint32_t i = 0; i < mem->n_partitions; i++) {
        struct mem_partition *partition = &mem->partitions[i];
        partition->from_host.ticks_per_byte = mem_ticks_per_byte(link->read_bytes_per_cycle) * mem->n_partitions;
        partition->to_host.ticks_per_byte = mem_ticks_per_byte(link->write_bytes_per_cycle) * mem->n_partitions;
        partition->partial_write_ticks =
            (uint64_t)(link->partial_write_cycles * mem->n_partitions * (double)(UINT64_C(1) << MEM_TICK_BITS));
    }
}

void mem_use_host_memory(struct mem *mem, const struct mem_range *ranges, uint32_t n) {
    mem->host = ranges;
    mem->n_host = mem->has_link ? n : 0;
}

bool mem_is_in_host_memory(const struct mem *mem, uint64_t address) {
    uint32_t low = 0, high = mem->n_host;
    while (low < high) { /* the first range that ends after the address */
        uint32_t middle = (low + high) / 2;
        if (mem->host[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < mem->n_host && mem->host[low].first <= address;
}

uint32_t mem_host_bank_of(const struct mem *mem, uint64_t line) {
    uint32_t first = (uint32_t)(line / mem->n_partitions * 0x9e3779b1u) >> 16; /* so that strides use all, too */
    return (uint32_t)((line + first) % mem->n_banks);
}

uint64_t mem_host_idle(const struct mem *mem) {
    uint64_t last = 0;
    for (uint32_t i = 0; mem->n_host && i < mem->n_partitions; i++)
        if (mem->partitions[i].to_host.free_ticks > last)
            last = mem->partitions[i].to_host.free_ticks;
    return last >> MEM_TICK_BITS;
}

/* Reserves the partition's share of the link, no earlier than in this cycle. Returns the cycle in which the transfer
 * begins. */
static uint64_t reserve(struct mem_link *link, uint64_t ticks, uint64_t cycle) {
    uint64_t start = cycle << MEM_TICK_BITS;
    if (start < link->free_ticks)
        start = link->free_ticks;
    link->free_ticks = start + ticks;
    return start >> MEM_TICK_BITS;
}

/* Returns the time of a write on the link. */
static uint64_t write_ticks(const struct mem *mem, const struct mem_partition *partition, uint32_t bytes) {
    uint64_t ticks = bytes * partition->to_host.ticks_per_byte;
    return bytes < mem->line_bytes && ticks < partition->partial_write_ticks ? partition->partial_write_ticks : ticks;
}

void mem_host_access(struct mem *mem, struct mem_bank *bank, const struct mem_message *message, uint64_t cycle) {
    struct mem_partition *partition = bank->partition;
    bool is_read = message->type == MEM_MSG_READ, is_atomic = message->type == MEM_MSG_ATOMIC;
    uint64_t looked_up = cycle + mem->l2_latency, write_start = looked_up;
    if (is_atomic && bank->host_atomic_line == message->line && bank->host_atomic_ready > looked_up)
        looked_up = bank->host_atomic_ready;
    if (!is_read)
        write_start = reserve(&partition->to_host, write_ticks(mem, partition, message->bytes), looked_up);
    if (!is_read && !is_atomic) {
        uint64_t when = write_start - looked_up + cycle;
        mem_crossbar_credit(mem, bank, message->sm, message->type == MEM_MSG_PUT, when);
        return;
    }
    if (!(message->flags & MEM_FLAG_COMBINED)) /* otherwise the data comes with that of an earlier request */
        bank->host_ready =
            reserve(&partition->from_host, message->bytes * partition->from_host.ticks_per_byte, write_start) +
            mem->machine->link.read_latency_cycles;
    if (is_atomic) {
        bank->host_atomic_line = message->line;
        bank->host_atomic_ready = bank->host_ready;
    }
    mem_bank_answer(mem, message, message->flags & MEM_FLAG_DIRECT ? MEM_MSG_DONE : MEM_MSG_DATA, 0, bank->host_ready,
                    cycle);
}
