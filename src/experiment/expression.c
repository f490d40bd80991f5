/* Parses and evaluates expressions: recursive descent, one function for each level of precedence. */
#include "experiment/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "stats/counters.h"

enum kind { NUMBER, STATISTIC, CELLS, RUN_FUNCTION, LIST_FUNCTION, NEGATE, NOT, BINARY, CHAIN };
enum { MOST_OPERANDS = 8 };

struct experiment_expression {
    enum kind kind;
    double number;
    const char *name;   /* of a statistic or function */
    const char *series; /* the first operand of a function of a run, if it is a name */
    bool is_base;
    unsigned measure;
    struct experiment_cells cells;
    const char *operator[MOST_OPERANDS]; /* before operand 1, 2... */
    struct experiment_expression *operand[MOST_OPERANDS];
    unsigned n_operands;
};

struct parser {
    const char *text, *at;
    enum experiment_expression_use use;
    const struct experiment *experiment;
    const struct base_source *source;
    size_t offset;
    struct base_arena *arena;
    struct base_diag *diag;
};

#define FAIL(parser, place, ...)                                                                                       \
    (base_diag_error_at((parser)->diag, (parser)->source, (parser)->offset + (size_t)((place) - (parser)->text),       \
                        __VA_ARGS__),                                                                                  \
     NULL)

static struct experiment_expression *new_node(struct parser *parser, enum kind kind) {
    struct experiment_expression *node = BASE_ARENA_NEW(parser->arena, struct experiment_expression);
    node->kind = kind;
    return node;
}

static void skip_blanks(struct parser *parser) { parser->at += strspn(parser->at, " \t\n"); }

static bool is_word_character(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* Takes a symbol, or a word that ends there. */
static bool take(struct parser *parser, const char *symbol) {
    skip_blanks(parser);
    size_t length = strlen(symbol);
    if (strncmp(parser->at, symbol, length) != 0)
        return false;
    if (isalpha((unsigned char)symbol[0]) && is_word_character(parser->at[length]))
        return false;
    parser->at += length;
    return true;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static const char *const run_statistics[] = {
#define STATS_COUNTER(name, when, meaning) #name,
#include "stats/counters.def"
#undef STATS_COUNTER
    "launches", "stalls", /* of an example */
};
enum { N_RUN_STATISTICS = sizeof run_statistics / sizeof run_statistics[0] };

static bool is_statistic(const char *name) {
    for (unsigned i = 0; i < N_RUN_STATISTICS; i++)
        if (strcmp(name, run_statistics[i]) == 0)
            return true;
    for (unsigned i = 0; i < report_n_derived; i++)
        if (strcmp(name, report_derived[i].name) == 0)
            return true;
    return false;
}

static const char *nearest_statistic(const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < N_RUN_STATISTICS; i++)
        base_nearest_offer(&nearest, run_statistics[i]);
    for (unsigned i = 0; i < report_n_derived; i++)
        base_nearest_offer(&nearest, report_derived[i].name);
    return nearest.best;
}

static const struct {
    const char *name;
    bool has_series;
    unsigned n_numbers;
} run_functions[] = {
    {"lanes", false, 2},            /* share of issues with from..to active lanes */
    {"diverged", false, 1},         /* how often groups diverged at the n-th branch of the text, from 1 */
    {"part", true, 2},              /* mean of a time series over part of the time, from and to, 0 to 1 */
    {"within", true, 2},            /* share of a time series' values between from and to */
    {"spread", true, 0},            /* mean distance of the largest value of a sample from the smallest */
    {"threads_diverged", false, 0}, /* share of the threads that ever diverged */
    {"threads_alike", false, 0},    /* correlation of the threads' path lengths and divergences */
    {"threads_spread", true, 0},    /* standard deviation of a count of the threads, divided by its mean */
};
enum { N_RUN_FUNCTIONS = sizeof run_functions / sizeof run_functions[0] };

static const char *const list_functions[] = {"min", "max", "mean", "abs", "rising", "falling", "count"};
enum { N_LIST_FUNCTIONS = sizeof list_functions / sizeof list_functions[0] };

static const char *const series_names[] = {
    "thread_instructions", "channel_busy_cycles", "active_lanes", "resident_blocks", "path", "split", "miss"};

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static bool refuse_point(struct parser *parser, const struct experiment_axis *axis, const char *place,
                         const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < axis->n_points + axis->n_means; i++)
        base_nearest_offer(&nearest, experiment_point_name(axis, i));
    if (nearest.best)
        (void)FAIL(parser, place, "the axis '%s' has no point '%s'; did you mean '%s'?", axis->name, name,
                   nearest.best);
    else
        (void)FAIL(parser, place, "the axis '%s' has no point '%s'; its first is '%s'", axis->name, name,
                   experiment_point_name(axis, 0));
    return false;
}

