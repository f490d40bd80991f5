/* Judges claims in each variation and counts those that disagree. A claim that does not hold is explained only if its
 * file names runs that show the reason. */
#include <math.h>
#include <string.h>

#include "experiment/values.h"

const char *const experiment_state_names[EXPERIMENT_N_STATES] = {"holds", "holds mostly", "explained", "open",
                                                                 "not known"};

struct experiment_verdict experiment_judge_alone(const struct experiment_grid *grid,
                                                 const struct experiment_claim *claim) {
    unsigned n = grid->experiment->n_variations, n_for = 0;
    for (unsigned v = 0; v < n; v++) {
        double result = experiment_check_in(grid, claim->check, v);
        if (isnan(result))
            return (struct experiment_verdict){EXPERIMENT_UNKNOWN, n, 0};
        n_for += result != 0;
    }
    if (n_for == n)
        return (struct experiment_verdict){EXPERIMENT_HOLDS, n, 0};
    if (2 * n_for > n)
        return (struct experiment_verdict){EXPERIMENT_HOLDS_MOSTLY, n, n - n_for};
    return (struct experiment_verdict){claim->n_shown ? EXPERIMENT_EXPLAINED : EXPERIMENT_OPEN, n, n_for};
}

const struct experiment_grid *experiment_find_noise(const struct experiment_grid *grid,
                                                    const struct experiment_claim *claim) {
    const struct experiment_grid *noise = grid->noise;
    while (noise && experiment_judge_alone(noise, claim).state == EXPERIMENT_UNKNOWN)
        noise = noise->noise;
    return noise;
}

bool experiment_is_same_size(const struct experiment_grid *grid, const struct experiment_grid *noise) {
    return strcmp(experiment_size_at(grid->experiment, grid->plan->size),
                  experiment_size_at(grid->experiment, noise->plan->size)) == 0;
}

/* Noise of the same size decides. That of another size only tells that a claim holds mostly: the experiment itself, its
 * first variation, holds there, but not all neighbours do, or most of them hold. Otherwise the difference is a matter
 * of size, not of noise. */
struct experiment_verdict experiment_judge(const struct experiment_grid *grid, const struct experiment_claim *claim) {
    struct experiment_verdict verdict = experiment_judge_alone(grid, claim);
    const struct experiment_grid *noise = experiment_find_noise(grid, claim);
    if (!noise || verdict.state == EXPERIMENT_UNKNOWN)
        return verdict;
    struct experiment_verdict noisy = experiment_judge_alone(noise, claim);
    if (experiment_is_same_size(grid, noise) ||
        (verdict.state == EXPERIMENT_HOLDS && noisy.state == EXPERIMENT_HOLDS_MOSTLY))
        return noisy;
    bool fails_nearby = noisy.state != EXPERIMENT_HOLDS && experiment_check_in(noise, claim->check, 0) != 0;
    if (verdict.state == EXPERIMENT_HOLDS && fails_nearby)
        return (struct experiment_verdict){EXPERIMENT_HOLDS_MOSTLY, noisy.n, noisy.n - noisy.n_against};
    return verdict;
}
