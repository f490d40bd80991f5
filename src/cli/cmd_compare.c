/* `heddle compare PROGRAM...`: the same programs on several targets, one process for each run, and one table. The rows
 * always have the same order, whichever run ends first. Repetitions differ only in host times. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "command/output.h"
#include "experiment/stored_runs.h"
#include "program/estimate.h"
#include "program/html.h"
#include "program/program_options.h"
#include "program/progress.h"
#include "report/why.h"
#include "sched/sched.h"

struct compare_options {
    struct command_words machines, schedulers, divergence;
    struct command_machine_options machine; /* the options for all machines */
    struct program_options program;
    bool is_quiet, is_verbose, explains;
    const char *where;
    unsigned color;
    uint64_t threads, max_cycles, max_instructions;
    double timeout_seconds, estimate;
    const char *json, *csv, *html;
};

#define FIELD(name) offsetof(struct compare_options, name)

static const struct command_option options[] = {
    {"--scheduler", 's', COMMAND_LIST, PROGRAM_SCHEDULER_VALUE, "a warp scheduler; repeat it, or several in quotes",
     FIELD(schedulers), 0, 0},
    {"--divergence", 'd', COMMAND_LIST, PROGRAM_DIVERGENCE_VALUE, "a divergence model; repeat it, or several in quotes",
     FIELD(divergence), 0, 0},
    {"--machine", 'm', COMMAND_LIST, "NAME|FILE.yaml",
     "a machine; repeat it, or several in quotes; default " CONFIG_DEFAULT_MACHINE, FIELD(machines), 0, 0},
    COMMAND_DRAM_POLICY_ROW(FIELD(machine)),
    COMMAND_SET_ROW(FIELD(machine)),
    COMMAND_DUMP_ROW(FIELD(machine)),
    PROGRAM_THREADS_ROW(FIELD(threads)),
    PROGRAM_ROWS(FIELD(program)),
    PROGRAM_ESTIMATE_ROW(FIELD(estimate)),
    {"--json", 0, COMMAND_TEXT, "FILE|-", "write everything as one JSON object", FIELD(json), 0, 0},
    {"--csv", 0, COMMAND_TEXT, "FILE|-", "write the totals as CSV, a line for each run", FIELD(csv), 0, 0},
    PROGRAM_HTML_ROW(FIELD(html)),
    PROGRAM_MAX_CYCLES_ROW(FIELD(max_cycles)),
    {"--why", 0, COMMAND_FLAG, NULL, "explain each difference by cause, launch and source line, which it records",
     FIELD(explains), 0, 0},
    {"--where", 0, COMMAND_TEXT, "SQL", "of a store of results, only the runs that meet this expression", FIELD(where),
     0, 0},
    {"--timeout", 0, COMMAND_SECONDS, "S", "stop a single run after S seconds", FIELD(timeout_seconds), 0, 0},
    {"--max-instructions", 0, COMMAND_NUMBER, "N", "stop when a warp of a launch has executed about N instructions",
     FIELD(max_instructions), 1, INT64_MAX},
    {"--quiet", 'q', COMMAND_FLAG, NULL, "no table and no progress: only errors", FIELD(is_quiet), 0, 0},
    {"--verbose", 'v', COMMAND_FLAG, NULL, "also show the host's time", FIELD(is_verbose), 0, 0},
    COMMAND_COLOR_ROW(FIELD(color)),
};

