/* The L2 and the links to it: banks, slices of the chip, sectors, stores and atomics. Cycle counts are derived on paper
 * (fixture.h). */
#include "mem/fixture.h"

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

/* Two SMs read the same lines of one bank, four per cycle, one SM after the other. Returns the time from the first
 * request to the last answer. The bank has 48 requests between two reads of a line. */
static uint64_t cycles_of_two_sms(uint32_t combine, enum mem_kind kind, double combined_cycles) {
    enum { N = 48 };
    struct fixture f;
    struct config_machine machine = fixture_machine();
    machine.l1.cache.banks = 4;
    machine.l1.cache.mshrs = N;
    machine.l1.bypass = true;
    machine.l2.cache.banks = 1;
    machine.crossbar.bytes_per_cycle = 0;
    machine.slice.combine = combine;
    machine.copies =
        (struct config_copies){.is_present = true, .combined_cycles = combined_cycles, .load_bytes_per_cycle = 1000};
    fixture_start(&f, machine);
    mem_warm(f.mem, 0, N * LINE, MEM_WARMED_BY_HOST);
    for (uint32_t i = 0; i < 2 * N; i++) {
        uint64_t cycle = 100 + i / 4, ready;
        mem_advance(f.mem, cycle);
        assert_int_equal(mem_access(f.mem, i / N, cycle, kind, i % N * LINE, LINE, i, &ready), MEM_MISS);
    }
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(f.n_log, 2 * N);
    uint64_t cycles = f.log[2 * N - 1].cycle - 100;
    fixture_end(&f);
    return cycles;
}

static void a_bank_finds_copies_of_a_line_however_many_wait_between(void **state) {
    (void)state;
    uint64_t alone = cycles_of_two_sms(1, MEM_READ_BULK, 0);
    assert_in_range(cycles_of_two_sms(2, MEM_READ_BULK, 0), alone - 40, alone - 24);
    assert_int_equal(cycles_of_two_sms(2, MEM_READ_PAST, 0), cycles_of_two_sms(1, MEM_READ_PAST, 0)); /* too far */
}

static void a_copy_that_is_answered_with_another_takes_time(void **state) {
    (void)state;
    uint64_t cycles = cycles_of_two_sms(2, MEM_READ_BULK, 0);
    assert_in_range(cycles_of_two_sms(2, MEM_READ_BULK, 0.5), cycles + 12, cycles + 20);
}

/* Reads four sectors of 32 bytes from the L2, in one cycle. Returns the time from the first answer to the last. */
static uint64_t cycles_of_four_sectors(enum mem_kind kind, double sector_cycles, double bytes_per_cycle) {
    enum { SECTOR = 32, N = 4 };
    struct fixture f;
    struct config_machine machine = fixture_machine();
    machine.l1.cache.line_bytes = machine.l2.cache.line_bytes = machine.icache.line_bytes = SECTOR;
    machine.l1.cache.banks = N;
    machine.l2.cache.banks = 1;
    machine.l1.bypass = true;
    machine.crossbar.bytes_per_cycle = 0;
    machine.slice.sector_cycles = sector_cycles;
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
    assert_int_equal(cycles_of_four_sectors(MEM_READ_PAST, 1, 1000), 3);
    assert_true(cycles_of_four_sectors(MEM_READ_BULK, 1, 1000) < 3);
    assert_int_equal(cycles_of_four_sectors(MEM_READ_BULK, 1, 8), 12);
}

static void a_load_may_read_the_sectors_of_a_line_together(void **state) {
    (void)state;
    assert_true(cycles_of_four_sectors(MEM_READ_PAST, 0.4, 1000) < 3);
    assert_int_equal(cycles_of_four_sectors(MEM_ATOMIC, 0.4, 1000), 3);
}

