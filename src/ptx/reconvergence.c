/* Post-dominators, and from them the instruction where the paths of a branch meet again.
 *
 * Paths that end before do not delay the others. There are three kinds of them:
 * - dead ends, where threads end without having met others again (dead_ends.c): a block that has other ways on looks
 *   only at those, so that lanes meet behind the if in which some of them have ended. A loop that is left by dead ends
 *   only keeps those that every trip comes by, or all of them when there are none: they are the way out of the loop,
 *   and lanes that leave it wait there for the others, if these do not wait for them;
 * - traps, calls that never return, and exits in a function that is called: a block that can reach a return looks only
 *   at successors that can;
 * - endless loops, in the same way.
 * Such a path never comes to a meeting point of what is around it, so paths that do are properly nested.
 *
 * Blocks that do not reach a return in this sense get a way to the exit of their own: from the trap, or, for a group of
 * blocks that is never left, from a stand-in before the group's first block. That keeps branches inside an endless loop
 * meeting inside it, at the latest where the next trip begins. The stand-in is no block, so `post_dominator` names the
 * exit instead and stays a tree. */
#include "ptx/passes.h"

struct way_out {
    struct ptx_passes *passes;
    const struct ptx_analysis *analysis;
    bool *returns;      /* per block: reaches the exit by returning, */
    bool *goes_on;      /* and along edges that are not left out */
    bool *escapes;      /* per block: returns, or reaches a trap */
    uint32_t *stand_in; /* per block: the node before it, or 0 */
    uint32_t n_nodes;
    uint32_t *stack; /* of blocks, for walks */
    bool *is_seen;
};

/* --- which edges count --- */

static bool is_abort(const struct way_out *way, uint32_t block, uint32_t s) {
    return way->analysis->block[block].successor[s] == way->analysis->n_blocks - 1 && way->passes->aborts[block];
}

static bool *left_out(const struct way_out *way, uint32_t block, uint32_t s) {
    return &way->passes->is_left_out[way->passes->first_edge[block] + s];
}

static bool is_any(const void *user, uint32_t block, uint32_t s) {
    (void)user, (void)block, (void)s;
    return true;
}

static bool is_return(const void *user, uint32_t block, uint32_t s) { return !is_abort(user, block, s); }

static bool is_way_on(const void *user, uint32_t block, uint32_t s) {
    return !is_abort(user, block, s) && !*left_out(user, block, s);
}

/* A block looks at successors of its own kind: those that go on, those that return, all. */
static bool counts(const void *user, uint32_t block, uint32_t s) {
    const struct way_out *way = user;
    uint32_t to = way->analysis->block[block].successor[s];
    if (!way->returns[block])
        return true;
    return way->returns[to] && is_way_on(way, block, s) && (way->goes_on[to] || !way->goes_on[block]);
}

static uint32_t successor_number(const struct ptx_block *block, uint32_t to) {
    uint32_t s = 0;
    while (block->successor[s] != to)
        s++;
    return s;
}

/* Marks the exit and whatever leads to it along such edges. */
static bool *mark_leading_out(const struct way_out *way, ptx_edge_fn *is_followed) {
    const struct ptx_analysis *analysis = way->analysis;
    bool *is_marked = BASE_ARENA_ARRAY(way->passes->scratch, bool, analysis->n_blocks);
    uint32_t depth = 0;
    is_marked[analysis->n_blocks - 1] = true;
    way->stack[depth++] = analysis->n_blocks - 1;
    while (depth > 0) {
        uint32_t at = way->stack[--depth];
        for (uint32_t p = 0; p < analysis->block[at].n_predecessors; p++) {
            uint32_t from = analysis->block[at].predecessor[p];
            if (is_marked[from] || !is_followed(way, from, successor_number(&analysis->block[from], at)))
                continue;
            is_marked[from] = true;
            way->stack[depth++] = from;
        }
    }
    return is_marked;
}

/* --- loops that are left by dead ends only --- */

/* Whether no way leads from the group's first block back to it without passing this one. */
static bool is_on_every_trip(const struct way_out *way, const uint32_t *group, uint32_t n, uint32_t block) {
    uint32_t depth = 0;
    for (uint32_t i = 0; i < n; i++)
        way->is_seen[group[i]] = false;
    if (block != group[0])
        way->stack[depth++] = group[0];
    while (depth > 0) {
        uint32_t at = way->stack[--depth];
        for (uint32_t s = 0; s < way->analysis->block[at].n_successors; s++) {
            uint32_t to = way->analysis->block[at].successor[s];
            if (!counts(way, at, s) || way->is_seen[to] || to == block)
                continue;
            way->is_seen[to] = true;
            way->stack[depth++] = to;
        }
    }
    return !way->is_seen[group[0]];
}

/* Lets dead ends of a group of blocks count again: those that every trip comes by, or all. Where threads wait for
 * others in the group, threads that a branch sends straight to their end must not wait there for those. */
static uint32_t keep_ways_out(const struct way_out *way, const uint32_t *group, uint32_t n, bool keeps_all) {
    uint32_t n_kept = 0;
    bool may_wait = false;
    for (uint32_t i = 0; i < n; i++)
        may_wait |= ptx_may_wait(way->passes, group[i]);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t s = 0; s < way->analysis->block[group[i]].n_successors; s++) {
            bool is_end = ptx_ends_threads(way->passes, way->analysis->block[group[i]].successor[s]);
            if (!*left_out(way, group[i], s) || !(keeps_all || is_on_every_trip(way, group, n, group[i])) ||
                (may_wait && is_end && ptx_is_divergent(way->passes, group[i])))
                continue;
            *left_out(way, group[i], s) = false;
            n_kept++;
        }
    return n_kept;
}

