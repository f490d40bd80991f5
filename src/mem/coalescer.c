/* Turns the addresses of a warp's lanes into the lines it requests, and into the cycles a shared-memory access takes.
 *
 * Global memory: one transaction per line that any lane touches, as in devices since compute capability 2.0 with L1
 * lines of 128 bytes. A lane whose bytes cross a line boundary requests both lines. Shared memory: banks of 4-byte
 * words. A bank delivers one word per cycle, to all lanes that request it.
 *
 * This runs once per memory instruction of a warp. It recognises runs of neighbouring addresses and single lines first
 * (20 ns). For other patterns it uses a small hash table instead of comparing all pairs (100 ns). */
#include "mem/mem.h"

#include <assert.h>
#include <string.h>

#include "base/bits.h"

enum { COVER_WORDS = MEM_MAX_LINE_BYTES / 64, WORD_BYTES = 4, MAX_BYTES = 32, SECTOR_BYTES = 32, HASH_BITS = 8 };

/* A set of distinct numbers. In the hash table 0 is an empty place and i stands for number[i - 1]. */
struct numbers {
    uint8_t table[1 << HASH_BITS];
    uint64_t number[32 * (MAX_BYTES / WORD_BYTES + 1)];
    uint32_t n;
};

static void clear_numbers(struct numbers *numbers) {
    memset(numbers->table, 0, sizeof numbers->table);
    numbers->n = 0;
}

/* Returns the index of the number, adding it if it is new: then the index is the previous n. */
static uint32_t index_of(struct numbers *numbers, uint64_t number) {
    uint32_t hash = (uint32_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> (64 - HASH_BITS));
    for (;; hash = (hash + 1) % (1 << HASH_BITS)) {
        uint32_t place = numbers->table[hash];
        if (place == 0) {
            numbers->number[numbers->n] = number;
            numbers->table[hash] = (uint8_t)++numbers->n;
            return numbers->n - 1;
        }
        if (numbers->number[place - 1] == number)
            return place - 1;
    }
}

/* The touched bytes of a line, one bit each; two lanes may touch the same byte. */
struct cover {
    uint64_t bits[COVER_WORDS];
};

/* Most lines have two words. For these a call of memset() would cost more than the rest of the work. */
static void cover_nothing(struct cover *cover, uint32_t line_bytes) {
    cover->bits[0] = cover->bits[1] = 0;
    if (line_bytes > 128)
        memset(&cover->bits[2], 0, line_bytes / 8 - 16);
}

/* Adds bytes of one 64-byte word and returns how many are new: mostly all or none. */
static uint32_t cover_word(uint64_t *word, uint64_t run) {
    uint64_t new = run & ~*word;
    *word |= run;
    return new == 0 ? 0 : base_count_long_bits(new);
}

static uint32_t cover_bytes(struct cover *cover, uint32_t offset, uint32_t bytes) {
    uint64_t *word = &cover->bits[offset / 64];
    uint64_t run = (UINT64_C(1) << bytes) - 1;
    uint32_t shift = offset % 64;
    if (shift + bytes <= 64) {
        run <<= shift;
        if (*word & run)
            return cover_word(word, run);
        *word |= run;
        return bytes;
    }
    return cover_word(word, run << shift) + cover_word(word + 1, run >> (64 - shift));
}

/* The common case: all 32 lanes access consecutive elements. */
static bool is_unit_stride(const uint64_t address[32], uint32_t bytes) {
    uint64_t difference = 0;
    if (address[1] - address[0] != bytes)
        return false;
    for (uint32_t lane = 0; lane < 31; lane++)
        difference |= (address[lane + 1] - address[lane]) ^ bytes;
    return difference == 0;
}

