/* An SM's caches: the L1 data cache, and the instruction and texture caches, which are the same unit without stores.
 *
 * A lookup takes a port: one access per bank and cycle, bank = line number mod banks (Meng 2010: a conflict costs its
 * access one cycle). A miss leaves the cache latency_cycles after the access and waits in an MSHR. The line takes a way
 * when it arrives.
 *
 * Write-through: a store goes to the L2 and updates the line if the L1 has it. With allocation, a store of a whole line
 * puts the line into the L1. With l1.keep_local, so does a store of part of a line of local memory, which only its
 * thread reads. Write-back: a store needs the line (fetched, or owned under MESI), unless it writes the
 * whole line on a machine without coherence. A load that bypasses the cache drops the line, so that the next load of
 * the line reads the L2 again. Atomics execute in the L2; without coherence they first drop the SM's own copy,
 * with l1.tag the copies of all lines that share its tag.
 *
 * MESI: an exclusive copy may be written at once. A shared one needs an upgrade, and is not evicted until the answer
 * arrives. Shared copies are dropped silently. Owned ones are reported (PUT, PUT_CLEAN), so that the directory's owner
 * is correct once all messages have arrived. The directory's messages reach the SM in the order they were sent, and it
 * answers them at once, with or without a copy. */
#include <assert.h>

#include "mem/internal.h"

enum { LINE_BITS = 7 }; /* sectors of 128 bytes travel together: crossbar.sector_cycles */

static bool is_port_free(const struct mem_l1 *l1, uint64_t cycle, uint32_t bank) {
    return !l1->has_ports || l1->port_cycle != cycle || (l1->ports_used >> bank & 1) == 0;
}

static void take_port(struct mem_l1 *l1, uint64_t cycle, uint32_t bank) {
    if (l1->port_cycle != cycle) {
        l1->port_cycle = cycle;
        l1->ports_used = 0;
    }
    l1->ports_used |= UINT64_C(1) << bank;
}

/* Refuses an access because something is full. Only an answer from the next level can change that. */
static enum mem_answer refuse(const struct mem *mem, struct mem_sm *sm, uint64_t *counter, uint64_t cycle,
                              uint64_t *ready) {
    ++*counter;
    sm->waits_for_change = mem->changed != NULL;
    uint64_t next = sm->waits_for_change ? MEM_NEVER : mem_next_event(mem);
    *ready = next > cycle ? next : cycle + 1;
    return MEM_REFUSED;
}

static void report_change(const struct mem *mem, struct mem_sm *sm, uint64_t cycle) {
    if (!sm->waits_for_change)
        return;
    sm->waits_for_change = false;
    mem->changed(mem->user, sm->id, cycle);
}

/* Refuses an access that needs an MSHR, buffer or credit, and remembers it. */
static enum mem_answer refuse_access(const struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint64_t line,
                                     enum mem_kind kind, uint32_t bytes, uint64_t *counter, uint64_t cycle,
                                     uint64_t *ready) {
    l1->refusal = (struct mem_refusal){line, l1->n_changes, counter, bytes, kind};
    return refuse(mem, sm, counter, cycle, ready);
}

static bool is_refused_again(const struct mem_l1 *l1, uint64_t line, enum mem_kind kind, uint32_t bytes) {
    const struct mem_refusal *refusal = &l1->refusal;
    return refusal->line == line && refusal->n_changes == l1->n_changes && refusal->kind == kind &&
           refusal->bytes == bytes && refusal->counter != NULL;
}

static enum mem_answer hit(uint64_t *ready, uint64_t cycle) {
    *ready = cycle;
    return MEM_HIT;
}

/* `is_first`: the message does not travel in the same packet as the one before. */
static void address_to_bank(const struct mem *mem, struct mem_sm *sm, struct mem_message *message, bool is_first) {
    message->sm = (uint16_t)sm->id;
    bool is_of_host = mem->n_host && mem_is_in_host_memory(mem, message->line << mem->line_shift);
    message->unit = (uint16_t)(is_of_host ? mem_host_bank_of(mem, message->line) : mem_bank_of(mem, message->line));
    sm->counters.l2_requests += is_first && !is_of_host && mem->l2 != MEM_ABSENT;
}

static void send(struct mem *mem, struct mem_sm *sm, struct mem_message message, bool is_first, uint64_t cycle) {
    address_to_bank(mem, sm, &message, is_first);
    mem_crossbar_to_bank(mem, sm, &message, cycle);
}

