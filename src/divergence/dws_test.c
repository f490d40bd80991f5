/* Dynamic warp subdivision: the paper's figures step by step, and all control flow in every variant. */
#include <stdio.h>

#include "divergence/splits/fixture.h"
#include "divergence/splits/splits.h"
#include "divergence/testing/programs.h"

extern const struct divergence_ops divergence_dws;

static const char *const variants[] = {
    "dws:branch-only",
    "dws:branch-only-stack",
    "dws:mem-only",
    "dws:aggress",
    "dws:lazy",
    "dws:revive",
    "dws:aggress,reconv=stack",
    "dws:mem=aggress,branches=limited",
    "dws:aggress,wst=3",
    "dws:revive,wst=2",
    "dws:aggress,slots=1",
    "dws:branch-only,branch_len=0",
    "dws:size=64",
    "dws:aggress,size=128",
    "dws:mem-only,size=64",
    "dws:revive,merge=dwf",
    "dws:aggress,merge=dwf,lanes=free,wst=3",
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

static void every_program_computes_the_same_in_every_variant(void **state) {
    (void)state;
    for (size_t i = 0; i < N_VARIANTS; i++)
        programs_check_all(&divergence_dws, variants[i], false);
}

static void loads_that_miss_in_any_pattern_change_no_result(void **state) {
    (void)state;
    for (size_t i = 0; i < N_VARIANTS; i++)
        splits_check_loads(&divergence_dws, variants[i]);
}

/* --- branches: figure 6 --- */

/* Blocks A to G as in the figure: the branch of A meets at G, which is long (5 instructions), that of B at F, which is
 * short (1). Threads 2 to 7 go to B, 2 and 3 of them to D. */
static const char figure_6[] =
    PROGRAM_HEAD PROGRAM_BEGIN "mov.u32 %r4, 1; setp.gt.u32 %p1, %r0, 1; setp.lt.u32 %p2, %r0, 4; @%p1 bra B;\n" /* A */
                               "add.u32 %r4, %r4, 20; bra G;\n"                                                  /* C */
                               "B: add.u32 %r4, %r4, 10; @%p2 bra D;\n"
                               "add.u32 %r4, %r4, 200; add.u32 %r4, %r4, 5; bra F;\n" /* E */
                               "D: add.u32 %r4, %r4, 100;\n"
                               "F: add.u32 %r4, %r4, 1000;\n"
                               "G: add.u32 %r4, %r4, 1; add.u32 %r4, %r4, 1; add.u32 %r4, %r4, 1;\n" PROGRAM_END;
enum { PC_A = 10, PC_C = 11, PC_B = 13, PC_E = 15, PC_D = 18, PC_F = 19, PC_G = 20 };
enum { RUNS, WAITS };

static struct fixture *open_figure(const char *model, const char *text) {
    const struct fixture_shape shape = {.block = 8, .warp_size = 8};
    struct fixture *f = fixture_open(&divergence_dws, model, text, &shape);
    fixture_parameter(f, 0, fixture_alloc(f, 32));
    fixture_start(f);
    return f;
}

static void step(struct fixture *f, uint32_t slot) {
    fixture_catch_up(f);
    fixture_step(&f->sm[0], slot);
    splits_check_state(f);
}

static void figure_6_subdivides_at_b_and_leaves_the_stack_alone(void **state) {
    (void)state;
    struct fixture *f = open_figure("dws:branch-only-stack,branch_len=3", figure_6);
    splits_step_to(f, 0, PC_A);
    step(f, 0); /* A pushes: G is longer than branch_len */
    const struct entry stack[] = {{PC_G, EXEC_NO_PC, 0xff}, {PC_C, PC_G, 0x03}, {PC_B, PC_G, 0xfc}};
    splits_expect_stack(f, stack, 3);
    splits_expect_table(f, NULL, 0);

    splits_step_to(f, 0, PC_B + 1);
    step(f, 0); /* B subdivides: two entries, and the stack remains */
    splits_expect_stack(f, stack, 3);
    splits_expect_table(f, (struct entry[]){{PC_D, RUNS, 0x0c}, {PC_E, RUNS, 0xf0}}, 2);

    step(f, 1); /* the paths interleave */
    step(f, 0);
    splits_expect_table(f, (struct entry[]){{PC_F, RUNS, 0x0c}, {PC_E + 1, RUNS, 0xf0}}, 2);
    step(f, 0); /* F for the first time; then G, the post-dominator on top of the stack */
    splits_expect_table(f, (struct entry[]){{PC_G, WAITS, 0x0c}, {PC_E + 1, RUNS, 0xf0}}, 2);
    assert_null(f->sm[0].slot[0].group); /* the slot is free for another group */

    splits_step_to(f, 1, PC_F);
    splits_expect_table(f, (struct entry[]){{PC_G, WAITS, 0x0c}, {PC_F, RUNS, 0xf0}}, 2);
    step(f, 1); /* F again; all are there, and the stack pops in the conventional manner */
    splits_expect_table(f, NULL, 0);
    splits_expect_stack(f, stack, 2);
    assert_int_equal(f->sm[0].slot[1].group->pc, PC_C);
    assert_int_equal(f->sm[0].slot[1].group->mask, 0x03);

    splits_step_to(f, 1, PC_G);
    splits_expect_stack(f, stack, 1);
    assert_int_equal(f->sm[0].slot[1].group->mask, 0xff);
    assert_int_equal(f->sm[0].counters.warp_splits, 1);
    assert_int_equal(f->sm[0].counters.merges, 0);
    assert_int_equal(f->sm[0].counters.reconvergences, 2);
    assert_int_equal(f->sm[0].counters.divergent_branches, 2);
    fixture_run(f);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[i], i < 2 ? 24 : i < 4 ? 1114 : 1219);
    fixture_close(f);
}

