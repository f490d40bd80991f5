/* Atomics that are loops of compare-and-swap, as retries_f32_* of bench/hardware measured them on an H200. */
#include "sm/retries.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct config_machine h200 = {
    .serial_atomics = {.retry_cycles = 95, .retry_least_cycles = 44, .retry_wide_cycles = 18, .retry_busy_cycles = 3.4},
    .shared = {.banks = 32, .pass_cycles = 2}};

/* Returns when a warp is done whose lanes share n words, `distance` words apart. */
static uint64_t done(struct sm_retries *retries, unsigned n, unsigned distance, unsigned passes, unsigned block,
                     uint64_t cycle) {
    uint64_t address[32];
    for (unsigned lane = 0; lane < 32; lane++)
        address[lane] = UINT64_C(4) * distance * (lane % n);
    return sm_retries_access(retries, &h200, address, ~0u, 4, passes, block, cycle).ready;
}

static void lanes_of_a_word_or_a_bank_succeed_one_after_the_other(void **state) {
    (void)state;
    struct sm_retries retries = {0};
    assert_int_equal(done(&retries, 32, 1, 1, 0, 0), 95);
    assert_int_equal(done(&retries, 1, 1, 1, 1, 0), 32 * 95);
    assert_int_equal(done(&retries, 8, 1, 1, 2, 0), 4 * 95);
    assert_int_equal(done(&retries, 32, 32, 32, 3, 0), 32 * 95 + 2 * 31 * 32 / 2); /* the card: 4037 */
}

static void warps_of_a_word_wait_for_each_other(void **state) {
    (void)state;
    struct sm_retries retries = {0};
    uint64_t last = 0;
    for (unsigned warp = 0; warp < 32; warp++)
        last = done(&retries, 32, 1, 1, 0, 0);
    assert_in_range(last, 32 * 44, 32 * 44 + 10 * 51); /* the card: 44 cycles each, and the first few more */
    struct sm_retries others = {0};
    done(&others, 32, 1, 1, 0, 0);
    assert_int_equal(done(&others, 32, 1, 1, 1, 0), 95); /* of another block */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_of_a_word_or_a_bank_succeed_one_after_the_other),
        cmocka_unit_test(warps_of_a_word_wait_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
