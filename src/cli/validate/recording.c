/* Reads recordings. Columns are found by their names: workload, size and cycles, and warp_inst if present. A recording
 * of metrics has Nsight Compute's names, also for cycles and warp_inst. */
#include "cli/validate/recording.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MOST_FIELDS = 128 };

/* Cuts a line at its commas; text in quotes may contain commas. Returns the number of fields. */
static unsigned cut(char *line, char *field[MOST_FIELDS]) {
    unsigned n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; n < MOST_FIELDS;) {
        bool is_quoted = *at == '"';
        field[n++] = at += is_quoted;
        at += strcspn(at, is_quoted ? "\"" : ",");
        if (is_quoted && *at)
            *at++ = '\0';
        if (*at != ',')
            break;
        *at++ = '\0';
    }
    return n;
}

enum column { WORKLOAD, SIZE, CYCLES, INSTRUCTIONS, N_COLUMNS };

static bool find_columns(char *const *field, unsigned n, unsigned column[N_COLUMNS]) {
    static const char *const name[N_COLUMNS] = {"workload", "size", "cycles", "warp_inst"};
    static const char *const other[N_COLUMNS] = {"workload", "size", "sm__cycles_elapsed.max",
                                                 "smsp__inst_executed.sum"};
    for (unsigned c = 0; c < N_COLUMNS; c++) {
        column[c] = 0;
        while (column[c] < n && strcmp(field[column[c]], name[c]) != 0 && strcmp(field[column[c]], other[c]) != 0)
            column[c]++;
        if (column[c] == n && c != INSTRUCTIONS)
            return false;
    }
    return true;
}

/* ---- Metrics ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *real, *per;
} names[CLI_N_METRICS] = {
#define CLI_METRIC(word, unit, real, per, simulated) {real, per},
#include "cli/validate/metrics.def"
};

/* A sum of columns. */
struct sum {
    unsigned n, column[12];
    bool is_known; /* the recording has all of them */
};

struct metric_columns {
    struct sum real[CLI_N_METRICS], per[CLI_N_METRICS];
};

/* Finds the columns of names that are joined by +. */
static struct sum find_sum(const char *text, char *const *field, unsigned n) {
    struct sum sum = {.is_known = true};
    while (*text) {
        size_t length = strcspn(text, "+");
        unsigned at = 0;
        while (at < n && (strlen(field[at]) != length || strncmp(field[at], text, length) != 0))
            at++;
        if (at == n || sum.n == sizeof sum.column / sizeof sum.column[0])
            return (struct sum){0};
        sum.column[sum.n++] = at;
        text += length + (text[length] == '+');
    }
    return sum;
}

static void find_metrics(char *const *field, unsigned n, struct metric_columns *columns) {
    for (unsigned m = 0; m < CLI_N_METRICS; m++) {
        columns->real[m] = find_sum(names[m].real, field, n);
        columns->per[m] = find_sum(names[m].per, field, n);
    }
}

static double add_sum(const struct sum *sum, char *const *field, unsigned n) {
    double value = sum->is_known ? 0 : NAN;
    for (unsigned i = 0; i < sum->n; i++)
        value += sum->column[i] < n ? strtod(field[sum->column[i]], NULL) : NAN;
    return value;
}

/* Adds a launch to its program's metrics. */
static void add_metrics(struct cli_recorded *recorded, const struct metric_columns *columns, char *const *field,
                        unsigned n) {
    for (unsigned m = 0; m < CLI_N_METRICS; m++) {
        recorded->metric[m].sum += add_sum(&columns->real[m], field, n);
        if (*names[m].per)
            recorded->metric[m].per += add_sum(&columns->per[m], field, n);
        else
            recorded->metric[m].per = 1;
    }
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static struct cli_recorded *find(struct cli_recording *recording, const char *workload, const char *size) {
    for (unsigned i = recording->count; i-- > 0;)
        if (strcmp(recording->item[i].workload, workload) == 0 && strcmp(recording->item[i].size, size) == 0)
            return &recording->item[i];
    return NULL;
}

static int read_lines(FILE *file, const char *path, struct cli_recording *recording, struct base_arena *arena) {
    enum { MOST_WORKLOADS = 1024 };
    char *line = NULL, *field[MOST_FIELDS];
    size_t room = 0;
    unsigned column[N_COLUMNS] = {0}, number = 0;
    struct metric_columns metrics = {0};
    int status = COMMAND_DONE;
    unsigned n_before = recording->count;
    if (!recording->item)
        recording->item = BASE_ARENA_ARRAY(arena, struct cli_recorded, MOST_WORKLOADS);
    while (status == COMMAND_DONE && getline(&line, &room, file) > 0) {
        unsigned n = cut(line, field);
        if (++number == 1) {
            if (!find_columns(field, n, column))
                status =
                    command_fail(COMMAND_ERROR, "%s:1: a recording has the columns workload, size and cycles", path);
            find_metrics(field, n, &metrics);
            continue;
        }
        char *end = "x";
        double cycles = n > column[CYCLES] ? strtod(field[column[CYCLES]], &end) : 0;
        if (n <= column[WORKLOAD] || n <= column[SIZE] || *end || cycles <= 0) {
            status =
                command_fail(COMMAND_ERROR, "%s:%u: not a launch with a workload, a size and cycles", path, number);
            continue;
        }
        const char *workload = field[column[WORKLOAD]], *size = field[column[SIZE]];
        struct cli_recorded *recorded = find(recording, workload, size);
        if (!recorded && recording->count == MOST_WORKLOADS) {
            status = command_fail(COMMAND_ERROR, "%s:%u: more than %d workloads", path, number, MOST_WORKLOADS);
            continue;
        }
        if (!recorded) {
            recorded = &recording->item[recording->count++];
            recorded->workload = base_arena_copy(arena, workload, strlen(workload));
            recorded->size = base_arena_copy(arena, size, strlen(size));
            recorded->is_kernel = strcmp(size, "-") == 0;
        }
        recorded->n_launches++;
        recorded->cycles += cycles;
        if (n > column[INSTRUCTIONS])
            recorded->instructions += strtod(field[column[INSTRUCTIONS]], NULL);
        add_metrics(recorded, &metrics, field, n);
    }
    free(line);
    if (status == COMMAND_DONE && recording->count == n_before)
        status = command_fail(COMMAND_ERROR, "%s has no launches", path);
    return status;
}

int cli_read_recording(const char *path, struct cli_recording *recording, struct base_arena *arena) {
    FILE *file = fopen(path, "r");
    if (!file)
        return command_fail(COMMAND_ERROR, "cannot read the recording '%s': %s", path, strerror(errno));
    int status = read_lines(file, path, recording, arena);
    fclose(file);
    return status;
}
