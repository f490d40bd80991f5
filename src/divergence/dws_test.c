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
    "dws:first=taken",
    "dws:revived=arrived",
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

static void figure_6_subdivides_at_b_and_leaves_the_stack_alone(void **state) {
    (void)state;
    struct fixture *f = splits_open(&divergence_dws, "dws:branch-only-stack,branch_len=3,first=taken", figure_6, 1);
    splits_step_to(f, 0, PC_A);
    splits_step(f, 0); /* A pushes: G is longer than branch_len */
    const struct entry stack[] = {{PC_G, EXEC_NO_PC, 0xff}, {PC_C, PC_G, 0x03}, {PC_B, PC_G, 0xfc}};
    splits_expect_stack(f, stack, 3);
    splits_expect_table(f, NULL, 0);

    splits_step_to(f, 0, PC_B + 1);
    splits_step(f, 0); /* B subdivides: two entries, and the stack remains */
    splits_expect_stack(f, stack, 3);
    splits_expect_table(f, (struct entry[]){{PC_D, SPLITS_RUNS, 0x0c}, {PC_E, SPLITS_RUNS, 0xf0}}, 2);

    splits_step(f, 1); /* the paths interleave */
    splits_step(f, 0);
    splits_expect_table(f, (struct entry[]){{PC_F, SPLITS_RUNS, 0x0c}, {PC_E + 1, SPLITS_RUNS, 0xf0}}, 2);
    splits_step(f, 0); /* F for the first time; then G, the post-dominator on top of the stack */
    splits_expect_table(f, (struct entry[]){{PC_G, SPLITS_WAITS, 0x0c}, {PC_E + 1, SPLITS_RUNS, 0xf0}}, 2);
    assert_null(f->sm[0].slot[0].group); /* the slot is free for another group */

    splits_step_to(f, 1, PC_F);
    splits_expect_table(f, (struct entry[]){{PC_G, SPLITS_WAITS, 0x0c}, {PC_F, SPLITS_RUNS, 0xf0}}, 2);
    splits_step(f, 1); /* F again; all are there, and the stack pops in the conventional manner */
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
    struct fixture *f = splits_open(&divergence_dws, "dws:branch-only-stack,branch_len=3,first=taken", figure_6, 1);
    splits_step_to(f, 0, PC_B + 1);
    splits_step(f, 0);
    uint64_t since = f->cycle;
    splits_step_to(f, 0, PC_G);
    splits_step_to(f, 1, PC_F);
    splits_step(f, 1);
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
    } cases[] = {{"dws:branch-only-stack,branch_len=0,first=taken", 0},
                 {"dws:branch-only-stack,branch_len=1,first=taken", 1},
                 {"dws:branch-only-stack,branch_len=4,first=taken", 1},
                 {"dws:branch-only-stack,branch_len=5,first=taken", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *f = splits_open(&divergence_dws, cases[i].model, figure_6, 1);
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
    struct fixture *f = splits_open(&divergence_dws, "dws:branch-only,first=taken", meeting, 1);
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    splits_step(f, 0);
    splits_step_to(f, 0, PC_MEETING_F + 1); /* has read; waits after the access */
    splits_step_to(f, 1, PC_MEETING_F);
    splits_expect_table(f, (struct entry[]){{PC_MEETING_F + 1, SPLITS_RUNS, 0x0f}, {PC_MEETING_F, SPLITS_RUNS, 0xf0}},
                        2);
    splits_step(f, 1);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].slot[1].group->mask, 0xff);
    assert_null(f->sm[0].slot[0].group);
    assert_int_equal(f->sm[0].counters.merges, 1);
    fixture_close(f);

    f = splits_open(&divergence_dws, "dws:branch-only,first=taken", meeting,
                    1); /* the same before the access, when neither has read */
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    splits_step(f, 0);
    splits_step_to(f, 0, PC_MEETING_F);
    splits_step_to(f, 1, PC_MEETING_F);
    splits_expect_table(f, NULL, 0);
    fixture_close(f);

    f = splits_open(&divergence_dws, "dws:branch-only-stack,first=taken", meeting, 1);
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    splits_step(f, 0);
    splits_step_to(f, 0, PC_MEETING_F);
    splits_step_to(f, 1, PC_MEETING_F);
    splits_expect_table(f, (struct entry[]){{PC_MEETING_F, SPLITS_RUNS, 0x0f}, {PC_MEETING_F, SPLITS_RUNS, 0xf0}}, 2);
    fixture_close(f);
}

