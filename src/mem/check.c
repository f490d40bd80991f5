/* Checks the invariants of the memory system, for tests, and describes everything in flight, for the watchdog. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "mem/internal.h"

struct finding {
    char *text;
    uint32_t size;
};

__attribute__((format(printf, 2, 3))) static bool broken(const struct finding *finding, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->text, finding->size, format, arguments);
    va_end(arguments);
    return false;
}

static bool check_tags(const struct finding *finding, const char *name, uint32_t id, const struct mem_cache *cache) {
    for (uint32_t slot = 0; slot < mem_cache_slots(cache); slot++) {
        uint64_t line = cache->lines[slot];
        if (line == MEM_NO_LINE)
            continue;
        if (cache->state[slot] == MEM_INVALID)
            return broken(finding, "%s %u: line %" PRIu64 " has no state", name, id, line);
        if (mem_cache_find(cache, line) != slot)
            return broken(finding, "%s %u: line %" PRIu64 " is stored twice or in a wrong set", name, id, line);
    }
    return true;
}

static bool check_l1(const struct finding *finding, const struct mem *mem, const struct mem_sm *sm) {
    const struct mem_l1 *l1 = &sm->data;
    uint32_t n_waiters = 0;
    for (uint32_t id = 0; id < l1->mshrs.lines.n; id++) {
        if (l1->mshrs.lines.line[id] == MEM_NO_LINE)
            continue;
        if (l1->mshrs.mshr[id].n_waiters == 0 || l1->mshrs.mshr[id].n_waiters > l1->mshrs.merges)
            return broken(finding, "SM %u: MSHR %u has %u waiters", sm->id, id, l1->mshrs.mshr[id].n_waiters);
        n_waiters += l1->mshrs.mshr[id].n_waiters;
    }
    for (uint32_t i = l1->mshrs.free_waiter; l1->mshrs.lines.n > 0 && i != MEM_NONE; i = l1->mshrs.waiters[i].next)
        n_waiters++;
    if (n_waiters != l1->mshrs.n_touched || n_waiters > l1->mshrs.most_waiters)
        return broken(finding, "SM %u: waiters leak", sm->id);
    if (l1->n_writebacks > 4 * l1->mshrs.lines.n || sm->credits > mem->machine->crossbar.credits)
        return broken(finding, "SM %u: %u write-backs, %u credits", sm->id, l1->n_writebacks, sm->credits);
    return check_tags(finding, "L1", sm->id, &l1->cache) && check_tags(finding, "I-cache", sm->id, &sm->code.cache) &&
           check_tags(finding, "texture cache", sm->id, &sm->texture.cache);
}

/* The directory knows every copy in an L1, or is recalling it. */
static bool check_copy(const struct finding *finding, const struct mem *mem, const struct mem_sm *sm, uint32_t slot) {
    uint64_t line = sm->data.cache.lines[slot], me = UINT64_C(1) << sm->id;
    bool may_write = sm->data.cache.state[slot] != MEM_SHARED;
    const struct mem_bank *bank = &mem->banks[mem_bank_of(mem, line)];
    uint32_t home = mem_cache_find(&bank->cache, line), entry = mem_lines_find(&bank->lines, line);
    if (home == MEM_NONE) {
        if (entry == MEM_NONE || bank->entry[entry].state != MEM_ENTRY_RECALL)
            return broken(finding, "line %" PRIu64 ": SM %u has a copy and the L2 does not", line, sm->id);
    } else if (may_write ? bank->owner[home] != sm->id : (mem_directory_copies(bank, home) & me) == 0) {
        return broken(finding, "line %" PRIu64 ": the directory does not know the copy of SM %u", line, sm->id);
    }
    for (uint32_t i = 0; may_write && i < mem->n_sms; i++)
        if (i != sm->id && mem_cache_find(&mem->sms[i].data.cache, line) != MEM_NONE)
            return broken(finding, "line %" PRIu64 ": SM %u may write it and SM %u has a copy", line, sm->id, i);
    return true;
}

static bool check_bank(const struct finding *finding, const struct mem *mem, const struct mem_bank *bank) {
    uint32_t n_fetches = 0, n_fills = 0, n_used = 0;
    for (uint32_t entry = 0; entry < bank->lines.n; entry++) {
        if (bank->lines.line[entry] == MEM_NO_LINE)
            continue;
        n_used++;
        n_fetches += bank->entry[entry].state == MEM_ENTRY_FETCH || bank->entry[entry].state == MEM_ENTRY_FILL;
        n_fills += bank->entry[entry].state == MEM_ENTRY_FILL;
    }
    if (n_fetches != bank->n_fetches || n_fills != bank->n_fills_waiting || n_used != bank->lines.n_used)
        return broken(finding, "bank %u: entries are miscounted", bank->id);
    for (uint32_t slot = 0; mem->is_coherent && slot < mem_cache_slots(&bank->cache); slot++) {
        uint64_t line = bank->cache.lines[slot];
        if (line != MEM_NO_LINE && bank->cache.is_pinned[slot] && mem_lines_find(&bank->lines, line) == MEM_NONE)
            return broken(finding, "bank %u: line %" PRIu64 " is pinned without an entry", bank->id, line);
        if (line != MEM_NO_LINE && bank->owner[slot] != MEM_NO_OWNER && bank->sharers[slot] != 0)
            return broken(finding, "bank %u: line %" PRIu64 " has an owner and sharers", bank->id, line);
    }
    return check_tags(finding, "bank", bank->id, &bank->cache);
}

