/* Tests of branch and warp interweaving: which contexts are hot, and which groups issue together, derived on paper from
 * the rules in docs/models/interweave.md. Lane 0 is the rightmost bit of a mask. */
#include "divergence/testing/programs.h"

static struct fixture *start(const char *model, const char *text, uint32_t block, uint32_t n_slots) {
    return fixture_begin(model, text, &(struct fixture_shape){.block = block, .warp_size = 4, .n_slots = n_slots});
}

static void expect_waiting(const struct fixture *f, uint32_t slot) {
    assert_int_equal(f->sm[0].slot[slot].group->status, DIVERGENCE_WAITS);
}

static uint64_t shared(const struct fixture *f) { return f->sm[0].counters.shared_issues; }

/* --- branch interweaving --- */

/* Lane 1 goes to C, which is shorter than B. They meet at D. */
#define BRANCH                                                                                                         \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 1; @%p1 bra C;\n" /* 0 1 2 */                           \
                   "add.u32 %r1, %r0, 1; add.u32 %r2, %r0, 1; bra D;\n"          /* 3 4 5: B */                        \
                   "C: add.u32 %r1, %r0, 2;\n"                                   /* 6 */                               \
                   "D: add.u32 %r2, %r1, 3; add.u32 %r2, %r2, 3; ret; }\n"       /* 7 8 9 */

/* B, with the lowest pc, is the primary context; C runs beside it. At D lane 1 waits, because B is between the branch
 * and D. Eight steps instead of nine. */
static void two_paths_of_a_warp_issue_together(void **state) {
    (void)state;
    struct fixture *f = start("interweave:sbi", BRANCH, 4, 0);
    assert_int_equal(fixture_free_slots(&f->sm[0]), 1);
    fixture_steps(f, 0, 3);
    fixture_expect(f, 0, 3, 0b1101);
    fixture_expect(f, 1, 6, 0b0010);
    assert_int_equal(shared(f), 0);
    fixture_steps(f, 0, 1);
    assert_int_equal(shared(f), 1);
    fixture_expect(f, 0, 4, 0b1101);
    expect_waiting(f, 1);
    fixture_steps(f, 0, 2);
    fixture_expect(f, 0, 7, 0b1111);
    expect_waiting(f, 1);
    fixture_steps(f, 0, 3);
    assert_int_equal(f->sm[0].n_instructions, 9);
    assert_int_equal(shared(f), 1);
    assert_int_equal(f->n_finished, 1);
    fixture_close(f);
}

/* Either of the two may be picked: the other follows. */
static void the_scheduler_may_pick_the_second_context(void **state) {
    (void)state;
    struct fixture *f = start("interweave:sbi", BRANCH, 4, 0);
    fixture_steps(f, 0, 3);
    fixture_steps(f, 1, 1);
    assert_int_equal(shared(f), 1);
    fixture_expect(f, 0, 4, 0b1101);
    expect_waiting(f, 1);
    fixture_finish(f);
}

/* Without the constraint lane 1 executes D alone, and ends while the others reach it. */
static void without_constraints_a_path_runs_ahead(void **state) {
    (void)state;
    struct fixture *f = start("interweave:sbi,constraints=off", BRANCH, 4, 0);
    fixture_steps(f, 0, 4);
    fixture_expect(f, 0, 4, 0b1101);
    fixture_expect(f, 1, 7, 0b0010);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 5, 0b1101);
    fixture_expect(f, 1, 8, 0b0010);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 7, 0b1101);
    fixture_expect(f, 1, 9, 0b0010);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 8, 0b1101);
    expect_waiting(f, 1); /* lane 1 has ended */
    fixture_finish(f);
}

/* Lanes 0 to 3 go to A, B, C and E, which are 3 instructions each except for E, and meet at D. */
#define SWITCH                                                                                                         \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; T: .branchtargets A, B, C, E; brx.idx %r0, T;\n" /* 0 1 */                    \
                   "A: add.u32 %r1, %r0, 1; add.u32 %r1, %r0, 2; bra D;\n"                /* 2 3 4 */                  \
                   "B: add.u32 %r1, %r0, 1; add.u32 %r1, %r0, 2; bra D;\n"                /* 5 6 7 */                  \
                   "C: add.u32 %r1, %r0, 1; add.u32 %r1, %r0, 2; bra D;\n"                /* 8 9 10 */                 \
                   "E: add.u32 %r1, %r0, 1; add.u32 %r1, %r0, 2;\n"                       /* 11 12 */                  \
                   "D: ret; }\n"                                                          /* 13 */

