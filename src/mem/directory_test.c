/* MESI: cycle counts derived on paper, and the races. The fixture's numbers: a header leaves an L1 10 cycles after its
 * cause and is served 6 cycles later (crossing 5, 1/4 cycle, rounded up); a lookup takes 20; a header takes 6 cycles
 * back, a line 10. */
#include "mem/fixture.h"

/* SM 0 has line 0 modified, from cycle 400 on. */
static void modify(struct fixture *f) {
    fixture_start(f, fixture_mesi());
    fixture_miss(f, 0, 100, MEM_READ, 0, 1);
    fixture_answer(f, 0, 1, 300);
    fixture_hit(f, 0, 400, MEM_WRITE, 0, 401);
}

/* SMs 0 and 1 both have line 0 shared, from cycle 572 on. */
static void share(struct fixture *f) {
    modify(f);
    fixture_miss(f, 1, 500, MEM_READ, 0, 2);
    fixture_answer(f, 1, 2, 572);
}

static void the_only_reader_may_write_without_asking(void **state) {
    (void)state;
    struct fixture f;
    modify(&f);
    assert_int_equal(mem_counters(f.mem)->l2_accesses, 1);
    assert_int_equal(mem_counters(f.mem)->upgrades, 0);
    fixture_hit(&f, 0, 401, MEM_READ, 0, 411);
    fixture_end(&f);
}

/* READ at the bank 516; DOWNGRADE leaves 536, at SM 0 541.25 -> 542; the line leaves 552, at the bank 561.25 -> 562; it
 * leaves at once, at SM 1 571.25 -> 572. */
static void a_reader_takes_a_modified_line_from_its_owner(void **state) {
    (void)state;
    struct fixture f;
    share(&f);
    assert_int_equal(mem_counters(f.mem)->downgrades, 1);
    fixture_hit(&f, 0, 600, MEM_READ, 0, 610);
    fixture_hit(&f, 1, 600, MEM_READ, 0, 610);
    fixture_end(&f);
}

/* OWN at the bank 616; INVALIDATE leaves 636, at SM 1 642; its answer leaves 652, at the bank 658; UPGRADE at 664. */
static void writing_a_shared_line_invalidates_the_others(void **state) {
    (void)state;
    struct fixture f;
    share(&f);
    uint64_t bytes = mem_counters(f.mem)->crossbar_bytes;
    fixture_miss(&f, 0, 600, MEM_WRITE, 0, 3);
    fixture_hit(&f, 0, 620, MEM_READ, 0, 630); /* its own copy can still be read */
    fixture_answer(&f, 2, 3, 664);
    assert_int_equal(mem_counters(f.mem)->upgrades, 1);
    assert_int_equal(mem_counters(f.mem)->invalidations, 1);
    assert_int_equal(mem_counters(f.mem)->crossbar_bytes - bytes, 4 * 8); /* four headers, no data */
    fixture_hit(&f, 0, 700, MEM_WRITE, 0, 701);
    fixture_miss(&f, 1, 700, MEM_READ, 0, 4);
    fixture_end(&f);
}

/* Both upgrades reach the bank at 616. SM 0's is served first and done at 664 as above; SM 1 has lost its copy by then
 * and needs the data. Its turn comes at 658: INVALIDATE leaves 678, at SM 0 684; the line leaves 694, at the bank
 * 703.25 -> 704; it leaves at once, at SM 1 713.25 -> 714. */
static void of_two_upgrades_the_second_gets_the_data(void **state) {
    (void)state;
    struct fixture f;
    share(&f);
    fixture_miss(&f, 1, 600, MEM_WRITE, 0, 4);
    fixture_miss(&f, 0, 600, MEM_WRITE, 0, 3); /* the order of calls within a cycle does not matter */
    fixture_answer(&f, 2, 3, 664);
    fixture_answer(&f, 3, 4, 714);
    fixture_hit(&f, 1, 800, MEM_WRITE, 0, 801);
    fixture_end(&f);
}

/* A store that waits for a line that arrives shared goes on to ask for ownership. */
static void a_store_that_waits_after_a_load_asks_twice(void **state) {
    (void)state;
    struct fixture f;
    modify(&f);
    fixture_miss(&f, 1, 500, MEM_READ, 0, 2);
    fixture_miss(&f, 1, 501, MEM_WRITE, 0, 3);
    fixture_answer(&f, 1, 2, 572);
    /* OWN leaves 582, at the bank 588; INVALIDATE leaves 608, at SM 0 614; answer leaves 624, at the bank 630; 636. */
    fixture_answer(&f, 2, 3, 636);
    assert_int_equal(mem_counters(f.mem)->upgrades, 1);
    fixture_end(&f);
}

