/* Tests of the stack over several rows: its states with two rows of two lanes, and the code for one row compared with
 * the code for several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "divergence/parts/pdom.h"

enum { A = 10, B = 20, C = 30, D = 40, E = 50 };

static void expect(const struct divergence_stack *stack, uint32_t at, uint32_t pc, uint32_t reconvergence,
                   uint32_t first, uint32_t second) {
    assert_true(at < stack->depth);
    assert_int_equal(divergence_stack_at(stack, at)->pc, pc);
    assert_int_equal(divergence_stack_at(stack, at)->reconvergence, reconvergence);
    assert_int_equal(divergence_stack_at(stack, at)->mask[0], first);
    assert_int_equal(divergence_stack_at(stack, at)->mask[1], second);
}

static void reach(struct divergence_stack *stack, uint32_t pc) {
    divergence_stack_top(stack)->pc = pc;
    divergence_stack_pop_finished(stack);
}

static void start(struct divergence_stack *stack, struct exec_row rows[2]) {
    memset(rows, 0, 2 * sizeof *rows);
    rows[0].threads = rows[1].threads = 3;
    divergence_stack_start(stack, rows, 2, A);
}

/* Narasiman 2011, figure 3, its four threads in two rows of two. */
static void the_papers_example_over_two_rows(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    struct exec_row rows[2];
    static const uint32_t to_b[] = {0b11, 0b10};
    start(&stack, rows);
    assert_int_equal(stack.depth, 1);
    expect(&stack, 0, A, EXEC_NO_PC, 3, 3);
    divergence_stack_diverge(&stack, D, B, to_b, C);
    assert_int_equal(stack.depth, 3);
    expect(&stack, 0, D, EXEC_NO_PC, 3, 3);
    expect(&stack, 1, C, D, 0, 0b01);
    expect(&stack, 2, B, D, 0b11, 0b10);
    reach(&stack, D);
    assert_int_equal(stack.depth, 2);
    expect(&stack, 1, C, D, 0, 0b01);
    reach(&stack, D);
    assert_int_equal(stack.depth, 1);
    expect(&stack, 0, D, EXEC_NO_PC, 3, 3);
    divergence_stack_free(&stack);
}

static void a_divergent_loop_does_not_grow_the_stack(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    struct exec_row rows[2];
    static const uint32_t stays[][2] = {{2, 3}, {0, 3}, {0, 1}};
    start(&stack, rows);
    for (int i = 0; i < 3; i++) {
        divergence_stack_diverge(&stack, D, A, stays[i], D);
        assert_int_equal(stack.depth, 2);
        expect(&stack, 1, A, D, stays[i][0], stays[i][1]);
    }
    reach(&stack, D);
    assert_int_equal(stack.depth, 1);
    expect(&stack, 0, D, EXEC_NO_PC, 3, 3);
    divergence_stack_free(&stack);
}

static void a_waiting_path_gives_way_and_its_label_goes_with_it(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    struct exec_row rows[2];
    static const uint32_t first[] = {3, 0};
    start(&stack, rows);
    divergence_stack_diverge(&stack, D, B, first, C);
    divergence_stack_top(&stack)->is_waiting = true;
    divergence_stack_top(&stack)->label = 7;
    assert_true(divergence_stack_yield(&stack));
    expect(&stack, 2, C, D, 0, 3);
    assert_int_equal(divergence_stack_at(&stack, 1)->label, 7);
    assert_int_equal(divergence_stack_at(&stack, 2)->label, 0);
    divergence_stack_top(&stack)->is_waiting = true;
    assert_false(divergence_stack_yield(&stack));
    divergence_stack_free(&stack);
}

static void threads_that_wait_for_a_spinning_path_can_go_on(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    struct exec_row rows[2];
    static const uint32_t first[] = {3, 0};
    start(&stack, rows);
    divergence_stack_diverge(&stack, D, D, first, B);
    divergence_stack_break_join(&stack);
    assert_int_equal(stack.depth, 2);
    expect(&stack, 1, D, EXEC_NO_PC, 3, 0);
    expect(&stack, 0, B, EXEC_NO_PC, 0, 3);
    divergence_stack_free(&stack);
}

/* --- one row, and two with an empty one --- */

