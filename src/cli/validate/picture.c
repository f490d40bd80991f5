/* Draws simulated against real cycles. See picture.h. */
#include "cli/validate/picture.h"

#include <math.h>

enum { WIDTH = CLI_PICTURE_WIDTH, HEIGHT = CLI_PICTURE_HEIGHT, LEFT = 70, RIGHT = 20, TOP = 30, BOTTOM = 60 };

struct axes {
    double first, last; /* powers of ten, on both axes */
};

static double across(const struct axes *axes, double cycles) {
    return LEFT + (log10(cycles) - axes->first) / (axes->last - axes->first) * (WIDTH - LEFT - RIGHT);
}

static double up(const struct axes *axes, double cycles) {
    return HEIGHT - BOTTOM - (log10(cycles) - axes->first) / (axes->last - axes->first) * (HEIGHT - TOP - BOTTOM);
}

static void draw_axes(struct report_svg *svg, const struct axes *axes) {
    char text[32];
    for (double power = axes->first; power <= axes->last; power++) {
        double x = across(axes, pow(10, power)), y = up(axes, pow(10, power));
        report_svg_line(svg, x, TOP, x, HEIGHT - BOTTOM, "#dddddd", 1);
        report_svg_line(svg, LEFT, y, WIDTH - RIGHT, y, "#dddddd", 1);
        snprintf(text, sizeof text, "1e%.0f", power);
        report_svg_text(svg, x, HEIGHT - BOTTOM + 18, 12, REPORT_MIDDLE, 0, text);
        report_svg_text(svg, LEFT - 8, y + 4, 12, REPORT_END, 0, text);
    }
    double low = pow(10, axes->first), high = pow(10, axes->last);
    report_svg_line(svg, across(axes, low), up(axes, low), across(axes, high), up(axes, high), "#000000", 1);
    /* Twice and half. */
    report_svg_line(svg, across(axes, low), up(axes, 2 * low), across(axes, high / 2), up(axes, high), "#999999", 1);
    report_svg_line(svg, across(axes, 2 * low), up(axes, low), across(axes, high), up(axes, high / 2), "#999999", 1);
    report_svg_text(svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 20, 14, REPORT_MIDDLE, 0, "cycles on the GPU");
    report_svg_text(svg, 20, (TOP + HEIGHT - BOTTOM) / 2.0, 14, REPORT_MIDDLE, -90, "simulated cycles");
}

static struct axes find_axes(const struct cli_point *point, unsigned n) {
    struct axes axes = {INFINITY, -INFINITY};
    for (unsigned i = 0; i < n; i++) {
        axes.first = fmin(axes.first, fmin(log10(point[i].real), log10(point[i].simulated)));
        axes.last = fmax(axes.last, fmax(log10(point[i].real), log10(point[i].simulated)));
    }
    axes.first = n ? floor(axes.first) : 0;
    axes.last = n ? ceil(axes.last + 1e-9) : 1;
    return axes;
}

void cli_draw_points(struct report_svg *svg, const char *title, const struct cli_point *point, unsigned n) {
    const struct axes axes = find_axes(point, n);
    report_svg_text(svg, WIDTH / 2.0, 18, 14, REPORT_MIDDLE, 0, title);
    draw_axes(svg, &axes);
    for (unsigned i = 0; i < n; i++)
        report_svg_rectangle(svg, across(&axes, point[i].real) - 3, up(&axes, point[i].simulated) - 3, 6, 6,
                             point[i].color);
}
