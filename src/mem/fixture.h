/* For the tests of this folder: a small machine with round numbers, and a log of the memory's answers. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mem/internal.h"

enum { LOG_ENTRIES = 1 << 20, LINE = 128 };

/* Cycles of accesses on fixture_machine(). Down: +10 L1, +5 crossing, +1/4 header, rounded up: 16. Back: +5 and 4 1/4,
 * rounded up: 10. */
enum { DOWN = 16, BACK = 10, L2_HIT = DOWN + 20 + BACK, ROW_HIT = DOWN + 20 + 50 + 4 + BACK, CONFLICT = ROW_HIT + 100 };

struct answer {
    uint32_t sm, token;
    uint64_t cycle;
};

struct fixture {
    struct config_machine machine;
    struct mem *mem;
    struct answer *log;
    uint32_t n_log;
};

/* Two SMs. L1: 4 KB, 4 ways (8 sets), 10 cycles, write-through. Crossbar: 5 cycles, 32 bytes per cycle, so a header
 * takes 1/4 cycle and a line with its header 4 1/4. L2: 16 KB, 4 ways in 2 banks (16 sets each), 20 cycles. DRAM: one
 * channel, 4 banks, rows of 8 lines, 50 / 150 cycles, 4 cycles of bus per line. */
static inline struct config_machine fixture_machine(void) {
    struct config_machine machine = {
        .sm.count = 2,
        .icache = {.is_present = true,
                   .size_bytes = 2048,
                   .ways = 4,
                   .line_bytes = LINE,
                   .latency_cycles = 1,
                   .banks = 1,
                   .mshrs = 2,
                   .mshr_merges = 4},
        .l1.cache = {.is_present = true,
                     .size_bytes = 4096,
                     .ways = 4,
                     .line_bytes = LINE,
                     .latency_cycles = 10,
                     .banks = 1,
                     .mshrs = 4,
                     .mshr_merges = 3},
        .l2.cache = {.is_present = true,
                     .size_bytes = 16384,
                     .ways = 4,
                     .line_bytes = LINE,
                     .latency_cycles = 20,
                     .banks = 2,
                     .mshrs = 16,
                     .mshr_merges = 8},
        .l1.writes = {.policy = CONFIG_WRITE_THROUGH},
        .l2.writes = {.policy = CONFIG_WRITE_BACK, .allocates = true},
        .slice.sector_cycles = 1,
        .crossbar = {.latency_cycles = 5, .bytes_per_cycle = 32, .credits = 64},
        .dram = {.channels = 1,
                 .banks = 4,
                 .row_bytes = 1024,
                 .row_hit_cycles = 50,
                 .row_conflict_cycles = 150,
                 .bytes_per_cycle = 32,
                 .queue_entries = 16,
                 .policy = "fr-fcfs"},
    };
    strcpy(machine.name, "fixture");
    return machine;
}

/* The machine of Narasiman 2011: one SM, a write-back L1 of one cycle, no L2, no crossbar, FCFS, 100 / 300 cycles. */
static inline struct config_machine fixture_narasiman(void) {
    struct config_machine machine = fixture_machine();
    machine.sm.count = 1;
    machine.l1.cache = (struct config_cache){.is_present = true,
                                             .size_bytes = 32768,
                                             .ways = 4,
                                             .line_bytes = LINE,
                                             .latency_cycles = 1,
                                             .banks = 1,
                                             .mshrs = 32,
                                             .mshr_merges = 32};
    machine.l1.writes = (struct config_writes){.policy = CONFIG_WRITE_BACK, .allocates = true};
    machine.l2.cache.is_present = false;
    machine.crossbar.latency_cycles = 0;
    machine.crossbar.bytes_per_cycle = 0;
    machine.dram = (struct config_dram){.channels = 1,
                                        .banks = 8,
                                        .row_bytes = 4096,
                                        .row_hit_cycles = 100,
                                        .row_conflict_cycles = 300,
                                        .bytes_per_cycle = 32,
                                        .queue_entries = 32,
                                        .policy = "fcfs"};
    return machine;
}

static inline struct config_machine fixture_mesi(void) {
    struct config_machine machine = fixture_machine();
    machine.l1.writes.policy = CONFIG_WRITE_BACK;
    machine.l1.writes.allocates = true;
    machine.memory.coherence = CONFIG_COHERENCE_MESI;
    return machine;
}

static inline void fixture_done(void *user, uint32_t sm, uint32_t token, uint64_t cycle) {
    struct fixture *f = user;
    assert_true(f->n_log < LOG_ENTRIES);
    f->log[f->n_log++] = (struct answer){sm, token, cycle};
}

static inline void fixture_start(struct fixture *f, struct config_machine machine) {
    char text[256] = "";
    memset(f, 0, sizeof *f);
    f->machine = machine;
    f->log = calloc(LOG_ENTRIES, sizeof *f->log);
    if (!mem_can_build(&f->machine, text, sizeof text))
        fail_msg("%s", text);
    f->mem = mem_new(&f->machine, fixture_done, f);
}

static inline void fixture_check(struct fixture *f) {
    char text[256] = "";
    if (!mem_check_invariants(f->mem, text, sizeof text))
        fail_msg("%s", text);
}

/* Runs until nothing is in flight, checks the invariants, and frees the memory. */
static inline void fixture_end(struct fixture *f) {
    mem_advance(f->mem, MEM_NEVER);
    fixture_check(f);
    mem_free(f->mem);
    free(f->log);
}

/* Makes one access; *ready is 0 after a miss. */
static inline enum mem_answer fixture_access(struct fixture *f, uint32_t sm, uint64_t cycle, enum mem_kind kind,
                                             uint64_t line, uint32_t token, uint64_t *ready) {
    *ready = 0;
    mem_advance(f->mem, cycle);
    return mem_access(f->mem, sm, cycle, kind, line * LINE, kind == MEM_ATOMIC ? 4 : LINE, token, ready);
}

static inline void fixture_miss(struct fixture *f, uint32_t sm, uint64_t cycle, enum mem_kind kind, uint64_t line,
                                uint32_t token) {
    uint64_t ready;
    assert_int_equal(fixture_access(f, sm, cycle, kind, line, token, &ready), MEM_MISS);
}

static inline void fixture_hit(struct fixture *f, uint32_t sm, uint64_t cycle, enum mem_kind kind, uint64_t line,
                               uint64_t expected) {
    uint64_t ready;
    assert_int_equal(fixture_access(f, sm, cycle, kind, line, 0, &ready), MEM_HIT);
    assert_int_equal(ready, expected);
}

/* Expects this answer next: not a cycle earlier, not a cycle later. */
static inline void fixture_answer(struct fixture *f, uint32_t n, uint32_t token, uint64_t cycle) {
    mem_advance(f->mem, cycle - 1);
    assert_int_equal(f->n_log, n);
    mem_advance(f->mem, cycle);
    assert_true(f->n_log > n);
    assert_int_equal(f->log[n].token, token);
    assert_int_equal(f->log[n].cycle, cycle);
}
