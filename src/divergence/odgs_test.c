/* The oracle dynamic global scheduler: which warp takes a free slot, what the options change, and every program's
 * results. Warps have four lanes; threads with an odd number fall through at the branch, the others jump over them. */
#include "divergence/testing/programs.h"

extern const struct divergence_ops divergence_odgs;

#define BRANCH                                                                                                         \
    "and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra EVEN;\n"                                                   \
    "xor.b32 %r4, %r0, 1; bra JOIN; EVEN: not.b32 %r4, %r0; JOIN: add.u32 %r4, %r4, 1;\n"
#define IF_TEXT PROGRAM_HEAD PROGRAM_BEGIN BRANCH PROGRAM_END

static uint32_t expected(uint32_t thread) { return (thread & 1 ? thread ^ 1 : ~thread) + 1; }

static uint32_t pc_of(const struct fixture *f, enum ptx_opcode opcode, unsigned which) {
    for (uint32_t pc = 0;; pc++)
        if (f->program->code[pc].opcode == opcode && which-- == 0)
            return pc;
}

static struct fixture *open_model(const char *model, const char *text, const struct fixture_shape *shape) {
    struct fixture *f = fixture_open(&divergence_odgs, model, text, shape);
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    fixture_start(f);
    return f;
}

static const struct divergence_group *group_in(const struct fixture *f, uint32_t sm, uint32_t slot) {
    return f->sm[sm].slot[slot].group;
}

static void step_to(struct fixture *f, uint32_t sm, uint32_t slot, uint32_t pc) {
    while (group_in(f, sm, slot)->pc != pc)
        fixture_step(&f->sm[sm], slot);
}

/* The group in the slot diverges at the first branch and has left it, unless it has to wait. */
static void diverge(struct fixture *f, uint32_t sm, uint32_t slot) {
    step_to(f, sm, slot, pc_of(f, PTX_OP_BRA, 0));
    fixture_step(&f->sm[sm], slot);
    assert_int_equal(group_in(f, sm, slot)->status, DIVERGENCE_DRAINS);
    fixture_step(&f->sm[sm], slot);
}

/* Executes the group in the slot to its end. */
static void finish(struct fixture *f, uint32_t sm, uint32_t slot) {
    const struct divergence_group *group = group_in(f, sm, slot);
    uint64_t blocks = f->n_finished;
    uint32_t last = pc_of(f, PTX_OP_RET, 0);
    step_to(f, sm, slot, last);
    assert_ptr_equal(group_in(f, sm, slot), group);
    fixture_step(&f->sm[sm], slot);
    assert_true(f->n_finished >= blocks);
}

struct census {
    const struct divergence_group *group;
    uint64_t threads; /* of that group: bit block * 8 + thread */
};

static void count_thread(void *user, const struct divergence_group *group, const struct exec_row *row, uint32_t lane) {
    struct census *census = user;
    if (group == census->group)
        census->threads |= 1ull << (row->block->ctaid[0][0] * 8 + row->tid[0][lane]);
}

/* The threads of the group; NULL: those in no group. One byte for each block. */
static uint64_t threads_of(struct fixture *f, const struct divergence_group *group) {
    struct census census = {.group = group};
    for (uint32_t i = 0; i < f->n_sms; i++)
        for (uint32_t b = 0; b < f->blocks_per_sm; b++)
            if (f->sm[i].block[b].is_in_flight)
                divergence_odgs.visit(f->sm[i].model, &f->sm[i].block[b].block, count_thread, &census);
    return census.threads;
}

static void expect_results(struct fixture *f) {
    fixture_run(f);
    for (uint32_t i = 0; i < f->grid.grid[0] * f->grid.block[0]; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], expected(i % f->grid.block[0]));
}

/* --- which warp takes a free slot --- */

