/* For analysis_random_test.c: which edges of a function are dead ends that do not count, worked out slowly, by removing
 * an edge and looking at what can still be reached. See dead_ends.c and reconvergence.c for the rule. */
#pragma once

#include <string.h>

#include "ptx/passes.h"

enum { MOST_BLOCKS = 100, MOST_SUCCESSORS = 8 };

struct edges_reference {
    const struct ptx_analysis *analysis;
    bool aborts[MOST_BLOCKS];
    bool returns[MOST_BLOCKS]; /* reaches the exit by returning, */
    bool goes_on[MOST_BLOCKS]; /* and along edges that are not left out */
    bool is_left_out[MOST_BLOCKS][MOST_SUCCESSORS];
    bool is_divergent[MOST_BLOCKS]; /* its branch, as far as is known before meeting points depend on it */
};

/* An edge as its number among the successors; a way is one that may return. */
static inline bool edges_is_way(const struct edges_reference *edges, uint32_t b, uint32_t s) {
    uint32_t to = edges->analysis->block[b].successor[s], exit = edges->analysis->n_blocks - 1;
    return edges->returns[to] && !(to == exit && edges->aborts[b]);
}

static inline bool edges_count(const struct edges_reference *edges, uint32_t b, uint32_t s) {
    bool is_of_its_kind = edges->goes_on[edges->analysis->block[b].successor[s]] || !edges->goes_on[b];
    return !edges->returns[b] || (edges_is_way(edges, b, s) && !edges->is_left_out[b][s] && is_of_its_kind);
}

struct edges_walk {
    bool follows_all;            /* edges that do not count too */
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

/* Whatever can be reached behind the edge cannot be reached without it. waits: something there waits. */
static inline bool edges_is_closed(const struct edges_reference *edges, uint32_t b, uint32_t s, bool *waits) {
    uint32_t to = edges->analysis->block[b].successor[s], n = edges->analysis->n_blocks;
    struct edges_walk behind = {.without = PTX_NO_BLOCK, .from_block = PTX_NO_BLOCK, .stops_at_ends = true};
    behind.seen[to] = true;
    edges_follow(edges, &behind, to);
    struct edges_walk others = {.follows_all = true, .without = PTX_NO_BLOCK, .from_block = b, .from_s = s};
    others.seen[0] = true;
    edges_follow(edges, &others, 0);
    bool is_closed = true;
    *waits = false;
    if (edges_is_end(edges, to))
        return true;
    for (uint32_t x = 0; x < n; x++) {
        bool is_behind_it_alone = edges->analysis->block[x].is_reachable && !others.seen[x];
        is_closed &= !behind.seen[x] || is_behind_it_alone;
        *waits |= is_behind_it_alone && edges_waits(edges, x);
    }
    return is_closed;
}

static inline void edges_leave_out(const struct edges_reference *all, struct edges_reference *edges, uint32_t b) {
    const struct ptx_block *block = &all->analysis->block[b];
    bool is_closed[MOST_SUCCESSORS], waits[MOST_SUCCESSORS], any_joins = false, any_waits = false;
    for (uint32_t s = 0; s < block->n_successors; s++) {
        is_closed[s] = edges_is_way(all, b, s) && edges_is_closed(all, b, s, &waits[s]);
        any_joins |= edges_is_way(all, b, s) && !is_closed[s];
        any_waits |= is_closed[s] && waits[s];
    }
    for (uint32_t s = 0; s < block->n_successors; s++)
        edges->is_left_out[b][s] = is_closed[s] && !waits[s] && (any_joins || (any_waits && all->is_divergent[b]));
}

/* The block where a search from the entry comes first upon the group. */
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

/* Blocks that can be left by dead ends only: those on every trip count again, or all. */
static inline void edges_open_group(const struct edges_reference *before, struct edges_reference *after, uint32_t b) {
    uint32_t n = before->analysis->n_blocks;
    struct edges_walk group = edges_from(before, b, PTX_NO_BLOCK);
    for (uint32_t x = 0; x < n; x++)
        if (group.seen[x] && !edges_from(before, x, PTX_NO_BLOCK).seen[b])
            return;
    uint32_t first = edges_first_of(before, group.seen);
    bool is_on_every_trip[MOST_BLOCKS] = {0}, waits = false, has_any = false;
    for (uint32_t x = 0; x < n; x++) {
        is_on_every_trip[x] = group.seen[x] && (x == first || !edges_from(before, first, x).seen[first]);
        waits |= group.seen[x] && edges_waits(before, x);
    }
    for (uint32_t any_trip = 0; any_trip < 2 && !has_any; any_trip++)
        for (uint32_t x = 0; x < n; x++)
            for (uint32_t s = 0; s < before->analysis->block[x].n_successors; s++) {
                const struct ptx_block *block = &before->analysis->block[x];
                bool must_end = waits && edges_is_end(before, block->successor[s]) && before->is_divergent[x];
                if (!(any_trip ? group.seen[x] : is_on_every_trip[x]) || must_end || !before->is_left_out[x][s])
                    continue;
                after->is_left_out[x][s] = false;
                has_any = true;
            }
}

static inline void edges_find_who_goes_on(struct edges_reference *edges) {
    uint32_t n = edges->analysis->n_blocks;
    bool goes_on[MOST_BLOCKS] = {0};
    memset(edges->goes_on, 0, sizeof edges->goes_on);
    for (uint32_t b = 0; b < n; b++)
        goes_on[b] = b == n - 1 || (edges->returns[b] && edges_from(edges, b, PTX_NO_BLOCK).seen[n - 1]);
    memcpy(edges->goes_on, goes_on, sizeof goes_on);
}

/* The steps of ptx_analyze() up to the first verdict on branches. */
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

/* aborts: per block, its edge to the exit is no return; returns: it reaches the exit by returning. */
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
            edges_leave_out(&all, &before, b);
    edges_find_who_goes_on(&before);
    *edges = before;
    for (uint32_t b = 0; b < n; b++)
        if (returns[b] && !before.goes_on[b])
            edges_open_group(&before, edges, b);
    edges_find_who_goes_on(edges);
}
