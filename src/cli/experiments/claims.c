/* Judges claims in each variation and counts those that disagree. A claim that does not hold is explained only if its
 * file names runs that show the reason. */
#include <math.h>

#include "cli/experiments/values.h"

const char *const cli_state_names[CLI_N_STATES] = {"holds", "holds mostly", "explained", "open", "not known"};

struct cli_verdict cli_judge(const struct cli_grid *grid, const struct cli_claim *claim) {
    unsigned n = grid->experiment->n_variations, n_for = 0;
    for (unsigned v = 0; v < n; v++) {
        double result = cli_check_in(grid, claim->check, v);
        if (isnan(result))
            return (struct cli_verdict){.state = CLI_UNKNOWN};
        n_for += result != 0;
    }
    if (n_for == n)
        return (struct cli_verdict){.state = CLI_HOLDS};
    if (2 * n_for > n)
        return (struct cli_verdict){CLI_HOLDS_MOSTLY, n - n_for};
    return (struct cli_verdict){claim->n_shown ? CLI_EXPLAINED : CLI_OPEN, n_for};
}
