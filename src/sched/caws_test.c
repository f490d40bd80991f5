/* Tests of criticality. Slots arrive in the order of their numbers in cycle 0, so slot 0 is the oldest. A warp with i
 * instructions, s stall cycles and n instructions left has the criticality n (i + s) / i + s. */
#include "sched/fixture.h"

enum { N_INSNS = 16 };

static struct sched_insn insns[N_INSNS];

/* Instruction 1 branches to 5: two instructions if the branch is taken, six if not. Instruction 8 closes a loop of four
 * instructions that starts at 5. */
static void start(struct bench *bench, const char *scheduler, uint32_t n_slots) {
    memset(insns, 0, sizeof insns);
    insns[1] = (struct sched_insn){.is_branch = true, .target = 5, .taken_path = 2, .other_path = 6};
    insns[8] = (struct sched_insn){.is_branch = true, .target = 5, .taken_path = 4};
    bench_start(bench, scheduler, n_slots);
    bench->kernel.insn = insns;
    bench->kernel.n_insns = N_INSNS;
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        bench->slot[slot].active_lanes = 32;
        bench_arrive(bench, slot);
    }
}

/* The warp issues the instruction at pc, in this cycle, and then waits for the one at `next` with as many lanes. */
static void issue(struct bench *bench, uint32_t slot, uint64_t cycle, uint32_t pc, uint32_t next, uint32_t lanes) {
    bench->slot[slot].pc = pc;
    bench->view.cycle = cycle;
    assert_int_equal(bench_issue(bench, 1ull << slot), slot);
    bench->slot[slot].pc = next;
    bench->slot[slot].active_lanes = lanes;
}

/* Straight-line code: -i (i + s) / i + s = -i. */
static void on_straight_line_code_the_warp_with_the_fewest_instructions_goes_first(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "caws", 3);
    EXPECT_ISSUES(&bench, 0b111, 0, 1, 2, 0, 1, 2);
    EXPECT_ISSUES(&bench, 0b011, 0, 1, 0, 1);
    EXPECT_ISSUES(&bench, 0b111, 2, 2, 0, 1, 2); /* warp 2 has two instructions fewer; then all are equal */
    bench_end(&bench);
}

/* Warps 0, 1, 2 issue in cycles 1, 2, 3: no stall cycles, 1 and 2. Warp 0 takes the branch: left = -1 + 2 = 1, so 1 x 1
 * = 1. Warp 1 does not: left = 5, cycles per instruction 2: 10 + 1 = 11. Warp 2 is divided: left = 7: 7 x 3 + 2 = 23.
 */
static void a_branch_adds_the_sides_that_the_warp_executes(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "caws", 3);
    issue(&bench, 0, 1, 1, 5, 32);
    issue(&bench, 1, 2, 1, 2, 32);
    issue(&bench, 2, 3, 1, 2, 20);
    bench.view.cycle = 4;
    EXPECT_ISSUES(&bench, 0b111, 2);
    EXPECT_ISSUES(&bench, 0b011, 1);
    bench_end(&bench);
}

/* The same, but the other path of warp 1 continues at 11: its branch adds nothing. -1 x 2 + 1 = -1. */
static void a_branch_after_which_another_path_continues_adds_nothing(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "caws", 2);
    issue(&bench, 0, 1, 1, 5, 32); /* 1 */
    issue(&bench, 1, 2, 1, 11, 12);
    EXPECT_ISSUES(&bench, 0b11, 0);
    bench_end(&bench);
}

/* Both issue one instruction per iteration. Warp 0 leaves the loop after its branch: -1. Warp 1 stays: -1 + 4 = 3, and
 * 3 x 2 + 1 = 7. */
static void another_iteration_adds_the_instructions_of_the_loop(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "caws", 2);
    issue(&bench, 0, 1, 8, 9, 32);
    issue(&bench, 1, 2, 8, 5, 32);
    EXPECT_ISSUES(&bench, 0b11, 1);
    bench_end(&bench);
}

