/* `heddle bench`: how many instructions a second the functional engine executes, by workload and by kind of
 * instruction. The kernels and what is expected of them are in bench/. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/execute.h"

struct bench_options {
    bool names;
    unsigned size;
    uint64_t repeat;
    double timeout_seconds;
    const char *json;
};

#define FIELD(name) offsetof(struct bench_options, name)

static const struct cli_option options[] = {
    {"--size", 0, CLI_CHOICE, "small|medium|paper", "how much work, default medium", FIELD(size), 0, 0},
    {"--repeat", 0, CLI_NUMBER, "N", "run everything N times and show the best, default 3", FIELD(repeat), 1, 1000},
    {"--timeout", 0, CLI_SECONDS, "S", "stop a single run after S seconds", FIELD(timeout_seconds), 0, 0},
    {"--names", 0, CLI_FLAG, NULL, "run nothing: print what there is to measure", FIELD(names), 0, 0},
    {"--json", 0, CLI_TEXT, "FILE|-", "write the numbers as a JSON array", FIELD(json), 0, 0},
};

const struct cli_command cli_bench_command = {
    .name = "bench",
    .summary = "measure how fast this computer executes",
    .usage = "bench [NAME...] [options]",
    .text = "NAME is a workload, or one of the kernels fma, integer, mixed (arithmetic), copy, gather (memory);\n"
            "without one, all are run. Results are not checked. Targets: arithmetic 20, memory 5 million warp\n"
            "instructions a second.\n",
    .examples = "  heddle bench\n"
                "  heddle bench fma bfs --size small --repeat 5\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_bench,
};

/* ---- What there is to measure ------------------------------------------------------------------------------------ */

enum kind { WORKLOADS, ARITHMETIC, MEMORY };
static const char *const kind_names[] = {"workload", "arithmetic", "memory"};
static const double targets[] = {0, 20e6, 5e6}; /* warp instructions a second; 0: none */
static const char *const size_names[] = {"small", "medium", "paper"};
static const unsigned round_factors[] = {1, 10, 50};

struct subject {
    const char *name;
    enum kind kind;
    unsigned blocks, rounds;
    const char *buffer;
};

static const struct subject kernels[] = {
#define BENCH(name, kind, blocks, rounds, buffer, summary) {#name, kind, blocks, rounds, buffer},
#include "../../bench/kernels.def"
#undef BENCH
};
enum { N_KERNELS = sizeof kernels / sizeof kernels[0], MOST_ARGUMENTS = 10 };

struct result {
    struct subject subject;
    struct stats_counters counters;
    double seconds; /* the best; 0: never ended well */
};

struct bench {
    struct bench_options given;
    struct cli_place place;
    struct base_arena arena;
    struct result *result;
    unsigned n_results;
    FILE *json;
};

static bool find_subject(const char *name, struct subject *subject) {
    for (unsigned i = 0; i < N_KERNELS; i++)
        if (strcmp(kernels[i].name, name) == 0) {
            *subject = kernels[i];
            return true;
        }
    *subject = (struct subject){.name = name, .kind = WORKLOADS};
    return cli_find_workload(name) != NULL;
}

static int refuse_subject(const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < N_KERNELS; i++)
        base_nearest_offer(&nearest, kernels[i].name);
    for (unsigned i = 0; i < cli_n_workloads; i++)
        base_nearest_offer(&nearest, cli_workloads[i].name);
    if (nearest.best)
        return cli_fail(CLI_USAGE, "bench knows no '%s'; did you mean '%s'?", name, nearest.best);
    return cli_fail(CLI_USAGE,
                    "bench knows no '%s'; 'heddle help bench' names the kernels, 'heddle list' the workloads", name);
}

