/* Criticality-aware cache prioritisation: lines that critical warps will use again have ways of their own, so that
 * other warps do not evict them.
 *
 * Source: Lee, Arunkumar and Wu, CAWA: Coordinated Warp Scheduling and Cache Prioritization for Critical Warp
 * Acceleration of GPGPU Workloads, ISCA 2015. The scheduler says which warps are critical (sched_ops.is_critical).
 * - The first ways of each set, `cacp.share` (50) percent, are for lines that critical warps will use. The others are
 * for all other lines.
 * - A line has the signature of the access that brought it: 8 bits of its pc, xor 8 bits of its address.
 * - Two tables of 2-bit counters predict by signature whether critical warps will use a line (at least 2), and whether
 *   any warp will. A use by a critical warp increments both, a use by another one only the second.
 * - A line that leaves the ways of critical warps, and that only other warps have used, decrements the first. A line
 * that leaves unused decrements the second.
 * - Within its ways, SRRIP chooses the victim: 2 bits for each line predict the distance of its next use. A use sets 0.
 * A new line starts with 3 if its signature is not expected to be used, otherwise with 2. The victim has 3. If none
 *   has, all distances grow.
 *
 * A public GPGPU-Sim fork confirms the shares, the signature's 8 bits, both tables and their updates. It leaves SRRIP
 * out.
 *
 * Left open by the paper:
 * - The signature uses the number of the address's region of 4 KiB.
 * - Counters start with 0 (critical use) and 1 (any use).
 * - Lines that are invalidated or flushed teach nothing. A miss that waits for the same line is no use.
 * - An L1 with one way has no share for critical lines. */
#include "mem/cacp.h"

enum { MOST = 3, EXPECTED = 2, LONG = 2, DISTANT = 3 };

void mem_cacp_init(struct mem_cacp *cacp, struct base_arena *arena, uint32_t n_slots, uint32_t share) {
    cacp->share = share;
    cacp->distance = BASE_ARENA_ARRAY(arena, uint8_t, n_slots);
    cacp->signature = BASE_ARENA_ARRAY(arena, uint8_t, n_slots);
    cacp->uses = BASE_ARENA_ARRAY(arena, uint8_t, n_slots);
    for (int i = 0; i < MEM_CACP_SIGNATURES; i++)
        cacp->any_use[i] = 1;
}

static void increment(uint8_t *counter) { *counter = (uint8_t)(*counter + (*counter < MOST)); }

static void decrement(uint8_t *counter) { *counter = (uint8_t)(*counter - (*counter > 0)); }

/* Returns the ways of a set for lines of critical warps: at least one, and not all. */
static uint32_t critical_ways(const struct mem_cacp *cacp, const struct mem_cache *cache) {
    uint32_t ways = (uint32_t)((uint64_t)cache->ways * cacp->share / 100);
    return ways == 0 ? 1 : ways >= cache->ways ? cache->ways - 1 : ways;
}

void mem_cacp_hit(struct mem_cacp *cacp, uint32_t slot) {
    uint8_t signature = cacp->signature[slot];
    if (cacp->is_critical)
        increment(&cacp->critical_use[signature]);
    increment(&cacp->any_use[signature]);
    cacp->uses[slot] |= cacp->is_critical ? MEM_USED_BY_CRITICAL : MEM_USED_BY_OTHERS;
    cacp->distance[slot] = 0;
}

uint32_t mem_cacp_victim(struct mem_cacp *cacp, const struct mem_cache *cache, uint64_t line, uint8_t signature) {
    uint32_t set = mem_cache_set(cache, line) * cache->ways, n_critical = critical_ways(cacp, cache);
    bool is_critical = cacp->critical_use[signature] >= EXPECTED;
    uint32_t first = set + (is_critical || cache->ways == 1 ? 0 : n_critical);
    uint32_t end = set + (is_critical && cache->ways > 1 ? n_critical : cache->ways), best = MEM_NONE;
    for (uint32_t slot = first; slot < end; slot++) {
        if (cache->lines[slot] == MEM_NO_LINE)
            return slot;
        if (!cache->is_pinned[slot] && (best == MEM_NONE || cacp->distance[slot] > cacp->distance[best]))
            best = slot;
    }
    uint8_t growth = best == MEM_NONE ? 0 : (uint8_t)(DISTANT - cacp->distance[best]);
    for (uint32_t slot = first; slot < end && growth; slot++)
        if (!cache->is_pinned[slot])
            cacp->distance[slot] = (uint8_t)(cacp->distance[slot] + growth);
    return best;
}

void mem_cacp_evict(struct mem_cacp *cacp, const struct mem_cache *cache, uint32_t slot) {
    uint8_t signature = cacp->signature[slot];
    bool is_protected = cache->ways > 1 && slot % cache->ways < critical_ways(cacp, cache);
    if (is_protected && cacp->uses[slot] == MEM_USED_BY_OTHERS)
        decrement(&cacp->critical_use[signature]);
    if (cacp->uses[slot] == 0)
        decrement(&cacp->any_use[signature]);
}

void mem_cacp_put(struct mem_cacp *cacp, uint32_t slot, uint8_t signature) {
    cacp->signature[slot] = signature;
    cacp->uses[slot] = 0;
    cacp->distance[slot] = cacp->any_use[signature] ? LONG : DISTANT;
}
