/* Cycle counts derived on paper, one mechanism at a time. A block that starts
 * in cycle 0 has its first instruction fetched in cycle 1; a launch ends in the
 * cycle in which its last instruction issues. Memory is perfect here unless a
 * test says otherwise: every line is there l1.latency cycles after it was asked
 * for, and an address is asked for in the cycle after its instruction issued.
 */
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

static uint64_t cycles(const char *const *settings, const char *body, unsigned threads) {
    return run_on(settings, "lrr", body, 1, threads).cycles;
}

/* Issue in 1, 2, 3; ret in 4. */
static void independent_instructions_issue_every_cycle(void **state) {
    (void)state;
    assert_int_equal(cycles(NULL, "add.u32 %r1, 1, 2;\nadd.u32 %r2, 1, 2;\nadd.u32 %r3, 1, 2;\nret;", 32), 4);
}

/* 1, 1+9, 10+9; ret needs nothing: 20. */
static void a_dependent_instruction_waits_for_the_latency(void **state) {
    (void)state;
    assert_int_equal(cycles(NULL,
                            "add.u32 %r1, 1, 2;\nadd.u32 %r2, %r1, 2;\nadd.u32 "
                            "%r3, %r2, 2;\nret;",
                            32),
                     20);
    assert_int_equal(cycles(NULL,
                            "add.f32 %f1, 0f00000000, "
                            "0f00000000;\nadd.f32 %f2, %f1, %f1;\nret;",
                            32),
                     1 + 11 + 1);
    assert_int_equal(cycles(NULL,
                            "mov.f64 %g1, 0d0000000000000000;\nadd.f64 %g2, %g1, "
                            "%g1;\nadd.f64 %g3, %g2, %g2;\nret;",
                            32),
                     1 + 11 + 13 + 1);
}

/* A write to a register that another instruction is still to write waits too.
 */
static void a_second_write_waits_for_the_first(void **state) {
    (void)state;
    assert_int_equal(cycles(NULL, "add.u32 %r1, 1, 2;\nadd.u32 %r1, 3, 4;\nret;", 32), 1 + 9 + 1);
}

/* The branch issues in 1, its target 5 cycles later. */
static void after_a_branch_fetching_takes_longer(void **state) {
    (void)state;
    assert_int_equal(cycles(NULL, "bra L;\nL:\nret;", 32), 1 + 5);
}

/* The branch issues in 19, both sides follow in 24. Their instructions wait for their own results alone: the upper half
 * issues in 24, 33, 42 and ends in 43, the lower one in 24, 41 and 42. One side after the other, the second begins 5
 * cycles after the first has ended: 24, 33, 42, 43, 48, 65, 66 (or 24, 41, 42, 47, 56, 65, 66). */
static void with_mimd_each_lane_waits_for_its_own_results(void **state) {
    (void)state;
    const char *body = "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 16;\n@%p0 bra L;\n"
                       "add.u32 %r1, %r0, 1;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r3, %r2, 1;\nret;\n"
                       "L:\nsin.approx.f32 %f1, %f0;\nsin.approx.f32 %f2, %f1;\nret;";
    assert_int_equal(cycles((const char *[]){"divergence=mimd", NULL}, body, 32), 43);
    assert_int_equal(cycles((const char *[]){"divergence=stack", NULL}, body, 32), 66);
}

/* Two warps on one scheduler: w0 in 1, w1 in 2, then 3, 4 (ret); the ALU takes
 * a warp per cycle. With 16 lanes it takes one every two cycles: 1, 3, 5, 7. */
static void a_unit_takes_warps_at_its_width(void **state) {
    (void)state;
    static const char *const narrow[] = {"sm.simd_width=16", NULL};
    assert_int_equal(cycles(NULL, "add.u32 %r1, 1, 2;\nret;", 64), 4);
    assert_int_equal(cycles(narrow, "add.u32 %r1, 1, 2;\nret;", 64), 7);
    /* sin: 8 lanes, 4 cycles a warp. w0 in 1, w1 in 5; ret of w0 in 2, of w1
     * in 6. */
    assert_int_equal(cycles(NULL, "sin.approx.f32 %f1, 0f00000000;\nret;", 64), 6);
}

/* Two schedulers issue both warps in the same cycle. */
static void two_schedulers_issue_two_warps(void **state) {
    (void)state;
    static const char *const two[] = {"sm.schedulers=2", NULL};
    assert_int_equal(cycles(two, "add.u32 %r1, 1, 2;\nret;", 64), 2);
}

/* One unit for the SM: the second scheduler's warp multiplies in 2, and both end in 3. Without the unit both multiply
 * in 1 and end in 2. */
