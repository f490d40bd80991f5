/* `heddle validate [MACHINE [WORKLOAD...]]`: runs workloads that were recorded on the real GPU of that name and shows
 * real and simulated cycles side by side. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/validate/metrics.h"
#include "cli/validate/picture.h"
#include "command/output.h"
#include "program/html.h"
#include "program/program_options.h"
#include "program/progress.h"
#include "report/svg.h"

struct validate_options {
    const char *recording, *programs, *csv, *svg, *html;
    unsigned size;
    struct command_machine_options machine;
    uint64_t threads;
    double timeout_seconds;
    bool is_quiet, has_metrics;
};

#define FIELD(name) offsetof(struct validate_options, name)

static const struct command_option options[] = {
    {"--size", 0, COMMAND_CHOICE, "small|medium|paper", "only the recordings of this size, default all", FIELD(size), 0,
     0},
    {"--recording", 0, COMMAND_TEXT, "FILE.csv", "what bench/hardware/record.sh wrote; default: the machine's",
     FIELD(recording), 0, 0},
    {"--programs", 0, COMMAND_TEXT, "FOLDER", "of your own programs in the recording, default the current one",
     FIELD(programs), 0, 0},
    {"--metrics", 0, COMMAND_FLAG, NULL, "compare counters instead of cycles, and rank their differences",
     FIELD(has_metrics), 0, 0},
    COMMAND_SET_ROW(FIELD(machine)),
    PROGRAM_THREADS_ROW(FIELD(threads)),
    {"--csv", 0, COMMAND_TEXT, "FILE|-", "write the table as CSV", FIELD(csv), 0, 0},
    {"--svg", 0, COMMAND_TEXT, "FILE|-", "draw real against simulated cycles, both logarithmic", FIELD(svg), 0, 0},
    PROGRAM_HTML_ROW(FIELD(html)),
    {"--timeout", 0, COMMAND_SECONDS, "S", "stop a single run after S seconds", FIELD(timeout_seconds), 0, 0},
    {"--quiet", 'q', COMMAND_FLAG, NULL, "no table and no progress: only errors", FIELD(is_quiet), 0, 0},
};

const struct command cli_validate_command = {
    .name = "validate",
    .summary = "compare a machine with a recording of the real GPU",
    .usage = "validate [RECORDING.csv] [MACHINE [WORKLOAD...]] [options]",
    .text = "Runs the workloads that were recorded on the GPU that the machine describes, by default h200, and\n"
            "shows the recorded cycles beside the simulated ones. A workload's error is the difference of the\n"
            "sums over its recorded launches, for cycles and for machine instructions. Below the table are the\n"
            "means and the median of the absolute errors, and the correlation of the logarithms of the cycles.\n"
            "A second table shows the kernels of bench/hardware/kernels, which are not workloads.\n"
            "\n"
            "--metrics uses a recording of Nsight Compute's counters: instructions, active threads, accesses,\n"
            "sectors and hits, registers, occupancy, DRAM, and the stalls of warps. It shows the error of each\n"
            "counter, and the programs with the largest errors.\n"
            "\n"
            "A recording is a CSV file with a line for each launch. bench/hardware/record.sh records your own\n"
            "card and your own programs. A first word that ends in .csv is a recording. Some workloads take\n"
            "minutes.\n",
    .examples = "  heddle validate\n"
                "  heddle validate h200 matmul bfs --size medium\n"
                "  heddle validate h200 --svg h200.svg --csv h200.csv\n"
                "  heddle validate h200 --size medium --html h200.html\n"
                "  heddle validate h200 --metrics\n"
                "  heddle validate mine_programs.csv --programs build\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_validate,
};

/* A workload at a size: its recording and its run. */
struct comparison {
    const struct cli_recorded *real;
    unsigned job;                           /* that ran it; the kernels of a program share one */
    double simulated;                       /* cycles of the recorded launches; NaN: the run failed */
    double error;                           /* simulated / real - 1 */
    double instructions, instruction_error; /* the same for machine instructions; NaN: not recorded or not simulated */
};

struct validate {
    struct validate_options given;
    struct command_words words;
    struct program_place place;
    struct base_arena arena;
    struct program_target target;
    struct report_target shown;
    struct cli_recording recording;
    struct comparison *comparison;
    unsigned n;
    struct program_jobs jobs;
    FILE *csv, *svg; /* opened before the runs, so that a wrong path or a full disk does not waste them */
    struct report_svg picture;
    struct program_html html;
};

