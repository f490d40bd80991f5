/* The levels of memory and the occupancy of a launch, from counters. */
#include "report/advice.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "config/config.h"
#include "report/internal.h"

static double number(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

/* Four SMs, lines of 64 bytes in the L1 and of 128 below it. */
static struct report_target make_target(struct config_machine *machine) {
    config_defaults(machine);
    machine->sm.count = 4;
    machine->shared.banks = 32;
    machine->l1.cache.banks = 1;
    machine->l1.cache.line_bytes = 64;
    machine->l2.cache.banks = 2;
    machine->l2.cache.line_bytes = 128;
    machine->crossbar.bytes_per_cycle = 32;
    machine->dram.channels = 2;
    machine->dram.bytes_per_cycle = 16;
    return (struct report_target){.lanes = 32, .peaks = report_peaks_of(machine)};
}

static void levels_have_bytes_requests_and_hit_rates(void **state) {
    (void)state;
    struct config_machine machine;
    struct report_target target = make_target(&machine);
    struct stats_counters counters = {.cycles = 100,
                                      .memory_instructions = 30,
                                      .long_instructions = 10,
                                      .shared_passes = 25,
                                      .l1_accesses = 40,
                                      .l1_misses = 10,
                                      .requested_bytes = 1000,
                                      .crossbar_bytes = 640,
                                      .l2_accesses = 10,
                                      .l2_misses = 5,
                                      .dram_reads = 5,
                                      .dram_writes = 3,
                                      .row_hits = 6,
                                      .row_conflicts = 2};
    static const struct {
        const char *name;
        double requests, bytes, hit_rate, most; /* most: bytes of 100 cycles at the peak */
    } expected[] = {
        {"shared", 20, 25 * 128, NAN, 4 * 128 * 100}, {"L1", 40, 1000, 0.75, 4 * 64 * 100},
        {"crossbar", 0, 640, NAN, 2 * 2 * 32 * 100},  {"L2", 10, 1280, 0.5, 2 * 128 * 100},
        {"DRAM", 8, 1024, 0.75, 2 * 16 * 100},
    };
    json_t *memory = report_memory_json(&counters, &target), *levels = json_object_get(memory, "levels");
    assert_int_equal(json_array_size(levels), sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const json_t *level = json_array_get(levels, i), *rate = json_object_get(level, "hit_rate");
        assert_string_equal(json_string_value(json_object_get(level, "name")), expected[i].name);
        assert_true(number(level, "requests") == expected[i].requests);
        assert_true(number(level, "bytes") == expected[i].bytes);
        assert_true(isnan(expected[i].hit_rate) ? json_is_null(rate) : json_number_value(rate) == expected[i].hit_rate);
        assert_true(fabs(number(level, "share_of_peak") - expected[i].bytes / expected[i].most) < 1e-9);
    }
    json_decref(memory);
}

static void levels_that_the_machine_lacks_are_left_out(void **state) {
    (void)state;
    struct config_machine machine;
    make_target(&machine);
    machine.memory.is_perfect = true;
    struct report_target target = {.lanes = 32, .peaks = report_peaks_of(&machine)};
    json_t *memory = report_memory_json(&(struct stats_counters){.cycles = 100}, &target);
    assert_int_equal(json_array_size(json_object_get(memory, "levels")), 1);
    json_decref(memory);
}

/* Four SMs for 1000 cycles: one is empty all the time, and the others wait 200 cycles for the launch and 100 more for
 * their first instruction. Four blocks of 8 warps are on each of them from the launch's start on. */
static void occupancy_counts_the_cycles_with_blocks(void **state) {
    (void)state;
    struct report_kernel kernel = {
        .occupancy = {.blocks = 4, .warps = 32, .most_warps = 48, .text = "{}"},
        .counters = {.cycles = 1000,
                     .sm_cycles = 4000,
                     .stall_empty = 1000,
                     .empty_unused = 1000,
                     .fetch_start = 900,
                     .block_cycles = 4 * 2400},
    };
    assert_true(fabs(report_theoretical_occupancy(&kernel) - 32.0 / 48) < 1e-9);
    const struct report_peaks at_once = {0}, late = {.start_cycles = 200}, later = {.start_cycles = 500};
    assert_true(fabs(report_achieved_occupancy(&kernel, &late) - 32.0 / 48) < 1e-9);
    assert_true(fabs(report_achieved_occupancy(&kernel, &at_once) - 2400.0 * 32 / (3000 * 48)) < 1e-9);
    assert_true(fabs(report_achieved_occupancy(&kernel, &later) - 2400.0 * 32 / (2100 * 48)) <
                1e-9); /* no more than it waited */
    assert_true(report_achieved_occupancy(&(struct report_kernel){0}, &late) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_have_bytes_requests_and_hit_rates),
        cmocka_unit_test(levels_that_the_machine_lacks_are_left_out),
        cmocka_unit_test(occupancy_counts_the_cycles_with_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
