/* The picture of `heddle validate`: where points are, derived on paper. The plot is 470 pixels wide and high, from 70
 * on the left and 500 at the bottom. */
#include "cli/validate/picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *draw(const struct cli_point *point, unsigned n) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    struct report_svg svg;
    report_svg_begin(&svg, file, CLI_PICTURE_WIDTH, CLI_PICTURE_HEIGHT);
    cli_draw_points(&svg, "title", point, n);
    report_svg_end(&svg);
    fclose(file);
    return text;
}

static void expect(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("'%s' is not in\n%s", part, text);
}

/* The axes go from 1e2 to 1e4, 235 pixels for each power of ten. A point is 6 pixels wide. */
static void points_are_at_the_logarithms_of_their_cycles(void **state) {
    (void)state;
    static const struct cli_point point[] = {{200, 1000, "#111111"}, {1000, 9999, "#222222"}};
    char *text = draw(point, 2);
    expect(text, "<rect x=\"137.74\" y=\"262.00\" width=\"6.00\" height=\"6.00\" fill=\"#111111\"");
    expect(text, "<rect x=\"302.00\" y=\"27.01\" width=\"6.00\" height=\"6.00\" fill=\"#222222\"");
    expect(text, ">1e2<");
    expect(text, ">1e4<");
    assert_null(strstr(text, ">1e5<"));
    free(text);
}

/* A power of ten is not the end of an axis, so one point has an axis of one power. */
static void a_single_point_has_axes(void **state) {
    (void)state;
    static const struct cli_point point[] = {{1000, 1000, "#111111"}};
    char *text = draw(point, 1), *none = draw(point, 0);
    expect(text, "<rect x=\"67.00\" y=\"497.00\"");
    expect(text, ">1e4<");
    expect(none, ">1e1<");
    assert_null(strstr(none, "#111111"));
    free(text);
    free(none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_at_the_logarithms_of_their_cycles),
        cmocka_unit_test(a_single_point_has_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
