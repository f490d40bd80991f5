/* Cooperative launches: barriers across a grid that fills the device, with and without timing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static void expect_right(const char *options) {
    struct outcome outcome = heddle("run %s/cooperative --quiet %s", programs(), options);
    expect_status(&outcome, 0);
    expect_text(outcome.out, "blocks: right");
    outcome_free(&outcome);
}

static void a_grid_that_fills_the_device_passes_its_barriers(void **state) {
    (void)state;
    expect_right("--functional");
    expect_right("--set sm.count=3");
    expect_right("--set sm.count=3 --divergence multi-pc --scheduler lrr");
    expect_right("--set sm.count=3 --divergence odgs");
}

static void one_block_more_is_refused(void **state) {
    (void)state;
    struct outcome outcome = heddle("run %s/cooperative 1 --functional --quiet", programs());
    expect_status(&outcome, 1);
    expect_text(outcome.err, "a cooperative launch of 481 blocks; 480 fit at once");
    outcome_free(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_that_fills_the_device_passes_its_barriers),
        cmocka_unit_test(one_block_more_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
