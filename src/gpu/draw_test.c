/* Drawing sections from a sequence: everything new, and ever fewer of what comes again. */
#include "gpu/draw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const kernel = "step", *const large = "large";

static bool add(struct gpu_draw *draw, const char *name, double work, bool is_possible, struct gpu_section *section) {
    *section = (struct gpu_section){.kind = GPU_SECTION_WHOLE, .work = work};
    return gpu_draw_add(draw, name, section, is_possible);
}

/* Segment k has 2^k sections. */
static void two_sections_of_each_segment_are_drawn(void **state) {
    (void)state;
    enum { SEGMENTS = 12 };
    struct gpu_draw *draw = gpu_draw_new(2, 0, NULL, NULL);
    struct gpu_section section;
    for (uint32_t k = 0; k < SEGMENTS; k++) {
        uint32_t n_drawn = 0;
        for (uint32_t i = 0; i < UINT32_C(1) << k; i++) {
            n_drawn += add(draw, kernel, 100, true, &section);
            assert_int_equal(section.segment, k);
            assert_int_equal(section.stratum, 0);
        }
        assert_int_equal(n_drawn, k ? 2 : 1);
    }
    gpu_draw_free(draw);
}

static void another_kernel_kind_or_amount_of_work_is_another_stratum(void **state) {
    (void)state;
    struct gpu_draw *draw = gpu_draw_new(2, 0, NULL, NULL);
    struct gpu_section section;
    assert_true(add(draw, kernel, 100, true, &section));
    assert_true(add(draw, "other", 100, true, &section));
    assert_int_equal(section.stratum, 1);
    assert_true(add(draw, kernel, 300, true, &section));
    assert_int_equal(section.stratum, 2);
    add(draw, kernel, 101, true, &section);
    assert_int_equal(section.stratum, 0);
    section = (struct gpu_section){.kind = GPU_SECTION_LAST, .work = 100};
    assert_true(gpu_draw_add(draw, kernel, &section, true));
    assert_int_equal(section.stratum, 3);
    gpu_draw_free(draw);
}

/* A launch has 300 sections, and the second segment should have at most 100 of them: 64. */
static void segments_are_longer_in_a_long_launch(void **state) {
    (void)state;
    static const uint32_t size[] = {1, 64, 128, 107};
    struct gpu_draw *draw = gpu_draw_new(2, 0, NULL, NULL);
    uint32_t n[4] = {0}, n_drawn = 0;
    for (uint32_t i = 0; i < 300; i++) {
        struct gpu_section section = {.kind = GPU_SECTION_MIDDLE, .work = 100, .n_later = 299 - i};
        n_drawn += gpu_draw_add(draw, kernel, &section, true);
        n[section.segment]++;
    }
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(n[i], size[i]);
    assert_in_range(n_drawn, 1 + 3 + 3 + 1, 1 + 3 + 3 + 2);
    gpu_draw_free(draw);
}

static void one_section_of_each_half_is_drawn(void **state) {
    (void)state;
    struct gpu_draw *draw = gpu_draw_new(2, 0, NULL, NULL);
    struct gpu_section section;
    uint32_t n_drawn[2] = {0};
    for (uint32_t i = 0; i < 127; i++) {
        bool is_drawn = add(draw, kernel, 100, true, &section);
        if (i >= 63)
            n_drawn[i >= 63 + 32] += is_drawn;
    }
    assert_int_equal(n_drawn[0], 1);
    assert_int_equal(n_drawn[1], 1);
    gpu_draw_free(draw);
}

/* In the segment of 64, only the last ten can be timed. */
static void a_section_that_cannot_be_timed_leaves_its_place_to_a_later_one(void **state) {
    (void)state;
    struct gpu_draw *draw = gpu_draw_new(2, 0, NULL, NULL);
    struct gpu_section section;
    uint32_t n_drawn = 0;
    for (uint32_t i = 0; i < 63; i++)
        add(draw, kernel, 100, true, &section);
    for (uint32_t i = 0; i < 64; i++) {
        bool is_drawn = add(draw, kernel, 100, i >= 54, &section);
        assert_true(i >= 54 || !is_drawn);
        n_drawn += is_drawn;
    }
    assert_int_equal(section.segment, 6);
    assert_int_equal(n_drawn, 2);
    gpu_draw_free(draw);
}

