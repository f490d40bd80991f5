/* The memory system as a whole: sizes from the machine, the event loop, counters. */
#include "mem/mem.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "mem/internal.h"

/* Write-backs that an SM may have in flight: one per miss. An MSHR whose store finds a shared line misses twice. */
enum { PUTS_PER_MSHR = 4 };

/* The most packets and entries that can be in use at once: the sizes of rings and pools. */
struct limits {
    uint32_t requests, puts; /* of one SM */
    uint32_t entries;        /* of one bank */
};

static uint32_t log2_of(uint32_t power) { return (uint32_t)__builtin_ctz(power); }

static enum mem_level level_of(const struct config_cache *cache) {
    if (!cache->is_present)
        return MEM_ABSENT;
    return cache->is_perfect ? MEM_PERFECT : MEM_TAGGED;
}

static bool has_tags(const struct config_cache *cache) { return level_of(cache) == MEM_TAGGED; }

static struct limits limits_of(const struct mem *mem) {
    const struct config_machine *machine = mem->machine;
    uint32_t data = has_tags(&machine->l1.cache) ? machine->l1.cache.mshrs : 0;
    uint32_t code = has_tags(&machine->icache) ? machine->icache.mshrs : 0;
    uint32_t texture = has_tags(&machine->texture) ? machine->texture.mshrs : 0;
    struct limits limits = {.requests = data + code + texture + machine->crossbar.credits + machine->crossbar.atomics,
                            .puts = machine->l1.writes.policy == CONFIG_WRITE_BACK ? PUTS_PER_MSHR * data : 0};
    if (mem->l2 == MEM_ABSENT)
        limits.entries = mem->n_sms * (limits.requests + limits.puts);
    else if (mem->l2 == MEM_TAGGED)
        limits.entries = 2 * ((machine->l2.cache.mshrs + mem->n_banks - 1) / mem->n_banks);
    return limits;
}

/* writes: NULL for a cache that is only read; flag: as in struct mem_l1 */
static void init_l1(struct mem *mem, struct mem_l1 *l1, const struct config_cache *config,
                    const struct config_writes *writes, enum mem_message_flags flag) {
    uint32_t banks = config->banks > 0 ? config->banks : 1;
    l1->level = (uint8_t)level_of(config);
    l1->flag = (uint8_t)flag;
    l1->is_write_back = writes && writes->policy == CONFIG_WRITE_BACK;
    l1->allocates_on_write = writes && writes->allocates;
    l1->banks = banks;
    l1->has_ports = flag || !mem->machine->unified.is_present || !mem->machine->unified.tag_banks;
    l1->bank_mask = (banks & (banks - 1)) == 0 ? banks - 1 : 0;
    l1->port_cycle = MEM_NEVER;
    l1->latency_cycles = config->is_present ? config->latency_cycles : 0;
    l1->line_bytes = config->line_bytes > 0 ? config->line_bytes : mem->line_bytes;
    l1->line_shift = log2_of(l1->line_bytes);
    if (!has_tags(config))
        return;
    mem_cache_init(&l1->cache, &mem->arena, config->size_bytes, config->ways, config->line_bytes, 1);
    mem_mshrs_init(&l1->mshrs, &mem->arena, config->mshrs, config->mshr_merges);
}