/* Returns what limits the SM's atomics. */
static uint32_t *atomic_credits(const struct mem *mem, struct mem_sm *sm) {
    return mem->machine->crossbar.atomics ? &sm->atomics : &sm->credits;
}

/* Returns the memory line that contains the cache's line. Caches above the L2 may have shorter lines, except under
 * MESI. */
static uint64_t memory_line(const struct mem *mem, const struct mem_l1 *l1, uint64_t line) {
    return line << l1->line_shift >> mem->line_shift;
}

static uint32_t hint_of(enum mem_kind kind) {
    return kind == MEM_READ_HOLD ? MEM_FLAG_HOLDS_ROW : kind == MEM_READ_BULK ? MEM_FLAG_BULK : 0;
}

static bool passes_l1(enum mem_kind kind) { return kind == MEM_READ_PAST || kind == MEM_READ_BULK; }

static void request_line(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint32_t id, enum mem_message_type type,
                         uint32_t flags, uint64_t cycle) {
    l1->mshrs.mshr[id].message_type = (uint16_t)type;
    struct mem_message message = {
        .line = memory_line(mem, l1, l1->mshrs.lines.line[id]),
        .token = id,
        .bytes = (uint16_t)l1->line_bytes,
        .type = (uint8_t)type,
        .flags = (uint8_t)(l1->flag | flags),
    };
    uint64_t group = message.line << mem->line_shift >> LINE_BITS;
    bool is_bulk = flags & MEM_FLAG_BULK;
    uint64_t *last_group = is_bulk ? &sm->bulk_group : &l1->read_group;
    bool is_first = !mem->sector_ticks || group != *last_group || (cycle != l1->read_cycle && !is_bulk);
    *last_group = group;
    if (!is_bulk)
        l1->read_cycle = cycle;
    bool is_load = type == MEM_MSG_READ && !l1->flag && !is_bulk;
    if (!mem->sector_ticks || !is_first || !is_load) {
        send(mem, sm, message, is_first, cycle + l1->latency_cycles);
        return;
    }
    address_to_bank(mem, sm, &message, true);
    mem_crossbar_sectors_to_bank(mem, sm, &message, 1, cycle + l1->latency_cycles);
}

/* Every miss may cause an eviction, so each MSHR in use reserves a write-back buffer. */
static bool has_writeback_room(const struct mem_l1 *l1) {
    return l1->n_writebacks + l1->mshrs.lines.n_used < 2 * l1->mshrs.lines.n;
}

static void put_line(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint64_t line, bool is_dirty,
                     uint64_t cycle) {
    struct mem_message message = {.line = memory_line(mem, l1, line),
                                  .bytes = (uint16_t)l1->line_bytes,
                                  .type = is_dirty ? MEM_MSG_PUT : MEM_MSG_PUT_CLEAN};
    l1->n_writebacks++;
    if (is_dirty) {
        sm->counters.l1_writebacks++;
        mem_probe(mem, MEM_PROBE_L1_SEND, sm->id, line);
    }
    send(mem, sm, message, true, cycle + l1->latency_cycles);
}

static void evict(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint32_t slot, uint64_t cycle) {
    enum mem_state state = (enum mem_state)l1->cache.state[slot];
    uint64_t line = l1->cache.lines[slot];
    l1->n_changes++;
    mem_cache_drop(&l1->cache, slot);
    if (state == MEM_MODIFIED || state == MEM_EXCLUSIVE)
        put_line(mem, sm, l1, line, state == MEM_MODIFIED, cycle);
}

static __attribute__((noinline)) void report_fill(struct mem *mem, const struct mem_sm *sm, const struct mem_l1 *l1,
                                                  uint32_t slot, uint64_t line, uint32_t token, uint64_t cycle) {
    uint64_t evicted = l1->cache.lines[slot];
    const struct mem_fill fill = {
        .slot = slot,
        .token = token,
        .line = line << l1->line_shift,
        .evicted = evicted == MEM_NO_LINE ? MEM_NOTHING_EVICTED : evicted << l1->line_shift,
    };
    if (l1->flag == 0)
        mem->filled(mem->user, sm->id, &fill, cycle);
}

/* The access uses the line in the slot. */
static inline void use(struct mem_l1 *l1, uint32_t slot) {
    mem_cache_touch(&l1->cache, slot);
    if (l1->cacp)
        mem_cacp_hit(l1->cacp, slot);
}

