/* Tests of splits at barriers while other paths wait on the stack below: splits that wait let these run. */
#include "divergence/splits/fixture.h"
#include "divergence/splits/splits.h"
#include "divergence/testing/programs.h"

extern const struct divergence_ops divergence_dws, divergence_slip;

/* Eight threads; an indexed branch, which never subdivides, pushes two paths: threads 0 to 3 go to A, the others to B,
 * which runs first. B is subdivided: 4 and 5 take its branch. */
#define PUSH_PATHS                                                                                                     \
    PROGRAM_BEGIN                                                                                                      \
    "mov.u32 %r4, 0; shr.u32 %r5, %r0, 2; shr.u32 %r6, %r0, 1; setp.eq.u32 %p2, %r6, 2; and.b32 %r7, %r0, 1;\n"        \
    "T: .branchtargets A, B;\n"                                                                                        \
    "brx.idx %r5, T;\n"
#define A_AND_B                                                                                                        \
    "A: bar.sync 0; add.u32 %r4, %r4, 1; bra M;\n"                                                                     \
    "B: @%p2 bra C;\n"
#define TWO_PATHS PROGRAM_HEAD PUSH_PATHS A_AND_B
#define BOTH_MEET "M: add.u32 %r4, %r4, 1000;\n" PROGRAM_END
enum { PC_A = 13, PC_B = 16, PC_D = 17 };

static struct fixture *open_paths(const struct divergence_ops *ops, const char *model, const char *text) {
    const struct fixture_shape shape = {.block = 8, .warp_size = 8, .n_slots = 4};
    struct fixture *f = fixture_open(ops, model, text, &shape);
    fixture_parameter(f, 0, fixture_alloc(f, 32));
    fixture_start(f);
    splits_step_to(f, 0, PC_B);
    return f;
}

/* Steps the group in the slot until it leaves, waits, or runs other threads. */
static void step_while(struct fixture *f, uint32_t slot, uint32_t mask) {
    for (uint32_t i = 0; f->sm[0].slot[slot].group && f->sm[0].slot[slot].group->mask == mask; i++) {
        assert_true(i < 100);
        if (!fixture_can_step(&f->sm[0], slot))
            return;
        splits_step(f, slot);
    }
}

static void expect_running(struct fixture *f, uint32_t pc, uint32_t mask) {
    const struct divergence_group *running = NULL;
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (f->sm[0].slot[s].group) {
            assert_null(running);
            running = f->sm[0].slot[s].group;
        }
    assert_non_null(running);
    assert_int_equal(running->status, DIVERGENCE_RUNS);
    assert_int_equal(running->pc, pc);
    assert_int_equal(running->mask, mask);
}

static void finish(struct fixture *f, const uint32_t expected[8]) {
    fixture_run(f);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[i], expected[i]);
    const struct divergence_splits *splits = f->sm[0].model;
    assert_int_equal(splits->n_used, 0);
    fixture_close(f);
}

static void when_all_splits_of_a_path_wait_the_other_paths_run(void **state) {
    (void)state;
    static const char text[] = TWO_PATHS "add.u32 %r4, %r4, 10; bar.sync 0; add.u32 %r4, %r4, 20; bra M;\n"
                                         "C: bar.sync 0; add.u32 %r4, %r4, 100; bra M;\n" BOTH_MEET;
    enum { PC_C = PC_D + 4, PC_M = PC_C + 3 };
    struct fixture *f = open_paths(&divergence_dws, "dws:branch-only-stack,first=taken", text);
    splits_step(f, 0);
    splits_expect_table(f, (struct entry[]){{PC_C, SPLITS_RUNS, 0x30}, {PC_D, SPLITS_RUNS, 0xc0}}, 2);
    splits_step(f, 0);
    splits_expect_table(f, (struct entry[]){{PC_C + 1, SPLITS_WAITS, 0x30}, {PC_D, SPLITS_RUNS, 0xc0}}, 2);
    step_while(f, 1, 0xc0);
    const struct entry stack[] = {
        {PC_M, EXEC_NO_PC, 0xff}, {PC_C + 1, PC_M, 0x30}, {PC_D + 2, PC_M, 0xc0}, {PC_A, PC_M, 0x0f}};
    splits_expect_stack(f, stack, 4);
    splits_expect_table(f, NULL, 0);
    expect_running(f, PC_A, 0x0f);
    assert_int_equal(f->sm[0].counters.merges, 0);
    finish(f, (const uint32_t[]){1001, 1001, 1001, 1001, 1100, 1100, 1030, 1030});
}

