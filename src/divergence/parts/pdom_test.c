/* Tests of the stack's states, step by step. Masks are written with lane 0 on the right, like numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "divergence/parts/pdom.h"
#include "exec/exec.h"

enum { A = 10, B = 20, C = 30, D = 40, E = 50 };
#define LANES(mask) ((const uint32_t[]){mask})

static void expect(const struct divergence_stack *stack, uint32_t at, uint32_t pc, uint32_t reconvergence,
                   uint32_t mask) {
    assert_true(at < stack->depth);
    assert_int_equal(divergence_stack_at(stack, at)->pc, pc);
    assert_int_equal(divergence_stack_at(stack, at)->reconvergence, reconvergence);
    assert_int_equal(divergence_stack_at(stack, at)->mask[0], mask);
}

static void reach(struct divergence_stack *stack, uint32_t pc) {
    divergence_stack_top(stack)->pc = pc;
    divergence_stack_pop_finished(stack);
}

/* Narasiman 2011, figure 3: four threads run A; three go to B, one to C; all reconverge at D. */
static void the_papers_example_has_the_papers_states(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    assert_int_equal(stack.depth, 1); /* (b) A 1111 */
    expect(&stack, 0, A, EXEC_NO_PC, 0xf);
    divergence_stack_diverge(&stack, D, B, LANES(0xb), C); /* (c) join, the other path, and the running one on top */
    assert_int_equal(stack.depth, 3);
    expect(&stack, 0, D, EXEC_NO_PC, 0xf);
    expect(&stack, 1, C, D, 0x4);
    expect(&stack, 2, B, D, 0xb);
    reach(&stack, D); /* (d) B has reached D: C runs */
    assert_int_equal(stack.depth, 2);
    expect(&stack, 1, C, D, 0x4);
    reach(&stack, D); /* (e) all four run D */
    assert_int_equal(stack.depth, 1);
    expect(&stack, 0, D, EXEC_NO_PC, 0xf);
    divergence_stack_free(&stack);
}

/* Lanes that jump to the reconvergence pc wait in the join and need no path of their own. */
static void a_side_without_code_has_no_entry(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    divergence_stack_diverge(&stack, D, D, LANES(0x3), B);
    assert_int_equal(stack.depth, 2);
    expect(&stack, 1, B, D, 0xc);
    divergence_stack_free(&stack);
}

/* A loop whose lanes leave one by one keeps one join and one path. */
static void a_divergent_loop_does_not_grow_the_stack(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    for (uint32_t stays = 0xe; stays; stays = stays << 1 & 0xf) {
        divergence_stack_diverge(&stack, D, A, LANES(stays), D);
        assert_int_equal(stack.depth, 2);
        expect(&stack, 1, A, D, stays);
    }
    reach(&stack, D);
    assert_int_equal(stack.depth, 1);
    expect(&stack, 0, D, EXEC_NO_PC, 0xf);
    divergence_stack_free(&stack);
}

/* Two lanes return from inside a branch of the callee, the others later; then the caller continues with all. */
static void returns_leave_the_call_and_nothing_else(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    divergence_stack_top(&stack)->pc = B; /* after the call */
    divergence_stack_push_call(&stack, 1, C, LANES(0xf));
    divergence_stack_diverge(&stack, EXEC_NO_PC, D, LANES(0x3), E);
    divergence_stack_remove(&stack, LANES(0x3), true);
    expect(&stack, stack.depth - 1, E, EXEC_NO_PC, 0xc);
    expect(&stack, 0, B, EXEC_NO_PC, 0xf);
    divergence_stack_remove(&stack, LANES(0xc), true);
    assert_int_equal(stack.depth, 1);
    expect(&stack, 0, B, EXEC_NO_PC, 0xf);
    divergence_stack_free(&stack);
}

static void exits_leave_every_entry(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    divergence_stack_diverge(&stack, D, B, LANES(0x3), C);
    divergence_stack_remove(&stack, LANES(0x3), false);
    assert_int_equal(stack.depth, 2);
    expect(&stack, 0, D, EXEC_NO_PC, 0xc);
    expect(&stack, 1, C, D, 0xc);
    divergence_stack_remove(&stack, LANES(0xc), false);
    assert_int_equal(stack.depth, 0);
    divergence_stack_free(&stack);
}

/* A path whose lanes end one after the other empties itself and the join inside it; lanes at the outer join continue.
 */
