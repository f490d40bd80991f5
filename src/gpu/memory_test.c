/* Device memory: addresses, guards, reuse, and messages about bad addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/internal.h"

static struct gpu *open_gpu(void) {
    struct gpu_config config = gpu_default_config();
    config.memory_bytes = 1 << 20;
    struct gpu_error error;
    struct gpu *gpu = gpu_new(&config, &error);
    assert_non_null(gpu);
    return gpu;
}

static void allocations_are_aligned_zeroed_and_apart(void **state) {
    (void)state;
    struct gpu *gpu = open_gpu();
    uint64_t a = gpu_malloc(gpu, 100, 256), b = gpu_malloc(gpu, 5000, 4096);
    assert_true(a && a % 256 == 0);
    assert_true(b % 4096 == 0 && b >= a + 100 + 256);
    unsigned char *host = gpu_host(gpu, b, 5000);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(host[i], 0);
    assert_null(gpu_host(gpu, a, 101));
    assert_null(gpu_host(gpu, a + 100, 1));
    assert_non_null(gpu_host(gpu, a + 99, 1));
    assert_int_equal(gpu_memory_used(gpu), 5100);
    gpu_free(gpu);
}

static void the_device_has_only_so_much_memory(void **state) {
    (void)state;
    struct gpu *gpu = open_gpu();
    assert_int_equal(gpu_malloc(gpu, (1 << 20) + 1, 256), 0);
    uint64_t all = gpu_malloc(gpu, 1 << 20, 256);
    assert_int_not_equal(all, 0);
    assert_int_equal(gpu_malloc(gpu, 1, 256), 0);
    assert_true(gpu_release(gpu, all));
    assert_int_not_equal(gpu_malloc(gpu, 1, 256), 0);
    gpu_free(gpu);
}

static void freed_memory_is_not_reused_at_once_and_is_zero_when_it_is(void **state) {
    (void)state;
    struct gpu *gpu = open_gpu();
    uint64_t a = gpu_malloc(gpu, 10000, 256);
    memset(gpu_host(gpu, a, 10000), 0xff, 10000);
    assert_true(gpu_release(gpu, a));
    assert_false(gpu_release(gpu, a));
    assert_int_not_equal(gpu_malloc(gpu, 10000, 256), a);
    gpu->memory.next = gpu->memory.view.base; /* as if the whole range had been used */
    assert_int_equal(gpu_malloc(gpu, 10000, 256), a);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(gpu_host(gpu, a, 10000)[i], 0);
    gpu_free(gpu);
}

static void bad_addresses_are_explained(void **state) {
    (void)state;
    struct gpu *gpu = open_gpu();
    uint64_t a = gpu_malloc(gpu, 400, 256), b = gpu_malloc(gpu, 64, 256);
    const struct exec_memory *memory = &gpu->memory.view;
    char text[200];
    assert_int_equal(memory->explain(gpu, a + 400, 4, text, sizeof text), EXEC_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(text, "ends 4 bytes past the 400-byte allocation"));
    memory->explain(gpu, b - 8, 4, text, sizeof text);
    assert_non_null(strstr(text, "8 bytes before the 64-byte allocation"));
    memory->explain(gpu, 0, 4, text, sizeof text);
    assert_string_equal(text, "a null pointer");
    gpu_release(gpu, a);
    assert_int_equal(memory->explain(gpu, a + 12, 4, text, sizeof text), EXEC_FAULT_USE_AFTER_FREE);
    assert_non_null(strstr(text, "12 bytes into the freed 400-byte allocation"));
    gpu_free(gpu);
}

static void the_heap_is_apart_and_limited(void **state) {
    (void)state;
    struct gpu *gpu = open_gpu();
    gpu_set_heap_bytes(gpu, 1000);
    uint64_t a = gpu_heap_alloc(&gpu->memory, 600);
    assert_int_not_equal(a, 0);
    assert_int_equal(gpu_heap_alloc(&gpu->memory, 600), 0);
    assert_false(gpu_release(gpu, a)); /* cuMemFree of a device-side malloc */
    assert_true(gpu_heap_release(&gpu->memory, a));
    assert_false(gpu_heap_release(&gpu->memory, gpu_malloc(gpu, 64, 256)));
    gpu_free(gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_zeroed_and_apart),
        cmocka_unit_test(the_device_has_only_so_much_memory),
        cmocka_unit_test(freed_memory_is_not_reused_at_once_and_is_zero_when_it_is),
        cmocka_unit_test(bad_addresses_are_explained),
        cmocka_unit_test(the_heap_is_apart_and_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