unsigned mem_coalesce_run(uint64_t start, uint32_t bytes, uint32_t line_bytes,
                          struct mem_transaction out[MEM_MAX_TRANSACTIONS]) {
    uint64_t end = start + 32 * (uint64_t)bytes;
    uint32_t bytes_shift = (uint32_t)__builtin_ctz(bytes);
    unsigned n = 0;
    for (uint64_t line = start & ~(uint64_t)(line_bytes - 1); line < end; line += line_bytes) {
        uint64_t from = line > start ? line : start;
        uint64_t to = line + line_bytes < end ? line + line_bytes : end;
        uint32_t first = (uint32_t)((from - start) >> bytes_shift), last = (uint32_t)((to - 1 - start) >> bytes_shift);
        out[n++] =
            (struct mem_transaction){line, (UINT32_MAX >> (31 - last)) & (UINT32_MAX << first), (uint32_t)(to - from)};
    }
    return n;
}

/* Returns whether the active lanes' bytes all lie in one line; stops at the first lane outside it. */
static bool is_one_line(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t line_bytes) {
    uint64_t line = address[__builtin_ctz(mask)] & ~(uint64_t)(line_bytes - 1);
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
        if (address[__builtin_ctz(rest)] - line > line_bytes - bytes)
            return false;
    return true;
}

static unsigned coalesce_line(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t line_bytes,
                              struct mem_transaction *out) {
    struct cover cover;
    uint64_t line = address[__builtin_ctz(mask)] & ~(uint64_t)(line_bytes - 1);
    cover_nothing(&cover, line_bytes);
    *out = (struct mem_transaction){.line = line, .lanes = mask};
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
        out->bytes += cover_bytes(&cover, (uint32_t)(address[__builtin_ctz(rest)] - line), bytes);
    return 1;
}

static unsigned coalesce_any(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t line_bytes,
                             struct mem_transaction *out) {
    struct cover cover[MEM_MAX_TRANSACTIONS];
    struct numbers lines;
    uint32_t line_shift = (uint32_t)__builtin_ctz(line_bytes), last = 0;
    clear_numbers(&lines);
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), left = bytes;
        for (uint64_t at = address[lane]; left > 0;) {
            uint32_t offset = (uint32_t)(at & (line_bytes - 1)), room = line_bytes - offset;
            uint32_t here = left < room ? left : room;
            uint32_t n = lines.n, i = last;
            if (n == 0 || out[last].line != at - offset)
                last = i = index_of(&lines, at >> line_shift);
            if (i == n) {
                out[i] = (struct mem_transaction){.line = at - offset};
                cover_nothing(&cover[i], line_bytes);
            }
            out[i].lanes |= UINT32_C(1) << lane;
            out[i].bytes += cover_bytes(&cover[i], offset, here);
            at += here;
            left -= here;
        }
    }
    return lines.n;
}

static bool are_aligned(const uint64_t address[32], uint32_t mask, uint32_t bytes) {
    uint64_t all = 0;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
        all |= address[__builtin_ctz(rest)];
    return (all & (bytes - 1)) == 0;
}

/* Like coalesce_any(), for elements of 1 << bytes_shift bytes that do not cross lines, at most 64 to a line. One bit
 * per element records whether it is touched, and the bytes of a line are counted once. */
static unsigned coalesce_elements(const uint64_t address[32], uint32_t mask, uint32_t bytes_shift, uint32_t line_bytes,
                                  struct mem_transaction *out) {
    uint64_t touched[32], here = 0, line = 0;
    struct numbers lines;
    uint32_t line_shift = (uint32_t)__builtin_ctz(line_bytes), lanes = 0, last = 0;
    clear_numbers(&lines);
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint64_t at = address[lane];
        if (at - line >= line_bytes || lanes == 0) {
            if (lanes) {
                out[last].lanes |= lanes;
                touched[last] |= here;
            }
            uint32_t n = lines.n;
            line = at & ~(uint64_t)(line_bytes - 1);
            last = index_of(&lines, at >> line_shift);
            if (last == n) {
                out[last] = (struct mem_transaction){.line = line};
                touched[last] = 0;
            }
            lanes = 0;
            here = 0;
        }
        lanes |= UINT32_C(1) << lane;
        here |= UINT64_C(1) << ((at - line) >> bytes_shift);
    }
    out[last].lanes |= lanes;
    touched[last] |= here;
    for (uint32_t i = 0; i < lines.n; i++)
        out[i].bytes = base_count_long_bits(touched[i]) << bytes_shift;
    return lines.n;
}

