/* Paths and convergence barriers of one warp, with regions written by hand: 32 pcs, no loops unless a test adds one. */
#include "divergence/convergence/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { N_PCS = 32, ALL = 0b11111111 };

struct warp {
    struct exec_loop loop[2];
    uint32_t loop_of[N_PCS], meeting[N_PCS], gathering[N_PCS];
    struct exec_regions regions;
    struct exec_row row;
    struct divergence_paths paths;
};

/* A warp of eight lanes at pc 0. The branch at `branch` meets at `meeting`. */
static void start(struct warp *w, uint32_t branch, uint32_t meeting) {
    memset(w, 0, sizeof *w);
    for (uint32_t pc = 0; pc < N_PCS; pc++) {
        w->loop_of[pc] = EXEC_NO_LOOP;
        w->meeting[pc] = EXEC_NO_PC;
    }
    w->meeting[branch] = meeting;
    w->regions = (struct exec_regions){.loop = w->loop, .loop_of = w->loop_of, .meeting = w->meeting};
    w->row = (struct exec_row){.threads = ALL, .live = ALL};
    divergence_paths_start(&w->paths, &w->regions, &w->row, 0);
}

/* Lanes of `taken` go to `target`, the others to pc + 1. */
static void branch(struct warp *w, uint32_t pc, uint32_t taken, uint32_t target) {
    uint32_t next[EXEC_LANES];
    for (uint32_t l = 0; l < EXEC_LANES; l++)
        next[l] = taken >> l & 1 ? target : pc + 1;
    divergence_paths_diverge(&w->paths, pc, next);
}

/* The path with the highest number runs. */
static void expect_path(const struct warp *w, uint32_t i, uint32_t pc, uint32_t mask) {
    assert_true(i < w->paths.n_paths);
    assert_int_equal(w->paths.path[i].pc, pc);
    assert_int_equal(w->paths.path[i].mask, mask);
}

static uint32_t stop_of_top(struct warp *w) {
    return divergence_paths_next_stop(&w->paths, divergence_paths_top(&w->paths));
}

static uint32_t n_barriers(const struct warp *w) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->paths.capacity; i++)
        n += w->paths.join[i].is_used;
    return n;
}

/* --- branches --- */

static void two_sides_meet_at_their_barrier(void **state) {
    (void)state;
    struct warp w;
    start(&w, 2, 10);
    branch(&w, 2, 0b00000111, 6);
    assert_int_equal(w.paths.n_paths, 2);
    expect_path(&w, 0, 3, 0b11111000);
    expect_path(&w, 1, 6, 0b00000111); /* the taken side runs first */
    assert_int_equal(stop_of_top(&w), 10);
    divergence_paths_reach(&w.paths, 10);
    assert_int_equal(w.paths.n_paths, 1);
    expect_path(&w, 0, 3, 0b11111000); /* the others wait at the barrier */
    assert_int_equal(w.paths.n_reconverged, 0);
    divergence_paths_reach(&w.paths, 10);
    assert_int_equal(w.paths.n_paths, 1);
    expect_path(&w, 0, 10, ALL);
    assert_int_equal(w.paths.path[0].n_arrived, 1); /* one path waited */
    assert_int_equal(w.paths.n_reconverged, 1);
    assert_int_equal(stop_of_top(&w), EXEC_NO_PC);
    assert_int_equal(n_barriers(&w), 0);
    divergence_paths_free(&w.paths);
}

/* if without else: the lanes that skip it arrive at once. */
static void a_side_that_is_at_the_barrier_arrives_at_once(void **state) {
    (void)state;
    struct warp w;
    start(&w, 2, 10);
    branch(&w, 2, 0b00000111, 10);
    assert_int_equal(w.paths.n_paths, 1);
    expect_path(&w, 0, 3, 0b11111000);
    divergence_paths_reach(&w.paths, 10);
    expect_path(&w, 0, 10, ALL);
    divergence_paths_free(&w.paths);
}

/* A second branch with the same meeting point needs no barrier of its own, unless `nests`: then its two sides meet
 * there before they meet the others. */
static void a_nested_branch_with_the_same_meeting_point(void **state) {
    (void)state;
    for (unsigned nests = 0; nests < 2; nests++) {
        struct warp w;
        start(&w, 2, 10);
        w.meeting[6] = 10;
        w.paths.nests = nests;
        branch(&w, 2, 0b00001111, 6);
        branch(&w, 6, 0b00000011, 8);
        assert_int_equal(n_barriers(&w), 1 + nests);
        expect_path(&w, 2, 8, 0b00000011);
        expect_path(&w, 1, 7, 0b00001100);
        divergence_paths_reach(&w.paths, 10);
        divergence_paths_reach(&w.paths, 10);
        assert_int_equal(w.paths.n_reconverged, nests);
        expect_path(&w, 0, 3, 0b11110000);
        divergence_paths_reach(&w.paths, 10);
        assert_int_equal(w.paths.n_reconverged, 1 + nests);
        expect_path(&w, 0, 10, ALL);
        divergence_paths_free(&w.paths);
    }
}