static void ends_empty_every_entry_down_to_the_join_that_still_has_lanes(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    divergence_stack_diverge(&stack, D, D, LANES(0x3), B); /* lanes 0 and 1 wait at D */
    divergence_stack_diverge(&stack, E, C, LANES(0x4), E); /* lane 3 waits at E for lane 2 */
    assert_int_equal(stack.depth, 3);
    expect(&stack, 0, D, EXEC_NO_PC, 0xf);
    expect(&stack, 1, E, D, 0xc);
    expect(&stack, 2, C, E, 0x4);
    divergence_stack_remove(&stack, LANES(0x4), false);
    assert_int_equal(stack.depth, 2);
    expect(&stack, 0, D, EXEC_NO_PC, 0xb);
    expect(&stack, 1, E, D, 0x8);
    assert_false(divergence_stack_at(&stack, 1)->is_join);
    divergence_stack_remove(&stack, LANES(0x8), false);
    assert_int_equal(stack.depth, 1);
    expect(&stack, 0, D, EXEC_NO_PC, 0x3);
    assert_false(divergence_stack_at(&stack, 0)->is_join);
    divergence_stack_free(&stack);
}

/* Lanes end on their way to a join, then the lanes that wait there end too. */
static void a_join_that_ends_empty_it_leaves_nothing(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    divergence_stack_diverge(&stack, D, B, LANES(0x3), C);
    reach(&stack, D);
    expect(&stack, 1, C, D, 0xc);
    divergence_stack_remove(&stack, LANES(0xc), false);
    assert_int_equal(stack.depth, 1);
    expect(&stack, 0, D, EXEC_NO_PC, 0x3);
    divergence_stack_remove(&stack, LANES(0x3), false);
    assert_int_equal(stack.depth, 0);
    divergence_stack_free(&stack);
}

static void a_waiting_path_gives_way_to_its_sibling(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    divergence_stack_diverge(&stack, D, B, LANES(0x3), C);
    divergence_stack_top(&stack)->is_waiting = true;
    assert_true(divergence_stack_yield(&stack));
    expect(&stack, 2, C, D, 0xc);
    divergence_stack_top(&stack)->is_waiting = true;
    assert_false(divergence_stack_yield(&stack)); /* both wait */
    divergence_stack_free(&stack);
}

/* Threads may end on the way, so the paths of two branches never reconverge: whichever waits, all others may run. */
static void paths_that_never_meet_give_way_to_each_other_however_nested(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    divergence_stack_diverge(&stack, EXEC_NO_PC, B, LANES(0x3), C);
    divergence_stack_diverge(&stack, EXEC_NO_PC, D, LANES(0x1), B);
    divergence_stack_top(&stack)->is_waiting = true;
    assert_true(divergence_stack_yield(&stack));
    expect(&stack, stack.depth - 1, B, EXEC_NO_PC, 0x2);
    divergence_stack_top(&stack)->is_waiting = true;
    assert_true(divergence_stack_yield(&stack));
    expect(&stack, stack.depth - 1, C, EXEC_NO_PC, 0xc);
    expect(&stack, 0, EXEC_NO_PC, EXEC_NO_PC, 0xf); /* the first join stays: it has all threads */
    divergence_stack_top(&stack)->is_waiting = true;
    assert_false(divergence_stack_yield(&stack));
    divergence_stack_free(&stack);
}

/* Lanes 2 and 3 will end at C. Lanes 0 and 1 part again at D and wait on both sides, with their join. */
static void a_branch_with_its_paths_gives_way_to_a_path_outside_it(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    divergence_stack_diverge(&stack, EXEC_NO_PC, B, LANES(0x3), C);
    divergence_stack_diverge(&stack, E, D, LANES(0x1), B);
    for (int i = 0; i < 2; i++) {
        assert_true(divergence_stack_yield(&stack));
        divergence_stack_top(&stack)->is_waiting = true;
    }
    assert_true(divergence_stack_yield(&stack));
    expect(&stack, 4, C, EXEC_NO_PC, 0xc);
    expect(&stack, 1, E, EXEC_NO_PC, 0x3); /* the inner join, followed by its paths */
    divergence_stack_top(&stack)->is_waiting = true;
    assert_false(divergence_stack_yield(&stack));
    expect(&stack, 4, C, EXEC_NO_PC, 0xc);
    divergence_stack_at(&stack, 2)->is_waiting = false; /* one of the inner paths is released */
    uint32_t pc = divergence_stack_at(&stack, 2)->pc;
    assert_true(divergence_stack_yield(&stack));
    expect(&stack, 4, pc, E, pc == D ? 0x1 : 0x2);
    expect(&stack, 1, C, EXEC_NO_PC, 0xc);
    divergence_stack_free(&stack);
}

