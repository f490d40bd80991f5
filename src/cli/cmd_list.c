/* `heddle list [WHAT]`: what comes with Heddle. A kind of thing is one row of `kinds`. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "report/report.h"

struct list_options {
    bool names, json;
};

static const struct cli_option options[] = {
    {"--names", 0, CLI_FLAG, NULL, "the names alone, one on a line", offsetof(struct list_options, names), 0, 0},
    {"--json", 0, CLI_FLAG, NULL, "an array of JSON objects", offsetof(struct list_options, json), 0, 0},
};

const struct cli_command cli_list_command = {
    .name = "list",
    .summary = "list the bundled workloads, or the statistics of a run",
    .usage = "list [workloads|stats|commands] [options]",
    .text = "Without a word it lists the workloads. Grid and block are those at size small.\n",
    .examples = "  heddle list\n"
                "  heddle list workloads --names\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_list,
};

/* ---- Workloads --------------------------------------------------------------------------------------------------- */

static void workload_rows(struct report_table *table) {
    report_table_cell(table, "workload");
    report_table_cell(table, "grid x block");
    report_table_cell(table, "papers");
    report_table_cell(table, "what it does");
    for (unsigned i = 0; i < cli_n_workloads; i++) {
        const struct cli_workload *workload = &cli_workloads[i];
        report_table_cell(table, "%s", workload->name);
        report_table_cell(table, "%s", workload->shape);
        report_table_cell(table, "%s", workload->papers);
        report_table_cell(table, "%s", workload->summary);
    }
}

static const char *workload_name(unsigned i) { return i < cli_n_workloads ? cli_workloads[i].name : NULL; }

static json_t *workload_json(unsigned i) {
    const struct cli_workload *workload = &cli_workloads[i];
    return json_pack("{s:s, s:s, s:s, s:s}", "name", workload->name, "summary", workload->summary, "papers",
                     workload->papers, "shape", workload->shape);
}

/* ---- Statistics -------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *meaning;
} statistics[] = {
#define REPORT_COUNTER(name, meaning) {#name, meaning},
#include "report/counters.def"
#undef REPORT_COUNTER
    {"average_active_threads", "thread_instructions / warp_instructions"},
    {"simd_efficiency", "average_active_threads / 32: active lanes of the lanes issued"},
};
enum { N_STATISTICS = sizeof statistics / sizeof statistics[0] };

static void statistic_rows(struct report_table *table) {
    table->n_columns = 2;
    report_table_cell(table, "statistic");
    report_table_cell(table, "what it counts");
    for (unsigned i = 0; i < N_STATISTICS; i++) {
        report_table_cell(table, "%s", statistics[i].name);
        report_table_cell(table, "%s", statistics[i].meaning);
    }
}

static const char *statistic_name(unsigned i) { return i < N_STATISTICS ? statistics[i].name : NULL; }

static json_t *statistic_json(unsigned i) {
    return json_pack("{s:s, s:s}", "name", statistics[i].name, "summary", statistics[i].meaning);
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static void command_rows(struct report_table *table) {
    table->n_columns = 2;
    report_table_cell(table, "command");
    report_table_cell(table, "what it does");
    for (unsigned i = 0; i < cli_n_commands; i++) {
        report_table_cell(table, "%s", cli_commands[i]->name);
        report_table_cell(table, "%s", cli_commands[i]->summary);
    }
}

static const char *command_name(unsigned i) { return i < cli_n_commands ? cli_commands[i]->name : NULL; }

static json_t *command_json(unsigned i) {
    return json_pack("{s:s, s:s}", "name", cli_commands[i]->name, "summary", cli_commands[i]->summary);
}

/* ---- Kinds ------------------------------------------------------------------------------------------------------- */

struct list_kind {
    const char *name;
    void (*rows)(struct report_table *table);
    const char *(*item_name)(unsigned i); /* NULL behind the last */
    json_t *(*item_json)(unsigned i);
};

static const struct list_kind kinds[] = {
    {"workloads", workload_rows, workload_name, workload_json},
    {"stats", statistic_rows, statistic_name, statistic_json},
    {"commands", command_rows, command_name, command_json},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static int print_json(const struct list_kind *kind) {
    json_t *array = json_array();
    for (unsigned i = 0; kind->item_name(i); i++)
        json_array_append_new(array, kind->item_json(i));
    int failed = json_dumpf(array, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(array);
    return failed ? cli_fail(CLI_ERROR, "cannot write to standard output") : CLI_DONE;
}

static int print_kind(const struct list_kind *kind, const struct list_options *given, struct base_arena *arena) {
    if (given->json)
        return print_json(kind);
    if (given->names) {
        for (unsigned i = 0; kind->item_name(i); i++)
            puts(kind->item_name(i));
        return CLI_DONE;
    }
    struct report_table table = report_table_new(arena, 4);
    memset(table.is_left, true, sizeof table.is_left);
    kind->rows(&table);
    report_table_print(&table, stdout, false);
    return CLI_DONE;
}

static int refuse_kind(const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < N_KINDS; i++)
        base_nearest_offer(&nearest, kinds[i].name);
    if (nearest.best)
        return cli_fail(CLI_USAGE, "no list '%s'; did you mean '%s'?", name, nearest.best);
    return cli_fail(CLI_USAGE, "no list '%s'; there are: workloads, stats, commands", name);
}

int cli_list(int argc, char **argv) {
    struct base_arena arena = {0};
    struct list_options given = {0};
    struct cli_words words = {0};
    int status = CLI_DONE;
    if (cli_parse(&cli_list_command, argc, argv, &given, &words, &arena, &status)) {
        const char *name = words.count ? words.item[0] : kinds[0].name;
        unsigned i = 0;
        while (i < N_KINDS && strcmp(kinds[i].name, name) != 0)
            i++;
        if (words.count > 1)
            status = cli_fail(CLI_USAGE, "list takes one word, not '%s' too", words.item[1]);
        else
            status = i < N_KINDS ? print_kind(&kinds[i], &given, &arena) : refuse_kind(name);
    }
    base_arena_free(&arena);
    return status;
}