/* The lanes in *user miss for 100 cycles. */
static void miss_some(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                      uint32_t delay[EXEC_LANES]) {
    (void)group, (void)pc;
    for (uint32_t left = mask & *(const uint32_t *)user; left; left &= left - 1)
        delay[__builtin_ctz(left)] = 100;
}

/* Section 4.5: the pcs are compared before it is known who hits. The half that has read is ready after the access; the
 * other reaches it and misses. They are one, and all wait; or the access divides them again. */
static void a_split_at_an_access_meets_those_that_have_finished_it(void **state) {
    (void)state;
    uint32_t misses = 0xf0;
    struct fixture *f = splits_open(&divergence_dws, "dws:branch-only,first=taken", meeting, 1);
    f->outcome = miss_some;
    f->user = &misses;
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    splits_step(f, 0);
    splits_step_to(f, 0, PC_MEETING_F + 1);
    splits_step_to(f, 1, PC_MEETING_F);
    splits_step(f, 1);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].slot[1].group->mask, 0xff);
    assert_false(fixture_can_step(&f->sm[0], 1));
    f->cycle += 100;
    fixture_catch_up(f);
    assert_true(fixture_can_step(&f->sm[0], 1));
    fixture_run(f);
    fixture_close(f);

    f = splits_open(&divergence_dws, "dws:aggress,first=taken", meeting, 1);
    f->outcome = miss_some;
    f->user = &misses;
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    splits_step(f, 0);
    splits_step_to(f, 0, PC_MEETING_F + 1);
    splits_step_to(f, 1, PC_MEETING_F);
    splits_step(f, 1);
    splits_expect_table(
        f, (struct entry[]){{PC_MEETING_F + 1, SPLITS_RUNS, 0xf0}, {PC_MEETING_F + 1, SPLITS_RUNS, 0x0f}}, 2);
    assert_int_equal(f->sm[0].counters.merges, 1);
    assert_int_equal(f->sm[0].counters.warp_splits, 2);
    fixture_run(f);
    fixture_close(f);
}

/* Twice around; in the first trip threads 0 to 3 jump over X. No access anywhere. */
static const char trips[] = PROGRAM_HEAD PROGRAM_BEGIN "mov.u32 %r4, 0; mov.u32 %r5, 2; mov.u32 %r6, 4;\n"
                                                       "LOOP: setp.lt.u32 %p2, %r0, %r6; @%p2 bra SKIP;\n"
                                                       "add.u32 %r4, %r4, 10;\n" /* X */
                                                       "SKIP: add.u32 %r4, %r4, 1; mov.u32 %r6, 0;\n"
                                                       "sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0;\n"
                                                       "@%p1 bra LOOP;\n" PROGRAM_END;
enum { PC_TRIPS_BRANCH = 11, PC_X = 12, PC_SKIP = 13 };

/* Section 6.6: splits that are not scheduled can still merge with those that are. With one slot the other side waits at
 * X until the first comes by, an iteration later; with two it stands there ready. */