static void init_sms(struct mem *mem) {
    const struct config_machine *machine = mem->machine;
    uint64_t ticks_per_byte = mem_ticks_per_byte(machine->crossbar.bytes_per_cycle);
    mem->sms = BASE_ARENA_ARRAY(&mem->arena, struct mem_sm, mem->n_sms);
    for (uint32_t i = 0; i < mem->n_sms; i++) {
        struct mem_sm *sm = &mem->sms[i];
        base_arena_begin_pair(&mem->arena);
        sm->id = i;
        sm->flushed_stamp = MEM_NEVER;
        sm->credits = machine->crossbar.credits;
        sm->atomics = machine->crossbar.atomics;
        sm->in.ticks_per_byte = sm->out.ticks_per_byte = ticks_per_byte;
        sm->bulk_in.ticks_per_byte = machine->copies.is_present
                                         ? mem_ticks_per_byte(machine->copies.load_bytes_per_cycle) * mem->line_bytes /
                                               (mem->line_bytes + MEM_HEADER_BYTES)
                                         : ticks_per_byte;
        init_l1(mem, &sm->data, &machine->l1.cache, &machine->l1.writes, 0);
        sm->data.cache.is_hashed = machine->l1.is_hashed;
        sm->data.cache.is_random = machine->l1.is_random;
        sm->data.keeps_local = machine->l1.keeps_local;
        if (machine->l1.tag_bytes > sm->data.line_bytes && !sm->data.is_write_back && !machine->cacp.is_present)
            sm->data.cache.tag_bits = log2_of(machine->l1.tag_bytes / sm->data.line_bytes);
        if (machine->cacp.is_present && has_tags(&machine->l1.cache)) {
            sm->data.cacp = BASE_ARENA_ARRAY(&mem->arena, struct mem_cacp, 1);
            mem_cacp_init(sm->data.cacp, &mem->arena, mem_cache_slots(&sm->data.cache), machine->cacp.share);
        }
        init_l1(mem, &sm->code, &machine->icache, NULL, MEM_FLAG_CODE);
        init_l1(mem, &sm->texture, &machine->texture, NULL, MEM_FLAG_TEXTURE);
        if (machine->crossbar.store_lines)
            mem_stores_init(mem, sm);
        sm->flush_slot = mem_cache_slots(&sm->data.cache);
        mem_events_init(&sm->events, &mem->arena, MEM_SENT_BY_BANKS);
    }
}

/* A line's bank and channel are its number modulo their counts, so modulo a common divisor of the counts they agree. */
static uint32_t greatest_divisor(uint32_t a, uint32_t b) { return b == 0 ? a : greatest_divisor(b, a % b); }

static void init_partitions(struct mem *mem) {
    mem->n_partitions = greatest_divisor(mem->n_banks, mem->n_channels);
    mem->partitions = BASE_ARENA_ARRAY(&mem->arena, struct mem_partition, mem->n_partitions);
    for (uint32_t i = 0; i < mem->n_partitions; i++) {
        base_arena_begin_pair(&mem->arena);
        mem->partitions[i].id = i;
        mem->partitions[i].dram_next = MEM_NEVER;
        mem_events_init(&mem->partitions[i].events, &mem->arena, MEM_SENT_BY_SMS);
    }
}

static void init_ring(struct mem *mem, struct mem_ring *ring, uint32_t capacity) {
    ring->items = BASE_ARENA_ARRAY(&mem->arena, struct mem_input, capacity);
    ring->capacity = capacity;
}

static void init_directory(struct mem *mem, struct mem_bank *bank) {
    uint32_t slots = mem_cache_slots(&bank->cache);
    bank->sharers = BASE_ARENA_ARRAY(&mem->arena, uint64_t, slots);
    bank->owner = BASE_ARENA_ARRAY(&mem->arena, uint8_t, slots);
    for (uint32_t i = 0; i < slots; i++)
        bank->owner[i] = MEM_NO_OWNER;
}