unsigned mem_coalesce(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t line_bytes,
                      struct mem_transaction out[MEM_MAX_TRANSACTIONS]) {
    assert(bytes > 0 && bytes <= MAX_BYTES && line_bytes >= MAX_BYTES && line_bytes <= MEM_MAX_LINE_BYTES);
    assert((line_bytes & (line_bytes - 1)) == 0);
    if (mask == 0)
        return 0;
    bool is_power_of_two = (bytes & (bytes - 1)) == 0;
    if (mask == UINT32_MAX && is_power_of_two && is_unit_stride(address, bytes))
        return mem_coalesce_run(address[0], bytes, line_bytes, out);
    if (is_one_line(address, mask, bytes, line_bytes))
        return coalesce_line(address, mask, bytes, line_bytes, out);
    if (is_power_of_two && line_bytes <= 64 * bytes && are_aligned(address, mask, bytes))
        return coalesce_elements(address, mask, (uint32_t)__builtin_ctz(bytes), line_bytes, out);
    return coalesce_any(address, mask, bytes, line_bytes, out);
}

unsigned mem_coalesce_words(const uint64_t address[32], uint32_t mask, unsigned n_words, uint32_t distance,
                            uint32_t line_bytes, struct mem_transaction out[MEM_MAX_TRANSACTIONS]) {
    unsigned n = mem_coalesce(address, mask, WORD_BYTES, line_bytes, out);
    for (unsigned word = 1; word < n_words; word++) {
        struct mem_transaction lines[MEM_MAX_TRANSACTIONS];
        uint64_t place[32];
        for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(rest);
            place[lane] = address[lane] + (uint64_t)word * distance;
        }
        unsigned n_lines = mem_coalesce(place, mask, WORD_BYTES, line_bytes, lines);
        for (unsigned i = 0; i < n_lines; i++) {
            unsigned k = 0;
            while (k < n && out[k].line != lines[i].line)
                k++;
            if (k == n && n == MEM_MAX_TRANSACTIONS)
                continue;
            if (k == n)
                out[n++] = (struct mem_transaction){.line = lines[i].line};
            out[k].lanes |= lines[i].lanes;
            out[k].bytes = out[k].bytes + lines[i].bytes < line_bytes ? out[k].bytes + lines[i].bytes : line_bytes;
        }
    }
    return n;
}

uint32_t mem_touched_bytes(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint64_t line) {
    uint64_t touched = 0, run = (UINT64_C(1) << bytes) - 1; /* the line's bytes are the lower half */
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        uint64_t first = address[__builtin_ctz(rest)];
        if (first - line < SECTOR_BYTES)
            touched |= run << (first - line);
        else if (line - first < bytes)
            touched |= run >> (line - first);
    }
    return (uint32_t)touched;
}

unsigned mem_count_sectors(const uint64_t address[32], uint32_t mask, uint32_t bytes) {
    struct numbers sectors;
    clear_numbers(&sectors);
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        uint64_t first = address[__builtin_ctz(rest)];
        for (uint64_t at = first / SECTOR_BYTES; at <= (first + bytes - 1) / SECTOR_BYTES; at++)
            index_of(&sectors, at);
    }
    return sectors.n;
}

unsigned mem_most_lanes_of_bank(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t banks) {
    uint8_t n_lanes[MEM_MAX_SHARED_BANKS] = {0};
    unsigned most = 1, each = (bytes + WORD_BYTES - 1) / WORD_BYTES;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t word = address[__builtin_ctz(rest)] / WORD_BYTES;
        for (unsigned i = 0; i < each; i++) {
            unsigned n = ++n_lanes[(word + i) % banks];
            most = n > most ? n : most;
        }
    }
    return most;
}

/* The lanes of a transaction by address: how many have each of them. */
struct shares {
    uint8_t n_addresses, most, n_lanes[32];
};

