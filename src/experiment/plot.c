/* The figure of an experiment: charts of measures, time series as pictures, or pictures of threads. */
#include <math.h>
#include <string.h>

#include "experiment/show.h"
#include "report/svg.h"

enum { WIDTH = 900, TITLE = 34, CAPTION = 22, MOST_PANELS = 128 };

static unsigned count_points(const struct experiment_axis *axis) { return axis->n_points + axis->n_means; }

static const char **names_of(const struct experiment_axis *axis, struct base_arena *arena) {
    const char **name = BASE_ARENA_ARRAY(arena, const char *, count_points(axis));
    for (unsigned i = 0; i < count_points(axis); i++)
        name[i] = experiment_point_name(axis, i);
    return name;
}

/* The axes that are neither along the figure nor side by side: each of their points has a panel. */
struct panels {
    const struct experiment_grid *grid;
    int x, group; /* -1: none */
    unsigned count;
    struct experiment_cell cell[MOST_PANELS];
    const char *name[MOST_PANELS];
};

static void make_panels(struct panels *panels, struct base_arena *arena) {
    const struct experiment *experiment = panels->grid->experiment;
    unsigned n = 1;
    for (unsigned a = 0; a < experiment->n_axes; a++)
        if ((int)a != panels->x && (int)a != panels->group)
            n *= count_points(&experiment->axis[a]);
    panels->count = n < MOST_PANELS ? n : MOST_PANELS;
    for (unsigned i = 0; i < panels->count; i++) {
        unsigned rest = i;
        const char *name = "";
        for (unsigned a = experiment->n_axes; a-- > 0;) {
            if ((int)a == panels->x || (int)a == panels->group)
                continue;
            const struct experiment_axis *axis = &experiment->axis[a];
            panels->cell[i].at[a] = rest % count_points(axis);
            rest /= count_points(axis);
            name = base_arena_printf(arena, "%s, %s%s", axis->name, experiment_point_name(axis, panels->cell[i].at[a]),
                                     name);
            name = base_arena_printf(arena, ": %s", strchr(name, ',') + 2);
        }
        panels->name[i] = name;
    }
}

/* ---- Charts ------------------------------------------------------------------------------------------------------ */

/* Fills values by place and group; measures that are stacked are the groups. */
static struct report_chart make_chart(const struct panels *panels, unsigned panel, unsigned measure,
                                      struct base_arena *arena) {
    const struct experiment *experiment = panels->grid->experiment;
    const struct experiment_figure *figure = &experiment->figure;
    bool is_stacked = figure->kind == EXPERIMENT_FIGURE_STACKED;
    const struct experiment_axis *along = &experiment->axis[panels->x];
    const struct experiment_axis *beside = panels->group >= 0 ? &experiment->axis[panels->group] : NULL;
    struct report_chart chart = {
        .kind = is_stacked                                ? REPORT_STACKED
                : figure->kind == EXPERIMENT_FIGURE_LINES ? REPORT_LINES
                                                          : REPORT_BARS,
        .title = base_arena_printf(arena, "%s%s", is_stacked ? experiment->title : experiment->measure[measure].title,
                                   panels->name[panel]),
        .x_title = along->name,
        .n_places = count_points(along),
        .n_groups = is_stacked ? figure->n_measures
                    : beside   ? count_points(beside)
                               : 1,
        .place = names_of(along, arena),
    };
    size_t n = (size_t)chart.n_places * chart.n_groups;
    double *value = BASE_ARENA_ARRAY(arena, double, n), *low = BASE_ARENA_ARRAY(arena, double, n);
    double *high = BASE_ARENA_ARRAY(arena, double, n), *mark = BASE_ARENA_ARRAY(arena, double, n);
    const char **group =
        beside && !is_stacked ? names_of(beside, arena) : BASE_ARENA_ARRAY(arena, const char *, chart.n_groups);
    for (unsigned p = 0; p < chart.n_places; p++)
        for (unsigned g = 0; g < chart.n_groups; g++) {
            struct experiment_cell cell = panels->cell[panel];
            unsigned shown = is_stacked ? figure->measure[g] : measure;
            cell.at[panels->x] = p;
            if (beside && !is_stacked)
                cell.at[panels->group] = g;
            else
                group[g] = experiment->measure[shown].title;
            struct experiment_value of = experiment_value_of(panels->grid, shown, &cell);
            value[p * chart.n_groups + g] = of.mean;
            low[p * chart.n_groups + g] = of.low;
            high[p * chart.n_groups + g] = of.high;
            mark[p * chart.n_groups + g] = is_stacked ? NAN : experiment_paper_number(experiment, shown, &cell);
        }
    chart.group = group;
    chart.value = value;
    chart.mark = mark;
    if (experiment->n_variations > 1) {
        chart.low = low;
        chart.high = high;
    }
    return chart;
}

static void draw_title(struct report_svg *svg, const struct experiment *experiment, struct base_arena *arena) {
    report_svg_text(svg, 14, 22, 15, REPORT_START, 0,
                    base_arena_printf(arena, "%s: %s", experiment->name, experiment->title));
}

