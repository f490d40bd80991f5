/* The picture of `heddle validate`: simulated against real cycles, both logarithmic. */
#pragma once

#include "report/svg.h"

enum { CLI_PICTURE_WIDTH = 560, CLI_PICTURE_HEIGHT = 560 };

struct cli_point {
    double real, simulated; /* cycles */
    const char *color;
};

/* Draws the points between the powers of ten around them, with lines where both are equal, twice and half. */
void cli_draw_points(struct report_svg *svg, const char *title, const struct cli_point *point, unsigned n);
