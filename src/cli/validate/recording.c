/* Reads recordings. Columns are found by their names: workload, size and cycles, and warp_inst and kernel if present. A
 * recording of metrics has Nsight Compute's names. The short names of one that has few are those of `short_names`. */
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

/* The names that record.sh gives to the metrics of a recording of few, and theirs. */
static const char *const short_names[][2] = {
    {"registers", "launch__registers_per_thread"},
    {"cycles", "sm__cycles_elapsed.max"},
    {"warp_inst", "smsp__inst_executed.sum"},
    {"thread_inst", "smsp__thread_inst_executed.sum"},
    {"dram_read", "dram__bytes_read.sum"},
    {"dram_write", "dram__bytes_write.sum"},
    {"l2_sectors", "lts__t_sectors.sum"},
    {"warps_active_pct", "sm__warps_active.avg.pct_of_peak_sustained_active"},
};

static void lengthen_names(const char **field, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < sizeof short_names / sizeof short_names[0]; k++)
            if (strcmp(field[i], short_names[k][0]) == 0)
                field[i] = short_names[k][1];
}

enum column { WORKLOAD, SIZE, CYCLES, INSTRUCTIONS, KERNEL, N_COLUMNS };

static bool find_columns(const char *const *field, unsigned n, unsigned column[N_COLUMNS]) {
    static const char *const name[N_COLUMNS] = {"workload", "size", "sm__cycles_elapsed.max", "smsp__inst_executed.sum",
                                                "kernel"};
    for (unsigned c = 0; c < N_COLUMNS; c++) {
        column[c] = 0;
        while (column[c] < n && strcmp(field[column[c]], name[c]) != 0)
            column[c]++;
        if (column[c] == n && c < INSTRUCTIONS)
            return false;
    }
    return true;
}

/* ---- Metrics ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *real, *per, *weight;
} names[CLI_N_METRICS] = {
#define CLI_METRIC(word, unit, real, per, weight, simulated) {real, per, weight},
#include "cli/validate/metrics.def"
};

/* A number plus a sum of columns times a factor. */
struct sum {
    unsigned n, column[20];
    double number, factor;
    bool is_known; /* the recording has all of them */
};

struct metric_columns {
    struct sum real[CLI_N_METRICS], per[CLI_N_METRICS], weight[CLI_N_METRICS];
};

