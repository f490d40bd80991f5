/* Checks that the options of a machine fit together. Every message names the key, its value and a valid value. */
#include "config/config.h"

#include <inttypes.h>

#include "config/internal.h"

/* The destination of the message. */
struct report {
    char *text;
    size_t bytes;
};

#define FAIL(report, ...) config_error((report).text, (report).bytes, __VA_ARGS__)

static bool is_power_of_two(uint32_t value) { return value && (value & (value - 1)) == 0; }

static bool check_power(const char *group, const char *key, uint32_t value, struct report report) {
    return is_power_of_two(value) ||
           FAIL(report, "%s.%s is %" PRIu32 ", but must be a power of two", group, key, value);
}

/* ---- The SM ------------------------------------------------------------------------------------------------------ */

static bool check_warps(const struct config_machine *machine, struct report report) {
    uint32_t warps = machine->sm.threads / machine->sm.warp_size;
    if (machine->sm.warp_size % machine->sm.simd_width)
        return FAIL(report, "sm.simd_width is %" PRIu32 ", but must divide sm.warp_size, %" PRIu32,
                    machine->sm.simd_width, machine->sm.warp_size);
    if (machine->sm.threads % machine->sm.warp_size)
        return FAIL(report, "sm.threads is %" PRIu32 ", but must be a multiple of sm.warp_size, %" PRIu32,
                    machine->sm.threads, machine->sm.warp_size);
    if (warps > CONFIG_MAX_WARPS)
        return FAIL(report,
                    "sm.threads is %" PRIu32 ", which is %" PRIu32 " warps, but an SM has at most %d: up to %" PRIu32
                    " threads with sm.warp_size %" PRIu32,
                    machine->sm.threads, warps, CONFIG_MAX_WARPS, CONFIG_MAX_WARPS * machine->sm.warp_size,
                    machine->sm.warp_size);
    if (machine->sm.schedulers > warps)
        return FAIL(report,
                    "sm.schedulers is %" PRIu32 ", but the SM has only %" PRIu32 " warps (sm.threads %" PRIu32 ")",
                    machine->sm.schedulers, warps, machine->sm.threads);
    return true;
}

static bool check_sm(const struct config_machine *machine, struct report report) {
    if (!check_power("sm", "warp_size", machine->sm.warp_size, report) || !check_warps(machine, report))
        return false;
    if (machine->sm.threads_per_block > machine->sm.threads)
        return FAIL(report,
                    "sm.threads_per_block is %" PRIu32 ", but an SM holds only %" PRIu32 " threads (sm.threads)",
                    machine->sm.threads_per_block, machine->sm.threads);
    if (machine->sm.registers && machine->sm.registers < machine->sm.threads_per_block)
        return FAIL(report,
                    "sm.registers is %" PRIu32 ", less than one for each thread of a block: at least %" PRIu32
                    " (sm.threads_per_block)",
                    machine->sm.registers, machine->sm.threads_per_block);
    if (machine->shared.reserved_bytes > machine->shared.size_bytes)
        return FAIL(report, "shared.reserved is %" PRIu32 ", but an SM has only %" PRIu32 " bytes (shared.size)",
                    machine->shared.reserved_bytes, machine->shared.size_bytes);
    return check_power("shared", "banks", machine->shared.banks, report);
}

static bool check_device(const struct config_machine *machine, struct report report) {
    const char *text = machine->device.capability;
    bool is_capability = text[0] >= '1' && text[0] <= '9' && (text[1] == '.' || (text[1] >= '0' && text[1] <= '9'));
    size_t point = text[1] == '.' ? 1 : 2;
    is_capability = is_capability && text[point] == '.' && text[point + 1] >= '0' && text[point + 1] <= '9' &&
                    text[point + 2] == '\0';
    return is_capability || FAIL(report, "device.capability is '%s', but must be MAJOR.MINOR, such as 9.0", text);
}

/* ---- Caches ------------------------------------------------------------------------------------------------------ */

/* The capacity is divided among `slices` caches. */
static bool check_cache(const char *name, const struct config_cache *cache, uint32_t slices, struct report report) {
    if (!check_power(name, "line", cache->line_bytes, report))
        return false;
    if (!cache->is_present || cache->is_perfect)
        return true;
    uint64_t unit = (uint64_t)cache->ways * cache->line_bytes * slices, sets = cache->size_bytes / unit;
    if (cache->size_bytes % unit == 0 && is_power_of_two((uint32_t)sets))
        return true;
    char size[CONFIG_VALUE_BYTES], banks[48] = "";
    config_format_bytes(cache->size_bytes, size);
    if (slices > 1)
        snprintf(banks, sizeof banks, " x %s.banks %" PRIu32, name, slices);
    return FAIL(report,
                "%s.size is %s, but must be a power of two times %" PRIu64 " bytes (%s.ways %" PRIu32
                " x %s.line %" PRIu32 "%s)",
                name, size, unit, name, cache->ways, name, cache->line_bytes, banks);
}

