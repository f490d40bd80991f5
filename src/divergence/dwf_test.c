/* Tests of dynamic warp formation. */
#include "divergence/testing/programs.h"
#include "divergence/warp_pool/warp_pool.h"

/* Threads whose bit in the parameter is clear end at once; the others continue to instruction 6. Warps of four. */
#define PICK                                                                                                           \
    PROGRAM_HEAD ".visible .entry k(.param .u64 threads) {\n.reg .pred %p; .reg .b32 %r<4>;\n"                         \
                 "mov.u32 %r0, %tid.x; ld.param.u32 %r1, [threads]; shr.b32 %r1, %r1, %r0; and.b32 %r1, %r1, 1;\n"     \
                 "setp.eq.u32 %p, %r1, 0; @%p exit;\n" /* 4 5 */                                                       \
                 "add.u32 %r2, %r0, 1; add.u32 %r2, %r2, 1; ret; }\n"
enum { TO_EXIT = 6, GOES_ON = 6 };

static struct fixture *start(const char *model, const char *text, const struct fixture_shape *shape,
                             uint64_t parameter) {
    struct fixture *f = fixture_open(divergence_find("dwf"), model, text, shape);
    fixture_parameter(f, 0, parameter);
    fixture_start(f);
    return f;
}

static void steps(struct fixture *f, uint32_t slot, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        fixture_step(&f->sm[0], slot);
        fixture_resume_all(f);
    }
}

static const struct divergence_dynamic_warp *warp_in(const struct fixture *f, uint32_t slot) {
    const struct divergence_dynamic_warp *warp = (const struct divergence_dynamic_warp *)f->sm[0].slot[slot].group;
    assert_non_null(warp);
    return warp;
}

static void expect(const struct fixture *f, uint32_t slot, uint32_t pc, uint32_t mask) {
    assert_int_equal(warp_in(f, slot)->group.pc, pc);
    assert_int_equal(warp_in(f, slot)->mask, mask);
}

/* Narasiman 2014, 3.2.1: a warp 1010 that retires finds 1100 in the pool. Lane 0 is the leftmost. */
static void retiring_1010_into_1100_gives_1110_and_1000(void **state) {
    (void)state;
    struct fixture *f =
        start("dwf", PICK, &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 8}, 0b0101 << 4 | 0b0011);
    f->is_lane_aware = true;
    steps(f, 0, TO_EXIT);
    expect(f, 0, GOES_ON, 0b0011);
    steps(f, 1, TO_EXIT);
    expect(f, 0, GOES_ON, 0b0111);
    expect(f, 1, GOES_ON, 0b0001);
    assert_null(warp_in(f, 0)->group.row);     /* threads of two rows */
    assert_non_null(warp_in(f, 1)->group.row); /* of one */
    assert_int_equal(f->sm[0].counters.merges, 1);
    fixture_run(f);
    fixture_close(f);
}

static void with_free_lanes_the_same_gives_1111(void **state) {
    (void)state;
    struct fixture *f = start("dwf:lanes=free", PICK, &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 8},
                              0b0101 << 4 | 0b0011);
    steps(f, 0, TO_EXIT);
    steps(f, 1, TO_EXIT);
    expect(f, 0, GOES_ON, 0b1111);
    assert_null(f->sm[0].slot[1].group);
    fixture_run(f);
    fixture_close(f);
}

/* A third warp, 0110: the youngest is 1000, where both find room, and the hole of 1110 stays. */
static void only_the_youngest_warp_is_tried(void **state) {
    (void)state;
    struct fixture *f = start("dwf", PICK, &(struct fixture_shape){.block = 12, .warp_size = 4, .n_slots = 8},
                              0b0110 << 8 | 0b0101 << 4 | 0b0011);
    steps(f, 0, TO_EXIT);
    steps(f, 1, TO_EXIT);
    steps(f, 2, TO_EXIT);
    expect(f, 0, GOES_ON, 0b0111);
    expect(f, 1, GOES_ON, 0b0111);
    assert_null(f->sm[0].slot[2].group);
    fixture_run(f);
    fixture_close(f);
}

/* In a branch the threads of both ways look for a warp: here one finds it and the other becomes a new one. */
#define TWO_WAYS                                                                                                       \
    PROGRAM_HEAD ".visible .entry k(.param .u64 threads) {\n.reg .pred %p; .reg .b32 %r<4>;\n"                         \
                 "mov.u32 %r0, %tid.x; ld.param.u32 %r1, [threads]; shr.b32 %r1, %r1, %r0; and.b32 %r1, %r1, 1;\n"     \
                 "setp.eq.u32 %p, %r1, 0; @%p bra OTHER;\n"                                  /* 4 5 */                 \
                 "add.u32 %r2, %r0, 1; bra JOIN; OTHER: add.u32 %r2, %r0, 2; JOIN: ret; }\n" /* 6 7, 8, 9 */

