/* Cycle counts of DRAM, on the machine of Narasiman 2011: the L1 takes 1 cycle and connects directly to the one
 * channel; 8 banks, rows of 32 lines, 100 / 300 cycles, 4 cycles of bus per line. Lines 0 to 31 are row 0 of bank 0,
 * lines 32 to 63 row 0 of bank 1, line 256 begins row 1 of bank 0. */
#include <stdio.h>

#include "mem/fixture.h"

struct step {
    uint64_t line, answer;
};

/* Misses in the cycles 100, 101, ...; expects each answer in its cycle. */
static void play(struct config_machine machine, const struct step *steps, uint32_t n) {
    struct fixture f;
    fixture_start(&f, machine);
    for (uint32_t i = 0; i < n; i++)
        fixture_miss(&f, 0, 100 + i, MEM_READ, steps[i].line, i);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(f.n_log, n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(f.log[i].cycle, steps[f.log[i].token].answer);
    fixture_end(&f);
}

static struct config_machine with_policy(const char *policy) {
    struct config_machine machine = fixture_narasiman();
    snprintf(machine.dram.policy, sizeof machine.dram.policy, "%s", policy);
    return machine;
}

/* The first starts at 101, its row is open at 301, its data ready at 401. The others start at 301, 305, 309: their data
 * is ready just when the bus has carried the one before. */
static void accesses_to_an_open_row_are_pipelined_at_the_bus_rate(void **state) {
    (void)state;
    const struct step steps[] = {{0, 405}, {1, 409}, {2, 413}, {3, 417}};
    play(with_policy("fcfs"), steps, 4);
    play(with_policy("fr-fcfs"), steps, 4);
}

static void another_row_of_a_bank_waits_until_the_first_is_done(void **state) {
    (void)state;
    const struct step steps[] = {{0, 405}, {256, 705}};
    play(with_policy("fcfs"), steps, 2);
    play(with_policy("fr-fcfs"), steps, 2);
}

/* The row of line 0 opens from 101 on, so that of line 256 from 101 + 240 on: 341 + 300 + 4. Line 1 hits at 301, before
 * that, and takes no longer than without it; line 257 hits row 1 at 541. */
static void with_a_row_cycle_another_row_can_be_opened_before_the_first_has_its_data(void **state) {
    (void)state;
    const struct step steps[] = {{0, 405}, {256, 645}};
    const struct step hits[] = {{0, 405}, {256, 645}, {1, 409}, {257, 649}};
    struct config_machine machine = with_policy("fr-fcfs");
    machine.dram.row_cycle_cycles = 240;
    play(machine, steps, 2);
    play(machine, hits, 4);
    machine.dram.row_cycle_cycles =
        201; /* from 302 on; line 1 starts at 301, and the bus lets no other start before 305 */
    const struct step late[] = {{0, 405}, {256, 609}, {1, 409}};
    play(machine, late, 3);
}

/* Accesses start at the bus's rate: 101 and 105. */
static void banks_work_side_by_side(void **state) {
    (void)state;
    const struct step steps[] = {{0, 405}, {32, 409}};
    play(with_policy("fcfs"), steps, 2);
    play(with_policy("fr-fcfs"), steps, 2);
}

/* Lines 0, 256 and 2048 begin the rows 0, 8 and 64: all of bank 0, one after the other. Folded, their digits to the
 * base of 8 banks are 0, 10 and 100: bank 0, and twice bank 1; row 9 (line 288), 11, is in bank 2. */
static void folding_spreads_rows_at_a_distance_of_a_power_of_the_banks(void **state) {
    (void)state;
    const struct step by_row[] = {{0, 405}, {256, 705}, {2048, 1005}};
    const struct step folded[] = {{0, 405}, {256, 409}, {2048, 709}};
    const struct step apart[] = {{0, 405}, {256, 409}, {288, 413}};
    struct config_machine machine = with_policy("fcfs-bank");
    play(machine, by_row, 3);
    machine.dram.bank_hash = CONFIG_DRAM_HASH_FOLD;
    play(machine, folded, 3);
    play(machine, apart, 3);
}

/* Line 256 waits until 401 for its bank. Line 32 goes to another bank: after line 256 it starts at 405; when each bank
 * has its own order it starts at the bus's rate, at 105. Line 1 would hit the open row, but came after line 256: it
 * waits for row 0 to be opened again. */
static void fcfs_at_each_bank_overtakes_requests_to_other_banks(void **state) {
    (void)state;
    const struct step strict[] = {{0, 405}, {256, 705}, {32, 709}, {1, 1005}};
    const struct step by_bank[] = {{0, 405}, {256, 705}, {32, 409}, {1, 1005}};
    play(with_policy("fcfs"), strict, 4);
    play(with_policy("fcfs-bank"), by_bank, 4);
}

/* FCFS closes row 0 for line 256 at 401 and opens it again for line 1 at 701. FR-FCFS takes line 1 first, at 301; its
 * data is ready at 401, and so the other row can be opened just as early. */
static void fr_fcfs_takes_row_hits_before_older_conflicts(void **state) {
    (void)state;
    const struct step in_order[] = {{0, 405}, {256, 705}, {1, 1005}};
    const struct step hits_first[] = {{0, 405}, {256, 705}, {1, 409}};
    play(with_policy("fcfs"), in_order, 3);
    play(with_policy("fr-fcfs"), hits_first, 3);
}

/* Line 32's bank is idle, but FCFS starts it after line 256, which starts at 401: 405 + 300, and the bus is free. */
static void fcfs_delays_all_requests_after_one_whose_bank_is_busy(void **state) {
    (void)state;
    const struct step in_order[] = {{0, 405}, {256, 705}, {32, 709}};
    const struct step around[] = {{0, 405}, {256, 705}, {32, 409}};
    play(with_policy("fcfs"), in_order, 3);
    play(with_policy("fr-fcfs"), around, 3);
}

/* A queue of one: the policy sees line 1 only after line 256 has started. */
static void a_policy_sees_no_further_than_the_queue(void **state) {
    (void)state;
    const struct step steps[] = {{0, 405}, {256, 705}, {1, 1005}};
    struct config_machine machine = with_policy("fr-fcfs");
    machine.dram.queue_entries = 1;
    play(machine, steps, 3);
}

/* Meng 2010: 100 cycles, pipelined, whatever the rows. */
static void equal_latencies_make_rows_irrelevant(void **state) {
    (void)state;
    const struct step steps[] = {{0, 205}, {256, 209}, {512, 213}};
    struct config_machine machine = with_policy("fcfs");
    machine.dram.row_hit_cycles = machine.dram.row_conflict_cycles = 100;
    play(machine, steps, 3);
}

static void channels_take_lines_in_turn(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = fixture_narasiman();
    machine.dram.channels = 2;
    fixture_start(&f, machine);
    fixture_miss(&f, 0, 100, MEM_READ, 0, 1);
    fixture_miss(&f, 0, 101, MEM_READ, 1, 2);
    fixture_answer(&f, 0, 1, 405);
    fixture_answer(&f, 1, 2, 406);
    fixture_miss(&f, 0, 500, MEM_READ, 62, 3); /* the last line of channel 0's first row */
    fixture_answer(&f, 2, 3, 605);
    const uint64_t *busy;
    assert_int_equal(mem_channel_busy(f.mem, &busy), 2);
    assert_int_equal(busy[0], 8);
    assert_int_equal(busy[1], 4);
    fixture_end(&f);
}

/* 128 bytes at 48 per cycle are 2 2/3 cycles; 32 lines from 401 on: 486 1/3. */
static void fractions_of_a_cycle_are_not_lost(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = fixture_narasiman();
    machine.dram.bytes_per_cycle = 48;
    fixture_start(&f, machine);
    for (uint32_t i = 0; i < 32; i++)
        fixture_miss(&f, 0, 100 + i, MEM_READ, i, i);
    mem_advance(f.mem, 485);
    assert_int_equal(f.n_log, 31);
    fixture_answer(&f, 31, 31, 487);
    assert_int_equal(mem_counters(f.mem)->bus_busy_cycles, 85);
    fixture_end(&f);
}

/* Small writes take a burst of 32 bytes: one cycle of bus. */
static void small_writes_take_a_burst(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    struct config_machine machine = fixture_narasiman();
    machine.l1.writes.policy = CONFIG_WRITE_THROUGH;
    machine.l1.writes.allocates = false;
    fixture_start(&f, machine);
    assert_int_equal(mem_access(f.mem, 0, 100, MEM_WRITE, 0, 4, 0, &ready), MEM_HIT);
    assert_int_equal(mem_access(f.mem, 0, 101, MEM_WRITE, 128, 33, 0, &ready), MEM_HIT);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(mem_counters(f.mem)->bus_busy_cycles, 3);
    assert_int_equal(mem_counters(f.mem)->dram_writes, 2);
    fixture_end(&f);
}

static void fr_fcfs_lets_no_request_starve(void **state) {
    (void)state;
    const struct dram_bank banks[] = {{.row = 7}};
    const struct dram_request queue[] = {{.row = 8, .arrival = 1000}, {.row = 7, .arrival = 1001}};
    struct dram_view view = {queue, 2, banks, 1000 + 600, 600};
    const struct dram_policy *policy = config_policies_find(&mem_dram_policies, "fr-fcfs");
    assert_int_equal(policy->pick(NULL, &view), 1);
    view.cycle++;
    assert_int_equal(policy->pick(NULL, &view), 0);
}

/* ---- Row hold: conflict - hit = 200 cycles ---- */

struct visit {
    uint64_t cycle, line;
    enum mem_kind kind;
    uint64_t answer;
};

struct holds {
    uint64_t started, useful, expired, cycles;
};

/* Misses in the given cycles; expects each answer in its cycle. */
static void visit(struct config_machine machine, const struct visit *visits, uint32_t n, struct holds expected) {
    struct fixture f;
    fixture_start(&f, machine);
    for (uint32_t i = 0; i < n; i++)
        fixture_miss(&f, 0, visits[i].cycle, visits[i].kind, visits[i].line, i);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(f.n_log, n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(f.log[i].cycle, visits[f.log[i].token].answer);
    const struct stats_mem *counters = mem_counters(f.mem);
    assert_int_equal(counters->row_holds, expected.started);
    assert_int_equal(counters->row_holds_useful, expected.useful);
    assert_int_equal(counters->row_holds_expired, expected.expired);
    assert_int_equal(counters->row_hold_cycles, expected.cycles);
    fixture_end(&f);
}

/* Line 0 starts at 101 and is ready at 401, when line 256 could open its row. Line 1 reaches DRAM at 451. Without the
 * hint line 256 has the bank from 401 to 701, and line 1 opens row 0 again. With it line 1 is served first, from 451 to
 * 551, and line 256 after it. */
static void a_held_row_waits_for_the_hit_that_was_promised(void **state) {
    (void)state;
    const struct visit without[] = {{100, 0, MEM_READ, 405}, {102, 256, MEM_READ, 705}, {450, 1, MEM_READ, 1005}};
    const struct visit with[] = {{100, 0, MEM_READ_HOLD, 405}, {102, 256, MEM_READ, 855}, {450, 1, MEM_READ, 555}};
    visit(with_policy("fr-fcfs"), without, 3, (struct holds){0, 0, 0, 0});
    visit(with_policy("fr-fcfs"), with, 3, (struct holds){1, 1, 0, 50});
}

/* The row is held until 601: line 256 then starts, not a cycle earlier or later. */
static void a_hold_ends_after_the_difference_of_conflict_and_hit(void **state) {
    (void)state;
    const struct visit nothing_comes[] = {{100, 0, MEM_READ_HOLD, 405}, {102, 256, MEM_READ, 905}};
    visit(with_policy("fr-fcfs"), nothing_comes, 2, (struct holds){1, 0, 1, 200});
    const struct visit in_time[] = {{100, 0, MEM_READ_HOLD, 405}, {102, 256, MEM_READ, 1004}, {599, 1, MEM_READ, 704}};
    visit(with_policy("fr-fcfs"), in_time, 3, (struct holds){1, 1, 0, 199});
    /* in the same cycle row hits go first, held or not */
    const struct visit as_it_ends[] = {
        {100, 0, MEM_READ_HOLD, 405}, {102, 256, MEM_READ, 1005}, {600, 1, MEM_READ, 705}};
    visit(with_policy("fr-fcfs"), as_it_ends, 3, (struct holds){1, 0, 1, 200});
    const struct visit too_late[] = {{100, 0, MEM_READ_HOLD, 405}, {102, 256, MEM_READ, 905}, {601, 1, MEM_READ, 1205}};
    visit(with_policy("fr-fcfs"), too_late, 3, (struct holds){1, 0, 1, 200});
}

static void the_machine_may_say_how_long_rows_are_held(void **state) {
    (void)state;
    const struct visit visits[] = {{100, 0, MEM_READ_HOLD, 405}, {102, 256, MEM_READ, 735}};
    struct config_machine machine = with_policy("fr-fcfs");
    machine.dram.row_hold_cycles = 30;
    visit(machine, visits, 2, (struct holds){1, 0, 1, 30});
}

/* A hit that is queued before the access ends needs no hold; a conflict that comes after it does not wait. */
static void a_hit_ends_the_hold_at_once(void **state) {
    (void)state;
    const struct visit visits[] = {{100, 0, MEM_READ_HOLD, 405}, {101, 1, MEM_READ, 409}, {102, 256, MEM_READ, 705}};
    visit(with_policy("fr-fcfs"), visits, 3, (struct holds){1, 1, 0, 0});
}

/* Line 1, with its own hint, is ready at 551: held until 751. */
static void a_hit_with_a_hint_holds_again(void **state) {
    (void)state;
    const struct visit visits[] = {
        {100, 0, MEM_READ_HOLD, 405}, {102, 256, MEM_READ, 1055}, {450, 1, MEM_READ_HOLD, 555}};
    visit(with_policy("fr-fcfs"), visits, 3, (struct holds){2, 1, 1, 50 + 200});
}

/* Bank 1 works while line 256 waits for bank 0. */
static void other_banks_go_on_during_a_hold(void **state) {
    (void)state;
    const struct visit visits[] = {{100, 0, MEM_READ_HOLD, 405}, {102, 256, MEM_READ, 905}, {450, 32, MEM_READ, 755}};
    visit(with_policy("fr-fcfs"), visits, 3, (struct holds){1, 0, 1, 200});
}

static void fcfs_ignores_hints(void **state) {
    (void)state;
    const struct visit visits[] = {{100, 0, MEM_READ_HOLD, 405}, {102, 256, MEM_READ, 705}, {450, 1, MEM_READ, 1005}};
    visit(with_policy("fcfs"), visits, 3, (struct holds){0, 0, 0, 0});
}

static void equal_latencies_leave_nothing_to_hold(void **state) {
    (void)state;
    const struct visit visits[] = {{100, 0, MEM_READ_HOLD, 205}, {101, 256, MEM_READ, 209}};
    struct config_machine machine = with_policy("fr-fcfs");
    machine.dram.row_hit_cycles = machine.dram.row_conflict_cycles = 100;
    visit(machine, visits, 2, (struct holds){0, 0, 0, 0});
}

static void a_starving_request_breaks_a_hold(void **state) {
    (void)state;
    const struct dram_bank banks[] = {{.row = 7, .ready_switch = 1100, .hold_until = 9000}};
    const struct dram_request queue[] = {{.row = 8, .arrival = 1000}};
    struct dram_view view = {queue, 1, banks, 1000 + 600, 600};
    assert_int_equal(dram_start(&view, 0), 9000);
    view.cycle++;
    assert_int_equal(dram_start(&view, 0), 1100);
}

/* With any caches between the SM and DRAM. A line found in a cache holds no row. */
static void hints_reach_dram(void **state) {
    (void)state;
    struct config_machine with_l2 = fixture_machine(), coherent = fixture_mesi(), without_l1 = fixture_machine();
    without_l1.l1.cache.is_present = false;
    struct config_machine without_caches = without_l1;
    without_caches.l2.cache.is_present = false;
    const struct config_machine machines[] = {with_l2, coherent, without_l1, without_caches};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct fixture f;
        uint64_t ready;
        fixture_start(&f, machines[i]);
        fixture_miss(&f, 0, 100, MEM_READ_HOLD, 0, 1);
        mem_advance(f.mem, 2000);
        assert_int_equal(mem_counters(f.mem)->row_holds, 1);
        fixture_miss(&f, 0, 2000, MEM_READ, 1, 2);
        mem_advance(f.mem, 4000);
        assert_int_equal(mem_counters(f.mem)->row_holds, 1);
        fixture_access(&f, 0, 4000, MEM_READ_HOLD, 1, 3, &ready);
        mem_advance(f.mem, 6000);
        assert_int_equal(mem_counters(f.mem)->row_holds, machines[i].l2.cache.is_present ? 1 : 2);
        fixture_end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_to_an_open_row_are_pipelined_at_the_bus_rate),
        cmocka_unit_test(another_row_of_a_bank_waits_until_the_first_is_done),
        cmocka_unit_test(with_a_row_cycle_another_row_can_be_opened_before_the_first_has_its_data),
        cmocka_unit_test(banks_work_side_by_side),
        cmocka_unit_test(folding_spreads_rows_at_a_distance_of_a_power_of_the_banks),
        cmocka_unit_test(fcfs_at_each_bank_overtakes_requests_to_other_banks),
        cmocka_unit_test(fr_fcfs_takes_row_hits_before_older_conflicts),
        cmocka_unit_test(fcfs_delays_all_requests_after_one_whose_bank_is_busy),
        cmocka_unit_test(a_policy_sees_no_further_than_the_queue),
        cmocka_unit_test(equal_latencies_make_rows_irrelevant),
        cmocka_unit_test(channels_take_lines_in_turn),
        cmocka_unit_test(fractions_of_a_cycle_are_not_lost),
        cmocka_unit_test(small_writes_take_a_burst),
        cmocka_unit_test(fr_fcfs_lets_no_request_starve),
        cmocka_unit_test(a_held_row_waits_for_the_hit_that_was_promised),
        cmocka_unit_test(a_hold_ends_after_the_difference_of_conflict_and_hit),
        cmocka_unit_test(the_machine_may_say_how_long_rows_are_held),
        cmocka_unit_test(a_hit_ends_the_hold_at_once),
        cmocka_unit_test(a_hit_with_a_hint_holds_again),
        cmocka_unit_test(other_banks_go_on_during_a_hold),
        cmocka_unit_test(fcfs_ignores_hints),
        cmocka_unit_test(equal_latencies_leave_nothing_to_hold),
        cmocka_unit_test(a_starving_request_breaks_a_hold),
        cmocka_unit_test(hints_reach_dram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
