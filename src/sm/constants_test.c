/* The caches for constants: hits, misses in the first and in both, lines on their way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sm/constants.h"

enum { HIT = 5, MISS = 30, FAR = 200 };

/* Two lines of 64 bytes. */
static struct config_constant_cache options_with(uint32_t far_cycles) {
    return (struct config_constant_cache){.size_bytes = 128, .miss_cycles = MISS, .far_cycles = far_cycles};
}

static uint64_t access_one(struct sm_constants *constants, const struct config_constant_cache *options,
                           uint64_t address, uint64_t cycle) {
    uint64_t addresses[EXEC_LANES] = {address};
    uint32_t n;
    uint64_t latency = sm_constants_access(constants, options, addresses, 1, HIT, cycle, &n);
    assert_int_equal(n, 1);
    return latency;
}

static void a_line_hits_until_another_takes_its_place(void **state) {
    (void)state;
    struct config_constant_cache options = options_with(0);
    struct sm_constants constants = {0};
    assert_int_equal(access_one(&constants, &options, 0, 1), MISS);
    assert_int_equal(access_one(&constants, &options, 63, 2), HIT);
    assert_int_equal(access_one(&constants, &options, 64, 3), MISS);
    assert_int_equal(access_one(&constants, &options, 0, 4), HIT);
    assert_int_equal(access_one(&constants, &options, 128, 5), MISS);
    assert_int_equal(access_one(&constants, &options, 0, 6), MISS);
    assert_int_equal(access_one(&constants, &options, 64, 7), HIT);
}

/* 256 bytes are one line of the second cache. Lines 0 and 2 have the same place in the first. */
static void the_second_cache_holds_larger_lines(void **state) {
    (void)state;
    struct config_constant_cache options = options_with(FAR);
    struct sm_constants constants = {0};
    assert_int_equal(access_one(&constants, &options, 0, 1000), FAR);
    assert_int_equal(access_one(&constants, &options, 128, 2000), MISS);
    assert_int_equal(access_one(&constants, &options, 0, 3000), MISS);
    assert_int_equal(access_one(&constants, &options, 256, 4000), FAR);
}

static void a_line_on_its_way_is_waited_for(void **state) {
    (void)state;
    struct config_constant_cache options = options_with(FAR);
    struct sm_constants constants = {0};
    assert_int_equal(access_one(&constants, &options, 0, 1000), FAR);
    assert_int_equal(access_one(&constants, &options, 32, 1100), FAR - 100);
    assert_int_equal(access_one(&constants, &options, 32, 1000 + FAR - HIT), HIT);
    assert_int_equal(access_one(&constants, &options, 32, 1000 + FAR - HIT - 1), HIT + 1);
}

/* Lanes 0 to 3 have two addresses of one line, lane 4 one that misses, and lane 5 does not take part. */
static void the_slowest_address_decides_and_equal_ones_count_once(void **state) {
    (void)state;
    struct config_constant_cache options = options_with(0);
    struct sm_constants constants = {0};
    uint64_t address[EXEC_LANES] = {8, 16, 16, 8, 72, 80};
    uint32_t n;
    access_one(&constants, &options, 0, 1);
    assert_int_equal(sm_constants_access(&constants, &options, address, 0xf, HIT, 2, &n), HIT);
    assert_int_equal(n, 2);
    assert_int_equal(sm_constants_access(&constants, &options, address, 0x1f, HIT, 3, &n), MISS);
    assert_int_equal(n, 3);
}

static void a_cleared_cache_misses(void **state) {
    (void)state;
    struct config_constant_cache options = options_with(FAR);
    struct sm_constants constants = {0};
    assert_int_equal(access_one(&constants, &options, 0, 1), FAR);
    sm_constants_clear(&constants);
    assert_int_equal(access_one(&constants, &options, 0, 1000), FAR);
}

static void variables_lie_side_by_side(void **state) {
    (void)state;
    struct exec_allocation variable[] = {{0x1000, 4}, {0x1100, 8}};
    uint64_t place[] = {0x1000, 0x1008};
    struct exec_program program = {.const_variable = variable, .const_place = place, .n_const_variables = 2};
    assert_int_equal(sm_constants_place(&program, 0x1003), 0x1003);
    assert_int_equal(sm_constants_place(&program, 0x1104), 0x100c);
    assert_int_equal(sm_constants_place(&program, 0x1108), 0x1108); /* behind the last: in no variable */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_hits_until_another_takes_its_place),
        cmocka_unit_test(the_second_cache_holds_larger_lines),
        cmocka_unit_test(a_line_on_its_way_is_waited_for),
        cmocka_unit_test(the_slowest_address_decides_and_equal_ones_count_once),
        cmocka_unit_test(a_cleared_cache_misses),
        cmocka_unit_test(variables_lie_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