/* Points of one axis: *, or names separated by |; up to a comma or the bracket. */
static bool read_points(struct parser *parser, unsigned a, struct experiment_cells *cells) {
    const struct experiment_axis *axis = &parser->experiment->axis[a];
    unsigned most = axis->n_points + axis->n_means;
    cells->at[a] = BASE_ARENA_ARRAY(parser->arena, unsigned, most);
    cells->n[a] = 0;
    if (take(parser, "*")) {
        for (unsigned i = 0; i < axis->n_points; i++)
            cells->at[a][cells->n[a]++] = i;
        return true;
    }
    do {
        skip_blanks(parser);
        const char *start = parser->at;
        size_t length = strcspn(start, ",|]");
        parser->at += length;
        while (length && start[length - 1] == ' ')
            length--;
        const char *name = base_arena_copy(parser->arena, start, length);
        int point = experiment_find_point(axis, name);
        if (point < 0)
            return refuse_point(parser, axis, start, name);
        if (cells->n[a] == most)
            return FAIL(parser, start, "more points than the axis '%s' has", axis->name);
        cells->at[a][cells->n[a]++] = (unsigned)point;
    } while (take(parser, "|"));
    return true;
}

static bool read_cells(struct parser *parser, struct experiment_cells *cells) {
    unsigned n_axes = parser->experiment->n_axes;
    for (unsigned a = 0; a < n_axes; a++) {
        if (a > 0 && !take(parser, ","))
            return FAIL(parser, parser->at, "a cell has a point of each of the %u axes: ', ' and one of '%s'", n_axes,
                        parser->experiment->axis[a].name);
        if (!read_points(parser, a, cells))
            return false;
    }
    return take(parser, "]") || FAIL(parser, parser->at, "a cell of %u axes ends with ']'", n_axes);
}

static bool find_measure(struct parser *parser, const char *place, const char *name, unsigned *measure) {
    int found = experiment_find_measure(parser->experiment, name);
    if (found >= 0) {
        *measure = (unsigned)found;
        return true;
    }
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < parser->experiment->n_measures; i++)
        base_nearest_offer(&nearest, parser->experiment->measure[i].name);
    if (nearest.best)
        (void)FAIL(parser, place, "no measure '%s'; did you mean '%s'?", name, nearest.best);
    else
        (void)FAIL(parser, place, "no measure '%s'; the first of this experiment is '%s'", name,
                   parser->experiment->measure[0].name);
    return false;
}

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

static struct experiment_expression *read_any(struct parser *parser);

static bool read_operands(struct parser *parser, struct experiment_expression *node) {
    if (take(parser, ")"))
        return true;
    do {
        if (node->n_operands == MOST_OPERANDS)
            return FAIL(parser, parser->at, "at most %d operands", MOST_OPERANDS);
        node->operand[node->n_operands] = read_any(parser);
        if (!node->operand[node->n_operands++])
            return false;
    } while (take(parser, ","));
    return take(parser, ")") || FAIL(parser, parser->at, "')' is missing");
}

/* The name of a time series or count before the numbers. */
static bool read_series(struct parser *parser, struct experiment_expression *node) {
    for (unsigned i = 0; i < sizeof series_names / sizeof series_names[0]; i++)
        if (take(parser, series_names[i])) {
            node->series = series_names[i];
            take(parser, ",");
            return true;
        }
    return FAIL(parser, parser->at, "%s takes a series first, such as %s", node->name, series_names[0]);
}

static struct experiment_expression *read_call(struct parser *parser, const char *place, const char *name) {
    for (unsigned i = 0; i < N_RUN_FUNCTIONS && parser->use == EXPERIMENT_USE_MEASURE; i++) {
        if (strcmp(run_functions[i].name, name) != 0)
            continue;
        struct experiment_expression *node = new_node(parser, RUN_FUNCTION);
        node->name = run_functions[i].name;
        if (run_functions[i].has_series && !read_series(parser, node))
            return NULL;
        if (!read_operands(parser, node))
            return NULL;
        if (node->n_operands != run_functions[i].n_numbers)
            return FAIL(parser, place, "%s takes %u numbers", name, run_functions[i].n_numbers);
        return node;
    }
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < N_LIST_FUNCTIONS; i++) {
        base_nearest_offer(&nearest, list_functions[i]);
        if (strcmp(list_functions[i], name) != 0)
            continue;
        struct experiment_expression *node = new_node(parser, LIST_FUNCTION);
        node->name = list_functions[i];
        if (!read_operands(parser, node))
            return NULL;
        return node->n_operands ? node : FAIL(parser, place, "%s takes one value at least", name);
    }
    if (nearest.best)
        return FAIL(parser, place, "no function '%s'; did you mean '%s'?", name, nearest.best);
    return FAIL(parser, place, "no function '%s'", name);
}