/* Three blocks of one warp and one slot: full warps from the pool, then new ones, then what waits at the lowest pc. */
static void a_free_slot_takes_full_then_new_then_incomplete_warps(void **state) {
    (void)state;
    struct fixture *f =
        open_model("odgs", IF_TEXT, &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 3, .n_slots = 1});
    uint32_t odd = pc_of(f, PTX_OP_XOR, 0), even = pc_of(f, PTX_OP_NOT, 0);
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0f);
    diverge(f, 0, 0); /* two and two threads: no full warp, but a new one */
    assert_int_equal(threads_of(f, NULL), 0x0f);
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0f00);
    assert_int_equal(group_in(f, 0, 0)->pc, 0);
    diverge(f, 0, 0); /* now both sides are full; that of thread 0 was the first */
    assert_int_equal(group_in(f, 0, 0)->pc, even);
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0505);
    assert_null(group_in(f, 0, 0)->row);
    assert_int_equal(group_in(f, 0, 0)->n_threads, 4);
    finish(f, 0, 0);
    assert_int_equal(group_in(f, 0, 0)->pc, odd); /* full before new */
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0a0a);
    finish(f, 0, 0);
    assert_int_equal(f->n_finished, 2);
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0f0000);
    diverge(f, 0, 0); /* nothing full, nothing new: the lowest pc */
    assert_int_equal(group_in(f, 0, 0)->pc, odd);
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0a0000);
    assert_int_equal(threads_of(f, NULL), 0x050000);
    assert_ptr_equal(group_in(f, 0, 0)->row, &f->sm[0].block[0].block.cta->row[0]); /* two lanes of one row */
    finish(f, 0, 0);
    assert_int_equal(group_in(f, 0, 0)->pc, even);
    finish(f, 0, 0);
    assert_int_equal(f->n_finished, 3);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 3);
    assert_int_equal(FIXTURE_COUNTER(f, divergent_branches), 3);
    assert_int_equal(FIXTURE_COUNTER(f, migrations), 0);
    expect_results(f);
    fixture_close(f);
}

/* The third warp of the block has not run yet when the first two have diverged. */
static void full_warps_go_before_those_that_are_new(void **state) {
    (void)state;
    struct fixture *f =
        open_model("odgs", IF_TEXT, &(struct fixture_shape){.block = 12, .warp_size = 4, .grid = 1, .n_slots = 1});
    diverge(f, 0, 0);
    assert_int_equal(group_in(f, 0, 0)->row->index, 1);
    diverge(f, 0, 0);
    assert_int_equal(group_in(f, 0, 0)->pc, pc_of(f, PTX_OP_NOT, 0));
    finish(f, 0, 0);
    assert_int_equal(group_in(f, 0, 0)->pc, pc_of(f, PTX_OP_XOR, 0));
    finish(f, 0, 0);
    assert_int_equal(group_in(f, 0, 0)->pc, 0);
    assert_int_equal(group_in(f, 0, 0)->row->index, 2);
    expect_results(f);
    fixture_close(f);
}

/* Loads of a diverged warp come back first: until then it keeps slot and threads. */
static void a_diverged_warp_leaves_when_nothing_of_it_is_under_way(void **state) {
    (void)state;
    struct fixture *f =
        open_model("odgs", IF_TEXT, &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 1});
    step_to(f, 0, 0, pc_of(f, PTX_OP_BRA, 0));
    const struct divergence_group *group = group_in(f, 0, 0);
    fixture_step(&f->sm[0], 0);
    assert_ptr_equal(group_in(f, 0, 0), group);
    assert_int_equal(threads_of(f, group), 0x0f);
    f->sm[0].slot[0].access[0] = (struct fixture_access){.lanes = 1, .arrives = {f->cycle + 5}};
    f->sm[0].slot[0].n_accesses = 1;
    assert_false(fixture_can_step(&f->sm[0], 0));
    expect_results(f);
    fixture_close(f);
}

/* latency=N: slot and threads become free N cycles later, not one earlier. */
static void latency_keeps_slot_and_threads(void **state) {
    (void)state;
    struct fixture *f = open_model("odgs:latency=10", IF_TEXT,
                                   &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 1});
    const struct divergence_group *group = group_in(f, 0, 0);
    diverge(f, 0, 0);
    uint64_t left = f->cycle;
    assert_ptr_equal(group_in(f, 0, 0), group);
    assert_int_equal(group->status, DIVERGENCE_WAITS);
    f->cycle = left + 9;
    fixture_catch_up(f);
    assert_ptr_equal(group_in(f, 0, 0), group);
    assert_int_equal(threads_of(f, group), 0x0f);
    assert_int_equal(threads_of(f, NULL), 0);
    f->cycle = left + 10;
    fixture_catch_up(f);
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0f00);
    assert_int_equal(threads_of(f, NULL), 0x0f);
    expect_results(f);
    fixture_close(f);
}

