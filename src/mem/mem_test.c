/* Cycle counts through L1, crossbar and L2, derived on paper. The fixture's numbers: L1 10, header 1/4 cycle, crossing
 * 5, L2 20, DRAM 50 / 150 + 4 on the bus, line with header 4 1/4 cycles. */
#include "mem/fixture.h"

/* Down: +10 L1, +5 crossing, +1/4 header, rounded up: 16 cycles. Back: +5 and 4 1/4, rounded up: 10. */
enum { DOWN = 16, BACK = 10, L2_HIT = DOWN + 20 + BACK, ROW_HIT = DOWN + 20 + 50 + 4 + BACK, CONFLICT = ROW_HIT + 100 };

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

static void an_l2_hit_takes_both_lookups_and_two_crossings(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_machine());
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    fixture_answer(&f, 0, 1, 300);
    fixture_miss(&f, 1, 400, MEM_READ, 0, 2);
    fixture_answer(&f, 1, 2, 400 + L2_HIT);
    assert_int_equal(L2_HIT, 46);
    assert_int_equal(f.log[1].sm, 1);
    fixture_end(&f);
}

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

/* Starts with line 0 and another one in the L2, and with empty L1s. */
static void start_with_lines_in_l2(struct fixture *f, struct config_machine machine, uint64_t other) {
    fixture_start(f, machine);
    fixture_miss(f, 0, 100, MEM_READ, 0, 1);
    fixture_miss(f, 0, 101, MEM_READ, other, 1);
    mem_advance(f->mem, MEM_NEVER);
    mem_flush_l1(f->mem, 1000);
}

/* Two SMs request two lines of one bank, both in the L2, in the same cycle. Their headers take the bank's port one
 * after the other, 115.0 to 115.25 to 115.5, and both have arrived at 116. The bank looks up one per cycle: answers
 * leave at 136 and 137, over the bank's one link: 136.0 to 140.25, 140.25 to 144.5. Crossing 5: they arrive at 145.25
 * and 149.5. */
static void a_bank_and_its_link_serve_one_after_the_other(void **state) {
    (void)state;
    struct fixture f;
    start_with_lines_in_l2(&f, fixture_machine(), 2);
    fixture_miss(&f, 0, 1100, MEM_READ, 0, 2);
    fixture_miss(&f, 1, 1100, MEM_READ, 2, 3);
    fixture_answer(&f, 2, 2, 1146);
    fixture_answer(&f, 3, 3, 1150);
    fixture_end(&f);
}

/* Different banks have only DRAM in common, and these accesses do not reach it. */
static void two_banks_work_side_by_side(void **state) {
    (void)state;
    struct fixture f;
    start_with_lines_in_l2(&f, fixture_machine(), 1);
    fixture_miss(&f, 0, 1100, MEM_READ, 0, 2);
    fixture_miss(&f, 1, 1100, MEM_READ, 1, 3);
    fixture_answer(&f, 2, 2, 1146);
    assert_int_equal(f.n_log, 4);
    fixture_end(&f);
}

/* One SM, two banks: both answers take the SM's link. 141.0 to 145.25; the second, requested a cycle later, has to wait
 * for it: 145.25 to 149.5. */
