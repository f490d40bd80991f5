/* Compares the speed of two builds on one computer. Each pair of runs alternates between the builds, so that another
 * load on the computer, or its temperature, affects both alike. The logarithms of the ratios of the pairs give the
 * mean ratio, and Student's distribution its interval. Where the host counts instructions, their ratio stands beside:
 * it hardly varies, whatever else the computer does. */
#define _GNU_SOURCE
#include "cli/bench/against.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "command/command.h"
#include "command/output.h"
#include "program/run_folder.h"
#include "report/report.h"

extern char **environ;

enum { MOST_WORDS = 64 };

struct once {
    double seconds;        /* in launches */
    uint64_t instructions; /* of the host; 0: it does not count them */
    uint64_t cycles, warp_instructions;
};

/* All pairs of one workload. */
struct pairs {
    const char *name;
    double time_ratio, time_halfwidth; /* this build's time / the other's; the half width is relative */
    double instruction_ratio;          /* NaN: not counted */
    bool is_same;                      /* both builds simulated the same cycles and instructions */
};

/* Returns a counter of the instructions of all processes that are started from now on, or -1. */
static int open_counter(void) {
    struct perf_event_attr event = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof event,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t read_counter(int counter) {
    uint64_t value = 0;
    return counter >= 0 && read(counter, &value, sizeof value) == sizeof value ? value : 0;
}

/* Runs the command and waits for it. Returns its exit status. */
static int run_command(const char *const *argv) {
    pid_t child;
    int status;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int failure = posix_spawn(&child, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure)
        return COMMAND_ERROR;
    while (waitpid(child, &status, 0) < 0)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : COMMAND_STOPPED;
}

/* Where and how runs are measured. */
struct meter {
    const char *path; /* of the file that a run writes its statistics to */
    int counter;
};

static int run_once(const struct bench_against *given, const char *heddle, const char *name, const struct meter *meter,
                    struct once *once) {
    const char *argv[MOST_WORDS] = {heddle,       "run", name,     "--size",   given->size,
                                    "--no-check", "-q",  "--json", meter->path};
    unsigned n = 9;
    if (given->machine && !*given->machine) {
        argv[n++] = "--functional";
    } else {
        argv[n++] = "--threads";
        argv[n++] = "1";
    }
    if (given->machine && *given->machine) {
        argv[n++] = "--machine";
        argv[n++] = given->machine;
    }
    for (unsigned i = 0; i < given->set->count && n < MOST_WORDS - 3; i++) {
        argv[n++] = "--set";
        argv[n++] = given->set->item[i];
    }
    uint64_t before = read_counter(meter->counter);
    int status = run_command(argv);
    *once = (struct once){.instructions = read_counter(meter->counter) - before};
    json_t *object = status == COMMAND_DONE ? json_load_file(meter->path, 0, NULL) : NULL,
           *total = json_object_get(object, "total");
    once->seconds = json_number_value(json_object_get(json_object_get(object, "host"), "seconds"));
    once->cycles = (uint64_t)json_integer_value(json_object_get(total, "cycles"));
    once->warp_instructions = (uint64_t)json_integer_value(json_object_get(total, "warp_instructions"));
    json_decref(object);
    unlink(meter->path);
    if (status == COMMAND_DONE && once->seconds > 0)
        return COMMAND_DONE;
    return command_fail(status == COMMAND_DONE ? COMMAND_ERROR : (enum command_status)status, "'%s run %s' failed",
                        heddle, name);
}

static int run_pairs(const struct bench_against *given, const char *own, const struct meter *meter,
                     struct pairs *pairs) {
    double sum = 0, squares = 0, instructions = 0, n = (double)given->repeat;
    pairs->is_same = true;
    for (uint64_t i = 0; i < given->repeat; i++) {
        struct once first, second; /* this build and the other */
        bool is_turned = i % 2;    /* neither build always runs first */
        int status = run_once(given, is_turned ? given->other : own, pairs->name, meter, is_turned ? &second : &first);
        if (status == COMMAND_DONE)
            status = run_once(given, is_turned ? own : given->other, pairs->name, meter, is_turned ? &first : &second);
        if (status != COMMAND_DONE)
            return status;
        double ratio = log(first.seconds / second.seconds);
        sum += ratio;
        squares += ratio * ratio;
        instructions += second.instructions ? (double)first.instructions / (double)second.instructions : NAN;
        pairs->is_same &= first.cycles == second.cycles && first.warp_instructions == second.warp_instructions;
    }
    double mean = sum / n, variance = n > 1 ? (squares - n * mean * mean) / (n - 1) : NAN;
    pairs->time_ratio = exp(mean);
    pairs->time_halfwidth = report_student(n - 1) * sqrt(fmax(variance, 0) / n);
    pairs->instruction_ratio = instructions / n;
    return COMMAND_DONE;
}

static void print_pairs(const struct bench_against *given, const struct pairs *pairs, unsigned n) {
    static const char *const headings[] = {"workload", "time", "in 19 of 20 cases", "host instructions", ""};
    struct report_table table = report_table_new(given->arena, sizeof headings / sizeof headings[0]);
    table.is_left[4] = true;
    for (unsigned i = 0; i < table.n_columns; i++)
        report_table_cell(&table, "%s", headings[i]);
    for (unsigned i = 0; i < n; i++) {
        report_table_cell(&table, "%s", pairs[i].name);
        report_table_cell(&table, "%.3f", pairs[i].time_ratio);
        if (isnan(pairs[i].time_halfwidth))
            report_table_cell(&table, "-");
        else
            report_table_cell(&table, "%.3f to %.3f", pairs[i].time_ratio * exp(-pairs[i].time_halfwidth),
                              pairs[i].time_ratio * exp(pairs[i].time_halfwidth));
        if (isnan(pairs[i].instruction_ratio))
            report_table_cell(&table, "-");
        else
            report_table_cell(&table, "%.4f", pairs[i].instruction_ratio);
        report_table_cell(&table, "%s", pairs[i].is_same ? "" : "other cycles or instructions");
    }
    printf("this build / %s, %" PRIu64 " pairs of runs; below 1 this build is faster\n", given->other, given->repeat);
    report_table_print(&table, stdout, false);
}

static bool write_pairs(FILE *file, const struct pairs *pairs, unsigned n) {
    json_t *array = json_array();
    for (unsigned i = 0; i < n; i++) {
        json_t *object = json_pack("{s:s, s:f, s:b}", "name", pairs[i].name, "time_ratio", pairs[i].time_ratio,
                                   "same_statistics", (int)pairs[i].is_same);
        if (!isnan(pairs[i].time_halfwidth))
            json_object_set_new(object, "time_halfwidth", json_real(pairs[i].time_halfwidth));
        if (!isnan(pairs[i].instruction_ratio))
            json_object_set_new(object, "instruction_ratio", json_real(pairs[i].instruction_ratio));
        json_array_append_new(array, object);
    }
    bool is_written = json_dumpf(array, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', file) != EOF;
    json_decref(array);
    return is_written && fflush(file) == 0;
}

int bench_against(const struct bench_against *given) {
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    FILE *json = NULL;
    if (length < 0 || access(given->other, X_OK) != 0)
        return command_fail(COMMAND_USAGE, "--against %s: expected the heddle command of another build", given->other);
    own[length] = '\0';
    if (!command_open_output(given->json, &json))
        return COMMAND_ERROR;
    struct program_run_folder folder;
    if (!program_run_folder_make(&folder, given->arena))
        return COMMAND_ERROR;
    struct pairs *pairs = BASE_ARENA_ARRAY(given->arena, struct pairs, given->n_names);
    const struct meter meter = {base_arena_printf(given->arena, "%s/run.json", folder.path), open_counter()};
    int status = COMMAND_DONE;
    unsigned n = 0;
    for (; n < given->n_names && status == COMMAND_DONE; n += status == COMMAND_DONE) {
        pairs[n].name = given->name[n];
        status = run_pairs(given, own, &meter, &pairs[n]);
    }
    if (meter.counter >= 0)
        close(meter.counter);
    program_run_folder_remove(&folder, given->arena);
    if (n && !command_is_stdout(given->json))
        print_pairs(given, pairs, n);
    if (json && !command_close_output(given->json, json, write_pairs(json, pairs, n)))
        return COMMAND_ERROR;
    return status;
}