static void splits_that_wait_at_the_same_instruction_are_one_path(void **state) {
    (void)state;
    static const char text[] = TWO_PATHS "add.u32 %r4, %r4, 10;\n"
                                         "C: bar.sync 0; add.u32 %r4, %r4, 100; bra M;\n" BOTH_MEET;
    enum { PC_C = PC_D + 1, PC_M = PC_C + 3 };
    struct fixture *f = open_paths(&divergence_dws, "dws:branch-only-stack,first=taken", text);
    splits_step(f, 0);
    splits_step(f, 0);
    step_while(f, 1, 0xc0);
    const struct entry stack[] = {{PC_M, EXEC_NO_PC, 0xff}, {PC_C + 1, PC_M, 0xf0}, {PC_A, PC_M, 0x0f}};
    splits_expect_stack(f, stack, 3);
    expect_running(f, PC_A, 0x0f);
    finish(f, (const uint32_t[]){1001, 1001, 1001, 1001, 1100, 1100, 1110, 1110});
}

/* Threads 0 to 5 reach a vote, 4 and 5 while their path is subdivided; the others have left it. */
static void who_waits_at_the_end_of_the_path_stays_there(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PUSH_PATHS "A: setp.ne.u32 %p3, %r0, 1; mov.u32 %r4, 0; bra W;\n"
                                                       "B: @%p2 bra C;\n"
                                                       "add.u32 %r4, %r4, 10; bra M;\n"
                                                       "C: setp.ne.u32 %p3, %r0, 5;\n"
                                                       "W: vote.sync.ballot.b32 %r4, %p3, 0x3f;\n" BOTH_MEET;
    enum { PC_C = PC_D + 2, PC_W = PC_C + 1, PC_M = PC_W + 1 };
    struct fixture *f = open_paths(&divergence_dws, "dws:branch-only-stack,first=taken", text);
    splits_step(f, 0);
    step_while(f, 1, 0xc0);
    splits_expect_table(f, (struct entry[]){{PC_C, SPLITS_RUNS, 0x30}, {PC_M, SPLITS_WAITS, 0xc0}}, 2);
    step_while(f, 0, 0x30);
    const struct entry stack[] = {{PC_M, EXEC_NO_PC, 0xff}, {PC_W + 1, PC_M, 0x30}, {PC_A, PC_M, 0x0f}};
    splits_expect_stack(f, stack, 3);
    expect_running(f, PC_A, 0x0f);
    assert_int_equal(f->sm[0].counters.reconvergences, 0);
    finish(f, (const uint32_t[]){1029, 1029, 1029, 1029, 1029, 1029, 1010, 1010}); /* 0x1d and 1000 */
}

/* Threads 6 and 7 are on a stack of their own, where both wait; 4 and 5 wait beside it, have ended, or have done so
 * after them. */
#define CHILD_WAITS                                                                                                    \
    "U: .branchtargets E, G;\n"                                                                                        \
    "brx.idx %r7, U;\n"                                                                                                \
    "E: bar.sync 0; add.u32 %r4, %r4, 10; bra M;\n"                                                                    \
    "G: bar.sync 0; add.u32 %r4, %r4, 20; bra M;\n"
enum { PC_E = PC_D + 1, PC_G = PC_E + 3, PC_AFTER_G = PC_G + 3 };

static void the_paths_of_a_split_that_waits_become_paths_of_the_warp(void **state) {
    (void)state;
    static const char text[] = TWO_PATHS CHILD_WAITS "C: bar.sync 0; add.u32 %r4, %r4, 100; bra M;\n" BOTH_MEET;
    enum { PC_C = PC_AFTER_G, PC_M = PC_C + 3 };
    for (int is_last = 0; is_last < 2; is_last++) {
        struct fixture *f = open_paths(&divergence_dws, "dws:branch-only-stack,first=taken", text);
        splits_step(f, 0);
        splits_step(f, 1); /* a stack of its own */
        if (!is_last)
            splits_step(f, 0);
        splits_step_to(f, 1, PC_G);
        splits_step(f, 1);
        assert_int_equal(f->sm[0].slot[1].group->pc, PC_E); /* a sibling path runs while G waits */
        splits_step(f, 1);
        if (is_last)
            splits_step(f, 0);
        const struct entry stack[] = {{PC_M, EXEC_NO_PC, 0xff},
                                      {PC_C + 1, PC_M, 0x30},
                                      {PC_E + 1, PC_M, 0x40},
                                      {PC_G + 1, PC_M, 0x80},
                                      {PC_A, PC_M, 0x0f}};
        const struct divergence_splits_block *block = f->sm[0].block[0].block.state;
        assert_null(block->warp[0].subdivision->next); /* one subdivision again */
        assert_int_equal(block->warp[0].subdivision->stack.depth, 5);
        splits_expect_stack(f, stack, 2 + 3);
        expect_running(f, PC_A, 0x0f);
        finish(f, (const uint32_t[]){1001, 1001, 1001, 1001, 1100, 1100, 1010, 1020});
    }
}