static void the_link_into_an_sm_serves_one_after_the_other(void **state) {
    (void)state;
    struct fixture f;
    start_with_lines_in_l2(&f, fixture_machine(), 1);
    fixture_miss(&f, 0, 1100, MEM_READ, 0, 2);
    fixture_miss(&f, 0, 1101, MEM_READ, 1, 3);
    fixture_answer(&f, 2, 2, 1146);
    fixture_answer(&f, 3, 3, 1150);
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

/* As in a_bank_and_its_link_serve_one_after_the_other, but for one line: both answers leave at 136. */
static void a_bank_answers_loads_of_a_line_together(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = fixture_machine();
    machine.slice.combine = 2;
    start_with_lines_in_l2(&f, machine, 2);
    fixture_miss(&f, 0, 1100, MEM_READ, 0, 2);
    fixture_miss(&f, 1, 1100, MEM_READ, 0, 3);
    fixture_answer(&f, 2, 2, 1146);
    fixture_answer(&f, 3, 3, 1150); /* after the first packet has left, and without one of its own */
    assert_int_equal(mem_counters(f.mem)->l2_accesses, 4);
    fixture_end(&f);
}

/* Reads four sectors of 32 bytes from the L2, in one cycle. Returns the time from the first answer to the last. */
static uint64_t cycles_of_four_sectors(enum mem_kind kind, double bytes_per_cycle) {
    enum { SECTOR = 32, N = 4 };
    struct fixture f;
    struct config_machine machine = fixture_machine();
    machine.l1.cache.line_bytes = machine.l2.cache.line_bytes = machine.icache.line_bytes = SECTOR;
    machine.l1.cache.banks = N;
    machine.l2.cache.banks = 1;
    machine.l1.bypass = true;
    machine.crossbar.bytes_per_cycle = 0;
    machine.copies =
        (struct config_copies){.is_present = true, .sector_cycles = 0.4, .load_bytes_per_cycle = bytes_per_cycle};
    fixture_start(&f, machine);
    for (uint64_t cycle = 100; cycle <= 2000; cycle += 1900) {
        uint64_t ready;
        mem_advance(f.mem, cycle);
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(mem_access(f.mem, 0, cycle, kind, i * SECTOR, SECTOR, i, &ready), MEM_MISS);
        mem_advance(f.mem, 1900);
    }
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(f.n_log, 2 * N);
    uint64_t cycles = f.log[2 * N - 1].cycle - f.log[N].cycle;
    fixture_end(&f);
    return cycles;
}

/* A link of 8 bytes per cycle has a sector in four cycles. */
static void a_bulk_copy_reads_the_sectors_of_a_line_together(void **state) {
    (void)state;
    assert_int_equal(cycles_of_four_sectors(MEM_READ_PAST, 1000), 3);
    assert_true(cycles_of_four_sectors(MEM_READ_BULK, 1000) < 3);
    assert_int_equal(cycles_of_four_sectors(MEM_READ_BULK, 8), 12);
}

/* Pages of 4 KB are at home in halves by their number, SMs too: lines 0 and 64 are at home with SM 0 and SM 1. */
static void a_half_of_the_chip_has_what_its_sms_have_accessed(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = fixture_machine();
    machine.halves = (struct config_halves){true, .atomic_cycles = 300, .read_cycles = 70};
    machine.l1.bypass = true;
    fixture_start(&f, machine);
    fixture_miss(&f, 0, 1000, MEM_READ, 0, 1);
    mem_advance(f.mem, 1999);
    assert_int_equal(f.n_log, 1);
    fixture_miss(&f, 1, 2000, MEM_READ_PAST, 0, 2); /* from the other half */
    fixture_answer(&f, 1, 2, 2000 + L2_HIT + 70);
    fixture_miss(&f, 1, 3000, MEM_READ_PAST, 0, 3);
    fixture_answer(&f, 2, 3, 3000 + L2_HIT);
    fixture_hit(&f, 1, 4000, MEM_WRITE, 0, 4001); /* its half keeps what it writes */
    fixture_miss(&f, 1, 5000, MEM_READ_PAST, 0, 4);
    fixture_answer(&f, 3, 4, 5000 + L2_HIT);
    fixture_hit(&f, 0, 6000, MEM_WRITE, 0, 6001); /* but not what the other writes */
    fixture_miss(&f, 1, 7000, MEM_READ_PAST, 0, 5);
    fixture_answer(&f, 4, 5, 7000 + L2_HIT + 70);
    fixture_end(&f);
}

static void the_host_leaves_every_second_line_astray(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = fixture_machine();
    unsigned n_slow = 0;
    machine.halves = (struct config_halves){true, .atomic_cycles = 300, .host_cycles = 90};
    fixture_start(&f, machine);
    mem_warm(f.mem, 0, 32 * LINE);
    for (uint32_t i = 0; i < 64; i++) { /* twice */
        uint64_t start = 1000 * (i + 1);
        fixture_miss(&f, 0, start, MEM_READ_PAST, i % 32, i);
        mem_advance(f.mem, start + 999);
        uint64_t more = f.log[i].cycle - start - L2_HIT;
        assert_true(more == 0 || (more == 90 && i < 32));
        n_slow += more > 0;
    }
    assert_in_range(n_slow, 12, 20);
    fixture_end(&f);
}

/* The bank's link brings a store from 1015 to 1019.25 and a load to 1019.5: both have arrived at 1020. The load is
 * looked up after the store, or beside it. */
static void stores_may_have_a_port_of_their_own(void **state) {
    (void)state;
    for (unsigned has_port = 0; has_port < 2; has_port++) {
        struct fixture f;
        struct config_machine machine = fixture_machine();
        machine.slice.has_store_port = has_port;
        fixture_start(&f, machine);
        fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
        fixture_miss(&f, 0, 101, MEM_READ, 2, 1);
        mem_advance(f.mem, 999);
        fixture_hit(&f, 0, 1000, MEM_WRITE, 0, 1001);
        fixture_miss(&f, 1, 1002, MEM_READ, 2, 3);
        fixture_answer(&f, 2, 3, 1002 + L2_HIT + (has_port ? 2 : 3));
        fixture_end(&f);
    }
}

/* A store of 4 bytes, 3/8 cycles with its header, is at the bank at 1016, and a load of another line at 1017. A bank
 * that needs 8 cycles for part of a line looks the load up at 1024. */
static void a_store_of_part_of_a_line_keeps_its_bank_busy(void **state) {
    (void)state;
    for (unsigned is_slow = 0; is_slow < 2; is_slow++) {
        struct fixture f;
        uint64_t ready;
        struct config_machine machine = fixture_machine();
        machine.slice.partial_cycles = is_slow ? 8 : 0;
        fixture_start(&f, machine);
        fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
        fixture_miss(&f, 0, 101, MEM_READ, 2, 1);
        mem_advance(f.mem, 999);
        assert_int_equal(mem_access(f.mem, 0, 1000, MEM_WRITE, 0, 4, 2, &ready), MEM_HIT);
        fixture_miss(&f, 1, 1001, MEM_READ, 2, 3);
        fixture_answer(&f, 2, 3, 1001 + L2_HIT + (is_slow ? 7 : 0));
        fixture_end(&f);
    }
}

static void a_read_of_dram_brings_its_neighbours(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = fixture_machine();
    machine.slice.interleave_bytes = 4 * LINE;
    machine.dram.access_bytes = 2 * LINE;
    fixture_start(&f, machine);
    fixture_miss(&f, 0, 100, MEM_READ, 3, 1);
    mem_advance(f.mem, 999);
    assert_int_equal(mem_counters(f.mem)->dram_reads, 2);
    fixture_miss(&f, 0, 1000, MEM_READ, 2, 2);
    fixture_answer(&f, 1, 2, 1000 + L2_HIT);
    fixture_miss(&f, 0, 2000, MEM_READ, 1, 3);
    mem_advance(f.mem, 2999);
    assert_int_equal(mem_counters(f.mem)->dram_reads, 4);
    fixture_end(&f);
}

/* Four lines of a bank in two channels of its partition. */
static void neighbouring_lines_may_lie_in_one_channel(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = fixture_machine();
    const uint64_t *busy;
    machine.slice.interleave_bytes = 4 * LINE;
    machine.dram.channels = 4;
    machine.dram.interleave_bytes = 2 * LINE;
    fixture_start(&f, machine);
    for (uint32_t line = 0; line < 4; line++) {
        fixture_miss(&f, 0, 1000 * (line + 1), MEM_READ, line, 1);
        mem_advance(f.mem, 1000 * (line + 1) + 999);
        assert_int_equal(mem_channel_busy(f.mem, &busy), 4);
        unsigned n_used = 0;
        for (unsigned i = 0; i < 4; i++)
            n_used += busy[i] > 0;
        assert_int_equal(n_used, line < 2 ? 1 : 2);
    }
    fixture_end(&f);
}

static void part_of_a_line_is_fetched_into_the_l2_before_it_is_written(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    fixture_start(&f, fixture_machine());
    assert_int_equal(mem_access(f.mem, 0, 100, MEM_WRITE, 0, 4, 0, &ready), MEM_HIT);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->dram_reads, 1);
    assert_int_equal(mem_counters(f.mem)->crossbar_bytes, 12);
    fixture_end(&f);
}

