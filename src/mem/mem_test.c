/* Accesses through the whole memory, and memories without some of its parts. Cycle counts are derived on paper
 * (fixture.h). */
#include "mem/fixture.h"

static void an_open_row_is_faster_than_another(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_machine());
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    fixture_answer(&f, 0, 1, 100 + CONFLICT);
    fixture_miss(&f, 0, 500, MEM_READ, 7, 2); /* the same row of 8 lines */
    fixture_answer(&f, 1, 2, 500 + ROW_HIT);
    fixture_miss(&f, 0, 1000, MEM_READ, 8, 3); /* the next row is in the next bank, which has no open row */
    fixture_answer(&f, 2, 3, 1000 + CONFLICT);
    fixture_miss(&f, 0, 1500, MEM_READ, 32, 4); /* bank 0 again, its next row */
    fixture_answer(&f, 3, 4, 1500 + CONFLICT);
    assert_int_equal(mem_counters(f.mem)->row_hits, 1);
    assert_int_equal(mem_counters(f.mem)->row_conflicts, 3);
    assert_int_equal(mem_counters(f.mem)->bus_busy_cycles, 16);
    fixture_end(&f);
}

static void perfect_memory_always_hits(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = fixture_machine();
    machine.memory.is_perfect = true;
    fixture_start(&f, machine);
    for (uint64_t i = 0; i < 100; i++)
        fixture_hit(&f, 0, 100, (enum mem_kind)(i % 3), i, 110);
    fixture_hit(&f, 0, 100, MEM_FETCH, 0, 101);
    assert_true(mem_next_event(f.mem) == MEM_NEVER);
    fixture_end(&f);
}

/* No L1: leaves at once. 4 bytes requested, 12 returned: 105.25 -> 106, 126, 276 DRAM, 280, 285.375 -> 286. */
static void without_an_l1_every_access_goes_down(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    struct config_machine machine = fixture_machine();
    machine.l1.cache.is_present = false;
    fixture_start(&f, machine);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(mem_access(f.mem, 0, 100 + 500 * i, MEM_READ, 0, 4, i, &ready), MEM_MISS);
        mem_advance(f.mem, 590);
    }
    assert_int_equal(f.log[0].cycle, 286);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(f.log[1].cycle, 600 + 6 + 20 + 6);
    assert_int_equal(mem_counters(f.mem)->uncached_reads, 2);
    fixture_end(&f);
}

/* Narasiman 2011: leaves the L1 at 101; 300 + 4 cycles: 405. */
static void without_an_l2_misses_go_straight_to_dram(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_narasiman());
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    fixture_answer(&f, 0, 1, 405);
    fixture_miss(&f, 0, 500, MEM_READ, 31, 2); /* rows of 32 lines */
    fixture_answer(&f, 1, 2, 605);
    fixture_hit(&f, 0, 700, MEM_READ, 31, 701);
    assert_int_equal(mem_counters(f.mem)->l2_accesses, 0);
    fixture_end(&f);
}

/* An atomic's answer leaves before its write has a place in DRAM's queue; new ones must not overrun the writes. */
static void atomics_without_an_l2_wait_for_their_writes(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    uint32_t n = 0;
    struct config_machine machine = fixture_narasiman();
    machine.l1.cache.is_present = false;
    machine.dram.queue_entries = 1;
    fixture_start(&f, machine);
    for (uint64_t cycle = 1; cycle < 30000; cycle++)
        n += fixture_access(&f, 0, cycle, MEM_ATOMIC, cycle % 7, n, &ready) == MEM_MISS;
    mem_advance(f.mem, MEM_NEVER);
    assert_true(n > 100);
    assert_int_equal(f.n_log, n);
    assert_int_equal(mem_counters(f.mem)->dram_reads, n);
    assert_int_equal(mem_counters(f.mem)->dram_writes, n);
    fixture_end(&f);
}

static void count_line(void *user, const char *text) {
    uint32_t *n = user;
    assert_true(strlen(text) > 0);
    ++*n;
}

static void accesses_in_flight_can_be_described(void **state) {
    (void)state;
    struct fixture f;
    uint32_t n = 0;
    fixture_start(&f, fixture_machine());
    mem_describe(f.mem, count_line, &n);
    assert_int_equal(n, 1);
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    fixture_hit(&f, 0, 101, MEM_WRITE, 2, 102);
    mem_advance(f.mem, 118);
    n = 0;
    mem_describe(f.mem, count_line, &n);
    /* The next event, the MSHR, the store, the store in the bank's port, the L2's entry. */
    assert_int_equal(n, 5);
    fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_row_is_faster_than_another),
        cmocka_unit_test(perfect_memory_always_hits),
        cmocka_unit_test(without_an_l1_every_access_goes_down),
        cmocka_unit_test(without_an_l2_misses_go_straight_to_dram),
        cmocka_unit_test(atomics_without_an_l2_wait_for_their_writes),
        cmocka_unit_test(accesses_in_flight_can_be_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
