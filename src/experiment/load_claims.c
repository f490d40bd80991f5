/* Reads the statements about the paper in an experiment's file: its numbers, its claims, and the runs that show why a
 * claim does not hold. */
#include "experiment/expression.h"
#include "experiment/load.h"

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

struct number_reader {
    struct experiment *experiment;
    struct experiment_number *number;
};

static bool read_number_cell(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct number_reader *reader = context;
    const char *text = experiment_yaml_text(yaml, value, "of");
    return text && experiment_parse_cell(text, reader->experiment, &yaml->source, experiment_yaml_offset(yaml, value),
                                         &reader->number->measure, &reader->number->cell, yaml->arena, yaml->diag);
}

static bool read_number_value(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return experiment_yaml_number(yaml, value, "is", &((struct number_reader *)context)->number->value);
}

static bool read_where(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return (((struct number_reader *)context)->number->where = experiment_yaml_text(yaml, value, "where"));
}

static bool read_note(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return (((struct number_reader *)context)->number->note = experiment_yaml_text(yaml, value, "note"));
}

bool experiment_read_numbers(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    static const struct experiment_yaml_key keys[] = {
        {"of", read_number_cell, true, "a cell: measure[point, point]"},
        {"is", read_number_value, true, "the number that the paper prints"},
        {"where", read_where, false, "the place in the paper"},
        {"note", read_note, false, "what the paper says about it"},
    };
    struct experiment *experiment = context;
    if (value->type != YAML_SEQUENCE_NODE)
        return experiment_yaml_fail(yaml, value, "numbers takes a list, such as - {of: 'gain[mean, lwm]', is: 7.6}");
    experiment->number = BASE_ARENA_ARRAY(yaml->arena, struct experiment_number, experiment_yaml_count(value));
    for (unsigned i = 0; i < experiment_yaml_count(value); i++) {
        struct number_reader reader = {experiment, &experiment->number[i]};
        if (!experiment_yaml_read_map(yaml, experiment_yaml_item(yaml, value, i), "a number", keys,
                                      sizeof keys / sizeof keys[0], &reader))
            return false;
        experiment->n_numbers++;
    }
    return true;
}

/* ---- Runs that show a reason ------------------------------------------------------------------------------------- */

struct shown_reader {
    struct experiment_shown *shown;
    struct experiment_axis *axis; /* NULL: the settings are those of every cell */
    bool *is_changed;             /* points of it */
};

static bool mark_point(struct shown_reader *reader, struct experiment_yaml *yaml, yaml_node_t *node) {
    const char *name = experiment_yaml_text(yaml, node, "a point");
    int point = name ? experiment_find_point(reader->axis, name) : -1;
    if (name && (point < 0 || (unsigned)point >= reader->axis->n_points))
        return experiment_yaml_fail(yaml, node, "the axis '%s' has no point '%s'", reader->axis->name, name);
    if (name)
        reader->is_changed[point] = true;
    return name;
}

static bool read_at(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct shown_reader *reader = context;
    struct experiment *experiment = reader->shown->experiment;
    if (value->type != YAML_MAPPING_NODE || experiment_yaml_count(value) != 1)
        return experiment_yaml_fail(yaml, value, "at takes an axis and one or several of its points, such as {%s: %s}",
                                    experiment->axis[0].name, experiment->axis[0].point[0].name);
    reader->axis = experiment_axis_named(experiment, yaml, experiment_yaml_key_at(yaml, value, 0));
    if (!reader->axis)
        return false;
    reader->is_changed = BASE_ARENA_ARRAY(yaml->arena, bool, reader->axis->n_points);
    yaml_node_t *points = experiment_yaml_value_at(yaml, value, 0);
    if (points->type != YAML_SEQUENCE_NODE)
        return mark_point(reader, yaml, points);
    for (unsigned i = 0; i < experiment_yaml_count(points); i++)
        if (!mark_point(reader, yaml, experiment_yaml_item(yaml, points, i)))
            return false;
    return true;
}

/* On top of all other settings, as a variation is. */
static void change_every_run(struct experiment *experiment, const struct experiment_settings *settings,
                             struct base_arena *arena) {
    const struct experiment_settings *old = experiment->variation;
    experiment->variation = BASE_ARENA_ARRAY(arena, struct experiment_settings, experiment->n_variations);
    for (unsigned i = 0; i < experiment->n_variations; i++) {
        experiment->variation[i] = old[i];
        experiment_add_settings(&experiment->variation[i], settings, arena);
    }
}

static void change_points(struct experiment_axis *axis, const bool *is_changed,
                          const struct experiment_settings *settings, struct base_arena *arena) {
    const struct experiment_point *old = axis->point;
    axis->point = BASE_ARENA_ARRAY(arena, struct experiment_point, axis->n_points);
    for (unsigned i = 0; i < axis->n_points; i++) {
        axis->point[i] = old[i];
        if (is_changed[i])
            experiment_add_settings(&axis->point[i].settings, settings, arena);
    }
}

