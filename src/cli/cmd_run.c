/* `heddle run PROGRAM`: reads the options, runs the program once, and shows its table, JSON or CSV. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/demangle.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "command/output.h"
#include "program/checkpoint.h"
#include "program/estimate.h"
#include "program/html.h"
#include "program/live.h"
#include "program/program_options.h"
#include "program/thread_map.h"

struct run_options {
    struct command_machine_options machine;
    const char *scheduler, *divergence;
    struct program_options program;
    bool is_functional, is_quiet, is_verbose, has_branches, has_lines, keeps_going, is_memchecked;
    const char *launches;
    uint64_t first_launch, last_launch; /* read from `launches` */
    unsigned color;
    uint64_t threads, max_cycles, sample_cycles, max_instructions;
    double timeout_seconds, estimate;
    const char *json, *csv, *html, *thread_map;
    const char *checkpoint, *resume;
    const char *trace, *trace_cycles, *trace_sms;
    uint64_t trace_megabytes;
    bool is_live, keeps_live;
    uint64_t live_port;
};

#define FIELD(name) offsetof(struct run_options, name)

static const struct command_option options[] = {
    COMMAND_MACHINE_ROW(FIELD(machine)),
    {"--scheduler", 's', COMMAND_TEXT, PROGRAM_SCHEDULER_VALUE, "the warp scheduler, default the machine's",
     FIELD(scheduler), 0, 0},
    {"--divergence", 'd', COMMAND_TEXT, PROGRAM_DIVERGENCE_VALUE, "the divergence model, default the machine's",
     FIELD(divergence), 0, 0},
    COMMAND_DRAM_POLICY_ROW(FIELD(machine)),
    COMMAND_SET_ROW(FIELD(machine)),
    COMMAND_DUMP_ROW(FIELD(machine)),
    {"--functional", 0, COMMAND_FLAG, NULL, "execute without timing", FIELD(is_functional), 0, 0},
    PROGRAM_ROWS(FIELD(program)),
    {"--launch", 0, COMMAND_TEXT, "N..M", "time only these launches, counted from 1; the others run functionally",
     FIELD(launches), 0, 0},
    PROGRAM_ESTIMATE_ROW(FIELD(estimate)),
    {"--keep-going", 0, COMMAND_FLAG, NULL,
     "accept exit status 0 even if a kernel failed or something was not supported", FIELD(keeps_going), 0, 0},
    {"--memcheck", 0, COMMAND_FLAG, NULL,
     "find accesses outside allocations, uninitialised reads and races in shared memory", FIELD(is_memchecked), 0, 0},
    {"--json", 0, COMMAND_TEXT, "FILE|-", "write the statistics as one JSON object", FIELD(json), 0, 0},
    {"--csv", 0, COMMAND_TEXT, "FILE|-", "write the statistics as CSV, a line for each launch", FIELD(csv), 0, 0},
    PROGRAM_HTML_ROW(FIELD(html)),
    PROGRAM_MAX_CYCLES_ROW(FIELD(max_cycles)),
    {"--sample", 0, COMMAND_NUMBER, "N", "take time series every N cycles, per SM and DRAM channel, into --json",
     FIELD(sample_cycles), 1, INT64_MAX},
    {"--branches", 0, COMMAND_FLAG, NULL, "print how often each branch was executed and diverged; in --json too",
     FIELD(has_branches), 0, 0},
    {"--lines", 0, COMMAND_FLAG, NULL, "print an annotated listing: counts and stall cycles per line; in --json too",
     FIELD(has_lines), 0, 0},
    {"--thread-map", 0, COMMAND_TEXT, "PREFIX", "draw each thread's path length and divergences: PREFIX-path.png...",
     FIELD(thread_map), 0, 0},
    {"--trace", 0, COMMAND_TEXT, "FILE", "write a timeline that Perfetto and chrome://tracing open", FIELD(trace), 0,
     0},
    {"--trace-cycles", 0, COMMAND_TEXT, "N..M", "of the timeline: only these cycles", FIELD(trace_cycles), 0, 0},
    {"--trace-sms", 0, COMMAND_TEXT, "N..M", "of the timeline: only these SMs, counted from 0", FIELD(trace_sms), 0, 0},
    {"--trace-size", 0, COMMAND_NUMBER, "MB", "of the timeline: its size; if more is needed, fewer SMs are shown [100]",
     FIELD(trace_megabytes), 1, 1000000},
    {"--live", 0, COMMAND_FLAG, NULL, "show progress, IPC and stalls on a page on 127.0.0.1 during the run",
     FIELD(is_live), 0, 0},
    {"--live-port", 0, COMMAND_NUMBER, "N", "of that page: its port [any that is free]", FIELD(live_port), 1, 65535},
    {"--live-keep", 0, COMMAND_FLAG, NULL, "after the run, show its report there until Ctrl-C", FIELD(keeps_live), 0,
     0},
    {"--checkpoint", 0, COMMAND_TEXT, "FILE", "after each launch, write the state that --resume needs to continue",
     FIELD(checkpoint), 0, 0},
    {"--resume", 0, COMMAND_TEXT, "FILE",
     "continue after the last launch in a checkpoint of the same run, and add to it", FIELD(resume), 0, 0},
    {"--threads", 'j', COMMAND_NUMBER, "N", "host threads; never changes a result [the processors, at most 16]",
     FIELD(threads), 1, PROGRAM_MOST_THREADS},
    {"--timeout", 0, COMMAND_SECONDS, "S", "stop after S seconds and report what was measured", FIELD(timeout_seconds),
     0, 0},
    {"--max-instructions", 0, COMMAND_NUMBER, "N", "stop when a warp of a launch has executed about N instructions",
     FIELD(max_instructions), 1, INT64_MAX},
    {"--quiet", 'q', COMMAND_FLAG, NULL, "no table: only the program's own output, and errors", FIELD(is_quiet), 0, 0},
    {"--verbose", 'v', COMMAND_FLAG, NULL, "print what is run, and why the driver rejects a call", FIELD(is_verbose), 0,
     0},
    COMMAND_COLOR_ROW(FIELD(color)),
};