/* The inner paths of the test above are released at their end: what runs is their join. */
static void a_path_released_at_its_end_reconverges(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    divergence_stack_diverge(&stack, EXEC_NO_PC, B, LANES(0x3), C);
    divergence_stack_diverge(&stack, E, D, LANES(0x1), B);
    for (int i = 0; i < 3; i++) {
        assert_true(divergence_stack_yield(&stack));
        divergence_stack_top(&stack)->is_waiting = true;
    }
    for (uint32_t i = 2; i < 4; i++) {
        divergence_stack_at(&stack, i)->is_waiting = false;
        divergence_stack_at(&stack, i)->pc = E;
    }
    assert_true(divergence_stack_yield(&stack));
    assert_int_equal(stack.depth, 3);
    expect(&stack, 2, E, EXEC_NO_PC, 0x3);
    divergence_stack_free(&stack);
}

/* Lanes 0 and 1 wait in a function that they called from B; lanes 2 and 3 call one from C, and return. */
static void a_call_gives_way_and_a_return_leaves_its_own_call(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    divergence_stack_diverge(&stack, D, B, LANES(0x3), C);
    divergence_stack_push_call(&stack, 2, E, LANES(0x3));
    divergence_stack_top(&stack)->is_waiting = true;
    assert_true(divergence_stack_yield(&stack));
    expect(&stack, 3, C, D, 0xc);
    divergence_stack_remove(&stack, LANES(0x8), true); /* a return of the function that has the branch */
    expect(&stack, 3, C, D, 0x4);
    expect(&stack, 0, D, EXEC_NO_PC, 0x7);
    divergence_stack_push_call(&stack, 2, E, LANES(0x4));
    divergence_stack_remove(&stack, LANES(0x4), true);
    assert_int_equal(stack.depth, 4);
    expect(&stack, 3, C, D, 0x4);
    divergence_stack_free(&stack);
}

/* Lanes 0 and 1 spin in a function that they called from B: lanes 2 and 3 wait at D and can continue. */
static void lanes_that_wait_for_a_spinning_callee_can_go_on(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    divergence_stack_diverge(&stack, D, B, LANES(0x3), D);
    divergence_stack_push_call(&stack, 2, E, LANES(0x3));
    divergence_stack_break_join(&stack);
    assert_int_equal(stack.depth, 3);
    expect(&stack, 2, D, EXEC_NO_PC, 0xc);
    expect(&stack, 1, E, EXEC_NO_PC, 0x3);
    expect(&stack, 0, B, EXEC_NO_PC, 0x3);
    divergence_stack_free(&stack);
}

/* Lanes 2 and 3 spin at B on a value that lanes 0 and 1 write after D: those continue, and the spinning ones run later.
 */
static void lanes_that_wait_for_a_spinning_path_can_go_on(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    divergence_stack_start_lanes(&stack, 0xf, A);
    divergence_stack_diverge(&stack, D, D, LANES(0x3), B);
    divergence_stack_break_join(&stack);
    assert_int_equal(stack.depth, 2);
    expect(&stack, 1, D, EXEC_NO_PC, 0x3);
    expect(&stack, 0, B, EXEC_NO_PC, 0xc);
    divergence_stack_remove(&stack, LANES(0x3), false);
    expect(&stack, 0, B, EXEC_NO_PC, 0xc);
    divergence_stack_free(&stack);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_example_has_the_papers_states),
        cmocka_unit_test(a_side_without_code_has_no_entry),
        cmocka_unit_test(a_divergent_loop_does_not_grow_the_stack),
        cmocka_unit_test(returns_leave_the_call_and_nothing_else),
        cmocka_unit_test(exits_leave_every_entry),
        cmocka_unit_test(ends_empty_every_entry_down_to_the_join_that_still_has_lanes),
        cmocka_unit_test(a_join_that_ends_empty_it_leaves_nothing),
        cmocka_unit_test(a_waiting_path_gives_way_to_its_sibling),
        cmocka_unit_test(paths_that_never_meet_give_way_to_each_other_however_nested),
        cmocka_unit_test(a_branch_with_its_paths_gives_way_to_a_path_outside_it),
        cmocka_unit_test(a_path_released_at_its_end_reconverges),
        cmocka_unit_test(a_call_gives_way_and_a_return_leaves_its_own_call),
        cmocka_unit_test(lanes_that_wait_for_a_spinning_callee_can_go_on),
        cmocka_unit_test(lanes_that_wait_for_a_spinning_path_can_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