static void entries_are_counted_for_as_long_as_they_are_used(void **state) {
    (void)state;
    struct fixture *f = open_figure("dws:branch-only-stack,branch_len=3", figure_6);
    splits_step_to(f, 0, PC_B + 1);
    step(f, 0);
    uint64_t since = f->cycle;
    splits_step_to(f, 0, PC_G);
    splits_step_to(f, 1, PC_F);
    step(f, 1);
    assert_int_equal(f->sm[0].counters.split_entry_cycles, 2 * (f->cycle - since));
    fixture_run(f);
    assert_int_equal(f->sm[0].counters.split_entry_cycles, 2 * 6);
    fixture_close(f);
}

static void a_branch_subdivides_a_whole_warp_up_to_branch_len_and_not_beyond(void **state) {
    (void)state;
    static const struct {
        const char *model;
        uint32_t n;
    } cases[] = {{"dws:branch-only-stack,branch_len=0", 0},
                 {"dws:branch-only-stack,branch_len=1", 1},
                 {"dws:branch-only-stack,branch_len=4", 1},
                 {"dws:branch-only-stack,branch_len=5", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *f = open_figure(cases[i].model, figure_6);
        fixture_run(f);
        assert_int_equal(f->sm[0].counters.warp_splits, cases[i].n);
        fixture_close(f);
    }
}

/* As figure 6, and F reads memory. */
static const char meeting[] = PROGRAM_HEAD PROGRAM_BEGIN
    "mov.u32 %r4, 1; setp.lt.u32 %p2, %r0, 4; @%p2 bra D;\n"
    "add.u32 %r4, %r4, 200; add.u32 %r4, %r4, 5; bra F;\n"
    "D: add.u32 %r4, %r4, 100;\n"
    "F: ld.global.u32 %r8, [%rd1]; add.u32 %r4, %r4, 1000; add.u32 %r4, %r4, %r8;\n" PROGRAM_END;
enum { PC_MEETING_BRANCH = 9, PC_MEETING_D = 13, PC_MEETING_F = 14 };

static void splits_that_meet_at_an_access_are_one_again(void **state) {
    (void)state;
    struct fixture *f = open_figure("dws:branch-only", meeting);
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    step(f, 0);
    splits_step_to(f, 0, PC_MEETING_F + 1); /* has read; waits after the access */
    splits_step_to(f, 1, PC_MEETING_F);
    splits_expect_table(f, (struct entry[]){{PC_MEETING_F + 1, RUNS, 0x0f}, {PC_MEETING_F, RUNS, 0xf0}}, 2);
    step(f, 1);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].slot[1].group->mask, 0xff);
    assert_null(f->sm[0].slot[0].group);
    assert_int_equal(f->sm[0].counters.merges, 1);
    fixture_close(f);

    f = open_figure("dws:branch-only", meeting); /* the same before the access, when neither has read */
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    step(f, 0);
    splits_step_to(f, 0, PC_MEETING_F);
    splits_step_to(f, 1, PC_MEETING_F);
    splits_expect_table(f, NULL, 0);
    fixture_close(f);

    f = open_figure("dws:branch-only-stack", meeting);
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    step(f, 0);
    splits_step_to(f, 0, PC_MEETING_F);
    splits_step_to(f, 1, PC_MEETING_F);
    splits_expect_table(f, (struct entry[]){{PC_MEETING_F, RUNS, 0x0f}, {PC_MEETING_F, RUNS, 0xf0}}, 2);
    fixture_close(f);
}

/* --- memory: figure 12 --- */