const struct command cli_run_command = {
    .name = "run",
    .summary = "simulate one program on one machine",
    .usage = "run PROGRAM [program arguments] [options]",
    .text = "PROGRAM is the name of a bundled workload ('heddle list workloads'), a CUDA executable, by its\n"
            "path or by a name in PATH, or a .ptx file. Options may come before or after it. Other words,\n"
            "options after an executable that Heddle does not know, and everything after -- go to the\n"
            "program. FILE - is standard output; the program's own output then goes to standard error.\n"
            "\n"
            "The run is timed, cycle by cycle, unless --functional says otherwise. 'heddle list' names the\n"
            "machines, schedulers and divergence models.\n"
            "\n"
            "VALUE of --arg is one of\n"
            "  TYPE:NUMBER             a number: u8 to u64, s8 to s64, b8 to b64, f32, f64\n"
            "  buf:BYTES               a pointer to a zeroed buffer\n"
            "  buf:TYPE[N]             the same, of N numbers\n"
            "  buf:TYPE[N]=CONTENT     filled: iota (0, 1, 2...), random, or numbers with commas, the last repeated\n"
            "  out:...                 as buf:, and its content is printed after the run\n"
            "\n"
            "Exit status: 0 done, 1 an error of the user or the program, 2 wrong usage or an unknown name,\n"
            "3 a check failed or the program ended with 3, 4 stopped by a limit or an interrupt.\n",
    .examples = "  heddle run bfs\n"
                "  heddle run matmul --size medium --scheduler gto --json result.json\n"
                "  heddle run bfs --machine gtx480 --set l1.size=32K --set sm.count=30\n"
                "  heddle run nn --divergence odgs --branches --thread-map nn\n"
                "  heddle run bfs --html bfs.html\n"
                "  heddle run bfs --lines\n"
                "  heddle run bfs --size paper --live\n"
                "  heddle run bfs --trace bfs.json --trace-sms 0..1 --trace-cycles ..20000\n"
                "  heddle run ./myapp --functional -- --its-own-option\n"
                "  heddle run ./myapp --kernel '^reduce' --launch 1..10\n"
                "  heddle run ./myapp --estimate 1%\n"
                "  heddle run ./myapp --checkpoint long.run      # later, after a crash: --resume long.run\n"
                "  heddle run saxpy.ptx --functional --grid 4 --block 256 \\\n"
                "      --arg f32:2 --arg buf:f32[1024]=iota --arg out:f32[1024] --arg u32:1024\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .has_program = true,
    .has_own_options = program_has_own_options,
    .main = cli_run,
};

/* One run and its data. */
struct run {
    struct run_options given;
    struct command_words words;
    struct program_place place;
    struct program_target target;
    struct report_target shown; /* the target as the report names it */
    struct program_execution execution;
    struct report_run report;
    struct base_arena arena;
    FILE *json, *csv;
    struct program_html html;
    struct program_live *live; /* NULL: none */
};

