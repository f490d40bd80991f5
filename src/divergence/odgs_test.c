/* Tests of the oracle dynamic global scheduler: which warp takes a free slot, the effect of each option, and the
 * results of every program. Warps have four lanes. Threads with an odd number fall through at the branch, the others
 * jump over them. */
#include "divergence/odgs/fixture.h"

/* --- which warp takes a free slot --- */

/* Three blocks of one warp and one slot: full warps from the pool, then new ones, then what waits at the lowest pc. */
static void a_free_slot_takes_full_then_new_then_incomplete_warps(void **state) {
    (void)state;
    struct fixture *f =
        odgs_open("odgs", ODGS_IF_TEXT, &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 3, .n_slots = 1});
    uint32_t odd = fixture_pc_of(f, PTX_OP_XOR, 0), even = fixture_pc_of(f, PTX_OP_NOT, 0);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0f);
    odgs_diverge(f, 0, 0); /* two and two threads: no full warp, but a new one */
    assert_int_equal(odgs_threads_of(f, NULL), 0x0f);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0f00);
    assert_int_equal(odgs_group_in(f, 0, 0)->pc, 0);
    odgs_diverge(f, 0, 0); /* now both sides are full; that of thread 0 was the first */
    assert_int_equal(odgs_group_in(f, 0, 0)->pc, even);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0505);
    assert_null(odgs_group_in(f, 0, 0)->row);
    assert_int_equal(odgs_group_in(f, 0, 0)->n_threads, 4);
    odgs_finish(f, 0, 0);
    assert_int_equal(odgs_group_in(f, 0, 0)->pc, odd); /* full before new */
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0a0a);
    odgs_finish(f, 0, 0);
    assert_int_equal(f->n_finished, 2);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0f0000);
    odgs_diverge(f, 0, 0); /* nothing full, nothing new: the lowest pc */
    assert_int_equal(odgs_group_in(f, 0, 0)->pc, odd);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0a0000);
    assert_int_equal(odgs_threads_of(f, NULL), 0x050000);
    assert_ptr_equal(odgs_group_in(f, 0, 0)->row, &f->sm[0].block[0].block.cta->row[0]); /* two lanes of one row */
    odgs_finish(f, 0, 0);
    assert_int_equal(odgs_group_in(f, 0, 0)->pc, even);
    odgs_finish(f, 0, 0);
    assert_int_equal(f->n_finished, 3);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 3);
    assert_int_equal(FIXTURE_COUNTER(f, divergent_branches), 3);
    assert_int_equal(FIXTURE_COUNTER(f, migrations), 0);
    odgs_expect_results(f);
    fixture_close(f);
}

/* The third warp of the block has not run yet when the first two have diverged. */
static void full_warps_go_before_those_that_are_new(void **state) {
    (void)state;
    struct fixture *f =
        odgs_open("odgs", ODGS_IF_TEXT, &(struct fixture_shape){.block = 12, .warp_size = 4, .grid = 1, .n_slots = 1});
    odgs_diverge(f, 0, 0);
    assert_int_equal(odgs_group_in(f, 0, 0)->row->index, 1);
    odgs_diverge(f, 0, 0);
    assert_int_equal(odgs_group_in(f, 0, 0)->pc, fixture_pc_of(f, PTX_OP_NOT, 0));
    odgs_finish(f, 0, 0);
    assert_int_equal(odgs_group_in(f, 0, 0)->pc, fixture_pc_of(f, PTX_OP_XOR, 0));
    odgs_finish(f, 0, 0);
    assert_int_equal(odgs_group_in(f, 0, 0)->pc, 0);
    assert_int_equal(odgs_group_in(f, 0, 0)->row->index, 2);
    odgs_expect_results(f);
    fixture_close(f);
}

/* Two warps, two slots: the first one diverges, and its threads fill no warp. While the other runs, which is enough,
 * they wait for its threads; when it has diverged too, there are two full warps. */
static void incomplete_warps_wait_while_an_sm_has_enough(void **state) {
    (void)state;
    struct fixture *f = odgs_open("odgs:incomplete=1", ODGS_IF_TEXT,
                                  &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 2});
    odgs_diverge(f, 0, 0);
    assert_null(odgs_group_in(f, 0, 0));
    assert_int_equal(odgs_threads_of(f, NULL), 0x0f);
    odgs_diverge(f, 0, 1);
    assert_int_equal(odgs_group_in(f, 0, 0)->n_threads, 4);
    assert_int_equal(odgs_group_in(f, 0, 1)->n_threads, 4);
    odgs_expect_results(f);
    fixture_close(f);
}