/* A branch before and after the access at B: the stack serves both, the table what is between. */
static const char figure_12[] =
    PROGRAM_HEAD PROGRAM_BEGIN "mov.u32 %r4, 1; setp.gt.u32 %p1, %r0, 1; setp.lt.u32 %p2, %r0, 4; @%p1 bra B;\n" /* A */
                               "add.u32 %r4, %r4, 20; bra G;\n"                                                  /* C */
                               "B: ld.global.u32 %r8, [%rd1]; add.u32 %r4, %r4, %r8; @%p2 bra D;\n"
                               "add.u32 %r4, %r4, 200; bra F;\n" /* E */
                               "D: add.u32 %r4, %r4, 100;\n"
                               "F: add.u32 %r4, %r4, 1000;\n"
                               "G: add.u32 %r4, %r4, 1;\n" PROGRAM_END;
enum { PC12_C = 11, PC12_B = 13, PC12_E = 16, PC12_D = 18, PC12_F = 19, PC12_G = 20 };

/* Lanes 5 to 7 miss, each for a time of its own. */
static void miss_above_4(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                         uint32_t delay[EXEC_LANES]) {
    (void)user, (void)group, (void)pc;
    for (uint32_t lane = 5; lane < 8; lane++)
        if (mask >> lane & 1)
            delay[lane] = 100 * (lane - 4);
}

static void figure_12_divides_by_the_hit_mask_and_rejoins_before_the_branch(void **state) {
    (void)state;
    struct fixture *f = open_figure("dws:mem=aggress,branches=limited", figure_12);
    f->outcome = miss_above_4;
    splits_step_to(f, 0, PC12_B);
    const struct entry stack[] = {{PC12_G, EXEC_NO_PC, 0xff}, {PC12_C, PC12_G, 0x03}, {PC12_B, PC12_G, 0xfc}};
    splits_expect_stack(f, stack, 3); /* (b) */
    splits_expect_table(f, NULL, 0);

    step(f, 0); /* (c) the access: those that miss keep the parent's entry */
    splits_expect_stack(f, stack, 3);
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, RUNS, 0xe0}, {PC12_B + 1, RUNS, 0x1c}}, 2);
    assert_false(fixture_can_step(&f->sm[0], 0));

    step(f, 1); /* (d) the others run ahead as far as the branch */
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, RUNS, 0xe0}, {PC12_B + 2, WAITS, 0x1c}}, 2);

    f->cycle += 1000;
    step(f, 0); /* (e) those that fell behind come there too: one again */
    splits_expect_table(f, NULL, 0);
    splits_expect_stack(f, stack, 3);
    assert_int_equal(f->sm[0].slot[0].group->pc, PC12_B + 2);
    assert_int_equal(f->sm[0].slot[0].group->mask, 0xfc);

    step(f, 0); /* (f) the branch is the stack's: its paths, D first */
    const struct entry pushed[] = {{PC12_G, EXEC_NO_PC, 0xff},
                                   {PC12_C, PC12_G, 0x03},
                                   {PC12_F, PC12_G, 0xfc},
                                   {PC12_E, PC12_F, 0xf0},
                                   {PC12_D, PC12_F, 0x0c}};
    splits_expect_stack(f, pushed, 5);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].counters.warp_splits, 1);
    fixture_run(f);
    fixture_close(f);
}

static void a_split_that_runs_ahead_bypasses_the_branch(void **state) {
    (void)state;
    struct fixture *f = open_figure("dws:aggress,branch_len=0", figure_12);
    f->outcome = miss_above_4;
    splits_step_to(f, 0, PC12_B);
    step(f, 0);
    step(f, 1);
    step(f, 1); /* the branch: the warp is subdivided, so branch_len no longer matters */
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, RUNS, 0xe0}, {PC12_D, RUNS, 0x0c}, {PC12_E, RUNS, 0x10}}, 3);
    splits_step_to(f, 1, PC12_G); /* then the third split gets the slot */
    splits_step_to(f, 1, PC12_G);
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, RUNS, 0xe0}, {PC12_G, WAITS, 0x0c}, {PC12_G, WAITS, 0x10}}, 3);
    f->cycle += 1000;
    splits_step_to(f, 0, PC12_G);
    splits_expect_table(f, NULL, 0);
    fixture_run(f);
    fixture_close(f);
}

/* --- when memory divides --- */

/* Two warps; the first comes to its access. */
static struct fixture *open_two_warps(const char *model) {
    const struct fixture_shape shape = {.block = 16, .warp_size = 8};
    struct fixture *f = fixture_open(&divergence_dws, model, figure_12, &shape);
    fixture_parameter(f, 0, fixture_alloc(f, 64));
    f->outcome = miss_above_4;
    fixture_start(f);
    splits_step_to(f, 0, PC12_B);
    return f;
}

