/* From the addresses of a warp's lanes to the lines it asks for, and to the cycles a shared-memory access takes.
 *
 * Global memory: one transaction per line that any lane touches, as in devices since compute capability 2.0 with L1
 * lines of 128 bytes; a lane whose bytes cross a line end asks for both. Shared memory: banks of 4-byte words; a bank
 * gives one word per cycle, to all lanes that ask for it. */
#include "mem/mem.h"

#include <assert.h>
#include <string.h>

enum { COVER_WORDS = MEM_MAX_LINE_BYTES / 64, WORD_BYTES = 4, MAX_BYTES = 16 };

/* Which bytes of each line are touched; two lanes may touch the same. */
struct cover {
    uint64_t bits[COVER_WORDS];
};

static void cover_bytes(struct cover *cover, uint32_t offset, uint32_t bytes) {
    uint64_t run = (UINT64_C(1) << bytes) - 1;
    cover->bits[offset / 64] |= run << offset % 64;
    if (offset % 64 + bytes > 64)
        cover->bits[offset / 64 + 1] |= run >> (64 - offset % 64);
}

static unsigned find_line(const struct mem_transaction *out, unsigned n, uint64_t line) {
    if (n > 0 && out[n - 1].line == line)
        return n - 1;
    unsigned i = 0;
    while (i < n && out[i].line != line)
        i++;
    return i;
}

static unsigned add_bytes(struct mem_transaction *out, struct cover *cover, unsigned n, uint32_t lane, uint64_t address,
                          uint32_t bytes, uint32_t line_bytes) {
    uint64_t line = address & ~(uint64_t)(line_bytes - 1);
    unsigned i = find_line(out, n, line);
    if (i == n) {
        out[n++] = (struct mem_transaction){.line = line};
        memset(cover[i].bits, 0, (line_bytes + 63) / 64 * sizeof cover[i].bits[0]);
    }
    out[i].lanes |= UINT32_C(1) << lane;
    cover_bytes(&cover[i], (uint32_t)(address - line), bytes);
    return n;
}

/* All 32 lanes, one after the other in memory: the common case. */
static bool is_unit_stride(const uint64_t address[32], uint32_t bytes) {
    uint64_t difference = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        difference |= address[lane] ^ (address[0] + lane * (uint64_t)bytes);
    return difference == 0;
}

/* Contiguous bytes from address[0]: lines in order, each lane in the lines it touches. */
static unsigned coalesce_run(uint64_t start, uint32_t bytes, uint32_t line_bytes, struct mem_transaction *out) {
    uint64_t end = start + 32 * (uint64_t)bytes;
    unsigned n = 0;
    for (uint64_t line = start & ~(uint64_t)(line_bytes - 1); line < end; line += line_bytes) {
        uint64_t from = line > start ? line : start;
        uint64_t to = line + line_bytes < end ? line + line_bytes : end;
        uint32_t first = (uint32_t)((from - start) / bytes), last = (uint32_t)((to - 1 - start) / bytes);
        out[n++] =
            (struct mem_transaction){line, (UINT32_MAX >> (31 - last)) & (UINT32_MAX << first), (uint32_t)(to - from)};
    }
    return n;
}

unsigned mem_coalesce(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t line_bytes,
                      struct mem_transaction out[MEM_MAX_TRANSACTIONS]) {
    assert(bytes > 0 && bytes <= MAX_BYTES && line_bytes >= MAX_BYTES && line_bytes <= MEM_MAX_LINE_BYTES);
    assert((line_bytes & (line_bytes - 1)) == 0);
    if (mask == UINT32_MAX && is_unit_stride(address, bytes))
        return coalesce_run(address[0], bytes, line_bytes, out);
    struct cover cover[MEM_MAX_TRANSACTIONS];
    unsigned n = 0;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint32_t room = line_bytes - (uint32_t)(address[lane] & (line_bytes - 1));
        uint32_t here = bytes < room ? bytes : room;
        n = add_bytes(out, cover, n, lane, address[lane], here, line_bytes);
        if (here < bytes)
            n = add_bytes(out, cover, n, lane, address[lane] + here, bytes - here, line_bytes);
    }
    for (unsigned i = 0; i < n; i++)
        for (uint32_t word = 0; word < (line_bytes + 63) / 64; word++)
            out[i].bytes += (uint32_t)__builtin_popcountll(cover[i].bits[word]);
    return n;
}

unsigned mem_bank_conflicts(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t banks) {
    enum { MAX_WORDS = 32 * (MAX_BYTES / WORD_BYTES + 1) };
    assert(bytes > 0 && bytes <= MAX_BYTES && banks > 0 && banks <= MEM_MAX_SHARED_BANKS);
    if (mask == UINT32_MAX && address[0] % WORD_BYTES == 0 && is_unit_stride(address, bytes))
        return (32 * bytes + WORD_BYTES * banks - 1) / (WORD_BYTES * banks);
    uint64_t word_of[MAX_WORDS];
    uint8_t next[MAX_WORDS];                    /* the bank's previous word, plus one */
    uint8_t newest[MEM_MAX_SHARED_BANKS] = {0}; /* the bank's newest word, plus one */
    uint8_t n_words[MEM_MAX_SHARED_BANKS] = {0};
    unsigned n = 0, most = 0;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        uint64_t start = address[__builtin_ctz(rest)];
        for (uint64_t word = start / WORD_BYTES; word <= (start + bytes - 1) / WORD_BYTES; word++) {
            uint32_t bank = (uint32_t)(word % banks), seen = newest[bank];
            while (seen != 0 && word_of[seen - 1] != word)
                seen = next[seen - 1];
            if (seen != 0)
                continue;
            word_of[n] = word;
            next[n] = newest[bank];
            newest[bank] = (uint8_t)++n;
            if (++n_words[bank] > most)
                most = n_words[bank];
        }
    }
    return most;
}
