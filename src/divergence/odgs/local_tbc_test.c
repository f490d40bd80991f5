/* Tests of odgs with local=tbc: which threads leave a compacted block, when, and which slots it keeps. */
#include "divergence/odgs/fixture.h"

/* Three rows of four lanes; 0, 1, 6, 7 and 10 fall through, the other seven jump to ELSE, which runs first. */
#define COMPACT_BRANCH                                                                                                 \
    "mov.u32 %r5, 0x4c3; shr.u32 %r5, %r5, %r0; and.b32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, 1;\n"                       \
    "@!%p1 bra ELSE; xor.b32 %r4, %r0, 1; bra JOIN; ELSE: not.b32 %r4, %r0; JOIN: add.u32 %r4, %r4, 1;\n"
static const struct fixture_shape three_by_four = {.block = 12, .warp_size = 4, .n_slots = 3};

static void count_member(void *user, const struct divergence_group *group, const struct exec_row *row, uint32_t lane) {
    struct odgs_census *census = user;
    if (group == census->group)
        census->threads |= 1ull << row->tid[0][lane];
}

/* A bit for each thread of the only block. */
static uint64_t members_of(struct fixture *f, const struct divergence_group *group) {
    struct odgs_census census = {.group = group};
    divergence_odgs.visit(f->sm[0].model, &f->sm[0].block[0].block, count_member, &census);
    return census.threads;
}

static void next_cycle(struct fixture *f) {
    f->cycle++;
    fixture_catch_up(f);
}

/* All warps reach the first branch, diverge, and the first path's warps have been formed. */
static void diverge_together(struct fixture *f) {
    for (uint32_t s = 0; s < 3; s++) {
        odgs_step_to(f, 0, s, fixture_pc_of(f, PTX_OP_BRA, 0));
        fixture_step(&f->sm[0], s);
    }
    fixture_resume_all(f);
    next_cycle(f);
}

static void expect_compacted_results(struct fixture *f) {
    fixture_run(f);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], (0x4c3 >> i & 1 ? i ^ 1 : ~i) + 1);
}

/* Every state from the branch to the join. */
static void what_compaction_leaves_incomplete_goes_to_the_pool(void **state) {
    (void)state;
    struct fixture *f =
        odgs_open("odgs:local=tbc", PROGRAM_HEAD PROGRAM_BEGIN COMPACT_BRANCH PROGRAM_END, &three_by_four);
    uint32_t then_pc = fixture_pc_of(f, PTX_OP_XOR, 0), else_pc = fixture_pc_of(f, PTX_OP_NOT, 0),
             join = fixture_pc_of(f, PTX_OP_ADD, 1);
    const struct exec_row *row = f->sm[0].block[0].block.cta->row;
    diverge_together(f);
    /* ELSE: 2, 3, 4 and 5 fill a warp; 8, 9 and 11 have left. The nine threads that stay may need all three slots. */
    assert_int_equal(odgs_group_in(f, 0, 0)->pc, else_pc);
    assert_int_equal(members_of(f, odgs_group_in(f, 0, 0)), 0x03c);
    assert_null(odgs_group_in(f, 0, 0)->row);
    assert_null(odgs_group_in(f, 0, 1));
    assert_null(odgs_group_in(f, 0, 2));
    assert_int_equal(members_of(f, NULL), 0xfc3); /* on the stack or in the pool */
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 1);
    fixture_step(&f->sm[0], 0);
    fixture_resume_all(f);
    /* The other path: 10 has left, and eight threads need two slots. The third is for the pool's lowest pc. */
    assert_int_equal(odgs_group_in(f, 0, 0)->pc, then_pc);
    assert_int_equal(members_of(f, odgs_group_in(f, 0, 0)), 0x0c3);
    next_cycle(f);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 2);
    assert_int_equal(odgs_group_in(f, 0, 1)->pc, then_pc);
    assert_int_equal(members_of(f, odgs_group_in(f, 0, 1)), 0x400);
    assert_null(odgs_group_in(f, 0, 2));
    fixture_step(&f->sm[0], 0);
    fixture_step(&f->sm[0], 0);
    fixture_resume_all(f);
    /* The join: those that stayed are two full rows. */
    assert_int_equal(members_of(f, odgs_group_in(f, 0, 0)), 0x00f);
    assert_int_equal(members_of(f, odgs_group_in(f, 0, 2)), 0x0f0);
    assert_int_equal(odgs_group_in(f, 0, 0)->pc, join);
    assert_ptr_equal(odgs_group_in(f, 0, 0)->row, &row[0]);
    assert_ptr_equal(odgs_group_in(f, 0, 2)->row, &row[1]);
    assert_int_equal(members_of(f, NULL), 0xb00);
    odgs_finish(f, 0, 1); /* 10 ends, and the pool's others take its slot */
    next_cycle(f);
    assert_int_equal(odgs_group_in(f, 0, 1)->pc, else_pc);
    assert_int_equal(members_of(f, odgs_group_in(f, 0, 1)), 0xb00);
    expect_compacted_results(f);
    assert_int_equal(f->n_finished, 1);
    assert_int_equal(FIXTURE_COUNTER(f, migrations), 0);
    fixture_close(f);
}

