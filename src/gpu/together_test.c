/* Launches that run at the same time: on a timed machine they share SMs and memory; without timing they take turns. */
#include <stdio.h>
#include <string.h>

#include "divergence/divergence.h"
#include "gpu/fixture.h"

/* compute: a loop without memory. read: reads 64 KB with every block. wait: until the word at flag is 1, then stores 7
 * behind it. set: sets the flag. stamp: stores the time of each block's start. bad: accesses address 16. paths, turns:
 * each thread takes other branches, and stores a sum. */
static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry compute(.param .u64 p) {\n.reg .b32 %r<4>; .reg .pred %p<2>;\nmov.u32 %r1, 400;\n"
    "again: mad.lo.u32 %r2, %r2, 3, %r1; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again; ret;\n}\n"
    ".visible .entry read(.param .u64 p) {\n.reg .b32 %r<6>; .reg .b64 %d<4>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;\n"
    "mov.u32 %r2, %ctaid.x; mul.wide.u32 %d2, %r2, 65536; add.u64 %d1, %d1, %d2; mov.u32 %r3, 64;\n"
    "again: ld.global.u32 %r4, [%d1]; add.u32 %r5, %r5, %r4; add.u64 %d1, %d1, 1024; sub.u32 %r3, %r3, 1;\n"
    "setp.ne.u32 %p1, %r3, 0; @%p1 bra again; setp.eq.u32 %p1, %r5, 12345; @%p1 st.global.u32 [%d1], %r5; ret;\n}\n"
    ".visible .entry wait(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [p];\nagain: ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;\n"
    "mov.u32 %r2, 7; st.global.u32 [%d1+4], %r2; ret;\n}\n"
    ".visible .entry set(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %d<2>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, 1; st.volatile.global.u32 [%d1], %r1; ret;\n}\n"
    ".visible .entry stamp(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %d<6>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 8; add.u64 %d1, %d1, %d2;\n"
    "mov.u64 %d3, %clock64; st.global.u64 [%d1], %d3; mov.u32 %r2, 300;\n"
    "again: sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra again; ret;\n}\n"
    ".visible .entry bad(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %d<2>;\n"
    "mov.u64 %d1, 16; ld.global.u32 %r1, [%d1]; st.global.u32 [%d1], %r1; ret;\n}\n"
    ".visible .entry paths(.param .u64 p) {\n.reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<3>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r6, %ntid.x;\n"
    "mad.lo.u32 %r1, %r2, %r6, %r1; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;\n"
    "rem.u32 %r3, %r1, 37; mov.u32 %r4, 0;\n"
    "again: setp.eq.u32 %p1, %r3, 0; @%p1 bra done; and.b32 %r5, %r3, 1; setp.eq.u32 %p2, %r5, 0; @%p2 bra even;\n"
    "mad.lo.u32 %r4, %r3, 3, %r4; bra next;\neven: xor.b32 %r4, %r4, %r3;\nnext: sub.u32 %r3, %r3, 1; bra again;\n"
    "done: bar.sync 0; st.global.u32 [%d1], %r4; ret;\n}\n"
    ".visible .entry turns(.param .u64 p) {\n.reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<3>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r6, %ntid.x;\n"
    "mad.lo.u32 %r1, %r2, %r6, %r1; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; and.b32 %r3, %r1, 15;\n"
    "mov.u32 %r4, 5; ld.global.u32 %r7, [%d1];\n"
    "again: mad.lo.u32 %r4, %r4, 7, %r3; add.u32 %r7, %r7, %r7; sub.u32 %r3, %r3, 1; setp.ge.s32 %p1, %r3, 0;\n"
    "@%p1 bra again; add.u32 %r4, %r4, %r7; st.global.u32 [%d1], %r4; ret;\n}\n";

enum { SMS = 2, BUFFER = 1 << 20 };

struct device {
    struct config_machine machine;
    struct gpu *gpu;
    struct gpu_module *module;
    uint64_t buffer;
};

static void open_device(struct device *device, bool is_timed, uint32_t n_threads, const char *setting) {
    static const char *const settings[] = {"sm.count=2",
                                           "sm.threads=1024",
                                           "sm.blocks=4",
                                           "crossbar.latency=20",
                                           "link.present=true",
                                           "launch.concurrent=4",
                                           "launch.start_cycles=100",
                                           "launch.turn_cycles=10",
                                           "dram.channels=1",
                                           "dram.bytes_per_cycle=4",
                                           "dram.row_conflict=109",
                                           "limits.watchdog=20000",
                                           NULL};
    struct gpu_config config = gpu_default_config();
    config_defaults(&device->machine);
    fixture_set(&device->machine, settings);
    fixture_set(&device->machine, (const char *const[]){setting, NULL});
    if (is_timed)
        gpu_config_use(&config, &device->machine);
    config.n_threads = n_threads;
    config.check_every = n_threads > 1 ? 0 : 16;
    config.max_instructions = 1 << 24;
    device->gpu = fixture_open(&config);
    device->module = fixture_load(device->gpu, text);
    device->buffer = gpu_malloc(device->gpu, BUFFER, 256);
}

/* Adds a launch after `before` (0: none). Its parameter is the buffer's address plus `offset`. */
static uint32_t add(struct device *device, const char *kernel, uint32_t blocks, uint32_t threads, uint64_t offset,
                    int priority, uint32_t before) {
    struct ptx_messages messages = {0};
    uint64_t parameter = device->buffer + offset;
    struct gpu_launch launch = {.kernel = gpu_module_kernel(device->module, kernel, &messages),
                                .shape = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}},
                                .parameters = &parameter,
                                .parameter_bytes = sizeof parameter,
                                .priority = priority};
    struct gpu_error error;
    assert_true(gpu_check_launch(device->gpu, &launch, &error));
    assert_true(gpu_may_run_together(device->gpu, &launch));
    return gpu_add_launch(device->gpu, &launch, &(struct gpu_after){0, &before, before != 0});
}

