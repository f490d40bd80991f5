/* Launches in time: counters, energy, time series, spinning lanes, equal runs. src/sm tests the cycles of single
 * mechanisms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "gpu/gpu.h"

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param "                                         \
    ".u64 p)\n{\n.reg .b32 %r<20>; .reg .f32 %f<9>; .reg .f64 %g<9>; .reg .b64 "                                       \
    "%d<9>; .reg .pred %p<4>;\n"

/* A plain machine: one SM, one scheduler, every latency a different number. */
static const char *const plain[] = {
    "sm.count=1",      "sm.schedulers=1",   "sm.pipeline=scoreboard", "sm.fetch_cycles=1",   "sm.branch_cycles=5",
    "sm.alu_cycles=9", "sm.fp32_cycles=11", "sm.fp64_cycles=13",      "sm.sfu_cycles=17",    "sm.simd_width=32",
    "sm.sfu_width=8",  "sm.fp64_width=16",  "sm.ldst_width=32",       "icache.perfect=true", "shared.latency=15",
    "shared.banks=32", "l1.latency=40",     "sm.register_banks=0",    "memory.perfect=true", NULL};

static struct stats_counters run_on(const char *const *settings, const char *scheduler, const char *body,
                                    unsigned blocks, unsigned threads) {
    static struct config_machine machine;
    char text[4096], message[CONFIG_ERROR_BYTES] = "";
    config_defaults(&machine);
    for (int list = 0; list < 2; list++)
        for (const char *const *setting = list ? settings : plain; setting && *setting; setting++)
            if (!config_set(&machine, *setting, message, sizeof message))
                fail_msg("%s", message);
    struct gpu_config config = gpu_default_config();
    config.machine = &machine;
    snprintf(config.scheduler, sizeof config.scheduler, "%s", scheduler);
    struct gpu_error error = {.status = GPU_OK};
    struct gpu *gpu = gpu_new(&config, &error);
    if (!gpu)
        fail_msg("%s", error.message);
    struct ptx_messages messages = {0};
    snprintf(text, sizeof text, "%s%s\n}\n", HEAD, body);
    struct gpu_module *module = gpu_module_load(gpu, "k.ptx", text, strlen(text), &messages);
    if (!module)
        fail_msg("%s", messages.text);
    uint64_t buffer = gpu_malloc(gpu, 1 << 16, 256);
    struct gpu_launch launch = {.kernel = gpu_module_kernel(module, "k", &messages),
                                .grid = {blocks, 1, 1},
                                .block = {threads, 1, 1},
                                .parameters = &buffer,
                                .parameter_bytes = sizeof buffer};
    if (!gpu_launch(gpu, &launch, &error))
        fail_msg("%s", error.message);
    struct stats_counters counters = gpu_totals(gpu);
    gpu_free(gpu);
    uint64_t sum = counters.active_cycles + counters.stall_memory + counters.stall_dependency + counters.stall_barrier +
                   counters.stall_fetch + counters.stall_structural + counters.stall_empty;
    assert_int_equal(sum, counters.sm_cycles); /* every cycle is accounted once */
    return counters;
}

/* Two warps, 48 threads: 48 each of a parameter's load, an addition (2 registers), a multiplication of floats (3), a
 * sine (2), a store (2) and an exit; 12 warp instructions. */
static void work_and_registers_are_counted_and_paid_for(void **state) {
    (void)state;
    static const char *const priced[] = {"energy.fetch=1000", "energy.register=1000", "energy.clock=1000", NULL};
    static const char body[] = "ld.param.u64 %d1, [p];\nadd.u32 %r1, %r2, 1;\nmul.rn.f32 %f1, %f2, %f3;\n"
                               "sin.approx.f32 %f4, %f5;\nst.global.u32 [%d1], %r1;\nret;";
    struct stats_counters counters = run_on(priced, "lrr", body, 1, 48);
    assert_int_equal(counters.integer_thread_instructions, 48);
    assert_int_equal(counters.float_thread_instructions, 48);
    assert_int_equal(counters.special_thread_instructions, 48);
    assert_int_equal(counters.memory_thread_instructions, 2 * 48);
    assert_int_equal(counters.control_thread_instructions, 48);
    assert_int_equal(counters.register_accesses, (1 + 2 + 3 + 2 + 2) * 48);
    assert_int_equal(counters.register_writes, 4 * 48);
    assert_int_equal(counters.energy_fetch_nj, 12);
    assert_int_equal(counters.energy_register_nj, 480);
    assert_int_equal(counters.energy_clock_nj, counters.sm_cycles);
    assert_int_equal(counters.energy_nj, 12 + 480 + counters.sm_cycles);
    assert_int_equal(run_on(NULL, "lrr", body, 1, 48).energy_nj, 0);
}