static void open_group(void *user, const uint32_t *group, uint32_t n) {
    struct way_out *way = user;
    if (way->returns[group[0]] && !way->goes_on[group[0]] && keep_ways_out(way, group, n, false) == 0)
        keep_ways_out(way, group, n, true);
}

static void set_ways_on(struct way_out *way) {
    way->goes_on = mark_leading_out(way, is_way_on);
    for (uint32_t b = 0; b < way->analysis->n_blocks; b++)
        if (way->returns[b] && !way->goes_on[b]) { /* behind it is a group that is left by dead ends only */
            ptx_find_final_groups(way->passes, counts, open_group, way);
            way->goes_on = mark_leading_out(way, is_way_on);
            return;
        }
}

/* --- the tree --- */

static bool needs_stand_in(const struct way_out *way, uint32_t block) {
    return way->returns[block] ? !way->goes_on[block] : !way->escapes[block];
}

static void add_stand_in(void *user, const uint32_t *group, uint32_t n) {
    (void)n;
    struct way_out *way = user;
    if (needs_stand_in(way, group[0]))
        way->stand_in[group[0]] = way->n_nodes++;
}

/* Every group of blocks that is never left gets a stand-in before the block where the search, which starts at the
 * entry, came upon it. */
static void add_stand_ins(struct way_out *way) {
    for (uint32_t b = 0; b < way->analysis->n_blocks; b++)
        if (needs_stand_in(way, b)) {
            ptx_find_final_groups(way->passes, counts, add_stand_in, way);
            return;
        }
}

/* The flow graph turned around, with stand-ins. */
static struct ptx_graph reversed_graph(struct ptx_passes *passes, const struct way_out *way) {
    const struct ptx_analysis *analysis = way->analysis;
    uint32_t n = analysis->n_blocks, n_edges = 0, capacity = 2 * (way->n_nodes - n);
    for (uint32_t b = 0; b < n; b++)
        capacity += analysis->block[b].n_successors;
    struct ptx_edge *edge = BASE_ARENA_ARRAY(passes->scratch, struct ptx_edge, capacity);
    for (uint32_t b = 0; b < n; b++) {
        for (uint32_t s = 0; s < analysis->block[b].n_successors; s++) {
            uint32_t to = analysis->block[b].successor[s];
            if (counts(way, b, s))
                edge[n_edges++] = (struct ptx_edge){way->stand_in[to] ? way->stand_in[to] : to, b};
        }
        if (way->stand_in[b]) {
            edge[n_edges++] = (struct ptx_edge){b, way->stand_in[b]};
            edge[n_edges++] = (struct ptx_edge){n - 1, way->stand_in[b]};
        }
    }
    return ptx_build_graph(passes->scratch, way->n_nodes, edge, n_edges);
}

static void set_post_dominators(struct ptx_passes *passes, const struct way_out *way, const uint32_t *dominator) {
    uint32_t n = passes->analysis->n_blocks, exit = n - 1;
    uint32_t *stood_for = BASE_ARENA_ARRAY(passes->scratch, uint32_t, way->n_nodes - n);
    for (uint32_t b = 0; b < n; b++)
        if (way->stand_in[b])
            stood_for[way->stand_in[b] - n] = b;
    passes->meeting = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n);
    for (uint32_t b = 0; b < n; b++) {
        uint32_t node = dominator[b];
        bool is_stand_in = node != PTX_NO_BLOCK && node >= n;
        passes->analysis->block[b].post_dominator = is_stand_in ? exit : node;
        passes->meeting[b] = is_stand_in ? stood_for[node - n] : node == PTX_NO_BLOCK ? exit : node;
    }
}

static uint32_t reconvergence_of(const struct ptx_passes *passes, uint32_t i) {
    const struct ptx_analysis *analysis = passes->analysis;
    const struct ptx_instruction *instruction = &passes->function->instruction[i];
    bool is_guarded = instruction->guard != PTX_NO_INDEX;
    switch (instruction->opcode) {
    case PTX_OP_BRA:
        return is_guarded ? analysis->block[passes->meeting[analysis->block_of[i]]].first : PTX_NO_INDEX;
    case PTX_OP_BRX:
        return analysis->block[passes->meeting[analysis->block_of[i]]].first;
    case PTX_OP_CALL:
        return is_guarded || instruction->call->target.kind != PTX_OPERAND_FUNCTION ? i + 1 : PTX_NO_INDEX;
    default:
        return PTX_NO_INDEX;
    }
}

void ptx_set_reconvergence(struct ptx_passes *passes) {
    struct ptx_analysis *analysis = passes->analysis;
    uint32_t n = analysis->n_blocks;
    struct way_out way = {.passes = passes,
                          .analysis = analysis,
                          .stand_in = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                          .n_nodes = n,
                          .stack = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                          .is_seen = BASE_ARENA_ARRAY(passes->scratch, bool, n)};
    way.returns = mark_leading_out(&way, is_return);
    way.escapes = mark_leading_out(&way, is_any);
    ptx_find_dead_ends(passes, way.returns);
    set_ways_on(&way);
    add_stand_ins(&way);
    struct ptx_graph graph = reversed_graph(passes, &way);
    uint32_t *dominator = BASE_ARENA_ARRAY(passes->scratch, uint32_t, way.n_nodes);
    ptx_find_dominators(passes->scratch, &graph, n - 1, dominator);
    set_post_dominators(passes, &way, dominator);
    analysis->reconvergence = BASE_ARENA_ARRAY(analysis->arena, uint32_t, passes->function->n_instructions);
    for (uint32_t i = 0; i < passes->function->n_instructions; i++)
        analysis->reconvergence[i] = reconvergence_of(passes, i);
}