static void run(struct device *device) {
    struct gpu_error error;
    if (!gpu_run_tasks(device->gpu, &error))
        fail_msg("%s", error.message);
}

/* Returns the cycles from the start to the end of all launches of the tasks so far. */
static uint64_t run_for_cycles(struct device *device) {
    uint64_t end = 0;
    run(device);
    for (uint32_t task = 1; task <= gpu_count_tasks(device->gpu); task++)
        end = gpu_task_end(device->gpu, task) > end ? gpu_task_end(device->gpu, task) : end;
    return end;
}

static void close_device(struct device *device) {
    gpu_forget_tasks(device->gpu);
    gpu_free(device->gpu);
}

static uint64_t cycles_of(const char *first, const char *second, uint32_t blocks, uint32_t threads) {
    struct device device;
    open_device(&device, true, 1, NULL);
    add(&device, first, blocks, threads, 0, 0, 0);
    if (second)
        add(&device, second, blocks, threads, BUFFER / 2, 0, 0);
    uint64_t cycles = run_for_cycles(&device);
    close_device(&device);
    return cycles;
}

/* Each alone leaves most places of the SMs free, and most of the time of their units. */
static void two_launches_share_the_sms(void **state) {
    (void)state;
    uint64_t one = cycles_of("compute", NULL, SMS, 64), two = cycles_of("compute", "compute", SMS, 64);
    assert_in_range(two, one, one + one / 10);
    /* These two use all schedulers all the time, so they take twice as long. */
    one = cycles_of("compute", NULL, SMS, 512);
    two = cycles_of("compute", "compute", SMS, 512);
    assert_in_range(two, 2 * one - one / 4, 2 * one);
    /* Memory is the bottleneck of both. */
    one = cycles_of("read", NULL, SMS * 2, 256);
    two = cycles_of("read", "read", SMS * 2, 256);
    assert_in_range(two, one + one / 4, 2 * one);
}