/* A barrier after the branch: the block is as under tbc, and reaches it with all its threads. */
static void threads_stay_while_the_block_may_come_to_a_barrier(void **state) {
    (void)state;
    static const char *const text[] = {
        PROGRAM_HEAD PROGRAM_BEGIN COMPACT_BRANCH "bar.sync 0;\n" PROGRAM_END,
        PROGRAM_HEAD PROGRAM_BEGIN COMPACT_BRANCH "bar.warp.sync 0xf;\n" PROGRAM_END,
    };
    for (int i = 0; i < 2; i++) {
        struct fixture *f = odgs_open("odgs:local=tbc", text[i], &three_by_four);
        diverge_together(f);
        assert_int_equal(members_of(f, odgs_group_in(f, 0, 0)), 0x03c); /* lane by lane, 8, 9 and 11 stay */
        assert_int_equal(members_of(f, odgs_group_in(f, 0, 1)), 0xb00);
        expect_compacted_results(f);
        assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 0);
        fixture_close(f);
    }
}

static void after_the_last_barrier_threads_leave(void **state) {
    (void)state;
    struct fixture *f = odgs_open(
        "odgs:local=tbc", PROGRAM_HEAD PROGRAM_BEGIN "bar.sync 0;\n" COMPACT_BRANCH PROGRAM_END, &three_by_four);
    expect_compacted_results(f);
    assert_int_equal(FIXTURE_COUNTER(f, barriers), 3);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 2);
    fixture_close(f);
}

/* What the caller does after the call counts inside the function. */
static void threads_stay_in_a_function_whose_caller_has_a_barrier(void **state) {
    (void)state;
    static const char text[] =
        ".version 7.8\n.target sm_80\n.address_size 64\n"
        ".func (.param .b32 out) f(.param .b32 in) {\n.reg .pred %p1; .reg .b32 %r<9>; ld.param.u32 %r0, [in];\n"
        "mov.u32 %r5, 0x4c3; shr.u32 %r5, %r5, %r0; and.b32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, 1;\n"
        "@!%p1 bra ELSE; xor.b32 %r4, %r0, 1; bra JOIN; ELSE: not.b32 %r4, %r0; JOIN: add.u32 %r4, %r4, 1;\n"
        "st.param.b32 [out], %r4; ret;\n}\n"
        ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<9>; .reg .b64 %rd<5>;\n"
        "mov.u32 %r0, %tid.x; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call (b), f, (a);\n"
        "ld.param.b32 %r1, [b]; } bar.sync 0; ld.param.u64 %rd0, [out]; mul.wide.u32 %rd1, %r0, 4;\n"
        "add.u64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r1; ret;\n}\n";
    struct fixture *f = odgs_open("odgs:local=tbc", text, &three_by_four);
    expect_compacted_results(f);
    assert_int_equal(FIXTURE_COUNTER(f, divergent_branches), 3);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 0);
    fixture_close(f);
}

/* Up to the join, by the layout of the code, the jump's side has one instruction and the other one three. With short=2
 * thread 10 leaves, and at the join those that do not fill a warp without it. */
