/* The L2 banks, and their substitute on machines without an L2.
 *
 * Lines, or chunks of slice.interleave bytes, are interleaved over the banks: bank = line number mod banks. A bank
 * takes one access per cycle. Its lookup takes latency_cycles, then the answer leaves or the miss goes to DRAM. The L2
 * writes back; a store to a missing line fetches it, unless it carries the whole line.
 *
 * The L2's MSHRs are divided among the banks. A bank has twice as many entries as MSHRs. An entry holds a line that is
 * being fetched (at most as many as there are MSHRs), that waits for acknowledgements, or that is leaving (until its
 * copies are back and DRAM's queue has taken it). Requests for a line with an entry wait there, in order. A request for
 * a line that is leaving, or a request that finds no free entry, blocks the bank's requests until that changes.
 * Responses are never blocked.
 *
 * With slice.store_port a bank takes a store of a whole line in addition to another access. A store of part of a line
 * reads the rest. With slice.sector_cycles a bank looks up once for all lines of 128 bytes that an SM reads. Stores and
 * other accesses then share the lookups, but a bank takes stores while it reads the further lines.
 *
 * With slice.keep_parts a store of part of a missing line waits for nothing. The rest of the line is read when the line
 * is read or leaves, unless further stores have written it.
 *
 * With slice.spread_cycles an SM's banks answer at different distances.
 *
 * With serial_atomics the SM sends atomics to the same address one at a time, and each keeps the bank busy.
 *
 * With halves the chip has two halves. Each line has its home in one of them. An SM of the other half reads the line
 * from its home once, and later from a copy in the SM's own half, until an SM of the home half writes the line. Copies
 * take no room. Atomics go to the line's home. Some of the data that the host copied is elsewhere until it is read.
 *
 * Without an L2 there is one bank per channel. It has no tags and no latency. Each request has its own entry until DRAM
 * has served it. An atomic is a read and, when its answer leaves, a write. */
#include <assert.h>

#include "mem/internal.h"

static struct mem_input *ring_first(struct mem_ring *ring) { return &ring->items[ring->first]; }

static void ring_add(struct mem_ring *ring, const struct mem_message *message, uint64_t ready) {
    assert(ring->n < ring->capacity && "more packets in flight than the machine can have");
    uint32_t place = ring->first + ring->n++;
    ring->items[place < ring->capacity ? place : place - ring->capacity] =
        (struct mem_input){*message, ready, MEM_NONE, false};
}

static void ring_remove(struct mem_ring *ring) {
    ring->first = ring->first + 1 < ring->capacity ? ring->first + 1 : 0;
    if (--ring->n == 0)
        ring->first = 0; /* which is in the host's cache */
}

/* Schedules the next lookup if a packet waits and no lookup is scheduled. Packets arrive one after the other, so a
 * later one is never ready earlier. */
static void schedule_lookup(struct mem_bank *bank, uint64_t cycle) {
    if (bank->has_serve_event)
        return;
    uint64_t when = MEM_NEVER;
    if (bank->responses.n > 0)
        when = ring_first(&bank->responses)->ready;
    if (bank->requests.n > 0 && !bank->is_blocked && ring_first(&bank->requests)->ready < when)
        when = ring_first(&bank->requests)->ready;
    when = when > bank->free_cycle ? when : bank->free_cycle;
    if (bank->stores.n > 0 && !bank->are_stores_blocked) {
        uint64_t store = ring_first(&bank->stores)->ready;
        store = store > bank->store_free_cycle ? store : bank->store_free_cycle;
        when = store < when ? store : when;
    }
    if (when == MEM_NEVER)
        return;
    when = when > cycle ? when : cycle;
    bank->has_serve_event = true;
    mem_events_add_own(&bank->partition->events, when, MEM_EVENT_BANK_SERVE)->unit = (uint16_t)bank->id;
}

static void unblock(struct mem_bank *bank, uint64_t cycle) {
    if (!bank->is_blocked && !bank->are_stores_blocked)
        return;
    bank->is_blocked = bank->are_stores_blocked = false;
    schedule_lookup(bank, cycle);
}

/* Notes that the last request of the ring, of a bulk copy, is for the same line as an earlier one that waits. */
static void note_copy(struct mem_bank *bank) {
    enum { CHUNK = 16 };
    struct mem_ring *ring = &bank->requests;
    uint32_t place = ring->first + ring->n - 1;
    place = place < ring->capacity ? place : place - ring->capacity;
    uint64_t line = ring->items[place].message.line;
    uint64_t chunk = (line / CHUNK * UINT64_C(0x9E3779B97F4A7C15) >> 32) * CHUNK; /* neighbours in the host's cache */
    uint32_t *latest = &bank->latest[(chunk + line % CHUNK) % MEM_LATEST_COPIES];
    uint32_t before = (*latest >= ring->first ? 0 : ring->capacity) + *latest - ring->first; /* that many are earlier */
    struct mem_input *earlier = &ring->items[*latest];
    if (before < ring->n - 1 && earlier->message.line == line && earlier->message.type == MEM_MSG_READ &&
        earlier->message.flags & MEM_FLAG_BULK)
        earlier->next = place;
    *latest = place;
}