static void lanes_that_end_are_not_waited_for(void **state) {
    (void)state;
    struct warp w;
    start(&w, 2, 10);
    branch(&w, 2, 0b00000111, 6);
    divergence_paths_reach(&w.paths, 10);
    w.row.live = 0b00001111;
    divergence_paths_end(&w.paths, 3, 0b11110000); /* lane 3 continues */
    assert_int_equal(w.paths.n_paths, 1);
    expect_path(&w, 0, 4, 0b00001000);
    w.row.live = 0b00000111;
    divergence_paths_end(&w.paths, 4, 0b00001000); /* the last one that was waited for */
    expect_path(&w, 0, 10, 0b00000111);
    divergence_paths_free(&w.paths);
}

/* --- loops --- */

/* A loop of pcs 2 to 7 that is left to 8. Lanes that leave it wait there for those that stay, iteration by iteration.
 */
static void lanes_that_leave_a_loop_wait_after_it(void **state) {
    (void)state;
    struct warp w;
    start(&w, 5, EXEC_NO_PC);
    w.loop[0] = (struct exec_loop){.parent = EXEC_NO_LOOP, .header = 2, .meeting = 8};
    for (uint32_t pc = 2; pc < 8; pc++)
        w.loop_of[pc] = 0;
    branch(&w, 5, 0b00000001, 8);
    assert_int_equal(w.paths.n_paths, 1);
    expect_path(&w, 0, 6, 0b11111110);
    divergence_paths_go(&w.paths, 7, 2);
    branch(&w, 5, 0b00000010, 8);
    expect_path(&w, 0, 6, 0b11111100);
    assert_int_equal(n_barriers(&w), 1); /* one for all iterations */
    divergence_paths_go(&w.paths, 7, 2);
    branch(&w, 5, 0b11111100, 8);
    assert_int_equal(w.paths.n_paths, 1);
    expect_path(&w, 0, 8, ALL);
    assert_int_equal(n_barriers(&w), 0);
    divergence_paths_free(&w.paths);
}

/* A branch inside the loop meets at 7. Lane 0 leaves the loop from one of its sides, and so this barrier too: the other
 * side does not wait for it there. */
static void lanes_that_leave_a_loop_leave_its_barriers(void **state) {
    (void)state;
    struct warp w;
    start(&w, 2, 7);
    w.loop[0] = (struct exec_loop){.parent = EXEC_NO_LOOP, .header = 2, .meeting = 8};
    for (uint32_t pc = 2; pc < 8; pc++)
        w.loop_of[pc] = 0;
    branch(&w, 2, 0b00000011, 5);
    branch(&w, 5, 0b00000001, 8);
    assert_int_equal(n_barriers(&w), 2);
    expect_path(&w, 1, 6, 0b00000010);
    divergence_paths_reach(&w.paths, 7);
    divergence_paths_reach(&w.paths, 7);
    expect_path(&w, 0, 7, 0b11111110);
    assert_int_equal(w.paths.n_reconverged, 1);
    divergence_paths_go(&w.paths, 7, 8);
    expect_path(&w, 0, 8, ALL);
    divergence_paths_free(&w.paths);
}

/* --- calls --- */

static void callers_meet_at_their_return(void **state) {
    (void)state;
    struct warp w;
    uint32_t next[EXEC_LANES], back[EXEC_LANES];
    start(&w, 21, 25);
    for (uint32_t l = 0; l < EXEC_LANES; l++) {
        next[l] = 20;
        back[l] = 4;
    }
    divergence_paths_call(&w.paths, 3, 0b00001111, next);
    assert_int_equal(w.paths.n_paths, 1);
    expect_path(&w, 0, 20, 0b00001111);
    assert_int_equal(stop_of_top(&w), EXEC_NO_PC); /* a call ends by its return, not by a pc */
    assert_true(divergence_paths_are_one(&w.paths));
    divergence_paths_return(&w.paths, 21, 0b00000011, back);
    expect_path(&w, 0, 22, 0b00001100);
    divergence_paths_return(&w.paths, 22, 0b00001100, back);
    assert_int_equal(w.paths.n_paths, 1);
    expect_path(&w, 0, 4, ALL);
    assert_int_equal(w.paths.n_reconverged, 0); /* a return is no reconvergence */
    divergence_paths_free(&w.paths);
}

/* Half of the callee's lanes return from inside a branch: they leave its barrier. */
static void a_return_leaves_the_barriers_of_the_function(void **state) {
    (void)state;
    struct warp w;
    uint32_t next[EXEC_LANES], back[EXEC_LANES];
    start(&w, 21, 25);
    for (uint32_t l = 0; l < EXEC_LANES; l++) {
        next[l] = 20;
        back[l] = 4;
    }
    divergence_paths_call(&w.paths, 3, ALL, next);
    branch(&w, 21, 0b00001111, 24);
    divergence_paths_return(&w.paths, 24, 0b00001111, back);
    expect_path(&w, 0, 22, 0b11110000);
    divergence_paths_reach(&w.paths, 25);
    expect_path(&w, 0, 25, 0b11110000);
    divergence_paths_return(&w.paths, 26, 0b11110000, back);
    assert_int_equal(w.paths.n_paths, 1);
    expect_path(&w, 0, 4, ALL);
    assert_int_equal(n_barriers(&w), 0);
    divergence_paths_free(&w.paths);
}