/* Returns the signature of the access that is being served, for cacp. */
static inline uint8_t signature_of(const struct mem_l1 *l1, uint64_t line) {
    return l1->cacp ? mem_cacp_signature(l1->cacp, line << l1->line_shift) : 0;
}

/* Drops the lines of another tag whose place the line takes. */
static void drop_other_tag(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint32_t slot, uint64_t line,
                           uint64_t cycle) {
    uint32_t bits = l1->cache.tag_bits, first = mem_cache_tag_slots(&l1->cache, slot);
    for (uint32_t other = first; other < first + (1u << bits); other++)
        if (l1->cache.lines[other] != MEM_NO_LINE && l1->cache.lines[other] >> bits != line >> bits)
            evict(mem, sm, l1, other, cycle);
}

/* Puts the line into a way and returns the slot. `token` is that of the access that asked for the line. If all ways
 * wait for upgrades, the line leaves again at once and the result is MEM_NONE. */
static uint32_t install(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint64_t line, enum mem_state state,
                        uint32_t token, uint8_t signature, uint64_t cycle) {
    uint32_t slot =
        l1->cacp ? mem_cacp_victim(l1->cacp, &l1->cache, line, signature) : mem_cache_victim(&l1->cache, line);
    l1->n_changes++;
    if (slot == MEM_NONE) {
        if (state == MEM_MODIFIED || state == MEM_EXCLUSIVE)
            put_line(mem, sm, l1, line, state == MEM_MODIFIED, cycle);
        return MEM_NONE;
    }
    if (mem->filled)
        report_fill(mem, sm, l1, slot, line, token, cycle);
    if (l1->cache.lines[slot] != MEM_NO_LINE) {
        if (l1->cacp)
            mem_cacp_evict(l1->cacp, &l1->cache, slot);
        evict(mem, sm, l1, slot, cycle);
    }
    if (l1->cache.tag_bits)
        drop_other_tag(mem, sm, l1, slot, line, cycle);
    mem_cache_put(&l1->cache, slot, line, state);
    if (l1->cacp)
        mem_cacp_put(l1->cacp, slot, signature);
    return slot;
}

/* Returns for how many sectors a store or an atomic of one or less occupies the link. The bytes of a line's sectors
 * that are written follow as one more. So do the words that atomics of several sectors of a line carry. Sets *is_next
 * if the instruction has stored another part of the line's sectors. */
static uint32_t sectors_on_link(const struct mem *mem, struct mem_sm *sm, const struct mem_message *message,
                                bool *is_next) {
    enum { REQUEST_BITS = 16 };
    struct mem_burst *burst = &sm->burst;
    uint64_t group = message->line << mem->line_shift >> LINE_BITS;
    uint32_t request = message->token & ((1u << REQUEST_BITS) - 1);
    if (group != burst->group || request != burst->token || !burst->n_sectors)
        *burst = (struct mem_burst){.group = group, .token = request};
    bool is_part = message->bytes < mem->line_bytes;
    *is_next = is_part && burst->has_mask;
    uint32_t n = 1;
    if (message->type == MEM_MSG_ATOMIC) {
        uint32_t sector = 1u << (message->line & ((1u << (LINE_BITS - mem->line_shift)) - 1));
        *is_next = burst->sectors && !(burst->sectors & sector); /* otherwise another lane's turn begins */
        burst->sectors = *is_next ? burst->sectors | sector : sector;
        if (!*is_next)
            burst->has_words = false;
        n += !burst->has_words && (*is_next || message->flags & MEM_FLAG_SEVERAL);
        burst->has_words |= n > 1;
    } else if (is_part) {
        n += !burst->has_mask;
        burst->has_mask = true;
    }
    burst->n_sectors++;
    return n;
}

