/* The memory system: from a warp's addresses to the cycle in which its data arrives.
 *
 * There is one object per chip. SMs submit line accesses. Each is answered at once (hit: the cycle its data is ready),
 * later through done() (miss), or refused (a port, MSHR or queue is full: ask again in a later cycle). The simulation
 * is event-driven: mem_next_event() returns the cycle of the next event, and mem_advance() handles all events up to a
 * cycle in the order (cycle, unit, sequence). The result does not depend on the order in which SMs call within a cycle.
 * This module models only time: values are read and written when the instruction issues.
 *
 * The caller's clock never goes back: mem_advance(c) comes before the accesses of cycle c, and no access of a later
 * cycle may skip over a cycle with an event. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "config/machine.h"
#include "stats/counters.h"

struct mem;

enum { MEM_MAX_TRANSACTIONS = 64, MEM_MAX_LINE_BYTES = 1024, MEM_MAX_SHARED_BANKS = 256, MEM_MAX_L1_BANKS = 64 };
#define MEM_NEVER UINT64_MAX

enum mem_kind {
    MEM_READ,
    MEM_WRITE,
    MEM_ATOMIC,
    MEM_FETCH,     /* instructions, through the I-cache */
    MEM_READ_HOLD, /* a load with the row hint: if it reaches DRAM, its row is held open for the next access */
    MEM_TEXTURE,   /* a texture access, through the texture cache; only on machines that have one */
    MEM_READ_PAST, /* a load that bypasses the L1; MESI: a load like any other */
    MEM_READ_BULK  /* a bulk copy's: the same, but its data arrives over a link of its own */
};

/* One line that a warp instruction touches. */
struct mem_transaction {
    uint64_t line;  /* line address, a multiple of line_bytes */
    uint32_t lanes; /* the lanes that touch it */
    uint32_t bytes; /* bytes touched in the line, which a write carries */
};

/* coalescer.c: finds the lines that the lanes of `mask` touch with `bytes` (1 to 16) bytes each, in the order of their
 * first lane. Returns their number. line_bytes is a power of two. */
unsigned mem_coalesce(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t line_bytes,
                      struct mem_transaction out[MEM_MAX_TRANSACTIONS]);
/* Does the same for 32 lanes whose elements are neighbours and begin at `start`. bytes: a power of two. */
unsigned mem_coalesce_run(uint64_t start, uint32_t bytes, uint32_t line_bytes,
                          struct mem_transaction out[MEM_MAX_TRANSACTIONS]);
/* Does the same for `n_words` words of each lane that are `distance` bytes apart, as those of a wide access to local
 * memory are. Lines beyond MEM_MAX_TRANSACTIONS are left out: accesses of 16 bytes by lanes with different addresses
 * have up to 128. */
unsigned mem_coalesce_words(const uint64_t address[32], uint32_t mask, unsigned n_words, uint32_t distance,
                            uint32_t line_bytes, struct mem_transaction out[MEM_MAX_TRANSACTIONS]);
/* Atomics on one address are computed one after the other. This repeats each of the `n` transactions for as many lanes
 * as have one of its addresses in common. Those of one line of 128 bytes follow each other: all of them once, then
 * those that need it a second time, and so on. A transaction carries `bytes` for each of its addresses. Returns the new
 * number of transactions, at most MEM_MAX_TRANSACTIONS. */
unsigned mem_repeat_atomics(const uint64_t address[32], unsigned n, uint32_t bytes,
                            struct mem_transaction out[MEM_MAX_TRANSACTIONS]);
/* What serial_atomics needs to know of an atomic: combined with the bytes for mem_access(). */
enum mem_atomic {
    MEM_ADDS_FLOATS = 1 << 16,  /* it adds floating-point numbers */
    MEM_PASSES_TWICE = 1 << 17, /* it takes a slice two passes */
    MEM_HAS_SEVERAL = 1 << 18,  /* it changes several numbers of the line */
    MEM_RETURNS = 1 << 19,      /* its result is needed */
};
/* Local memory has addresses of its own from here on. */
#define MEM_LOCAL UINT64_C(0x0000400000000000)
static inline bool mem_is_local(uint64_t address) { return address - MEM_LOCAL < UINT64_C(1) << 44; }

/* Returns the most lanes of the mask that access one bank of shared memory, whether the same word or not. */
unsigned mem_most_lanes_of_bank(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t banks);
/* Returns the cycles that a shared-memory access takes: the most distinct words requested from one bank (a word is
 * broadcast to all lanes that request it). */