static void a_running_split_meets_those_that_stand_where_it_comes(void **state) {
    (void)state;
    for (uint32_t n_slots = 1; n_slots <= 2; n_slots++) {
        const struct fixture_shape shape = {.block = 8, .warp_size = 8, .n_slots = n_slots};
        struct fixture *f = fixture_open(&divergence_dws, "dws:branch-only,first=taken", trips, &shape);
        fixture_parameter(f, 0, fixture_alloc(f, 32));
        fixture_start(f);
        splits_step_to(f, 0, PC_TRIPS_BRANCH);
        splits_step(f, 0);
        splits_expect_table(f, (struct entry[]){{PC_SKIP, SPLITS_RUNS, 0x0f}, {PC_X, SPLITS_RUNS, 0xf0}}, 2);
        splits_step_to(f, 0, PC_X);
        splits_expect_table(f, NULL, 0);
        assert_int_equal(f->sm[0].slot[0].group->mask, 0xff);
        assert_int_equal(f->sm[0].counters.merges, 1);
        fixture_run(f);
        for (uint32_t i = 0; i < 8; i++)
            assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[i], i < 4 ? 12 : 22);
        fixture_close(f);
    }
}

/* The other side comes from X to SKIP without a branch. */
static void a_split_meets_a_sibling_in_the_middle_of_a_block(void **state) {
    (void)state;
    struct fixture *f = splits_open(&divergence_dws, "dws:branch-only,first=taken", trips, 1);
    splits_step_to(f, 0, PC_TRIPS_BRANCH);
    splits_step(f, 0);
    splits_step_to(f, 1, PC_SKIP);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].slot[1].group->mask, 0xff);
    fixture_run(f);
    fixture_close(f);
}

/* Threads 0 to 3 twice around, the others once. */
static const char laps[] = PROGRAM_HEAD PROGRAM_BEGIN
    "mov.u32 %r4, 0; setp.lt.u32 %p2, %r0, 4; selp.u32 %r5, 2, 1, %p2;\n"
    "LOOP: add.u32 %r4, %r4, 1; sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra LOOP;\n" PROGRAM_END;
enum { PC_LAPS_LOOP = 10, PC_LAPS_BRANCH = 13 };

/* It keeps the slot, so that a greedy scheduler continues with it: forwards with those that do not jump over X, which
 * meet the others at once; at the end of a loop with those that stay in it. */
static void the_side_that_comes_first_in_the_program_continues(void **state) {
    (void)state;
    struct fixture *f = splits_open(&divergence_dws, "dws:branch-only", trips, 1);
    splits_step_to(f, 0, PC_TRIPS_BRANCH);
    splits_step(f, 0);
    splits_expect_table(f, (struct entry[]){{PC_X, SPLITS_RUNS, 0xf0}, {PC_SKIP, SPLITS_RUNS, 0x0f}}, 2);
    splits_step(f, 0);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].slot[0].group->mask, 0xff);
    fixture_run(f);
    fixture_close(f);

    f = splits_open(&divergence_dws, "dws:branch-only", laps, 1);
    splits_step_to(f, 0, PC_LAPS_BRANCH);
    splits_step(f, 0);
    splits_expect_table(f, (struct entry[]){{PC_LAPS_LOOP, SPLITS_RUNS, 0x0f}, {PC_LAPS_BRANCH + 1, SPLITS_RUNS, 0xf0}},
                        2);
    fixture_run(f);
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

