/* Clusters: when accesses to other SMs, signals to their mbarriers and the barrier of the cluster take effect. Each
 * block is on an SM of its own. Cycle counts are derived on paper, as fixture.h explains. */
#include "sm/fixture.h"

enum { MOST_BLOCKS = 4, N_SMS = 4, FOREVER = 2000, SHARED_BYTES = 4096 };

/* A load needs a cycle per sector of 32 bytes at the SM that requests, and 1.5 cycles per line at both ends. */
#define PLAIN                                                                                                          \
    "sm.count=4", "cluster.present=true", "cluster.latency=100", "cluster.pair_latency=70",                            \
        "cluster.bytes_per_cycle=32", "cluster.port_bytes_per_cycle=64", "cluster.line_cycles=1.5",                    \
        "cluster.signal_cycles=50", "cluster.barrier_cycles=30", "lowering.fence_cycles=0"
static const char *const plain[] = {PLAIN, NULL};

struct chip {
    struct config_machine machine;
    struct sm *sm[N_SMS];
    struct sm_clock clock[N_SMS];
    uint64_t ended[N_SMS];   /* the cycle in which the SM's block ended */
    uint32_t n_waits[N_SMS]; /* ticks that had to wait for the other SMs */
    uint32_t n_ended, n_clusters_ended;
    uint64_t cycle;
};

/* The blocks of one cluster: block `rank` is on SM place[rank] and starts after cycle start[rank]. */
struct layout {
    uint32_t n_blocks, place[MOST_BLOCKS];
    uint64_t start[MOST_BLOCKS];
    enum sm_freedom freedom; /* tried first in every tick */
};
static const struct layout pair = {2, {0, 1}, {0}, SM_TOGETHER}, apart = {2, {0, 2}, {0}, SM_TOGETHER};

static void memory_done(void *user, uint32_t sm, uint32_t token, uint64_t cycle) {
    sm_memory_done(((struct chip *)user)->sm[sm], token, cycle);
}

static void wake(void *user, uint32_t sm, uint64_t cycle) {
    struct chip *chip = user;
    struct sm_clock *clock = &chip->clock[sm];
    clock->wake = cycle < clock->wake ? cycle : clock->wake;
}

static void block_ended(void *user, uint32_t sm) {
    struct chip *chip = user;
    chip->ended[sm] = chip->cycle;
    chip->n_ended++;
}

static void cluster_ended(void *user, struct exec_cluster *cluster) {
    (void)cluster;
    ((struct chip *)user)->n_clusters_ended++;
}

static void run_clock(struct chip *chip, struct mem *mem, const struct layout *layout) {
    for (chip->cycle = 1; chip->n_ended < layout->n_blocks; chip->cycle++) {
        assert_true(chip->cycle < FOREVER);
        mem_advance(mem, chip->cycle);
        for (uint32_t i = 0; i < N_SMS; i++) {
            struct sm_clock *clock = &chip->clock[i];
            if (clock->wake > chip->cycle)
                continue;
            enum sm_outcome outcome = sm_run(chip->sm[i], layout->freedom, chip->cycle, clock);
            chip->n_waits[i] += outcome == SM_WAITS;
            if (outcome == SM_WAITS)
                outcome = sm_run(chip->sm[i], SM_TOGETHER, chip->cycle, clock);
            assert_int_equal(outcome, SM_TICKED);
        }
    }
}

