/* Control instructions: decides where each thread that executes one goes next, which threads end, and which wait for
 * others. No other code does so. Models decide only which threads continue together.
 *
 * Threads whose guard is false continue with the next instruction. All others meet the same effect. The caller has
 * evaluated the guard: `active` are the threads that execute the instruction, `taken` are those whose guard is true.
 * There is one function for each way to name threads: lanes of consecutive rows, lanes of one row, and any threads. */
#pragma once

#include "divergence/divergence.h"
#include "divergence/parts/masks.h"

enum divergence_effect {
    DIVERGENCE_PASSES,      /* they continue with the next instruction: fences, built-in functions, no true guard */
    DIVERGENCE_BRANCHES,    /* also if no guard is true: the branch counts */
    DIVERGENCE_CALLS,       /* they have entered a function */
    DIVERGENCE_RETURNS,     /* they have left their function */
    DIVERGENCE_ENDS,        /* they are no longer in row->live, and cta->n_live_rows is up to date */
    DIVERGENCE_MEETS_BLOCK, /* a barrier: they continue with the next instruction when others of their block have come
                             */
    DIVERGENCE_MEETS_ROW,   /* the same for others of their row: warp-wide instructions, which are still to execute */
};

struct divergence_outcome {
    enum divergence_effect effect;
    bool is_divergent; /* a branch whose threads go to more than one next pc; this is what divergent_branches counts */
    /* Next pc of the threads in `taken`. If they have several, EXEC_NO_PC: then next[] holds them. A branch that is not
     * divergent sends all active threads to this pc. */
    uint32_t target;
};

static inline bool divergence_has_ended(const struct divergence_outcome *outcome) {
    return outcome->effect == DIVERGENCE_ENDS;
}

/* Returns whether threads wait: see sync.h, or control.h for models with stacks. */
static inline bool divergence_has_to_wait(const struct divergence_outcome *outcome) {
    return outcome->effect == DIVERGENCE_MEETS_BLOCK || outcome->effect == DIVERGENCE_MEETS_ROW;
}

/* Resolves a branch with one target. Most control instructions are such branches of one row: with a constant n_rows
 * the loops over masks vanish. */
static inline __attribute__((always_inline)) struct divergence_outcome
divergence_resolve_branch(const struct exec_insn *insn, uint32_t pc, uint32_t n_rows, const uint32_t *active,
                          const uint32_t *taken) {
    struct divergence_outcome outcome = {.effect = DIVERGENCE_BRANCHES, .target = insn->target};
    if (divergence_masks_are_equal(taken, active, n_rows))
        return outcome;
    if (divergence_masks_are_empty(taken, n_rows))
        outcome.target = pc + 1;
    outcome.is_divergent = outcome.target != pc + 1;
    return outcome;
}

/* Resolves the control instruction at pc for lanes of consecutive rows: executes it, and returns its outcome. Masks
 * have one word for each row. Writes next[row][lane] for the threads in `taken` if outcome.target is EXEC_NO_PC and the
 * threads do not end. Faults are left in cx->fault. */
struct divergence_outcome divergence_resolve(struct exec_context *cx, uint32_t pc, struct exec_row *rows,
                                             uint32_t n_rows, const uint32_t *active, const uint32_t *taken,
                                             uint32_t (*next)[EXEC_LANES]);
/* The same for lanes of one row, for models in which every thread has its own pc. Writes next[] for all active lanes;
 * EXEC_NO_PC: the thread has ended. */
struct divergence_outcome divergence_resolve_lanes(struct exec_context *cx, uint32_t pc, struct exec_row *row,
                                                   uint32_t active, uint32_t taken, uint32_t next[EXEC_LANES]);
/* The same for threads of any rows. Masks and next[] are by their lanes in `threads`. */
struct divergence_outcome divergence_resolve_threads(struct exec_context *cx, uint32_t pc, struct exec_threads *threads,
                                                     uint32_t active, uint32_t taken, uint32_t next[EXEC_LANES]);

/* Lanes of a row pass a warp-wide instruction: tells the checks of memory (exec/check) about a bar.warp.sync. */
void divergence_pass_row_sync(struct exec_row *row, const struct exec_insn *insn, uint32_t mask);
/* Returns whether other lanes of its row must reach the instruction too: warp-wide instructions, bar.warp.sync. */
bool divergence_is_row_sync(const struct exec_insn *insn);
/* Returns the lanes in `among` (not 0) whose threads live in the same row as the first one, and in *home their lanes in
 * that row. */
uint32_t divergence_same_row(const struct exec_threads *threads, uint32_t among, uint32_t *home);
/* Returns the lanes in `among` (not 0) whose threads belong to the same block as the first one. */
uint32_t divergence_same_block(const struct exec_threads *threads, uint32_t among);
/* Returns whether all threads in `lanes` have the same next pc. */
bool divergence_pcs_agree(const uint32_t next[EXEC_LANES], uint32_t lanes);
