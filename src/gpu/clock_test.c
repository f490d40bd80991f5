/* The effects of SMs on each other, and that the number of host threads changes nothing: races, atomics, blocks that
 * end, faults. Each test runs with quanta of eight cycles, and of one, in which every tick needs its turn. */
#include <stdio.h>
#include <string.h>

#include "gpu/fixture.h"

enum { BLOCKS = 40, THREADS = 96, WORDS = 4096, SMS = 7 };

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"                             \
    ".reg .b32 %r<12>; .reg .b64 %d<9>; .reg .pred %p<3>;\n"                                                           \
    "ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 96, %r0;\n"               \
    "and.b32 %r3, %r2, 1023; mul.wide.u32 %d1, %r3, 4; add.u64 %d2, %d0, %d1; mov.u32 %r9, 20;\n"

struct outcome {
    struct stats_counters counters;
    uint32_t memory[WORDS];
    enum gpu_status status;
};

/* What to run: the kernel twice, because stores in flight at the end of a launch reach the next. */
struct work {
    const char *latency; /* a setting */
    const char *body;
    uint32_t n_blocks, n_block_threads;
};

static void run_on(uint32_t n_threads, const struct work *work, struct outcome *outcome) {
    static struct config_machine machine;
    const char *settings[] = {"sm.count=7",
                              "memory.perfect=false",
                              "icache.perfect=true",
                              "crossbar.credits=1",
                              work->latency,
                              "crossbar.bytes_per_cycle=32",
                              NULL};
    char text[4096];
    config_defaults(&machine);
    fixture_set(&machine, settings);
    struct gpu_config config = gpu_default_config();
    config.machine = &machine;
    config.memory_bytes = 1 << 26;
    config.n_threads = n_threads;
    struct gpu_error error = {.status = GPU_OK};
    struct gpu *gpu = fixture_open(&config);
    snprintf(text, sizeof text, "%s%s\n}\n", HEAD, work->body);
    uint64_t buffer = gpu_malloc(gpu, sizeof outcome->memory, 256);
    memset(gpu_host(gpu, buffer, sizeof outcome->memory), 0, sizeof outcome->memory);
    struct gpu_launch launch = fixture_launch(gpu, text, work->n_blocks, work->n_block_threads, &buffer);
    for (int i = 0; i < 2 && error.status == GPU_OK; i++)
        gpu_launch(gpu, &launch, &error);
    outcome->status = error.status;
    outcome->counters = gpu_totals(gpu);
    memcpy(outcome->memory, gpu_host(gpu, buffer, sizeof outcome->memory), sizeof outcome->memory);
    gpu_free(gpu);
}

static void expect_same_on_threads(const struct work *work, struct outcome *one) {
    static struct outcome several;
    run_on(1, work, one);
    for (uint32_t n_threads = 2; n_threads <= 5; n_threads++) {
        run_on(n_threads, work, &several);
        assert_int_equal(one->status, several.status);
        assert_memory_equal(one->memory, several.memory, sizeof one->memory);
        assert_memory_equal(&one->counters, &several.counters, sizeof one->counters);
    }
}

static void expect_equal(const char *latency, const char *body, struct outcome *one) {
    expect_same_on_threads(&(struct work){latency, body, BLOCKS, THREADS}, one);
    assert_int_equal(one->status, GPU_OK);
}

/* Blocks on different SMs read and write the same words. */
static void races_end_the_same(void **state) {
    static struct outcome one;
    expect_equal(*state,
                 "again: ld.global.u32 %r4, [%d2]; mad.lo.u32 %r4, %r4, 1664525, %r2; st.global.u32 [%d2], %r4;\n"
                 "ld.global.u32 %r5, [%d2+4096]; add.u32 %r5, %r5, %r4; st.global.u32 [%d0+8192], %r5;\n"
                 "st.global.u32 [%d2+4096], %r5; sub.u32 %r9, %r9, 1; setp.ne.u32 %p1, %r9, 0; @%p1 bra again; ret;",
                 &one);
}

/* Every thread reads back the value it has just stored, and counts the times it differs. */
static void an_sm_sees_its_own_stores_at_once(void **state) {
    static struct outcome one;
    expect_equal(*state,
                 "mul.wide.u32 %d3, %r2, 4; add.u64 %d3, %d0, %d3;\n"
                 "again: st.global.u32 [%d3], %r9; ld.global.u32 %r4, [%d3]; setp.eq.u32 %p0, %r4, %r9;\n"
                 "@!%p0 st.global.u32 [%d0+16380], %r2; sub.u32 %r9, %r9, 1; setp.ne.u32 %p1, %r9, 0; @%p1 bra again;\n"
                 "ret;",
                 &one);
    assert_int_equal(one.memory[WORDS - 1], 0);
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        assert_int_equal(one.memory[i], 1);
}