/* The two contexts with the lowest pcs are hot. When A and B have reached D, which lies behind C and E, those are. */
static void the_two_lowest_contexts_are_hot(void **state) {
    (void)state;
    struct fixture *f = start("interweave:sbi", SWITCH, 4, 0);
    fixture_steps(f, 0, 2);
    fixture_expect(f, 0, 2, 0b0001);
    fixture_expect(f, 1, 5, 0b0010);
    fixture_steps(f, 0, 2);
    fixture_expect(f, 0, 4, 0b0001);
    fixture_expect(f, 1, 7, 0b0010);
    fixture_steps(f, 0,
                  1); /* A goes to D: C becomes hot; B's group has changed nothing and issues too, then E is hot */
    fixture_expect(f, 0, 8, 0b0100);
    fixture_expect(f, 1, 11, 0b1000);
    fixture_steps(f, 0, 2);
    fixture_expect(f, 0, 10, 0b0100);
    expect_waiting(f, 1);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 13, 0b1111);
    fixture_finish(f);
}

/* One slot: the second context is cold, as with multi-pc. */
static void a_warp_without_a_second_slot_runs_one_path(void **state) {
    (void)state;
    struct fixture *f = start("interweave:sbi", BRANCH, 4, 1);
    fixture_steps(f, 0, 3);
    fixture_expect(f, 0, 3, 0b1101);
    assert_int_equal(f->sm[0].slot[0].group->notify_pc, 6);
    fixture_steps(f, 0, 3);
    fixture_expect(f, 0, 6, 0b0010);
    fixture_finish(f);
}

/* Both paths begin with a load. */
#define LOADS                                                                                                          \
    PROGRAM_KERNEL "ld.param.u64 %d1, [out]; mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 1; @%p1 bra C;\n" /* 0-3 */    \
                   "ld.global.u32 %r1, [%d1]; add.u32 %r2, %r0, 1; bra D;\n"                              /* 4 5 6 */  \
                   "C: ld.global.u32 %r1, [%d1]; add.u32 %r2, %r0, 1;\n"                                  /* 7 8 */    \
                   "D: ret; }\n"                                                                          /* 9 */

static void one_instruction_of_two_accesses_memory(void **state) {
    (void)state;
    struct fixture *f = start("interweave:sbi", LOADS, 4, 0);
    fixture_steps(f, 0, 5);
    assert_int_equal(shared(f), 0);
    fixture_expect(f, 0, 5, 0b1101);
    fixture_expect(f, 1, 7, 0b0010);
    fixture_steps(f, 0, 1);
    assert_int_equal(shared(f), 1); /* an addition and a load */
    fixture_expect(f, 0, 6, 0b1101);
    fixture_expect(f, 1, 8, 0b0010);
    fixture_finish(f);
}

/* --- warp interweaving --- */

/* In every warp the lanes below the limit of the warp go to B: 2 in warps 0 and 1, and 1 in warp 2. */
#define LOW_LANES                                                                                                      \
    PROGRAM_KERNEL                                                                                                     \
    "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 2; and.b32 %r0, %r0, 3; setp.eq.u32 %p1, %r1, 2;\n" /* 0-3 */              \
    "selp.u32 %r1, 1, 2, %p1; setp.ge.u32 %p2, %r0, %r1; @%p2 bra D;\n"                         /* 4 5 6 */            \
    "add.u32 %r2, %r0, 1; add.u32 %r2, %r0, 2;\n"                                               /* 7 8: B */           \
    "D: ret; }\n"                                                                               /* 9 */

enum { TO_B = 7 };