void mem_bank_receive(struct mem *mem, const struct mem_message *message, uint64_t ready, uint64_t cycle) {
    struct mem_bank *bank = &mem->banks[message->unit];
    bool is_response = mem->is_coherent && (message->type == MEM_MSG_PUT || message->type == MEM_MSG_PUT_CLEAN ||
                                            message->type == MEM_MSG_ACK);
    bool is_store =
        mem->machine->slice.has_store_port && message->type == MEM_MSG_WRITE && message->bytes == mem->line_bytes;
    ring_add(is_response ? &bank->responses : is_store ? &bank->stores : &bank->requests, message, ready);
    if (bank->latest && message->type == MEM_MSG_READ && message->flags & MEM_FLAG_BULK)
        note_copy(bank);
    schedule_lookup(bank, cycle);
}

uint32_t mem_bank_take_entry(struct mem_bank *bank, uint64_t line, enum mem_entry_state state) {
    uint32_t entry = mem_lines_take(&bank->lines, line);
    if (entry != MEM_NONE)
        bank->entry[entry] = (struct mem_entry){.first = MEM_NONE, .last = MEM_NONE, .state = (uint8_t)state};
    return entry;
}

void mem_bank_wait(struct mem_bank *bank, uint32_t entry, const struct mem_message *message) {
    struct mem_entry *e = &bank->entry[entry];
    uint32_t place = bank->free_waiting;
    if (place == MEM_NONE)
        place = bank->n_touched_waiting++;
    else
        bank->free_waiting = bank->waiting[place].next;
    assert(place < bank->n_waiting);
    bank->waiting[place] = (struct mem_waiting){*message, MEM_NONE};
    if (e->first == MEM_NONE)
        e->first = place;
    else
        bank->waiting[e->last].next = place;
    e->last = place;
    e->n_waiters++;
}

struct mem_message mem_bank_next_waiter(struct mem_bank *bank, uint32_t entry, uint64_t cycle) {
    struct mem_entry *e = &bank->entry[entry];
    uint32_t place = e->first;
    struct mem_message message = bank->waiting[place].message;
    e->first = bank->waiting[place].next;
    e->n_waiters--;
    bank->waiting[place].next = bank->free_waiting;
    bank->free_waiting = place;
    unblock(bank, cycle);
    return message;
}

void mem_bank_release(struct mem_bank *bank, uint32_t entry, uint64_t cycle) {
    assert(bank->entry[entry].first == MEM_NONE);
    mem_lines_release(&bank->lines, entry);
    unblock(bank, cycle);
    if (bank->n_fills_waiting == 0 || bank->has_retry_event)
        return;
    bank->has_retry_event = true;
    mem_events_add_own(&bank->partition->events, cycle, MEM_EVENT_BANK_RETRY)->unit = (uint16_t)bank->id;
}

void mem_bank_send(struct mem *mem, const struct mem_message *message, uint64_t when, uint64_t cycle) {
    if (when == cycle) {
        struct mem_message packet = *message;
        mem_crossbar_to_sm(mem, &packet, cycle);
        return;
    }
    *mem_events_add_own(&mem->banks[message->unit].partition->events, when, MEM_EVENT_BANK_SEND) = *message;
}

void mem_bank_answer(struct mem *mem, const struct mem_message *request, enum mem_message_type type, uint32_t flags,
                     uint64_t when, uint64_t cycle) {
    struct mem_message answer = *request;
    answer.type = (uint8_t)type;
    answer.flags = (uint8_t)((request->flags & (MEM_FLAG_READ_ONLY | MEM_FLAG_COMBINED | MEM_FLAG_BULK)) | flags);
    if (type == MEM_MSG_DONE && request->type == MEM_MSG_ATOMIC)
        answer.flags |= MEM_FLAG_ATOMIC;
    if (type == MEM_MSG_DATA)
        mem_probe(mem, MEM_PROBE_L2_SEND, request->sm, request->line);
    mem_bank_send(mem, &answer, when, cycle);
}

/* The parity of the bits of its number decides to which half a page of 4 KB belongs; an SM's lowest bit decides for
 * it. */