unsigned mem_bank_conflicts(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t banks);
/* Returns the passes that an access of as many lanes needs without conflicts. */
static inline unsigned mem_least_passes(uint32_t mask, uint32_t bytes, uint32_t banks) {
    unsigned words = (unsigned)__builtin_popcount(mask) * ((bytes + 3) / 4);
    return words <= banks ? 1 : (words + banks - 1) / banks;
}
/* Returns the passes of an access of 8 or 16 bytes per lane whose warp passes in 2 or 4 groups of neighbouring lanes,
 * one after the other, and sets *groups to their number. Two groups of a load pass together if every lane reads what
 * the next one of its pair reads, or every lane what the second next of its four reads. Groups without lanes take a
 * pass. */
unsigned mem_group_passes(const uint64_t address[32], uint32_t mask, uint32_t bytes, bool is_load, uint32_t banks,
                          unsigned *groups);
/* Returns which bytes of a line of 32 the lanes of `mask` touch with `bytes` each, a bit for each. */
uint32_t mem_touched_bytes(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint64_t line);
/* Returns how many sectors of 32 bytes the lanes of `mask` touch with `bytes` each. */
unsigned mem_count_sectors(const uint64_t address[32], uint32_t mask, uint32_t bytes);
/* Returns whether accesses of `bytes` at addresses from low to high touch no more neighbouring words than there are
 * banks, so that no two of these words are in one bank. */
static inline bool mem_is_one_round(uint64_t low, uint64_t high, uint32_t bytes, uint32_t banks) {
    return (high + bytes - 1) / 4 - low / 4 < banks;
}

/* Returns the cycles that an access takes in an L1 that is in the same memory as shared memory: for its `n` lines, as
 * mem_coalesce() found them, in `tag_banks` banks, and for its words in `banks`. */
unsigned mem_l1_passes(const uint64_t address[32], uint32_t mask, uint32_t bytes,
                       const struct mem_transaction *transaction, unsigned n, unsigned tag_banks, uint32_t banks);

enum mem_answer { MEM_HIT, MEM_MISS, MEM_REFUSED };

typedef void mem_done_fn(void *user, uint32_t sm, uint32_t token, uint64_t cycle);
typedef void mem_changed_fn(void *user, uint32_t sm, uint64_t cycle);

/* A line has taken a slot of an SM's L1 data cache. */
struct mem_fill {
    uint32_t slot;
    uint32_t token;         /* of the access that asked for it; MEM_NO_TOKEN: a store of the whole line */
    uint64_t line, evicted; /* addresses; evicted: the line that was in the slot, or MEM_NOTHING_EVICTED */
};
#define MEM_NO_TOKEN UINT32_MAX
#define MEM_NOTHING_EVICTED UINT64_MAX
typedef void mem_fill_fn(void *user, uint32_t sm, const struct mem_fill *fill, uint64_t cycle);

/* Returns whether this machine's memory can be built. Otherwise writes one line to text that names the bad option and
 * its valid values. */
bool mem_can_build(const struct config_machine *machine, char *text, uint32_t size);
/* mem_advance() calls done() when the miss with this token has its data, at `cycle`. done() must not call back into
 * this interface. The machine must pass mem_can_build() and outlive the memory. */
struct mem *mem_new(const struct config_machine *machine, mem_done_fn *done, void *user);
void mem_free(struct mem *mem);
/* From now on a refusal because something is full (not a port conflict) sets *ready = MEM_NEVER. changed() is then
 * called once, in the first cycle in which asking again may succeed. */
void mem_report_changes(struct mem *mem, mem_changed_fn *changed);
/* From now on filled() is called for each line that takes a slot of an L1 data cache, in that SM's part of the memory.
 * It must not call back into this interface. */
void mem_report_fills(struct mem *mem, mem_fill_fn *filled);

/* Submits one line access of an SM in this cycle. `line` is a multiple of the cache's line_bytes.
 * - MEM_HIT: *ready is the cycle in which the data arrives. A store that needs no answer has *ready = cycle + 1.
 * - MEM_MISS: done(token) follows, once. A store misses if a write-back L1 has to fetch or own the line. The SM decides
 *   whether its warp waits.
 * - MEM_REFUSED: nothing has changed except a counter. *ready is the first cycle in which asking again can succeed. */
