/* How exact the values of an experiment are whose runs were estimated from a sample of their launches. */
#include <stdlib.h>
#include <string.h>

#include "experiment/show.h"

double experiment_estimate_halfwidth(const struct experiment_trial *trial) {
    const json_t *estimate = json_object_get(trial->result, "estimate");
    double halfwidth = json_number_value(json_object_get(json_object_get(estimate, "halfwidth"), "cycles"));
    double cycles = json_number_value(json_object_get(json_object_get(trial->result, "total"), "cycles"));
    return cycles > 0 ? halfwidth / cycles : 0;
}

struct widest {
    const char *program;
    double halfwidth;
};

static int by_halfwidth(const void *left, const void *right) {
    const struct widest *a = left, *b = right;
    return a->halfwidth < b->halfwidth ? 1 : a->halfwidth > b->halfwidth ? -1 : strcmp(a->program, b->program);
}

/* Finds the widest interval of each program, and returns their number. */
static unsigned find_widest(const struct experiment_grid *grid, struct widest *widest) {
    unsigned count = 0;
    size_t n_runs =
        (size_t)experiment_count_cells(grid->experiment) * grid->experiment->n_variations * grid->most_best_of;
    for (size_t i = 0; i < n_runs; i++) {
        const struct experiment_trial *trial = grid->trial[i] >= 0 ? grid->plan->trial[grid->trial[i]] : NULL;
        unsigned k = 0;
        if (!trial || !json_object_get(trial->result, "estimate"))
            continue;
        while (k < count && strcmp(widest[k].program, trial->program.name) != 0)
            k++;
        if (k == count)
            widest[count++] = (struct widest){trial->program.name, 0};
        double halfwidth = experiment_estimate_halfwidth(trial);
        widest[k].halfwidth = halfwidth > widest[k].halfwidth ? halfwidth : widest[k].halfwidth;
    }
    return count;
}

const char *experiment_estimates_text(const struct experiment_grid *grid, struct base_arena *arena) {
    enum { MOST_NAMED = 6 };
    const double least = 0.001;
    struct widest *widest = BASE_ARENA_ARRAY(arena, struct widest, grid->plan->n_trials ? grid->plan->n_trials : 1);
    unsigned count = find_widest(grid, widest), k;
    if (!count)
        return NULL;
    qsort(widest, count, sizeof *widest, by_halfwidth);
    const char *text = "estimated from samples of the launches; half the interval that contains a run's cycles in 19 "
                       "of 20 cases is at most";
    for (k = 0; k < count && k < MOST_NAMED && (k == 0 || widest[k].halfwidth >= least); k++)
        text = base_arena_printf(arena, "%s%s %.1f %% (%s)", text, k ? "," : "", 100 * widest[k].halfwidth,
                                 widest[k].program);
    if (k < count)
        text = base_arena_printf(arena, "%s, and less for %u others", text, count - k);
    return text;
}
