/* Saves and restores the state that the memory system keeps when nothing is in flight: the tags of its caches, the
 * directory, DRAM's open rows, and the time until which its links and buses are reserved. */
#include <assert.h>
#include <string.h>

#include "mem/internal.h"

/* Called once for each piece of that memory. */
typedef void visit_fn(void *user, void *at, size_t bytes);

static void walk_cache(struct mem_cache *cache, visit_fn *visit, void *user) {
    size_t slots = cache->lines ? mem_cache_slots(cache) : 0;
    visit(user, &cache->stamp, sizeof cache->stamp);
    visit(user, cache->lines, slots * sizeof *cache->lines);
    visit(user, cache->used, slots * sizeof *cache->used);
    visit(user, cache->state, slots * sizeof *cache->state);
}

static void walk_cacp(struct mem_cacp *cacp, size_t slots, visit_fn *visit, void *user) {
    visit(user, cacp->critical_use, sizeof cacp->critical_use);
    visit(user, cacp->any_use, sizeof cacp->any_use);
    visit(user, cacp->distance, slots);
    visit(user, cacp->signature, slots);
    visit(user, cacp->uses, slots);
}

static void walk_l1(struct mem_l1 *l1, visit_fn *visit, void *user) {
    assert(l1->mshrs.lines.n_used == 0 && l1->n_writebacks == 0);
    walk_cache(&l1->cache, visit, user);
    if (l1->cacp)
        walk_cacp(l1->cacp, mem_cache_slots(&l1->cache), visit, user);
    visit(user, &l1->port_cycle, sizeof l1->port_cycle);
    visit(user, &l1->ports_used, sizeof l1->ports_used);
}

static void walk_sm(struct mem_sm *sm, visit_fn *visit, void *user) {
    assert(sm->stores.n == 0);
    walk_l1(&sm->data, visit, user);
    walk_l1(&sm->code, visit, user);
    walk_l1(&sm->texture, visit, user);
    visit(user, &sm->in.free_ticks, sizeof sm->in.free_ticks);
    visit(user, &sm->out.free_ticks, sizeof sm->out.free_ticks);
}

static void walk_bank(const struct mem *mem, struct mem_bank *bank, visit_fn *visit, void *user) {
    size_t slots = bank->cache.lines ? mem_cache_slots(&bank->cache) : 0;
    assert(bank->lines.n_used == 0 && bank->requests.n + bank->stores.n == 0 && bank->responses.n == 0);
    walk_cache(&bank->cache, visit, user);
    if (mem->is_coherent) {
        visit(user, bank->sharers, slots * sizeof *bank->sharers);
        visit(user, bank->owner, slots * sizeof *bank->owner);
    }
    if (bank->halves)
        visit(user, bank->halves, slots * sizeof *bank->halves);
    if (bank->missing)
        visit(user, bank->missing, slots * sizeof *bank->missing);
    visit(user, &bank->in.free_ticks, sizeof bank->in.free_ticks);
    visit(user, &bank->out.free_ticks, sizeof bank->out.free_ticks);
    visit(user, &bank->free_cycle, sizeof bank->free_cycle);
    visit(user, &bank->store_free_cycle, sizeof bank->store_free_cycle);
    visit(user, &bank->rest, sizeof bank->rest);
    visit(user, &bank->was_store, sizeof bank->was_store);
}

static void walk_channel(const struct mem *mem, struct mem_channel *channel, visit_fn *visit, void *user) {
    assert(channel->n_queue == 0 && channel->n_backlog == 0);
    visit(user, channel->banks, mem->machine->dram.banks * sizeof *channel->banks);
    visit(user, &channel->issue_ticks, sizeof channel->issue_ticks);
    visit(user, &channel->bus_ticks, sizeof channel->bus_ticks);
    visit(user, &channel->busy_ticks, sizeof channel->busy_ticks);
}

static void walk(struct mem *mem, visit_fn *visit, void *user) {
    if (mem->machine->memory.is_perfect)
        return;
    assert(mem_next_event(mem) == MEM_NEVER);
    for (uint32_t i = 0; i < mem->n_sms; i++)
        walk_sm(&mem->sms[i], visit, user);
    for (uint32_t i = 0; i < mem->n_banks; i++)
        walk_bank(mem, &mem->banks[i], visit, user);
    for (uint32_t i = 0; mem->has_link && i < mem->n_partitions; i++) {
        visit(user, &mem->partitions[i].from_host.free_ticks, sizeof mem->partitions[i].from_host.free_ticks);
        visit(user, &mem->partitions[i].to_host.free_ticks, sizeof mem->partitions[i].to_host.free_ticks);
    }
    for (uint32_t i = 0; i < mem->n_channels; i++)
        walk_channel(mem, &mem->channels[i], visit, user);
}

static void save(void *user, void *at, size_t bytes) { base_bytes_put(user, at, bytes); }

static void load(void *user, void *at, size_t bytes) { base_bytes_take(user, at, bytes); }

void mem_save_contents(struct mem *mem, struct base_bytes *contents) { walk(mem, save, contents); }

void mem_load_contents(struct mem *mem, struct base_bytes *contents) { walk(mem, load, contents); }