static void what_has_hardly_any_work_is_timed_once(void **state) {
    (void)state;
    struct gpu_draw *draw = gpu_draw_new(2, 0, NULL, NULL);
    struct gpu_section section;
    uint32_t n_drawn = 0;
    for (uint32_t i = 0; i < 100; i++) {
        add(draw, kernel, 1e6, true, &section);
        n_drawn += add(draw, "small", 10, true, &section);
    }
    assert_int_equal(n_drawn, 1);
    gpu_draw_free(draw);
}

/* Each of 64 equal sections is drawn about as often, over many draws. */
static void sections_of_a_segment_are_drawn_alike(void **state) {
    (void)state;
    enum { STRATA = 400, BEFORE = 63, SIZE = 64 };
    uint32_t n_drawn[SIZE] = {0};
    struct gpu_draw *draw = gpu_draw_new(2, 0, NULL, NULL);
    struct gpu_section section;
    static const char names[STRATA];
    for (uint32_t k = 0; k < STRATA; k++)
        for (uint32_t i = 0; i < BEFORE + SIZE; i++) {
            bool is_drawn = add(draw, &names[k], 100, true, &section);
            if (section.segment == 6)
                n_drawn[i - BEFORE] += is_drawn;
        }
    for (uint32_t i = 0; i < SIZE; i++) /* 12.5 on average */
        assert_in_range(n_drawn[i], 2, 30);
    gpu_draw_free(draw);
}

/* Copies of the process are made for the sections that are expected to be drawn. Two kernels take turns. */
static void the_draw_knows_what_it_will_draw(void **state) {
    (void)state;
    struct gpu_draw *draw = gpu_draw_new(3, 0, NULL, NULL);
    struct gpu_section section;
    bool is_expected[2][1000] = {{false}};
    assert_true(gpu_draw_expects(draw, kernel, GPU_SECTION_WHOLE, 100, 0));
    for (uint32_t i = 0; i + 5 < 1000; i++)
        for (uint32_t k = 0; k < 2; k++) {
            const char *name = k ? "other" : kernel;
            if (i) {
                assert_int_equal(gpu_draw_expects(draw, name, GPU_SECTION_WHOLE, 100, 0), is_expected[k][i]);
                is_expected[k][i + 5] = gpu_draw_expects(draw, name, GPU_SECTION_WHOLE, 100, 5);
            }
            bool is_drawn = add(draw, name, 100, true, &section);
            assert_true(i < 6 || is_drawn == is_expected[k][i]);
            for (uint32_t n = 1; i < 5 && n <= 5; n++)
                is_expected[k][i + n] = gpu_draw_expects(draw, name, GPU_SECTION_WHOLE, 100, n - 1);
        }
    gpu_draw_free(draw);
}

static struct gpu_deviation deviation(void *user, const char *name, enum gpu_section_kind kind) {
    (void)kind;
    struct gpu_deviation own = *(struct gpu_deviation *)user;
    own.relative = name == kernel ? own.relative : 0;
    return own;
}

/* A tenth of the work deviates. Returns how many sections of it, and of the rest, are drawn of 511 to know the sum
 * within 1 %. */
static void draw_two(struct gpu_deviation user, uint32_t n_drawn[2]) {
    struct gpu_draw *draw = gpu_draw_new(2, 0.01, deviation, &user);
    struct gpu_section section;
    n_drawn[0] = n_drawn[1] = 0;
    for (uint32_t i = 0; i < 511; i++) {
        bool is_expected = gpu_draw_expects(draw, kernel, GPU_SECTION_WHOLE, 100, 0);
        bool is_drawn = add(draw, kernel, 100, true, &section);
        assert_true(is_drawn == is_expected);
        n_drawn[0] += is_drawn;
        n_drawn[1] += add(draw, large, 900, true, &section);
    }
    gpu_draw_free(draw);
}

/* By 20 %, with t = 2: 2^2 * 0.1^2 * 0.2^2 / 0.01^2 = 16. The last five segments are drawn from twice in any case. The
 * rest does not deviate at all. */
static void more_is_drawn_where_sections_deviate(void **state) {
    (void)state;
    uint32_t n_drawn[2];
    draw_two((struct gpu_deviation){.relative = 0.2, .freedom = 100}, n_drawn);
    assert_in_range(n_drawn[0], 16, 16 + 10);
    assert_int_equal(n_drawn[1], 1 + 8);
}

