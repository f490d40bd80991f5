/* Tests of lanes that fetch their own instructions. */
#include "divergence/testing/programs.h"
#include "divergence/warp_pool/warp_pool.h"

static struct fixture *open_mimd(const char *text, const struct fixture_shape *shape) {
    return fixture_open(divergence_find("mimd"), "mimd", text, shape);
}

static const struct divergence_dynamic_warp *warp_in(const struct fixture *f, uint32_t slot) {
    const struct divergence_dynamic_warp *warp = (const struct divergence_dynamic_warp *)f->sm[0].slot[slot].group;
    assert_non_null(warp);
    return warp;
}

static void steps(struct fixture *f, uint32_t slot, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        fixture_step(&f->sm[0], slot);
        fixture_resume_all(f);
    }
}

static void expect_pcs(const struct fixture *f, uint32_t slot, const uint32_t *pc, uint32_t n) {
    const struct divergence_dynamic_warp *warp = warp_in(f, slot);
    assert_int_equal(warp->mask, (1u << n) - 1);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(warp->pc[i], pc[i]);
}
#define EXPECT_PCS(f, slot, ...)                                                                                       \
    expect_pcs(f, slot, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* 0 1 2: all; 3 4: threads 0 2 3; 5: thread 1; 6 7: all. */
#define BRANCH                                                                                                         \
    PROGRAM_HEAD ".visible .entry k() {\n.reg .pred %p; .reg .b32 %r<4>;\n"                                            \
                 "mov.u32 %r0, %tid.x; setp.eq.u32 %p, %r0, 1; @%p bra C;\n"                                           \
                 "add.u32 %r1, %r0, 1; bra D; C: add.u32 %r1, %r0, 2; D: add.u32 %r2, %r1, 3; ret; }\n"

struct seen {
    uint32_t n, pc[64], mask[64];
    bool shares_issue[64];
};

static void see(void *user, const struct divergence_group *group, const struct divergence_bundle *bundle) {
    (void)group;
    struct seen *seen = user;
    seen->pc[seen->n] = bundle->pc;
    seen->mask[seen->n] = bundle->mask;
    seen->shares_issue[seen->n++] = bundle->shares_issue;
}

static void both_sides_of_a_branch_go_at_once(void **state) {
    (void)state;
    struct fixture *f = open_mimd(BRANCH, &(struct fixture_shape){.block = 4, .warp_size = 4});
    struct seen seen = {0};
    fixture_start(f);
    steps(f, 0, 3);
    EXPECT_PCS(f, 0, 3, 5, 3, 3);
    f->watch = see;
    f->user = &seen;
    steps(f, 0, 1);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.pc[0], 3);
    assert_int_equal(seen.mask[0], 0b1101);
    assert_true(seen.shares_issue[0]);
    assert_int_equal(seen.pc[1], 5);
    assert_int_equal(seen.mask[1], 0b0010);
    assert_false(seen.shares_issue[1]);
    steps(f, 0, 1); /* bra D and the instruction at D: thread 1 is ahead and does not execute it twice */
    assert_int_equal(seen.n, 4);
    assert_int_equal(seen.pc[2], 4);
    assert_int_equal(seen.mask[2], 0b1101);
    assert_int_equal(seen.pc[3], 6);
    assert_int_equal(seen.mask[3], 0b0010);
    steps(f, 0, 1);
    assert_int_equal(seen.n, 6);
    assert_int_equal(seen.pc[4], 6);
    assert_int_equal(seen.mask[4], 0b1101);
    assert_int_equal(seen.pc[5], 7);
    assert_int_equal(seen.mask[5], 0b0010);
    assert_int_equal(warp_in(f, 0)->mask, 0b1101); /* thread 1 has ended */
    steps(f, 0, 1);
    assert_int_equal(f->n_finished, 1);
    assert_int_equal(f->sm[0].n_instructions, 7); /* the longest of the threads' paths */
    assert_int_equal(f->sm[0].n_bundles, 7);
    fixture_close(f);
}

/* Threads whose bit in the parameter is clear end at once. */
#define PICK                                                                                                           \
    PROGRAM_HEAD ".visible .entry k(.param .u64 threads) {\n.reg .pred %p; .reg .b32 %r<4>;\n"                         \
                 "mov.u32 %r0, %tid.x; ld.param.u32 %r1, [threads]; shr.b32 %r1, %r1, %r0; and.b32 %r1, %r1, 1;\n"     \
                 "setp.eq.u32 %p, %r1, 0; @%p exit;\n"                                                                 \
                 "add.u32 %r2, %r0, 1; add.u32 %r2, %r2, 1; ret; }\n"

static void incomplete_groups_go_together_when_that_gives_fewer(void **state) {
    (void)state;
    struct fixture *f = open_mimd(PICK, &(struct fixture_shape){.block = 12, .warp_size = 4, .n_slots = 8});
    fixture_parameter(f, 0, 0b1111 << 8 | 0b0100 << 4 | 0b0111);
    fixture_start(f);
    steps(f, 0, 6);
    assert_int_equal(warp_in(f, 0)->mask, 0b0111);
    steps(f, 2, 6); /* full */
    steps(f, 1, 4); /* four instructions less, and still four threads */
    assert_int_equal(f->sm[0].counters.merges, 0);
    steps(f, 1, 2);
    assert_int_equal(f->sm[0].counters.merges, 1);
    const struct divergence_dynamic_warp *left = (const struct divergence_dynamic_warp *)f->sm[0].slot[0].group;
    const struct divergence_dynamic_warp *other = (const struct divergence_dynamic_warp *)f->sm[0].slot[1].group;
    assert_true(!left != !other); /* one of the two is left, with all four */
    assert_int_equal((left ? left : other)->mask, 0b1111);
    fixture_run(f);
    fixture_close(f);
}