/* 136 bytes each over the SM's link of 32 per cycle: the bank takes a store every 4 1/4 cycles at best. */
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

static void an_atomic_executes_in_the_l2_and_drops_the_sms_copy(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_machine());
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    fixture_answer(&f, 0, 1, 300);
    fixture_miss(&f, 0, 400, MEM_ATOMIC, 0, 2);
    /* 12 bytes each way are 3/8 cycle: in the bank at 415.375 -> 416; leaves at 436, in at 441.375 -> 442. */
    fixture_answer(&f, 1, 2, 442);
    fixture_miss(&f, 0, 500, MEM_READ, 0, 3);
    fixture_answer(&f, 2, 3, 500 + L2_HIT);
    assert_int_equal(mem_counters(f.mem)->atomics, 1);
    fixture_end(&f);
}

static void instructions_come_through_their_own_cache(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_machine());
    fixture_miss(&f, 0, 100, MEM_FETCH, 0, 1);
    fixture_miss(&f, 0, 100, MEM_READ, 1, 2);
    /* Latency 1: the header leaves at 101, the rest is as for data. */
    fixture_answer(&f, 0, 1, 100 + CONFLICT - 9);
    fixture_hit(&f, 0, 300, MEM_FETCH, 0, 301);
    fixture_miss(&f, 0, 1000, MEM_READ, 0, 3); /* not in the data cache */
    assert_int_equal(mem_counters(f.mem)->icache_accesses, 2);
    assert_int_equal(mem_counters(f.mem)->icache_misses, 1);
    fixture_end(&f);
}

