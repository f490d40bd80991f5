/* Tests of multi-path: which groups are in slots and which of them run, step by step, derived on paper from the rules
 * in docs/models/multi-path.md. Lane 0 is the rightmost bit of a mask. */
#include "divergence/convergence/fixture.h"

/* --- the tables --- */

static void all_paths_run_and_meet_at_their_post_dominators(void **state) {
    (void)state;
    struct fixture *f = groups_start("multi-path", GROUPS_NESTED, 8, 8);
    groups_step(f, 0xff, 4);
    groups_step(f, 0x0f, 2);
    GROUPS_EXPECT(f, {11, 0x03, 12, DIVERGENCE_RUNS}, {9, 0x0c, 12, DIVERGENCE_RUNS}, {4, 0xf0, 13, DIVERGENCE_RUNS});
    assert_int_equal(groups_n_entries(f, 0x03), 2);
    groups_step(f, 0xf0, 3); /* the outer path waits at 13, without a slot, while the inner ones run */
    GROUPS_EXPECT(f, {11, 0x03, 12, DIVERGENCE_RUNS}, {9, 0x0c, 12, DIVERGENCE_RUNS});
    groups_step(f, 0x0c, 2);
    groups_step(f, 0x03, 1);
    GROUPS_EXPECT(f, {12, 0x0f, 13, DIVERGENCE_RUNS});
    groups_step(f, 0x0f, 1);
    GROUPS_EXPECT(f, {13, 0xff, EXEC_NO_PC, DIVERGENCE_RUNS});
    fixture_finish(f);
}

static void branches_that_meet_at_one_place_have_one_entry(void **state) {
    (void)state;
    struct fixture *f = groups_start("multi-path", GROUPS_CHAIN, 8, 8);
    groups_step(f, 0xff, 4);
    groups_step(f, 0x0f, 1);
    GROUPS_EXPECT(f, {9, 0x03, 11, DIVERGENCE_RUNS}, {7, 0x0c, 11, DIVERGENCE_RUNS}, {4, 0xf0, 11, DIVERGENCE_RUNS});
    assert_int_equal(groups_n_entries(f, 0x03), 1);
    fixture_finish(f);
}

/* Lanes 0 and 1 reach a barrier of the block on their side, lanes 2 and 3 on theirs. */
#define BARRIERS                                                                                                       \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 2; @%p1 bra D;\n" /* 0 1 2 */                           \
                   "bar.sync 0; add.u32 %r1, %r0, 1; bra E;\n"                   /* 3 4 5 */                           \
                   "D: bar.sync 0; add.u32 %r1, %r0, 2;\n"                       /* 6 7 */                             \
                   "E: add.u32 %r2, %r1, 3; ret; }\n"                            /* 8 9 */

static void paths_arrive_at_a_barrier_of_the_block_one_by_one(void **state) {
    (void)state;
    struct fixture *f = groups_start("multi-path", BARRIERS, 4, 4);
    groups_step(f, 0xf, 3);
    groups_step(f, 0x3, 1);
    GROUPS_EXPECT(f, {4, 0x3, 8, DIVERGENCE_WAITS}, {6, 0xc, 8, DIVERGENCE_RUNS});
    groups_step(f, 0xc, 1);
    GROUPS_EXPECT(f, {4, 0x3, 8, DIVERGENCE_RUNS}, {7, 0xc, 8, DIVERGENCE_RUNS});
    fixture_finish(f);
}

/* --- slots --- */

static void a_path_without_a_slot_waits_for_one(void **state) {
    (void)state;
    struct fixture *f = fixture_open(divergence_find("multi-path"), "multi-path", GROUPS_NESTED,
                                     &(struct fixture_shape){.block = 8, .warp_size = 8, .n_slots = 2});
    fixture_parameter(f, 0, fixture_alloc(f, 1024));
    fixture_start(f);
    groups_step(f, 0xff, 4);
    groups_step(f, 0x0f, 2); /* lanes 2 and 3 or 0 and 1 queue */
    assert_int_equal(fixture_free_slots(&f->sm[0]), 0);
    groups_step(f, 0xf0, 3); /* it leaves its slot to the one that queues */
    GROUPS_EXPECT(f, {11, 0x03, 12, DIVERGENCE_RUNS}, {9, 0x0c, 12, DIVERGENCE_RUNS});
    fixture_finish(f);
}

static void a_path_that_waits_gives_its_slot_to_one_that_queues(void **state) {
    (void)state;
    struct fixture *f = fixture_open(divergence_find("multi-path"), "multi-path", BARRIERS,
                                     &(struct fixture_shape){.block = 4, .warp_size = 4, .n_slots = 1});
    fixture_parameter(f, 0, fixture_alloc(f, 1024));
    fixture_start(f);
    groups_step(f, 0xf, 3);
    uint32_t first = f->sm[0].slot[0].group->mask;
    groups_step(f, first, 1);
    for (uint32_t n = 0; n < 4 && f->sm[0].slot[0].group->mask == first; n++)
        fixture_resume_all(f);
    assert_int_equal(f->sm[0].slot[0].group->mask, 0xf & ~first);
    fixture_finish(f);
}