/* One warp for each of two SMs with two slots. One below the limit: the SM that has none gets the incomplete warp. */
static void an_sm_below_the_limit_takes_incomplete_warps(void **state) {
    (void)state;
    struct fixture *f =
        odgs_open("odgs:incomplete=1", ODGS_IF_TEXT,
                  &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 2, .n_sms = 2});
    uint32_t odd = fixture_pc_of(f, PTX_OP_XOR, 0);
    assert_int_equal(odgs_group_in(f, 0, 0)->n_threads, 4);
    assert_int_equal(odgs_group_in(f, 1, 0)->n_threads, 4);
    odgs_diverge(f, 0, 0);
    assert_int_equal(odgs_group_in(f, 0, 0)->pc, odd);
    assert_int_equal(odgs_group_in(f, 0, 0)->n_threads, 2);
    assert_null(odgs_group_in(f, 0, 1));
    assert_null(odgs_group_in(f, 1, 1));
    assert_int_equal(odgs_threads_of(f, NULL), 0x05);
    odgs_expect_results(f);
    fixture_close(f);
}

/* A warp that the latency holds in its slot does not run, so that it does not count. */
static void a_warp_that_the_latency_holds_is_not_enough(void **state) {
    (void)state;
    struct fixture *f = odgs_open("odgs:incomplete=1,latency=100", ODGS_IF_TEXT,
                                  &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 3});
    odgs_diverge(f, 0, 0);
    f->cycle += 100;
    fixture_catch_up(f);
    assert_null(odgs_group_in(f, 0, 0)); /* the second warp is enough */
    odgs_diverge(f, 0, 1);
    f->cycle++;
    fixture_catch_up(f);
    assert_int_equal(odgs_group_in(f, 0, 1)->status, DIVERGENCE_WAITS);
    assert_int_equal(odgs_group_in(f, 0, 0)->n_threads, 2);
    assert_null(odgs_group_in(f, 0, 2));
    odgs_expect_results(f);
    fixture_close(f);
}

/* Eight stages, four lanes in two cycles: four warps keep a barrel busy. Without perfect memory each slot may help. */
static void enough_are_as_many_as_fill_the_pipeline(void **state) {
    (void)state;
    for (int is_perfect = 0; is_perfect < 2; is_perfect++) {
        struct fixture *f = fixture_open(&divergence_odgs, "odgs", ODGS_IF_TEXT,
                                         &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 6, .n_slots = 6});
        f->machine.memory.is_perfect = is_perfect;
        f->machine.sm.stages = 8;
        f->machine.sm.simd_width = 2;
        fixture_parameter(f, 0, fixture_alloc(f, 4096));
        fixture_start(f);
        odgs_diverge(f, 0, 0);
        assert_int_equal(odgs_group_in(f, 0, 0) == NULL, is_perfect); /* five others run */
        odgs_expect_results(f);
        fixture_close(f);
    }
}

/* Loads of a diverged warp come back first: until then it keeps slot and threads. */
static void a_diverged_warp_leaves_when_nothing_of_it_is_in_flight(void **state) {
    (void)state;
    struct fixture *f =
        odgs_open("odgs", ODGS_IF_TEXT, &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 1});
    odgs_step_to(f, 0, 0, fixture_pc_of(f, PTX_OP_BRA, 0));
    const struct divergence_group *group = odgs_group_in(f, 0, 0);
    fixture_step(&f->sm[0], 0);
    assert_ptr_equal(odgs_group_in(f, 0, 0), group);
    assert_int_equal(odgs_threads_of(f, group), 0x0f);
    f->sm[0].slot[0].access[0] = (struct fixture_access){.lanes = 1, .arrives = {f->cycle + 5}};
    f->sm[0].slot[0].n_accesses = 1;
    assert_false(fixture_can_step(&f->sm[0], 0));
    odgs_expect_results(f);
    fixture_close(f);
}