static void init_banks(struct mem *mem, const struct limits *limits) {
    const struct config_machine *machine = mem->machine;
    uint32_t n_requests = mem->n_sms * (limits->requests + limits->puts);
    uint32_t n_responses = mem->is_coherent ? mem->n_sms * (limits->puts + limits->entries) : 0;
    /* Without coherence, requests wait only in entries, and each entry has room for this many. */
    uint64_t most_waiting = (uint64_t)limits->entries * mem->l2_merges;
    bool is_bounded = mem->l2 == MEM_TAGGED && !mem->is_coherent && most_waiting < n_requests;
    uint32_t n_waiting = is_bounded ? (uint32_t)most_waiting : n_requests;
    mem->banks = BASE_ARENA_ARRAY(&mem->arena, struct mem_bank, mem->n_banks);
    for (uint32_t i = 0; i < mem->n_banks; i++) {
        struct mem_bank *bank = &mem->banks[i];
        base_arena_begin_pair(&mem->arena);
        bank->id = i;
        bank->partition = &mem->partitions[i % mem->n_partitions];
        bank->in.ticks_per_byte = bank->out.ticks_per_byte = mem->sms[0].out.ticks_per_byte;
        init_ring(mem, &bank->requests, n_requests);
        if (machine->slice.combine > 1 && machine->copies.is_present)
            bank->latest = BASE_ARENA_ARRAY(&mem->arena, uint32_t, MEM_LATEST_COPIES);
        init_ring(mem, &bank->responses, n_responses);
        init_ring(mem, &bank->stores, machine->slice.has_store_port ? mem->n_sms * machine->crossbar.credits : 0);
        mem_lines_init(&bank->lines, &mem->arena, limits->entries);
        bank->max_fetches = limits->entries / 2;
        bank->entry = BASE_ARENA_ARRAY(&mem->arena, struct mem_entry, limits->entries);
        bank->waiting = BASE_ARENA_ARRAY(&mem->arena, struct mem_waiting, n_waiting);
        bank->n_waiting = n_waiting;
        bank->free_waiting = MEM_NONE;
        if (mem->l2 == MEM_TAGGED)
            mem_cache_init(&bank->cache, &mem->arena, machine->l2.cache.size_bytes, machine->l2.cache.ways,
                           mem->line_bytes, mem->n_banks);
        bank->cache.chunk = mem->bank_lines;
        if (mem->is_coherent)
            init_directory(mem, bank);
        else if (machine->halves.is_present && mem->l2 == MEM_TAGGED)
            bank->halves = BASE_ARENA_ARRAY(&mem->arena, uint8_t, mem_cache_slots(&bank->cache));
        if (machine->slice.keeps_parts && !mem->is_coherent && mem->l2 == MEM_TAGGED)
            bank->missing = BASE_ARENA_ARRAY(&mem->arena, uint16_t, mem_cache_slots(&bank->cache));
    }
}

static void set_shape(struct mem *mem) {
    const struct config_machine *machine = mem->machine;
    mem->n_sms = machine->sm.count;
    mem->l2 = level_of(&machine->l2.cache);
    mem->is_coherent = machine->memory.coherence == CONFIG_COHERENCE_MESI;
    mem->line_bytes = mem_line_bytes(machine);
    if (machine->memory.is_perfect)
        return;
    mem->line_shift = log2_of(mem->line_bytes);
    mem->n_channels = machine->dram.channels;
    mem->bank_lines = mem->l2 != MEM_ABSENT && machine->slice.interleave_bytes
                          ? machine->slice.interleave_bytes / mem->line_bytes
                          : 1;
    mem->n_banks =
        mem->l2 != MEM_ABSENT ? (machine->l2.cache.banks > 0 ? machine->l2.cache.banks : 1) : mem->n_channels;
    mem->shares_lookups = machine->slice.sector_cycles < 1;
    mem->relays = machine->halves.is_present && machine->serial_atomics.is_present && machine->halves.relay_cycles > 0;
    mem->l2_latency = mem->l2 != MEM_ABSENT ? machine->l2.cache.latency_cycles : 0;
    mem->l2_merges = machine->l2.cache.mshr_merges;
    mem->crossbar_ticks = (uint64_t)machine->crossbar.latency_cycles << MEM_TICK_BITS;
    mem->sector_ticks = (uint64_t)(machine->crossbar.sector_cycles * (1 << MEM_TICK_BITS));
}

struct mem *mem_new(const struct config_machine *machine, mem_done_fn *done, void *user) {
    char text[256];
    bool can_build = mem_can_build(machine, text, sizeof text);
    assert(can_build && "the caller must check mem_can_build()");
    (void)can_build;
    struct base_arena arena = {0};
    struct mem *mem = BASE_ARENA_NEW(&arena, struct mem);
    mem->arena = arena;
    mem->machine = machine;
    mem->done = done;
    mem->user = user;
    mem->sum = BASE_ARENA_NEW(&mem->arena, struct stats_mem);
    set_shape(mem);
    if (machine->memory.is_perfect) {
        mem->sms = BASE_ARENA_ARRAY(&mem->arena, struct mem_sm, mem->n_sms);
        return mem;
    }
    struct limits limits = limits_of(mem);
    init_sms(mem);
    init_partitions(mem);
    init_banks(mem, &limits);
    mem_host_init(mem);
    mem_dram_init(mem);
    return mem;
}