/* Sends a request without an MSHR: a store that is written through, an atomic, an access on a machine without an L1. */
static bool send_direct(struct mem *mem, struct mem_sm *sm, const struct mem_l1 *l1, enum mem_message_type type,
                        uint32_t flags, bool returns, uint64_t address, uint32_t bytes, uint32_t token,
                        uint64_t cycle) {
    uint32_t *credits = type == MEM_MSG_ATOMIC ? atomic_credits(mem, sm) : &sm->credits;
    if (type == MEM_MSG_WRITE && sm->stores.capacity && !mem_stores_pass(sm) &&
        !(mem->n_host && mem_is_in_host_memory(mem, address)))
        return mem_stores_add(mem, sm, address, cycle);
    if (*credits == 0)
        return false;
    --*credits;
    sm->data.n_changes++;
    struct mem_message message = {
        .line = address >> mem->line_shift,
        .token = token,
        .bytes = (uint16_t)bytes,
        .type = (uint8_t)type,
        .flags = (uint8_t)(MEM_FLAG_DIRECT | flags),
        .is_several = flags & MEM_FLAG_SEVERAL,
        .returns = returns,
    };
    if (!mem->sector_ticks || (type != MEM_MSG_WRITE && type != MEM_MSG_ATOMIC)) {
        send(mem, sm, message, true, cycle + l1->latency_cycles);
        return true;
    }
    bool is_next;
    uint32_t n_sectors = sectors_on_link(mem, sm, &message, &is_next);
    message.flags |= is_next ? MEM_FLAG_NEXT_PART : 0; /* or MEM_FLAG_NEXT_SECTOR */
    message.flags &= (uint8_t)~MEM_FLAG_SEVERAL;
    bool is_first = message.type == MEM_MSG_ATOMIC ? !is_next : sm->burst.n_sectors == 1;
    address_to_bank(mem, sm, &message, is_first);
    mem_crossbar_sectors_to_bank(mem, sm, &message, n_sectors, cycle + l1->latency_cycles);
    return true;
}

void mem_l1_send_store(struct mem *mem, struct mem_sm *sm, uint64_t line, uint32_t bytes, uint32_t n_sectors,
                       bool is_first, bool is_next, uint64_t cycle) {
    struct mem_message message = {.line = line,
                                  .bytes = (uint16_t)bytes,
                                  .type = MEM_MSG_WRITE,
                                  .flags = (uint8_t)(MEM_FLAG_DIRECT | (is_next ? MEM_FLAG_NEXT_PART : 0))};
    address_to_bank(mem, sm, &message, is_first);
    mem_crossbar_sectors_to_bank(mem, sm, &message, n_sectors, cycle);
}

static enum mem_answer access_directly(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint64_t cycle,
                                       enum mem_kind kind, uint64_t address, uint32_t bytes, uint32_t token,
                                       uint64_t *ready) {
    enum mem_message_type type = kind == MEM_ATOMIC ? MEM_MSG_ATOMIC : kind == MEM_WRITE ? MEM_MSG_WRITE : MEM_MSG_READ;
    uint32_t flags = hint_of(kind) | (bytes & MEM_ADDS_FLOATS ? MEM_FLAG_SUM : 0) |
                     (bytes & MEM_PASSES_TWICE ? MEM_FLAG_TWICE : 0) | (bytes & MEM_HAS_SEVERAL ? MEM_FLAG_SEVERAL : 0);
    bool returns = bytes & MEM_RETURNS;
    bytes &= MEM_ADDS_FLOATS - 1;
    if (!send_direct(mem, sm, l1, type, flags, returns, address, bytes, token, cycle))
        return refuse(mem, sm, &sm->counters.crossbar_full, cycle, ready);
    if (kind == MEM_WRITE)
        return hit(ready, cycle + 1);
    if (kind != MEM_ATOMIC)
        sm->counters.uncached_reads++;
    return MEM_MISS;
}

/* Drops the lines that share the tag of this one, also those that are on their way, which then serve only the loads
 * that wait for them. */
static void drop_tag(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint64_t line, uint64_t cycle) {
    uint64_t n = UINT64_C(1) << l1->cache.tag_bits, first = line & ~(n - 1);
    for (uint64_t other = first; other < first + n; other++) {
        uint32_t slot = mem_cache_find(&l1->cache, other), id = mem_lines_find(&l1->mshrs.lines, other);
        if (slot != MEM_NONE && l1->cache.state[slot] != MEM_MODIFIED)
            evict(mem, sm, l1, slot, cycle);
        if (id != MEM_NONE)
            l1->mshrs.mshr[id].is_kept = false;
    }
}

static enum mem_answer access_atomic(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint64_t cycle,
                                     uint64_t address, uint32_t bytes, uint32_t token, uint64_t *ready) {
    if (*atomic_credits(mem, sm) == 0)
        return refuse(mem, sm, &sm->counters.crossbar_full, cycle, ready);
    if (l1->level == MEM_TAGGED && !mem->is_coherent) {
        uint32_t slot = mem_cache_find(&l1->cache, address >> l1->line_shift);
        if (slot != MEM_NONE && l1->cache.state[slot] == MEM_MODIFIED && !has_writeback_room(l1))
            return refuse(mem, sm, &sm->counters.mshr_full, cycle, ready);
        if (slot != MEM_NONE)
            evict(mem, sm, l1, slot, cycle);
        if (l1->cache.tag_bits)
            drop_tag(mem, sm, l1, address >> l1->line_shift, cycle);
    }
    sm->counters.atomics++;
    return access_directly(mem, sm, l1, cycle, MEM_ATOMIC, address, bytes, token, ready);
}

