/* The units of the memory system and how they connect:
 *
 *     SM: L1, I-cache, texture cache -> crossbar -> L2 bank (with its part of the directory) -> DRAM channel
 *
 * Without an L2 the banks have no tags: there is one per channel, which only passes requests on. Banks and channels
 * form partitions: a line's bank and channel are always in the same one. Only an SM's own accesses and the packets that
 * reach it touch that SM's state. Only packets that reach a partition touch the partition's state. They communicate
 * through packets alone, so host threads may run all of them at once, for as long as a packet needs to cross.
 *
 * Flow control: the misses (MSHRs), write-backs (twice the MSHRs), and stores, atomics and uncached reads
 * (crossbar.credits, crossbar.atomics) that an SM may have in flight are limited. Each bank's input has room for
 * everything that can arrive, in two rings: requests, which may have to wait in order, and responses (MESI: write-backs
 * and acknowledgements), which never wait. SMs and banks always accept what they receive and DRAM always finishes, so
 * every wait ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/memory.h"
#include "config/plugin.h"
#include "mem/cache.h"
#include "mem/cacp.h"
#include "mem/dram_policy.h"
#include "mem/events.h"
#include "mem/mail.h"
#include "mem/mem.h"
#include "mem/mshr.h"

enum {
    MEM_TICK_BITS = 20, /* links and buses are reserved in ticks of 2^-20 cycle */
    MEM_HEADER_BYTES = 8,
    MEM_MAX_COHERENT_SMS = 64,
    MEM_NO_OWNER = 0xff,
};

/* crossbar.c: a link carries one packet at a time. */
struct mem_link {
    uint64_t free_ticks;
    uint64_t ticks_per_byte; /* 0: unlimited */
};

/* A level of caches on this machine. */
enum mem_level { MEM_ABSENT, MEM_PERFECT, MEM_TAGGED }; /* MEM_PERFECT: every access hits */

/* An L1 data cache, instruction cache or texture cache. */
struct mem_l1 {
    struct mem_cache cache;
    struct mem_cacp *cacp; /* its replacement policy; NULL: least recently used */
    struct mem_mshrs mshrs;
    uint64_t port_cycle, ports_used; /* banks used in port_cycle, one bit each */
    uint32_t banks, bank_mask;       /* bank_mask: if banks is a power of two */
    uint32_t latency_cycles, line_bytes, line_shift;
    uint32_t n_writebacks;           /* in flight */
    uint64_t read_group, read_cycle; /* the line of which sectors were last asked for, and when */
    /* SMs repeat a refused access every cycle. While n_changes stays the same, so does the answer. */
    uint64_t n_changes;
    struct mem_refusal {
        uint64_t line, n_changes;
        uint64_t *counter;
        uint32_t bytes, kind;
    } refusal;
    uint8_t flag;  /* MEM_FLAG_CODE or MEM_FLAG_TEXTURE in its messages; 0: the data cache */
    uint8_t level; /* enum mem_level */
    bool is_write_back, allocates_on_write, keeps_local;
    bool has_ports; /* otherwise the SM limits its accesses per cycle itself: unified.tag_banks */
};

/* stores.c: stores that wait for the SM's link. */
enum { MEM_LINE_SECTORS = 4 };
struct mem_stored_line {
    uint64_t number, ready;             /* ready: the cycle from which it may leave */
    uint32_t written[MEM_LINE_SECTORS]; /* bytes of its sectors, a bit for each */
};
struct mem_stores {
    struct mem_stored_line *line; /* a ring, oldest first */
    uint32_t capacity, first, n;  /* capacity 0: stores leave one by one */
    uint32_t written;             /* bytes of the next store: mem_name_store() */
    bool has_event;               /* the cycle in which the link is to take the oldest is known */
};