/* Finds the columns of names that are joined by +. */
static struct sum find_sum(const char *text, const char *const *field, unsigned n) {
    char *end;
    struct sum sum = {.is_known = true, .factor = 1, .number = strtod(text, &end)};
    if (*end == '*') {
        sum.factor = sum.number;
        sum.number = 0;
        end++;
    }
    text = end;
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

static void find_metrics(const char *const *field, unsigned n, struct metric_columns *columns) {
    for (unsigned m = 0; m < CLI_N_METRICS; m++) {
        columns->real[m] = find_sum(names[m].real, field, n);
        columns->per[m] = find_sum(names[m].per, field, n);
        columns->weight[m] = find_sum(*names[m].weight ? names[m].weight : "1", field, n);
    }
}

static double add_sum(const struct sum *sum, char *const *field, unsigned n) {
    double value = sum->is_known ? sum->number : NAN;
    for (unsigned i = 0; i < sum->n; i++)
        value += sum->column[i] < n ? sum->factor * strtod(field[sum->column[i]], NULL) : NAN;
    return value;
}

/* Adds a launch to its program's metrics; `is_wanted` says to which. */
static void add_metrics(struct cli_recorded *recorded, const struct metric_columns *columns, char *const *field,
                        unsigned n, const bool is_wanted[CLI_N_METRICS]) {
    for (unsigned m = 0; m < CLI_N_METRICS; m++) {
        if (!is_wanted[m])
            continue;
        double weight = add_sum(&columns->weight[m], field, n);
        recorded->metric[m].sum += weight * add_sum(&columns->real[m], field, n);
        if (*names[m].per)
            recorded->metric[m].per += weight * add_sum(&columns->per[m], field, n);
        else
            recorded->metric[m].per = 1;
    }
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static struct cli_recorded *find(struct cli_recording *recording, const char *workload, const char *size,
                                 const char *kernel) {
    for (unsigned i = recording->count; i-- > 0;)
        if (strcmp(recording->item[i].workload, workload) == 0 && strcmp(recording->item[i].size, size) == 0 &&
            is_same(recording->item[i].kernel, kernel))
            return &recording->item[i];
    return NULL;
}

/* Returns the recorded launches of a program, of all its kernels. */
static unsigned count_launches(const struct cli_recording *recording, const char *workload, const char *size) {
    unsigned n = 0;
    for (unsigned i = 0; i < recording->count; i++)
        if (strcmp(recording->item[i].workload, workload) == 0 && strcmp(recording->item[i].size, size) == 0)
            n += recording->item[i].n_launches;
    return n;
}

enum { MOST_WORKLOADS = 1024 };

/* A file that is being read. */
struct reader {
    const char *path;
    unsigned number, n; /* of the line, from 1, and its fields */
    char *field[MOST_FIELDS];
    unsigned column[N_COLUMNS];
    struct metric_columns metrics;
};

static int read_heading(struct reader *reader) {
    const char *name[MOST_FIELDS];
    for (unsigned i = 0; i < reader->n; i++)
        name[i] = reader->field[i];
    lengthen_names(name, reader->n);
    find_metrics(name, reader->n, &reader->metrics);
    if (find_columns(name, reader->n, reader->column))
        return COMMAND_DONE;
    return command_fail(COMMAND_ERROR, "%s:1: a recording has the columns workload, size and cycles", reader->path);
}

/* Returns the text of a column, or NULL if the line lacks it. */
static const char *text_of(const struct reader *reader, enum column column) {
    return reader->column[column] < reader->n ? reader->field[reader->column[column]] : NULL;
}

/* Returns the kernel's name of a line about a program of the user's; otherwise NULL. */
static const char *own_kernel(const struct reader *reader) {
    const char *kernel = text_of(reader, KERNEL);
    return strcmp(text_of(reader, SIZE), CLI_OWN) != 0 ? NULL : kernel ? kernel : "";
}

static void add_launch(struct cli_recorded *recorded, unsigned launch, struct base_arena *arena) {
    unsigned n = recorded->n_launches++;
    if ((n & (n - 1)) == 0) { /* the room doubles at powers of two */
        unsigned *room = BASE_ARENA_ARRAY(arena, unsigned, n ? 2 * n : 1);
        if (n)
            memcpy(room, recorded->launch, n * sizeof *room);
        recorded->launch = room;
    }
    recorded->launch[n] = launch;
}

static int read_launch(const struct reader *reader, struct cli_recording *recording, struct base_arena *arena) {
    bool all[CLI_N_METRICS];
    char *end = "x";
    const char *workload = text_of(reader, WORKLOAD), *size = text_of(reader, SIZE);
    const char *cycles_text = text_of(reader, CYCLES), *instructions = text_of(reader, INSTRUCTIONS);
    double cycles = cycles_text ? strtod(cycles_text, &end) : 0;
    if (!workload || !size || *end || !isfinite(cycles) || cycles <= 0)
        return command_fail(COMMAND_ERROR, "%s:%u: not a launch with a workload, a size and cycles", reader->path,
                            reader->number);
    const char *kernel = own_kernel(reader);
    struct cli_recorded *recorded = find(recording, workload, size, kernel);
    unsigned launch = count_launches(recording, workload, size);
    if (!recorded && recording->count == MOST_WORKLOADS)
        return command_fail(COMMAND_ERROR, "%s:%u: more than %d workloads", reader->path, reader->number,
                            MOST_WORKLOADS);
    if (!recorded) {
        recorded = &recording->item[recording->count++];
        recorded->workload = base_arena_copy(arena, workload, strlen(workload));
        recorded->size = base_arena_copy(arena, size, strlen(size));
        recorded->kernel = kernel ? base_arena_copy(arena, kernel, strlen(kernel)) : NULL;
        recorded->is_kernel = strcmp(size, "-") == 0;
    }
    add_launch(recorded, launch, arena);
    recorded->cycles += cycles;
    if (instructions)
        recorded->instructions += strtod(instructions, NULL);
    memset(all, true, sizeof all);
    add_metrics(recorded, &reader->metrics, reader->field, reader->n, all);
    return COMMAND_DONE;
}

/* Opens the file and calls `take` for each launch. */
static int read_file(const char *path, struct cli_recording *recording, struct base_arena *arena,
                     int (*take)(const struct reader *reader, struct cli_recording *recording,
                                 struct base_arena *arena)) {
    FILE *file = fopen(path, "r");
    if (!file)
        return command_fail(COMMAND_ERROR, "cannot read the recording '%s': %s", path, strerror(errno));
    static const char byte_order_mark[] = "\xEF\xBB\xBF"; /* spreadsheets write it */
    struct reader reader = {.path = path};
    char *line = NULL;
    size_t room = 0;
    int status = COMMAND_DONE;
    while (status == COMMAND_DONE && getline(&line, &room, file) > 0) {
        bool is_marked = reader.number == 0 && strncmp(line, byte_order_mark, strlen(byte_order_mark)) == 0;
        reader.n = cut(line + (is_marked ? strlen(byte_order_mark) : 0), reader.field);
        status = ++reader.number == 1 ? read_heading(&reader) : take(&reader, recording, arena);
    }
    if (status == COMMAND_DONE && ferror(file))
        status = command_fail(COMMAND_ERROR, "cannot read the recording '%s': %s", path, strerror(errno));
    free(line);
    fclose(file);
    return status;
}

int cli_read_recording(const char *path, struct cli_recording *recording, struct base_arena *arena) {
    unsigned n_before = recording->count;
    if (!recording->item)
        recording->item = BASE_ARENA_ARRAY(arena, struct cli_recorded, MOST_WORKLOADS);
    int status = read_file(path, recording, arena, read_launch);
    if (status == COMMAND_DONE && recording->count == n_before)
        status = command_fail(COMMAND_ERROR, "%s has no launches", path);
    return status;
}

/* ---- Metrics of a second recording ------------------------------------------------------------------------------- */

static int read_more(const struct reader *reader, struct cli_recording *recording, struct base_arena *arena) {
    (void)arena;
    bool is_missing[CLI_N_METRICS];
    const char *workload = text_of(reader, WORKLOAD), *size = text_of(reader, SIZE);
    struct cli_recorded *recorded = workload && size ? find(recording, workload, size, own_kernel(reader)) : NULL;
    if (!recorded || recorded->n_more == recorded->n_launches)
        return COMMAND_DONE;
    for (unsigned m = 0; m < CLI_N_METRICS; m++) {
        bool is_new = isnan(recorded->metric[m].sum) && reader->metrics.real[m].is_known;
        if (recorded->n_more == 0 && is_new)
            recorded->metric[m].sum = recorded->metric[m].per = 0, recorded->is_from_second[m] = true;
        is_missing[m] = recorded->is_from_second[m];
    }
    recorded->n_more++;
    add_metrics(recorded, &reader->metrics, reader->field, reader->n, is_missing);
    return COMMAND_DONE;
}

int cli_read_more_metrics(const char *path, struct cli_recording *recording) {
    int status = read_file(path, recording, NULL, read_more);
    for (unsigned i = 0; i < recording->count; i++) {
        struct cli_recorded *recorded = &recording->item[i];
        for (unsigned m = 0; m < CLI_N_METRICS && recorded->n_more && recorded->n_more < recorded->n_launches; m++)
            if (recorded->is_from_second[m]) /* some of its launches are missing there */
                recorded->metric[m].sum = NAN;
        recorded->n_more = 0;
        memset(recorded->is_from_second, false, sizeof recorded->is_from_second);
    }
    return status;
}
