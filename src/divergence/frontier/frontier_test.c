/* Contexts of a warp: which are hot, which wait, and how those that spin take turns. A model of this test's own uses
 * the frontier, with one or two hot contexts, and issues each group alone. */
#include "divergence/frontier/frontier.h"

#include "base/memory.h"
#include "divergence/testing/programs.h"

static struct {
    uint32_t n_hot;
    bool turns, constrains;
} rules;

static void *new_model(const struct divergence_setup *setup) {
    struct divergence_frontier *model = base_allocate(1, sizeof *model);
    divergence_frontier_init(model, setup);
    model->n_hot = rules.n_hot;
    model->turns = rules.turns;
    model->constrains = rules.constrains;
    return model;
}

static void free_model(void *model) {
    divergence_frontier_release(model);
    free(model);
}

static uint32_t two_each(const void *options, const struct config_machine *machine, uint32_t n_warps, uint32_t most) {
    (void)options, (void)machine;
    return 2 * n_warps < most ? 2 * n_warps : most;
}

static const struct divergence_ops ops = {.name = "multi-pc", /* for its options: none */
                                          .splits_rows = true,
                                          .tracks_lanes = true,
                                          .n_slots = two_each,
                                          .new_model = new_model,
                                          .free_model = free_model,
                                          .begin_grid = divergence_frontier_begin_grid,
                                          .new_block = divergence_frontier_new_block,
                                          .free_block = divergence_frontier_free_block,
                                          .admit = divergence_frontier_admit,
                                          .control = divergence_frontier_control,
                                          .reached = divergence_frontier_reached,
                                          .visit = divergence_frontier_visit};

static struct fixture *start(const char *text, uint32_t block, uint32_t n_slots) {
    struct fixture *f = fixture_open(&ops, "multi-pc", text,
                                     &(struct fixture_shape){.block = block, .warp_size = 4, .n_slots = n_slots});
    fixture_parameter(f, 0, fixture_alloc(f, 1024));
    fixture_start(f);
    return f;
}

static void expect_waiting(const struct fixture *f, uint32_t slot) {
    assert_int_equal(f->sm[0].slot[slot].group->status, DIVERGENCE_WAITS);
}

/* Lane 0 goes to A, lane 1 to B, lane 2 to C and lane 3 to D: 6, 8, 10 and 12. */
#define WAYS                                                                                                           \
    PROGRAM_KERNEL                                                                                                     \
    "mov.u32 %r0, %tid.x; and.b32 %r0, %r0, 3; T: .branchtargets A, B, C, D; brx.idx %r0, T;\n" /* 0-2 */              \
    "A: add.u32 %r1, %r0, 1; bra E;\n"                                                          /* 3 4 */              \
    "B: add.u32 %r1, %r0, 2; bra E;\n"                                                          /* 5 6 */              \
    "C: add.u32 %r1, %r0, 3; bra E;\n"                                                          /* 7 8 */              \
    "D: add.u32 %r1, %r0, 4;\n"                                                                 /* 9 */                \
    "E: add.u32 %r2, %r1, 1; ret; }\n"                                                          /* 10 11 */

/* --- hot contexts --- */

static void the_two_lowest_pcs_are_hot(void **state) {
    (void)state;
    rules.n_hot = 2, rules.turns = rules.constrains = false;
    struct fixture *f = start(WAYS, 4, 0);
    fixture_steps(f, 0, 3);
    fixture_expect_until(f, 0, 3, 0b0001, 4); /* compared after every instruction while two run */
    fixture_expect_until(f, 1, 5, 0b0010, 6);
    fixture_steps(f, 1, 2); /* lane 1 goes to E: lane 2 has the second lowest pc now */
    fixture_expect_until(f, 0, 3, 0b0001, 4);
    fixture_expect_until(f, 1, 7, 0b0100, 8);
    fixture_steps(f, 0, 2); /* lane 0, too: lanes 2 and 3 are left, and lane 2 stays in its group */
    fixture_expect_until(f, 1, 7, 0b0100, 8);
    fixture_expect_until(f, 0, 9, 0b1000, 10);
    fixture_steps(f, 0, 1);
    fixture_expect_until(f, 0, 10, 0b1011, 11); /* three lanes are at E */
    fixture_steps(f, 1, 2);
    assert_int_equal(f->n_finished, 0);
    fixture_finish(f);
}

/* The place where all ways meet, E, is constrained by the branch at 2: a context there waits while the primary is
 * before it. */