/* latency=N: slot and threads become free N cycles later, not one earlier. */
static void latency_keeps_slot_and_threads(void **state) {
    (void)state;
    struct fixture *f = odgs_open("odgs:latency=10", ODGS_IF_TEXT,
                                  &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 1});
    const struct divergence_group *group = odgs_group_in(f, 0, 0);
    odgs_diverge(f, 0, 0);
    uint64_t left = f->cycle;
    assert_ptr_equal(odgs_group_in(f, 0, 0), group);
    assert_int_equal(group->status, DIVERGENCE_WAITS);
    f->cycle = left + 9;
    fixture_catch_up(f);
    assert_ptr_equal(odgs_group_in(f, 0, 0), group);
    assert_int_equal(odgs_threads_of(f, group), 0x0f);
    assert_int_equal(odgs_threads_of(f, NULL), 0);
    f->cycle = left + 10;
    fixture_catch_up(f);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0f00);
    assert_int_equal(odgs_threads_of(f, NULL), 0x0f);
    odgs_expect_results(f);
    fixture_close(f);
}

/* Two warps that leave one after the other: each has its own time. */
static void latency_counts_for_each_warp_of_its_own(void **state) {
    (void)state;
    struct fixture *f = odgs_open("odgs:latency=100", ODGS_IF_TEXT,
                                  &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 2});
    odgs_diverge(f, 0, 0);
    uint64_t first = f->cycle;
    odgs_diverge(f, 0, 1);
    uint64_t second = f->cycle;
    assert_true(second > first && second < first + 100);
    f->cycle = first + 100;
    fixture_catch_up(f);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0a); /* no full warp yet: an incomplete one */
    assert_int_equal(odgs_group_in(f, 0, 1)->status, DIVERGENCE_WAITS);
    f->cycle = second + 99;
    fixture_catch_up(f);
    assert_int_equal(odgs_group_in(f, 0, 1)->status, DIVERGENCE_WAITS);
    f->cycle = second + 100;
    fixture_catch_up(f);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 1)),
                     0x0505); /* full: the two that waited and two of this warp */
    odgs_expect_results(f);
    fixture_close(f);
}

static void blocks_of_one_thread_are_put_together(void **state) {
    (void)state;
    struct fixture *f =
        odgs_open("odgs", ODGS_IF_TEXT, &(struct fixture_shape){.block = 1, .warp_size = 4, .grid = 6, .n_slots = 3});
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x01010101);
    assert_int_equal(odgs_group_in(f, 0, 0)->n_threads, 4);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 1)), 0x010100000000); /* the rest of the grid */
    assert_null(odgs_group_in(f, 0, 2));
    odgs_expect_results(f);
    uint32_t n_insns = fixture_pc_of(f, PTX_OP_RET, 0) + 1;
    assert_int_equal(f->sm[0].n_instructions, 2 * (n_insns - 2)); /* both warps, without the odd side */
    fixture_close(f);
}

/* --- several SMs --- */

static void threads_that_continue_elsewhere_are_counted(void **state) {
    (void)state;
    struct fixture *f = odgs_open(
        "odgs", ODGS_IF_TEXT,
        &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 1, .n_sms = 2, .blocks_per_sm = 2});
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0f);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 1, 0)), 0x0f00);
    odgs_diverge(f, 0, 0);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0a); /* continues where it was */
    assert_int_equal(FIXTURE_COUNTER(f, migrations), 0);
    odgs_diverge(f, 1, 0);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 1, 0)), 0x0505);
    assert_int_equal(f->sm[1].counters.migrations, 2); /* block 0's */
    assert_int_equal(f->sm[1].counters.migration_bytes, 2 * (4 * f->program->registers_per_thread + 4));
    odgs_finish(f, 0, 0);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0a00);
    assert_int_equal(f->sm[0].counters.migrations, 2); /* block 1's */
    odgs_expect_results(f);
    assert_int_equal(FIXTURE_COUNTER(f, migrations), 4);
    fixture_close(f);
}

static void free_slots_of_the_emptiest_sm_are_filled_first(void **state) {
    (void)state;
    struct fixture *f = odgs_open(
        "odgs", ODGS_IF_TEXT,
        &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 5, .n_slots = 4, .n_sms = 2, .blocks_per_sm = 5});
    assert_int_equal(4 - fixture_free_slots(&f->sm[0]), 3);
    assert_int_equal(4 - fixture_free_slots(&f->sm[1]), 2);
    odgs_expect_results(f);
    fixture_close(f);
}

/* --- barriers and warp-wide instructions --- */

