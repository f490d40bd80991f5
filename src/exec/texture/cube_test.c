/* Tests of the edges of cubes and of the levels of derivatives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "exec/texture/texture.h"

enum { SIZE = 4 };

struct texel {
    uint32_t face;
    int64_t x, y;
};

static struct texel across(struct texel from, int dx, int dy) {
    struct texel to = {from.face, from.x + dx, from.y + dy};
    to.face = exec_cube_neighbour(from.face, SIZE, &to.x, &to.y);
    return to;
}

static bool is_outside(int64_t number) { return number < 0 || number >= SIZE; }

static bool leads_back(struct texel there, struct texel here) {
    static const int step[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    for (unsigned i = 0; i < 4; i++) {
        if (!is_outside(there.x + step[i][0]) && !is_outside(there.y + step[i][1]))
            continue;
        struct texel back = across(there, step[i][0], step[i][1]);
        if (back.face == here.face && back.x == here.x && back.y == here.y)
            return true;
    }
    return false;
}

static void a_texel_beyond_an_edge_has_this_one_beyond_its_own(void **state) {
    (void)state;
    for (uint32_t face = 0; face < 6; face++)
        for (int64_t i = 0; i < SIZE; i++) {
            const struct texel edge[4] = {{face, 0, i}, {face, SIZE - 1, i}, {face, i, 0}, {face, i, SIZE - 1}};
            static const int step[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
            for (unsigned k = 0; k < 4; k++) {
                struct texel there = across(edge[k], step[k][0], step[k][1]);
                assert_int_not_equal(there.face / 2, face / 2);
                assert_false(is_outside(there.x) || is_outside(there.y));
                assert_true(leads_back(there, edge[k]));
            }
        }
}

/* Face 0 looks along x: s is -z and t is -y. Above its left upper texel is face 2, whose s is x and t is z. */
static void faces_meet_as_in_the_programming_guide(void **state) {
    (void)state;
    struct texel above = across((struct texel){0, 0, 0}, 0, -1), left = across((struct texel){0, 0, 1}, -1, 0);
    assert_int_equal(above.face, 2);
    assert_int_equal(above.x, SIZE - 1);
    assert_int_equal(above.y, SIZE - 1);
    assert_int_equal(left.face, 4);
    assert_int_equal(left.x, SIZE - 1);
    assert_int_equal(left.y, 1);
}

static float level(const float by_x[3], const float by_y[3]) {
    const struct exec_texture t = {.width = 256, .height = 256, .depth = 256};
    return exec_level_of_slopes(&t, 3, by_x, by_y);
}

static void the_longer_derivative_or_the_diagonal_counts(void **state) {
    (void)state;
    const float none[3] = {0}, x[3] = {8}, y[3] = {0, 4}, along_x[3] = {8};
    assert_true(level(x, none) == 3);
    assert_true(level(x, y) == 3);
    assert_true(level(x, along_x) == 3 + level((const float[3]){11.0f / 8}, none)); /* 11/16 of 16 */
    assert_true(level(none, none) < -32);
}

static void lengths_are_weighted_sums(void **state) {
    (void)state;
    const float none[3] = {0}, diagonal[3] = {32, -32, 32};
    assert_true(level(diagonal, none) == level((const float[3]){32 + 11 + 8}, none));
}

static void derivatives_of_directions_go_around_edges(void **state) {
    (void)state;
    const struct exec_texture t = {.width = 256, .height = 256};
    const float none[3] = {0};
    /* from x = 3/4 on the face of z to z = 3/4 on that of x: half a face, 64 texels */
    const float direction[3] = {0.75f, 0, 1}, around[3] = {0.25f, 0, -0.25f}, inside[3] = {-0.5f};
    assert_true(exec_level_of_directions(&t, direction, around, none) == 6);
    assert_true(exec_level_of_directions(&t, direction, inside, none) == 6);
    assert_true(exec_level_of_directions(&t, none, none, none) == 0); /* no direction at all */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_texel_beyond_an_edge_has_this_one_beyond_its_own),
        cmocka_unit_test(faces_meet_as_in_the_programming_guide),
        cmocka_unit_test(the_longer_derivative_or_the_diagonal_counts),
        cmocka_unit_test(lengths_are_weighted_sums),
        cmocka_unit_test(derivatives_of_directions_go_around_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