static int choose_subjects(struct bench *bench, const struct cli_words *words) {
    unsigned n = words->count ? words->count : N_KERNELS + cli_n_workloads;
    bench->result = BASE_ARENA_ARRAY(&bench->arena, struct result, n);
    for (unsigned i = 0; i < words->count; i++)
        if (!find_subject(words->item[i], &bench->result[i].subject))
            return refuse_subject(words->item[i]);
    for (unsigned i = 0; words->count == 0 && i < n; i++)
        find_subject(i < N_KERNELS ? kernels[i].name : cli_workloads[i - N_KERNELS].name, &bench->result[i].subject);
    bench->n_results = n;
    return CLI_DONE;
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static struct cli_words kernel_arguments(struct bench *bench, const struct subject *subject, const char *path) {
    struct base_arena *arena = &bench->arena;
    const char *blocks = base_arena_printf(arena, "%u", subject->blocks);
    const char *rounds = base_arena_printf(arena, "u32:%u", subject->rounds * round_factors[bench->given.size]);
    const char *words[] = {path, "--grid", blocks, "--block", "256", "--arg", subject->buffer, "--arg", rounds};
    struct cli_words arguments = {.item = BASE_ARENA_ARRAY(arena, const char *, MOST_ARGUMENTS),
                                  .count = sizeof words / sizeof words[0]};
    memcpy(arguments.item, words, sizeof words);
    return arguments;
}

static struct cli_words workload_arguments(struct bench *bench) {
    const char *words[] = {"--size", size_names[bench->given.size], "--no-check"};
    struct cli_words arguments = {.item = BASE_ARENA_ARRAY(&bench->arena, const char *, MOST_ARGUMENTS),
                                  .count = sizeof words / sizeof words[0]};
    memcpy(arguments.item, words, sizeof words);
    return arguments;
}

static int run_once(struct bench *bench, struct result *result) {
    const struct subject *subject = &result->subject;
    bool is_workload = subject->kind == WORKLOADS, is_said;
    const char *name = subject->name;
    if (!is_workload)
        name = base_arena_printf(&bench->arena, "%s/%s.ptx", bench->place.bench, subject->name);
    struct cli_execution execution = {
        .place = &bench->place,
        .timeout_seconds = bench->given.timeout_seconds,
        .output = CLI_OUTPUT_DROPPED,
        .arguments = is_workload ? workload_arguments(bench) : kernel_arguments(bench, subject, name),
    };
    struct report_run run = {0};
    int status;
    if (!cli_find_program(&execution.program, name, &bench->place, &bench->arena, &status))
        return status;
    status = cli_execute(&execution, &run, &bench->arena, &is_said);
    if (status != CLI_DONE)
        return is_said ? status : cli_fail((enum cli_status)status, "%s: %s", subject->name, run.error);
    if (result->seconds <= 0 || run.host_seconds < result->seconds) {
        result->counters = run.total.counters;
        result->seconds = run.host_seconds;
    }
    return CLI_DONE;
}

static int measure(struct bench *bench) {
    int first_failure = CLI_DONE;
    for (unsigned i = 0; i < bench->n_results; i++) {
        int status = CLI_DONE;
        for (uint64_t k = 0; k < bench->given.repeat && status == CLI_DONE; k++)
            status = run_once(bench, &bench->result[i]);
        if (first_failure == CLI_DONE)
            first_failure = status;
    }
    return first_failure;
}

/* ---- Showing ----------------------------------------------------------------------------------------------------- */

static void print_names(const struct bench *bench) {
    for (unsigned i = 0; i < bench->n_results; i++)
        puts(bench->result[i].subject.name);
}

static void print_table(struct bench *bench) {
    static const char *const headings[] = {"name",     "kind",       "warp instr.", "seconds",
                                           "M warp/s", "M thread/s", "target"};
    struct report_table table = report_table_new(&bench->arena, sizeof headings / sizeof headings[0]);
    table.is_left[1] = true;
    for (size_t i = 0; i < table.n_columns; i++)
        report_table_cell(&table, "%s", headings[i]);
    for (unsigned i = 0; i < bench->n_results; i++) {
        const struct result *result = &bench->result[i];
        double target = targets[result->subject.kind], seconds = result->seconds;
        double rate = report_rate(result->counters.warp_instructions, seconds);
        report_table_cell(&table, "%s", result->subject.name);
        report_table_cell(&table, "%s", kind_names[result->subject.kind]);
        report_table_count(&table, result->counters.warp_instructions);
        report_table_cell(&table, "%.4f", seconds);
        report_table_cell(&table, "%.2f", rate * 1e-6);
        report_table_cell(&table, "%.1f", report_rate(result->counters.thread_instructions, seconds) * 1e-6);
        if (target > 0)
            report_table_cell(&table, "%g %s", target * 1e-6, rate >= target ? "met" : "missed");
        else
            report_table_cell(&table, "-");
    }
    report_table_print(&table, stdout, false);
}

static bool write_json(const struct bench *bench) {
    json_t *array = json_array();
    for (unsigned i = 0; i < bench->n_results; i++) {
        const struct result *result = &bench->result[i];
        const struct stats_counters *counters = &result->counters;
        json_t *object =
            json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f}", "name", result->subject.name, "kind",
                      kind_names[result->subject.kind], "warp_instructions", (json_int_t)counters->warp_instructions,
                      "thread_instructions", (json_int_t)counters->thread_instructions, "seconds", result->seconds,
                      "warp_instructions_per_second", report_rate(counters->warp_instructions, result->seconds),
                      "thread_instructions_per_second", report_rate(counters->thread_instructions, result->seconds));
        if (targets[result->subject.kind] > 0)
            json_object_set_new(object, "target", json_real(targets[result->subject.kind]));
        json_array_append_new(array, object);
    }
    bool is_written = json_dumpf(array, bench->json, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 &&
                      fputc('\n', bench->json) != EOF && fflush(bench->json) == 0;
    json_decref(array);
    return is_written;
}

static int run_all(struct bench *bench) {
    bool to_stdout = bench->given.json && strcmp(bench->given.json, "-") == 0;
    if (bench->given.json)
        bench->json = to_stdout ? stdout : fopen(bench->given.json, "w");
    if (bench->given.json && !bench->json)
        return cli_fail(CLI_ERROR, "cannot write '%s': %s", bench->given.json, strerror(errno));
    int status = measure(bench);
    if (!to_stdout)
        print_table(bench);
    bool is_written = !bench->json || write_json(bench);
    if (bench->json && !to_stdout && fclose(bench->json) != 0)
        is_written = false;
    return is_written ? status : cli_fail(CLI_ERROR, "cannot write '%s': %s", bench->given.json, strerror(errno));
}

int cli_bench(int argc, char **argv) {
    struct bench bench = {.given = {.size = 1, .repeat = 3}};
    struct cli_words words = {0};
    int status = CLI_DONE;
    if (cli_parse(&cli_bench_command, argc, argv, &bench.given, &words, &bench.arena, &status)) {
        status = choose_subjects(&bench, &words);
        if (status == CLI_DONE && bench.given.names)
            print_names(&bench);
        else if (status == CLI_DONE)
            status = cli_find_place(&bench.place, &bench.arena) ? run_all(&bench) : CLI_ERROR;
    }
    base_arena_free(&bench.arena);
    return status;
}
