/* `heddle championship [FILE.so]`: a fixed set of runs, a score, and the rank among all built-in policies. The set of a
 * division is an experiment, experiments/championship/DIVISION.yaml. This command adds the policies to its last axis,
 * whose first point is the baseline. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "command/output.h"
#include "config/plugin.h"
#include "divergence/divergence.h"
#include "experiment/plan.h"
#include "experiment/values.h"
#include "program/place.h"
#include "program/program_options.h"
#include "report/report.h"
#include "sched/sched.h"

enum division { DIVISION_SCHEDULER, DIVISION_DIVERGENCE, DIVISION_OF_ENTRANT };
static const char *const division_names[] = {"scheduler", "divergence"};

struct championship_options {
    unsigned division, color;
    uint64_t threads;
    double time_limit_seconds;
    bool is_quiet, is_forced;
    const char *json, *csv, *store;
};

#define FIELD(name) offsetof(struct championship_options, name)

static const struct command_option options[] = {
    {"--division", 0, COMMAND_CHOICE, "scheduler|divergence", "what competes, default the kind of the shared object",
     FIELD(division), 0, 0},
    PROGRAM_THREADS_ROW(FIELD(threads)),
    {"--json", 0, COMMAND_TEXT, "FILE|-", "write scores and runs as one JSON object", FIELD(json), 0, 0},
    {"--csv", 0, COMMAND_TEXT, "FILE|-", "write the runs as CSV, a line for each", FIELD(csv), 0, 0},
    {"--store", 0, COMMAND_TEXT, "FILE",
     "where results are kept, default $HEDDLE_STORE or ~/.local/share/heddle/results.db", FIELD(store), 0, 0},
    {"--time-limit", 0, COMMAND_SECONDS, "S", "stop after S seconds; the same command continues",
     FIELD(time_limit_seconds), 0, 0},
    {"--force", 0, COMMAND_FLAG, NULL, "repeat runs that the store has", FIELD(is_forced), 0, 0},
    {"--quiet", 'q', COMMAND_FLAG, NULL, "no table and no progress: only errors", FIELD(is_quiet), 0, 0},
    COMMAND_COLOR_ROW(FIELD(color)),
};

const struct command cli_championship_command = {
    .name = "championship",
    .summary = "score a policy on a fixed set of runs and rank it among the built-in ones",
    .usage = "championship [FILE.so[:KEY=VALUE,...]] [options]",
    .text = "Runs a fixed set of programs on two machines with your scheduler or divergence model and with all\n"
            "bundled ones of that kind. The score is the geometric mean of the speed-ups over lrr, or over the\n"
            "model stack. docs/championship.md contains the rules. Without a file, the bundled policies are\n"
            "ranked.\n"
            "\n"
            "The store keeps all runs. A run is repeated only after the simulator or the policy has changed.\n",
    .examples = "  heddle championship\n"
                "  heddle championship ./mine.so\n"
                "  heddle championship ./mine.so:length=8 --json mine.json\n"
                "  heddle championship --division divergence\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_championship,
};

struct entry {
    unsigned point; /* of the last axis */
    const char *policy;
    bool is_entrant, has_score, has_bits;
    double score;
    uint64_t bits;
    unsigned rank; /* 0: none */
};

struct championship {
    const struct championship_options *given;
    unsigned division;
    const char *entrant; /* NULL: none */
    struct experiment experiment;
    struct experiment_plan plan;
    struct experiment_grid grid;
    struct entry *entry;
    unsigned n_entries;
    struct base_arena *arena;
};

/* ---- Policies ---------------------------------------------------------------------------------------------------- */

/* Finds the division. The kind of a shared object decides unless the user does. */
static int choose_division(struct championship *it) {
    char error[512];
    it->division = it->given->division;
    if (it->division != DIVISION_OF_ENTRANT)
        return COMMAND_DONE;
    it->division = DIVISION_SCHEDULER;
    size_t length = it->entrant ? config_plugin_file_length(it->entrant) : 0;
    if (length == 0)
        return COMMAND_DONE;
    const struct heddle_plugin *plugin =
        config_plugin_open(base_arena_copy(it->arena, it->entrant, length), error, sizeof error);
    if (!plugin)
        return command_fail(COMMAND_ERROR, "%s", error);
    if (plugin->kind == HEDDLE_PLUGIN_DRAM_POLICY)
        return command_fail(COMMAND_USAGE, "%s is a DRAM policy; schedulers and divergence models compete",
                            it->entrant);
    it->division = plugin->kind == HEDDLE_PLUGIN_DIVERGENCE ? DIVISION_DIVERGENCE : DIVISION_SCHEDULER;
    return COMMAND_DONE;
}

