/* Kernels that can never end are stopped; slow ones are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "gpu/gpu.h"

enum { BUFFER_BYTES = 16 << 20 };

/* Runs a kernel whose parameter is the address of zeroed words on the default machine with these options. */
static struct gpu_error run_on_threads(uint32_t n_threads, const char *option, const char *watchdog, const char *most,
                                       const char *body) {
    static struct config_machine machine;
    char text[2048], message[CONFIG_ERROR_BYTES];
    config_defaults(&machine);
    assert_true(config_set(&machine, "sm.count=1", message, sizeof message));
    assert_true(config_set(&machine, option, message, sizeof message));
    assert_true(config_set(&machine, watchdog, message, sizeof message));
    assert_true(config_set(&machine, most, message, sizeof message));
    struct gpu_config config = gpu_default_config();
    config.machine = &machine;
    config.n_threads = n_threads;
    struct gpu_error error = {.status = GPU_OK};
    struct gpu *gpu = gpu_new(&config, &error);
    if (!gpu)
        fail_msg("%s", error.message);
    struct ptx_messages messages = {0};
    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
             ".reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .pred %%p<4>;\nld.param.u64 %%d1, [p];\nmov.u32 %%r1, %%tid.x;\n"
             "%s\nret;\n}\n",
             body);
    struct gpu_module *module = gpu_module_load(gpu, "k.ptx", text, strlen(text), &messages);
    if (!module)
        fail_msg("%s", messages.text);
    uint64_t buffer = gpu_malloc(gpu, BUFFER_BYTES, 256);
    struct gpu_launch launch = {.kernel = gpu_module_kernel(module, "k", &messages),
                                .grid = {2, 1, 1},
                                .block = {64, 1, 1},
                                .parameters = &buffer,
                                .parameter_bytes = sizeof buffer};
    gpu_launch(gpu, &launch, &error);
    gpu_free(gpu);
    return error;
}

static struct gpu_error run_on(const char *option, const char *watchdog, const char *most, const char *body) {
    return run_on_threads(1, option, watchdog, most, body);
}

static struct gpu_error run_with(const char *watchdog, const char *most, const char *body) {
    return run_on("sm.count=1", watchdog, most, body);
}

static struct gpu_error run(const char *body) {
    return run_with("limits.watchdog=500000", "limits.max_cycles=4000000", body);
}

static void assert_livelock(const char *body) {
    struct gpu_error error = run(body);
    assert_int_equal(error.status, GPU_LAUNCH_TIMEOUT);
    assert_non_null(strstr(error.message, "livelock in kernel 'k'"));
}

#define WAIT_FOR_FLAG "again: ld.volatile.global.u32 %r2, [%d1];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra again;"

static void waiting_for_a_flag_that_nobody_sets_is_found(void **state) {
    (void)state;
    assert_livelock(WAIT_FOR_FLAG);
}

static void several_host_threads_find_it_in_the_same_cycle(void **state) {
    (void)state;
    struct gpu_error one = run_on("sm.count=2", "limits.watchdog=200000", "limits.max_cycles=2000000", WAIT_FOR_FLAG);
    struct gpu_error three =
        run_on_threads(3, "sm.count=2", "limits.watchdog=200000", "limits.max_cycles=2000000", WAIT_FOR_FLAG);
    assert_int_equal(three.status, GPU_LAUNCH_TIMEOUT);
    assert_string_equal(one.message, three.message);
}

static void it_is_looked_for_when_the_machine_says(void **state) {
    (void)state;
    unsigned long long soon, late;
    struct gpu_error error = run_with("limits.watchdog=200000", "limits.max_cycles=2000000", WAIT_FOR_FLAG);
    assert_int_equal(sscanf(error.message, "livelock in kernel 'k' at cycle %llu", &soon), 1);
    assert_in_range(soon, 200000, 499999);
    error = run_with("limits.watchdog=1000000", "limits.max_cycles=2000000", WAIT_FOR_FLAG);
    assert_int_equal(sscanf(error.message, "livelock in kernel 'k' at cycle %llu", &late), 1);
    assert_in_range(late, 1000000, 1999999);
    assert_int_equal(run_with("limits.watchdog=0", "limits.max_cycles=1000000", WAIT_FOR_FLAG).status, GPU_CYCLE_LIMIT);
}

static void waiting_for_a_lock_that_nobody_gives_back_is_found(void **state) {
    (void)state;
    assert_livelock("again: atom.global.cas.b32 %r2, [%d1], 5, 1;\nsetp.ne.u32 %p1, %r2, 5;\n@%p1 bra again;");
}

static void those_who_wait_at_a_barrier_for_one_that_spins_do_not_hide_it(void **state) {
    (void)state;
    assert_livelock("setp.lt.u32 %p2, %r1, 32;\n@%p2 bra meet;\n"
                    "again: ld.volatile.global.u32 %r2, [%d1];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra again;\n"
                    "meet: bar.sync 0;");
}

static void a_long_loop_without_stores_is_none(void **state) {
    (void)state;
    assert_int_equal(
        run("mov.u32 %r2, 0;\nagain: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 40000;\n@%p1 bra again;").status,
        GPU_OK);
}

/* Three warps spin until the fourth sets their flag: it waits for eight rows of one bank, one after the other. */
static void waiting_for_slow_memory_is_none(void **state) {
    (void)state;
    struct gpu_error error =
        run_on("dram.row_conflict=100000", "limits.watchdog=2000", "limits.max_cycles=40000000",
               "mov.u32 %r3, %ctaid.x;\nsetp.lt.u32 %p3, %r1, 32;\nsetp.eq.and.u32 %p2, %r3, 0, %p3;\n@%p2 bra "
               "slow;\n" WAIT_FOR_FLAG
               "\nbra over;\nslow: and.b32 %r4, %r1, 7;\nmul.wide.u32 %d2, %r4, 1572864;\nadd.u64 %d2, %d1, %d2;\n"
               "ld.global.u32 %r2, [%d2+128];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%d1], %r2;\nover:");
    assert_int_equal(error.status, GPU_OK);
}

/* An atomic that changes memory in every iteration, and registers that repeat: reaches the limit of cycles. */
static void a_loop_that_changes_memory_is_none(void **state) {
    (void)state;
    struct gpu_error error = run("again: red.global.add.u32 [%d1], 1;\nbra again;");
    assert_int_equal(error.status, GPU_CYCLE_LIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_for_a_flag_that_nobody_sets_is_found),
        cmocka_unit_test(several_host_threads_find_it_in_the_same_cycle),
        cmocka_unit_test(it_is_looked_for_when_the_machine_says),
        cmocka_unit_test(waiting_for_a_lock_that_nobody_gives_back_is_found),
        cmocka_unit_test(those_who_wait_at_a_barrier_for_one_that_spins_do_not_hide_it),
        cmocka_unit_test(a_long_loop_without_stores_is_none),
        cmocka_unit_test(waiting_for_slow_memory_is_none),
        cmocka_unit_test(a_loop_that_changes_memory_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
