/* The limit of a timed run: how close each unit came to its peak, and a sentence that names the limiter with its
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
double report_achieved_occupancy(const struct report_kernel *kernel, const struct report_peaks *peaks);

/* Where the cycles of the SMs went: causes.def. */
enum report_cause {
#define REPORT_CAUSE(name, word, cycles) REPORT_CAUSE_##name,
#include "report/causes.def"
    REPORT_N_CAUSES
};
const char *report_cause_word(unsigned cause);
/* Writes the SM cycles of each cause. They add up to sm_cycles. */
void report_causes(const struct stats_counters *counters, const struct report_target *target,
                   uint64_t cycles[REPORT_N_CAUSES]);

/* Everything a rule may look at. */
struct report_evidence {
    double use[REPORT_N_UNITS];        /* share of the peak; 0 without the unit */
    double cause[REPORT_N_CAUSES];     /* shares of SM cycles */
    unsigned largest;                  /* the largest cause, other than issue and divergence */
    double active;                     /* share of SM cycles with an issue */
    double lanes, l1_misses, row_hits; /* shares */
    double atomics;                    /* share of the accesses to global memory */
    double conflicts;                  /* share of the passes of shared memory */
    double lines;                      /* per memory instruction that the L1 serves */
    double spread;                     /* the same in lines of 128 bytes */
    double used;                       /* share of the bytes of these lines that was requested */
    double blocks, launch_cycles;      /* of an average launch */
    double block_cycles;               /* of an average block */
    double theoretical;                /* occupancy of the longest launch; 0: not known */
    bool is_full;                      /* that launch has enough blocks for it */
    const char *occupancy_limiter;
    unsigned sms, warp; /* warp: lanes of a warp */
};
struct report_evidence report_evidence_of(const struct report_run *run);

struct report_advice {
    const char *limiter;
    char evidence[512];
    const struct report_hot_line *line; /* that the evidence names; NULL: none */
    const char *next;
};
/* Returns what limits a timed run. */
struct report_advice report_advise(const struct report_run *run);

/* Prints the share of each unit's peak, then the advice: three lines. */
void report_print_advice(FILE *file, const struct report_run *run);