static void a_warp_at_a_barrier_is_recalled(void **state) {
    (void)state;
    struct fixture *f = odgs_open("odgs", PROGRAM_HEAD PROGRAM_BEGIN "bar.sync 0;\n" ODGS_BRANCH PROGRAM_END,
                                  &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 1});
    uint32_t barrier = fixture_pc_of(f, PTX_OP_BAR, 0);
    odgs_step_to(f, 0, 0, barrier);
    fixture_step(&f->sm[0], 0);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0xf0); /* the other warp has its slot */
    assert_int_equal(odgs_threads_of(f, NULL), 0x0f);
    odgs_step_to(f, 0, 0, barrier);
    fixture_step(&f->sm[0], 0);
    fixture_run(f);
    assert_int_equal(FIXTURE_COUNTER(f, barriers), 2);
    odgs_expect_results(f);
    fixture_close(f);
}

/* Parts of rows reach the barrier in warps of mixed rows; after it the rows are whole again. */
static void after_a_barrier_full_rows_are_warps_again(void **state) {
    (void)state;
    struct fixture *f = odgs_open("odgs", PROGRAM_HEAD PROGRAM_BEGIN ODGS_BRANCH "bar.sync 0;\n" PROGRAM_END,
                                  &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 2});
    uint32_t barrier = fixture_pc_of(f, PTX_OP_BAR, 0);
    odgs_diverge(f, 0, 0);
    odgs_diverge(f, 0, 1);
    while (FIXTURE_COUNTER(f, barriers) == 0 || odgs_threads_of(f, NULL) != 0) {
        for (uint32_t s = 0; s < 2; s++)
            if (odgs_group_in(f, 0, s) && odgs_group_in(f, 0, s)->pc <= barrier && fixture_can_step(&f->sm[0], s))
                fixture_step(&f->sm[0], s);
        f->cycle++;
        fixture_catch_up(f);
    }
    const struct exec_row *row = f->sm[0].block[0].block.cta->row;
    for (uint32_t s = 0; s < 2; s++) {
        assert_int_equal(odgs_group_in(f, 0, s)->pc, barrier + 1);
        assert_ptr_equal(odgs_group_in(f, 0, s)->row, &row[s]);
        assert_int_equal(odgs_group_in(f, 0, s)->mask, 0xf);
    }
    odgs_expect_results(f);
    fixture_close(f);
}

/* Lanes of a row that run apart meet at the instruction that names them, on whatever SM they are. */
static void lanes_of_a_row_meet_at_a_warp_wide_instruction(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD PROGRAM_BEGIN ODGS_BRANCH "shfl.sync.idx.b32 %r4, %r4, 0, 31, 0xffffffff;\n" PROGRAM_END;
    struct fixture *f = odgs_open(
        "odgs", text, &(struct fixture_shape){.block = 32, .grid = 2, .n_slots = 1, .n_sms = 2, .blocks_per_sm = 1});
    uint32_t shuffle = fixture_pc_of(f, PTX_OP_SHFL, 0);
    odgs_diverge(f, 0, 0);
    odgs_step_to(f, 0, 0, shuffle); /* the odd side of block 0 */
    fixture_step(&f->sm[0], 0);
    assert_int_equal(fixture_u32(f, f->parameter[0])[1], 0); /* waits for the even one */
    fixture_run(f);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], odgs_expected(0));
    fixture_close(f);
}

static const char *refusal(const char *text, char *message, size_t size) {
    struct fixture *f = fixture_open(&divergence_odgs, "odgs", text, &(struct fixture_shape){.block = 32});
    fixture_start(f);
    const char *rule = divergence_odgs.refuses(f->options, &f->machine, f->program, message, size);
    fixture_close(f);
    return rule;
}

static void instructions_that_name_no_lanes_are_refused(void **state) {
    (void)state;
    char text[400];
    assert_null(refusal(ODGS_IF_TEXT, text, sizeof text));
    assert_null(refusal(PROGRAM_WARP, text, sizeof text));
    const char *rule = refusal(PROGRAM_HEAD PROGRAM_BEGIN "activemask.b32 %r4;\n" PROGRAM_END, text, sizeof text);
    assert_string_equal(rule,
                        "odgs lets the lanes of a warp run apart, and 'activemask.b32' (line 8) does not name the "
                        "lanes that it needs: use the form with .sync and a member mask, or another model");
    assert_null(divergence_odgs.refuses(NULL, NULL, NULL, text, sizeof text));
}

/* --- options --- */

