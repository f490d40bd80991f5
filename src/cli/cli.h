/* The `heddle` command: its subcommands and their common declarations. Their tables of options are in options.h. */
#pragma once

/* Exit status of the process. */
enum cli_status {
    CLI_DONE = 0,
    CLI_ERROR = 1, /* of the user or the program */
    CLI_USAGE = 2,
    CLI_CHECK_FAILED = 3, /* the result differs from the CPU reference, or a user's program ended with this status */
    CLI_STOPPED = 4,      /* by a limit or an interrupt */
};

/* Runs the whole command line; argv[0] is the command itself. */
int cli_main(int argc, char **argv);

/* One subcommand each; argv[0] is its name. Returns the exit status. */
int cli_run(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_characterize(int argc, char **argv);
int cli_ptx(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_validate(int argc, char **argv);
int cli_paper(int argc, char **argv);
int cli_sweep(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_new(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_import(int argc, char **argv);
int cli_query(int argc, char **argv);
int cli_cost(int argc, char **argv);
int cli_help(int argc, char **argv);

/* Prints one line on standard error, `heddle: ...`, and returns `status`, so that a caller can `return
 * cli_fail(...)`. */
__attribute__((format(printf, 2, 3))) int cli_fail(enum cli_status status, const char *format, ...);

/* A workload of workloads.def. */
struct cli_workload {
    const char *name, *summary, *papers, *shape;
};
extern const struct cli_workload cli_workloads[];
extern const unsigned cli_n_workloads;

/* Measurements of a workload at size small, kept in workload_facts.def; tools/facts writes and checks it. */
struct cli_workload_facts {
    const char *workload;
    unsigned branches;      /* conditional branches in its kernels */
    double long_percent;    /* thread instructions that access global or local memory or a texture */
    const char *divergence; /* its class in Narasiman 2011 */
};
/* NULL: not yet measured. */
const struct cli_workload_facts *cli_find_facts(const struct cli_workload *workload);

/* A paper's own name for a workload with that paper's input. */
struct cli_alias {
    const char *name, *workload;
    const char *arguments[3]; /* the workload's at sizes small, medium, paper, separated by spaces; "": its own */
    const char *papers;
};
extern const struct cli_alias cli_aliases[];
extern const unsigned cli_n_aliases;

/* Finds the workload of that name or alias, and the alias of that name; NULL if there is none. */
const struct cli_workload *cli_find_workload(const char *name);
const struct cli_alias *cli_find_alias(const char *name);
/* Returns the name or alias nearest to a misspelt one, or NULL. */
const char *cli_nearest_workload(const char *name);
