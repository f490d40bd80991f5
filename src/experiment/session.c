/* A session: plans, runs, shows and writes loaded experiments. After an interrupt or a failed run the other results are
 * still shown. */
#include "experiment/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "command/output.h"
#include "experiment/noise.h"
#include "experiment/reasons.h"
#include "experiment/run_file.h"
#include "experiment/show.h"
#include "experiment/slurm.h"
#include "program/program_options.h"

struct session {
    const struct experiment_session_options *options;
    const struct experiment *const *experiment;
    unsigned count;
    const char *size;
    struct experiment_store *store;
    struct experiment_plan plan;
    struct experiment_grid *grid;
    struct experiment_slurm slurm;
    FILE *json, *csv;
    struct program_html html;
    struct base_arena *arena;
};

static const char *const size_names[] = {"small", "medium", "paper"};

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static bool write_json(struct session *session) {
    json_t *array = json_array();
    for (unsigned i = 0; i < session->count; i++)
        json_array_append_new(array, experiment_results_json(&session->grid[i], session->arena));
    bool is_written = json_dumpf(array, session->json, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 &&
                      fputc('\n', session->json) != EOF && fflush(session->json) == 0;
    json_decref(array);
    return is_written;
}

static bool write_csv(struct session *session) {
    experiment_write_csv(session->csv, session->grid, session->count, session->arena);
    return fflush(session->csv) == 0 && !ferror(session->csv);
}

static bool write_plot(struct session *session, unsigned i, const char *path) {
    FILE *file;
    return command_open_output(path, &file) &&
           command_close_output(path, file, experiment_write_plot(file, &session->grid[i], session->arena));
}

/* One figure is the file itself, several are files in a folder. */
static bool write_plots(struct session *session) {
    const char *path = session->options->plot;
    if (session->count == 1)
        return write_plot(session, 0, path);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        command_fail(COMMAND_ERROR, "cannot make the folder '%s' for several figures: %s", path, strerror(errno));
        return false;
    }
    for (unsigned i = 0; i < session->count; i++)
        if (!write_plot(session, i, base_arena_printf(session->arena, "%s/%s.svg", path, session->experiment[i]->name)))
            return false;
    return true;
}

/* Plans the noise of one size, ahead of that planned before, unless this session has measured noise itself. */
static int plan_noise(struct session *session, struct experiment_plan *plan) {
    int status = COMMAND_DONE;
    for (unsigned i = 0; i < session->count && status == COMMAND_DONE && !session->options->is_noise; i++)
        status = experiment_plan_noise(plan, &session->grid[i]);
    return status;
}

/* What the store has at size medium, beside the results at size paper: verdicts and noise. */
static int find_medium(struct session *session, struct experiment_plan *plan, struct experiment_grid *grid) {
    int status = experiment_plan_start(plan, "medium", session->arena);
    for (unsigned i = 0; i < session->count && status == COMMAND_DONE; i++)
        status = experiment_plan_add(plan, &grid[i], session->experiment[i], NULL);
    if (status == COMMAND_DONE)
        status = plan_noise(session, plan);
    return status == COMMAND_DONE ? experiment_find_results(plan, session->store, false) : status;
}

/* The noise that the store has at the size of the page, which counts more than that at size medium. */
static int find_own_noise(struct session *session, struct experiment_plan *plan) {
    int status = experiment_plan_start(plan, session->size, session->arena);
    if (status == COMMAND_DONE)
        status = plan_noise(session, plan);
    return status == COMMAND_DONE ? experiment_find_results(plan, session->store, false) : status;
}

static const char *join_words(const struct command_words *words, struct base_arena *arena) {
    const char *text = "";
    for (unsigned i = 0; i < words->count; i++)
        text = base_arena_printf(arena, "%s%s%s", text, i ? " " : "", words->item[i]);
    return text;
}

static bool write_page(struct session *session) {
    FILE *file;
    struct experiment_plan medium = {0}, own = {0};
    struct experiment_page page = {.grid = session->grid,
                                   .count = session->count,
                                   .size = session->size,
                                   .command = join_words(&session->options->again, session->arena),
                                   .path = session->options->report};
    const char *path = session->options->report;
    if (!command_open_output(path, &file))
        return false;
    if (strcmp(session->size, "paper") == 0) {
        struct experiment_grid *grid = BASE_ARENA_ARRAY(session->arena, struct experiment_grid, session->count);
        if (find_medium(session, &medium, grid) == COMMAND_DONE)
            page.medium = grid;
    }
    if (find_own_noise(session, &own) != COMMAND_DONE)
        page.medium = NULL;
    experiment_write_page(file, &page, session->arena);
    for (unsigned i = 0; i < session->count && !session->options->is_noise; i++)
        session->grid[i].noise = NULL;
    experiment_plan_end(&medium);
    experiment_plan_end(&own);
    return command_close_output(path, file, fflush(file) == 0 && !ferror(file));
}