static bool is_far(const struct mem *mem, const struct mem_message *message) {
    enum { PAGE_BITS = 12 };
    uint64_t page = message->line << mem->line_shift >> PAGE_BITS;
    return (__builtin_parityll(page) ^ message->sm) & 1;
}

/* Half of the lines that the host has written, chosen by a hash of their 128 bytes, are not at home yet. */
static bool is_astray(const struct mem *mem, const struct mem_message *message) {
    enum { GROUP_BITS = 7 };
    return (message->line << mem->line_shift >> GROUP_BITS) * UINT64_C(0x9E3779B97F4A7C15) >> 63;
}

/* Returns the additional cycles of a request whose line is at home in the other half, or is still where the host left
 * it. From then on, the half of the SM that reads or writes a line has it. */
static uint64_t far_cycles(const struct mem *mem, const struct mem_bank *bank, uint32_t slot,
                           const struct mem_message *message) {
    const struct config_machine *machine = mem->machine;
    uint32_t halves = bank->halves[slot];
    bool is_remote = is_far(mem, message);
    if (message->type == MEM_MSG_ATOMIC) {
        bank->halves[slot] = 0;
        return is_remote ? machine->halves.atomic_cycles : 0;
    }
    if (message->type != MEM_MSG_READ) {
        bank->halves[slot] = is_remote ? MEM_HALVES_COPY : 0;
        return 0;
    }
    if (is_remote) {
        bank->halves[slot] = MEM_HALVES_COPY;
        return halves & MEM_HALVES_COPY ? 0 : machine->halves.read_cycles;
    }
    bank->halves[slot] = (uint8_t)(halves & MEM_HALVES_COPY);
    return halves & MEM_HALVES_HOST && is_astray(mem, message) ? machine->halves.host_cycles : 0;
}

void mem_bank_note_half(const struct mem *mem, const struct mem_bank *bank, uint32_t slot, uint32_t sm, uint64_t line,
                        enum mem_kind kind) {
    enum mem_message_type type = kind == MEM_ATOMIC ? MEM_MSG_ATOMIC : kind == MEM_WRITE ? MEM_MSG_WRITE : MEM_MSG_READ;
    const struct mem_message message = {.line = line, .sm = (uint16_t)sm, .type = (uint8_t)type};
    far_cycles(mem, bank, slot, &message);
}

/* Returns the additional cycles of the way between a slice and an SM. For each SM the slices lie evenly between the
 * nearest and the farthest: consecutive multiples of the golden ratio do. */
static uint64_t way_cycles(const struct mem *mem, const struct mem_bank *bank, uint32_t sm) {
    uint32_t place = bank->id * 0x9E3779B9u + sm * 0x85EBCA6Bu;
    return (uint64_t)place * (mem->machine->slice.spread_cycles + 1) >> 32;
}

/* Performs a request on a line that is in the L2, without coherence. */
static void apply(struct mem *mem, struct mem_bank *bank, uint32_t slot, const struct mem_message *message,
                  uint64_t when, uint64_t cycle) {
    bool is_read = message->type == MEM_MSG_READ;
    if (slot != MEM_NONE) {
        mem_cache_touch(&bank->cache, slot);
        if (!is_read)
            bank->cache.state[slot] = MEM_MODIFIED;
        if (bank->missing && bank->missing[slot])
            bank->missing[slot] -= message->bytes < bank->missing[slot] ? message->bytes : bank->missing[slot];
        if (bank->halves) {
            uint64_t more = far_cycles(mem, bank, slot, message);
            when += more;
            if (more && is_read)
                bank->rest += mem->machine->halves.fill_cycles;
        }
    }
    if (is_read || message->type == MEM_MSG_ATOMIC)
        mem_bank_answer(mem, message, message->flags & MEM_FLAG_DIRECT ? MEM_MSG_DONE : MEM_MSG_DATA, 0,
                        when + way_cycles(mem, bank, message->sm), cycle);
    else
        mem_crossbar_credit(mem, bank, message->sm, message->type == MEM_MSG_PUT, cycle);
}

void mem_bank_write_back(struct mem *mem, struct mem_bank *bank, uint32_t entry, uint32_t bytes, uint64_t cycle) {
    bank->entry[entry].state = MEM_ENTRY_WRITEBACK;
    mem_probe(mem, MEM_PROBE_L2_WRITE, 0, bank->lines.line[entry]);
    mem_dram_add(mem, bank, entry, MEM_MSG_WRITE, 0, bytes, cycle);
}

/* Returns whether the line in the slot has been read, or written as a whole. The bytes of its stores are counted, not
 * compared: our choice. */
static bool is_complete(const struct mem_bank *bank, uint32_t slot) { return !bank->missing || !bank->missing[slot]; }

/* Empties a way for the line. Returns MEM_NONE if all ways are pinned, or the victim needs an entry and none is
 * free. */