static void lazy_divides_only_when_all_others_wait(void **state) {
    (void)state;
    struct fixture *f = open_two_warps("dws:lazy,branch_len=0");
    step(f, 0); /* the second warp could continue */
    splits_expect_table(f, NULL, 0);
    splits_step_to(f, 1, PC12_B);
    step(f, 1); /* the first one waits */
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, RUNS, 0xe0}, {PC12_B + 1, RUNS, 0x1f}}, 2);
    fixture_close(f);
}

/* All lanes of the second warp miss. */
static void miss_all_in_row_1(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                              uint32_t delay[EXEC_LANES]) {
    miss_above_4(user, group, pc, mask, delay);
    for (uint32_t lane = 0; lane < 8 && group->row->index == 1; lane++)
        delay[lane] = 2000;
}

static void revive_divides_a_suspended_group_when_nobody_can_go_on(void **state) {
    (void)state;
    for (int is_revive = 0; is_revive < 2; is_revive++) {
        struct fixture *f = open_two_warps(is_revive ? "dws:revive,branch_len=0" : "dws:lazy,branch_len=0");
        f->outcome = miss_all_in_row_1;
        step(f, 0);
        splits_step_to(f, 1, PC12_B);
        step(f, 1);
        splits_expect_table(f, NULL, 0);
        fixture_idle(f);
        if (is_revive)
            splits_expect_table(f, (struct entry[]){{PC12_B + 1, RUNS, 0xe0}, {PC12_B + 1, RUNS, 0x1c}}, 2);
        else
            splits_expect_table(f, NULL, 0);
        if (is_revive) { /* lane 5 has come 100 cycles after the access: it may continue by itself */
            splits_step_to(f, 2, PC12_G);
            f->cycle += 100;
            fixture_idle(f);
            assert_int_equal(f->sm[0].counters.warp_splits, 3); /* the branch divided too */
            assert_int_equal(f->sm[0].slot[0].group->mask, 0xc0);
        }
        fixture_close(f);
    }
}

/* Each lane waits ten cycles longer than the one before it. */
static void miss_all_by_lane(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                             uint32_t delay[EXEC_LANES]) {
    (void)user, (void)group, (void)pc, (void)mask;
    for (uint32_t lane = 0; lane < 8; lane++)
        delay[lane] = 10 * (lane + 1);
}

static void revive_takes_the_groups_in_turn(void **state) {
    (void)state;
    struct fixture *f = open_two_warps("dws:revive,branch_len=0");
    f->outcome = miss_all_by_lane;
    splits_step_to(f, 1, PC12_B);
    step(f, 0);
    step(f, 1);
    const struct divergence_group *first = f->sm[0].slot[0].group, *second = f->sm[0].slot[1].group;
    f->cycle += 35;
    fixture_idle(f);
    assert_int_equal(first->mask, 0xfc);
    assert_int_equal(second->mask, 0xf8);
    f->cycle += 10; /* for both a lane more has come */
    fixture_idle(f);
    assert_int_equal(first->mask, 0xf0);
    assert_int_equal(second->mask, 0xf8);
    fixture_close(f);
}

static void nobody_runs_ahead_who_would_have_to_stop_at_once(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD PROGRAM_BEGIN "mov.u32 %r4, 1; setp.lt.u32 %p2, %r0, 4; ld.global.u32 %r8, [%rd1]; @%p2 bra D;\n"
                                   "add.u32 %r4, %r4, 200;\n"
                                   "D: add.u32 %r4, %r4, 100;\n" PROGRAM_END;
    for (int is_limited = 0; is_limited < 2; is_limited++) {
        struct fixture *f = open_figure(is_limited ? "dws:mem=aggress,branches=limited" : "dws:aggress", text);
        f->outcome = miss_above_4;
        splits_step_to(f, 0, 9);
        step(f, 0);
        assert_int_equal(f->sm[0].counters.warp_splits, !is_limited);
        assert_int_equal(f->sm[0].counters.splits_refused, 0);
        fixture_run(f);
        fixture_close(f);
    }
}

static void stores_and_whole_hits_divide_nothing(void **state) {
    (void)state;
    struct fixture *f = open_figure("dws:mem=aggress,branches=limited", figure_12);
    fixture_run(f);
    assert_int_equal(f->sm[0].counters.warp_splits, 0);
    fixture_close(f);
}

/* --- limits --- */

