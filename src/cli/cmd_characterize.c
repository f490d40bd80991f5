/* `heddle characterize [PROGRAM...]`: the measures in the papers' tables, for our programs and beside the papers'
 * values. A program runs once for each machine that the tables need. A difference from a paper is not an error: the
 * table marks it, and paper_reasons.def and docs/workloads.md explain it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "command/output.h"
#include "experiment/characteristics.h"
#include "program/program_options.h"
#include "program/progress.h"
#include "program/workloads.h"

struct characterize_options {
    struct command_words tables;
    struct program_options program;
    bool is_functional, is_quiet;
    unsigned color;
    uint64_t threads;
    double timeout_seconds;
    const char *json, *csv;
};

#define FIELD(name) offsetof(struct characterize_options, name)

static const struct command_option options[] = {
    {"--table", 't', COMMAND_LIST, "narasiman2011|liu2023|meng2010|malits2012|caches",
     "only this table; repeat it for others", FIELD(tables), 0, 0},
    {"--functional", 0, COMMAND_FLAG, NULL, "execute without timing where a table does not need it",
     FIELD(is_functional), 0, 0},
    PROGRAM_THREADS_ROW(FIELD(threads)),
    PROGRAM_ROWS(FIELD(program)),
    {"--json", 0, COMMAND_TEXT, "FILE|-", "write all of it as one JSON object", FIELD(json), 0, 0},
    {"--csv", 0, COMMAND_TEXT, "FILE|-", "write all of it as CSV, a line for each program", FIELD(csv), 0, 0},
    {"--timeout", 0, COMMAND_SECONDS, "S", "stop a single run after S seconds", FIELD(timeout_seconds), 0, 0},
    {"--quiet", 'q', COMMAND_FLAG, NULL, "no table and no progress: only errors", FIELD(is_quiet), 0, 0},
    COMMAND_COLOR_ROW(FIELD(color)),
};

const struct command cli_characterize_command = {
    .name = "characterize",
    .summary = "measure what papers report about their programs",
    .usage = "characterize [PROGRAM...] [options] [-- program arguments]",
    .text = "PROGRAM is as for 'heddle run'. Without one, all bundled workloads are measured, and at size paper\n"
            "their aliases too. The tables show the paper's values beside ours:\n"
            "  narasiman2011  active threads of a warp, and cycles in which no instruction issues, on the machine of\n"
            "                 that name. Divergence is low above 30 active threads and high below 20; idle is low\n"
            "                 below 20 % of the cycles and high above 40 %.\n"
            "  liu2023        thread instructions, and how many of them access global or local memory or a texture,\n"
            "                 on gtx480. With --functional, threads that race, as in bfs, may execute a few more or\n"
            "                 fewer; all others execute the same number.\n"
            "  meng2010       warp instructions per branch and per L1 miss, and how many of these diverged: lanes\n"
            "                 went different ways, or some of them hit. On the machine of that name, which has no\n"
            "                 shared memory and blocks of at most 64 threads; a program that cannot run there says\n"
            "                 why.\n"
            "  malits2012     the shape of the first launch, and the conditional branches in the kernels' text\n"
            "  caches         on gtx480: loads that miss the L1 per 1000 thread instructions, IPC with 8 times the L1\n"
            "                 relative to IPC, active threads, and the resulting class: cache-sensitive (IPC grows\n"
            "                 to 1.2 or more), otherwise divergent (at most 30 active threads), otherwise streaming\n"
            "                 (1 miss or more), otherwise computing. Measured only if --table names it.\n"
            "At size paper, a paper's program has the paper's input. A workload with several names there is\n"
            "shown beside the first. The end of a row names the values that differ from the paper's (another\n"
            "class, or by more than a third; counts only at size paper), and the text below the table explains\n"
            "them.\n"
            "\n"
            "Exit status: as for 'heddle run'; a program that cannot run on meng2010 is not an error.\n",
    .examples = "  heddle characterize bfs sort\n"
                "  heddle characterize --size paper --table liu2023\n"
                "  heddle characterize bfs_1 bfs_2 --size paper --json -\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .has_program = true,
    .main = cli_characterize,
};

struct machine_choice {
    const char *name;   /* NULL: without timing */
    unsigned l1_factor; /* times the machine's own L1 */
};
enum { MOST_MACHINES = 2 * EXPERIMENT_N_PAPER_TABLES };

