/* Tests of sub-warps, thread by thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "divergence/parts/packing.h"

enum { NOBODY = -1, N_ROWS = 8, N_COLUMNS = 4 };

static void expect(const struct divergence_packing *packing, const int row[N_COLUMNS]) {
    for (uint32_t column = 0; column < N_COLUMNS; column++) {
        assert_int_equal(packing->mask >> column & 1, row[column] != NOBODY);
        if (row[column] != NOBODY) {
            assert_int_equal(packing->row[column], row[column]);
            assert_int_equal(packing->lane[column], column);
        }
    }
    assert_int_equal(packing->mask >> N_COLUMNS, 0);
}

/* Narasiman 2011, figure 7: active columns of rows 0 to 7. */
static const uint32_t figure_7[N_ROWS] = {0b1001, 0b0101, 0b1110, 0b0010, 0b0110, 0b1100, 0b0001, 0b0011};

static void the_papers_mask_gives_the_papers_sub_warps(void **state) {
    (void)state;
    static const int expected[][N_COLUMNS] = {{0, 2, 1, 0}, {1, 3, 2, 2}, {6, 4, 4, 5}, {7, 7, 5, NOBODY}};
    uint32_t left[N_ROWS];
    struct divergence_packing packing;
    for (int i = 0; i < N_ROWS; i++)
        left[i] = figure_7[i];
    for (int i = 0; i < 4; i++) {
        divergence_pack_columns(left, NULL, N_ROWS, &packing);
        expect(&packing, expected[i]);
        assert_false(packing.is_row);
    }
    for (int i = 0; i < N_ROWS; i++)
        assert_int_equal(left[i], 0);
}

static void threads_in_flight_stay_for_later(void **state) {
    (void)state;
    static const uint32_t in_flight[N_ROWS] = {0b0001, 0, 0b0110, 0, 0b0110};
    static const int first[] = {1, 3, 1, 0}, second[] = {6, 7, 5, 2};
    uint32_t left[N_ROWS];
    struct divergence_packing packing;
    for (int i = 0; i < N_ROWS; i++)
        left[i] = figure_7[i];
    divergence_pack_columns(left, in_flight, N_ROWS, &packing);
    expect(&packing, first);
    divergence_pack_columns(left, in_flight, N_ROWS, &packing);
    expect(&packing, second);
    assert_int_equal(left[0], 0b0001);
    assert_int_equal(left[2], 0b0110);
}

static void threads_of_one_row_are_a_row(void **state) {
    (void)state;
    uint32_t full[2] = {~0u, 0x0f}, part[3] = {0, 0x8001, 0};
    struct divergence_packing packing;
    divergence_pack_columns(full, NULL, 2, &packing);
    assert_true(packing.is_row && packing.mask == ~0u && packing.row[0] == 0);
    divergence_pack_columns(full, NULL, 2, &packing);
    assert_true(packing.is_row && packing.mask == 0x0f && packing.row[0] == 1);
    divergence_pack_columns(part, NULL, 3, &packing);
    assert_true(packing.is_row && packing.mask == 0x8001 && packing.row[0] == 1);
}

/* 16 threads in lanes of 4: with columns 4 sub-warps, the fullest column having 4; here too, but all of them full. */
static void without_columns_sub_warps_are_full(void **state) {
    (void)state;
    static const uint8_t row[][N_COLUMNS] = {{0, 0, 1, 1}, {2, 2, 2, 3}, {4, 4, 5, 5}, {6, 7, 7, 0}};
    static const uint8_t lane[][N_COLUMNS] = {{0, 3, 0, 2}, {1, 2, 3, 1}, {1, 2, 2, 3}, {0, 0, 1, 0}};
    uint32_t left[N_ROWS];
    struct divergence_packing packing;
    for (int i = 0; i < N_ROWS; i++)
        left[i] = figure_7[i];
    for (uint32_t i = 0; i < 4; i++) {
        divergence_pack_any(left, NULL, N_ROWS, N_COLUMNS, &packing);
        assert_int_equal(packing.mask, i < 3 ? 0b1111 : 0b0111);
        for (uint32_t column = 0; column < (i < 3 ? 4u : 3u); column++) {
            assert_int_equal(packing.row[column], row[i][column]);
            assert_int_equal(packing.lane[column], lane[i][column]);
        }
    }
    divergence_pack_any(left, NULL, N_ROWS, N_COLUMNS, &packing);
    assert_int_equal(packing.mask, 0);
}

static void a_column_that_all_use_gains_by_a_perfect_register_file(void **state) {
    (void)state;
    uint32_t columns[4] = {1, 1, 1, 1}, any[4] = {1, 1, 1, 1};
    struct divergence_packing packing;
    for (uint32_t i = 0; i < 4; i++) {
        divergence_pack_columns(columns, NULL, 4, &packing);
        assert_int_equal(packing.mask, 1);
        assert_int_equal(packing.row[0], i);
    }
    divergence_pack_any(any, NULL, 4, 32, &packing);
    assert_int_equal(packing.mask, 0b1111);
    assert_false(packing.is_row);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_mask_gives_the_papers_sub_warps),
        cmocka_unit_test(threads_in_flight_stay_for_later),
        cmocka_unit_test(threads_of_one_row_are_a_row),
        cmocka_unit_test(without_columns_sub_warps_are_full),
        cmocka_unit_test(a_column_that_all_use_gains_by_a_perfect_register_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