static struct fixture *start_warps(const char *model, uint32_t block) {
    struct fixture *f = start(model, LOW_LANES, block, 0);
    for (uint32_t slot = 0; slot < block / 4; slot++)
        fixture_steps(f, slot, TO_B);
    assert_int_equal(shared(f), 0); /* all warps were full */
    return f;
}

/* Both warps have lanes 0 and 1 at B. Where warp 1 executes in other lanes, the two issue together. */
static void warps_fit_together_if_their_lanes_are_shuffled(void **state) {
    (void)state;
    static const struct {
        const char *model;
        bool fits;
    } shuffles[] = {
        {"interweave:swi,shuffle=identity", false},   {"interweave:swi,shuffle=mirror-odd", true},
        {"interweave:swi,shuffle=mirror-half", true}, {"interweave:swi,shuffle=xor", false}, /* 0 1 become 1 0 */
        {"interweave:swi,shuffle=xor-rev", true},                                            /* 0 1 become 2 3 */
        {"interweave:sbi,shuffle=mirror-odd", false},
    };
    for (size_t i = 0; i < sizeof shuffles / sizeof *shuffles; i++) {
        struct fixture *f = start_warps(shuffles[i].model, 8);
        fixture_steps(f, 0, 1);
        fixture_expect(f, 0, 8, 0b0011);
        fixture_expect(f, 1, shuffles[i].fits ? 8 : 7, 0b0011);
        assert_int_equal(shared(f), shuffles[i].fits);
        fixture_finish(f);
    }
}

/* Warp 2 is picked, in lane 0 ^ 1 (the reverse of 2) = 1. Warps 0 (lanes 0 and 1) and 3 (lanes 0 and 1, ^ 3: 3 and 2)
 * are ready, and 1 (lanes 2 and 3). Warps 1 and 3 fit; the first of them follows, and no third one. */
static void one_other_group_follows_that_fits(void **state) {
    (void)state;
    struct fixture *f = start_warps("interweave:swi,shuffle=xor-rev", 16);
    fixture_steps(f, 2, 1);
    fixture_expect(f, 2, 8, 0b0001);
    fixture_expect(f, 0, 7, 0b0011);
    fixture_expect(f, 1, 8, 0b0011);
    fixture_expect(f, 3, 7, 0b0011);
    assert_int_equal(shared(f), 1);
    fixture_finish(f);
}

/* In warps 0 to 2 lane 0 is at B, in warp 3 lanes 0 and 1 are. Warp 0 executes in lane 0, warp 1 in 1, warp 2 in 2 and
 * warp 3 in 3 and 2. All fit beside warp 0, and the one with most lanes follows. */
static void the_group_with_most_lanes_follows(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_KERNEL "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 2; and.b32 %r0, %r0, 3; setp.eq.u32 %p1, %r1, 3;\n"
                       "selp.u32 %r1, 2, 1, %p1; setp.ge.u32 %p2, %r0, %r1; @%p2 bra D;\n"
                       "add.u32 %r2, %r0, 1; add.u32 %r2, %r0, 2;\n"
                       "D: ret; }\n";
    struct fixture *f = start("interweave:swi,shuffle=xor", text, 16, 0);
    for (uint32_t slot = 0; slot < 4; slot++)
        fixture_steps(f, slot, TO_B);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 8, 0b0001);
    fixture_expect(f, 1, 7, 0b0001);
    fixture_expect(f, 2, 7, 0b0001);
    fixture_expect(f, 3, 8, 0b0011);
    fixture_finish(f);
}

/* The outer lanes of warp 0 and the inner ones of warp 1 stay. Lane 3 goes to C, the others to B. */
#define OUTER_AND_INNER                                                                                                \
    PROGRAM_KERNEL                                                                                                     \
    "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 2; and.b32 %r0, %r0, 3; add.u32 %r2, %r0, 1;\n" /* 0-3 */                  \
    "and.b32 %r2, %r2, 2; setp.ne.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r1, 0;\n"              /* 4 5 6 */                \
    "xor.pred %p3, %p1, %p2; @!%p3 exit; setp.eq.u32 %p4, %r0, 3; @%p4 bra C;\n"            /* 7 8 9 10 */             \
    "add.u32 %r2, %r0, 1; add.u32 %r2, %r0, 1; add.u32 %r2, %r0, 1; add.u32 %r2, %r0, 1;\n" /* 11-14: B */             \
    "bra D; C: add.u32 %r2, %r0, 1;\n"                                                      /* 15 16 */                \
    "D: ret; }\n"                                                                           /* 17 */