struct characterize {
    struct characterize_options given;
    struct command_words words;
    struct program_place place;
    struct base_arena arena;
    struct program *program;
    unsigned n_programs;
    bool has_table[EXPERIMENT_N_PAPER_TABLES];
    /* The targets that the programs run on: */
    struct program_target target[MOST_MACHINES];
    struct report_target shown[MOST_MACHINES];
    struct machine_choice machine[MOST_MACHINES];
    unsigned n_machines;
    struct program_jobs jobs; /* all machines of the first program, then of the second... */
    FILE *json, *csv;
};

/* ---- The request ------------------------------------------------------------------------------------------------- */

static int refuse_table(const char *name, struct base_arena *arena) {
    struct base_nearest nearest = base_nearest_to(name);
    const char *all = "";
    for (unsigned t = 0; t < EXPERIMENT_N_PAPER_TABLES; t++) {
        base_nearest_offer(&nearest, experiment_characterizations[t].name);
        all = base_arena_printf(arena, "%s%s%s", all, t ? ", " : "", experiment_characterizations[t].name);
    }
    if (nearest.best)
        return command_fail(COMMAND_USAGE, "no table '%s'; did you mean '%s'?", name, nearest.best);
    return command_fail(COMMAND_USAGE, "no table '%s'; there are: %s", name, all);
}

static int choose_tables(struct characterize *c) {
    const struct command_words *names = &c->given.tables;
    for (unsigned t = 0; t < EXPERIMENT_N_PAPER_TABLES; t++)
        c->has_table[t] = names->count == 0 && experiment_characterizations[t].l1_factor == 0;
    for (unsigned i = 0; i < names->count; i++) {
        unsigned t = 0;
        while (t < EXPERIMENT_N_PAPER_TABLES && strcmp(experiment_characterizations[t].name, names->item[i]) != 0)
            t++;
        if (t == EXPERIMENT_N_PAPER_TABLES)
            return refuse_table(names->item[i], &c->arena);
        c->has_table[t] = true;
    }
    return COMMAND_DONE;
}

static struct machine_choice machine_of(const struct characterize *c, unsigned table) {
    const struct experiment_characterization *about = &experiment_characterizations[table];
    return (struct machine_choice){c->given.is_functional && !about->is_timed ? NULL : about->machine, 1};
}

static struct machine_choice larger_machine_of(const struct characterize *c, unsigned table) {
    return (struct machine_choice){machine_of(c, table).name, experiment_characterizations[table].l1_factor};
}

static bool is_same_machine(struct machine_choice a, struct machine_choice b) {
    bool is_same_name = a.name == b.name || (a.name && b.name && strcmp(a.name, b.name) == 0);
    return is_same_name && a.l1_factor == b.l1_factor;
}

/* Index of the machine that runs use. */
static unsigned machine_number(const struct characterize *c, struct machine_choice choice) {
    unsigned m = 0;
    while (m < c->n_machines && !is_same_machine(c->machine[m], choice))
        m++;
    return m;
}

static int make_machine(struct characterize *c, unsigned m) {
    struct command_machine_options machine = {.machine = c->machine[m].name};
    int status = program_make_target(&c->target[m], &machine, NULL, NULL, 0, &c->arena);
    if (status != COMMAND_DONE || c->machine[m].l1_factor == 1)
        return status;
    const char *larger =
        base_arena_printf(&c->arena, "l1.size=%llu",
                          (unsigned long long)c->target[m].machine.l1.cache.size_bytes * c->machine[m].l1_factor);
    machine.set = (struct command_words){.item = BASE_ARENA_ARRAY(&c->arena, const char *, 1), .count = 1};
    machine.set.item[0] = larger;
    return program_make_target(&c->target[m], &machine, NULL, NULL, 0, &c->arena);
}

static int add_machine(struct characterize *c, struct machine_choice choice) {
    unsigned m = machine_number(c, choice);
    if (m < c->n_machines)
        return COMMAND_DONE;
    c->machine[c->n_machines++] = choice;
    if (!choice.name)
        return COMMAND_DONE;
    int status = make_machine(c, m);
    if (status == COMMAND_DONE)
        c->shown[m] = program_report_target(&c->target[m]);
    return status;
}

static int choose_machines(struct characterize *c) {
    int status = COMMAND_DONE;
    for (unsigned t = 0; t < EXPERIMENT_N_PAPER_TABLES && status == COMMAND_DONE; t++) {
        if (!c->has_table[t])
            continue;
        status = add_machine(c, machine_of(c, t));
        if (status == COMMAND_DONE && experiment_characterizations[t].l1_factor)
            status = add_machine(c, larger_machine_of(c, t));
    }
    return status;
}

