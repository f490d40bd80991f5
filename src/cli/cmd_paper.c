/* `heddle paper [NAME...]`: measures a table or figure of a paper again and shows our numbers beside the paper's. A
 * result is what was measured: a number that differs from the paper's is no error. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/experiments.h"
#include "report/report.h"

struct paper_options {
    const char *json;
};

static const struct cli_option options[] = {
    {"--json", 0, CLI_TEXT, "FILE|-", "write the numbers as a JSON array", offsetof(struct paper_options, json), 0, 0},
};

const struct cli_command cli_paper_command = {
    .name = "paper",
    .summary = "measure a table or figure of a paper again",
    .usage = "paper [NAME...] [options]",
    .text = "Without a name it lists the experiments. With one or more, it runs them and prints our numbers beside\n"
            "those of the paper.\n",
    .examples = "  heddle paper\n"
                "  heddle paper liu2023-fig1\n",
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

static void print_results(const struct cli_experiment *experiment, const struct cli_results *results) {
    printf("%s: %s (%s)\n\n", experiment->name, experiment->summary, experiment->source);
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
        report_table_cell(&table, "%.6g", result->ours);
        if (isnan(result->paper))
            report_table_cell(&table, "-");
        else
            report_table_cell(&table, "%.6g", result->paper);
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
    return json_pack("{s:s, s:s, s:s, s:o}", "name", experiment->name, "source", experiment->source, "summary",
                     experiment->summary, "results", array);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static int run_one(const struct cli_experiment *experiment, struct base_arena *arena, bool is_shown, json_t *all) {
    struct cli_results *results = BASE_ARENA_ARRAY(arena, struct cli_results, 1);
    results->arena = arena;
    int status = experiment->run(results);
    if (status != CLI_DONE)
        return status;
    json_array_append_new(all, results_json(experiment, results));
    if (!is_shown)
        return CLI_DONE;
    if (json_array_size(all) > 1)
        putchar('\n');
    print_results(experiment, results);
    return experiment->draw ? experiment->draw(stdout) : CLI_DONE;
}

static bool write_json(FILE *file, const json_t *all) {
    return json_dumpf(all, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', file) != EOF &&
           fflush(file) == 0;
}

static int run_all(const struct paper_options *given, const struct cli_words *words, struct base_arena *arena) {
    for (unsigned i = 0; i < words->count; i++)
        if (!find_experiment(words->item[i]))
            return refuse_experiment(words->item[i]);
    bool to_stdout = given->json && strcmp(given->json, "-") == 0;
    FILE *file = !given->json ? NULL : to_stdout ? stdout : fopen(given->json, "w");
    if (given->json && !file)
        return cli_fail(CLI_ERROR, "cannot write '%s': %s", given->json, strerror(errno));
    json_t *all = json_array();
    int status = CLI_DONE;
    for (unsigned i = 0; i < words->count && status == CLI_DONE; i++)
        status = run_one(find_experiment(words->item[i]), arena, !to_stdout, all);
    bool is_written = !file || write_json(file, all);
    if (file && !to_stdout && fclose(file) != 0)
        is_written = false;
    json_decref(all);
    return is_written ? status : cli_fail(CLI_ERROR, "cannot write '%s': %s", given->json, strerror(errno));
}

int cli_paper(int argc, char **argv) {
    struct base_arena arena = {0};
    struct paper_options given = {0};
    struct cli_words words = {0};
    int status = CLI_DONE;
    if (cli_parse(&cli_paper_command, argc, argv, &given, &words, &arena, &status)) {
        if (words.count)
            status = run_all(&given, &words, &arena);
        else if (given.json)
            status = cli_fail(CLI_USAGE, "--json is for results: heddle paper NAME --json %s", given.json);
        else
            print_list(&arena);
    }
    base_arena_free(&arena);
    return status;
}
