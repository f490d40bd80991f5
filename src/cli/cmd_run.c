/* `heddle run PROGRAM`: options in, one run, its table, JSON or CSV out. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/execute.h"

static const uint64_t not_given = UINT64_MAX;
enum { NO_SIZE = UINT_MAX };
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct run_options {
    bool is_functional, has_check, is_quiet, is_verbose;
    unsigned size, color;
    uint64_t seed, blocks, threads_per_block, shared_bytes, max_instructions;
    double timeout_seconds;
    const char *json, *csv, *kernel, *grid, *block;
    struct cli_words arguments;
};

#define SIZES "small|medium|paper"
#define FIELD(name) offsetof(struct run_options, name)

static const struct cli_option options[] = {
    {"--functional", 0, CLI_FLAG, NULL, "execute without timing", FIELD(is_functional), 0, 0},
    {"--size", 0, CLI_CHOICE, SIZES, "input of a bundled workload, default small", FIELD(size), 0, 0},
    {"--seed", 0, CLI_NUMBER, "N", "seed of a bundled workload's input", FIELD(seed), 0, UINT32_MAX},
    {"--blocks", 0, CLI_NUMBER, "N", "blocks of a bundled workload's grid", FIELD(blocks), 1, UINT32_MAX},
    {"--threads-per-block", 0, CLI_NUMBER, "N", "threads of a bundled workload's blocks", FIELD(threads_per_block), 1,
     UINT32_MAX},
    {"--no-check", 0, CLI_NO_FLAG, NULL, "skip a bundled workload's CPU reference", FIELD(has_check), 0, 0},
    {"--kernel", 0, CLI_TEXT, "NAME", "kernel of a .ptx file, if it has several", FIELD(kernel), 0, 0},
    {"--grid", 0, CLI_TEXT, "X[,Y[,Z]]", "blocks of a .ptx file's grid, default 1", FIELD(grid), 0, 0},
    {"--block", 0, CLI_TEXT, "X[,Y[,Z]]", "threads of its blocks, default 32", FIELD(block), 0, 0},
    {"--shared", 0, CLI_NUMBER, "BYTES", "dynamic shared memory of its blocks", FIELD(shared_bytes), 0, INT32_MAX},
    {"--arg", 0, CLI_LIST, "VALUE", "an argument of its kernel; repeat it, in order", FIELD(arguments), 0, 0},
    {"--json", 0, CLI_TEXT, "FILE|-", "write the statistics as one JSON object", FIELD(json), 0, 0},
    {"--csv", 0, CLI_TEXT, "FILE|-", "write the statistics as CSV, a line for each launch", FIELD(csv), 0, 0},
    {"--timeout", 0, CLI_SECONDS, "S", "stop after S seconds, with what there is", FIELD(timeout_seconds), 0, 0},
    {"--max-instructions", 0, CLI_NUMBER, "N", "stop when a warp of a launch has executed about N instructions",
     FIELD(max_instructions), 1, INT64_MAX},
    {"--quiet", 'q', CLI_FLAG, NULL, "no table: only the program's own output, and errors", FIELD(is_quiet), 0, 0},
    {"--verbose", 'v', CLI_FLAG, NULL, "say what is run, and why the driver refuses a call", FIELD(is_verbose), 0, 0},
    {"--color", 0, CLI_CHOICE, "auto|always|never", "when to colour the table, default auto", FIELD(color), 0, 0},
};

const struct cli_command cli_run_command = {
    .name = "run",
    .summary = "run one program",
    .usage = "run PROGRAM [program arguments] [options]",
    .text = "PROGRAM is the name of a bundled workload ('heddle list workloads'), the path of a CUDA\n"
            "executable, or a .ptx file. Options may stand before or after it; other words, and everything\n"
            "after --, go to the program. FILE - is standard output; the program's own output then goes\n"
            "to standard error.\n"
            "\n"
            "VALUE of --arg is one of\n"
            "  TYPE:NUMBER             a number: u8 to u64, s8 to s64, b8 to b64, f32, f64\n"
            "  buf:BYTES               a pointer to a zeroed buffer\n"
            "  buf:TYPE[N]             the same, of N numbers\n"
            "  buf:TYPE[N]=CONTENT     filled: iota (0, 1, 2...), random, or numbers with commas, the last repeated\n"
            "  out:...                 as buf:, and its content is printed after the run\n"
            "\n"
            "Exit status: 0 done, 1 an error of the user or the program, 2 wrong usage, 3 a check failed,\n"
            "4 stopped by a limit or an interrupt.\n",
    .examples = "  heddle run bfs --functional\n"
                "  heddle run matmul --functional --size medium --json result.json\n"
                "  heddle run ./myapp --functional -- --its-own-option\n"
                "  heddle run saxpy.ptx --functional --grid 4 --block 256 \\\n"
                "      --arg f32:2 --arg buf:f32[1024]=iota --arg out:f32[1024] --arg u32:1024\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .has_program = true,
    .main = cli_run,
};

static const char *const size_names[] = {"small", "medium", "paper"};

/* One run and all that it needs. */
struct run {
    struct run_options given;
    struct cli_words words;
    struct cli_place place;
    struct cli_execution execution;
    struct base_arena arena;
    FILE *json, *csv;
};