const struct command cli_compare_command = {
    .name = "compare",
    .summary = "run programs under several schedulers, divergence models or machines, in one table",
    .usage = "compare PROGRAM...|RESULTS... [options] [-- program arguments]",
    .text = "PROGRAM is as for 'heddle run', and each program gets the words after --. Every combination of the\n"
            "given schedulers, divergence models and machines runs. The other rows of a program are compared\n"
            "with its first row. If the options describe only one row, all schedulers are compared, the\n"
            "machine's own first. A row shows whether its result differs from the CPU reference. Ctrl-C keeps\n"
            "the finished rows.\n"
            "\n"
            "Runs are simultaneous and have separate memory. --threads sets how many run at once and never\n"
            "changes the output. If standard input is a file, every run reads all of it; otherwise standard\n"
            "input is empty.\n"
            "\n"
            "RESULTS are files that run or compare wrote with --json, or stores of results. The runs in them\n"
            "are compared, and nothing is run.\n"
            "\n"
            "A comparison of two runs ends with the causes of their difference: cycles of issue, of idle lanes\n"
            "(divergence), of each stall, before the launch has started (start), without a block (unused) and\n"
            "after the last block (tail). They add up to the difference. With --why, so does every comparison.\n"
            "\n"
            "SIMD is the share of active lanes. The next columns show where the cycles of all SMs went: an\n"
            "instruction issued (active), or none did, because warps waited for memory (memory), for a result\n"
            "(depend.), at a barrier (barrier), for their next instruction (fetch) or for a unit (struct.), or\n"
            "because there were none (empty). Stalls that no run has are left out.\n"
            "\n"
            "Exit status: as for 'heddle run'; 3 if the check of any run failed.\n",
    .examples = "  heddle compare bfs\n"
                "  heddle compare bfs matmul reduction -s lrr -s gto -s two-level:group=8\n"
                "  heddle compare bfs nn ray -d \"stack dws tbc\" --html models.html\n"
                "  heddle compare bfs -m \"gtx480 narasiman2011\" --json bfs.json\n"
                "  heddle compare bfs -s \"lrr gto\" --why\n"
                "  heddle compare sc --size paper -s \"lrr gto\" --estimate\n"
                "  heddle compare before.json after.json\n"
                "  heddle compare ./myapp -s \"lrr gto\" -- --its-own-option\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .has_program = true,
    .main = cli_compare,
};

struct compare {
    struct compare_options given;
    struct command_words words;
    struct program_place place;
    struct base_arena arena;
    struct program *program;
    unsigned n_programs;
    struct program_target *target;
    struct report_target *shown; /* the targets as the report names them */
    unsigned n_targets;
    struct program_jobs jobs; /* all targets of the first program, then of the second... */
    FILE *json, *csv;
    struct program_html html;
};

/* ---- Targets ----------------------------------------------------------------------------------------------------- */

/* Returns the words of all values, or one NULL, for the default, if there is no value. */
static struct command_words split(const struct command_words *values, struct base_arena *arena) {
    size_t most = 1;
    for (unsigned i = 0; i < values->count; i++)
        most += strlen(values->item[i]);
    struct command_words words = {.item = BASE_ARENA_ARRAY(arena, const char *, most)};
    for (unsigned i = 0; i < values->count; i++)
        for (const char *at = values->item[i]; *(at += strspn(at, " \t\n")); at += strcspn(at, " \t\n"))
            words.item[words.count++] = base_arena_copy(arena, at, strcspn(at, " \t\n"));
    if (values->count == 0)
        words.item[words.count++] = NULL;
    return words;
}

/* Lists the machine's own scheduler, with which the others are compared, then the rest of the list. */
static int all_schedulers(struct compare *compare, const struct command_machine_options *machine,
                          struct command_words *words) {
    struct program_target target;
    int status = program_make_target(&target, machine, NULL, NULL, 0, &compare->arena);
    if (status != COMMAND_DONE)
        return status;
    const char *own = target.machine.scheduler;
    size_t count, length = strcspn(own, ":");
    const struct sched_ops *const *list = sched_list(&count);
    *words = (struct command_words){.item = BASE_ARENA_ARRAY(&compare->arena, const char *, count + 1)};
    words->item[words->count++] = base_arena_copy(&compare->arena, own, strlen(own));
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]->name) != length || strncmp(list[i]->name, own, length) != 0)
            words->item[words->count++] = list[i]->name;
    return COMMAND_DONE;
}

