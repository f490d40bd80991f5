/* Timed launches: counters, energy, time series, spinning lanes, equal runs. src/sm tests the cycles of single
 * mechanisms. */
#include <stdio.h>
#include <string.h>

#include "gpu/fixture.h"

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
    char text[4096];
    config_defaults(&machine);
    fixture_set(&machine, plain);
    if (settings)
        fixture_set(&machine, settings);
    struct gpu_config config = gpu_default_config();
    config.machine = &machine;
    snprintf(config.scheduler, sizeof config.scheduler, "%s", scheduler);
    struct gpu_error error = {.status = GPU_OK};
    struct gpu *gpu = fixture_open(&config);
    snprintf(text, sizeof text, "%s%s\n}\n", HEAD, body);
    uint64_t buffer = gpu_malloc(gpu, 1 << 16, 256);
    struct gpu_launch launch = fixture_launch(gpu, text, blocks, threads, &buffer);
    if (!gpu_launch(gpu, &launch, &error) && error.status != GPU_CYCLE_LIMIT)
        fail_msg("%s", error.message);
    struct stats_counters counters = gpu_totals(gpu);
    gpu_free(gpu);
    uint64_t sum = counters.active_cycles + counters.stall_memory + counters.stall_dependency + counters.stall_barrier +
                   counters.stall_fetch + counters.stall_structural + counters.stall_empty;
    assert_int_equal(sum, counters.sm_cycles); /* every cycle is accounted once */
    assert_int_equal(counters.empty_unused + counters.empty_start + counters.empty_tail, counters.stall_empty);
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

/* Runs one warp of the kernel with a sample every so many cycles. The caller frees the GPU. */
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
                                .shape.grid = {1, 1, 1},
                                .shape.block = {32, 1, 1},
                                .parameters = &parameter,
                                .parameter_bytes = sizeof parameter};
    assert_true(gpu_launch(gpu, &launch, &error));
    return gpu;
}

/* Three samples of 10 cycles and the rest. Together they cover everything; each counts the issues of its cycles. */
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

static uint64_t cycles_of(const char *const *settings, const char *body, unsigned blocks, unsigned threads) {
    return run_on(settings, "lrr", body, blocks, threads).cycles;
}

static void a_launch_and_each_block_take_time(void **state) {
    (void)state;
    static const char *const slow_launch[] = {"launch.start_cycles=1000", NULL};
    static const char *const slow_blocks[] = {"sm.count=8", "launch.block_cycles=50", NULL};
    static const char *const eight[] = {"sm.count=8", NULL};
    uint64_t one = cycles_of(NULL, "ret;", 1, 32), all = cycles_of(eight, "ret;", 8, 32);
    assert_int_equal(cycles_of(slow_launch, "ret;", 1, 32), one + 1000);
    assert_int_equal(cycles_of(slow_blocks, "ret;", 8, 32), all + 7 * 50);
}

/* Three blocks of one warp on an SM with one slot: a launch, and two blocks that take the place of another. Models that
 * start blocks themselves (odgs) pay the same. */
static void blocks_take_the_same_time_under_every_model(void **state) {
    (void)state;
    static const char *const models[] = {"stack", "odgs", "odgs:local=dwf", "odgs:local=tbc"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char model[64];
        snprintf(model, sizeof model, "divergence=%s", models[i]);
        const char *settings[] = {model, "sm.threads=32", "sm.threads_per_block=32", NULL, NULL, NULL};
        uint64_t at_once = run_on(settings, "lrr", "ret;", 3, 32).cycles;
        settings[3] = "launch.start_cycles=1000";
        assert_int_equal(run_on(settings, "lrr", "ret;", 3, 32).cycles, at_once + 1000);
        settings[4] = "launch.turn_cycles=100";
        assert_int_equal(run_on(settings, "lrr", "ret;", 3, 32).cycles, at_once + 1000 + 2 * 100);
    }
}

/* Of three SMs the first has a block that ends at once, the second one whose additions take 9 cycles each, and the
 * third has none. */
static void cycles_without_a_group_are_told_apart(void **state) {
    (void)state;
    static const char *const settings[] = {"sm.count=3", "launch.start_cycles=1000", NULL};
    static const char body[] = "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra E;\n"
                               "add.u32 %r2, %r1, 1;\nadd.u32 %r3, %r2, 1;\nadd.u32 %r4, %r3, 1;\nE:\nret;";
    struct stats_counters counters = run_on(settings, "lrr", body, 2, 32);
    assert_int_equal(counters.empty_unused, counters.cycles);
    assert_int_equal(counters.empty_start, 0); /* both blocks are on their SMs from the first cycle on */
    assert_int_equal(counters.empty_tail, counters.stall_empty - counters.cycles);
    assert_true(counters.empty_tail >= 18 && counters.empty_tail < 40); /* two waits for an addition, and the issues */
    assert_int_equal(counters.fetch_start, 2 * 1000);
    assert_int_equal(counters.block_cycles, 2 * (counters.cycles - 1000) - counters.empty_tail);
}