static void a_context_waits_where_it_meets_the_primary(void **state) {
    (void)state;
    rules.n_hot = 2, rules.turns = false, rules.constrains = true;
    struct fixture *f = start(WAYS, 4, 0);
    fixture_steps(f, 0, 5); /* lane 0 reaches E */
    fixture_expect(f, 1, 5, 0b0010);
    fixture_expect(f, 0, 7, 0b0100);
    fixture_steps(f, 0, 2);
    fixture_expect(f, 0, 9, 0b1000);
    fixture_steps(f, 0, 1); /* all but lane 1 are at E: it runs alone */
    fixture_expect(f, 1, 5, 0b0010);
    expect_waiting(f, 0);
    fixture_steps(f, 1, 2);
    fixture_expect_until(f, 0, 10, 0b1111, EXEC_NO_PC);
    expect_waiting(f, 1);
    fixture_finish(f);
}

/* Two warps and three slots: the second warp to diverge has no second group, until the first has ended. */
static void a_second_group_needs_a_spare_slot(void **state) {
    (void)state;
    rules.n_hot = 2, rules.turns = rules.constrains = false;
    struct fixture *f = start(WAYS, 8, 3);
    fixture_steps(f, 0, 3);
    fixture_expect(f, 2, 5, 0b0010);
    fixture_steps(f, 1, 3);
    fixture_expect_until(f, 1, 3, 0b0001, 5); /* alone: until it reaches the next context */
    while (f->sm[0].slot[0].group)
        fixture_steps(f, f->sm[0].slot[0].group->status == DIVERGENCE_RUNS ? 0 : 2, 1);
    assert_null(f->sm[0].slot[2].group);
    fixture_steps(f, 1, 1);
    assert_int_equal(fixture_free_slots(&f->sm[0]), 2);
    fixture_steps(f, 1, 1); /* lane 0 branches to E, and contexts are compared: now there is a slot */
    assert_int_equal(fixture_free_slots(&f->sm[0]), 1);
    fixture_finish(f);
}

/* --- turns --- */

/* Lane 3 writes what the others wait for, but its code comes after theirs. */
#define SPIN                                                                                                           \
    PROGRAM_KERNEL "ld.param.u64 %d1, [out]; mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 3; @%p1 bra W;\n" /* 0-3 */    \
                   "L: ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p2, %r1, 0; @%p2 bra L; ret;\n"    /* 4-7 */    \
                   "W: st.volatile.global.u32 [%d1], 1; ret; }\n"                                         /* 8 9 */

/* A loop that lane 3 does not take part in counts as spinning after DIVERGENCE_SPIN_AFTER + 1 branches. */
static void a_context_that_spins_lets_others_run(void **state) {
    (void)state;
    for (unsigned turns = 0; turns < 2; turns++) {
        rules.n_hot = 1, rules.turns = turns, rules.constrains = false;
        struct fixture *f = start(SPIN, 4, 1);
        f->checks_nothing = true; /* to save time */
        fixture_steps(f, 0, 4 + 3 * DIVERGENCE_SPIN_AFTER);
        fixture_expect(f, 0, 4, 0b0111);
        fixture_steps(f, 0, 3);
        if (!turns) { /* the lowest pc always runs, as on the machines that multi-pc models */
            fixture_expect(f, 0, 4, 0b0111);
            fixture_close(f);
            continue;
        }
        fixture_expect(f, 0, 8, 0b1000);
        fixture_steps(f, 0, 2); /* it writes and ends */
        fixture_expect(f, 0, 4, 0b0111);
        fixture_steps(f, 0, 4);
        assert_int_equal(f->n_finished, 1);
        fixture_close(f);
    }
}

/* --- refusals --- */

#define ROW_ACCESS                                                                                                     \
    PROGRAM_KERNEL                                                                                                     \
    "ld.param.u64 %d1, [out]; setp.eq.u32 %p1, %r0, 0;\ncond_acc.global.b32 %r1, [%d1], %p1, %r0; ret; }\n"

static void accesses_of_a_whole_row_are_refused(void **state) {
    (void)state;
    char text[256];
    rules.n_hot = 1;
    struct fixture *f = start(WAYS, 4, 1);
    assert_null(divergence_frontier_refuses(NULL, "some", text, sizeof text));
    assert_null(divergence_frontier_refuses(f->program, "some", text, sizeof text));
    fixture_close(f);
    f = fixture_open(&ops, "multi-pc", ROW_ACCESS, &(struct fixture_shape){.block = 4});
    assert_string_equal(
        divergence_frontier_refuses(f->program, "some", text, sizeof text),
        "some lets the lanes of a warp run apart, and 'cond_acc.global.b32' (line 7) accesses memory for "
        "all of them at once: use another model");
    fixture_close(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_two_lowest_pcs_are_hot),
        cmocka_unit_test(a_context_waits_where_it_meets_the_primary),
        cmocka_unit_test(a_second_group_needs_a_spare_slot),
        cmocka_unit_test(a_context_that_spins_lets_others_run),
        cmocka_unit_test(accesses_of_a_whole_row_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