struct mem_sm {
    _Alignas(BASE_PAIR_BYTES) bool waits_for_change; /* an access was refused because something was full */
    struct mem_l1 data, code, texture;
    struct mem_link out, in, bulk_in; /* bulk_in: the data of bulk copies */
    uint32_t id, credits, atomics;    /* how many more stores and uncached reads, and atomics, may be in flight */
    struct mem_burst {
        uint64_t group;
        uint32_t token, n_sectors;
        uint32_t sectors; /* atomics: a bit for each that has left in this turn */
        bool has_mask, has_words;
    } burst;                /* the sectors of one line that an instruction stores, of which the last packets were */
    uint64_t bulk_group;    /* the line of which a bulk copy last asked for sectors */
    uint64_t flushed_stamp; /* the data cache's stamp when its last flush began; MEM_NEVER: there was none */
    uint32_t flush_slot;    /* next slot to flush; the number of slots when no flush is in progress */
    struct stats_mem counters;
    struct mem_events events;
    struct mem_outbox *outbox; /* for the partitions, of the host thread that runs the SM */
    struct mem_stores stores;
    uint16_t n_sent; /* packets, modulo 2^16 */
};

struct mem_partition {
    _Alignas(BASE_PAIR_BYTES) struct mem_events events;
    uint64_t dram_next; /* earliest wake_cycle of its channels */
    uint32_t id;
    struct mem_link from_host, to_host; /* its share of the link */
    uint64_t partial_write_ticks;
    struct stats_mem counters;
    struct mem_outbox *outbox; /* for the SMs, of the host thread that runs the partition */
};

enum mem_entry_state {
    MEM_ENTRY_FETCH,     /* waits for the line from DRAM */
    MEM_ENTRY_FILL,      /* has the line, waits for a free way in its set */
    MEM_ENTRY_COLLECT,   /* the first waiter needs acknowledgements */
    MEM_ENTRY_RECALL,    /* the line leaves: its copies are being recalled */
    MEM_ENTRY_WRITEBACK, /* a write waits for a place in DRAM's queue */
    MEM_ENTRY_PASS       /* no L2: waits for the line from DRAM, for one request */
};

/* What is known of a line in the L2 of a chip with two halves. */
enum mem_halves {
    MEM_HALVES_COPY = 1, /* the half that is not its home has a copy */
    MEM_HALVES_HOST = 2  /* the host has written it, and no SM has read it since */
};

/* A line with work in progress in a bank. */
struct mem_entry {
    uint32_t first, last, n_waiters; /* messages */
    uint32_t n_acks;
    uint8_t state;
    bool is_dirty; /* RECALL */
};

struct mem_waiting {
    struct mem_message message;
    uint32_t next;
};

struct mem_input {
    struct mem_message message;
    uint64_t ready;   /* the cycle in which its tail has arrived */
    uint32_t next;    /* of a bulk copy: the place of the next read of the same line; MEM_NONE: none, or not known */
    bool is_answered; /* together with an earlier one: slice.combine */
};
enum { MEM_LATEST_COPIES = 1 << 12 };

struct mem_ring {
    struct mem_input *items;
    uint32_t capacity, first, n;
};

/* The last sums of floating-point numbers of a slice. */
enum { MEM_LATEST_SUMS = 4 };
struct mem_sum {
    uint64_t line;
    double next; /* when the slice can add to the line again */
};

struct mem_bank {
    _Alignas(BASE_PAIR_BYTES) struct mem_cache cache;
    struct mem_partition *partition;
    uint64_t *sharers; /* per slot: SMs with a copy, except the owner (MESI) */
    uint8_t *owner;    /* per slot: the SM that may write, or MEM_NO_OWNER */
    uint8_t *halves;   /* per slot: enum mem_halves; NULL: the chip is not divided */
    uint16_t *missing; /* per slot: bytes that no store has written and DRAM has not been asked for; NULL: none */
    struct mem_lines lines;
    struct mem_entry *entry;
    struct mem_waiting *waiting;
    uint32_t free_waiting;                 /* list of those that were used before */
    uint32_t n_waiting, n_touched_waiting; /* the rest are unused and take no host memory */
    struct mem_ring requests, responses;
    uint32_t *latest; /* with slice.combine: by a hash of its line, the place of a bulk copy's read among `requests` */
    struct mem_ring stores; /* slice.store_port: the stores among `requests` */
    struct mem_link out, in;
    uint64_t free_cycle; /* the next cycle with a free lookup port */
    uint64_t store_free_cycle;
    bool was_store;                               /* with shares_lookups: the last access was a store of `stores` */
    uint64_t host_atomic_line, host_atomic_ready; /* the last atomic on host memory, and when its answer leaves */
    uint64_t host_ready;                          /* when the data of the last read of host memory leaves */
    struct mem_sum sum[MEM_LATEST_SUMS];          /* a ring; oldest_sum is replaced next */
    uint32_t oldest_sum;
    double rest; /* cycles that accesses have used but free_cycle does not include */
    uint32_t id, n_fetches, max_fetches, n_fills_waiting;
    bool is_blocked, are_stores_blocked, has_serve_event, has_retry_event;
};