static void a_full_table_refuses_and_the_branch_is_serialised(void **state) {
    (void)state;
    struct fixture *f = open_figure("dws:aggress,wst=2,branch_len=0", figure_12);
    f->outcome = miss_above_4;
    splits_step_to(f, 0, PC12_B);
    step(f, 0);
    step(f, 1);
    step(f, 1); /* the table has no room for the branch of those that run ahead: D first, then E */
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, RUNS, 0xe0}, {PC12_D, RUNS, 0x0c}}, 2);
    assert_int_equal(f->sm[0].counters.splits_refused, 1);
    splits_step_to(f, 1, PC12_E);
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, RUNS, 0xe0}, {PC12_E, RUNS, 0x10}}, 2);
    splits_step_to(f, 1, PC12_F); /* they have met again */
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, RUNS, 0xe0}, {PC12_F, RUNS, 0x1c}}, 2);
    const struct divergence_split *met = (struct divergence_split *)f->sm[0].slot[1].group;
    assert_null(met->subdivision->parent); /* and need no stack of their own */
    assert_int_equal(met->subdivision->n_children, 0);
    fixture_run(f);
    fixture_close(f);
}

static void a_split_without_a_slot_waits_for_one_and_may_merge_meanwhile(void **state) {
    (void)state;
    const struct fixture_shape shape = {.block = 8, .warp_size = 8, .n_slots = 1};
    struct fixture *f = fixture_open(&divergence_dws, "dws:branch-only", meeting, &shape);
    fixture_parameter(f, 0, fixture_alloc(f, 32));
    fixture_start(f);
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    step(f, 0);
    const struct divergence_splits *splits = f->sm[0].model;
    assert_non_null(splits->queue);
    assert_int_equal(splits->queue->mask[0], 0xf0);
    splits_step_to(f, 0, 18); /* to the end of it: then the other gets the slot */
    step(f, 0);
    assert_null(splits->queue);
    assert_int_equal(f->sm[0].slot[0].group->mask, 0xf0);
    fixture_run(f);
    fixture_close(f);
}

static void a_barrier_makes_the_splits_one(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN "mov.u32 %r4, 1; setp.lt.u32 %p2, %r0, 4; @%p2 bra D;\n"
                                                          "add.u32 %r4, %r4, 200; add.u32 %r4, %r4, 5;\n"
                                                          "D: bar.sync 0; add.u32 %r4, %r4, 100;\n" PROGRAM_END;
    struct fixture *f = open_figure("dws:branch-only-stack", text);
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    step(f, 0);
    step(f, 0);
    splits_expect_table(f, (struct entry[]){{13, WAITS, 0x0f}, {10, RUNS, 0xf0}}, 2);
    splits_step_to(f, 1, 13);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].slot[1].group->mask, 0xff);
    assert_int_equal(f->sm[0].counters.barriers, 2);
    assert_int_equal(f->sm[0].counters.merges, 1);
    fixture_close(f);
}

static void the_table_costs_what_the_paper_says(void **state) {
    (void)state;
    struct config_machine machine = {.warp_size = 16, .threads_per_sm = 64};
    const struct divergence_ops *ops = &divergence_dws;
    struct config_plugin plugin = {ops->name, ops->help, ops->option, ops->preset, ops->options_bytes};
    char error[200], formula[300];
    size_t which;
    void *options;
    assert_true(config_plugin_parse("model", &plugin, 1, "dws", &which, &options, error, sizeof error));
    assert_int_equal(ops->cost_bits(options, &machine, formula, sizeof formula), 16 * 84);
    assert_string_equal(formula, "entries x (mask 16 + warp number 2 + pc 64 + status 2): 16 x 84");
    assert_int_equal(ops->n_slots(options, &machine, 4, 64), 8);
    free(options);
    machine.schedulers = 2;
    assert_true(config_plugin_parse("model", &plugin, 1, "dws:merge=dwf", &which, &options, error, sizeof error));
    assert_int_equal(ops->cost_bits(options, &machine, formula, sizeof formula), 16 * 84 + 8 * 80 + 2 * 16 * 2);
    assert_string_equal(formula,
                        "entries x (mask 16 + warp number 2 + pc 64 + status 2): 16 x 84; slots x (mask 16 + pc 64): "
                        "8 x 80; schedulers x lanes x home of a thread: 32 x 2");
    free(options);
    assert_true(
        config_plugin_parse("model", &plugin, 1, "dws:merge=dwf,lanes=free", &which, &options, error, sizeof error));
    assert_int_equal(ops->cost_bits(options, &machine, formula, sizeof formula), 16 * 84 + 8 * 80 + 2 * 16 * 6);
    free(options);
}

static void more_slots_than_an_sm_has_are_refused(void **state) {
    (void)state;
    struct config_plugin plugin = {"dws", "", divergence_dws.option, divergence_dws.preset,
                                   divergence_dws.options_bytes};
    void *options;
    size_t which;
    char error[256] = "";
    assert_true(config_plugin_parse("model", &plugin, 1, "dws:slots=128", &which, &options, error, sizeof error));
    free(options);
    assert_false(config_plugin_parse("model", &plugin, 1, "dws:slots=129", &which, &options, error, sizeof error));
    assert_non_null(strstr(error, "slots"));
    assert_non_null(strstr(error, "128"));
}

