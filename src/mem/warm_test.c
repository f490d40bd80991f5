/* Tests of accesses without time: later accesses find their lines and rows. */
#include <stdlib.h>

#include "mem/fixture.h"

/* An access without time leaves the L2 and DRAM as a timed one does: its line is in the L2, and its row is open. */
static void an_access_without_time_warms_the_l2_and_opens_the_row(void **state) {
    (void)state;
    struct fixture f;
    uint64_t address[32] = {0, LINE};
    struct mem_touched touched = {0};
    fixture_start(&f, fixture_machine());
    mem_touch(f.mem, 0, address, 3, 4, MEM_READ, NULL, &touched);
    assert_int_equal(touched.n_lines, 2);
    assert_int_equal(touched.n_misses, 2);
    mem_touch(f.mem, 0, address, 1, 4, MEM_WRITE, NULL, &touched);
    assert_int_equal(touched.n_lines, 3);
    assert_int_equal(touched.n_misses, 2);
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    fixture_answer(&f, 0, 1, 100 + L2_HIT);
    fixture_miss(&f, 0, 500, MEM_READ, 7, 2); /* the same row */
    fixture_answer(&f, 1, 2, 500 + ROW_HIT);
    assert_int_equal(mem_counters(f.mem)->dram_reads, 1);
    fixture_end(&f);
}

/* Reads so many lines in turn that each is gone when it comes again. */
static void a_line_that_was_evicted_misses_again(void **state) {
    (void)state;
    struct fixture f;
    struct mem_touched touched = {0};
    const struct config_machine machine = fixture_machine();
    uint64_t n = 2 * machine.l2.cache.size_bytes / LINE;
    fixture_start(&f, machine);
    for (uint64_t i = 0; i < 2 * n; i++) {
        uint64_t address[32] = {i % n * LINE};
        mem_touch(f.mem, 0, address, 1, 4, MEM_READ, NULL, &touched);
    }
    assert_int_equal(touched.n_lines, 2 * n);
    assert_int_equal(touched.n_misses, 2 * n);
    fixture_end(&f);
}

/* SM 0 has fetched the code, SM 1 has not, but finds it in the L2. */
static void code_without_time_is_in_the_caches_of_sms_that_had_blocks(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    fixture_start(&f, fixture_machine());
    mem_touch_code(f.mem, 0, LINE, 1);
    fixture_hit(&f, 0, 100, MEM_FETCH, 0, 101);
    assert_int_equal(mem_access(f.mem, 1, 200, MEM_FETCH, 0, LINE, 1, &ready), MEM_MISS);
    mem_advance(f.mem, 400);
    assert_int_equal(mem_counters(f.mem)->l2_misses, 0);
    fixture_end(&f);
}

/* However the lanes are spread: over one line, two neighbours, across the border of lines, downwards, or far apart. */
static void an_access_without_time_touches_the_lines_of_a_timed_one(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_machine());
    srand(1);
    for (unsigned k = 0; k < 20000; k++) {
        uint64_t address[32];
        uint32_t bytes = 1u << rand() % 5, mask = rand() % 4 ? UINT32_MAX : (uint32_t)rand() | 1u << rand() % 31;
        uint64_t spread = (uint64_t)1 << rand() % 10, base = 8 * LINE + (uint64_t)(rand() % (2 * LINE));
        for (unsigned i = 0; i < 32; i++)
            address[i] = k % 3 == 0   ? base + i * spread
                         : k % 3 == 1 ? base - i * bytes
                                      : base + (uint64_t)rand() % spread;
        struct mem_transaction transaction[MEM_MAX_TRANSACTIONS];
        struct mem_touched touched = {0};
        mem_touch(f.mem, 0, address, mask, bytes, MEM_READ, NULL, &touched);
        assert_int_equal(touched.n_lines, mem_coalesce(address, mask, bytes, LINE, transaction));
        struct mem_reach reach = {UINT64_MAX, 0}; /* the same if the lowest and the highest address are known */
        for (uint32_t left = mask; left; left &= left - 1) {
            uint64_t own = address[__builtin_ctz(left)];
            reach = (struct mem_reach){own < reach.low ? own : reach.low, own > reach.high ? own : reach.high};
        }
        struct mem_touched known = {0};
        mem_touch(f.mem, 0, address, mask, bytes, MEM_READ, &reach, &known);
        assert_int_equal(known.n_lines, touched.n_lines);
        assert_int_equal(known.n_misses, 0);
        for (unsigned i = 0; i < touched.n_lines; i++) { /* all of them are in the L2 now */
            struct mem_touched again = {0};
            address[0] = transaction[i].line;
            mem_touch(f.mem, 0, address, 1, 1, MEM_READ, NULL, &again);
            assert_int_equal(again.n_misses, 0);
        }
    }
    fixture_end(&f);
}

