/* Tests of variable warp sizing: which small warps are ganged together, step by step, derived on paper from the rules
 * in docs/models/vws.md. Rows have 8 lanes, in two slices of 4 unless a test says otherwise. Lane 0 is the rightmost
 * bit of a mask. */
#include "divergence/testing/programs.h"

static struct fixture *start(const char *model, const char *text, uint32_t block, uint32_t n_slots) {
    return fixture_begin(model, text, &(struct fixture_shape){.block = block, .warp_size = 8, .n_slots = n_slots});
}

static uint64_t shared(const struct fixture *f) { return f->sm[0].counters.shared_issues; }

/* Lanes from 4 on go to C. Both ways to D are two instructions long. */
#define HALVES                                                                                                         \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 4; @%p1 bra C;\n" /* 0 1 2 */                           \
                   "add.u32 %r1, %r0, 1; bra D;\n"                               /* 3 4: B */                          \
                   "C: add.u32 %r1, %r0, 2; add.u32 %r1, %r1, 2;\n"              /* 5 6 */                             \
                   "D: add.u32 %r2, %r1, 3; ret; }\n"                            /* 7 8 */

/* One group for the whole row, until its small warps go to different places. Then they issue side by side. At D they
 * are one again: one gang has issued its branch, the other reaches the same pc after it. */
static void a_gang_splits_by_pc_and_gangs_again(void **state) {
    (void)state;
    struct fixture *f = start("vws", HALVES, 8, 0);
    fixture_expect(f, 0, 0, 0xff);
    assert_int_equal(fixture_free_slots(&f->sm[0]), 1);
    fixture_steps(f, 0, 3);
    fixture_expect(f, 0, 3, 0x0f);
    fixture_expect(f, 1, 5, 0xf0);
    assert_int_equal(f->sm[0].counters.warp_splits, 1);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 4, 0x0f);
    fixture_expect(f, 1, 6, 0xf0);
    assert_int_equal(shared(f), 1);
    fixture_steps(f, 0, 1);
    assert_null(f->sm[0].slot[0].group);
    fixture_expect(f, 1, 7, 0xff);
    assert_int_equal(f->sm[0].counters.merges, 1);
    fixture_steps(f, 1, 2);
    assert_int_equal(f->n_finished, 1);
    assert_int_equal(f->sm[0].n_instructions, 7);
    fixture_close(f);
}

static void an_inelastic_gang_stays_apart(void **state) {
    (void)state;
    struct fixture *f = start("vws:inelastic", HALVES, 8, 0);
    fixture_steps(f, 0, 5);
    fixture_expect(f, 0, 7, 0x0f);
    fixture_expect(f, 1, 7, 0xf0);
    assert_int_equal(f->sm[0].counters.merges, 0);
    fixture_finish(f);
}

/* Lane 1 goes to C. The first small warp diverges: its stack runs lane 1 first, then the others. The second one goes
 * another way and does not wait at D. */
#define ONE_LANE                                                                                                       \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 1; @%p1 bra C;\n" /* 0 1 2 */                           \
                   "add.u32 %r1, %r0, 1; add.u32 %r1, %r1, 1; bra D;\n"          /* 3 4 5: B */                        \
                   "C: add.u32 %r1, %r0, 2;\n"                                   /* 6 */                               \
                   "D: add.u32 %r2, %r1, 3; add.u32 %r2, %r1, 3; ret; }\n"       /* 7 8 9 */

static void a_small_warp_has_a_stack_of_its_own(void **state) {
    (void)state;
    struct fixture *f = start("vws:inelastic", ONE_LANE, 8, 0);
    fixture_steps(f, 0, 3);
    fixture_expect(f, 0, 6, 0x02);
    assert_int_equal(f->sm[0].slot[0].group->notify_pc, 7);
    fixture_expect(f, 1, 3, 0xf0);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 3, 0x0d); /* C has reached D */
    fixture_expect(f, 1, 4, 0xf0);
    fixture_steps(f, 0, 2);
    fixture_expect(f, 0, 5, 0x0d);
    fixture_expect(f, 1, 7, 0xf0);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 7, 0x0f);
    fixture_expect(f, 1, 8, 0xf0);
    assert_int_equal(f->sm[0].counters.reconvergences, 2); /* of either path */
    fixture_finish(f);
}

