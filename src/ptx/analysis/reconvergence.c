/* Post-dominators, and from them the reconvergence point of each branch.
 *
 * Paths that end early do not delay the others. There are three kinds:
 * - Dead ends, where threads end without rejoining others (dead_ends.c). A block that also has other successors
 *   considers only the others, so that lanes reconverge after an if in which some of them ended. A loop that is left
 *   only by dead ends keeps the dead ends that every iteration passes. If there are none, it keeps all its dead ends.
 *   The kept ones are the way out of the loop, and lanes that leave it wait there for the others, unless the others
 *   wait for those lanes.
 * - Traps, calls that never return, and exits in a called function. A block that can reach a return considers only
 *   successors that can.
 * - Endless loops, found by the same search. Such a path never reaches a reconvergence point of the code around it, so
 *   the paths that do are properly nested.
 *
 * Blocks that do not reach a return in this sense get an edge to the exit: from the trap, or, for a group of blocks
 * that is never left, from a stand-in before the group's first block. So branches inside an endless loop reconverge
 * inside it, no later than at the start of the next iteration. The stand-in is not a block, so `post_dominator` names
 * the exit instead and stays a tree. */
#include "ptx/analysis/passes.h"

struct exit_search {
    struct ptx_passes *passes;
    const struct ptx_analysis *analysis;
    bool *returns;      /* per block: reaches the exit by returning */
    bool *leads_out;    /* ... along edges that are not ignored */
    bool *escapes;      /* per block: returns, or reaches a trap */
    uint32_t *stand_in; /* per block: the node before it, or 0 */
    uint32_t n_nodes;
    uint32_t *stack; /* of blocks, for searches */
    bool *is_seen;
};

/* --- which edges count --- */

static bool is_abort(const struct exit_search *search, uint32_t block, uint32_t s) {
    return search->analysis->block[block].successor[s] == search->analysis->n_blocks - 1 &&
           search->passes->aborts[block];
}

static bool *ignored(const struct exit_search *search, uint32_t block, uint32_t s) {
    return &search->passes->is_ignored[search->passes->first_edge[block] + s];
}

static bool is_any(const void *user, uint32_t block, uint32_t s) {
    (void)user, (void)block, (void)s;
    return true;
}

static bool is_return(const void *user, uint32_t block, uint32_t s) { return !is_abort(user, block, s); }

static bool is_kept_return(const void *user, uint32_t block, uint32_t s) {
    return !is_abort(user, block, s) && !*ignored(user, block, s);
}

/* A block considers successors of its own kind: those that lead out, those that return, or all. */
static bool counts(const void *user, uint32_t block, uint32_t s) {
    const struct exit_search *search = user;
    uint32_t to = search->analysis->block[block].successor[s];
    if (!search->returns[block])
        return true;
    return search->returns[to] && is_kept_return(search, block, s) &&
           (search->leads_out[to] || !search->leads_out[block]);
}

static uint32_t successor_number(const struct ptx_block *block, uint32_t to) {
    uint32_t s = 0;
    while (block->successor[s] != to)
        s++;
    return s;
}

/* Marks the exit and all blocks that lead to it along edges that is_followed() accepts. */
static bool *mark_leading_out(const struct exit_search *search, ptx_edge_fn *is_followed) {
    const struct ptx_analysis *analysis = search->analysis;
    bool *is_marked = BASE_ARENA_ARRAY(search->passes->scratch, bool, analysis->n_blocks);
    uint32_t depth = 0;
    is_marked[analysis->n_blocks - 1] = true;
    search->stack[depth++] = analysis->n_blocks - 1;
    while (depth > 0) {
        uint32_t at = search->stack[--depth];
        for (uint32_t p = 0; p < analysis->block[at].n_predecessors; p++) {
            uint32_t from = analysis->block[at].predecessor[p];
            if (is_marked[from] || !is_followed(search, from, successor_number(&analysis->block[from], at)))
                continue;
            is_marked[from] = true;
            search->stack[depth++] = from;
        }
    }
    return is_marked;
}

