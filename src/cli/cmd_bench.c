/* `heddle bench`: measures instructions per second without timing (by workload and by kind of instruction) and with
 * timing, and the slowdown. bench/ contains the kernels and the expected rates. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "cli/bench/against.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "command/output.h"
#include "program/program_options.h"
#include "program/workloads.h"

struct bench_options {
    struct command_machine_options machine;
    bool is_functional, names;
    unsigned size;
    uint64_t repeat;
    double timeout_seconds;
    const char *json, *against;
};

#define FIELD(name) offsetof(struct bench_options, name)

static const struct command_option options[] = {
    COMMAND_MACHINE_ROW(FIELD(machine)),
    {"--set", 0, COMMAND_LIST, "KEY=VALUE[,VALUE...]", "change a machine's option; several values: measure each",
     FIELD(machine.set), 0, 0},
    {"--functional", 0, COMMAND_FLAG, NULL, "measure only runs without timing", FIELD(is_functional), 0, 0},
    {"--size", 0, COMMAND_CHOICE, "small|medium|paper", "how much work, default medium", FIELD(size), 0, 0},
    {"--repeat", 0, COMMAND_NUMBER, "N", "run everything N times and show the best, default 3", FIELD(repeat), 1, 1000},
    {"--against", 0, COMMAND_TEXT, "FILE", "compare with another build's heddle: alternate runs, with an interval",
     FIELD(against), 0, 0},
    {"--timeout", 0, COMMAND_SECONDS, "S", "stop a single run after S seconds", FIELD(timeout_seconds), 0, 0},
    {"--names", 0, COMMAND_FLAG, NULL, "print the names of the workloads and kernels, and run nothing", FIELD(names), 0,
     0},
    {"--json", 0, COMMAND_TEXT, "FILE|-", "write the numbers as a JSON array", FIELD(json), 0, 0},
};

const struct command cli_bench_command = {
    .name = "bench",
    .summary = "measure how fast this computer executes",
    .usage = "bench [NAME...] [options]",
    .text = "NAME is a workload, or one of the kernels fma, integer, mixed (arithmetic), copy, gather (memory).\n"
            "Without a name all of them run, first without timing, then timed. Results are not checked. Targets\n"
            "without timing: 20 million warp instructions per second for arithmetic, 5 million for memory.\n"
            "\n"
            "tax: how many times slower the timed run is. GPGPU-Sim: how many times faster the timed run is\n"
            "than the measured speed of GPGPU-Sim 4; see bench/README.md.\n"
            "\n"
            "--against compares only workloads, timed or with --functional; without a NAME, vecadd, divergent,\n"
            "matmul, bfs, reduction, spmv and mum. --repeat sets the number of pairs of runs [10].\n",
    .examples = "  heddle bench\n"
                "  heddle bench fma bfs --size small --repeat 5\n"
                "  heddle bench bfs matmul --set sm.count=1,15,60\n"
                "  heddle bench bfs matmul --against ../before/build/bin/heddle --repeat 20\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_bench,
};

/* ---- Subjects ---------------------------------------------------------------------------------------------------- */

enum kind { WORKLOADS, ARITHMETIC, MEMORY };
static const char *const kind_names[] = {"workload", "arithmetic", "memory"};
static const double targets[] = {0, 20e6, 5e6}; /* warp instructions per second; 0: none */
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

/* Warp instructions per second of GPGPU-Sim 4. */
static const struct {
    const char *name;
    double rate;
} gpgpusim[] = {
#define GPGPU_SIM(name, thousands) {#name, thousands * 1e3},
#include "../../bench/gpgpu_sim.def"
#undef GPGPU_SIM
};

/* The best of the repetitions. */
struct measure {
    struct stats_counters counters;
    double seconds; /* in launches; 0: no run succeeded */
    uint64_t peak_bytes;
};

struct result {
    struct subject subject;
    struct measure functional;
    struct measure *timed; /* one for each variant */
};

/* A machine to measure on. */
struct variant {
    struct program_target target;
    const char *name;
};

struct bench {
    struct bench_options given;
    struct program_place place;
    struct base_arena arena;
    struct result *result;
    unsigned n_results;
    struct variant *variant;
    unsigned n_variants; /* 0: nothing is timed */
    FILE *json;
};