struct mem_channel {
    _Alignas(BASE_PAIR_BYTES) struct mem_partition *partition;
    uint64_t busy_cycles;         /* in which its bus was busy */
    struct dram_request *queue;   /* the bounded queue that the policy sees, oldest first */
    struct dram_request *backlog; /* ring of requests that wait for a place in the queue */
    uint32_t n_queue, backlog_first, n_backlog, backlog_capacity;
    struct dram_bank *banks;
    uint64_t wake_cycle;  /* when to look at the queue next, MEM_NEVER while it is empty */
    uint64_t issue_ticks; /* earliest start of the next access, at the bus's rate */
    uint64_t bus_ticks;   /* the bus is free from here on */
    uint64_t busy_ticks;  /* fraction of a cycle not yet in busy_cycles */
};

/* Moves of a line's contents. traffic_test.c follows them. */
enum mem_probe_kind {
    MEM_PROBE_L1_READ,    /* a load reads the SM's copy */
    MEM_PROBE_L1_WRITE,   /* a store changes the SM's copy */
    MEM_PROBE_L1_FILL,    /* the line sent to the SM becomes its copy */
    MEM_PROBE_L1_SEND,    /* the SM sends its modified copy to the L2 */
    MEM_PROBE_L2_RECEIVE, /* the L2 receives it */
    MEM_PROBE_L2_SEND,    /* the L2 sends its copy to the SM */
    MEM_PROBE_L2_ATOMIC,  /* an atomic of the SM changes the L2's copy */
    MEM_PROBE_L2_FILL,    /* the L2 reads the line from DRAM */
    MEM_PROBE_L2_WRITE    /* the L2 writes its copy to DRAM */
};
typedef void mem_probe_fn(void *user, enum mem_probe_kind kind, uint32_t sm, uint64_t line);

struct mem {
    struct base_arena arena;
    const struct config_machine *machine;
    mem_done_fn *done;
    mem_changed_fn *changed; /* NULL: changes are not reported */
    mem_fill_fn *filled;     /* NULL: fills are not reported */
    void *user;
    mem_probe_fn *probe;
    void *probe_user;
    enum mem_level l2;
    bool is_coherent;
    uint32_t line_bytes, line_shift;
    uint32_t n_sms, n_banks, n_channels, n_partitions;
    uint32_t bank_lines; /* consecutive lines of a bank */
    uint32_t l2_latency, l2_merges;
    bool relays;             /* atomics of the other half: halves.relay_cycles */
    bool shares_lookups;     /* stores and the first lines of reads: slice.sector_cycles below 1 */
    uint64_t crossbar_ticks; /* latency of one crossing */
    uint64_t sector_ticks;   /* crossbar.sector_cycles; 0: packets leave SMs by their bytes */
    struct mem_sm *sms;
    struct mem_bank *banks;
    struct mem_channel *channels;
    struct mem_partition *partitions;
    const struct dram_policy *policy;
    void *policy_options;
    uint64_t dram_ticks_per_byte;
    uint64_t dram_hold_cycles; /* how long a hint holds a row */
    uint64_t *busy_cycles;     /* of the channels, for mem_channel_busy() */
    struct stats_mem *sum;
    const struct mem_range *host; /* host memory, by address */
    uint32_t n_host;
    bool has_link;          /* accesses to host memory cross a link */
    struct mem_hint *hints; /* of warm.c; NULL: nothing has been touched */
    uint32_t hint_bits;
    struct mem_outbox *to_sms, *to_partitions; /* per host thread */
    uint32_t n_outboxes, n_threads;            /* that exist; that are used now */
    bool has_mail;                             /* packets go through the outboxes now */
    uint64_t *round;     /* whose packets are being sent, while there is mail; changes between rounds */
    uint64_t last_round; /* the same at other times */
};

