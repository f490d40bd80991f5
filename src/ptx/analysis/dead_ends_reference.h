/* For random_test.c: finds a function's ignored dead ends slowly, by removing an edge and testing which blocks
 * remain reachable. See dead_ends.c and reconvergence.c for the rule. */
#pragma once

#include <string.h>

#include "ptx/analysis/passes.h"

enum { MOST_BLOCKS = 100, MOST_SUCCESSORS = 8 };

struct edges_reference {
    const struct ptx_analysis *analysis;
    bool aborts[MOST_BLOCKS];
    bool returns[MOST_BLOCKS];   /* reaches the exit by returning */
    bool leads_out[MOST_BLOCKS]; /* ... along edges that are not ignored */
    bool is_ignored[MOST_BLOCKS][MOST_SUCCESSORS];
    bool is_divergent[MOST_BLOCKS]; /* its branch, by the first verdict, before reconvergence points depend on it */
};

/* Edges are numbered like the successors of their block. */
static inline bool edges_may_return(const struct edges_reference *edges, uint32_t b, uint32_t s) {
    uint32_t to = edges->analysis->block[b].successor[s], exit = edges->analysis->n_blocks - 1;
    return edges->returns[to] && !(to == exit && edges->aborts[b]);
}

static inline bool edges_count(const struct edges_reference *edges, uint32_t b, uint32_t s) {
    bool is_same_kind = edges->leads_out[edges->analysis->block[b].successor[s]] || !edges->leads_out[b];
    return !edges->returns[b] || (edges_may_return(edges, b, s) && !edges->is_ignored[b][s] && is_same_kind);
}

struct edges_walk {
    bool follows_all;            /* also edges that do not count */
    uint32_t without;            /* block that is not entered, or PTX_NO_BLOCK */
    uint32_t from_block, from_s; /* edge that is not followed, or PTX_NO_BLOCK */
    bool stops_at_ends;
    bool seen[MOST_BLOCKS];
    uint32_t order[MOST_BLOCKS], n_order;
};

static inline bool edges_is_end(const struct edges_reference *edges, uint32_t b) {
    const struct ptx_block *block = &edges->analysis->block[b];
    const struct ptx_instruction *first = &edges->analysis->function->instruction[block->first];
    return block->count == 0 || (block->count == 1 && first->guard == PTX_NO_INDEX &&
                                 (first->opcode == PTX_OP_RET || first->opcode == PTX_OP_EXIT));
}

static inline void edges_follow(const struct edges_reference *edges, struct edges_walk *walk, uint32_t b) {
    const struct ptx_block *block = &edges->analysis->block[b];
    for (uint32_t s = 0; s < block->n_successors; s++) {
        uint32_t to = block->successor[s];
        bool is_closed = b == walk->from_block && s == walk->from_s;
        if (is_closed || walk->seen[to] || to == walk->without || (walk->stops_at_ends && edges_is_end(edges, to)) ||
            !(walk->follows_all || edges_count(edges, b, s)))
            continue;
        walk->seen[to] = true;
        walk->order[walk->n_order++] = to;
        edges_follow(edges, walk, to);
    }
}

static inline struct edges_walk edges_from(const struct edges_reference *edges, uint32_t b, uint32_t without) {
    struct edges_walk walk = {.without = without, .from_block = PTX_NO_BLOCK};
    edges_follow(edges, &walk, b);
    return walk;
}

static inline bool edges_waits(const struct edges_reference *edges, uint32_t b) {
    const struct ptx_block *block = &edges->analysis->block[b];
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        enum ptx_opcode opcode = edges->analysis->function->instruction[i].opcode;
        if (opcode == PTX_OP_BAR || opcode == PTX_OP_CALL || opcode == PTX_OP_VOTE || opcode == PTX_OP_SHFL)
            return true;
    }
    return false;
}

/* Returns whether every block reachable after the edge is reachable only through it. *waits: one of them waits. */
static inline bool edges_is_closed(const struct edges_reference *edges, uint32_t b, uint32_t s, bool *waits) {
    uint32_t to = edges->analysis->block[b].successor[s], n = edges->analysis->n_blocks;
    struct edges_walk after = {.without = PTX_NO_BLOCK, .from_block = PTX_NO_BLOCK, .stops_at_ends = true};
    after.seen[to] = true;
    edges_follow(edges, &after, to);
    struct edges_walk others = {.follows_all = true, .without = PTX_NO_BLOCK, .from_block = b, .from_s = s};
    others.seen[0] = true;
    edges_follow(edges, &others, 0);
    bool is_closed = true;
    *waits = false;
    if (edges_is_end(edges, to))
        return true;
    for (uint32_t x = 0; x < n; x++) {
        bool is_only_after_it = edges->analysis->block[x].is_reachable && !others.seen[x];
        is_closed &= !after.seen[x] || is_only_after_it;
        *waits |= is_only_after_it && edges_waits(edges, x);
    }
    return is_closed;
}

