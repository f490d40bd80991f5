/* Kernels that access host memory over the link of h200, against the recording of the card
 * (bench/hardware/recordings/h200_streams.csv: zero_copy_read16_GBps, zero_copy_write_GBps, zero_copy_chase). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

struct rates {
    double read, write, chase;
};

static struct rates measure(const char *options, unsigned bytes, unsigned blocks) {
    struct rates rates = {0};
    char verdict[16] = "";
    struct outcome outcome = heddle("run --quiet %s %s/host_memory %u %u", options, programs(), bytes, blocks);
    expect_status(&outcome, 0);
    assert_int_equal(
        sscanf(outcome.out, "read %lf write %lf chase %lf %15s", &rates.read, &rates.write, &rates.chase, verdict), 4);
    assert_string_equal(verdict, "right");
    outcome_free(&outcome);
    return rates;
}

static void expect_near(double value, double card, double tolerance) {
    if (value < card * (1 - tolerance) || value > card * (1 + tolerance))
        fail_msg("%g, and the card has %g", value, card);
}

static void bandwidth_and_latency_are_within_a_tenth_of_the_card(void **state) {
    (void)state;
    struct rates all = measure("-m h200", 8 << 20, 132), one = measure("-m h200", 1 << 20, 1);
    expect_near(all.read, 50.97, 0.1);
    expect_near(all.write, 52.37, 0.1);
    expect_near(all.chase, 2267.1, 0.1);
    expect_near(one.read, 3.07, 0.2);
    expect_near(one.write, 47.25, 0.2);
}

static void machines_without_a_link_read_host_memory_as_their_own(void **state) {
    (void)state;
    struct rates rates = measure("-m h200 --set link.present=false", 1 << 20, 132);
    assert_true(rates.chase < 1500);
}

static void the_number_of_host_threads_changes_nothing(void **state) {
    (void)state;
    struct rates one = measure("-m h200 -j 1", 1 << 20, 132), three = measure("-m h200 -j 3", 1 << 20, 132);
    assert_true(one.read == three.read && one.write == three.write && one.chase == three.chase);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandwidth_and_latency_are_within_a_tenth_of_the_card),
        cmocka_unit_test(machines_without_a_link_read_host_memory_as_their_own),
        cmocka_unit_test(the_number_of_host_threads_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