void mem_report_changes(struct mem *mem, mem_changed_fn *changed) { mem->changed = changed; }

void mem_report_fills(struct mem *mem, mem_fill_fn *filled) { mem->filled = filled; }

void mem_free(struct mem *mem) {
    if (mem == NULL)
        return;
    free(mem->policy_options);
    for (uint32_t i = 0; i < mem->n_partitions; i++)
        mem_events_free(&mem->partitions[i].events);
    for (uint32_t i = 0; mem->n_partitions && i < mem->n_sms; i++)
        mem_events_free(&mem->sms[i].events);
    for (uint32_t i = 0; i < mem->n_outboxes; i++) {
        mem_outbox_free(&mem->to_sms[i]);
        mem_outbox_free(&mem->to_partitions[i]);
    }
    free(mem->to_sms);
    free(mem->to_partitions);
    struct base_arena arena = mem->arena;
    base_arena_free(&arena);
}

static enum mem_answer access_perfect(struct mem *mem, uint32_t sm, uint64_t cycle, enum mem_kind kind,
                                      uint64_t *ready) {
    struct stats_mem *counters = &mem->sms[sm].counters;
    *ready = cycle + (kind == MEM_FETCH ? mem->machine->icache.latency_cycles : mem->machine->l1.cache.latency_cycles);
    if (kind == MEM_FETCH) {
        counters->icache_accesses++;
    } else if (kind == MEM_ATOMIC) {
        counters->atomics++;
    } else {
        counters->l1_accesses++;
        counters->l1_writes += kind == MEM_WRITE;
    }
    return MEM_HIT;
}

enum mem_answer mem_access(struct mem *mem, uint32_t sm, uint64_t cycle, enum mem_kind kind, uint64_t line,
                           uint32_t bytes, uint32_t token, uint64_t *ready) {
    assert(sm < mem->n_sms);
    if (mem->machine->memory.is_perfect)
        return access_perfect(mem, sm, cycle, kind, ready);
    return mem_l1_access(mem, sm, cycle, kind, line, bytes, token, ready);
}

uint64_t *mem_only_port(struct mem *mem, uint32_t sm) {
    struct mem_sm *unit = &mem->sms[sm];
    bool has_one = !mem->machine->memory.is_perfect && unit->data.level != MEM_ABSENT && unit->data.has_ports &&
                   unit->data.banks == 1;
    return has_one ? &unit->counters.port_conflicts : NULL;
}

void mem_refuse_fetches(struct mem *mem, uint32_t sm, uint32_t n) { mem->sms[sm].counters.mshr_full += n; }

static void handle(struct mem *mem, struct mem_event *event, uint64_t cycle) {
    struct mem_message *message = &event->message;
    switch ((enum mem_event_kind)event->kind) {
    case MEM_EVENT_BANK_ARRIVE:
        mem_crossbar_at_bank(mem, message, cycle);
        break;
    case MEM_EVENT_BANK_SERVE:
        mem_bank_serve(mem, &mem->banks[message->unit], cycle);
        break;
    case MEM_EVENT_BANK_RETRY:
        mem_bank_retry(mem, &mem->banks[message->unit], cycle);
        break;
    case MEM_EVENT_BANK_SEND:
        mem_crossbar_to_sm(mem, message, cycle);
        break;
    case MEM_EVENT_SM_ARRIVE:
        mem_crossbar_at_sm(mem, message, cycle);
        break;
    case MEM_EVENT_SM_CREDIT:
        mem_l1_credit(mem, &mem->sms[message->sm], message->type == MEM_MSG_PUT, cycle);
        break;
    case MEM_EVENT_SM_STORES:
        mem_l1_send_stores(mem, &mem->sms[message->sm], cycle);
        break;
    case MEM_EVENT_DRAM_ENTER:
        mem_dram_add(mem, &mem->banks[message->unit], message->token, MEM_MSG_READ, message->flags, mem->line_bytes,
                     cycle);
        break;
    case MEM_EVENT_DRAM_DATA:
        mem_dram_data(mem, message, cycle);
        break;
    case MEM_EVENT_DRAM_DONE:
        mem_bank_filled(mem, &mem->banks[message->unit], message->token, cycle);
        break;
    }
}

