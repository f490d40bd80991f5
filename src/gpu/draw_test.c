/* Drawing sections from a sequence: everything new, and ever fewer of what comes again. */
#include "gpu/draw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const kernel = "step";

static bool add(struct gpu_draw *draw, const char *name, double work, bool is_possible, struct gpu_section *section) {
    *section = (struct gpu_section){.kind = GPU_SECTION_WHOLE, .work = work};
    return gpu_draw_add(draw, name, section, is_possible);
}

/* Segment k has 2^k sections. */
static void two_sections_of_each_segment_are_drawn(void **state) {
    (void)state;
    enum { SEGMENTS = 12 };
    struct gpu_draw *draw = gpu_draw_new(2);
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
    struct gpu_draw *draw = gpu_draw_new(2);
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

static void one_section_of_each_half_is_drawn(void **state) {
    (void)state;
    struct gpu_draw *draw = gpu_draw_new(2);
    struct gpu_section section;
    uint32_t n_drawn[2] = {0};
    for (uint32_t i = 0; i < 127; i++) {
        bool is_drawn = add(draw, kernel, 100, true, &section);
        if (i >= 63)
            n_drawn[i >= 95] += is_drawn;
    }
    assert_int_equal(n_drawn[0], 1);
    assert_int_equal(n_drawn[1], 1);
    gpu_draw_free(draw);
}

/* In the segment of 64, only the last ten can be timed. */
static void a_section_that_cannot_be_timed_leaves_its_place_to_a_later_one(void **state) {
    (void)state;
    struct gpu_draw *draw = gpu_draw_new(2);
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
    struct gpu_draw *draw = gpu_draw_new(2);
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
    enum { STRATA = 400, SIZE = 64 };
    uint32_t n_drawn[SIZE] = {0};
    struct gpu_draw *draw = gpu_draw_new(2);
    struct gpu_section section;
    static const char names[STRATA];
    for (uint32_t k = 0; k < STRATA; k++)
        for (uint32_t i = 0; i < 2 * SIZE - 1; i++) {
            bool is_drawn = add(draw, &names[k], 100, true, &section);
            if (section.segment == 6)
                n_drawn[i - (SIZE - 1)] += is_drawn;
        }
    for (uint32_t i = 0; i < SIZE; i++) /* 12.5 on average */
        assert_in_range(n_drawn[i], 2, 30);
    gpu_draw_free(draw);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_sections_of_each_segment_are_drawn),
        cmocka_unit_test(another_kernel_kind_or_amount_of_work_is_another_stratum),
        cmocka_unit_test(one_section_of_each_half_is_drawn),
        cmocka_unit_test(a_section_that_cannot_be_timed_leaves_its_place_to_a_later_one),
        cmocka_unit_test(what_has_hardly_any_work_is_timed_once),
        cmocka_unit_test(sections_of_a_segment_are_drawn_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