/* A grid on two of four SMs takes half of it, and one that accesses no memory takes nothing. */
static void the_end_of_a_launch_waits_for_its_accesses(void **state) {
    (void)state;
    static const char *const fast[] = {"sm.count=4", NULL}, *const slow[] = {"sm.count=4", "launch.drain_cycles=100",
                                                                             NULL};
    static const char store[] = "ld.param.u64 %d1, [p];\nst.global.u32 [%d1], 1;\nret;";
    uint64_t two = cycles_of(fast, store, 2, 32), four = cycles_of(fast, store, 4, 32),
             six = cycles_of(fast, store, 6, 32);
    assert_int_equal(cycles_of(slow, store, 2, 32), two + 50);
    assert_int_equal(cycles_of(slow, store, 4, 32), four + 100);
    assert_int_equal(cycles_of(slow, store, 6, 32), six + 100);
    assert_int_equal(cycles_of(slow, "ret;", 4, 32), cycles_of(fast, "ret;", 4, 32));
    static const char *const least[] = {"sm.count=4", "launch.drain_cycles=100", "launch.drain_least_cycles=40", NULL};
    assert_int_equal(cycles_of(least, store, 1, 32), cycles_of(fast, store, 1, 32) + 40);
    assert_int_equal(cycles_of(least, store, 2, 32), two + 70);
    assert_int_equal(cycles_of(least, store, 4, 32), four + 100);
}

/* Each of 32 lanes, which no compiler can join, adds to the same word for 100 cycles. The warp waits for none of them.
 */
static void the_end_of_a_launch_waits_for_atomics_on_their_way(void **state) {
    (void)state;
    static const char body[] = "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nshr.u32 %r1, %r1, 6;\n"
                               "mul.wide.u32 %d2, %r1, 4;\nadd.u64 %d1, %d1, %d2;\nred.global.add.u32 [%d1], 1;\nret;";
    static const char *const slow[] = {"memory.perfect=false",           "launch.drain_cycles=10",
                                       "serial_atomics.present=true",    "serial_atomics.slice_cycles=100",
                                       "serial_atomics.part_cycles=100", NULL};
    static const char *const without[] = {"memory.perfect=false", "serial_atomics.present=true",
                                          "serial_atomics.slice_cycles=100", "serial_atomics.part_cycles=100", NULL};
    assert_true(cycles_of(slow, body, 1, 32) >= 31 * 100);
    assert_true(cycles_of(slow, body, 1, 32) < 31 * 100 + 1000);
    assert_true(cycles_of(without, body, 1, 32) < 1000);
}

/* Each of three barriers holds its two warps for 30 cycles; one warp alone waits as long. */
static void a_barrier_takes_time_to_release_its_warps(void **state) {
    (void)state;
    static const char *const slow[] = {"sm.barrier_cycles=30", NULL};
    static const char barriers[] = "bar.sync 0;\nbar.sync 0;\nbar.sync 0;\nret;";
    for (unsigned threads = 32; threads <= 64; threads += 32) {
        uint64_t fast = cycles_of(NULL, barriers, 1, threads), later = cycles_of(slow, barriers, 1, threads);
        assert_in_range(later, fast + 3 * 20, fast + 3 * 30);
    }
    static const char arrives[] = "bar.arrive 1, 64;\nret;";
    assert_int_equal(cycles_of(slow, arrives, 1, 32), cycles_of(NULL, arrives, 1, 32));
}

/* Two branches whose paths are too long to become predicates: each ends where its paths meet. */
static void paths_that_meet_take_time(void **state) {
    (void)state;
    static const char *const fast[] = {"lowering.target=sm_90", NULL};
    static const char *const slow[] = {"lowering.target=sm_90", "lowering.reconverge_cycles=50", NULL};
    static const char *const slower[] = {"lowering.target=sm_90", "lowering.reconverge_cycles=60", NULL};
#define PATHS(n)                                                                                                       \
    "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A" n ";\nbar.sync 1, 32;\nadd.u32 %r3, %r3, 1;\nbra.uni B" n ";\nA" n         \
    ":\nbar.sync 1, 32;\nadd.u32 %r4, %r4, 1;\nB" n ":\nadd.u32 %r2, %r2, 1;\n"
    static const char one[] = "mov.u32 %r1, %tid.x;\n" PATHS("1") "ret;",
                      two[] = "mov.u32 %r1, %tid.x;\n" PATHS("1") PATHS("2") "ret;";
#undef PATHS
    assert_int_equal(cycles_of(slow, one, 1, 32), cycles_of(fast, one, 1, 32) + 50);
    assert_int_equal(cycles_of(slower, two, 1, 32), cycles_of(slow, two, 1, 32) + 20);
}

