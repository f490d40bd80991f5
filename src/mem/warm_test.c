/* Tests of accesses without time: what later accesses find. */
#include "mem/fixture.h"

/* An access without time leaves the L2 and DRAM as a timed one does: its line is in the L2, and its row is open. */
static void an_access_without_time_warms_the_l2_and_opens_the_row(void **state) {
    (void)state;
    struct fixture f;
    uint64_t address[32] = {0, LINE};
    struct mem_touched touched = {0};
    fixture_start(&f, fixture_machine());
    mem_touch(f.mem, 0, address, 3, 4, MEM_READ, &touched);
    assert_int_equal(touched.n_lines, 2);
    assert_int_equal(touched.n_misses, 2);
    mem_touch(f.mem, 0, address, 1, 4, MEM_WRITE, &touched);
    assert_int_equal(touched.n_lines, 3);
    assert_int_equal(touched.n_misses, 2);
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    fixture_answer(&f, 0, 1, 100 + L2_HIT);
    fixture_miss(&f, 0, 500, MEM_READ, 7, 2); /* the same row */
    fixture_answer(&f, 1, 2, 500 + ROW_HIT);
    assert_int_equal(mem_counters(f.mem)->dram_reads, 1);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_without_time_warms_the_l2_and_opens_the_row),
        cmocka_unit_test(code_without_time_is_in_the_caches_of_sms_that_had_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
