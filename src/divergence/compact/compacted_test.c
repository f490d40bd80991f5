/* Tests of compacted warps: the place of each thread after each arrangement. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "divergence/compact/compacted.h"

/* These lanes of three rows will run:
 *     row 0   0 1 . .
 *     row 1   . . 2 3
 *     row 2   0 . 2 . */
enum { N_ROWS = 3, N_LANES = 4 };
static const uint32_t mask[N_ROWS] = {0x3, 0xc, 0x5};
static struct exec_row rows[N_ROWS];
static struct divergence_compacted compacted[N_ROWS];

/* The warp has these threads by lane, each row * 10 + lane; -1: none. */
static void expect(const struct divergence_compacted *warp, const int thread[N_LANES]) {
    for (uint32_t lane = 0; lane < N_LANES; lane++) {
        assert_int_equal(warp->mask >> lane & 1, thread[lane] >= 0);
        if (thread[lane] < 0)
            continue;
        assert_int_equal(warp->row[lane], thread[lane] / 10);
        assert_ptr_equal(warp->threads.row[lane], &rows[thread[lane] / 10]);
        assert_int_equal(warp->threads.lane[lane], thread[lane] % 10);
    }
    assert_int_equal(warp->pc, 7);
}

#define EXPECT(warp, ...) expect(warp, (const int[N_LANES]){__VA_ARGS__})

static uint32_t form(enum divergence_arrangement arrangement) {
    return divergence_compacted_form(compacted, rows, mask, N_ROWS, 7, arrangement, N_LANES);
}

static void in_rows_each_row_is_a_warp(void **state) {
    (void)state;
    assert_int_equal(form(DIVERGENCE_IN_ROWS), 3);
    EXPECT(&compacted[0], 0, 1, -1, -1);
    EXPECT(&compacted[1], -1, -1, 12, 13);
    EXPECT(&compacted[2], 20, -1, 22, -1);
    assert_false(divergence_compacted_splits_rows(compacted, 3, mask));
}

static void in_columns_threads_keep_their_lanes(void **state) {
    (void)state;
    assert_int_equal(form(DIVERGENCE_IN_COLUMNS), 2);
    EXPECT(&compacted[0], 0, 1, 12, 13);
    EXPECT(&compacted[1], 20, -1, 22, -1);
    assert_false(compacted[0].is_crossed);
    assert_false(divergence_compacted_splits_rows(compacted, 2, mask));
}

static void rows_are_split_where_their_threads_are_in_two_warps(void **state) {
    (void)state;
    const uint32_t full[N_ROWS] = {0x1, 0xf, 0x0};
    assert_int_equal(divergence_compacted_form(compacted, rows, full, N_ROWS, 7, DIVERGENCE_IN_COLUMNS, N_LANES), 2);
    EXPECT(&compacted[0], 0, 11, 12, 13);
    EXPECT(&compacted[1], 10, -1, -1, -1);
    assert_true(divergence_compacted_splits_rows(compacted, 2, full));
}

static void in_order_all_warps_but_the_last_are_full(void **state) {
    (void)state;
    assert_int_equal(form(DIVERGENCE_IN_ORDER), 2);
    assert_int_equal(compacted[0].mask, 0xf);
    assert_int_equal(__builtin_popcount(compacted[1].mask), 2);
    uint32_t found[N_ROWS] = {0};
    for (unsigned i = 0; i < 2; i++)
        divergence_compacted_add(&compacted[i], compacted[i].mask, found);
    assert_memory_equal(found, mask, sizeof found); /* every thread once, whatever its lane */
}

static void a_crossed_warp_splits_the_rows_of_its_threads(void **state) {
    (void)state;
    const uint32_t column[N_ROWS] = {0x1, 0x1, 0x1}; /* threads of lane 0 */
    assert_int_equal(divergence_compacted_form(compacted, rows, column, N_ROWS, 7, DIVERGENCE_IN_ORDER, N_LANES), 1);
    assert_true(compacted[0].is_crossed);
    assert_int_equal(__builtin_popcount(compacted[0].mask), 3);
    assert_true(divergence_compacted_splits_rows(compacted, 1, column));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_rows_each_row_is_a_warp),
        cmocka_unit_test(in_columns_threads_keep_their_lanes),
        cmocka_unit_test(rows_are_split_where_their_threads_are_in_two_warps),
        cmocka_unit_test(in_order_all_warps_but_the_last_are_full),
        cmocka_unit_test(a_crossed_warp_splits_the_rows_of_its_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