/* --- loops that are left only by dead ends --- */

/* Returns whether every path from the group's first block back to it passes this one. */
static bool is_on_every_iteration(const struct exit_search *search, const uint32_t *group, uint32_t n, uint32_t block) {
    uint32_t depth = 0;
    for (uint32_t i = 0; i < n; i++)
        search->is_seen[group[i]] = false;
    if (block != group[0])
        search->stack[depth++] = group[0];
    while (depth > 0) {
        uint32_t at = search->stack[--depth];
        for (uint32_t s = 0; s < search->analysis->block[at].n_successors; s++) {
            uint32_t to = search->analysis->block[at].successor[s];
            if (!counts(search, at, s) || search->is_seen[to] || to == block)
                continue;
            search->is_seen[to] = true;
            search->stack[depth++] = to;
        }
    }
    return !search->is_seen[group[0]];
}

/* Keeps dead ends of a group of blocks: those on every iteration, or all. Where threads wait for others in the group,
 * threads that a branch sends straight to their end must not wait for them. */
static uint32_t keep_dead_ends(const struct exit_search *search, const uint32_t *group, uint32_t n, bool keeps_all) {
    uint32_t n_kept = 0;
    bool may_wait = false;
    for (uint32_t i = 0; i < n; i++)
        may_wait |= ptx_may_wait(search->passes, group[i]);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t s = 0; s < search->analysis->block[group[i]].n_successors; s++) {
            bool is_end = ptx_ends_threads(search->passes, search->analysis->block[group[i]].successor[s]);
            if (!*ignored(search, group[i], s) || !(keeps_all || is_on_every_iteration(search, group, n, group[i])) ||
                (may_wait && is_end && ptx_is_divergent(search->passes, group[i])))
                continue;
            *ignored(search, group[i], s) = false;
            n_kept++;
        }
    return n_kept;
}

static void open_group(void *user, const uint32_t *group, uint32_t n) {
    struct exit_search *search = user;
    if (search->returns[group[0]] && !search->leads_out[group[0]] && keep_dead_ends(search, group, n, false) == 0)
        keep_dead_ends(search, group, n, true);
}

static void find_leading_out(struct exit_search *search) {
    search->leads_out = mark_leading_out(search, is_kept_return);
    for (uint32_t b = 0; b < search->analysis->n_blocks; b++)
        if (search->returns[b] && !search->leads_out[b]) { /* it leads to a group that is left only by dead ends */
            ptx_find_final_groups(search->passes, counts, open_group, search);
            search->leads_out = mark_leading_out(search, is_kept_return);
            return;
        }
}

/* --- the tree --- */

static bool needs_stand_in(const struct exit_search *search, uint32_t block) {
    return search->returns[block] ? !search->leads_out[block] : !search->escapes[block];
}

static void add_stand_in(void *user, const uint32_t *group, uint32_t n) {
    (void)n;
    struct exit_search *search = user;
    if (needs_stand_in(search, group[0]))
        search->stand_in[group[0]] = search->n_nodes++;
}

/* Adds a stand-in to every group of blocks that is never left, before the first block that the search from the entry
 * reaches. */
static void add_stand_ins(struct exit_search *search) {
    for (uint32_t b = 0; b < search->analysis->n_blocks; b++)
        if (needs_stand_in(search, b)) {
            ptx_find_final_groups(search->passes, counts, add_stand_in, search);
            return;
        }
}