/* Without room for a second block, the launches run one after the other. */
static void a_launch_that_fills_the_sms_leaves_no_place(void **state) {
    (void)state;
    uint64_t one = cycles_of("compute", NULL, SMS, 1024), two = cycles_of("compute", "compute", SMS, 1024);
    assert_in_range(two, 2 * one - 400, 2 * one);
}

static uint64_t dram_reads_of(const char *kernel, uint32_t threads) {
    struct device device;
    open_device(&device, true, 1, NULL);
    add(&device, kernel, 4, threads, 0, 0, 0);
    run(&device);
    struct stats_counters totals = gpu_totals(device.gpu);
    close_device(&device);
    return totals.dram_reads;
}

static void counters_of_launches_add_up(void **state) {
    (void)state;
    struct device device;
    uint32_t count;
    open_device(&device, true, 1, NULL);
    add(&device, "read", 4, 256, 0, 0, 0);
    add(&device, "compute", 4, 64, 0, 0, 0);
    run(&device);
    const struct gpu_launch_record *record = gpu_launches(device.gpu, &count);
    struct stats_counters totals = gpu_totals(device.gpu);
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        const struct stats_counters *c = &record[i].counters;
        assert_int_equal(c->active_cycles + c->stall_memory + c->stall_dependency + c->stall_barrier + c->stall_fetch +
                             c->stall_structural + c->stall_empty,
                         c->sm_cycles);
        assert_int_equal(c->empty_unused + c->empty_start + c->empty_tail, c->stall_empty);
        assert_int_equal(c->integer_thread_instructions + c->float_thread_instructions +
                             c->special_thread_instructions + c->memory_thread_instructions +
                             c->control_thread_instructions,
                         c->thread_instructions);
        assert_int_equal(c->blocks, 4);
    }
    /* 4 blocks of 8 warps: 64 loads each; every warp has a parameter's load and an exit too. */
    assert_int_equal(record[0].counters.long_instructions, 4 * 8 * 64);
    assert_int_equal(record[1].counters.long_instructions, 0);
    assert_int_equal(record[1].counters.warp_instructions, 4 * 2 * (1 + 4 * 400 + 1));
    assert_int_equal(record[0].counters.l1_accesses, 4 * 8 * 64);
    assert_int_equal(record[1].counters.l1_accesses, 0);
    assert_true(record[0].counters.dram_reads > 50 * record[1].counters.dram_reads);
    assert_true(record[1].counters.icache_accesses > 0);
    /* All cycles of both SMs, from the start of the launches to the end of the last. */
    uint64_t end = gpu_task_end(device.gpu, 1) > gpu_task_end(device.gpu, 2) ? gpu_task_end(device.gpu, 1)
                                                                             : gpu_task_end(device.gpu, 2);
    assert_int_equal(totals.sm_cycles, SMS * end);
    /* The L2 keeps every line that it reads. */
    assert_int_equal(totals.dram_reads, dram_reads_of("read", 256) + dram_reads_of("compute", 64));
    close_device(&device);
}

static void a_launch_that_is_alone_runs_as_before(void **state) {
    (void)state;
    struct device device;
    struct gpu_error error;
    struct stats_counters counters[2];
    for (int waits = 0; waits < 2; waits++) {
        open_device(&device, true, 1, NULL);
        uint32_t task = add(&device, "read", 4, 256, 0, 0, 0);
        if (waits) {
            add(&device, "compute", 4, 64, 0, 0, task);
            run(&device);
        } else {
            gpu_forget_tasks(device.gpu);
            struct ptx_messages messages = {0};
            struct gpu_launch launch = {.shape = {.grid = {4, 1, 1}, .block = {256, 1, 1}},
                                        .parameters = &device.buffer,
                                        .parameter_bytes = sizeof device.buffer};
            launch.kernel = gpu_module_kernel(device.module, "read", &messages);
            assert_true(gpu_launch(device.gpu, &launch, &error));
            launch.shape.block[0] = 64;
            launch.kernel = gpu_module_kernel(device.module, "compute", &messages);
            assert_true(gpu_launch(device.gpu, &launch, &error));
        }
        counters[waits] = gpu_totals(device.gpu);
        close_device(&device);
    }
    assert_memory_equal(&counters[0], &counters[1], sizeof counters[0]);
}