static void count_lanes(struct shares *shares, const uint64_t address[32], uint32_t lanes) {
    shares->n_addresses = shares->most = 0;
    while (lanes) {
        uint64_t first = address[__builtin_ctz(lanes)];
        uint8_t n = 0;
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            if (address[__builtin_ctz(rest)] == first) {
                lanes &= ~(1u << __builtin_ctz(rest));
                n++;
            }
        shares->n_lanes[shares->n_addresses++] = n;
        shares->most = n > shares->most ? n : shares->most;
    }
}

/* Adds a transaction for each address that has a lane left in this round. */
static unsigned add_round(const struct shares *shares, const struct mem_transaction *once, unsigned round,
                          uint32_t bytes, struct mem_transaction *out) {
    uint32_t n = 0;
    for (unsigned a = 0; a < shares->n_addresses; a++)
        n += shares->n_lanes[a] > round;
    *out = *once;
    out->bytes = n * bytes < once->bytes ? n * bytes : once->bytes;
    return 1;
}

unsigned mem_repeat_atomics(const uint64_t address[32], unsigned n, uint32_t bytes,
                            struct mem_transaction out[MEM_MAX_TRANSACTIONS]) {
    enum { GROUP_BITS = 7 };
    struct mem_transaction once[MEM_MAX_TRANSACTIONS];
    struct shares shares[MEM_MAX_TRANSACTIONS];
    unsigned sum = 0, most = 1;
    for (unsigned i = 0; i < n; i++) {
        count_lanes(&shares[i], address, out[i].lanes);
        most = shares[i].most > most ? shares[i].most : most;
    }
    if (most == 1)
        return n;
    memcpy(once, out, n * sizeof *once);
    for (unsigned i = 0; i < n; i++)
        for (unsigned round = 0, left = shares[i].most; left > round && sum < MEM_MAX_TRANSACTIONS; round++)
            for (unsigned k = i; k < n && sum < MEM_MAX_TRANSACTIONS; k++) {
                if (shares[k].most <= round || once[k].line >> GROUP_BITS != once[i].line >> GROUP_BITS)
                    continue;
                sum += add_round(&shares[k], &once[k], round, bytes, &out[sum]);
                left = shares[k].most > left ? shares[k].most : left;
                if (shares[k].most == round + 1)
                    shares[k].most = 0;
            }
    return sum;
}

/* Returns whether the words that the lanes touch are no further apart than the number of banks, so that no two share a
 * bank. Addresses are relative to lane 0's, so that 32 bits are enough to compare them. */
static bool are_in_one_round(const uint64_t address[32], uint32_t bytes, uint32_t banks) {
    int32_t least = 0, most = 0;
    uint64_t high = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        int32_t distance = (int32_t)(uint32_t)(address[lane] - address[0]);
        high |= address[lane] ^ address[0];
        least = distance < least ? distance : least;
        most = distance > most ? distance : most;
    }
    return high <= INT32_MAX &&
           mem_is_one_round(address[0] + (uint64_t)(int64_t)least, address[0] + (uint64_t)(int64_t)most, bytes, banks);
}

unsigned mem_bank_conflicts(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t banks) {
    assert(bytes > 0 && bytes <= MAX_BYTES && banks > 0 && banks <= MEM_MAX_SHARED_BANKS);
    if (mask == UINT32_MAX) {
        if (are_in_one_round(address, bytes, banks))
            return 1;
        if (address[0] % WORD_BYTES == 0 && is_unit_stride(address, bytes))
            return (32 * bytes + WORD_BYTES * banks - 1) / (WORD_BYTES * banks);
    }
    /* The different words of each bank form a list; most have one or two. Entry 0 ends a list. */
    uint64_t word_of[1 + 32 * (MAX_BYTES / WORD_BYTES + 1)];
    uint8_t next[1 + 32 * (MAX_BYTES / WORD_BYTES + 1)], first[MEM_MAX_SHARED_BANKS], n_words[MEM_MAX_SHARED_BANKS];
    bool is_power_of_two = (banks & (banks - 1)) == 0;
    unsigned most = 0, n = 0;
    memset(first, 0, banks);
    memset(n_words, 0, banks);
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        uint64_t start = address[__builtin_ctz(rest)], word = start / WORD_BYTES,
                 last = (start + bytes - 1) / WORD_BYTES;
        do {
            uint32_t bank = (uint32_t)(is_power_of_two ? word & (banks - 1) : word % banks);
            unsigned entry = first[bank];
            while (entry && word_of[entry] != word)
                entry = next[entry];
            if (entry == 0) {
                word_of[++n] = word;
                next[n] = first[bank];
                first[bank] = (uint8_t)n;
                uint8_t n_here = ++n_words[bank];
                most = n_here > most ? n_here : most;
            }
        } while (++word <= last);
    }
    return most;
}