static void count(struct mem_sm *sm, const struct mem_l1 *l1, enum mem_kind kind, bool is_miss) {
    if (l1->flag == MEM_FLAG_CODE) {
        sm->counters.icache_accesses++;
        sm->counters.icache_misses += is_miss;
        return;
    }
    if (l1->flag == MEM_FLAG_TEXTURE) {
        sm->counters.texture_accesses++;
        sm->counters.texture_misses += is_miss;
        return;
    }
    if (passes_l1(kind)) {
        sm->counters.uncached_reads++;
        return;
    }
    sm->counters.l1_accesses++;
    sm->counters.l1_misses += is_miss;
    if (kind == MEM_WRITE) {
        sm->counters.l1_writes++;
        sm->counters.l1_write_misses += is_miss;
    }
}

/* Makes the access wait for a line, and requests the line unless it is already in flight. A row hint travels with the
 * request. A hint that comes after the request is lost. */
static bool wait_for_line(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint64_t line, enum mem_kind kind,
                          uint32_t shared_slot, uint32_t token, uint64_t cycle) {
    bool is_write = kind == MEM_WRITE;
    uint32_t id = mem_lines_find(&l1->mshrs.lines, line);
    if (id != MEM_NONE) {
        if (!mem_mshrs_wait(&l1->mshrs, id, token, is_write))
            return false;
        l1->mshrs.mshr[id].is_kept |= !passes_l1(kind);
        sm->counters.l1_merges += l1->flag == 0 && !passes_l1(kind);
        return true;
    }
    if (!has_writeback_room(l1) || (id = mem_mshrs_take(&l1->mshrs, line)) == MEM_NONE)
        return false;
    if (!mem_mshrs_wait(&l1->mshrs, id, token, is_write)) {
        mem_lines_release(&l1->mshrs.lines, id);
        return false;
    }
    l1->mshrs.mshr[id].is_kept = !passes_l1(kind);
    l1->mshrs.mshr[id].signature = signature_of(l1, line);
    if (shared_slot != MEM_NONE) {
        l1->cache.is_pinned[shared_slot] = true;
        sm->counters.upgrades++;
    }
    request_line(mem, sm, l1, id, is_write && mem->is_coherent ? MEM_MSG_OWN : MEM_MSG_READ,
                 shared_slot != MEM_NONE ? MEM_FLAG_HAS_COPY : hint_of(kind), cycle);
    return true;
}

/* Stores into a write-back cache at once if the line is there and writable, or can be created. */
static bool write_at_once(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint64_t line, uint32_t slot,
                          uint32_t bytes, uint64_t cycle) {
    if (slot != MEM_NONE) {
        if (mem->is_coherent && l1->cache.state[slot] == MEM_SHARED)
            return false;
        use(l1, slot);
        l1->cache.state[slot] = MEM_MODIFIED;
        mem_probe(mem, MEM_PROBE_L1_WRITE, sm->id, line);
        return true;
    }
    if (mem->is_coherent || bytes != l1->line_bytes || !has_writeback_room(l1) ||
        mem_lines_find(&l1->mshrs.lines, line) != MEM_NONE)
        return false;
    install(mem, sm, l1, line, MEM_MODIFIED, MEM_NO_TOKEN, signature_of(l1, line), cycle);
    mem_probe(mem, MEM_PROBE_L1_WRITE, sm->id, line);
    return true;
}