/* ATOMIC with 4 bytes at the bank 515.375 -> 516; INVALIDATE leaves 536, at SM 0 542; the line leaves 552, at the
 * bank 562; 12 bytes at SM 1: 567.375 -> 568. */
static void an_atomic_takes_all_copies_away(void **state) {
    (void)state;
    struct fixture f;
    modify(&f);
    fixture_miss(&f, 1, 500, MEM_ATOMIC, 0, 2);
    fixture_answer(&f, 1, 2, 568);
    fixture_miss(&f, 0, 600, MEM_READ, 0, 3);
    fixture_end(&f);
}

static void an_evicted_modified_line_moves_to_the_l2(void **state) {
    (void)state;
    struct fixture f;
    modify(&f);
    for (uint32_t i = 1; i <= 4; i++) /* the L1 has 8 sets of 4 ways */
        fixture_miss(&f, 0, 500 + i, MEM_READ, 8 * i, 10 + i);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->l1_writebacks, 1);
    fixture_miss(&f, 1, 2000, MEM_READ, 0, 2);
    fixture_answer(&f, 5, 2, 2046); /* an L2 hit without other copies */
    assert_int_equal(mem_counters(f.mem)->downgrades, 0);
    fixture_end(&f);
}

/* Line 0 leaves SM 0 while SM 1's request is in flight to the bank and the directory's to SM 0. */
static void an_owner_that_gave_the_line_back_says_so(void **state) {
    (void)state;
    struct fixture f;
    modify(&f);
    for (uint32_t i = 1; i <= 3; i++) /* fills SM 0's set */
        fixture_miss(&f, 0, 400 + i, MEM_READ, 8 * i, 10 + i);
    mem_advance(f.mem, 1000);
    fixture_miss(&f, 1, 1000, MEM_READ, 32, 2); /* brings line 32 into the L2 */
    mem_advance(f.mem, 2000);
    fixture_hit(&f, 0, 2000, MEM_READ, 8, 2010);
    fixture_hit(&f, 0, 2001, MEM_READ, 16, 2011);
    fixture_hit(&f, 0, 2002, MEM_READ, 24, 2012);
    fixture_miss(&f, 0, 2010, MEM_READ, 32, 5); /* shared after 72 cycles: at 2082 line 0 leaves, PUT out at 2092 */
    fixture_miss(&f, 1, 2045, MEM_READ, 0, 6);  /* DOWNGRADE leaves the bank at 2081, reaches SM 0 after line 0 left */
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->downgrades, 1); /* line 32; line 0 was gone */
    assert_int_equal(mem_counters(f.mem)->l1_writebacks, 1);
    fixture_hit(&f, 1, 3000, MEM_WRITE, 0, 3001); /* it arrived exclusive: no other copy existed */
    fixture_end(&f);
}

static void a_line_that_leaves_the_l2_leaves_the_l1s(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_mesi());
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    for (uint32_t i = 1; i < 4; i++) /* lines 32 apart lie in the same set of bank 0 */
        fixture_miss(&f, 1, 500 * i, MEM_READ, 32 * i, i);
    fixture_hit(&f, 0, 2000, MEM_READ, 0, 2010);
    fixture_miss(&f, 1, 2100, MEM_READ, 128, 4);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->recalls, 1);
    assert_int_equal(mem_counters(f.mem)->invalidations, 1);
    fixture_miss(&f, 0, 3000, MEM_READ, 0, 5);
    fixture_end(&f);
}

static void instructions_are_not_tracked(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_mesi());
    fixture_miss(&f, 0, 100, MEM_FETCH, 0, 1);
    fixture_miss(&f, 1, 500, MEM_READ, 0, 2);
    mem_advance(f.mem, 600);
    fixture_hit(&f, 1, 600, MEM_WRITE, 0, 601);
    fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_only_reader_may_write_without_asking),
        cmocka_unit_test(a_reader_takes_a_modified_line_from_its_owner),
        cmocka_unit_test(writing_a_shared_line_invalidates_the_others),
        cmocka_unit_test(of_two_upgrades_the_second_gets_the_data),
        cmocka_unit_test(a_store_that_waits_after_a_load_asks_twice),
        cmocka_unit_test(an_atomic_takes_all_copies_away),
        cmocka_unit_test(an_evicted_modified_line_moves_to_the_l2),
        cmocka_unit_test(an_owner_that_gave_the_line_back_says_so),
        cmocka_unit_test(a_line_that_leaves_the_l2_leaves_the_l1s),
        cmocka_unit_test(instructions_are_not_tracked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