/* Warp 1 issues beside warp 0, in two lanes, until that has a second path. Then this path follows, in one lane. */
static void a_path_of_the_same_warp_comes_before_other_warps(void **state) {
    (void)state;
    struct fixture *f = start("interweave:both,shuffle=mirror-odd", OUTER_AND_INNER, 8, 0);
    fixture_steps(f, 1, 11);
    fixture_expect(f, 1, 11, 0b0110);
    fixture_steps(f, 0, 11);
    assert_int_equal(shared(f), 2);
    fixture_expect(f, 0, 11, 0b0001);
    fixture_expect(f, 1, 13, 0b0110);
    fixture_expect(f, 2, 16, 0b1000);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 12, 0b0001);
    fixture_expect(f, 1, 13, 0b0110);
    expect_waiting(f, 2);
    assert_int_equal(shared(f), 3);
    fixture_finish(f);
}

/* --- rules of use --- */

static void nothing_to_interweave_is_refused(void **state) {
    (void)state;
    const struct divergence_ops *ops;
    void *options;
    char error[200];
    struct config_machine machine = {.sm = {.threads = 48, .warp_size = 24}};
    assert_true(divergence_parse("interweave:branches=off,warps=off", &ops, &options, error, sizeof error));
    assert_non_null(strstr(ops->refuses(options, &machine, NULL, error, sizeof error), "multi-pc"));
    free(options);
    assert_true(divergence_parse("interweave:shuffle=xor", &ops, &options, error, sizeof error));
    assert_non_null(strstr(ops->refuses(options, &machine, NULL, error, sizeof error), "power of two"));
    free(options);
    assert_true(divergence_parse("interweave:shuffle=mirror-odd", &ops, &options, error, sizeof error));
    assert_null(ops->refuses(options, &machine, NULL, error, sizeof error));
    free(options);
}

static void results_do_not_depend_on_order_or_shape(void **state) {
    (void)state;
    programs_check_all(divergence_find("interweave"), "interweave", true);
    programs_check_all(divergence_find("interweave"), "interweave:sbi,constraints=off", true);
    programs_check_all(divergence_find("interweave"), "interweave:swi,shuffle=mirror-half", true);
}

/* 32 warps of 32 contexts with 64 bits; a scheduler with 32 lanes, each with the number of one of 32 warps. */
static void each_context_has_a_mask_and_a_pc(void **state) {
    (void)state;
    struct config_machine machine = {.sm = {.threads = 1024, .warp_size = 32, .schedulers = 1}};
    const struct divergence_ops *ops;
    void *options;
    char formula[200];
    assert_true(divergence_parse("interweave", &ops, &options, formula, sizeof formula));
    assert_int_equal(ops->cost_bits(options, &machine, formula, sizeof formula), 32 * 32 * 64 + 32 * 5);
    free(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_paths_of_a_warp_issue_together),
        cmocka_unit_test(the_scheduler_may_pick_the_second_context),
        cmocka_unit_test(without_constraints_a_path_runs_ahead),
        cmocka_unit_test(the_two_lowest_contexts_are_hot),
        cmocka_unit_test(a_warp_without_a_second_slot_runs_one_path),
        cmocka_unit_test(one_instruction_of_two_accesses_memory),
        cmocka_unit_test(warps_fit_together_if_their_lanes_are_shuffled),
        cmocka_unit_test(one_other_group_follows_that_fits),
        cmocka_unit_test(the_group_with_most_lanes_follows),
        cmocka_unit_test(a_path_of_the_same_warp_comes_before_other_warps),
        cmocka_unit_test(nothing_to_interweave_is_refused),
        cmocka_unit_test(results_do_not_depend_on_order_or_shape),
        cmocka_unit_test(each_context_has_a_mask_and_a_pc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
