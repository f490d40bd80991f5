/* Tests of the pool of workers, and that launches have the same statistics on several host threads as on one. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "gpu/fixture.h"
#include "gpu/workers.h"

enum { PIECES = 37, ROUNDS = 2000 };

static void take(void *user, uint32_t i, uint32_t thread) {
    assert_true(thread < 3);
    atomic_fetch_add(&((atomic_uint *)user)[i], 1);
}

static void every_piece_is_taken_once_a_round(void **state) {
    (void)state;
    static atomic_uint taken[PIECES];
    struct gpu_workers *workers = gpu_workers_new(3);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        gpu_workers_run(workers, take, taken, PIECES);
        for (unsigned i = 0; i < PIECES; i++)
            assert_int_equal(taken[i], round);
    }
    gpu_workers_free(workers);
}

static void the_first_pieces_have_different_threads(void **state) {
    (void)state;
    struct gpu_workers *workers = gpu_workers_new(3);
    unsigned owners = 0;
    for (uint32_t piece = 0; piece < 3; piece++)
        owners |= 1u << gpu_workers_owner(workers, piece);
    assert_int_equal(owners, 7);
    assert_int_equal(gpu_workers_owner(workers, 3), gpu_workers_owner(workers, 0));
    gpu_workers_free(workers);
}

static void a_round_may_be_empty(void **state) {
    (void)state;
    struct gpu_workers *workers = gpu_workers_new(2);
    gpu_workers_run(workers, take, NULL, 0);
    gpu_workers_free(workers);
}

/* Loops of different lengths, barriers, shared memory, and code of a few I-cache lines; memory in between. */
static const char *const kernel =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %d<5>; .reg .pred %p; .shared .align 4 .b8 s[1024];\n"
    "ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;\n"
    "mad.lo.u32 %r3, %r1, %r2, %r0; mul.wide.u32 %d1, %r3, 4; add.u64 %d2, %d0, %d1;\n"
    "ld.global.u32 %r4, [%d2]; add.u32 %r5, %r3, 200; mov.u64 %d3, s; mul.wide.u32 %d4, %r0, 4; add.u64 %d3, %d3, "
    "%d4;\n"
    "again: mad.lo.u32 %r4, %r4, 1664525, 1013904223; xor.b32 %r4, %r4, %r5; shr.u32 %r6, %r4, 3; add.u32 %r4, %r4, "
    "%r6;\n"
    "st.shared.u32 [%d3], %r4; bar.sync 0; ld.shared.u32 %r6, [s]; add.u32 %r4, %r4, %r6; bar.sync 0;\n"
    "sub.u32 %r5, %r5, 1; add.u32 %r7, %r3, 0; setp.ne.u32 %p, %r5, %r7; @%p bra again;\n"
    "st.global.u32 [%d2], %r4; ret;\n}\n";

enum { BLOCKS = 16, THREADS = 128 };

struct outcome {
    struct stats_counters counters;
    uint32_t memory[BLOCKS * THREADS];
};

static void run_on(uint32_t n_threads, bool picks_threads, struct outcome *outcome) {
    static struct config_machine machine;
    const char *settings[] = {"sm.count=6", "icache.size=512", "icache.line=128", "icache.ways=2", NULL};
    config_defaults(&machine);
    fixture_set(&machine, settings);
    struct gpu_config config = gpu_default_config();
    config.machine = &machine;
    config.memory_bytes = 1 << 26;
    config.n_threads = n_threads;
    config.picks_threads = picks_threads;
    struct gpu_error error = {.status = GPU_OK};
    struct gpu *gpu = fixture_open(&config);
    uint64_t buffer = gpu_malloc(gpu, sizeof outcome->memory, 256);
    struct gpu_launch launch = fixture_launch(gpu, kernel, BLOCKS, THREADS, &buffer);
    if (!gpu_launch(gpu, &launch, &error))
        fail_msg("%s", error.message);
    outcome->counters = gpu_totals(gpu);
    memcpy(outcome->memory, gpu_host(gpu, buffer, sizeof outcome->memory), sizeof outcome->memory);
    gpu_free(gpu);
}

static void threads_change_no_result_and_no_statistic(void **state) {
    (void)state;
    static struct outcome one, several;
    run_on(1, false, &one);
    for (uint32_t n_threads = 2; n_threads <= 5; n_threads++) {
        run_on(n_threads, false, &several);
        assert_memory_equal(&one, &several, sizeof one);
    }
}

/* The launch takes tens of milliseconds, so that their number changes in it. */
static void another_number_of_threads_changes_nothing_within_a_launch(void **state) {
    (void)state;
    static struct outcome one, several;
    run_on(1, false, &one);
    for (uint32_t n_threads = 2; n_threads <= 5; n_threads++) {
        run_on(n_threads, true, &several);
        assert_memory_equal(&one, &several, sizeof one);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_is_taken_once_a_round),
        cmocka_unit_test(the_first_pieces_have_different_threads),
        cmocka_unit_test(a_round_may_be_empty),
        cmocka_unit_test(threads_change_no_result_and_no_statistic),
        cmocka_unit_test(another_number_of_threads_changes_nothing_within_a_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
