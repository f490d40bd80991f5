/* The papers' measures of their programs, taken of ours: tables of measures, each beside the paper's value. The papers'
 * values are in paper_classes.def. */
#pragma once

#include "report/report.h"

enum cli_paper_table { CLI_NARASIMAN2011, CLI_LIU2023, CLI_MENG2010, CLI_MALITS2012, CLI_N_PAPER_TABLES };
enum { CLI_MOST_MEASURES = 5 };

/* Classes as values. */
enum cli_intensity { CLI_INTENSITY_LOW, CLI_INTENSITY_MEDIUM, CLI_INTENSITY_HIGH };
const char *cli_intensity_name(double intensity);

/* One run of a program. */
struct cli_measured {
    const struct report_run *run;
    double n_branches; /* conditional branches in its kernels; NaN: not known */
};

enum cli_measure_kind { CLI_MEASURE_COUNT, CLI_MEASURE_NUMBER, CLI_MEASURE_PERCENT, CLI_MEASURE_CLASS };

struct cli_measure {
    const char *key;     /* in JSON and CSV */
    const char *heading; /* in the table */
    enum cli_measure_kind kind;
    bool has_paper;                                       /* the paper prints it */
    double (*value)(const struct cli_measured *measured); /* NaN: none */
};

struct cli_characterization {
    const char *name;    /* of the table: "liu2023" */
    const char *title;   /* what it measures, and in which paper */
    const char *machine; /* the machine its programs run on */
    bool is_timed;       /* some measure depends on timing by more than the order of racing threads */
    const struct cli_measure *measure;
    unsigned n_measures;
};
extern const struct cli_characterization cli_characterizations[CLI_N_PAPER_TABLES];

/* The paper's values for a program, one for each measure, NaN if it prints none: those under the program's own name,
 * otherwise the first of the same workload. NULL: the paper does not have it. */
const double *cli_paper_values(enum cli_paper_table table, const char *program);

/* Whether a value is off the paper's: another class, or more than a third away. False where one of them is missing. */
bool cli_is_off(enum cli_measure_kind kind, double ours, double paper);
/* Why a program's values are off, as measured (paper_reasons.def), found like the values; NULL: not known. */
const char *cli_paper_reason(enum cli_paper_table table, const char *program);

/* Divergence intensity by average active threads of a warp, idle intensity by the share of idle cycles in per cent
 * (Narasiman 2011, section 5). */
enum cli_intensity cli_divergence_intensity(double active_threads);
enum cli_intensity cli_idle_intensity(double idle_percent);

/* Conditional and indexed branches in the kernels that the run launched, each kernel once; NaN if the PTX file cannot
 * be read. */
double cli_count_branches(const char *ptx_path, const struct report_run *run);
