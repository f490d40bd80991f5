/* Judges claims on the mean over variations, and counts the variations that disagree. A claim that does not hold is
 * explained only if its file names runs that show the reason. */
#include <math.h>

#include "cli/experiments/values.h"

const char *const cli_state_names[4] = {"holds", "explained", "open", "not known"};

struct cli_verdict cli_judge(const struct cli_grid *grid, const struct cli_claim *claim) {
    struct cli_verdict verdict = {.state = CLI_UNKNOWN};
    double result = cli_check_on_means(grid, claim->check);
    if (isnan(result))
        return verdict;
    verdict.state = result != 0 ? CLI_HOLDS : claim->n_shown ? CLI_EXPLAINED : CLI_OPEN;
    for (unsigned v = 0; v < grid->experiment->n_variations; v++)
        verdict.n_against += cli_check_in(grid, claim->check, v) != result;
    return verdict;
}
