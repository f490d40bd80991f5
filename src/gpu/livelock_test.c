/* Kernels that can never end are stopped, slow ones are not. */
#include <stdio.h>
#include <string.h>

#include "gpu/fixture.h"

enum { BUFFER_BYTES = 16 << 20, DUMP_BYTES = 1 << 14 };

struct options {
    const char *memory, *watchdog, *most;
};

static const struct options usual = {"dram.row_conflict=127", "limits.watchdog=100000", "limits.max_cycles=800000"};

struct outcome {
    struct gpu_error error;
    char dump[DUMP_BYTES]; /* its output */
};

static void launch(struct gpu *gpu, const char *body, struct gpu_error *error) {
    char text[2048];
    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
             ".reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .pred %%p<4>;\nld.param.u64 %%d1, [p];\nmov.u32 %%r1, %%tid.x;\n"
             "%s\nret;\n}\n",
             body);
    uint64_t buffer = gpu_malloc(gpu, BUFFER_BYTES, 256);
    struct gpu_launch launch = fixture_launch(gpu, text, 2, 64, &buffer);
    gpu_launch(gpu, &launch, error);
}

/* Runs a kernel whose parameter is the address of zeroed words. */
static void run_on(uint32_t n_threads, const struct options *options, const char *body, struct outcome *outcome) {
    static struct config_machine machine;
    config_defaults(&machine);
    fixture_set(&machine, (const char *const[]){"sm.count=2", options->memory, options->watchdog, options->most, NULL});
    struct gpu_config config = gpu_default_config();
    config.machine = &machine;
    config.n_threads = n_threads;
    *outcome = (struct outcome){.error = {.status = GPU_OK}};
    struct gpu *gpu = gpu_new(&config, &outcome->error);
    if (!gpu)
        fail_msg("%s", outcome->error.message);
    FILE *before = stderr, *dump = fmemopen(outcome->dump, sizeof outcome->dump, "w");
    assert_non_null(dump);
    stderr = dump;
    launch(gpu, body, &outcome->error);
    stderr = before;
    fclose(dump);
    gpu_free(gpu);
}

/* Expects the same words on any number of host threads. */
static struct gpu_error run_with(const struct options *options, const char *body) {
    static struct outcome one, several;
    run_on(1, options, body, &one);
    run_on(3, options, body, &several);
    assert_int_equal(several.error.status, one.error.status);
    assert_string_equal(several.error.message, one.error.message);
    assert_string_equal(several.dump, one.dump);
    bool names_groups = strstr(one.error.message, "listed above") != NULL;
    assert_int_equal(names_groups, strstr(one.dump, "heddle: SM 0 slot 0: ") != NULL);
    assert_int_equal(names_groups, strstr(one.dump, "heddle: memory: ") != NULL);
    return one.error;
}

static struct gpu_error run(const char *body) { return run_with(&usual, body); }

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

static void it_is_looked_for_when_the_machine_says(void **state) {
    (void)state;
    unsigned long long soon, late;
    struct options options = usual;
    options.most = "limits.max_cycles=500000";
    options.watchdog = "limits.watchdog=50000";
    struct gpu_error error = run_with(&options, WAIT_FOR_FLAG);
    assert_int_equal(sscanf(error.message, "livelock in kernel 'k' at cycle %llu", &soon), 1);
    assert_in_range(soon, 50000, 124999);
    options.watchdog = "limits.watchdog=250000";
    error = run_with(&options, WAIT_FOR_FLAG);
    assert_int_equal(sscanf(error.message, "livelock in kernel 'k' at cycle %llu", &late), 1);
    assert_in_range(late, 250000, 499999);
    options.most = "limits.max_cycles=250000";
    options.watchdog = "limits.watchdog=0";
    assert_int_equal(run_with(&options, WAIT_FOR_FLAG).status, GPU_CYCLE_LIMIT);
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
        run("mov.u32 %r2, 0;\nagain: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 10000;\n@%p1 bra again;").status,
        GPU_OK);
}

/* Three warps spin until the fourth sets their flag: it waits for eight rows of one bank, one after the other. */
static void waiting_for_slow_memory_is_none(void **state) {
    (void)state;
    const struct options options = {"dram.row_conflict=100000", "limits.watchdog=2000", "limits.max_cycles=40000000"};
    struct gpu_error error = run_with(
        &options, "mov.u32 %r3, %ctaid.x;\nsetp.lt.u32 %p3, %r1, 32;\nsetp.eq.and.u32 %p2, %r3, 0, %p3;\n@%p2 bra "
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

/* Each of a block's two warps waits for both, at a barrier of its own. */
static void barriers_that_wait_for_each_other_are_a_deadlock(void **state) {
    (void)state;
    struct gpu_error error = run("setp.lt.u32 %p2, %r1, 32;\n@%p2 bar.sync 1, 64;\n@!%p2 bar.sync 2, 64;");
    assert_int_equal(error.status, GPU_LAUNCH_TIMEOUT);
    assert_non_null(strstr(error.message, "deadlock in kernel 'k' at cycle "));
    assert_non_null(strstr(error.message, ": no group can issue (the waiting groups are listed above)"));
}

static void a_fault_is_the_same(void **state) {
    (void)state;
    struct gpu_error error = run("mov.u64 %d2, 64;\nst.global.u32 [%d2], %r1;");
    assert_int_equal(error.status, GPU_ILLEGAL_ADDRESS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_for_a_flag_that_nobody_sets_is_found),
        cmocka_unit_test(it_is_looked_for_when_the_machine_says),
        cmocka_unit_test(waiting_for_a_lock_that_nobody_gives_back_is_found),
        cmocka_unit_test(those_who_wait_at_a_barrier_for_one_that_spins_do_not_hide_it),
        cmocka_unit_test(a_long_loop_without_stores_is_none),
        cmocka_unit_test(waiting_for_slow_memory_is_none),
        cmocka_unit_test(a_loop_that_changes_memory_is_none),
        cmocka_unit_test(barriers_that_wait_for_each_other_are_a_deadlock),
        cmocka_unit_test(a_fault_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