/* Counts the policy's storage on the machine, as `heddle cost` does. Returns false after one line in `error`. */
static bool count_bits(const struct championship *it, struct entry *entry, const struct config_machine *machine,
                       char *error, size_t size) {
    char formula[1024];
    void *given = NULL;
    const struct sched_ops *scheduler;
    const struct divergence_ops *model;
    if (it->division == DIVISION_SCHEDULER) {
        if (!sched_parse_by(machine->rules, entry->policy, &scheduler, &given, error, size))
            return false;
        entry->has_bits = sched_count_bits(scheduler, given, machine, &entry->bits, formula, sizeof formula);
    } else {
        if (!divergence_parse_by(machine->rules, entry->policy, &model, &given, error, size))
            return false;
        entry->has_bits = model->cost_bits != NULL;
        entry->bits = model->cost_bits ? model->cost_bits(given, machine, formula, sizeof formula) : 0;
    }
    free(given);
    return true;
}

static void add_policy(struct championship *it, const char *name, bool is_entrant) {
    struct experiment_axis *axis = &it->experiment.axis[it->experiment.n_axes - 1];
    int found = experiment_find_point(axis, name);
    if (found < 0) {
        struct experiment_point *point = &axis->point[axis->n_points];
        *point = (struct experiment_point){.name = name};
        if (it->division == DIVISION_SCHEDULER)
            point->settings.scheduler = name;
        else
            point->settings.divergence = name;
        found = (int)axis->n_points++;
    }
    for (unsigned i = 0; i < it->n_entries; i++)
        if (it->entry[i].point == (unsigned)found) {
            it->entry[i].is_entrant |= is_entrant;
            return;
        }
    it->entry[it->n_entries++] = (struct entry){.point = (unsigned)found, .policy = name, .is_entrant = is_entrant};
}

static void add_policies(struct championship *it) {
    size_t n_schedulers, n_models;
    const struct sched_ops *const *scheduler = sched_list(&n_schedulers);
    const struct divergence_ops *const *model = divergence_list(&n_models);
    size_t n = it->division == DIVISION_SCHEDULER ? n_schedulers : n_models;
    it->entry = BASE_ARENA_ARRAY(it->arena, struct entry, n + 1);
    for (size_t i = 0; i < n; i++)
        add_policy(it, it->division == DIVISION_SCHEDULER ? scheduler[i]->name : model[i]->name, false);
    if (it->entrant)
        add_policy(it, it->entrant, true);
}

/* ---- Scores ------------------------------------------------------------------------------------------------------ */

/* The runs of a policy: one for each cell of the other axes. Calls `take` with the cell and the speed-up, or NAN if the
 * run was refused. */
static void each_run(struct championship *it, const struct entry *entry,
                     void (*take)(struct championship *it, const struct entry *entry,
                                  const struct experiment_trial *trial, const struct experiment_cell *cell,
                                  double speedup, void *user),
                     void *user) {
    unsigned last = it->experiment.n_axes - 1, n_cells = experiment_count_cells(&it->experiment);
    for (unsigned number = 0; number < n_cells; number++) {
        struct experiment_cell cell = experiment_cell_of_number(&it->experiment, number);
        if (cell.at[last] == entry->point)
            take(it, entry, experiment_grid_trial(&it->grid, &cell, 0), &cell,
                 experiment_value_in(&it->grid, 0, &cell, 0), user);
    }
}

struct sum {
    double logarithms;
    unsigned n, n_missing;
    const struct config_machine *machine; /* of the first run */
};

