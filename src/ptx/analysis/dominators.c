/* Immediate dominators of a graph by the semi-NCA algorithm (L. Georgiadis, R. Tarjan, R. Werneck, "Finding Dominators
 * in Practice", 2006): semidominators with path compression as in Lengauer and Tarjan, then each node climbs the tree
 * built so far. Nothing recurses, so that a function of 100,000 blocks needs no deep stack. */
#include "ptx/analysis/passes.h"

static uint32_t *row_starts(struct base_arena *arena, uint32_t n_nodes, const uint32_t *key, size_t stride,
                            uint32_t n_edges) {
    uint32_t *start = BASE_ARENA_ARRAY(arena, uint32_t, (size_t)n_nodes + 1);
    for (uint32_t e = 0; e < n_edges; e++)
        start[key[e * stride] + 1]++;
    for (uint32_t v = 0; v < n_nodes; v++)
        start[v + 1] += start[v];
    return start;
}

struct ptx_graph ptx_build_graph(struct base_arena *arena, uint32_t n_nodes, const struct ptx_edge *edge,
                                 uint32_t n_edges) {
    enum { STRIDE = sizeof(struct ptx_edge) / sizeof(uint32_t) };
    struct ptx_graph graph = {.n_nodes = n_nodes,
                              .successor_start = row_starts(arena, n_nodes, &edge->from, STRIDE, n_edges),
                              .successor = BASE_ARENA_ARRAY(arena, uint32_t, n_edges),
                              .predecessor_start = row_starts(arena, n_nodes, &edge->to, STRIDE, n_edges),
                              .predecessor = BASE_ARENA_ARRAY(arena, uint32_t, n_edges)};
    uint32_t *n_out = BASE_ARENA_ARRAY(arena, uint32_t, n_nodes), *n_in = BASE_ARENA_ARRAY(arena, uint32_t, n_nodes);
    for (uint32_t e = 0; e < n_edges; e++) {
        uint32_t from = edge[e].from, to = edge[e].to;
        graph.successor[graph.successor_start[from] + n_out[from]++] = to;
        graph.predecessor[graph.predecessor_start[to] + n_in[to]++] = from;
    }
    return graph;
}

/* Nodes are renamed to their depth-first number, counted from 0 = root, while the algorithm runs. */
struct depth_first {
    uint32_t n;       /* nodes reached */
    uint32_t *node;   /* number -> node */
    uint32_t *number; /* node -> number, or PTX_NO_BLOCK */
    uint32_t *parent; /* number -> number of its tree parent */
};

static struct depth_first number_nodes(struct base_arena *scratch, const struct ptx_graph *graph, uint32_t root) {
    uint32_t n = graph->n_nodes, depth = 0;
    struct depth_first order = {.node = BASE_ARENA_ARRAY(scratch, uint32_t, n),
                                .number = BASE_ARENA_ARRAY(scratch, uint32_t, n),
                                .parent = BASE_ARENA_ARRAY(scratch, uint32_t, n)};
    uint32_t *stack = BASE_ARENA_ARRAY(scratch, uint32_t, n), *next = BASE_ARENA_ARRAY(scratch, uint32_t, n);
    for (uint32_t v = 0; v < n; v++) {
        order.number[v] = PTX_NO_BLOCK;
        next[v] = graph->successor_start[v];
    }
    order.node[order.n] = root;
    order.number[root] = order.n++;
    stack[depth++] = root;
    while (depth > 0) {
        uint32_t from = stack[depth - 1];
        if (next[from] == graph->successor_start[from + 1]) {
            depth--;
            continue;
        }
        uint32_t to = graph->successor[next[from]++];
        if (order.number[to] != PTX_NO_BLOCK)
            continue;
        order.parent[order.n] = order.number[from];
        order.node[order.n] = to;
        order.number[to] = order.n++;
        stack[depth++] = to;
    }
    return order;
}