static uint32_t make_room(struct mem *mem, struct mem_bank *bank, uint64_t line, uint64_t cycle) {
    uint32_t slot = mem_cache_victim(&bank->cache, line);
    if (slot == MEM_NONE || bank->cache.lines[slot] == MEM_NO_LINE)
        return slot;
    uint64_t victim = bank->cache.lines[slot];
    bool is_dirty = bank->cache.state[slot] == MEM_MODIFIED;
    bool has_copies = mem->is_coherent && mem_directory_copies(bank, slot) != 0;
    if (is_dirty || has_copies) {
        uint32_t entry = mem_bank_take_entry(bank, victim, MEM_ENTRY_RECALL);
        if (entry == MEM_NONE)
            return MEM_NONE;
        bank->partition->counters.l2_writebacks += is_dirty;
        if (has_copies)
            mem_directory_recall(mem, bank, slot, entry, cycle);
        else /* the rest of a line that is not complete is read first */
            mem_bank_write_back(mem, bank, entry, is_complete(bank, slot) ? mem->line_bytes : 2 * mem->line_bytes,
                                cycle);
    }
    mem_cache_drop(&bank->cache, slot);
    return slot;
}

static void install(struct mem *mem, struct mem_bank *bank, uint32_t slot, uint64_t line) {
    mem_cache_put(&bank->cache, slot, line, MEM_SHARED);
    if (bank->halves)
        bank->halves[slot] = 0;
    if (bank->missing)
        bank->missing[slot] = 0;
    if (mem->is_coherent) {
        bank->sharers[slot] = 0;
        bank->owner[slot] = MEM_NO_OWNER;
    }
}

/* Fetches the other lines that DRAM transfers with this one, unless they are present or in flight, while there is
 * room. */
static void fetch_neighbours(struct mem *mem, struct mem_bank *bank, uint64_t line, uint64_t cycle) {
    uint64_t n = mem->machine->dram.access_bytes / mem->line_bytes, first = line / n * n;
    for (uint64_t i = first; i < first + n; i++) {
        if (mem_lines_find(&bank->lines, i) != MEM_NONE || mem_cache_find(&bank->cache, i) != MEM_NONE)
            continue;
        uint32_t entry = bank->n_fetches < bank->max_fetches ? mem_bank_take_entry(bank, i, MEM_ENTRY_FETCH) : MEM_NONE;
        if (entry == MEM_NONE)
            return;
        bank->n_fetches++;
        *mem_events_add_own(&bank->partition->events, cycle + mem->l2_latency, MEM_EVENT_DRAM_ENTER) =
            (struct mem_message){.token = entry, .unit = (uint16_t)bank->id};
    }
}

static bool fetch(struct mem *mem, struct mem_bank *bank, const struct mem_message *message, uint64_t cycle) {
    if (bank->n_fetches == bank->max_fetches)
        return false;
    uint32_t entry = mem_bank_take_entry(bank, message->line, MEM_ENTRY_FETCH);
    if (entry == MEM_NONE)
        return false;
    bank->n_fetches++;
    mem_bank_wait(bank, entry, message);
    *mem_events_add_own(&bank->partition->events, cycle + mem->l2_latency, MEM_EVENT_DRAM_ENTER) =
        (struct mem_message){.token = entry, .unit = (uint16_t)bank->id, .flags = message->flags};
    if (mem->machine->dram.access_bytes > mem->line_bytes)
        fetch_neighbours(mem, bank, message->line, cycle);
    return true;
}

/* Fetches the rest of a line of which parts have been stored. The line leaves its slot until then. */
static __attribute__((noinline)) bool complete(struct mem *mem, struct mem_bank *bank, uint32_t slot,
                                               const struct mem_message *message, uint64_t cycle) {
    if (!fetch(mem, bank, message, cycle))
        return false;
    bank->entry[mem_lines_find(&bank->lines, message->line)].is_dirty = true;
    mem_cache_drop(&bank->cache, slot);
    bank->missing[slot] = 0;
    bank->partition->counters.l2_misses++;
    return true;
}

static bool write_around(struct mem *mem, struct mem_bank *bank, const struct mem_message *message, uint64_t cycle) {
    uint32_t entry = mem_bank_take_entry(bank, message->line, MEM_ENTRY_WRITEBACK);
    if (entry == MEM_NONE)
        return false;
    mem_bank_wait(bank, entry, message);
    mem_bank_write_back(mem, bank, entry, message->bytes, cycle);
    return true;
}