/* A branch, an access to shared memory, another branch. */
#define SHARED_TEXT                                                                                                    \
    PROGRAM_HEAD ".shared .align 4 .b8 area[64];\n" PROGRAM_BEGIN                                                      \
                 "mov.u32 %r10, area; shl.b32 %r11, %r0, 2; add.u32 %r11, %r10, %r11;\n"                               \
                 "and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra E1; add.u32 %r6, %r0, 1; bra J1;\n"           \
                 "E1: sub.u32 %r6, %r0, 1; J1: st.shared.u32 [%r11], %r6; ld.shared.u32 %r6, [%r11];\n"                \
                 "@%p1 bra E2; add.u32 %r4, %r6, 10; bra J2; E2: add.u32 %r4, %r6, 20; J2: add.u32 %r4, %r4, "         \
                 "0;\n" PROGRAM_END

static void expect_splits(const char *model, uint32_t first_branch, uint32_t second_branch) {
    struct fixture *f =
        odgs_open(model, SHARED_TEXT, &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 2});
    uint32_t last_shared = fixture_pc_of(f, PTX_OP_LD, 1);
    while (!fixture_is_done(f) && FIXTURE_COUNTER(f, divergent_branches) < 2) {
        for (uint32_t s = 0; s < 2; s++)
            if (fixture_can_step(&f->sm[0], s) && odgs_group_in(f, 0, s)->pc <= last_shared)
                fixture_step(&f->sm[0], s);
    }
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), first_branch);
    fixture_run(f);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), first_branch + second_branch);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], i & 1 ? i + 11 : i + 19);
    fixture_close(f);
}

static void shared_memory_decides_where_threads_regroup(void **state) {
    (void)state;
    expect_splits("odgs", 0, 0);
    expect_splits("odgs:shared=off", 0, 0);
    expect_splits("odgs:shared=after-last", 0, 2);
    expect_splits("odgs:shared=on", 2, 0); /* sorted by the first branch, no warp diverges at the second */
}

/* Without regrouping the branch runs on the warp's own stack and its paths meet. */
static void where_threads_may_not_regroup_their_paths_meet_again(void **state) {
    (void)state;
    struct fixture *f = odgs_open("odgs", SHARED_TEXT, &(struct fixture_shape){.block = 4, .warp_size = 4});
    fixture_run(f);
    assert_int_equal(FIXTURE_COUNTER(f, divergent_branches), 2);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 0);
    assert_true(FIXTURE_COUNTER(f, reconvergences) >= 2);
    fixture_close(f);
}

/* From the branch to where its paths meet are three instructions. */
static void short_branches_stay_on_the_warps_own_stack(void **state) {
    (void)state;
    static const struct fixture_shape shape = {.block = 4, .warp_size = 4, .grid = 2};
    struct fixture *f = odgs_open("odgs:short=3", ODGS_IF_TEXT, &shape);
    odgs_expect_results(f);
    assert_int_equal(FIXTURE_COUNTER(f, divergent_branches), 2);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 0);
    fixture_close(f);
    f = odgs_open("odgs:short=2", ODGS_IF_TEXT, &shape);
    odgs_expect_results(f);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 2);
    fixture_close(f);
}

/* local=dwf: threads first fill up a warp of their SM that is at their pc and has nothing in flight. */
static void threads_join_incomplete_warps_of_their_own_sm_first(void **state) {
    (void)state;
    static const struct fixture_shape shape = {.block = 4, .warp_size = 4, .grid = 2, .n_slots = 2};
    for (int is_local = 0; is_local < 2; is_local++) {
        struct fixture *f = odgs_open(is_local ? "odgs:local=dwf" : "odgs", ODGS_IF_TEXT, &shape);
        odgs_diverge(f, 0, 0);
        assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0a); /* incomplete, at the lowest pc */
        odgs_diverge(f, 0, 1);
        assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), is_local ? 0x0a0a : 0x0a);
        assert_int_equal(odgs_group_in(f, 0, 0)->n_threads, is_local ? 4 : 2);
        assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 1)), 0x0505);
        assert_int_equal(odgs_threads_of(f, NULL), is_local ? 0 : 0x0a00);
        assert_int_equal(FIXTURE_COUNTER(f, merges), is_local);
        odgs_expect_results(f);
        fixture_close(f);
    }
}

static void a_warp_that_has_moved_on_takes_no_thread_in(void **state) {
    (void)state;
    struct fixture *f = odgs_open("odgs:local=dwf", ODGS_IF_TEXT,
                                  &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 2});
    odgs_diverge(f, 0, 0);
    fixture_step(&f->sm[0], 0);
    odgs_diverge(f, 0, 1);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0a);
    assert_int_equal(FIXTURE_COUNTER(f, merges), 0);
    odgs_expect_results(f);
    fixture_close(f);
}