/* Two warps that leave one after the other: each has its own time. */
static void latency_counts_for_each_warp_of_its_own(void **state) {
    (void)state;
    struct fixture *f = open_model("odgs:latency=100", IF_TEXT,
                                   &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 2});
    diverge(f, 0, 0);
    uint64_t first = f->cycle;
    diverge(f, 0, 1);
    uint64_t second = f->cycle;
    assert_true(second > first && second < first + 100);
    f->cycle = first + 100;
    fixture_catch_up(f);
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0a); /* no full warp yet: an incomplete one */
    assert_int_equal(group_in(f, 0, 1)->status, DIVERGENCE_WAITS);
    f->cycle = second + 99;
    fixture_catch_up(f);
    assert_int_equal(group_in(f, 0, 1)->status, DIVERGENCE_WAITS);
    f->cycle = second + 100;
    fixture_catch_up(f);
    assert_int_equal(threads_of(f, group_in(f, 0, 1)), 0x0505); /* full: the two that waited and two of this warp */
    expect_results(f);
    fixture_close(f);
}

static void blocks_of_one_thread_are_put_together(void **state) {
    (void)state;
    struct fixture *f =
        open_model("odgs", IF_TEXT, &(struct fixture_shape){.block = 1, .warp_size = 4, .grid = 6, .n_slots = 3});
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x01010101);
    assert_int_equal(group_in(f, 0, 0)->n_threads, 4);
    assert_int_equal(threads_of(f, group_in(f, 0, 1)), 0x010100000000); /* the rest of the grid */
    assert_null(group_in(f, 0, 2));
    expect_results(f);
    uint32_t n_insns = pc_of(f, PTX_OP_RET, 0) + 1;
    assert_int_equal(f->sm[0].n_instructions, 2 * (n_insns - 2)); /* both warps, without the odd side */
    fixture_close(f);
}

/* --- several SMs --- */

static void threads_that_go_on_elsewhere_are_counted(void **state) {
    (void)state;
    struct fixture *f = open_model(
        "odgs", IF_TEXT,
        &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 1, .n_sms = 2, .blocks_per_sm = 2});
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0f);
    assert_int_equal(threads_of(f, group_in(f, 1, 0)), 0x0f00);
    diverge(f, 0, 0);
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0a); /* continues where it was */
    assert_int_equal(FIXTURE_COUNTER(f, migrations), 0);
    diverge(f, 1, 0);
    assert_int_equal(threads_of(f, group_in(f, 1, 0)), 0x0505);
    assert_int_equal(f->sm[1].counters.migrations, 2); /* block 0's */
    assert_int_equal(f->sm[1].counters.migration_bytes, 2 * (4 * f->program->registers_per_thread + 4));
    finish(f, 0, 0);
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0a00);
    assert_int_equal(f->sm[0].counters.migrations, 2); /* block 1's */
    expect_results(f);
    assert_int_equal(FIXTURE_COUNTER(f, migrations), 4);
    fixture_close(f);
}

static void free_slots_of_the_emptiest_sm_are_filled_first(void **state) {
    (void)state;
    struct fixture *f = open_model(
        "odgs", IF_TEXT,
        &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 5, .n_slots = 4, .n_sms = 2, .blocks_per_sm = 5});
    assert_int_equal(4 - fixture_free_slots(&f->sm[0]), 3);
    assert_int_equal(4 - fixture_free_slots(&f->sm[1]), 2);
    expect_results(f);
    fixture_close(f);
}

/* --- barriers and warp-wide instructions --- */

static void a_warp_at_a_barrier_is_recalled(void **state) {
    (void)state;
    struct fixture *f = open_model("odgs", PROGRAM_HEAD PROGRAM_BEGIN "bar.sync 0;\n" BRANCH PROGRAM_END,
                                   &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 1});
    uint32_t barrier = pc_of(f, PTX_OP_BAR, 0);
    step_to(f, 0, 0, barrier);
    fixture_step(&f->sm[0], 0);
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0xf0); /* the other warp has its slot */
    assert_int_equal(threads_of(f, NULL), 0x0f);
    step_to(f, 0, 0, barrier);
    fixture_step(&f->sm[0], 0);
    fixture_run(f);
    assert_int_equal(FIXTURE_COUNTER(f, barriers), 2);
    expect_results(f);
    fixture_close(f);
}

