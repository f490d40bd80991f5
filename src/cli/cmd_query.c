/* `heddle query SQL FILE.csv`: runs a query over a table on the simulated GPU. The bundled program `query` reads the
 * query and the table, runs the kernels and prints the rows. This command starts that program and reports the
 * cycles. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "program/execute.h"

struct query_options {
    struct command_machine_options machine;
    const char *scheduler, *divergence, *index;
    unsigned code;
    bool is_quiet, is_verbose;
};

#define FIELD(name) offsetof(struct query_options, name)
#define CODES "plain|extended"

static const struct command_option options[] = {
    {"--index", 0, COMMAND_TEXT, "COLUMN", "build an index on this column: comparisons of it with = search there",
     FIELD(index), 0, 0},
    {"--code", 0, COMMAND_CHOICE, CODES, "kernels for today's GPUs, the default, or with Heddle's own instructions",
     FIELD(code), 0, 0},
    COMMAND_MACHINE_ROW(FIELD(machine)),
    COMMAND_SET_ROW(FIELD(machine)),
    {"--scheduler", 's', COMMAND_TEXT, PROGRAM_SCHEDULER_VALUE, "the warp scheduler, default the machine's",
     FIELD(scheduler), 0, 0},
    {"--divergence", 'd', COMMAND_TEXT, PROGRAM_DIVERGENCE_VALUE, "the divergence model, default the machine's",
     FIELD(divergence), 0, 0},
    {"--quiet", 'q', COMMAND_FLAG, NULL, "print nothing but the rows", FIELD(is_quiet), 0, 0},
    {"--verbose", 'v', COMMAND_FLAG, NULL, "show what each kernel did", FIELD(is_verbose), 0, 0},
};

const struct command cli_query_command = {
    .name = "query",
    .summary = "search a table from a CSV file with SQL, and say how long the simulated GPU takes",
    .usage = "query SQL FILE.csv [options]",
    .text = "The first line of the file names the columns, and the other lines contain 32-bit whole numbers.\n"
            "SQL is\n"
            "\n"
            "  SELECT * | COLUMN, ... | FUNCTION(COLUMN), ...   count, sum, min, max; count(*)\n"
            "  FROM NAME                                        any name: the table is the file\n"
            "  [WHERE COMPARISON AND ...]                       = < > <= >= <>, BETWEEN ... AND ...\n"
            "\n"
            "A comparison is one of a column with a number. The rows go to standard output as CSV, in the order\n"
            "of the file, and the cycles to standard error. The CPU checks the result before it is printed.\n"
            "Reading the file, building the index and copying to the device are not timed.\n",
    .examples = "  heddle query \"SELECT v FROM t WHERE v < 1000\" FILE.csv\n"
                "  heddle query \"SELECT count(*), sum(v) FROM t WHERE v BETWEEN 10 AND 20 AND g <> 3\" FILE.csv\n"
                "  heddle query \"SELECT * FROM t WHERE id = 4711\" FILE.csv --index id -m narasiman2014-db\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_query,
};

struct query {
    struct query_options given;
    struct command_words words;
    struct base_arena arena;
    struct program_place place;
    struct program_target target;
    struct report_target shown;
};

/* Prints one line: all cycles, and those of each kernel. */
static void print_cycles(struct query *query, const struct report_run *run) {
    unsigned n;
    const struct report_kernel *kernel = report_by_name(run, &query->arena, &n);
    fprintf(stderr, "%llu cycles on %s:", (unsigned long long)run->total.counters.cycles, query->shown.machine);
    for (unsigned i = 0; i < n; i++)
        fprintf(stderr, "%s %s %llu", i ? "," : "", kernel[i].name, (unsigned long long)kernel[i].counters.cycles);
    fputc('\n', stderr);
}

/* Returns whether no comparison can use the index, so that the program scans the table. */
static bool is_index_unused(const struct report_run *run) {
    for (unsigned i = 0; i < run->n_launches; i++)
        if (strncmp(run->launch[i].name, "query_find", strlen("query_find")) == 0)
            return false;
    return run->n_launches > 0;
}

static struct command_words program_words(struct query *query) {
    static const char *const codes[] = {"plain", "extended"};
    const char *words[] = {"--sql",  query->words.item[0],     "--table", query->words.item[1],
                           "--code", codes[query->given.code], "--index", query->given.index};
    struct command_words result = {.item =
                                       BASE_ARENA_ARRAY(&query->arena, const char *, sizeof words / sizeof words[0])};
    while (result.count < sizeof words / sizeof words[0] - (query->given.index ? 0 : 2)) {
        result.item[result.count] = words[result.count];
        result.count++;
    }
    return result;
}

static int run_query(struct query *query) {
    struct program_execution execution = {
        .program = {PROGRAM_WORKLOAD, "query", base_arena_printf(&query->arena, "%s/query", query->place.workloads)},
        .place = &query->place,
        .arguments = program_words(query),
        .target = &query->target,
        .shows_progress = !query->given.is_quiet && isatty(STDERR_FILENO),
        .output = PROGRAM_OUTPUT_AS_IS,
    };
    struct report_run run = {.target = &query->shown};
    bool is_said = false;
    int status = program_execute(&execution, &run, &query->arena, &is_said);
    if (status != COMMAND_DONE)
        return is_said ? status : command_fail(status, "%s", run.error);
    if (query->given.is_verbose)
        report_print_run(stderr, &run, false, &query->arena);
    const char *index = query->given.index;
    if (!query->given.is_quiet && index && is_index_unused(&run))
        fprintf(stderr, "heddle: the index on %s was not used, and the table scanned: it serves WHERE %s = NUMBER\n",
                index, index);
    if (!query->given.is_quiet)
        print_cycles(query, &run);
    return COMMAND_DONE;
}

static int prepare_and_run(struct query *query) {
    const struct query_options *given = &query->given;
    if (query->words.count != 2)
        return command_fail(COMMAND_USAGE, "query takes a query in quotes and a CSV file; see 'heddle help query'");
    int status =
        program_make_target(&query->target, &given->machine, given->scheduler, given->divergence, 0, &query->arena);
    if (status != COMMAND_DONE)
        return status;
    query->shown = program_report_target(&query->target);
    return program_find_place(&query->place, &query->arena) ? run_query(query) : COMMAND_ERROR;
}

int cli_query(int argc, char **argv) {
    struct query query = {0};
    int status = COMMAND_DONE;
    if (command_parse(&cli_query_command, argc, argv, &query.given, &query.words, &query.arena, &status))
        status = prepare_and_run(&query);
    base_arena_free(&query.arena);
    return status;
}