static inline void mem_probe(const struct mem *mem, enum mem_probe_kind kind, uint32_t sm, uint64_t line) {
    if (__builtin_expect(mem->probe != NULL, 0))
        mem->probe(mem->probe_user, kind, sm, line);
}

/* machine.c: the line size by which banks and channels are interleaved: the L2's or, without an L2, the longest of the
 * caches above. */
uint32_t mem_line_bytes(const struct config_machine *machine);
/* Returns the bank of a line. With slice.interleave, each round over all banks begins at another one, so that addresses
 * whose distance is a power of two do not meet in few banks. */
static inline uint32_t mem_bank_of(const struct mem *mem, uint64_t line) {
    if (mem->bank_lines == 1)
        return (uint32_t)(line % mem->n_banks);
    uint64_t chunk = line / mem->bank_lines, round = chunk / mem->n_banks;
    uint32_t first = (uint32_t)(round * 0x9e3779b1u) >> 16;
    return (uint32_t)((chunk + first) % mem->n_banks);
}
/* Returns the number from which DRAM's addresses are made: the line's number within its bank, times the banks, plus the
 * bank. So a bank's lines are in channels of its partition. Without slice.interleave it is the line's own number. */
static inline uint64_t mem_place_of(const struct mem *mem, uint64_t line) {
    if (mem->bank_lines == 1)
        return line;
    uint64_t round = line / mem->bank_lines / mem->n_banks;
    return (round * mem->bank_lines + line % mem->bank_lines) * mem->n_banks + mem_bank_of(mem, line);
}

/* l1.c: the caches of an SM */
enum mem_answer mem_l1_access(struct mem *mem, uint32_t sm, uint64_t cycle, enum mem_kind kind, uint64_t address,
                              uint32_t bytes, uint32_t token, uint64_t *ready);
void mem_l1_receive(struct mem *mem, struct mem_sm *sm, const struct mem_message *message, uint64_t cycle);
/* The level below has accepted a store, atomic or uncached read (or a write-back). */
void mem_l1_credit(struct mem *mem, struct mem_sm *sm, bool is_writeback, uint64_t cycle);
void mem_l1_flush(struct mem *mem, struct mem_sm *sm, uint64_t cycle);
/* Changes the size of an L1 that is empty. */
void mem_l1_resize(struct mem_sm *sm, uint32_t bytes);
/* Drops all lines of the texture cache, which nothing else keeps up to date. */
void mem_texture_flush(struct mem_sm *sm);

/* Sends a store of a sector, which has its credit and occupies the link for as long as `n_sectors` sectors do.
 * is_first: of its line; is_next: it is a part of a sector, and not the line's first. */
void mem_l1_send_store(struct mem *mem, struct mem_sm *sm, uint64_t line, uint32_t bytes, uint32_t n_sectors,
                       bool is_first, bool is_next, uint64_t cycle);
/* The link may take stores that wait. */
void mem_l1_send_stores(struct mem *mem, struct mem_sm *sm, uint64_t cycle);

/* stores.c */
void mem_stores_init(struct mem *mem, struct mem_sm *sm);
/* Sends the lines that the link takes now, and has an event wake it for the next. Returns whether any was sent. */
bool mem_stores_run(struct mem *mem, struct mem_sm *sm, uint64_t cycle);
/* Returns whether a store does not wait. */
bool mem_stores_pass(const struct mem_sm *sm);
/* Lets a store wait. Returns false if the queue has no room. */
bool mem_stores_add(struct mem *mem, struct mem_sm *sm, uint64_t address, uint64_t cycle);

/* crossbar.c */
uint64_t mem_ticks_per_byte(double bytes_per_cycle);
void mem_crossbar_to_bank(struct mem *mem, struct mem_sm *sm, struct mem_message *message, uint64_t cycle);
/* A store or an atomic that leaves the SM for as long as `n_sectors` sectors do: crossbar.sector_cycles. */
void mem_crossbar_sectors_to_bank(struct mem *mem, struct mem_sm *sm, struct mem_message *message, uint32_t n_sectors,
                                  uint64_t cycle);
