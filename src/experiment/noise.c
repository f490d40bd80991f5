/* Noise. See noise.h. */
#include "experiment/noise.h"

#include <math.h>

#include "command/command.h"
#include "experiment/matrix.h"

enum { N_LATENCIES = 4, N_SEEDS = 2, MOST_VALUES = 6 };

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

const char *experiment_neighbour_change(const struct config_machine *machine, unsigned neighbour,
                                        struct base_arena *arena) {
    bool is_l1 = machine->l1.cache.is_present || machine->memory.is_perfect;
    unsigned own = (unsigned)(is_l1 ? machine->l1.cache.latency_cycles : machine->crossbar.latency_cycles);
    unsigned value = (own < 3 ? 3 : own) - 2 + (neighbour - 1);
    return base_arena_printf(arena, "%s=%u", is_l1 ? "l1.latency" : "crossbar.latency",
                             value < own ? value : value + 1);
}

static bool has_example(const struct experiment *experiment) {
    bool has = experiment->common.example;
    for (unsigned a = 0; a < experiment->n_axes; a++)
        for (unsigned i = 0; i < experiment->axis[a].n_points; i++)
            has |= experiment->axis[a].point[i].settings.example != NULL;
    return has;
}

const struct experiment *experiment_with_neighbours(const struct experiment *experiment, struct base_arena *arena) {
    unsigned own = experiment->n_variations, n = 0;
    struct experiment *copy = BASE_ARENA_NEW(arena, struct experiment);
    *copy = *experiment;
    copy->variation = BASE_ARENA_ARRAY(arena, struct experiment_settings, own * (1 + N_LATENCIES) + N_SEEDS);
    for (unsigned v = 0; v < own; v++)
        for (unsigned i = 0; i <= N_LATENCIES; i++) {
            copy->variation[n] = experiment->variation[v];
            copy->variation[n++].neighbour = i;
        }
    for (unsigned i = 1; own == 1 && i <= N_SEEDS; i++) {
        copy->variation[n] = experiment->variation[0];
        copy->variation[n++].seed = i;
    }
    copy->n_variations = n;
    return copy;
}

int experiment_plan_noise(struct experiment_plan *plan, struct experiment_grid *grid) {
    if (has_example(grid->experiment)) /* it has no machine and no input */
        return COMMAND_DONE;
    const struct experiment *noisy = experiment_with_neighbours(grid->experiment, plan->arena);
    struct experiment_grid *noise = BASE_ARENA_NEW(plan->arena, struct experiment_grid);
    bool *is_needed = BASE_ARENA_ARRAY(plan->arena, bool, experiment_count_cells(noisy));
    for (unsigned i = 0; i < noisy->n_claims; i++)
        experiment_mark_needed(noisy, noisy->claim[i].check, is_needed);
    int status = experiment_plan_add(plan, noise, noisy, is_needed);
    noise->noise = grid->noise;
    grid->noise = noise;
    return status;
}

/* ---- What it is -------------------------------------------------------------------------------------------------- */

struct spread {
    const struct experiment_grid *grid;
    const char *text;
    unsigned n; /* values so far */
    struct base_arena *arena;
};

static void add_spread(void *context, unsigned measure, const struct experiment_cells *cells) {
    struct spread *spread = context;
    const struct experiment *experiment = spread->grid->experiment;
    struct experiment_cell cell;
    for (unsigned a = 0; a < experiment->n_axes; a++) {
        cell.at[a] = cells->at[a][0];
        if (cells->n[a] > 1)
            return; /* several cells in one: they are in the tables */
    }
    if (spread->n++ >= MOST_VALUES)
        return;
    const struct experiment_measure_row *row = &experiment->measure[measure];
    struct experiment_value value = experiment_value_of(spread->grid, measure, &cell);
    spread->text = base_arena_printf(spread->arena, "%s%s %s[%s] %s..%s", spread->text, *spread->text ? "," : ":",
                                     row->name, experiment_cell_name(experiment, &cell, spread->arena),
                                     experiment_number_text(row, value.low, spread->arena),
                                     experiment_number_text(row, value.high, spread->arena));
}

const char *experiment_noise_text(const struct experiment_grid *grid, const struct experiment_claim *claim,
                                  struct base_arena *arena) {
    const struct experiment_grid *noise = experiment_find_noise(grid, claim);
    if (!noise)
        return "";
    struct experiment_verdict verdict = experiment_judge_alone(noise, claim);
    struct spread spread = {noise, "", 0, arena};
    experiment_visit_cells(claim->check, &spread, add_spread);
    bool holds = verdict.state == EXPERIMENT_HOLDS || verdict.state == EXPERIMENT_HOLDS_MOSTLY;
    unsigned n_for = holds ? verdict.n - verdict.n_against : verdict.n_against;
    return base_arena_printf(arena, "%u of %u neighbours at size %s%s", n_for, verdict.n,
                             experiment_size_at(grid->experiment, noise->plan->size), spread.text);
}