/* Runs one warp of the kernel with a sample every so many cycles; the caller frees the GPU. */
static struct gpu *run_sampled(uint64_t sample_cycles, const char *text) {
    static struct config_machine machine;
    char message[CONFIG_ERROR_BYTES];
    config_defaults(&machine);
    for (const char *const *setting = plain; *setting; setting++)
        assert_true(config_set(&machine, *setting, message, sizeof message));
    struct gpu_config config = gpu_default_config();
    config.machine = &machine;
    config.sample_cycles = sample_cycles;
    struct gpu_error error;
    struct gpu *gpu = gpu_new(&config, &error);
    struct ptx_messages messages = {0};
    struct gpu_module *module = gpu_module_load(gpu, "k.ptx", text, strlen(text), &messages);
    uint64_t parameter = 0;
    struct gpu_launch launch = {.kernel = gpu_module_kernel(module, "k", &messages),
                                .grid = {1, 1, 1},
                                .block = {32, 1, 1},
                                .parameters = &parameter,
                                .parameter_bytes = sizeof parameter};
    assert_true(gpu_launch(gpu, &launch, &error));
    return gpu;
}

/* Three samples of 10 cycles and what was left: together everything, each what issued in its cycles. */
static void samples_add_up(void **state) {
    (void)state;
    uint32_t count;
    struct gpu *gpu = run_sampled(10, HEAD "add.u32 %r1, 1, 2;\nadd.u32 %r2, %r1, 2;\nadd.u32 %r3, %r2, 2;\n"
                                           "add.u32 %r4, %r3, 2;\nret;\n}\n");
    const struct gpu_launch_record *record = gpu_launches(gpu, &count);
    /* issues in 1, 10, 19, 28, 29: cycles 0..10, 11..20, 21..29 */
    assert_int_equal(record->counters.cycles, 29);
    assert_int_equal(record->series.n_samples, 3);
    assert_int_equal(record->series.thread_instructions[0], 64);
    assert_int_equal(record->series.thread_instructions[1], 32);
    assert_int_equal(record->series.thread_instructions[2], 64);
    assert_int_equal(record->active_lanes[32], 5);
    gpu_free(gpu);
}

/* More samples than there is room for at first, on perfect memory, which has no channels. */
static void there_may_be_many_samples(void **state) {
    (void)state;
    uint32_t count;
    struct gpu *gpu = run_sampled(1, HEAD "mov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 50;\n"
                                          "@%p1 bra L;\nret;\n}\n");
    const struct gpu_launch_record *record = gpu_launches(gpu, &count);
    assert_true(record->counters.cycles > 1000);
    assert_int_equal(record->series.n_samples, record->counters.cycles);
    assert_int_equal(record->series.n_channels, 0);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < record->series.n_samples; i++)
        sum += record->series.thread_instructions[i];
    assert_int_equal(sum, record->counters.thread_instructions);
    gpu_free(gpu);
}

/* Lanes 1 to 31 wait for a flag that lane 0 sets after the loop: it must get there without them. */
static void lanes_that_spin_let_the_others_go_on(void **state) {
    (void)state;
    static const char body[] = "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\n"
                               "L:\nld.volatile.global.u32 %r2, [%d1];\nor.b32 %r3, %r2, %r1;\nand.b32 %r4, %r2, 1;\n"
                               "setp.eq.u32 %p1, %r1, 0;\nsetp.eq.or.u32 %p2, %r4, 1, %p1;\n@!%p2 bra L;\n"
                               "st.volatile.global.u32 [%d1], 1;\nret;";
    struct stats_counters counters = run_on(NULL, "lrr", body, 1, 32);
    assert_true(counters.warp_instructions > 100000); /* it takes a while to be sure */
}

static void every_run_is_the_same(void **state) {
    (void)state;
    static const char *const real[] = {"memory.perfect=false", "sm.count=4", "sm.schedulers=2", NULL};
    static const char body[] = "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nmul.lo.u32 %r2, %r1, "
                               "116;\nand.b32 %r2, %r2, 65532;\ncvt.u64.u32 %d2, %r2;\n"
                               "add.u64 %d3, %d1, %d2;\nld.global.u32 %r3, [%d3];\nadd.u32 %r4, %r3, "
                               "1;\nst.global.u32 [%d3], %r4;\nret;";
    struct stats_counters first = run_on(real, "gto", body, 40, 256), second = run_on(real, "gto", body, 40, 256);
    assert_memory_equal(&first, &second, sizeof first);
    assert_true(first.l1_misses > 0 && first.dram_reads > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_and_registers_are_counted_and_paid_for),
        cmocka_unit_test(samples_add_up),
        cmocka_unit_test(there_may_be_many_samples),
        cmocka_unit_test(lanes_that_spin_let_the_others_go_on),
        cmocka_unit_test(every_run_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
