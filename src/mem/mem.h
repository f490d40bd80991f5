/* The memory system: from a warp's addresses to the cycle when its data is there.
 *
 * One object for the chip. SMs hand in line accesses; each is answered at once (hit: the cycle its data is ready),
 * later through done() (miss), or refused (a port, MSHR or queue is full: ask again in a later cycle). Event-driven:
 * mem_next_event() says when something happens next, mem_advance() makes everything up to that cycle happen, in the
 * order (cycle, unit, sequence); it does not depend on the order in which SMs call within a cycle. Only time lives
 * here: values are read and written when the instruction issues.
 *
 * The caller's clock never goes back: mem_advance(c) comes before the accesses of cycle c, and a cycle with an event
 * is not skipped over by an access of a later one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/machine.h"

struct mem;

enum { MEM_MAX_TRANSACTIONS = 64, MEM_MAX_LINE_BYTES = 1024, MEM_MAX_SHARED_BANKS = 256, MEM_MAX_L1_BANKS = 64 };
#define MEM_NEVER UINT64_MAX

enum mem_kind {
    MEM_READ,
    MEM_WRITE,
    MEM_ATOMIC,
    MEM_FETCH,    /* instructions, through the I-cache */
    MEM_READ_HOLD /* a load with the row-buffer hint: if it gets to DRAM, its row is held open for the next access */
};

/* One line that a warp instruction touches. */
struct mem_transaction {
    uint64_t line;  /* line address, a multiple of line_bytes */
    uint32_t lanes; /* who asks */
    uint32_t bytes; /* bytes touched in the line: what a write carries */
};

/* coalescer.c: the lines that `mask` lanes touch with `bytes` (1 to 16) bytes each, in the order of their first lane;
 * the count. line_bytes is a power of two. */
unsigned mem_coalesce(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t line_bytes,
                      struct mem_transaction out[MEM_MAX_TRANSACTIONS]);
/* Shared memory: cycles that the access takes = most distinct words asked of one bank (equal words are broadcast). */
unsigned mem_bank_conflicts(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t banks);

enum mem_answer { MEM_HIT, MEM_MISS, MEM_REFUSED };

struct mem_counters { /* counters.def has the meanings */
#define MEM_COUNTER(name, unit, meaning) uint64_t name;
#include "mem/counters.def"
#undef MEM_COUNTER
};

typedef void mem_done_fn(void *user, uint32_t sm, uint32_t token, uint64_t cycle);
typedef void mem_changed_fn(void *user, uint32_t sm, uint64_t cycle);

/* Whether this machine's memory can be built. False: text has one line that says what is wrong and what would be right.
 */
bool mem_can_build(const struct config_machine *machine, char *text, uint32_t size);
/* done() is called from mem_advance(): the miss with this token has its data at `cycle`. It must not call back into
 * this interface. The machine must be one that mem_can_build() and outlive the memory. */
struct mem *mem_new(const struct config_machine *machine, mem_done_fn *done, void *user);
void mem_free(struct mem *mem);
/* Refusals for want of room (not those of a port) then have *ready = MEM_NEVER, and changed() is called, once, when
 * asking again may succeed: in that cycle. */
void mem_tell_changes(struct mem *mem, mem_changed_fn *changed);

/* From now on several host threads may ask for MEM_FETCH at a time, each for SMs of its own, while nobody calls
 * anything else. */
void mem_share_fetches(struct mem *mem);

/* Offers one line access of an SM in this cycle; `line` is a multiple of the cache's line_bytes.
 * MEM_HIT: *ready is the cycle the data is there; a store that needs no answer has *ready = this cycle + 1.
 * MEM_MISS: done(token) follows, once. A store misses when a write-back L1 has to fetch or own the line; whether its
 * warp waits is the SM's affair. MEM_REFUSED: nothing has changed but a statistic; *ready is the first cycle in which
 * asking again can succeed. */
enum mem_answer mem_access(struct mem *mem, uint32_t sm, uint64_t cycle, enum mem_kind kind, uint64_t line,
                           uint32_t bytes, uint32_t token, uint64_t *ready);

uint64_t mem_next_event(const struct mem *mem);    /* MEM_NEVER when nothing is under way */
void mem_advance(struct mem *mem, uint64_t cycle); /* everything at or before cycle */
/* Between kernels: caches that are not coherent across launches forget (L1), dirty lines are written back. The
 * write-backs take their time: they are under way when this returns. Coherent L1s keep what they have. */
void mem_flush_l1(struct mem *mem, uint64_t cycle);
/* The whole chip's; summed up anew by each call. */
const struct mem_counters *mem_counters(const struct mem *mem);
/* One SM's own (the L1 and I-cache counters; the others are zero). */
const struct mem_counters *mem_sm_counters(const struct mem *mem, uint32_t sm);
/* Utilisation of each DRAM channel's bus since the start, busy cycles; the number of channels. */
uint32_t mem_channel_busy(const struct mem *mem, const uint64_t **busy_cycles);
/* For tests: single writer, no stale copies, inclusion, no leaks. False and one line in text when broken. */
bool mem_check_invariants(const struct mem *mem, char *text, uint32_t size);
/* Who waits for what, for the watchdog's dump. */
void mem_describe(const struct mem *mem, void (*line)(void *user, const char *text), void *user);
