/* Stores that wait for the SM's link, and join. Cycle counts are derived on paper (fixture.h). */
#include "mem/fixture.h"

enum { SECTOR = 32, FIRST_HALVES = 0x00ff00ff };

/* Sectors of 32 bytes, one of which leaves the SM in 10 cycles. `n_lines` may wait. */
static struct config_machine machine_with(uint32_t n_lines) {
    struct config_machine machine = fixture_machine();
    machine.icache.line_bytes = machine.l1.cache.line_bytes = machine.l2.cache.line_bytes = SECTOR;
    machine.l1.cache.banks = 8;
    machine.crossbar.sector_cycles = 10;
    machine.crossbar.store_lines = n_lines;
    machine.crossbar.store_wait_cycles = 10;
    return machine;
}

static enum mem_answer store(struct fixture *f, uint64_t cycle, uint64_t address, uint32_t written) {
    uint64_t ready;
    mem_advance(f->mem, cycle);
    mem_name_store(f->mem, 0, written);
    return mem_access(f->mem, 0, cycle, MEM_WRITE, address, (uint32_t)__builtin_popcount(written), 0, &ready);
}

/* The accesses that have reached the L2 when nothing is in flight. */
static uint64_t stores_at_l2(struct fixture *f) {
    mem_advance(f->mem, 100000);
    assert_false(mem_has_unanswered(f->mem));
    return mem_counters(f->mem)->l2_accesses;
}

static void the_link(struct fixture *f, uint64_t until) {
    assert_int_equal(f->mem->sms[0].out.free_ticks >> MEM_TICK_BITS, until);
}

/* The first store may leave at 110. The second has filled the sector by then: it leaves as a whole, without a mask. */
static void stores_of_other_bytes_of_a_sector_leave_as_one(void **state) {
    (void)state;
    for (uint32_t last = 109; last <= 110; last++) {
        struct fixture f;
        fixture_start(&f, machine_with(4));
        assert_int_equal(store(&f, 100, 0, FIRST_HALVES), MEM_HIT);
        assert_int_equal(store(&f, last, 0, ~FIRST_HALVES), MEM_HIT);
        bool is_late = last == 110; /* the first has left, and the second leaves at 130 */
        assert_int_equal(stores_at_l2(&f), is_late ? 2 : 1);
        the_link(&f, is_late ? 150 : 120);
        fixture_end(&f);
    }
}

static void stores_of_other_sectors_of_a_line_share_its_mask(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, machine_with(4));
    store(&f, 100, 0, 0xf);
    store(&f, 101, 2 * SECTOR, 0xf);
    assert_int_equal(stores_at_l2(&f), 2);
    the_link(&f, 110 + 30);
    fixture_end(&f);
}

static void stores_of_the_same_bytes_join(void **state) {
    (void)state;
    static const uint32_t second[] = {FIRST_HALVES, 0x1};
    for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
        struct fixture f;
        fixture_start(&f, machine_with(4));
        store(&f, 100, 0, FIRST_HALVES);
        store(&f, 101, 0, second[i]);
        assert_int_equal(stores_at_l2(&f), 1);
        the_link(&f, 130);
        fixture_end(&f);
    }
}

/* A store 4 cycles after the first one is too late. The first one still needs the rest of the L1's 10 cycles. */
static void a_line_waits_for_the_named_cycles(void **state) {
    (void)state;
    for (uint32_t last = 103; last <= 104; last++) {
        struct fixture f;
        struct config_machine machine = machine_with(4);
        machine.crossbar.store_wait_cycles = 4;
        fixture_start(&f, machine);
        store(&f, 100, 0, 0xf);
        store(&f, last, 0, 0xf0);
        assert_int_equal(stores_at_l2(&f), last == 104 ? 2 : 1);
        the_link(&f, last == 104 ? 150 : 130);
        fixture_end(&f);
    }
}

/* Two lines wait. The first leaves at 110 and occupies the link until 130, when the second leaves. */
static void a_full_queue_refuses_stores_until_a_line_leaves(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, machine_with(2));
    assert_int_equal(store(&f, 100, 0 * LINE, 0xf), MEM_HIT);
    assert_int_equal(store(&f, 100, 1 * LINE + SECTOR, 0xf), MEM_HIT);
    assert_int_equal(store(&f, 101, 2 * LINE, 0xf), MEM_REFUSED);
    assert_int_equal(store(&f, 109, 2 * LINE, 0xf), MEM_REFUSED);
    assert_int_equal(store(&f, 110, 2 * LINE, 0xf), MEM_HIT);
    assert_int_equal(store(&f, 129, 1 * LINE + SECTOR, 0xf0), MEM_HIT); /* joins */
    assert_int_equal(stores_at_l2(&f), 3);
    the_link(&f, 110 + 3 * 20);
    fixture_end(&f);
}

/* A whole sector passes by if nothing waits, and otherwise comes after the line that does. So does its own line's. */
static void whole_sectors_wait_only_after_others(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, machine_with(4));
    assert_int_equal(store(&f, 100, 0, UINT32_MAX), MEM_HIT);
    the_link(&f, 120); /* it has its place on the link at once: from 110 on */
    store(&f, 101, 1 * LINE, 0xf);
    store(&f, 101, 2 * LINE, UINT32_MAX);
    the_link(&f, 120);
    assert_int_equal(stores_at_l2(&f), 3);
    the_link(&f, 120 + 20 + 10);
    fixture_end(&f);
}

/* With one credit, the second line waits until the L2 has taken the first, although the link is free. */
static void lines_wait_for_credits(void **state) {
    (void)state;
    for (uint32_t credits = 1; credits <= 2; credits++) {
        struct fixture f;
        struct config_machine machine = machine_with(4);
        machine.crossbar.credits = credits;
        fixture_start(&f, machine);
        store(&f, 100, 0 * LINE, 0xf);
        store(&f, 100, 1 * LINE, 0xf);
        mem_advance(f.mem, 135);
        assert_int_equal(f.mem->sms[0].stores.n, credits == 1);
        assert_int_equal(stores_at_l2(&f), 2);
        fixture_end(&f);
    }
}

static void the_queue_needs_sectors(void **state) {
    (void)state;
    char text[256];
    struct config_machine machine = machine_with(4);
    assert_true(mem_can_build(&machine, text, sizeof text));
    machine.crossbar.sector_cycles = 0;
    assert_false(mem_can_build(&machine, text, sizeof text));
    assert_non_null(strstr(text, "crossbar.store_lines"));
    machine = fixture_machine();
    machine.crossbar.sector_cycles = 1;
    machine.crossbar.store_lines = 4;
    assert_false(mem_can_build(&machine, text, sizeof text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_of_other_bytes_of_a_sector_leave_as_one),
        cmocka_unit_test(stores_of_other_sectors_of_a_line_share_its_mask),
        cmocka_unit_test(stores_of_the_same_bytes_join),
        cmocka_unit_test(a_line_waits_for_the_named_cycles),
        cmocka_unit_test(a_full_queue_refuses_stores_until_a_line_leaves),
        cmocka_unit_test(whole_sectors_wait_only_after_others),
        cmocka_unit_test(lines_wait_for_credits),
        cmocka_unit_test(the_queue_needs_sectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