static void both_ways_of_a_branch_join_what_they_find(void **state) {
    (void)state;
    struct fixture *f =
        start("dwf", TWO_WAYS, &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 8}, 0b1100 << 4 | 0b0011);
    steps(f, 0, TO_EXIT);
    expect(f, 0, 6, 0b0011); /* the lower pc keeps the group */
    expect(f, 2, 8, 0b1100);
    assert_int_equal(f->sm[0].counters.warp_splits, 1);
    assert_int_equal(f->sm[0].counters.divergent_branches, 1);
    steps(f, 1, TO_EXIT);
    expect(f, 0, 6, 0b1111);
    expect(f, 2, 8, 0b1111);
    assert_null(f->sm[0].slot[1].group);
    fixture_run(f);
    fixture_close(f);
}

/* A warp that waits for a load is not in the pool. Threads 0 and 5 continue. */
#define LOADS                                                                                                          \
    PROGRAM_HEAD                                                                                                       \
    ".visible .entry k(.param .u64 data) {\n.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d;\n"                           \
    "ld.param.u64 %d, [data]; mov.u32 %r0, %tid.x; rem.u32 %r1, %r0, 5; setp.ne.u32 %p, %r1, 0; @%p exit;\n"           \
    "ld.global.u32 %r1, [%d]; add.u32 %r2, %r1, 1; ret; }\n" /* 5 6 7 */

/* Both warps lose threads, and neither diverges before the branch: with pool=diverged they stay apart until then. */
#define LOSES_THEN_BRANCHES                                                                                            \
    PROGRAM_HEAD ".visible .entry k(.param .u64 threads) {\n.reg .pred %p; .reg .b32 %r<4>;\n"                         \
                 "mov.u32 %r0, %tid.x; ld.param.u32 %r1, [threads]; shr.b32 %r1, %r1, %r0; and.b32 %r2, %r1, 1;\n"     \
                 "setp.eq.u32 %p, %r2, 0; @%p exit;\n"                                       /* 4 5 */                 \
                 "and.b32 %r2, %r1, 65536; setp.eq.u32 %p, %r2, 0; @%p bra OTHER;\n"         /* 6 7 8 */               \
                 "add.u32 %r2, %r0, 1; bra JOIN; OTHER: add.u32 %r2, %r0, 2; JOIN: ret; }\n" /* 9 10, 11, 12 */

static void a_pool_of_diverged_threads_leaves_the_others_in_their_warps(void **state) {
    (void)state;
    enum { IFS = 8, THEN = 9, OTHER = 11, JOIN = 12 };
    struct fixture *f =
        start("dwf:lanes=free,pool=diverged", LOSES_THEN_BRANCHES,
              &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 8}, 0b00010001u << 16 | 0b00110011u);
    steps(f, 0, IFS);
    steps(f, 1, IFS);
    expect(f, 0, IFS, 0b0011); /* with pool=all, the second would have joined it at pc 6 */
    expect(f, 1, IFS, 0b0011);
    steps(f, 0, 1);
    expect(f, 0, THEN, 0b0001);
    expect(f, 2, OTHER, 0b0010);
    steps(f, 1, 1); /* both sides find a partner that has diverged too */
    expect(f, 0, THEN, 0b0011);
    expect(f, 2, OTHER, 0b0011);
    assert_null(f->sm[0].slot[1].group);
    fixture_run(f);
    fixture_close(f);
}

static void waits_ten(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                      uint32_t delay[EXEC_LANES]) {
    (void)user, (void)group, (void)pc;
    for (uint32_t left = mask; left; left &= left - 1)
        delay[__builtin_ctz(left)] = 10;
}

static void a_warp_with_a_load_in_flight_is_not_joined(void **state) {
    (void)state;
    struct fixture *f = fixture_open(divergence_find("dwf"), "dwf", LOADS,
                                     &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 8});
    fixture_parameter(f, 0, fixture_alloc(f, 4));
    f->outcome = waits_ten;
    fixture_start(f);
    steps(f, 0, 5);
    expect(f, 0, 5, 0b0001);
    steps(f, 0, 1);
    assert_int_equal(f->sm[0].slot[0].n_accesses, 1);
    assert_int_equal(warp_in(f, 0)->group.status, DIVERGENCE_DRAINS);
    f->outcome = NULL;
    steps(f, 1, 6);
    expect(f, 0, 6, 0b0001); /* at the same instruction */
    expect(f, 1, 6, 0b0010);
    assert_int_equal(f->sm[0].counters.merges, 0);
    fixture_run(f);
    fixture_close(f);
}