static void figure_12_divides_by_the_hit_mask_and_rejoins_before_the_branch(void **state) {
    (void)state;
    struct fixture *f = splits_open(&divergence_dws, "dws:mem=aggress,branches=limited,first=taken", figure_12, 1);
    f->outcome = splits_miss_above_4;
    splits_step_to(f, 0, PC12_B);
    const struct entry stack[] = {{PC12_G, EXEC_NO_PC, 0xff}, {PC12_C, PC12_G, 0x03}, {PC12_B, PC12_G, 0xfc}};
    splits_expect_stack(f, stack, 3); /* (b) */
    splits_expect_table(f, NULL, 0);

    splits_step(f, 0); /* (c) the access: those that miss keep the parent's entry */
    splits_expect_stack(f, stack, 3);
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, SPLITS_RUNS, 0xe0}, {PC12_B + 1, SPLITS_RUNS, 0x1c}}, 2);
    assert_false(fixture_can_step(&f->sm[0], 0));

    splits_step(f, 1); /* (d) the others run ahead as far as the branch */
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, SPLITS_RUNS, 0xe0}, {PC12_B + 2, SPLITS_WAITS, 0x1c}}, 2);

    f->cycle += 1000;
    splits_step(f, 0); /* (e) those that fell behind come there too: one again */
    splits_expect_table(f, NULL, 0);
    splits_expect_stack(f, stack, 3);
    assert_int_equal(f->sm[0].slot[0].group->pc, PC12_B + 2);
    assert_int_equal(f->sm[0].slot[0].group->mask, 0xfc);

    splits_step(f, 0); /* (f) the branch is the stack's: its paths, D first */
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
    struct fixture *f = splits_open(&divergence_dws, "dws:aggress,branch_len=0,first=taken", figure_12, 1);
    f->outcome = splits_miss_above_4;
    splits_step_to(f, 0, PC12_B);
    splits_step(f, 0);
    splits_step(f, 1);
    splits_step(f, 1); /* the branch: the warp is subdivided, so branch_len no longer matters */
    splits_expect_table(
        f, (struct entry[]){{PC12_B + 1, SPLITS_RUNS, 0xe0}, {PC12_D, SPLITS_RUNS, 0x0c}, {PC12_E, SPLITS_RUNS, 0x10}},
        3);
    splits_step_to(f, 1, PC12_G); /* then the third split gets the slot */
    splits_step_to(f, 1, PC12_G);
    splits_expect_table(
        f,
        (struct entry[]){{PC12_B + 1, SPLITS_RUNS, 0xe0}, {PC12_G, SPLITS_WAITS, 0x0c}, {PC12_G, SPLITS_WAITS, 0x10}},
        3);
    f->cycle += 1000;
    splits_step_to(f, 0, PC12_G);
    splits_expect_table(f, NULL, 0);
    fixture_run(f);
    fixture_close(f);
}

/* --- when memory divides --- */

/* Two warps; the first reaches its access. */
static struct fixture *open_two_warps(const char *model) {
    struct fixture *f = splits_open(&divergence_dws, model, figure_12, 2);
    f->outcome = splits_miss_above_4;
    splits_step_to(f, 0, PC12_B);
    return f;
}

static void lazy_divides_only_when_all_others_wait(void **state) {
    (void)state;
    struct fixture *f = open_two_warps("dws:lazy,branch_len=0,first=taken");
    splits_step(f, 0); /* the second warp could continue */
    splits_expect_table(f, NULL, 0);
    splits_step_to(f, 1, PC12_B);
    splits_step(f, 1); /* the first one waits */
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, SPLITS_RUNS, 0xe0}, {PC12_B + 1, SPLITS_RUNS, 0x1f}}, 2);
    fixture_close(f);
}

/* All lanes of the second warp miss. */
static void miss_all_in_row_1(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                              uint32_t delay[EXEC_LANES]) {
    splits_miss_above_4(user, group, pc, mask, delay);
    for (uint32_t lane = 0; lane < 8 && group->row->index == 1; lane++)
        delay[lane] = 2000;
}

static void revive_divides_a_suspended_group_when_no_group_can_continue(void **state) {
    (void)state;
    for (int is_revive = 0; is_revive < 2; is_revive++) {
        struct fixture *f =
            open_two_warps(is_revive ? "dws:revive,branch_len=0,first=taken" : "dws:lazy,branch_len=0,first=taken");
        f->outcome = miss_all_in_row_1;
        splits_step(f, 0);
        splits_step_to(f, 1, PC12_B);
        splits_step(f, 1);
        splits_expect_table(f, NULL, 0);
        fixture_idle(f);
        if (is_revive)
            splits_expect_table(f, (struct entry[]){{PC12_B + 1, SPLITS_RUNS, 0xe0}, {PC12_B + 1, SPLITS_RUNS, 0x1c}},
                                2);
        else
            splits_expect_table(f, NULL, 0);
        fixture_close(f);
    }
}

/* Sections 5.2 and 5.4: a group that missed in part is divided by its hit mask. Lane 5 has come 100 cycles after the
 * access: with revived=arrived it continues by itself, otherwise it waits for the others that missed. */
