/* The bundled workloads and the names that papers use for them. */
#pragma once

/* A workload of workloads.def. */
struct program_workload {
    const char *name, *summary, *papers, *shape;
};
extern const struct program_workload program_workloads[];
extern const unsigned program_n_workloads;

/* Measurements of a workload at size small, kept in workload_facts.def; tools/facts writes and checks it. */
struct program_workload_facts {
    const char *workload;
    unsigned branches;      /* conditional branches in its kernels */
    double long_percent;    /* thread instructions that access global or local memory or a texture */
    const char *divergence; /* its class in Narasiman 2011 */
};
/* NULL: not yet measured. */
const struct program_workload_facts *program_find_facts(const struct program_workload *workload);

/* A paper's own name for a workload with that paper's input. */
struct program_alias {
    const char *name, *workload;
    const char *arguments[3]; /* the workload's at sizes small, medium, paper, separated by spaces; "": its own */
    const char *papers;
};
extern const struct program_alias program_aliases[];
extern const unsigned program_n_aliases;

/* Finds the workload of that name or alias, and the alias of that name; NULL if there is none. */
const struct program_workload *program_find_workload(const char *name);
const struct program_alias *program_find_alias(const char *name);
/* Returns the name or alias nearest to a misspelt one, or NULL. */
const char *program_nearest_workload(const char *name);