static void few_slots_are_enough(void **state) {
    (void)state;
    programs_check_all(divergence_find("multi-path"), "multi-path:slots=1", true);
    struct options {
        uint32_t early, slots;
    } options = {0, 0};
    const struct divergence_ops *ops = divergence_find("multi-path");
    assert_int_equal(ops->n_slots(&options, NULL, 48, 128), 128);
    options.slots = 1;
    assert_int_equal(ops->n_slots(&options, NULL, 48, 128), 48); /* never fewer than the warps */
}

/* --- early reconvergence --- */

/* Unstructured: lanes 0 and 1 go to M at once, lanes 2 and 3 after N; lanes 4 to 7 do not reach M. All meet at E. */
#define UNSTRUCTURED                                                                                                   \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 2; setp.lt.u32 %p2, %r0, 4; @%p1 bra M;\n" /* 0-3 */    \
                   "N: add.u32 %r1, %r0, 1; @!%p2 bra E; bra M;\n"                                        /* 4 5 6 */  \
                   "M: add.u32 %r1, %r0, 2; add.u32 %r1, %r1, 2;\n"                                       /* 7 8 */    \
                   "E: add.u32 %r2, %r1, 3; ret; }\n"                                                     /* 9 10 */

static void paths_at_one_pc_meet_before_the_post_dominator(void **state) {
    (void)state;
    struct fixture *f = groups_start("multi-path:early=on", UNSTRUCTURED, 8, 8);
    groups_step(f, 0xff, 4);
    GROUPS_EXPECT(f, {7, 0x03, 9, DIVERGENCE_RUNS}, {4, 0xfc, 9, DIVERGENCE_RUNS});
    groups_step(f, 0xfc, 2);
    GROUPS_EXPECT(f, {7, 0x03, 9, DIVERGENCE_RUNS}, {6, 0x0c, 9, DIVERGENCE_RUNS});
    groups_step(f, 0x0c, 1);
    GROUPS_EXPECT(f, {7, 0x0f, 9, DIVERGENCE_RUNS});
    assert_int_equal(f->sm[0].counters.merges, 1);
    groups_step(f, 0x0f, 2);
    GROUPS_EXPECT(f, {9, 0xff, EXEC_NO_PC, DIVERGENCE_RUNS});
    fixture_finish(f);
}

static void without_the_option_they_do_not(void **state) {
    (void)state;
    struct fixture *f = groups_start("multi-path", UNSTRUCTURED, 8, 8);
    groups_step(f, 0xff, 4);
    groups_step(f, 0xfc, 2);
    groups_step(f, 0x0c, 1);
    GROUPS_EXPECT(f, {7, 0x03, 9, DIVERGENCE_RUNS}, {7, 0x0c, 9, DIVERGENCE_RUNS});
    fixture_finish(f);
}

/* --- everything --- */

/* Lane after lane takes the lock. The one that has it waits after the loop for those that spin. */
#define LOCK                                                                                                           \
    PROGRAM_KERNEL "ld.param.u64 %d1, [out];\n"                                                                        \
                   "SPIN: atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;\n"             \
                   "ld.volatile.global.u32 %r2, [%d1+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%d1+4], %r2;\n"  \
                   "atom.global.exch.b32 %r3, [%d1], 0; ret; }\n"

static void threads_of_a_warp_may_wait_for_each_other(void **state) {
    (void)state;
    static const char *const models[] = {"multi-path", "multi-path:early=on", "multi-path:slots=1", "dual-path"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct fixture *f = groups_start(models[i], LOCK, 16, 8);
        uint64_t out = FIXTURE_MEMORY;
        fixture_run(f);
        assert_int_equal(fixture_u32(f, out)[1], 16);
        fixture_close(f);
    }
}

static void results_do_not_depend_on_order_or_shape(void **state) {
    (void)state;
    programs_check_all(divergence_find("multi-path"), "multi-path", true);
    programs_check_all(divergence_find("multi-path"), "multi-path:early=on", true);
}

static void both_tables_have_an_entry_for_each_lane(void **state) {
    (void)state;
    struct config_machine machine = {.sm = {.threads = 1024, .warp_size = 32}};
    char formula[300];
    uint64_t bits = divergence_find("multi-path")->cost_bits(NULL, &machine, formula, sizeof formula);
    assert_int_equal(bits, 32 * 32 * ((64 + 32 + 5 + 2) + (64 + 64 + 5 + 1)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_paths_run_and_meet_at_their_post_dominators),
        cmocka_unit_test(branches_that_meet_at_one_place_have_one_entry),
        cmocka_unit_test(paths_arrive_at_a_barrier_of_the_block_one_by_one),
        cmocka_unit_test(a_path_without_a_slot_waits_for_one),
        cmocka_unit_test(a_path_that_waits_gives_its_slot_to_one_that_queues),
        cmocka_unit_test(few_slots_are_enough),
        cmocka_unit_test(paths_at_one_pc_meet_before_the_post_dominator),
        cmocka_unit_test(without_the_option_they_do_not),
        cmocka_unit_test(threads_of_a_warp_may_wait_for_each_other),
        cmocka_unit_test(results_do_not_depend_on_order_or_shape),
        cmocka_unit_test(both_tables_have_an_entry_for_each_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
