/* Tests of splits on stacks: threads that spin or go straight to a join, and which split takes a slot. They test the
 * code of dws and slip through dws. */
#include "divergence/splits/fixture.h"
#include "divergence/splits/splits.h"
#include "divergence/testing/programs.h"
#include "exec/profile.h"

extern const struct divergence_ops divergence_dws, divergence_slip, divergence_stack;

static struct fixture *open_warp(const char *model, const char *text, uint32_t n_slots) {
    const struct fixture_shape shape = {.block = 8, .warp_size = 8, .n_slots = n_slots};
    struct fixture *f = fixture_open(&divergence_dws, model, text, &shape);
    fixture_parameter(f, 0, fixture_alloc(f, 128));
    fixture_start(f);
    return f;
}

/* Thread 0 waits at J, so that the table is full; of the others 4 to 7 go there straight. */
static void threads_that_go_straight_to_the_join_are_not_waited_for_twice(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "mov.u32 %r4, 1; setp.eq.u32 %p1, %r0, 0; setp.gt.u32 %p2, %r0, 3; setp.gt.u32 %p3, %r0, 5;\n"
        "mov.u32 %r5, 0; T: .branchtargets A, K; brx.idx %r5, T; K: bra J;\n" /* pushes a path that ends at J */
        "A: @%p3 bra J; @%p1 bra C; add.u32 %r4, %r4, 10; @%p2 bra J; add.u32 %r4, %r4, 100; bra J;\n"
        "C: add.u32 %r4, %r4, 1000;\n"
        "J: add.u32 %r4, %r4, 2;\n" PROGRAM_END;
    struct fixture *f = open_warp("dws:branch-only-stack,wst=2,first=taken", text, 4);
    fixture_run(f);
    assert_int_equal(f->sm[0].counters.warp_splits, 1);
    assert_int_equal(f->sm[0].counters.splits_refused, 1);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[i], i == 0 ? 1003 : i < 4 ? 113 : i < 6 ? 13 : 3);
    fixture_close(f);
}

/* A branch that divides four times: one thread leaves each time. */
static void splits_get_slots_in_the_order_in_which_they_asked(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD PROGRAM_BEGIN "mov.u32 %r4, 1; mov.u32 %r5, 0;\n"
                                   "L: setp.eq.u32 %p1, %r0, %r5; @!%p1 bra N; add.u32 %r4, %r4, 10; bra J;\n"
                                   "N: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 4; @%p2 bra L;\n"
                                   "J: add.u32 %r4, %r4, 2;\n" PROGRAM_END;
    struct fixture *f = open_warp("dws:branch-only-stack,first=taken", text, 1);
    uint32_t seen[8], n = 0;
    for (uint32_t i = 0; i < 200 && f->sm[0].slot[0].group; i++) {
        uint32_t mask = f->sm[0].slot[0].group->mask;
        if (n < 8 && (!n || seen[n - 1] != mask))
            seen[n++] = mask;
        fixture_step(&f->sm[0], 0);
        splits_check_state(f);
    }
    static const uint32_t expected[] = {0xff, 0xfe, 0xfc, 0xf8, 0xf0, 0x01, 0x02, 0x04};
    assert_int_equal(n, 8);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(seen[i], expected[i]);
    fixture_close(f);
}

/* --- indexed branches --- */

static void indexed_branches_are_counted_as_branches_are(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "and.b32 %r5, %r0, 1; mov.u32 %r6, 0; mov.u32 %r4, 1; setp.gt.u32 %p1, %r0, 99; setp.lt.u32 %p2, %r0, 6;\n"
        "T: .branchtargets A, B; U: .branchtargets N; V: .branchtargets X, Y;\n"
        "@%p1 brx.idx %r5, T; brx.idx %r6, U;\n"
        "N: brx.idx %r5, T;\n"
        "A: add.u32 %r4, %r4, 10; bra J;\n"
        "B: add.u32 %r4, %r4, 100;\n"
        "J: @%p2 bra C; add.u32 %r4, %r4, 1000; bra K;\n"
        "C: brx.idx %r5, V;\n"
        "X: add.u32 %r4, %r4, 3; bra K;\n"
        "Y: add.u32 %r4, %r4, 5;\n"
        "K: add.u32 %r4, %r4, 7;\n" PROGRAM_END;
    enum { PC_NONE = 12, PC_ALL, PC_PARTS, PC_J = 18, PC_C = 21 };
    static const struct {
        const struct divergence_ops *ops;
        const char *model;
        uint32_t n_splits; /* at J, so that C is a split's */
    } cases[] = {{&divergence_stack, "stack", 0},
                 {&divergence_dws, "dws:branch-only,first=taken", 1},
                 {&divergence_dws, "dws:mem-only,first=taken", 0},
                 {&divergence_slip, "slip", 0},
                 {&divergence_slip, "slip:bypass", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fixture_shape shape = {.block = 8, .warp_size = 8};
        struct fixture *f = fixture_open(cases[i].ops, cases[i].model, text, &shape);
        struct exec_profile *profile = exec_profile_new(f->program, 8, 8, false);
        fixture_parameter(f, 0, fixture_alloc(f, 32));
        f->grid.profile = profile;
        fixture_start(f);
        fixture_run(f);
        static const uint32_t at[] = {PC_NONE, PC_ALL, PC_PARTS, PC_J, PC_C}, diverged[] = {0, 0, 1, 1, 1};
        for (uint32_t k = 0; k < 5; k++) {
            assert_int_equal(profile->executed[at[k]], 1);
            assert_int_equal(profile->diverged[at[k]], diverged[k]);
        }
        for (uint32_t thread = 0; thread < 8; thread++) {
            assert_int_equal(profile->split[thread], thread < 6 ? 3 : 2);
            assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[thread], (thread & 1 ? 101 : 11) +
                                                                         (thread >= 6  ? 1000
                                                                          : thread & 1 ? 5
                                                                                       : 3) +
                                                                         7);
        }
        assert_int_equal(f->sm[0].counters.branches, 8); /* and the jumps at the end of A, of X and before C */
        assert_int_equal(f->sm[0].counters.divergent_branches, 3);
        assert_int_equal(f->sm[0].counters.warp_splits, cases[i].n_splits);
        exec_profile_free(profile);
        fixture_close(f);
    }
}