/* Returns the reversed flow graph, with stand-ins. */
static struct ptx_graph reversed_graph(struct ptx_passes *passes, const struct exit_search *search) {
    const struct ptx_analysis *analysis = search->analysis;
    uint32_t n = analysis->n_blocks, n_edges = 0, capacity = 2 * (search->n_nodes - n);
    for (uint32_t b = 0; b < n; b++)
        capacity += analysis->block[b].n_successors;
    struct ptx_edge *edge = BASE_ARENA_ARRAY(passes->scratch, struct ptx_edge, capacity);
    for (uint32_t b = 0; b < n; b++) {
        for (uint32_t s = 0; s < analysis->block[b].n_successors; s++) {
            uint32_t to = analysis->block[b].successor[s];
            if (counts(search, b, s))
                edge[n_edges++] = (struct ptx_edge){search->stand_in[to] ? search->stand_in[to] : to, b};
        }
        if (search->stand_in[b]) {
            edge[n_edges++] = (struct ptx_edge){b, search->stand_in[b]};
            edge[n_edges++] = (struct ptx_edge){n - 1, search->stand_in[b]};
        }
    }
    return ptx_build_graph(passes->scratch, search->n_nodes, edge, n_edges);
}

static void set_post_dominators(struct ptx_passes *passes, const struct exit_search *search,
                                const uint32_t *dominator) {
    uint32_t n = passes->analysis->n_blocks, exit = n - 1;
    uint32_t *replaced = BASE_ARENA_ARRAY(passes->scratch, uint32_t, search->n_nodes - n);
    for (uint32_t b = 0; b < n; b++)
        if (search->stand_in[b])
            replaced[search->stand_in[b] - n] = b;
    passes->reconvergence_block = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n);
    for (uint32_t b = 0; b < n; b++) {
        uint32_t node = dominator[b];
        bool is_stand_in = node != PTX_NO_BLOCK && node >= n;
        passes->analysis->block[b].post_dominator = is_stand_in ? exit : node;
        passes->reconvergence_block[b] = is_stand_in ? replaced[node - n] : node == PTX_NO_BLOCK ? exit : node;
    }
}

static uint32_t reconvergence_of(const struct ptx_passes *passes, uint32_t i) {
    const struct ptx_analysis *analysis = passes->analysis;
    const struct ptx_instruction *instruction = &passes->function->instruction[i];
    bool is_guarded = instruction->guard != PTX_NO_INDEX;
    switch (instruction->opcode) {
    case PTX_OP_BRA:
        return is_guarded ? analysis->block[passes->reconvergence_block[analysis->block_of[i]]].first : PTX_NO_INDEX;
    case PTX_OP_BRX:
        return analysis->block[passes->reconvergence_block[analysis->block_of[i]]].first;
    case PTX_OP_CALL:
        return is_guarded || instruction->call->target.kind != PTX_OPERAND_FUNCTION ? i + 1 : PTX_NO_INDEX;
    default:
        return PTX_NO_INDEX;
    }
}

void ptx_set_reconvergence(struct ptx_passes *passes) {
    struct ptx_analysis *analysis = passes->analysis;
    uint32_t n = analysis->n_blocks;
    struct exit_search search = {.passes = passes,
                                 .analysis = analysis,
                                 .stand_in = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                                 .n_nodes = n,
                                 .stack = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                                 .is_seen = BASE_ARENA_ARRAY(passes->scratch, bool, n)};
    search.returns = mark_leading_out(&search, is_return);
    search.escapes = mark_leading_out(&search, is_any);
    ptx_find_dead_ends(passes, search.returns);
    find_leading_out(&search);
    add_stand_ins(&search);
    struct ptx_graph graph = reversed_graph(passes, &search);
    uint32_t *dominator = BASE_ARENA_ARRAY(passes->scratch, uint32_t, search.n_nodes);
    ptx_find_dominators(passes->scratch, &graph, n - 1, dominator);
    set_post_dominators(passes, &search, dominator);
    analysis->reconvergence = BASE_ARENA_ARRAY(analysis->arena, uint32_t, passes->function->n_instructions);
    for (uint32_t i = 0; i < passes->function->n_instructions; i++)
        analysis->reconvergence[i] = reconvergence_of(passes, i);
}
