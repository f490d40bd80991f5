/* Narasiman 2014, "An enhanced GPU architecture for not-so-regular parallelism with special implications for database
 * search", chapter 8. The figures are bars; what stands here as the paper's is what the text says about them.
 *
 * Table 8.1 has a register file of 64 KB and section 8.1 has 32 warps at once, 16 registers for each thread. That is
 * enough for the 32-bit x86 code that was simulated; ours, PTX with addresses of 64 bits, takes 28 to 33. With so few,
 * half of the warps or more would have to wait, which is not what was measured, so that here the file is no limit. */
#include <math.h>

#include "cli/cli.h"
#include "cli/experiments/trials.h"

#define MACHINE "narasiman2014-db"
#define REGISTERS "sm.registers=65536"

static double percent(uint64_t part, uint64_t all) { return all ? 100.0 * (double)part / (double)all : NAN; }

/* How much faster the second is. */
static double gain_percent(const struct stats_counters *base, const struct stats_counters *other) {
    return percent(base->cycles, other->cycles) - 100;
}

static double fewer_percent(uint64_t base, uint64_t other) { return 100 - percent(other, base); }

static double row_hit_percent(const struct stats_counters *counters) {
    return percent(counters->row_hits, counters->row_hits + counters->row_conflicts);
}

/* The machine has one channel. */
static double bus_percent(const struct stats_counters *counters) {
    return percent(counters->bus_busy_cycles, counters->cycles);
}

static void describe(struct cli_results *results) {
    results->conditions = "on " MACHINE " with " REGISTERS ": its 32 warps run side by side, though our kernels take "
                          "28 to 33 registers where it has 16";
}

/* ---- Full table scan --------------------------------------------------------------------------------------------- */

/* The two versions at a selectivity and a bandwidth. */
static void make_scan_pair(struct cli_results *results, struct cli_trial pair[2], unsigned one_in, unsigned gb_s) {
    static const char *const code[] = {"ballot", "cond_acc"};
    for (unsigned i = 0; i < 2; i++)
        pair[i] = (struct cli_trial){
            .workload = "scan",
            .arguments = base_arena_printf(results->arena, "--code %s --selectivity %u", code[i], one_in),
            .machine = MACHINE,
            .changes = base_arena_printf(results->arena, REGISTERS " dram.bytes_per_cycle=%u", gb_s),
        };
}

int cli_run_narasiman2014_fig81(struct cli_results *results) {
    describe(results);
    struct cli_trial pair[2];
    make_scan_pair(results, pair, 2, 32);
    int status = cli_run_trials(results, pair, 2);
    if (status != CLI_DONE)
        return status;
    const struct stats_counters *ballot = &pair[0].counters, *cond_acc = &pair[1].counters;
    cli_add_result(results, "ballot", "cycles", (double)ballot->cycles, NAN, NULL);
    cli_add_result(results, "cond_acc", "cycles", (double)cond_acc->cycles, NAN, NULL);
    cli_add_result(results, "cond_acc", "speed-up, %", gain_percent(ballot, cond_acc), 21, NULL);
    cli_add_result(results, "ballot", "warp instructions", (double)ballot->warp_instructions, NAN, NULL);
    cli_add_result(results, "cond_acc", "warp instructions", (double)cond_acc->warp_instructions, NAN, NULL);
    cli_add_result(results, "cond_acc", "fewer warp instructions, %",
                   fewer_percent(ballot->warp_instructions, cond_acc->warp_instructions), 20, NULL);
    cli_add_result(results, "ballot", "row hits, %", row_hit_percent(ballot), 95, NULL);
    cli_add_result(results, "cond_acc", "row hits, %", row_hit_percent(cond_acc), 95, NULL);
    return CLI_DONE;
}

/* The gain of cond_acc in each pair. */
static void add_scan_gains(struct cli_results *results, const char *subject, const struct cli_trial pair[2],
                           double paper_gain, double paper_fewer, const char *note) {
    const struct stats_counters *ballot = &pair[0].counters, *cond_acc = &pair[1].counters;
    cli_add_result(results, subject, "speed-up, %", gain_percent(ballot, cond_acc), paper_gain, note);
    cli_add_result(results, subject, "fewer warp instructions, %",
                   fewer_percent(ballot->warp_instructions, cond_acc->warp_instructions), paper_fewer, NULL);
}

