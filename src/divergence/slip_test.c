/* Tests of adaptive slip: which threads wait for which, how far they get ahead, and how that adapts. */
#include "divergence/splits/fixture.h"
#include "divergence/splits/splits.h"
#include "divergence/testing/programs.h"

extern const struct divergence_ops divergence_slip;

static const char *const variants[] = {"slip", "slip:bypass", "slip:bypass,branch_len=0",
                                       "slip:interval=10,up=0,down=100", "slip:bypass,interval=10,up=0,down=100"};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

static void every_program_computes_the_same_in_every_variant(void **state) {
    (void)state;
    for (size_t i = 0; i < N_VARIANTS; i++)
        programs_check_all(&divergence_slip, variants[i], false);
}

static void loads_that_miss_in_any_pattern_change_no_result(void **state) {
    (void)state;
    for (size_t i = 0; i < N_VARIANTS; i++)
        splits_check_loads(&divergence_slip, variants[i]);
}

/* --- a loop with one access --- */

/* Four times around; the pc of the access, the instruction after it and the branch. */
static const char loop[] = PROGRAM_HEAD PROGRAM_BEGIN "mov.u32 %r5, 4; mov.u32 %r4, 0;\n"
                                                      "LOOP: ld.global.u32 %r6, [%rd1]; add.u32 %r4, %r4, 1;\n"
                                                      "sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0;\n"
                                                      "@%p1 bra LOOP;\n" PROGRAM_END;
/* The same, and no analysis can tell that all threads go around as often. */
static const char loop_by_thread[] =
    PROGRAM_HEAD PROGRAM_BEGIN "mad.lo.u32 %r5, %r0, 0, 4; mov.u32 %r4, 0;\n"
                               "LOOP: ld.global.u32 %r6, [%rd1]; add.u32 %r4, %r4, 1;\n"
                               "sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0;\n"
                               "@%p1 bra LOOP;\n" PROGRAM_END;
enum { PC_LOAD = 9, PC_AFTER = 10, PC_BRANCH = 13, PC_END = 14 };

/* The lanes in *user miss for 100 cycles, once. */
static void miss_once(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                      uint32_t delay[EXEC_LANES]) {
    uint32_t *lanes = user;
    (void)group, (void)pc;
    for (uint32_t left = mask & *lanes; left; left &= left - 1)
        delay[__builtin_ctz(left)] = 100;
    *lanes &= ~mask;
}

static struct fixture *open_program(const char *model, const char *text, uint32_t *misses) {
    struct fixture *f =
        fixture_open(&divergence_slip, model, text, &(struct fixture_shape){.block = 8, .warp_size = 8, .n_slots = 4});
    fixture_parameter(f, 0, fixture_alloc(f, 32));
    f->outcome = miss_once;
    f->user = misses;
    fixture_start(f);
    splits_step_to(f, 0, PC_LOAD);
    return f;
}

static struct fixture *open_loop(const char *model, uint32_t *misses) { return open_program(model, loop, misses); }

static void finish(struct fixture *f) {
    fixture_run(f);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[i], 4);
    fixture_close(f);
}

static void those_ahead_stop_at_the_branch_and_the_others_catch_up(void **state) {
    (void)state;
    uint32_t misses = 0xf0;
    struct fixture *f = open_program("slip", loop_by_thread, &misses);
    splits_step(f, 0);
    splits_expect_table(f, (struct entry[]){{PC_AFTER, SPLITS_WAITS, 0xf0}, {PC_AFTER, SPLITS_RUNS, 0x0f}}, 2);
    splits_step_to(f, 1, PC_BRANCH);
    splits_expect_table(f, (struct entry[]){{PC_AFTER, SPLITS_WAITS, 0xf0}, {PC_BRANCH, SPLITS_WAITS, 0x0f}}, 2);
    f->cycle += 100;
    fixture_catch_up(f);
    splits_expect_table(f, (struct entry[]){{PC_AFTER, SPLITS_RUNS, 0xf0}, {PC_BRANCH, SPLITS_WAITS, 0x0f}}, 2);
    splits_step_to(f, 0, PC_BRANCH);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].slot[0].group->mask, 0xff);
    finish(f);
}

