/* Liu et al. 2023, "LFWS: Long-Operation First Warp Scheduling Algorithm to Effectively Hide the Latency for GPUs". */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/experiments/experiments.h"
#include "sched/example.h"

/* ---- Figure 1 ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *scheduler;
    double cycles, stalls; /* as the paper prints them */
    const char *note;
} fig1[] = {
    {"srr", 45, 21, NULL},
    {"lrr", 39, 15, "the rule as the paper states it gives 37"},
    {"gto", 41, 17, NULL},
    {"lfws", 37, 13, NULL},
};
enum { N_FIG1 = sizeof fig1 / sizeof fig1[0] };

static int run_fig1(const char *scheduler, struct sched_example_run *run) {
    if (sched_example_run(&sched_liu2023_fig1, sched_find(scheduler), NULL, run))
        return CLI_DONE;
    return cli_fail(CLI_ERROR, "liu2023-fig1: %s did not end", scheduler);
}

int cli_run_liu2023_fig1(struct cli_results *results) {
    for (unsigned i = 0; i < N_FIG1; i++) {
        struct sched_example_run run;
        int status = run_fig1(fig1[i].scheduler, &run);
        if (status != CLI_DONE)
            return status;
        cli_add_result(results, fig1[i].scheduler, "cycles", run.cycles, fig1[i].cycles, fig1[i].note);
        cli_add_result(results, fig1[i].scheduler, "stalls", run.cycles - run.n_issued, fig1[i].stalls, NULL);
    }
    return CLI_DONE;
}

/* One line per warp, one column per cycle: the letter where it issues, dashes while a long operation takes. */
static void draw_run(FILE *file, const char *scheduler, const struct sched_example_run *run) {
    const struct sched_example *example = &sched_liu2023_fig1;
    fprintf(file, "\n%s, %u cycles\n", scheduler, run->cycles);
    for (uint32_t warp = 0; warp < example->n_warps; warp++) {
        const char *next = example->warp[warp];
        uint32_t busy = 0;
        char line[SCHED_EXAMPLE_MAX_CYCLES + 1] = "";
        for (uint32_t cycle = 0; cycle < run->cycles; cycle++) {
            bool is_issue = run->issued[cycle] == (int)warp;
            line[cycle] = is_issue ? *next : busy > 0 ? '-' : ' ';
            if (is_issue)
                busy = *next++ == 'L' ? example->long_cycles : example->short_cycles;
            busy -= busy > 0;
        }
        size_t length = strlen(line);
        while (length > 0 && line[length - 1] == ' ')
            line[--length] = '\0';
        fprintf(file, "  w%u %s\n", warp + 1, line);
    }
}

int cli_draw_liu2023_fig1(FILE *file) {
    int status = CLI_DONE;
    for (unsigned i = 0; i < N_FIG1 && status == CLI_DONE; i++) {
        struct sched_example_run run;
        status = run_fig1(fig1[i].scheduler, &run);
        if (status == CLI_DONE)
            draw_run(file, fig1[i].scheduler, &run);
    }
    return status;
}