static bool read_shown_with(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct shown_reader *reader = context;
    struct experiment_shown *shown = reader->shown;
    if (!experiment_read_settings(yaml, value, &shown->with))
        return false;
    if (shown->with.best_of || shown->with.example)
        return experiment_yaml_fail(yaml, value, "with takes the settings of a run, without best_of and example");
    if (reader->axis)
        change_points(reader->axis, reader->is_changed, &shown->with, yaml->arena);
    else
        change_every_run(shown->experiment, &shown->with, yaml->arena);
    return true;
}

static bool read_shown_measures(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return experiment_read_more_measures(((struct shown_reader *)context)->shown->experiment, yaml, value);
}

static bool read_shown_check(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct experiment_shown *shown = ((struct shown_reader *)context)->shown;
    shown->text = experiment_yaml_text(yaml, value, "check");
    if (!shown->text)
        return false;
    shown->check = experiment_parse_expression(shown->text, EXPERIMENT_USE_CHECK, shown->experiment, &yaml->source,
                                               experiment_yaml_offset(yaml, value), yaml->arena, yaml->diag);
    return shown->check;
}

static bool read_shown(struct experiment_shown *shown, const struct experiment *experiment,
                       struct experiment_yaml *yaml, yaml_node_t *node) {
    static const struct experiment_yaml_key keys[] = {
        {"at", read_at, false, "the points that 'with' changes, such as {system: revive}; default every cell"},
        {"with", read_shown_with, false, "settings on top of the experiment's, such as {set: {l2.latency: 300}}"},
        {"measures", read_shown_measures, false, "a map of more measures"},
        {"check", read_shown_check, true, "a comparison of cells under these settings"},
    };
    shown->experiment = BASE_ARENA_NEW(yaml->arena, struct experiment);
    *shown->experiment = *experiment;
    shown->experiment->n_claims = shown->experiment->n_numbers = 0;
    struct shown_reader reader = {.shown = shown};
    return experiment_yaml_read_map(yaml, node, "a run that shows a reason", keys, sizeof keys / sizeof keys[0],
                                    &reader);
}

/* ---- Claims ------------------------------------------------------------------------------------------------------ */

struct claim_reader {
    struct experiment *experiment;
    struct experiment_claim *claim;
};

static bool read_says(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return (((struct claim_reader *)context)->claim->says = experiment_yaml_text(yaml, value, "says"));
}

static bool read_check(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct claim_reader *reader = context;
    reader->claim->text = experiment_yaml_text(yaml, value, "check");
    if (!reader->claim->text)
        return false;
    reader->claim->check =
        experiment_parse_expression(reader->claim->text, EXPERIMENT_USE_CHECK, reader->experiment, &yaml->source,
                                    experiment_yaml_offset(yaml, value), yaml->arena, yaml->diag);
    return reader->claim->check;
}

static bool read_test(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    static const char *const sizes[] = {"small", "medium", "paper"};
    unsigned place = 0;
    if (!experiment_yaml_word(yaml, value, "test", sizes, 3, &place))
        return false;
    ((struct claim_reader *)context)->claim->test = sizes[place];
    return true;
}

static bool read_reason(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    return (((struct claim_reader *)context)->claim->reason = experiment_yaml_text(yaml, value, "reason"));
}

static bool read_shown_by(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    struct claim_reader *reader = context;
    struct experiment_claim *claim = reader->claim;
    unsigned n = experiment_yaml_count(value);
    if (!claim->reason)
        return experiment_yaml_fail(yaml, value, "shown_by is about a reason, and the claim has none");
    if (value->type != YAML_SEQUENCE_NODE || n == 0)
        return experiment_yaml_fail(yaml, value,
                                    "shown_by takes a list of runs, such as - {with: {...}, check: 'a[b] > 1'}");
    claim->shown = BASE_ARENA_ARRAY(yaml->arena, struct experiment_shown, n);
    for (; claim->n_shown < n; claim->n_shown++)
        if (!read_shown(&claim->shown[claim->n_shown], reader->experiment, yaml,
                        experiment_yaml_item(yaml, value, claim->n_shown)))
            return false;
    return true;
}

bool experiment_read_claims(void *context, struct experiment_yaml *yaml, yaml_node_t *value) {
    static const struct experiment_yaml_key keys[] = {
        {"says", read_says, true, "the claim in one sentence"},
        {"check", read_check, true, "a comparison of cells, such as gain[mean, lwm] > 0"},
        {"test", read_test, false, "the size at which a test holds it true: small, medium or paper"},
        {"reason", read_reason, false, "why it does not hold, as measured"},
        {"shown_by", read_shown_by, false, "a list of runs that show the reason, each with its check"},
    };
    struct experiment *experiment = context;
    if (value->type != YAML_SEQUENCE_NODE)
        return experiment_yaml_fail(yaml, value,
                                    "claims takes a list, such as - {says: lwm gains, check: 'gain[lwm] > 0'}");
    experiment->claim = BASE_ARENA_ARRAY(yaml->arena, struct experiment_claim, experiment_yaml_count(value));
    for (unsigned i = 0; i < experiment_yaml_count(value); i++) {
        struct claim_reader reader = {experiment, &experiment->claim[i]};
        if (!experiment_yaml_read_map(yaml, experiment_yaml_item(yaml, value, i), "a claim", keys,
                                      sizeof keys / sizeof keys[0], &reader))
            return false;
        experiment->n_claims++;
    }
    return true;
}
