/* The list of experiments. Papers are named by first author and year; docs/ has the full titles where a mechanism comes
 * from them. */
#include "cli/experiments/experiments.h"

#include <assert.h>

const struct cli_experiment cli_experiments[] = {
    {"liu2023-fig1", "Liu et al. 2023, LFWS, fig. 1", "six warps, single issue, under four schedulers",
     "SRR 45, LRR 39, GTO 41, LFWS 37 cycles", cli_run_liu2023_fig1, cli_draw_liu2023_fig1, false},
    {"narasiman2014-fig8.1", "Narasiman 2014, fig. 8.1", "full table scan with cond_acc, every second row passes",
     "+21 %, 20 % fewer warp instructions, 95 % row hits", cli_run_narasiman2014_fig81, NULL, true},
    {"narasiman2014-fig8.2", "Narasiman 2014, fig. 8.2", "the same, one row in 2 to one in 1024 passes",
     "+21 %, little less to 1/8, nothing at 1/1024", cli_run_narasiman2014_fig82, NULL, true},
    {"narasiman2014-fig8.3", "Narasiman 2014, fig. 8.3", "the same, 32 to 4 GB/s", "+21 % at 32 GB/s, nothing at 4",
     cli_run_narasiman2014_fig83, NULL, true},
    {"narasiman2014-fig8.4", "Narasiman 2014, fig. 8.4", "index search with tree_traverse and row hints",
     "hints +34 %, both +39 %, row hits below 10 % to 50 %", cli_run_narasiman2014_fig84, NULL, true},
};
const unsigned cli_n_experiments = sizeof cli_experiments / sizeof cli_experiments[0];

void cli_add_result(struct cli_results *results, const char *subject, const char *measure, double ours, double paper,
                    const char *note) {
    assert(results->count < CLI_MAX_RESULTS);
    results->item[results->count++] = (struct cli_result){subject, measure, ours, paper, note};
}
