/* The passes of ptx_analyze() and the data they pass on. Internal to the analysis. */
#pragma once

#include "base/arena.h"
#include "ptx/analysis.h"

/* One use of a register by an instruction. */
struct ptx_access {
    uint32_t register_id;
    bool is_write;
    bool is_kill; /* a write after which no thread can read the old value: unguarded, or no old value exists */
};

struct ptx_passes {
    const struct ptx_function *function;
    struct ptx_analysis *analysis; /* filled pass by pass; its memory comes from analysis->arena */
    struct base_arena *scratch;    /* freed at the end of ptx_analyze() */
    struct ptx_access *access;     /* instruction i: access_start[i] up to access_start[i + 1] */
    uint32_t *access_start;
    bool *aborts; /* per block: its edge to the exit is a trap, a call that never returns or, unless the function is a
                     kernel, an exit: the function does not return */
    uint32_t *first_edge;  /* per block: the number of its first edge; its edges are numbered like its successors */
    bool *is_ignored;      /* per edge: a dead end that post-dominators ignore */
    bool needs_uniformity; /* reconvergence points depend on which branches are uniform */
    uint32_t *reconvergence_block; /* per block: where its paths reconverge, at the latest the exit */
};

/* A directed graph in compressed rows: node i's successors are successor[start[i] .. start[i + 1]). */
struct ptx_graph {
    uint32_t n_nodes;
    uint32_t *successor_start, *successor;
    uint32_t *predecessor_start, *predecessor;
};

struct ptx_edge {
    uint32_t from, to;
};

struct ptx_graph ptx_build_graph(struct base_arena *arena, uint32_t n_nodes, const struct ptx_edge *edge,
                                 uint32_t n_edges);
/* dominator[node] = immediate dominator from root; PTX_NO_BLOCK for the root and unreachable nodes. */
void ptx_find_dominators(struct base_arena *scratch, const struct ptx_graph *graph, uint32_t root, uint32_t *dominator);

/* Returns whether the edge from a block to its successor number s counts. */
typedef bool ptx_edge_fn(const void *user, uint32_t block, uint32_t s);
/* block[0] is the first that a search from the entry reaches. */
typedef void ptx_group_fn(void *user, const uint32_t *block, uint32_t n_blocks);
/* Calls found() for every group of blocks that no edge that counts leaves. */
void ptx_find_final_groups(struct ptx_passes *passes, ptx_edge_fn *counts, ptx_group_fn *found, void *user);

void ptx_collect_accesses(struct ptx_passes *passes);
void ptx_build_blocks(struct ptx_passes *passes);
void ptx_set_dominators(struct ptx_passes *passes);
/* Numbers the edges and marks dead ends. `returns`: per block, whether it reaches the exit by returning. */
void ptx_find_dead_ends(struct ptx_passes *passes, const bool *returns);
/* Returns whether the block is the exit or only a return. */
bool ptx_ends_threads(const struct ptx_passes *passes, uint32_t block);
/* Returns whether threads may wait for others in the block: it contains a barrier, or calls a function that may contain
 * one. */
bool ptx_may_wait(const struct ptx_passes *passes, uint32_t block);
/* Returns whether the branch at the block's end may diverge. Returns false before uniformity is known; then the calling
 * pass runs again later. */
bool ptx_is_divergent(struct ptx_passes *passes, uint32_t block);
void ptx_set_reconvergence(struct ptx_passes *passes);
void ptx_find_loops(struct ptx_passes *passes);
void ptx_set_meetings(struct ptx_passes *passes);
void ptx_compute_liveness(struct ptx_passes *passes);
/* Writes live_words words: the registers that are live at the end of a block. */
void ptx_find_live_out(const struct ptx_analysis *analysis, uint32_t block, uint64_t *live);
void ptx_assign_slots(struct ptx_passes *passes);
void ptx_find_uniform(struct ptx_passes *passes);

/* Returns whether the instruction only computes a result from the operands of its own lane. */
bool ptx_is_computation(enum ptx_opcode opcode);
/* Returns whether the instruction may write one destination before it has read all sources, so that no destination may
 * have the slot of a source. */
bool ptx_needs_distinct_slots(const struct ptx_instruction *instruction);
