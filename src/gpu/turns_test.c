/* Blocks that take the place of others without a turn have the same numbers and start in the same cycles as with one,
 * and none is lost. */
#include <stdio.h>
#include <string.h>

#include "gpu/dispatcher.h"
#include "gpu/engine.h"
#include "gpu/fixture.h"

/* Block i notes its SM and the cycles of its beginning and its end. It loops 16 * (i * 7 % 8) or, in every group of 64
 * blocks but the first, 64 times: some blocks end one by one, others together. Its second warp ends at once. */
#define KERNEL(last)                                                                                                   \
    ".version 7.0\n.target sm_70\n.address_size 64\n.global .u32 sum;\n"                                               \
    ".visible .entry k(.param .u64 p)\n{\n"                                                                            \
    ".reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p;\n"                                                               \
    "mov.u32 %r0, %tid.x; setp.ge.u32 %p, %r0, 32; @%p exit;\n"                                                        \
    "mov.u32 %r0, %clock; ld.param.u64 %d0, [p]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d1, %r1, 16;\n"                  \
    "add.u64 %d2, %d0, %d1; mov.u32 %r2, %smid;\n"                                                                     \
    "mul.lo.u32 %r3, %r1, 7; and.b32 %r3, %r3, 7; shl.b32 %r3, %r3, 4; and.b32 %r4, %r1, 64;\n"                        \
    "setp.ne.u32 %p, %r4, 0; selp.u32 %r3, 64, %r3, %p; add.u32 %r3, %r3, 1;\n"                                        \
    "again: sub.u32 %r3, %r3, 1; setp.ne.u32 %p, %r3, 0; @%p bra again;\n" last                                        \
    "mov.u32 %r5, %clock; st.global.v4.u32 [%d2], {%r0, %r1, %r2, %r5}; ret;\n}\n"

static const char *const plain = KERNEL("");
/* In the place of its SM, a block notes what an atomic returns. */
static const char *const counting = KERNEL("mov.u64 %d3, sum; atom.global.add.u32 %r2, [%d3], 1;\n");

enum { MOST_BLOCKS = 600, WORDS = 4 };

struct outcome {
    struct stats_counters counters;
    uint32_t memory[MOST_BLOCKS * WORDS];
};

struct way {
    const char *text;
    uint32_t n_blocks, n_threads;
    bool is_watched; /* every block takes its turn */
    const char *turn_cycles, *block_cycles, *n_sms, *places, *crossing;
};

static void set(struct config_machine *machine, const char *option, const char *value) {
    char text[64];
    snprintf(text, sizeof text, "%s=%s", option, value);
    fixture_set(machine, (const char *const[]){text, NULL});
}

static void run(const struct way *way, struct outcome *outcome) {
    static struct config_machine machine;
    config_defaults(&machine);
    set(&machine, "icache.perfect", "true");
    set(&machine, "launch.turn_cycles", way->turn_cycles);
    set(&machine, "launch.block_cycles", way->block_cycles);
    set(&machine, "sm.count", way->n_sms);
    set(&machine, "sm.blocks", way->places);
    set(&machine, "crossbar.latency", way->crossing);
    struct gpu_config config = gpu_default_config();
    config.machine = &machine;
    config.memory_bytes = 1 << 26;
    config.n_threads = way->n_threads;
    config.records_lines = way->is_watched;
    struct gpu_error error = {.status = GPU_OK};
    struct gpu *gpu = fixture_open(&config);
    uint64_t buffer = gpu_malloc(gpu, sizeof outcome->memory, 256);
    struct gpu_launch launch = fixture_launch(gpu, way->text, way->n_blocks, 64, &buffer);
    if (!gpu_launch(gpu, &launch, &error))
        fail_msg("%s", error.message);
    outcome->counters = gpu_totals(gpu);
    memcpy(outcome->memory, gpu_host(gpu, buffer, sizeof outcome->memory), sizeof outcome->memory);
    gpu_free(gpu);
}

/* Compares a run in which every block takes its turn with others. */
static void compare(struct way way) {
    static struct outcome watched, other;
    way.n_threads = 1;
    way.is_watched = true;
    run(&way, &watched);
    way.is_watched = false;
    for (way.n_threads = 1; way.n_threads <= 5; way.n_threads += 2) {
        run(&way, &other);
        assert_memory_equal(watched.memory, other.memory, sizeof other.memory);
        assert_memory_equal(&watched, &other, sizeof other);
    }
}

static void blocks_start_as_in_their_turns(void **state) {
    (void)state;
    static const char *const turns[] = {"0", "8", "100"}, *const gaps[] = {"0", "1.19", "5"};
    for (size_t t = 0; t < sizeof turns / sizeof *turns; t++)
        for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
            compare((struct way){.text = plain,
                                 .n_blocks = MOST_BLOCKS,
                                 .turn_cycles = turns[t],
                                 .block_cycles = gaps[g],
                                 .n_sms = "6",
                                 .places = "8",
                                 .crossing = "8"});
}

/* The SMs hold 24 to 192 blocks, and several end in a round. Soon too few blocks are left to replace all of them. With
 * 24 on an SM, more may end in a round than GPU_MOST_REPLACED. */
static void the_last_blocks_start_as_in_their_turns(void **state) {
    (void)state;
    static const char *const places[] = {"1", "2", "8", "24"}, *const n_sms[] = {"24", "24", "24", "8"};
    for (uint32_t n_blocks = 25, k = 0; n_blocks < 400; n_blocks += 7, k++)
        compare((struct way){.text = k % 3 ? counting : plain,
                             .n_blocks = n_blocks,
                             .turn_cycles = "100",
                             .block_cycles = n_blocks % 5 ? "0" : "1.19", /* many start in the same cycle, or few */
                             .n_sms = n_sms[k % 4],
                             .places = places[k % 4],
                             .crossing = "60"});
}

/* gpu_check_end() is called at the end of every launch. */
static void lost_blocks_are_noticed(void **state) {
    (void)state;
    static struct gpu_unit unit;
    static struct gpu_timed timed = {.unit = &unit};
    static struct gpu_run run = {.timed = &timed, .n_blocks = 3, .next_block = 3, .n_finished = 3};
    assert_true(gpu_has_run_all(&run));
    run.next_block = 4;
    assert_false(gpu_has_run_all(&run));
    run.next_block = 3;
    run.n_finished = 4;
    assert_false(gpu_has_run_all(&run));
    run.n_finished = 3;
    timed.machine.sm.count = 1;
    unit.n_ended = 1; /* which has not been counted */
    assert_false(gpu_has_run_all(&run));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_start_as_in_their_turns),
                                       cmocka_unit_test(lost_blocks_are_noticed),
                                       cmocka_unit_test(the_last_blocks_start_as_in_their_turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