static void add_run(struct championship *it, const struct entry *entry, const struct experiment_trial *trial,
                    const struct experiment_cell *cell, double speedup, void *user) {
    (void)it, (void)entry, (void)cell;
    struct sum *sum = user;
    sum->machine = sum->machine || !trial ? sum->machine : &trial->target.machine;
    sum->n++;
    if (isnan(speedup))
        sum->n_missing++;
    else
        sum->logarithms += log(speedup);
}

/* The best first, those without a score last. The order among equal ones is that of the lists. */
static int compare_entries(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    if (a->has_score != b->has_score)
        return a->has_score ? -1 : 1;
    if (a->has_score && a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

static int find_scores(struct championship *it) {
    char error[512];
    for (unsigned i = 0; i < it->n_entries; i++) {
        struct entry *entry = &it->entry[i];
        struct sum sum = {0};
        each_run(it, entry, add_run, &sum);
        if (sum.machine && !count_bits(it, entry, sum.machine, error, sizeof error))
            return command_fail(COMMAND_ERROR, "%s", error);
        entry->has_score = sum.n_missing == 0;
        /* Four decimal places, so that ranks do not depend on the host's mathematics library. */
        entry->score = entry->has_score ? round(exp(sum.logarithms / sum.n) * 1e4) / 1e4 : 0;
    }
    qsort(it->entry, it->n_entries, sizeof *it->entry, compare_entries);
    for (unsigned i = 0; i < it->n_entries && it->entry[i].has_score; i++)
        it->entry[i].rank = i && it->entry[i].score == it->entry[i - 1].score ? it->entry[i - 1].rank : i + 1;
    return COMMAND_DONE;
}

static const struct entry *entrant_of(const struct championship *it) {
    for (unsigned i = 0; i < it->n_entries; i++)
        if (it->entry[i].is_entrant)
            return &it->entry[i];
    return NULL;
}

static const char *baseline_of(const struct championship *it) {
    return it->experiment.axis[it->experiment.n_axes - 1].point[0].name;
}

static uint64_t cycles_of(const struct experiment_trial *trial) {
    const json_t *cycles = json_object_get(json_object_get(trial->result, "total"), "cycles");
    return (uint64_t)json_integer_value(cycles);
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

static void print_ranks(const struct championship *it, bool is_colored) {
    struct report_table table = report_table_new(it->arena, 4);
    table.is_left[0] = false;
    table.is_left[1] = true;
    static const char *const headings[] = {"rank", "policy", "score", "bits of an SM"};
    for (unsigned i = 0; i < 4; i++)
        report_table_cell(&table, "%s", headings[i]);
    for (unsigned i = 0; i < it->n_entries; i++) {
        const struct entry *entry = &it->entry[i];
        if (entry->rank)
            report_table_cell(&table, "%u", entry->rank);
        else
            report_table_cell(&table, "-");
        report_table_cell(&table, "%s%s", entry->policy, entry->is_entrant ? " (yours)" : "");
        if (entry->has_score)
            report_table_cell(&table, "%.4f", entry->score);
        else
            report_table_cell(&table, "refused");
        if (entry->has_bits)
            report_table_count(&table, entry->bits);
        else
            report_table_cell(&table, "-");
    }
    report_table_print(&table, stdout, is_colored);
}

static void add_row(struct championship *it, const struct entry *entry, const struct experiment_trial *trial,
                    const struct experiment_cell *cell, double speedup, void *user) {
    (void)entry;
    struct report_table *table = user;
    report_table_cell(table, "%s", experiment_point_name(&it->experiment.axis[0], cell->at[0]));
    report_table_cell(table, "%s", experiment_point_name(&it->experiment.axis[1], cell->at[1]));
    if (trial && trial->result)
        report_table_count(table, cycles_of(trial));
    else
        report_table_cell(table, "refused");
    if (isnan(speedup))
        report_table_cell(table, "-");
    else
        report_table_cell(table, "%.4f", speedup);
}

static void print_all(struct championship *it) {
    const struct entry *entrant = entrant_of(it);
    bool is_colored = command_is_colored(it->given->color);
    printf("division %s: the geometric mean of the speed-ups over %s\n", division_names[it->division], baseline_of(it));
    print_ranks(it, is_colored);
    if (!entrant)
        return;
    struct report_table table = report_table_new(it->arena, 4);
    table.is_left[1] = true;
    static const char *const headings[] = {"program", "machine", "cycles", "speed-up"};
    for (unsigned i = 0; i < 4; i++)
        report_table_cell(&table, "%s", headings[i]);
    each_run(it, entrant, add_row, &table);
    putchar('\n');
    report_table_print(&table, stdout, is_colored);
    if (entrant->rank)
        printf("\n%s: score %.4f, rank %u of %u\n", entrant->policy, entrant->score, entrant->rank, it->n_entries);
    else
        printf("\n%s: no score, because runs of the set are refused\n", entrant->policy);
}

static json_t *rounded(double value) { return isnan(value) ? json_null() : json_real(round(value * 1e4) / 1e4); }

static void add_json(struct championship *it, const struct entry *entry, const struct experiment_trial *trial,
                     const struct experiment_cell *cell, double speedup, void *user) {
    (void)entry;
    json_t *cycles = trial && trial->result ? json_integer((json_int_t)cycles_of(trial)) : json_null();
    json_array_append_new(user, json_pack("{s:s, s:s, s:o, s:o}", "program",
                                          experiment_point_name(&it->experiment.axis[0], cell->at[0]), "machine",
                                          experiment_point_name(&it->experiment.axis[1], cell->at[1]), "cycles", cycles,
                                          "speedup", rounded(speedup)));
}

static bool write_json(FILE *file, struct championship *it) {
    json_t *entries = json_array();
    for (unsigned i = 0; i < it->n_entries; i++) {
        const struct entry *entry = &it->entry[i];
        json_t *runs = json_array();
        each_run(it, entry, add_json, runs);
        json_array_append_new(entries, json_pack("{s:o, s:s, s:b, s:o, s:o, s:o}", "rank",
                                                 entry->rank ? json_integer(entry->rank) : json_null(), "policy",
                                                 entry->policy, "is_entrant", entry->is_entrant, "score",
                                                 rounded(entry->has_score ? entry->score : NAN), "bits",
                                                 entry->has_bits ? json_integer((json_int_t)entry->bits) : json_null(),
                                                 "runs", runs));
    }
    json_t *all = json_pack("{s:s, s:s, s:s, s:o}", "heddle", HEDDLE_VERSION, "division", division_names[it->division],
                            "baseline", baseline_of(it), "entries", entries);
    bool is_good = json_dumpf(all, file, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) == 0 && fputc('\n', file) != EOF;
    json_decref(all);
    return is_good;
}

static void add_line(struct championship *it, const struct entry *entry, const struct experiment_trial *trial,
                     const struct experiment_cell *cell, double speedup, void *user) {
    FILE *file = user;
    fprintf(file, "%s,\"%s\",", division_names[it->division], entry->policy);
    if (entry->rank)
        fprintf(file, "%u,%.4f,", entry->rank, entry->score);
    else
        fputs(",,", file);
    if (entry->has_bits)
        fprintf(file, "%" PRIu64, entry->bits);
    fprintf(file, ",%s,%s,", experiment_point_name(&it->experiment.axis[0], cell->at[0]),
            experiment_point_name(&it->experiment.axis[1], cell->at[1]));
    if (trial && trial->result)
        fprintf(file, "%" PRIu64 ",%.4f\n", cycles_of(trial), speedup);
    else
        fputs(",\n", file);
}

static bool write_csv(FILE *file, struct championship *it) {
    fputs("division,policy,rank,score,bits,program,machine,cycles,speedup\n", file);
    for (unsigned i = 0; i < it->n_entries; i++)
        each_run(it, &it->entry[i], add_line, file);
    return !ferror(file);
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int load(struct championship *it) {
    struct base_diag diag = {0};
    const char *folder = program_find_championship(it->arena);
    if (!folder)
        return COMMAND_ERROR;
    const char *path = base_arena_printf(it->arena, "%s/%s.yaml", folder, division_names[it->division]);
    if (experiment_load(&it->experiment, path, it->arena, &diag))
        return COMMAND_DONE;
    return command_fail(COMMAND_ERROR, "%.*s", (int)strcspn(diag.text, "\n"), diag.text);
}

/* A mistake in the entrant's text should not wait for the runs. */
static int check_entrant(const struct championship *it) {
    char error[512];
    struct entry entry = {.policy = it->entrant};
    struct config_machine machine;
    config_defaults(&machine);
    if (it->entrant && !count_bits(it, &entry, &machine, error, sizeof error))
        return command_fail(COMMAND_USAGE, "%s", error);
    return COMMAND_DONE;
}

/* Runs the cells with is_needed[number], or all if it is NULL. */
static int run_cells(struct championship *it, struct experiment_store *store, const bool *is_needed) {
    struct experiment_plan_options run = {.at_once = (unsigned)it->given->threads,
                                          .is_quiet = it->given->is_quiet,
                                          .time_limit_seconds = it->given->time_limit_seconds,
                                          .is_forced = it->given->is_forced};
    int status = experiment_plan_start(&it->plan, it->experiment.common.size, it->arena);
    if (status == COMMAND_DONE)
        status = experiment_plan_add(&it->plan, &it->grid, &it->experiment, is_needed);
    return status == COMMAND_DONE ? experiment_run_plan(&it->plan, store, &run) : status;
}

/* Makes the first run of the entrant alone: if the policy is broken, one line says so. */
static int try_entrant(struct championship *it, struct experiment_store *store) {
    const struct entry *entrant = entrant_of(it);
    if (!entrant)
        return COMMAND_DONE;
    bool *is_needed = BASE_ARENA_ARRAY(it->arena, bool, experiment_count_cells(&it->experiment));
    struct experiment_cell cell = {0};
    cell.at[it->experiment.n_axes - 1] = entrant->point;
    is_needed[experiment_number_of_cell(&it->experiment, &cell)] = true;
    int status = run_cells(it, store, is_needed);
    experiment_plan_end(&it->plan);
    return status;
}

static int run_all(struct championship *it) {
    struct experiment_store *store = NULL;
    int status = experiment_store_open(&store, experiment_store_path(it->given->store, it->arena));
    if (status == COMMAND_DONE)
        status = try_entrant(it, store);
    if (status == COMMAND_DONE)
        status = run_cells(it, store, NULL);
    experiment_store_close(store);
    return status == COMMAND_DONE ? find_scores(it) : status;
}

static int run_and_show(struct championship *it) {
    FILE *json = NULL, *csv = NULL;
    int status = command_open_outputs(it->given->json, &json, it->given->csv, &csv);
    if (status == COMMAND_DONE)
        status = run_all(it);
    bool is_good = status == COMMAND_DONE;
    if (is_good && !it->given->is_quiet && !command_is_stdout(it->given->json) && !command_is_stdout(it->given->csv))
        print_all(it);
    bool is_written = true;
    if (json)
        is_written &= command_close_output(it->given->json, json, !is_good || write_json(json, it));
    if (csv)
        is_written &= command_close_output(it->given->csv, csv, !is_good || write_csv(csv, it));
    experiment_plan_end(&it->plan);
    return is_good && !is_written ? COMMAND_ERROR : status;
}

int cli_championship(int argc, char **argv) {
    struct base_arena arena = {0};
    struct championship_options given = {.division = DIVISION_OF_ENTRANT, .color = COMMAND_COLOR_AUTO};
    struct command_words words = {0};
    struct championship it = {.given = &given, .arena = &arena};
    int status = COMMAND_DONE;
    if (command_parse(&cli_championship_command, argc, argv, &given, &words, &arena, &status)) {
        if (words.count > 1)
            status = command_fail(COMMAND_USAGE, "one policy competes at a time, not '%s' as well", words.item[1]);
        it.entrant = words.count ? words.item[0] : NULL;
        if (status == COMMAND_DONE)
            status = choose_division(&it);
        if (status == COMMAND_DONE)
            status = check_entrant(&it);
        if (status == COMMAND_DONE)
            status = load(&it);
        if (status == COMMAND_DONE) {
            add_policies(&it);
            status = run_and_show(&it);
        }
    }
    base_arena_free(&arena);
    return status;
}