static uint32_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static void expect_alike(const struct divergence_stack *wide, const struct divergence_stack *narrow) {
    assert_int_equal(wide->depth, narrow->depth);
    for (uint32_t i = 0; i < wide->depth; i++) {
        const struct divergence_entry *a = divergence_stack_at(wide, i);
        const struct divergence_entry *b = divergence_stack_at(narrow, i);
        assert_int_equal(a->pc, b->pc);
        assert_int_equal(a->reconvergence, b->reconvergence);
        assert_int_equal(a->level, b->level);
        assert_int_equal(a->mask[0], b->mask[0]);
        assert_int_equal(a->mask[1], 0);
        assert_int_equal(a->is_call, b->is_call);
        assert_int_equal(a->is_path, b->is_path);
        assert_int_equal(a->is_join, b->is_join);
        assert_int_equal(a->is_waiting, b->is_waiting);
    }
}

/* One random step of both. */
static void step(struct divergence_stack *wide, struct divergence_stack *narrow, uint64_t *seed) {
    uint32_t lanes = next_random(seed) & divergence_stack_top(narrow)->mask[0], action = next_random(seed) % 8;
    uint32_t first = next_random(seed) % 6, second = next_random(seed) % 6, reconvergence = 6 + next_random(seed) % 4;
    const uint32_t both[] = {lanes, 0};
    bool is_split = lanes && lanes != divergence_stack_top(narrow)->mask[0];
    if (action <= 3 && is_split) {
        first = action == 2 ? reconvergence : first;
        second = action == 3 ? reconvergence : second;
        divergence_stack_diverge(narrow, reconvergence, first, &lanes, second);
        divergence_stack_diverge(wide, reconvergence, first, both, second);
    } else if (action == 4) {
        divergence_stack_remove(narrow, &lanes, lanes & 1);
        divergence_stack_remove(wide, both, lanes & 1);
    } else if (action == 5) {
        bool waits = next_random(seed) & 1;
        divergence_stack_top(narrow)->is_waiting = divergence_stack_top(wide)->is_waiting = waits;
        assert_int_equal(divergence_stack_yield(narrow), divergence_stack_yield(wide));
        divergence_stack_top(narrow)->is_waiting = divergence_stack_top(wide)->is_waiting = false;
    } else if (action == 6 && narrow->depth < 40) {
        divergence_stack_break_join(narrow);
        divergence_stack_break_join(wide);
    } else {
        divergence_stack_top(narrow)->pc = divergence_stack_top(wide)->pc = reconvergence;
        divergence_stack_pop_finished(narrow);
        divergence_stack_pop_finished(wide);
    }
}

static void an_empty_row_changes_nothing(void **state) {
    (void)state;
    for (uint64_t run = 0; run < 300; run++) {
        struct divergence_stack wide = {0};
        struct divergence_stack narrow = {0};
        struct exec_row rows[2] = {{.threads = 0xff}};
        uint64_t seed = run;
        divergence_stack_start(&wide, rows, 2, A);
        divergence_stack_start(&narrow, rows, 1, A);
        for (int i = 0; i < 60 && narrow.depth; i++) {
            step(&wide, &narrow, &seed);
            expect_alike(&wide, &narrow);
        }
        divergence_stack_free(&wide);
        divergence_stack_free(&narrow);
    }
}

static void a_short_loop_of_some_threads_spins_after_a_while(void **state) {
    (void)state;
    struct divergence_stack stack = {0};
    struct divergence_watch watch = {0};
    struct exec_row rows[2];
    static const uint32_t first[] = {3, 0};
    start(&stack, rows);
    for (int i = 0; i < 30000; i++)
        assert_false(divergence_stack_spins(&watch, &stack, A)); /* all threads together */
    divergence_stack_diverge(&stack, D, D, first, B);
    int n = 1;
    while (!divergence_stack_spins(&watch, &stack, B + (uint32_t)n % 8))
        n++;
    assert_in_range(n, 20000, 20002);
    for (n = 1; !divergence_stack_spins(&watch, &stack, B + (uint32_t)n % 8);)
        n++;
    assert_in_range(n, 200, 202); /* it has spun before */
    for (int i = 0; i < 30000; i++)
        assert_false(divergence_stack_spins(&watch, &stack, B + (uint32_t)i % 100)); /* a long loop */
    divergence_stack_free(&stack);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_example_over_two_rows),
        cmocka_unit_test(a_divergent_loop_does_not_grow_the_stack),
        cmocka_unit_test(a_waiting_path_gives_way_and_its_label_goes_with_it),
        cmocka_unit_test(threads_that_wait_for_a_spinning_path_can_go_on),
        cmocka_unit_test(an_empty_row_changes_nothing),
        cmocka_unit_test(a_short_loop_of_some_threads_spins_after_a_while),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