/* ---- Wrong usage ------------------------------------------------------------------------------------------------- */

/* Rejects options that only a timed run has. */
static int check_functional(const struct run_options *given) {
    const char *timed = given->machine.machine       ? "--machine"
                        : given->scheduler           ? "--scheduler"
                        : given->divergence          ? "--divergence"
                        : given->machine.dram_policy ? "--dram-policy"
                        : given->machine.set.count   ? "--set"
                        : given->machine.dump        ? "--dump-config"
                        : given->max_cycles          ? "--max-cycles"
                        : given->launches            ? "--launch"
                        : given->estimate > 0        ? "--estimate"
                        : given->sample_cycles       ? "--sample"
                        : given->trace               ? "--trace"
                        : given->is_live             ? "--live"
                                                     : NULL;
    if (given->is_functional && timed)
        return command_fail(COMMAND_USAGE, "%s applies to timed runs, not to --functional", timed);
    return COMMAND_DONE;
}

/* Rejects options that choose launches or observe each of them, next to --estimate. */
static int check_estimate(const struct run_options *given) {
    const char *other = given->launches         ? "--launch"
                        : given->program.kernel ? "--kernel"
                        : given->sample_cycles  ? "--sample"
                        : given->has_branches   ? "--branches"
                        : given->has_lines      ? "--lines"
                        : given->thread_map     ? "--thread-map"
                        : given->trace          ? "--trace"
                        : given->html           ? "--html"
                        : given->is_live        ? "--live"
                        : given->checkpoint     ? "--checkpoint"
                        : given->resume         ? "--resume"
                        : given->is_memchecked  ? "--memcheck"
                                                : NULL;
    if (given->estimate > 0 && other)
        return command_fail(COMMAND_USAGE, "%s needs a run that times every launch; --estimate times only some", other);
    return COMMAND_DONE;
}

static int check_options(const struct run *run) {
    if (run->words.count == 0 && !run->given.machine.dump)
        return command_fail(COMMAND_USAGE,
                            "run needs a program: a workload, a CUDA executable or a .ptx file; see 'heddle help "
                            "run'");
    if (!run->given.is_live && (run->given.live_port || run->given.keeps_live))
        return command_fail(COMMAND_USAGE, "--live-%s is about the page of --live",
                            run->given.live_port ? "port" : "keep");
    const char *file = run->given.json ? "json" : run->given.csv ? "csv" : run->given.html ? "html" : NULL;
    if (run->given.machine.dump && file)
        return command_fail(COMMAND_USAGE, "--%s is about a run, and --dump-config runs nothing", file);
    int status = check_estimate(&run->given);
    return status == COMMAND_DONE ? check_functional(&run->given) : status;
}

/* Reads N, N.., ..M or N..M, with numbers from `least` on, into the bounds that are given. */
static bool read_range(const char *text, uint64_t least, uint64_t *first_number, uint64_t *last_number) {
    const char *dots = strstr(text, "..");
    char first[24] = "", last[24] = "";
    size_t length = dots ? (size_t)(dots - text) : strlen(text);
    if (length >= sizeof first || (dots && strlen(dots + 2) >= sizeof last))
        return false;
    memcpy(first, text, length);
    strcpy(last, dots ? dots + 2 : first);
    return (*first || *last) && (!*first || (base_parse_u64(first, first_number) && *first_number >= least)) &&
           (!*last || (base_parse_u64(last, last_number) && *last_number >= *first_number && *last_number >= least));
}

static int read_launches(struct run_options *given) {
    if (!given->launches || read_range(given->launches, 1, &given->first_launch, &given->last_launch))
        return COMMAND_DONE;
    return command_fail(COMMAND_USAGE, "--launch %s: expected N, N.., ..M or N..M, counted from 1", given->launches);
}

/* The driver writes the timeline from the program's folder, so the path is made absolute. The file is opened to test
 * it. */