static struct experiment_expression *read_statistic(struct parser *parser, const char *place, const char *name) {
    struct experiment_expression *node = new_node(parser, STATISTIC);
    node->is_base = strncmp(name, "base.", 5) == 0;
    node->name = node->is_base ? name + 5 : name;
    if (is_statistic(node->name))
        return node;
    const char *nearest = nearest_statistic(node->name);
    if (nearest)
        return FAIL(parser, place, "no statistic '%s'; did you mean '%s'?", node->name, nearest);
    return FAIL(parser, place, "no statistic '%s'; 'heddle list stats' has them", node->name);
}

static struct experiment_expression *read_name(struct parser *parser) {
    const char *start = parser->at;
    while (is_word_character(*parser->at))
        parser->at++;
    const char *name = base_arena_copy(parser->arena, start, (size_t)(parser->at - start));
    if (take(parser, "("))
        return read_call(parser, start, name);
    if (parser->use == EXPERIMENT_USE_MEASURE)
        return read_statistic(parser, start, name);
    struct experiment_expression *node = new_node(parser, CELLS);
    if (!find_measure(parser, start, name, &node->measure))
        return NULL;
    if (!take(parser, "["))
        return FAIL(parser, parser->at, "'%s' needs a cell, such as %s[%s]", name, name,
                    experiment_point_name(&parser->experiment->axis[0], 0));
    return read_cells(parser, &node->cells) ? node : NULL;
}

static struct experiment_expression *read_primary(struct parser *parser) {
    skip_blanks(parser);
    if (take(parser, "(")) {
        struct experiment_expression *inside = read_any(parser);
        if (inside && !take(parser, ")"))
            return FAIL(parser, parser->at, "')' is missing");
        return inside;
    }
    if (isdigit((unsigned char)*parser->at)) {
        struct experiment_expression *node = new_node(parser, NUMBER);
        char *end;
        node->number = strtod(parser->at, &end);
        parser->at = end;
        return node;
    }
    if (isalpha((unsigned char)*parser->at))
        return read_name(parser);
    return FAIL(parser, parser->at, "a number, a name or '(' is missing");
}

static struct experiment_expression *read_sign(struct parser *parser) {
    if (!take(parser, "-"))
        return read_primary(parser);
    struct experiment_expression *node = new_node(parser, NEGATE);
    node->operand[0] = read_sign(parser);
    return node->operand[0] ? node : NULL;
}

/* Operands separated by one of these operators, associated from the left. */
static struct experiment_expression *read_level(struct parser *parser, const char *const *operators, unsigned n,
                                                struct experiment_expression *(*read_operand)(struct parser *)) {
    struct experiment_expression *left = read_operand(parser);
    while (left) {
        unsigned i = 0;
        while (i < n && !take(parser, operators[i]))
            i++;
        if (i == n)
            return left;
        struct experiment_expression *node = new_node(parser, BINARY);
        node->operator[1] = operators[i];
        node->operand[0] = left;
        node->operand[1] = read_operand(parser);
        left = node->operand[1] ? node : NULL;
    }
    return NULL;
}

static struct experiment_expression *read_product(struct parser *parser) {
    static const char *const operators[] = {"*", "/"};
    return read_level(parser, operators, 2, read_sign);
}

static struct experiment_expression *read_sum(struct parser *parser) {
    static const char *const operators[] = {"+", "-"};
    return read_level(parser, operators, 2, read_product);
}

static struct experiment_expression *read_comparison(struct parser *parser) {
    static const char *const operators[] = {"<=", ">=", "<", ">", "="};
    struct experiment_expression *first = read_sum(parser);
    if (!first || parser->use == EXPERIMENT_USE_MEASURE)
        return first;
    struct experiment_expression *chain = new_node(parser, CHAIN);
    chain->operand[chain->n_operands++] = first;
    for (;;) {
        unsigned i = 0;
        while (i < 5 && !take(parser, operators[i]))
            i++;
        if (i == 5)
            return chain->n_operands == 1 ? first : chain;
        if (chain->n_operands == MOST_OPERANDS)
            return FAIL(parser, parser->at, "at most %d comparisons in a chain", MOST_OPERANDS - 1);
        chain->operator[chain->n_operands] = operators[i];
        chain->operand[chain->n_operands] = read_sum(parser);
        if (!chain->operand[chain->n_operands++])
            return NULL;
    }
}

