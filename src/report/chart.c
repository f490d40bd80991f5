/* Charts: grouped bars, lines and stacked bars, with the paper's numbers as marks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/svg.h"

/* Okabe and Ito, "Color universal design" (2008): distinguishable with any colour vision. */
static const char *const colors[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
                                     "#999999", "#f0e442", "#332288", "#661100", "#117733", "#aa4499"};
enum { N_COLORS = sizeof colors / sizeof colors[0] };
enum { LEFT = 60, RIGHT = 12, TOP = 28, PLOT_HEIGHT = 220, LEGEND_LINE = 18, LABELS = 78 };

struct frame {
    double x, y, width; /* of the plot */
    double low, high;   /* values at its bottom and top */
};

static const char *color_of(unsigned group) { return colors[group % N_COLORS]; }

static unsigned legend_columns(double width) { return (unsigned)fmax(1, (width - LEFT - RIGHT) / 170); }

static unsigned legend_lines(const struct report_chart *chart, double width) {
    return chart->n_groups > 1 ? (chart->n_groups + legend_columns(width) - 1) / legend_columns(width) : 0;
}

enum { USUAL_WIDTH = 900 };

double report_chart_height(const struct report_chart *chart) {
    return TOP + PLOT_HEIGHT + LABELS + LEGEND_LINE * legend_lines(chart, USUAL_WIDTH) + 12;
}

/* ---- The scale --------------------------------------------------------------------------------------------------- */

/* Returns a round number: 1, 2 or 5 times a power of ten. */
static double round_step(double range) {
    double step = pow(10, floor(log10(range / 4)));
    double ratio = range / 4 / step;
    return ratio < 1.5 ? step : ratio < 3.5 ? 2 * step : ratio < 7.5 ? 5 * step : 10 * step;
}

static void cover(struct frame *frame, double value) {
    frame->low = fmin(frame->low, value); /* ignores NaN */
    frame->high = fmax(frame->high, value);
}

static struct frame make_frame(const struct report_chart *chart, double x, double y, double width) {
    struct frame frame = {.x = x + LEFT, .y = y + TOP, .width = width - LEFT - RIGHT};
    for (unsigned p = 0; p < chart->n_places; p++) {
        double sum = 0;
        for (unsigned g = 0; g < chart->n_groups; g++) {
            unsigned i = p * chart->n_groups + g;
            sum += isnan(chart->value[i]) ? 0 : chart->value[i];
            cover(&frame, chart->kind == REPORT_STACKED ? sum : chart->value[i]);
            if (chart->mark)
                cover(&frame, chart->mark[i]);
            if (chart->high) {
                cover(&frame, chart->low[i]);
                cover(&frame, chart->high[i]);
            }
        }
    }
    if (!(frame.high > frame.low))
        frame.high = frame.low + 1;
    double step = round_step(frame.high - frame.low);
    frame.low = floor(frame.low / step) * step;
    frame.high = ceil(frame.high / step) * step;
    return frame;
}

static double y_of(const struct frame *frame, double value) {
    return frame->y + PLOT_HEIGHT * (1 - (value - frame->low) / (frame->high - frame->low));
}