static void one_unit_multiplies_for_all_schedulers(void **state) {
    (void)state;
    static const char *const shared[] = {"sm.schedulers=2", "sm.multiply_width=32", NULL};
    static const char *const own[] = {"sm.schedulers=2", "sm.multiply_width=0", NULL};
    static const char body[] = "mul.lo.u32 %r1, 3, 4;\nret;";
    assert_int_equal(cycles(shared, body, 64), 3);
    assert_int_equal(cycles(own, body, 64), 2);
    assert_int_equal(cycles(shared, "add.u32 %r1, 3, 4;\nret;", 64), 2);
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

/* ld.param in 1 (constant: 9), the load in 10, asked for in 11, there in 51:
 * the add issues in 51, ret in 52. */
static void a_load_waits_for_memory(void **state) {
    (void)state;
    assert_int_equal(cycles(NULL,
                            "ld.param.u64 %d1, [p];\nld.global.u32 %r1, "
                            "[%d1];\nadd.u32 %r2, %r1, 1;\nret;",
                            32),
                     52);
    /* Nobody needs the value: ret in 11, and the launch ends. */
    assert_int_equal(cycles(NULL, "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nret;", 32), 11);
}

/* Shared memory: 15 cycles; with all 32 lanes in one bank the access takes 32
 * passes, 31 more. */
static void bank_conflicts_take_passes(void **state) {
    (void)state;
    static const char no_conflict[] = ".shared .b32 s[1024];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\n"
                                      "ld.shared.u32 %r3, [%r2];\nadd.u32 %r4, %r3, 1;\nmov.u32 %r5, s;\nret;";
    static const char conflict[] = ".shared .b32 s[1024];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 7;\n"
                                   "ld.shared.u32 %r3, [%r2];\nadd.u32 %r4, %r3, 1;\nmov.u32 %r5, s;\nret;";
    /* mov 1, shl 10, ld 19, add 34, mov 35, ret 36 */
    assert_int_equal(cycles(NULL, no_conflict, 32), 36);
    assert_int_equal(cycles(NULL, conflict, 32), 36 + 31);
}

/* With one bank, three different sources are read in three cycles: the result comes two later. Equal ones are read
 * once. */
static void source_registers_of_one_bank_are_read_in_turn(void **state) {
    (void)state;
    static const char *const one_bank[] = {"sm.register_banks=1", NULL};
    static const char different[] =
        "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmad.lo.u32 %r4, %r1, %r2, %r3;\nadd.u32 %r5, %r4, 1;\nret;";
    static const char same[] = "mov.u32 %r1, 1;\nmad.lo.u32 %r4, %r1, %r1, %r1;\nadd.u32 %r5, %r4, 1;\nret;";
    /* movs in 1, 2, 3; mad in 12; add in 21, or 23; ret */
    assert_int_equal(cycles(NULL, different, 32), 22);
    assert_int_equal(cycles(one_bank, different, 32), 24);
    assert_int_equal(cycles(one_bank, same, 32), 1 + 9 + 9 + 1);
}

/* Barrel: a warp is fetched again 7 cycles after its last instruction: 1, 8,
 * 15, ret 22; eight warps share the cycles: the last one's instructions are in
 * 8, 16, 24, 32 since the seventh slot comes round every 8 cycles. */
static void the_barrel_turns(void **state) {
    (void)state;
    static const char *const barrel[] = {"sm.pipeline=barrel", "sm.stages=7", NULL};
    static const char body[] = "add.u32 %r1, 1, 2;\nadd.u32 %r2, %r1, 2;\nadd.u32 %r3, %r2, 2;\nret;";
    assert_int_equal(cycles(barrel, body, 32), 22);
    assert_int_equal(cycles(barrel, body, 7 * 32), 28);
    assert_int_equal(cycles(barrel, body, 8 * 32), 32);
}

/* Switch on access: one instruction per cycle whatever it needs; a load sends
 * the warp away until its data is there: mov, ld in 2 (asked in 3, there in
 * 43), add 43, ret 44. */
static void a_warp_switches_on_an_access(void **state) {
    (void)state;
    static const char *const switching[] = {"sm.pipeline=switch-on-access", NULL};
    assert_int_equal(cycles(switching,
                            "add.u32 %r1, 1, 2;\nadd.u32 %r2, %r1, 2;\nadd.u32 "
                            "%r3, %r2, 2;\nret;",
                            32),
                     4);
    assert_int_equal(cycles(switching,
                            "ld.param.u64 %d1, [p];\nld.global.u32 %r1, "
                            "[%d1];\nadd.u32 %r2, %r1, 1;\nret;",
                            32),
                     44);
}

/* Two warps: w0 arrives in 1, w1 in 2; both go on behind the barrier: it is
 * control flow, so 5 cycles: w1's ret in 7, w0's, free since cycle 2 and
 * fetched long ago, in 6. */
static void a_barrier_frees_everyone_when_the_last_arrives(void **state) {
    (void)state;
    struct stats_counters counters = run_on(NULL, "lrr", "bar.sync 0;\nret;", 1, 64);
    assert_int_equal(counters.cycles, 7);
    assert_int_equal(counters.barriers, 2);
}

/* Both sides of a branch run one after the other: the divergent kernel issues 1
 * more instruction than either side alone. */
static void divergent_paths_run_one_after_the_other(void **state) {
    (void)state;
    struct stats_counters counters = run_on(NULL, "lrr",
                                            "mov.u32 %r1, %laneid;\nsetp.lt.u32 %p1, %r1, 16;\n@%p1 bra "
                                            "A;\nadd.u32 %r2, 1, 1;\nbra B;\nA:\nadd.u32 %r3, 1, 1;\nB:\nret;",
                                            1, 32);
    assert_int_equal(counters.warp_instructions, 7);
    assert_int_equal(counters.thread_instructions, 32 + 32 + 16 + 16 + 16 + 16 + 32);
    assert_int_equal(counters.divergent_branches, 1);
    /* mov 1, setp 10, bra 19, A's add 24, then (reconvergence of that path) the
     * other side: add 25, bra 26, ret 31 */
    assert_int_equal(counters.cycles, 31);
}

/* Ten blocks of 1024 threads on an SM that holds one: each takes as long as the
 * first. */
static void blocks_wait_for_room(void **state) {
    (void)state;
    static const char *const small[] = {"sm.threads=1024", NULL};
    static const char body[] = "add.u32 %r1, 1, 2;\nret;";
    uint64_t one = run_on(small, "lrr", body, 1, 1024).cycles;
    assert_int_equal(one, 64);
    assert_int_equal(run_on(small, "lrr", body, 10, 1024).cycles, 10 * one);
}

/* Three samples of 10 cycles and what was left: together everything, each what issued in its cycles. */
static void samples_add_up(void **state) {
    (void)state;
    static struct config_machine machine;
    char message[CONFIG_ERROR_BYTES];
    config_defaults(&machine);
    for (const char *const *setting = plain; *setting; setting++)
        assert_true(config_set(&machine, *setting, message, sizeof message));
    struct gpu_config config = gpu_default_config();
    config.machine = &machine;
    config.sample_cycles = 10;
    struct gpu_error error;
    struct gpu *gpu = gpu_new(&config, &error);
    struct ptx_messages messages = {0};
    static const char text[] =
        HEAD "add.u32 %r1, 1, 2;\nadd.u32 %r2, %r1, 2;\nadd.u32 %r3, %r2, 2;\nadd.u32 %r4, %r3, 2;\nret;\n}\n";
    struct gpu_module *module = gpu_module_load(gpu, "k.ptx", text, strlen(text), &messages);
    uint64_t parameter = 0;
    struct gpu_launch launch = {.kernel = gpu_module_kernel(module, "k", &messages),
                                .grid = {1, 1, 1},
                                .block = {32, 1, 1},
                                .parameters = &parameter,
                                .parameter_bytes = sizeof parameter};
    assert_true(gpu_launch(gpu, &launch, &error));
    uint32_t count;
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

/* Lanes 1 to 31 wait for a flag that lane 0 sets behind the loop: it must get there without them. */
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
        cmocka_unit_test(independent_instructions_issue_every_cycle),
        cmocka_unit_test(a_dependent_instruction_waits_for_the_latency),
        cmocka_unit_test(a_second_write_waits_for_the_first),
        cmocka_unit_test(after_a_branch_fetching_takes_longer),
        cmocka_unit_test(with_mimd_each_lane_waits_for_its_own_results),
        cmocka_unit_test(a_unit_takes_warps_at_its_width),
        cmocka_unit_test(two_schedulers_issue_two_warps),
        cmocka_unit_test(one_unit_multiplies_for_all_schedulers),
        cmocka_unit_test(work_and_registers_are_counted_and_paid_for),
        cmocka_unit_test(a_load_waits_for_memory),
        cmocka_unit_test(bank_conflicts_take_passes),
        cmocka_unit_test(source_registers_of_one_bank_are_read_in_turn),
        cmocka_unit_test(the_barrel_turns),
        cmocka_unit_test(a_warp_switches_on_an_access),
        cmocka_unit_test(a_barrier_frees_everyone_when_the_last_arrives),
        cmocka_unit_test(divergent_paths_run_one_after_the_other),
        cmocka_unit_test(blocks_wait_for_room),
        cmocka_unit_test(samples_add_up),
        cmocka_unit_test(lanes_that_spin_let_the_others_go_on),
        cmocka_unit_test(every_run_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
