/* `heddle sweep FILE.yaml...`: a user's own experiments, in the same format as the bundled ones. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "command/output.h"
#include "experiment/session.h"
#include "program/program_options.h"

struct sweep_options {
    struct experiment_session_options session;
};

static const struct command_option options[] = {
    EXPERIMENT_SESSION_ROWS(offsetof(struct sweep_options, session)),
};

const struct command cli_sweep_command = {
    .name = "sweep",
    .summary = "run experiments of your own: a cross product from a YAML file",
    .usage = "sweep FILE.yaml... [options]",
    .text = "A file names programs, axes to vary and measures. docs/experiments.md explains it, and the bundled\n"
            "experiments of 'heddle paper' have the same form. Every combination runs once, and a store keeps\n"
            "the results. A sweep that was interrupted, or that gained a point, runs only the missing runs.\n"
            "Errors in the file are shown with line and column.\n"
            "\n"
            "On a cluster, --slurm submits the missing runs as an array job and returns. The tasks leave their\n"
            "results as files beside the store, in STORE.slurm, and the next 'heddle sweep' moves them into it.\n",
    .examples = "  heddle sweep my.yaml\n"
                "  heddle sweep my.yaml --size small --csv my.csv --plot my.svg\n"
                "  heddle sweep my.yaml --slurm --sbatch '--partition=short --time=60'\n"
                "  heddle sweep my.yaml --slurm --status\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_sweep,
};

/* A message about a place in the file has the compilers' form, as for machines. */
static int refuse(const struct base_diag *diag) {
    static const char prefix[] = "error: ";
    if (strncmp(diag->text, prefix, strlen(prefix)) == 0)
        return command_fail(COMMAND_ERROR, "%.*s", (int)strcspn(diag->text + strlen(prefix), "\n"),
                            diag->text + strlen(prefix));
    fputs(diag->text, stderr);
    return COMMAND_ERROR;
}

static int run(struct experiment_session_options *session, const struct command_words *words,
               struct base_arena *arena) {
    if (words->count == 0)
        return command_fail(COMMAND_USAGE,
                            "sweep needs a file: heddle sweep FILE.yaml; docs/experiments.md has examples");
    struct experiment *experiment = BASE_ARENA_ARRAY(arena, struct experiment, words->count);
    const struct experiment **all = BASE_ARENA_ARRAY(arena, const struct experiment *, words->count);
    for (unsigned i = 0; i < words->count; i++) {
        struct base_diag diag = {0};
        all[i] = &experiment[i];
        if (!experiment_load(&experiment[i], words->item[i], arena, &diag))
            return refuse(&diag);
    }
    experiment_note_words(session, "sweep", words, arena);
    return experiment_run_session(session, all, words->count, arena);
}

int cli_sweep(int argc, char **argv) {
    struct base_arena arena = {0};
    struct sweep_options given = {.session = {.size = PROGRAM_SIZE_NOT_GIVEN}};
    struct command_words words = {0};
    int status = COMMAND_DONE;
    if (command_parse(&cli_sweep_command, argc, argv, &given, &words, &arena, &status))
        status = run(&given.session, &words, &arena);
    base_arena_free(&arena);
    return status;
}