static void revive_divides_by_the_hit_mask_unless_told_by_what_has_arrived(void **state) {
    (void)state;
    for (int by_arrival = 0; by_arrival < 2; by_arrival++) {
        struct fixture *f = open_two_warps(by_arrival ? "dws:revive,branch_len=0,first=taken,revived=arrived"
                                                      : "dws:revive,branch_len=0,first=taken");
        f->outcome = miss_all_in_row_1;
        splits_step(f, 0);
        splits_step_to(f, 1, PC12_B);
        splits_step(f, 1);
        fixture_idle(f);
        splits_step_to(f, 2, PC12_G);
        f->cycle += 100;
        fixture_idle(f);
        assert_int_equal(f->sm[0].counters.warp_splits, by_arrival ? 3 : 2); /* the branch divided too */
        assert_int_equal(f->sm[0].slot[0].group->mask, by_arrival ? 0xc0 : 0xe0);
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
    struct fixture *f = open_two_warps("dws:revive,branch_len=0,first=taken,revived=arrived");
    f->outcome = miss_all_by_lane;
    splits_step_to(f, 1, PC12_B);
    splits_step(f, 0);
    splits_step(f, 1);
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

static void threads_that_would_have_to_stop_at_once_do_not_run_ahead(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD PROGRAM_BEGIN "mov.u32 %r4, 1; setp.lt.u32 %p2, %r0, 4; ld.global.u32 %r8, [%rd1]; @%p2 bra D;\n"
                                   "add.u32 %r4, %r4, 200;\n"
                                   "D: add.u32 %r4, %r4, 100;\n" PROGRAM_END;
    for (int is_limited = 0; is_limited < 2; is_limited++) {
        struct fixture *f = splits_open(
            &divergence_dws, is_limited ? "dws:mem=aggress,branches=limited,first=taken" : "dws:aggress,first=taken",
            text, 1);
        f->outcome = splits_miss_above_4;
        splits_step_to(f, 0, 9);
        splits_step(f, 0);
        assert_int_equal(f->sm[0].counters.warp_splits, !is_limited);
        assert_int_equal(f->sm[0].counters.splits_refused, 0);
        fixture_run(f);
        fixture_close(f);
    }
}

static void stores_and_whole_hits_divide_nothing(void **state) {
    (void)state;
    struct fixture *f = splits_open(&divergence_dws, "dws:mem=aggress,branches=limited,first=taken", figure_12, 1);
    fixture_run(f);
    assert_int_equal(f->sm[0].counters.warp_splits, 0);
    fixture_close(f);
}

/* --- limits --- */

static void a_full_table_refuses_and_the_branch_is_serialised(void **state) {
    (void)state;
    struct fixture *f = splits_open(&divergence_dws, "dws:aggress,wst=2,branch_len=0,first=taken", figure_12, 1);
    f->outcome = splits_miss_above_4;
    splits_step_to(f, 0, PC12_B);
    splits_step(f, 0);
    splits_step(f, 1);
    splits_step(f, 1); /* the table has no room for the branch of those that run ahead: D first, then E */
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, SPLITS_RUNS, 0xe0}, {PC12_D, SPLITS_RUNS, 0x0c}}, 2);
    assert_int_equal(f->sm[0].counters.splits_refused, 1);
    splits_step_to(f, 1, PC12_E);
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, SPLITS_RUNS, 0xe0}, {PC12_E, SPLITS_RUNS, 0x10}}, 2);
    splits_step_to(f, 1, PC12_F); /* they have met again */
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, SPLITS_RUNS, 0xe0}, {PC12_F, SPLITS_RUNS, 0x1c}}, 2);
    const struct divergence_split *met = (struct divergence_split *)f->sm[0].slot[1].group;
    assert_null(met->subdivision->parent); /* and need no stack of their own */
    assert_int_equal(met->subdivision->n_children, 0);
    fixture_run(f);
    fixture_close(f);
}

