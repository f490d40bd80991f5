/* The `heddle` command: its subcommands, and what they share. Their tables of options are in options.h. */
#pragma once

/* What the process says to its caller. */
enum cli_status {
    CLI_DONE = 0,
    CLI_ERROR = 1, /* the user's or the program's */
    CLI_USAGE = 2,
    CLI_CHECK_FAILED = 3, /* against the CPU reference */
    CLI_STOPPED = 4,      /* by a limit or an interrupt */
};

/* The whole command line, argv[0] being the command itself. */
int cli_main(int argc, char **argv);

/* One subcommand each; argv[0] is its name. They give the exit status. */
int cli_run(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_characterize(int argc, char **argv);
int cli_ptx(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_paper(int argc, char **argv);
int cli_sweep(int argc, char **argv);
int cli_query(int argc, char **argv);
int cli_cost(int argc, char **argv);
int cli_help(int argc, char **argv);

/* One line on standard error, `heddle: ...`; gives `status` back, so that a caller can `return cli_fail(...)`. */
__attribute__((format(printf, 2, 3))) int cli_fail(enum cli_status status, const char *format, ...);

/* The workloads of workloads.def and what stands there. */
struct cli_workload {
    const char *name, *summary, *papers, *shape;
};
extern const struct cli_workload cli_workloads[];
extern const unsigned cli_n_workloads;

/* What was measured of a workload at size small and is kept in workload_facts.def; tools/facts writes and checks it. */
struct cli_workload_facts {
    const char *workload;
    unsigned branches;      /* conditional ones in the text of its kernels */
    double long_percent;    /* thread instructions that go to global or local memory or to a texture */
    const char *divergence; /* its class by Narasiman 2011 */
};
/* NULL: nobody has measured it yet. */
const struct cli_workload_facts *cli_find_facts(const struct cli_workload *workload);

/* A paper's own name for a workload with that paper's input. */
struct cli_alias {
    const char *name, *workload;
    const char *arguments; /* what the workload is given at size paper, with spaces between; "" when that is its own */
    const char *papers;
};
extern const struct cli_alias cli_aliases[];
extern const unsigned cli_n_aliases;

/* The workload of that name or alias, and the alias of that name; NULL when there is none. */
const struct cli_workload *cli_find_workload(const char *name);
const struct cli_alias *cli_find_alias(const char *name);
/* The name or alias that is nearest to a misspelt one, or NULL. */
const char *cli_nearest_workload(const char *name);
