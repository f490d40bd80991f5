/* Tests of divergence-aware scheduling. Slots arrive in the order of their numbers, so slot 0 is the oldest. The kernel
 * has a loop of pcs 2 to 5 around an inner one of pcs 3 and 4, and a second loop of pcs 7 and 8. Every warp has 32
 * active lanes. */
#include "sched/fixture.h"

enum { LINE = 128, LEARN = 64 };

static struct sched_insn insn[10];
static struct sched_loop loop[] = {
    {.head_pc = 2, .parent = SCHED_NO_LOOP, .depth = 1},
    {.head_pc = 3, .parent = 0, .depth = 2},
    {.head_pc = 7, .parent = SCHED_NO_LOOP, .depth = 1},
};

static void start(struct bench *bench, const char *scheduler, uint32_t n_slots, uint32_t l1_lines) {
    bench_start(bench, scheduler, n_slots);
    for (uint32_t pc = 0; pc < 10; pc++)
        insn[pc].loop = pc == 3 || pc == 4 ? 1 : pc >= 2 && pc <= 5 ? 0 : pc == 7 || pc == 8 ? 2 : SCHED_NO_LOOP;
    bench->kernel = (struct sched_kernel){
        .insn = insn, .n_insns = 10, .loop = loop, .n_loops = 3, .l1_line_bytes = LINE, .l1_lines = l1_lines};
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        bench->slot[slot].active_lanes = 32;
        bench_arrive(bench, slot);
    }
    bench->next_long = bench->next_load = bench_set((1ull << n_slots) - 1);
}

static void access(struct bench *bench, enum sched_l1_kind kind, uint32_t slot, uint32_t pc, uint64_t line,
                   uint32_t n) {
    bench->ops->l1(bench->state, &bench->view,
                   &(struct sched_l1_event){.kind = kind, .slot = slot, .pc = pc, .line = line, .n_lines = n});
}

/* The load at `pc`, which touches `n` lines at a time, brings a line and accesses it LEARN times. */
static void learn(struct bench *bench, uint32_t pc, uint32_t n) {
    access(bench, SCHED_L1_FILL, 0, pc, 5 * LINE, 0);
    for (int i = 0; i < LEARN; i++)
        access(bench, SCHED_L1_HIT, 0, pc, 5 * LINE, n);
}

static void at(struct bench *bench, uint32_t pc) {
    for (uint32_t slot = 0; slot < 8; slot++)
        bench->slot[slot].pc = pc;
}

static void without_reuse_it_is_gto(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "daws", 4, 1);
    at(&bench, 3);
    for (int i = 0; i < 2 * LEARN; i++) /* a stream */
        access(&bench, SCHED_L1_MISS, 0, 3, (uint64_t)i * LINE, 8);
    EXPECT_ISSUES(&bench, 0b1110, 1);
    EXPECT_ISSUES(&bench, 0b1111, 1);
    EXPECT_ISSUES(&bench, 0b1101, 0);
    EXPECT_ISSUES(&bench, 0b1000, 3);
    bench_end(&bench);
}

/* One divergent load: 32 lines for a warp. 60 % of 128 lines are 76: two warps fit. */
static void divergent_loads_take_a_line_for_each_active_lane(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "daws", 4, 128);
    at(&bench, 3);
    learn(&bench, 3, 8);
    EXPECT_ISSUES(&bench, 0b1111, 0); /* 0 and 1 enter */
    EXPECT_ISSUES(&bench, 0b1110, 1);
    EXPECT_ISSUES(&bench, 0b1100, SCHED_NONE);
    bench.next_long = bench.next_load = bench_set(0b1011); /* other instructions than loads may issue */
    EXPECT_ISSUES(&bench, 0b1100, 2);
    bench_end(&bench);
}

/* 4 lanes of warp 0 are left: 4 + 32 + 32 = 68 lines. */
static void lanes_that_leave_the_loop_make_room(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "daws", 4, 128);
    at(&bench, 3);
    learn(&bench, 3, 8);
    EXPECT_ISSUES(&bench, 0b1111, 0);
    bench.slot[0].active_lanes = 13; /* 13 + 32 + 32 = 77 */
    EXPECT_ISSUES(&bench, 0b1100, SCHED_NONE);
    bench.slot[0].active_lanes = 12;
    EXPECT_ISSUES(&bench, 0b1100, 2);
    EXPECT_ISSUES(&bench, 0b1000, SCHED_NONE);
    bench_end(&bench);
}

/* A convergent load takes the lines of one access: 2. 60 % of 10 lines are 6: three warps. */
static void convergent_loads_take_the_lines_of_an_access(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "daws", 4, 10);
    at(&bench, 2);
    learn(&bench, 5, 2);
    EXPECT_ISSUES(&bench, 0b1111, 0);
    EXPECT_ISSUES(&bench, 0b0100, 2);
    EXPECT_ISSUES(&bench, 0b1000, SCHED_NONE);
    access(&bench, SCHED_L1_HIT, 0, 5, 5 * LINE, 3); /* from now on the load is divergent: 32 lines */
    EXPECT_ISSUES(&bench, 0b1000, SCHED_NONE);
    bench_end(&bench);
}

