/* Reads an experiment's file. The keys are read in the order in which they depend on each other, whatever their order
 * in the file. */
#include "experiment/load.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "experiment/expression.h"

static const char *name_of_file(const char *path, struct base_arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *end = strrchr(name, '.');
    return base_arena_copy(arena, name, end && end != name ? (size_t)(end - name) : strlen(name));
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

static bool read_source(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return (((struct experiment *)context)->source = experiment_yaml_text(yaml, value, "source"));
}

static bool read_title(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return (((struct experiment *)context)->title = experiment_yaml_text(yaml, value, "title"));
}

static bool read_result(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return (((struct experiment *)context)->result = experiment_yaml_text(yaml, value, "result"));
}

static bool read_ours(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment *experiment = context;
    if (value->type != YAML_SEQUENCE_NODE)
        return experiment_yaml_fail(yaml, value, "ours takes a list of sentences");
    experiment->ours = BASE_ARENA_ARRAY(yaml->arena, const char *, experiment_yaml_count(value));
    for (unsigned i = 0; i < experiment_yaml_count(value); i++) {
        const char *text = experiment_yaml_text(yaml, experiment_yaml_item(yaml, value, i), "ours");
        if (!text)
            return false;
        experiment->ours[experiment->n_ours++] = text;
    }
    return true;
}

static bool read_may_refuse(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return experiment_yaml_flag(yaml, value, "may_refuse", &((struct experiment *)context)->may_refuse);
}

static bool read_run(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return experiment_read_settings(yaml, value, &((struct experiment *)context)->common);
}

/* ---- Axes -------------------------------------------------------------------------------------------------------- */

static bool has_point_characters(const char *name) { return !strpbrk(name, ",|[]*"); }

static struct experiment_point *add_point(struct experiment_yaml *yaml, struct experiment_axis *axis,
                                          const yaml_node_t *node, const char *name) {
    if (!has_point_characters(name)) {
        experiment_yaml_fail(yaml, node, "the name of a point has none of , | [ ] *, since claims use these");
        return NULL;
    }
    if (experiment_find_point(axis, name) >= 0) {
        experiment_yaml_fail(yaml, node, "the axis '%s' has two points '%s'", axis->name, name);
        return NULL;
    }
    if (axis->n_points == EXPERIMENT_MOST_POINTS / 2) {
        experiment_yaml_fail(yaml, node, "an axis has at most %d points", EXPERIMENT_MOST_POINTS / 2);
        return NULL;
    }
    axis->point[axis->n_points].name = name;
    return &axis->point[axis->n_points++];
}

static struct experiment_axis *new_axis(struct experiment *experiment, struct experiment_yaml *yaml,
                                        const yaml_node_t *node) {
    if (experiment->n_axes == EXPERIMENT_MOST_AXES) {
        experiment_yaml_fail(yaml, node, "an experiment has at most %d axes, the programs among them",
                             EXPERIMENT_MOST_AXES);
        return NULL;
    }
    struct experiment_axis *axis = &experiment->axis[experiment->n_axes++];
    axis->point = BASE_ARENA_ARRAY(yaml->arena, struct experiment_point, EXPERIMENT_MOST_POINTS);
    return axis;
}

/* A name alone, or {name: {settings}}; the program is the one of that name unless the settings say otherwise. */
static bool read_program_entry(struct experiment_yaml *yaml, struct experiment_axis *axis, yaml_node_t *item) {
    yaml_node_t *name_node = item, *settings = NULL;
    if (item->type == YAML_MAPPING_NODE && experiment_yaml_count(item) == 1) {
        name_node = experiment_yaml_key_at(yaml, item, 0);
        settings = experiment_yaml_value_at(yaml, item, 0);
    }
    const char *name = experiment_yaml_text(yaml, name_node, "a program");
    if (!name)
        return false;
    struct experiment_point *point = add_point(yaml, axis, name_node, name);
    if (!point || (settings && !experiment_read_settings(yaml, settings, &point->settings)))
        return false;
    if (point->settings.program || point->settings.example)
        return true;
    point->settings.program = name;
    return experiment_check_program_name(yaml, name_node, name);
}

static bool read_programs(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment *experiment = context;
    if (value->type != YAML_SEQUENCE_NODE || experiment_yaml_count(value) == 0)
        return experiment_yaml_fail(yaml, value, "programs takes a list, such as [bfs, mum]");
    struct experiment_axis *axis = new_axis(experiment, yaml, value);
    axis->name = "program";
    for (unsigned i = 0; i < experiment_yaml_count(value); i++)
        if (!read_program_entry(yaml, axis, experiment_yaml_item(yaml, value, i)))
            return false;
    return true;
}

struct axis_reader {
    struct experiment_axis *axis;
    yaml_node_t *with, *values;
    const char *named; /* with $ */
};

/* A column of the CSV has the axis's name, beside those that all experiments have. */
static bool read_axis_name(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    static const char *const taken[] = {"experiment", "measure", "ours", "low", "high", "paper"};
    struct axis_reader *reader = context;
    const char *name = reader->axis->name = experiment_yaml_text(yaml, value, "axis");
    for (unsigned i = 0; name && i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(name, taken[i]) == 0)
            return experiment_yaml_fail(yaml, value,
                                        "an axis cannot be called '%s': results have a column of that name", name);
    return name != NULL;
}

static bool read_points(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct axis_reader *reader = context;
    if (value->type != YAML_MAPPING_NODE || experiment_yaml_count(value) == 0)
        return experiment_yaml_fail(yaml, value,
                                    "points takes a map of names and settings, such as gto: {scheduler: gto}");
    for (unsigned i = 0; i < experiment_yaml_count(value); i++) {
        yaml_node_t *key = experiment_yaml_key_at(yaml, value, i);
        const char *name = experiment_yaml_text(yaml, key, "a point");
        struct experiment_point *point = name ? add_point(yaml, reader->axis, key, name) : NULL;
        if (!point || !experiment_read_settings(yaml, experiment_yaml_value_at(yaml, value, i), &point->settings))
            return false;
    }
    return true;
}

static bool read_values(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    if (value->type != YAML_SEQUENCE_NODE || experiment_yaml_count(value) == 0)
        return experiment_yaml_fail(yaml, value, "values takes a list, such as [8, 16, 32]");
    ((struct axis_reader *)context)->values = value;
    return true;
}

static bool read_with(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    (void)yaml;
    ((struct axis_reader *)context)->with = value;
    return true;
}

static bool read_named(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return (((struct axis_reader *)context)->named = experiment_yaml_text(yaml, value, "named"));
}

/* Adds a point for each value, with the settings of `with` in which $ is the value. */
static bool add_values(struct experiment_yaml *yaml, struct axis_reader *reader) {
    for (unsigned i = 0; i < experiment_yaml_count(reader->values); i++) {
        yaml_node_t *item = experiment_yaml_item(yaml, reader->values, i);
        const char *text = experiment_yaml_text(yaml, item, "a value");
        if (!text)
            return false;
        const char *at = reader->named ? strchr(reader->named, '$') : NULL, *name = text;
        if (at)
            name = base_arena_printf(yaml->arena, "%.*s%s%s", (int)(at - reader->named), reader->named, text, at + 1);
        struct experiment_point *point = add_point(yaml, reader->axis, item, name);
        if (!point)
            return false;
        yaml->dollar = text;
        bool is_good = experiment_read_settings(yaml, reader->with, &point->settings);
        yaml->dollar = NULL;
        if (!is_good)
            return false;
    }
    return true;
}

static bool read_axis(struct experiment *experiment, struct experiment_yaml *yaml, yaml_node_t *node) {
    static const struct experiment_yaml_key keys[] = {
        {"axis", read_axis_name, true, "its name"},
        {"points", read_points, false, "a map of names and settings"},
        {"values", read_values, false, "a list, with the settings in 'with'"},
        {"with", read_with, false, "settings in which $ is the value"},
        {"named", read_named, false, "the name of a point, in which $ is the value"},
    };
    struct axis_reader reader = {.axis = new_axis(experiment, yaml, node)};
    if (!reader.axis || !experiment_yaml_read_map(yaml, node, "an axis", keys, sizeof keys / sizeof keys[0], &reader))
        return false;
    if (!!reader.values != !!reader.with || !!reader.values == !!reader.axis->n_points)
        return experiment_yaml_fail(yaml, node, "an axis takes 'points', or 'values' and 'with'");
    for (unsigned a = 0; a + 1 < experiment->n_axes; a++)
        if (strcmp(experiment->axis[a].name, reader.axis->name) == 0)
            return experiment_yaml_fail(yaml, node, "there are two axes '%s'", reader.axis->name);
    return !reader.values || add_values(yaml, &reader);
}

static bool read_axes(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    if (value->type != YAML_SEQUENCE_NODE)
        return experiment_yaml_fail(yaml, value, "axes takes a list of axes");
    for (unsigned i = 0; i < experiment_yaml_count(value); i++)
        if (!read_axis(context, yaml, experiment_yaml_item(yaml, value, i)))
            return false;
    return true;
}

static bool read_variations(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment *experiment = context;
    if (value->type != YAML_SEQUENCE_NODE || experiment_yaml_count(value) == 0)
        return experiment_yaml_fail(yaml, value,
                                    "variations takes a list of settings, such as [{}, {arguments: --seed 1}]");
    experiment->n_variations = experiment_yaml_count(value);
    experiment->variation = BASE_ARENA_ARRAY(yaml->arena, struct experiment_settings, experiment->n_variations);
    for (unsigned i = 0; i < experiment->n_variations; i++)
        if (!experiment_read_settings(yaml, experiment_yaml_item(yaml, value, i), &experiment->variation[i]))
            return false;
    return true;
}

/* ---- Means ------------------------------------------------------------------------------------------------------- */

struct mean_reader {
    struct experiment *experiment;
    struct experiment_axis *axis;
    struct experiment_mean mean;
};

static bool read_mean_kind(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct mean_reader *reader = context;
    unsigned place = 0;
    if (!experiment_yaml_word(yaml, value, "a mean", experiment_mean_names, 3, &place))
        return false;
    reader->mean.kind = (enum experiment_mean_kind)place;
    return true;
}

struct experiment_axis *experiment_axis_named(struct experiment *experiment, struct experiment_yaml *yaml,
                                              yaml_node_t *value) {
    const char *name = experiment_yaml_text(yaml, value, "an axis");
    int axis = name ? experiment_find_axis(experiment, name) : -1;
    if (name && axis < 0)
        experiment_yaml_fail(yaml, value, "there is no axis '%s'; the first is '%s'", name, experiment->axis[0].name);
    return axis < 0 ? NULL : &experiment->axis[axis];
}

static bool read_mean_axis(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct mean_reader *reader = context;
    return (reader->axis = experiment_axis_named(reader->experiment, yaml, value));
}

static bool read_mean_points(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct mean_reader *reader = context;
    if (value->type != YAML_SEQUENCE_NODE || experiment_yaml_count(value) == 0)
        return experiment_yaml_fail(yaml, value, "points takes a list of points of the axis '%s'", reader->axis->name);
    reader->mean.member = BASE_ARENA_ARRAY(yaml->arena, unsigned, experiment_yaml_count(value));
    for (unsigned i = 0; i < experiment_yaml_count(value); i++) {
        yaml_node_t *item = experiment_yaml_item(yaml, value, i);
        const char *name = experiment_yaml_text(yaml, item, "a point");
        int point = name ? experiment_find_point(reader->axis, name) : -1;
        if (name && (point < 0 || (unsigned)point >= reader->axis->n_points))
            return experiment_yaml_fail(yaml, item, "the axis '%s' has no point '%s'", reader->axis->name, name);
        if (!name)
            return false;
        reader->mean.member[reader->mean.n_members++] = (unsigned)point;
    }
    return true;
}

static bool read_mean(struct experiment *experiment, struct experiment_yaml *yaml, yaml_node_t *key,
                      yaml_node_t *value) {
    static const struct experiment_yaml_key keys[] = {
        {"kind", read_mean_kind, true, "geometric, harmonic or arithmetic"},
        {"axis", read_mean_axis, false, "the axis whose points it is the mean of, default the first"},
        {"points", read_mean_points, false, "those of its points, default all"},
    };
    struct mean_reader reader = {.experiment = experiment, .axis = &experiment->axis[0]};
    reader.mean.name = experiment_yaml_text(yaml, key, "a mean");
    if (!reader.mean.name)
        return false;
    bool is_good = value->type == YAML_SCALAR_NODE
                       ? read_mean_kind(&reader, yaml, value)
                       : experiment_yaml_read_map(yaml, value, "a mean", keys, sizeof keys / sizeof keys[0], &reader);
    if (!is_good)
        return false;
    struct experiment_axis *axis = reader.axis;
    if (experiment_find_point(axis, reader.mean.name) >= 0 || axis->n_points + axis->n_means == EXPERIMENT_MOST_POINTS)
        return experiment_yaml_fail(yaml, key, "the axis '%s' already has '%s'", axis->name, reader.mean.name);
    if (!reader.mean.member) {
        reader.mean.member = BASE_ARENA_ARRAY(yaml->arena, unsigned, axis->n_points);
        for (unsigned i = 0; i < axis->n_points; i++)
            reader.mean.member[reader.mean.n_members++] = i;
    }
    axis->mean[axis->n_means++] = reader.mean;
    return true;
}

static bool read_means(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment *experiment = context;
    if (value->type != YAML_MAPPING_NODE)
        return experiment_yaml_fail(yaml, value, "means takes a map, such as {mean: geometric}");
    for (unsigned a = 0; a < experiment->n_axes; a++)
        experiment->axis[a].mean = BASE_ARENA_ARRAY(yaml->arena, struct experiment_mean, experiment_yaml_count(value));
    for (unsigned i = 0; i < experiment_yaml_count(value); i++)
        if (!read_mean(experiment, yaml, experiment_yaml_key_at(yaml, value, i),
                       experiment_yaml_value_at(yaml, value, i)))
            return false;
    return true;
}

/* ---- Measures ---------------------------------------------------------------------------------------------------- */

struct measure_reader {
    struct experiment *experiment;
    struct experiment_measure_row *measure;
};

static bool read_of(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct measure_reader *reader = context;
    struct experiment_measure_row *measure = reader->measure;
    measure->text = experiment_yaml_text(yaml, value, "a measure");
    if (!measure->text)
        return false;
    measure->expression =
        experiment_parse_expression(measure->text, EXPERIMENT_USE_MEASURE, reader->experiment, &yaml->source,
                                    experiment_yaml_offset(yaml, value), yaml->arena, yaml->diag);
    if (!measure->expression)
        return false;
    if (experiment_uses_base(measure->expression) && !measure->has_base)
        return experiment_yaml_fail(yaml, value,
                                    "'base.' needs the key 'base': the point that this is compared with, such as "
                                    "base: {%s: %s}",
                                    reader->experiment->axis[0].name, reader->experiment->axis[0].point[0].name);
    return true;
}

static bool read_base(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct measure_reader *reader = context;
    if (value->type != YAML_MAPPING_NODE || experiment_yaml_count(value) == 0)
        return experiment_yaml_fail(yaml, value, "base takes a map of axes and points, such as {%s: %s}",
                                    reader->experiment->axis[0].name, reader->experiment->axis[0].point[0].name);
    reader->measure->has_base = true;
    for (unsigned i = 0; i < experiment_yaml_count(value); i++) {
        struct experiment_axis *axis =
            experiment_axis_named(reader->experiment, yaml, experiment_yaml_key_at(yaml, value, i));
        yaml_node_t *node = experiment_yaml_value_at(yaml, value, i);
        const char *name = axis ? experiment_yaml_text(yaml, node, "a point") : NULL;
        if (!name)
            return false;
        int point = experiment_find_point(axis, name);
        if (point < 0 || (unsigned)point >= axis->n_points)
            return experiment_yaml_fail(yaml, node, "the axis '%s' has no point '%s'", axis->name, name);
        reader->measure->base[axis - reader->experiment->axis] = point;
    }
    return true;
}

static bool read_measure_title(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return (((struct measure_reader *)context)->measure->title = experiment_yaml_text(yaml, value, "title"));
}

static bool read_places(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    double places;
    if (!experiment_yaml_number(yaml, value, "places", &places))
        return false;
    if (places < 0 || places > 6)
        return experiment_yaml_fail(yaml, value, "places takes 0 to 6");
    ((struct measure_reader *)context)->measure->places = (unsigned)places;
    return true;
}

static bool is_measure_name(const char *name) {
    if (!isalpha((unsigned char)*name))
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

/* By default bars of the first measure, with the first axis along the figure and the last one side by side. */
static void set_figure_defaults(struct experiment *experiment) {
    experiment->figure = (struct experiment_figure){
        .x = 0, .group = experiment->n_axes > 1 ? (int)experiment->n_axes - 1 : -1, .n_measures = 1};
}

static bool read_measure(struct experiment *experiment, struct experiment_yaml *yaml, yaml_node_t *key,
                         yaml_node_t *node) {
    static const struct experiment_yaml_key keys[] = {
        {"base", read_base, false, "the point that base. means, such as {system: baseline}"},
        {"of", read_of, true, "an expression of statistics, such as ipc / base.ipc"},
        {"title", read_measure_title, false, "what people read"},
        {"places", read_places, false, "digits behind the point, default 2"},
    };
    const char *name = experiment_yaml_text(yaml, key, "a measure");
    if (!name)
        return false;
    if (!is_measure_name(name) || experiment_find_measure(experiment, name) >= 0)
        return experiment_yaml_fail(yaml, key, "the name of a measure is a word of its own, of letters, digits and _");
    struct experiment_measure_row *measure = &experiment->measure[experiment->n_measures];
    *measure = (struct experiment_measure_row){.name = name, .title = name, .places = 2, .base = {-1, -1, -1, -1}};
    struct measure_reader reader = {experiment, measure};
    bool is_good = node->type == YAML_SCALAR_NODE
                       ? read_of(&reader, yaml, node)
                       : experiment_yaml_read_map(yaml, node, "a measure", keys, sizeof keys / sizeof keys[0], &reader);
    experiment->n_measures += is_good;
    return is_good;
}

bool experiment_read_more_measures(struct experiment *experiment, struct experiment_yaml *yaml, yaml_node_t *value) {
    unsigned n_old = experiment->n_measures, n = experiment_yaml_count(value);
    if (value->type != YAML_MAPPING_NODE || n == 0 || n_old + n > EXPERIMENT_MOST_MEASURES)
        return experiment_yaml_fail(yaml, value, "measures takes a map of 1 to %d, such as {ipc: ipc}",
                                    EXPERIMENT_MOST_MEASURES - n_old);
    struct experiment_measure_row *old = experiment->measure;
    experiment->measure = BASE_ARENA_ARRAY(yaml->arena, struct experiment_measure_row, n_old + n);
    for (unsigned i = 0; i < n_old; i++)
        experiment->measure[i] = old[i];
    for (unsigned i = 0; i < n; i++)
        if (!read_measure(experiment, yaml, experiment_yaml_key_at(yaml, value, i),
                          experiment_yaml_value_at(yaml, value, i)))
            return false;
    return true;
}

/* The first key that needs the axes. */
static bool read_measures(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment *experiment = context;
    if (experiment->n_axes == 0)
        return experiment_yaml_fail(yaml, value, "an experiment needs 'programs' or 'axes'");
    set_figure_defaults(experiment);
    return experiment_read_more_measures(experiment, yaml, value);
}

/* ---- The figure -------------------------------------------------------------------------------------------------- */

static bool read_figure_kind(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    unsigned place = 0;
    if (!experiment_yaml_word(yaml, value, "kind", experiment_figure_names, 5, &place))
        return false;
    ((struct experiment *)context)->figure.kind = (enum experiment_figure_kind)place;
    return true;
}

static bool read_x(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment *experiment = context;
    struct experiment_axis *axis = experiment_axis_named(experiment, yaml, value);
    experiment->figure.x = (int)(axis - experiment->axis);
    return axis;
}

static bool read_group(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment *experiment = context;
    struct experiment_axis *axis = experiment_axis_named(experiment, yaml, value);
    experiment->figure.group = (int)(axis - experiment->axis);
    return axis;
}

static bool read_shown(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment *experiment = context;
    struct experiment_figure *figure = &experiment->figure;
    if (value->type != YAML_SEQUENCE_NODE || experiment_yaml_count(value) == 0)
        return experiment_yaml_fail(yaml, value, "measures takes a list of measures");
    figure->n_measures = 0;
    for (unsigned i = 0; i < experiment_yaml_count(value) && i < EXPERIMENT_MOST_MEASURES; i++) {
        yaml_node_t *item = experiment_yaml_item(yaml, value, i);
        const char *name = experiment_yaml_text(yaml, item, "a measure");
        int measure = name ? experiment_find_measure(experiment, name) : -1;
        if (measure < 0)
            return name && experiment_yaml_fail(yaml, item, "no measure '%s'", name);
        figure->measure[figure->n_measures++] = (unsigned)measure;
    }
    return true;
}

static bool read_figure_series(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    static const char *const names[] = {
        "thread_instructions", "channel_busy_cycles", "active_lanes", "resident_blocks", "path", "split", "miss"};
    struct experiment *experiment = context;
    unsigned place = 0;
    if (!experiment_yaml_word(yaml, value, "series", names, sizeof names / sizeof names[0], &place))
        return false;
    experiment->figure.series = names[place];
    return true;
}

static bool read_figure(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    static const struct experiment_yaml_key keys[] = {
        {"kind", read_figure_kind, true, "bars, lines, stacked, series or threads"},
        {"x", read_x, false, "the axis along the figure"},
        {"group", read_group, false, "the axis whose points stand side by side"},
        {"measures", read_shown, false, "a list of measures"},
        {"series", read_figure_series, false, "the time series, or the count of the threads"},
    };
    struct experiment *experiment = context;
    if (!experiment_yaml_read_map(yaml, value, "a figure", keys, sizeof keys / sizeof keys[0], experiment))
        return false;
    bool needs =
        experiment->figure.kind == EXPERIMENT_FIGURE_SERIES || experiment->figure.kind == EXPERIMENT_FIGURE_THREADS;
    if (needs != !!experiment->figure.series)
        return experiment_yaml_fail(yaml, value, "'series' is for the kinds series and threads, which need it");
    return true;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static bool read_largest_size(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    static const char *const sizes[] = {"small", "medium"};
    unsigned place = 0;
    if (!experiment_yaml_word(yaml, value, "size", sizes, 2, &place))
        return false;
    ((struct experiment *)context)->largest_size = sizes[place];
    return true;
}

static bool read_largest_reason(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return (((struct experiment *)context)->largest_why = experiment_yaml_text(yaml, value, "reason"));
}

static bool read_largest(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    static const struct experiment_yaml_key keys[] = {
        {"size", read_largest_size, true, "the largest size that it runs at: small or medium"},
        {"reason", read_largest_reason, true, "why it runs at no larger one"},
    };
    return experiment_yaml_read_map(yaml, value, "the largest size", keys, sizeof keys / sizeof keys[0], context);
}

static bool read_file(struct experiment *experiment, struct experiment_yaml *yaml, yaml_node_t *root) {
    static const struct experiment_yaml_key keys[] = {
        {"source", read_source, false, "the paper, figure and section"},
        {"title", read_title, true, "what it shows, one line"},
        {"result", read_result, false, "what the paper found, one line"},
        {"ours", read_ours, false, "a list: what the paper leaves open, and what was chosen"},
        {"may_refuse", read_may_refuse, false, "true: what a rule forbids leaves its cell empty"},
        {"largest", read_largest, false,
         "the largest size that it runs at, and why, such as {size: medium, reason: ...}"},
        {"run", read_run, false, "what all runs have in common, such as {machine: gtx480}"},
        {"programs", read_programs, false, "a list of programs"},
        {"axes", read_axes, false, "a list of what is varied"},
        {"variations", read_variations, false, "a list of settings; values are the means over them"},
        {"measures", read_measures, true, "a map of what is measured"},
        {"means", read_means, false, "means over the points of an axis"},
        {"numbers", experiment_read_numbers, false, "a list of numbers that the paper prints"},
        {"claims", experiment_read_claims, false, "a list of what the paper claims"},
        {"figure", read_figure, false, "how it is drawn"},
    };
    return experiment_yaml_read_map(yaml, root, "an experiment", keys, sizeof keys / sizeof keys[0], experiment);
}

bool experiment_load(struct experiment *experiment, const char *path, struct base_arena *arena,
                     struct base_diag *diag) {
    struct experiment_yaml yaml = {.arena = arena, .diag = diag};
    *experiment = (struct experiment){.name = name_of_file(path, arena),
                                      .n_variations = 1,
                                      .variation = BASE_ARENA_NEW(arena, struct experiment_settings)};
    yaml_node_t *root = experiment_yaml_open(&yaml, path);
    if (!root)
        return false;
    bool is_good = read_file(experiment, &yaml, root);
    experiment_yaml_close(&yaml);
    return is_good;
}
