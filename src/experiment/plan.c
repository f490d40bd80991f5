/* Turns the cells of experiments into runs: combines settings, finds programs and machines, shares equal runs. */
#include "experiment/plan.h"

#include <errno.h>
#include <string.h>

#include "command/command.h"
#include "config/plugin.h"
#include "experiment/hash.h"
#include "experiment/noise.h"
#include "program/program_options.h"

/* ---- Settings ---------------------------------------------------------------------------------------------------- */

/* The alternatives of a cell; NULL: it has none. */
static const struct experiment_settings *find_best_of(const struct experiment *experiment,
                                                      const struct experiment_cell *cell, unsigned *n) {
    *n = 0;
    for (unsigned a = 0; a < experiment->n_axes; a++) {
        const struct experiment_settings *settings = &experiment->axis[a].point[cell->at[a]].settings;
        if (settings->best_of) {
            *n = settings->n_best_of;
            return settings->best_of;
        }
    }
    return NULL;
}

static struct experiment_settings settings_of(const struct experiment *experiment, const struct experiment_cell *cell,
                                              unsigned variation, const struct experiment_settings *alternative,
                                              struct base_arena *arena) {
    struct experiment_settings settings = {0};
    experiment_add_settings(&settings, &experiment->common, arena);
    for (unsigned a = 0; a < experiment->n_axes; a++)
        experiment_add_settings(&settings, &experiment->axis[a].point[cell->at[a]].settings, arena);
    if (alternative)
        experiment_add_settings(&settings, alternative, arena);
    experiment_add_settings(&settings, &experiment->variation[variation], arena);
    return settings;
}

/* ---- Trials ------------------------------------------------------------------------------------------------------ */

static struct command_words split(const char *text, struct base_arena *arena) {
    struct command_words words = {.item = BASE_ARENA_ARRAY(arena, const char *, strlen(text) + 1)};
    for (const char *at = text; *(at += strspn(at, " ")); at += strcspn(at, " "))
        words.item[words.count++] = base_arena_copy(arena, at, strcspn(at, " "));
    return words;
}

static const char *join(const struct command_words *words, struct base_arena *arena) {
    const char *text = "";
    for (unsigned i = 0; i < words->count; i++)
        text = base_arena_printf(arena, "%s%s%s", text, i ? " " : "", words->item[i]);
    return text;
}

static int find_program(struct experiment_trial *trial, const struct experiment_plan *plan,
                        const struct experiment *experiment) {
    struct program_options options = PROGRAM_DEFAULTS;
    const char *size = trial->settings.size ? trial->settings.size : experiment_size_at(experiment, plan->size);
    options.size = strcmp(size, "paper") == 0    ? PROGRAM_SIZE_PAPER
                   : strcmp(size, "medium") == 0 ? PROGRAM_SIZE_MEDIUM
                                                 : PROGRAM_SIZE_SMALL;
    int status;
    if (!program_find(&trial->program, trial->settings.program, &plan->place, plan->arena, &status))
        return status;
    const char *arguments = trial->settings.arguments;
    if (options.size == PROGRAM_SIZE_MEDIUM)
        experiment_append_words(&arguments, trial->settings.medium_arguments, plan->arena);
    if (trial->settings.seed && trial->program.kind == PROGRAM_WORKLOAD)
        experiment_append_words(&arguments, base_arena_printf(plan->arena, "--seed %u", trial->settings.seed),
                                plan->arena);
    struct command_words own = split(arguments ? arguments : "", plan->arena);
    trial->arguments = program_arguments(&trial->program, &options, &own, plan->arena);
    const char *shown = program_size(&trial->program, &options);
    trial->stored.size = shown ? shown : "";
    return COMMAND_DONE;
}

/* The simulator and, where there are any, the user's own policies: a hash of each file. */
static const char *version_of(const struct experiment_trial *trial, const struct experiment_plan *plan) {
    const struct config_machine *machine = &trial->target.machine;
    const char *const name[] = {machine->scheduler, machine->divergence, machine->dram.policy};
    const char *version = plan->version;
    for (unsigned i = 0; i < sizeof name / sizeof name[0]; i++) {
        size_t n = config_plugin_file_length(name[i]);
        const char *hash = n ? experiment_hash_file(base_arena_copy(plan->arena, name[i], n), plan->arena) : NULL;
        if (hash)
            version = base_arena_printf(plan->arena, "%s %s", version, hash);
    }
    return version;
}

/* A machine as the store keeps it: five times shorter without what explains its options. */
static const char *without_comments(const char *yaml, struct base_arena *arena) {
    char *text = base_arena_copy(arena, yaml, strlen(yaml)), *to = text;
    while (*yaml) {
        size_t end = strcspn(yaml, "\n"), n = 0;
        for (bool is_quoted = false; n < end && (is_quoted || yaml[n] != '#'); n++)
            is_quoted ^= yaml[n] == '"' && (n == 0 || yaml[n - 1] != '\\');
        while (n > 0 && yaml[n - 1] == ' ')
            n--;
        memmove(to, yaml, n);
        to += n;
        yaml += end;
        if (*yaml)
            *to++ = *yaml++;
    }
    *to = '\0';
    return text;
}

