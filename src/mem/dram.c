/* DRAM: channels with banks, open rows, a bounded queue and one data bus each.
 *
 * Address mapping: channel = line number mod channels, unless dram.interleave says otherwise. The lowest part of the
 * quotient is the column, the next the bank, the highest the row. Neighbouring lines of a channel lie in one row,
 * neighbouring rows in different banks. With dram.bank_hash=fold the row's number is written in base n, where n is the
 * number of banks, and its higher digits are added to the bank. So rows whose distance is a power of n lie in different
 * banks too.
 *
 * Two latencies, from the papers: an access to the open row has its data after row_hit_cycles. Any other access,
 * including the first to a bank (the papers have no third case), has its data after row_conflict_cycles. Row hits can
 * be pipelined with other accesses to the same row, row conflicts cannot (Narasiman 2014, 7.2). A conflict takes the
 * difference of the two latencies to open its row. After that, accesses to the row can start. A row is closed only when
 * all its accesses have completed. Then the data crosses the bus for bytes / bandwidth, in the order in which it is
 * ready. So a single access takes its latency plus the transfer. If both latencies are equal (Meng 2010: 100 cycles,
 * pipelined), rows do not matter and every access counts as a row hit.
 *
 * A latency may include the path through the controller. Then dram.row_cycle says how long a row occupies its bank, as
 * tRC does in data sheets. Another row can be opened that long after the first was opened, but not before the last
 * access to the first has started.
 *
 * Accesses start no faster than the bus can carry them, at most one per cycle. They transfer the bytes of the request,
 * a line of the L2 or less, in bursts of 32 bytes (our choice). Reads and writes use the same queue. Requests that find
 * it full wait in order.
 *
 * Row hold (Narasiman 2014, 7.2): a load may carry a hint that another access to its row follows soon. If the policy
 * follows hints, it holds the row: from the cycle in which another row could be opened, conflicts wait until a hit has
 * started or dram.row_hold cycles have passed. The default is the dissertation's break-even point, the conflict's
 * latency minus the hit's: waiting any longer costs more than the hit saves. A bank holds its row for the last hint.
 * The dissertation does not define the meaning of two hints.
 *
 * Left out: refresh, bus turnaround, activation windows. */
#include <assert.h>
#include <stdio.h>

#include "mem/internal.h"

enum { BURST_BYTES = 32 };

static uint64_t ticks(uint64_t cycle) { return cycle << MEM_TICK_BITS; }
static uint64_t cycle_after(uint64_t time) { return (time + ticks(1) - 1) >> MEM_TICK_BITS; }

/* Returns the most requests that can wait for a channel: those of all banks, or without an L2 those of its own bank. */
static uint32_t max_waiting(const struct mem *mem, uint32_t channel) {
    if (mem->l2 == MEM_ABSENT)
        return mem->banks[channel].lines.n;
    return mem->n_banks * mem->banks[0].lines.n;
}

static uint64_t break_even_cycles(const struct config_dram *dram) {
    return dram->row_conflict_cycles > dram->row_hit_cycles ? dram->row_conflict_cycles - dram->row_hit_cycles : 0;
}

void mem_dram_init(struct mem *mem) {
    const struct config_dram *dram = &mem->machine->dram;
    char error[1024];
    bool is_good = mem_parse_dram_policy(mem->machine->rules, dram->policy, &mem->policy, &mem->policy_options, error,
                                         sizeof error);
    assert(is_good); /* mem_can_build() has parsed it already */
    (void)is_good;
    mem->dram_hold_cycles = dram->row_hold_cycles ? dram->row_hold_cycles : break_even_cycles(dram);
    mem->dram_ticks_per_byte = mem_ticks_per_byte(dram->bytes_per_cycle);
    mem->busy_cycles = BASE_ARENA_ARRAY(&mem->arena, uint64_t, mem->n_channels);
    mem->channels = BASE_ARENA_ARRAY(&mem->arena, struct mem_channel, mem->n_channels);
    for (uint32_t i = 0; i < mem->n_channels; i++) {
        struct mem_channel *channel = &mem->channels[i];
        base_arena_begin_pair(&mem->arena);
        channel->queue = BASE_ARENA_ARRAY(&mem->arena, struct dram_request, dram->queue_entries);
        channel->backlog_capacity = max_waiting(mem, i);
        channel->backlog = BASE_ARENA_ARRAY(&mem->arena, struct dram_request, channel->backlog_capacity);
        channel->banks = BASE_ARENA_ARRAY(&mem->arena, struct dram_bank, dram->banks);
        for (uint32_t bank = 0; bank < dram->banks; bank++)
            channel->banks[bank].row = DRAM_NO_ROW;
        channel->wake_cycle = MEM_NEVER;
        channel->partition = &mem->partitions[i % mem->n_partitions];
    }
}

static void wake(struct mem_channel *channel, uint64_t cycle) {
    if (cycle < channel->wake_cycle)
        channel->wake_cycle = cycle;
    if (cycle < channel->partition->dram_next)
        channel->partition->dram_next = cycle;
}

