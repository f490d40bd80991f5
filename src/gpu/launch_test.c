/* Tests of launches: refusals, counters, and reports of faults. */
#include <string.h>

#include "gpu/fixture.h"
#include "gpu/internal.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

struct bench {
    struct gpu *gpu;
    struct gpu_module *module;
    struct gpu_launch launch;
    struct gpu_error error;
};

/* machine: NULL for functional launches */
static void load_on(struct bench *bench, const struct config_machine *machine, const char *text) {
    struct gpu_config config = gpu_default_config();
    config.machine = machine;
    struct ptx_messages messages = {0};
    config.memory_bytes = 1 << 20;
    config.max_instructions = 100000;
    bench->gpu = fixture_open(&config);
    bench->module = fixture_load(bench->gpu, text);
    bench->launch = (struct gpu_launch){.kernel = gpu_module_kernel(bench->module, "k", &messages),
                                        .shape.grid = {1, 1, 1},
                                        .shape.block = {32, 1, 1},
                                        .parameters = NULL};
    assert_non_null(bench->launch.kernel);
}

static void load(struct bench *bench, const char *text) { load_on(bench, NULL, text); }

static void expect_failure(struct bench *bench, enum gpu_status status, const char *part) {
    assert_false(gpu_launch(bench->gpu, &bench->launch, &bench->error));
    assert_int_equal(bench->error.status, status);
    if (!strstr(bench->error.message, part))
        fail_msg("'%s' is not in: %s", part, bench->error.message);
}

static void impossible_shapes_are_refused_with_the_limit(void **state) {
    (void)state;
    struct bench bench;
    load(&bench, HEAD ".visible .entry k()\n.maxntid 64, 1, 1\n{ ret; }\n");
    bench.launch.shape.grid[1] = 0;
    expect_failure(&bench, GPU_INVALID_SHAPE, "must not be zero");
    bench.launch.shape.grid[1] = 65536;
    expect_failure(&bench, GPU_INVALID_SHAPE, "grid y is 65536; at most 65535");
    bench.launch.shape.grid[1] = 1;
    bench.launch.shape.block[0] = 1025;
    expect_failure(&bench, GPU_INVALID_SHAPE, "threads in a block is 1025; at most 1024");
    bench.launch.shape.block[0] = 65;
    expect_failure(&bench, GPU_INVALID_VALUE, "(see .maxntid) is 65; at most 64");
    bench.launch.shape.block[0] = 64;
    bench.launch.shape.dynamic_shared_bytes = 1 << 20;
    expect_failure(&bench, GPU_LAUNCH_OUT_OF_RESOURCES, "shared memory in bytes is 1048576");
    bench.launch.shape.dynamic_shared_bytes = 0;
    assert_true(gpu_launch(bench.gpu, &bench.launch, &bench.error));
    gpu_free(bench.gpu);
}

/* The default device: 15 SMs of 2048 threads, so two blocks of 1024 each. */
static void launches_that_need_more_than_the_device_has_are_refused(void **state) {
    (void)state;
    struct bench bench;
    load(&bench, HEAD ".visible .entry k()\n{ ret; }\n");
    bench.launch.shape = (struct exec_shape){.grid = {31, 1, 1}, .block = {1024, 1, 1}, .is_cooperative = true};
    expect_failure(&bench, GPU_COOPERATIVE_TOO_LARGE, "a cooperative launch of 31 blocks; 30 fit at once");
    bench.launch.shape.grid[0] = 30;
    assert_true(gpu_launch(bench.gpu, &bench.launch, &bench.error));
    gpu_kernel_set_most_dynamic_shared(bench.launch.kernel, 1000);
    bench.launch.shape = (struct exec_shape){.grid = {1, 1, 1}, .block = {32, 1, 1}, .dynamic_shared_bytes = 1001};
    expect_failure(&bench, GPU_INVALID_VALUE, "1001 bytes of dynamic shared memory; at most 1000");
    bench.launch.shape.dynamic_shared_bytes = 1000;
    assert_true(gpu_launch(bench.gpu, &bench.launch, &bench.error));
    assert_true(gpu_is_refusal(GPU_COOPERATIVE_TOO_LARGE) && !gpu_is_refusal(GPU_ILLEGAL_ADDRESS));
    gpu_free(bench.gpu);
}

