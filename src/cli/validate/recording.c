/* Reads recordings. Columns are found by their names: workload, size and cycles, and warp_inst if present. */
#include "cli/validate/recording.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MOST_FIELDS = 64 };

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
    for (unsigned c = 0; c < N_COLUMNS; c++) {
        column[c] = 0;
        while (column[c] < n && strcmp(field[column[c]], name[c]) != 0)
            column[c]++;
        if (column[c] == n && c != INSTRUCTIONS)
            return false;
    }
    return true;
}

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