static uint16_t bank_of(const struct config_dram *dram, uint64_t row) {
    uint64_t bank = row % dram->banks;
    if (dram->bank_hash == CONFIG_DRAM_HASH_FOLD && dram->banks > 1)
        for (uint64_t left = row / dram->banks; left; left /= dram->banks)
            bank += left % dram->banks;
    return (uint16_t)(bank % dram->banks);
}

/* Returns the channel of a bank's line, and the line's number in it. With dram.interleave, each run of that many bytes
 * of the bank lies in one of the partition's channels, and the next run in another. The partition's banks take turns in
 * each. */
static uint32_t find_channel(const struct mem *mem, const struct mem_bank *bank, uint64_t line, uint64_t *in_channel) {
    uint64_t place = mem_place_of(mem, line), n = mem->machine->dram.interleave_bytes / mem->line_bytes;
    if (!n) {
        *in_channel = place / mem->n_channels;
        return (uint32_t)(place % mem->n_channels);
    }
    uint64_t in_bank = place / mem->n_banks, chunk = in_bank / n;
    uint32_t channels = mem->n_channels / mem->n_partitions, banks = mem->n_banks / mem->n_partitions;
    uint32_t number = bank->id / mem->n_partitions; /* of the bank in its partition */
    *in_channel = (chunk / channels * banks + number) * n + in_bank % n;
    return bank->partition->id + (uint32_t)((chunk + number) % channels) * mem->n_partitions;
}

void mem_dram_open_row(struct mem *mem, const struct mem_bank *bank, uint64_t line) {
    const struct config_dram *dram = &mem->machine->dram;
    uint64_t in_channel;
    struct mem_channel *channel = &mem->channels[find_channel(mem, bank, line, &in_channel)];
    uint64_t row = in_channel / (dram->row_bytes / mem->line_bytes);
    channel->banks[bank_of(dram, row)].row = row / dram->banks;
}

void mem_dram_add(struct mem *mem, const struct mem_bank *bank, uint32_t entry, enum mem_message_type type,
                  uint32_t flags, uint32_t bytes, uint64_t cycle) {
    const struct config_dram *dram = &mem->machine->dram;
    uint64_t in_channel;
    struct mem_channel *channel = &mem->channels[find_channel(mem, bank, bank->lines.line[entry], &in_channel)];
    uint64_t row = in_channel / (dram->row_bytes / mem->line_bytes);
    assert(channel->n_backlog < channel->backlog_capacity);
    channel->backlog[(channel->backlog_first + channel->n_backlog++) % channel->backlog_capacity] =
        (struct dram_request){
            .row = row / dram->banks,
            .bank = bank_of(dram, row),
            .bytes = (bytes + BURST_BYTES - 1) / BURST_BYTES * BURST_BYTES,
            .entry = entry,
            .unit = (uint16_t)bank->id,
            .is_write = type == MEM_MSG_WRITE,
            .holds_row = type == MEM_MSG_READ && (flags & MEM_FLAG_HOLDS_ROW),
        };
    uint64_t next_issue = cycle_after(channel->issue_ticks);
    wake(channel, next_issue > cycle ? next_issue : cycle);
}

/* Moves requests into the queue while it has room. A write in the queue no longer needs its L2 entry. */
static void fill_queue(struct mem *mem, struct mem_channel *channel, uint64_t cycle) {
    while (channel->n_backlog > 0 && channel->n_queue < mem->machine->dram.queue_entries) {
        struct dram_request *request = &channel->queue[channel->n_queue++];
        *request = channel->backlog[channel->backlog_first];
        request->arrival = cycle;
        channel->backlog_first = (channel->backlog_first + 1) % channel->backlog_capacity;
        if (--channel->n_backlog == 0)
            channel->backlog_first = 0;
        if (request->is_write)
            mem_bank_written(mem, &mem->banks[request->unit], request->entry, cycle);
    }
}

/* Returns the cycle from which another row can be opened after an access to this one. `ready` is that cycle without the
 * access. */
static uint64_t after_hit(const struct config_dram *dram, uint64_t ready, uint64_t cycle) {
    if (dram->row_hit_cycles == dram->row_conflict_cycles)
        return cycle;
    if (!dram->row_cycle_cycles)
        return cycle + dram->row_hit_cycles;
    return ready > cycle + 1 ? ready : cycle + 1;
}

/* Starts the access in its bank. Returns the cycle in which its data is ready for the bus. */
static uint64_t open_and_access(const struct config_dram *dram, struct stats_mem *counters, struct dram_bank *bank,
                                uint64_t row, uint64_t cycle) {
    if (bank->row == row || dram->row_hit_cycles == dram->row_conflict_cycles) {
        counters->row_hits++;
        bank->row = row;
        bank->ready_switch = after_hit(dram, bank->ready_switch, cycle);
        return cycle + dram->row_hit_cycles;
    }
    counters->row_conflicts++;
    bank->row = row;
    bank->ready_hit = cycle + dram->row_conflict_cycles - dram->row_hit_cycles;
    bank->ready_switch = cycle + (dram->row_cycle_cycles ? dram->row_cycle_cycles : dram->row_conflict_cycles);
    return cycle + dram->row_conflict_cycles;
}