static __attribute__((noinline)) bool miss(struct mem *mem, struct mem_bank *bank, const struct mem_message *message,
                                           uint64_t cycle) {
    bool is_write = message->type == MEM_MSG_WRITE || message->type == MEM_MSG_PUT;
    if (is_write && !mem->machine->l2.writes.allocates)
        return write_around(mem, bank, message, cycle);
    if (!is_write || (message->bytes != mem->line_bytes && !bank->missing))
        return fetch(mem, bank, message, cycle);
    uint32_t slot = make_room(mem, bank, message->line, cycle);
    if (slot == MEM_NONE)
        return false;
    install(mem, bank, slot, message->line);
    if (bank->missing)
        bank->missing[slot] = (uint16_t)mem->line_bytes;
    apply(mem, bank, slot, message, cycle, cycle);
    return true;
}

/* Without an L2: there are entries for everything that SMs can send, but an atomic's write may still hold one after its
 * answer. */
static __attribute__((noinline)) bool pass_to_dram(struct mem *mem, struct mem_bank *bank,
                                                   const struct mem_message *message, uint64_t cycle) {
    if (message->type == MEM_MSG_WRITE || message->type == MEM_MSG_PUT)
        return write_around(mem, bank, message, cycle);
    uint32_t entry = mem_bank_take_entry(bank, message->line, MEM_ENTRY_PASS);
    if (entry == MEM_NONE)
        return false;
    mem_bank_wait(bank, entry, message);
    mem_dram_add(mem, bank, entry, MEM_MSG_READ, message->flags, message->bytes, cycle);
    return true;
}

static __attribute__((noinline)) bool join(struct mem *mem, struct mem_bank *bank, uint32_t entry,
                                           const struct mem_message *message) {
    const struct mem_entry *e = &bank->entry[entry];
    if (e->state == MEM_ENTRY_RECALL || e->state == MEM_ENTRY_WRITEBACK || e->n_waiters >= mem->l2_merges)
        return false;
    mem_bank_wait(bank, entry, message);
    bank->partition->counters.l2_merges++;
    bank->partition->counters.l2_misses += e->state == MEM_ENTRY_FETCH || e->state == MEM_ENTRY_FILL;
    return true;
}

/* Accepts a request; returns false when it has to wait. */
static bool accept(struct mem *mem, struct mem_bank *bank, const struct mem_message *message, uint64_t cycle) {
    if (mem->n_host && mem_is_in_host_memory(mem, message->line << mem->line_shift)) {
        mem_host_access(mem, bank, message, cycle);
        bank->partition->counters.l2_misses += mem->l2 != MEM_ABSENT;
        return true;
    }
    if (mem->l2 == MEM_ABSENT)
        return pass_to_dram(mem, bank, message, cycle);
    if (mem->l2 == MEM_PERFECT) {
        apply(mem, bank, MEM_NONE, message, cycle + mem->l2_latency, cycle);
        return true;
    }
    uint32_t entry = mem_lines_find(&bank->lines, message->line);
    if (entry != MEM_NONE)
        return join(mem, bank, entry, message);
    uint32_t slot = mem_cache_find(&bank->cache, message->line);
    if (slot == MEM_NONE) {
        bool is_taken = miss(mem, bank, message, cycle);
        bank->partition->counters.l2_misses += is_taken;
        return is_taken;
    }
    if (mem->is_coherent)
        return mem_directory_request(mem, bank, slot, message, cycle);
    if (!is_complete(bank, slot) && message->type != MEM_MSG_WRITE)
        return complete(mem, bank, slot, message, cycle);
    apply(mem, bank, slot, message, cycle + mem->l2_latency, cycle);
    return true;
}

/* Returns for how long a slice computes an atomic. */
static double atomic_cycles(const struct config_serial_atomics *atomics, const struct mem *mem,
                            const struct mem_message *message) {
    bool is_part = message->bytes < mem->line_bytes && atomics->part_cycles > 0;
    if (message->flags & MEM_FLAG_TWICE)
        return 2 * atomics->slice_cycles;
    return is_part ? atomics->part_cycles : atomics->slice_cycles;
}

/* Returns how many cycles a sum of floating-point numbers still waits for the last one on the same line. */
static double sum_wait(const struct mem_bank *bank, const struct mem_message *message, uint64_t cycle) {
    double now = (double)cycle + bank->rest;
    for (uint32_t i = 0; i < MEM_LATEST_SUMS; i++)
        if (bank->sum[i].line == message->line && bank->sum[i].next > now)
            return bank->sum[i].next - now;
    return 0;
}

static void note_sum(const struct mem *mem, struct mem_bank *bank, const struct mem_message *message, double start) {
    const struct config_serial_atomics *atomics = &mem->machine->serial_atomics;
    double twice = message->flags & MEM_FLAG_TWICE ? atomics->slice_cycles : 0;
    bank->sum[bank->oldest_sum] = (struct mem_sum){message->line, start + atomics->sum_cycles + twice};
    bank->oldest_sum = (bank->oldest_sum + 1) % MEM_LATEST_SUMS;
}