static enum mem_answer access_store(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint64_t cycle,
                                    uint64_t address, uint32_t slot, uint32_t bytes, uint32_t token, uint64_t *ready) {
    uint64_t line = address >> l1->line_shift;
    if (!l1->is_write_back || (slot == MEM_NONE && !l1->allocates_on_write)) {
        if (!send_direct(mem, sm, l1, MEM_MSG_WRITE, 0, false, address, bytes, token, cycle))
            return refuse_access(mem, sm, l1, line, MEM_WRITE, bytes, &sm->counters.crossbar_full, cycle, ready);
        if (slot != MEM_NONE)
            use(l1, slot);
        else if (l1->allocates_on_write && (bytes == l1->line_bytes || (l1->keeps_local && mem_is_local(address))) &&
                 !(mem->n_host && mem_is_in_host_memory(mem, address)) &&
                 mem_lines_find(&l1->mshrs.lines, line) == MEM_NONE)
            install(mem, sm, l1, line, MEM_SHARED, MEM_NO_TOKEN, signature_of(l1, line), cycle);
        count(sm, l1, MEM_WRITE, slot == MEM_NONE);
        return hit(ready, cycle + 1);
    }
    bool is_hit = slot != MEM_NONE && !(mem->is_coherent && l1->cache.state[slot] == MEM_SHARED);
    if (write_at_once(mem, sm, l1, line, slot, bytes, cycle)) {
        count(sm, l1, MEM_WRITE, !is_hit);
        return hit(ready, cycle + 1);
    }
    if (!wait_for_line(mem, sm, l1, line, MEM_WRITE, slot, token, cycle))
        return refuse_access(mem, sm, l1, line, MEM_WRITE, bytes, &sm->counters.mshr_full, cycle, ready);
    count(sm, l1, MEM_WRITE, true);
    return MEM_MISS;
}

/* Serves an access that mem_l1_access() does not serve itself. */
static __attribute__((noinline)) enum mem_answer access_any(struct mem *mem, uint32_t number, uint64_t cycle,
                                                            enum mem_kind kind, uint64_t address, uint32_t bytes,
                                                            uint32_t token, uint64_t *ready) {
    struct mem_sm *sm = &mem->sms[number];
    struct mem_l1 *l1 = kind == MEM_FETCH ? &sm->code : kind == MEM_TEXTURE ? &sm->texture : &sm->data;
    if (kind == MEM_ATOMIC)
        return access_atomic(mem, sm, l1, cycle, address, bytes, token, ready);
    if (l1->level == MEM_ABSENT)
        return access_directly(mem, sm, l1, cycle, kind, address, bytes, token, ready);
    uint64_t line = address >> l1->line_shift;
    uint32_t bank = (uint32_t)(l1->bank_mask + 1 == l1->banks ? line & l1->bank_mask : line % l1->banks);
    if (!is_port_free(l1, cycle, bank)) {
        sm->counters.port_conflicts++;
        *ready = cycle + 1;
        return MEM_REFUSED;
    }
    if (is_refused_again(l1, line, kind, bytes))
        return refuse(mem, sm, l1->refusal.counter, cycle, ready);
    enum mem_answer answer = MEM_HIT;
    if (kind == MEM_READ && mem->n_host && mem_is_in_host_memory(mem, address))
        kind = MEM_READ_PAST;
    if (passes_l1(kind) && (mem->is_coherent || l1->level == MEM_PERFECT))
        kind = MEM_READ;
    uint32_t slot = l1->level == MEM_PERFECT ? 0 : mem_cache_find(&l1->cache, line);
    if (passes_l1(kind) && slot != MEM_NONE) {
        if (l1->cache.state[slot] == MEM_SHARED)
            evict(mem, sm, l1, slot, cycle);
        slot = MEM_NONE;
    }
    if (l1->level == MEM_PERFECT || (kind != MEM_WRITE && slot != MEM_NONE)) {
        if (l1->level == MEM_TAGGED)
            use(l1, slot);
        mem_probe(mem, MEM_PROBE_L1_READ, sm->id, line);
        count(sm, l1, kind, false);
        *ready = cycle + l1->latency_cycles;
    } else if (kind == MEM_WRITE) {
        answer = access_store(mem, sm, l1, cycle, address, slot, bytes, token, ready);
    } else if (wait_for_line(mem, sm, l1, line, kind, MEM_NONE, token, cycle)) {
        count(sm, l1, kind, true);
        answer = MEM_MISS;
    } else {
        answer = refuse_access(mem, sm, l1, line, kind, bytes, &sm->counters.mshr_full, cycle, ready);
    }
    if (answer != MEM_REFUSED)
        take_port(l1, cycle, bank);
    return answer;
}

/* Most accesses are loads and fetches that need a port, tags and perhaps an MSHR. They take the short way here. Has the
 * parameters of mem_access(), so that the call is a jump: eight in all, two of them on the stack. */