/* ---- What to run ------------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct validate *validate, const struct cli_recorded *recorded) {
    static const char *const size[] = {"small", "medium", "paper"};
    if (validate->given.size != PROGRAM_SIZE_NOT_GIVEN && strcmp(recorded->size, size[validate->given.size]) != 0)
        return false;
    for (unsigned i = 1; i < validate->words.count; i++)
        if (strcmp(validate->words.item[i], recorded->workload) == 0)
            return true;
    return validate->words.count <= 1;
}

static int check_names(const struct validate *validate) {
    for (unsigned i = 1; i < validate->words.count; i++) {
        const char *name = validate->words.item[i];
        struct base_nearest nearest = base_nearest_to(name);
        for (unsigned k = 0; k < validate->recording.count; k++)
            base_nearest_offer(&nearest, validate->recording.item[k].workload);
        if (nearest.best && strcmp(nearest.best, name) == 0)
            continue;
        if (nearest.best)
            return command_fail(COMMAND_USAGE, "the recording has no workload '%s'; did you mean '%s'?", name,
                                nearest.best);
        return command_fail(COMMAND_USAGE,
                            "the recording has no workload '%s'; 'heddle list workloads' shows the workloads", name);
    }
    return COMMAND_DONE;
}

/* The program and arguments that run a recorded workload or kernel. */
static const char *find_arguments(struct validate *validate, const struct cli_recorded *recorded,
                                  struct command_words *arguments) {
    const char **item = BASE_ARENA_ARRAY(&validate->arena, const char *, 3);
    *arguments = (struct command_words){.item = item};
    if (recorded->kernel)
        return base_arena_printf(&validate->arena, "%s/%s", validate->given.programs ? validate->given.programs : ".",
                                 recorded->workload);
    if (recorded->is_kernel) {
        item[arguments->count++] = recorded->workload;
        return base_arena_printf(&validate->arena, "%s/kernels", validate->place.bench);
    }
    item[arguments->count++] = "--size";
    item[arguments->count++] = recorded->size;
    item[arguments->count++] = "--no-check";
    return recorded->workload;
}

static bool is_own(const struct validate *validate, unsigned i, const struct cli_recorded *recorded) {
    const struct cli_recorded *other = validate->comparison[i].real;
    return other->kernel && recorded->kernel && strcmp(other->workload, recorded->workload) == 0;
}

static int make_job(struct validate *validate, const struct cli_recorded *recorded, struct program_job *job) {
    struct command_words arguments;
    const char *program = find_arguments(validate, recorded, &arguments);
    int status = COMMAND_DONE;
    job->execution = (struct program_execution){
        .place = &validate->place,
        .arguments = arguments,
        .target = &validate->target,
        .timeout_seconds = validate->given.timeout_seconds,
        .records_lines = validate->given.html != NULL || validate->given.has_metrics,
        .keeps_errors = true,
        .is_apart = true,
        .output = PROGRAM_OUTPUT_DROPPED,
    };
    job->run.size = recorded->kernel ? NULL : recorded->size;
    job->run.target = &validate->shown;
    return program_find(&job->execution.program, program, &validate->place, &validate->arena, &status) ? COMMAND_DONE
                                                                                                       : status;
}