/* Events of the host read the time that the clock makes of cycles. */
static void the_clock_turns_cycles_into_time(void **state) {
    (void)state;
    static struct config_machine machine;
    char message[CONFIG_ERROR_BYTES] = "";
    for (unsigned ghz = 1; ghz <= 4; ghz += 3) {
        config_defaults(&machine);
        assert_true(config_set(&machine, ghz == 1 ? "clock=1" : "clock=4", message, sizeof message));
        struct gpu_config config = gpu_default_config();
        config.machine = &machine;
        struct gpu_error error = {.status = GPU_OK};
        struct gpu *gpu = gpu_new(&config, &error);
        assert_non_null(gpu);
        static const char text[] = HEAD "ret;\n}\n";
        struct ptx_messages messages = {0};
        struct gpu_module *module = gpu_module_load(gpu, "k.ptx", text, strlen(text), &messages);
        uint64_t buffer = 0;
        struct gpu_launch launch = {.kernel = gpu_module_kernel(module, "k", &messages),
                                    .shape.grid = {1, 1, 1},
                                    .shape.block = {32, 1, 1},
                                    .parameters = &buffer,
                                    .parameter_bytes = sizeof buffer};
        assert_true(gpu_launch(gpu, &launch, &error));
        assert_int_equal(gpu_time_ns(gpu), gpu_totals(gpu).cycles / ghz);
        gpu_free(gpu);
    }
}

/* The drain belongs to launches that end by themselves. */
static void a_limit_of_cycles_is_exact(void **state) {
    (void)state;
    static const char *const drained[] = {"launch.drain_cycles=500", NULL};
    static const char *const limited[] = {"launch.drain_cycles=500", "limits.max_cycles=100", NULL};
    static const char loop[] = "ld.param.u64 %d1, [p];\nst.global.u32 [%d1], %r1;\nagain: add.u32 %r1, %r1, 1;\n"
                               "setp.lt.u32 %p1, %r1, 100;\n@%p1 bra again;\nret;";
    assert_true(cycles_of(drained, loop, 1, 32) > 600);
    assert_int_equal(cycles_of(limited, loop, 1, 32), 100);
}

static void folded_instructions_cost_no_issue(void **state) {
    (void)state;
    static const char *const machine[] = {"lowering.target=sm_90", NULL};
    /* Three inputs of logic: one instruction for three. */
    static const char logic[] = "xor.b32 %r3, %r1, %r2;\nand.b32 %r4, %r3, %r5;\nxor.b32 %r6, %r4, %r2;\n"
                                "xor.b32 %r7, %r6, %r2;\nand.b32 %r8, %r7, %r5;\nxor.b32 %r9, %r8, %r2;\nret;";
    static const char one_by_one[] = "mad.lo.u32 %r3, %r1, %r2, %r1;\nmad.lo.u32 %r4, %r3, %r2, %r1;\n"
                                     "mad.lo.u32 %r6, %r4, %r2, %r1;\nmad.lo.u32 %r7, %r6, %r2, %r1;\n"
                                     "mad.lo.u32 %r8, %r7, %r2, %r1;\nmad.lo.u32 %r9, %r8, %r2, %r1;\nret;";
    assert_int_equal(cycles_of(NULL, logic, 1, 32), cycles_of(NULL, one_by_one, 1, 32));
    assert_true(cycles_of(machine, logic, 1, 32) + 3 * 9 <= cycles_of(machine, one_by_one, 1, 32));
}

static void sequences_cost_several_issues(void **state) {
    (void)state;
    static const char *const machine[] = {"lowering.target=sm_90", NULL}, *const none[] = {NULL};
    /* 32 warps with 8 sums and 4 comparisons of 64 bits each: two issues for each. */
    static const char sums[] = "add.u64 %d1, %d1, %d0;\nadd.u64 %d2, %d2, %d0;\nadd.u64 %d3, %d3, %d0;\n"
                               "add.u64 %d4, %d4, %d0;\nadd.u64 %d5, %d5, %d0;\nadd.u64 %d6, %d6, %d0;\n"
                               "add.u64 %d7, %d7, %d0;\nadd.u64 %d8, %d8, %d0;\n"
                               "setp.lt.u64 %p1, %d1, %d2;\nsetp.lt.u64 %p1, %d3, %d4;\nsetp.lt.u64 %p1, %d5, %d6;\n"
                               "setp.lt.u64 %p1, %d7, %d8;\nret;";
    uint64_t ptx = cycles_of(none, sums, 1, 1024), both = cycles_of(machine, sums, 1, 1024);
    assert_true(both >= ptx + 32 * 12 && both <= ptx + 32 * 12 + 100);
}