const uint64_t *mem_sm_clock(const struct mem *mem, uint32_t sm) {
    static const uint64_t never = MEM_NEVER;
    return mem->n_partitions ? &mem->sms[sm].events.next : &never;
}

void mem_sm_advance(struct mem *mem, uint32_t sm, uint64_t cycle) {
    struct mem_events *events = &mem->sms[sm].events;
    struct mem_message tail;
    struct mem_event event;
    for (uint64_t now; (now = events->next) <= cycle && now != MEM_NEVER;) {
        mem_events_move(events, now);
        while (mem_events_take_tail(events, &tail))
            mem_l1_receive(mem, &mem->sms[sm], &tail, now);
        while (mem_events_take(events, &event))
            handle(mem, &event, now);
    }
    if (cycle != MEM_NEVER)
        mem_events_move(events, cycle);
}

uint32_t mem_partitions(const struct mem *mem) { return mem->n_partitions; }

uint64_t mem_partition_next(const struct mem *mem, uint32_t i) {
    const struct mem_partition *partition = &mem->partitions[i];
    return partition->events.next < partition->dram_next ? partition->events.next : partition->dram_next;
}

/* Handles all events of a cycle, then lets the channels look at their queues, which may add events to the same cycle.
 */
void mem_partition_advance(struct mem *mem, uint32_t i, uint64_t cycle) {
    struct mem_partition *partition = &mem->partitions[i];
    struct mem_event event;
    for (uint64_t now; (now = mem_partition_next(mem, i)) <= cycle && now != MEM_NEVER;) {
        if (partition->events.next == now) {
            mem_events_move(&partition->events, now);
            while (mem_events_take(&partition->events, &event))
                handle(mem, &event, now);
        }
        if (partition->dram_next == now)
            mem_dram_run(mem, partition, now);
    }
    if (cycle != MEM_NEVER)
        mem_events_move(&partition->events, cycle);
}

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* --- several host threads --- */

uint32_t mem_quantum(const struct mem *mem) { return (uint32_t)(mem->crossbar_ticks >> MEM_TICK_BITS); }

static void add_outboxes(struct mem *mem, uint32_t n) {
    struct mem_outbox *to_sms = base_allocate_aligned(n * sizeof *to_sms);
    struct mem_outbox *to_partitions = base_allocate_aligned(n * sizeof *to_partitions);
    for (uint32_t i = 0; i < n; i++) {
        bool exists = i < mem->n_outboxes;
        if (exists) {
            to_sms[i] = mem->to_sms[i];
            to_partitions[i] = mem->to_partitions[i];
        } else {
            mem_outbox_init(&to_sms[i], mem->n_sms);
            mem_outbox_init(&to_partitions[i], mem->n_partitions);
        }
    }
    free(mem->to_sms);
    free(mem->to_partitions);
    mem->to_sms = to_sms;
    mem->to_partitions = to_partitions;
    mem->n_outboxes = n;
}

void mem_use_mail(struct mem *mem, uint32_t n_threads, uint64_t *round) {
    if (!mem->n_outboxes)
        mem->last_round = 2; /* empty boxes are of round 0, which is neither this one nor the one before */
    if (mem->n_outboxes < n_threads)
        add_outboxes(mem, n_threads);
    mem->n_threads = n_threads;
    mem->has_mail = true;
    mem->round = round;
    *round = mem->last_round;
    for (uint32_t i = 0; i < mem->n_partitions; i++)
        mem_partition_send_from(mem, i, 0);
    for (uint32_t i = 0; i < mem->n_sms; i++)
        mem_sm_send_from(mem, i, 0);
}

