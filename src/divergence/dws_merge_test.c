/* dws with merge=dwf: groups of different warps that issue together. */
#include <stdio.h>

#include "divergence/splits/fixture.h"
#include "divergence/testing/programs.h"

extern const struct divergence_ops divergence_dws;

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

static void splits_of_two_warps_issue_together_where_their_lanes_leave_room(void **state) {
    (void)state;
    struct fixture *f = splits_open(&divergence_dws, "dws:branch-only-stack,merge=dwf,first=taken", complements, 2);
    const uint64_t *n_shared = &f->sm[0].counters.shared_issues;
    splits_step_to(f, 0, PCC_BRANCH);
    assert_int_equal(f->sm[0].slot[1].group->pc, 0); /* full warps go alone */
    splits_step_to(f, 1, PCC_BRANCH);
    splits_step(f, 0);
    splits_step(f, 1);
    splits_expect_table(f,
                        (struct entry[]){{PCC_D, SPLITS_RUNS, 0x0f},
                                         {PCC_E, SPLITS_RUNS, 0xf0},
                                         {PCC_D, SPLITS_RUNS, 0xf0},
                                         {PCC_E, SPLITS_RUNS, 0x0f}},
                        4);
    assert_int_equal(*n_shared, 0);

    uint64_t n_instructions = f->sm[0].n_instructions, n_bundles = f->sm[0].n_bundles;
    splits_step(f, 0); /* D: lanes 0 to 3 of the first warp, 4 to 7 of the second */
    splits_expect_table(f,
                        (struct entry[]){{PCC_D + 1, SPLITS_RUNS, 0x0f},
                                         {PCC_E, SPLITS_RUNS, 0xf0},
                                         {PCC_D + 1, SPLITS_RUNS, 0xf0},
                                         {PCC_E, SPLITS_RUNS, 0x0f}},
                        4);
    assert_int_equal(*n_shared, 1);
    assert_int_equal(f->sm[0].n_instructions, n_instructions + 1);
    assert_int_equal(f->sm[0].n_bundles, n_bundles + 1);

    splits_step_to(f, 1, PCC_F); /* the second warp may lead as well */
    splits_step_to(f, 2, PCC_F); /* E, and the jump at its end */
    splits_expect_table(f,
                        (struct entry[]){{PCC_F, SPLITS_RUNS, 0x0f},
                                         {PCC_F, SPLITS_RUNS, 0xf0},
                                         {PCC_F, SPLITS_RUNS, 0xf0},
                                         {PCC_F, SPLITS_RUNS, 0x0f}},
                        4);
    assert_int_equal(*n_shared, 5);

    splits_step(f, 0); /* the other two are splits of these warps, and wait for their own turn */
    splits_expect_table(f,
                        (struct entry[]){{PCC_STORE, SPLITS_RUNS, 0x0f},
                                         {PCC_F, SPLITS_RUNS, 0xf0},
                                         {PCC_STORE, SPLITS_RUNS, 0xf0},
                                         {PCC_F, SPLITS_RUNS, 0x0f}},
                        4);
    assert_int_equal(f->sm[0].counters.merges, 0);
    splits_step(f, 2);
    assert_int_equal(*n_shared, 7);
    fixture_run(f);
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
    struct fixture *f = splits_open(&divergence_dws, "dws:aggress,merge=dwf,slots=8,first=taken", text, 2);
    f->outcome = splits_miss_above_4;
    splits_step_to(f, 0, PCC_BRANCH);
    splits_step_to(f, 1, PCC_BRANCH);
    splits_step(f, 0);
    splits_step(f, 1);
    splits_step(f, 0);
    assert_int_equal(f->sm[0].counters.shared_issues, 1);
    splits_expect_table(f,
                        (struct entry[]){{PC_LOAD + 1, SPLITS_RUNS, 0x0f},
                                         {PCC_E, SPLITS_RUNS, 0xf0},
                                         {PC_LOAD + 1, SPLITS_RUNS, 0xe0}, /* of the second warp lane 4 has hit */
                                         {PCC_E, SPLITS_RUNS, 0x0f},
                                         {PC_LOAD + 1, SPLITS_RUNS, 0x10}},
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
        struct fixture *f = splits_open(&divergence_dws,
                                        is_free ? "dws:branch-only,merge=dwf,lanes=free,first=taken"
                                                : "dws:branch-only,merge=dwf,first=taken",
                                        text, 3);
        for (uint32_t slot = 0; slot < 3; slot++)
            splits_step_to(f, slot, PC_COLLIDE_D);
        assert_int_equal(f->sm[0].counters.shared_issues, 0);
        splits_step(f, 2);
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
        struct fixture *f = splits_open(&divergence_dws, "dws:branch-only,merge=dwf,first=taken", text, 2);
        for (uint32_t slot = 0; slot < 2; slot++) {
            splits_step_to(f, slot, PCC_BRANCH);
            splits_step(f, slot);
        }
        splits_step(f, 0);
        assert_int_equal(f->sm[0].counters.shared_issues, cases[i].n_shared);
        fixture_run(f);
        fixture_close(f);
    }
}

static void one_warp_shares_nothing_with_itself(void **state) {
    (void)state;
    uint64_t n_instructions[2];
    for (int is_merging = 0; is_merging < 2; is_merging++) {
        struct fixture *f = splits_open(
            &divergence_dws, is_merging ? "dws:merge=dwf,lanes=free,first=taken" : "dws:first=taken", complements, 1);
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
        cmocka_unit_test(splits_of_two_warps_issue_together_where_their_lanes_leave_room),
        cmocka_unit_test(each_part_of_a_shared_access_is_divided_by_its_own_hits),
        cmocka_unit_test(lanes_that_collide_issue_alone_unless_lanes_are_free),
        cmocka_unit_test(what_needs_a_rows_lanes_or_its_banks_is_not_shared),
        cmocka_unit_test(one_warp_shares_nothing_with_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
