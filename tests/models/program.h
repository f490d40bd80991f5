/* Random programs with all kinds of control flow, which every divergence model must execute correctly.
 *
 * A program is a tree of statements; every choice of its text is drawn from the statement's own seed, so a statement
 * can be dropped without a change in the others. Every program ends, and its final memory does not depend on the order
 * in which threads run:
 *   - each thread writes its own words of `out`, its own local array and, between barriers, its own word of `pot`;
 *   - words that all threads write (`sums`, `tally`) are written by atomics, one kind for each word;
 *   - what an atomic returns depends on that order, and is only stored, in ORDER_WORD of the thread;
 *   - loops count down, and so does the fuel of graphs;
 *   - all threads that have not ended execute a barrier or warp-wide instruction, or it names its threads; the lanes of
 * a warp that have not ended reach it together, even if others ended in branches and loops before. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runner/text.h"

enum { MAX_BODIES = 6, MAX_FUNCTIONS = 3, SLICE_WORDS = 16, ORDER_WORD = SLICE_WORDS - 1, N_INPUTS = 64, N_SUMS = 24 };

enum statement_kind {
    COMPUTE,
    MEMORY,
    ATOMIC,
    IF,
    LOOP,
    BREAK,
    CONTINUE,
    SWITCH,
    GRAPH, /* blocks that jump to each other in any way */
    EXIT,
    CALL,
    CALL_INDIRECT,
    RECURSE,
    RETURN,
    BARRIER,
    SPLIT_BARRIER, /* both sides of an if wait at it */
    WARP,
    MASKED, /* warp-wide instructions on both sides of an if, for the threads of that side */
    N_STATEMENT_KINDS
};

struct statement {
    enum statement_kind kind;
    uint64_t seed;
    bool is_uniform; /* IF, LOOP: all threads of the block go the same way */
    bool is_dropped;
    struct statement *body[MAX_BODIES];
    unsigned n_bodies;
    struct statement *next;
};

struct program {
    uint64_t seed, number;
    bool uses_shared, uses_warps;
    /* Threads may end early: anywhere, or before a statement of the kernel itself, outside all branches and loops. */
    bool may_end_anywhere, may_end_outside;
    bool is_single_path;     /* all threads of a block take the same path, and none waits for another */
    uint32_t block[3], grid; /* threads of a block, blocks */
    struct statement *kernel, *function[MAX_FUNCTIONS];
    unsigned n_functions;
};

void program_make(struct program *program, uint64_t seed, uint64_t number);
/* Makes a program whose warps are full and never diverge. */
void program_make_single_path(struct program *program, uint64_t seed, uint64_t number);
void program_free(struct program *program);
/* Returns one of the remaining statements, in a fixed order. */
unsigned program_count(const struct program *program);
struct statement *program_statement(const struct program *program, unsigned number);
uint32_t program_threads(const struct program *program); /* of a block */

/* emit.c: the module, with the kernel `k(.param .u64 out)`. */
void program_emit(const struct program *program, struct text *text);