/* Parts of rows come to the barrier in warps of mixed rows; after it the rows are whole again. */
static void behind_a_barrier_full_rows_are_warps_again(void **state) {
    (void)state;
    struct fixture *f = open_model("odgs", PROGRAM_HEAD PROGRAM_BEGIN BRANCH "bar.sync 0;\n" PROGRAM_END,
                                   &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 2});
    uint32_t barrier = pc_of(f, PTX_OP_BAR, 0);
    diverge(f, 0, 0);
    diverge(f, 0, 1);
    while (FIXTURE_COUNTER(f, barriers) == 0 || threads_of(f, NULL) != 0) {
        for (uint32_t s = 0; s < 2; s++)
            if (group_in(f, 0, s) && group_in(f, 0, s)->pc <= barrier && fixture_can_step(&f->sm[0], s))
                fixture_step(&f->sm[0], s);
        f->cycle++;
        fixture_catch_up(f);
    }
    const struct exec_row *row = f->sm[0].block[0].block.cta->row;
    for (uint32_t s = 0; s < 2; s++) {
        assert_int_equal(group_in(f, 0, s)->pc, barrier + 1);
        assert_ptr_equal(group_in(f, 0, s)->row, &row[s]);
        assert_int_equal(group_in(f, 0, s)->mask, 0xf);
    }
    expect_results(f);
    fixture_close(f);
}

/* Lanes of a row that run apart meet at the instruction that names them, on whatever SM they are. */
static void lanes_of_a_row_meet_at_a_warp_wide_instruction(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD PROGRAM_BEGIN BRANCH "shfl.sync.idx.b32 %r4, %r4, 0, 31, 0xffffffff;\n" PROGRAM_END;
    struct fixture *f = open_model(
        "odgs", text, &(struct fixture_shape){.block = 32, .grid = 2, .n_slots = 1, .n_sms = 2, .blocks_per_sm = 1});
    uint32_t shuffle = pc_of(f, PTX_OP_SHFL, 0);
    diverge(f, 0, 0);
    step_to(f, 0, 0, shuffle); /* the odd side of block 0 */
    fixture_step(&f->sm[0], 0);
    assert_int_equal(fixture_u32(f, f->parameter[0])[1], 0); /* waits for the even one */
    fixture_run(f);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], expected(0));
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
    assert_null(refusal(IF_TEXT, text, sizeof text));
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
        open_model(model, SHARED_TEXT, &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 2});
    uint32_t last_shared = pc_of(f, PTX_OP_LD, 1);
    while (!fixture_is_done(f) && FIXTURE_COUNTER(f, divergent_branches) < 2) {
        for (uint32_t s = 0; s < 2; s++)
            if (fixture_can_step(&f->sm[0], s) && group_in(f, 0, s)->pc <= last_shared)
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
    struct fixture *f = open_model("odgs", SHARED_TEXT, &(struct fixture_shape){.block = 4, .warp_size = 4});
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
    struct fixture *f = open_model("odgs:short=3", IF_TEXT, &shape);
    expect_results(f);
    assert_int_equal(FIXTURE_COUNTER(f, divergent_branches), 2);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 0);
    fixture_close(f);
    f = open_model("odgs:short=2", IF_TEXT, &shape);
    expect_results(f);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 2);
    fixture_close(f);
}

/* local=dwf: threads first fill up a warp of their SM that is at their pc and has nothing under way. */
static void threads_join_incomplete_warps_of_their_own_sm_first(void **state) {
    (void)state;
    static const struct fixture_shape shape = {.block = 4, .warp_size = 4, .grid = 2, .n_slots = 2};
    for (int is_local = 0; is_local < 2; is_local++) {
        struct fixture *f = open_model(is_local ? "odgs:local=dwf" : "odgs", IF_TEXT, &shape);
        diverge(f, 0, 0);
        assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0a); /* incomplete, at the lowest pc */
        diverge(f, 0, 1);
        assert_int_equal(threads_of(f, group_in(f, 0, 0)), is_local ? 0x0a0a : 0x0a);
        assert_int_equal(group_in(f, 0, 0)->n_threads, is_local ? 4 : 2);
        assert_int_equal(threads_of(f, group_in(f, 0, 1)), 0x0505);
        assert_int_equal(threads_of(f, NULL), is_local ? 0 : 0x0a00);
        assert_int_equal(FIXTURE_COUNTER(f, merges), is_local);
        expect_results(f);
        fixture_close(f);
    }
}