/* Returns the programs named on the command line, or all. */
static struct command_words program_names(struct characterize *c) {
    struct command_words names = {.item = c->words.item, .count = c->words.n_before};
    if (names.count)
        return names;
    bool has_aliases = c->given.program.size == PROGRAM_SIZE_PAPER;
    names.item = BASE_ARENA_ARRAY(&c->arena, const char *, program_n_workloads + program_n_aliases);
    for (unsigned i = 0; i < program_n_workloads; i++)
        names.item[names.count++] = program_workloads[i].name;
    for (unsigned i = 0; has_aliases && i < program_n_aliases; i++)
        names.item[names.count++] = program_aliases[i].name;
    return names;
}

static int find_programs(struct characterize *c) {
    struct command_words names = program_names(c);
    c->n_programs = names.count;
    c->program = BASE_ARENA_ARRAY(&c->arena, struct program, names.count);
    for (unsigned i = 0; i < names.count; i++) {
        int status;
        if (!program_find(&c->program[i], names.item[i], &c->place, &c->arena, &status))
            return status;
        status = program_check_options(&c->program[i], &c->given.program);
        if (status != COMMAND_DONE)
            return status;
    }
    return COMMAND_DONE;
}

static void make_jobs(struct characterize *c) {
    const struct characterize_options *given = &c->given;
    struct command_words words = {.count = c->words.count - c->words.n_before};
    if (words.count)
        words.item = c->words.item + c->words.n_before;
    unsigned count = c->n_programs * c->n_machines;
    struct program_job *job = BASE_ARENA_ARRAY(&c->arena, struct program_job, count);
    for (unsigned i = 0; i < count; i++) {
        const struct program *program = &c->program[i / c->n_machines];
        unsigned m = i % c->n_machines;
        job[i].execution = (struct program_execution){
            .program = *program,
            .place = &c->place,
            .arguments = program_arguments(program, &given->program, &words, &c->arena),
            .target = c->machine[m].name ? &c->target[m] : NULL,
            .timeout_seconds = given->timeout_seconds,
            .keeps_errors = true,
            .is_apart = true,
            .output = PROGRAM_OUTPUT_DROPPED,
        };
        job[i].run.size = program_size(program, &given->program);
        job[i].run.target = c->machine[m].name ? &c->shown[m] : NULL;
    }
    c->jobs =
        (struct program_jobs){.job = job, .count = count, .at_once = (unsigned)given->threads, .arena = &c->arena};
}

/* ---- Measurements ------------------------------------------------------------------------------------------------ */

static const struct program_job *job_of(const struct characterize *c, unsigned program, unsigned table) {
    return &c->jobs.job[program * c->n_machines + machine_number(c, machine_of(c, table))];
}

/* The run with a larger L1, or NULL. */
static const struct program_job *larger_job_of(const struct characterize *c, unsigned program, unsigned table) {
    if (!experiment_characterizations[table].l1_factor)
        return NULL;
    return &c->jobs.job[program * c->n_machines + machine_number(c, larger_machine_of(c, table))];
}

/* Returns the PTX file of the program's kernels, or NULL if it is not known outside the program. */
static const char *ptx_of(const struct characterize *c, const struct program *program, struct base_arena *arena) {
    const struct program_workload *workload = program_find_workload(program->name);
    if (program->kind == PROGRAM_PTX)
        return program->name;
    if (program->kind != PROGRAM_WORKLOAD)
        return NULL;
    return base_arena_printf(arena, "%s/%s.ptx", c->place.workloads, workload->name);
}

/* Computes the measures of a table for a program. Returns false if it was not measured. */
static bool measure(struct characterize *c, unsigned program, unsigned table,
                    double value[EXPERIMENT_MOST_PAPER_MEASURES]) {
    const struct experiment_characterization *about = &experiment_characterizations[table];
    const struct program_job *job = job_of(c, program, table);
    const struct program_job *larger = larger_job_of(c, program, table);
    struct experiment_measured measured = {.run = &job->run, .n_branches = NAN};
    if (larger && larger->status == COMMAND_DONE)
        measured.larger_run = &larger->run;
    const char *ptx = table == EXPERIMENT_MALITS2012 ? ptx_of(c, &c->program[program], &c->arena) : NULL;
    if (ptx)
        measured.n_branches = experiment_count_branches(ptx, &job->run);
    for (unsigned k = 0; k < about->n_measures; k++)
        value[k] = job->status == COMMAND_DONE ? about->measure[k].value(&measured) : NAN;
    return job->status == COMMAND_DONE;
}

