/* See stored_runs.h. A store keeps a machine as the text of config_dump(), a line for each option. If two runs use
 * machines of the same name, the lines in which these texts differ tell the runs apart. */
#include "experiment/stored_runs.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "experiment/store.h"

/* A machine that runs have in common. */
struct machine {
    const char *name, *configuration;
    json_t *options; /* name: value */
    json_t *set;     /* "name=value" of those in which machines of this name differ */
};

struct reader {
    json_t *runs;
    struct machine *machine;
    uint32_t *machine_of; /* of each run */
    size_t n_machines, n_runs, room;
    struct base_arena *arena;
};

bool experiment_is_database(const char *path) {
    static const char magic[16] = "SQLite format 3";
    char first[sizeof magic];
    FILE *file = fopen(path, "rbe");
    bool is_one =
        file && fread(first, 1, sizeof first, file) == sizeof first && memcmp(first, magic, sizeof first) == 0;
    if (file)
        fclose(file);
    return is_one;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* The arguments without the size, which is a column of its own. */
static const char *own_arguments(const struct experiment_stored_run *row) {
    size_t n = strlen(row->size);
    if (n == 0 || strncmp(row->arguments, "--size ", 7) != 0 || strncmp(row->arguments + 7, row->size, n) != 0)
        return row->arguments;
    const char *rest = row->arguments + 7 + n;
    return *rest == ' ' ? rest + 1 : rest;
}

/* Makes room for one more run, and so for one more machine. */
static void grow(struct reader *reader) {
    size_t room = 2 * reader->room + 64;
    struct machine *machine = BASE_ARENA_ARRAY(reader->arena, struct machine, room);
    uint32_t *machine_of = BASE_ARENA_ARRAY(reader->arena, uint32_t, room);
    if (reader->n_runs) {
        memcpy(machine, reader->machine, reader->n_machines * sizeof *machine);
        memcpy(machine_of, reader->machine_of, reader->n_runs * sizeof *machine_of);
    }
    reader->machine = machine;
    reader->machine_of = machine_of;
    reader->room = room;
}

static uint32_t find_machine(struct reader *reader, const struct experiment_stored_run *row) {
    for (uint32_t i = 0; i < reader->n_machines; i++)
        if (strcmp(reader->machine[i].configuration, row->configuration) == 0)
            return i;
    reader->machine[reader->n_machines] = (struct machine){
        .name = base_arena_copy(reader->arena, row->machine, strlen(row->machine)),
        .configuration = base_arena_copy(reader->arena, row->configuration, strlen(row->configuration))};
    return (uint32_t)reader->n_machines++;
}

static void take(void *user, const struct experiment_stored_run *row) {
    struct reader *reader = user;
    json_t *run = json_loads(row->statistics, 0, NULL);
    if (!json_is_object(run)) { /* none of Heddle's */
        json_decref(run);
        return;
    }
    const char *const member[][2] = {{"program", row->program},     {"arguments", own_arguments(row)},
                                     {"size", row->size},           {"machine", row->machine},
                                     {"scheduler", row->scheduler}, {"divergence", row->divergence}};
    for (unsigned i = 0; i < sizeof member / sizeof member[0]; i++)
        if (*member[i][1])
            json_object_set_new(run, member[i][0], json_string(member[i][1]));
    if (reader->n_runs == reader->room)
        grow(reader);
    reader->machine_of[reader->n_runs++] = find_machine(reader, row);
    json_array_append_new(reader->runs, run);
}

/* ---- What differs ------------------------------------------------------------------------------------------------ */

/* The value of a line `key: value   # comment`, from the value's first character. */
static size_t value_length(const char *value) {
    size_t n = 0;
    if (*value == '"')
        n = 1 + strcspn(value + 1, "\"\n") + 1;
    else
        n = strcspn(value, "#\n");
    while (n > 0 && value[n - 1] == ' ')
        n--;
    return n;
}

/* Walks the options of a configuration: `at` goes to the next line. Returns false at the end. */
struct option {
    char name[64]; /* with its section: l1.size */
    const char *value;
    size_t length;
};

static bool next_option(const char **at, char section[32], struct option *option) {
    while (**at) {
        const char *line = *at + strspn(*at, " "), *colon = strchr(line, ':');
        bool is_inner = line > *at;
        size_t n = strcspn(line, "\n"), key = colon ? (size_t)(colon - line) : n;
        *at = line + n + (line[n] == '\n');
        if (key >= n || *line == '#')
            continue;
        const char *value = colon + 1 + strspn(colon + 1, " ");
        size_t length = value_length(value);
        if (!is_inner)
            snprintf(section, 32, "%.*s", length ? 0 : (int)key, line);
        if (length == 0)
            continue;
        snprintf(option->name, sizeof option->name, "%s%s%.*s", section, *section ? "." : "", (int)key, line);
        option->value = value;
        option->length = length;
        return true;
    }
    return false;
}

static json_t *options_of(const char *configuration) {
    json_t *options = json_object();
    char section[32] = "";
    struct option option;
    while (next_option(&configuration, section, &option))
        json_object_set_new(options, option.name, json_stringn(option.value, option.length));
    return options;
}

static bool is_shown_anyway(const char *name) {
    return strcmp(name, "name") == 0 || strcmp(name, "description") == 0 || strcmp(name, "scheduler") == 0 ||
           strcmp(name, "divergence") == 0;
}

/* True if machines of this one's name have different values of the option. */
static bool varies(const struct reader *reader, const struct machine *of, const char *name, const json_t *value) {
    for (size_t i = 0; i < reader->n_machines; i++)
        if (strcmp(reader->machine[i].name, of->name) == 0 &&
            !json_equal(json_object_get(reader->machine[i].options, name), value))
            return true;
    return false;
}

static void compare_machines(const struct reader *reader) {
    for (size_t i = 0; i < reader->n_machines; i++)
        reader->machine[i].options = options_of(reader->machine[i].configuration);
    for (size_t i = 0; i < reader->n_machines; i++) {
        struct machine *machine = &reader->machine[i];
        const char *name;
        json_t *value;
        machine->set = json_array();
        json_object_foreach(machine->options, name, value) {
            if (!is_shown_anyway(name) && varies(reader, machine, name, value))
                json_array_append_new(machine->set, json_sprintf("%s=%s", name, json_string_value(value)));
        }
    }
}

static void add_settings(const struct reader *reader) {
    compare_machines(reader);
    for (size_t i = 0; i < reader->n_runs; i++) {
        json_t *set = reader->machine[reader->machine_of[i]].set;
        if (json_array_size(set))
            json_object_set(json_array_get(reader->runs, i), "set", set);
    }
    for (size_t i = 0; i < reader->n_machines; i++) {
        json_decref(reader->machine[i].options);
        json_decref(reader->machine[i].set);
    }
}

/* ---- The document ------------------------------------------------------------------------------------------------ */

json_t *experiment_stored_runs_document(const char *path, const char *where, struct base_arena *arena) {
    struct reader reader = {.runs = json_array(), .arena = arena};
    struct experiment_store *store;
    experiment_store_open_to_read(&store, path);
    bool is_read = store && experiment_store_each(store, where, take, &reader);
    if (!store)
        command_fail(COMMAND_ERROR, "'%s' is a database, but no store of results that this Heddle can read", path);
    experiment_store_close(store);
    add_settings(&reader);
    if (is_read && reader.n_runs)
        return json_pack("{s:o}", "runs", reader.runs);
    json_decref(reader.runs);
    if (is_read && where)
        command_fail(COMMAND_ERROR, "no run in the store of results '%s' meets --where", path);
    else if (is_read)
        command_fail(COMMAND_ERROR,
                     "the store of results '%s' has no runs: paper and sweep fill the one that --store names", path);
    return NULL;
}