/* The SM reads one line of each of 32 banks. They answer evenly between 0 and 62 cycles later. */
static void slices_lie_at_different_distances(void **state) {
    (void)state;
    enum { N = 32, SPREAD = 62 };
    struct fixture f;
    struct config_machine machine = fixture_machine();
    unsigned n_near = 0, n_far = 0;
    machine.l2.cache.banks = N;
    machine.l2.cache.mshrs = N;
    machine.l1.bypass = true;
    machine.slice.spread_cycles = SPREAD;
    fixture_start(&f, machine);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t start = 2000 * i + 1000;
        fixture_miss(&f, 0, start - 1000, MEM_READ_PAST, i, 1); /* into the L2 */
        mem_advance(f.mem, start - 1);
        fixture_miss(&f, 0, start, MEM_READ_PAST, i, 2);
        mem_advance(f.mem, start + 999);
        uint64_t more = f.log[f.n_log - 1].cycle - start - L2_HIT;
        assert_in_range(more, 0, SPREAD);
        n_near += more < SPREAD / 4;
        n_far += more > SPREAD * 3 / 4;
    }
    assert_in_range(n_near, 6, 10);
    assert_in_range(n_far, 6, 10);
    fixture_end(&f);
}

/* SM 1 reads a line whose home is the other half, and another line of the same bank in the next cycle. The bank fills
 * the first one for 7 cycles more. */
static void a_line_from_the_other_half_keeps_its_bank_busy(void **state) {
    (void)state;
    uint64_t end[2];
    for (unsigned is_slow = 0; is_slow < 2; is_slow++) {
        struct fixture f;
        struct config_machine machine = fixture_machine();
        machine.halves = (struct config_halves){true, .read_cycles = 70, .fill_cycles = is_slow ? 7 : 0};
        machine.l1.bypass = true;
        fixture_start(&f, machine);
        fixture_miss(&f, 0, 1000, MEM_READ, 0, 1);
        mem_advance(f.mem, 1999);
        fixture_miss(&f, 0, 2000, MEM_READ, 2, 2);
        mem_advance(f.mem, 2999);
        fixture_miss(&f, 1, 3000, MEM_READ_PAST, 0, 3);
        fixture_miss(&f, 0, 3001, MEM_READ_PAST, 2, 4);
        mem_advance(f.mem, 3999);
        end[is_slow] = f.log[2].cycle;
        assert_int_equal(f.log[2].token, 4);
        fixture_end(&f);
    }
    assert_in_range(end[1], end[0] + 5, end[0] + 7);
}

/* An atomic of SM 1 on a line whose home is the other half passes through the other bank, which then answers a read of
 * SM 0 later: by two cycles for two sectors of numbers, and by another one for a result of part of a line. */
static void atomics_of_the_other_half_keep_a_second_bank_busy(void **state) {
    (void)state;
    static const struct {
        uint32_t sm, bytes, cycles;
    } kind[] = {{1, 4, 0},
                {1, 4 | MEM_RETURNS, 6},
                {1, 8 | MEM_HAS_SEVERAL, 12},
                {1, 8 | MEM_HAS_SEVERAL | MEM_RETURNS, 18},
                {0, 8 | MEM_HAS_SEVERAL | MEM_RETURNS, 0}};
    uint64_t start = 3000, first = 0;
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        struct fixture f;
        uint64_t ready;
        struct config_machine machine = fixture_machine();
        machine.halves = (struct config_halves){true, .relay_cycles = 6};
        machine.serial_atomics = (struct config_serial_atomics){.is_present = true, .slice_cycles = 1};
        machine.l1.bypass = true;
        fixture_start(&f, machine);
        fixture_miss(&f, 0, 1000, MEM_READ, 0, 1);
        mem_advance(f.mem, 1999);
        fixture_miss(&f, 0, 2000, MEM_READ, 1, 2);
        mem_advance(f.mem, start - 1);
        assert_int_equal(mem_access(f.mem, kind[k].sm, start, MEM_ATOMIC, 0, kind[k].bytes, 3, &ready), MEM_MISS);
        fixture_miss(&f, 0, start + 1, MEM_READ_PAST, 1, 4);
        mem_advance(f.mem, start + 999);
        uint64_t end = f.log[f.log[2].token == 4 ? 2 : 3].cycle;
        first = k ? first : end;
        assert_in_range(end - first, kind[k].cycles - (kind[k].cycles > 0), kind[k].cycles);
        fixture_end(&f);
    }
}

