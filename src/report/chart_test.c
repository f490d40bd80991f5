/* Figures in SVG. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/svg.h"

/* What drawing the chart writes. */
static char *draw(const struct report_chart *chart) {
    char *text = NULL;
    size_t length = 0;
    struct report_svg svg;
    FILE *file = open_memstream(&text, &length);
    report_svg_begin(&svg, file, 900, report_chart_height(chart));
    report_draw_chart(&svg, 0, 0, 900, chart);
    report_svg_end(&svg);
    fclose(file);
    return text;
}

static unsigned count(const char *text, const char *part) {
    unsigned n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

static const char *const places[] = {"bfs & co", "mum"}, *const groups[] = {"<a>", "b"};
static const double values[] = {1, 2, NAN, 4}, marks[] = {NAN, 3, NAN, NAN};

static void bars_have_a_place_for_each_value_and_a_mark_for_the_papers(void **state) {
    (void)state;
    char *svg = draw(&(struct report_chart){.kind = REPORT_BARS,
                                            .title = "t",
                                            .n_places = 2,
                                            .n_groups = 2,
                                            .place = places,
                                            .group = groups,
                                            .value = values,
                                            .mark = marks});
    /* the white ground, three bars, two squares of the legend */
    assert_int_equal(count(svg, "<rect "), 6);
    assert_int_equal(count(svg, "stroke-width=\"2.5\""), 1);
    assert_int_equal(count(svg, "black marks: the paper"), 1);
    assert_non_null(strstr(svg, ">bfs &amp; co</text>"));
    assert_non_null(strstr(svg, ">&lt;a&gt;</text>"));
    /* from 0 to 4: a bar of 4 is as high as the plot, one of 1 a fourth of it */
    assert_int_equal(count(svg, "height=\"220.00\""), 1);
    assert_int_equal(count(svg, "height=\"55.00\""), 1);
    assert_non_null(strstr(svg, "</svg>"));
    free(svg);
}

static void stacked_bars_stand_on_each_other(void **state) {
    (void)state;
    static const double parts[] = {1, 3};
    char *svg = draw(&(struct report_chart){.kind = REPORT_STACKED,
                                            .title = "t",
                                            .n_places = 1,
                                            .n_groups = 2,
                                            .place = places,
                                            .group = groups,
                                            .value = parts});
    assert_int_equal(count(svg, "height=\"55.00\""), 1);
    assert_int_equal(count(svg, "height=\"165.00\""), 1);
    free(svg);
}

static void lines_leave_out_what_is_not_known(void **state) {
    (void)state;
    char *svg = draw(&(struct report_chart){.kind = REPORT_LINES,
                                            .title = "t",
                                            .n_places = 2,
                                            .n_groups = 2,
                                            .place = places,
                                            .group = groups,
                                            .value = values});
    assert_int_equal(count(svg, "stroke-width=\"2.0\""), 1); /* of b; a has one point */
    free(svg);
}

static void pictures_are_inside_the_file(void **state) {
    (void)state;
    static uint8_t pixel[] = {0, 255};
    struct report_image image = {2, 1, pixel};
    char *text = NULL;
    size_t length = 0;
    struct report_svg svg = {.file = open_memstream(&text, &length)};
    report_svg_image(&svg, 0, 0, 10, 10, &image);
    fclose(svg.file);
    assert_non_null(strstr(text, "data:image/png;base64,iVBORw0KGgo")); /* how every PNG begins */
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_have_a_place_for_each_value_and_a_mark_for_the_papers),
        cmocka_unit_test(stacked_bars_stand_on_each_other),
        cmocka_unit_test(lines_leave_out_what_is_not_known),
        cmocka_unit_test(pictures_are_inside_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
