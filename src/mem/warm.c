/* Warms caches without time: brings the L2, the open rows of DRAM and the instruction caches into the state that
 * accesses would have left, without simulating these accesses. The host's copies and the launches that `heddle run
 * --estimate` executes functionally use it.
 *
 * Left out: L1 data and texture caches, which are empty at the start of a launch, and coherent caches. */
#include <assert.h>

#include "mem/internal.h"

static bool can_warm(const struct mem *mem) {
    return mem->l2 == MEM_TAGGED && !mem->is_coherent && !mem->machine->memory.is_perfect;
}

/* Puts the line into its slice. Returns its slot, or MEM_NONE if it cannot be there now. Sets *has_hit if it already
 * was. Otherwise `missing` of its bytes are missing. */
static uint32_t put(struct mem_bank *bank, uint64_t line, uint32_t missing, bool *has_hit) {
    uint32_t slot = mem_cache_find(&bank->cache, line);
    *has_hit = slot != MEM_NONE;
    if (*has_hit) {
        mem_cache_touch(&bank->cache, slot);
        return slot;
    }
    slot = mem_lines_find(&bank->lines, line) == MEM_NONE ? mem_cache_victim(&bank->cache, line) : MEM_NONE;
    if (slot == MEM_NONE)
        return MEM_NONE;
    if (bank->cache.lines[slot] != MEM_NO_LINE)
        mem_cache_drop(&bank->cache, slot);
    mem_cache_put(&bank->cache, slot, line, MEM_SHARED);
    if (bank->missing)
        bank->missing[slot] = (uint16_t)missing;
    return slot;
}

/* An SM of either half may have filled a line: this hash of its 128 bytes chooses one. */
static uint8_t half_that_filled(const struct mem *mem, uint64_t line) {
    enum { GROUP_BITS = 7 };
    bool is_remote = (line << mem->line_shift >> GROUP_BITS) * UINT64_C(0x9E3779B97F4A7C15) >> 63;
    return is_remote ? MEM_HALVES_COPY : 0;
}

void mem_warm(struct mem *mem, uint64_t address, uint64_t bytes, enum mem_warming warming) {
    if (!can_warm(mem) || !bytes || mem_is_in_host_memory(mem, address))
        return;
    uint64_t first = address >> mem->line_shift, last = (address + bytes - 1) >> mem->line_shift;
    uint64_t most = mem->machine->l2.cache.size_bytes >> mem->line_shift;
    for (uint64_t line = last - first < most ? first : last - most + 1; line <= last; line++) {
        struct mem_bank *bank = &mem->banks[mem_bank_of(mem, line)];
        bool has_hit;
        uint32_t slot = put(bank, line, 0, &has_hit);
        if (slot == MEM_NONE || !bank->halves || (warming == MEM_WARMED_BY_READ && has_hit))
            continue;
        bank->halves[slot] = warming == MEM_WARMED_BY_HOST     ? MEM_HALVES_HOST
                             : warming == MEM_WARMED_BY_DEVICE ? half_that_filled(mem, line)
                                                               : 0;
    }
}

/* Where a line was last found: to search its set would take several divisions. Lines of neighbouring addresses have
 * neighbouring hints, which share a line of the host's cache. */
struct mem_hint {
    uint64_t line;
    uint32_t bank, slot;
};
enum { MOST_HINT_BITS = 18 };

static void make_hints(struct mem *mem) {
    uint64_t n_lines = mem->machine->l2.cache.size_bytes >> mem->line_shift;
    uint32_t bits = 1;
    while (bits < MOST_HINT_BITS && UINT64_C(1) << bits < n_lines)
        bits++;
    mem->hint_bits = bits;
    mem->hints = BASE_ARENA_ARRAY(&mem->arena, struct mem_hint, UINT64_C(1) << bits);
}

/* Folds the line's number, so that arrays at a distance of a power of two do not share all hints. The factor is a
 * multiple of four, so that the hints of four neighbours stay in one line of the host's cache. */
static struct mem_hint *hint_of(struct mem *mem, uint64_t line) {
    if (!mem->hints)
        make_hints(mem);
    return &mem->hints[(line ^ (line >> mem->hint_bits) * 1036) & ((UINT64_C(1) << mem->hint_bits) - 1)];
}

/* Returns whether the access hit the L2. If it is a store to a line that is not complete, sets *missing to the number
 * of missing bytes, from which the caller subtracts those of the store. */
