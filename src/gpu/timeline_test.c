/* When kernels and copies run on the device's timeline. */
#include "gpu/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct config_link link = {
    .is_present = true, .latency_cycles = 100, .bytes_per_cycle = 10, .local_bytes_per_cycle = 50};

static uint64_t add(struct gpu_timeline *timeline, enum gpu_work_kind kind, uint64_t amount, uint64_t ready,
                    uint64_t *end) {
    struct gpu_work work = {.kind = kind, .stream = 3};
    if (kind == GPU_WORK_KERNEL)
        work.n_cycles = amount;
    else
        work.bytes = amount;
    const struct gpu_work *added = gpu_timeline_add(timeline, &work, ready);
    *end = added->end;
    return added->first;
}

static void a_copy_takes_its_latency_and_its_bytes(void **state) {
    (void)state;
    struct gpu_timeline *timeline = gpu_timeline_new(&link, 1);
    uint64_t end;
    assert_int_equal(add(timeline, GPU_WORK_TO_DEVICE, 1000, 7, &end), 7);
    assert_int_equal(end, 7 + 100 + 100);
    assert_int_equal(add(timeline, GPU_WORK_TO_HOST, 1001, 0, &end), 0);
    assert_int_equal(end, 100 + 101);
    assert_int_equal(add(timeline, GPU_WORK_FILL, 1000, 0, &end), 0);
    assert_int_equal(end, 100 + 20);
    assert_int_equal(add(timeline, GPU_WORK_ON_DEVICE, 1000, 120, &end), 120);
    assert_int_equal(end, 120 + 100 + 40); /* it reads and writes each byte */
    gpu_timeline_free(timeline);
}

/* Work of one kind waits for its engine, however early it may start. Work of others does not. */
static void each_engine_does_one_thing_after_the_other(void **state) {
    (void)state;
    static const enum gpu_work_kind kinds[] = {GPU_WORK_KERNEL, GPU_WORK_TO_DEVICE, GPU_WORK_TO_HOST, GPU_WORK_FILL};
    struct gpu_timeline *timeline = gpu_timeline_new(&link, 1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint64_t end, next;
        assert_int_equal(gpu_timeline_start(timeline, &(struct gpu_work){.kind = kinds[i]}, 5), 5);
        assert_int_equal(add(timeline, kinds[i], 5000, 5, &end), 5);
        assert_int_equal(add(timeline, kinds[i], 5000, 0, &next), end);
        assert_int_equal(next - end, end - 5);
    }
    gpu_timeline_free(timeline);
}

static void work_is_kept_in_the_order_of_the_calls(void **state) {
    (void)state;
    struct gpu_timeline *timeline = gpu_timeline_new(&link, 1);
    uint64_t end;
    uint32_t count;
    for (uint64_t i = 0; i < 200; i++)
        add(timeline, GPU_WORK_KERNEL, i, 1000 - i, &end);
    const struct gpu_work *work = gpu_timeline_work(timeline, &count);
    assert_int_equal(count, 200);
    for (uint64_t i = 0; i < 200; i++) {
        assert_int_equal(work[i].n_cycles, i);
        assert_int_equal(work[i].stream, 3);
    }
    gpu_timeline_free(timeline);
    assert_null(gpu_timeline_work(NULL, &count));
    assert_int_equal(count, 0);
}

static uint64_t add_kernel(struct gpu_timeline *timeline, double share, uint64_t n_cycles, uint64_t ready) {
    struct gpu_work work = {.kind = GPU_WORK_KERNEL, .share = share, .n_cycles = n_cycles};
    return gpu_timeline_add(timeline, &work, ready)->first;
}

static void kernels_run_together_while_their_blocks_fit(void **state) {
    (void)state;
    struct gpu_timeline *timeline = gpu_timeline_new(&link, 3);
    assert_int_equal(add_kernel(timeline, 0.5, 100, 10), 10);
    assert_int_equal(add_kernel(timeline, 0.5, 50, 0), 0);
    assert_int_equal(add_kernel(timeline, 0.1, 30, 20), 50); /* the second has ended */
    assert_int_equal(add_kernel(timeline, 0.1, 30, 20), 50); /* three at the same time */
    assert_int_equal(add_kernel(timeline, 0.1, 30, 20), 80); /* a fourth waits */
    assert_int_equal(add_kernel(timeline, 1, 30, 20), 110);  /* nothing fits beside it */
    assert_int_equal(add_kernel(timeline, 0.1, 30, 20), 140);
    gpu_timeline_free(timeline);
}

static void a_kernel_keeps_the_room_of_those_before_it(void **state) {
    (void)state;
    struct gpu_timeline *timeline = gpu_timeline_new(&link, 8);
    assert_int_equal(add_kernel(timeline, 1, 100, 1000), 1000);
    assert_int_equal(add_kernel(timeline, 0.5, 5000, 0), 1100); /* it might still run when the other starts */
    assert_int_equal(add_kernel(timeline, 0.5, 5000, 1099), 1100);
    gpu_timeline_free(timeline);
}

static void many_kernels_are_placed_in_order(void **state) {
    (void)state;
    struct gpu_timeline *timeline = gpu_timeline_new(&link, 8);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(add_kernel(timeline, 1, 10, 0), 10 * i);
    gpu_timeline_free(timeline);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_takes_its_latency_and_its_bytes),
        cmocka_unit_test(each_engine_does_one_thing_after_the_other),
        cmocka_unit_test(work_is_kept_in_the_order_of_the_calls),
        cmocka_unit_test(kernels_run_together_while_their_blocks_fit),
        cmocka_unit_test(a_kernel_keeps_the_room_of_those_before_it),
        cmocka_unit_test(many_kernels_are_placed_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