static void draw_charts(FILE *file, const struct experiment_grid *grid, struct base_arena *arena) {
    const struct experiment *experiment = grid->experiment;
    const struct experiment_figure *figure = &experiment->figure;
    bool is_stacked = figure->kind == EXPERIMENT_FIGURE_STACKED;
    struct panels panels = {.grid = grid, .x = figure->x, .group = is_stacked ? -1 : figure->group};
    make_panels(&panels, arena);
    unsigned n_measures = is_stacked ? 1 : figure->n_measures, n = n_measures * panels.count;
    struct report_chart *chart = BASE_ARENA_ARRAY(arena, struct report_chart, n);
    double height = TITLE;
    for (unsigned i = 0; i < n; i++) {
        chart[i] = make_chart(&panels, i % panels.count, figure->measure[i / panels.count], arena);
        height += report_chart_height(&chart[i]);
    }
    struct report_svg svg;
    report_svg_begin(&svg, file, WIDTH, height);
    draw_title(&svg, experiment, arena);
    double y = TITLE;
    for (unsigned i = 0; i < n; i++) {
        report_draw_chart(&svg, 0, y, WIDTH, &chart[i]);
        y += report_chart_height(&chart[i]);
    }
    report_svg_end(&svg);
}

/* ---- Pictures ---------------------------------------------------------------------------------------------------- */

/* A time series of all launches: a column for each sample, a row for each SM, channel or number of lanes. */
static struct report_image series_image(const json_t *result, const char *series, double *most,
                                        struct base_arena *arena) {
    const json_t *launches = json_object_get(result, "samples");
    struct report_image image = {0};
    *most = 0;
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const json_t *samples = json_object_get(json_array_get(launches, i), series);
        image.width += (uint32_t)json_array_size(samples);
        for (size_t k = 0; k < json_array_size(samples); k++) {
            const json_t *sample = json_array_get(samples, k);
            image.height = json_array_size(sample) > image.height ? (uint32_t)json_array_size(sample) : image.height;
            for (size_t c = 0; c < json_array_size(sample); c++)
                *most = fmax(*most, json_number_value(json_array_get(sample, c)));
        }
    }
    image.pixel = BASE_ARENA_ARRAY(arena, uint8_t, (size_t)image.width * image.height);
    size_t at = 0;
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const json_t *samples = json_object_get(json_array_get(launches, i), series);
        for (size_t k = 0; k < json_array_size(samples); k++, at++)
            for (size_t c = 0; c < json_array_size(json_array_get(samples, k)); c++)
                image.pixel[c * image.width + at] =
                    (uint8_t)(255 * json_number_value(json_array_get(json_array_get(samples, k), c)) /
                              (*most > 0 ? *most : 1));
    }
    return image;
}

/* A pixel for each thread of the kernel with the most threads. */
static struct report_image threads_image(const json_t *result, const char *count, double *most,
                                         struct base_arena *arena) {
    const json_t *kernels = json_object_get(result, "threads"), *kernel = NULL;
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t *other = json_array_get(kernels, i);
        if (!kernel || json_array_size(json_object_get(other, count)) > json_array_size(json_object_get(kernel, count)))
            kernel = other;
    }
    struct report_profile profile = {0};
    const json_t *counts = json_object_get(kernel, count);
    profile.n_threads = json_array_size(counts);
    for (size_t i = 0; i < 3; i++) {
        profile.grid[i] = (uint32_t)json_integer_value(json_array_get(json_object_get(kernel, "grid"), i));
        profile.block[i] = (uint32_t)json_integer_value(json_array_get(json_object_get(kernel, "block"), i));
    }
    uint32_t *value = BASE_ARENA_ARRAY(arena, uint32_t, profile.n_threads), largest = 0;
    for (size_t i = 0; i < profile.n_threads; i++)
        value[i] = (uint32_t)json_integer_value(json_array_get(counts, i));
    struct report_image image = {0};
    if (profile.n_threads)
        image = report_thread_image(&profile, value, &largest, arena);
    *most = largest;
    return image;
}

static void draw_pictures(FILE *file, const struct experiment_grid *grid, struct base_arena *arena) {
    const struct experiment *experiment = grid->experiment;
    const struct experiment_figure *figure = &experiment->figure;
    bool is_series = figure->kind == EXPERIMENT_FIGURE_SERIES;
    double width = is_series ? WIDTH - 40 : 270, height = is_series ? 150 : 270;
    unsigned n = experiment_count_cells(experiment), across = is_series ? 1 : 3;
    struct report_svg svg;
    report_svg_begin(&svg, file, WIDTH, TITLE + (height + CAPTION + 14) * ((n + across - 1) / across));
    draw_title(&svg, experiment, arena);
    for (unsigned i = 0; i < n; i++) {
        struct experiment_cell cell = experiment_cell_of_number(experiment, i);
        const struct experiment_trial *trial = experiment_grid_trial(grid, &cell, 0);
        double x = 20 + (width + 20) * (i % across), y = TITLE + (height + CAPTION + 14) * (i / across), most = 0;
        if (!trial || !trial->result)
            continue;
        struct report_image image = is_series ? series_image(trial->result, figure->series, &most, arena)
                                              : threads_image(trial->result, figure->series, &most, arena);
        report_svg_text(&svg, x, y + 14, 12, REPORT_START, 0,
                        base_arena_printf(arena, "%s: %s, white is %g", experiment_cell_name(experiment, &cell, arena),
                                          figure->series, most));
        if (image.width && image.height)
            report_svg_image(&svg, x, y + CAPTION, width, height, &image);
    }
    report_svg_end(&svg);
}

bool experiment_write_plot(FILE *file, const struct experiment_grid *grid, struct base_arena *arena) {
    enum experiment_figure_kind kind = grid->experiment->figure.kind;
    if (kind == EXPERIMENT_FIGURE_SERIES || kind == EXPERIMENT_FIGURE_THREADS)
        draw_pictures(file, grid, arena);
    else
        draw_charts(file, grid, arena);
    return fflush(file) == 0 && !ferror(file);
}
