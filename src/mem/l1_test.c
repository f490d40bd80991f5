/* The L1: hits, misses, ports, MSHRs and stores. Cycle counts are derived on paper (fixture.h). */
#include "mem/fixture.h"

static void an_l1_hit_takes_the_l1_latency(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_machine());
    fixture_miss(&f, 0, 100, MEM_READ, 0, 7);
    fixture_answer(&f, 0, 7, 100 + CONFLICT);
    assert_int_equal(CONFLICT, 200);
    fixture_hit(&f, 0, 400, MEM_READ, 0, 410);
    fixture_hit(&f, 0, 401, MEM_READ, 0, 411);
    const struct stats_mem *counters = mem_counters(f.mem);
    assert_int_equal(counters->l1_accesses, 3);
    assert_int_equal(counters->l1_misses, 1);
    assert_int_equal(counters->l2_accesses, 1);
    assert_int_equal(counters->l2_misses, 1);
    assert_int_equal(counters->dram_reads, 1);
    fixture_end(&f);
}

static void a_second_miss_to_a_line_joins_the_first(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    fixture_start(&f, fixture_machine());
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    fixture_miss(&f, 0, 101, MEM_READ, 0, 2);
    fixture_miss(&f, 0, 102, MEM_READ, 0, 3);
    assert_int_equal(fixture_access(&f, 0, 103, MEM_READ, 0, 4, &ready), MEM_REFUSED); /* 3 per MSHR */
    fixture_answer(&f, 0, 1, 300);
    assert_int_equal(f.n_log, 3);
    assert_int_equal(f.log[2].token, 3);
    assert_int_equal(f.log[2].cycle, 300);
    const struct stats_mem *counters = mem_counters(f.mem);
    assert_int_equal(counters->l1_accesses, 3);
    assert_int_equal(counters->l1_merges, 2);
    assert_int_equal(counters->mshr_full, 1);
    assert_int_equal(counters->dram_reads, 1);
    fixture_end(&f);
}

static void full_mshrs_refuse_until_a_line_arrives(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    fixture_start(&f, fixture_machine());
    for (uint32_t i = 0; i < 4; i++)
        fixture_miss(&f, 0, 100 + i, MEM_READ, 2 * i, i);
    assert_int_equal(fixture_access(&f, 0, 104, MEM_READ, 20, 4, &ready), MEM_REFUSED);
    assert_int_equal(ready, mem_next_event(f.mem));
    assert_int_equal(fixture_access(&f, 0, 299, MEM_READ, 20, 4, &ready), MEM_REFUSED);
    fixture_miss(&f, 0, 300, MEM_READ, 20, 4);
    fixture_end(&f);
    assert_int_equal(f.n_log, 5);
}

static void a_port_and_a_bank_take_one_access_per_cycle(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    struct config_machine machine = fixture_machine();
    fixture_start(&f, machine);
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    assert_int_equal(fixture_access(&f, 0, 100, MEM_READ, 1, 2, &ready), MEM_REFUSED);
    assert_int_equal(ready, 101);
    fixture_miss(&f, 1, 100, MEM_READ, 1, 2); /* the other SM has its own port */
    assert_int_equal(mem_counters(f.mem)->port_conflicts, 1);
    fixture_end(&f);

    machine.l1.cache.banks = 4;
    fixture_start(&f, machine);
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    fixture_miss(&f, 0, 100, MEM_READ, 1, 2);
    fixture_miss(&f, 0, 100, MEM_READ, 3, 3);
    assert_int_equal(fixture_access(&f, 0, 100, MEM_READ, 4, 4, &ready), MEM_REFUSED); /* bank 0, like line 0 */
    fixture_miss(&f, 0, 101, MEM_READ, 4, 4);
    fixture_end(&f);
}

static void a_refused_access_leaves_the_port_free(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    fixture_start(&f, fixture_machine());
    for (uint32_t i = 0; i < 4; i++)
        fixture_miss(&f, 0, 100 + i, MEM_READ, 2 * i, i);
    assert_int_equal(fixture_access(&f, 0, 104, MEM_READ, 20, 4, &ready), MEM_REFUSED);
    fixture_miss(&f, 0, 104, MEM_READ, 0, 5);
    fixture_end(&f);
}

