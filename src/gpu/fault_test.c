/* Fault reports name the same thread and instruction under every divergence model and on any number of host threads,
 * although groups may contain threads of several rows and reach barriers and warp-wide instructions when they are
 * re-formed. */
#include <stdio.h>
#include <string.h>

#include "divergence/divergence.h"
#include "gpu/fixture.h"

/* Thread 37 of block 1 reaches line 15 after three in eight of the others went another way. */
static const char kernel[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n"
                             ".reg .b32 %%r<9>; .reg .pred %%p<4>; .reg .b64 %%d<4>;\n"
                             "mov.u32 %%r0, %%tid.x; mov.u32 %%r1, %%ctaid.x; and.b32 %%r2, %%r0, 7;\n"
                             "setp.gt.u32 %%p0, %%r2, 4;\n@!%%p0 bra A;\n"
                             "add.u32 %%r3, %%r0, 1; mul.lo.u32 %%r3, %%r3, 3;\n"
                             "A:\n"
                             "setp.eq.u32 %%p1, %%r0, 37; setp.eq.and.u32 %%p2, %%r1, 1, %%p1;\n"
                             "add.u32 %%r3, %%r0, 7;\n"
                             "@!%%p2 bra B;\n"
                             "%s\n"
                             "B:\nadd.u32 %%r4, %%r3, 1;\nret;\n}\n";

struct bench {
    struct config_machine machine;
    struct gpu *gpu;
    struct gpu_launch launch;
    struct gpu_error error;
};

static void open_bench(struct bench *bench, uint32_t n_threads, const char *machine, const char *divergence,
                       const char *instruction) {
    char text[2048], message[CONFIG_ERROR_BYTES] = "";
    *bench = (struct bench){.gpu = NULL};
    if (!config_load(&bench->machine, machine, "machines", message, sizeof message))
        fail_msg("%s", message);
    snprintf(bench->machine.divergence, sizeof bench->machine.divergence, "%s", divergence);
    struct gpu_config config = gpu_default_config();
    config.machine = &bench->machine;
    config.n_threads = n_threads;
    bench->gpu = fixture_open(&config);
    snprintf(text, sizeof text, kernel, instruction);
    bench->launch = fixture_launch(bench->gpu, text, 3, 64, NULL);
}

/* Runs one block, without a fault. */
static struct stats_counters launch_one_block(struct bench *bench) {
    uint32_t count;
    bench->launch.shape.grid[0] = 1;
    if (!gpu_launch(bench->gpu, &bench->launch, &bench->error))
        fail_msg("%s with %s: '%s'", bench->machine.name, bench->machine.divergence, bench->error.message);
    const struct gpu_launch_record *record = gpu_launches(bench->gpu, &count);
    return record[count - 1].counters;
}

static void expect(uint32_t n_threads, const char *machine, const char *divergence, const char *instruction,
                   const char *what) {
    static struct bench bench, fresh;
    char expected[512];
    open_bench(&bench, n_threads, machine, divergence, instruction);
    assert_false(gpu_launch(bench.gpu, &bench.launch, &bench.error));
    snprintf(expected, sizeof expected, "in kernel 'k', block (1,0,0), thread (37,0,0), k.ptx:15 (%s)", what);
    if (!strstr(bench.error.message, expected))
        fail_msg("%s with %s: '%s', not '%s'", machine, divergence, bench.error.message, expected);
    /* The fault leaves nothing for the next launch to find. */
    open_bench(&fresh, 1, machine, divergence, instruction);
    struct stats_counters after = launch_one_block(&bench), first = launch_one_block(&fresh);
    assert_int_equal(after.cycles, first.cycles);
    assert_int_equal(after.sm_cycles, first.sm_cycles);
    assert_int_equal(after.warp_instructions, first.warp_instructions);
    gpu_free(bench.gpu);
    gpu_free(fresh.gpu);
}

static void the_thread_and_line_are_named_under_every_model(void **state) {
    (void)state;
    static const char *const machines[] = {"gtx480", "narasiman2011", "malits2012", "meng2010"}; /* all pipelines */
    static const char *const variants[] = {"dwf:lanes=free", "dws:size=64", "dws:merge=dwf", "odgs:local=dwf",
                                           "odgs:local=tbc"};
    static const struct {
        const char *instruction, *what;
    } faults[] = {
        {"trap;", "trap"},
        {"mov.u64 %d1, 64; st.global.u32 [%d1], %r0;", "st.global.u32"},
        {"mov.u32 %r5, 20; barrier.sync %r5;", "barrier.sync"},
        /* Warp-wide instructions need warps of 32, which meng2010 does not have: the last fault, the last machine. */
        {"tree_traverse.sync.u32 %r5, %r0, %p1, %r3, 32;", "tree_traverse.sync.u32"},
    };
    enum {
        N_MACHINES = sizeof machines / sizeof *machines,
        N_VARIANTS = sizeof variants / sizeof *variants,
        N_FAULTS = sizeof faults / sizeof *faults
    };
    size_t n_models;
    const struct divergence_ops *const *models = divergence_list(&n_models);
    for (unsigned m = 0; m < N_MACHINES; m++)
        for (size_t d = 0; d < n_models + N_VARIANTS; d++)
            for (unsigned f = 0; f < N_FAULTS - (m == N_MACHINES - 1); f++)
                expect((m + f) % 2 ? 3 : 1, machines[m], d < n_models ? models[d]->name : variants[d - n_models],
                       faults[f].instruction, faults[f].what);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_thread_and_line_are_named_under_every_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