void mem_crossbar_at_bank(struct mem *mem, const struct mem_message *message, uint64_t cycle);
void mem_crossbar_to_sm(struct mem *mem, struct mem_message *message, uint64_t cycle);
void mem_crossbar_at_sm(struct mem *mem, const struct mem_message *message, uint64_t cycle);
void mem_crossbar_credit(struct mem *mem, const struct mem_bank *bank, uint32_t sm, bool is_writeback, uint64_t cycle);

/* l2.c: the banks */
void mem_bank_receive(struct mem *mem, const struct mem_message *message, uint64_t ready, uint64_t cycle);
void mem_bank_serve(struct mem *mem, struct mem_bank *bank, uint64_t cycle);
void mem_bank_retry(struct mem *mem, struct mem_bank *bank, uint64_t cycle);
/* written: this entry's write has a place in DRAM's queue. filled: the line it reads has arrived. */
void mem_bank_written(struct mem *mem, struct mem_bank *bank, uint32_t entry, uint64_t cycle);
void mem_bank_filled(struct mem *mem, struct mem_bank *bank, uint32_t entry, uint64_t cycle);
/* For directory.c. The packet leaves at `when`. */
void mem_bank_send(struct mem *mem, const struct mem_message *message, uint64_t when, uint64_t cycle);
uint32_t mem_bank_take_entry(struct mem_bank *bank, uint64_t line, enum mem_entry_state state);
void mem_bank_wait(struct mem_bank *bank, uint32_t entry, const struct mem_message *message);
struct mem_message mem_bank_next_waiter(struct mem_bank *bank, uint32_t entry, uint64_t cycle);
void mem_bank_release(struct mem_bank *bank, uint32_t entry, uint64_t cycle);
void mem_bank_write_back(struct mem *mem, struct mem_bank *bank, uint32_t entry, uint32_t bytes, uint64_t cycle);
/* On a chip with two halves: notes which half has a line that an SM has accessed, without time. */
void mem_bank_note_half(const struct mem *mem, const struct mem_bank *bank, uint32_t slot, uint32_t sm, uint64_t line,
                        enum mem_kind kind);
/* The answer to `request`: DATA, UPGRADE or DONE. */
void mem_bank_answer(struct mem *mem, const struct mem_message *request, enum mem_message_type type, uint32_t flags,
                     uint64_t when, uint64_t cycle);

/* host.c: memory of the host. Does what a request asks for, and answers it. */
void mem_host_init(struct mem *mem);
uint32_t mem_host_bank_of(const struct mem *mem, uint64_t line);
void mem_host_access(struct mem *mem, struct mem_bank *bank, const struct mem_message *message, uint64_t cycle);

/* directory.c: MESI */
/* Handles a request for a line that is in the L2 and has no work in progress. Returns false if no entry is free. */
bool mem_directory_request(struct mem *mem, struct mem_bank *bank, uint32_t slot, const struct mem_message *message,
                           uint64_t cycle);
/* Serves the entry's waiters until one needs acknowledgements or none is left. The line is in the L2. */
void mem_directory_continue(struct mem *mem, struct mem_bank *bank, uint32_t entry, uint64_t cycle);
void mem_directory_response(struct mem *mem, struct mem_bank *bank, const struct mem_message *message, uint64_t cycle);
/* Returns the SMs with a copy of the line in this slot. */
uint64_t mem_directory_copies(const struct mem_bank *bank, uint32_t slot);
/* Recalls the copies of the line in this slot, which leaves the L2, into the entry. */
void mem_directory_recall(struct mem *mem, struct mem_bank *bank, uint32_t slot, uint32_t entry, uint64_t cycle);

/* dram.c */
void mem_dram_init(struct mem *mem);
/* Opens the row of a bank's line, without time. */
void mem_dram_open_row(struct mem *mem, const struct mem_bank *bank, uint64_t line);
/* type: READ or WRITE. Of the flags only HOLDS_ROW matters. */
void mem_dram_add(struct mem *mem, const struct mem_bank *bank, uint32_t entry, enum mem_message_type type,
                  uint32_t flags, uint32_t bytes, uint64_t cycle);
void mem_dram_run(struct mem *mem, struct mem_partition *partition, uint64_t cycle);
void mem_dram_data(struct mem *mem, const struct mem_message *message, uint64_t cycle);