/* When no event is pending, no resource may be in use. */
static bool check_rest(const struct finding *finding, const struct mem *mem) {
    if (mem_next_event(mem) != MEM_NEVER)
        return true;
    for (uint32_t i = 0; i < mem->n_sms; i++) {
        const struct mem_sm *sm = &mem->sms[i];
        uint32_t n_misses = sm->data.mshrs.lines.n_used + sm->code.mshrs.lines.n_used + sm->texture.mshrs.lines.n_used;
        if (n_misses + sm->data.n_writebacks > 0 || sm->credits != mem->machine->crossbar.credits ||
            sm->atomics != mem->machine->crossbar.atomics)
            return broken(finding, "SM %u waits, but nothing is in flight", i);
    }
    for (uint32_t i = 0; i < mem->n_banks; i++)
        if (mem->banks[i].lines.n_used + mem->banks[i].requests.n + mem->banks[i].stores.n + mem->banks[i].responses.n >
            0)
            return broken(finding, "bank %u waits, but nothing is in flight", i);
    for (uint32_t i = 0; i < mem->n_channels; i++)
        if (mem->channels[i].n_backlog + mem->channels[i].n_queue > 0)
            return broken(finding, "channel %u waits, but nothing is in flight", i);
    return true;
}

bool mem_check_invariants(const struct mem *mem, char *text, uint32_t size) {
    const struct finding finding = {text, size};
    if (mem->machine->memory.is_perfect)
        return true;
    for (uint32_t i = 0; i < mem->n_sms; i++) {
        const struct mem_cache *cache = &mem->sms[i].data.cache;
        if (!check_l1(&finding, mem, &mem->sms[i]))
            return false;
        for (uint32_t slot = 0; mem->is_coherent && slot < mem_cache_slots(cache); slot++)
            if (cache->lines[slot] != MEM_NO_LINE && !check_copy(&finding, mem, &mem->sms[i], slot))
                return false;
    }
    for (uint32_t i = 0; i < mem->n_banks; i++)
        if (!check_bank(&finding, mem, &mem->banks[i]))
            return false;
    return check_rest(&finding, mem);
}

struct writer {
    void (*line)(void *user, const char *text);
    void *user;
};

__attribute__((format(printf, 2, 3))) static void say(const struct writer *writer, const char *format, ...) {
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    writer->line(writer->user, text);
}

static void describe_l1(const struct writer *writer, const struct mem_sm *sm, const struct mem_l1 *l1) {
    for (uint32_t id = 0; id < l1->mshrs.lines.n; id++)
        if (l1->mshrs.lines.line[id] != MEM_NO_LINE)
            say(writer, "SM %u %s: %u accesses wait for line 0x%" PRIx64 " (%s)", sm->id,
                l1->flag == MEM_FLAG_CODE      ? "I-cache"
                : l1->flag == MEM_FLAG_TEXTURE ? "texture cache"
                                               : "L1",
                l1->mshrs.mshr[id].n_waiters, l1->mshrs.lines.line[id] << l1->line_shift,
                l1->mshrs.mshr[id].message_type == MEM_MSG_OWN ? "to write" : "to read");
}

static void describe_bank(const struct writer *writer, const struct mem *mem, const struct mem_bank *bank) {
    static const char *const states[] = {[MEM_ENTRY_FETCH] = "waits for DRAM",
                                         [MEM_ENTRY_FILL] = "waits for a free way",
                                         [MEM_ENTRY_COLLECT] = "waits for L1s",
                                         [MEM_ENTRY_RECALL] = "leaves, waits for L1s",
                                         [MEM_ENTRY_WRITEBACK] = "waits for the DRAM queue",
                                         [MEM_ENTRY_PASS] = "waits for DRAM"};
    if (bank->requests.n + bank->stores.n + bank->responses.n > 0)
        say(writer, "bank %u: %u requests%s, %u responses", bank->id, bank->requests.n + bank->stores.n,
            bank->is_blocked || bank->are_stores_blocked ? " (blocked)" : "", bank->responses.n);
    for (uint32_t entry = 0; entry < bank->lines.n; entry++)
        if (bank->lines.line[entry] != MEM_NO_LINE)
            say(writer, "bank %u: line 0x%" PRIx64 " %s; %u requests, %u answers missing", bank->id,
                bank->lines.line[entry] << mem->line_shift, states[bank->entry[entry].state],
                bank->entry[entry].n_waiters, bank->entry[entry].n_acks);
}

void mem_describe(const struct mem *mem, void (*line)(void *user, const char *text), void *user) {
    const struct writer writer = {line, user};
    if (mem_next_event(mem) == MEM_NEVER)
        say(&writer, "memory: nothing is in flight");
    else
        say(&writer, "memory: next event in cycle %" PRIu64, mem_next_event(mem));
    for (uint32_t i = 0; !mem->machine->memory.is_perfect && i < mem->n_sms; i++) {
        const struct mem_sm *sm = &mem->sms[i];
        describe_l1(&writer, sm, &sm->data);
        describe_l1(&writer, sm, &sm->code);
        describe_l1(&writer, sm, &sm->texture);
        uint32_t n_sent = mem->machine->crossbar.credits + mem->machine->crossbar.atomics - sm->credits - sm->atomics;
        if (sm->stores.n)
            say(&writer, "SM %u: stores to %u lines wait for the link", i, sm->stores.n);
        if (n_sent > 0 || sm->data.n_writebacks > 0)
            say(&writer, "SM %u: %u stores, atomics and uncached reads, %u write-backs in flight", i, n_sent,
                sm->data.n_writebacks);
    }
    for (uint32_t i = 0; i < mem->n_banks; i++)
        describe_bank(&writer, mem, &mem->banks[i]);
    for (uint32_t i = 0; i < mem->n_channels; i++)
        if (mem->channels[i].n_queue + mem->channels[i].n_backlog > 0)
            say(&writer, "channel %u: %u requests queued, %u wait for a place", i, mem->channels[i].n_queue,
                mem->channels[i].n_backlog);
}
