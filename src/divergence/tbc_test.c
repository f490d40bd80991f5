/* Tests of thread block compaction: which warps wait for which, which warps are formed, and the results of every
 * program. */
#include "divergence/testing/programs.h"

extern const struct divergence_ops divergence_tbc;

/* Three rows of four lanes. Threads in columns by number:
 *     row 0   0  1  2  3        THEN: 0 and 1 of row 0, 2 and 3 of row 1, 2 of row 2
 *     row 1   4  5  6  7
 *     row 2   8  9 10 11 */
#define IF_TEXT                                                                                                        \
    PROGRAM_HEAD PROGRAM_BEGIN                                                                                         \
        "mov.u32 %r5, 0x4c3; shr.u32 %r5, %r5, %r0; and.b32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, 1;\n"                   \
        "@!%p1 bra ELSE; xor.b32 %r4, %r0, 1; bra JOIN; ELSE: not.b32 %r4, %r0; JOIN: add.u32 %r4, %r4, "              \
        "1;\n" PROGRAM_END
static const struct fixture_shape three_by_four = {.block = 12, .warp_size = 4};

static struct fixture *open_if(void) {
    struct fixture *f = fixture_open(&divergence_tbc, "tbc", IF_TEXT, &three_by_four);
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    f->is_lane_aware = true;
    fixture_start(f);
    return f;
}

static const struct divergence_group *group_in(const struct fixture *f, uint32_t slot) {
    return f->sm[0].slot[slot].group;
}

struct member {
    uint32_t thread, lane;
    const struct divergence_group *group;
};

struct census {
    struct member member[64];
    uint32_t n;
};

static void count_thread(void *user, const struct divergence_group *group, const struct exec_row *row, uint32_t lane) {
    struct census *census = user;
    census->member[census->n++] = (struct member){row->tid[0][lane], lane, group};
}

/* The group holds these threads by lane; -1: an empty lane. */
static void expect_threads(struct fixture *f, const struct divergence_group *group, const int thread[4]) {
    struct census census = {.n = 0};
    int found[4] = {-1, -1, -1, -1};
    divergence_tbc.visit(f->sm[0].model, &f->sm[0].block[0].block, count_thread, &census);
    for (uint32_t i = 0; i < census.n; i++)
        if (census.member[i].group == group)
            found[census.member[i].lane] = (int)census.member[i].thread;
    assert_memory_equal(found, thread, sizeof found);
}

#define EXPECT_THREADS(f, group, ...) expect_threads(f, group, (const int[4]){__VA_ARGS__})

/* Every state from the branch to the join. */
static void a_divergent_branch_is_compacted_path_by_path(void **state) {
    (void)state;
    struct fixture *f = open_if();
    uint32_t branch = fixture_pc_of(f, PTX_OP_BRA, 0), then_pc = fixture_pc_of(f, PTX_OP_XOR, 0),
             else_pc = fixture_pc_of(f, PTX_OP_NOT, 0);
    for (uint32_t s = 0; s < 3; s++)
        fixture_step_to(f, s, branch);
    fixture_step(&f->sm[0], 1); /* two of the three come first, and wait */
    fixture_step(&f->sm[0], 0);
    assert_int_equal(group_in(f, 0)->status, DIVERGENCE_WAITS);
    assert_int_equal(group_in(f, 1)->status, DIVERGENCE_WAITS);
    assert_int_equal(group_in(f, 2)->status, DIVERGENCE_RUNS);
    fixture_step(&f->sm[0], 2); /* the last one */
    for (uint32_t s = 0; s < 3; s++)
        assert_int_equal(group_in(f, s)->status, DIVERGENCE_DRAINS);
    fixture_resume_all(f);
    /* The jump's side runs first: 2 and 3 of row 0, 0 and 1 of row 1, 0, 1 and 3 of row 2, in two warps. */
    assert_int_equal(f->n_slots - fixture_free_slots(&f->sm[0]), 2);
    EXPECT_THREADS(f, group_in(f, 0), 4, 5, 2, 3);
    EXPECT_THREADS(f, group_in(f, 1), 8, 9, -1, 11);
    assert_int_equal(group_in(f, 0)->pc, else_pc);
    assert_null(group_in(f, 0)->row);
    assert_non_null(group_in(f, 1)->row);
    fixture_step(&f->sm[0], 1);
    assert_int_equal(group_in(f, 1)->status, DIVERGENCE_WAITS); /* at the join */
    fixture_step(&f->sm[0], 0);
    fixture_resume_all(f);
    /* The other side: 0 and 1 of row 0, 2 and 3 of row 1, and 2 of row 2. */
    assert_int_equal(group_in(f, 0)->pc, then_pc);
    EXPECT_THREADS(f, group_in(f, 0), 0, 1, 6, 7);
    EXPECT_THREADS(f, group_in(f, 1), -1, -1, 10, -1);
    for (uint32_t s = 0; s < 2; s++) {
        fixture_step(&f->sm[0], s);
        fixture_step(&f->sm[0], s); /* the jump to the join does not wait */
    }
    fixture_resume_all(f);
    /* The original arrangement. */
    assert_int_equal(f->n_slots - fixture_free_slots(&f->sm[0]), 3);
    EXPECT_THREADS(f, group_in(f, 0), 0, 1, 2, 3);
    EXPECT_THREADS(f, group_in(f, 1), 4, 5, 6, 7);
    EXPECT_THREADS(f, group_in(f, 2), 8, 9, 10, 11);
    assert_int_equal(FIXTURE_COUNTER(f, branches), 3 + 2);
    assert_int_equal(FIXTURE_COUNTER(f, divergent_branches), 3);
    assert_int_equal(FIXTURE_COUNTER(f, reconvergences), 2);
    fixture_run(f);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], (0x4c3 >> i & 1 ? i ^ 1 : ~i) + 1);
    fixture_close(f);
}

