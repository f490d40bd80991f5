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

static struct times measure_as(const char *options, unsigned blocks, unsigned n, const char *how) {
    struct times t = {0};
    struct outcome outcome = heddle("run --quiet %s %s/streams %u %u %s", options, programs(), blocks, n, how);
    expect_status(&outcome, 0);
    assert_int_equal(
        sscanf(outcome.out, "one %lf all %lf kernel %lf between %lf", &t.one, &t.all, &t.kernel, &t.between), 4);
    outcome_free(&outcome);
    return t;
}

static struct times measure(const char *options, unsigned blocks, unsigned n) {
    return measure_as(options, blocks, n, "");
}

static void expect_ratio(struct times times, double ratio) {
    if (times.all < 0.98 * ratio * times.one || times.all > 1.02 * ratio * times.one)
        fail_msg("one takes %g us and all %g", times.one, times.all);
}

static void kernels_that_fit_run_together(void **state) {
    (void)state;
    expect_ratio(measure("-m h200", 1, 2), 1);
    expect_ratio(measure("-m h200", 132, 2), 1);
    /* One kernel takes all places, so the second one's blocks start when the first one's end. */
    struct times full = measure("-m h200 --set sm.count=16 -s lrr", 16 * 8, 2);
    assert_true(full.all - full.one > 0.98 * full.kernel && full.all - full.one < 1.1 * full.kernel);
}

static void eight_kernels_run_at_the_same_time(void **state) {
    (void)state;
    expect_ratio(measure("-m h200", 1, 8), 1);
    expect_ratio(measure("-m h200", 1, 16), 2);
    expect_ratio(measure("-m h200 --set launch.concurrent=1", 1, 4), 4);
}

/* Reads the first n kernels of the timeline. */
struct kernel_times {
    long long first, end, stream;
};

static void read_kernels(const char *options, unsigned blocks, struct kernel_times *kernel, unsigned n) {
    struct outcome outcome = heddle("run --quiet %s --json - %s/streams %u 2", options, programs(), blocks);
    expect_status(&outcome, 0);
    json_t *object = json_loads(strchr(outcome.out, '{'), JSON_DISABLE_EOF_CHECK, NULL), *work;
    assert_non_null(object);
    size_t i;
    unsigned found = 0;
    json_array_foreach(json_object_get(object, "timeline"), i,
                       work) if (strcmp(json_string_value(json_object_get(work, "kind")), "kernel") == 0 && found < n)
        kernel[found++] = (struct kernel_times){json_integer_value(json_object_get(work, "first")),
                                                json_integer_value(json_object_get(work, "end")),
                                                json_integer_value(json_object_get(work, "stream"))};
    assert_int_equal(found, n);
    json_decref(object);
    outcome_free(&outcome);
}

/* Each kernel takes all places. Warps wait for the clock in a loop, and under gto the oldest keep younger ones from
 * issuing, so a kernel takes three times as long as one of its warps, and its last warps leave most issue slots free.
 * The second kernel's blocks start in places that have become free, and use these slots. So two kernels take less than
 * twice the time of one. But all warps of the first kernel are older, so it takes as long as alone. */
static void under_gto_the_first_of_two_kernels_is_not_slowed_down(void **state) {
    (void)state;
    struct kernel_times kernel[3]; /* one alone, then two */
    read_kernels("-m h200 --set sm.count=16 --set lowering.new_code_cycles=0 -s gto", 16 * 8, kernel, 3);
    long long alone = kernel[0].end - kernel[0].first, first = kernel[1].end - kernel[1].first;
    long long both = kernel[2].end - kernel[1].first;
    assert_int_equal(kernel[1].first, kernel[2].first);
    assert_in_range(first, alone - alone / 1000, alone + alone / 1000);
    assert_in_range(both, alone + alone / 2, 2 * alone - alone / 10);
    read_kernels("-m h200 --set sm.count=16 -s lrr", 16 * 8, kernel, 3); /* all warps issue in turn, and end together */
    alone = kernel[0].end - kernel[0].first;
    both = kernel[2].end - kernel[1].first;
    assert_in_range(both, 2 * alone - alone / 4, 2 * alone);
}

/* Heddle does not know that the program polls, and must not guess. It says what to do. */
static void a_program_that_polls_without_a_call_gets_a_message(void **state) {
    (void)state;
    struct outcome outcome = heddle("run --quiet -m h200 --set sm.count=2 %s/polls", programs());
    expect_status(&outcome, 0);
    assert_string_equal(outcome.out, "not seen without a call\nseen\n");
    expect_line(&outcome, "kernels wait for the program's next CUDA call");
    outcome_free(&outcome);
}

/* Streams that are captured become branches. */
static void branches_of_a_captured_graph_run_together(void **state) {
    (void)state;
    expect_ratio(measure_as("-m h200", 1, 4, "captured"), 1);
    expect_ratio(measure_as("-m h200 --set launch.concurrent=1", 1, 4, "captured"), 4);
}

/* 20,000 cycles of 1.98 GHz, without the fetch of the kernel's code in its first launch. Both runs of the kernel, and a
 * copy between them, are on one timeline. */
static void the_global_timer_follows_the_timeline(void **state) {
    (void)state;
    struct times t = measure("-m h200 --set lowering.new_code_cycles=0", 1, 1);
    assert_true(t.kernel >= 10.1 && t.kernel < 10.3);
    assert_true(t.one > t.kernel && t.one < t.kernel + 2);
    assert_true(t.between > t.one + 2.6 && t.between < t.one + 4); /* the copy takes 2.6 us */
}

static void the_trace_shows_kernels_of_different_streams_at_the_same_time(void **state) {
    (void)state;
    struct kernel_times kernel[3];
    read_kernels("-m h200", 1, kernel, 3);
    assert_int_equal(kernel[1].first, kernel[2].first);
    assert_int_not_equal(kernel[1].stream, kernel[2].stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_fit_run_together),
        cmocka_unit_test(eight_kernels_run_at_the_same_time),
        cmocka_unit_test(under_gto_the_first_of_two_kernels_is_not_slowed_down),
        cmocka_unit_test(branches_of_a_captured_graph_run_together),
        cmocka_unit_test(a_program_that_polls_without_a_call_gets_a_message),
        cmocka_unit_test(the_global_timer_follows_the_timeline),
        cmocka_unit_test(the_trace_shows_kernels_of_different_streams_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