static int choose_targets(struct compare *compare) {
    const struct compare_options *given = &compare->given;
    struct command_words machines = split(&given->machines, &compare->arena);
    struct command_words schedulers = split(&given->schedulers, &compare->arena);
    struct command_words divergence = split(&given->divergence, &compare->arena);
    struct command_machine_options machine = given->machine;
    machine.machine = machines.item[0];
    int status = COMMAND_DONE;
    if (!machines.count || !schedulers.count || !divergence.count)
        return command_fail(COMMAND_USAGE, "--%s names nothing",
                            !machines.count     ? "machine"
                            : !schedulers.count ? "scheduler"
                                                : "divergence");
    if (!schedulers.item[0] && machines.count == 1 && divergence.count == 1 && !given->machine.dump)
        status = all_schedulers(compare, &machine, &schedulers);
    size_t most = (size_t)machines.count * schedulers.count * divergence.count;
    compare->target = BASE_ARENA_ARRAY(&compare->arena, struct program_target, most);
    compare->shown = BASE_ARENA_ARRAY(&compare->arena, struct report_target, most);
    for (unsigned i = 0; i < most && status == COMMAND_DONE; i++) {
        machine.machine = machines.item[i / (schedulers.count * divergence.count)];
        struct program_target *target = &compare->target[compare->n_targets];
        status = program_make_target(target, &machine, schedulers.item[i / divergence.count % schedulers.count],
                                     divergence.item[i % divergence.count], given->max_cycles, &compare->arena);
        if (status == COMMAND_DONE)
            compare->shown[compare->n_targets++] = program_report_target(target);
    }
    return status;
}

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

static int find_programs(struct compare *compare) {
    const struct command_words *words = &compare->words;
    compare->n_programs = words->n_before;
    compare->program = BASE_ARENA_ARRAY(&compare->arena, struct program, words->count);
    for (unsigned i = 0; i < compare->n_programs; i++) {
        struct program *program = &compare->program[i];
        int status;
        if (!program_find(program, words->item[i], &compare->place, &compare->arena, &status))
            return status;
        status = program_check_options(program, &compare->given.program);
        if (status != COMMAND_DONE)
            return status;
    }
    return COMMAND_DONE;
}

static void make_jobs(struct compare *compare) {
    const struct compare_options *given = &compare->given;
    struct command_words words = {.item = compare->words.item ? compare->words.item + compare->words.n_before : NULL,
                                  .count = compare->words.count - compare->words.n_before};
    unsigned count = compare->n_programs * compare->n_targets;
    struct program_job *job = BASE_ARENA_ARRAY(&compare->arena, struct program_job, count);
    for (unsigned i = 0; i < count; i++) {
        const struct program *program = &compare->program[i / compare->n_targets];
        job[i].execution = (struct program_execution){
            .program = *program,
            .place = &compare->place,
            .arguments = program_arguments(program, &given->program, &words, &compare->arena),
            .target = &compare->target[i % compare->n_targets],
            .timeout_seconds = given->timeout_seconds,
            .max_instructions = given->max_instructions,
            .keeps_errors = true,
            .is_apart = true,
            .output = PROGRAM_OUTPUT_DROPPED,
        };
        if (given->html)
            program_html_record(&job[i].execution, &job[i].run);
        job[i].execution.records_lines |= given->explains;
        job[i].run.size = program_size(program, &given->program);
        job[i].run.target = &compare->shown[i % compare->n_targets];
    }
    compare->jobs = (struct program_jobs){
        .job = job, .count = count, .at_once = (unsigned)given->threads, .arena = &compare->arena};
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static struct report_comparison collect(struct compare *compare) {
    const struct program_jobs *jobs = &compare->jobs;
    struct report_entry *entry = BASE_ARENA_ARRAY(&compare->arena, struct report_entry, jobs->count);
    struct report_comparison comparison = {.entry = entry,
                                           .n_programs = compare->n_programs,
                                           .n_targets = compare->n_targets,
                                           .is_verbose = compare->given.is_verbose};
    for (unsigned i = 0; i < jobs->count; i++) {
        struct program_job *job = &jobs->job[i];
        const struct program_job *first = &jobs->job[i - i % compare->n_targets];
        if (!program_is_finished(job))
            continue;
        job->run.is_checked = job->status == COMMAND_DONE && job->execution.program.kind == PROGRAM_WORKLOAD &&
                              compare->given.program.has_check;
        bool is_estimated = job != first && job->run.estimate && first->run.estimate;
        entry[comparison.n_entries++] = (struct report_entry){
            .halfwidth = is_estimated ? report_sample_difference(&first->run, &job->run, &compare->arena) : 0,
            .run = &job->run,
            .baseline = program_is_finished(first) ? &first->run : NULL,
            .target_number = i % compare->n_targets,
        };
    }
    return comparison;
}

/* Blocks are drawn if the locale is UTF-8. */
static bool has_blocks(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *locale = getenv(names[i]);
        if (locale && *locale)
            return strcasestr(locale, "UTF-8") || strcasestr(locale, "UTF8");
    }
    return false;
}