static void groups_that_would_be_as_many_stay_as_they_are(void **state) {
    (void)state;
    struct fixture *f = open_mimd(PICK, &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 8});
    fixture_parameter(f, 0, 0b0110 << 4 | 0b0111);
    fixture_start(f);
    steps(f, 0, 6);
    steps(f, 1, 6);
    assert_int_equal(f->sm[0].counters.merges, 0);
    assert_int_equal(warp_in(f, 0)->mask, 0b0111);
    assert_int_equal(warp_in(f, 1)->mask, 0b0110);
    fixture_run(f);
    fixture_close(f);
}

/* Three groups of 3, 3 and 2 threads would be two, but the third is not at rest, and the first two alone stay two. */
static void groups_are_not_put_together_in_vain(void **state) {
    (void)state;
    struct fixture *f = open_mimd(PICK, &(struct fixture_shape){.block = 12, .warp_size = 4, .n_slots = 8});
    fixture_parameter(f, 0, 0b0110 << 8 | 0b0111 << 4 | 0b0111);
    fixture_start(f);
    steps(f, 0, 6);
    steps(f, 1, 6);
    for (int i = 0; i < 6; i++)
        fixture_step(&f->sm[0], 2);
    fixture_step(&f->sm[0], 0);
    assert_int_equal(warp_in(f, 2)->group.status, DIVERGENCE_DRAINS);
    assert_int_equal(warp_in(f, 0)->group.status, DIVERGENCE_DRAINS);
    fixture_step(&f->sm[0], 0);
    assert_int_equal(f->sm[0].counters.merges, 0);
    fixture_resume_all(f);
    assert_true(f->sm[0].counters.merges > 0);
    fixture_run(f);
    fixture_close(f);
}

static void threads_at_a_barrier_leave_and_the_others_fill_up(void **state) {
    (void)state;
    struct fixture *f = open_mimd(PROGRAM_HEAD ".visible .entry k() {\n.reg .pred %p; .reg .b32 %r<4>;\n"
                                               "mov.u32 %r0, %tid.x; setp.lt.u32 %p, %r0, 2; @%p bra AT; add.u32 %r1, "
                                               "%r0, 1; add.u32 %r1, %r0, 1;\n"
                                               "AT: bar.sync 0; ret; }\n",
                                  &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 8});
    fixture_start(f);
    steps(f, 0, 4); /* threads 0 and 1 at the barrier */
    assert_int_equal(warp_in(f, 0)->mask, 0b1100);
    fixture_run(f);
    fixture_close(f);
}

static void results_do_not_depend_on_order_or_shape(void **state) {
    (void)state;
    programs_check_all(divergence_find("mimd"), "mimd", false);
}

static void groups_without_a_slot_queue(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (uint64_t seed = 0; seed < 3; seed++)
            programs_check(divergence_find("mimd"), "mimd", &programs[i],
                           &(struct fixture_shape){.block = 64, .n_slots = 2}, seed, false);
}

static uint64_t issue_slots(const char *model, const char *options, const struct program *program) {
    struct fixture *f =
        fixture_open(divergence_find(model), options, program->text, &(struct fixture_shape){.block = 96, .grid = 3});
    fixture_parameter(f, 0, fixture_alloc(f, 96 * 3 * 4));
    f->label = program->name;
    fixture_start(f);
    fixture_run(f);
    uint64_t n = f->sm[0].n_bundles;
    fixture_close(f);
    return n;
}

static void no_other_model_needs_fewer_issue_slots(void **state) {
    (void)state;
    static const char *const others[][2] = {
        {"stack", "stack"}, {"multi-pc", "multi-pc"}, {"dwf", "dwf"}, {"dwf", "dwf:lanes=free"}};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        uint64_t n = issue_slots("mimd", "mimd", &programs[i]);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            uint64_t n_other = issue_slots(others[k][0], others[k][1], &programs[i]);
            if (n > n_other)
                fail_msg("%s: %llu issue slots, and %llu with %s", programs[i].name, (unsigned long long)n,
                         (unsigned long long)n_other, others[k][1]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_of_a_branch_go_at_once),
        cmocka_unit_test(incomplete_groups_go_together_when_that_gives_fewer),
        cmocka_unit_test(groups_that_would_be_as_many_stay_as_they_are),
        cmocka_unit_test(groups_are_not_put_together_in_vain),
        cmocka_unit_test(threads_at_a_barrier_leave_and_the_others_fill_up),
        cmocka_unit_test(results_do_not_depend_on_order_or_shape),
        cmocka_unit_test(groups_without_a_slot_queue),
        cmocka_unit_test(no_other_model_needs_fewer_issue_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