/* Block of 40: a full row and one of 8 threads. mov, setp, guarded branch around one add, ret: the threads with an odd
 * index skip the add. Rows execute mov and setp bra add ret = 6 with 32 (8) lanes, 16 (4) at the add. */
static void instructions_lanes_and_divergence_are_counted(void **state) {
    (void)state;
    struct bench bench;
    load(&bench, HEAD ".visible .entry k()\n{\n.reg .b32 %r<4>; .reg .pred %p<2>;\n"
                      "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 1;\n@%p1 bra OUT;\nadd.u32 "
                      "%r3, %r1, 1;\nOUT:\nret;\n}\n");
    bench.launch.shape.block[0] = 40;
    bench.launch.shape.grid[0] = 3;
    assert_true(gpu_launch(bench.gpu, &bench.launch, &bench.error));
    struct stats_counters counters = gpu_totals(bench.gpu);
    assert_int_equal(counters.blocks, 3);
    assert_int_equal(counters.threads, 120);
    assert_int_equal(counters.warp_instructions, 3 * 2 * 6);
    /* the guarded branch counts the lanes that take it */
    assert_int_equal(counters.thread_instructions, 3 * (3 * 40 + 20 + 20 + 40));
    assert_int_equal(counters.branches, 3 * 2);
    assert_int_equal(counters.divergent_branches, 3 * 2);
    gpu_free(bench.gpu);
}

static void a_fault_names_kernel_block_thread_line_and_address(void **state) {
    (void)state;
    struct bench bench;
    load(&bench,
         HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<3>; .reg .b64 %d<4>;\n"
              "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\nadd.s64 %d3, %d1, %d2;\n"
              "st.global.u32 [%d3], %r1;\nret;\n}\n");
    uint64_t buffer = gpu_malloc(bench.gpu, 64, 256);
    bench.launch.parameters = &buffer;
    bench.launch.parameter_bytes = sizeof buffer;
    expect_failure(&bench, GPU_ILLEGAL_ADDRESS,
                   "illegal address 0x200000000040 (4 bytes) in kernel 'k', block (0,0,0), "
                   "thread (16,0,0), k.ptx:11 (st.global.u32)");
    assert_non_null(strstr(bench.error.message, "ends 4 bytes past the 64-byte allocation at 0x200000000000"));
    gpu_free(bench.gpu);
}

static void an_endless_loop_ends_at_the_limit(void **state) {
    (void)state;
    struct bench bench;
    load(&bench, HEAD ".visible .entry k()\n{\nL:\nbra L;\n}\n");
    expect_failure(&bench, GPU_INSTRUCTION_LIMIT, "instruction limit reached");
    gpu_free(bench.gpu);
}

/* The limit of instructions is far below the time that the kernel waits. The second launch starts no earlier than the
 * first has ended. */
static void a_functional_kernel_that_waits_for_the_clock_ends_soon(void **state) {
    (void)state;
    struct bench bench;
    uint64_t before = 0;
    load(&bench, HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p;\n.reg .b64 %a, %first, %now, %past;\n"
                      "ld.param.u64 %a, [p];\nmov.u64 %first, %clock64;\n"
                      "AGAIN:\nmov.u64 %now, %clock64;\nsub.u64 %past, %now, %first;\n"
                      "setp.lt.u64 %p, %past, 10000000;\n@%p bra AGAIN;\n"
                      "st.global.v2.u64 [%a], {%first, %now};\nret;\n}\n");
    uint64_t buffer = gpu_malloc(bench.gpu, 16, 256);
    const uint64_t *times = (const uint64_t *)(const void *)gpu_host(bench.gpu, buffer, 16);
    bench.launch.parameters = &buffer;
    bench.launch.parameter_bytes = sizeof buffer;
    for (int i = 0; i < 2; i++) {
        assert_true(gpu_launch(bench.gpu, &bench.launch, &bench.error));
        assert_true(times[0] >= before && times[1] - times[0] >= 10000000 && times[1] - times[0] < 10005000);
        before = times[1];
    }
    gpu_free(bench.gpu);
}