/* An access to three lines: 32 lines for a warp. If it were convergent, four warps would fit into 60 % of 20 lines. */
static void a_load_is_divergent_from_three_lines_on(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "daws", 4, 20);
    at(&bench, 2);
    learn(&bench, 5, 3);
    EXPECT_ISSUES(&bench, 0b1111, 0);
    EXPECT_ISSUES(&bench, 0b1110, SCHED_NONE);
    bench_end(&bench);
}

static void a_warp_leaves_with_its_loop_and_at_a_barrier(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "daws", 4, 54); /* one warp */
    at(&bench, 3);
    learn(&bench, 3, 8);
    EXPECT_ISSUES(&bench, 0b1111, 0);
    EXPECT_ISSUES(&bench, 0b0010, SCHED_NONE);
    bench.slot[0].pc = 6; /* after the loop */
    EXPECT_ISSUES(&bench, 0b0010, 1);
    EXPECT_ISSUES(&bench, 0b0100, SCHED_NONE);
    bench_stall(&bench, 1, WAITS_PENDING);
    EXPECT_ISSUES(&bench, 0b0100, 2);
    bench_wake(&bench, 1);
    EXPECT_ISSUES(&bench, 0b0010, SCHED_NONE);
    bench_leave(&bench, 2);
    EXPECT_ISSUES(&bench, 0b0010, 1);
    bench_end(&bench);
}

static void footprints_belong_to_outermost_loops(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "daws", 4, 54);
    learn(&bench, 4, 8); /* in the inner loop, so in the outer one */
    at(&bench, 2);
    EXPECT_ISSUES(&bench, 0b1111, 0);
    EXPECT_ISSUES(&bench, 0b0010, SCHED_NONE);
    bench.slot[1].pc = 7; /* the loads of the other loop reuse nothing */
    EXPECT_ISSUES(&bench, 0b0010, 1);
    bench.slot[2].pc = 9; /* and here is no loop */
    EXPECT_ISSUES(&bench, 0b0100, 2);
    bench_end(&bench);
}

static void reuse_counts_only_within_a_warp_and_a_loop(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "daws", 3, 54);
    at(&bench, 3);
    access(&bench, SCHED_L1_FILL, 0, 3, 5 * LINE, 0);
    for (int i = 0; i < 2 * LEARN; i++) {
        access(&bench, SCHED_L1_HIT, 1, 3, 5 * LINE, 8); /* another warp */
        access(&bench, SCHED_L1_HIT, 0, 8, 5 * LINE, 8); /* another loop */
    }
    EXPECT_ISSUES(&bench, 0b011, 0);
    EXPECT_ISSUES(&bench, 0b010, 1);
    bench_end(&bench);
}

/* 64 lines and 16 reuses make a quarter; one reuse less does not. */
static void a_quarter_of_the_accesses_must_be_reuses(void **state) {
    (void)state;
    for (int n_reuses = 15; n_reuses <= 16; n_reuses++) {
        struct bench bench;
        start(&bench, "daws", 2, 54);
        at(&bench, 3);
        access(&bench, SCHED_L1_FILL, 0, 3, 5 * LINE, 0);
        for (int i = 0; i < LEARN; i++)
            access(&bench, SCHED_L1_MISS, 0, 3, (i < n_reuses ? 5u : 6u) * LINE, 8);
        EXPECT_ISSUES(&bench, 0b01, 0);
        EXPECT_ISSUES(&bench, 0b10, n_reuses == 16 ? SCHED_NONE : 1);
        bench_end(&bench);
    }
}

static void the_oldest_enters_even_if_it_does_not_fit_and_others_lose_patience(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "daws:patience=100", 3, 8);
    at(&bench, 3);
    learn(&bench, 3, 8);
    EXPECT_ISSUES(&bench, 0b111, 0);
    EXPECT_ISSUES(&bench, 0b110, SCHED_NONE);
    bench.view.cycle = 99;
    EXPECT_ISSUES(&bench, 0b110, SCHED_NONE);
    bench.view.cycle = 100;
    EXPECT_ISSUES(&bench, 0b110, 1);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_reuse_it_is_gto),
        cmocka_unit_test(divergent_loads_take_a_line_for_each_active_lane),
        cmocka_unit_test(lanes_that_leave_the_loop_make_room),
        cmocka_unit_test(convergent_loads_take_the_lines_of_an_access),
        cmocka_unit_test(a_load_is_divergent_from_three_lines_on),
        cmocka_unit_test(a_warp_leaves_with_its_loop_and_at_a_barrier),
        cmocka_unit_test(footprints_belong_to_outermost_loops),
        cmocka_unit_test(reuse_counts_only_within_a_warp_and_a_loop),
        cmocka_unit_test(a_quarter_of_the_accesses_must_be_reuses),
        cmocka_unit_test(the_oldest_enters_even_if_it_does_not_fit_and_others_lose_patience),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
