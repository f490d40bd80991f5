/* Tests of dual-path: which groups are in slots and which of them run, step by step, derived on paper from the rules in
 * docs/models/dual-path.md. Lane 0 is the rightmost bit of a mask. */
#include "divergence/convergence/fixture.h"

static void both_sides_of_a_branch_run_and_meet_at_the_post_dominator(void **state) {
    (void)state;
    struct fixture *f = groups_start("dual-path", GROUPS_NESTED, 8, 8);
    groups_step(f, 0xff, 4);
    GROUPS_EXPECT(f, {7, 0x0f, 13, DIVERGENCE_RUNS}, {4, 0xf0, 13, DIVERGENCE_RUNS});
    groups_step(f, 0xf0, 1); /* in any order */
    groups_step(f, 0x0f, 1);
    GROUPS_EXPECT(f, {8, 0x0f, 13, DIVERGENCE_RUNS}, {5, 0xf0, 13, DIVERGENCE_RUNS});
    groups_step(f, 0xf0, 2); /* it has reached 13, and has left its slot */
    GROUPS_EXPECT(f, {8, 0x0f, 13, DIVERGENCE_RUNS});
    fixture_finish(f);
}

static void a_path_that_diverges_pushes_an_entry_and_the_one_below_waits(void **state) {
    (void)state;
    struct fixture *f = groups_start("dual-path", GROUPS_NESTED, 8, 8);
    groups_step(f, 0xff, 4);
    groups_step(f, 0x0f, 2);
    GROUPS_EXPECT(f, {11, 0x03, 12, DIVERGENCE_RUNS}, {9, 0x0c, 12, DIVERGENCE_RUNS}, {4, 0xf0, 13, DIVERGENCE_WAITS});
    assert_int_equal(groups_n_entries(f, 0x03), 2);
    groups_step(f, 0x03, 1);
    GROUPS_EXPECT(f, {9, 0x0c, 12, DIVERGENCE_RUNS}, {4, 0xf0, 13, DIVERGENCE_WAITS});
    groups_step(f, 0x0c, 2); /* both have reached 12: the entry is popped, and its two neighbours run */
    GROUPS_EXPECT(f, {12, 0x0f, 13, DIVERGENCE_RUNS}, {4, 0xf0, 13, DIVERGENCE_RUNS});
    groups_step(f, 0x0f, 1);
    groups_step(f, 0xf0, 3);
    GROUPS_EXPECT(f, {13, 0xff, EXEC_NO_PC, DIVERGENCE_RUNS});
    assert_int_equal(f->sm[0].counters.reconvergences, 2);
    assert_int_equal(f->sm[0].counters.warp_splits, 2);
    fixture_finish(f);
}

static void branches_that_meet_at_one_place_have_an_entry_each(void **state) {
    (void)state;
    struct fixture *f = groups_start("dual-path", GROUPS_CHAIN, 8, 8);
    groups_step(f, 0xff, 4);
    groups_step(f, 0x0f, 1);
    GROUPS_EXPECT(f, {9, 0x03, 11, DIVERGENCE_RUNS}, {7, 0x0c, 11, DIVERGENCE_RUNS}, {4, 0xf0, 11, DIVERGENCE_WAITS});
    groups_step(f, 0x0c, 2); /* one path of the top entry is left; the one below still waits */
    GROUPS_EXPECT(f, {9, 0x03, 11, DIVERGENCE_RUNS}, {4, 0xf0, 11, DIVERGENCE_WAITS});
    groups_step(f, 0x03, 2); /* the entry is popped, and its lanes have reached the place of the one below, too */
    GROUPS_EXPECT(f, {4, 0xf0, 11, DIVERGENCE_RUNS});
    groups_step(f, 0xf0, 2);
    GROUPS_EXPECT(f, {11, 0xff, EXEC_NO_PC, DIVERGENCE_RUNS});
    fixture_finish(f);
}

static void lanes_that_leave_a_loop_push_one_entry_only(void **state) {
    (void)state;
    struct fixture *f = groups_start("dual-path", GROUPS_LOOP, 4, 4);
    groups_step(f, 0xf, 4);
    GROUPS_EXPECT(f, {4, 0xe, 6, DIVERGENCE_RUNS});
    groups_step(f, 0xe, 4);
    GROUPS_EXPECT(f, {4, 0xc, 6, DIVERGENCE_RUNS});
    assert_int_equal(groups_n_entries(f, 0xc), 1);
    assert_int_equal(f->sm[0].counters.warp_splits, 0);
    fixture_finish(f);
}

/* Four targets: two paths run, and the others after them. */
#define SWITCH                                                                                                         \
    PROGRAM_KERNEL "T: .branchtargets A, B, C, D; mov.u32 %r0, %tid.x; brx.idx %r0, T;\n" /* 0 1 */                    \
                   "A: add.u32 %r1, %r0, 1; bra E; B: add.u32 %r1, %r0, 2; bra E;\n"      /* 2 3 4 5 */                \
                   "C: add.u32 %r1, %r0, 3; bra E; D: add.u32 %r1, %r0, 4; bra E;\n"      /* 6 7 8 9 */                \
                   "E: add.u32 %r1, %r1, 5; ret; }\n"                                     /* 10 11 */

static void at_most_two_paths_of_an_indexed_branch_run(void **state) {
    (void)state;
    struct fixture *f = groups_start("dual-path", SWITCH, 4, 4);
    groups_step(f, 0xf, 2);
    GROUPS_EXPECT(f, {6, 0x4, 10, DIVERGENCE_RUNS}, {8, 0x8, 10, DIVERGENCE_RUNS});
    groups_step(f, 0x8, 2);
    GROUPS_EXPECT(f, {6, 0x4, 10, DIVERGENCE_RUNS}, {4, 0x2, 10, DIVERGENCE_RUNS});
    groups_step(f, 0x4, 2);
    GROUPS_EXPECT(f, {4, 0x2, 10, DIVERGENCE_RUNS}, {2, 0x1, 10, DIVERGENCE_RUNS});
    fixture_finish(f);
}

static void an_sm_has_two_slots_for_a_warp(void **state) {
    (void)state;
    const struct divergence_ops *ops = divergence_find("dual-path");
    assert_int_equal(ops->n_slots(NULL, NULL, 48, 128), 96);
    assert_int_equal(ops->n_slots(NULL, NULL, 100, 128), 128);
}

static void results_do_not_depend_on_order_or_shape(void **state) {
    (void)state;
    programs_check_all(divergence_find("dual-path"), "dual-path", true);
}

static void an_entry_has_two_paths_and_one_place_to_meet(void **state) {
    (void)state;
    struct config_machine machine = {.sm = {.threads = 1024, .warp_size = 32}};
    char formula[200];
    uint64_t bits = divergence_find("dual-path")->cost_bits(NULL, &machine, formula, sizeof formula);
    assert_int_equal(bits, 32 * (32 * (3 * 32 + 2 * 32) + 64 * 4));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_of_a_branch_run_and_meet_at_the_post_dominator),
        cmocka_unit_test(a_path_that_diverges_pushes_an_entry_and_the_one_below_waits),
        cmocka_unit_test(branches_that_meet_at_one_place_have_an_entry_each),
        cmocka_unit_test(lanes_that_leave_a_loop_push_one_entry_only),
        cmocka_unit_test(at_most_two_paths_of_an_indexed_branch_run),
        cmocka_unit_test(an_sm_has_two_slots_for_a_warp),
        cmocka_unit_test(results_do_not_depend_on_order_or_shape),
        cmocka_unit_test(an_entry_has_two_paths_and_one_place_to_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