static bool write_files(struct session *session) {
    const struct experiment_session_options *options = session->options;
    bool is_good = true;
    if (session->json)
        is_good &= command_close_output(options->json, session->json, write_json(session));
    if (session->csv)
        is_good &= command_close_output(options->csv, session->csv, write_csv(session));
    if (session->html.file)
        is_good &=
            program_html_write(&session->html, session->count == 1 ? session->experiment[0]->name : "Experiments",
                               json_pack("[o]", experiment_results_document(session->grid, session->count)));
    if (options->plot)
        is_good &= write_plots(session);
    if (options->report)
        is_good &= write_page(session);
    return is_good;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static bool keep_verdicts(struct session *session) {
    for (unsigned i = 0; i < session->count; i++)
        for (unsigned k = 0; k < session->experiment[i]->n_claims; k++) {
            const struct experiment_claim *claim = &session->experiment[i]->claim[k];
            struct experiment_verdict verdict = experiment_judge(&session->grid[i], claim);
            struct experiment_stored_claim stored = {session->experiment[i]->name, session->size, claim->says,
                                                     experiment_state_names[verdict.state]};
            if (verdict.state != EXPERIMENT_UNKNOWN && !experiment_store_set_claim(session->store, &stored))
                return false;
        }
    return true;
}

static void print_all(struct session *session) {
    const struct experiment_session_options *options = session->options;
    if (options->is_quiet || command_is_stdout(options->json) || command_is_stdout(options->csv) ||
        command_is_stdout(options->plot) || command_is_stdout(options->report) || command_is_stdout(options->html))
        return;
    for (unsigned i = 0; i < session->count; i++) {
        if (i > 0)
            putchar('\n');
        experiment_print_results(stdout, &session->grid[i], command_is_colored(options->color), session->arena);
        experiment_draw_examples(stdout, &session->grid[i]);
    }
}

static int run_plan(struct session *session) {
    struct experiment_plan_options options = {.at_once = (unsigned)session->options->threads,
                                              .time_limit_seconds = session->options->time_limit_seconds,
                                              .is_quiet = session->options->is_quiet,
                                              .is_forced = session->options->is_forced};
    unsigned n_merged;
    int status = experiment_store_is_read_only(session->store)
                     ? COMMAND_DONE
                     : experiment_run_files_merge(session->slurm.folder, session->store, &n_merged);
    if (status != COMMAND_DONE)
        return status;
    return experiment_run_plan(&session->plan, session->store, &options);
}

/* ---- The session ------------------------------------------------------------------------------------------------- */

static int plan_all(struct session *session) {
    int status = experiment_plan_start(&session->plan, session->size, session->arena);
    for (unsigned i = 0; i < session->count && status == COMMAND_DONE; i++)
        status = experiment_plan_add(&session->plan, &session->grid[i], session->experiment[i], NULL);
    return status;
}

static int run_all(struct session *session) {
    int status = plan_all(session);
    for (unsigned i = 0; i < session->count && status == COMMAND_DONE && session->options->is_noise; i++)
        status = experiment_plan_noise(&session->plan, &session->grid[i]);
    if (status == COMMAND_DONE)
        status = command_open_outputs(session->options->json, &session->json, session->options->csv, &session->csv);
    if (status == COMMAND_DONE)
        status = program_html_open(&session->html, session->options->html, session->arena);
    if (status != COMMAND_DONE)
        return status;
    status = run_plan(session);
    print_all(session);
    bool is_kept = keep_verdicts(session), is_written = write_files(session);
    experiment_plan_end(&session->plan);
    return status == COMMAND_DONE && !(is_kept && is_written) ? COMMAND_ERROR : status;
}

/* ---- Slurm ------------------------------------------------------------------------------------------------------- */

/* Merges what tasks have left, then says where the runs are or submits those that are nowhere. With nothing left to
 * wait for, the results are shown as usual. */
static int run_on_slurm(struct session *session) {
    bool is_complete = false;
    unsigned n_merged;
    int status = plan_all(session);
    if (status == COMMAND_DONE)
        status = experiment_run_files_merge(session->slurm.folder, session->store, &n_merged);
    if (status == COMMAND_DONE)
        status = experiment_find_results(&session->plan, session->store, false);
    if (status == COMMAND_DONE)
        status = session->options->is_status ? experiment_slurm_print_status(&session->plan, &session->slurm)
                                             : experiment_slurm_submit(&session->plan, &session->slurm, &is_complete);
    experiment_plan_end(&session->plan);
    return is_complete ? run_all(session) : status;
}

/* As many runs at once as the task has processors. */
static int run_task(struct session *session) {
    const char *runs = session->options->slurm_task, *processors = getenv("SLURM_CPUS_PER_TASK");
    const char *slash = strrchr(runs, '/');
    struct experiment_plan_options options = {
        .at_once = processors && atoi(processors) > 0 ? (unsigned)atoi(processors) : 1,
        .is_quiet = true,
        .folder = slash ? base_arena_copy(session->arena, runs, (size_t)(slash - runs)) : ".",
    };
    int status = plan_all(session);
    if (status == COMMAND_DONE)
        status = experiment_slurm_choose(&session->plan, runs);
    if (status == COMMAND_DONE)
        status = experiment_run_plan(&session->plan, NULL, &options);
    experiment_plan_end(&session->plan);
    return status;
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static bool is_tested(const struct experiment_claim *claim, const char *size) {
    return claim->test && strcmp(claim->test, size) == 0;
}

static int plan_checks(struct session *session) {
    for (unsigned i = 0; i < session->count; i++) {
        const struct experiment *experiment = session->experiment[i];
        bool *is_needed = BASE_ARENA_ARRAY(session->arena, bool, experiment_count_cells(experiment));
        for (unsigned k = 0; k < experiment->n_claims; k++)
            if (is_tested(&experiment->claim[k], session->size))
                experiment_mark_needed(experiment, experiment->claim[k].check, is_needed);
        int status = experiment_plan_add(&session->plan, &session->grid[i], experiment, is_needed);
        if (status != COMMAND_DONE)
            return status;
    }
    return COMMAND_DONE;
}

static int judge_checks(const struct session *session) {
    int status = COMMAND_DONE;
    for (unsigned i = 0; i < session->count; i++)
        for (unsigned k = 0; k < session->experiment[i]->n_claims; k++) {
            const struct experiment_claim *claim = &session->experiment[i]->claim[k];
            if (!is_tested(claim, session->size))
                continue;
            enum experiment_state state = experiment_judge(&session->grid[i], claim).state;
            if (!session->options->is_quiet)
                printf("%s, size %s: %s: %s\n", session->experiment[i]->name, session->size,
                       experiment_state_names[state], claim->says);
            if (state != EXPERIMENT_HOLDS && state != EXPERIMENT_HOLDS_MOSTLY)
                status = command_fail(COMMAND_CHECK_FAILED, "%s: at size %s this does not hold any more: %s",
                                      session->experiment[i]->name, session->size, claim->says);
        }
    return status;
}

static int check_all(struct session *session) {
    int worst = COMMAND_DONE;
    for (unsigned s = 0; s < sizeof size_names / sizeof size_names[0] && worst == COMMAND_DONE; s++) {
        session->size = size_names[s];
        int status = experiment_plan_start(&session->plan, session->size, session->arena);
        if (status == COMMAND_DONE)
            status = plan_checks(session);
        if (status == COMMAND_DONE)
            status = run_plan(session);
        if (status == COMMAND_DONE)
            status = judge_checks(session);
        experiment_plan_end(&session->plan);
        worst = status;
    }
    return worst;
}

/* ---- Reasons ----------------------------------------------------------------------------------------------------- */

static int repeat_reasons(struct session *session) {
    struct experiment_reasons *reasons = NULL;
    FILE *file = session->options->is_quiet ? fopen("/dev/null", "w") : stdout;
    if (!file)
        return command_fail(COMMAND_ERROR, "cannot write to /dev/null: %s", strerror(errno));
    int status = experiment_plan_start(&session->plan, session->size, session->arena);
    if (status == COMMAND_DONE)
        status = experiment_plan_reasons(&reasons, &session->plan, session->experiment, session->count);
    if (status == COMMAND_DONE)
        status = run_plan(session);
    if (status == COMMAND_DONE)
        status = experiment_print_reasons(file, reasons, session->experiment, session->count, session->arena);
    experiment_plan_end(&session->plan);
    if (file != stdout)
        fclose(file);
    return status;
}

/* A figure is written after all runs, but a mistake in its name should be reported before them. */
static int check_plot(const char *path) {
    size_t length = strlen(path);
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    if (command_is_stdout(path))
        return COMMAND_DONE;
    if (dot && (length < 4 || strcmp(path + length - 4, ".svg") != 0))
        return command_fail(COMMAND_USAGE, "--plot draws SVG, so '%s' should end in .svg, not in '%s'", path, dot);
    struct base_arena arena = {0};
    const char *folder = slash ? base_arena_copy(&arena, path, slash > path ? (size_t)(slash - path) : 1) : ".";
    int status = access(folder, W_OK) == 0
                     ? COMMAND_DONE
                     : command_fail(COMMAND_ERROR, "cannot write '%s': %s", path, strerror(errno));
    base_arena_free(&arena);
    return status;
}

static int check_options(const struct experiment_session_options *options, const struct experiment *const *experiment,
                         unsigned count) {
    if (options->is_check && (options->json || options->csv || options->plot || options->report || options->html))
        return command_fail(COMMAND_USAGE, "--check judges claims: it writes no file");
    if (options->is_reasons && (options->is_check || options->is_slurm || options->json || options->csv ||
                                options->plot || options->report || options->html))
        return command_fail(COMMAND_USAGE,
                            "--reasons repeats the runs that show reasons: it takes no --check, no --slurm and "
                            "writes no file");
    if (options->is_noise && (options->is_check || options->is_reasons || options->is_slurm))
        return command_fail(COMMAND_USAGE,
                            "--noise judges claims in neighbours: it takes no --check, no --reasons and no "
                            "--slurm");
    if ((options->is_status || options->sbatch) && !options->is_slurm)
        return command_fail(COMMAND_USAGE, "--%s belongs to --slurm", options->is_status ? "status" : "sbatch");
    if (options->is_slurm && (options->is_check || options->is_forced))
        return command_fail(COMMAND_USAGE, "--slurm runs what the store lacks: it takes no --%s",
                            options->is_check ? "check" : "force");
    if (options->is_check && options->size != PROGRAM_SIZE_NOT_GIVEN)
        return command_fail(COMMAND_USAGE, "--check takes no --size: every claim has its own");
    if (count == 1 && options->size != PROGRAM_SIZE_NOT_GIVEN && !experiment_has_sizes(experiment[0]))
        return command_fail(COMMAND_USAGE, "%s takes no --size: %s", experiment[0]->name,
                            experiment[0]->common.size ? "its file names one"
                                                       : "it runs no workload whose size it chooses");
    return options->plot && count == 1 ? check_plot(options->plot) : COMMAND_DONE;
}

void experiment_note_words(struct experiment_session_options *options, const char *command,
                           const struct command_words *words, struct base_arena *arena) {
    struct command_words *again = &options->again;
    again->item = BASE_ARENA_ARRAY(arena, const char *, words->count + 4);
    again->item[again->count++] = command;
    for (unsigned i = 0; i < words->count; i++)
        again->item[again->count++] = words->item[i];
    if (options->is_estimated)
        again->item[again->count++] = "--estimate";
    if (options->size == PROGRAM_SIZE_NOT_GIVEN)
        return;
    again->item[again->count++] = "--size";
    again->item[again->count++] = size_names[options->size];
}

/* Returns the experiments with estimates in place of full runs. */
static const struct experiment *const *estimated(const struct experiment *const *experiment, unsigned count,
                                                 struct base_arena *arena) {
    const struct experiment **all = BASE_ARENA_ARRAY(arena, const struct experiment *, count);
    for (unsigned i = 0; i < count; i++) {
        struct experiment *copy = BASE_ARENA_NEW(arena, struct experiment);
        *copy = *experiment[i];
        copy->common.is_estimated = true;
        all[i] = copy;
    }
    return all;
}

int experiment_run_session(const struct experiment_session_options *options, const struct experiment *const *experiment,
                           unsigned count, struct base_arena *arena) {
    struct session session = {
        .options = options,
        .experiment = options->is_estimated ? estimated(experiment, count, arena) : experiment,
        .count = count,
        .size = size_names[options->size == PROGRAM_SIZE_NOT_GIVEN ? PROGRAM_SIZE_MEDIUM : options->size],
        .grid = BASE_ARENA_ARRAY(arena, struct experiment_grid, count),
        .arena = arena,
    };
    const char *store = experiment_store_path(options->store, arena);
    session.slurm = (struct experiment_slurm){experiment_slurm_folder(store, arena), &options->again, options->sbatch};
    int status = check_options(options, experiment, count);
    if (status == COMMAND_DONE && options->slurm_task)
        return run_task(&session);
    if (status == COMMAND_DONE)
        status = experiment_store_open(&session.store, store);
    if (status == COMMAND_DONE && options->is_slurm && experiment_store_is_read_only(session.store))
        status = command_fail(COMMAND_ERROR, "--slurm needs a store that it can write to: --store FILE");
    if (status == COMMAND_DONE)
        status = options->is_check     ? check_all(&session)
                 : options->is_reasons ? repeat_reasons(&session)
                 : options->is_slurm   ? run_on_slurm(&session)
                                       : run_all(&session);
    experiment_store_close(session.store);
    return status;
}