static int describe_input(struct experiment_trial *trial, const struct experiment_plan *plan) {
    struct base_arena *arena = plan->arena;
    const char *file = trial->program.kind == PROGRAM_PTX ? trial->program.name : trial->program.executable;
    for (unsigned i = 0; i < plan->n_trials && !trial->stored.input; i++)
        if (plan->trial[i]->stored.input &&
            strcmp(plan->trial[i]->program.executable, trial->program.executable) == 0 &&
            strcmp(plan->trial[i]->program.name, trial->program.name) == 0)
            trial->stored.input = plan->trial[i]->stored.input;
    if (!trial->stored.input)
        trial->stored.input = experiment_hash_file(file, arena);
    if (!trial->stored.input)
        return command_fail(COMMAND_ERROR, "cannot read '%s': %s", file, strerror(errno));
    trial->stored.program = trial->program.name;
    trial->stored.arguments = join(&trial->arguments, arena);
    trial->stored.version = version_of(trial, plan);
    trial->stored.machine = trial->target.machine.name;
    trial->stored.scheduler = trial->target.machine.scheduler;
    trial->stored.divergence = trial->target.machine.divergence;
    trial->stored.configuration = without_comments(trial->target.yaml, arena);
    trial->stored.reads_device = trial->program.kind != PROGRAM_WORKLOAD; /* ours read sizes and limits only */
    struct experiment_settings *settings = &trial->settings;
    settings->is_estimated &= !settings->sample_cycles && !settings->records_threads;
    trial->stored.records =
        base_arena_printf(arena, "%llu%s%s", (unsigned long long)settings->sample_cycles,
                          settings->records_threads ? " threads" : "", settings->is_estimated ? " estimate" : "");
    return COMMAND_DONE;
}

static int make_trial(struct experiment_trial *trial, const struct experiment_plan *plan,
                      const struct experiment *experiment) {
    struct experiment_settings *settings = &trial->settings;
    if (settings->example) {
        trial->stored = (struct experiment_stored_run){.scheduler = settings->scheduler ? settings->scheduler : "lrr"};
        return COMMAND_DONE;
    }
    if (!settings->program)
        return command_fail(COMMAND_ERROR, "%s: a cell has no program", experiment->name);
    struct command_machine_options machine = {.machine = settings->machine, .set = settings->set};
    int status = program_try_target(&trial->target, &machine, settings->scheduler, settings->divergence,
                                    &trial->refusal, plan->arena);
    if (status == COMMAND_DONE && settings->neighbour) {
        const char *change = experiment_neighbour_change(&trial->target.machine, settings->neighbour, plan->arena);
        experiment_add_settings(settings, &(struct experiment_settings){.set = {.item = &change, .count = 1}},
                                plan->arena);
        machine.set = settings->set;
        status = program_try_target(&trial->target, &machine, settings->scheduler, settings->divergence,
                                    &trial->refusal, plan->arena);
    }
    if (status == COMMAND_DONE && trial->refusal && !experiment->may_refuse)
        status = command_fail(COMMAND_ERROR, "%s: %s", experiment->name, trial->refusal);
    if (status == COMMAND_DONE)
        status = find_program(trial, plan, experiment);
    return status == COMMAND_DONE ? describe_input(trial, plan) : status;
}

static uint64_t hash_of(const struct experiment_trial *trial) {
    const char *const part[] = {trial->stored.input, trial->stored.arguments, trial->stored.configuration,
                                trial->stored.records};
    uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < sizeof part / sizeof part[0]; i++)
        for (const char *at = part[i]; *at; at++)
            hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    return hash;
}

static bool is_same(const struct experiment_trial *a, const struct experiment_trial *b) {
    return a->hash == b->hash && a->stored.input && b->stored.input && strcmp(a->stored.input, b->stored.input) == 0 &&
           strcmp(a->stored.arguments, b->stored.arguments) == 0 &&
           strcmp(a->stored.configuration, b->stored.configuration) == 0 &&
           strcmp(a->stored.records, b->stored.records) == 0;
}

static void place_in_buckets(struct experiment_plan *plan, unsigned number) {
    uint64_t at = plan->trial[number]->hash;
    while (plan->bucket[at % plan->n_buckets])
        at++;
    plan->bucket[at % plan->n_buckets] = number + 1;
}