/* ---- Arguments of the program ------------------------------------------------------------------------------------ */

static void add_argument(struct run *run, const char *word) {
    struct cli_words *arguments = &run->execution.arguments;
    arguments->item[arguments->count++] = word;
}

static void add_option(struct run *run, const char *name, const char *value) {
    if (!value)
        return;
    add_argument(run, name);
    add_argument(run, value);
}

static void add_number(struct run *run, const char *name, uint64_t value) {
    if (value != not_given)
        add_option(run, name, base_arena_printf(&run->arena, "%llu", (unsigned long long)value));
}

static void add_arguments(struct run *run) {
    const struct run_options *given = &run->given;
    enum { FIXED = 32 }; /* more than the options that are passed on, with their values */
    size_t most = FIXED + run->words.count + 2 * (size_t)given->arguments.count;
    run->execution.arguments.item = BASE_ARENA_ARRAY(&run->arena, const char *, most);
    if (run->execution.program.kind == CLI_PROGRAM_WORKLOAD) {
        add_option(run, "--size", size_names[given->size]);
        add_number(run, "--seed", given->seed);
        add_number(run, "--blocks", given->blocks);
        add_number(run, "--threads-per-block", given->threads_per_block);
        if (!given->has_check)
            add_argument(run, "--no-check");
    } else if (run->execution.program.kind == CLI_PROGRAM_PTX) {
        add_argument(run, run->execution.program.name);
        add_option(run, "--kernel", given->kernel);
        add_option(run, "--grid", given->grid);
        add_option(run, "--block", given->block);
        add_number(run, "--shared", given->shared_bytes);
        for (unsigned i = 0; i < given->arguments.count; i++)
            add_option(run, "--arg", given->arguments.item[i]);
    }
    for (unsigned i = 1; i < run->words.count; i++)
        add_argument(run, run->words.item[i]);
}

/* ---- Mistakes ---------------------------------------------------------------------------------------------------- */

/* An option that the program at hand has no use for is a mistake, not a wish. */
static int check_kind(const struct run *run) {
    const struct run_options *given = &run->given;
    enum cli_program_kind kind = run->execution.program.kind;
    const char *for_workload = given->size != NO_SIZE                  ? "--size"
                               : given->seed != not_given              ? "--seed"
                               : given->blocks != not_given            ? "--blocks"
                               : given->threads_per_block != not_given ? "--threads-per-block"
                               : !given->has_check                     ? "--no-check"
                                                                       : NULL;
    const char *for_ptx = given->kernel                      ? "--kernel"
                          : given->grid                      ? "--grid"
                          : given->block                     ? "--block"
                          : given->shared_bytes != not_given ? "--shared"
                          : given->arguments.count           ? "--arg"
                                                             : NULL;
    if (for_workload && kind != CLI_PROGRAM_WORKLOAD)
        return cli_fail(CLI_USAGE, "%s is for bundled workloads; the options of '%s' itself stand after --",
                        for_workload, run->execution.program.name);
    if (for_ptx && kind != CLI_PROGRAM_PTX)
        return cli_fail(CLI_USAGE, "%s is for .ptx files, and '%s' is none", for_ptx, run->execution.program.name);
    return CLI_DONE;
}