static void a_warp_that_has_moved_on_takes_nobody_in(void **state) {
    (void)state;
    struct fixture *f = open_model("odgs:local=dwf", IF_TEXT,
                                   &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 2});
    diverge(f, 0, 0);
    fixture_step(&f->sm[0], 0);
    diverge(f, 0, 1);
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0a);
    assert_int_equal(FIXTURE_COUNTER(f, merges), 0);
    expect_results(f);
    fixture_close(f);
}

static void a_warp_with_results_under_way_takes_nobody_in(void **state) {
    (void)state;
    struct fixture *f = open_model("odgs:local=dwf", IF_TEXT,
                                   &(struct fixture_shape){.block = 4, .warp_size = 4, .grid = 2, .n_slots = 2});
    diverge(f, 0, 0);
    f->sm[0].slot[0].access[0] = (struct fixture_access){.lanes = 2, .arrives = {0, f->cycle + 500}};
    f->sm[0].slot[0].n_accesses = 1;
    diverge(f, 0, 1);
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0a);
    assert_int_equal(FIXTURE_COUNTER(f, merges), 0);
    expect_results(f);
    fixture_close(f);
}

/* --- local=tbc --- */

/* Three rows of four lanes; 0, 1, 6, 7 and 10 fall through, the other seven jump to ELSE, which runs first. */
#define COMPACT_BRANCH                                                                                                 \
    "mov.u32 %r5, 0x4c3; shr.u32 %r5, %r5, %r0; and.b32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, 1;\n"                       \
    "@!%p1 bra ELSE; xor.b32 %r4, %r0, 1; bra JOIN; ELSE: not.b32 %r4, %r0; JOIN: add.u32 %r4, %r4, 1;\n"
static const struct fixture_shape three_by_four = {.block = 12, .warp_size = 4, .n_slots = 3};

static void count_member(void *user, const struct divergence_group *group, const struct exec_row *row, uint32_t lane) {
    struct census *census = user;
    if (group == census->group)
        census->threads |= 1ull << row->tid[0][lane];
}

/* A bit for each thread of the only block. */
static uint64_t members_of(struct fixture *f, const struct divergence_group *group) {
    struct census census = {.group = group};
    divergence_odgs.visit(f->sm[0].model, &f->sm[0].block[0].block, count_member, &census);
    return census.threads;
}

static void next_cycle(struct fixture *f) {
    f->cycle++;
    fixture_catch_up(f);
}

/* All warps come to the first branch, diverge, and the first path's warps have been formed. */
static void diverge_together(struct fixture *f) {
    for (uint32_t s = 0; s < 3; s++) {
        step_to(f, 0, s, pc_of(f, PTX_OP_BRA, 0));
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
        open_model("odgs:local=tbc", PROGRAM_HEAD PROGRAM_BEGIN COMPACT_BRANCH PROGRAM_END, &three_by_four);
    uint32_t then_pc = pc_of(f, PTX_OP_XOR, 0), else_pc = pc_of(f, PTX_OP_NOT, 0), join = pc_of(f, PTX_OP_ADD, 1);
    const struct exec_row *row = f->sm[0].block[0].block.cta->row;
    diverge_together(f);
    /* ELSE: 2, 3, 4 and 5 fill a warp; 8, 9 and 11 have left. The nine threads that stay may need all three slots. */
    assert_int_equal(group_in(f, 0, 0)->pc, else_pc);
    assert_int_equal(members_of(f, group_in(f, 0, 0)), 0x03c);
    assert_null(group_in(f, 0, 0)->row);
    assert_null(group_in(f, 0, 1));
    assert_null(group_in(f, 0, 2));
    assert_int_equal(members_of(f, NULL), 0xfc3); /* on the stack or in the pool */
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 1);
    fixture_step(&f->sm[0], 0);
    fixture_resume_all(f);
    /* The other path: 10 has left, and eight threads need two slots. The third is for the pool's lowest pc. */
    assert_int_equal(group_in(f, 0, 0)->pc, then_pc);
    assert_int_equal(members_of(f, group_in(f, 0, 0)), 0x0c3);
    next_cycle(f);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 2);
    assert_int_equal(group_in(f, 0, 1)->pc, then_pc);
    assert_int_equal(members_of(f, group_in(f, 0, 1)), 0x400);
    assert_null(group_in(f, 0, 2));
    fixture_step(&f->sm[0], 0);
    fixture_step(&f->sm[0], 0);
    fixture_resume_all(f);
    /* The join: those that stayed are two full rows. */
    assert_int_equal(members_of(f, group_in(f, 0, 0)), 0x00f);
    assert_int_equal(members_of(f, group_in(f, 0, 2)), 0x0f0);
    assert_int_equal(group_in(f, 0, 0)->pc, join);
    assert_ptr_equal(group_in(f, 0, 0)->row, &row[0]);
    assert_ptr_equal(group_in(f, 0, 2)->row, &row[1]);
    assert_int_equal(members_of(f, NULL), 0xb00);
    finish(f, 0, 1); /* 10 ends, and the pool's others take its slot */
    next_cycle(f);
    assert_int_equal(group_in(f, 0, 1)->pc, else_pc);
    assert_int_equal(members_of(f, group_in(f, 0, 1)), 0xb00);
    expect_compacted_results(f);
    assert_int_equal(f->n_finished, 1);
    assert_int_equal(FIXTURE_COUNTER(f, migrations), 0);
    fixture_close(f);
}

