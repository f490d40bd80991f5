/* The time of printf, malloc and free in kernels on h200, against the recording of the card
 * (bench/hardware/recordings/h200_device.csv: printf_text_blocks_kernel, malloc_kernel_*). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

/* The sanitized suite makes one run of each kind: more of them only compare numbers. */
#ifdef HEDDLE_FEW
enum { HAS_ALL_RUNS = 0 };
#else
enum { HAS_ALL_RUNS = 1 };
#endif

static double measure(const char *options, const char *arguments) {
    struct outcome outcome = heddle("run --quiet %s %s/calls %s", options, programs(), arguments);
    expect_status(&outcome, 0);
    const char *line = strstr(outcome.err, "us ");
    assert_non_null(line);
    double us = strtod(line + 3, NULL);
    outcome_free(&outcome);
    return us;
}

static void expect_near(const char *arguments, double card) {
    double us = measure("-m h200", arguments);
    if (us < 0.7 * card || us > 1.3 * card)
        fail_msg("calls %s takes %g us, and on the card %g", arguments, us, card);
}

static void printf_takes_its_time(void **state) {
    (void)state;
    expect_near("print 2 32 1", 32.4);
    if (!HAS_ALL_RUNS)
        return;
    expect_near("print 33 32 1", 326.3);
    expect_near("print 132 32 1", 1236);
}

static void malloc_and_free_take_their_time(void **state) {
    (void)state;
    expect_near("allocate 1 32 4", 372.4);
    if (!HAS_ALL_RUNS)
        return;
    expect_near("allocate 1 1 8", 136.4);
    expect_near("allocate 33 1 1", 250.4);
    expect_near("allocate 132 1 1", 986.8);
    expect_near("allocate 132 32 1", 1167.2);
}

static void without_the_mechanism_calls_are_instructions(void **state) {
    (void)state;
    assert_true(measure("-m h200 --set calls.present=false", "print 132 32 1") < 10);
    assert_true(measure("-m h200 --set calls.present=false", "allocate 132 32 1") < 10);
}

/* The calls of all SMs wait in one queue. */
static void the_number_of_host_threads_changes_nothing(void **state) {
    (void)state;
    assert_true(measure("-m h200 -j 1", "print 132 32 1") == measure("-m h200 -j 3", "print 132 32 1"));
    assert_true(measure("-m h200 -j 1", "allocate 132 32 1") == measure("-m h200 -j 3", "allocate 132 32 1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printf_takes_its_time),
        cmocka_unit_test(malloc_and_free_take_their_time),
        cmocka_unit_test(without_the_mechanism_calls_are_instructions),
        cmocka_unit_test(the_number_of_host_threads_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