static struct experiment_expression *read_not(struct parser *parser) {
    if (parser->use == EXPERIMENT_USE_MEASURE || !take(parser, "not"))
        return read_comparison(parser);
    struct experiment_expression *node = new_node(parser, NOT);
    node->operand[0] = read_not(parser);
    return node->operand[0] ? node : NULL;
}

static struct experiment_expression *read_and(struct parser *parser) {
    static const char *const operators[] = {"and"};
    return read_level(parser, operators, 1, read_not);
}

static struct experiment_expression *read_any(struct parser *parser) {
    static const char *const operators[] = {"or"};
    return read_level(parser, operators, 1, read_and);
}

struct experiment_expression *experiment_parse_expression(const char *text, enum experiment_expression_use use,
                                                          const struct experiment *experiment,
                                                          const struct base_source *source, size_t offset,
                                                          struct base_arena *arena, struct base_diag *diag) {
    struct parser parser = {text, text, use, experiment, source, offset, arena, diag};
    struct experiment_expression *expression = read_any(&parser);
    skip_blanks(&parser);
    if (expression && *parser.at)
        return FAIL(&parser, parser.at, "'%.16s' is too much: an operator is missing before it, or one value",
                    parser.at);
    return expression;
}

bool experiment_parse_cell(const char *text, const struct experiment *experiment, const struct base_source *source,
                           size_t offset, unsigned *measure, struct experiment_cell *cell, struct base_arena *arena,
                           struct base_diag *diag) {
    struct experiment_expression *node =
        experiment_parse_expression(text, EXPERIMENT_USE_CHECK, experiment, source, offset, arena, diag);
    if (!node)
        return false;
    if (node->kind != CELLS)
        return base_diag_error_at(diag, source, offset, "a number is that of one cell: measure[point, point]");
    *measure = node->measure;
    for (unsigned a = 0; a < experiment->n_axes; a++) {
        if (node->cells.n[a] != 1)
            return base_diag_error_at(diag, source, offset, "a number is that of one cell, not of several");
        cell->at[a] = node->cells.at[a][0];
    }
    return true;
}

/* ---- Evaluation -------------------------------------------------------------------------------------------------- */

static struct experiment_list single(double value, struct base_arena *arena) {
    struct experiment_list list = {BASE_ARENA_ARRAY(arena, double, 1), 1};
    list.item[0] = value;
    return list;
}

static double item_of(const struct experiment_list *list, unsigned i) { return list->item[list->count == 1 ? 0 : i]; }

static double truth(bool is_true) { return is_true ? 1 : 0; }

static double operate(const char *operator, double a, double b) {
    if (isnan(a) || isnan(b))
        return NAN;
    switch (*operator) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return b != 0 ? a / b : NAN;
    case '<':
        return truth(operator[1] ? a <= b : a<b);
    case '>':
        return truth(operator[1] ? a >= b : a> b);
    case '=':
        return truth(a == b);
    case 'a':
        return truth(a != 0 && b != 0);
    default:
        return truth(a != 0 || b != 0);
    }
}

/* Element by element; lists of different lengths have no common result. */
static struct experiment_list operate_lists(const char *operator, struct experiment_list a, struct experiment_list b,
                                            struct base_arena *arena) {
    if (a.count != b.count && a.count != 1 && b.count != 1)
        return single(NAN, arena);
    struct experiment_list list = {.count = a.count > b.count ? a.count : b.count};
    list.item = BASE_ARENA_ARRAY(arena, double, list.count);
    for (unsigned i = 0; i < list.count; i++)
        list.item[i] = operate(operator, item_of(&a, i), item_of(&b, i));
    return list;
}

/* True if all are; one that is false decides, one that is unknown makes the rest unknown. */
static double all_true(struct experiment_list list) {
    double all = 1;
    for (unsigned i = 0; i < list.count; i++) {
        if (list.item[i] == 0)
            return 0;
        if (isnan(list.item[i]))
            all = NAN;
    }
    return all;
}