/* Slices of 2: lanes 0 to 3 and 4 to 7 are two small warps each. */
static void a_gang_splits_into_gangs_or_into_small_warps(void **state) {
    (void)state;
    struct fixture *f = start("vws:slice=2,divide=pc", HALVES, 8, 0);
    fixture_steps(f, 0, 3);
    fixture_expect(f, 0, 3, 0x0f);
    fixture_expect(f, 1, 5, 0xf0);
    assert_null(f->sm[0].slot[2].group);
    fixture_finish(f);
    f = start("vws:slice=2,divide=all,regang=off", HALVES, 8, 0);
    fixture_steps(f, 0, 3);
    fixture_expect(f, 0, 3, 0x03);
    fixture_expect(f, 1, 3, 0x0c);
    fixture_expect(f, 2, 5, 0x30);
    fixture_expect(f, 3, 5, 0xc0);
    assert_int_equal(f->sm[0].counters.warp_splits, 3);
    fixture_steps(f, 3, 1);
    assert_int_equal(shared(f), 3); /* all four in one cycle */
    fixture_finish(f);
}

/* --- slices --- */

/* In warp 0 small warp `zero` stays, in warp 1 small warp `one`. Of these, lane 0 of warp 0 and lane 1 of warp 1
 * continue to the additions. */
#define STAY(zero, one)                                                                                                \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 3; shr.u32 %r2, %r0, 2; and.b32 %r2, %r2, 1;\n" /* 0-3 */   \
                   "setp.eq.u32 %p1, %r1, 0; selp.u32 %r3, " zero ", " one                                             \
                   ", %p1; setp.ne.u32 %p2, %r2, %r3;\n"                                      /* 4 5 6 */              \
                   "@%p2 exit; and.b32 %r0, %r0, 3; setp.ne.u32 %p3, %r0, %r1; @%p3 bra D;\n" /* 7-10 */               \
                   "add.u32 %r4, %r0, 1; add.u32 %r4, %r0, 1;\n"                              /* 11 12 */              \
                   "D: ret; }\n"                                                              /* 13 */

static void groups_of_different_rows_issue_in_different_slices(void **state) {
    (void)state;
    struct fixture *f = start("vws:inelastic", STAY("0", "1"), 16, 0);
    fixture_steps(f, 0, 8);
    fixture_expect(f, 0, 8, 0x0f);
    fixture_steps(f, 1, 8);
    fixture_expect(f, 1, 8, 0xf0);
    assert_int_equal(shared(f), 0);
    fixture_steps(f, 0, 3);
    assert_int_equal(shared(f), 3);
    fixture_expect(f, 0, 11, 0x01);
    fixture_expect(f, 1, 11, 0x20);
    fixture_finish(f);
}

/* Both execute in the first slice, though in different lanes of it. */
static void a_slice_takes_one_instruction(void **state) {
    (void)state;
    struct fixture *f = start("vws:inelastic", STAY("0", "0"), 16, 0);
    fixture_steps(f, 0, 11);
    fixture_steps(f, 1, 11);
    fixture_expect(f, 0, 11, 0x01);
    fixture_expect(f, 1, 11, 0x02);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 1, 11, 0x02);
    assert_int_equal(shared(f), 0);
    fixture_finish(f);
}

/* --- memory --- */

/* The row loads, then the small warps load at different pcs. */
#define LOADS                                                                                                          \
    PROGRAM_KERNEL "ld.param.u64 %d1, [out]; mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 4;\n" /* 0 1 2 */              \
                   "ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; @%p1 bra C;\n"             /* 3 4 5 */              \
                   "ld.global.u32 %r1, [%d1]; add.u32 %r2, %r0, 1; bra D;\n"                  /* 6 7 8 */              \
                   "C: ld.global.u32 %r1, [%d1]; add.u32 %r2, %r0, 1;\n"                      /* 9 10 */               \
                   "D: ret; }\n"                                                              /* 11 */

static void one_of_the_instructions_accesses_memory(void **state) {
    (void)state;
    struct fixture *f = start("vws", LOADS, 8, 0);
    fixture_steps(f, 0, 7);
    assert_int_equal(shared(f), 0);
    fixture_expect(f, 0, 7, 0x0f);
    fixture_expect(f, 1, 9, 0xf0);
    fixture_steps(f, 0, 1);
    assert_int_equal(shared(f), 1);
    fixture_expect(f, 1, 10, 0xf0);
    fixture_finish(f);
}

static void delay_second_slice(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                               uint32_t delay[EXEC_LANES]) {
    (void)user, (void)group, (void)mask;
    for (uint32_t lane = 4; pc == 3 && lane < 8; lane++)
        delay[lane] = 20;
}