/* Makes an access of some lanes with time. */
static void access_lines(struct fixture *f, uint64_t cycle, const uint64_t address[32], uint32_t mask, uint32_t bytes,
                         enum mem_kind kind) {
    struct mem_transaction transaction[MEM_MAX_TRANSACTIONS];
    unsigned n = mem_coalesce(address, mask, bytes, LINE, transaction);
    for (unsigned i = 0; i < n; i++) {
        uint64_t ready;
        mem_advance(f->mem, cycle + 500 * i);
        enum mem_answer answer =
            mem_access(f->mem, 0, cycle + 500 * i, kind, transaction[i].line, transaction[i].bytes, 1, &ready);
        assert_int_equal(answer, kind == MEM_WRITE ? MEM_HIT : MEM_MISS);
    }
    mem_advance(f->mem, cycle + 500 * n);
}

/* Returns how many bytes of the line are missing in the L2, or MEM_NONE if it is not there. */
static uint32_t missing_bytes(const struct mem *mem, uint64_t line) {
    const struct mem_bank *bank = &mem->banks[mem_bank_of(mem, line)];
    uint32_t slot = mem_cache_find(&bank->cache, line);
    return slot == MEM_NONE ? MEM_NONE : bank->missing[slot];
}

/* slice.keep_parts: random stores, loads and atomics of more lines than fit. There is no L1. */
static void stores_without_time_leave_lines_as_incomplete_as_timed_ones(void **state) {
    (void)state;
    enum { N_LINES = 200 };
    static const enum mem_kind kinds[] = {MEM_WRITE, MEM_WRITE, MEM_WRITE, MEM_READ, MEM_ATOMIC};
    struct fixture timed, untimed;
    struct config_machine machine = fixture_machine();
    unsigned n_incomplete = 0;
    machine.slice.keeps_parts = true;
    machine.l1.cache.is_present = false;
    fixture_start(&timed, machine);
    fixture_start(&untimed, machine);
    srand(1);
    for (unsigned k = 0; k < 3000; k++) {
        uint64_t address[32], base = (uint64_t)(rand() % (N_LINES * LINE));
        uint32_t bytes = 4u << rand() % 3, mask = rand() % 2 ? UINT32_MAX : (uint32_t)rand() | 1;
        uint32_t stride = bytes * (1 + (uint32_t)rand() % 3);
        enum mem_kind kind = kinds[rand() % 5];
        for (uint32_t lane = 0; lane < 32; lane++)
            address[lane] = base + (k % 2 ? lane : 31 - lane) * stride;
        struct mem_touched touched = {0};
        uint64_t before = mem_counters(timed.mem)->l2_misses;
        access_lines(&timed, 100 + 20000 * (uint64_t)k, address, mask, bytes, kind);
        mem_touch(untimed.mem, 0, address, mask, bytes, kind, NULL, &touched);
        assert_int_equal(touched.n_misses, mem_counters(timed.mem)->l2_misses - before);
        for (uint64_t line = 0; line < N_LINES + 16; line++) {
            uint32_t n = missing_bytes(timed.mem, line);
            assert_int_equal(missing_bytes(untimed.mem, line), n);
            n_incomplete += n != MEM_NONE && n != 0;
        }
    }
    assert_true(n_incomplete > 10000);
    fixture_end(&timed);
    fixture_end(&untimed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_without_time_warms_the_l2_and_opens_the_row),
        cmocka_unit_test(an_access_without_time_touches_the_lines_of_a_timed_one),
        cmocka_unit_test(stores_without_time_leave_lines_as_incomplete_as_timed_ones),
        cmocka_unit_test(a_line_that_was_evicted_misses_again),
        cmocka_unit_test(code_without_time_is_in_the_caches_of_sms_that_had_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