/* --- threads that spin --- */

/* Like fixture_run(), but checks the invariants only when other threads run, and now and then: spinning takes long. */
static void run_long(struct fixture *f) {
    uint32_t last = 0;
    f->checks_nothing = true;
    for (uint32_t i = 0; !fixture_is_done(f); i++) {
        uint32_t running = 0;
        assert_true(i < 1 << 20);
        for (uint32_t s = 0; s < f->n_slots; s++)
            if (fixture_can_step(&f->sm[0], s)) {
                running |= f->sm[0].slot[s].group->mask;
                fixture_step(&f->sm[0], s);
            }
        if ((i % 997 == 0 || running != last) && !fixture_is_done(f)) {
            last = running;
            fixture_check(f);
            splits_check_state(f);
        }
    }
}

/* Lanes of one warp take turns: each waits until its number is up. The branch out of the loop meets at a long block, so
 * that nothing is subdivided. */
static void lanes_that_spin_let_the_others_go_on(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "ld.param.u64 %rd3, [out]; mov.u32 %r6, 7; sub.u32 %r6, %r6, %r0; mov.u32 %r4, 1;\n"
        "WAIT: ld.volatile.global.u32 %r5, [%rd3+64]; setp.ne.u32 %p1, %r5, %r6; @%p1 bra WAIT;\n"
        "add.u32 %r5, %r5, 1; st.volatile.global.u32 [%rd3+64], %r5;\n" PROGRAM_END;
    struct fixture *f = open_warp("dws:mem-only,first=taken", text, 2);
    run_long(f);
    assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[16], 8);
    fixture_close(f);
}

/* The same on the stack of a split: thread 0 waits at J, so that the table is full; 1 to 6 spin until 7 has begun. */
static void lanes_that_spin_on_the_stack_of_a_split_meet_the_others_again(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "ld.param.u64 %rd3, [out]; mov.u32 %r6, 7; sub.u32 %r6, %r6, %r0; mov.u32 %r4, 1; mov.u32 %r5, 0;\n"
        "setp.eq.u32 %p1, %r0, 0; setp.lt.u32 %p2, %r0, 7; mov.u32 %r7, 1;\n"
        "T: .branchtargets A, K; brx.idx %r5, T; K: bra J;\n" /* pushes a path that ends at J */
        "A: @%p1 bra C; @%p2 bra WAIT; st.volatile.global.u32 [%rd3+64], %r7; bra M;\n"
        "WAIT: ld.volatile.global.u32 %r5, [%rd3+64]; setp.ne.u32 %p3, %r5, %r6; @%p3 bra WAIT;\n"
        "add.u32 %r5, %r5, 1; st.volatile.global.u32 [%rd3+64], %r5;\n"
        "M: add.u32 %r4, %r4, 10; bra J;\n"
        "C: add.u32 %r4, %r4, 100;\n"
        "J: add.u32 %r4, %r4, 1000;\n" PROGRAM_END;
    struct fixture *f = open_warp("dws:branch-only-stack,wst=2,first=taken", text, 2);
    run_long(f);
    assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[16], 7);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[i], i == 0 ? 1101 : 1011);
    assert_int_equal(f->sm[0].counters.warp_splits, 1);
    fixture_close(f);
}

/* 2 to 5 spin on what 0 and 1 will write, while 6 and 7 wait at M: three paths after that, and all are looked at. */
static void a_broken_join_loses_no_thread(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "ld.param.u64 %rd3, [out]; add.u32 %r5, %r0, 2; shr.u32 %r5, %r5, 2; mov.u32 %r4, 1;\n"
        "T: .branchtargets Q, WAIT, M; brx.idx %r5, T;\n"
        "Q: st.volatile.global.u32 [%rd3+64], %r4; bra M;\n"
        "WAIT: ld.volatile.global.u32 %r5, [%rd3+64]; setp.eq.u32 %p1, %r5, 0; @%p1 bra WAIT; add.u32 %r4, %r4, 10;\n"
        "M: add.u32 %r4, %r4, 100;\n" PROGRAM_END;
    struct fixture *f = open_warp("dws:mem-only,first=taken", text, 2);
    run_long(f);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[i], i < 2 || i > 5 ? 101 : 111);
    fixture_close(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_go_straight_to_the_join_are_not_waited_for_twice),
        cmocka_unit_test(splits_get_slots_in_the_order_in_which_they_asked),
        cmocka_unit_test(indexed_branches_are_counted_as_branches_are),
        cmocka_unit_test(lanes_that_spin_let_the_others_go_on),
        cmocka_unit_test(lanes_that_spin_on_the_stack_of_a_split_meet_the_others_again),
        cmocka_unit_test(a_broken_join_loses_no_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