/* All go the same way, but the analysis could not know: they wait for each other, and no warp is re-formed. */
static void a_branch_that_does_not_diverge_leaves_the_warps_alone(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "setp.gt.u32 %p1, %r0, 1000; @%p1 bra END; mov.u32 %r4, 7; END: add.u32 %r4, %r4, 1;\n" PROGRAM_END;
    struct fixture *f = fixture_open(&divergence_tbc, "tbc", text, &three_by_four);
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    f->runs_ahead = true;
    fixture_start(f);
    uint32_t branch = fixture_pc_of(f, PTX_OP_BRA, 0);
    for (uint32_t s = 0; s < 3; s++) {
        fixture_step_to(f, s, branch);
        fixture_step(&f->sm[0], s);
        assert_int_equal(group_in(f, s)->status, s < 2 ? DIVERGENCE_WAITS : DIVERGENCE_RUNS);
    }
    for (uint32_t s = 0; s < 3; s++) {
        assert_int_equal(group_in(f, s)->status, DIVERGENCE_RUNS);
        assert_int_equal(group_in(f, s)->pc, branch + 1);
        assert_ptr_equal(group_in(f, s)->row, &f->sm[0].block[0].block.cta->row[s]);
    }
    fixture_run(f);
    fixture_close(f);
}

/* A loop whose length all threads share. */
static struct fixture *open_uniform_loop(const char *model) {
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "mov.u32 %r4, 0; mov.u32 %r5, 5; LOOP: add.u32 %r4, %r4, %r0; sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0;\n"
        "@%p1 bra LOOP;\n" PROGRAM_END;
    struct fixture *f = fixture_open(&divergence_tbc, model, text, &three_by_four);
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    fixture_start(f);
    return f;
}

static void close_uniform_loop(struct fixture *f) {
    fixture_run(f);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], 5 * i);
    fixture_close(f);
}

/* A warp may be in its last trip while another has not started. */
static void a_uniform_branch_waits_for_nobody(void **state) {
    (void)state;
    struct fixture *f = open_uniform_loop("tbc");
    while (group_in(f, 1))
        fixture_step(&f->sm[0], 1); /* to its end */
    assert_int_equal(group_in(f, 0)->pc, f->program->function[0].first_pc);
    close_uniform_loop(f);
}

/* meet=every: at the end of its first trip a warp waits for the others. */
static void with_meet_every_warps_meet_at_uniform_branches(void **state) {
    (void)state;
    struct fixture *f = open_uniform_loop("tbc:meet=every");
    while (group_in(f, 1)->status == DIVERGENCE_RUNS)
        fixture_step(&f->sm[0], 1);
    assert_int_equal(f->program->code[group_in(f, 1)->pc].opcode, PTX_OP_BRA);
    assert_int_equal(group_in(f, 0)->pc, f->program->function[0].first_pc);
    close_uniform_loop(f);
}

/* The other warps of the block continue when the last branch has left the pipeline. */
static void the_outcome_is_known_when_the_last_branch_is(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "setp.gt.u32 %p1, %r0, 1000; @%p1 bra END; mov.u32 %r4, 7; END: add.u32 %r4, %r4, 1;\n" PROGRAM_END;
    struct fixture *f = fixture_open(&divergence_tbc, "tbc", text, &three_by_four);
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    f->machine.sm.stages = 7;
    fixture_start(f);
    for (uint32_t s = 0; s < 3; s++) {
        fixture_step_to(f, s, fixture_pc_of(f, PTX_OP_BRA, 0));
        fixture_step(&f->sm[0], s);
    }
    for (uint32_t s = 0; s < 3; s++)
        assert_int_equal(group_in(f, s)->ready_cycle, f->cycle + 7);
    fixture_run(f);
    fixture_close(f);
}

