/* `heddle bench --against FILE`: this build beside another. */
#pragma once

#include "command/options.h"

struct bench_against {
    const char *other;       /* the other build's heddle */
    const char *const *name; /* workloads */
    unsigned n_names;
    const char *size;
    const char *machine; /* NULL: the default; "": without timing */
    const struct command_words *set;
    uint64_t repeat;  /* pairs of runs */
    const char *json; /* a file, - or NULL */
    struct base_arena *arena;
};

/* Returns the exit status. */
int bench_against(const struct bench_against *given);