static void those_behind_wait_even_when_nobody_needs_the_data_yet(void **state) {
    (void)state;
    uint32_t misses = 0xf0;
    struct fixture *f = open_program("slip", loop_by_thread, &misses);
    f->runs_ahead = true;
    splits_step(f, 0);
    assert_false(fixture_can_step(&f->sm[0], 0));
    assert_true(fixture_can_step(&f->sm[0], 1));
    splits_step_to(f, 1, PC_BRANCH);
    f->cycle += 100;
    fixture_catch_up(f);
    assert_true(fixture_can_step(&f->sm[0], 0));
    finish(f);
}

static void those_behind_stay_until_the_others_come_back_to_the_access(void **state) {
    (void)state;
    uint32_t misses = 0xf0;
    struct fixture *f = open_loop("slip:bypass", &misses);
    splits_step(f, 0);
    splits_step_to(f, 1, PC_BRANCH);
    f->cycle += 100;
    fixture_catch_up(f); /* they have their data and still wait, without a slot */
    splits_expect_table(f, (struct entry[]){{PC_AFTER, SPLITS_WAITS, 0xf0}, {PC_BRANCH, SPLITS_RUNS, 0x0f}}, 2);
    assert_null(f->sm[0].slot[0].group);
    splits_step_to(f, 1, PC_LOAD);
    splits_expect_table(f, (struct entry[]){{PC_AFTER, SPLITS_WAITS, 0xf0}, {PC_LOAD, SPLITS_RUNS, 0x0f}}, 2);
    splits_step(f, 1);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].slot[1].group->pc, PC_AFTER);
    assert_int_equal(f->sm[0].slot[1].group->mask, 0xff);
    assert_int_equal(f->sm[0].counters.merges, 1);
    finish(f);
}

/* The back-edge is uniform: those ahead go around, and the others join them at the access, as the paper has it. */
static void those_ahead_pass_a_uniform_back_edge(void **state) {
    (void)state;
    uint32_t misses = 0xf0;
    struct fixture *f = open_loop("slip", &misses);
    splits_step(f, 0);
    splits_step_to(f, 1, PC_BRANCH);
    splits_expect_table(f, (struct entry[]){{PC_AFTER, SPLITS_WAITS, 0xf0}, {PC_BRANCH, SPLITS_RUNS, 0x0f}}, 2);
    f->cycle += 100;
    fixture_catch_up(f);
    splits_step_to(f, 1, PC_LOAD);
    splits_expect_table(f, (struct entry[]){{PC_AFTER, SPLITS_WAITS, 0xf0}, {PC_LOAD, SPLITS_RUNS, 0x0f}}, 2);
    splits_step(f, 1);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].slot[1].group->mask, 0xff);
    finish(f);
}

/* The last time around the branch leads out of the loop: there those ahead wait for the others. */
static void those_ahead_do_not_leave_a_loop(void **state) {
    (void)state;
    uint32_t misses = 0;
    struct fixture *f = open_loop("slip", &misses);
    for (uint32_t i = 0; i < 3; i++) {
        splits_step_to(f, 0, PC_AFTER);
        splits_step_to(f, 0, PC_LOAD);
    }
    misses = 0xf0;
    splits_step(f, 0);
    splits_step_to(f, 1, PC_BRANCH);
    splits_expect_table(f, (struct entry[]){{PC_AFTER, SPLITS_WAITS, 0xf0}, {PC_BRANCH, SPLITS_WAITS, 0x0f}}, 2);
    f->cycle += 100;
    fixture_catch_up(f);
    splits_step_to(f, 0, PC_BRANCH);
    splits_expect_table(f, NULL, 0);
    finish(f);
}

static void nobody_runs_past_more_often_than_the_maximum_slip(void **state) {
    (void)state;
    uint32_t misses = 0xf0;
    struct fixture *f = open_loop("slip:bypass", &misses);
    splits_step(f, 0);
    splits_step_to(f, 1, PC_LOAD);
    splits_step(f, 1); /* a second time, and the others have no data: they wait with them */
    splits_expect_table(f, (struct entry[]){{PC_AFTER, SPLITS_WAITS, 0xf0}, {PC_AFTER, SPLITS_WAITS, 0x0f}}, 2);
    f->cycle += 100;
    fixture_catch_up(f);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].slot[0].group->mask, 0xff);
    finish(f);
}