static void a_split_alone_on_a_stack_of_its_own_lets_the_paths_below_run(void **state) {
    (void)state;
    static const char text[] = TWO_PATHS CHILD_WAITS "C: exit;\n" BOTH_MEET;
    for (int ends_last = 0; ends_last < 2; ends_last++) {
        struct fixture *f = open_paths(&divergence_dws, "dws:branch-only-stack,first=taken", text);
        splits_step(f, 0);
        splits_step(f, 1);
        if (!ends_last)
            splits_step(f, 0); /* 4 and 5 end: the warp is undivided, and the split is not on its stack */
        splits_step_to(f, 1, PC_G);
        splits_step(f, 1);
        splits_step(f, 1);
        if (ends_last)
            splits_step(f, 0);
        expect_running(f, PC_A, 0x0f);
        finish(f, (const uint32_t[]){1001, 1001, 1001, 1001, 0, 0, 1010, 1020});
    }
}

/* Thread 6 waits for 7 where their paths meet, at N; and 7 for the barrier, to which 6 comes only after N. */
static void who_waits_for_one_at_a_barrier_goes_on(void **state) {
    (void)state;
    static const char text[] = TWO_PATHS "setp.eq.u32 %p4, %r0, 6;\n"
                                         "U: .branchtargets N, G;\n"
                                         "brx.idx %r7, U;\n"
                                         "G: bar.sync 0; add.u32 %r4, %r4, 20;\n"
                                         "N: add.u32 %r4, %r4, 10; @%p4 bar.sync 0; bra M;\n"
                                         "C: bar.sync 0; add.u32 %r4, %r4, 100; bra M;\n" BOTH_MEET;
    enum { PC_N = PC_D + 4, PC_C = PC_N + 3, PC_M = PC_C + 3 };
    struct fixture *f = open_paths(&divergence_dws, "dws:branch-only-stack,first=taken", text);
    splits_step(f, 0);
    splits_step(f, 0);
    splits_step_to(f, 1, PC_D + 2);
    splits_step(f, 1);
    const struct entry stack[] = {{PC_M, EXEC_NO_PC, 0xff},
                                  {PC_A, PC_M, 0x0f},
                                  {PC_C + 1, PC_M, 0x30},
                                  {PC_D + 3, PC_M, 0x80},
                                  {PC_N, PC_M, 0x40}};
    splits_expect_stack(f, stack, 5);
    expect_running(f, PC_N, 0x40);
    finish(f, (const uint32_t[]){1001, 1001, 1001, 1001, 1100, 1100, 1010, 1030});
}

/* A callee that waits keeps its caller waiting, and with it the path: as on a stack alone. */
static void nobody_overtakes_a_call(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD ".func wait() { bar.sync 0; ret; }\n" PUSH_PATHS A_AND_B
                                            "call wait; add.u32 %r4, %r4, 10; bra M;\n"
                                            "C: bar.sync 0; add.u32 %r4, %r4, 100; bra M;\n" BOTH_MEET;
    struct fixture *f = open_paths(&divergence_dws, "dws:branch-only-stack,first=taken", text);
    splits_step(f, 0);
    splits_step(f, 0);
    step_while(f, 1, 0xc0);
    for (uint32_t s = 0; s < f->n_slots; s++)
        assert_false(fixture_can_step(&f->sm[0], s));
    const struct divergence_splits_block *block = f->sm[0].block[0].block.state;
    assert_int_equal(block->warp[0].n_splits, 2);
    fixture_close(f);
}

static void slip_lets_the_other_paths_run_too(void **state) {
    (void)state;
    static const char text[] = TWO_PATHS "add.u32 %r4, %r4, 10; bar.sync 0; add.u32 %r4, %r4, 20; bra M;\n"
                                         "C: bar.sync 0; add.u32 %r4, %r4, 100; bra M;\n" BOTH_MEET;
    struct fixture *f = open_paths(&divergence_slip, "slip:bypass", text);
    finish(f, (const uint32_t[]){1001, 1001, 1001, 1001, 1100, 1100, 1030, 1030});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(when_all_splits_of_a_path_wait_the_other_paths_run),
        cmocka_unit_test(splits_that_wait_at_the_same_instruction_are_one_path),
        cmocka_unit_test(who_waits_at_the_end_of_the_path_stays_there),
        cmocka_unit_test(the_paths_of_a_split_that_waits_become_paths_of_the_warp),
        cmocka_unit_test(a_split_alone_on_a_stack_of_its_own_lets_the_paths_below_run),
        cmocka_unit_test(who_waits_for_one_at_a_barrier_goes_on),
        cmocka_unit_test(nobody_overtakes_a_call),
        cmocka_unit_test(slip_lets_the_other_paths_run_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