static inline void edges_ignore_dead_ends(const struct edges_reference *all, struct edges_reference *edges,
                                          uint32_t b) {
    const struct ptx_block *block = &all->analysis->block[b];
    bool is_closed[MOST_SUCCESSORS], waits[MOST_SUCCESSORS], any_joins = false, any_waits = false;
    for (uint32_t s = 0; s < block->n_successors; s++) {
        is_closed[s] = edges_may_return(all, b, s) && edges_is_closed(all, b, s, &waits[s]);
        any_joins |= edges_may_return(all, b, s) && !is_closed[s];
        any_waits |= is_closed[s] && waits[s];
    }
    for (uint32_t s = 0; s < block->n_successors; s++)
        edges->is_ignored[b][s] = is_closed[s] && !waits[s] && (any_joins || (any_waits && all->is_divergent[b]));
}

/* Returns the block where a search from the entry first reaches the group. */
static inline uint32_t edges_first_of(const struct edges_reference *edges, const bool *is_member) {
    struct edges_walk walk = {.follows_all = true, .without = PTX_NO_BLOCK, .from_block = PTX_NO_BLOCK};
    for (uint32_t b = 0; b < edges->analysis->n_blocks; b++) {
        if (walk.seen[b])
            continue;
        walk.seen[b] = true;
        walk.order[walk.n_order++] = b;
        edges_follow(edges, &walk, b);
    }
    uint32_t i = 0;
    while (!is_member[walk.order[i]])
        i++;
    return walk.order[i];
}

/* For a group that is left only by dead ends: keeps those on every iteration, or all if there are none. */
static inline void edges_restore_group(const struct edges_reference *before, struct edges_reference *after,
                                       uint32_t b) {
    uint32_t n = before->analysis->n_blocks;
    struct edges_walk group = edges_from(before, b, PTX_NO_BLOCK);
    for (uint32_t x = 0; x < n; x++)
        if (group.seen[x] && !edges_from(before, x, PTX_NO_BLOCK).seen[b])
            return;
    uint32_t first = edges_first_of(before, group.seen);
    bool is_on_every_iteration[MOST_BLOCKS] = {0}, waits = false, has_any = false;
    for (uint32_t x = 0; x < n; x++) {
        is_on_every_iteration[x] = group.seen[x] && (x == first || !edges_from(before, first, x).seen[first]);
        waits |= group.seen[x] && edges_waits(before, x);
    }
    for (uint32_t keeps_all = 0; keeps_all < 2 && !has_any; keeps_all++)
        for (uint32_t x = 0; x < n; x++)
            for (uint32_t s = 0; s < before->analysis->block[x].n_successors; s++) {
                const struct ptx_block *block = &before->analysis->block[x];
                bool must_end = waits && edges_is_end(before, block->successor[s]) && before->is_divergent[x];
                if (!(keeps_all ? group.seen[x] : is_on_every_iteration[x]) || must_end || !before->is_ignored[x][s])
                    continue;
                after->is_ignored[x][s] = false;
                has_any = true;
            }
}

static inline void edges_find_leading_out(struct edges_reference *edges) {
    uint32_t n = edges->analysis->n_blocks;
    bool leads_out[MOST_BLOCKS] = {0};
    memset(edges->leads_out, 0, sizeof edges->leads_out);
    for (uint32_t b = 0; b < n; b++)
        leads_out[b] = b == n - 1 || (edges->returns[b] && edges_from(edges, b, PTX_NO_BLOCK).seen[n - 1]);
    memcpy(edges->leads_out, leads_out, sizeof leads_out);
}

/* Runs the passes of ptx_analyze() up to the first verdict on branches. */
static inline void edges_find_divergent(struct edges_reference *edges) {
    struct base_arena arena = {0}, scratch = {0};
    struct ptx_analysis first = {.function = edges->analysis->function, .arena = &arena};
    struct ptx_passes passes = {.function = first.function, .analysis = &first, .scratch = &scratch};
    ptx_collect_accesses(&passes);
    ptx_build_blocks(&passes);
    ptx_set_dominators(&passes);
    ptx_set_reconvergence(&passes);
    ptx_find_loops(&passes);
    ptx_compute_liveness(&passes);
    ptx_assign_slots(&passes);
    ptx_find_uniform(&passes);
    for (uint32_t b = 0; b + 1 < first.n_blocks; b++)
        edges->is_divergent[b] = !first.is_uniform_branch[first.block[b].first + first.block[b].count - 1];
    base_arena_free(&scratch);
    base_arena_free(&arena);
}

/* aborts: per block, its edge to the exit is not a return; returns: it reaches the exit by returning. */
static inline void edges_refer(struct edges_reference *edges, const struct ptx_analysis *analysis, const bool *aborts,
                               const bool *returns) {
    uint32_t n = analysis->n_blocks;
    *edges = (struct edges_reference){.analysis = analysis};
    memcpy(edges->aborts, aborts, n * sizeof *aborts);
    memcpy(edges->returns, returns, n * sizeof *returns);
    edges_find_divergent(edges);
    struct edges_reference all = *edges, before = *edges;
    for (uint32_t b = 0; b < n && analysis->function->is_entry; b++)
        if (analysis->block[b].is_reachable)
            edges_ignore_dead_ends(&all, &before, b);
    edges_find_leading_out(&before);
    *edges = before;
    for (uint32_t b = 0; b < n; b++)
        if (returns[b] && !before.leads_out[b])
            edges_restore_group(&before, edges, b);
    edges_find_leading_out(edges);
}
