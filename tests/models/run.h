/* Runs one program on one target and collects its results. */
#pragma once

#include "config/machine.h"
#include "program.h"
#include "stats/counters.h"

enum { MAX_MACHINES = 8 };

/* The machines of the tests: with few SMs and little memory, so that blocks wait for each other and runs are short. */
struct machines {
    struct config_machine machine[MAX_MACHINES];
    unsigned count;
};
void machines_load(struct machines *machines); /* ends the process when that fails */
const struct config_machine *machines_find(const struct machines *machines, const char *name);

struct target {
    const struct config_machine *machine; /* NULL: executed without timing */
    char scheduler[512], divergence[512];
    bool keeps_step;      /* no SM runs ahead of the others */
    uint32_t n_threads;   /* of the host; 0: one, and instructions of each thread are counted */
    uint32_t n_sms;       /* 0: as many as the machine has */
    uint32_t most_blocks; /* that an SM holds; 0: as the machine */
};

struct outcome {
    char error[1024]; /* empty: the run completed */
    bool is_refused;  /* a rule forbids this program on the target */
    uint32_t *words;  /* out, sums, instructions of each thread if they were counted */
    uint32_t n_words, n_memory_words;
    struct stats_counters counters;
};

/* Limit for the functional run, over all warps: longer programs are skipped, so that timed runs never reach the limit
 * of cycles. Loops in functions that call each other in loops make a few programs very long, millions of instructions;
 * a warp with more than ENDLESS_INSTRUCTIONS does not end. */
enum { MOST_INSTRUCTIONS = 20000, MOST_CYCLES = 4000000, ENDLESS_INSTRUCTIONS = 100000000 };

/* The invariants of groups are checked every so many ticks of SMs; 0: never. */
void run_program(const struct program *program, const struct text *text, const struct target *target,
                 uint32_t check_every, struct outcome *outcome);
void outcome_free(struct outcome *outcome);
/* Returns false when they differ, in what both have; `text` then says where. has_order: atomics have the same order in
 * both. */
bool outcome_agrees(const struct outcome *outcome, const struct outcome *expected, const struct program *program,
                    bool has_order, char *text, size_t size);
