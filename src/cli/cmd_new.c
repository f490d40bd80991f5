/* `heddle new KIND NAME`: creates a folder with a first version of a user's policy. The folder builds a shared object.
 * Its files come from templates/. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "program/place.h"

struct new_options {
    const char *folder;
};

static const struct command_option options[] = {
    {"--output", 'o', COMMAND_TEXT, "FOLDER", "where to write it, default ./NAME", offsetof(struct new_options, folder),
     0, 0},
};

const struct command cli_new_command = {
    .name = "new",
    .summary = "write a scheduler, divergence model or DRAM policy to start from",
    .usage = "new scheduler|divergence|dram-policy NAME [options]",
    .text = "The folder NAME contains NAME.c, a Makefile that builds NAME.so, and a test. You need not rebuild\n"
            "Heddle: 'heddle run bfs --scheduler ./NAME.so' uses the file, and 'heddle check ./NAME.so' tries\n"
            "it on random programs. docs/plug-ins.md explains it step by step.\n",
    .examples = "  heddle new scheduler mine && make -C mine\n"
                "  heddle run bfs --scheduler mine/mine.so\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_new,
};

/* The kinds of policies: the template, and the option of `heddle run` that chooses it. */
static const struct kind {
    const char *name, *file, *option;
} kinds[] = {
    {"scheduler", "scheduler.c", "--scheduler"},
    {"divergence", "divergence.c", "--divergence"},
    {"dram-policy", "dram-policy.c", "--dram-policy"},
};

struct words {
    const char *name, *option, *binary, *include, *flags;
};

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static char *read_all(const char *path, struct base_arena *arena) {
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    char *text = base_arena_printf(arena, "%s", "");
    char piece[4096];
    for (size_t n; (n = fread(piece, 1, sizeof piece - 1, file)) > 0;) {
        piece[n] = '\0';
        text = base_arena_printf(arena, "%s%s", text, piece);
    }
    fclose(file);
    return text;
}

/* Writes the text and replaces the words between two '@'. */
static void write_replaced(FILE *file, const char *text, const struct words *words) {
    const char *const pair[][2] = {{"@NAME@", words->name},
                                   {"@OPTION@", words->option},
                                   {"@BINARY@", words->binary},
                                   {"@INCLUDE@", words->include},
                                   {"@FLAGS@", words->flags}};
    enum { N = sizeof pair / sizeof pair[0] };
    while (*text) {
        size_t i = 0;
        while (i < N && strncmp(text, pair[i][0], strlen(pair[i][0])) != 0)
            i++;
        if (i == N) {
            fputc(*text++, file);
            continue;
        }
        fputs(pair[i][1], file);
        text += strlen(pair[i][0]);
    }
}

static int write_file(const char *folder, const char *name, const char *template, const struct words *words, int mode,
                      struct base_arena *arena) {
    const char *from = base_arena_printf(arena, "%s/%s", program_find_templates(arena), template);
    const char *path = base_arena_printf(arena, "%s/%s", folder, name);
    const char *text = read_all(from, arena);
    if (!text)
        return command_fail(COMMAND_ERROR, "cannot read '%s': %s", from, strerror(errno));
    FILE *file = fopen(path, "wx");
    if (!file)
        return command_fail(COMMAND_ERROR, "cannot write '%s': %s", path, strerror(errno));
    write_replaced(file, text, words);
    if (fclose(file) != 0 || chmod(path, (mode_t)mode) != 0)
        return command_fail(COMMAND_ERROR, "cannot write '%s': %s", path, strerror(errno));
    printf("  %s\n", path);
    return COMMAND_DONE;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static bool is_name(const char *name) {
    if (!isalpha((unsigned char)*name))
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_' && *name != '-')
            return false;
    return true;
}

static int write_all(const struct kind *kind, const char *name, const char *folder, struct base_arena *arena) {
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    struct words words = {.name = name, .option = kind->option, .binary = self};
    words.include = program_find_include(arena);
    words.flags = base_arena_printf(arena, "-I%s", words.include);
    if (strcmp(kind->name, "divergence") == 0)
        words.flags =
            base_arena_printf(arena, "-I%s -I%s -D_GNU_SOURCE", words.include, program_find_internal_include(arena));
    if (mkdir(folder, 0777) != 0)
        return command_fail(COMMAND_ERROR, "cannot make the folder '%s': %s", folder, strerror(errno));
    printf("wrote\n");
    int status = write_file(folder, base_arena_printf(arena, "%s.c", name), kind->file, &words, 0666 & ~022, arena);
    if (status == COMMAND_DONE)
        status = write_file(folder, "Makefile", "Makefile", &words, 0644, arena);
    if (status == COMMAND_DONE)
        status = write_file(folder, base_arena_printf(arena, "%s_test.sh", name), "test.sh", &words, 0755, arena);
    if (status != COMMAND_DONE)
        return status;
    printf("build it with 'make -C %s', or without make:\n  cc -O2 -shared -fPIC %s %s/%s.c -o %s/%s.so\n", folder,
           words.flags, folder, name, folder, name);
    printf("then 'heddle check %s/%s.so' and 'heddle run bfs %s %s/%s.so'\n", folder, name, kind->option, folder, name);
    return COMMAND_DONE;
}

static int start(const struct new_options *given, const struct command_words *words, struct base_arena *arena) {
    if (words->count != 2)
        return command_fail(COMMAND_USAGE, "new needs a kind and a name: heddle new scheduler mine");
    const struct kind *kind = NULL;
    struct base_nearest nearest = base_nearest_to(words->item[0]);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        base_nearest_offer(&nearest, kinds[i].name);
        if (strcmp(kinds[i].name, words->item[0]) == 0)
            kind = &kinds[i];
    }
    if (!kind && nearest.best)
        return command_fail(COMMAND_USAGE, "'%s' is no kind of policy; did you mean '%s'?", words->item[0],
                            nearest.best);
    if (!kind)
        return command_fail(COMMAND_USAGE, "'%s' is none of scheduler, divergence, dram-policy", words->item[0]);
    const char *name = words->item[1];
    if (!is_name(name))
        return command_fail(COMMAND_USAGE, "'%s' is no name: letters, digits, '-' and '_', a letter first", name);
    return write_all(kind, name, given->folder ? given->folder : name, arena);
}

int cli_new(int argc, char **argv) {
    struct base_arena arena = {0};
    struct new_options given = {.folder = NULL};
    struct command_words words = {0};
    int status = COMMAND_DONE;
    if (command_parse(&cli_new_command, argc, argv, &given, &words, &arena, &status))
        status = start(&given, &words, &arena);
    base_arena_free(&arena);
    return status;
}
