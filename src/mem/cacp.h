/* Criticality-aware cache prioritisation, a replacement policy of the L1 data cache; see cacp.c. */
#pragma once

#include "base/arena.h"
#include "mem/cache.h"

enum { MEM_CACP_SIGNATURES = 256 };

struct mem_cacp {
    uint32_t share; /* percent of the ways for lines of critical warps */
    /* The access that the cache serves now. */
    uint32_t pc;
    bool is_critical;
    /* By signature: whether critical warps will use a line, and whether any will; saturating counters of two bits. */
    uint8_t critical_use[MEM_CACP_SIGNATURES], any_use[MEM_CACP_SIGNATURES];
    /* By slot of the cache. */
    uint8_t *distance;  /* predicted distance of the next use, 0 (near) to 3 */
    uint8_t *signature; /* of the access that brought the line */
    uint8_t *uses;      /* since then: enum mem_cacp_use */
};

enum mem_cacp_use { MEM_USED_BY_CRITICAL = 1, MEM_USED_BY_OTHERS = 2 };

void mem_cacp_init(struct mem_cacp *cacp, struct base_arena *arena, uint32_t n_slots, uint32_t share);

/* Returns the signature of the access that the cache serves now. */
static inline uint8_t mem_cacp_signature(const struct mem_cacp *cacp, uint64_t address) {
    enum { REGION_SHIFT = 12 };
    return (uint8_t)(cacp->pc ^ address >> REGION_SHIFT);
}

/* The access hits the line in the slot. */
void mem_cacp_hit(struct mem_cacp *cacp, uint32_t slot);
/* Returns the slot for a line with this signature, as mem_cache_victim() does. */
uint32_t mem_cacp_victim(struct mem_cacp *cacp, const struct mem_cache *cache, uint64_t line, uint8_t signature);
/* The line in the slot leaves because another one needs its place. */
void mem_cacp_evict(struct mem_cacp *cacp, const struct mem_cache *cache, uint32_t slot);
/* A line takes the slot. */
void mem_cacp_put(struct mem_cacp *cacp, uint32_t slot, uint8_t signature);