static void schedulers_with_their_own_units_do_not_wait_for_each_other(void **state) {
    (void)state;
    static const char *const shared[] = {"sm.schedulers=4", "sm.fp64_width=8", NULL};
    static const char *const own[] = {"sm.schedulers=4", "sm.fp64_width=8", "sm.units=partitioned", NULL};
    static const char body[] = "add.f64 %g1, %g1, %g0;\nadd.f64 %g2, %g2, %g0;\nadd.f64 %g3, %g3, %g0;\n"
                               "add.f64 %g4, %g4, %g0;\nret;";
    uint64_t one_unit = cycles_of(shared, body, 1, 1024), four_units = cycles_of(own, body, 1, 1024);
    assert_in_range(one_unit, 32 * 4 * 4 - 4, 32 * 4 * 4 + 100); /* a warp takes 4 cycles */
    assert_in_range(four_units, 8 * 4 * 4 - 4, 8 * 4 * 4 + 100);
}

static void atomics_on_one_address_come_one_by_one(void **state) {
    (void)state;
    static const char *const joined[] = {"memory.perfect=false", NULL};
    static const char *const single[] = {"memory.perfect=false", "serial_atomics.part_cycles=10", NULL};
    static const char same[] = "ld.param.u64 %d1, [p];\nred.global.add.u32 [%d1], 1;\nret;";
    static const char apart[] = "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\n"
                                "add.u64 %d1, %d1, %d2;\nred.global.add.u32 [%d1], 1;\n"
                                "atom.global.add.u32 %r2, [%d1], 1;\nst.global.u32 [%d1], %r2;\nret;";
    static const char awaited[] = "ld.param.u64 %d1, [p];\natom.global.add.u32 %r2, [%d1], 1;\n"
                                  "st.global.u32 [%d1+64], %r2;\nret;";
    assert_int_equal(run_on(joined, "lrr", same, 1, 32).atomics, 1);
    assert_int_equal(run_on(single, "lrr", same, 1, 32).atomics, 32);
    assert_int_equal(run_on(single, "lrr", apart, 1, 32).atomics, 2);
    assert_true(cycles_of(single, awaited, 1, 32) >= cycles_of(joined, awaited, 1, 32) + 31 * 10);
}

/* 32 lanes add to one number: 32 rounds, in each of which one lane succeeds. The result is ready after the last.
 * The unit is busy with all of them, which only the next access of shared memory notices. */
static void shared_atomics_on_numbers_are_repeated(void **state) {
    (void)state;
#define RETRY(cycles, busy)                                                                                            \
    { "lowering.target=sm_90", "serial_atomics.retry_cycles=" cycles, "serial_atomics.retry_busy_cycles=" busy, NULL }
    static const char *const fast[] = RETRY("100", "1"), *const slow[] = RETRY("103", "1"),
                             *const busy[] = RETRY("1", "20"), *const busier[] = RETRY("1", "25");
#undef RETRY
    static const char awaited[] = ".shared .f32 s[32];\nmov.u32 %r1, s;\natom.shared.add.f32 %f1, [%r1], %f0;\n"
                                  "add.rn.f32 %f2, %f1, %f1;\nret;";
    static const char again[] = ".shared .f32 s[32];\nmov.u32 %r1, s;\nred.shared.add.f32 [%r1], %f0;\n"
                                "ld.shared.u32 %r2, [%r1+4];\nadd.u32 %r3, %r2, 1;\nret;";
    assert_int_equal(cycles_of(slow, awaited, 1, 32), cycles_of(fast, awaited, 1, 32) + 32 * 3);
    assert_int_equal(cycles_of(busier, again, 1, 32), cycles_of(busy, again, 1, 32) + 32 * 5);
    assert_int_equal(cycles_of(busier, awaited, 1, 32), cycles_of(busy, awaited, 1, 32));
}