/* 2^2 * 0.1^2 * r^2 / 0.01^2 is a twentieth of a draw if r is 1.118 %. With one degree of freedom t is 6. */
static void one_section_of_each_segment_is_drawn_where_they_hardly_deviate(void **state) {
    (void)state;
    uint32_t n_drawn[2];
    draw_two((struct gpu_deviation){.relative = 0.0111, .freedom = 1e9}, n_drawn);
    assert_int_equal(n_drawn[0], 1 + 8);
    draw_two((struct gpu_deviation){.relative = 0.0113, .freedom = 1e9}, n_drawn);
    assert_int_equal(n_drawn[0], 1 + 8 * 2);
    draw_two((struct gpu_deviation){.relative = 0.0001, .freedom = 1}, n_drawn);
    assert_int_equal(n_drawn[0], 1 + 8 * 2);
}

/* Segments of 1, 64, 128 and 107 sections. */
static void long_launches_are_drawn_from_alike_if_sections_hardly_deviate(void **state) {
    (void)state;
    struct gpu_deviation user = {.relative = 0.0001, .freedom = 100};
    struct gpu_draw *draw = gpu_draw_new(2, 0.01, deviation, &user);
    uint32_t n_drawn = 0;
    for (uint32_t i = 0; i < 300; i++) {
        struct gpu_section section = {.kind = GPU_SECTION_MIDDLE, .work = 100, .n_later = 299 - i};
        n_drawn += gpu_draw_add(draw, kernel, &section, true);
    }
    assert_in_range(n_drawn, 1 + 3 + 3 + 1, 1 + 3 + 3 + 3);
    gpu_draw_free(draw);
}

/* The draws of earlier segments count as (0.2 / 0.1)^2 = 4 at most. */
static void more_is_drawn_if_segments_drift(void **state) {
    (void)state;
    uint32_t n_drawn[2];
    draw_two((struct gpu_deviation){.relative = 0.2, .drift = 0.1, .freedom = 100}, n_drawn);
    assert_in_range(n_drawn[0], 15 + 5 * 12, 15 + 5 * 15);
}

/* All sections would be needed, if one difference told the truth. */
static void little_is_drawn_while_hardly_anything_is_known(void **state) {
    (void)state;
    uint32_t n_drawn[2];
    draw_two((struct gpu_deviation){.relative = 2, .freedom = 1}, n_drawn);
    assert_in_range(n_drawn[0], (16 + 32 + 64 + 128 + 256) / 4, 7 + 4 + (16 + 32 + 64 + 128 + 256) / 4);
}

static void a_section_that_is_timed_already_stands_for_itself(void **state) {
    (void)state;
    struct gpu_draw *draw = gpu_draw_new(2, 0, NULL, NULL);
    struct gpu_section section = {.kind = GPU_SECTION_NEW, .work = 100};
    gpu_draw_add_timed(draw, &section);
    assert_int_equal(section.stratum, 0);
    assert_true(add(draw, kernel, 100, true, &section));
    assert_int_equal(section.stratum, 1);
    gpu_draw_free(draw);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_sections_of_each_segment_are_drawn),
        cmocka_unit_test(another_kernel_kind_or_amount_of_work_is_another_stratum),
        cmocka_unit_test(segments_are_longer_in_a_long_launch),
        cmocka_unit_test(one_section_of_each_half_is_drawn),
        cmocka_unit_test(a_section_that_cannot_be_timed_leaves_its_place_to_a_later_one),
        cmocka_unit_test(what_has_hardly_any_work_is_timed_once),
        cmocka_unit_test(sections_of_a_segment_are_drawn_alike),
        cmocka_unit_test(the_draw_knows_what_it_will_draw),
        cmocka_unit_test(more_is_drawn_where_sections_deviate),
        cmocka_unit_test(one_section_of_each_segment_is_drawn_where_they_hardly_deviate),
        cmocka_unit_test(long_launches_are_drawn_from_alike_if_sections_hardly_deviate),
        cmocka_unit_test(more_is_drawn_if_segments_drift),
        cmocka_unit_test(little_is_drawn_while_hardly_anything_is_known),
        cmocka_unit_test(a_section_that_is_timed_already_stands_for_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
