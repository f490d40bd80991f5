/* The optional profile of a launch: how many instructions each thread executes, how often a branch splits the thread's
 * group, how often the thread misses the L1, how often each branch executes and splits its group, and the counters of
 * each line. */
#pragma once

#include "exec/exec.h"
#include "stats/lines.h"

struct exec_profile {
    uint32_t threads_per_block;
    /* Per thread of the grid, block after block: */
    uint32_t *path;  /* instructions executed with a true guard */
    uint32_t *split; /* branches that split the thread's group */
    uint32_t *miss;  /* timed: accesses that missed the L1; not counted for groups without a row */
    /* Per pc, for branches: */
    uint64_t *executed, *diverged; /* counted once per group */
    struct stats_line *line;       /* per pc; NULL: not recorded */
};

/* Allocates an empty profile for `n_threads` threads, with counters of lines if has_lines. Ends the program if the host
 * is out of memory. */
struct exec_profile *exec_profile_new(const struct exec_program *program, uint32_t threads_per_block,
                                      uint64_t n_threads, bool has_lines);
void exec_profile_free(struct exec_profile *profile);

static inline uint64_t exec_profile_thread(const struct exec_profile *profile, const struct exec_row *row) {
    const struct exec_block *block = row->block;
    return (uint64_t)block->index * profile->threads_per_block + row->index * block->grid->warp_size;
}

static inline void exec_profile_add(uint32_t *lanes, uint32_t mask) {
    if (mask == ~0u) { /* the common case, which the compiler vectorises */
        for (int i = 0; i < EXEC_LANES; i++)
            lanes[i]++;
        return;
    }
    for (; mask; mask &= mask - 1)
        lanes[__builtin_ctz(mask)]++;
}

/* Counts an instruction that these lanes of a row have executed. */
static inline void exec_profile_path(struct exec_profile *profile, const struct exec_row *row, uint32_t mask) {
    exec_profile_add(profile->path + exec_profile_thread(profile, row), mask);
}

/* Counts a branch that has split the group of these lanes of a row. */
static inline void exec_profile_split(struct exec_profile *profile, const struct exec_row *row, uint32_t mask) {
    exec_profile_add(profile->split + exec_profile_thread(profile, row), mask);
}

/* Counts an access by which these lanes of a row have missed the L1. */
static inline void exec_profile_miss(struct exec_profile *profile, const struct exec_row *row, uint32_t mask) {
    exec_profile_add(profile->miss + exec_profile_thread(profile, row), mask);
}

/* Counts an instruction at pc that a bundle has executed with this many active lanes. */
static inline void exec_profile_line(struct exec_profile *profile, uint32_t pc, uint32_t n_lanes) {
    profile->line[pc].executed++;
    profile->line[pc].active_lanes += n_lanes;
}

/* Counts a branch at pc that a group has executed. */
static inline void exec_profile_branch(struct exec_profile *profile, uint32_t pc, bool is_divergent) {
    profile->executed[pc]++;
    profile->diverged[pc] += is_divergent;
    if (profile->line)
        profile->line[pc].diverged += is_divergent;
}