static const double *paper_values(const struct characterize *c, unsigned program, unsigned table) {
    static const double none[EXPERIMENT_MOST_PAPER_MEASURES] = {NAN, NAN, NAN, NAN, NAN};
    const double *values = experiment_paper_values((enum experiment_paper_table)table, c->program[program].name);
    return values ? values : none;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void add_cell(struct report_table *table, enum experiment_measure_kind kind, double value,
                     const char *otherwise) {
    if (isnan(value))
        report_table_cell(table, "%s", otherwise);
    else if (kind == EXPERIMENT_MEASURE_COUNT)
        report_table_count(table, (uint64_t)value);
    else if (kind == EXPERIMENT_MEASURE_NUMBER)
        report_table_cell(table, "%.1f", value);
    else if (kind == EXPERIMENT_MEASURE_RATIO)
        report_table_cell(table, "%.2f", value);
    else if (kind == EXPERIMENT_MEASURE_PERCENT)
        report_table_cell(table, "%.2f %%", value);
    else if (kind == EXPERIMENT_MEASURE_PROGRAM_CLASS)
        report_table_cell(table, "%s", experiment_program_class_name(value));
    else
        report_table_cell(table, "%s", experiment_intensity_name(value));
}

static void add_headings(struct report_table *table, const struct experiment_characterization *about) {
    report_table_cell(table, "program");
    for (unsigned k = 0; k < about->n_measures; k++) {
        report_table_cell(table, "%s", about->measure[k].heading);
        if (about->measure[k].has_paper)
            report_table_cell(table, "paper");
    }
    report_table_cell(table, "%s", "");
    table->is_left[table->n_columns - 1] = true;
}

/* Counts compare with the paper's only for its input. */
static bool is_off(const struct characterize *c, unsigned t, unsigned k, double ours, double paper) {
    enum experiment_measure_kind kind = experiment_characterizations[t].measure[k].kind;
    bool compares = kind != EXPERIMENT_MEASURE_COUNT || c->given.program.size == PROGRAM_SIZE_PAPER;
    return compares && experiment_is_off(kind, ours, paper);
}

/* Returns the headings of the measures that are off, separated by commas; "": none. */
static const char *off_measures(struct characterize *c, unsigned program, unsigned t) {
    const double *paper = paper_values(c, program, t);
    const char *names = "";
    double ours[EXPERIMENT_MOST_PAPER_MEASURES];
    if (!measure(c, program, t, ours))
        return names;
    for (unsigned k = 0; k < experiment_characterizations[t].n_measures; k++)
        if (is_off(c, t, k, ours[k], paper[k]))
            names = base_arena_printf(&c->arena, "%s%s%s", names, *names ? ", " : "",
                                      experiment_characterizations[t].measure[k].heading);
    return names;
}

/* Explains the rows that are off, below a table. */
static void print_reasons(struct characterize *c, unsigned t) {
    unsigned n_off = 0;
    for (unsigned i = 0; i < c->n_programs; i++) {
        const char *reason = experiment_paper_reason((enum experiment_paper_table)t, c->program[i].name);
        if (!program_is_finished(job_of(c, i, t)) || !*off_measures(c, i, t))
            continue;
        if (n_off++ == 0)
            printf("off: another class than the paper's, or more than a third away\n");
        printf("  %s: %s\n", c->program[i].name, reason ? reason : "not explained yet");
    }
}

static void add_program(struct characterize *c, struct report_table *table, unsigned program, unsigned t) {
    const struct experiment_characterization *about = &experiment_characterizations[t];
    const struct program_job *job = job_of(c, program, t);
    const double *paper = paper_values(c, program, t);
    double ours[EXPERIMENT_MOST_PAPER_MEASURES];
    bool is_done = measure(c, program, t, ours);
    report_table_cell(table, "%s", c->program[program].name);
    for (unsigned k = 0; k < about->n_measures; k++) {
        add_cell(table, about->measure[k].kind, ours[k], "-");
        if (about->measure[k].has_paper)
            add_cell(table, about->measure[k].kind, paper[k], "");
    }
    const char *off = off_measures(c, program, t);
    report_table_cell(table, "%s%.200s", *off ? "off: " : "",
                      is_done          ? off
                      : job->run.error ? job->run.error
                                       : report_outcome(&job->run));
}

static void print_table(struct characterize *c, unsigned t) {
    const struct experiment_characterization *about = &experiment_characterizations[t];
    unsigned n_columns = 2 + about->n_measures;
    for (unsigned k = 0; k < about->n_measures; k++)
        n_columns += about->measure[k].has_paper;
    struct report_table table = report_table_new(&c->arena, n_columns);
    const char *size = c->jobs.count ? c->jobs.job[0].run.size : NULL;
    const char *machine = machine_of(c, t).name;
    printf("%s%s%s%s%s\n", about->title, machine ? ", on " : "", machine ? machine : "", size ? ", size " : "",
           size ? size : "");
    add_headings(&table, about);
    for (unsigned i = 0; i < c->n_programs; i++)
        if (program_is_finished(job_of(c, i, t)))
            add_program(c, &table, i, t);
    report_table_print(&table, stdout, command_is_colored(c->given.color));
    print_reasons(c, t);
}

static void print_tables(struct characterize *c) {
    const char *before = "";
    for (unsigned t = 0; t < EXPERIMENT_N_PAPER_TABLES; t++) {
        if (!c->has_table[t])
            continue;
        fputs(before, stdout);
        print_table(c, t);
        before = "\n";
    }
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static json_t *value_json(enum experiment_measure_kind kind, double value) {
    if (isnan(value))
        return json_null();
    if (kind == EXPERIMENT_MEASURE_CLASS)
        return json_string(experiment_intensity_name(value));
    if (kind == EXPERIMENT_MEASURE_PROGRAM_CLASS)
        return json_string(experiment_program_class_name(value));
    return kind == EXPERIMENT_MEASURE_COUNT ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *table_json(struct characterize *c, unsigned program, unsigned t) {
    const struct experiment_characterization *about = &experiment_characterizations[t];
    const struct program_job *job = job_of(c, program, t);
    const double *paper = paper_values(c, program, t);
    double ours[EXPERIMENT_MOST_PAPER_MEASURES];
    bool is_done = measure(c, program, t, ours);
    json_t *object = json_object(), *papers = json_object();
    json_object_set_new(object, "outcome", json_string(report_outcome(&job->run)));
    if (job->run.error)
        json_object_set_new(object, "error", json_string(job->run.error));
    for (unsigned k = 0; k < about->n_measures; k++) {
        const struct experiment_measure *one = &about->measure[k];
        if (is_done)
            json_object_set_new(object, one->key, value_json(one->kind, ours[k]));
        if (!isnan(paper[k]))
            json_object_set_new(papers, one->key, value_json(one->kind, paper[k]));
    }
    if (json_object_size(papers))
        json_object_set(object, "paper", papers);
    const char *reason = experiment_paper_reason((enum experiment_paper_table)t, c->program[program].name);
    if (*off_measures(c, program, t)) {
        json_object_set_new(object, "off", json_string(off_measures(c, program, t)));
        json_object_set_new(object, "reason", reason ? json_string(reason) : json_null());
    }
    json_decref(papers);
    return object;
}

static bool write_json(FILE *file, struct characterize *c) {
    json_t *programs = json_array();
    for (unsigned i = 0; i < c->n_programs; i++) {
        json_t *object = json_object();
        const char *size = program_size(&c->program[i], &c->given.program);
        json_object_set_new(object, "program", json_string(c->program[i].name));
        if (size)
            json_object_set_new(object, "size", json_string(size));
        for (unsigned t = 0; t < EXPERIMENT_N_PAPER_TABLES; t++)
            if (c->has_table[t] && program_is_finished(job_of(c, i, t)))
                json_object_set_new(object, experiment_characterizations[t].name, table_json(c, i, t));
        json_array_append_new(programs, object);
    }
    json_t *all = json_pack("{s:s, s:o}", "heddle", HEDDLE_VERSION, "programs", programs);
    bool is_good = json_dumpf(all, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', file) != EOF;
    json_decref(all);
    return is_good && fflush(file) == 0;
}

static void print_value(FILE *file, enum experiment_measure_kind kind, double value) {
    fputc(',', file);
    if (isnan(value))
        return;
    if (kind == EXPERIMENT_MEASURE_CLASS)
        fputs(experiment_intensity_name(value), file);
    else if (kind == EXPERIMENT_MEASURE_PROGRAM_CLASS)
        fputs(experiment_program_class_name(value), file);
    else
        fprintf(file, kind == EXPERIMENT_MEASURE_COUNT ? "%.0f" : "%.9g", value);
}

/* A program's name may be a path, which may contain quotes. */
static void print_name(FILE *file, const char *name) {
    fputc('"', file);
    for (; *name; name++)
        fprintf(file, *name == '"' ? "\"\"" : "%c", *name);
    fputc('"', file);
}

static void print_csv_heading(FILE *file, const struct characterize *c) {
    fputs("program,size", file);
    for (unsigned t = 0; t < EXPERIMENT_N_PAPER_TABLES; t++)
        for (unsigned k = 0; c->has_table[t] && k < experiment_characterizations[t].n_measures; k++) {
            const struct experiment_measure *one = &experiment_characterizations[t].measure[k];
            fprintf(file, ",%s", one->key);
            if (one->has_paper)
                fprintf(file, ",%s_%s", experiment_characterizations[t].name, one->key);
        }
    fputc('\n', file);
}

static bool write_csv(FILE *file, struct characterize *c) {
    print_csv_heading(file, c);
    for (unsigned i = 0; i < c->n_programs; i++) {
        const char *size = program_size(&c->program[i], &c->given.program);
        print_name(file, c->program[i].name);
        fprintf(file, ",%s", size ? size : "");
        for (unsigned t = 0; t < EXPERIMENT_N_PAPER_TABLES; t++) {
            double ours[EXPERIMENT_MOST_PAPER_MEASURES];
            if (!c->has_table[t])
                continue;
            measure(c, i, t, ours);
            for (unsigned k = 0; k < experiment_characterizations[t].n_measures; k++) {
                const struct experiment_measure *one = &experiment_characterizations[t].measure[k];
                print_value(file, one->kind, ours[k]);
                if (one->has_paper)
                    print_value(file, one->kind, paper_values(c, i, t)[k]);
            }
        }
        fputc('\n', file);
    }
    return fflush(file) == 0 && !ferror(file);
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

/* Returns whether a failed run is excused: the row of a program that does not fit meng2010 says so. */
static bool is_excused(const struct characterize *c, unsigned job) {
    const char *machine = c->machine[job % c->n_machines].name;
    return machine && strcmp(machine, "meng2010") == 0 && c->jobs.job[job].status == COMMAND_ERROR;
}

static int print_failures(const struct characterize *c) {
    int worst = COMMAND_DONE;
    for (unsigned i = 0; i < c->jobs.count; i++) {
        const struct program_job *job = &c->jobs.job[i];
        const char *machine = c->machine[i % c->n_machines].name;
        if (!program_is_finished(job) || job->status == COMMAND_DONE || is_excused(c, i))
            continue;
        command_fail(COMMAND_ERROR, "%s %s%s: %s", job->run.program, machine ? "on " : "without timing",
                     machine ? machine : "", job->run.error ? job->run.error : report_outcome(&job->run));
        if (worst == COMMAND_DONE || job->status == COMMAND_CHECK_FAILED)
            worst = job->status;
    }
    return worst;
}

static int show(struct characterize *c) {
    const struct characterize_options *given = &c->given;
    if (!given->is_quiet && !command_is_stdout(given->json) && !command_is_stdout(given->csv))
        print_tables(c);
    bool is_written = true;
    if (c->json)
        is_written &= command_close_output(given->json, c->json, write_json(c->json, c));
    if (c->csv)
        is_written &= command_close_output(given->csv, c->csv, write_csv(c->csv, c));
    int status = print_failures(c);
    if (c->jobs.interrupt)
        return program_report_interrupt(&c->jobs);
    return status == COMMAND_DONE && !is_written ? COMMAND_ERROR : status;
}

static int prepare_and_run(struct characterize *c) {
    const struct characterize_options *given = &c->given;
    int status = choose_tables(c);
    if (status == COMMAND_DONE)
        status = choose_machines(c);
    if (status == COMMAND_DONE && !program_find_place(&c->place, &c->arena))
        status = COMMAND_ERROR;
    if (status == COMMAND_DONE)
        status = find_programs(c);
    if (status == COMMAND_DONE)
        status = command_open_outputs(given->json, &c->json, given->csv, &c->csv);
    if (status != COMMAND_DONE)
        return status;
    make_jobs(c);
    status = program_execute_with_progress(&c->jobs, given->is_quiet);
    return status == COMMAND_DONE ? show(c) : status;
}

int cli_characterize(int argc, char **argv) {
    struct characterize c = {.given = {.program = PROGRAM_DEFAULTS}};
    int status = COMMAND_DONE;
    if (command_parse(&cli_characterize_command, argc, argv, &c.given, &c.words, &c.arena, &status))
        status = prepare_and_run(&c);
    base_arena_free(&c.arena);
    return status;
}