/* Explains every run that has another baseline, or the second one of two. */
static void print_why(struct compare *compare, const struct report_comparison *comparison, struct report_style style) {
    if (!compare->given.explains && comparison->n_entries != 2)
        return;
    for (unsigned i = 0; i < comparison->n_entries; i++) {
        const struct report_entry *entry = &comparison->entry[i];
        double speedup = report_speedup(entry);
        if (entry->run == entry->baseline || !(speedup > 0)) /* NaN: one of them failed */
            continue;
        struct report_why why = report_explain(entry->baseline, entry->run, &compare->arena);
        report_print_why(stdout, &why, style, &compare->arena);
    }
}

static void print_table(struct compare *compare, const struct report_comparison *comparison) {
    enum { BAR_WIDTH = 12 };
    struct report_style style = {
        .is_colored = command_is_colored(compare->given.color), .has_blocks = has_blocks(), .bar_width = BAR_WIDTH};
    report_print_comparison(stdout, comparison, style, &compare->arena);
    print_why(compare, comparison, style);
    unsigned n_checked = 0;
    for (unsigned i = 0; i < comparison->n_entries; i++)
        n_checked += comparison->entry[i].run->is_checked;
    if (n_checked && n_checked == comparison->n_entries)
        printf("checked: %s with the CPU reference\n", n_checked == 1 ? "the result agrees" : "all results agree");
}

/* Names the programs, or counts them if there are many. */
static const char *title_of(struct compare *compare) {
    enum { MOST_NAMES = 4 };
    if (compare->n_programs > MOST_NAMES)
        return base_arena_printf(&compare->arena, "%u programs compared", compare->n_programs);
    const char *title = "";
    for (unsigned i = 0; i < compare->n_programs; i++)
        title = base_arena_printf(&compare->arena, "%s%s%s", title, i ? ", " : "", compare->program[i].name);
    return base_arena_printf(&compare->arena, "%s compared", title);
}

static bool write_files(struct compare *compare, const struct report_comparison *comparison) {
    bool is_good = true;
    if (compare->json)
        is_good &= command_close_output(compare->given.json, compare->json,
                                        report_write_comparison_json(compare->json, comparison));
    if (compare->csv)
        is_good &= command_close_output(compare->given.csv, compare->csv,
                                        report_write_comparison_csv(compare->csv, comparison));
    if (compare->html.file)
        is_good &= program_html_write(&compare->html, title_of(compare),
                                      json_pack("[o]", report_comparison_document(comparison, &compare->arena)));
    return is_good;
}

/* Returns how bad an exit status is. The worst one decides the status of all. */
static unsigned severity(int status) {
    static const int order[] = {COMMAND_DONE, COMMAND_STOPPED, COMMAND_ERROR, COMMAND_USAGE, COMMAND_CHECK_FAILED};
    unsigned i = 0;
    while (i < sizeof order / sizeof order[0] - 1 && order[i] != status)
        i++;
    return i;
}

/* The rows name the models if there are several. */
static bool has_several_models(const struct compare *compare) {
    for (unsigned i = 1; i < compare->n_targets; i++)
        if (strcmp(compare->shown[i].divergence, compare->shown[0].divergence) != 0)
            return true;
    return false;
}

/* Prints a line for each executable that never called the driver: its rows are empty. */
static void print_notes(const struct compare *compare) {
    for (unsigned i = 0; i < compare->jobs.count; i += compare->n_targets) {
        const struct program_job *job = &compare->jobs.job[i];
        if (program_is_finished(job) && job->status == COMMAND_DONE && !job->run.has_results &&
            job->execution.program.kind == PROGRAM_EXECUTABLE)
            command_fail(COMMAND_DONE, "%s never called the CUDA driver", job->run.program);
    }
}