static void those_behind_go_on_alone_when_the_others_have_left(void **state) {
    (void)state;
    uint32_t misses = 0;
    struct fixture *f = open_loop("slip:bypass", &misses);
    for (uint32_t i = 0; i < 3; i++) {
        splits_step_to(f, 0, PC_AFTER);
        splits_step_to(f, 0, PC_LOAD);
    }
    misses = 0xf0; /* the last time around, from which no thread comes back */
    splits_step(f, 0);
    splits_expect_table(f, (struct entry[]){{PC_AFTER, SPLITS_WAITS, 0xf0}, {PC_AFTER, SPLITS_RUNS, 0x0f}}, 2);
    f->cycle += 100;
    fixture_catch_up(f);
    splits_step_to(f, 1, PC_END + 1);
    splits_step(f, 1);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].slot[0].group->mask, 0xf0);
    finish(f);
}

/* --- the maximum slip --- */

/* The access comes `cycles` after the start; do threads get ahead? */
static bool slips_after(uint64_t cycles, uint64_t active, uint64_t waiting, bool twice) {
    uint32_t misses = 0;
    struct fixture *f = open_loop("slip", &misses);
    uint32_t n = twice ? 2 : 1;
    for (uint32_t i = 1; i <= n; i++) {
        f->cycle = i * cycles;
        f->active_cycles = i * active;
        f->waiting_cycles = i * waiting;
        misses = i == n ? 0xf0 : 0;
        splits_step(f, 0);
        if (i < n)
            splits_step_to(f, 0, PC_LOAD);
    }
    bool slips = f->sm[0].counters.warp_splits > 0;
    fixture_close(f);
    return slips;
}

static void the_maximum_slip_follows_what_the_sm_did(void **state) {
    (void)state;
    assert_true(slips_after(99000, 60000, 0, false));     /* 1 from the start; the interval is not over */
    assert_false(slips_after(100001, 50002, 0, false));   /* more than half: one less, none */
    assert_true(slips_after(100001, 50000, 0, false));    /* not more */
    assert_true(slips_after(100001, 20000, 71000, true)); /* more slip */
    assert_false(slips_after(100001, 60000, 0, true));    /* never below 0 */
}

static void it_costs_an_entry_for_every_thread_and_what_it_adapts_by(void **state) {
    (void)state;
    struct config_machine machine = {.sm = {.warp_size = 16, .threads = 64}};
    const struct divergence_ops *ops = &divergence_slip;
    struct config_plugin plugin = {ops->name, ops->help, ops->option, ops->preset, ops->options_bytes};
    char error[200], formula[200];
    size_t which;
    void *options;
    assert_true(config_plugin_parse("model", &plugin, 1, "slip", &which, &options, error, sizeof error));
    assert_int_equal(ops->cost_bits(options, &machine, formula, sizeof formula), 64 * (84 + 8) + 8 + 3 * 17);
    assert_string_equal(formula, "threads x (mask 16 + warp number 2 + pc 64 + status 2 + times passed 8): 64 x 92; "
                                 "maximum slip 8; counts of cycles: 3 x 17");
    free(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_ahead_stop_at_the_branch_and_the_others_catch_up),
        cmocka_unit_test(those_behind_wait_even_when_nobody_needs_the_data_yet),
        cmocka_unit_test(those_behind_stay_until_the_others_come_back_to_the_access),
        cmocka_unit_test(those_ahead_pass_a_uniform_back_edge),
        cmocka_unit_test(those_ahead_do_not_leave_a_loop),
        cmocka_unit_test(nobody_runs_past_more_often_than_the_maximum_slip),
        cmocka_unit_test(those_behind_go_on_alone_when_the_others_have_left),
        cmocka_unit_test(the_maximum_slip_follows_what_the_sm_did),
        cmocka_unit_test(it_costs_an_entry_for_every_thread_and_what_it_adapts_by),
        cmocka_unit_test(every_program_computes_the_same_in_every_variant),
        cmocka_unit_test(loads_that_miss_in_any_pattern_change_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
