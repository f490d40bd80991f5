/* Tests of subwarp interleaving: which subwarp is active, step by step, derived on paper from the rules in
 * docs/models/subwarp.md. Lane 0 is the rightmost bit of a mask. A load takes the cycles that the test says. */
#include "divergence/testing/programs.h"

/* Lanes 2 and 3 load at C, lanes 0 and 1 at B; they meet at D. */
#define TWO_LOADS                                                                                                      \
    PROGRAM_KERNEL "ld.param.u64 %d1, [out]; mov.u32 %r0, %tid.x; and.b32 %r0, %r0, 3;\n"     /* 0 1 2 */              \
                   "setp.ge.u32 %p1, %r0, 2; @%p1 bra C;\n"                                   /* 3 4 */                \
                   "ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; bra D;\n"                  /* 5 6 7: B */           \
                   "C: ld.global.u32 %r1, [%d1]; add.u32 %r2, %r0, 1; add.u32 %r1, %r1, 2;\n" /* 8 9 10 */             \
                   "D: add.u32 %r2, %r1, 3; ret; }\n"                                         /* 11 12 */

enum { START = 5 }; /* steps until a warp has diverged */

static void delay_all(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                      uint32_t delay[EXEC_LANES]) {
    (void)group, (void)pc;
    for (uint32_t left = mask; left; left &= left - 1)
        delay[__builtin_ctz(left)] = *(const uint32_t *)user;
}

static struct fixture *start(const char *model, const char *text, uint32_t block, uint32_t *delay) {
    struct fixture *f = fixture_begin(model, text, &(struct fixture_shape){.block = block, .warp_size = 4});
    f->outcome = delay_all;
    f->user = delay;
    return f;
}

/* Lets time pass without an instruction. */
static void wait(struct fixture *f, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        fixture_idle(f);
        fixture_catch_up(f);
    }
}

/* subwarp-stall and subwarp-select: C waits for its load, and B, which is ready, becomes active, 6 cycles after the
 * next. */
static void a_stalled_subwarp_gives_way_to_a_ready_one(void **state) {
    (void)state;
    uint32_t delay = 20;
    struct fixture *f = start("subwarp:trigger=any", TWO_LOADS, 4, &delay);
    fixture_steps(f, 0, START);
    fixture_expect(f, 0, 8, 0b1100);
    uint64_t cycle = f->cycle + 1; /* of the load */
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 5, 0b0011);
    assert_int_equal(f->sm[0].slot[0].group->ready_cycle, cycle + 1 + 6);
    assert_int_equal(f->sm[0].counters.path_switches, 1);
    fixture_finish(f);
}

/* subwarp-wakeup: both wait, so nothing runs until C has its data in cycle 6 + 20. It becomes active again. B, whose
 * data arrive 2 cycles later, stays ready until C has reached D. */
static void the_subwarp_whose_data_arrive_first_is_next(void **state) {
    (void)state;
    uint32_t delay = 20;
    struct fixture *f = start("subwarp:trigger=any,latency=0", TWO_LOADS, 4, &delay);
    fixture_steps(f, 0, START + 1);
    assert_int_equal(f->cycle, 6);
    wait(f, 1);
    fixture_steps(f, 0, 1); /* B loads in 8 */
    fixture_expect(f, 0, 6, 0b0011);
    wait(f, 17);
    assert_int_equal(f->cycle, 25);
    fixture_expect(f, 0, 6, 0b0011);
    wait(f, 1);
    fixture_expect(f, 0, 9, 0b1100);
    assert_int_equal(f->sm[0].counters.path_switches, 2);
    wait(f, 2);
    assert_int_equal(f->cycle, 28);
    fixture_expect(f, 0, 9, 0b1100);
    fixture_steps(f, 0, 2);
    fixture_expect(f, 0, 6, 0b0011); /* C has arrived at its barrier, blocked */
    fixture_steps(f, 0, 2);
    fixture_expect(f, 0, 11, 0b1111);
    assert_int_equal(f->sm[0].counters.path_switches, 2);
    assert_int_equal(f->sm[0].counters.reconvergences, 1);
    fixture_finish(f);
}

/* Four warps. With one of them stalled, a quarter waits; with the second, half. Then both give way. */
static void half_of_the_groups_must_wait_first(void **state) {
    (void)state;
    uint32_t delay = 100;
    struct fixture *f = start("subwarp:trigger=half,latency=0", TWO_LOADS, 16, &delay);
    fixture_steps(f, 0, START + 1);
    fixture_expect(f, 0, 9, 0b1100);
    fixture_steps(f, 1, START);
    fixture_expect(f, 0, 9, 0b1100);
    fixture_steps(f, 1, 1);
    fixture_expect(f, 1, 5, 0b0011);
    fixture_expect(f, 0, 5, 0b0011);
    assert_int_equal(f->sm[0].counters.path_switches, 2);
    fixture_finish(f);
}

static void all_groups_must_wait_first(void **state) {
    (void)state;
    uint32_t delay = 100;
    struct fixture *f = start("subwarp:trigger=all,latency=0", TWO_LOADS, 12, &delay);
    for (uint32_t slot = 0; slot < 3; slot++) {
        fixture_steps(f, slot, START);
        for (uint32_t i = 0; i < slot; i++)
            fixture_expect(f, i, 9, 0b1100);
        fixture_steps(f, slot, 1);
    }
    for (uint32_t slot = 0; slot < 3; slot++)
        fixture_expect(f, slot, 5, 0b0011);
    fixture_finish(f);
}

