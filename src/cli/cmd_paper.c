/* `heddle paper [NAME...]`: measures a table or figure of a paper again and shows our numbers beside the paper's. A
 * result is what was measured: a number that differs from the paper's is no error. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/experiments/experiments.h"
#include "cli/options/output.h"
#include "cli/program/program_options.h"
#include "report/report.h"

struct paper_options {
    unsigned size; /* or CLI_SIZE_NOT_GIVEN */
    uint64_t threads;
    bool is_quiet;
    const char *json, *csv;
};

#define FIELD(name) offsetof(struct paper_options, name)

static const struct cli_option options[] = {
    {"--size", 0, CLI_CHOICE, "small|medium|paper", "input of the workloads that are run, default medium", FIELD(size),
     0, 0},
    CLI_THREADS_ROW(FIELD(threads)),
    {"--json", 0, CLI_TEXT, "FILE|-", "write the numbers as a JSON array", FIELD(json), 0, 0},
    {"--csv", 0, CLI_TEXT, "FILE|-", "write the numbers as CSV, a line for each", FIELD(csv), 0, 0},
    {"--quiet", 'q', CLI_FLAG, NULL, "no table and no progress: only errors", FIELD(is_quiet), 0, 0},
};

const struct cli_command cli_paper_command = {
    .name = "paper",
    .summary = "measure a table or figure of a paper again",
    .usage = "paper [NAME...] [options]",
    .text = "Without a name it lists the experiments. With one or more, it runs them and prints our numbers beside\n"
            "those of the paper. Where it simulates workloads they have size medium, which takes seconds to a\n"
            "minute or two; size paper has the paper's own input and takes longer.\n",
    .examples = "  heddle paper\n"
                "  heddle paper liu2023-fig1\n"
                "  heddle paper narasiman2014-fig8.2 --csv fig8.2.csv\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_paper,
};

static const struct cli_experiment *find_experiment(const char *name) {
    for (unsigned i = 0; i < cli_n_experiments; i++)
        if (strcmp(cli_experiments[i].name, name) == 0)
            return &cli_experiments[i];
    return NULL;
}

static int refuse_experiment(const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < cli_n_experiments; i++)
        base_nearest_offer(&nearest, cli_experiments[i].name);
    if (nearest.best)
        return cli_fail(CLI_USAGE, "no experiment '%s'; did you mean '%s'?", name, nearest.best);
    return cli_fail(CLI_USAGE, "no experiment '%s'; 'heddle paper' lists them", name);
}

/* ---- Showing ----------------------------------------------------------------------------------------------------- */

static void print_list(struct base_arena *arena) {
    struct report_table table = report_table_new(arena, 3);
    memset(table.is_left, true, sizeof table.is_left);
    report_table_cell(&table, "experiment");
    report_table_cell(&table, "what it shows");
    report_table_cell(&table, "the paper's result");
    for (unsigned i = 0; i < cli_n_experiments; i++) {
        report_table_cell(&table, "%s", cli_experiments[i].name);
        report_table_cell(&table, "%s", cli_experiments[i].summary);
        report_table_cell(&table, "%s", cli_experiments[i].paper);
    }
    report_table_print(&table, stdout, false);
}

/* Counts as they are, other numbers with one place. */
static void add_number(struct report_table *table, double value) {
    if (isnan(value))
        report_table_cell(table, "-");
    else
        report_table_cell(table, value == floor(value) ? "%.0f" : "%.1f", value);
}

static void print_results(const struct cli_experiment *experiment, const struct cli_results *results) {
    printf("%s: %s (%s)\n", experiment->name, experiment->summary, experiment->source);
    if (results->conditions)
        printf("%s\n", results->conditions);
    putchar('\n');
    struct report_table table = report_table_new(results->arena, 4);
    table.is_left[1] = true;
    report_table_cell(&table, "%s", "");
    report_table_cell(&table, "%s", "");
    report_table_cell(&table, "ours");
    report_table_cell(&table, "paper");
    for (unsigned i = 0; i < results->count; i++) {
        const struct cli_result *result = &results->item[i];
        report_table_cell(&table, "%s", result->subject);
        report_table_cell(&table, "%s", result->measure);
        add_number(&table, result->ours);
        add_number(&table, result->paper);
    }
    report_table_print(&table, stdout, false);
    for (unsigned i = 0; i < results->count; i++)
        if (results->item[i].note)
            printf("%s %s: %s\n", results->item[i].subject, results->item[i].measure, results->item[i].note);
}