/* Of 32 lines in 8 sets, a kernel gets 9: in 8 sets that is one way, in 4 sets two. */
static void a_kernel_may_get_a_part_of_the_l1(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = fixture_machine();
    machine.unified = (struct config_unified){true, .shared_sizes = "3K"};
    fixture_start(&f, machine);
    mem_resize_l1(f.mem, 9 * LINE); /* 4 sets of 2 ways */
    for (uint64_t line = 0; line < 12; line += 4)
        fixture_miss(&f, 0, 1000 + 1000 * line, MEM_READ, line, 1);
    fixture_hit(&f, 0, 20000, MEM_READ, 4, 20010);
    fixture_miss(&f, 0, 21000, MEM_READ, 0, 1); /* the third line of this set has taken its way */
    mem_advance(f.mem, 30000);
    mem_flush_l1(f.mem, 30000);
    for (uint64_t line = 0; line < 32; line += 8)
        fixture_miss(&f, 0, 40000 + 1000 * line, MEM_READ, line, 1);
    fixture_hit(&f, 0, 80000, MEM_READ, 0, 80010); /* four ways again */
    fixture_end(&f);
}

static void a_load_may_pass_the_l1(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_machine());
    fixture_miss(&f, 0, 1000, MEM_READ_PAST, 0, 1); /* from DRAM */
    fixture_miss(&f, 0, 2000, MEM_READ_PAST, 0, 2);
    fixture_answer(&f, 1, 2, 2000 + L2_HIT);
    fixture_miss(&f, 0, 3000, MEM_READ, 0, 3); /* neither has left it in the L1, this load does */
    fixture_hit(&f, 0, 4000, MEM_READ, 0, 4010);
    fixture_miss(&f, 0, 5000, MEM_READ_PAST, 0, 4);
    fixture_answer(&f, 3, 4, 5000 + L2_HIT);
    fixture_miss(&f, 0, 6000, MEM_READ, 0, 5); /* the line has left */
    fixture_miss(&f, 0, 7000, MEM_READ_PAST, 2, 6);
    fixture_miss(&f, 0, 7001, MEM_READ, 2, 7); /* waits for the same line, and keeps it */
    fixture_hit(&f, 0, 8000, MEM_READ, 2, 8010);
    assert_int_equal(f.n_log, 7);
    assert_int_equal(mem_counters(f.mem)->uncached_reads, 4);
    assert_int_equal(mem_counters(f.mem)->l1_accesses, 5);
    fixture_end(&f);
}

static void a_store_is_written_through_and_updates_the_line(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_machine());
    fixture_hit(&f, 0, 100, MEM_WRITE, 0, 101); /* a miss, but the store needs no answer */
    mem_advance(f.mem, MEM_NEVER);
    const struct stats_mem *counters = mem_counters(f.mem);
    assert_int_equal(counters->l1_writes, 1);
    assert_int_equal(counters->l1_write_misses, 1);
    assert_int_equal(counters->l2_accesses, 1);
    assert_int_equal(counters->dram_reads, 0); /* the whole line: nothing to fetch */
    assert_int_equal(counters->crossbar_bytes, 8 + LINE);
    assert_int_equal(f.n_log, 0);
    fixture_miss(&f, 0, 1000, MEM_READ, 0, 1); /* not allocated in the L1, but in the L2 */
    fixture_answer(&f, 0, 1, 1000 + L2_HIT);
    fixture_hit(&f, 0, 1100, MEM_WRITE, 0, 1101);
    fixture_hit(&f, 0, 1101, MEM_READ, 0, 1111);
    assert_int_equal(mem_counters(f.mem)->l1_write_misses, 1);
    fixture_end(&f);
}

static void a_store_may_leave_its_line_in_the_l1(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = fixture_machine();
    uint64_t ready;
    machine.l1.writes.allocates = true;
    fixture_start(&f, machine);
    fixture_hit(&f, 0, 100, MEM_WRITE, 0, 101);
    fixture_hit(&f, 0, 101, MEM_READ, 0, 111);
    assert_int_equal(mem_access(f.mem, 0, 102, MEM_WRITE, 2 * LINE, LINE / 2, 0, &ready), MEM_HIT);
    fixture_miss(&f, 0, 1000, MEM_READ, 2, 1); /* only a part of it was known */
    fixture_miss(&f, 0, 2000, MEM_READ, 4, 2);
    fixture_hit(&f, 0, 2001, MEM_WRITE, 4, 2002); /* the line that is on its way goes into one place */
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->l1_misses, 5);
    fixture_end(&f);
}