/* The forest of processed nodes; `best` is the least semidominator on the compressed path to the forest's root. */
struct forest {
    uint32_t *ancestor; /* PTX_NO_BLOCK for a root */
    uint32_t *best;
    uint32_t *path; /* room for the longest path */
};

static uint32_t least_semidominator(struct forest *forest, uint32_t v) {
    uint32_t length = 0;
    for (uint32_t u = v; forest->ancestor[u] != PTX_NO_BLOCK; u = forest->ancestor[u])
        forest->path[length++] = u;
    if (length == 0)
        return v; /* not processed yet: its own number bounds its semidominator */
    /* The topmost node on the path is a child of a root and needs no compression. */
    for (uint32_t i = length - 1; i-- > 0;) {
        uint32_t u = forest->path[i], above = forest->path[i + 1];
        if (forest->best[above] < forest->best[u])
            forest->best[u] = forest->best[above];
        forest->ancestor[u] = forest->ancestor[above];
    }
    return forest->best[v];
}

static void find_semidominators(struct base_arena *scratch, const struct ptx_graph *graph,
                                const struct depth_first *order, uint32_t *semi) {
    struct forest forest = {.ancestor = BASE_ARENA_ARRAY(scratch, uint32_t, order->n),
                            .best = BASE_ARENA_ARRAY(scratch, uint32_t, order->n),
                            .path = BASE_ARENA_ARRAY(scratch, uint32_t, order->n)};
    for (uint32_t v = 0; v < order->n; v++)
        forest.ancestor[v] = PTX_NO_BLOCK;
    for (uint32_t v = order->n; v-- > 1;) {
        uint32_t node = order->node[v];
        semi[v] = order->parent[v];
        for (uint32_t e = graph->predecessor_start[node]; e < graph->predecessor_start[node + 1]; e++) {
            uint32_t u = order->number[graph->predecessor[e]];
            if (u == PTX_NO_BLOCK)
                continue;
            uint32_t candidate = least_semidominator(&forest, u);
            if (candidate < semi[v])
                semi[v] = candidate;
        }
        forest.best[v] = semi[v];
        forest.ancestor[v] = order->parent[v];
    }
}

void ptx_find_dominators(struct base_arena *scratch, const struct ptx_graph *graph, uint32_t root,
                         uint32_t *dominator) {
    struct depth_first order = number_nodes(scratch, graph, root);
    uint32_t *semi = BASE_ARENA_ARRAY(scratch, uint32_t, order.n),
             *above = BASE_ARENA_ARRAY(scratch, uint32_t, order.n);
    find_semidominators(scratch, graph, &order, semi);
    for (uint32_t v = 0; v < graph->n_nodes; v++)
        dominator[v] = PTX_NO_BLOCK;
    for (uint32_t v = 1; v < order.n; v++) {
        above[v] = order.parent[v];
        while (above[v] > semi[v])
            above[v] = above[above[v]];
        dominator[order.node[v]] = order.node[above[v]];
    }
}

void ptx_set_dominators(struct ptx_passes *passes) {
    struct ptx_analysis *analysis = passes->analysis;
    uint32_t n = analysis->n_blocks, n_edges = 0;
    for (uint32_t b = 0; b < n; b++)
        n_edges += analysis->block[b].n_successors;
    struct ptx_edge *edge = BASE_ARENA_ARRAY(passes->scratch, struct ptx_edge, n_edges);
    uint32_t e = 0;
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t s = 0; s < analysis->block[b].n_successors; s++)
            edge[e++] = (struct ptx_edge){b, analysis->block[b].successor[s]};
    struct ptx_graph graph = ptx_build_graph(passes->scratch, n, edge, n_edges);
    uint32_t *dominator = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n);
    ptx_find_dominators(passes->scratch, &graph, 0, dominator);
    for (uint32_t b = 0; b < n; b++)
        analysis->block[b].dominator = dominator[b];
}