/* Ends the hold with the access that starts now. */
static void end_hold(struct stats_mem *counters, struct dram_bank *bank, uint64_t row, uint64_t cycle) {
    uint64_t end = cycle < bank->hold_until ? cycle : bank->hold_until;
    counters->row_hold_cycles += end > bank->ready_switch ? end - bank->ready_switch : 0;
    if (bank->row == row && cycle < bank->hold_until)
        counters->row_holds_useful++;
    else
        counters->row_holds_expired++;
    bank->hold_until = 0;
}

static void start(struct mem *mem, struct mem_channel *channel, uint32_t place, uint64_t cycle) {
    struct dram_request request = channel->queue[place];
    channel->n_queue--;
    for (uint32_t i = place; i < channel->n_queue; i++)
        channel->queue[i] = channel->queue[i + 1];
    struct stats_mem *counters = &channel->partition->counters;
    if (request.is_write)
        counters->dram_writes++;
    else
        counters->dram_reads++;
    struct dram_bank *bank = &channel->banks[request.bank];
    if (bank->hold_until)
        end_hold(counters, bank, request.row, cycle);
    uint64_t data = open_and_access(&mem->machine->dram, counters, bank, request.row, cycle);
    if (request.holds_row && mem->policy->follows_hints && mem->dram_hold_cycles) {
        counters->row_holds++;
        bank->hold_until = bank->ready_switch + mem->dram_hold_cycles;
    }
    struct mem_message message = {.line = (uint64_t)(channel - mem->channels),
                                  .token = request.entry,
                                  .unit = request.unit,
                                  .bytes = (uint16_t)request.bytes,
                                  .type = request.is_write ? MEM_MSG_WRITE : MEM_MSG_READ};
    mem_events_add(&channel->partition->events, data, MEM_PHASE_OWN, MEM_EVENT_DRAM_DATA, &message);
    /* At full load, accesses start exactly at the bus's rate: if a start was rounded up to a whole cycle, the next one
     * makes up for it. */
    uint64_t latest_debt = ticks(cycle) >= ticks(1) ? ticks(cycle) - ticks(1) + 1 : 0;
    if (channel->issue_ticks < latest_debt)
        channel->issue_ticks = latest_debt;
    channel->issue_ticks += request.bytes * mem->dram_ticks_per_byte;
    if (channel->issue_ticks <= ticks(cycle))
        channel->issue_ticks = ticks(cycle) + 1;
}

static void run_channel(struct mem *mem, struct mem_channel *channel, uint64_t cycle) {
    channel->wake_cycle = MEM_NEVER;
    fill_queue(mem, channel, cycle);
    if (channel->n_queue == 0)
        return;
    uint64_t next_issue = cycle_after(channel->issue_ticks);
    if (next_issue > cycle) {
        wake(channel, next_issue);
        return;
    }
    const struct config_dram *dram = &mem->machine->dram;
    struct dram_view view = {channel->queue, channel->n_queue, channel->banks, cycle,
                             (uint64_t)dram->queue_entries * dram->row_conflict_cycles};
    uint32_t place = mem->policy->pick(mem->policy_options, &view);
    if (place >= view.n)
        config_plugin_broken("DRAM policy", mem->policy->name, "pick() returned a place after the end of the queue");
    uint64_t start_cycle = dram_start(&view, place);
    if (start_cycle > cycle) {
        wake(channel, start_cycle);
        return;
    }
    start(mem, channel, place, cycle);
    fill_queue(mem, channel, cycle);
    if (channel->n_queue > 0)
        wake(channel, cycle_after(channel->issue_ticks));
}

void mem_dram_run(struct mem *mem, struct mem_partition *partition, uint64_t cycle) {
    uint64_t next = MEM_NEVER;
    partition->dram_next = MEM_NEVER;
    for (uint32_t i = partition->id; i < mem->n_channels; i += mem->n_partitions) {
        struct mem_channel *channel = &mem->channels[i];
        if (channel->wake_cycle <= cycle)
            run_channel(mem, channel, cycle);
        if (channel->wake_cycle < next)
            next = channel->wake_cycle;
    }
    partition->dram_next = next;
}

void mem_dram_data(struct mem *mem, const struct mem_message *message, uint64_t cycle) {
    struct mem_channel *channel = &mem->channels[message->line];
    uint64_t transfer = message->bytes * mem->dram_ticks_per_byte;
    uint64_t begin = ticks(cycle) > channel->bus_ticks ? ticks(cycle) : channel->bus_ticks;
    channel->bus_ticks = begin + transfer;
    channel->busy_ticks += transfer;
    channel->busy_cycles += channel->busy_ticks >> MEM_TICK_BITS;
    channel->partition->counters.bus_busy_cycles += channel->busy_ticks >> MEM_TICK_BITS;
    channel->busy_ticks &= ticks(1) - 1;
    if (message->type == MEM_MSG_READ)
        mem_events_add(&channel->partition->events, cycle_after(channel->bus_ticks), MEM_PHASE_OWN, MEM_EVENT_DRAM_DONE,
                       message);
}