static int check_options(const struct run *run) {
    if (run->words.count == 0)
        return cli_fail(CLI_USAGE,
                        "run needs a program: a workload, a CUDA executable or a .ptx file; see 'heddle help "
                        "run'");
    if (!run->given.is_functional)
        return cli_fail(CLI_USAGE, "only --functional is available in this version");
    if (run->given.json && run->given.csv && strcmp(run->given.json, run->given.csv) == 0)
        return cli_fail(CLI_USAGE, "--json and --csv cannot both write to '%s'", run->given.json);
    return CLI_DONE;
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

static bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

/* Before the run: a file that cannot be written should not cost one. */
static bool open_output(const char *path, FILE **file) {
    if (!path)
        return true;
    *file = is_stdout(path) ? stdout : fopen(path, "w");
    if (!*file)
        cli_fail(CLI_ERROR, "cannot write '%s': %s", path, strerror(errno));
    return *file != NULL;
}

static bool close_output(const char *path, FILE *file, bool is_written) {
    if (file && file != stdout && fclose(file) != 0)
        is_written = false;
    if (!is_written)
        cli_fail(CLI_ERROR, "cannot write '%s': %s", path, strerror(errno));
    return is_written;
}

static bool write_files(struct run *run, const struct report_run *report) {
    bool is_good = true;
    if (run->json)
        is_good &= close_output(run->given.json, run->json, report_write_json(run->json, report));
    if (run->csv)
        is_good &= close_output(run->given.csv, run->csv, report_write_csv(run->csv, report));
    return is_good;
}

static bool is_colored(unsigned color) {
    const char *no_color = getenv("NO_COLOR");
    if (color != COLOR_AUTO)
        return color == COLOR_ALWAYS;
    return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

static void print_verdict(const struct run *run, const struct report_run *report, bool has_color) {
    const char *verdict = report->is_checked ? "checked: the result agrees with the CPU reference"
                          : run->execution.program.kind == CLI_PROGRAM_WORKLOAD ? "done, not checked"
                                                                                : "done";
    printf("%s%s%s\n", has_color ? "\033[32m" : "", verdict, has_color ? "\033[0m" : "");
}

static void print_notes(const struct run *run, const struct report_run *report, int status) {
    if (status == CLI_DONE && !report->has_results && run->execution.program.kind == CLI_PROGRAM_EXECUTABLE)
        fprintf(stderr, "heddle: %s never called the CUDA driver\n", report->program);
    for (unsigned i = 0; i < report->n_missing; i++)
        fprintf(stderr, "heddle: %s calls %s, which Heddle has not\n", report->program, report->missing[i]);
}

/* The table goes to standard output unless that is taken; what went wrong goes to standard error, last. */
static int show(struct run *run, const struct report_run *report, int status, bool is_said) {
    bool has_color = is_colored(run->given.color);
    if (run->execution.shows_progress && report->stopped)
        fputs("\r\033[K", stderr); /* the driver had no time to take its line of progress away */
    bool has_table = !run->given.is_quiet && !is_stdout(run->given.json) && !is_stdout(run->given.csv);
    if (has_table && (report->n_launches || (status == CLI_DONE && report->has_results)))
        report_print_run(stdout, report, has_color, &run->arena);
    if (!run->given.is_quiet)
        print_notes(run, report, status);
    if (has_table && status == CLI_DONE)
        print_verdict(run, report, has_color);
    if (!write_files(run, report))
        return status == CLI_DONE ? CLI_ERROR : status;
    if (report->error && !is_said)
        return cli_fail((enum cli_status)status, "%s", report->error);
    return status;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static void say_what_runs(const struct run *run) {
    const struct cli_words *arguments = &run->execution.arguments;
    fprintf(stderr, "heddle: running %s", run->execution.program.executable);
    for (unsigned i = 0; i < arguments->count; i++)
        fprintf(stderr, " %s", arguments->item[i]);
    fprintf(stderr, "\nheddle: with the driver of %s\n", run->place.cuda);
}

static int run_program(struct run *run) {
    struct cli_execution *execution = &run->execution;
    bool is_workload = execution->program.kind == CLI_PROGRAM_WORKLOAD, is_said;
    if (is_workload && run->given.size == NO_SIZE)
        run->given.size = 0;
    add_arguments(run);
    execution->timeout_seconds = run->given.timeout_seconds;
    execution->max_instructions = run->given.max_instructions;
    execution->is_verbose = run->given.is_verbose;
    execution->shows_progress = !run->given.is_quiet && isatty(STDERR_FILENO);
    execution->output =
        is_stdout(run->given.json) || is_stdout(run->given.csv) ? CLI_OUTPUT_TO_STDERR : CLI_OUTPUT_AS_IS;
    if (run->given.is_verbose)
        say_what_runs(run);
    struct report_run report = {.size = is_workload ? size_names[run->given.size] : NULL};
    int status = cli_execute(execution, &report, &run->arena, &is_said);
    report.is_checked = status == CLI_DONE && is_workload && run->given.has_check;
    return show(run, &report, status, is_said);
}

static int prepare_and_run(struct run *run) {
    int status = check_options(run);
    if (status != CLI_DONE)
        return status;
    run->execution.place = &run->place;
    if (!cli_find_place(&run->place, &run->arena))
        return CLI_ERROR;
    if (!cli_find_program(&run->execution.program, run->words.item[0], &run->place, &run->arena, &status))
        return status;
    status = check_kind(run);
    if (status != CLI_DONE)
        return status;
    if (!open_output(run->given.json, &run->json) || !open_output(run->given.csv, &run->csv))
        return CLI_ERROR;
    return run_program(run);
}

int cli_run(int argc, char **argv) {
    struct run run = {.given = {
                          .has_check = true,
                          .size = NO_SIZE,
                          .seed = not_given,
                          .blocks = not_given,
                          .threads_per_block = not_given,
                          .shared_bytes = not_given,
                      }};
    int status = CLI_DONE;
    if (cli_parse(&cli_run_command, argc, argv, &run.given, &run.words, &run.arena, &status))
        status = prepare_and_run(&run);
    base_arena_free(&run.arena);
    return status;
}