/* Each thread takes a ticket, so every number is taken once, and adds to a word to which others store. */
static void atomics_have_one_order(void **state) {
    static struct outcome one;
    static bool is_taken[2 * BLOCKS * THREADS];
    memset(is_taken, 0, sizeof is_taken);
    expect_equal(*state,
                 "atom.global.add.u32 %r4, [%d0+16376], 1; mul.wide.u32 %d3, %r2, 4; add.u64 %d3, %d0, %d3;\n"
                 "st.global.u32 [%d3], %r4; red.global.add.u32 [%d0+12288], %r4; ld.global.u32 %r5, [%d0+16376];\n"
                 "setp.gt.u32 %p0, %r5, %r4; @!%p0 red.global.add.u32 [%d0+16380], 1; ret;",
                 &one);
    assert_int_equal(one.memory[WORDS - 2], 2 * BLOCKS * THREADS);
    assert_int_equal(one.memory[WORDS - 1], 0); /* a thread sees its own atomic */
    for (uint32_t i = 0; i < 3072; i++) {       /* of the second launch; red changes word 3072 */
        assert_in_range(one.memory[i], BLOCKS * THREADS, 2 * BLOCKS * THREADS - 1);
        assert_false(is_taken[one.memory[i]]);
        is_taken[one.memory[i]] = true;
    }
}

/* Flags pass a token from block to block, through plain stores, loads and fences. */
static void stores_become_visible(void **state) {
    static struct outcome one;
    expect_equal(*state,
                 "setp.ne.u32 %p0, %r0, 0; @%p0 bra over; mul.wide.u32 %d3, %r1, 4; add.u64 %d3, %d0, %d3;\n"
                 "setp.gt.u32 %p1, %r1, 6; @%p1 bra over; setp.eq.u32 %p1, %r1, 0; @%p1 bra mine;\n"
                 "wait: ld.volatile.global.u32 %r4, [%d3+-4]; setp.eq.u32 %p2, %r4, 0; @%p2 bra wait;\n"
                 "mine: membar.gl; ld.volatile.global.u32 %r5, [%d0+8192]; add.u32 %r5, %r5, 1;\n"
                 "st.volatile.global.u32 [%d0+8192], %r5; membar.gl; st.volatile.global.u32 [%d3], 1;\n"
                 "over: ret;",
                 &one);
    assert_in_range(one.memory[2048], 8, 14); /* seven blocks in turn; in the second launch no block waits */
}

/* All SMs exchange the same word in one cycle: the one with the lowest number first. */
static void turns_go_by_number(void **state) {
    static struct outcome one;
    expect_same_on_threads(
        &(struct work){
            *state, "add.u32 %r4, %r1, 1; atom.global.exch.b32 %r5, [%d0+16380], %r4; st.global.u32 [%d2], %r5; ret;",
            SMS, 1},
        &one);
    assert_int_equal(one.status, GPU_OK);
    for (uint32_t i = 1; i < SMS; i++)
        assert_int_equal(one.memory[i * 96], i);
    assert_int_equal(one.memory[WORDS - 1], SMS);
}

/* Every SM stores in one cycle, one of them to address 0: the stores of SMs with higher numbers come after the fault.
 */
static void a_fault_ends_its_cycle(void **state) {
    static struct outcome one;
    expect_same_on_threads(&(struct work){*state,
                                          "setp.eq.u32 %p0, %r1, 3; mul.wide.u32 %d3, %r1, 4; add.u64 %d3, %d0, %d3;\n"
                                          "selp.b64 %d4, 0, %d3, %p0; add.u32 %r4, %r1, 1;\n"
                                          "st.global.u32 [%d4], %r4; ret;",
                                          SMS, 1},
                           &one);
    assert_int_equal(one.status, GPU_ILLEGAL_ADDRESS);
    for (uint32_t i = 0; i < SMS; i++)
        assert_int_equal(one.memory[i], i < 3 ? i + 1 : 0);
}

/* Each SM may have one packet in flight, so most of the atomics, which no thread waits for, outlive their blocks. */
static void a_launch_waits_for_its_atomics(void **state) {
    static struct outcome one;
    expect_equal(*state, "red.global.add.u32 [%d0], 1; ret;", &one);
    assert_int_equal(one.memory[0], 2 * BLOCKS * THREADS);
    assert_int_equal(one.counters.atomics, 2 * BLOCKS * THREADS / 32);
}