/* On a scoreboard machine a warp continues through a basic block, and waits only when there is one that it can join. */
static void on_a_scoreboard_machine_warps_are_compared_where_blocks_begin(void **state) {
    (void)state;
    struct fixture *f =
        start("dwf", TWO_WAYS, &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 8, .is_scoreboard = true},
              0b0110 << 4 | 0b0011);
    for (int i = 0; i < 6; i++)
        fixture_step(&f->sm[0], 0);
    assert_int_equal(warp_in(f, 0)->group.status, DIVERGENCE_DRAINS); /* it has to part */
    fixture_resume_all(f);
    fixture_step(&f->sm[0], 0);
    assert_int_equal(warp_in(f, 0)->group.status, DIVERGENCE_RUNS); /* incomplete, in the middle of a block */
    fixture_step(&f->sm[0], 0);
    expect(f, 0, 9, 0b0011);
    assert_int_equal(warp_in(f, 0)->group.status, DIVERGENCE_RUNS); /* no warp is at JOIN */
    fixture_step(&f->sm[0], 2);
    assert_int_equal(warp_in(f, 2)->group.status, DIVERGENCE_DRAINS); /* now there is */
    fixture_resume_all(f);
    expect(f, 0, 9, 0b1111);
    fixture_run(f);
    fixture_close(f);
}

/* The same lanes: no room, so no reason to wait. */
static void on_a_scoreboard_machine_a_warp_does_not_wait_in_vain(void **state) {
    (void)state;
    struct fixture *f =
        start("dwf", TWO_WAYS, &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 8, .is_scoreboard = true},
              0b0011 << 4 | 0b0011);
    for (uint32_t slot = 0; slot < 2; slot++) {
        for (int i = 0; i < 6; i++)
            fixture_step(&f->sm[0], slot);
        fixture_resume_all(f);
    }
    for (uint32_t slot = 0; slot < 2; slot++)
        for (int i = 0; i < 2; i++)
            fixture_step(&f->sm[0], slot);
    expect(f, 0, 9, 0b0011);
    expect(f, 1, 9, 0b0011);
    assert_int_equal(warp_in(f, 1)->group.status, DIVERGENCE_RUNS);
    fixture_run(f);
    fixture_close(f);
}

#define LOADS_AND_JOINS                                                                                                \
    PROGRAM_HEAD ".visible .entry k(.param .u64 data) {\n.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d;\n"              \
                 "ld.param.u64 %d, [data]; mov.u32 %r0, %tid.x; rem.u32 %r1, %r0, 5; setp.ne.u32 %p, %r1, 0; @%p "     \
                 "exit;\n"                                                                                             \
                 "ld.global.u32 %r1, [%d]; bra NEXT; NEXT: add.u32 %r2, %r1, 1; ret; }\n" /* 5 6, 7 8 */

static void on_a_scoreboard_machine_a_warp_with_a_load_in_flight_is_not_joined(void **state) {
    (void)state;
    struct fixture *f =
        fixture_open(divergence_find("dwf"), "dwf", LOADS_AND_JOINS,
                     &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 8, .is_scoreboard = true});
    fixture_parameter(f, 0, fixture_alloc(f, 4));
    f->outcome = waits_ten;
    f->runs_ahead = true;
    fixture_start(f);
    steps(f, 0, 7);
    expect(f, 0, 7, 0b0001);
    assert_int_equal(f->sm[0].slot[0].n_accesses, 1);
    f->outcome = NULL;
    steps(f, 1, 7);
    expect(f, 1, 7, 0b0010);
    assert_int_equal(f->sm[0].counters.merges, 0);
    fixture_run(f);
    fixture_close(f);
}

/* If all threads of a warp wait, it keeps its slot. Threads that wait in a warp that continues leave it. */
#define BARRIER                                                                                                        \
    PROGRAM_HEAD ".visible .entry k(.param .u64 threads) {\n.reg .pred %p; .reg .b32 %r<4>;\n"                         \
                 "mov.u32 %r0, %tid.x; ld.param.u32 %r1, [threads]; shr.b32 %r1, %r1, %r0; and.b32 %r1, %r1, 1;\n"     \
                 "setp.eq.u32 %p, %r1, 0; @%p bra OTHER;\n"         /* 4 5 */                                          \
                 "add.u32 %r2, %r0, 1; OTHER: bar.sync 0; ret; }\n" /* 6, 7 8 */