/* Returns how long the lookup port stays busy: a cycle, or until an atomic has been computed, a part of a line written,
 * `n_more` further sectors read, and sectors that come from elsewhere filled. */
static uint64_t busy_cycles(const struct mem *mem, struct mem_bank *bank, const struct mem_message *message,
                            uint32_t n_more, uint64_t cycle) {
    const struct config_machine *machine = mem->machine;
    if (message->type == MEM_MSG_READ && n_more == 0 && bank->rest < 1)
        return 1;
    bool is_partial = message->type == MEM_MSG_WRITE && message->bytes < mem->line_bytes;
    bool is_serial = message->type == MEM_MSG_ATOMIC && machine->serial_atomics.is_present;
    double wait = 0;
    if (is_serial && message->flags & MEM_FLAG_SUM && machine->serial_atomics.sum_cycles > 0) {
        wait = sum_wait(bank, message, cycle);
        note_sum(mem, bank, message, (double)cycle + bank->rest + wait);
    }
    bool is_bulk = message->flags & MEM_FLAG_BULK;
    bool is_next = is_partial && message->flags & MEM_FLAG_NEXT_PART && machine->slice.next_partial_cycles > 0;
    double cycles = is_serial    ? wait + atomic_cycles(&machine->serial_atomics, mem, message)
                    : is_next    ? machine->slice.next_partial_cycles
                    : is_partial ? machine->slice.partial_cycles
                                 : 1;
    cycles += n_more * (is_bulk ? machine->copies.sector_cycles : machine->slice.sector_cycles);
    if (cycles <= 1 && bank->rest < 1)
        return 1;
    bank->rest += cycles;
    uint64_t whole = (uint64_t)bank->rest;
    bank->rest -= (double)whole;
    return whole;
}

/* An atomic of an SM of the other half passes through a slice there, and so does its result. A single number travels in
 * the header, further ones in as many sectors as they are in, with a mask. A result takes two cycles for each whole
 * sector. The bank of the other half is our choice: one of the partition's own. */
static void relay(struct mem *mem, const struct mem_bank *bank, const struct mem_message *message, uint64_t cycle) {
    if (!mem->relays || message->type != MEM_MSG_ATOMIC || !is_far(mem, message))
        return;
    bool is_next = message->flags & MEM_FLAG_NEXT_SECTOR;
    uint32_t n_sectors = is_next ? 1 : message->is_several ? 2 : 0;
    if (message->returns)
        n_sectors += message->bytes < mem->line_bytes ? 1 : 2;
    struct mem_bank *other = &mem->banks[(bank->id + mem->n_partitions) % mem->n_banks];
    other->rest += n_sectors * mem->machine->halves.relay_cycles;
    uint64_t whole = (uint64_t)other->rest;
    other->rest -= (double)whole;
    other->free_cycle = (other->free_cycle > cycle ? other->free_cycle : cycle) + whole;
}

/* Answers a waiting read together with an earlier one. Returns false if it has to wait. */
static bool answer_too(struct mem *mem, struct mem_bank *bank, struct mem_input *input, uint64_t cycle) {
    struct mem_message message = input->message;
    message.flags |= message.type == MEM_MSG_READ ? MEM_FLAG_COMBINED : 0;
    if (!accept(mem, bank, &message, cycle))
        return false;
    input->is_answered = true;
    bank->partition->counters.l2_accesses++;
    return true;
}

static void drop_answered(struct mem_ring *ring) {
    while (ring->n > 0 && ring_first(ring)->is_answered)
        ring_remove(ring);
}

/* Answers SMs that have asked for the same line with one lookup, up to slice.combine of them. How far the bank looks
 * among the waiting requests is our choice: SMs that load the same lines at different times do not find each other. */
static __attribute__((noinline)) void combine(struct mem *mem, struct mem_bank *bank, uint64_t line, uint64_t cycle) {
    enum { WINDOW = 32 };
    struct mem_ring *ring = &bank->requests;
    uint32_t left = mem->machine->slice.combine - 1;
    for (uint32_t i = 0; i < ring->n && i < WINDOW && left; i++) {
        uint32_t place = ring->first + i;
        struct mem_input *input = &ring->items[place < ring->capacity ? place : place - ring->capacity];
        if (input->ready > cycle)
            break;
        if (input->message.line != line || input->message.type != MEM_MSG_READ || input->is_answered)
            continue;
        if (!answer_too(mem, bank, input, cycle))
            break;
        left--;
    }
    drop_answered(ring);
}

