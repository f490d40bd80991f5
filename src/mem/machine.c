/* Which machines' memories can be built: what one option's range cannot say, because it concerns several. */
#include <stdarg.h>
#include <stdio.h>

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

static bool check_cache(const struct report *report, const char *name, const struct config_cache *cache,
                        uint32_t banks) {
    if (!cache->is_present)
        return true;
    if (!is_power_of_two(cache->line_bytes) || cache->line_bytes < 16 || cache->line_bytes > MEM_MAX_LINE_BYTES)
        return wrong(report, "%s.line: %u bytes; a power of two from 16 to %d is allowed", name, cache->line_bytes,
                     MEM_MAX_LINE_BYTES);
    if (cache->is_perfect)
        return true;
    if (cache->ways == 0 || cache->size_bytes / cache->line_bytes / cache->ways / banks == 0)
        return wrong(report, "%s.size: %u bytes do not hold one set of %u ways of %u bytes in each of %u banks", name,
                     cache->size_bytes, cache->ways, cache->line_bytes, banks);
    if (cache->mshrs == 0 || cache->mshr_merges == 0)
        return wrong(report, "%s.mshrs, %s.mshr_merges: both must be at least 1", name, name);
    if (cache->write == CONFIG_WRITE_THROUGH && cache->allocates_on_write)
        return wrong(report, "%s: a write-through cache does not allocate on writes", name);
    return true;
}

static bool check_coherence(const struct report *report, const struct config_machine *machine) {
    const struct config_cache *l1 = &machine->l1, *l2 = &machine->l2;
    if (machine->coherence == CONFIG_COHERENCE_NONE)
        return true;
    if (!l1->is_present || l1->is_perfect || l1->write != CONFIG_WRITE_BACK || !l1->allocates_on_write)
        return wrong(report, "coherence: mesi needs an L1 that writes back and allocates on writes");
    if (!l2->is_present || l2->is_perfect)
        return wrong(report, "coherence: mesi needs an L2 for its directory");
    if (machine->n_sms > MEM_MAX_COHERENT_SMS)
        return wrong(report, "coherence: mesi has room for %d SMs, not %u", MEM_MAX_COHERENT_SMS, machine->n_sms);
    return true;
}

static bool check_dram(const struct report *report, const struct config_dram *dram, uint32_t line_bytes) {
    if (dram->channels == 0 || dram->banks == 0 || dram->banks > UINT16_MAX || dram->queue_entries == 0)
        return wrong(report, "dram: at least one channel, one bank and one queue entry are needed");
    if (dram->row_bytes == 0 || dram->row_bytes % line_bytes != 0)
        return wrong(report, "dram.row: %u bytes are not a multiple of a line's %u", dram->row_bytes, line_bytes);
    if (dram->row_conflict_cycles < dram->row_hit_cycles)
        return wrong(report, "dram.row_conflict: %u cycles are fewer than a row hit's %u", dram->row_conflict_cycles,
                     dram->row_hit_cycles);
    return true;
}

bool mem_can_build(const struct config_machine *machine, char *text, uint32_t size) {
    const struct report report = {text, size};
    const struct config_cache *l1 = &machine->l1, *l2 = &machine->l2, *icache = &machine->icache;
    uint32_t l2_banks = l2->banks > 0 ? l2->banks : 1;
    uint32_t line_bytes = l2->is_present ? l2->line_bytes : l1->line_bytes;
    if (machine->n_sms == 0 || machine->n_sms > UINT16_MAX)
        return wrong(&report, "sms: 1 to %d are allowed, not %u", UINT16_MAX, machine->n_sms);
    if (machine->memory_is_perfect)
        return true;
    if (l1->banks > MEM_MAX_L1_BANKS || icache->banks > MEM_MAX_L1_BANKS || l2_banks > UINT16_MAX)
        return wrong(&report, "banks: an L1 or instruction cache has at most %d, an L2 at most %d", MEM_MAX_L1_BANKS,
                     UINT16_MAX);
    if (!check_cache(&report, "icache", icache, 1) || !check_cache(&report, "l1", l1, 1) ||
        !check_cache(&report, "l2", l2, l2_banks))
        return false;
    if (!is_power_of_two(line_bytes) || line_bytes < 16 || line_bytes > MEM_MAX_LINE_BYTES)
        return wrong(&report, "l1.line: %u bytes; a power of two from 16 to %d is allowed", line_bytes,
                     MEM_MAX_LINE_BYTES);
    if (l1->is_present && l1->line_bytes != line_bytes)
        return wrong(&report, "l1.line: %u bytes; the L2's lines have %u, and both must be equal", l1->line_bytes,
                     line_bytes);
    if (icache->is_present && icache->line_bytes > line_bytes)
        return wrong(&report, "icache.line: %u bytes are more than a memory line's %u", icache->line_bytes, line_bytes);
    if (l2->is_present && !l2->is_perfect && l2->write != CONFIG_WRITE_BACK)
        return wrong(&report, "l2.write: the L2 must be write-back");
    return check_coherence(&report, machine) && check_dram(&report, &machine->dram, line_bytes);
}