enum mem_answer mem_access(struct mem *mem, uint32_t sm, uint64_t cycle, enum mem_kind kind, uint64_t line,
                           uint32_t bytes, uint32_t token, uint64_t *ready);

/* If an SM's L1 data cache takes one access per cycle, returns the SM's counter of port conflicts, otherwise NULL. The
 * SM may then count a second access to it in a cycle itself instead of making it. */
uint64_t *mem_only_port(struct mem *mem, uint32_t sm);

/* Counts `n` fetches of an SM that were refused because something was full and would be refused again: changed() has
 * not been called since. */
void mem_refuse_fetches(struct mem *mem, uint32_t sm, uint32_t n);

/* Returns whether stores may join (crossbar.store_lines). Then name the bytes of the line that each store writes before
 * it, a bit for each; 0: it joins no other. */
bool mem_joins_stores(const struct mem *mem);
void mem_name_store(struct mem *mem, uint32_t sm, uint32_t written);
/* On machines with cacp.present, before each access to the L1: the instruction's pc, and whether its warp is critical.
 */
void mem_name_access(struct mem *mem, uint32_t sm, uint32_t pc, bool is_critical);

uint64_t mem_next_event(const struct mem *mem);    /* MEM_NEVER when nothing is in flight */
void mem_advance(struct mem *mem, uint64_t cycle); /* handles all events at or before cycle */

/* Each SM's part of the memory system and each partition of the rest can also be advanced separately. They cannot
 * observe each other for mem_quantum() cycles, the time that a packet takes to cross. The clock of an SM and
 * mem_partition_next() report the cycle of the next event. The advance functions handle all events at or before a
 * cycle. */
uint32_t mem_quantum(const struct mem *mem);
uint32_t mem_partitions(const struct mem *mem);                   /* 0: memory is perfect */
const uint64_t *mem_sm_clock(const struct mem *mem, uint32_t sm); /* stays up to date */
void mem_sm_advance(struct mem *mem, uint32_t sm, uint64_t cycle);
uint64_t mem_partition_next(const struct mem *mem, uint32_t partition);
void mem_partition_advance(struct mem *mem, uint32_t partition, uint64_t cycle);
/* Prefetch the data that the packets up to a cycle, or an access, will use into the host's cache. */
void mem_prefetch_sm(const struct mem *mem, uint32_t sm, uint64_t last);
void mem_prefetch_partition(const struct mem *mem, uint32_t partition, uint64_t last);
void mem_prefetch_access(const struct mem *mem, uint32_t sm, uint64_t address);

/* After mem_use_mail() several host threads may advance parts and make the accesses of their SMs at once. Packets then
 * wait as mail. *round is the caller's, up to mem_end_mail(): the number of the round, beside other data that all
 * threads read in a round. One thread calls mem_exchange() between two rounds. In a round, call collect() first for
 * each part that is advanced, once, and send_from() with the number of the thread that advances it, below n_threads.
 * prefetch_mail() makes collect() faster. The mail functions report which receivers the part's thread has sent to: they
 * add the receivers to a set, a bit for each, and return the cycle of the earliest packet. All receivers must collect
 * in the next round. mem_end_mail() delivers the remaining packets and ends the use of mail. */
void mem_use_mail(struct mem *mem, uint32_t n_threads, uint64_t *round);
void mem_exchange(struct mem *mem);
void mem_sm_send_from(struct mem *mem, uint32_t sm, uint32_t thread);
void mem_partition_send_from(struct mem *mem, uint32_t partition, uint32_t thread);
void mem_sm_prefetch_mail(const struct mem *mem, uint32_t sm);
void mem_partition_prefetch_mail(const struct mem *mem, uint32_t partition);
void mem_sm_collect(struct mem *mem, uint32_t sm);
void mem_partition_collect(struct mem *mem, uint32_t partition);
uint64_t mem_sm_mail(const struct mem *mem, uint32_t sm, uint64_t *partitions);
uint64_t mem_partition_mail(const struct mem *mem, uint32_t partition, uint64_t *sms);
void mem_end_mail(struct mem *mem);

/* Between kernels: empties the texture caches and the L1s that are not coherent, and writes dirty lines back. The
 * write-backs are still in flight when this returns. Coherent L1s keep their lines. */
