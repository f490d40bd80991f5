/* The limit of a timed run: how near each unit came to its peak, and a sentence that names the limiter with its
 * evidence. units.def lists the units, advice.def the rules. */
#pragma once

#include <stdio.h>

#include "report/report.h"

struct config_machine;

/* Returns the work that each unit of the machine can do per cycle. */
struct report_peaks report_peaks_of(const struct config_machine *machine);

/* Returns the word for a unit in tables. */
const char *report_unit_word(unsigned unit);

/* The traffic of a level of memory. */
struct report_use {
    const char *word;
    uint64_t requests, bytes, hits, lookups;
};
struct report_use report_level_use(unsigned level, const struct stats_counters *counters,
                                   const struct report_peaks *peaks);

/* Return the share of an SM's places for warps that the kernel's blocks can fill, and that they filled on average while
 * the SM had some. 0: not known. */
double report_theoretical_occupancy(const struct report_kernel *kernel);
double report_achieved_occupancy(const struct report_kernel *kernel);

/* Everything a rule may look at. */
struct report_evidence {
    double use[REPORT_N_UNITS];                                           /* share of the peak; 0 without the unit */
    double active, memory, dependency, barrier, fetch, structural, empty; /* shares of SM cycles */
    unsigned largest;                                                     /* the largest stall, as STATS_AT_... */
    double lanes, l1_misses, row_hits;                                    /* shares */
    double lines;       /* per memory instruction that the L1 serves */
    double blocks;      /* of an average launch */
    unsigned sms, warp; /* warp: lanes of a warp */
};
struct report_evidence report_evidence_of(const struct report_run *run);

struct report_advice {
    const char *limiter;
    char evidence[256];
    const char *next;
};
/* Returns what limits a timed run. */
struct report_advice report_advise(const struct report_run *run);

/* Prints the share of each unit's peak, then the advice: two lines. */
void report_print_advice(FILE *file, const struct report_run *run);