static void grow(struct experiment_plan *plan) {
    unsigned room = plan->room ? 2 * plan->room : 256;
    struct experiment_trial **trial = BASE_ARENA_ARRAY(plan->arena, struct experiment_trial *, room);
    for (unsigned i = 0; i < plan->n_trials; i++)
        trial[i] = plan->trial[i];
    plan->trial = trial;
    plan->room = room;
    plan->n_buckets = 2 * room;
    plan->bucket = BASE_ARENA_ARRAY(plan->arena, unsigned, plan->n_buckets);
    for (unsigned i = 0; i < plan->n_trials; i++)
        place_in_buckets(plan, i);
}

/* The index of the trial, which may already exist. */
static unsigned share(struct experiment_plan *plan, struct experiment_trial *trial) {
    for (uint64_t at = trial->hash; plan->n_buckets && plan->bucket[at % plan->n_buckets]; at++) {
        unsigned number = plan->bucket[at % plan->n_buckets] - 1;
        if (is_same(plan->trial[number], trial))
            return number;
    }
    if (plan->n_trials == plan->room)
        grow(plan);
    plan->trial[plan->n_trials] = trial;
    place_in_buckets(plan, plan->n_trials);
    return plan->n_trials++;
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

int experiment_plan_start(struct experiment_plan *plan, const char *size, struct base_arena *arena) {
    *plan = (struct experiment_plan){.size = size, .arena = arena};
    if (!program_find_place(&plan->place, arena))
        return COMMAND_ERROR;
    plan->library = base_arena_printf(arena, "%s/libcuda.so.1", plan->place.cuda);
    if (stat(plan->library, &plan->built) == 0)
        plan->version = experiment_hash_file(plan->library, arena);
    return plan->version ? COMMAND_DONE
                         : command_fail(COMMAND_ERROR, "cannot read '%s': %s", plan->library, strerror(errno));
}

void experiment_plan_end(struct experiment_plan *plan) {
    for (unsigned i = 0; i < plan->n_trials; i++)
        json_decref(plan->trial[i]->result);
}

static int plan_cell(struct experiment_grid *grid, unsigned number, unsigned variation) {
    struct experiment_plan *plan = grid->plan;
    struct experiment_cell cell = experiment_cell_of_number(grid->experiment, number);
    unsigned n;
    const struct experiment_settings *best_of = find_best_of(grid->experiment, &cell, &n);
    for (unsigned i = 0; i < (n ? n : 1); i++) {
        struct experiment_trial *trial = BASE_ARENA_NEW(plan->arena, struct experiment_trial);
        trial->settings = settings_of(grid->experiment, &cell, variation, best_of ? &best_of[i] : NULL, plan->arena);
        int status = make_trial(trial, plan, grid->experiment);
        if (status != COMMAND_DONE)
            return status;
        trial->hash = trial->settings.example ? number : hash_of(trial);
        size_t at = ((size_t)number * grid->experiment->n_variations + variation) * grid->most_best_of + i;
        grid->trial[at] = (int)share(plan, trial);
    }
    return COMMAND_DONE;
}

int experiment_plan_add(struct experiment_plan *plan, struct experiment_grid *grid, const struct experiment *experiment,
                        const bool *is_needed) {
    unsigned n_cells = experiment_count_cells(experiment);
    *grid = (struct experiment_grid){.experiment = experiment, .plan = plan, .most_best_of = 1};
    for (unsigned i = 0; i < n_cells; i++) {
        struct experiment_cell cell = experiment_cell_of_number(experiment, i);
        unsigned n;
        find_best_of(experiment, &cell, &n);
        grid->most_best_of = n > grid->most_best_of ? n : grid->most_best_of;
    }
    size_t n_places = (size_t)n_cells * experiment->n_variations * grid->most_best_of;
    grid->trial = BASE_ARENA_ARRAY(plan->arena, int, n_places);
    for (size_t i = 0; i < n_places; i++)
        grid->trial[i] = -1;
    for (unsigned i = 0; i < n_cells; i++)
        for (unsigned v = 0; v < experiment->n_variations && (!is_needed || is_needed[i]); v++) {
            int status = plan_cell(grid, i, v);
            if (status != COMMAND_DONE)
                return status;
        }
    return COMMAND_DONE;
}

static double cycles_of(const struct experiment_trial *trial) {
    return json_number_value(json_object_get(json_object_get(trial->result, "total"), "cycles"));
}

const struct experiment_trial *experiment_grid_trial(const struct experiment_grid *grid,
                                                     const struct experiment_cell *cell, unsigned variation) {
    size_t number = experiment_number_of_cell(grid->experiment, cell);
    const int *trial = &grid->trial[(number * grid->experiment->n_variations + variation) * grid->most_best_of];
    const struct experiment_trial *best = NULL;
    for (unsigned i = 0; i < grid->most_best_of && trial[i] >= 0; i++) {
        const struct experiment_trial *other = grid->plan->trial[trial[i]];
        if (!other->result)
            return i == 0 && grid->most_best_of == 1 ? other : NULL;
        if (!best || cycles_of(other) < cycles_of(best))
            best = other;
    }
    return best;
}