void mem_flush_l1(struct mem *mem, uint64_t cycle);
/* The same for one SM. If mem_flushes_apart(), no L1 writes lines back, and several threads may flush different SMs. */
void mem_flush_l1_of(struct mem *mem, uint32_t sm, uint64_t cycle);
bool mem_flushes_apart(const struct mem *mem);
/* Before a kernel, if unified.is_present: limits the L1s to this many bytes until mem_flush_l1().
 */
void mem_resize_l1(struct mem *mem, uint32_t bytes);
/* From now on these ranges, by ascending address, are memory of the host. On machines with a link, accesses to them
 * cross it. The ranges must outlive the memory or the next call. */
struct mem_range {
    uint64_t first, end;
};
void mem_use_host_memory(struct mem *mem, const struct mem_range *ranges, uint32_t n);
bool mem_is_in_host_memory(const struct mem *mem, uint64_t address);
uint64_t
mem_host_idle(const struct mem *mem); /* the cycle in which all writes that have been sent are in host memory */
/* Returns whether stores, atomics or uncached reads of any SM are on their way. */
bool mem_has_unanswered(const struct mem *mem);
/* How memory was accessed between launches: written by the host, written by the device, as cudaMemset does, or read. */
enum mem_warming { MEM_WARMED_BY_HOST, MEM_WARMED_BY_DEVICE, MEM_WARMED_BY_READ };
/* Puts these bytes into the L2, without time or traffic. If not all of them fit, the last ones win. Does nothing
 * without an L2 with tags, or with coherent caches. */
void mem_warm(struct mem *mem, uint64_t address, uint64_t bytes, enum mem_warming warming);
/* Lets an access that is executed without timing pass through the tags: the L2 contains the lines of the lanes `mask`
 * afterwards, and DRAM has opened their rows. kind: READ, WRITE or ATOMIC. Adds to `touched`. `reach` is from the
 * lowest to the highest address; NULL if they are not known. */
struct mem_reach {
    uint64_t low, high;
};
struct mem_touched {
    uint64_t n_lines, n_misses; /* lines of the L2; those that were not in it */
};
void mem_touch(struct mem *mem, uint32_t sm, const uint64_t address[32], uint32_t mask, uint32_t bytes,
               enum mem_kind kind, const struct mem_reach *reach, struct mem_touched *touched);
/* The same for instructions that the first n_sms SMs have fetched. */
void mem_touch_code(struct mem *mem, uint64_t address, uint64_t bytes, uint32_t n_sms);
/* Appends the state that the memory system keeps when nothing is in flight, as after mem_advance(mem, MEM_NEVER): tags,
 * open rows, reservations of links, but no counters. load() reads it into a new memory of the same machine. Contents
 * that are too short set is_short. */
void mem_save_contents(struct mem *mem, struct base_bytes *contents);
void mem_load_contents(struct mem *mem, struct base_bytes *contents);
/* Returns the counters of the whole chip. Each call sums them again. */
const struct stats_mem *mem_counters(const struct mem *mem);
/* Returns the counters of one SM: those of its L1 and I-cache. The others are zero. */
const struct stats_mem *mem_sm_counters(const struct mem *mem, uint32_t sm);
/* Points *busy_cycles at the busy cycles of each DRAM channel's bus since the start. Returns the number of channels. */
uint32_t mem_channel_busy(const struct mem *mem, const uint64_t **busy_cycles);
/* Returns the lines that an SM's L1 waits for now, and the requests that wait for a DRAM channel. */
uint32_t mem_mshrs_used(const struct mem *mem, uint32_t sm);
uint32_t mem_mshrs(const struct mem *mem);
/* Returns the stores, atomics and uncached reads that an SM may still send. */
uint32_t mem_credits_left(const struct mem *mem, uint32_t sm);
/* Returns the lines that an SM's L1 data cache can hold now, and in *ways those of a set. 0: it has no tags. */
uint32_t mem_l1_lines(const struct mem *mem, uint32_t sm, uint32_t *ways);
uint32_t mem_channel_waiting(const struct mem *mem, uint32_t channel);
/* For tests: checks single writer, no stale copies, inclusion, no leaks. Returns false and writes one line to text when
 * one is violated. */
bool mem_check_invariants(const struct mem *mem, char *text, uint32_t size);
/* Describes every wait, for the watchdog's dump. */
void mem_describe(const struct mem *mem, void (*line)(void *user, const char *text), void *user);
