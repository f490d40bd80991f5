/* Which bytes of device memory have been written. See written.h. */
#include "exec/check/written.h"

#include <sys/mman.h>

#include "base/memory.h"

enum { WORD_BITS = 64, PAGE_BYTES = 4096 };

bool exec_written_open(struct exec_written *written, uint64_t base, uint64_t limit) {
    *written = (struct exec_written){.base = base, .limit = limit};
    void *bits = mmap(NULL, (limit - base) / 8 + PAGE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    written->bits = bits == MAP_FAILED ? NULL : bits;
    return written->bits;
}

void exec_written_close(struct exec_written *written) {
    if (written->bits)
        munmap(written->bits, (written->limit - written->base) / 8 + PAGE_BYTES);
    free(written->watched);
}

/* Sets or clears the bits [first, end). */
static void set_bits(uint64_t *bits, uint64_t first, uint64_t end, bool is_set) {
    while (first < end) {
        uint64_t in_word = first % WORD_BITS, n = WORD_BITS - in_word < end - first ? WORD_BITS - in_word : end - first;
        uint64_t mask = (n == WORD_BITS ? UINT64_MAX : (1ull << n) - 1) << in_word;
        uint64_t *word = &bits[first / WORD_BITS];
        if (is_set && *word != UINT64_MAX)
            *word |= mask;
        else if (!is_set && *word)
            *word &= ~mask;
        first += n;
    }
}

/* Returns the number of watched allocations at or below the address. */
static uint32_t count_below(const struct exec_written *written, uint64_t address) {
    uint32_t low = 0, high = written->n_watched;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (written->watched[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void exec_written_watch(struct exec_written *written, uint64_t address, uint64_t bytes) {
    if (written->n_watched == written->capacity) {
        written->capacity = written->capacity ? 2 * written->capacity : 64;
        written->watched = base_grow(written->watched, written->capacity, sizeof *written->watched);
    }
    uint32_t at = count_below(written, address);
    memmove(&written->watched[at + 1], &written->watched[at], (written->n_watched - at) * sizeof *written->watched);
    written->watched[at] = (struct exec_allocation){address, bytes};
    written->n_watched++;
    set_bits(written->bits, address - written->base, address + bytes - written->base, false);
}

void exec_written_release(struct exec_written *written, uint64_t address) {
    uint32_t at = count_below(written, address);
    if (at == 0 || written->watched[at - 1].address != address)
        return;
    memmove(&written->watched[at - 1], &written->watched[at], (written->n_watched - at) * sizeof *written->watched);
    written->n_watched--;
}

void exec_written_mark(struct exec_written *written, uint64_t address, uint64_t bytes) {
    if (address >= written->base && address < written->limit && bytes <= written->limit - address)
        set_bits(written->bits, address - written->base, address + bytes - written->base, true);
}

static bool is_watched(const struct exec_written *written, uint64_t address) {
    uint32_t at = count_below(written, address);
    return at && address - written->watched[at - 1].address < written->watched[at - 1].bytes;
}

bool exec_written_any(struct exec_written *written, uint64_t address, uint32_t bytes) {
    if (address < written->base || address >= written->limit || bytes > written->limit - address)
        return true;
    for (uint64_t at = address - written->base, end = at + bytes; at < end; at++)
        if (written->bits[at / WORD_BITS] >> at % WORD_BITS & 1)
            return true;
    if (is_watched(written, address))
        return false;
    exec_written_mark(written, address, bytes); /* the next read is found faster */
    return true;
}