/* Prints one line for each failed run. Returns the worst exit status. */
static int print_failures(const struct compare *compare) {
    int worst = COMMAND_DONE;
    bool names_models = has_several_models(compare);
    for (unsigned i = 0; i < compare->jobs.count; i++) {
        const struct program_job *job = &compare->jobs.job[i];
        if (!program_is_finished(job))
            continue;
        if (job->run.error)
            command_fail(COMMAND_ERROR, "%s with %s%s%s on %s: %s", job->run.program, job->run.target->scheduler,
                         names_models ? " and " : "", names_models ? job->run.target->divergence : "",
                         job->run.target->machine, job->run.error);
        if (severity(job->status) > severity(worst))
            worst = job->status;
    }
    return worst;
}

/* Prints the table unless it is not wanted, and writes the files. */
static bool print_and_write(struct compare *compare, const struct report_comparison *comparison) {
    if (!compare->given.is_quiet && !command_is_stdout(compare->given.json) && !command_is_stdout(compare->given.csv) &&
        !command_is_stdout(compare->given.html))
        print_table(compare, comparison);
    return write_files(compare, comparison);
}

static int show(struct compare *compare) {
    struct report_comparison comparison = collect(compare);
    bool is_written = print_and_write(compare, &comparison);
    if (!compare->given.is_quiet)
        print_notes(compare);
    int status = print_failures(compare);
    if (compare->jobs.interrupt)
        return program_report_interrupt(&compare->jobs);
    return status == COMMAND_DONE && !is_written ? COMMAND_ERROR : status;
}

/* ---- Results of earlier runs ------------------------------------------------------------------------------------- */

static bool is_results(const char *word) {
    size_t length = strlen(word);
    return (length > 5 && strcmp(word + length - 5, ".json") == 0) || experiment_is_database(word);
}

/* The runs of all files, those of one program next to each other. */
struct results {
    struct report_run *run;
    struct report_target *target;
    unsigned count, room;
};

static void add_run(struct results *results, const json_t *object, struct base_arena *arena) {
    if (results->count == results->room) {
        unsigned room = 2 * results->room + 16;
        struct report_run *run = BASE_ARENA_ARRAY(arena, struct report_run, room);
        struct report_target *target = BASE_ARENA_ARRAY(arena, struct report_target, room);
        for (unsigned i = 0; i < results->count; i++) {
            run[i] = results->run[i];
            target[i] = results->target[i];
        }
        *results = (struct results){run, target, results->count, room};
    }
    report_read_document(&results->run[results->count], &results->target[results->count], object, arena);
    results->count++;
}

/* Reads the runs of a file. Returns false after one line. */
static bool read_runs(struct results *results, const char *path, const char *where, struct base_arena *arena) {
    json_t *document = cli_read_results(path, where, arena), *runs = json_object_get(document, "runs"), *run;
    size_t i;
    if (!document)
        return false;
    if (json_is_object(json_object_get(document, "total")))
        add_run(results, document, arena);
    json_array_foreach(runs, i, run) add_run(results, run, arena);
    json_decref(document);
    return true;
}

/* Makes the comparison: the runs of each program in the order of the files, the first one as baseline. */
static struct report_comparison compare_results(struct compare *compare, struct results *results) {
    struct report_entry *entry = BASE_ARENA_ARRAY(&compare->arena, struct report_entry, results->count);
    bool *is_taken = BASE_ARENA_ARRAY(&compare->arena, bool, results->count);
    struct report_comparison comparison = {.entry = entry, .is_verbose = compare->given.is_verbose};
    for (unsigned i = 0; i < results->count; i++) {
        unsigned number = 0;
        if (is_taken[i])
            continue;
        comparison.n_programs++;
        for (unsigned k = i; k < results->count; k++) {
            struct report_run *run = &results->run[k];
            if (is_taken[k] || strcmp(run->program, results->run[i].program) != 0)
                continue;
            is_taken[k] = true;
            run->target = run->total.counters.cycles ? &results->target[k] : NULL;
            entry[comparison.n_entries++] =
                (struct report_entry){.run = run, .baseline = &results->run[i], .target_number = number++};
        }
        comparison.n_targets = number > comparison.n_targets ? number : comparison.n_targets;
    }
    return comparison;
}