/* A barrier after the branch: the block is as under tbc, and comes to it with all its threads. */
static void nobody_leaves_while_the_block_may_come_to_a_barrier(void **state) {
    (void)state;
    static const char *const text[] = {
        PROGRAM_HEAD PROGRAM_BEGIN COMPACT_BRANCH "bar.sync 0;\n" PROGRAM_END,
        PROGRAM_HEAD PROGRAM_BEGIN COMPACT_BRANCH "bar.warp.sync 0xf;\n" PROGRAM_END,
    };
    for (int i = 0; i < 2; i++) {
        struct fixture *f = open_model("odgs:local=tbc", text[i], &three_by_four);
        diverge_together(f);
        assert_int_equal(members_of(f, group_in(f, 0, 0)), 0x03c); /* lane by lane, 8, 9 and 11 stay */
        assert_int_equal(members_of(f, group_in(f, 0, 1)), 0xb00);
        expect_compacted_results(f);
        assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 0);
        fixture_close(f);
    }
}

static void behind_the_last_barrier_threads_leave(void **state) {
    (void)state;
    struct fixture *f = open_model(
        "odgs:local=tbc", PROGRAM_HEAD PROGRAM_BEGIN "bar.sync 0;\n" COMPACT_BRANCH PROGRAM_END, &three_by_four);
    expect_compacted_results(f);
    assert_int_equal(FIXTURE_COUNTER(f, barriers), 3);
    assert_int_equal(FIXTURE_COUNTER(f, warp_splits), 2);
    fixture_close(f);
}

/* What the caller does after the call counts inside the function. */
static void nobody_leaves_a_function_whose_caller_has_a_barrier(void **state) {
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
    struct fixture *f = open_model("odgs:local=tbc", text, &three_by_four);
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
        struct fixture *f = open_model(model[i], PROGRAM_HEAD PROGRAM_BEGIN COMPACT_BRANCH PROGRAM_END, &three_by_four);
        diverge_together(f);
        assert_int_equal(members_of(f, group_in(f, 0, 0)), 0x03c);
        if (i)
            assert_int_equal(members_of(f, group_in(f, 0, 1)), 0xb00);
        expect_compacted_results(f);
        assert_int_equal(FIXTURE_COUNTER(f, warp_splits), i < 2 ? 2 : 0);
        fixture_close(f);
    }
}

/* latency=N: the slot that the departed gave up, and they themselves, are free N cycles later, not one earlier. */
static void the_latency_holds_who_leaves_a_block_and_its_slot(void **state) {
    (void)state;
    struct fixture *f =
        open_model("odgs:local=tbc,latency=20", PROGRAM_HEAD PROGRAM_BEGIN COMPACT_BRANCH PROGRAM_END, &three_by_four);
    for (uint32_t s = 0; s < 3; s++) {
        step_to(f, 0, s, pc_of(f, PTX_OP_BRA, 0));
        fixture_step(&f->sm[0], s);
    }
    fixture_resume_all(f);
    fixture_step(&f->sm[0], 0);
    fixture_resume_all(f); /* now 10 has left too, and the block needs two slots */
    uint64_t left = f->cycle;
    f->cycle = left + 19;
    fixture_catch_up(f);
    assert_null(group_in(f, 0, 1));
    f->cycle = left + 20;
    fixture_catch_up(f);
    assert_non_null(group_in(f, 0, 1));
    expect_compacted_results(f);
    fixture_close(f);
}