/* Returns whether the lanes whose numbers differ by `distance`, 1 or 2, have the same address, if both are active. */
static bool are_equal_in_pairs(const uint64_t address[32], uint32_t mask, uint32_t distance) {
    uint64_t different = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t other = lane ^ distance;
        different |= mask >> lane & mask >> other & 1 ? address[lane] ^ address[other] : 0;
    }
    return !different;
}

unsigned mem_group_passes(const uint64_t address[32], uint32_t mask, uint32_t bytes, bool is_load, uint32_t banks,
                          unsigned *groups) {
    unsigned n = bytes > 8 ? 4 : 2, passes = 0;
    if (is_load && (are_equal_in_pairs(address, mask, 1) || are_equal_in_pairs(address, mask, 2)))
        n /= 2;
    *groups = n;
    if (n == 1)
        return mem_bank_conflicts(address, mask, bytes, banks);
    for (unsigned i = 0; i < n; i++) {
        uint32_t own = mask & (UINT32_MAX >> (32 - 32 / n)) << i * (32 / n);
        passes += own ? mem_bank_conflicts(address, own, bytes, banks) : 1;
    }
    return passes;
}

/* The bank of a line's tag on an H200. Only these two sums of address bits explain the measured times of lanes whose
 * lines are any distance apart (tags_l1, shifted_rows_l1). */
static unsigned tag_bank(uint64_t line, unsigned banks) {
    enum { FIRST = 0x26f, SECOND = 0x1da };
    unsigned number = (unsigned)(__builtin_parityll(line & FIRST) | __builtin_parityll(line & SECOND) << 1);
    return number % banks;
}

/* Returns the most lines whose tags are in one bank. A line here is 128 bytes, or as many as all banks deliver in a
 * cycle. */
static unsigned tag_conflicts(const struct mem_transaction *transaction, unsigned n, unsigned tag_banks,
                              uint32_t banks) {
    uint64_t lines[MEM_MAX_L1_BANKS][MEM_MAX_TRANSACTIONS];
    uint8_t count[MEM_MAX_L1_BANKS] = {0};
    unsigned most = 1;
    for (unsigned i = 0; i < n; i++) {
        uint64_t line = transaction[i].line / (WORD_BYTES * banks);
        unsigned bank = tag_bank(line, tag_banks), k = 0;
        while (k < count[bank] && lines[bank][k] != line)
            k++;
        if (k < count[bank])
            continue;
        lines[bank][k] = line;
        count[bank]++;
        most = k + 1 > most ? k + 1 : most;
    }
    return most;
}

unsigned mem_l1_passes(const uint64_t address[32], uint32_t mask, uint32_t bytes,
                       const struct mem_transaction *transaction, unsigned n, unsigned tag_banks, uint32_t banks) {
    unsigned least = (bytes + WORD_BYTES - 1) / WORD_BYTES; /* wide accesses take this many parts of a warp */
    if (n <= 1)
        return least;
    unsigned words = mem_bank_conflicts(address, mask, bytes, banks);
    unsigned lines = tag_conflicts(transaction, n, tag_banks, banks);
    unsigned most = words > lines ? words : lines;
    return most > least ? most : least;
}