enum mem_answer mem_l1_access(struct mem *mem, uint32_t number, uint64_t cycle, enum mem_kind kind, uint64_t address,
                              uint32_t bytes, uint32_t token, uint64_t *ready) {
    struct mem_sm *sm = &mem->sms[number];
    struct mem_l1 *l1 = kind == MEM_FETCH ? &sm->code : &sm->data;
    uint64_t line = address >> l1->line_shift;
    uint32_t bank = (uint32_t)line & l1->bank_mask;
    if ((kind != MEM_READ && kind != MEM_FETCH) || l1->level != MEM_TAGGED || mem->n_host || mem->probe ||
        l1->bank_mask + 1 != l1->banks || !is_port_free(l1, cycle, bank))
        return access_any(mem, number, cycle, kind, address, bytes, token, ready);
    uint32_t slot = mem_cache_find(&l1->cache, line);
    if (slot != MEM_NONE) {
        use(l1, slot);
        ++*(kind == MEM_FETCH ? &sm->counters.icache_accesses : &sm->counters.l1_accesses);
        *ready = cycle + l1->latency_cycles;
        take_port(l1, cycle, bank);
        return MEM_HIT;
    }
    bool is_full = l1->mshrs.lines.free == MEM_NONE && mem_lines_find(&l1->mshrs.lines, line) == MEM_NONE;
    if (is_full || !wait_for_line(mem, sm, l1, line, kind, MEM_NONE, token, cycle))
        return refuse(mem, sm, &sm->counters.mshr_full, cycle, ready);
    count(sm, l1, kind, true);
    take_port(l1, cycle, bank);
    return MEM_MISS;
}

/* Answers the waiters that a line in this state serves, oldest first. Returns the line's state after them. */
static enum mem_state answer_waiters(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint32_t id,
                                     enum mem_state state, uint64_t cycle) {
    const struct mem_mshr *mshr = &l1->mshrs.mshr[id];
    struct mem_waiter waiter = {0};
    while (mshr->first != MEM_NONE) {
        bool is_write = l1->mshrs.waiters[mshr->first].is_write;
        if (is_write && mem->is_coherent && state == MEM_SHARED)
            break;
        if (is_write)
            state = MEM_MODIFIED;
        mem_probe(mem, is_write ? MEM_PROBE_L1_WRITE : MEM_PROBE_L1_READ, sm->id, l1->mshrs.lines.line[id]);
        mem_mshrs_next(&l1->mshrs, id, &waiter);
        mem->done(mem->user, sm->id, waiter.token, cycle);
    }
    return state;
}

/* Handles a line that has arrived. If it is shared and stores wait for it, the same MSHR goes on to ask for
 * ownership. */
static void fill(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint32_t id, enum mem_state state,
                 uint64_t cycle) {
    uint64_t line = l1->mshrs.lines.line[id];
    uint32_t token = l1->mshrs.waiters[l1->mshrs.mshr[id].first].token;
    mem_probe(mem, MEM_PROBE_L1_FILL, sm->id, line);
    state = answer_waiters(mem, sm, l1, id, state, cycle);
    if (!l1->mshrs.mshr[id].is_kept) {
        l1->n_changes++;
        mem_lines_release(&l1->mshrs.lines, id);
        return;
    }
    uint32_t slot = install(mem, sm, l1, line, state, token, l1->mshrs.mshr[id].signature, cycle);
    if (l1->mshrs.mshr[id].first == MEM_NONE) {
        mem_lines_release(&l1->mshrs.lines, id);
        return;
    }
    if (slot != MEM_NONE) {
        l1->cache.is_pinned[slot] = true;
        sm->counters.upgrades++;
    }
    request_line(mem, sm, l1, id, MEM_MSG_OWN, slot != MEM_NONE ? MEM_FLAG_HAS_COPY : 0, cycle);
}

static void upgrade(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, uint32_t id, uint64_t cycle) {
    uint32_t slot = mem_cache_find(&l1->cache, l1->mshrs.lines.line[id]);
    assert(slot != MEM_NONE && l1->cache.state[slot] == MEM_SHARED && l1->cache.is_pinned[slot]);
    l1->cache.is_pinned[slot] = false;
    l1->cache.state[slot] = (uint8_t)answer_waiters(mem, sm, l1, id, MEM_MODIFIED, cycle);
    mem_cache_touch(&l1->cache, slot);
    mem_lines_release(&l1->mshrs.lines, id);
}