/* 136 bytes each over the SM's link of 32 per cycle: the bank takes a store every 4 1/4 cycles at best. */
static void a_part_of_a_line_of_local_memory_may_stay_in_the_l1(void **state) {
    (void)state;
    for (int keeps = 0; keeps < 2; keeps++) {
        struct fixture f;
        uint64_t ready;
        struct config_machine machine = fixture_machine();
        machine.l1.writes.allocates = true;
        machine.l1.keeps_local = keeps;
        fixture_start(&f, machine);
        assert_int_equal(mem_access(f.mem, 0, 100, MEM_WRITE, MEM_LOCAL, 4, 1, &ready), MEM_HIT);
        assert_int_equal(mem_access(f.mem, 0, 101, MEM_WRITE, 0, 4, 1, &ready), MEM_HIT);
        mem_advance(f.mem, 500);
        assert_int_equal(mem_access(f.mem, 0, 500, MEM_READ, MEM_LOCAL, 4, 1, &ready), keeps ? MEM_HIT : MEM_MISS);
        assert_int_equal(mem_access(f.mem, 0, 501, MEM_READ, 0, 4, 1, &ready), MEM_MISS);
        fixture_end(&f);
    }
}

static void stores_are_refused_when_too_many_are_in_flight(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    fixture_start(&f, fixture_machine());
    uint64_t cycle = 100;
    while (fixture_access(&f, 0, cycle, MEM_WRITE, 2 * (cycle % 8), 0, &ready) == MEM_HIT)
        cycle++;
    /* The k-th store's tail is at the bank at 115 + 4.25 k (k from 1) and its credit returns 5 cycles after the next
     * full cycle; at cycle c, the credits up to the largest k with 120 + ceil(4.25 k) <= c have returned, and c - 100 -
     * k <= 64 are out. c = 178: k = 13 (175.25 -> 176), 78 - 13 = 65 > 64. c = 177: k = 13, 64 out: refused. */
    assert_int_equal(cycle, 177);
    assert_int_equal(mem_counters(f.mem)->crossbar_full, 1);
    assert_int_equal(fixture_access(&f, 0, 179, MEM_WRITE, 0, 0, &ready), MEM_REFUSED);
    fixture_hit(&f, 0, 180, MEM_WRITE, 0, 181); /* k = 14: 59.5 -> 180 */
    fixture_end(&f);
}

/* Lines of 32 bytes above lines of 128. A miss brings 40 bytes (1 1/4 cycles) of the L2's line. */
static void shorter_l1_lines_lie_in_memory_lines(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    struct config_machine machine = fixture_machine();
    machine.sm.count = 1;
    machine.l1.cache.line_bytes = 32;
    machine.l1.cache.size_bytes = 256; /* 2 sets */
    machine.l1.writes.policy = CONFIG_WRITE_BACK;
    machine.l1.writes.allocates = true;
    fixture_start(&f, machine);
    assert_int_equal(mem_access(f.mem, 0, 100, MEM_READ, 96, 4, 1, &ready), MEM_MISS);
    fixture_answer(&f, 0, 1, 297); /* 290, 295, 296.25 */
    assert_int_equal(mem_access(f.mem, 0, 300, MEM_WRITE, 64, 32, 2, &ready), MEM_HIT);
    mem_flush_l1(f.mem, 400);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->l1_writebacks, 1);
    assert_int_equal(mem_counters(f.mem)->l2_accesses, 2);
    assert_int_equal(mem_counters(f.mem)->l2_misses, 1); /* both are in the L2's one line */
    fixture_end(&f);
}

static void a_perfect_l1_still_has_ports(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    struct config_machine machine = fixture_machine();
    machine.l1.cache.is_perfect = true;
    fixture_start(&f, machine);
    fixture_hit(&f, 0, 100, MEM_READ, 5, 110);
    assert_int_equal(fixture_access(&f, 0, 100, MEM_READ, 9, 1, &ready), MEM_REFUSED);
    fixture_end(&f);
}