/* Warp 0 stays in the loop twice: left = 6, without stalls, 6. Warp 1 has issued twice with 8 stall cycles and left the
 * loop: -2 x 5 + 8 = -2. By stalls alone, warp 1 has 8 and warp 0 none. */
static void by_names_the_parts_that_count(void **state) {
    (void)state;
    static const struct {
        const char *scheduler;
        int first;
    } expected[] = {{"caws", 0}, {"caws:by=instructions", 0}, {"caws:by=stalls", 1}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct bench bench;
        start(&bench, expected[i].scheduler, 2);
        issue(&bench, 0, 1, 8, 5, 32);
        issue(&bench, 0, 2, 8, 5, 32);
        issue(&bench, 1, 5, 8, 9, 32);
        issue(&bench, 1, 10, 9, 10, 32);
        EXPECT_ISSUES(&bench, 0b11, expected[i].first);
        bench_end(&bench);
    }
}

/* Both have stayed in the loop once. Warp 0: left = -1 + 4 = 3, 1 cycle per instruction: 3. Warp 1: left = -2 + 4 = 2,
 * 2 instructions in 20 cycles: 2 x 10 = 20. */
static void a_slow_warp_is_critical(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "caws:by=instructions", 2);
    issue(&bench, 0, 1, 8, 5, 32);
    issue(&bench, 1, 1, 9, 8, 32);
    issue(&bench, 1, 20, 8, 5, 32);
    EXPECT_ISSUES(&bench, 0b11, 1);
    bench_end(&bench);
}

static void gcaws_stays_with_a_warp_until_it_stalls(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "gcaws", 3);
    EXPECT_ISSUES(&bench, 0b111, 0, 0, 0);
    EXPECT_ISSUES(&bench, 0b110, 1, 1); /* equal: the older one */
    EXPECT_ISSUES(&bench, 0b101, 2);    /* none issued against three */
    EXPECT_ISSUES(&bench, 0b011, 1);    /* -2 against -3 */
    bench_leave(&bench, 1);
    bench_arrive(&bench, 1); /* a new warp does not inherit the turn: it is picked because it has issued nothing */
    EXPECT_ISSUES(&bench, 0b101, 2);
    EXPECT_ISSUES(&bench, 0b011, 1);
    bench_end(&bench);
}

/* Warps 0 to 3 of block 0 have issued 0, 1, 2 and 3 instructions: criticality 0, -1, -2, -3. Half of the three others
 * are less critical than warps 0 and 1. Warps 4 and 5 of block 1 are equal. */
static void a_warp_is_critical_if_half_of_its_block_is_less_critical(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "gcaws", 4);
    for (uint32_t slot = 4; slot < 6; slot++) {
        bench.slot[slot].block = 1;
        bench_arrive(&bench, slot);
    }
    for (uint32_t slot = 1; slot < 4; slot++)
        for (uint32_t n = 0; n < slot; n++)
            issue(&bench, slot, n + 1, 2, 3, 32);
    static const bool expected[] = {true, true, false, false, false, false};
    for (uint32_t slot = 0; slot < 6; slot++)
        assert_int_equal(bench.ops->is_critical(bench.state, &bench.view, slot), expected[slot]);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_straight_line_code_the_warp_with_the_fewest_instructions_goes_first),
        cmocka_unit_test(a_branch_adds_the_sides_that_the_warp_executes),
        cmocka_unit_test(a_branch_after_which_another_path_continues_adds_nothing),
        cmocka_unit_test(another_iteration_adds_the_instructions_of_the_loop),
        cmocka_unit_test(by_names_the_parts_that_count),
        cmocka_unit_test(a_slow_warp_is_critical),
        cmocka_unit_test(a_warp_is_critical_if_half_of_its_block_is_less_critical),
        cmocka_unit_test(gcaws_stays_with_a_warp_until_it_stalls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