/* Answers INVALIDATE or DOWNGRADE. */
static void answer_directory(struct mem *mem, struct mem_sm *sm, struct mem_l1 *l1, const struct mem_message *message,
                             uint64_t cycle) {
    uint32_t slot = mem_cache_find(&l1->cache, message->line), flags = 0;
    if (slot != MEM_NONE) {
        if (l1->cache.state[slot] == MEM_MODIFIED) {
            flags |= MEM_FLAG_HAS_DATA;
            mem_probe(mem, MEM_PROBE_L1_SEND, sm->id, message->line);
        }
        if (message->type == MEM_MSG_INVALIDATE) {
            mem_cache_drop(&l1->cache, slot);
            sm->counters.invalidations++;
        } else {
            l1->cache.state[slot] = MEM_SHARED;
            flags |= MEM_FLAG_HAS_COPY;
            sm->counters.downgrades++;
        }
    }
    struct mem_message answer = {
        .line = message->line, .bytes = (uint16_t)l1->line_bytes, .type = MEM_MSG_ACK, .flags = (uint8_t)flags};
    send(mem, sm, answer, false, cycle + l1->latency_cycles);
}

void mem_l1_receive(struct mem *mem, struct mem_sm *sm, const struct mem_message *message, uint64_t cycle) {
    struct mem_l1 *l1 = message->flags & MEM_FLAG_CODE      ? &sm->code
                        : message->flags & MEM_FLAG_TEXTURE ? &sm->texture
                                                            : &sm->data;
    l1->n_changes++;
    sm->data.n_changes++; /* all caches use the same credits */
    switch ((enum mem_message_type)message->type) {
    case MEM_MSG_DATA: {
        bool was_owned = l1->mshrs.mshr[message->token].message_type == MEM_MSG_OWN;
        fill(mem, sm, l1, message->token,
             was_owned                             ? MEM_MODIFIED
             : message->flags & MEM_FLAG_EXCLUSIVE ? MEM_EXCLUSIVE
                                                   : MEM_SHARED,
             cycle);
        break;
    }
    case MEM_MSG_UPGRADE:
        upgrade(mem, sm, l1, message->token, cycle);
        break;
    case MEM_MSG_DONE:
        ++*(message->flags & MEM_FLAG_ATOMIC ? atomic_credits(mem, sm) : &sm->credits);
        mem->done(mem->user, sm->id, message->token, cycle);
        break;
    default:
        answer_directory(mem, sm, l1, message, cycle);
        break;
    }
    report_change(mem, sm, cycle);
}

void mem_l1_send_stores(struct mem *mem, struct mem_sm *sm, uint64_t cycle) {
    sm->stores.has_event = false;
    if (!mem_stores_run(mem, sm, cycle))
        return;
    sm->data.n_changes++;
    report_change(mem, sm, cycle);
}

void mem_l1_credit(struct mem *mem, struct mem_sm *sm, bool is_writeback, uint64_t cycle) {
    sm->data.n_changes++;
    if (is_writeback) {
        sm->data.n_writebacks--;
        mem_l1_flush(mem, sm, cycle);
    } else {
        sm->credits++;
        if (sm->stores.n)
            mem_stores_run(mem, sm, cycle);
    }
    report_change(mem, sm, cycle);
}

/* Drops the lines from flush_slot on while there are buffers for the dirty ones. Each returning credit continues the
 * flush. */
void mem_l1_flush(struct mem *mem, struct mem_sm *sm, uint64_t cycle) {
    struct mem_l1 *l1 = &sm->data;
    uint32_t slots = mem_cache_slots(&l1->cache);
    const uint64_t *line = l1->cache.lines;
    uint32_t slot = sm->flush_slot;
    for (; slot < slots; slot++) {
        if (line[slot] == MEM_NO_LINE)
            continue;
        if (l1->cache.state[slot] == MEM_MODIFIED && !has_writeback_room(l1))
            break;
        evict(mem, sm, l1, slot, cycle);
    }
    sm->flush_slot = slot;
}

void mem_l1_resize(struct mem_sm *sm, uint32_t bytes) {
    struct mem_l1 *l1 = &sm->data;
    assert(sm->flush_slot == mem_cache_slots(&l1->cache));
    mem_cache_resize(&l1->cache, bytes >> l1->line_shift);
    sm->flush_slot = mem_cache_slots(&l1->cache);
}

void mem_texture_flush(struct mem_sm *sm) {
    struct mem_cache *cache = &sm->texture.cache;
    uint32_t slots = mem_cache_slots(cache);
    for (uint32_t slot = 0; slot < slots; slot++)
        if (cache->lines[slot] != MEM_NO_LINE)
            mem_cache_drop(cache, slot);
    sm->texture.n_changes++;
}