/* Does the same for bulk copies, which SMs that work together start together. The second is at `next`, however many
 * requests wait between. */
static __attribute__((noinline)) void combine_copies(struct mem *mem, struct mem_bank *bank, uint32_t next,
                                                     uint64_t cycle) {
    struct mem_ring *ring = &bank->requests;
    for (uint32_t left = mem->machine->slice.combine - 1; next != MEM_NONE && left; left--) {
        struct mem_input *input = &ring->items[next];
        next = input->next;
        if (input->is_answered)
            continue;
        if (input->ready > cycle || !answer_too(mem, bank, input, cycle))
            break;
        bank->rest += mem->machine->copies.combined_cycles;
    }
    drop_answered(ring);
}

/* Removes the first request, which has been accepted, and answers others for the same line with it. */
static void finish_request(struct mem *mem, struct mem_bank *bank, const struct mem_message *message, uint64_t cycle) {
    uint32_t next = ring_first(&bank->requests)->next;
    ring_remove(&bank->requests);
    bank->partition->counters.l2_accesses += mem->l2 != MEM_ABSENT;
    bool is_read = message->type == MEM_MSG_READ && mem->machine->slice.combine > 1;
    if (is_read && message->flags & MEM_FLAG_BULK)
        combine_copies(mem, bank, next, cycle);
    else if (is_read || (bank->requests.n > 0 && ring_first(&bank->requests)->is_answered))
        combine(mem, bank, is_read ? message->line : MEM_NO_LINE, cycle);
}

/* After a read, serves the SM's reads of other sectors of the same 128 bytes that wait behind it. Returns their
 * number. */
static __attribute__((noinline)) uint32_t read_rest_of_line(struct mem *mem, struct mem_bank *bank,
                                                            const struct mem_message *first, uint64_t cycle) {
    enum { LINE_BITS = 7 };
    const uint32_t shift = LINE_BITS > mem->line_shift ? LINE_BITS - mem->line_shift : 0;
    uint32_t n = 0;
    while (bank->requests.n > 0) {
        const struct mem_input *input = ring_first(&bank->requests);
        const struct mem_message message = input->message;
        if (input->ready > cycle || message.type != MEM_MSG_READ || message.sm != first->sm ||
            message.line >> shift != first->line >> shift || !accept(mem, bank, &message, cycle))
            break;
        finish_request(mem, bank, &message, cycle);
        n++;
    }
    return n;
}

/* The first request is a sum that waits. The sectors of a line arrive together and are computed together, so one that
 * follows another sector passes. Returns whether there is one. How far the bank looks is our choice. */
static __attribute__((noinline)) bool let_sector_pass(struct mem *mem, struct mem_bank *bank, uint64_t cycle) {
    enum { WINDOW = 16 };
    struct mem_ring *ring = &bank->requests;
    for (uint32_t i = 1; i < ring->n && i < WINDOW; i++) {
        uint32_t place = ring->first + i;
        struct mem_input *input = &ring->items[place < ring->capacity ? place : place - ring->capacity];
        const struct mem_message message = input->message;
        if (input->ready > cycle)
            break;
        if (input->is_answered || message.type != MEM_MSG_ATOMIC || !(message.flags & MEM_FLAG_NEXT_SECTOR) ||
            sum_wait(bank, &message, cycle) > 0)
            continue;
        if (!answer_too(mem, bank, input, cycle))
            break;
        bank->free_cycle = cycle + busy_cycles(mem, bank, &message, 0, cycle);
        relay(mem, bank, &message, cycle);
        return true;
    }
    return false;
}

/* Serves a store that has its own port. */
static inline void serve_store(struct mem *mem, struct mem_bank *bank, uint64_t cycle) {
    if (bank->stores.n == 0 || bank->are_stores_blocked || bank->store_free_cycle > cycle ||
        ring_first(&bank->stores)->ready > cycle)
        return;
    struct mem_message message = ring_first(&bank->stores)->message;
    bank->are_stores_blocked = !accept(mem, bank, &message, cycle);
    if (bank->are_stores_blocked) {
        bank->partition->counters.l2_blocked++;
        return;
    }
    ring_remove(&bank->stores);
    bank->store_free_cycle = cycle + 1;
    if (mem->shares_lookups) {
        bank->free_cycle = bank->free_cycle > cycle ? bank->free_cycle : cycle + 1;
        bank->was_store = true;
    }
    bank->partition->counters.l2_accesses += mem->l2 != MEM_ABSENT;
}