/* Returns the first and the last start of the blocks that stamped their times at `offset`. */
static void find_starts(struct device *device, uint64_t offset, uint32_t blocks, uint64_t *first, uint64_t *last) {
    const uint64_t *stamp = (const void *)gpu_host(device->gpu, device->buffer + offset, blocks * sizeof *stamp);
    *first = UINT64_MAX;
    *last = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        *first = stamp[i] < *first ? stamp[i] : *first;
        *last = stamp[i] > *last ? stamp[i] : *last;
    }
}

/* Both launches have more blocks than there are places: eight at a time. */
static void priority_and_order_decide_whose_blocks_start(void **state) {
    (void)state;
    for (int priority = 0; priority >= -1; priority--) {
        struct device device;
        uint64_t first[2], last[2];
        open_device(&device, true, 1, NULL);
        add(&device, "stamp", 24, 256, 0, 0, 0);
        add(&device, "stamp", 24, 256, BUFFER / 2, priority, 0);
        run(&device);
        find_starts(&device, 0, 24, &first[0], &last[0]);
        find_starts(&device, BUFFER / 2, 24, &first[1], &last[1]);
        if (priority == 0)
            assert_true(last[0] <= first[1]);
        else
            assert_true(last[1] <= first[0]);
        close_device(&device);
    }
}

/* A launch with a higher priority that comes later gets the places of the blocks that end next. */
static void a_later_launch_with_priority_does_not_interrupt_blocks(void **state) {
    (void)state;
    struct device device;
    uint64_t first[2], last[2];
    open_device(&device, true, 1, NULL);
    uint32_t before = add(&device, "set", 1, 1, BUFFER - 8, 0, 0);
    add(&device, "stamp", 64, 256, 0, 0, 0);
    add(&device, "stamp", 8, 256, BUFFER / 2, -1, before);
    run(&device);
    find_starts(&device, 0, 64, &first[0], &last[0]);
    find_starts(&device, BUFFER / 2, 8, &first[1], &last[1]);
    assert_true(first[0] < first[1]);
    assert_true(last[1] < last[0]);
    close_device(&device);
}

static void launches_may_wait_for_each_other(void **state) {
    (void)state;
    for (int is_timed = 0; is_timed < 2; is_timed++) {
        struct device device;
        open_device(&device, is_timed, 1, NULL);
        add(&device, "wait", 1, 32, 0, 0, 0);
        add(&device, "set", 1, 1, 0, 0, 0);
        run(&device);
        const uint32_t *word = (const void *)gpu_host(device.gpu, device.buffer, 8);
        assert_int_equal(word[0], 1);
        assert_int_equal(word[1], 7);
        close_device(&device);
    }
}

/* The waiting launch takes all places, so the other one never starts. */
static void a_launch_that_waits_in_vain_is_a_livelock(void **state) {
    (void)state;
    struct device device;
    struct gpu_error error;
    open_device(&device, true, 1, NULL);
    add(&device, "wait", 8, 256, 0, 0, 0);
    add(&device, "set", 1, 1, 0, 0, 0);
    assert_false(gpu_run_tasks(device.gpu, &error));
    assert_int_equal(error.status, GPU_LAUNCH_TIMEOUT);
    assert_non_null(strstr(error.message, "'wait'"));
    close_device(&device);
}

static uint64_t store_nine(void *user, uint64_t ready) {
    *(uint32_t *)user = 9;
    return ready + 1000;
}

