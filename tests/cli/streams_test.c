/* Kernels of different streams on the timeline of h200, against the recording of the card
 * (bench/hardware/recordings/h200_streams.csv: two_kernels_blocks, kernels_in_streams). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

struct times {
    double one, all, kernel, between;
};

static struct times measure(const char *options, unsigned blocks, unsigned n) {
    struct times t = {0};
    struct outcome outcome = heddle("run --quiet %s %s/streams %u %u", options, programs(), blocks, n);
    expect_status(&outcome, 0);
    assert_int_equal(
        sscanf(outcome.out, "one %lf all %lf kernel %lf between %lf", &t.one, &t.all, &t.kernel, &t.between), 4);
    outcome_free(&outcome);
    return t;
}

static void expect_ratio(struct times times, double ratio) {
    if (times.all < 0.98 * ratio * times.one || times.all > 1.02 * ratio * times.one)
        fail_msg("one takes %g us and all %g", times.one, times.all);
}

static void kernels_that_fit_run_together(void **state) {
    (void)state;
    expect_ratio(measure("-m h200", 1, 2), 1);
    expect_ratio(measure("-m h200", 132, 2), 1);
    /* One kernel takes all places, so the second one's blocks start when the first one's end. Not under gto, where
     * warps that wait for the clock keep younger ones from issuing: blocks then end one after the other. */
    struct times full = measure("-m h200 -s lrr", 132 * 8, 2);
    assert_true(full.all - full.one > 0.98 * full.kernel && full.all - full.one < 1.1 * full.kernel);
}

static void eight_kernels_run_at_the_same_time(void **state) {
    (void)state;
    expect_ratio(measure("-m h200", 1, 8), 1);
    expect_ratio(measure("-m h200", 1, 16), 2);
    expect_ratio(measure("-m h200 --set launch.concurrent=1", 1, 4), 4);
}

/* 20,000 cycles of 1.98 GHz. Both runs of the kernel, and a copy between them, are on one timeline. */
static void the_global_timer_follows_the_timeline(void **state) {
    (void)state;
    struct times t = measure("-m h200", 1, 1);
    assert_true(t.kernel >= 10.1 && t.kernel < 10.3);
    assert_true(t.one > t.kernel && t.one < t.kernel + 2);
    assert_true(t.between > t.one + 2.6 && t.between < t.one + 4); /* the copy takes 2.6 us */
}

static void the_trace_shows_kernels_of_different_streams_at_the_same_time(void **state) {
    (void)state;
    struct outcome outcome = heddle("run --quiet -m h200 --json - %s/streams 1 2", programs());
    expect_status(&outcome, 0);
    json_t *object = json_loads(strchr(outcome.out, '{'), JSON_DISABLE_EOF_CHECK, NULL), *work;
    assert_non_null(object);
    size_t i;
    long long first[3] = {0}, stream[3] = {0};
    unsigned n = 0;
    json_array_foreach(json_object_get(object, "timeline"), i, work) {
        if (strcmp(json_string_value(json_object_get(work, "kind")), "kernel") != 0 || n == 3)
            continue;
        first[n] = json_integer_value(json_object_get(work, "first"));
        stream[n++] = json_integer_value(json_object_get(work, "stream"));
    }
    assert_int_equal(n, 3);
    assert_int_equal(first[1], first[2]);
    assert_int_not_equal(stream[1], stream[2]);
    json_decref(object);
    outcome_free(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_fit_run_together),
        cmocka_unit_test(eight_kernels_run_at_the_same_time),
        cmocka_unit_test(the_global_timer_follows_the_timeline),
        cmocka_unit_test(the_trace_shows_kernels_of_different_streams_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