/* --- everything --- */

/* Odd threads wait at barrier 1 for even ones, which wait at barrier 2 for odd ones, three times. */
static void both_sides_of_a_branch_may_wait_for_each_other(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD ".shared .align 4 .b8 area[4];\n" PROGRAM_BEGIN
                     "mov.u32 %r9, 3; mov.u32 %r4, 0; and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra EVEN;\n"
                     "ODD: bar.sync 1, 128; ld.shared.u32 %r6, [area]; add.u32 %r4, %r4, %r6; bar.sync 2, 128;\n"
                     "sub.u32 %r9, %r9, 1; setp.ne.u32 %p2, %r9, 0; @%p2 bra ODD; bra JOIN;\n"
                     "EVEN: st.shared.u32 [area], %r9; bar.sync 1, 128; add.u32 %r4, %r4, 10; bar.sync 2, 128;\n"
                     "sub.u32 %r9, %r9, 1; setp.ne.u32 %p2, %r9, 0; @%p2 bra EVEN;\n"
                     "JOIN:\n" PROGRAM_END;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct fixture *f = fixture_open(&divergence_tbc, "tbc", text, &(struct fixture_shape){.block = 128});
        fixture_parameter(f, 0, fixture_alloc(f, 4096));
        fixture_start(f);
        fixture_run_random(f, seed);
        for (uint32_t i = 0; i < 128; i++)
            assert_int_equal(fixture_u32(f, f->parameter[0])[i], i & 1 ? 6 : 30);
        fixture_close(f);
    }
}

/* The side that is taken runs first, and spins on what the other will write. */
static void threads_that_spin_for_others_let_them_go_on(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD ".shared .align 4 .b8 flag[4];\n" PROGRAM_BEGIN "setp.ne.u32 %p1, %r0, 5; @%p1 bra SPIN;\n"
                     "mov.u32 %r4, 3; st.volatile.shared.u32 [flag], %r4; bra JOIN;\n"
                     "SPIN: ld.volatile.shared.u32 %r4, [flag]; setp.eq.u32 %p2, %r4, 0; @%p2 bra SPIN;\n"
                     "JOIN:\n" PROGRAM_END;
    struct fixture *f = fixture_open(&divergence_tbc, "tbc", text, &(struct fixture_shape){.block = 64});
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    f->checks_nothing = true; /* too many steps to look after each */
    fixture_start(f);
    fixture_run(f);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], 3);
    fixture_close(f);
}

/* Row 0 takes the path with lanes 0 to 15, row 1 with 8 to 23, so that compaction cuts row 1 in two. */
static void warp_wide_instructions_see_whole_rows(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "mov.u32 %r4, 0; shr.u32 %r5, %r0, 5; shl.b32 %r5, %r5, 3; mov.u32 %r6, 0xffff; shl.b32 %r6, %r6, %r5;\n"
        "mov.u32 %r7, %laneid; shr.u32 %r8, %r6, %r7; and.b32 %r8, %r8, 1; setp.eq.u32 %p1, %r8, 0; @%p1 bra JOIN;\n"
        "and.b32 %r9, %r0, 1; setp.eq.u32 %p2, %r9, 0; vote.sync.ballot.b32 %r4, %p2, %r6;\n"
        "JOIN:\n" PROGRAM_END;
    for (uint64_t seed = 1; seed < 5; seed++) {
        struct fixture *f = fixture_open(&divergence_tbc, "tbc", text, &(struct fixture_shape){.block = 64});
        fixture_parameter(f, 0, fixture_alloc(f, 256));
        f->is_lane_aware = true;
        fixture_start(f);
        fixture_run_random(f, seed);
        for (uint32_t i = 0; i < 64; i++) {
            uint32_t members = 0xffffu << i / 32 * 8;
            assert_int_equal(fixture_u32(f, f->parameter[0])[i], members >> i % 32 & 1 ? members & 0x55555555 : 0);
        }
        fixture_close(f);
    }
}

/* Two rows of four lanes. Threads 0, 1 and 4 to 7 take the branch: compacted warps 0 1 6 7 and 4 5. Threads 6 and 7
 * read what 4 and 5 have written, although those are in another warp. */
