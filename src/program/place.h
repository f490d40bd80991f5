/* Where Heddle's own files are. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"

struct program_place {
    const char *cuda;      /* the folder of libcuda.so.1 and libcudart */
    const char *preload;   /* the library for programs with their own runtime; NULL: not on this machine */
    const char *workloads; /* the folder of the bundled programs */
    const char *bench;     /* the folder of the kernels that `bench` measures */
    const char *ptx_run;   /* the program that runs one kernel of a PTX file */
};

/* Searches beside the running executable. Returns false after one line on standard error. */
bool program_find_place(struct program_place *place, struct base_arena *arena);

/* Returns the folder of the bundled machines, whether it exists or not, or NULL after one line on standard error. */
const char *program_find_machines(struct base_arena *arena);
/* The same for the bundled experiments. */
const char *program_find_experiments(struct base_arena *arena);
const char *program_find_championship(struct base_arena *arena);
/* The same for recordings of real GPUs. */
const char *program_find_recordings(struct base_arena *arena);
/* Returns the page that report/page.h fills with data. */
const char *program_find_page(struct base_arena *arena);
/* The same for the templates of `heddle new`. */
const char *program_find_templates(struct base_arena *arena);
/* Return the folder that contains heddle/policy.h, and the one with the headers of src/, for divergence models. */
const char *program_find_include(struct base_arena *arena);
const char *program_find_internal_include(struct base_arena *arena);
/* Returns the build tree of this executable, or NULL if it is installed. */
const char *program_find_build(struct base_arena *arena);