int cli_run_narasiman2014_fig82(struct cli_results *results) {
    enum { N = 10 };
    describe(results);
    struct cli_trial pair[N][2];
    for (unsigned i = 0; i < N; i++)
        make_scan_pair(results, pair[i], 2u << i, 32);
    int status = cli_run_trials(results, pair[0], N * 2);
    for (unsigned i = 0; i < N && status == CLI_DONE; i++) {
        const char *subject = base_arena_printf(results->arena, "1/%u", 2u << i);
        const char *note = i == 2       ? "the paper says that the gain does not change much from 1/2 to 1/8"
                           : i == N - 1 ? "the paper's step is skipped where no row of a warp passes, and both counts "
                                          "converge; ours always counts the rows that pass"
                                        : NULL;
        add_scan_gains(results, subject, pair[i],
                       i == 0       ? 21
                       : i == N - 1 ? 0
                                    : NAN,
                       i == 0       ? 20
                       : i == N - 1 ? 0
                                    : NAN,
                       note);
    }
    return status;
}

int cli_run_narasiman2014_fig83(struct cli_results *results) {
    static const unsigned gb_s[] = {32, 16, 8, 4};
    enum { N = sizeof gb_s / sizeof gb_s[0] };
    describe(results);
    struct cli_trial pair[N][2];
    for (unsigned i = 0; i < N; i++)
        make_scan_pair(results, pair[i], 2, gb_s[i]);
    int status = cli_run_trials(results, pair[0], N * 2);
    for (unsigned i = 0; i < N && status == CLI_DONE; i++) {
        const char *subject = base_arena_printf(results->arena, "%u GB/s", gb_s[i]);
        double gain = gain_percent(&pair[i][0].counters, &pair[i][1].counters);
        cli_add_result(results, subject, "speed-up, %", gain,
                       gb_s[i] == 32  ? 21
                       : gb_s[i] == 4 ? 0
                                      : NAN,
                       gb_s[i] == 8 ? "the paper says: significant at all bandwidths but the lowest" : NULL);
        cli_add_result(results, subject, "bus in use, ballot, %", bus_percent(&pair[i][0].counters), NAN, NULL);
        cli_add_result(results, subject, "bus in use, cond_acc, %", bus_percent(&pair[i][1].counters), NAN, NULL);
        cli_add_result(results, subject, "row hits, ballot, %", row_hit_percent(&pair[i][0].counters), NAN, NULL);
        cli_add_result(results, subject, "row hits, cond_acc, %", row_hit_percent(&pair[i][1].counters), NAN, NULL);
    }
    return status;
}

/* ---- Index search ------------------------------------------------------------------------------------------------ */

int cli_run_narasiman2014_fig84(struct cli_results *results) {
    static const struct {
        const char *code;
        double gain, row_hits; /* as the paper's text has them */
        const char *gain_note, *row_note;
    } row[] = {
        {"plain", NAN, 10, NULL, "the paper says below 10 %"},
        {"traverse", 0, NAN, "the paper says: not much effect", NULL},
        {"hint", 34, 50, NULL, "the paper says almost 50 %"},
        {"both", 39, NAN, NULL, NULL},
    };
    enum { N = sizeof row / sizeof row[0] };
    describe(results);
    struct cli_trial trial[N];
    for (unsigned i = 0; i < N; i++)
        trial[i] = (struct cli_trial){.workload = "index",
                                      .arguments = base_arena_printf(results->arena, "--code %s", row[i].code),
                                      .machine = MACHINE,
                                      .changes = REGISTERS};
    int status = cli_run_trials(results, trial, N);
    for (unsigned i = 0; i < N && status == CLI_DONE; i++) {
        const struct stats_counters *counters = &trial[i].counters;
        cli_add_result(results, row[i].code, "cycles", (double)counters->cycles, NAN, NULL);
        if (i > 0)
            cli_add_result(results, row[i].code, "more queries in a cycle, %",
                           gain_percent(&trial[0].counters, counters), row[i].gain, row[i].gain_note);
        cli_add_result(results, row[i].code, "row hits, %", row_hit_percent(counters), row[i].row_hits,
                       row[i].row_note);
        cli_add_result(results, row[i].code, "bus in use, %", bus_percent(counters), NAN, NULL);
    }
    return status;
}