static void warps_at_a_barrier_are_not_in_the_pool(void **state) {
    (void)state;
    struct fixture *f =
        start("dwf", BARRIER, &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 8}, 0b1100 << 4 | 0b0011);
    steps(f, 0, TO_EXIT);
    steps(f, 1, TO_EXIT);
    expect(f, 0, 6, 0b1111);
    expect(f, 2, 7, 0b1111);
    steps(f, 2, 1);
    assert_int_equal(warp_in(f, 2)->group.status, DIVERGENCE_WAITS);
    steps(f, 0, 2);
    expect(f, 0, 8, 0b1111);
    expect(f, 2, 8, 0b1111);
    assert_int_equal(warp_in(f, 2)->group.status, DIVERGENCE_RUNS);
    assert_int_equal(f->sm[0].counters.barriers, 2);
    fixture_run(f);
    fixture_close(f);
}

/* Two slots, both taken: threads 4 to 7 wait in one of them when threads 2 and 3 part from 0 and 1 and need it. They
 * come back, as their row is, when the barrier releases them. */
static void a_warp_that_waits_gives_its_slot_to_one_that_can_run(void **state) {
    (void)state;
    struct fixture *f =
        start("dwf", BARRIER, &(struct fixture_shape){.block = 8, .warp_size = 4, .n_slots = 2}, 0b0000 << 4 | 0b0011);
    steps(f, 1, TO_EXIT + 1);
    assert_int_equal(warp_in(f, 1)->group.status, DIVERGENCE_WAITS);
    steps(f, 0, TO_EXIT);
    expect(f, 0, 6, 0b0011);
    expect(f, 1, 7, 0b1100);
    fixture_run(f);
    fixture_close(f);
}

static void results_do_not_depend_on_order_or_shape(void **state) {
    (void)state;
    programs_check_all(divergence_find("dwf"), "dwf", true);
    programs_check_all(divergence_find("dwf"), "dwf:lanes=free", false);
}

/* Two slots for up to 64 warps. */
static void warps_without_a_slot_queue(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            programs_check(divergence_find("dwf"), "dwf", &programs[i],
                           &(struct fixture_shape){.block = 64, .n_slots = 2}, seed, true);
            programs_check(divergence_find("dwf"), "dwf", &programs[i],
                           &(struct fixture_shape){.block = 64, .grid = 2, .n_slots = 4, .is_scoreboard = true}, seed,
                           true);
        }
}

static void instructions_that_name_no_lanes_are_refused(void **state) {
    (void)state;
    struct fixture *f = fixture_open(divergence_find("dwf"), "dwf",
                                     PROGRAM_HEAD ".visible .entry k() {\n.reg .b32 %r;\nactivemask.b32 %r; ret; }\n",
                                     &(struct fixture_shape){.block = 32});
    char text[300];
    const char *rule = f->ops->refuses(f->options, &f->machine, f->program, text, sizeof text);
    assert_non_null(rule);
    assert_non_null(strstr(rule, "activemask"));
    assert_null(f->ops->refuses(f->options, &f->machine, NULL, text, sizeof text));
    fixture_close(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retiring_1010_into_1100_gives_1110_and_1000),
        cmocka_unit_test(with_free_lanes_the_same_gives_1111),
        cmocka_unit_test(only_the_youngest_warp_is_tried),
        cmocka_unit_test(both_ways_of_a_branch_join_what_they_find),
        cmocka_unit_test(a_pool_of_diverged_threads_leaves_the_others_in_their_warps),
        cmocka_unit_test(a_warp_with_a_load_in_flight_is_not_joined),
        cmocka_unit_test(on_a_scoreboard_machine_warps_are_compared_where_blocks_begin),
        cmocka_unit_test(on_a_scoreboard_machine_a_warp_does_not_wait_in_vain),
        cmocka_unit_test(on_a_scoreboard_machine_a_warp_with_a_load_in_flight_is_not_joined),
        cmocka_unit_test(warps_at_a_barrier_are_not_in_the_pool),
        cmocka_unit_test(a_warp_that_waits_gives_its_slot_to_one_that_can_run),
        cmocka_unit_test(results_do_not_depend_on_order_or_shape),
        cmocka_unit_test(warps_without_a_slot_queue),
        cmocka_unit_test(instructions_that_name_no_lanes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