static double call_list_function(const char *name, const struct experiment_list *operand, unsigned n_operands) {
    double least = INFINITY, most = -INFINITY, sum = 0, before = NAN;
    unsigned n = 0, n_true = 0;
    bool is_rising = true, is_falling = true;
    for (unsigned i = 0; i < n_operands; i++)
        for (unsigned k = 0; k < operand[i].count; k++) {
            double value = operand[i].item[k];
            if (isnan(value))
                return NAN;
            is_rising &= !(value < before);
            is_falling &= !(value > before);
            least = fmin(least, value);
            most = fmax(most, value);
            sum += value;
            n_true += value != 0;
            before = value;
            n++;
        }
    switch (name[0] == 'm' ? name[1] : name[0]) {
    case 'i':
        return least;
    case 'a':
        return name[0] == 'a' ? fabs(sum) : most;
    case 'e':
        return sum / n;
    case 'r':
        return truth(is_rising);
    case 'f':
        return truth(is_falling);
    default:
        return n_true;
    }
}

static struct experiment_list compute_chain(const struct experiment_expression *node,
                                            const struct experiment_meanings *meanings) {
    double all = 1;
    struct experiment_list left = experiment_compute(node->operand[0], meanings);
    for (unsigned i = 1; i < node->n_operands; i++) {
        struct experiment_list right = experiment_compute(node->operand[i], meanings);
        double one = all_true(operate_lists(node->operator[i], left, right, meanings->arena));
        all = all == 0 || one == 0 ? 0 : all + one - 1; /* NaN stays */
        left = right;
    }
    return single(all, meanings->arena);
}

/* Unlike the others, abs() leaves the values apart, so that differences do not cancel out. */
static struct experiment_list compute_abs(const struct experiment_list *list, struct base_arena *arena) {
    struct experiment_list result = {BASE_ARENA_ARRAY(arena, double, list->count), list->count};
    for (unsigned i = 0; i < list->count; i++)
        result.item[i] = fabs(list->item[i]);
    return result;
}

static struct experiment_list compute_function(const struct experiment_expression *node,
                                               const struct experiment_meanings *meanings) {
    struct experiment_list operand[MOST_OPERANDS];
    double number[MOST_OPERANDS];
    for (unsigned i = 0; i < node->n_operands; i++) {
        operand[i] = experiment_compute(node->operand[i], meanings);
        number[i] = operand[i].item[0];
    }
    if (node->kind == LIST_FUNCTION && strcmp(node->name, "abs") == 0 && node->n_operands == 1)
        return compute_abs(&operand[0], meanings->arena);
    double value = node->kind == RUN_FUNCTION
                       ? meanings->function(meanings->context, node->name, node->series, number, node->n_operands)
                       : call_list_function(node->name, operand, node->n_operands);
    return single(value, meanings->arena);
}

struct experiment_list experiment_compute(const struct experiment_expression *node,
                                          const struct experiment_meanings *meanings) {
    struct base_arena *arena = meanings->arena;
    switch (node->kind) {
    case NUMBER:
        return single(node->number, arena);
    case STATISTIC:
        return single(meanings->statistic(meanings->context, node->name, node->is_base), arena);
    case CELLS:
        return meanings->cells(meanings->context, node->measure, &node->cells);
    case RUN_FUNCTION:
    case LIST_FUNCTION:
        return compute_function(node, meanings);
    case NEGATE:
        return operate_lists("-", single(0, arena), experiment_compute(node->operand[0], meanings), arena);
    case NOT: {
        double value = all_true(experiment_compute(node->operand[0], meanings));
        return single(isnan(value) ? NAN : truth(value == 0), arena);
    }
    case BINARY:
        return operate_lists(node->operator[1], experiment_compute(node->operand[0], meanings),
                             experiment_compute(node->operand[1], meanings), arena);
    case CHAIN:
        return compute_chain(node, meanings);
    }
    return single(NAN, arena);
}

void experiment_visit_cells(const struct experiment_expression *node, void *context,
                            void (*visit)(void *context, unsigned measure, const struct experiment_cells *cells)) {
    if (node->kind == CELLS)
        visit(context, node->measure, &node->cells);
    for (unsigned i = 0; i < MOST_OPERANDS; i++)
        if (node->operand[i])
            experiment_visit_cells(node->operand[i], context, visit);
}

bool experiment_uses_base(const struct experiment_expression *node) {
    if (node->kind == STATISTIC && node->is_base)
        return true;
    for (unsigned i = 0; i < MOST_OPERANDS; i++)
        if (node->operand[i] && experiment_uses_base(node->operand[i]))
            return true;
    return false;
}
