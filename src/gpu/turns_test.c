/* Blocks that take the place of others without a turn have the same numbers and start in the same cycles as with one.
 */
#include <stdio.h>
#include <string.h>

#include "gpu/fixture.h"

/* Block i notes its SM and the cycles of its beginning and its end. It loops 16 * (i * 7 % 8) or, in every group of 64
 * blocks but the first, 64 times: some blocks end one by one, others together. */
static const char *const kernel =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p;\n"
    "mov.u32 %r0, %clock; ld.param.u64 %d0, [p]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d1, %r1, 16;\n"
    "add.u64 %d2, %d0, %d1; mov.u32 %r2, %smid;\n"
    "mul.lo.u32 %r3, %r1, 7; and.b32 %r3, %r3, 7; shl.b32 %r3, %r3, 4; and.b32 %r4, %r1, 64;\n"
    "setp.ne.u32 %p, %r4, 0; selp.u32 %r3, 64, %r3, %p; add.u32 %r3, %r3, 1;\n"
    "again: sub.u32 %r3, %r3, 1; setp.ne.u32 %p, %r3, 0; @%p bra again;\n"
    "mov.u32 %r5, %clock; st.global.v4.u32 [%d2], {%r0, %r1, %r2, %r5}; ret;\n}\n";

enum { BLOCKS = 600, WORDS = 4 };

struct outcome {
    struct stats_counters counters;
    uint32_t memory[BLOCKS * WORDS];
};

struct way {
    uint32_t n_threads;
    bool is_watched; /* every block takes its turn */
    const char *turn_cycles, *block_cycles;
};

static void run(const struct way *way, struct outcome *outcome) {
    static struct config_machine machine;
    char turn[64], block[64];
    snprintf(turn, sizeof turn, "launch.turn_cycles=%s", way->turn_cycles);
    snprintf(block, sizeof block, "launch.block_cycles=%s", way->block_cycles);
    const char *settings[] = {"sm.count=6", "icache.perfect=true", turn, block, NULL};
    config_defaults(&machine);
    fixture_set(&machine, settings);
    struct gpu_config config = gpu_default_config();
    config.machine = &machine;
    config.memory_bytes = 1 << 26;
    config.n_threads = way->n_threads;
    config.records_lines = way->is_watched;
    struct gpu_error error = {.status = GPU_OK};
    struct gpu *gpu = fixture_open(&config);
    uint64_t buffer = gpu_malloc(gpu, sizeof outcome->memory, 256);
    struct gpu_launch launch = fixture_launch(gpu, kernel, BLOCKS, 32, &buffer);
    if (!gpu_launch(gpu, &launch, &error))
        fail_msg("%s", error.message);
    outcome->counters = gpu_totals(gpu);
    memcpy(outcome->memory, gpu_host(gpu, buffer, sizeof outcome->memory), sizeof outcome->memory);
    gpu_free(gpu);
}

static void blocks_start_as_in_their_turns(void **state) {
    (void)state;
    static const char *const turns[] = {"0", "8", "100"}, *const gaps[] = {"0", "1.19", "5"};
    static struct outcome watched, other;
    for (size_t t = 0; t < sizeof turns / sizeof *turns; t++)
        for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
            run(&(struct way){1, true, turns[t], gaps[g]}, &watched);
            for (uint32_t n_threads = 1; n_threads <= 5; n_threads += 2) {
                run(&(struct way){n_threads, false, turns[t], gaps[g]}, &other);
                assert_memory_equal(watched.memory, other.memory, sizeof other.memory);
                assert_memory_equal(&watched, &other, sizeof other);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_start_as_in_their_turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