static bool touch(struct mem *mem, uint32_t sm, uint64_t line, enum mem_kind kind, uint16_t **missing) {
    struct mem_hint *hint = hint_of(mem, line);
    struct mem_bank *bank = &mem->banks[hint->bank];
    bool is_write = kind != MEM_READ, is_put = kind != MEM_WRITE || mem->machine->l2.writes.allocates;
    bool has_hit = is_put && hint->line == line && bank->cache.lines[hint->slot] == line;
    uint32_t slot = hint->slot;
    if (has_hit) {
        mem_cache_touch(&bank->cache, slot);
    } else {
        uint32_t number = mem_bank_of(mem, line);
        bank = &mem->banks[number];
        slot = is_put ? put(bank, line, kind == MEM_WRITE ? mem->line_bytes : 0, &has_hit)
                      : mem_cache_find(&bank->cache, line);
        if (slot != MEM_NONE)
            *hint = (struct mem_hint){line, number, slot};
    }
    bool is_complete = slot == MEM_NONE || !bank->missing || !bank->missing[slot];
    if (!is_complete && kind == MEM_WRITE) {
        *missing = &bank->missing[slot];
    } else if (!is_complete) { /* reads the rest */
        bank->missing[slot] = 0;
        has_hit = false;
    }
    if (!has_hit)
        mem_dram_open_row(mem, bank, line);
    if (slot == MEM_NONE)
        return false;
    if (is_write)
        bank->cache.state[slot] = MEM_MODIFIED;
    if (bank->halves)
        mem_bank_note_half(mem, bank, slot, sm, line, kind);
    return has_hit;
}

static struct mem_reach reach_of(const uint64_t address[32], uint32_t mask) {
    struct mem_reach reach = {UINT64_MAX, 0};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t own = address[__builtin_ctz(rest)];
        reach.low = own < reach.low ? own : reach.low;
        reach.high = own > reach.high ? own : reach.high;
    }
    return reach;
}

/* Most warps access one line, or one and the next. Then nothing else about the lanes need be known, which saves half of
 * the time of mem_coalesce(). Returns how many lines there are, from that of the first lane on, or 0 if that does not
 * tell. */
static inline unsigned count_neighbours(uint64_t first, const struct mem_reach *reach, uint32_t bytes,
                                        uint32_t line_shift) {
    uint64_t line = first >> line_shift, last = (reach->high + bytes - 1) >> line_shift;
    return reach->low >> line_shift != line || last - line > 1 ? 0 : (unsigned)(last - line) + 1;
}

/* Finds the lines of lanes whose lines ascend, so that each is new if it is not its neighbour's. Returns how many there
 * are, or 0 if they do not. */
static unsigned find_ascending(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t line_shift,
                               uint64_t *line) {
    unsigned n = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t first = address[__builtin_ctz(rest)], own = first >> line_shift;
        if ((first + bytes - 1) >> line_shift != own || (n && own < line[n - 1]))
            return 0;
        if (!n || own > line[n - 1])
            line[n++] = own;
    }
    return n;
}

void mem_touch(struct mem *mem, uint32_t sm, const uint64_t address[32], uint32_t mask, uint32_t bytes,
               enum mem_kind kind, const struct mem_reach *reach, struct mem_touched *touched) {
    if (!mask)
        return;
    uint64_t line[MEM_MAX_TRANSACTIONS], first = address[__builtin_ctz(mask)];
    struct mem_reach own;
    if (!reach) {
        own = reach_of(address, mask);
        reach = &own;
    }
    unsigned n = count_neighbours(first, reach, bytes, mem->line_shift);
    line[0] = first >> mem->line_shift;
    line[1] = line[0] + 1;
    if (!n)
        n = find_ascending(address, mask, bytes, mem->line_shift, line);
    struct mem_transaction transaction[MEM_MAX_TRANSACTIONS];
    bool is_coalesced = n == 0;
    if (is_coalesced) {
        n = mem_coalesce(address, mask, bytes, mem->line_bytes, transaction);
        for (unsigned i = 0; i < n; i++)
            line[i] = transaction[i].line >> mem->line_shift;
    }
    touched->n_lines += n;
    if (!can_warm(mem)) {
        touched->n_misses += n;
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        uint16_t *missing = NULL;
        if (!mem->n_host || !mem_is_in_host_memory(mem, line[i] << mem->line_shift))
            touched->n_misses += !touch(mem, sm, line[i], kind, &missing);
        if (!missing)
            continue;
        if (!is_coalesced)
            mem_coalesce(address, mask, bytes, mem->line_bytes, transaction);
        is_coalesced = true;
        assert(transaction[i].line == line[i] << mem->line_shift);
        *missing -= (uint16_t)(transaction[i].bytes < *missing ? transaction[i].bytes : *missing);
    }
}

void mem_touch_code(struct mem *mem, uint64_t address, uint64_t bytes, uint32_t n_sms) {
    if (!can_warm(mem) || !bytes)
        return;
    uint16_t *missing = NULL;
    for (uint64_t line = address >> mem->line_shift; line <= (address + bytes - 1) >> mem->line_shift; line++)
        touch(mem, 0, line, MEM_READ, &missing);
    for (uint32_t i = 0; i < n_sms && i < mem->n_sms; i++) {
        struct mem_l1 *code = &mem->sms[i].code;
        if (code->level != MEM_TAGGED)
            return;
        for (uint64_t at = address; at < address + bytes; at += code->line_bytes) {
            uint64_t line = at >> code->line_shift;
            uint32_t slot = mem_cache_find(&code->cache, line);
            if (slot == MEM_NONE && (slot = mem_cache_victim(&code->cache, line)) != MEM_NONE) {
                if (code->cache.lines[slot] != MEM_NO_LINE)
                    mem_cache_drop(&code->cache, slot);
                mem_cache_put(&code->cache, slot, line, MEM_SHARED);
            } else if (slot != MEM_NONE) {
                mem_cache_touch(&code->cache, slot);
            }
        }
    }
}