/* All rows read a word of shared memory after a barrier, and the last row then overwrites it, without another barrier.
 * On a GPU the rows have read it by then. Each round adds the word, 1 to 3, to a thread's sum, which must be 6. */
static void rows_continue_after_a_barrier_before_the_row_that_completed_it(void **state) {
    (void)state;
    struct bench bench;
    load(&bench, HEAD ".global .u32 sums[96];\n.visible .entry k()\n{\n"
                      ".shared .u32 word;\n.reg .pred %first, %last, %more;\n.reg .u32 %t, %v, %sum, %round;\n"
                      ".reg .u64 %a, %o;\n"
                      "mov.u32 %t, %tid.x;\nmov.u32 %sum, 0;\nmov.u32 %round, 1;\n"
                      "setp.eq.u32 %first, %t, 0;\nsetp.eq.u32 %last, %t, 95;\n"
                      "@%first st.shared.u32 [word], 1;\n"
                      "again: bar.sync 0;\nld.shared.u32 %v, [word];\nadd.u32 %sum, %sum, %v;\n"
                      "add.u32 %round, %round, 1;\n@%last st.shared.u32 [word], %round;\n"
                      "setp.le.u32 %more, %round, 3;\n@%more bra again;\n"
                      "mul.wide.u32 %o, %t, 4;\nmov.u64 %a, sums;\nadd.u64 %a, %a, %o;\nst.global.u32 [%a], %sum;\n"
                      "ret;\n}\n");
    bench.launch.shape.block[0] = 96;
    if (!gpu_launch(bench.gpu, &bench.launch, &bench.error))
        fail_msg("%s", bench.error.message);
    uint64_t address, bytes;
    assert_true(gpu_module_global(bench.module, "sums", &address, &bytes));
    const uint32_t *sum = (const uint32_t *)(const void *)gpu_host(bench.gpu, address, bytes);
    for (int i = 0; i < 96; i++)
        assert_int_equal(sum[i], 6);
    gpu_free(bench.gpu);
}

/* Lowering a kernel takes longer than a short launch. */
static void a_kernel_is_lowered_at_its_first_timed_launch(void **state) {
    (void)state;
    struct bench bench;
    struct config_machine machine;
    config_defaults(&machine);
    load_on(&bench, &machine, HEAD ".visible .entry k()\n{ ret; }\n");
    bench.launch.is_untimed = true;
    assert_true(gpu_launch(bench.gpu, &bench.launch, &bench.error));
    assert_null(bench.launch.kernel->costs);
    bench.launch.is_untimed = false;
    assert_true(gpu_launch(bench.gpu, &bench.launch, &bench.error));
    const struct sm_program *costs = bench.launch.kernel->costs;
    assert_non_null(costs);
    assert_true(gpu_launch(bench.gpu, &bench.launch, &bench.error));
    assert_ptr_equal(bench.launch.kernel->costs, costs);
    gpu_free(bench.gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impossible_shapes_are_refused_with_the_limit),
        cmocka_unit_test(launches_that_need_more_than_the_device_has_are_refused),
        cmocka_unit_test(instructions_lanes_and_divergence_are_counted),
        cmocka_unit_test(a_fault_names_kernel_block_thread_line_and_address),
        cmocka_unit_test(an_endless_loop_ends_at_the_limit),
        cmocka_unit_test(a_functional_kernel_that_waits_for_the_clock_ends_soon),
        cmocka_unit_test(rows_continue_after_a_barrier_before_the_row_that_completed_it),
        cmocka_unit_test(a_kernel_is_lowered_at_its_first_timed_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