static struct config_machine machine_with_textures(void) {
    struct config_machine machine = fixture_machine();
    machine.texture = machine.l1.cache;
    machine.texture.latency_cycles = 7;
    return machine;
}

/* Latency 7: three cycles less than the L1. A kernel's end empties it, with a coherent L1 too. */
static void textures_come_through_their_own_cache(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, machine_with_textures());
    fixture_miss(&f, 0, 100, MEM_TEXTURE, 0, 1);
    fixture_answer(&f, 0, 1, 100 + CONFLICT - 3);
    fixture_hit(&f, 0, 400, MEM_TEXTURE, 0, 407);
    fixture_miss(&f, 0, 500, MEM_READ, 0, 2); /* not in the data cache */
    fixture_answer(&f, 1, 2, 500 + L2_HIT);
    assert_int_equal(mem_counters(f.mem)->texture_accesses, 2);
    assert_int_equal(mem_counters(f.mem)->texture_misses, 1);
    assert_int_equal(mem_counters(f.mem)->l1_accesses, 1);
    mem_flush_l1(f.mem, 600);
    fixture_miss(&f, 0, 700, MEM_TEXTURE, 0, 3);
    fixture_answer(&f, 2, 3, 700 + L2_HIT - 3);
    fixture_end(&f);
}

static void a_perfect_texture_cache_always_hits(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = machine_with_textures();
    machine.texture.is_perfect = true;
    fixture_start(&f, machine);
    for (uint32_t line = 0; line < 100; line++)
        fixture_hit(&f, 0, 100 + line, MEM_TEXTURE, line, 107 + line);
    assert_int_equal(mem_counters(f.mem)->texture_misses, 0);
    fixture_end(&f);
}

/* In one cycle each bank takes one line: lines 0 and 1 with two banks, but not line 2. */
static void a_texture_cache_takes_a_line_for_each_bank(void **state) {
    (void)state;
    for (uint32_t banks = 1; banks <= 2; banks++) {
        struct fixture f;
        uint64_t ready;
        struct config_machine machine = machine_with_textures();
        machine.texture.banks = banks;
        machine.texture.is_perfect = true;
        fixture_start(&f, machine);
        fixture_hit(&f, 0, 400, MEM_TEXTURE, 0, 407);
        enum mem_answer answer = fixture_access(&f, 0, 400, MEM_TEXTURE, 1, 0, &ready);
        assert_int_equal(answer, banks == 1 ? MEM_REFUSED : MEM_HIT);
        assert_int_equal(ready, banks == 1 ? 401 : 407);
        assert_int_equal(fixture_access(&f, 0, 400, MEM_TEXTURE, 2, 0, &ready), MEM_REFUSED);
        fixture_hit(&f, 0, 401, MEM_TEXTURE, 2, 408);
        fixture_end(&f);
    }
}