static void short_paths_keep_their_incomplete_warp(void **state) {
    (void)state;
    static const char *const model[] = {"odgs:local=tbc", "odgs:local=tbc,short=2", "odgs:local=tbc,short=3"};
    for (uint32_t i = 0; i < 3; i++) {
        struct fixture *f = odgs_open(model[i], PROGRAM_HEAD PROGRAM_BEGIN COMPACT_BRANCH PROGRAM_END, &three_by_four);
        diverge_together(f);
        assert_int_equal(members_of(f, odgs_group_in(f, 0, 0)), 0x03c);
        if (i)
            assert_int_equal(members_of(f, odgs_group_in(f, 0, 1)), 0xb00);
        expect_compacted_results(f);
        assert_int_equal(FIXTURE_COUNTER(f, warp_splits), i < 2 ? 2 : 0);
        fixture_close(f);
    }
}

/* latency=N: the slot that the departed gave up, and they themselves, are free N cycles later, not one earlier. */
static void the_latency_holds_threads_that_leave_a_block_and_their_slot(void **state) {
    (void)state;
    struct fixture *f =
        odgs_open("odgs:local=tbc,latency=20", PROGRAM_HEAD PROGRAM_BEGIN COMPACT_BRANCH PROGRAM_END, &three_by_four);
    for (uint32_t s = 0; s < 3; s++) {
        odgs_step_to(f, 0, s, fixture_pc_of(f, PTX_OP_BRA, 0));
        fixture_step(&f->sm[0], s);
    }
    fixture_resume_all(f);
    fixture_step(&f->sm[0], 0);
    fixture_resume_all(f); /* now 10 has left too, and the block needs two slots */
    uint64_t left = f->cycle;
    f->cycle = left + 19;
    fixture_catch_up(f);
    assert_null(odgs_group_in(f, 0, 1));
    f->cycle = left + 20;
    fixture_catch_up(f);
    assert_non_null(odgs_group_in(f, 0, 1));
    expect_compacted_results(f);
    fixture_close(f);
}

/* A block with a row that is not full: its threads go to the pool at once, and the block needs no slot for them. */
static void incomplete_rows_begin_in_the_pool(void **state) {
    (void)state;
    struct fixture *f = odgs_open("odgs:local=tbc", ODGS_IF_TEXT,
                                  &(struct fixture_shape){.block = 6, .warp_size = 4, .grid = 2, .n_slots = 4});
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0f);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 1)), 0x0f00);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 2)), 0x3030); /* threads 4 and 5 of both */
    odgs_expect_results(f);
    fixture_close(f);
    f = odgs_open("odgs:local=tbc", PROGRAM_HEAD PROGRAM_BEGIN "bar.sync 0;\n" ODGS_BRANCH PROGRAM_END,
                  &(struct fixture_shape){.block = 6, .warp_size = 4, .grid = 1, .n_slots = 4});
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 1)), 0x30); /* not with a barrier to come */
    odgs_expect_results(f);
    fixture_close(f);
}

/* Full warps of the pool before new blocks; a block waits for slots for all its rows. */
static void a_block_starts_where_it_finds_slots_for_all_its_rows(void **state) {
    (void)state;
    struct fixture *f = odgs_open("odgs:local=tbc", ODGS_IF_TEXT,
                                  &(struct fixture_shape){.block = 8, .warp_size = 4, .grid = 2, .n_slots = 3});
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0f);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 1)), 0xf0);
    assert_null(odgs_group_in(f, 0, 2));
    odgs_expect_results(f);
    fixture_close(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_compaction_leaves_incomplete_goes_to_the_pool),
        cmocka_unit_test(threads_stay_while_the_block_may_come_to_a_barrier),
        cmocka_unit_test(after_the_last_barrier_threads_leave),
        cmocka_unit_test(threads_stay_in_a_function_whose_caller_has_a_barrier),
        cmocka_unit_test(short_paths_keep_their_incomplete_warp),
        cmocka_unit_test(the_latency_holds_threads_that_leave_a_block_and_their_slot),
        cmocka_unit_test(incomplete_rows_begin_in_the_pool),
        cmocka_unit_test(a_block_starts_where_it_finds_slots_for_all_its_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