/* Four subwarps: lane 3 at E, lane 2 at F, lane 1 at G, lane 0 after the branches. The last branch pushes the path that
 * jumps last, so the paths from the end are: lane 1 (runs), lane 0, and so on. */
#define FOUR_LOADS                                                                                                     \
    PROGRAM_KERNEL "ld.param.u64 %d1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, 0;\n" /* 0 1 2 */                       \
                   "T: .branchtargets A, B, C, E; brx.idx %r0, T;\n"                 /* 3 */                           \
                   "A: ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; bra D;\n"      /* 4 5 6 */                       \
                   "B: ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 2; bra D;\n"      /* 7 8 9 */                       \
                   "C: ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 3; bra D;\n"      /* 10 11 12 */                    \
                   "E: ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 4;\n"             /* 13 14 */                       \
                   "D: add.u32 %r2, %r1, 3; ret; }\n"                                /* 15 16 */

/* Lane 0 is at pc + 1 of the branch, where paths wait longest; of the others the highest lane was added last and
 * runs. */
static void the_order_is_that_in_which_subwarps_stopped(void **state) {
    (void)state;
    uint32_t delay = 100;
    struct fixture *f = start("subwarp:trigger=any,latency=0,order=last", FOUR_LOADS, 4, &delay);
    fixture_steps(f, 0, 4);
    fixture_expect(f, 0, 13, 0b1000);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 10, 0b0100);
    wait(f, 1);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 7, 0b0010);
    fixture_finish(f);
    f = start("subwarp:trigger=any,latency=0,order=first", FOUR_LOADS, 4, &delay);
    fixture_steps(f, 0, 5);
    fixture_expect(f, 0, 4, 0b0001);
    wait(f, 1);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 7, 0b0010);
    fixture_finish(f);
}

/* One entry: lane 3 may be stalled while another runs, but not lane 2 as well. */
static void no_more_subwarps_stall_than_there_are_entries(void **state) {
    (void)state;
    uint32_t delay = 100;
    struct fixture *f = start("subwarp:trigger=any,latency=0,entries=1", FOUR_LOADS, 4, &delay);
    fixture_steps(f, 0, 5);
    fixture_expect(f, 0, 10, 0b0100);
    wait(f, 1);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 11, 0b0100);
    assert_int_equal(f->sm[0].counters.path_switches, 1);
    fixture_finish(f);
}

/* subwarp-yield: C's load hits, and its next instruction does not need it. Without yield C continues; with it B runs,
 * and then C, because B yields as well. */
static void a_subwarp_yields_after_a_load(void **state) {
    (void)state;
    uint32_t delay = 0;
    struct fixture *f = start("subwarp:trigger=any,latency=0,yield=off", TWO_LOADS, 4, &delay);
    fixture_steps(f, 0, START + 1);
    fixture_expect(f, 0, 9, 0b1100);
    fixture_finish(f);
    f = start("subwarp:trigger=any,latency=0,yield=on", TWO_LOADS, 4, &delay);
    fixture_steps(f, 0, START + 1);
    fixture_expect(f, 0, 5, 0b0011);
    wait(f, 1);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 9, 0b1100);
    assert_int_equal(f->sm[0].counters.path_switches, 2);
    fixture_finish(f);
}

/* A warp that has not diverged never switches: it has one subwarp. */
static void a_whole_warp_waits(void **state) {
    (void)state;
    uint32_t delay = 10;
    struct fixture *f = start(
        "subwarp:trigger=any,yield=on",
        PROGRAM_KERNEL "ld.param.u64 %d1, [out]; ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; ret; }\n", 4, &delay);
    fixture_steps(f, 0, 2);
    fixture_expect(f, 0, 2, 0b1111);
    assert_false(fixture_can_step(&f->sm[0], 0));
    wait(f, 10);
    assert_true(fixture_can_step(&f->sm[0], 0));
    assert_int_equal(f->sm[0].counters.path_switches, 0);
    fixture_finish(f);
}

static void results_do_not_depend_on_order_or_shape(void **state) {
    (void)state;
    programs_check_all(divergence_find("subwarp"), "subwarp", true);
    programs_check_all(divergence_find("subwarp"), "subwarp:trigger=any,yield=on,latency=0", true);
}

/* 32 warps of 32 threads: 32 x (32 + 16) x 32 bits of barriers, 1024 x 6 of the table. */
static void each_thread_has_a_state(void **state) {
    (void)state;
    struct config_machine machine = {.sm = {.threads = 1024, .warp_size = 32}};
    char formula[200];
    assert_int_equal(divergence_find("subwarp")->cost_bits(NULL, &machine, formula, sizeof formula),
                     32 * 48 * 32 + 1024 * 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stalled_subwarp_gives_way_to_a_ready_one),
        cmocka_unit_test(the_subwarp_whose_data_arrive_first_is_next),
        cmocka_unit_test(half_of_the_groups_must_wait_first),
        cmocka_unit_test(all_groups_must_wait_first),
        cmocka_unit_test(the_order_is_that_in_which_subwarps_stopped),
        cmocka_unit_test(no_more_subwarps_stall_than_there_are_entries),
        cmocka_unit_test(a_subwarp_yields_after_a_load),
        cmocka_unit_test(a_whole_warp_waits),
        cmocka_unit_test(results_do_not_depend_on_order_or_shape),
        cmocka_unit_test(each_thread_has_a_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