/* Two requests wait for a line; a third is refused until the line is there. */
static void as_many_textures_wait_for_a_line_as_merge(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    struct config_machine machine = machine_with_textures();
    machine.texture.mshr_merges = 2;
    fixture_start(&f, machine);
    fixture_miss(&f, 0, 100, MEM_TEXTURE, 0, 1);
    fixture_miss(&f, 0, 101, MEM_TEXTURE, 0, 2);
    assert_int_equal(fixture_access(&f, 0, 102, MEM_TEXTURE, 0, 3, &ready), MEM_REFUSED);
    fixture_answer(&f, 0, 1, 100 + CONFLICT - 3);
    assert_int_equal(f.n_log, 2);
    fixture_hit(&f, 0, 100 + CONFLICT, MEM_TEXTURE, 0, 107 + CONFLICT);
    fixture_end(&f);
}

static void shorter_instruction_lines_lie_in_memory_lines(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    struct config_machine machine = fixture_machine();
    machine.icache.line_bytes = 32;
    fixture_start(&f, machine);
    assert_int_equal(mem_access(f.mem, 0, 100, MEM_FETCH, 96, 32, 1, &ready), MEM_MISS);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(f.n_log, 1);
    assert_int_equal(mem_access(f.mem, 0, 1000, MEM_FETCH, 96, 32, 1, &ready), MEM_HIT);
    assert_int_equal(mem_access(f.mem, 0, 1001, MEM_FETCH, 64, 32, 2, &ready), MEM_MISS);
    mem_advance(f.mem, MEM_NEVER);
    /* an L2 hit with 40 bytes back: leaves at 1002, at the bank 1007.25 -> 1008, 1028, 1033 + 1.25 -> 1035 */
    assert_int_equal(f.log[1].cycle, 1035);
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

static void an_l2_writes_dirty_lines_to_dram_when_they_leave(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_machine());
    for (uint32_t i = 0; i < 5; i++) /* bank 0 has 16 sets: lines 32 apart lie in the same one */
        fixture_hit(&f, 0, 100 + 10 * i, MEM_WRITE, 32 * i, 101 + 10 * i);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->l2_writebacks, 1);
    assert_int_equal(mem_counters(f.mem)->dram_writes, 1);
    fixture_miss(&f, 0, 1000, MEM_READ, 0, 1); /* evicted */
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->dram_reads, 1);
    fixture_end(&f);
}

static void requests_beyond_the_l2_mshrs_wait_in_order(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = fixture_machine();
    machine.l2.cache.mshrs = 2; /* one per bank */
    fixture_start(&f, machine);
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    fixture_miss(&f, 0, 101, MEM_READ, 2, 2);
    fixture_answer(&f, 0, 1, 300);
    /* The first fill is at 290, and so is the second request's lookup; DRAM at 310, a row hit: 364, back at 374. */
    fixture_answer(&f, 1, 2, 374);
    assert_int_equal(mem_counters(f.mem)->l2_blocked, 1);
    fixture_end(&f);
}

static void expect_impossible(struct config_machine machine, const char *expected) {
    char text[256];
    assert_false(mem_can_build(&machine, text, sizeof text));
    assert_string_equal(text, expected);
}

