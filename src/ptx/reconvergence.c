/* Post-dominators, and from them the instruction where the paths of a branch meet again.
 *
 * Paths that never return do not delay the others: a block that can reach a return looks only at successors that can,
 * so that the branch around a trap or an endless loop still meets where its other paths meet. Blocks that cannot reach
 * a return get a way to the exit of their own: from the trap, or, for a group of blocks that is never left, from a
 * stand-in before the group's first block. That keeps branches inside an endless loop meeting inside it, at the latest
 * where the next trip begins. The stand-in is no block, so `post_dominator` names the exit instead and stays a tree. */
#include "ptx/passes.h"

struct way_out {
    const struct ptx_analysis *analysis;
    const bool *aborts;
    bool *returns;      /* per block: reaches the exit by returning */
    bool *escapes;      /* per block: returns, or reaches a trap */
    uint32_t *stand_in; /* per block: the node before it, or 0 */
    uint32_t n_nodes;
};

/* Marks the block and whatever leads to it. */
static void mark_leading_to(struct ptx_passes *passes, uint32_t block, bool *is_marked, bool follows_aborts) {
    const struct ptx_analysis *analysis = passes->analysis;
    uint32_t *stack = BASE_ARENA_ARRAY(passes->scratch, uint32_t, analysis->n_blocks), depth = 0;
    is_marked[block] = true;
    stack[depth++] = block;
    while (depth > 0) {
        uint32_t at = stack[--depth];
        for (uint32_t p = 0; p < analysis->block[at].n_predecessors; p++) {
            uint32_t from = analysis->block[at].predecessor[p];
            bool is_abort = at == analysis->n_blocks - 1 && passes->aborts[from];
            if (is_marked[from] || (is_abort && !follows_aborts))
                continue;
            is_marked[from] = true;
            stack[depth++] = from;
        }
    }
}

/* Tarjan's strongly connected components. */
struct component_search {
    uint32_t *number; /* per block: order of discovery from 1; 0 not seen */
    uint32_t *low;
    uint32_t *path, path_depth;   /* blocks being explored */
    uint32_t *group, group_depth; /* blocks whose component is still open */
    uint32_t *next;               /* per block: the successor to look at next */
    bool *is_open;
    uint32_t n_seen;
};

static void open_block(struct component_search *search, uint32_t block) {
    search->number[block] = search->low[block] = ++search->n_seen;
    search->is_open[block] = true;
    search->path[search->path_depth++] = block;
    search->group[search->group_depth++] = block;
}

/* Takes the component that starts with `root` off the open blocks; true when no edge leaves it. A component is popped
 * after all it leads to, so an edge to a closed block outside it leaves it. */
static bool close_component(const struct ptx_analysis *analysis, struct component_search *search, uint32_t root) {
    uint32_t first = search->group_depth;
    while (search->group[--first] != root)
        ;
    bool is_final = true;
    for (uint32_t i = first; i < search->group_depth; i++) {
        const struct ptx_block *block = &analysis->block[search->group[i]];
        for (uint32_t s = 0; s < block->n_successors; s++)
            is_final &=
                search->is_open[block->successor[s]] && search->number[block->successor[s]] >= search->number[root];
    }
    for (uint32_t i = first; i < search->group_depth; i++)
        search->is_open[search->group[i]] = false;
    search->group_depth = first;
    return is_final;
}

static void search_from(struct way_out *way, struct component_search *search, uint32_t start) {
    const struct ptx_analysis *analysis = way->analysis;
    open_block(search, start);
    while (search->path_depth > 0) {
        uint32_t at = search->path[search->path_depth - 1];
        const struct ptx_block *block = &analysis->block[at];
        if (search->next[at] < block->n_successors) {
            uint32_t to = block->successor[search->next[at]++];
            if (search->number[to] == 0)
                open_block(search, to);
            else if (search->is_open[to] && search->number[to] < search->low[at])
                search->low[at] = search->number[to];
            continue;
        }
        search->path_depth--;
        if (search->path_depth > 0 && search->low[at] < search->low[search->path[search->path_depth - 1]])
            search->low[search->path[search->path_depth - 1]] = search->low[at];
        bool is_final = search->low[at] == search->number[at] && close_component(analysis, search, at);
        if (is_final && !way->escapes[at])
            way->stand_in[at] = way->n_nodes++;
    }
}

/* Every group of blocks that is never left gets a stand-in before the block where the search, which starts at the
 * entry, came upon it. */
static void add_stand_ins(struct ptx_passes *passes, struct way_out *way) {
    uint32_t n = way->analysis->n_blocks;
    struct component_search search = {.number = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                                      .low = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                                      .path = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                                      .group = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                                      .next = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                                      .is_open = BASE_ARENA_ARRAY(passes->scratch, bool, n)};
    for (uint32_t b = 0; b < n; b++)
        if (search.number[b] == 0)
            search_from(way, &search, b);
}

static bool all_escape(const struct way_out *way) {
    for (uint32_t b = 0; b < way->analysis->n_blocks; b++)
        if (!way->escapes[b])
            return false;
    return true;
}

static bool counts(const struct way_out *way, uint32_t from, uint32_t to) {
    if (!way->returns[from])
        return true;
    return way->returns[to] && !(to == way->analysis->n_blocks - 1 && way->aborts[from]);
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
            if (counts(way, b, to))
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
    struct way_out way = {.analysis = analysis,
                          .aborts = passes->aborts,
                          .returns = BASE_ARENA_ARRAY(passes->scratch, bool, n),
                          .escapes = BASE_ARENA_ARRAY(passes->scratch, bool, n),
                          .stand_in = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                          .n_nodes = n};
    mark_leading_to(passes, n - 1, way.returns, false);
    mark_leading_to(passes, n - 1, way.escapes, true);
    if (!all_escape(&way))
        add_stand_ins(passes, &way);
    struct ptx_graph graph = reversed_graph(passes, &way);
    uint32_t *dominator = BASE_ARENA_ARRAY(passes->scratch, uint32_t, way.n_nodes);
    ptx_find_dominators(passes->scratch, &graph, n - 1, dominator);
    set_post_dominators(passes, &way, dominator);
    analysis->reconvergence = BASE_ARENA_ARRAY(analysis->arena, uint32_t, passes->function->n_instructions);
    for (uint32_t i = 0; i < passes->function->n_instructions; i++)
        analysis->reconvergence[i] = reconvergence_of(passes, i);
}