static int read_trace(struct run *run) {
    const struct run_options *given = &run->given;
    struct program_trace *trace = &run->execution.trace;
    const char *part = given->trace_cycles      ? "--trace-cycles"
                       : given->trace_sms       ? "--trace-sms"
                       : given->trace_megabytes ? "--trace-size"
                                                : NULL;
    if (!given->trace)
        return part ? command_fail(COMMAND_USAGE, "%s is about a timeline: --trace FILE", part) : COMMAND_DONE;
    if (command_is_stdout(given->trace))
        return command_fail(COMMAND_USAGE, "--trace needs a file: a timeline is completed at its end");
    *trace = (struct program_trace){.last_cycle = UINT64_MAX, .last_sm = UINT64_MAX, .most_bytes = 100000000};
    if (given->trace_megabytes)
        trace->most_bytes = given->trace_megabytes * 1000000;
    if (given->trace_cycles && !read_range(given->trace_cycles, 0, &trace->first_cycle, &trace->last_cycle))
        return command_fail(COMMAND_USAGE, "--trace-cycles %s: expected N, N.., ..M or N..M", given->trace_cycles);
    if (given->trace_sms && !read_range(given->trace_sms, 0, &trace->first_sm, &trace->last_sm))
        return command_fail(COMMAND_USAGE, "--trace-sms %s: expected N, N.., ..M or N..M, counted from 0",
                            given->trace_sms);
    if (trace->first_sm >= run->target.machine.sm.count)
        return command_fail(COMMAND_USAGE, "--trace-sms %s: %s has SMs 0 to %u", given->trace_sms,
                            run->target.machine.name, run->target.machine.sm.count - 1);
    FILE *file = NULL;
    if (!command_open_output(given->trace, &file))
        return COMMAND_ERROR;
    fclose(file);
    char path[PATH_MAX];
    if (!realpath(given->trace, path))
        return command_fail(COMMAND_ERROR, "cannot write '%s': %s", given->trace, strerror(errno));
    trace->path = base_arena_copy(&run->arena, path, strlen(path));
    return COMMAND_DONE;
}

