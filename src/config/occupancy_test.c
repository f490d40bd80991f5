#include "config/occupancy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct config_capacity sm = {
    .warp_size = 32, .threads = 2048, .blocks = 32, .registers = 65536, .shared_bytes = 102400};

static uint32_t occupancy(const struct config_capacity *capacity, uint32_t threads, uint32_t registers,
                          uint32_t shared_bytes) {
    const struct config_demand block = {threads, registers, shared_bytes};
    return config_occupancy(capacity, &block, NULL);
}

/* By hand: 2048 / 256 = 8 by threads; 65536 / (256 x 64) = 4 by registers; 102400 / 40960 = 2 by shared memory. */
static void the_scarcest_resource_decides(void **state) {
    (void)state;
    assert_int_equal(occupancy(&sm, 256, 16, 0), 8);
    assert_int_equal(occupancy(&sm, 256, 64, 0), 4);
    assert_int_equal(occupancy(&sm, 256, 64, 40960), 2);
    assert_int_equal(occupancy(&sm, 32, 16, 0), 32);
    assert_int_equal(occupancy(&sm, 0, 16, 0), 0);
}

static void threads_and_registers_go_to_whole_warps(void **state) {
    (void)state;
    struct config_capacity narrow = sm;
    narrow.warp_size = 8;
    narrow.threads = 64;
    assert_int_equal(occupancy(&sm, 1025, 1, 0), 1);   /* 1056 of 2048 threads */
    assert_int_equal(occupancy(&sm, 33, 255, 0), 4);   /* 64 x 255 of 65536 registers */
    assert_int_equal(occupancy(&narrow, 12, 1, 0), 4); /* 16 of 64 threads: warps are 8 wide */
}

/* As CUDA's occupancy calculator: a warp with 40 registers takes 1280, in multiples of 256. A partition of 16384
 * registers holds 12 of them, the SM 48. A block of 800 threads is 25 warps, so only one fits; a launch is checked as
 * if it took the place of 28. */
static void registers_go_to_partitions_in_units(void **state) {
    (void)state;
    struct config_capacity card = sm;
    card.register_unit = 256;
    card.partitions = 4;
    assert_int_equal(config_register_warps(&card, 40), 48);
    assert_int_equal(occupancy(&card, 768, 40, 0), 2);
    assert_int_equal(occupancy(&card, 800, 40, 0), 1);
    assert_int_equal(occupancy(&sm, 800, 40, 0), 2);
    assert_int_equal(occupancy(&card, 256, 33, 0), 6); /* 33 count as 40 */
    assert_int_equal(config_registers(&card, 800, 33), 28 * 1280);
    assert_int_equal(occupancy(&card, 32, 72, 0), 28); /* on an H200 18 of them run at once on average */
    assert_int_equal(occupancy(&card, 64, 112, 0), 8);
}

static void zero_registers_are_as_many_as_needed(void **state) {
    (void)state;
    struct config_capacity without = sm;
    without.registers = 0;
    assert_int_equal(occupancy(&without, 1024, 255, 0), 2);
    assert_int_equal(config_registers(&without, 1024, 255), 0);
    assert_int_equal(config_registers(&sm, 33, 10), 640);
}

static const char *limiter(uint32_t threads, uint32_t registers, uint32_t shared) {
    const struct config_demand block = {threads, registers, shared};
    uint32_t blocks[CONFIG_N_RESOURCES];
    enum config_resource resource = config_occupancy_limits(&sm, &block, blocks);
    assert_int_equal(blocks[resource], config_occupancy(&sm, &block, NULL));
    return config_resource_words[resource];
}

static void the_limiter_is_named(void **state) {
    (void)state;
    assert_string_equal(limiter(256, 16, 0), "threads");
    assert_string_equal(limiter(256, 64, 0), "registers");
    assert_string_equal(limiter(256, 64, 40960), "shared memory");
    assert_string_equal(limiter(32, 16, 0), "blocks");
}

static void a_block_that_does_not_fit_names_what_is_short(void **state) {
    (void)state;
    struct config_capacity reserving = sm;
    reserving.shared_reserved_bytes = 1024;
    const struct config_demand block = {.threads = 32, .registers_per_thread = 1, .shared_bytes = 102400};
    struct config_shortage shortage;
    assert_int_equal(config_occupancy(&sm, &block, &shortage), 1);
    assert_int_equal(config_occupancy(&reserving, &block, &shortage), 0);
    assert_string_equal(shortage.what, "bytes of shared memory");
    assert_int_equal(shortage.need, 103424);
    assert_int_equal(shortage.have, 102400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scarcest_resource_decides),
        cmocka_unit_test(the_limiter_is_named),
        cmocka_unit_test(threads_and_registers_go_to_whole_warps),
        cmocka_unit_test(registers_go_to_partitions_in_units),
        cmocka_unit_test(zero_registers_are_as_many_as_needed),
        cmocka_unit_test(a_block_that_does_not_fit_names_what_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