static void impossible_machines_are_named(void **state) {
    (void)state;
    struct config_machine machine = fixture_machine();
    machine.memory.coherence = CONFIG_COHERENCE_MESI;
    expect_impossible(machine, "memory.coherence is mesi, but needs l1.write back and l1.write_allocate true");
    machine = fixture_mesi();
    machine.sm.count = 65;
    expect_impossible(machine, "memory.coherence is mesi, but sm.count is 65 and its directory has room for 64");
    machine = fixture_mesi();
    machine.l1.cache.line_bytes = 64;
    expect_impossible(machine, "memory.coherence is mesi, but l1.line is 64 and l2.line 128: they must be equal");
    machine = fixture_machine();
    machine.l1.cache.line_bytes = 256;
    expect_impossible(machine, "l1.line is 256, but must be a power of two from 16 to a memory line's 128");
    machine = fixture_machine();
    machine.l2.writes.policy = CONFIG_WRITE_THROUGH;
    expect_impossible(machine, "l2.write is through, but only an L2 that writes back can be built");
    machine = fixture_machine();
    machine.dram.row_conflict_cycles = 49;
    expect_impossible(machine, "dram.row_conflict is 49, but must not be below dram.row_hit, 50");
    machine = fixture_machine();
    machine.l2.cache.size_bytes = 512;
    expect_impossible(machine, "l2.size is 512, but must hold a set of 4 ways of 128 bytes in each of 2 banks");
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
        cmocka_unit_test(an_l1_hit_takes_the_l1_latency),
        cmocka_unit_test(an_l2_hit_takes_both_lookups_and_two_crossings),
        cmocka_unit_test(an_open_row_is_faster_than_another),
        cmocka_unit_test(a_second_miss_to_a_line_joins_the_first),
        cmocka_unit_test(full_mshrs_refuse_until_a_line_arrives),
        cmocka_unit_test(a_port_and_a_bank_take_one_access_per_cycle),
        cmocka_unit_test(a_refused_access_leaves_the_port_free),
        cmocka_unit_test(a_bank_and_its_link_serve_one_after_the_other),
        cmocka_unit_test(two_banks_work_side_by_side),
        cmocka_unit_test(the_link_into_an_sm_serves_one_after_the_other),
        cmocka_unit_test(a_kernel_may_get_a_part_of_the_l1),
        cmocka_unit_test(a_load_may_pass_the_l1),
        cmocka_unit_test(a_store_is_written_through_and_updates_the_line),
        cmocka_unit_test(a_store_may_leave_its_line_in_the_l1),
        cmocka_unit_test(a_bank_answers_loads_of_a_line_together),
        cmocka_unit_test(a_bulk_copy_reads_the_sectors_of_a_line_together),
        cmocka_unit_test(a_half_of_the_chip_has_what_its_sms_have_accessed),
        cmocka_unit_test(the_host_leaves_every_second_line_astray),
        cmocka_unit_test(stores_may_have_a_port_of_their_own),
        cmocka_unit_test(a_store_of_part_of_a_line_keeps_its_bank_busy),
        cmocka_unit_test(a_read_of_dram_brings_its_neighbours),
        cmocka_unit_test(neighbouring_lines_may_lie_in_one_channel),
        cmocka_unit_test(part_of_a_line_is_fetched_into_the_l2_before_it_is_written),
        cmocka_unit_test(stores_are_refused_when_too_many_are_in_flight),
        cmocka_unit_test(an_atomic_executes_in_the_l2_and_drops_the_sms_copy),
        cmocka_unit_test(instructions_come_through_their_own_cache),
        cmocka_unit_test(textures_come_through_their_own_cache),
        cmocka_unit_test(a_perfect_texture_cache_always_hits),
        cmocka_unit_test(a_texture_cache_takes_a_line_for_each_bank),
        cmocka_unit_test(as_many_textures_wait_for_a_line_as_merge),
        cmocka_unit_test(shorter_instruction_lines_lie_in_memory_lines),
        cmocka_unit_test(shorter_l1_lines_lie_in_memory_lines),
        cmocka_unit_test(perfect_memory_always_hits),
        cmocka_unit_test(a_perfect_l1_still_has_ports),
        cmocka_unit_test(without_an_l1_every_access_goes_down),
        cmocka_unit_test(without_an_l2_misses_go_straight_to_dram),
        cmocka_unit_test(a_write_back_cache_writes_when_the_line_leaves),
        cmocka_unit_test(a_flush_empties_the_l1_and_writes_dirty_lines_back),
        cmocka_unit_test(a_dirty_line_goes_down_before_an_atomic),
        cmocka_unit_test(atomics_without_an_l2_wait_for_their_writes),
        cmocka_unit_test(an_l2_writes_dirty_lines_to_dram_when_they_leave),
        cmocka_unit_test(requests_beyond_the_l2_mshrs_wait_in_order),
        cmocka_unit_test(impossible_machines_are_named),
        cmocka_unit_test(accesses_in_flight_can_be_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