static void what_cannot_run_is_refused_with_its_rule(void **state) {
    (void)state;
    struct fixture *f = open_figure("dws:mem=none,branches=limited", figure_6);
    char text[200];
    assert_string_equal(divergence_dws.refuses(f->options, &f->machine, NULL, text, sizeof text),
                        "dws with mem=none and branches=limited never subdivides a warp: that is the model stack");
    fixture_close(f);
    f = open_figure("dws:size=36", figure_6);
    f->machine.warp_size = 32;
    assert_string_equal(divergence_dws.refuses(f->options, &f->machine, NULL, text, sizeof text),
                        "dws: size=36 is not a multiple of the machine's warps of 32 threads");
    fixture_close(f);
    f = open_figure("dws:size=16,merge=dwf", figure_6);
    assert_string_equal(
        divergence_dws.refuses(f->options, &f->machine, NULL, text, sizeof text),
        "dws with merge=dwf takes warps of the machine's size: a large warp fills its lanes from rows of its own");
    f->machine.warp_size = 16;
    assert_null(divergence_dws.refuses(f->options, &f->machine, NULL, text, sizeof text));
    fixture_close(f);
}

/* --- large warps --- */

static void a_large_warp_is_divided_over_its_rows(void **state) {
    (void)state;
    const struct fixture_shape shape = {.block = 16, .warp_size = 8};
    struct fixture *f = fixture_open(&divergence_dws, "dws:size=16,mem=aggress", meeting, &shape);
    fixture_parameter(f, 0, fixture_alloc(f, 64));
    fixture_start(f);
    assert_int_equal(f->sm[0].slot[0].group->n_threads, 16);
    assert_null(f->sm[0].slot[1].group);
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    step(f, 0);
    const struct divergence_split *taken = (struct divergence_split *)f->sm[0].slot[0].group;
    const struct divergence_split *other = (struct divergence_split *)f->sm[0].slot[1].group;
    assert_int_equal(taken->mask[0], 0x0f);
    assert_int_equal(taken->mask[1], 0x00);
    assert_int_equal(other->mask[0], 0xf0);
    assert_int_equal(other->mask[1], 0xff);
    splits_step_to(f, 1, PC_MEETING_F);
    f->outcome = miss_above_4; /* lanes 5 to 7 of both rows */
    step(f, 1);
    assert_int_equal(other->mask[0], 0xe0);
    assert_int_equal(other->mask[1], 0xe0);
    const struct divergence_split *ahead = (struct divergence_split *)f->sm[0].slot[2].group;
    assert_int_equal(ahead->mask[0], 0x10);
    assert_int_equal(ahead->mask[1], 0x1f);
    fixture_run(f);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[i], i < 4 ? 1101 : 1206);
    fixture_close(f);
}

/* --- groups of different warps that issue together --- */

/* Threads with bit 2 of their number equal to bit 3 go to D: lanes 0 to 3 of the first warp and 4 to 7 of the second;
 * %r10 is the mask of those lanes. */
#define COMPLEMENTS                                                                                                    \
    "shr.u32 %r5, %r0, 1; xor.b32 %r5, %r5, %r0; and.b32 %r5, %r5, 4; setp.eq.u32 %p2, %r5, 0; mov.u32 %r4, 1;\n"      \
    "and.b32 %r9, %r0, 8; shr.u32 %r9, %r9, 1; mov.u32 %r10, 15; shl.b32 %r10, %r10, %r9; @%p2 bra D;\n"
static const char complements[] =
    PROGRAM_HEAD PROGRAM_BEGIN COMPLEMENTS "add.u32 %r4, %r4, 200; add.u32 %r4, %r4, 5; bra F;\n" /* E */
                                           "D: add.u32 %r4, %r4, 100; add.u32 %r4, %r4, 50;\n"
                                           "F: add.u32 %r4, %r4, 1000;\n" PROGRAM_END;
enum { PCC_BRANCH = 16, PCC_E = 17, PCC_D = 20, PCC_F = 22, PCC_STORE = 23 };

static struct fixture *open_warps(const char *model, const char *text, uint32_t n_warps) {
    const struct fixture_shape shape = {.block = 8 * n_warps, .warp_size = 8};
    struct fixture *f = fixture_open(&divergence_dws, model, text, &shape);
    fixture_parameter(f, 0, fixture_alloc(f, 32 * n_warps));
    fixture_start(f);
    return f;
}