void mem_exchange(struct mem *mem) { ++*mem->round; }

void mem_sm_send_from(struct mem *mem, uint32_t sm, uint32_t thread) {
    mem->sms[sm].outbox = &mem->to_partitions[thread];
}

void mem_partition_send_from(struct mem *mem, uint32_t partition, uint32_t thread) {
    mem->partitions[partition].outbox = &mem->to_sms[thread];
}

void mem_sm_prefetch_mail(const struct mem *mem, uint32_t sm) {
    for (uint32_t i = 0; i < mem->n_threads; i++)
        mem_outbox_prefetch(&mem->to_sms[i], *mem->round - 1, sm);
}

void mem_partition_prefetch_mail(const struct mem *mem, uint32_t partition) {
    for (uint32_t i = 0; i < mem->n_threads; i++)
        mem_outbox_prefetch(&mem->to_partitions[i], *mem->round - 1, partition);
}

void mem_sm_collect(struct mem *mem, uint32_t sm) {
    for (uint32_t i = 0; i < mem->n_threads; i++)
        mem_outbox_collect(&mem->to_sms[i], *mem->round - 1, sm, &mem->sms[sm].events);
}

void mem_partition_collect(struct mem *mem, uint32_t partition) {
    for (uint32_t i = 0; i < mem->n_threads; i++)
        mem_outbox_collect(&mem->to_partitions[i], *mem->round - 1, partition, &mem->partitions[partition].events);
}

uint64_t mem_sm_mail(const struct mem *mem, uint32_t sm, uint64_t *partitions) {
    return mem_outbox_receivers(mem->sms[sm].outbox, *mem->round, partitions);
}

uint64_t mem_partition_mail(const struct mem *mem, uint32_t partition, uint64_t *sms) {
    return mem_outbox_receivers(mem->partitions[partition].outbox, *mem->round, sms);
}

void mem_end_mail(struct mem *mem) {
    if (!mem->has_mail)
        return;
    mem->has_mail = false;
    mem->last_round = *mem->round;
    for (uint64_t round = mem->last_round - 1; round <= mem->last_round;
         round++) /* not yet collected, then not yet exchanged */
        for (uint32_t k = 0; k < mem->n_threads; k++) {
            for (uint32_t i = 0; i < mem->n_sms; i++)
                mem_outbox_collect(&mem->to_sms[k], round, i, &mem->sms[i].events);
            for (uint32_t i = 0; i < mem->n_partitions; i++)
                mem_outbox_collect(&mem->to_partitions[k], round, i, &mem->partitions[i].events);
        }
    mem->last_round += 2; /* so that they are not collected again */
}

/* --- all at once --- */

uint64_t mem_next_event(const struct mem *mem) {
    uint64_t next = MEM_NEVER;
    assert(!mem->has_mail);
    for (uint32_t i = 0; i < mem->n_partitions; i++)
        next = earlier(next, mem_partition_next(mem, i));
    for (uint32_t i = 0; mem->n_partitions && i < mem->n_sms; i++)
        next = earlier(next, mem->sms[i].events.next);
    return next;
}

/* Advances each cycle first in the partitions, then in the SMs. Without latency, packets that SMs send may belong to
 * the same cycle. */
void mem_advance(struct mem *mem, uint64_t cycle) {
    uint32_t n_sms = mem->n_partitions ? mem->n_sms : 0;
    assert(!mem->has_mail);
    for (uint64_t now; (now = mem_next_event(mem)) <= cycle && now != MEM_NEVER;) {
        for (uint32_t i = 0; i < mem->n_partitions; i++)
            if (mem_partition_next(mem, i) <= now)
                mem_partition_advance(mem, i, now);
        for (uint32_t i = 0; i < n_sms; i++)
            if (mem->sms[i].events.next <= now)
                mem_sm_advance(mem, i, now);
    }
}

static bool can_resize(const struct mem *mem) {
    return mem->machine->unified.is_present && has_tags(&mem->machine->l1.cache) && !mem->machine->memory.is_perfect;
}