/* wait, then the driver's work, then compute; set beside them. */
static void tasks_wait_for_those_that_they_name(void **state) {
    (void)state;
    for (int is_timed = 0; is_timed < 2; is_timed++) {
        struct device device;
        uint32_t stored = 0;
        open_device(&device, is_timed, 1, NULL);
        uint32_t wait = add(&device, "wait", 1, 32, 0, 0, 0);
        uint32_t act = gpu_add_act(device.gpu, store_nine, &stored, &(struct gpu_after){0, &wait, 1});
        uint32_t compute = add(&device, "compute", 1, 32, 0, 0, act);
        uint32_t set = add(&device, "set", 1, 1, 0, 0, 0);
        uint32_t last = gpu_add_act(device.gpu, NULL, NULL, &(struct gpu_after){0, (uint32_t[]){set, compute}, 2});
        run(&device);
        assert_int_equal(stored, 9);
        assert_int_equal(gpu_task_end(device.gpu, act), gpu_task_end(device.gpu, wait) + 1000);
        if (is_timed) {
            assert_true(gpu_task_end(device.gpu, compute) > gpu_task_end(device.gpu, act));
            assert_int_equal(gpu_task_end(device.gpu, last), gpu_task_end(device.gpu, compute));
        }
        close_device(&device);
    }
}

static void a_fault_ends_all_launches(void **state) {
    (void)state;
    for (int is_timed = 0; is_timed < 2; is_timed++) {
        struct device device;
        struct gpu_error error;
        open_device(&device, is_timed, 1, NULL);
        add(&device, "wait", 1, 32, 0, 0, 0);
        add(&device, "bad", 1, 32, 0, 0, 0);
        assert_false(gpu_run_tasks(device.gpu, &error));
        assert_int_equal(error.status, GPU_ILLEGAL_ADDRESS);
        assert_non_null(strstr(error.message, "'bad'"));
        gpu_forget_tasks(device.gpu);
        add(&device, "compute", 1, 32, 0, 0, 0); /* the machine still works */
        add(&device, "set", 1, 1, 0, 0, 0);
        run(&device);
        close_device(&device);
    }
}

static void results_do_not_depend_on_host_threads(void **state) {
    (void)state;
    static struct stats_counters counters[4][6];
    for (uint32_t n_threads = 1; n_threads <= 3; n_threads++) {
        struct device device;
        uint32_t count, task;
        open_device(&device, true, n_threads, "sm.count=5");
        task = add(&device, "read", 7, 256, 0, 0, 0);
        add(&device, "compute", 9, 64, 0, 0, task);
        add(&device, "stamp", 40, 96, BUFFER / 2, -2, 0);
        add(&device, "wait", 1, 32, BUFFER - 64, 0, 0);
        task = add(&device, "compute", 3, 256, 0, 0, 0);
        add(&device, "set", 1, 1, BUFFER - 64, 0, task);
        run(&device);
        const struct gpu_launch_record *record = gpu_launches(device.gpu, &count);
        assert_int_equal(count, 6);
        for (uint32_t i = 0; i < count; i++)
            counters[n_threads][i] = record[i].counters;
        close_device(&device);
        assert_memory_equal(counters[1], counters[n_threads], sizeof counters[1]);
    }
}

static uint32_t paths_of(uint32_t i) {
    uint32_t sum = 0;
    for (uint32_t n = i % 37; n; n--)
        sum = n & 1 ? sum + 3 * n : sum ^ n;
    return sum;
}

static uint32_t turns_of(uint32_t i) {
    uint32_t sum = 5;
    for (int n = (int)(i & 15); n >= 0; n--)
        sum = sum * 7 + (uint32_t)n;
    return sum;
}

/* Two programs of different length diverge beside each other, and a third one waits for memory. */
static void expect_right_branches(const char *setting) {
    enum { BLOCKS = 9, THREADS = 128, OTHER_BLOCKS = 11, OTHER_THREADS = 96 };
    struct device device;
    open_device(&device, true, 1, setting);
    for (int round = 0; round < 2; round++) {
        add(&device, "paths", BLOCKS, THREADS, 0, 0, 0);
        add(&device, "turns", OTHER_BLOCKS, OTHER_THREADS, BUFFER / 4, 0, 0);
        add(&device, "read", 2, 64, BUFFER / 2, 0, 0);
        run(&device);
        gpu_forget_tasks(device.gpu);
        const uint32_t *word = (const uint32_t *)(void *)gpu_host(device.gpu, device.buffer, BUFFER);
        for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
            if (word[i] != paths_of(i))
                fail_msg("%s: thread %u of 'paths' stores %u", setting, i, word[i]);
        for (uint32_t i = 0; i < OTHER_BLOCKS * OTHER_THREADS && !round; i++)
            if (word[BUFFER / 16 + i] != turns_of(i))
                fail_msg("%s: thread %u of 'turns' stores %u", setting, i, word[BUFFER / 16 + i]);
    }
    close_device(&device);
}