static bool find_subject(const char *name, struct subject *subject) {
    for (unsigned i = 0; i < N_KERNELS; i++)
        if (strcmp(kernels[i].name, name) == 0) {
            *subject = kernels[i];
            return true;
        }
    *subject = (struct subject){.name = name, .kind = WORKLOADS};
    return program_find_workload(name) != NULL;
}

static int refuse_subject(const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < N_KERNELS; i++)
        base_nearest_offer(&nearest, kernels[i].name);
    for (unsigned i = 0; i < program_n_workloads; i++)
        base_nearest_offer(&nearest, program_workloads[i].name);
    for (unsigned i = 0; i < program_n_aliases; i++)
        base_nearest_offer(&nearest, program_aliases[i].name);
    if (nearest.best)
        return command_fail(COMMAND_USAGE, "no workload or kernel '%s'; did you mean '%s'?", name, nearest.best);
    return command_fail(
        COMMAND_USAGE,
        "no workload or kernel '%s'; 'heddle help bench' names the kernels, 'heddle list workloads' the workloads",
        name);
}

static int choose_subjects(struct bench *bench, const struct command_words *words) {
    unsigned n = words->count ? words->count : N_KERNELS + program_n_workloads;
    bench->result = BASE_ARENA_ARRAY(&bench->arena, struct result, n);
    for (unsigned i = 0; i < words->count; i++)
        if (!find_subject(words->item[i], &bench->result[i].subject))
            return refuse_subject(words->item[i]);
    for (unsigned i = 0; words->count == 0 && i < n; i++)
        find_subject(i < N_KERNELS ? kernels[i].name : program_workloads[i - N_KERNELS].name,
                     &bench->result[i].subject);
    bench->n_results = n;
    return COMMAND_DONE;
}

/* ---- Machines ---------------------------------------------------------------------------------------------------- */

/* Finds the --set with several values and sets *place to its index, or to the number of all if there is none. */
static int find_sweep(const struct command_words *set, unsigned *place) {
    *place = set->count;
    for (unsigned i = 0; i < set->count; i++) {
        if (!strchr(set->item[i], ','))
            continue;
        if (*place != set->count)
            return command_fail(COMMAND_USAGE, "only one --set may have several values, not '%s' and '%s'",
                                set->item[*place], set->item[i]);
        *place = i;
    }
    return COMMAND_DONE;
}

static int add_variant(struct bench *bench, const struct command_machine_options *machine, const char *change) {
    struct variant *variant = &bench->variant[bench->n_variants++];
    int status = program_make_target(&variant->target, machine, NULL, NULL, 0, &bench->arena);
    const char *name = variant->target.machine.name;
    variant->name = change ? base_arena_printf(&bench->arena, "%s %s", name, change) : name;
    return status;
}