/* Reads and stores of whole lines take turns, if a read looks up only once for a line of 128 bytes. */
static void stores_share_the_lookups_of_reads(void **state) {
    (void)state;
    uint64_t end[2];
    for (unsigned shares = 0; shares < 2; shares++) {
        struct fixture f;
        struct config_machine machine = fixture_machine();
        machine.slice.has_store_port = true;
        machine.slice.sector_cycles = shares ? 0.4 : 1;
        machine.crossbar.bytes_per_cycle = 0;
        machine.l1.bypass = true;
        fixture_start(&f, machine);
        fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
        fixture_miss(&f, 0, 101, MEM_READ, 2, 1);
        mem_advance(f.mem, 999);
        fixture_hit(&f, 0, 1000, MEM_WRITE, 0, 1001);
        fixture_miss(&f, 1, 1000, MEM_READ_PAST, 2, 3);
        mem_advance(f.mem, 1999);
        end[shares] = f.log[f.n_log - 1].cycle;
        fixture_end(&f);
    }
    assert_int_equal(end[1], end[0] + 1);
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
    mem_warm(f.mem, 0, 32 * LINE, MEM_WARMED_BY_HOST);
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

/* Half of the lines are of the other half, and an SM of that half has filled half of these. */
static void the_device_fills_lines_from_either_half(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = fixture_machine();
    enum { N = 64 };
    unsigned n_slow = 0;
    machine.halves = (struct config_halves){true, .read_cycles = 70, .host_cycles = 90};
    fixture_start(&f, machine);
    mem_warm(f.mem, 0, N * LINE, MEM_WARMED_BY_HOST);
    mem_warm(f.mem, 0, N * LINE, MEM_WARMED_BY_DEVICE);
    mem_warm(f.mem, 0, N * LINE, MEM_WARMED_BY_READ); /* changes nothing */
    for (uint32_t i = 0; i < N; i++) {
        uint64_t start = 1000 * (i + 1);
        fixture_miss(&f, 1, start, MEM_READ_PAST, i, i);
        mem_advance(f.mem, start + 999);
        uint64_t more = f.log[i].cycle - start - L2_HIT;
        assert_true(more == 0 || more == 70);
        n_slow += more > 0;
    }
    assert_in_range(n_slow, N / 6, N / 3);
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

/* Four sectors of 32 bytes are a line of 128. */
static struct config_machine with_sectors(void) {
    struct config_machine machine = fixture_machine();
    machine.icache.line_bytes = machine.l1.cache.line_bytes = machine.l2.cache.line_bytes = 32;
    machine.crossbar.sector_cycles = 10;
    return machine;
}

/* Stores `bytes` to each of n sectors from line 0 on, one a cycle from 2000 on. Returns when a load of sector 9 that
 * `sm` makes in cycle 2010 is answered. All of them are in the L2. */
static uint64_t load_after_stores(struct config_machine machine, uint32_t n, uint32_t bytes, uint32_t sm) {
    struct fixture f;
    uint64_t ready;
    fixture_start(&f, machine);
    for (uint32_t line = 0; line < 12; line++) {
        mem_advance(f.mem, 10 * line);
        mem_access(f.mem, 0, 10 * line, MEM_ATOMIC, line * 32, 4, 1, &ready);
    }
    for (uint32_t line = 0; line < n; line++) {
        mem_advance(f.mem, 2000 + line);
        assert_int_equal(mem_access(f.mem, 0, 2000 + line, MEM_WRITE, line * 32, bytes, 2, &ready), MEM_HIT);
    }
    mem_advance(f.mem, 2010);
    assert_int_equal(mem_access(f.mem, sm, 2010, MEM_READ, 9 * 32, 32, 3, &ready), MEM_MISS);
    mem_advance(f.mem, 5000);
    uint64_t cycle = f.log[f.n_log - 1].cycle;
    fixture_end(&f);
    return cycle;
}

/* The first store leaves at 2010, and the load's packet would leave at 2020. */
static void stores_leave_an_sm_one_sector_after_the_other(void **state) {
    (void)state;
    uint64_t alone = load_after_stores(with_sectors(), 0, 0, 0);
    assert_int_equal(load_after_stores(with_sectors(), 3, 32, 0), alone + 2010 + 30 - 2020);
    assert_int_equal(load_after_stores(with_sectors(), 3, 4, 0), alone + 2010 + 40 - 2020);
    assert_int_equal(load_after_stores(with_sectors(), 6, 4, 0), alone + 2010 + 80 - 2020); /* of two lines */
}

/* The load of sector 0 leaves at 2010, that of sector 1 when the link is free again, at 2020, for a quarter of a cycle.
 * Sector 4 is of another line, 2020.25, and so is sector 5, which comes in another cycle: 2030.25. Both of 1 and 4
 * arrive at 2026, at different banks, and their data takes the link into the SM one after the other. */
static void loads_of_a_line_leave_an_sm_together(void **state) {
    (void)state;
    for (uint32_t n_more = 0; n_more < 2; n_more++) {
        struct fixture f;
        uint64_t ready;
        struct config_machine machine = with_sectors();
        machine.l1.cache.banks = 8;
        fixture_start(&f, machine);
        for (uint32_t line = 0; line < 12; line++) {
            mem_advance(f.mem, 10 * line);
            mem_access(f.mem, 0, 10 * line, MEM_ATOMIC, line * 32, 4, 1, &ready);
        }
        mem_advance(f.mem, 2000);
        uint32_t n = f.n_log;
        assert_int_equal(mem_access(f.mem, 0, 2000, MEM_READ, 0, 32, 2, &ready), MEM_MISS);
        if (n_more) {
            assert_int_equal(mem_access(f.mem, 0, 2000, MEM_READ, 32, 32, 3, &ready), MEM_MISS);
            assert_int_equal(mem_access(f.mem, 0, 2000, MEM_READ, 4 * 32, 32, 4, &ready), MEM_MISS);
            mem_advance(f.mem, 2001);
            assert_int_equal(mem_access(f.mem, 0, 2001, MEM_READ, 5 * 32, 32, 5, &ready), MEM_MISS);
        }
        mem_advance(f.mem, 5000);
        uint64_t first = f.log[n].cycle;
        assert_int_equal(first, 2000 + 10 + 5 + 1 + 20 + 5 + 2);
        if (n_more) {
            assert_int_equal(f.log[n + 1].cycle, first + 10);
            assert_int_equal(f.log[n + 2].cycle, first + 11);
            assert_int_equal(f.log[n + 3].cycle, first + 20);
        }
        fixture_end(&f);
    }
}

/* With sectors: loads of three of a line in a cycle, of the fourth in the next, and of another line: 3 packets. Stores
 * of three of a line with one token, and of one with another: 2. A bulk copy's four, one a cycle: 1. Whole lines are
 * packets of their own. */
static void sectors_of_a_line_that_an_instruction_accesses_are_one_request(void **state) {
    (void)state;
    for (uint32_t is_sectored = 0; is_sectored < 2; is_sectored++) {
        struct fixture f;
        uint64_t ready;
        struct config_machine machine = is_sectored ? with_sectors() : fixture_machine();
        machine.l1.cache.banks = 8;
        machine.l1.cache.mshrs = 32;
        uint32_t bytes = machine.l2.cache.line_bytes;
        fixture_start(&f, machine);
        for (uint32_t line = 0; line < 5; line++) {
            uint64_t cycle = line < 3 ? 100 : 101, at = line < 4 ? line : 65;
            mem_advance(f.mem, cycle);
            assert_int_equal(mem_access(f.mem, 0, cycle, MEM_READ, at * bytes, bytes, line, &ready), MEM_MISS);
        }
        assert_int_equal(mem_counters(f.mem)->l2_requests, is_sectored ? 3 : 5);
        for (uint32_t line = 0; line < 4; line++) {
            mem_advance(f.mem, 1000 + line);
            mem_access(f.mem, 0, 1000 + line, MEM_WRITE, (200 + line) * bytes, 4, 10 + line / 3, &ready);
        }
        assert_int_equal(mem_counters(f.mem)->l2_requests, is_sectored ? 5 : 9);
        for (uint32_t k = 0; k < 6; k++) { /* atomics: two sectors of a line, and again for lanes on the same words */
            mem_advance(f.mem, 1500 + k);
            mem_access(f.mem, 0, 1500 + k, MEM_ATOMIC, (300 + k % 2) * bytes, 4, 15, &ready);
        }
        assert_int_equal(mem_counters(f.mem)->l2_requests, is_sectored ? 8 : 15);
        for (uint32_t line = 0; line < 4; line++) {
            mem_advance(f.mem, 2000 + line);
            mem_access(f.mem, 0, 2000 + line, MEM_READ_BULK, (400 + line) * bytes, bytes, 20 + line, &ready);
        }
        mem_advance(f.mem, 9000);
        assert_int_equal(mem_counters(f.mem)->l2_requests, is_sectored ? 9 : 19);
        assert_int_equal(mem_counters(f.mem)->l2_accesses, 19);
        fixture_end(&f);
    }
}

/* One bank. The stores of parts arrive from 2016 on, and the other SM's load while the first keeps the bank busy. */
static void a_slice_takes_further_parts_of_a_line_faster(void **state) {
    (void)state;
    struct config_machine machine = with_sectors();
    machine.l2.cache.banks = 1;
    machine.crossbar.sector_cycles = 0.001;
    machine.slice.partial_cycles = 100;
    uint64_t slow = load_after_stores(machine, 3, 4, 1);
    machine.slice.next_partial_cycles = 30;
    assert_int_equal(load_after_stores(machine, 3, 4, 1), slow - 2 * 70);
    assert_int_equal(load_after_stores(machine, 1, 4, 1), slow - 200);
}

static void a_store_of_a_part_may_leave_the_rest_of_a_line_in_dram(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    struct config_machine machine = fixture_machine();
    machine.slice.keeps_parts = true;
    fixture_start(&f, machine);
    assert_int_equal(mem_access(f.mem, 0, 100, MEM_WRITE, 0, 64, 1, &ready), MEM_HIT);
    assert_int_equal(mem_access(f.mem, 0, 101, MEM_WRITE, LINE, 64, 1, &ready), MEM_HIT);
    mem_advance(f.mem, 200);
    assert_int_equal(mem_access(f.mem, 0, 200, MEM_WRITE, LINE + 64, 64, 1, &ready), MEM_HIT);
    mem_advance(f.mem, 999);
    assert_int_equal(mem_counters(f.mem)->dram_reads, 0);
    fixture_miss(&f, 1, 1000, MEM_READ, 1, 2); /* has been written as a whole */
    fixture_answer(&f, 0, 2, 1000 + L2_HIT);
    fixture_miss(&f, 1, 2000, MEM_READ, 0, 3);
    fixture_answer(&f, 1, 3, 2000 + CONFLICT);
    assert_int_equal(mem_counters(f.mem)->dram_reads, 1);
    fixture_miss(&f, 0, 3000, MEM_READ, 0, 4); /* now the L2 has it */
    fixture_answer(&f, 2, 4, 3000 + L2_HIT);
    for (uint32_t i = 1; i <= 4; i++) /* line 0 leaves its set, and its stores are not lost */
        fixture_miss(&f, 0, 4000 + 500 * i, MEM_READ, 32 * i, 5);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->dram_writes, 1);
    assert_int_equal(mem_counters(f.mem)->bus_busy_cycles, 6 * 4);
    fixture_end(&f);
}

/* The write of a line that is not complete carries it twice: DRAM's bus is busy for 8 cycles instead of 4. */
static void a_line_that_leaves_in_parts_is_read_first(void **state) {
    (void)state;
    for (int is_whole = 0; is_whole < 2; is_whole++) {
        struct fixture f;
        uint64_t ready;
        struct config_machine machine = fixture_machine();
        machine.slice.keeps_parts = true;
        fixture_start(&f, machine);
        assert_int_equal(mem_access(f.mem, 0, 100, MEM_WRITE, 0, is_whole ? LINE : 4, 1, &ready), MEM_HIT);
        for (uint32_t i = 1; i <= 4; i++)
            fixture_miss(&f, 0, 4000 + 500 * i, MEM_READ, 32 * i, 5);
        mem_advance(f.mem, MEM_NEVER);
        assert_int_equal(mem_counters(f.mem)->dram_writes, 1);
        assert_int_equal(mem_counters(f.mem)->bus_busy_cycles, (is_whole ? 5 : 6) * 4);
        fixture_end(&f);
    }
}

static void atomics_may_have_a_limit_of_their_own(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    struct config_machine machine = fixture_machine();
    machine.crossbar.credits = 1;
    machine.crossbar.atomics = 2;
    fixture_start(&f, machine);
    fixture_miss(&f, 0, 100, MEM_ATOMIC, 0, 1);
    fixture_miss(&f, 0, 101, MEM_ATOMIC, 2, 2);
    assert_int_equal(fixture_access(&f, 0, 102, MEM_ATOMIC, 4, 3, &ready), MEM_REFUSED);
    fixture_hit(&f, 0, 103, MEM_WRITE, 6, 104);
    assert_int_equal(fixture_access(&f, 0, 104, MEM_WRITE, 8, 0, &ready), MEM_REFUSED);
    mem_advance(f.mem, 1000);
    fixture_miss(&f, 0, 1000, MEM_ATOMIC, 4, 3);
    fixture_miss(&f, 0, 1001, MEM_ATOMIC, 0, 4);
    fixture_end(&f);
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

enum { SECTOR_BYTES = 32 };

/* An SM sends atomics of `bytes` and flags to these sectors of 32 bytes of a slice, each by an instruction of its own.
 * If `is_second`, another SM has sent the first of them before, and the SM sends all by one instruction. Returns the
 * time from the first answer to the last. */
static uint64_t cycles_of_atomics(const uint32_t *sector, uint32_t n, bool is_second, uint32_t bytes) {
    struct fixture f;
    struct config_machine machine = fixture_machine();
    machine.l1.cache.line_bytes = machine.l2.cache.line_bytes = machine.icache.line_bytes = SECTOR_BYTES;
    machine.l2.cache.banks = 1;
    machine.crossbar.bytes_per_cycle = 0;
    machine.crossbar.sector_cycles = 0.001;
    machine.serial_atomics =
        (struct config_serial_atomics){.is_present = true, .slice_cycles = 10, .part_cycles = 15, .sum_cycles = 34};
    fixture_start(&f, machine);
    mem_warm(f.mem, 0, 4 * SECTOR_BYTES, MEM_WARMED_BY_HOST);
    uint64_t ready;
    mem_advance(f.mem, 100);
    if (is_second)
        assert_int_equal(mem_access(f.mem, 0, 100, MEM_ATOMIC, sector[0] * SECTOR_BYTES, bytes, 0, &ready), MEM_MISS);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(
            mem_access(f.mem, 1, 100, MEM_ATOMIC, sector[i] * SECTOR_BYTES, bytes, is_second ? i << 16 : i, &ready),
            MEM_MISS);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(f.n_log, n + is_second);
    uint64_t cycles = f.log[f.n_log - 1].cycle - f.log[0].cycle;
    fixture_end(&f);
    return cycles;
}

static void a_slice_computes_one_atomic_after_the_other(void **state) {
    (void)state;
    static const uint32_t same[] = {0, 0, 0}, lines[] = {0, 1, 2};
    assert_int_equal(cycles_of_atomics(same, 3, false, SECTOR_BYTES), 2 * 10);
    assert_int_equal(cycles_of_atomics(lines, 3, false, SECTOR_BYTES), 2 * 10);
    assert_int_equal(cycles_of_atomics(same, 3, false, 4), 2 * 15);
    assert_int_equal(cycles_of_atomics(same, 3, false, 8 | MEM_PASSES_TWICE), 2 * 20);
}

/* sums_red_f32_lane, sums_red_f32_beside */
static void sums_of_a_sector_wait_for_each_other(void **state) {
    (void)state;
    static const uint32_t same[] = {0, 0, 0}, lines[] = {0, 1, 2}, back[] = {0, 1, 0, 2};
    assert_int_equal(cycles_of_atomics(lines, 3, false, 4 | MEM_ADDS_FLOATS), 2 * 15);
    assert_int_equal(cycles_of_atomics(same, 3, false, 4 | MEM_ADDS_FLOATS),
                     15 + 34); /* the second is computed at 34 */
    assert_int_equal(cycles_of_atomics(back, 4, false, 4 | MEM_ADDS_FLOATS),
                     34 + 15); /* the last waits for the third */
}

/* An SM adds to a sector, then another to it and to the next one, which does not wait. */
static void sectors_of_a_line_pass_a_sum_that_waits(void **state) {
    (void)state;
    static const uint32_t line[] = {0, 1};
    assert_int_equal(cycles_of_atomics(line, 2, true, SECTOR_BYTES | MEM_ADDS_FLOATS), 2 * 10);
    assert_int_equal(cycles_of_atomics(line, 2, true, SECTOR_BYTES), 2 * 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_l2_hit_takes_both_lookups_and_two_crossings),
        cmocka_unit_test(a_bank_and_its_link_serve_one_after_the_other),
        cmocka_unit_test(two_banks_work_side_by_side),
        cmocka_unit_test(the_link_into_an_sm_serves_one_after_the_other),
        cmocka_unit_test(a_bank_answers_loads_of_a_line_together),
        cmocka_unit_test(a_bank_finds_copies_of_a_line_however_many_wait_between),
        cmocka_unit_test(a_copy_that_is_answered_with_another_takes_time),
        cmocka_unit_test(a_slice_computes_one_atomic_after_the_other),
        cmocka_unit_test(sums_of_a_sector_wait_for_each_other),
        cmocka_unit_test(sectors_of_a_line_pass_a_sum_that_waits),
        cmocka_unit_test(a_bulk_copy_reads_the_sectors_of_a_line_together),
        cmocka_unit_test(a_load_may_read_the_sectors_of_a_line_together),
        cmocka_unit_test(slices_lie_at_different_distances),
        cmocka_unit_test(a_line_from_the_other_half_keeps_its_bank_busy),
        cmocka_unit_test(atomics_of_the_other_half_keep_a_second_bank_busy),
        cmocka_unit_test(stores_share_the_lookups_of_reads),
        cmocka_unit_test(a_half_of_the_chip_has_what_its_sms_have_accessed),
        cmocka_unit_test(the_host_leaves_every_second_line_astray),
        cmocka_unit_test(the_device_fills_lines_from_either_half),
        cmocka_unit_test(stores_may_have_a_port_of_their_own),
        cmocka_unit_test(a_store_of_part_of_a_line_keeps_its_bank_busy),
        cmocka_unit_test(stores_leave_an_sm_one_sector_after_the_other),
        cmocka_unit_test(loads_of_a_line_leave_an_sm_together),
        cmocka_unit_test(sectors_of_a_line_that_an_instruction_accesses_are_one_request),
        cmocka_unit_test(a_slice_takes_further_parts_of_a_line_faster),
        cmocka_unit_test(a_store_of_a_part_may_leave_the_rest_of_a_line_in_dram),
        cmocka_unit_test(a_line_that_leaves_in_parts_is_read_first),
        cmocka_unit_test(atomics_may_have_a_limit_of_their_own),
        cmocka_unit_test(a_read_of_dram_brings_its_neighbours),
        cmocka_unit_test(neighbouring_lines_may_lie_in_one_channel),
        cmocka_unit_test(part_of_a_line_is_fetched_into_the_l2_before_it_is_written),
        cmocka_unit_test(an_atomic_executes_in_the_l2_and_drops_the_sms_copy),
        cmocka_unit_test(an_l2_writes_dirty_lines_to_dram_when_they_leave),
        cmocka_unit_test(requests_beyond_the_l2_mshrs_wait_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