static void splits_of_two_warps_issue_together_where_their_lanes_leave_room(void **state) {
    (void)state;
    struct fixture *f = open_warps("dws:branch-only,merge=dwf", complements, 2);
    const uint64_t *n_shared = &f->sm[0].counters.shared_issues;
    splits_step_to(f, 0, PCC_BRANCH);
    assert_int_equal(f->sm[0].slot[1].group->pc, 0); /* full warps go alone */
    splits_step_to(f, 1, PCC_BRANCH);
    step(f, 0);
    step(f, 1);
    splits_expect_table(
        f, (struct entry[]){{PCC_D, RUNS, 0x0f}, {PCC_E, RUNS, 0xf0}, {PCC_D, RUNS, 0xf0}, {PCC_E, RUNS, 0x0f}}, 4);
    assert_int_equal(*n_shared, 0);

    uint64_t n_instructions = f->sm[0].n_instructions, n_bundles = f->sm[0].n_bundles;
    step(f, 0); /* D: lanes 0 to 3 of the first warp, 4 to 7 of the second */
    splits_expect_table(
        f, (struct entry[]){{PCC_D + 1, RUNS, 0x0f}, {PCC_E, RUNS, 0xf0}, {PCC_D + 1, RUNS, 0xf0}, {PCC_E, RUNS, 0x0f}},
        4);
    assert_int_equal(*n_shared, 1);
    assert_int_equal(f->sm[0].n_instructions, n_instructions + 1);
    assert_int_equal(f->sm[0].n_bundles, n_bundles + 1);

    splits_step_to(f, 1, PCC_F); /* the second warp may lead as well */
    splits_step_to(f, 2, PCC_F); /* E, and the jump at its end */
    splits_expect_table(
        f, (struct entry[]){{PCC_F, RUNS, 0x0f}, {PCC_F, RUNS, 0xf0}, {PCC_F, RUNS, 0xf0}, {PCC_F, RUNS, 0x0f}}, 4);
    assert_int_equal(*n_shared, 5);

    step(f, 0); /* the other two are splits of these warps, and wait for their own turn */
    splits_expect_table(
        f, (struct entry[]){{PCC_STORE, RUNS, 0x0f}, {PCC_F, RUNS, 0xf0}, {PCC_STORE, RUNS, 0xf0}, {PCC_F, RUNS, 0x0f}},
        4);
    assert_int_equal(f->sm[0].counters.merges, 0);
    step(f, 2); /* both meet their own warp's other split in front of the store */
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].counters.merges, 2);
    assert_int_equal(*n_shared, 7);
    fixture_run(f);
    assert_int_equal(*n_shared, 7);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[i], (i >> 3 ^ i >> 2) & 1 ? 1206 : 1151);
    fixture_close(f);
}

static void each_part_of_a_shared_access_is_divided_by_its_own_hits(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD PROGRAM_BEGIN COMPLEMENTS "add.u32 %r4, %r4, 200; bra F;\n"
                                               "D: ld.global.u32 %r8, [%rd1]; add.u32 %r4, %r4, %r8;\n"
                                               "F: add.u32 %r4, %r4, 1000;\n" PROGRAM_END;
    enum { PC_LOAD = 19 };
    struct fixture *f = open_warps("dws:aggress,merge=dwf,slots=8", text, 2);
    f->outcome = miss_above_4;
    splits_step_to(f, 0, PCC_BRANCH);
    splits_step_to(f, 1, PCC_BRANCH);
    step(f, 0);
    step(f, 1);
    step(f, 0);
    assert_int_equal(f->sm[0].counters.shared_issues, 1);
    splits_expect_table(f,
                        (struct entry[]){{PC_LOAD + 1, RUNS, 0x0f},
                                         {PCC_E, RUNS, 0xf0},
                                         {PC_LOAD + 1, RUNS, 0xe0}, /* of the second warp lane 4 has hit */
                                         {PCC_E, RUNS, 0x0f},
                                         {PC_LOAD + 1, RUNS, 0x10}},
                        5);
    fixture_run(f);
    fixture_close(f);
}

static void lanes_that_collide_issue_alone_unless_lanes_are_free(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD PROGRAM_BEGIN "mov.u32 %r4, 1; and.b32 %r5, %r0, 4; setp.eq.u32 %p2, %r5, 0; @%p2 bra D;\n"
                                   "add.u32 %r4, %r4, 200; bra F;\n"
                                   "D: add.u32 %r4, %r4, 100;\n"
                                   "F: add.u32 %r4, %r4, 1000;\n" PROGRAM_END;
    enum { PC_COLLIDE_D = 13 };
    for (int is_free = 0; is_free < 2; is_free++) {
        struct fixture *f =
            open_warps(is_free ? "dws:branch-only,merge=dwf,lanes=free" : "dws:branch-only,merge=dwf", text, 3);
        for (uint32_t slot = 0; slot < 3; slot++)
            splits_step_to(f, slot, PC_COLLIDE_D);
        assert_int_equal(f->sm[0].counters.shared_issues, 0);
        step(f, 2);
        assert_int_equal(f->sm[0].slot[2].group->pc, PC_COLLIDE_D + 1);
        assert_int_equal(f->sm[0].slot[0].group->pc, PC_COLLIDE_D + is_free); /* 4 + 4 threads are a bundle */
        assert_int_equal(f->sm[0].slot[1].group->pc, PC_COLLIDE_D);
        fixture_run(f);
        assert_true(is_free ? f->sm[0].counters.shared_issues > 1 : f->sm[0].counters.shared_issues == 0);
        fixture_close(f);
    }
}

