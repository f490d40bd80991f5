/* Cycle counts of accesses to host memory: two banks, one channel, so one partition with the whole link. A read takes
 * 100 cycles over the link, which carries 16 bytes per cycle to the device and 32 to the host. */
#include "mem/fixture.h"

enum { HOST_LINE = 64, L2_SEND = 10 + 1 + 5 + 20 + 5 + 5 }; /* L1, header, crossing, L2, crossing, data: 46 */

static const struct mem_range ranges[] = {{HOST_LINE * LINE, 2 * HOST_LINE *LINE}};

static struct config_machine machine_with_link(void) {
    struct config_machine machine = fixture_machine();
    machine.link = (struct config_link){
        .is_present = true, .read_latency_cycles = 100, .read_bytes_per_cycle = 16, .write_bytes_per_cycle = 32};
    return machine;
}

static void start(struct fixture *f, struct config_machine machine) {
    fixture_start(f, machine);
    mem_use_host_memory(f->mem, ranges, 1);
}

static void a_read_takes_the_latency_of_the_link_and_no_dram(void **state) {
    (void)state;
    struct fixture f;
    start(&f, machine_with_link());
    fixture_miss(&f, 0, 100, MEM_READ, HOST_LINE, 7);
    fixture_answer(&f, 0, 7, 100 + L2_SEND + 100);
    assert_int_equal(mem_counters(f.mem)->dram_reads, 0);
    assert_int_equal(mem_counters(f.mem)->l2_misses, 1);
    fixture_end(&f);
}

static void no_cache_keeps_a_line_of_the_host(void **state) {
    (void)state;
    struct fixture f;
    start(&f, machine_with_link());
    fixture_miss(&f, 0, 100, MEM_READ, HOST_LINE, 1);
    fixture_answer(&f, 0, 1, 100 + L2_SEND + 100);
    for (uint32_t i = 0; i < 2; i++) { /* the same SM, then another */
        fixture_miss(&f, i, 1000 * (i + 1), MEM_READ, HOST_LINE, 2 + i);
        fixture_answer(&f, 1 + i, 2 + i, 1000 * (i + 1) + L2_SEND + 100);
    }
    assert_int_equal(mem_counters(f.mem)->uncached_reads, 3);
    fixture_end(&f);
}

/* A line of 128 bytes takes 8 cycles of the link to the device. */
static void reads_share_the_bandwidth_of_the_link(void **state) {
    (void)state;
    struct fixture f;
    start(&f, machine_with_link());
    for (uint32_t i = 0; i < 4; i++)
        fixture_miss(&f, i % 2, 100 + i / 2, MEM_READ, HOST_LINE + i, i);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(f.n_log, 4);
    uint64_t first = f.log[0].cycle, last = f.log[3].cycle;
    assert_int_equal(first, 100 + L2_SEND + 100);
    assert_int_equal(last - first, 24);
    fixture_end(&f);
}

/* 128 bytes take 4 cycles of the link to the host. */
static void writes_take_their_place_on_the_link(void **state) {
    (void)state;
    struct fixture f;
    start(&f, machine_with_link());
    for (uint32_t i = 0; i < 8; i++)
        fixture_hit(&f, 0, 100 + i, MEM_WRITE, HOST_LINE + i, 101 + i);
    assert_int_equal(mem_host_idle(f.mem), 0);
    mem_advance(f.mem, MEM_NEVER);
    uint64_t first = 100 + 10 + 5 + 5 + 20; /* the first write has been looked up */
    assert_in_range(mem_host_idle(f.mem), first + 8 * 4, first + 8 * 4 + 4);
    assert_int_equal(mem_counters(f.mem)->dram_writes, 0);
    fixture_end(&f);
}

/* 4 bytes would take an eighth of a cycle. */
static void a_write_of_a_part_of_a_line_takes_its_own_time(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = machine_with_link();
    machine.link.partial_write_cycles = 30;
    start(&f, machine);
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t ready;
        mem_advance(f.mem, 100 + i);
        mem_access(f.mem, 0, 100 + i, MEM_WRITE, (HOST_LINE + i) * LINE, 4, 0, &ready);
    }
    mem_advance(f.mem, MEM_NEVER);
    uint64_t first = 100 + 10 + 5 + 20; /* the first write has been looked up, or is soon */
    assert_in_range(mem_host_idle(f.mem), first + 4 * 30, first + 4 * 30 + 4);
    fixture_end(&f);
}

/* The second atomic goes to the host when the first has been answered. One on another line does not wait. */
static void atomics_on_one_line_wait_for_each_other(void **state) {
    (void)state;
    struct fixture f;
    start(&f, machine_with_link());
    fixture_miss(&f, 0, 100, MEM_ATOMIC, HOST_LINE, 1);
    fixture_miss(&f, 0, 101, MEM_ATOMIC, HOST_LINE, 2);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(f.n_log, 2);
    assert_in_range(f.log[1].cycle - f.log[0].cycle, 100, 101);
    fixture_miss(&f, 0, 1000, MEM_ATOMIC, HOST_LINE, 1);
    fixture_miss(&f, 0, 1001, MEM_ATOMIC, HOST_LINE + 2, 2);
    mem_advance(f.mem, MEM_NEVER);
    assert_in_range(f.log[3].cycle - f.log[2].cycle, 0, 4);
    fixture_end(&f);
}

static void other_memory_and_machines_without_a_link_are_as_before(void **state) {
    (void)state;
    struct fixture f, g;
    start(&f, machine_with_link());
    fixture_miss(&f, 0, 100, MEM_READ, HOST_LINE - 1, 1);
    fixture_miss(&f, 0, 101, MEM_READ, 2 * HOST_LINE, 2);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->dram_reads, 2);
    fixture_end(&f);
    start(&g, fixture_machine());
    fixture_miss(&g, 0, 100, MEM_READ, HOST_LINE, 1);
    mem_advance(g.mem, MEM_NEVER);
    assert_int_equal(mem_counters(g.mem)->dram_reads, 1);
    assert_false(mem_is_in_host_memory(g.mem, HOST_LINE * LINE));
    fixture_end(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_takes_the_latency_of_the_link_and_no_dram),
        cmocka_unit_test(no_cache_keeps_a_line_of_the_host),
        cmocka_unit_test(a_write_of_a_part_of_a_line_takes_its_own_time),
        cmocka_unit_test(atomics_on_one_line_wait_for_each_other),
        cmocka_unit_test(reads_share_the_bandwidth_of_the_link),
        cmocka_unit_test(writes_take_their_place_on_the_link),
        cmocka_unit_test(other_memory_and_machines_without_a_link_are_as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