/* A block with a row that is not full: its threads go to the pool at once, and the block needs no slot for them. */
static void incomplete_rows_begin_in_the_pool(void **state) {
    (void)state;
    struct fixture *f = open_model("odgs:local=tbc", IF_TEXT,
                                   &(struct fixture_shape){.block = 6, .warp_size = 4, .grid = 2, .n_slots = 4});
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0f);
    assert_int_equal(threads_of(f, group_in(f, 0, 1)), 0x0f00);
    assert_int_equal(threads_of(f, group_in(f, 0, 2)), 0x3030); /* threads 4 and 5 of both */
    expect_results(f);
    fixture_close(f);
    f = open_model("odgs:local=tbc", PROGRAM_HEAD PROGRAM_BEGIN "bar.sync 0;\n" BRANCH PROGRAM_END,
                   &(struct fixture_shape){.block = 6, .warp_size = 4, .grid = 1, .n_slots = 4});
    assert_int_equal(threads_of(f, group_in(f, 0, 1)), 0x30); /* not with a barrier to come */
    expect_results(f);
    fixture_close(f);
}

/* Full warps of the pool before new blocks; a block waits for slots for all its rows. */
static void a_block_starts_where_it_finds_slots_for_all_its_rows(void **state) {
    (void)state;
    struct fixture *f = open_model("odgs:local=tbc", IF_TEXT,
                                   &(struct fixture_shape){.block = 8, .warp_size = 4, .grid = 2, .n_slots = 3});
    assert_int_equal(threads_of(f, group_in(f, 0, 0)), 0x0f);
    assert_int_equal(threads_of(f, group_in(f, 0, 1)), 0xf0);
    assert_null(group_in(f, 0, 2));
    expect_results(f);
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
        cmocka_unit_test(a_diverged_warp_leaves_when_nothing_of_it_is_under_way),
        cmocka_unit_test(latency_keeps_slot_and_threads),
        cmocka_unit_test(latency_counts_for_each_warp_of_its_own),
        cmocka_unit_test(blocks_of_one_thread_are_put_together),
        cmocka_unit_test(threads_that_go_on_elsewhere_are_counted),
        cmocka_unit_test(free_slots_of_the_emptiest_sm_are_filled_first),
        cmocka_unit_test(a_warp_at_a_barrier_is_recalled),
        cmocka_unit_test(behind_a_barrier_full_rows_are_warps_again),
        cmocka_unit_test(lanes_of_a_row_meet_at_a_warp_wide_instruction),
        cmocka_unit_test(instructions_that_name_no_lanes_are_refused),
        cmocka_unit_test(shared_memory_decides_where_threads_regroup),
        cmocka_unit_test(where_threads_may_not_regroup_their_paths_meet_again),
        cmocka_unit_test(short_branches_stay_on_the_warps_own_stack),
        cmocka_unit_test(threads_join_incomplete_warps_of_their_own_sm_first),
        cmocka_unit_test(a_warp_that_has_moved_on_takes_nobody_in),
        cmocka_unit_test(a_warp_with_results_under_way_takes_nobody_in),
        cmocka_unit_test(what_compaction_leaves_incomplete_goes_to_the_pool),
        cmocka_unit_test(nobody_leaves_while_the_block_may_come_to_a_barrier),
        cmocka_unit_test(behind_the_last_barrier_threads_leave),
        cmocka_unit_test(nobody_leaves_a_function_whose_caller_has_a_barrier),
        cmocka_unit_test(short_paths_keep_their_incomplete_warp),
        cmocka_unit_test(the_latency_holds_who_leaves_a_block_and_its_slot),
        cmocka_unit_test(incomplete_rows_begin_in_the_pool),
        cmocka_unit_test(a_block_starts_where_it_finds_slots_for_all_its_rows),
        cmocka_unit_test(every_program_computes_the_same_in_every_variant),
        cmocka_unit_test(every_program_computes_the_same_on_several_sms),
    };
    return cmocka_run_group_tests_name("divergence/odgs", tests, NULL, NULL);
}