static void a_split_without_a_slot_waits_for_one_and_may_merge_meanwhile(void **state) {
    (void)state;
    const struct fixture_shape shape = {.block = 8, .warp_size = 8, .n_slots = 1};
    struct fixture *f = fixture_open(&divergence_dws, "dws:branch-only,first=taken", meeting, &shape);
    fixture_parameter(f, 0, fixture_alloc(f, 32));
    fixture_start(f);
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    splits_step(f, 0);
    const struct divergence_splits *splits = f->sm[0].model;
    assert_non_null(splits->queue);
    assert_int_equal(splits->queue->mask[0], 0xf0);
    splits_step_to(f, 0, 18); /* to the end of it: then the other gets the slot */
    splits_step(f, 0);
    assert_null(splits->queue);
    assert_int_equal(f->sm[0].slot[0].group->mask, 0xf0);
    fixture_run(f);
    fixture_close(f);
}

/* Section 5.6: "extra warp-splits sit idle until a scheduling slot is available". */
static void a_split_by_memory_without_a_slot_waits_for_one(void **state) {
    (void)state;
    const struct fixture_shape shape = {.block = 8, .warp_size = 8, .n_slots = 1};
    struct fixture *f = fixture_open(&divergence_dws, "dws:aggress,branch_len=0,first=taken", figure_12, &shape);
    fixture_parameter(f, 0, fixture_alloc(f, 32));
    fixture_start(f);
    f->outcome = splits_miss_above_4;
    splits_step_to(f, 0, PC12_B);
    splits_step(f, 0);
    splits_expect_table(f, (struct entry[]){{PC12_B + 1, SPLITS_RUNS, 0xe0}, {PC12_B + 1, SPLITS_RUNS, 0x1c}}, 2);
    const struct divergence_splits *splits = f->sm[0].model;
    assert_non_null(splits->queue);
    assert_int_equal(splits->queue->mask[0], 0x1c);
    assert_int_equal(f->sm[0].counters.splits_refused, 0);
    f->cycle += 1000; /* no slot was free until then: they are one again */
    fixture_catch_up(f);
    splits_expect_table(f, NULL, 0);
    assert_null(splits->queue);
    assert_int_equal(f->sm[0].slot[0].group->mask, 0xfc);
    fixture_run(f);
    fixture_close(f);
}

static void a_barrier_makes_the_splits_one(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN "mov.u32 %r4, 1; setp.lt.u32 %p2, %r0, 4; @%p2 bra D;\n"
                                                          "add.u32 %r4, %r4, 200; add.u32 %r4, %r4, 5;\n"
                                                          "D: bar.sync 0; add.u32 %r4, %r4, 100;\n" PROGRAM_END;
    struct fixture *f = splits_open(&divergence_dws, "dws:branch-only-stack,first=taken", text, 1);
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    splits_step(f, 0);
    splits_step(f, 0);
    splits_expect_table(f, (struct entry[]){{13, SPLITS_WAITS, 0x0f}, {10, SPLITS_RUNS, 0xf0}}, 2);
    splits_step_to(f, 1, 13);
    splits_expect_table(f, NULL, 0);
    assert_int_equal(f->sm[0].slot[1].group->mask, 0xff);
    assert_int_equal(f->sm[0].counters.barriers, 2);
    assert_int_equal(f->sm[0].counters.merges, 1);
    fixture_close(f);
}

static void the_table_costs_what_the_paper_says(void **state) {
    (void)state;
    struct config_machine machine = {.sm = {.warp_size = 16, .threads = 64}};
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
    machine.sm.schedulers = 2;
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
    struct fixture *f = splits_open(&divergence_dws, "dws:mem=none,branches=limited,first=taken", figure_6, 1);
    char text[200];
    assert_string_equal(divergence_dws.refuses(f->options, &f->machine, NULL, text, sizeof text),
                        "dws with mem=none and branches=limited never subdivides a warp: that is the model stack");
    fixture_close(f);
    f = splits_open(&divergence_dws, "dws:size=36,first=taken", figure_6, 1);
    f->machine.sm.warp_size = 32;
    assert_string_equal(divergence_dws.refuses(f->options, &f->machine, NULL, text, sizeof text),
                        "dws: size=36 is not a multiple of the machine's warps of 32 threads");
    fixture_close(f);
    f = splits_open(&divergence_dws, "dws:size=16,merge=dwf,first=taken", figure_6, 1);
    assert_string_equal(
        divergence_dws.refuses(f->options, &f->machine, NULL, text, sizeof text),
        "dws with merge=dwf takes warps of the machine's size: a large warp fills its lanes from rows of its own");
    f->machine.sm.warp_size = 16;
    assert_null(divergence_dws.refuses(f->options, &f->machine, NULL, text, sizeof text));
    fixture_close(f);
}