static int make_jobs(struct validate *validate) {
    const struct cli_recording *recording = &validate->recording;
    struct program_job *job = BASE_ARENA_ARRAY(&validate->arena, struct program_job, recording->count);
    unsigned n_jobs = 0;
    validate->comparison = BASE_ARENA_ARRAY(&validate->arena, struct comparison, recording->count);
    for (unsigned k = 0; k < recording->count; k++) {
        const struct cli_recorded *recorded = &recording->item[k];
        if (!is_wanted(validate, recorded))
            continue;
        struct comparison *comparison = &validate->comparison[validate->n];
        unsigned i = 0;
        while (i < validate->n && !is_own(validate, i, recorded))
            i++;
        comparison->job = i < validate->n ? validate->comparison[i].job : n_jobs++;
        if (i == validate->n) {
            int status = make_job(validate, recorded, &job[comparison->job]);
            if (status != COMMAND_DONE)
                return status;
        }
        uint64_t *last = &job[comparison->job].execution.last_timed_launch;
        uint64_t number = recorded->launch[recorded->n_launches - 1] + 1;
        *last = number > *last ? number : *last;
        comparison->real = recorded;
        validate->n++;
    }
    validate->jobs = (struct program_jobs){
        .job = job, .count = n_jobs, .at_once = (unsigned)validate->given.threads, .arena = &validate->arena};
    return validate->n ? COMMAND_DONE : command_fail(COMMAND_ERROR, "nothing in the recording is of that size");
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static void collect(struct validate *validate) {
    for (unsigned i = 0; i < validate->n; i++) {
        struct comparison *comparison = &validate->comparison[i];
        const struct program_job *job = &validate->jobs.job[comparison->job];
        comparison->simulated = comparison->instructions = comparison->instruction_error = NAN;
        double instructions = 0;
        if (!program_is_finished(job) || job->status != COMMAND_DONE ||
            job->run.n_launches <= comparison->real->launch[comparison->real->n_launches - 1])
            continue;
        comparison->simulated = 0;
        for (unsigned k = 0; k < comparison->real->n_launches; k++) {
            const struct stats_counters *counters = &job->run.launch[comparison->real->launch[k]].counters;
            comparison->simulated += (double)counters->cycles;
            instructions += (double)counters->machine_instructions;
        }
        if (instructions > 0 && comparison->real->instructions > 0) {
            comparison->instructions = instructions;
            comparison->instruction_error = instructions / comparison->real->instructions - 1;
        }
        comparison->error = comparison->simulated / comparison->real->cycles - 1;
    }
}

/* Says which programs ended with fewer launches than were recorded. Returns whether there is none. */
static bool has_all_launches(const struct validate *validate) {
    bool has_all = true;
    for (unsigned i = 0; i < validate->jobs.count; i++) {
        const struct program_job *job = &validate->jobs.job[i];
        unsigned recorded = 0;
        for (unsigned k = 0; k < validate->n; k++)
            if (validate->comparison[k].job == i)
                recorded += validate->comparison[k].real->n_launches;
        if (!program_is_finished(job) || job->status != COMMAND_DONE || job->run.n_launches >= recorded)
            continue;
        has_all = false;
        command_fail(COMMAND_ERROR, "%s: %u launches were recorded, but the run has %u", job->execution.program.name,
                     recorded, (unsigned)job->run.n_launches);
    }
    return has_all;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

enum group { WORKLOADS, KERNELS, OWN, ALL };

static bool is_in(const struct comparison *comparison, enum group group) {
    const struct cli_recorded *real = comparison->real;
    return group == ALL || group == (real->kernel ? OWN : real->is_kernel ? KERNELS : WORKLOADS);
}

struct summary {
    unsigned n, n_instructions;
    double mean, median, instructions; /* instructions: the mean error of their number */
    double correlation;                /* NaN: fewer than three points, or all alike */
};

/* Uses the correlation of the logarithms, because cycles differ by orders of magnitude. */
static struct summary summarize(struct validate *validate, enum group group) {
    struct summary summary = {.correlation = NAN};
    double *error = BASE_ARENA_ARRAY(&validate->arena, double, validate->n);
    double x_sum = 0, y_sum = 0, xx = 0, yy = 0, xy = 0;
    for (unsigned i = 0; i < validate->n; i++) {
        const struct comparison *comparison = &validate->comparison[i];
        if (isnan(comparison->simulated) || !is_in(comparison, group))
            continue;
        if (!isnan(comparison->instruction_error)) {
            summary.instructions += fabs(comparison->instruction_error);
            summary.n_instructions++;
        }
        error[summary.n++] = fabs(comparison->error);
        summary.mean += fabs(comparison->error);
        double x = log(comparison->real->cycles), y = log(comparison->simulated);
        x_sum += x, y_sum += y, xx += x * x, yy += y * y, xy += x * y;
    }
    if (!summary.n)
        return summary;
    double n = summary.n, spread = sqrt((n * xx - x_sum * x_sum) * (n * yy - y_sum * y_sum));
    summary.mean /= n;
    summary.instructions = summary.n_instructions ? summary.instructions / summary.n_instructions : 0;
    qsort(error, summary.n, sizeof *error, by_value);
    summary.median = summary.n % 2 ? error[summary.n / 2] : (error[summary.n / 2 - 1] + error[summary.n / 2]) / 2;
    if (summary.n >= 3 && spread > 0)
        summary.correlation = (n * xy - x_sum * y_sum) / spread;
    return summary;
}

/* Prints only statistics about which the finished runs say something. */
static void print_summary(const struct summary *summary, const char *singular, const char *plural) {
    if (!summary->n)
        return;
    printf("%u %s: mean error %.1f %%", summary->n, summary->n == 1 ? singular : plural, 100 * summary->mean);
    if (summary->n > 1)
        printf(", median %.1f %%", 100 * summary->median);
    if (!isnan(summary->correlation))
        printf(", correlation %.3f", summary->correlation);
    if (summary->n_instructions)
        printf("; instructions %.1f %%", 100 * summary->instructions);
    printf("\n");
}

static void print_table(struct validate *validate, enum group group) {
    struct summary summary = summarize(validate, group);
    struct report_table table = report_table_new(&validate->arena, 7);
    const char *const heads[] = {group == OWN       ? "program"
                                 : group == KERNELS ? "kernel"
                                                    : "workload",
                                 group == OWN ? "kernel" : "size",
                                 "launches",
                                 "real cycles",
                                 "simulated",
                                 "error",
                                 "instructions"};
    unsigned n = 0;
    table.is_left[1] = group == OWN;
    for (unsigned k = 0; k < 7; k++)
        report_table_cell(&table, "%s", heads[k]);
    for (unsigned i = 0; i < validate->n; i++) {
        const struct comparison *comparison = &validate->comparison[i];
        if (!is_in(comparison, group))
            continue;
        n++;
        report_table_cell(&table, "%s", comparison->real->workload);
        report_table_cell(&table, "%s", comparison->real->kernel ? comparison->real->kernel : comparison->real->size);
        report_table_count(&table, comparison->real->n_launches);
        report_table_count(&table, (uint64_t)comparison->real->cycles);
        if (isnan(comparison->simulated)) {
            report_table_cell(&table, program_is_finished(&validate->jobs.job[comparison->job]) ? "failed" : "not run");
            report_table_cell(&table, "-");
            report_table_cell(&table, "-");
            continue;
        }
        report_table_count(&table, (uint64_t)comparison->simulated);
        report_table_cell(&table, "%+.0f %%", 100 * comparison->error);
        if (isnan(comparison->instruction_error))
            report_table_cell(&table, "-");
        else
            report_table_cell(&table, "%+.0f %%", 100 * comparison->instruction_error);
    }
    if (!n)
        return;
    report_table_print(&table, stdout, false);
    static const char *const words[][2] = {[WORKLOADS] = {"workload", "workloads"},
                                           [KERNELS] = {"other kernel", "other kernels"},
                                           [OWN] = {"kernel", "kernels"}};
    print_summary(&summary, words[group][0], words[group][1]);
}

/* The registers of a thread in a launch; NaN: not known. */
static double registers_of(const struct report_kernel *launch) {
    json_t *occupancy = launch->occupancy.text ? json_loads(launch->occupancy.text, 0, NULL) : NULL;
    json_t *registers = json_object_get(occupancy, "registers");
    double value = registers ? (double)json_integer_value(registers) : NAN;
    json_decref(occupancy);
    return value;
}

/* Adds the lines of the launches' kernels, of each kernel once. At its first line a warp waits for the launch to start,
 * which counts as a fetch. */
static void add_lines(struct stats_line *to, const struct report_run *run, const struct cli_recorded *real) {
    for (unsigned i = 0; i < run->n_listings; i++) {
        const struct report_listing *listing = &run->listing[i];
        unsigned k = 0;
        while (k < real->n_launches && strcmp(run->launch[real->launch[k]].name, listing->kernel) != 0)
            k++;
        for (unsigned line = 0; k < real->n_launches && line < listing->n_lines; line++) {
            struct stats_line counters = listing->line[line].counters;
            if (line == 0)
                counters.stall_fetch = 0;
            stats_add_line(to, &counters);
        }
    }
}

/* Returns the finished programs, *n of them, with our counters of the recorded launches. */
static struct cli_measured *measure(struct validate *validate, unsigned *n) {
    struct cli_measured *measured = BASE_ARENA_ARRAY(&validate->arena, struct cli_measured, validate->n);
    *n = 0;
    for (unsigned i = 0; i < validate->n; i++) {
        const struct comparison *comparison = &validate->comparison[i];
        const struct report_run *run = &validate->jobs.job[comparison->job].run;
        if (isnan(comparison->simulated))
            continue;
        struct cli_measured *one = &measured[(*n)++];
        one->real = comparison->real;
        one->peaks = &validate->shown.peaks;
        for (unsigned k = 0; k < one->real->n_launches; k++) {
            const struct report_kernel *launch = &run->launch[one->real->launch[k]];
            stats_add(&one->counters, &launch->counters);
            one->registers += registers_of(launch) / one->real->n_launches;
        }
        add_lines(&one->lines, run, one->real);
    }
    return measured;
}

static void print_metrics(struct validate *validate) {
    unsigned n;
    const struct cli_measured *measured = measure(validate, &n);
    if (n)
        cli_print_metrics(stdout, measured, n, &validate->arena);
}

static void begin_csv(FILE *file) {
    fprintf(file, "program,size,launches,real_cycles,simulated_cycles,error,instruction_error\n");
}

static bool write_csv(struct validate *validate) {
    FILE *file = validate->csv;
    if (!file)
        return true;
    if (validate->given.has_metrics) {
        unsigned n;
        const struct cli_measured *measured = measure(validate, &n);
        cli_write_metrics(file, measured, n);
        return command_close_output(validate->given.csv, file, fflush(file) == 0 && !ferror(file));
    }
    for (unsigned i = 0; i < validate->n; i++) {
        const struct comparison *comparison = &validate->comparison[i];
        if (isnan(comparison->simulated))
            continue;
        fprintf(file, "%s,%s,%u,%.0f,%.0f,%.4f,", comparison->real->workload,
                comparison->real->kernel ? comparison->real->kernel : comparison->real->size,
                comparison->real->n_launches, comparison->real->cycles, comparison->simulated, comparison->error);
        if (!isnan(comparison->instruction_error))
            fprintf(file, "%.4f", comparison->instruction_error);
        fputc('\n', file);
    }
    return command_close_output(validate->given.csv, file, fflush(file) == 0 && !ferror(file));
}

/* ---- The picture ------------------------------------------------------------------------------------------------- */

static void write_title(struct validate *validate, char *title, size_t size) {
    struct summary workloads = summarize(validate, WORKLOADS), kernels = summarize(validate, KERNELS);
    struct summary own = summarize(validate, OWN);
    int n = snprintf(title, size, "%s%s", validate->shown.machine,
                     workloads.n || kernels.n || own.n ? ", mean error:" : ": no run has ended");
    if (workloads.n)
        n += snprintf(title + n, size - (size_t)n, " %u workload%s %.1f %% (blue)", workloads.n,
                      workloads.n == 1 ? "" : "s", 100 * workloads.mean);
    if (own.n)
        n += snprintf(title + n, size - (size_t)n, "%s %u own kernel%s %.1f %% (green)", workloads.n ? "," : "", own.n,
                      own.n == 1 ? "" : "s", 100 * own.mean);
    if (kernels.n)
        snprintf(title + n, size - (size_t)n, "%s %u other kernel%s %.1f %% (orange)", workloads.n || own.n ? "," : "",
                 kernels.n, kernels.n == 1 ? "" : "s", 100 * kernels.mean);
}

static bool draw(struct validate *validate) {
    static const char blue[] = "#1f77b4", orange[] = "#ff7f0e", green[] = "#2ca02c";
    struct cli_point *point = BASE_ARENA_ARRAY(&validate->arena, struct cli_point, validate->n);
    FILE *file = validate->svg;
    char title[160];
    unsigned n = 0;
    if (!file)
        return true;
    for (unsigned i = 0; i < validate->n; i++) {
        const struct cli_recorded *real = validate->comparison[i].real;
        double simulated = validate->comparison[i].simulated;
        if (!isnan(simulated))
            point[n++] = (struct cli_point){real->cycles, simulated,
                                            real->kernel      ? green
                                            : real->is_kernel ? orange
                                                              : blue};
    }
    write_title(validate, title, sizeof title);
    cli_draw_points(&validate->picture, title, point, n);
    report_svg_end(&validate->picture);
    return command_close_output(validate->given.svg, file, fflush(file) == 0 && !ferror(file));
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

/* Writes a point for each finished workload, and its run without time series, because a card has many SMs. */
static json_t *number_or_null(bool is_known, double number) { return is_known ? json_real(number) : json_null(); }

/* The metrics of the program at `at` of the points: word, real, simulated and difference, those that are known. */
static json_t *metrics_document(const struct cli_measured *measured) {
    json_t *list = json_array();
    for (unsigned m = 0; m < CLI_N_METRICS; m++) {
        double difference = cli_metric_difference(m, measured);
        if (!isnan(difference))
            json_array_append_new(list,
                                  json_pack("{s:s, s:b, s:f, s:f, s:f}", "metric", cli_metric_word(m), "is_share",
                                            cli_metric_is_share(m), "real", cli_metric_real(m, measured), "simulated",
                                            cli_metric_simulated(m, measured), "difference", difference));
    }
    return list;
}

static json_t *page_document(struct validate *validate) {
    struct summary summary = summarize(validate, ALL);
    json_t *points = json_array(), *runs = json_array();
    unsigned n, at = 0;
    const struct cli_measured *measured = measure(validate, &n);
    int *run_of = BASE_ARENA_ARRAY(&validate->arena, int, validate->jobs.count); /* 0: not on the page yet */
    for (unsigned i = 0; i < validate->n; i++) {
        const struct comparison *comparison = &validate->comparison[i];
        if (isnan(comparison->simulated))
            continue;
        if (!run_of[comparison->job]) {
            json_array_append_new(runs,
                                  report_run_document(&validate->jobs.job[comparison->job].run, &validate->arena));
            run_of[comparison->job] = (int)json_array_size(runs);
        }
        json_t *point =
            json_pack("{s:i, s:i, s:f, s:f, s:f, s:s?}", "run", run_of[comparison->job] - 1, "launches",
                      (int)comparison->real->n_launches, "real", comparison->real->cycles, "simulated",
                      comparison->simulated, "error", comparison->error, "kernel", comparison->real->kernel);
        if (validate->given.has_metrics)
            json_object_set_new(point, "metrics", metrics_document(&measured[at]));
        at++;
        json_array_append_new(points, point);
    }
    return json_pack("{s:{s:s, s:o, s:o, s:o, s:o}, s:o}", "validation", "machine", validate->shown.machine, "mean",
                     number_or_null(summary.n, summary.mean), "median", number_or_null(summary.n, summary.median),
                     "correlation", number_or_null(!isnan(summary.correlation), summary.correlation), "points", points,
                     "runs", runs);
}

static bool write_page(struct validate *validate) {
    const char *title = base_arena_printf(&validate->arena, "%s compared with the GPU", validate->shown.machine);
    return !validate->html.file ||
           program_html_write(&validate->html, title, json_pack("[o]", page_document(validate)));
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

/* Adds the metrics of the recordings of one pass, which find the caches as the program left them. */
static int read_few_metrics(struct validate *validate, const char *folder) {
    static const char *const sets[] = {"workloads", "patterns", "applications", "suites"};
    int status = COMMAND_DONE;
    for (unsigned i = 0; i < sizeof sets / sizeof sets[0] && status == COMMAND_DONE; i++) {
        const char *path =
            base_arena_printf(&validate->arena, "%s/%s_%s.csv", folder, validate->shown.machine, sets[i]);
        if (access(path, R_OK) == 0)
            status = cli_read_more_metrics(path, &validate->recording);
    }
    return status;
}

static int find_recording(struct validate *validate) {
    if (validate->given.recording)
        return cli_read_recording(validate->given.recording, &validate->recording, &validate->arena);
    const char *folder = program_find_recordings(&validate->arena);
    if (!folder)
        return COMMAND_ERROR;
    if (validate->given.has_metrics) {
        const char *metrics = base_arena_printf(&validate->arena, "%s/%s_metrics.csv", folder, validate->shown.machine);
        if (access(metrics, F_OK) != 0)
            return command_fail(COMMAND_ERROR,
                                "there is no recording of the metrics of %s; bench/hardware/record.sh makes one of a "
                                "card, for --recording",
                                validate->shown.machine);
        int status = cli_read_recording(metrics, &validate->recording, &validate->arena);
        return status == COMMAND_DONE ? read_few_metrics(validate, folder) : status;
    }
    const char *workloads = base_arena_printf(&validate->arena, "%s/%s_workloads.csv", folder, validate->shown.machine);
    const char *patterns = base_arena_printf(&validate->arena, "%s/%s_patterns.csv", folder, validate->shown.machine);
    if (access(workloads, F_OK) != 0)
        return command_fail(
            COMMAND_ERROR, "there is no recording of %s; bench/hardware/record.sh makes one of a card, for --recording",
            validate->shown.machine);
    int status = cli_read_recording(workloads, &validate->recording, &validate->arena);
    if (status == COMMAND_DONE && access(patterns, R_OK) == 0)
        status = cli_read_recording(patterns, &validate->recording, &validate->arena);
    return status;
}

/* Opens the files and writes their beginnings. */
static int begin_files(struct validate *validate) {
    const char *csv = validate->given.csv, *svg = validate->given.svg;
    if (csv && svg && strcmp(csv, svg) == 0)
        return command_fail(COMMAND_USAGE, "--csv and --svg cannot both write to '%s'", csv);
    if (!command_open_output(csv, &validate->csv) || !command_open_output(svg, &validate->svg))
        return COMMAND_ERROR;
    if (csv && !validate->given.has_metrics)
        begin_csv(validate->csv);
    if (svg)
        report_svg_begin(&validate->picture, validate->svg, CLI_PICTURE_WIDTH, CLI_PICTURE_HEIGHT);
    if (csv && fflush(validate->csv) != 0)
        return command_fail(COMMAND_ERROR, "cannot write '%s': %s", csv, strerror(errno));
    if (svg && fflush(validate->svg) != 0)
        return command_fail(COMMAND_ERROR, "cannot write '%s': %s", svg, strerror(errno));
    return program_html_open(&validate->html, validate->given.html, &validate->arena);
}

/* A word that ends in .csv is a recording, as if it stood after --recording. */
static void take_recording(struct validate *validate) {
    const char *word = validate->words.count ? validate->words.item[0] : "";
    size_t length = strlen(word);
    if (validate->given.recording || length < 5 || strcmp(word + length - 4, ".csv") != 0)
        return;
    validate->given.recording = word;
    validate->words.item++;
    validate->words.count--;
}

static int run(struct validate *validate) {
    take_recording(validate);
    const char *name = validate->words.count ? validate->words.item[0] : "h200";
    validate->given.machine.machine = name;
    int status = program_make_target(&validate->target, &validate->given.machine, NULL, NULL, 0, &validate->arena);
    if (status != COMMAND_DONE)
        return status;
    validate->shown = program_report_target(&validate->target);
    if ((status = find_recording(validate)) != COMMAND_DONE || (status = check_names(validate)) != COMMAND_DONE)
        return status;
    if (!program_find_place(&validate->place, &validate->arena))
        return COMMAND_ERROR;
    if ((status = make_jobs(validate)) != COMMAND_DONE)
        return status;
    if ((status = begin_files(validate)) != COMMAND_DONE)
        return status;
    if ((status = program_execute_with_progress(&validate->jobs, validate->given.is_quiet)) != COMMAND_DONE)
        return status;
    collect(validate);
    if (!validate->given.is_quiet && !command_is_stdout(validate->given.csv) &&
        !command_is_stdout(validate->given.svg) && !command_is_stdout(validate->given.html)) {
        if (validate->given.has_metrics) {
            print_metrics(validate);
        } else {
            print_table(validate, WORKLOADS);
            print_table(validate, KERNELS);
            print_table(validate, OWN);
        }
    }
    for (unsigned i = 0; i < validate->jobs.count; i++)
        if (validate->jobs.job[i].run.error)
            status = command_fail(COMMAND_ERROR, "%s: %s", validate->jobs.job[i].execution.program.name,
                                  validate->jobs.job[i].run.error);
    if (!has_all_launches(validate))
        status = COMMAND_ERROR;
    if (!write_csv(validate) || !draw(validate) || !write_page(validate))
        status = COMMAND_ERROR;
    return validate->jobs.interrupt ? program_report_interrupt(&validate->jobs) : status;
}

int cli_validate(int argc, char **argv) {
    struct validate validate = {.given = {.size = PROGRAM_SIZE_NOT_GIVEN}};
    int status = COMMAND_DONE;
    if (command_parse(&cli_validate_command, argc, argv, &validate.given, &validate.words, &validate.arena, &status))
        status = run(&validate);
    base_arena_free(&validate.arena);
    return status;
}
