// Random graphs; see graph.h.
#include "graph.h"

#include <stdlib.h>

enum { EVEN_LEAST = 4, EVEN_MOST = 12, SKEWED_SHORTEST = 2, SKEWED_OCTAVES = 6 };

// n_nodes is a power of two no larger than the range of the random numbers.
static int random_node(struct workload *w, int n_nodes) { return (int)(workload_random(w) & (uint32_t)(n_nodes - 1)); }

struct graph graph_make_even(struct workload *w, int n_nodes) {
    size_t n = (size_t)n_nodes;
    struct graph g = {n_nodes, workload_array(w, n + 1, sizeof(int)), workload_array(w, n * EVEN_MOST, sizeof(int))};
    int n_edges = 0;
    for (int i = 0; i < n_nodes; i++) {
        g.row[i] = n_edges;
        int degree = EVEN_LEAST + (int)(workload_random(w) % (EVEN_MOST - EVEN_LEAST + 1));
        for (int k = 0; k < degree; k++)
            g.col[n_edges++] = random_node(w, n_nodes);
    }
    g.row[n_nodes] = n_edges;
    return g;
}

struct graph graph_make_random(struct workload *w, int n_nodes, int average) {
    size_t n = (size_t)n_nodes, n_ends = n * (size_t)average / 2 * 2;
    struct graph g = {n_nodes, workload_array(w, n + 1, sizeof(int)), workload_array(w, n_ends, sizeof(int))};
    int *end = workload_array(w, n_ends, sizeof *end), *next = workload_array(w, n, sizeof *next);
    for (size_t e = 0; e < n_ends; e++) {
        end[e] = random_node(w, n_nodes);
        g.row[end[e] + 1]++;
    }
    for (size_t i = 0; i < n; i++) {
        g.row[i + 1] += g.row[i];
        next[i] = g.row[i];
    }
    for (size_t e = 0; e < n_ends; e++)
        g.col[next[end[e]]++] = end[e ^ 1];
    free(end);
    free(next);
    return g;
}

// The last octave takes the rest of the series.
static int skewed_degree(struct workload *w) {
    uint32_t random = workload_random(w);
    int octave = 0;
    while (octave < SKEWED_OCTAVES - 1 && random >> octave & 1)
        octave++;
    uint32_t shortest = (uint32_t)SKEWED_SHORTEST << octave;
    return (int)(shortest + (random >> SKEWED_OCTAVES) % shortest);
}

// The square of a uniform number is below x with the probability of its root.
static int skewed_node(struct workload *w, int n_nodes) {
    uint64_t random = workload_random(w);
    return (int)((random * random >> 24) * (uint64_t)n_nodes >> 24);
}

struct graph graph_make_skewed(struct workload *w, int n_nodes) {
    struct graph g = {.n_nodes = n_nodes, .row = workload_array(w, (size_t)n_nodes + 1, sizeof(int))};
    for (int i = 0; i < n_nodes; i++)
        g.row[i + 1] = g.row[i] + skewed_degree(w);
    g.col = workload_array(w, (size_t)g.row[n_nodes], sizeof(int));
    for (int e = 0; e < g.row[n_nodes]; e++)
        g.col[e] = skewed_node(w, n_nodes);
    return g;
}

void graph_free(struct graph *g) {
    free(g->row);
    free(g->col);
}

struct graph_arrays graph_upload(const struct workload *w, const struct graph *g) {
    return (struct graph_arrays){
        workload_upload(w, g->row, ((size_t)g->n_nodes + 1) * sizeof(int)),
        workload_upload(w, g->col, (size_t)g->row[g->n_nodes] * sizeof(int)),
    };
}

void graph_device_free(const struct workload *w, struct graph_arrays arrays) {
    workload_device_free(w, arrays.row);
    workload_device_free(w, arrays.col);
}
