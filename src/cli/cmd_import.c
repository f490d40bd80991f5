/* `heddle import FILE`: converts a configuration of GPGPU-Sim or Accel-Sim to a machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/import/import.h"
#include "config/config.h"

struct import_options {
    const char *output;
};

static const struct command_option options[] = {
    {"--output", 'o', COMMAND_TEXT, "FILE.yaml", "write the machine there instead of standard output",
     offsetof(struct import_options, output), 0, 0},
};

const struct command cli_import_command = {
    .name = "import",
    .summary = "turn a gpgpusim.config into a machine",
    .usage = "import gpgpusim.config [options]",
    .text = "Each option of the file becomes an option of the machine, with its source beside it. The end of the\n"
            "output lists the others, each with the reason. Heddle models other details than GPGPU-Sim, so the\n"
            "machine has the sizes, latencies and bandwidths of the file, but not its cycles.\n",
    .examples = "  heddle import SM7_TITANV/gpgpusim.config -o titanv.yaml\n"
                "  heddle run bfs -m ./titanv.yaml\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_import,
};

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The part of a key before its dot; "" for keys without one. */
static size_t group_length(const char *key) {
    const char *dot = strchr(key, '.');
    return dot ? (size_t)(dot - key) : 0;
}

static void write_key(const struct cli_import_key *key, FILE *file) {
    const char *name = key->key + group_length(key->key);
    bool is_inside = *name == '.';
    char text[300];
    snprintf(text, sizeof text, "%s%s: %s", is_inside ? "  " : "", is_inside ? name + 1 : name, key->value);
    fprintf(file, "%-32s # %s\n", text, key->source);
}

void cli_write_import(const struct cli_import *import, const char *name, FILE *file) {
    static const char *const groups[] = {"", "sm", "shared", "icache", "l1", "l2", "crossbar", "dram", "limits"};
    fprintf(file, "# Made by heddle import from %s.\nname: %s\ndescription: imported from %s\n", import->file, name,
            import->file);
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        bool has_head = !*groups[g];
        for (unsigned i = 0; i < import->n_keys; i++) {
            const char *key = import->key[i].key;
            if (group_length(key) != strlen(groups[g]) || strncmp(key, groups[g], strlen(groups[g])) != 0)
                continue;
            if (!has_head)
                fprintf(file, "%s:\n", groups[g]);
            has_head = true;
            write_key(&import->key[i], file);
        }
    }
    fprintf(file, "\n# Without a place in a machine:\n");
    for (unsigned i = 0; i < import->n_left; i++)
        fprintf(file, "# %s: %s\n", import->left[i].option, import->left[i].reason);
}

/* ---- Checking ---------------------------------------------------------------------------------------------------- */

/* A value that a machine cannot have keeps the default, and is listed. */
static void drop_impossible(struct cli_import *import) {
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES];
    unsigned n = 0;
    config_defaults(&machine);
    for (unsigned i = 0; i < import->n_keys; i++) {
        const struct cli_import_key *key = &import->key[i];
        const char *assignment = base_arena_printf(import->arena, "%s=%s", key->key, key->value);
        if (config_set(&machine, assignment, error, sizeof error))
            import->key[n++] = *key;
        else
            import->left[import->n_left++] =
                (struct cli_import_left){key->source, base_arena_printf(import->arena, "%s", error)};
    }
    import->n_keys = n;
}

static bool check(const struct cli_import *import) {
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES];
    config_defaults(&machine);
    for (unsigned i = 0; i < import->n_keys; i++)
        config_set(&machine, base_arena_printf(import->arena, "%s=%s", import->key[i].key, import->key[i].value), error,
                   sizeof error);
    if (config_check(&machine, error, sizeof error))
        return true;
    command_fail(COMMAND_ERROR, "%s: no machine has these options: %s", import->file, error);
    return false;
}

/* ---- The command
 * ----------------------------------------------------------------------------------------------------- */

static char *read_file(const char *path, struct base_arena *arena) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0, used = 0, n;
    if (!file)
        return NULL;
    do {
        size = size ? size * 2 : 16384;
        char *larger = BASE_ARENA_ARRAY(arena, char, size);
        if (used)
            memcpy(larger, text, used);
        text = larger;
        n = fread(text + used, 1, size - used - 1, file);
        used += n;
    } while (used == size - 1);
    text[used] = '\0';
    int error = ferror(file) ? errno : 0;
    fclose(file);
    errno = error;
    return error ? NULL : text;
}

/* Returns the file's name without its folder and ending, or the name of its folder for gpgpusim.config. */
static const char *machine_name(const char *path, struct base_arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return base_arena_copy(arena, name, strcspn(name, "."));
}

static int import_file(const struct import_options *given, const char *path, struct base_arena *arena) {
    struct cli_import import = {.file = path, .arena = arena};
    const char *text = read_file(path, arena);
    if (!text)
        return command_fail(COMMAND_ERROR, "cannot read '%s': %s", path, strerror(errno));
    if (!cli_import_gpgpusim(&import, text))
        return COMMAND_ERROR;
    drop_impossible(&import);
    if (!check(&import))
        return COMMAND_ERROR;
    FILE *file = given->output ? fopen(given->output, "w") : stdout;
    if (!file)
        return command_fail(COMMAND_ERROR, "cannot write '%s': %s", given->output, strerror(errno));
    cli_write_import(&import, machine_name(given->output ? given->output : path, arena), file);
    if (given->output && fclose(file) != 0)
        return command_fail(COMMAND_ERROR, "cannot write '%s': %s", given->output, strerror(errno));
    fprintf(stderr, "%u options: %u became %u keys of the machine, %u have no place in it\n", import.n_options,
            import.n_options - import.n_options_left, import.n_keys, import.n_options_left);
    if (import.n_left > import.n_options_left)
        fprintf(stderr,
                "%u of the values cannot be a machine's, and its defaults stay: the end of the file names them\n",
                import.n_left - import.n_options_left);
    if (import.note)
        fprintf(stderr, "%s\n", import.note);
    return COMMAND_DONE;
}

int cli_import(int argc, char **argv) {
    struct base_arena arena = {0};
    struct import_options given = {.output = NULL};
    struct command_words words = {0};
    int status = COMMAND_DONE;
    if (command_parse(&cli_import_command, argc, argv, &given, &words, &arena, &status))
        status = words.count == 1 ? import_file(&given, words.item[0], &arena)
                                  : command_fail(COMMAND_USAGE, "import needs one file: heddle import gpgpusim.config");
    base_arena_free(&arena);
    return status;
}