static void a_warp_with_results_in_flight_takes_no_thread_in(void **state) {
    (void)state;
    struct fixture *f = odgs_open("odgs:local=dwf", ODGS_IF_TEXT,
                                  &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 2});
    odgs_diverge(f, 0, 0);
    f->sm[0].slot[0].access[0] = (struct fixture_access){.lanes = 2, .arrives = {0, f->cycle + 500}};
    f->sm[0].slot[0].n_accesses = 1;
    odgs_diverge(f, 0, 1);
    assert_int_equal(odgs_threads_of(f, odgs_group_in(f, 0, 0)), 0x0a);
    assert_int_equal(FIXTURE_COUNTER(f, merges), 0);
    odgs_expect_results(f);
    fixture_close(f);
}

/* --- all control flow --- */

static const char *const variants[] = {
    "odgs",
    "odgs:latency=7",
    "odgs:shared=after-last",
    "odgs:shared=on",
    "odgs:short=3",
    "odgs:local=dwf,shared=on",
    "odgs:latency=5,shared=on,short=2,local=dwf",
    "odgs:local=tbc",
    "odgs:local=tbc,shared=after-last",
    "odgs:latency=5,shared=on,short=2,local=tbc",
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

static void every_program_computes_the_same_in_every_variant(void **state) {
    (void)state;
    for (size_t i = 0; i < N_VARIANTS; i++)
        programs_check_all(&divergence_odgs, variants[i], false);
}

static void every_program_computes_the_same_on_several_sms(void **state) {
    (void)state;
    static const struct fixture_shape shapes[] = {
        {.block = 64, .grid = 5, .n_sms = 3, .blocks_per_sm = 2, .n_slots = 3},
        {.block = 7, .warp_size = 4, .grid = 9, .n_sms = 4, .blocks_per_sm = 3, .n_slots = 2},
    };
    for (size_t i = 0; i < N_VARIANTS; i++)
        for (size_t p = 0; p < sizeof programs / sizeof *programs; p++)
            for (size_t s = 0; s < 2; s++)
                for (uint64_t seed = 0; seed < 3 && (!programs[p].needs_warps || !shapes[s].warp_size); seed++)
                    programs_check(&divergence_odgs, variants[i], &programs[p], &shapes[s], seed, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_slot_takes_full_then_new_then_incomplete_warps),
        cmocka_unit_test(full_warps_go_before_those_that_are_new),
        cmocka_unit_test(incomplete_warps_wait_while_an_sm_has_enough),
        cmocka_unit_test(an_sm_below_the_limit_takes_incomplete_warps),
        cmocka_unit_test(a_warp_that_the_latency_holds_is_not_enough),
        cmocka_unit_test(enough_are_as_many_as_fill_the_pipeline),
        cmocka_unit_test(a_diverged_warp_leaves_when_nothing_of_it_is_in_flight),
        cmocka_unit_test(latency_keeps_slot_and_threads),
        cmocka_unit_test(latency_counts_for_each_warp_of_its_own),
        cmocka_unit_test(blocks_of_one_thread_are_put_together),
        cmocka_unit_test(threads_that_continue_elsewhere_are_counted),
        cmocka_unit_test(free_slots_of_the_emptiest_sm_are_filled_first),
        cmocka_unit_test(a_warp_at_a_barrier_is_recalled),
        cmocka_unit_test(after_a_barrier_full_rows_are_warps_again),
        cmocka_unit_test(lanes_of_a_row_meet_at_a_warp_wide_instruction),
        cmocka_unit_test(instructions_that_name_no_lanes_are_refused),
        cmocka_unit_test(shared_memory_decides_where_threads_regroup),
        cmocka_unit_test(where_threads_may_not_regroup_their_paths_meet_again),
        cmocka_unit_test(short_branches_stay_on_the_warps_own_stack),
        cmocka_unit_test(threads_join_incomplete_warps_of_their_own_sm_first),
        cmocka_unit_test(a_warp_that_has_moved_on_takes_no_thread_in),
        cmocka_unit_test(a_warp_with_results_in_flight_takes_no_thread_in),
        cmocka_unit_test(every_program_computes_the_same_in_every_variant),
        cmocka_unit_test(every_program_computes_the_same_on_several_sms),
    };
    return cmocka_run_group_tests_name("divergence/odgs", tests, NULL, NULL);
}