static inline void serve_request(struct mem *mem, struct mem_bank *bank, uint64_t cycle) {
    if (bank->free_cycle > cycle)
        return;
    if (bank->responses.n > 0 && ring_first(&bank->responses)->ready <= cycle) {
        struct mem_message message = ring_first(&bank->responses)->message;
        ring_remove(&bank->responses);
        bank->free_cycle = cycle + 1;
        mem_directory_response(mem, bank, &message, cycle);
        return;
    }
    if (bank->requests.n == 0 || bank->is_blocked || ring_first(&bank->requests)->ready > cycle)
        return;
    struct mem_message message = ring_first(&bank->requests)->message;
    if (message.flags & MEM_FLAG_SUM && message.type == MEM_MSG_ATOMIC && sum_wait(bank, &message, cycle) >= 1 &&
        let_sector_pass(mem, bank, cycle))
        return;
    bank->is_blocked = !accept(mem, bank, &message, cycle);
    if (bank->is_blocked) {
        bank->partition->counters.l2_blocked++;
        return;
    }
    finish_request(mem, bank, &message, cycle);
    bool reads_line = message.type == MEM_MSG_READ && (mem->shares_lookups || message.flags & MEM_FLAG_BULK);
    uint32_t n_more = reads_line ? read_rest_of_line(mem, bank, &message, cycle) : 0;
    bank->free_cycle = cycle + busy_cycles(mem, bank, &message, n_more, cycle);
    relay(mem, bank, &message, cycle);
    if (mem->shares_lookups) {
        bank->store_free_cycle = cycle + 1;
        bank->was_store = false;
    }
}

/* A store and a request that share the lookups take turns. */
void mem_bank_serve(struct mem *mem, struct mem_bank *bank, uint64_t cycle) {
    bank->has_serve_event = false;
    if (mem->shares_lookups && bank->was_store) {
        serve_request(mem, bank, cycle);
        serve_store(mem, bank, cycle);
    } else {
        serve_store(mem, bank, cycle);
        serve_request(mem, bank, cycle);
    }
    schedule_lookup(bank, cycle);
}

/* Puts a line that has arrived into a way and serves its waiters. Returns false if no way is free. */
static bool fill(struct mem *mem, struct mem_bank *bank, uint32_t entry, uint64_t cycle) {
    uint32_t slot = make_room(mem, bank, bank->lines.line[entry], cycle);
    if (slot == MEM_NONE)
        return false;
    bank->n_fetches--;
    install(mem, bank, slot, bank->lines.line[entry]);
    if (bank->entry[entry].is_dirty)
        bank->cache.state[slot] = MEM_MODIFIED;
    mem_probe(mem, MEM_PROBE_L2_FILL, 0, bank->lines.line[entry]);
    if (mem->is_coherent) {
        mem_directory_continue(mem, bank, entry, cycle);
        return true;
    }
    while (bank->entry[entry].first != MEM_NONE) {
        struct mem_message message = mem_bank_next_waiter(bank, entry, cycle);
        apply(mem, bank, slot, &message, cycle, cycle);
    }
    mem_bank_release(bank, entry, cycle);
    return true;
}

void mem_bank_filled(struct mem *mem, struct mem_bank *bank, uint32_t entry, uint64_t cycle) {
    struct mem_entry *e = &bank->entry[entry];
    if (e->state == MEM_ENTRY_FETCH) {
        if (!fill(mem, bank, entry, cycle)) {
            e->state = MEM_ENTRY_FILL;
            bank->n_fills_waiting++;
        }
        return;
    }
    struct mem_message message = mem_bank_next_waiter(bank, entry, cycle);
    mem_bank_answer(mem, &message, message.flags & MEM_FLAG_DIRECT ? MEM_MSG_DONE : MEM_MSG_DATA, 0, cycle, cycle);
    if (message.type == MEM_MSG_ATOMIC)
        mem_bank_write_back(mem, bank, entry, message.bytes, cycle);
    else
        mem_bank_release(bank, entry, cycle);
}

void mem_bank_retry(struct mem *mem, struct mem_bank *bank, uint64_t cycle) {
    bank->has_retry_event = false;
    for (uint32_t entry = 0; entry < bank->lines.n; entry++) {
        if (bank->lines.line[entry] == MEM_NO_LINE || bank->entry[entry].state != MEM_ENTRY_FILL)
            continue;
        bank->n_fills_waiting--;
        if (!fill(mem, bank, entry, cycle))
            bank->n_fills_waiting++;
    }
}

void mem_bank_written(struct mem *mem, struct mem_bank *bank, uint32_t entry, uint64_t cycle) {
    while (bank->entry[entry].first != MEM_NONE) {
        struct mem_message message = mem_bank_next_waiter(bank, entry, cycle);
        mem_crossbar_credit(mem, bank, message.sm, message.type == MEM_MSG_PUT, cycle);
    }
    mem_bank_release(bank, entry, cycle);
}