/* --- progress --- */

/* Lanes 0 to 2 have arrived at 10. The others wait for the block. Nothing can run, so the lanes at 10 continue alone.
 */
static void lanes_go_on_if_those_they_wait_for_are_blocked(void **state) {
    (void)state;
    struct warp w;
    start(&w, 2, 10);
    branch(&w, 2, 0b00000111, 6);
    divergence_paths_reach(&w.paths, 10);
    divergence_paths_wait(&w.paths, 4, 0b11111000);
    assert_true(divergence_paths_select(&w.paths));
    expect_path(&w, 1, 10, 0b00000111);
    assert_int_equal(w.paths.n_reconverged, 0);
    /* now all wait: nothing is left to release */
    divergence_paths_wait(&w.paths, 11, 0b00000111);
    assert_false(divergence_paths_select(&w.paths));
    divergence_paths_release(&w.paths, 0b11111000, 5);
    assert_true(divergence_paths_select(&w.paths));
    expect_path(&w, 1, 5, 0b11111000);
    divergence_paths_free(&w.paths);
}

static void a_path_that_yields_lets_another_run(void **state) {
    (void)state;
    struct warp w;
    start(&w, 2, 10);
    branch(&w, 2, 0b00000111, 6);
    assert_true(divergence_paths_yield(&w.paths));
    expect_path(&w, 1, 3, 0b11111000);
    divergence_paths_reach(&w.paths, 10);
    expect_path(&w, 0, 6, 0b00000111);
    assert_true(divergence_paths_yield(&w.paths)); /* no other path: those at the barrier continue without it */
    assert_int_equal(w.paths.n_paths, 2);
    expect_path(&w, 1, 10, 0b11111000);
    assert_int_equal(n_barriers(&w), 1);
    divergence_paths_switch(&w.paths, 10, 0);
    divergence_paths_reach(&w.paths, 10); /* the barrier awaits no others */
    expect_path(&w, 1, 10, 0b00000111);
    assert_int_equal(n_barriers(&w), 0);
    divergence_paths_free(&w.paths);
}

static void only_lanes_that_wait_are_released(void **state) {
    (void)state;
    struct warp w;
    start(&w, 2, 10);
    branch(&w, 2, 0b00000111, 6);
    divergence_paths_wait(&w.paths, 8, 0b00000101); /* lane 1 continues */
    expect_path(&w, 2, 9, 0b00000010);
    expect_path(&w, 1, 9, 0b00000101);
    divergence_paths_release(&w.paths, 0b00000011, 9); /* lane 1 did not wait */
    assert_int_equal(w.paths.n_paths, 4);
    expect_path(&w, 1, 9, 0b00000100);
    expect_path(&w, 2, 9, 0b00000010);
    expect_path(&w, 3, 9, 0b00000001);
    divergence_paths_free(&w.paths);
}

/* --- accesses of a whole row --- */

/* pc 12 needs all live lanes, and the branch at 2 meets after it, at 14. */
static void paths_gather_for_an_access_of_the_row(void **state) {
    (void)state;
    struct warp w;
    start(&w, 2, 14);
    for (uint32_t pc = 0; pc < N_PCS; pc++)
        w.gathering[pc] = pc <= 12 ? 12 : EXEC_NO_PC;
    w.regions.next_gathering = w.gathering;
    branch(&w, 2, 0b00000111, 6);
    assert_int_equal(stop_of_top(&w), 12);
    divergence_paths_reach(&w.paths, 12);
    assert_int_equal(w.paths.n_paths, 2);
    assert_true(divergence_paths_select(&w.paths));
    expect_path(&w, 1, 3, 0b11111000);
    divergence_paths_reach(&w.paths, 12);
    assert_int_equal(w.paths.n_paths, 1);
    expect_path(&w, 0, 12, ALL);
    assert_int_equal(stop_of_top(&w), 14); /* they are still in the barrier that they have in common */
    divergence_paths_free(&w.paths);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_sides_meet_at_their_barrier),
        cmocka_unit_test(a_side_that_is_at_the_barrier_arrives_at_once),
        cmocka_unit_test(a_nested_branch_with_the_same_meeting_point),
        cmocka_unit_test(lanes_that_end_are_not_waited_for),
        cmocka_unit_test(lanes_that_leave_a_loop_wait_after_it),
        cmocka_unit_test(lanes_that_leave_a_loop_leave_its_barriers),
        cmocka_unit_test(callers_meet_at_their_return),
        cmocka_unit_test(a_return_leaves_the_barriers_of_the_function),
        cmocka_unit_test(lanes_go_on_if_those_they_wait_for_are_blocked),
        cmocka_unit_test(a_path_that_yields_lets_another_run),
        cmocka_unit_test(only_lanes_that_wait_are_released),
        cmocka_unit_test(paths_gather_for_an_access_of_the_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