static void what_needs_a_rows_lanes_or_its_banks_is_not_shared(void **state) {
    (void)state;
    static const struct {
        const char *insn;
        uint32_t n_shared;
    } cases[] = {
        {"mul.lo.u32 %r4, %r4, 3;", 1}, {"ld.global.u32 %r8, [%rd1];", 1}, {"st.global.u32 [%rd1], %r4;", 1},
        {"ld.u32 %r8, [%rd1];", 0},     {"st.shared.u32 [pot], %r4;", 0},  {"vote.sync.ballot.b32 %r8, %p2, %r10;", 0},
        {"bar.warp.sync %r10;", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000];
        snprintf(text, sizeof text, "%s.shared .b32 pot;\n%s%s%s", PROGRAM_HEAD,
                 PROGRAM_BEGIN COMPLEMENTS "exit; D: ", cases[i].insn, "exit; }\n");
        struct fixture *f = open_warps("dws:branch-only,merge=dwf", text, 2);
        for (uint32_t slot = 0; slot < 2; slot++) {
            splits_step_to(f, slot, PCC_BRANCH);
            step(f, slot);
        }
        step(f, 0);
        assert_int_equal(f->sm[0].counters.shared_issues, cases[i].n_shared);
        fixture_run(f);
        fixture_close(f);
    }
}

static void one_warp_shares_nothing_with_itself(void **state) {
    (void)state;
    uint64_t n_instructions[2];
    for (int is_merging = 0; is_merging < 2; is_merging++) {
        struct fixture *f = open_warps(is_merging ? "dws:merge=dwf,lanes=free" : "dws", complements, 1);
        fixture_run(f);
        n_instructions[is_merging] = f->sm[0].n_instructions;
        assert_int_equal(f->sm[0].counters.warp_splits, 1);
        assert_int_equal(f->sm[0].counters.shared_issues, 0);
        fixture_close(f);
    }
    assert_int_equal(n_instructions[0], n_instructions[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_6_subdivides_at_b_and_leaves_the_stack_alone),
        cmocka_unit_test(entries_are_counted_for_as_long_as_they_are_used),
        cmocka_unit_test(a_branch_subdivides_a_whole_warp_up_to_branch_len_and_not_beyond),
        cmocka_unit_test(splits_that_meet_at_an_access_are_one_again),
        cmocka_unit_test(figure_12_divides_by_the_hit_mask_and_rejoins_before_the_branch),
        cmocka_unit_test(a_split_that_runs_ahead_bypasses_the_branch),
        cmocka_unit_test(lazy_divides_only_when_all_others_wait),
        cmocka_unit_test(revive_divides_a_suspended_group_when_nobody_can_go_on),
        cmocka_unit_test(revive_takes_the_groups_in_turn),
        cmocka_unit_test(nobody_runs_ahead_who_would_have_to_stop_at_once),
        cmocka_unit_test(stores_and_whole_hits_divide_nothing),
        cmocka_unit_test(a_full_table_refuses_and_the_branch_is_serialised),
        cmocka_unit_test(a_split_without_a_slot_waits_for_one_and_may_merge_meanwhile),
        cmocka_unit_test(a_barrier_makes_the_splits_one),
        cmocka_unit_test(a_large_warp_is_divided_over_its_rows),
        cmocka_unit_test(splits_of_two_warps_issue_together_where_their_lanes_leave_room),
        cmocka_unit_test(each_part_of_a_shared_access_is_divided_by_its_own_hits),
        cmocka_unit_test(lanes_that_collide_issue_alone_unless_lanes_are_free),
        cmocka_unit_test(what_needs_a_rows_lanes_or_its_banks_is_not_shared),
        cmocka_unit_test(one_warp_shares_nothing_with_itself),
        cmocka_unit_test(the_table_costs_what_the_paper_says),
        cmocka_unit_test(more_slots_than_an_sm_has_are_refused),
        cmocka_unit_test(what_cannot_run_is_refused_with_its_rule),
        cmocka_unit_test(every_program_computes_the_same_in_every_variant),
        cmocka_unit_test(loads_that_miss_in_any_pattern_change_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