static int compare_files(struct compare *compare) {
    struct results results = {0};
    for (unsigned i = 0; i < compare->words.n_before; i++)
        if (!is_results(compare->words.item[i]))
            return command_fail(COMMAND_USAGE, "'%s' is no file of results: compare results or programs, not both",
                                compare->words.item[i]);
        else if (!read_runs(&results, compare->words.item[i], compare->given.where, &compare->arena))
            return COMMAND_ERROR;
    struct report_comparison comparison = compare_results(compare, &results);
    for (unsigned i = 0; i < comparison.n_entries; i++)
        if (!comparison.entry[i].run->target)
            return command_fail(COMMAND_ERROR, "a run of '%s' has no cycles: only timed runs can be compared",
                                comparison.entry[i].run->program);
    if (comparison.n_entries < 2)
        return command_fail(COMMAND_USAGE, "compare needs at least two runs, and the results have %u",
                            comparison.n_entries);
    compare->n_programs = comparison.n_programs;
    compare->program = BASE_ARENA_ARRAY(&compare->arena, struct program, comparison.n_programs);
    for (unsigned i = 0, n = 0; i < comparison.n_entries; i++)
        if (comparison.entry[i].run == comparison.entry[i].baseline)
            compare->program[n++].name = comparison.entry[i].run->program;
    int status = command_open_outputs(compare->given.json, &compare->json, compare->given.csv, &compare->csv);
    if (status == COMMAND_DONE)
        status = program_html_open(&compare->html, compare->given.html, &compare->arena);
    if (status != COMMAND_DONE)
        return status;
    return print_and_write(compare, &comparison) ? COMMAND_DONE : COMMAND_ERROR;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int check_options(const struct compare *compare) {
    const struct compare_options *given = &compare->given;
    if (compare->words.n_before == 0 && !given->machine.dump)
        return command_fail(COMMAND_USAGE,
                            "compare needs a program: a workload, a CUDA executable or a .ptx file; see 'heddle "
                            "help compare'");
    const char *file = given->json ? "json" : given->csv ? "csv" : given->html ? "html" : NULL;
    if (given->machine.dump && file)
        return command_fail(COMMAND_USAGE, "--%s is about a run, and --dump-config runs nothing", file);
    if (given->estimate > 0 && (given->explains || given->html))
        return command_fail(COMMAND_USAGE, "%s needs runs that time every launch; --estimate times only some",
                            given->html ? "--html" : "--why");
    return COMMAND_DONE;
}

static int find_and_run(struct compare *compare) {
    if (!program_find_place(&compare->place, &compare->arena))
        return COMMAND_ERROR;
    int status = find_programs(compare);
    if (status == COMMAND_DONE)
        status = command_open_outputs(compare->given.json, &compare->json, compare->given.csv, &compare->csv);
    if (status == COMMAND_DONE)
        status = program_html_open(&compare->html, compare->given.html, &compare->arena);
    if (status != COMMAND_DONE)
        return status;
    make_jobs(compare);
    if (compare->given.estimate > 0)
        status =
            program_estimate_all(&compare->jobs, compare->n_targets, compare->given.estimate, compare->given.is_quiet);
    else
        status = program_execute_with_progress(&compare->jobs, compare->given.is_quiet);
    return status == COMMAND_DONE ? show(compare) : status;
}

static int prepare_and_run(struct compare *compare) {
    int status = check_options(compare);
    if (status == COMMAND_DONE && compare->words.n_before && is_results(compare->words.item[0]))
        return compare_files(compare);
    if (status == COMMAND_DONE)
        status = choose_targets(compare);
    if (status != COMMAND_DONE)
        return status;
    if (!compare->given.machine.dump)
        return find_and_run(compare);
    if (compare->n_targets > 1)
        return command_fail(COMMAND_USAGE,
                            "--dump-config prints one machine with one scheduler and one divergence model");
    fputs(compare->target[0].yaml, stdout);
    return COMMAND_DONE;
}

int cli_compare(int argc, char **argv) {
    struct compare compare = {.given = {.program = PROGRAM_DEFAULTS}};
    int status = COMMAND_DONE;
    if (command_parse(&cli_compare_command, argc, argv, &compare.given, &compare.words, &compare.arena, &status))
        status = prepare_and_run(&compare);
    base_arena_free(&compare.arena);
    return status;
}
