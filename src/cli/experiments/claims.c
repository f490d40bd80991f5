/* Judges claims in each variation and counts those that disagree. A claim that does not hold is explained only if its
 * file names runs that show the reason. */
#include <math.h>
#include <string.h>

#include "cli/experiments/values.h"

const char *const cli_state_names[CLI_N_STATES] = {"holds", "holds mostly", "explained", "open", "not known"};

struct cli_verdict cli_judge_alone(const struct cli_grid *grid, const struct cli_claim *claim) {
    unsigned n = grid->experiment->n_variations, n_for = 0;
    for (unsigned v = 0; v < n; v++) {
        double result = cli_check_in(grid, claim->check, v);
        if (isnan(result))
            return (struct cli_verdict){CLI_UNKNOWN, n, 0};
        n_for += result != 0;
    }
    if (n_for == n)
        return (struct cli_verdict){CLI_HOLDS, n, 0};
    if (2 * n_for > n)
        return (struct cli_verdict){CLI_HOLDS_MOSTLY, n, n - n_for};
    return (struct cli_verdict){claim->n_shown ? CLI_EXPLAINED : CLI_OPEN, n, n_for};
}

/* Noise of the same size decides. That of another size only tells that a claim holds mostly: whether it holds at all is
 * then a matter of size, not of noise. */
struct cli_verdict cli_judge(const struct cli_grid *grid, const struct cli_claim *claim) {
    struct cli_verdict verdict = cli_judge_alone(grid, claim);
    if (!grid->noise || verdict.state == CLI_UNKNOWN)
        return verdict;
    struct cli_verdict noisy = cli_judge_alone(grid->noise, claim);
    const struct cli_experiment *experiment = grid->experiment;
    bool is_same_size =
        strcmp(cli_size_at(experiment, grid->plan->size), cli_size_at(experiment, grid->noise->plan->size)) == 0;
    if (noisy.state == CLI_UNKNOWN)
        return verdict;
    if (is_same_size || (verdict.state == CLI_HOLDS && noisy.state == CLI_HOLDS_MOSTLY))
        return noisy;
    return verdict;
}