void mem_flush_l1_of(struct mem *mem, uint32_t i, uint64_t cycle) {
    struct mem_sm *sm = &mem->sms[i];
    if (mem->machine->memory.is_perfect)
        return;
    mem_texture_flush(sm);
    bool is_empty = sm->flushed_stamp == sm->data.cache.stamp && sm->flush_slot == mem_cache_slots(&sm->data.cache);
    if (!mem->is_coherent && !is_empty) { /* is_empty: no line has come since the last flush */
        sm->flushed_stamp = sm->data.cache.stamp;
        sm->flush_slot = 0;
        mem_l1_flush(mem, sm, cycle);
    }
    if (can_resize(mem))
        mem_l1_resize(sm, mem->machine->l1.cache.size_bytes);
}

bool mem_flushes_apart(const struct mem *mem) { return mem->n_sms && !mem->sms[0].data.is_write_back; }

void mem_flush_l1(struct mem *mem, uint64_t cycle) {
    for (uint32_t i = 0; i < mem->n_sms; i++)
        mem_flush_l1_of(mem, i, cycle);
}

void mem_resize_l1(struct mem *mem, uint32_t bytes) {
    for (uint32_t i = 0; can_resize(mem) && i < mem->n_sms; i++)
        mem_l1_resize(&mem->sms[i], bytes);
}

const struct stats_mem *mem_counters(const struct mem *mem) {
    *mem->sum = (struct stats_mem){0};
    for (uint32_t i = 0; i < mem->n_partitions; i++)
        stats_merge_mem(mem->sum, &mem->partitions[i].counters);
    for (uint32_t i = 0; i < mem->n_sms; i++)
        stats_merge_mem(mem->sum, &mem->sms[i].counters);
    return mem->sum;
}

const struct stats_mem *mem_sm_counters(const struct mem *mem, uint32_t sm) { return &mem->sms[sm].counters; }

uint32_t mem_channel_busy(const struct mem *mem, const uint64_t **busy_cycles) {
    for (uint32_t i = 0; i < mem->n_channels; i++)
        mem->busy_cycles[i] = mem->channels[i].busy_cycles;
    *busy_cycles = mem->busy_cycles;
    return mem->n_channels;
}

void mem_name_access(struct mem *mem, uint32_t sm, uint32_t pc, bool is_critical) {
    struct mem_cacp *cacp = mem->sms[sm].data.cacp;
    if (!cacp)
        return;
    cacp->pc = pc;
    cacp->is_critical = is_critical;
}

bool mem_joins_stores(const struct mem *mem) { return mem->sms[0].stores.capacity > 0; }

void mem_name_store(struct mem *mem, uint32_t sm, uint32_t written) { mem->sms[sm].stores.written = written; }

uint32_t mem_mshrs_used(const struct mem *mem, uint32_t sm) { return mem->sms[sm].data.mshrs.lines.n_used; }

uint32_t mem_mshrs(const struct mem *mem) { return mem->sms[0].data.mshrs.lines.n; }

uint32_t mem_credits_left(const struct mem *mem, uint32_t sm) { return mem->sms[sm].credits; }

bool mem_has_unanswered(const struct mem *mem) {
    for (uint32_t i = 0; mem->n_partitions && i < mem->n_sms; i++)
        if (mem->sms[i].credits < mem->machine->crossbar.credits || mem->sms[i].stores.n ||
            mem->sms[i].atomics < mem->machine->crossbar.atomics)
            return true;
    return false;
}

uint32_t mem_l1_lines(const struct mem *mem, uint32_t sm, uint32_t *ways) {
    const struct mem_l1 *l1 = &mem->sms[sm].data;
    bool has_lines = l1->level == MEM_TAGGED;
    *ways = has_lines ? l1->cache.ways : 0;
    return has_lines ? mem_cache_slots(&l1->cache) : 0;
}

uint32_t mem_channel_waiting(const struct mem *mem, uint32_t channel) {
    return mem->channels[channel].n_queue + mem->channels[channel].n_backlog;
}
