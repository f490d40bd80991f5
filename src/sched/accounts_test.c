/* Tests of the accounts of groups and blocks. */
#include "sched/fixture.h"

static void stall_cycles_lie_between_instructions(void **state) {
    (void)state;
    struct bench bench;
    bench_start(&bench, "lrr", 2);
    bench.view.cycle = 100;
    sched_accounts_begin_block(&bench.accounts, 0, 7, 100);
    bench_arrive(&bench, 0);
    bench_arrive(&bench, 1);
    bench.view.cycle = 101; /* the first cycle in which it may issue */
    bench_issue(&bench, 0b01);
    bench.view.cycle = 105;
    bench_issue(&bench, 0b01);
    bench.view.cycle = 106;
    bench_issue(&bench, 0b10);
    const struct sched_account *account = bench.view.account;
    assert_int_equal(account[0].instructions, 2);
    assert_int_equal(account[0].stall_cycles, 3); /* 102 to 104 */
    assert_int_equal(account[1].stall_cycles, 5); /* 101 to 105 */
    const struct sched_block *block = &bench.view.block[0];
    assert_int_equal(block->number, 7);
    assert_int_equal(block->start_cycle, 100);
    assert_int_equal(block->instructions, 3);
    assert_int_equal(block->stall_cycles, 8);
    assert_int_equal(block->slots.word[0], 0b11);
    bench_leave(&bench, 0);
    assert_int_equal(block->slots.word[0], 0b10);
    assert_int_equal(block->instructions, 3); /* those of the group that left, too */
    bench_end(&bench);
}

static void waits_are_charged_to_memory_or_to_others(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "lrr", 1);
    bench.view.cycle = 10;
    bench_stall(&bench, 0, WAITS_LONG);
    bench.view.cycle = 20;
    bench_wake(&bench, 0); /* it may issue in cycle 20 */
    assert_int_equal(bench.view.account[0].memory_cycles, 9);
    bench_stall(&bench, 0, WAITS_PENDING);
    assert_int_equal(bench.view.at_barrier->word[0], 1);
    bench.view.cycle = 25;
    bench_stall(&bench, 0, WAITS_LONG); /* the wait for others ended in cycle 25, and another one follows */
    assert_int_equal(bench.view.at_barrier->word[0], 0);
    assert_int_equal(bench.view.account[0].barrier_cycles, 5);
    bench.view.cycle = 27;
    bench_stall(&bench, 0, WAITS_SHORT);
    bench.view.cycle = 40;
    bench_wake(&bench, 0);
    assert_int_equal(bench.view.account[0].memory_cycles, 9 + 2);
    assert_int_equal(bench.view.account[0].barrier_cycles, 5);
    bench_end(&bench);
}

static void a_fence_is_a_wait_for_memory(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "lrr", 1);
    sched_add(&bench.pending, 0);
    sched_accounts_stall(&bench.accounts, &bench.view, 0, true);
    assert_int_equal(bench.view.at_barrier->word[0], 0);
    bench.view.cycle = 5;
    sched_accounts_wake(&bench.accounts, &bench.view, 0);
    assert_int_equal(bench.view.account[0].memory_cycles, 4);
    bench_end(&bench);
}

static void a_new_group_and_a_new_block_start_from_zero(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "lrr", 1);
    bench.view.cycle = 9;
    bench_issue(&bench, 1);
    bench_leave(&bench, 0);
    bench_arrive(&bench, 0);
    assert_int_equal(bench.view.account[0].instructions, 0);
    bench.view.cycle = 12;
    bench_issue(&bench, 1);
    assert_int_equal(bench.view.account[0].stall_cycles, 2);
    assert_int_equal(bench.view.block[0].instructions, 2);
    sched_accounts_begin_block(&bench.accounts, 0, 1, 12);
    assert_int_equal(bench.view.block[0].instructions, 0);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stall_cycles_lie_between_instructions),
        cmocka_unit_test(waits_are_charged_to_memory_or_to_others),
        cmocka_unit_test(a_fence_is_a_wait_for_memory),
        cmocka_unit_test(a_new_group_and_a_new_block_start_from_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