/* With launch.concurrent=1, and under models whose groups have threads of several blocks. */
static void some_devices_run_one_launch_at_a_time(void **state) {
    (void)state;
    struct device device;
    static const char *const settings[] = {"launch.concurrent=1", "link.present=false"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        open_device(&device, true, 1, settings[i]);
        assert_false(gpu_runs_together(device.gpu));
        close_device(&device);
    }
    size_t n;
    const struct divergence_ops *const *model = divergence_list(&n);
    for (size_t i = 0; i < n; i++) {
        char setting[64];
        snprintf(setting, sizeof setting, "divergence=%s", model[i]->name);
        open_device(&device, true, 1, setting);
        assert_int_equal(gpu_runs_together(device.gpu), model[i]->shares_sms);
        assert_int_equal(gpu_why_apart(device.gpu) == NULL, model[i]->shares_sms);
        if (model[i]->shares_sms) {
            add(&device, "wait", 1, 32, 0, 0, 0);
            add(&device, "set", 1, 1, 0, 0, 0);
            run(&device);
        }
        close_device(&device);
        if (model[i]->shares_sms)
            expect_right_branches(setting);
    }
}

/* Four at a time, and a fifth when the first of them ends. */
static void only_so_many_launches_run_at_once(void **state) {
    (void)state;
    struct device device;
    open_device(&device, true, 1, NULL);
    for (int i = 0; i < 5; i++)
        add(&device, "compute", 1, 32, 0, 0, 0);
    run(&device);
    for (uint32_t task = 2; task <= 4; task++)
        assert_true(gpu_task_end(device.gpu, task) < gpu_task_end(device.gpu, 5) * 3 / 4);
    close_device(&device);
}

/* More launches than numbers of grids on an SM, in two chains. */
static void launches_follow_each_other(void **state) {
    (void)state;
    enum { LINKS = 90 };
    struct device device;
    uint32_t last[2] = {0, 0}, count;
    open_device(&device, true, 1, NULL);
    for (int i = 0; i < LINKS; i++)
        for (int k = 0; k < 2; k++)
            last[k] = add(&device, "set", 1, 1, 8 * (uint64_t)k, 0, last[k]);
    run(&device);
    gpu_launches(device.gpu, &count);
    assert_int_equal(count, 2 * LINKS);
    assert_int_equal(gpu_totals(device.gpu).blocks, 2 * LINKS);
    close_device(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_launches_share_the_sms),
        cmocka_unit_test(a_launch_that_fills_the_sms_leaves_no_place),
        cmocka_unit_test(counters_of_launches_add_up),
        cmocka_unit_test(a_launch_that_is_alone_runs_as_before),
        cmocka_unit_test(priority_and_order_decide_whose_blocks_start),
        cmocka_unit_test(a_later_launch_with_priority_does_not_interrupt_blocks),
        cmocka_unit_test(launches_may_wait_for_each_other),
        cmocka_unit_test(a_launch_that_waits_in_vain_is_a_livelock),
        cmocka_unit_test(tasks_wait_for_those_that_they_name),
        cmocka_unit_test(a_fault_ends_all_launches),
        cmocka_unit_test(results_do_not_depend_on_host_threads),
        cmocka_unit_test(some_devices_run_one_launch_at_a_time),
        cmocka_unit_test(only_so_many_launches_run_at_once),
        cmocka_unit_test(launches_follow_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
