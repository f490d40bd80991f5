/* A window: some blocks of a launch, timed to measure sections of it (sections.c). */
#pragma once

#include "gpu/gpu.h"

struct gpu_run;

/* A section that the window measures. */
struct gpu_measure {
    enum gpu_section_kind kind;
    uint64_t warm;                  /* thread instructions of the blocks between the window's first and the section */
    struct stats_counters counted;  /* the section's, by the functional run */
    struct stats_counters measured; /* the result */
    uint64_t
        early_cycles[2]; /* of as many thread instructions, from the start of the window, and from half of `warm` on */
};

struct gpu_window {
    uint64_t first_block; /* simulation begins with it; no block before it runs */
    uint32_t n_measures;
    struct gpu_measure *measure;
    uint64_t every, next; /* cycles between marks, and the cycle of the next */
    uint32_t n_marks;
    struct stats_counters *mark; /* all counters at some times of the window */
};

/* Takes the first mark, before any block starts. */
void gpu_window_begin(struct gpu_run *run);
/* Between rounds, when everything before `cycle` has happened. Returns whether all sections have been measured. */
bool gpu_window_has_ended(struct gpu_run *run, uint64_t cycle);
/* Computes the counters of the sections. `all`: those of the window, if the launch has ended in it; otherwise NULL. */
void gpu_window_measure(const struct gpu_run *run, const struct stats_counters *all);