static void threads_of_a_row_in_two_warps_wait_for_each_other(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "mov.u32 %r4, 0; mov.u32 %r5, 0xf3; shr.u32 %r5, %r5, %r0; and.b32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, 0;\n"
        "setp.lt.u32 %p2, %r0, 4; selp.u32 %r6, 3, 15, %p2; selp.u32 %r7, 1, 2, %p2; xor.b32 %r7, %r7, %r0;\n"
        "ld.param.u64 %rd3, [out]; mul.wide.u32 %rd4, %r7, 4; add.u64 %rd3, %rd3, %rd4; add.u32 %r8, %r0, 100;\n"
        "@%p1 bra JOIN; st.global.u32 [%rd1], %r8; bar.warp.sync %r6; ld.global.u32 %r4, [%rd3]; bar.warp.sync %r6;\n"
        "JOIN:\n" PROGRAM_END;
    static const uint32_t expected[] = {101, 100, 0, 0, 106, 107, 104, 105};
    struct fixture *f = fixture_open(&divergence_tbc, "tbc", text, &(struct fixture_shape){.block = 8, .warp_size = 4});
    uint64_t out = fixture_alloc(f, 32);
    fixture_parameter(f, 0, out);
    fixture_start(f);
    while (!fixture_is_done(f)) { /* the first warp runs as far as it can */
        uint32_t slot = 0;
        while (slot < f->n_slots && !fixture_can_step(&f->sm[0], slot))
            slot++;
        assert_in_range(slot, 0, f->n_slots - 1);
        fixture_step(&f->sm[0], slot);
    }
    assert_memory_equal(fixture_u32(f, out), expected, sizeof expected);
    fixture_close(f);
}

static void any_delay(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                      uint32_t delay[EXEC_LANES]) {
    (void)group, (void)pc;
    uint64_t *seed = user;
    uint32_t cycles = fixture_random(seed) % 3 ? 0 : fixture_random(seed) % 40;
    for (uint32_t left = mask; left; left &= left - 1)
        delay[__builtin_ctz(left)] = cycles;
}

/* Warps with loads in flight are re-formed only when those have come. */
static void loads_may_take_any_time(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "mov.u32 %r4, 0; rem.u32 %r6, %r0, 7;\n"
        "LOOP: ld.global.u32 %r5, [%rd1]; add.u32 %r4, %r4, %r5; add.u32 %r5, %r5, 1; st.global.u32 [%rd1], %r5;\n"
        "sub.u32 %r6, %r6, 1; setp.gt.s32 %p1, %r6, 0; @%p1 bra LOOP;\n" PROGRAM_END;
    for (uint64_t seed = 1; seed < 20; seed++) {
        uint64_t random = seed;
        struct fixture *f = fixture_open(&divergence_tbc, "tbc", text, &(struct fixture_shape){.block = 300});
        fixture_parameter(f, 0, fixture_alloc(f, 1200));
        f->outcome = any_delay;
        f->user = &random;
        f->runs_ahead = seed % 2;
        fixture_start(f);
        fixture_run_random(f, seed);
        for (uint32_t i = 0; i < 300; i++) {
            uint32_t n = i % 7 ? i % 7 : 1;
            assert_int_equal(fixture_u32(f, f->parameter[0])[i], n * (n - 1) / 2);
        }
        fixture_close(f);
    }
}

static void cond_acc_is_refused_and_named(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD PROGRAM_BEGIN "setp.eq.u32 %p1, %r0, 3;\ncond_acc.global.b32 %r4, [%rd1], %p1, %r0;\n" PROGRAM_END;
    char line[200];
    struct fixture *f = fixture_open(&divergence_tbc, "tbc", text, &three_by_four);
    const char *rule = divergence_tbc.refuses(f->options, &f->machine, f->program, line, sizeof line);
    assert_non_null(rule);
    assert_non_null(strstr(rule, "cond_acc"));
    fixture_close(f);
    f = open_if();
    assert_null(divergence_tbc.refuses(f->options, &f->machine, f->program, line, sizeof line));
    fixture_close(f);
}

static void every_program_computes_what_it_should(void **state) {
    (void)state;
    programs_check_all(&divergence_tbc, "tbc", true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_divergent_branch_is_compacted_path_by_path),
        cmocka_unit_test(a_branch_that_does_not_diverge_leaves_the_warps_alone),
        cmocka_unit_test(a_uniform_branch_waits_for_nobody),
        cmocka_unit_test(with_meet_every_warps_meet_at_uniform_branches),
        cmocka_unit_test(the_outcome_is_known_when_the_last_branch_is),
        cmocka_unit_test(both_sides_of_a_branch_may_wait_for_each_other),
        cmocka_unit_test(threads_that_spin_for_others_let_them_go_on),
        cmocka_unit_test(warp_wide_instructions_see_whole_rows),
        cmocka_unit_test(threads_of_a_row_in_two_warps_wait_for_each_other),
        cmocka_unit_test(loads_may_take_any_time),
        cmocka_unit_test(cond_acc_is_refused_and_named),
        cmocka_unit_test(every_program_computes_what_it_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