/* --- large warps --- */

static void a_large_warp_is_divided_over_its_rows(void **state) {
    (void)state;
    struct fixture *f = splits_open(&divergence_dws, "dws:size=16,mem=aggress,first=taken", meeting, 2);
    assert_int_equal(f->sm[0].slot[0].group->n_threads, 16);
    assert_null(f->sm[0].slot[1].group);
    splits_step_to(f, 0, PC_MEETING_BRANCH);
    splits_step(f, 0);
    const struct divergence_split *taken = (struct divergence_split *)f->sm[0].slot[0].group;
    const struct divergence_split *other = (struct divergence_split *)f->sm[0].slot[1].group;
    assert_int_equal(taken->mask[0], 0x0f);
    assert_int_equal(taken->mask[1], 0x00);
    assert_int_equal(other->mask[0], 0xf0);
    assert_int_equal(other->mask[1], 0xff);
    splits_step_to(f, 1, PC_MEETING_F);
    f->outcome = splits_miss_above_4; /* lanes 5 to 7 of both rows */
    splits_step(f, 1);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_6_subdivides_at_b_and_leaves_the_stack_alone),
        cmocka_unit_test(entries_are_counted_for_as_long_as_they_are_used),
        cmocka_unit_test(a_branch_subdivides_a_whole_warp_up_to_branch_len_and_not_beyond),
        cmocka_unit_test(splits_that_meet_at_an_access_are_one_again),
        cmocka_unit_test(a_split_at_an_access_meets_those_that_have_finished_it),
        cmocka_unit_test(a_running_split_meets_those_that_stand_where_it_comes),
        cmocka_unit_test(a_split_meets_a_sibling_in_the_middle_of_a_block),
        cmocka_unit_test(the_side_that_comes_first_in_the_program_continues),
        cmocka_unit_test(figure_12_divides_by_the_hit_mask_and_rejoins_before_the_branch),
        cmocka_unit_test(a_split_that_runs_ahead_bypasses_the_branch),
        cmocka_unit_test(lazy_divides_only_when_all_others_wait),
        cmocka_unit_test(revive_divides_a_suspended_group_when_no_group_can_continue),
        cmocka_unit_test(revive_divides_by_the_hit_mask_unless_told_by_what_has_arrived),
        cmocka_unit_test(revive_takes_the_groups_in_turn),
        cmocka_unit_test(threads_that_would_have_to_stop_at_once_do_not_run_ahead),
        cmocka_unit_test(stores_and_whole_hits_divide_nothing),
        cmocka_unit_test(a_full_table_refuses_and_the_branch_is_serialised),
        cmocka_unit_test(a_split_without_a_slot_waits_for_one_and_may_merge_meanwhile),
        cmocka_unit_test(a_split_by_memory_without_a_slot_waits_for_one),
        cmocka_unit_test(a_barrier_makes_the_splits_one),
        cmocka_unit_test(a_large_warp_is_divided_over_its_rows),
        cmocka_unit_test(the_table_costs_what_the_paper_says),
        cmocka_unit_test(more_slots_than_an_sm_has_are_refused),
        cmocka_unit_test(what_cannot_run_is_refused_with_its_rule),
        cmocka_unit_test(every_program_computes_the_same_in_every_variant),
        cmocka_unit_test(loads_that_miss_in_any_pattern_change_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