static void a_write_back_cache_writes_when_the_line_leaves(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    fixture_start(&f, fixture_narasiman()); /* 64 sets of 4 ways */
    mem_advance(f.mem, 100);
    assert_int_equal(mem_access(f.mem, 0, 100, MEM_WRITE, 0, 4, 1, &ready), MEM_MISS);
    fixture_answer(&f, 0, 1, 405);
    fixture_hit(&f, 0, 500, MEM_WRITE, 0, 501);
    fixture_hit(&f, 0, 501, MEM_WRITE, 64, 502); /* a whole line needs no fetch */
    assert_int_equal(mem_counters(f.mem)->dram_reads, 1);
    for (uint32_t i = 2; i < 5; i++)
        fixture_miss(&f, 0, 600 + i, MEM_READ, 64 * i, i);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->l1_writebacks, 1); /* line 0, the least recently used */
    assert_int_equal(mem_counters(f.mem)->dram_writes, 1);
    assert_int_equal(mem_counters(f.mem)->l1_misses, 5);
    fixture_end(&f);
}

static void a_flush_empties_the_l1_and_writes_dirty_lines_back(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_narasiman());
    for (uint32_t i = 0; i < 200; i++)
        fixture_hit(&f, 0, 100 + i, MEM_WRITE, i, 101 + i);
    mem_flush_l1(f.mem, 400); /* more dirty lines than write-back buffers */
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->l1_writebacks, 200);
    assert_int_equal(mem_counters(f.mem)->dram_writes, 200);
    fixture_miss(&f, 0, 100000, MEM_READ, 3, 1);
    fixture_end(&f);
}

static void a_dirty_line_goes_down_before_an_atomic(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_narasiman());
    fixture_hit(&f, 0, 100, MEM_WRITE, 0, 101);
    fixture_miss(&f, 0, 200, MEM_ATOMIC, 0, 1);
    /* The write starts at 201 (conflict: 501), the atomic's read when the row is open, at 401: its data is ready at 501
     * too and takes the bus after the write: 501 + 4, and one burst of 32 bytes. */
    fixture_answer(&f, 0, 1, 506);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->dram_writes, 2); /* and the atomic's own, 32 bytes */
    assert_int_equal(mem_counters(f.mem)->dram_reads, 1);
    assert_int_equal(mem_counters(f.mem)->bus_busy_cycles, 4 + 1 + 1);
    fixture_end(&f);
}

/* Lines 0 and 1 have one tag. Line 1 is in the L1, or on its way there, when line 0 is changed. */
static void an_atomic_drops_all_lines_of_its_tag(void **state) {
    (void)state;
    for (unsigned is_on_way = 0; is_on_way < 2; is_on_way++) {
        struct fixture f;
        struct config_machine machine = fixture_machine();
        uint64_t ready;
        machine.l1.tag_bytes = 2 * LINE;
        fixture_start(&f, machine);
        fixture_miss(&f, 0, 100, MEM_READ, 1, 1);
        mem_advance(f.mem, is_on_way ? 101 : 2000);
        fixture_miss(&f, 0, is_on_way ? 102 : 2001, MEM_ATOMIC, 0, 2);
        mem_advance(f.mem, 4000);
        assert_int_equal(f.n_log, 2);
        assert_int_equal(fixture_access(&f, 0, 4001, MEM_READ, 1, 3, &ready), MEM_MISS);
        fixture_end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_l1_hit_takes_the_l1_latency),
        cmocka_unit_test(a_second_miss_to_a_line_joins_the_first),
        cmocka_unit_test(full_mshrs_refuse_until_a_line_arrives),
        cmocka_unit_test(a_port_and_a_bank_take_one_access_per_cycle),
        cmocka_unit_test(a_refused_access_leaves_the_port_free),
        cmocka_unit_test(a_kernel_may_get_a_part_of_the_l1),
        cmocka_unit_test(a_load_may_pass_the_l1),
        cmocka_unit_test(a_store_is_written_through_and_updates_the_line),
        cmocka_unit_test(a_store_may_leave_its_line_in_the_l1),
        cmocka_unit_test(a_part_of_a_line_of_local_memory_may_stay_in_the_l1),
        cmocka_unit_test(stores_are_refused_when_too_many_are_in_flight),
        cmocka_unit_test(shorter_l1_lines_lie_in_memory_lines),
        cmocka_unit_test(a_perfect_l1_still_has_ports),
        cmocka_unit_test(a_write_back_cache_writes_when_the_line_leaves),
        cmocka_unit_test(a_flush_empties_the_l1_and_writes_dirty_lines_back),
        cmocka_unit_test(a_dirty_line_goes_down_before_an_atomic),
        cmocka_unit_test(an_atomic_drops_all_lines_of_its_tag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
