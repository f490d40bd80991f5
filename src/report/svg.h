/* Figures as SVG 1.1: shapes, and the kinds of charts in the papers. Needs no library and no fonts. Any browser shows
 * them. */
#pragma once

#include <stdio.h>

#include "report/report.h"

struct report_svg {
    FILE *file;
};

/* Starts a picture of this size in pixels, on white. */
void report_svg_begin(struct report_svg *svg, FILE *file, double width, double height);
void report_svg_end(struct report_svg *svg);
void report_svg_rectangle(struct report_svg *svg, double x, double y, double width, double height, const char *color);
void report_svg_line(struct report_svg *svg, double x1, double y1, double x2, double y2, const char *color,
                     double thickness);
enum report_anchor { REPORT_START, REPORT_MIDDLE, REPORT_END };
/* `turn` in degrees, clockwise, about the point. */
void report_svg_text(struct report_svg *svg, double x, double y, double size, enum report_anchor anchor, double turn,
                     const char *text);
/* Draws a grey picture, without smoothing, stretched to the rectangle. */
void report_svg_image(struct report_svg *svg, double x, double y, double width, double height,
                      const struct report_image *image);

enum report_chart_kind { REPORT_BARS, REPORT_LINES, REPORT_STACKED };

/* Values by place along the chart and by group. Each group has a colour. */
struct report_chart {
    enum report_chart_kind kind;
    const char *title, *x_title, *y_title;
    unsigned n_places, n_groups;
    const char *const *place, *const *group;
    const double *value;      /* [place][group]; NaN: none */
    const double *low, *high; /* the spread, likewise; NULL: none */
    const double *mark;       /* the paper's values, likewise; NULL: none */
};
/* Returns the height of a chart. */
double report_chart_height(const struct report_chart *chart);
void report_draw_chart(struct report_svg *svg, double x, double y, double width, const struct report_chart *chart);
