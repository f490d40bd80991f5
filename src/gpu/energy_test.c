/* Energy from counters, compared with sums made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "gpu/timed.h"

/* Every event has its own number and energy, so that no two can be swapped unnoticed. */
static const struct stats_counters events = {
    .cycles = 90,
    .sm_cycles = 350,
    .warp_instructions = 1000,
    .thread_instructions = 20000,
    .integer_thread_instructions = 9000,
    .float_thread_instructions = 5000,
    .special_thread_instructions = 700,
    .matrix_products = 6000,
    .memory_thread_instructions = 4000,
    .long_thread_instructions = 3500,
    .control_thread_instructions = 1300,
    .register_accesses = 50000,
    .register_writes = 17000,
    .l1_accesses = 600,
    .l2_accesses = 150,
    .l2_requests = 50,
    .crossbar_bytes = 24000,
    .dram_reads = 30,
    .dram_writes = 11,
};
static const struct config_energy prices = {
    .fetch = 92,
    .integer = 2,
    .floating = 3,
    .special = 10,
    .matrix = 1.5,
    .register_access = 7,
    .result = 4,
    .l1 = 30,
    .l2 = 2000,
    .l2_request = 1400,
    .crossbar_byte = 8,
    .dram_nj = 220,
    .clock = 100,
    .leakage = 300,
    .l2_leakage = 1000,
};

static void a_launch_consumes_what_its_events_cost(void **state) {
    (void)state;
    struct stats_counters counters = events;
    gpu_count_energy(&prices, &counters);
    assert_int_equal(counters.energy_fetch_nj, 92);     /* 1000 x 92 pJ */
    assert_int_equal(counters.energy_integer_nj, 26);   /* 13,000 x 2: addresses are integers too */
    assert_int_equal(counters.energy_float_nj, 15);     /* 5000 x 3 */
    assert_int_equal(counters.energy_special_nj, 7);    /* 700 x 10 */
    assert_int_equal(counters.energy_matrix_nj, 9);     /* 6000 x 1.5 */
    assert_int_equal(counters.energy_register_nj, 350); /* 50,000 x 7 */
    assert_int_equal(counters.energy_result_nj, 68);    /* 17,000 x 4 */
    assert_int_equal(counters.energy_l1_nj, 105);       /* 3500 x 30: a bank for each lane, however few lines */
    assert_int_equal(counters.energy_l2_nj, 370);       /* 150 x 2000 + 50 x 1400 */
    assert_int_equal(counters.energy_crossbar_nj, 192); /* 24,000 x 8 */
    assert_int_equal(counters.energy_dram_nj, 9020);    /* 41 x 220 nJ */
    assert_int_equal(counters.energy_clock_nj, 35);     /* 350 x 100 */
    assert_int_equal(counters.energy_leakage_nj, 195);  /* 350 x 300 + 90 x 1000 */
    assert_int_equal(counters.energy_nj, 92 + 26 + 15 + 7 + 9 + 350 + 68 + 105 + 370 + 192 + 9020 + 35 + 195);
    assert_int_equal(counters.thread_instructions, events.thread_instructions); /* the events do not change */
}

static void doubles_and_passes_of_shared_memory_have_prices(void **state) {
    (void)state;
    struct stats_counters counters = events;
    struct config_energy more = prices;
    counters.fp64_thread_instructions = 2000;
    counters.shared_passes = 400;
    gpu_count_energy(&prices, &counters);
    assert_int_equal(counters.energy_float_nj, 15); /* no price of its own: as others */
    assert_int_equal(counters.energy_l1_nj, 105);
    more.double_precision = 20;
    more.shared_pass = 50;
    gpu_count_energy(&more, &counters);
    assert_int_equal(counters.energy_float_nj, 49); /* 3000 x 3 + 2000 x 20 */
    assert_int_equal(counters.energy_l1_nj, 125);   /* 105 + 400 x 50 */
}

static void parts_are_rounded_and_add_up(void **state) {
    (void)state;
    struct stats_counters counters = {.warp_instructions = 1499, .dram_reads = 1, .sm_cycles = 3};
    gpu_count_energy(&(struct config_energy){.fetch = 1, .dram_nj = 0.5, .clock = 500}, &counters);
    assert_int_equal(counters.energy_fetch_nj, 1); /* 1.499 */
    assert_int_equal(counters.energy_dram_nj, 1);  /* 0.5 */
    assert_int_equal(counters.energy_clock_nj, 2); /* 1.5 */
    assert_int_equal(counters.energy_nj, 4);
}

static void a_machine_without_figures_has_no_energy(void **state) {
    (void)state;
    struct stats_counters counters = events;
    gpu_count_energy(&(struct config_energy){0}, &counters);
    assert_int_equal(counters.energy_nj, 0);
    assert_false(stats_exists(&stats_list[STATS_AT_energy_nj], true, &counters));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_consumes_what_its_events_cost),
        cmocka_unit_test(doubles_and_passes_of_shared_memory_have_prices),
        cmocka_unit_test(parts_are_rounded_and_add_up),
        cmocka_unit_test(a_machine_without_figures_has_no_energy),
    };
    return cmocka_run_group_tests_name("gpu/energy", tests, NULL, NULL);
}