static bool check_lines(const struct config_machine *machine, struct report report) {
    const struct config_cache *l2 = &machine->l2.cache;
    if (!l2->is_present || machine->memory.is_perfect)
        return true;
    if (machine->l1.cache.line_bytes > l2->line_bytes)
        return FAIL(report, "l1.line is %" PRIu32 ", but must not exceed l2.line, %" PRIu32,
                    machine->l1.cache.line_bytes, l2->line_bytes);
    if (machine->icache.line_bytes > l2->line_bytes)
        return FAIL(report, "icache.line is %" PRIu32 ", but must not exceed l2.line, %" PRIu32,
                    machine->icache.line_bytes, l2->line_bytes);
    if (machine->texture.is_present && machine->texture.line_bytes > l2->line_bytes)
        return FAIL(report, "texture.line is %" PRIu32 ", but must not exceed l2.line, %" PRIu32,
                    machine->texture.line_bytes, l2->line_bytes);
    return true;
}

/* Where tags have banks of their own, a request takes as many lines per cycle as these allow. */
static bool check_bank_queues(const struct config_machine *machine, struct report report) {
    if (machine->l1.has_bank_queues && machine->unified.is_present && machine->unified.tag_banks)
        return FAIL(report,
                    "l1.bank_queues is true, but the L1 has no banks of its own: unified.tag_banks is %" PRIu32
                    " and must be 0",
                    machine->unified.tag_banks);
    return true;
}

/* MESI needs a directory in the L2 and an L1 that keeps written lines. */
static bool check_coherence(const struct config_machine *machine, struct report report) {
    if (machine->memory.coherence != CONFIG_COHERENCE_MESI)
        return true;
    if (!machine->l1.cache.is_present || machine->l1.cache.is_perfect)
        return FAIL(report,
                    "memory.coherence is mesi, but there is no L1 to keep coherent: l1.present must be true and "
                    "l1.perfect false");
    if (!machine->l2.cache.is_present || machine->l2.cache.is_perfect)
        return FAIL(report, "memory.coherence is mesi, but its directory is in the L2: l2.present must be true and "
                            "l2.perfect false");
    if (machine->l1.writes.policy != CONFIG_WRITE_BACK || !machine->l1.writes.allocates)
        return FAIL(report,
                    "memory.coherence is mesi, but its L1 caches own what they write: l1.write must be back and "
                    "l1.write_allocate true");
    if (machine->l1.cache.line_bytes != machine->l2.cache.line_bytes)
        return FAIL(report,
                    "memory.coherence is mesi, but l1.line is %" PRIu32 " and l2.line %" PRIu32 ": they must be equal",
                    machine->l1.cache.line_bytes, machine->l2.cache.line_bytes);
    return true;
}

static bool check_dram(const struct config_machine *machine, struct report report) {
    const struct config_dram *dram = &machine->dram;
    uint32_t line = machine->l2.cache.is_present ? machine->l2.cache.line_bytes : machine->l1.cache.line_bytes;
    if (!check_power("dram", "row", dram->row_bytes, report))
        return false;
    if (dram->row_bytes < line)
        return FAIL(report, "dram.row is %" PRIu32 ", but must hold a line of %" PRIu32 " bytes (%s.line)",
                    dram->row_bytes, line, machine->l2.cache.is_present ? "l2" : "l1");
    if (dram->row_conflict_cycles < dram->row_hit_cycles)
        return FAIL(report, "dram.row_conflict is %" PRIu32 ", but must not be below dram.row_hit, %" PRIu32,
                    dram->row_conflict_cycles, dram->row_hit_cycles);
    uint32_t opening = dram->row_conflict_cycles - dram->row_hit_cycles;
    if (dram->row_cycle_cycles && dram->row_cycle_cycles < opening)
        return FAIL(report,
                    "dram.row_cycle is %" PRIu32 ", but a row takes %" PRIu32
                    " cycles to open (dram.row_conflict - dram.row_hit)",
                    dram->row_cycle_cycles, opening);
    return true;
}

static bool check_cacp(const struct config_machine *machine, struct report report) {
    const struct config_cache *l1 = &machine->l1.cache;
    if (!machine->cacp.is_present || (l1->is_present && !l1->is_perfect && l1->ways > 1))
        return true;
    return FAIL(report, "cacp.present is true, but the L1 has no ways to divide: l1.present must be true, l1.perfect "
                        "false and l1.ways at least 2");
}

bool config_check(const struct config_machine *machine, char *error, size_t error_bytes) {
    struct report report = {error, error_bytes};
    return check_device(machine, report) && check_sm(machine, report) &&
           check_cache("icache", &machine->icache, 1, report) && check_cache("texture", &machine->texture, 1, report) &&
           check_cache("l1", &machine->l1.cache, 1, report) &&
           check_cache("l2", &machine->l2.cache, machine->l2.cache.banks, report) && check_lines(machine, report) &&
           check_bank_queues(machine, report) && check_cacp(machine, report) && check_coherence(machine, report) &&
           check_dram(machine, report) && config_check_split(machine, error, error_bytes) &&
           config_check_gpcs(machine, error, error_bytes);
}