static json_t *results_json(const struct cli_experiment *experiment, const struct cli_results *results) {
    json_t *array = json_array();
    for (unsigned i = 0; i < results->count; i++) {
        const struct cli_result *result = &results->item[i];
        json_t *object =
            json_pack("{s:s, s:s, s:f, s:o}", "subject", result->subject, "measure", result->measure, "ours",
                      result->ours, "paper", isnan(result->paper) ? json_null() : json_real(result->paper));
        if (result->note)
            json_object_set_new(object, "note", json_string(result->note));
        json_array_append_new(array, object);
    }
    json_t *object = json_pack("{s:s, s:s, s:s, s:o}", "name", experiment->name, "source", experiment->source,
                               "summary", experiment->summary, "results", array);
    if (results->conditions)
        json_object_set_new(object, "conditions", json_string(results->conditions));
    return object;
}

/* A text with quotes; ours have none inside. */
static void write_csv_lines(FILE *file, const struct cli_experiment *experiment, const struct cli_results *results) {
    for (unsigned i = 0; i < results->count; i++) {
        const struct cli_result *result = &results->item[i];
        fprintf(file, "%s,%s,\"%s\",%.9g,", experiment->name, result->subject, result->measure, result->ours);
        if (!isnan(result->paper))
            fprintf(file, "%.9g", result->paper);
        fprintf(file, ",\"%s\"\n", result->note ? result->note : "");
    }
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

struct paper {
    struct paper_options given;
    struct cli_words words;
    struct base_arena arena;
    json_t *all;
    FILE *json, *csv;
};

static int run_one(struct paper *paper, const struct cli_experiment *experiment) {
    const struct paper_options *given = &paper->given;
    bool is_shown = !given->is_quiet && !cli_is_stdout(given->json) && !cli_is_stdout(given->csv);
    struct cli_results *results = BASE_ARENA_ARRAY(&paper->arena, struct cli_results, 1);
    results->arena = &paper->arena;
    results->size = given->size == CLI_SIZE_NOT_GIVEN ? CLI_SIZE_MEDIUM : given->size;
    results->n_threads = (unsigned)given->threads;
    results->is_quiet = given->is_quiet;
    int status = experiment->run(results);
    if (status != CLI_DONE)
        return status;
    json_array_append_new(paper->all, results_json(experiment, results));
    if (paper->csv)
        write_csv_lines(paper->csv, experiment, results);
    if (!is_shown)
        return CLI_DONE;
    if (json_array_size(paper->all) > 1)
        putchar('\n');
    print_results(experiment, results);
    return experiment->draw ? experiment->draw(stdout) : CLI_DONE;
}

static bool write_json(FILE *file, const json_t *all) {
    return json_dumpf(all, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', file) != EOF &&
           fflush(file) == 0;
}

static int check_words(const struct paper *paper) {
    const struct paper_options *given = &paper->given;
    for (unsigned i = 0; i < paper->words.count; i++) {
        const char *name = paper->words.item[i];
        const struct cli_experiment *experiment = find_experiment(name);
        if (!experiment)
            return refuse_experiment(name);
        if (given->size != CLI_SIZE_NOT_GIVEN && !experiment->has_sizes)
            return cli_fail(CLI_USAGE, "%s runs no workload: it takes no --size", name);
    }
    return CLI_DONE;
}

static int run_all(struct paper *paper) {
    const struct paper_options *given = &paper->given;
    int status = check_words(paper);
    if (status == CLI_DONE)
        status = cli_open_outputs(given->json, &paper->json, given->csv, &paper->csv);
    if (status != CLI_DONE)
        return status;
    if (paper->csv)
        fputs("experiment,subject,measure,ours,paper,note\n", paper->csv);
    paper->all = json_array();
    for (unsigned i = 0; i < paper->words.count && status == CLI_DONE; i++)
        status = run_one(paper, find_experiment(paper->words.item[i]));
    bool is_written = true;
    if (paper->json)
        is_written &= cli_close_output(given->json, paper->json, write_json(paper->json, paper->all));
    if (paper->csv)
        is_written &= cli_close_output(given->csv, paper->csv, !ferror(paper->csv));
    json_decref(paper->all);
    return status == CLI_DONE && !is_written ? CLI_ERROR : status;
}

int cli_paper(int argc, char **argv) {
    struct paper paper = {.given = {.size = CLI_SIZE_NOT_GIVEN}};
    int status = CLI_DONE;
    if (cli_parse(&cli_paper_command, argc, argv, &paper.given, &paper.words, &paper.arena, &status)) {
        const char *file = paper.given.json ? paper.given.json : paper.given.csv;
        if (paper.words.count)
            status = run_all(&paper);
        else if (file)
            status = cli_fail(CLI_USAGE, "--%s is for results: heddle paper NAME --%s %s",
                              paper.given.json ? "json" : "csv", paper.given.json ? "json" : "csv", file);
        else
            print_list(&paper.arena);
    }
    base_arena_free(&paper.arena);
    return status;
}