static struct chip run(const char *const *settings, const char *body, const struct layout *layout) {
    struct chip chip = {.cycle = 0};
    char text[4096], error[256] = "";
    fixture_configure(&chip.machine, settings);
    const struct sched_ops *scheduler;
    const struct divergence_ops *divergence;
    void *scheduler_options, *divergence_options;
    assert_true(sched_parse(chip.machine.scheduler, &scheduler, &scheduler_options, error, sizeof error));
    assert_true(divergence_parse(chip.machine.divergence, &divergence, &divergence_options, error, sizeof error));
    struct mem *mem = mem_new(&chip.machine, memory_done, &chip);

    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
             ".shared .align 8 .b8 area[4096]; .reg .b32 %%r<9>; .reg .pred %%p<4>;\n%s\n}\n",
             body);
    struct ptx_messages messages = {0};
    struct ptx_module *module = ptx_parse("k.ptx", text, strlen(text), &messages);
    struct exec_program *program =
        module ? exec_link(module, ptx_find_function(module, "k"), NULL, NULL, &messages) : NULL;
    if (!program)
        fail_msg("%s", messages.text);
    struct exec_memory memory = {.base = 0};
    struct exec_grid grid = {
        .program = program,
        .memory = &memory,
        .shape = {.grid = {layout->n_blocks, 1, 1}, .block = {32, 1, 1}, .cluster = {layout->n_blocks, 1, 1}},
        .shared_bytes = SHARED_BYTES,
        .grid_id = 1,
        .n_sms = N_SMS,
        .warp_size = chip.machine.sm.warp_size,
        .warps_per_sm = chip.machine.sm.threads / chip.machine.sm.warp_size};
    struct sm_program *timing = sm_program_new(program, &chip.machine);
    for (uint32_t i = 0; i < N_SMS; i++) {
        struct sm_setup setup = {
            .machine = &chip.machine,
            .scheduler = scheduler,
            .scheduler_options = scheduler_options,
            .divergence = divergence,
            .divergence_options = divergence_options,
            .dispatcher = {.block_ended = block_ended, .wake = wake, .user = &chip, .cluster_ended = cluster_ended},
            .mem = mem,
            .index = i,
            .checks = true};
        chip.sm[i] = sm_new(&setup);
        chip.clock[i].wake = SM_NEVER;
        sm_begin_grid(chip.sm[i], &grid, timing);
    }
    struct exec_cluster cluster = {.n_blocks = layout->n_blocks};
    for (uint32_t rank = 0; rank < layout->n_blocks; rank++) {
        uint32_t i = layout->place[rank];
        wake(&chip, i, 1 + sm_start_block_in(chip.sm[i], &cluster, rank, rank, layout->start[rank], 0));
    }
    run_clock(&chip, mem, layout);
    assert_int_equal(chip.n_clusters_ended, 1);
    for (uint32_t i = 0; i < N_SMS; i++) {
        sm_end_grid(chip.sm[i]);
        if (!sm_check_invariants(chip.sm[i], error, sizeof error))
            fail_msg("%s", error);
        sm_free(chip.sm[i]);
    }
    mem_free(mem);
    sm_program_free(timing);
    exec_program_free(program);
    ptx_module_free(module);
    free(scheduler_options);
    free(divergence_options);
    return chip;
}

/* --- accesses --- */

/* All lanes access the first word of block 1. mapa issues in 1 and the access in 10. */
#define FIRST_WORD "mapa.shared::cluster.u32 %r1, area, 1;\n"
/* Lane l accesses byte 32 * l of block 1: 32 sectors, 8 lines. The access issues in 28. */
#define SECTORS "mov.u32 %r0, %tid.x;\nshl.b32 %r0, %r0, 5;\nmapa.shared::cluster.u32 %r1, %r0, 1;\n" /* 1, 10, 19 */
#define LOAD "ld.shared::cluster.u32 %r2, [%r1];\nmov.u32 %r3, %r2;\nret;"

/* One line leaves in 11.5, and is there 70 or 100 cycles after 11; mov then issues, and ret after it. Block 1 accesses
 * its own memory: 10 + 15. */
static void a_load_takes_the_latency_of_the_way(void **state) {
    (void)state;
    struct chip near = run(plain, FIRST_WORD LOAD, &pair), far = run(plain, FIRST_WORD LOAD, &apart);
    assert_int_equal(near.ended[0], 11 + 70 + 1);
    assert_int_equal(near.ended[1], 10 + 15 + 1);
    assert_int_equal(far.ended[0], 11 + 100 + 1);
    assert_int_equal(far.ended[2], 10 + 15 + 1);
}