/* 32 lanes, each with 32 bytes of its own: the second half of each lane's bytes costs as much as the first. */
static void accesses_of_32_bytes_count_all_of_them(void **state) {
    (void)state;
    static const char *const machine[] = {"memory.perfect=false", NULL};
#define AT "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 32;\nadd.u64 %d1, %d1, %d2;\n"
    static const char half[] = AT "st.global.v2.b64 [%d1], {%d3, %d4};\nmembar.gl;\nret;",
                      longs[] = AT "st.global.v4.b64 [%d1], {%d3, %d4, %d5, %d6};\nmembar.gl;\nret;",
                      words[] =
                          AT "st.global.v8.b32 [%d1], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};\nmembar.gl;\nret;";
#undef AT
    uint64_t bytes = run_on(machine, "lrr", half, 1, 32).crossbar_bytes;
    assert_int_equal(run_on(machine, "lrr", longs, 1, 32).crossbar_bytes, bytes + 32 * 16);
    assert_int_equal(run_on(machine, "lrr", words, 1, 32).crossbar_bytes, bytes + 32 * 16);
}

static void the_other_half_of_the_l2_is_far(void **state) {
    (void)state;
    static const char *const near[] = {"memory.perfect=false", "sm.count=2", NULL};
    static const char *const far[] = {"memory.perfect=false", "sm.count=2", "halves.atomic_cycles=1",
                                      "halves.read_cycles=300", NULL};
    /* Both SMs read a line: one of them is in the other half. */
    static const char once[] = "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nadd.u32 %r2, %r1, 1;\nret;";
    uint64_t one = cycles_of(near, once, 2, 32);
    assert_in_range(cycles_of(far, once, 2, 32), one + 290, one + 300);
}

static void copies_of_the_host_are_in_a_warm_l2(void **state) {
    (void)state;
    static struct config_machine machine;
    char message[CONFIG_ERROR_BYTES] = "";
    static const char text[] =
        HEAD "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nst.global.u32 [%d1+4], %r1;\nret;\n}\n";
    for (int is_warm = 0; is_warm < 2; is_warm++) {
        config_defaults(&machine);
        assert_true(config_set(&machine, "icache.perfect=true", message, sizeof message));
        assert_true(config_set(&machine, is_warm ? "l2.warm=true" : "l2.warm=false", message, sizeof message));
        struct gpu_config config = gpu_default_config();
        config.machine = &machine;
        struct gpu_error error = {.status = GPU_OK};
        struct gpu *gpu = gpu_new(&config, &error);
        struct ptx_messages messages = {0};
        struct gpu_module *module = gpu_module_load(gpu, "k.ptx", text, strlen(text), &messages);
        uint64_t buffer = gpu_malloc(gpu, 1 << 16, 256);
        memset(gpu_host(gpu, buffer, 256), 1, 256); /* as a copy does */
        struct gpu_launch launch = {.kernel = gpu_module_kernel(module, "k", &messages),
                                    .shape.grid = {1, 1, 1},
                                    .shape.block = {32, 1, 1},
                                    .parameters = &buffer,
                                    .parameter_bytes = sizeof buffer};
        assert_true(gpu_launch(gpu, &launch, &error));
        assert_int_equal(gpu_totals(gpu).dram_reads > 0, !is_warm);
        gpu_free(gpu);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_and_each_block_take_time),
        cmocka_unit_test(blocks_take_the_same_time_under_every_model),
        cmocka_unit_test(cycles_without_a_group_are_told_apart),
        cmocka_unit_test(the_end_of_a_launch_waits_for_its_accesses),
        cmocka_unit_test(the_end_of_a_launch_waits_for_atomics_on_their_way),
        cmocka_unit_test(a_barrier_takes_time_to_release_its_warps),
        cmocka_unit_test(paths_that_meet_take_time),
        cmocka_unit_test(the_clock_turns_cycles_into_time),

        cmocka_unit_test(a_limit_of_cycles_is_exact),
        cmocka_unit_test(folded_instructions_cost_no_issue),
        cmocka_unit_test(sequences_cost_several_issues),
        cmocka_unit_test(schedulers_with_their_own_units_do_not_wait_for_each_other),
        cmocka_unit_test(atomics_on_one_address_come_one_by_one),
        cmocka_unit_test(shared_atomics_on_numbers_are_repeated),
        cmocka_unit_test(accesses_of_32_bytes_count_all_of_them),
        cmocka_unit_test(the_other_half_of_the_l2_is_far),
        cmocka_unit_test(copies_of_the_host_are_in_a_warm_l2),
        cmocka_unit_test(work_and_registers_are_counted_and_paid_for),
        cmocka_unit_test(samples_add_up),
        cmocka_unit_test(there_may_be_many_samples),
        cmocka_unit_test(lanes_that_spin_let_the_others_go_on),
        cmocka_unit_test(every_run_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
