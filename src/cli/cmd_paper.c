/* `heddle paper [NAME...]`: repeats the measurements of papers' tables and figures and shows our numbers beside the
 * papers'. A number that differs from the paper's is a result, not an error. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "command/output.h"
#include "experiment/session.h"
#include "program/program_options.h"
#include "report/report.h"

struct paper_options {
    bool all;
    struct experiment_session_options session;
};

#define FIELD(name) offsetof(struct paper_options, name)

static const struct command_option options[] = {
    {"--all", 'a', COMMAND_FLAG, NULL, "every experiment", FIELD(all), 0, 0},
    EXPERIMENT_SESSION_ROWS(FIELD(session)),
};

const struct command cli_paper_command = {
    .name = "paper",
    .summary = "measure tables and figures of papers again",
    .usage = "paper [NAME...|--all] [options]",
    .text = "Without a name it lists the experiments. With one or more names, it runs them, prints our numbers\n"
            "beside the paper's, and judges the paper's claims. Workloads have size medium unless --size or the\n"
            "experiment says otherwise. Runs are simultaneous, each in a separate process.\n"
            "\n"
            "A claim that does not hold is explained if its file names runs that show why. --reasons repeats\n"
            "these runs, for the named experiments or for all, and says which still show it.\n"
            "\n"
            "The store keeps each run as soon as it ends. A run is repeated only after the simulator or the\n"
            "program has changed. Ctrl-C or --time-limit shows the results so far, and the same command\n"
            "continues from there.\n"
            "\n"
            "An experiment is a YAML file: docs/experiments.md explains it, and 'heddle sweep' runs your own.\n",
    .examples = "  heddle paper\n"
                "  heddle paper liu2023-fig1\n"
                "  heddle paper narasiman2011-fig9 --size small --plot fig9.svg\n"
                "  heddle paper narasiman2011-fig9 --html fig9.html\n"
                "  heddle paper --reasons meng2010-fig13\n"
                "  heddle paper --all --size paper --report results.md\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_paper,
};

static int refuse_experiment(const struct experiment_set *experiments, const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < experiments->count; i++)
        base_nearest_offer(&nearest, experiments->item[i].name);
    if (nearest.best)
        return command_fail(COMMAND_USAGE, "no experiment '%s'; did you mean '%s'?", name, nearest.best);
    return command_fail(COMMAND_USAGE, "no experiment '%s'; 'heddle paper' lists them", name);
}

static void print_list(const struct experiment_set *experiments, struct base_arena *arena) {
    struct report_table table = report_table_new(arena, 3);
    memset(table.is_left, true, sizeof table.is_left);
    report_table_cell(&table, "experiment");
    report_table_cell(&table, "what it shows");
    report_table_cell(&table, "the paper's result");
    for (unsigned i = 0; i < experiments->count; i++) {
        const struct experiment *experiment = &experiments->item[i];
        report_table_cell(&table, "%s", experiment->name);
        report_table_cell(&table, "%s", experiment->title);
        report_table_cell(&table, "%s", experiment->result ? experiment->result : "-");
    }
    report_table_print(&table, stdout, false);
}

static int run(struct paper_options *given, const struct command_words *words, struct base_arena *arena) {
    static const char *every = "--all";
    struct experiment_session_options *session = &given->session;
    const char *file = session->json     ? "json"
                       : session->csv    ? "csv"
                       : session->plot   ? "plot"
                       : session->report ? "report"
                       : session->html   ? "html"
                                         : NULL;
    if (words->count == 0 && !given->all && file)
        return command_fail(COMMAND_USAGE, "--%s is for results: heddle paper NAME --%s FILE", file, file);
    if (words->count && given->all)
        return command_fail(COMMAND_USAGE, "--all is every experiment, '%s' among them", words->item[0]);
    struct experiment_set experiments;
    int status = experiment_load_all(&experiments, arena);
    if (status != COMMAND_DONE)
        return status;
    bool all = given->all || (session->is_reasons && words->count == 0);
    if (words->count == 0 && !all) {
        print_list(&experiments, arena);
        return COMMAND_DONE;
    }
    unsigned count = all ? experiments.count : words->count;
    const struct experiment **chosen = BASE_ARENA_ARRAY(arena, const struct experiment *, count);
    for (unsigned i = 0; i < count; i++) {
        chosen[i] = all ? &experiments.item[i] : experiment_find(&experiments, words->item[i]);
        if (!chosen[i])
            return refuse_experiment(&experiments, words->item[i]);
    }
    experiment_note_words(session, "paper", given->all ? &(struct command_words){.item = &every, .count = 1} : words,
                          arena);
    return experiment_run_session(session, chosen, count, arena);
}

int cli_paper(int argc, char **argv) {
    struct base_arena arena = {0};
    struct paper_options given = {.session = {.size = PROGRAM_SIZE_NOT_GIVEN}};
    struct command_words words = {0};
    int status = COMMAND_DONE;
    if (command_parse(&cli_paper_command, argc, argv, &given, &words, &arena, &status))
        status = run(&given, &words, &arena);
    base_arena_free(&arena);
    return status;
}