static int make_variants(struct bench *bench) {
    struct base_arena *arena = &bench->arena;
    struct command_machine_options machine = bench->given.machine;
    unsigned sweep;
    int status = find_sweep(&machine.set, &sweep);
    if (status != COMMAND_DONE)
        return status;
    const char *values = sweep < machine.set.count ? machine.set.item[sweep] : "";
    size_t key = strcspn(values, "=");
    bench->variant = BASE_ARENA_ARRAY(arena, struct variant, strlen(values) + 1);
    if (!values[key])
        return add_variant(bench, &machine, NULL);
    for (const char *at = values + key + 1; *at && status == COMMAND_DONE; at += at[0] == ',') {
        size_t length = strcspn(at, ",");
        const char *change = base_arena_printf(arena, "%.*s=%.*s", (int)key, values, (int)length, at);
        machine.set.item = BASE_ARENA_ARRAY(arena, const char *, machine.set.count);
        memcpy(machine.set.item, bench->given.machine.set.item, machine.set.count * sizeof *machine.set.item);
        machine.set.item[sweep] = change;
        status = add_variant(bench, &machine, change);
        at += length;
    }
    return status;
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* A timed loop takes as few iterations as at size small: its rate is about the same, and gather alone would take
 * minutes. */
static struct command_words kernel_arguments(struct bench *bench, const struct subject *subject, bool is_timed,
                                             const char *path) {
    struct base_arena *arena = &bench->arena;
    unsigned factor = is_timed ? round_factors[0] : round_factors[bench->given.size];
    const char *blocks = base_arena_printf(arena, "%u", subject->blocks);
    const char *rounds = base_arena_printf(arena, "u32:%u", subject->rounds * factor);
    const char *words[] = {path, "--grid", blocks, "--block", "256", "--arg", subject->buffer, "--arg", rounds};
    struct command_words arguments = {.item = BASE_ARENA_ARRAY(arena, const char *, MOST_ARGUMENTS),
                                      .count = sizeof words / sizeof words[0]};
    memcpy(arguments.item, words, sizeof words);
    return arguments;
}

static struct command_words workload_arguments(struct bench *bench, const struct program *program) {
    struct program_options given = PROGRAM_DEFAULTS;
    given.size = bench->given.size;
    given.has_check = false;
    return program_arguments(program, &given, &(struct command_words){0}, &bench->arena);
}

static double rate(const struct measure *measure) {
    return report_rate(measure->counters.warp_instructions, measure->seconds);
}

/* `variant` is NULL for a run without timing. */
static int run_once(struct bench *bench, const struct subject *subject, const struct variant *variant,
                    struct measure *best) {
    bool is_workload = subject->kind == WORKLOADS, is_said;
    const char *name = subject->name;
    if (!is_workload)
        name = base_arena_printf(&bench->arena, "%s/%s.ptx", bench->place.bench, subject->name);
    struct program_execution execution = {
        .place = &bench->place,
        .target = variant ? &variant->target : NULL,
        .timeout_seconds = bench->given.timeout_seconds,
        .output = PROGRAM_OUTPUT_DROPPED,
    };
    struct report_run run = {0};
    int status;
    if (!program_find(&execution.program, name, &bench->place, &bench->arena, &status))
        return status;
    execution.arguments = is_workload ? workload_arguments(bench, &execution.program)
                                      : kernel_arguments(bench, subject, variant != NULL, name);
    status = program_execute(&execution, &run, &bench->arena, &is_said);
    if (status != COMMAND_DONE)
        return is_said ? status : command_fail((enum command_status)status, "%s: %s", subject->name, run.error);
    if (best->seconds <= 0 || run.host_seconds < best->seconds)
        *best = (struct measure){run.total.counters, run.host_seconds, run.peak_bytes};
    return COMMAND_DONE;
}

static int measure_best(struct bench *bench, const struct subject *subject, const struct variant *variant,
                        struct measure *best) {
    int status = COMMAND_DONE;
    for (uint64_t k = 0; k < bench->given.repeat && status == COMMAND_DONE; k++)
        status = run_once(bench, subject, variant, best);
    return status;
}

/* Measures everything, whatever the outcome of earlier runs, unless the user stops it. Returns the first bad status. */
static int measure(struct bench *bench) {
    int first_failure = COMMAND_DONE;
    for (unsigned i = 0; i < bench->n_results && first_failure != COMMAND_STOPPED; i++) {
        struct result *result = &bench->result[i];
        int status = measure_best(bench, &result->subject, NULL, &result->functional);
        result->timed = BASE_ARENA_ARRAY(&bench->arena, struct measure, bench->n_variants);
        for (unsigned v = 0; v < bench->n_variants && status == COMMAND_DONE; v++)
            status = measure_best(bench, &result->subject, &bench->variant[v], &result->timed[v]);
        if (first_failure == COMMAND_DONE)
            first_failure = status;
    }
    return first_failure;
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

static void print_names(const struct bench *bench) {
    for (unsigned i = 0; i < bench->n_results; i++)
        puts(bench->result[i].subject.name);
}

static void add_headings(struct report_table *table, const char *const *headings) {
    for (size_t i = 0; i < table->n_columns; i++)
        report_table_cell(table, "%s", headings[i]);
}

static void add_mebibytes(struct report_table *table, uint64_t bytes) {
    report_table_cell(table, "%.0f", (double)bytes / (1 << 20));
}

static void print_functional(struct bench *bench) {
    static const char *const headings[] = {"without timing", "kind",       "warp instr.", "seconds",
                                           "M warp/s",       "M thread/s", "target",      "MiB"};
    struct report_table table = report_table_new(&bench->arena, sizeof headings / sizeof headings[0]);
    table.is_left[1] = true;
    add_headings(&table, headings);
    for (unsigned i = 0; i < bench->n_results; i++) {
        const struct result *result = &bench->result[i];
        const struct measure *measured = &result->functional;
        double target = targets[result->subject.kind];
        report_table_cell(&table, "%s", result->subject.name);
        report_table_cell(&table, "%s", kind_names[result->subject.kind]);
        report_table_count(&table, measured->counters.warp_instructions);
        report_table_cell(&table, "%.4f", measured->seconds);
        report_table_cell(&table, "%.2f", rate(measured) * 1e-6);
        report_table_cell(&table, "%.1f",
                          report_rate(measured->counters.thread_instructions, measured->seconds) * 1e-6);
        if (target > 0)
            report_table_cell(&table, "%g %s", target * 1e-6, rate(measured) >= target ? "met" : "missed");
        else
            report_table_cell(&table, "-");
        add_mebibytes(&table, measured->peak_bytes);
    }
    report_table_print(&table, stdout, false);
}

/* 0: not measured. */
static double gpgpusim_rate(const char *name) {
    for (unsigned i = 0; i < sizeof gpgpusim / sizeof gpgpusim[0]; i++)
        if (strcmp(gpgpusim[i].name, name) == 0)
            return gpgpusim[i].rate;
    return 0;
}

static void add_ratio(struct report_table *table, double over, double under) {
    if (over > 0 && under > 0)
        report_table_cell(table, "%.1f", over / under);
    else
        report_table_cell(table, "-");
}

static void add_timed(struct report_table *table, const struct result *result, const struct measure *measured) {
    report_table_count(table, measured->counters.cycles);
    report_table_cell(table, "%.4f", measured->seconds);
    report_table_cell(table, "%.1f", rate(measured) * 1e-3);
    report_table_cell(table, "%.1f", report_rate(measured->counters.cycles, measured->seconds) * 1e-3);
    add_ratio(table, rate(&result->functional), rate(measured));
    add_ratio(table, rate(measured), gpgpusim_rate(result->subject.name));
    add_mebibytes(table, measured->peak_bytes);
}

static void print_timed(struct bench *bench) {
    static const char *const headings[] = {"timed",      "machine", "cycles",    "seconds", "K warp/s",
                                           "K cycles/s", "tax",     "GPGPU-Sim", "MiB"};
    struct report_table table = report_table_new(&bench->arena, sizeof headings / sizeof headings[0]);
    table.is_left[1] = true;
    add_headings(&table, headings);
    for (unsigned i = 0; i < bench->n_results; i++)
        for (unsigned v = 0; v < bench->n_variants; v++) {
            report_table_cell(&table, "%s", bench->result[i].subject.name);
            report_table_cell(&table, "%s", bench->variant[v].name);
            add_timed(&table, &bench->result[i], &bench->result[i].timed[v]);
        }
    putchar('\n');
    report_table_print(&table, stdout, false);
}

static json_t *measure_json(const struct measure *measured) {
    const struct stats_counters *counters = &measured->counters;
    return json_pack("{s:I, s:I, s:f, s:f, s:f, s:I}", "warp_instructions", (json_int_t)counters->warp_instructions,
                     "thread_instructions", (json_int_t)counters->thread_instructions, "seconds", measured->seconds,
                     "warp_instructions_per_second", rate(measured), "thread_instructions_per_second",
                     report_rate(counters->thread_instructions, measured->seconds), "peak_host_bytes",
                     (json_int_t)measured->peak_bytes);
}

static json_t *timed_json(const struct bench *bench, const struct result *result) {
    json_t *array = json_array();
    for (unsigned v = 0; v < bench->n_variants; v++) {
        const struct measure *measured = &result->timed[v];
        json_t *object = measure_json(measured);
        double other = gpgpusim_rate(result->subject.name);
        json_object_set_new(object, "machine", json_string(bench->variant[v].name));
        json_object_set_new(object, "cycles", json_integer((json_int_t)measured->counters.cycles));
        if (rate(measured) > 0)
            json_object_set_new(object, "tax", json_real(rate(&result->functional) / rate(measured)));
        if (other > 0)
            json_object_set_new(object, "times_gpgpu_sim", json_real(rate(measured) / other));
        json_array_append_new(array, object);
    }
    return array;
}

static bool write_json(const struct bench *bench) {
    json_t *array = json_array();
    for (unsigned i = 0; i < bench->n_results; i++) {
        const struct result *result = &bench->result[i];
        json_t *object =
            json_pack("{s:s, s:s}", "name", result->subject.name, "kind", kind_names[result->subject.kind]);
        json_t *measured = measure_json(&result->functional);
        json_object_update(object, measured);
        json_decref(measured);
        if (targets[result->subject.kind] > 0)
            json_object_set_new(object, "target", json_real(targets[result->subject.kind]));
        if (bench->n_variants)
            json_object_set_new(object, "timed", timed_json(bench, result));
        json_array_append_new(array, object);
    }
    bool is_written = json_dumpf(array, bench->json, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 &&
                      fputc('\n', bench->json) != EOF && fflush(bench->json) == 0;
    json_decref(array);
    return is_written;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int run_all(struct bench *bench) {
    int status = bench->given.is_functional ? COMMAND_DONE : make_variants(bench);
    if (status != COMMAND_DONE)
        return status;
    if (!program_find_place(&bench->place, &bench->arena) || !command_open_output(bench->given.json, &bench->json))
        return COMMAND_ERROR;
    status = measure(bench);
    if (!command_is_stdout(bench->given.json)) {
        print_functional(bench);
        if (bench->n_variants)
            print_timed(bench);
    }
    if (bench->json && !command_close_output(bench->given.json, bench->json, write_json(bench)))
        return COMMAND_ERROR;
    return status;
}

/* Compares with another build. */
static int compare_builds(struct bench *bench, const struct command_words *words) {
    static const char *const usual[] = {"vecadd", "divergent", "matmul", "bfs", "reduction", "spmv", "mum"};
    static const char *const sizes[] = {"small", "medium", "paper"};
    enum { PAIRS = 10 };
    const struct bench_options *given = &bench->given;
    for (unsigned i = 0; i < words->count; i++)
        if (!program_find_workload(words->item[i]))
            return refuse_subject(words->item[i]);
    const struct bench_against against = {
        .other = given->against,
        .name = words->count ? words->item : usual,
        .n_names = words->count ? words->count : sizeof usual / sizeof usual[0],
        .size = sizes[given->size],
        .machine = given->is_functional ? "" : given->machine.machine,
        .set = &given->machine.set,
        .repeat = given->repeat ? given->repeat : PAIRS,
        .json = given->json,
        .arena = &bench->arena,
    };
    return bench_against(&against);
}

static int check_options(const struct bench_options *given) {
    if (given->is_functional && (given->machine.machine || given->machine.set.count))
        return command_fail(COMMAND_USAGE, "%s applies to timed runs, not to --functional",
                            given->machine.machine ? "--machine" : "--set");
    return COMMAND_DONE;
}

int cli_bench(int argc, char **argv) {
    enum { REPETITIONS = 3 };
    struct bench bench = {.given = {.size = 1}};
    struct command_words words = {0};
    int status = COMMAND_DONE;
    if (command_parse(&cli_bench_command, argc, argv, &bench.given, &words, &bench.arena, &status)) {
        status = check_options(&bench.given);
        if (status == COMMAND_DONE && bench.given.against) {
            status = compare_builds(&bench, &words);
            base_arena_free(&bench.arena);
            return status;
        }
        bench.given.repeat = bench.given.repeat ? bench.given.repeat : REPETITIONS;
        if (status == COMMAND_DONE)
            status = choose_subjects(&bench, &words);
        if (status == COMMAND_DONE && bench.given.names)
            print_names(&bench);
        else if (status == COMMAND_DONE)
            status = run_all(&bench);
    }
    base_arena_free(&bench.arena);
    return status;
}
