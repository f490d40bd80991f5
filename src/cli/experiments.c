/* The list of experiments. Papers are named by first author and year; docs/ has the full titles where a mechanism comes
 * from them. */
#include "cli/experiments.h"

#include <assert.h>

const struct cli_experiment cli_experiments[] = {
    {"liu2023-fig1", "Liu et al. 2023, LFWS, fig. 1", "six warps, single issue, under four schedulers",
     "SRR 45, LRR 39, GTO 41, LFWS 37 cycles", cli_run_liu2023_fig1, cli_draw_liu2023_fig1},
};
const unsigned cli_n_experiments = sizeof cli_experiments / sizeof cli_experiments[0];

void cli_add_result(struct cli_results *results, const char *subject, const char *measure, double ours, double paper,
                    const char *note) {
    assert(results->count < CLI_MAX_RESULTS);
    results->item[results->count++] = (struct cli_result){subject, measure, ours, paper, note};
}