/* 32 sectors leave in 28 + 32. Where lines take 6 cycles, 8 of them take longer than that: 28 + 48. */
static void sectors_and_lines_take_their_time(void **state) {
    (void)state;
    static const char *const slow_lines[] = {PLAIN, "cluster.line_cycles=6", NULL};
    assert_int_equal(run(plain, SECTORS LOAD, &pair).ended[0], 60 + 70 + 1);
    assert_int_equal(run(slow_lines, SECTORS LOAD, &pair).ended[0], 76 + 70 + 1);
}

/* An atomic takes its 32 sectors there and back: 28 + 64. */
static void an_atomic_moves_its_sectors_twice(void **state) {
    (void)state;
#define ADD "atom.shared::cluster.add.u32 %r2, [%r1], 1;\nmov.u32 %r3, %r2;\nret;"
    assert_int_equal(run(plain, SECTORS ADD, &pair).ended[0], 92 + 70 + 1);
}

/* Lines of a store take half of 10 cycles, so the first one leaves in 28 + 40. Until then the second cannot issue.
 * Loads hold nothing up: the second issues in 29, and its result is that of the port, 28 + 80 + 80. */
static void a_store_holds_the_unit_until_it_has_left(void **state) {
    (void)state;
    static const char *const slow_lines[] = {PLAIN, "cluster.line_cycles=10", NULL};
#define STORE "st.shared::cluster.u32 [%r1], %r0;\n"
#define TWO_LOADS "ld.shared::cluster.u32 %r2, [%r1];\nld.shared::cluster.u32 %r3, [%r1];\n"
    static const struct layout late = {2, {0, 1}, {0, 100}, SM_TOGETHER}; /* block 1 must not end before the accesses */
    assert_int_equal(run(slow_lines, SECTORS STORE STORE "ret;", &late).ended[0], 68 + 1);
    assert_int_equal(run(slow_lines, SECTORS TWO_LOADS "ret;", &late).ended[0], 30);
    assert_int_equal(run(slow_lines, SECTORS TWO_LOADS "mov.u32 %r4, %r3;\nret;", &late).ended[0], 188 + 70 + 1);
}

/* Blocks 0 and 2 read 32 sectors of block 1 in the same cycle, and its port takes 32 bytes per cycle: 28 + 32 for the
 * first, 28 + 64 for the second. */
static void the_port_of_the_answering_sm_serves_all(void **state) {
    (void)state;
    static const char *const slow_port[] = {PLAIN, "cluster.bytes_per_cycle=64", "cluster.port_bytes_per_cycle=32",
                                            NULL};
    static const struct layout three = {3, {0, 1, 2}, {0}, SM_TOGETHER};
    struct chip chip = run(slow_port, SECTORS LOAD, &three);
    assert_int_equal(chip.ended[0], 60 + 70 + 1);
    assert_int_equal(chip.ended[2], 92 + 100 + 1);
}

/* Lanes 16 to 31 access block 1 and the others block 0. The access issues in 29, and 16 sectors leave in 45. */
static void only_lanes_that_access_other_blocks_use_the_network(void **state) {
    (void)state;
#define HALVES                                                                                                         \
    "mov.u32 %r0, %tid.x;\nshl.b32 %r4, %r0, 5;\nshr.u32 %r5, %r0, 4;\nmapa.shared::cluster.u32 %r1, %r4, %r5;\n"
    struct chip chip = run(plain, HALVES LOAD, &pair);
    assert_int_equal(chip.ended[0], 45 + 70 + 1);
    assert_int_equal(chip.ended[1], 45 + 70 + 1);
}

/* --- what others see --- */

/* The end of a block waits for the other SMs, and an access to another block does. Those to its own do not. */
static void an_sm_waits_before_others_can_see_it(void **state) {
    (void)state;
    static const struct layout alone = {2, {0, 1}, {0}, SM_APART};
    struct chip chip = run(plain, FIRST_WORD LOAD, &alone);
    assert_int_equal(chip.n_waits[0], 2);
    assert_int_equal(chip.n_waits[1], 1);
    assert_int_equal(run(plain, "st.shared.u32 [area], 1;\nret;", &alone).n_waits[0], 1);
    assert_int_equal(run(plain, "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\nret;", &alone).n_waits[0], 2);
}