/* --kernel names the kernel of a .ptx file. For a program it chooses the launches that are timed. */
static int read_kernels(struct run *run) {
    struct program_options *program = &run->given.program;
    if (!program->kernel || run->execution.program.kind == PROGRAM_PTX)
        return COMMAND_DONE;
    regex_t regex;
    if (run->given.is_functional)
        return command_fail(COMMAND_USAGE, "--kernel chooses what is timed, but --functional times nothing");
    if (regcomp(&regex, program->kernel, REG_EXTENDED | REG_NOSUB) != 0)
        return command_fail(COMMAND_USAGE, "--kernel '%s' is not a regular expression", program->kernel);
    regfree(&regex);
    run->execution.timed_kernels = program->kernel;
    program->kernel = NULL;
    return COMMAND_DONE;
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

static bool write_files(struct run *run, const struct report_run *report) {
    bool is_good = true;
    if (run->json)
        is_good &= command_close_output(run->given.json, run->json, report_write_json(run->json, report));
    if (run->csv)
        is_good &= command_close_output(run->given.csv, run->csv, report_write_csv(run->csv, report));
    if (run->html.file)
        is_good &=
            program_html_write(&run->html, report->program, json_pack("[o]", report_run_document(report, &run->arena)));
    return is_good;
}

static void print_verdict(const struct run *run, const struct report_run *report, bool has_color) {
    const char *verdict = report->is_checked ? "checked: the result agrees with the CPU reference"
                          : run->execution.program.kind == PROGRAM_WORKLOAD ? "done, not checked"
                                                                            : "done";
    printf("%s%s%s\n", has_color ? "\033[32m" : "", verdict, has_color ? "\033[0m" : "");
}

static void print_notes(const struct run *run, const struct report_run *report, int status) {
    if (status == COMMAND_DONE && !report->has_results && run->execution.program.kind == PROGRAM_EXECUTABLE)
        fprintf(stderr, "heddle: %s never called the CUDA driver\n", report->program);
}

/* Returns one line about a run whose options choose launches but match none that the program made, which is a mistake;
 * otherwise NULL. */
static const char *nothing_timed(struct run *run, const struct report_run *report) {
    const struct program_execution *execution = &run->execution;
    unsigned n;
    if (!report->n_launches || !(execution->timed_kernels || run->given.launches))
        return NULL;
    for (unsigned i = 0; i < report->n_launches; i++)
        if (!report->launch[i].n_untimed)
            return NULL;
    const char *text = "no launch matches";
    if (execution->timed_kernels)
        text = base_arena_printf(&run->arena, "%s --kernel '%s'", text, execution->timed_kernels);
    if (run->given.launches)
        text = base_arena_printf(&run->arena, "%s --launch %s", text, run->given.launches);
    const struct report_kernel *kernel = report_by_name(report, &run->arena, &n);
    text = base_arena_printf(&run->arena, "%s, so nothing was timed; %s made %u launch%s, of", text, report->program,
                             report->n_launches, report->n_launches == 1 ? "" : "es");
    enum { MOST_NAMES = 8 };
    for (unsigned i = 0; i < n && i < MOST_NAMES; i++)
        text =
            base_arena_printf(&run->arena, "%s%s %s", text, i ? "," : "", base_demangle(kernel[i].name, &run->arena));
    return n > MOST_NAMES ? base_arena_printf(&run->arena, "%s and %u others", text, n - MOST_NAMES) : text;
}

/* The table goes to standard output, unless --json or --csv writes there. Errors go to standard error, last. */
static int show(struct run *run, const struct report_run *report, int status, bool is_said) {
    bool has_color = command_is_colored(run->given.color);
    bool has_launches = report->n_launches && !nothing_timed(run, report);
    if (run->execution.shows_progress && report->stopped)
        fputs("\r\033[K", stderr); /* the driver could not clear its progress line */
    bool has_table = !run->given.is_quiet && !command_is_stdout(run->given.json) &&
                     !command_is_stdout(run->given.csv) && !command_is_stdout(run->given.html);
    if (has_table && (has_launches || (status == COMMAND_DONE && report->has_results)))
        report_print_run(stdout, report, has_color, &run->arena);
    if (!run->given.is_quiet)
        print_notes(run, report, status);
    if (has_table && run->given.has_branches && report->n_profiles)
        report_print_branches(stdout, report, has_color, &run->arena);
    if (has_table && run->given.has_lines && report->n_listings)
        report_print_lines(stdout, report, has_color, &run->arena);
    bool has_map = !run->given.thread_map ||
                   program_write_thread_map(run->given.thread_map, report, has_table ? stdout : NULL, &run->arena);
    if (has_table && status == COMMAND_DONE)
        print_verdict(run, report, has_color);
    if (!write_files(run, report) || !has_map)
        return status == COMMAND_DONE ? COMMAND_ERROR : status;
    if (report->error && !is_said)
        return command_fail((enum command_status)status, "%s", report->error);
    return status;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static void print_what_runs(const struct run *run) {
    const struct command_words *arguments = &run->execution.arguments;
    fprintf(stderr, "heddle: running %s", run->execution.program.executable);
    for (unsigned i = 0; i < arguments->count; i++)
        fprintf(stderr, " %s", arguments->item[i]);
    fprintf(stderr, "\nheddle: with the driver of %s\n", run->place.cuda);
}

/* More have not been measured (bench/README.md). A launch uses no more than its machine has work for, and as many of
 * them as pay. */
static unsigned default_threads(void) {
    enum { MOST = 16 };
    unsigned n = program_count_processors();
    return n < MOST ? n : MOST;
}

static void set_execution(struct run *run) {
    struct program_execution *execution = &run->execution;
    const struct program *program = &execution->program;
    struct command_words words = {run->words.item + 1, run->words.count - 1, 0};
    execution->arguments = program_arguments(program, &run->given.program, &words, &run->arena);
    execution->timeout_seconds = run->given.timeout_seconds;
    execution->max_instructions = run->given.max_instructions;
    execution->sample_cycles = run->given.sample_cycles;
    execution->n_threads = run->given.threads ? run->given.threads : default_threads();
    execution->picks_threads = !run->given.threads;
    execution->records_threads = run->given.has_branches || run->given.thread_map;
    execution->records_lines = run->given.has_lines;
    if (run->given.html) {
        program_html_record(execution, &run->report);
        run->report.is_for_page.branches = !execution->records_threads;
        execution->records_threads = true;
    }
    execution->first_timed_launch = run->given.first_launch;
    execution->last_timed_launch = run->given.last_launch;
    execution->keeps_going = run->given.keeps_going;
    execution->is_memchecked = run->given.is_memchecked;
    execution->is_verbose = run->given.is_verbose;
    execution->shows_progress = !run->given.is_quiet && isatty(STDERR_FILENO);
    execution->output =
        command_is_stdout(run->given.json) || command_is_stdout(run->given.csv) || command_is_stdout(run->given.html)
            ? PROGRAM_OUTPUT_TO_STDERR
            : PROGRAM_OUTPUT_AS_IS;
}

/* Starts to serve the page of the run, if it is wanted. */
static int start_live(struct run *run) {
    if (!run->given.is_live)
        return COMMAND_DONE;
    run->live = program_live_start(run->given.live_port, run->words.item[0], &run->arena);
    if (!run->live)
        return COMMAND_ERROR;
    run->execution.live = program_live_file(run->live);
    if (!run->given.is_quiet || !run->given.live_port)
        fprintf(stderr, "heddle: live at %s\n", program_live_address(run->live));
    return COMMAND_DONE;
}

/* Shows the report on the page until the user ends it, if that is wanted, and ends the server. */
static void end_live(struct run *run, const struct report_run *report) {
    if (run->live && run->given.keeps_live && !report->stopped) {
        const char *page =
            program_page_text(report->program, json_pack("[o]", report_run_document(report, &run->arena)), &run->arena);
        program_live_finish(run->live, page ? page : "");
        fflush(stdout);
        fprintf(stderr, "heddle: the report is at %s until Ctrl-C\n", program_live_address(run->live));
        program_live_wait();
    }
    program_live_stop(run->live, &run->arena);
}

static int run_program(struct run *run) {
    const struct program_execution *execution = &run->execution;
    const struct program *program = &execution->program;
    if (run->given.is_verbose)
        print_what_runs(run);
    struct report_run *report = &run->report;
    report->size = program_size(program, &run->given.program);
    report->shows_shapes = program->kind == PROGRAM_EXECUTABLE;
    bool is_said;
    if (execution->target)
        report->target = &run->shown;
    int status = start_live(run);
    if (status != COMMAND_DONE)
        return status;
    status = run->given.estimate > 0 ? program_estimate(execution, run->given.estimate, report, &run->arena, &is_said)
                                     : program_execute(execution, report, &run->arena, &is_said);
    if (status == COMMAND_DONE && (report->error = nothing_timed(run, report)))
        status = COMMAND_ERROR;
    report->is_checked = status == COMMAND_DONE && program->kind == PROGRAM_WORKLOAD && run->given.program.has_check;
    status = show(run, report, status, is_said);
    end_live(run, report);
    return status;
}

/* Chooses the machine that the run is timed on. */
static int choose_target(struct run *run) {
    const struct run_options *given = &run->given;
    int status = program_make_target(&run->target, &given->machine, given->scheduler, given->divergence,
                                     given->max_cycles, &run->arena);
    if (status != COMMAND_DONE)
        return status;
    run->shown = program_report_target(&run->target);
    run->execution.target = &run->target;
    return COMMAND_DONE;
}

static int find_and_run(struct run *run) {
    int status = COMMAND_DONE;
    run->execution.place = &run->place;
    if (!program_find_place(&run->place, &run->arena))
        return COMMAND_ERROR;
    if (!program_find(&run->execution.program, run->words.item[0], &run->place, &run->arena, &status))
        return status;
    status = read_kernels(run);
    if (status == COMMAND_DONE)
        status = read_launches(&run->given);
    if (status == COMMAND_DONE)
        status = read_trace(run);
    if (status != COMMAND_DONE)
        return status;
    status = program_check_options(&run->execution.program, &run->given.program);
    if (status != COMMAND_DONE)
        return status;
    if (run->given.thread_map && !program_check_thread_map(run->given.thread_map, &run->arena))
        return COMMAND_ERROR;
    set_execution(run);
    status = program_open_checkpoint(run->given.checkpoint, run->given.resume, run->given.is_quiet, &run->execution,
                                     &run->arena);
    if (status == COMMAND_DONE)
        status = command_open_outputs(run->given.json, &run->json, run->given.csv, &run->csv);
    if (status == COMMAND_DONE)
        status = program_html_open(&run->html, run->given.html, &run->arena);
    return status == COMMAND_DONE ? run_program(run) : status;
}

static int prepare_and_run(struct run *run) {
    int status = check_options(run);
    if (status == COMMAND_DONE && !run->given.is_functional)
        status = choose_target(run);
    if (status != COMMAND_DONE)
        return status;
    if (run->given.machine.dump) {
        fputs(run->target.yaml, stdout);
        return COMMAND_DONE;
    }
    return find_and_run(run);
}

int cli_run(int argc, char **argv) {
    struct run run = {.given = {.program = PROGRAM_DEFAULTS}};
    int status = COMMAND_DONE;
    if (command_parse(&cli_run_command, argc, argv, &run.given, &run.words, &run.arena, &status))
        status = prepare_and_run(&run);
    base_arena_free(&run.arena);
    return status;
}