/* The second small warp misses. The first continues. */
static void small_warps_with_data_leave_the_others_behind(void **state) {
    (void)state;
    for (int misses = 0; misses < 2; misses++) {
        struct fixture *f = start(misses ? "vws:misses=on" : "vws:misses=off", LOADS, 8, 0);
        f->outcome = delay_second_slice;
        fixture_steps(f, 0, 4);
        fixture_catch_up(f);
        fixture_expect(f, 0, 4, misses ? 0x0f : 0xff);
        assert_int_equal(fixture_can_step(&f->sm[0], 0), misses);
        assert_int_equal(f->sm[0].counters.warp_splits, misses);
        if (misses) {
            fixture_expect(f, 1, 4, 0xf0);
            assert_false(fixture_can_step(&f->sm[0], 1));
        }
        fixture_finish(f);
    }
}

/* --- waiting, and slots --- */

#define BARRIER                                                                                                        \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 4; @%p1 bra C;\n" /* 0 1 2 */                           \
                   "bar.sync 0; bra D;\n"                                        /* 3 4: B */                          \
                   "C: add.u32 %r1, %r0, 2; bar.sync 0;\n"                       /* 5 6 */                             \
                   "D: add.u32 %r2, %r1, 3; ret; }\n"                            /* 7 8 */

static void a_gang_waits_at_a_barrier(void **state) {
    (void)state;
    struct fixture *f = start("vws", BARRIER, 8, 0);
    fixture_steps(f, 0, 4);
    assert_int_equal(f->sm[0].slot[0].group->status, DIVERGENCE_WAITS);
    fixture_expect(f, 1, 6, 0xf0); /* it issued beside */
    fixture_steps(f, 1, 1);
    fixture_expect(f, 0, 4, 0x0f);
    fixture_expect(f, 1, 7, 0xf0);
    fixture_finish(f);
}

/* With one slot the second gang queues. The first waits at the barrier and gives its slot up. */
static void a_gang_that_waits_makes_room_for_one_that_queues(void **state) {
    (void)state;
    struct fixture *f = start("vws", BARRIER, 8, 1);
    fixture_steps(f, 0, 3);
    fixture_expect(f, 0, 3, 0x0f);
    fixture_steps(f, 0, 1);
    fixture_expect(f, 0, 5, 0xf0);
    fixture_steps(f, 0, 2);
    fixture_expect(f, 0, 7, 0xf0);
    fixture_finish(f);
}

static void results_do_not_depend_on_order_or_shape(void **state) {
    (void)state;
    programs_check_all(divergence_find("vws"), "vws:slice=2", true);
    programs_check_all(divergence_find("vws"), "vws:slice=2,inelastic", true);
    programs_check_all(divergence_find("vws"), "vws:slice=1,divide=all,misses=off", true);
}

static void a_slice_of_a_whole_warp_is_refused(void **state) {
    (void)state;
    const struct divergence_ops *ops;
    void *options;
    char text[200];
    struct config_machine machine = {.sm = {.threads = 1024, .warp_size = 32}};
    assert_true(divergence_parse("vws:slice=32", &ops, &options, text, sizeof text));
    assert_non_null(strstr(ops->refuses(options, &machine, NULL, text, sizeof text), "model stack"));
    free(options);
    assert_true(divergence_parse("vws", &ops, &options, text, sizeof text));
    assert_null(ops->refuses(options, &machine, NULL, text, sizeof text));
    /* 32 warps of 8 small ones: stacks 4 deep with 68 bits, and 3 bits for the gang */
    assert_int_equal(ops->cost_bits(options, &machine, text, sizeof text), 32 * 8 * (4 * 68 + 3));
    free(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_splits_by_pc_and_gangs_again),
        cmocka_unit_test(an_inelastic_gang_stays_apart),
        cmocka_unit_test(a_small_warp_has_a_stack_of_its_own),
        cmocka_unit_test(a_gang_splits_into_gangs_or_into_small_warps),
        cmocka_unit_test(groups_of_different_rows_issue_in_different_slices),
        cmocka_unit_test(a_slice_takes_one_instruction),
        cmocka_unit_test(one_of_the_instructions_accesses_memory),
        cmocka_unit_test(small_warps_with_data_leave_the_others_behind),
        cmocka_unit_test(a_gang_waits_at_a_barrier),
        cmocka_unit_test(a_gang_that_waits_makes_room_for_one_that_queues),
        cmocka_unit_test(results_do_not_depend_on_order_or_shape),
        cmocka_unit_test(a_slice_of_a_whole_warp_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