/* --- signals --- */

/* Both blocks come to SIDES in 25. Block 0 arrives there at the mbarrier of block 1, which tests it one cycle later. */
#define SIDES                                                                                                          \
    "mbarrier.init.shared.b64 [area], 32;\nmov.u32 %r2, %cluster_ctarank;\nmapa.shared::cluster.u32 %r1, area, 1;\n"   \
    "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra OTHER;\n"
#define SIGNAL(order) "mbarrier.arrive." order ".cluster.shared::cluster.b64 _, [%r1];\nret;\n"
#define TEST "OTHER:\nmov.u32 %r4, 0;\nmbarrier.try_wait.parity.shared.b64 %p2, [area], 0;\nret;"

static void a_signal_arrives_after_its_cycles(void **state) {
    (void)state;
    static const char *const fenced[] = {PLAIN, "lowering.fence_cycles=200", NULL};
    struct chip chip = run(plain, SIDES SIGNAL("release") TEST, &pair);
    assert_int_equal(chip.ended[0], 26);
    assert_int_equal(chip.ended[1], 25 + 50);
    /* a block sees its own arrivals at once */
    assert_int_equal(run(plain,
                         "mbarrier.init.shared.b64 [area], 32;\n"
                         "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [area];\n"
                         "mbarrier.try_wait.parity.shared.b64 %p2, [area], 0;\nret;",
                         &pair)
                         .ended[0],
                     4);
    assert_int_equal(run(fenced, SIDES SIGNAL("relaxed") TEST, &pair).ended[1], 25 + 50);
    assert_int_equal(run(fenced, SIDES SIGNAL("release") TEST, &pair).ended[1], 25 + 200 + 50);
}

/* --- the barrier --- */

#define BARRIER(order) "barrier.cluster.arrive" order ";\nbarrier.cluster.wait;\nret;"

/* The last block arrives in 101. */
static void the_barrier_opens_after_the_last_arrival(void **state) {
    (void)state;
    static const char *const fenced[] = {PLAIN, "lowering.fence_cycles=200", NULL};
    static const struct layout late = {3, {0, 1, 3}, {0, 100, 40}, SM_TOGETHER};
    struct chip chip = run(plain, BARRIER(".relaxed"), &late), released = run(fenced, BARRIER(".release"), &late);
    for (uint32_t rank = 0; rank < 3; rank++) {
        assert_int_equal(chip.ended[late.place[rank]], 101 + 30);
        assert_int_equal(released.ended[late.place[rank]], 101 + 200 + 30);
    }
}

/* Block 1 ends in 126 without having arrived. Block 0 waits since 27. */
static void a_block_that_ends_opens_the_barrier(void **state) {
    (void)state;
    static const struct layout late = {2, {0, 1}, {0, 100}, SM_TOGETHER};
    struct chip chip = run(plain,
                           "mov.u32 %r2, %cluster_ctarank;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra OTHER;\n" /* 1, 10, 19 */
                           BARRIER(".relaxed") "\nOTHER:\nmov.u32 %r4, 0;\nret;",
                           &late);
    assert_int_equal(chip.ended[1], 125);
    assert_int_equal(chip.ended[0], 125 + 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_takes_the_latency_of_the_way),
        cmocka_unit_test(sectors_and_lines_take_their_time),
        cmocka_unit_test(an_atomic_moves_its_sectors_twice),
        cmocka_unit_test(a_store_holds_the_unit_until_it_has_left),
        cmocka_unit_test(the_port_of_the_answering_sm_serves_all),
        cmocka_unit_test(only_lanes_that_access_other_blocks_use_the_network),
        cmocka_unit_test(an_sm_waits_before_others_can_see_it),
        cmocka_unit_test(a_signal_arrives_after_its_cycles),
        cmocka_unit_test(the_barrier_opens_after_the_last_arrival),
        cmocka_unit_test(a_block_that_ends_opens_the_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