/* Short blocks of different lengths read a word that others change by atomics. Within a quantum, blocks start on some
 * SMs while others take turns at the word. */
static void loads_keep_their_place_among_turns(void **state) {
    static struct outcome one;
    enum { MANY_BLOCKS = 600 };
    expect_same_on_threads(
        &(struct work){*state,
                       "and.b32 %r9, %r1, 7; add.u32 %r9, %r9, 1; mov.u32 %r6, 0;\n"
                       "again: ld.volatile.global.u32 %r4, [%d0+16376]; ld.volatile.global.u32 %r5, [%d0+16376];\n"
                       "ld.volatile.global.u32 %r7, [%d0+16376]; ld.volatile.global.u32 %r8, [%d0+16376];\n"
                       "mad.lo.u32 %r6, %r6, 3, %r4; mad.lo.u32 %r6, %r6, 3, %r5; mad.lo.u32 %r6, %r6, 3, %r7;\n"
                       "mad.lo.u32 %r6, %r6, 3, %r8; sub.u32 %r9, %r9, 1; setp.ne.u32 %p1, %r9, 0; @%p1 bra again;\n"
                       "red.global.add.u32 [%d0+16376], 1; mul.wide.u32 %d3, %r1, 4; add.u64 %d3, %d0, %d3;\n"
                       "st.global.u32 [%d3], %r6; ret;",
                       MANY_BLOCKS, 32},
        &one);
    assert_int_equal(one.memory[WORDS - 2], 2 * MANY_BLOCKS * 32);
}

/* Blocks of many lengths note their SM. Within a quantum, blocks end on several SMs, and on some of them twice. */
static void blocks_go_where_others_ended_first(void **state) {
    static struct outcome one;
    enum { MANY_BLOCKS = 900 };
    expect_same_on_threads(&(struct work){*state,
                                          "mul.lo.u32 %r9, %r1, 40503; shr.u32 %r9, %r9, 3; and.b32 %r9, %r9, 15;\n"
                                          "again: setp.eq.u32 %p1, %r9, 0; @%p1 bra over; sub.u32 %r9, %r9, 1;\n"
                                          "bra again; over: mov.u32 %r4, %smid; mul.wide.u32 %d3, %r1, 4;\n"
                                          "add.u64 %d3, %d0, %d3; st.global.u32 [%d3], %r4; ret;",
                                          MANY_BLOCKS, 32},
                           &one);
    assert_int_equal(one.status, GPU_OK);
}

/* One SM faults while the others compute, for which they need no memory and may be ahead of it. */
static void a_fault_finds_the_others_where_they_may_be(void **state) {
    static struct outcome one;
    expect_same_on_threads(&(struct work){*state,
                                          "mov.u32 %r9, 3000; setp.eq.u32 %p0, %r1, 3; @%p0 mov.u32 %r9, 300;\n"
                                          "again: mad.lo.u32 %r3, %r3, 5, %r9; sub.u32 %r9, %r9, 1;\n"
                                          "setp.ne.u32 %p1, %r9, 0; @%p1 bra again; mov.u64 %d3, 0;\n"
                                          "st.global.u32 [%d3], %r3; ret;",
                                          SMS, 32},
                           &one);
    assert_int_equal(one.status, GPU_ILLEGAL_ADDRESS);
}

#define WITH(test, setting)                                                                                            \
    { #test " with " setting, test, NULL, NULL, setting }
#define WITH_BOTH(test) WITH(test, "crossbar.latency=8"), WITH(test, "crossbar.latency=0")

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_BOTH(races_end_the_same),
        WITH_BOTH(an_sm_sees_its_own_stores_at_once),
        WITH_BOTH(atomics_have_one_order),
        WITH_BOTH(stores_become_visible),
        WITH_BOTH(a_launch_waits_for_its_atomics),
        WITH_BOTH(turns_go_by_number),
        WITH_BOTH(a_fault_ends_its_cycle),
        WITH_BOTH(loads_keep_their_place_among_turns),
        WITH(loads_keep_their_place_among_turns, "crossbar.latency=60"),
        WITH_BOTH(blocks_go_where_others_ended_first),
        WITH(blocks_go_where_others_ended_first, "crossbar.latency=60"),
        WITH_BOTH(a_fault_finds_the_others_where_they_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
