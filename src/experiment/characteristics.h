/* The papers' measures of their programs, taken of ours: tables of measures, each beside the paper's value, and one of
 * our own that divides programs into classes. The papers' values are in paper_classes.def. */
#pragma once

#include "report/report.h"

enum experiment_paper_table {
    EXPERIMENT_NARASIMAN2011,
    EXPERIMENT_LIU2023,
    EXPERIMENT_MENG2010,
    EXPERIMENT_MALITS2012,
    EXPERIMENT_CACHES,
    EXPERIMENT_N_PAPER_TABLES
};
enum { EXPERIMENT_MOST_PAPER_MEASURES = 5 };

/* Classes as values. */
enum experiment_intensity { EXPERIMENT_INTENSITY_LOW, EXPERIMENT_INTENSITY_MEDIUM, EXPERIMENT_INTENSITY_HIGH };
const char *experiment_intensity_name(double intensity);

/* The class of a program in comparisons of schedulers and divergence models, by the first rule that applies. */
enum experiment_program_class {
    EXPERIMENT_CACHE_SENSITIVE, /* with the L1 of the second run, IPC is at least 1.2 times as high */
    EXPERIMENT_DIVERGENT,       /* at most 30 threads of a warp are active: divergence is medium or high */
    EXPERIMENT_STREAMING,       /* at least 1 load misses the L1 in 1000 instructions of threads */
    EXPERIMENT_COMPUTING        /* all others */
};
const char *experiment_program_class_name(double program_class);
enum experiment_program_class experiment_classify(double cache_sensitivity, double active_threads,
                                                  double misses_per_kilo_instruction);

/* A program's run, and where the table has one, its second run with a larger L1. */
struct experiment_measured {
    const struct report_run *run, *larger_run;
    double n_branches; /* conditional branches in its kernels; NaN: not known */
};

enum experiment_measure_kind {
    EXPERIMENT_MEASURE_COUNT,
    EXPERIMENT_MEASURE_NUMBER,
    EXPERIMENT_MEASURE_RATIO,
    EXPERIMENT_MEASURE_PERCENT,
    EXPERIMENT_MEASURE_CLASS,         /* enum experiment_intensity */
    EXPERIMENT_MEASURE_PROGRAM_CLASS, /* enum experiment_program_class */
};

struct experiment_measure {
    const char *key;     /* in JSON and CSV */
    const char *heading; /* in the table */
    enum experiment_measure_kind kind;
    bool has_paper;                                              /* the paper prints it */
    double (*value)(const struct experiment_measured *measured); /* NaN: none */
};

struct experiment_characterization {
    const char *name;    /* of the table: "liu2023" */
    const char *title;   /* what it measures, and in which paper */
    const char *machine; /* the machine its programs run on */
    bool is_timed;       /* some measure depends on timing by more than the order of racing threads */
    unsigned l1_factor;  /* a second run of each program has this many times the L1; 0: there is one run */
    const struct experiment_measure *measure;
    unsigned n_measures;
};
extern const struct experiment_characterization experiment_characterizations[EXPERIMENT_N_PAPER_TABLES];

/* The paper's values for a program, one for each measure, NaN if it prints none: those under the program's own name,
 * otherwise the first of the same workload. NULL: the paper does not have it. */
const double *experiment_paper_values(enum experiment_paper_table table, const char *program);

/* Whether a value is off the paper's: another class, or more than a third away. False where one of them is missing. */
bool experiment_is_off(enum experiment_measure_kind kind, double ours, double paper);
/* Why a program's values are off, as measured (paper_reasons.def), found like the values; NULL: not known. */
const char *experiment_paper_reason(enum experiment_paper_table table, const char *program);

/* Divergence intensity by average active threads of a warp, idle intensity by the share of idle cycles in per cent
 * (Narasiman 2011, section 5). */
enum experiment_intensity experiment_divergence_intensity(double active_threads);
enum experiment_intensity experiment_idle_intensity(double idle_percent);

/* Conditional and indexed branches in the kernels that the run launched, each kernel once; NaN if the PTX file cannot
 * be read. */
double experiment_count_branches(const char *ptx_path, const struct report_run *run);
