/* Checks whether a machine's memory can be built: rules that involve several options and so do not fit into the range
 * of one option. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "mem/internal.h"

struct report {
    char *text;
    uint32_t size;
};

__attribute__((format(printf, 2, 3))) static bool wrong(const struct report *report, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->text, report->size, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_power_of_two(uint32_t n) { return n > 0 && (n & (n - 1)) == 0; }

uint32_t mem_line_bytes(const struct config_machine *machine) {
    if (machine->l2.cache.is_present)
        return machine->l2.cache.line_bytes;
    uint32_t longest = machine->l1.cache.line_bytes;
    if (machine->icache.is_present && machine->icache.line_bytes > longest)
        longest = machine->icache.line_bytes;
    if (machine->texture.is_present && machine->texture.line_bytes > longest)
        longest = machine->texture.line_bytes;
    return longest;
}

static bool check_cache(const struct report *report, const char *name, const struct config_cache *cache,
                        uint32_t banks) {
    if (!cache->is_present)
        return true;
    if (!is_power_of_two(cache->line_bytes) || cache->line_bytes < 16 || cache->line_bytes > MEM_MAX_LINE_BYTES)
        return wrong(report, "%s.line is %u, but must be a power of two from 16 to %d", name, cache->line_bytes,
                     MEM_MAX_LINE_BYTES);
    if (cache->is_perfect)
        return true;
    if (cache->ways == 0 || cache->size_bytes / cache->line_bytes / cache->ways / banks == 0)
        return wrong(report, "%s.size is %u, but must hold a set of %u ways of %u bytes in each of %u banks", name,
                     cache->size_bytes, cache->ways, cache->line_bytes, banks);
    if (cache->mshrs == 0 || cache->mshr_merges == 0)
        return wrong(report, "%s.mshrs and %s.mshr_merges must be at least 1", name, name);
    return true;
}

static bool check_coherence(const struct report *report, const struct config_machine *machine) {
    const struct config_cache *l1 = &machine->l1.cache, *l2 = &machine->l2.cache;
    if (machine->memory.coherence == CONFIG_COHERENCE_NONE)
        return true;
    if (!l1->is_present || l1->is_perfect || machine->l1.writes.policy != CONFIG_WRITE_BACK ||
        !machine->l1.writes.allocates)
        return wrong(report, "memory.coherence is mesi, but needs l1.write back and l1.write_allocate true");
    if (!l2->is_present || l2->is_perfect)
        return wrong(report, "memory.coherence is mesi, but needs an L2 for its directory");
    if (machine->sm.count > MEM_MAX_COHERENT_SMS)
        return wrong(report, "memory.coherence is mesi, but sm.count is %u and its directory has room for %d",
                     machine->sm.count, MEM_MAX_COHERENT_SMS);
    if (l1->line_bytes != l2->line_bytes)
        return wrong(report, "memory.coherence is mesi, but l1.line is %u and l2.line %u: they must be equal",
                     l1->line_bytes, l2->line_bytes);
    return true;
}

static bool check_tags(const struct report *report, const struct config_machine *machine) {
    const struct config_l1 *l1 = &machine->l1;
    uint32_t n = l1->tag_bytes / l1->cache.line_bytes;
    if (!is_power_of_two(l1->tag_bytes) || n == 0 || l1->cache.ways % n)
        return wrong(report, "l1.tag is %u, but must be a power of two of lines of %u, at most l1.ways of them",
                     l1->tag_bytes, l1->cache.line_bytes);
    return true;
}

static bool check_dram(const struct report *report, const struct config_dram *dram, uint32_t line_bytes) {
    if (dram->channels == 0 || dram->banks == 0 || dram->banks > UINT16_MAX || dram->queue_entries == 0)
        return wrong(report, "dram.channels, dram.banks and dram.queue must be at least 1");
    if (dram->row_bytes == 0 || dram->row_bytes % line_bytes != 0)
        return wrong(report, "dram.row is %u, but must be a multiple of a line's %u", dram->row_bytes, line_bytes);
    if (dram->row_conflict_cycles < dram->row_hit_cycles)
        return wrong(report, "dram.row_conflict is %u, but must not be below dram.row_hit, %u",
                     dram->row_conflict_cycles, dram->row_hit_cycles);
    return true;
}

bool mem_can_build(const struct config_machine *machine, char *text, uint32_t size) {
    const struct report report = {text, size};
    const struct config_cache *l1 = &machine->l1.cache, *l2 = &machine->l2.cache, *icache = &machine->icache;
    const struct config_cache *texture = &machine->texture;
    uint32_t l2_banks = l2->banks > 0 ? l2->banks : 1;
    uint32_t line_bytes = mem_line_bytes(machine);
    if (machine->sm.count == 0 || machine->sm.count > UINT16_MAX)
        return wrong(&report, "sm.count is %u, but must be from 1 to %d", machine->sm.count, UINT16_MAX);
    if (machine->memory.is_perfect)
        return true;
    if (l1->banks > MEM_MAX_L1_BANKS || icache->banks > MEM_MAX_L1_BANKS || texture->banks > MEM_MAX_L1_BANKS ||
        l2_banks > UINT16_MAX)
        return wrong(&report, "l1.banks, icache.banks and texture.banks must not be above %d, l2.banks not above %d",
                     MEM_MAX_L1_BANKS, UINT16_MAX);
    if (!check_cache(&report, "icache", icache, 1) || !check_cache(&report, "texture", texture, 1) ||
        !check_cache(&report, "l1", l1, 1) || !check_cache(&report, "l2", l2, l2_banks))
        return false;
    if (machine->l1.tag_bytes && !check_tags(&report, machine))
        return false;
    if (machine->slice.interleave_bytes % line_bytes)
        return wrong(&report, "slice.interleave is %u, but must be a multiple of a line's %u",
                     machine->slice.interleave_bytes, line_bytes);
    uint32_t interleave = machine->slice.interleave_bytes ? machine->slice.interleave_bytes : line_bytes;
    uint32_t access = machine->dram.access_bytes ? machine->dram.access_bytes : line_bytes;
    if (access % line_bytes || interleave % access)
        return wrong(&report,
                     "dram.access is %u, but must be a multiple of a line's %u that slice.interleave, %u, holds",
                     access, line_bytes, interleave);
    if (machine->dram.interleave_bytes % line_bytes)
        return wrong(&report, "dram.interleave is %u, but must be a multiple of a line's %u",
                     machine->dram.interleave_bytes, line_bytes);
    if (!is_power_of_two(l1->line_bytes) || l1->line_bytes < 16 || l1->line_bytes > line_bytes)
        return wrong(&report, "l1.line is %u, but must be a power of two from 16 to a memory line's %u", l1->line_bytes,
                     line_bytes);
    if (icache->is_present && icache->line_bytes > line_bytes)
        return wrong(&report, "icache.line is %u, but must not be above l2.line, %u", icache->line_bytes, line_bytes);
    if (machine->crossbar.store_lines &&
        (l1->line_bytes != 32 || line_bytes != 32 || machine->crossbar.sector_cycles == 0))
        return wrong(&report,
                     "crossbar.store_lines needs crossbar.sector_cycles, and l1.line and l2.line of 32, not %u "
                     "and %u",
                     l1->line_bytes, line_bytes);
    if (texture->is_present && texture->line_bytes > line_bytes)
        return wrong(&report, "texture.line is %u, but must not be above l2.line, %u", texture->line_bytes, line_bytes);
    if (l2->is_present && !l2->is_perfect && machine->l2.writes.policy != CONFIG_WRITE_BACK)
        return wrong(&report, "l2.write is through, but only an L2 that writes back can be built");
    const struct dram_policy *policy;
    void *options;
    if (!mem_parse_dram_policy(machine->rules, machine->dram.policy, &policy, &options, text, size))
        return false;
    free(options);
    return check_coherence(&report, machine) && check_dram(&report, &machine->dram, line_bytes);
}