static void draw_scale(struct report_svg *svg, const struct frame *frame) {
    double step = round_step(frame->high - frame->low);
    for (double value = frame->low; value <= frame->high + step / 2; value += step) {
        char text[32];
        double y = y_of(frame, value), shown = fabs(value) < step / 1000 ? 0 : value;
        snprintf(text, sizeof text, "%g", shown);
        report_svg_line(svg, frame->x, y, frame->x + frame->width, y, shown == 0 ? "#000000" : "#dddddd", 1);
        report_svg_text(svg, frame->x - 6, y + 4, 11, REPORT_END, 0, text);
    }
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static void draw_spread(struct report_svg *svg, const struct frame *frame, const struct report_chart *chart, double x,
                        unsigned i) {
    if (chart->high && chart->high[i] > chart->low[i])
        report_svg_line(svg, x, y_of(frame, chart->low[i]), x, y_of(frame, chart->high[i]), "#000000", 1);
}

static void draw_bars(struct report_svg *svg, const struct frame *frame, const struct report_chart *chart) {
    double pitch = frame->width / chart->n_places, width = pitch * 0.8 / chart->n_groups;
    for (unsigned p = 0; p < chart->n_places; p++)
        for (unsigned g = 0; g < chart->n_groups; g++) {
            unsigned i = p * chart->n_groups + g;
            double x = frame->x + pitch * (p + 0.1) + width * g, value = chart->value[i];
            double top = y_of(frame, fmax(value, 0)), bottom = y_of(frame, fmin(value, 0));
            if (!isnan(value))
                report_svg_rectangle(svg, x, top, width * 0.92, bottom - top, color_of(g));
            draw_spread(svg, frame, chart, x + width / 2, i);
            if (chart->mark && !isnan(chart->mark[i]))
                report_svg_line(svg, x - 1, y_of(frame, chart->mark[i]), x + width, y_of(frame, chart->mark[i]),
                                "#000000", 2.5);
        }
}

static void draw_stacked(struct report_svg *svg, const struct frame *frame, const struct report_chart *chart) {
    double pitch = frame->width / chart->n_places;
    for (unsigned p = 0; p < chart->n_places; p++) {
        double sum = 0;
        for (unsigned g = 0; g < chart->n_groups; g++) {
            double value = chart->value[p * chart->n_groups + g];
            if (isnan(value))
                continue;
            double top = y_of(frame, sum + value);
            report_svg_rectangle(svg, frame->x + pitch * (p + 0.1), top, pitch * 0.8, y_of(frame, sum) - top,
                                 color_of(g));
            sum += value;
        }
    }
}

static void draw_lines(struct report_svg *svg, const struct frame *frame, const struct report_chart *chart) {
    double pitch = frame->width / chart->n_places;
    for (unsigned g = 0; g < chart->n_groups; g++)
        for (unsigned p = 0; p < chart->n_places; p++) {
            unsigned i = p * chart->n_groups + g;
            double x = frame->x + pitch * (p + 0.5), value = chart->value[i];
            double before = p ? chart->value[i - chart->n_groups] : NAN;
            if (!isnan(value) && !isnan(before))
                report_svg_line(svg, x - pitch, y_of(frame, before), x, y_of(frame, value), color_of(g), 2);
            if (!isnan(value))
                report_svg_rectangle(svg, x - 3, y_of(frame, value) - 3, 6, 6, color_of(g));
            draw_spread(svg, frame, chart, x, i);
            if (chart->mark && !isnan(chart->mark[i]))
                report_svg_line(svg, x - 7, y_of(frame, chart->mark[i]), x + 7, y_of(frame, chart->mark[i]), "#000000",
                                2.5);
        }
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static void draw_places(struct report_svg *svg, const struct frame *frame, const struct report_chart *chart) {
    double pitch = frame->width / chart->n_places, y = frame->y + PLOT_HEIGHT;
    size_t longest = 0;
    for (unsigned p = 0; p < chart->n_places; p++)
        longest = strlen(chart->place[p]) > longest ? strlen(chart->place[p]) : longest;
    bool is_turned = (double)longest * 6.5 > pitch;
    for (unsigned p = 0; p < chart->n_places; p++) {
        double x = frame->x + pitch * (p + 0.5);
        report_svg_text(svg, x, y + 15, 11, is_turned ? REPORT_END : REPORT_MIDDLE, is_turned ? -35 : 0,
                        chart->place[p]);
    }
    if (chart->x_title)
        report_svg_text(svg, frame->x + frame->width / 2, y + (is_turned ? LABELS - 14 : 34), 11, REPORT_MIDDLE, 0,
                        chart->x_title);
}

static void draw_legend(struct report_svg *svg, const struct frame *frame, const struct report_chart *chart,
                        double width) {
    unsigned columns = legend_columns(width);
    for (unsigned g = 0; g < chart->n_groups && chart->n_groups > 1; g++) {
        double x = frame->x + 170 * (g % columns), y = frame->y + PLOT_HEIGHT + LABELS + LEGEND_LINE * (g / columns);
        report_svg_rectangle(svg, x, y - 9, 10, 10, color_of(g));
        report_svg_text(svg, x + 15, y, 11, REPORT_START, 0, chart->group[g]);
    }
}

static bool has_marks(const struct report_chart *chart) {
    for (unsigned i = 0; chart->mark && i < chart->n_places * chart->n_groups; i++)
        if (!isnan(chart->mark[i]))
            return true;
    return false;
}

void report_draw_chart(struct report_svg *svg, double x, double y, double width, const struct report_chart *chart) {
    struct frame frame = make_frame(chart, x, y, width);
    report_svg_text(svg, frame.x, y + 16, 13, REPORT_START, 0, chart->title);
    if (has_marks(chart))
        report_svg_text(svg, frame.x + frame.width, y + 16, 11, REPORT_END, 0, "black marks: the paper");
    draw_scale(svg, &frame);
    if (chart->y_title)
        report_svg_text(svg, x + 14, frame.y + PLOT_HEIGHT / 2.0, 11, REPORT_MIDDLE, -90, chart->y_title);
    if (chart->kind == REPORT_BARS)
        draw_bars(svg, &frame, chart);
    else if (chart->kind == REPORT_LINES)
        draw_lines(svg, &frame, chart);
    else
        draw_stacked(svg, &frame, chart);
    draw_places(svg, &frame, chart);
    draw_legend(svg, &frame, chart, width);
}
