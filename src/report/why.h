/* Why one run takes more or fewer cycles than another of the same program: the difference by cause, by launch and by
 * line. */
#pragma once

#include "report/advice.h"

/* A launch, or all launches of a kernel if the two runs have others, in both runs. */
struct report_why_launch {
    const char *kernel;
    unsigned number; /* from 1; 0: all launches of the kernel */
    uint64_t before, after;
};

/* A source line in both runs. Cycles are those of groups: lines.def. */
struct report_why_line {
    const char *kernel, *file; /* file is NULL if the line is of the PTX */
    uint32_t line;
    struct stats_line before, after;
    unsigned stall; /* the stall that changed most, an index of stats_line_stalls */
};

/* How lines are ranked and described: by the cycles of groups, by waits for memory (two schedulers), or by instructions
 * issued, which fall if lanes are filled (two divergence models). */
enum report_why_kind { REPORT_WHY_CYCLES, REPORT_WHY_LOADS, REPORT_WHY_LANES };

struct report_why {
    enum report_why_kind kind;
    const struct report_run *baseline, *run;
    int64_t cause[REPORT_N_CAUSES]; /* cycles; they add up to the difference of the runs */
    struct report_why_launch *launch;
    unsigned n_launches;
    struct report_why_line *line; /* those whose cycles changed most; none unless both runs recorded lines */
    unsigned n_lines;
};

/* Divides the cycles of a run by cause. The numbers add up to them. */
void report_cause_cycles(const struct stats_counters *counters, const struct report_target *target,
                         uint64_t cycles[REPORT_N_CAUSES]);
/* Both runs have cycles. */
struct report_why report_explain(const struct report_run *baseline, const struct report_run *run,
                                 struct base_arena *arena);
/* Returns the sentence that says which causes make the difference. */
const char *report_why_sentence(const struct report_why *why, struct base_arena *arena);
/* Prints the sentence, a waterfall of the causes and, if they were recorded, the lines that changed most. */
void report_print_why(FILE *file, const struct report_why *why, struct report_style style, struct base_arena *arena);
